"""Unicode tables for tokenizer/unicode/unicode.c, from the unicodedata of the Python that runs this.
    python tests/oracle/unicode.py > tokenizer/tables/unicode_tables.h
transformers asks the same module, so a Python 3.11 (Unicode 14.0.0) gives what a Python 3.11 tokenizer does.
Everything is checked against unicodedata again before it is printed, with the same walks through the tables as the C
code makes. Categories come from unicode_classes.py.
"""
import sys
import unicodedata

ALL = [c for c in range(0x110000)]


def classes():
    """first << 16 | length << 8 | canonical combining class"""
    rows = []
    for c in ALL:
        k = unicodedata.combining(chr(c))
        if not k:
            continue
        if rows and rows[-1][2] == k and rows[-1][0] + rows[-1][1] == c and rows[-1][1] < 255:
            rows[-1][1] += 1
        else:
            rows.append([c, 1, k])
    assert max(r[0] for r in rows) < 0x20000
    return [r[0] << 15 | r[1] << 7 | CLASSES.index(r[2]) for r in rows]


CLASSES = sorted({unicodedata.combining(chr(c)) for c in ALL})


def decompositions():
    """One step of the canonical decomposition: singles (a run of code points, each to one other) and pairs."""
    singles, pairs = [], []
    for c in ALL:
        d = unicodedata.decomposition(chr(c))
        if not d or d[0] == "<":
            continue
        d = [int(x, 16) for x in d.split()]
        assert not 0x3400 <= c < 0xac00 and c >= 0xc0  # unicode.c passes these by
        if len(d) == 2:
            pairs.append((c, *d))
        elif singles and singles[-1][0] + len(singles[-1][1]) == c:
            singles[-1][1].append(d[0])
        else:
            singles.append((c, [d[0]]))
    return singles, pairs


def composes(c, a, b):
    return unicodedata.normalize("NFC", chr(a) + chr(b)) == chr(c)


def lowers():
    """first, last, step, difference: simple lower case; U+0130 is the only one with two."""
    rows = []
    for c in ALL:
        low = chr(c).lower()
        if low == chr(c):
            continue
        if len(low) > 1:
            assert c == 0x130 and low == "i\u0307"
            continue
        d = ord(low) - c
        if rows and rows[-1][3] == d and (c - rows[-1][1] == rows[-1][2] or rows[-1][0] == rows[-1][1]
                                          and c - rows[-1][1] <= 2):
            rows[-1][2] = c - rows[-1][1]
            rows[-1][1] = c
        else:
            rows.append([c, c, 1, d])
    for first, last, step, d in rows:
        for c in range(first, last + 1):
            assert (chr(c).lower() == chr(c + d)) == ((c - first) % step == 0), hex(c)
    return rows


def sigma():
    """Cased and Case_Ignorable as far as categories do not say them, from what str.lower does to a sigma: it becomes
    final behind a cased character, and ignorable ones in between do not matter."""
    final = lambda s: s.lower()[-1] == "\u03c2"
    cats = {c: unicodedata.category(chr(c)) for c in ALL}
    cased = [c for c in ALL if final(chr(c) + "\u03a3")]
    ignorable = [c for c in ALL if final("A" + chr(c) + "\u03a3") and not final(chr(c) + "\u03a3")]
    by_category = {c for c in ALL if cats[c] in ("Mn", "Me", "Cf", "Lm", "Sk")}
    assert by_category <= set(ignorable) and all(c in cased for c in ALL if cats[c] in ("Lu", "Ll", "Lt"))
    runs = []
    for c in cased:
        if cats[c] in ("Lu", "Ll", "Lt"):
            continue
        if runs and runs[-1] == c - 1:
            runs[-1] = c
        else:
            runs += [c, c]
    return runs, [c for c in ignorable if c not in by_category]


def table(kind, name, values, per_row=1):
    print(f"static const {kind} {name}[]{'' if per_row == 1 else f'[{per_row}]'} = {{")
    line = "   "
    groups = [values[i:i + per_row] for i in range(0, len(values), per_row)]
    for g in groups:
        text = " " + (f"{g[0]}," if per_row == 1 else "{" + ",".join(map(str, g)) + "},")
        if len(line) + len(text) > 120:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def main():
    singles, pairs = decompositions()
    composed = [p for p in pairs if composes(*p)]
    order = sorted((a, b, pairs.index((c, a, b))) for c, a, b in composed)
    print(f"/* made by: python tests/oracle/unicode.py > tokenizer/tables/unicode_tables.h (Python "
          f"{sys.version.split()[0]})")
    print(" * What each table holds is said in tokenizer/unicode/unicode.c, the only file that includes this one. */")
    print("#ifndef UNICODE_TABLES_H\n#define UNICODE_TABLES_H\n")
    print(f'static const char version[] = "{unicodedata.unidata_version}";')
    table("uint32_t", "class_runs", classes())
    table("uint8_t", "class_values", CLASSES)
    runs, targets = [], []
    for first, values in singles:
        runs += [first, len(values), len(targets)]
        targets += values
    table("uint32_t", "single_runs", runs, 3)
    table("uint32_t", "single_values", targets)
    table("uint32_t", "pairs", [x for p in pairs for x in p], 3)
    table("uint16_t", "composable", [i for _, _, i in order])
    table("int32_t", "lower_runs", [x for r in lowers() for x in r], 4)
    cased, ignorable = sigma()
    table("uint32_t", "cased_others", cased, 2)
    table("uint32_t", "ignorable_others", ignorable)
    print("\n#endif")


main()
