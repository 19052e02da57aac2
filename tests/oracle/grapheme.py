"""Tables of tokenizer/unicode/grapheme.c. Needs the package regex of Unicode 17.0 (2025.9.1 .. 2025.11.3: pip install
regex==2025.11.3).
    python tests/oracle/grapheme.py > tokenizer/tables/grapheme_tables.h
Ranges of code points with the same Grapheme_Cluster_Break, Extended_Pictographic and Indic_Conjunct_Break. Hangul's
LV and LVT are not listed: the code computes them.
"""
import textwrap

import regex

assert regex.__version__ == "2025.11.3", regex.__version__
GCB = ["CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark", "L", "V", "T"]
NAMES = ["G_CR", "G_LF", "G_CONTROL", "G_EXTEND", "G_ZWJ", "G_REGIONAL", "G_PREPEND", "G_SPACING", "G_L", "G_V", "G_T"]
pattern = [regex.compile(r"\p{GCB=%s}" % p) for p in GCB]
pictographic = regex.compile(r"\p{Extended_Pictographic}")
incb = [(regex.compile(r"\p{InCB=%s}" % p), name) for p, name in (("Linker", "G_LINKER"), ("Extend", "G_INCB_EXTEND"),
                                                                  ("Consonant", "G_CONSONANT"))]


def classes(cp):
    c = chr(cp)
    names = [n for p, n in zip(pattern, NAMES) if p.match(c)]
    names += ["G_PICTOGRAPHIC"] if pictographic.match(c) else []
    names += [n for p, n in incb if p.match(c)]
    return " | ".join(names)


rows = []
for cp in range(0x80, 0x110000):
    if 0xd800 <= cp < 0xe000 or 0xac00 <= cp <= 0xd7a3:
        continue
    k = classes(cp)
    if not k:
        continue
    if rows and rows[-1][1] == cp - 1 and rows[-1][2] == k:
        rows[-1][1] = cp
    else:
        rows.append([cp, cp, k])
print(f"/* made by: python tests/oracle/grapheme.py > tokenizer/tables/grapheme_tables.h (regex "
      f"{regex.__version__}, Unicode 17.0) */")
print("#ifndef GRAPHEME_TABLES_H\n#define GRAPHEME_TABLES_H\n\nstatic const GraphemeRange grapheme_ranges[] = {")
print(textwrap.fill(", ".join("{0x%x,\xa00x%x,\xa0%s}" % (a, b, k.replace(" ", "\xa0")) for a, b, k in rows), 120,
                    initial_indent="    ",
                    subsequent_indent="    ", break_long_words=False, break_on_hyphens=False).replace("\xa0", " "))
print("};\n\n#endif")
