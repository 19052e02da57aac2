"""tokenizer/tables/unicode_classes.c: the classes of characters that pre-tokenizers ask for, at Unicode 16.0.0.
    python tests/oracle/unicode_classes.py > tokenizer/tables/unicode_classes.c
Needs Python 3.11 (unicodedata 14.0.0, for the differences), unicodedata2 == 16.0.0 and tokenizers 0.23.3, whose
Oniguruma is asked what \\w, \\s and \\p{Han} are, and whose Punctuation and Whitespace what they take for punctuation
and for a word. Every class is compared with Oniguruma's answer for all code points before anything is printed.
"""
import unicodedata

import unicodedata2 as now
from tokenizers import Regex, pre_tokenizers

assert now.unidata_version == "16.0.0" and unicodedata.unidata_version == "14.0.0"
NAMES = "Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs".split()
ALL = range(0x110000)
TEXT = "".join(chr(c) for c in ALL if not 0xd800 <= c < 0xe000)


def onig(regex):
    split = pre_tokenizers.Split(Regex(regex), "removed", invert=True)
    return {ord(x) for piece, _ in split.pre_tokenize_str(TEXT) for x in piece}


SPACE, WORD, HAN = onig(r"\s"), onig(r"\w"), onig(r"\p{Han}")
BRACKET_WORD = onig(r"[\w]")  # Oniguruma's \w alone has six fractions and superscripts of Latin 1 more
LINES = "\n".join("a" + x + "a" for x in TEXT if ord(x) not in SPACE)
RUST_WORD = {ord(p[1]) for p, _ in pre_tokenizers.Whitespace().pre_tokenize_str(LINES) if len(p) == 3}
PUNCTUATION = {ord(p) for p, _ in pre_tokenizers.Punctuation("isolated").pre_tokenize_str("a".join(TEXT))
               if len(p) == 1}
PUNCTUATION -= {ord("a")}
PUNCTUATION -= {0x166d, 0x111c9}  # punctuation in an older Unicode: split.c has them as ranges


def features(c):
    cat = now.category(chr(c))
    x = chr(c) if c < 128 else ""
    single = x if x and x in "\n\r /" else ""
    return (cat, single, x.isalnum(), x != "" and cat[0] in "PS",
            *(c in s for s in (SPACE, HAN, WORD, BRACKET_WORD, RUST_WORD, PUNCTUATION)))


FEATURES = [features(c) for c in ALL]
KINDS = sorted(set(FEATURES))
INDEX = {f: i for i, f in enumerate(KINDS)}
OF = bytes(INDEX[f] for f in FEATURES)
assert len(KINDS) < 64

L, M, N, P, S = (lambda f, k=k: f[0][0] == k for k in "LMNPS")
space, han = lambda f: f[4], lambda f: f[5]
newline = lambda f: f[1] in ("\n", "\r") and f[1] != ""
upper = lambda f: f[0] in ("Lu", "Lt", "Lm", "Lo") or M(f)
lower = lambda f: f[0] in ("Ll", "Lm", "Lo") or M(f)
CLASSES = {  # name: (test of a kind, the class as a regex or None where `tokenizers` has no regex for it)
    "ANY": (lambda f: True, None),
    "LETTER": (L, r"\p{L}"),
    "NUMBER": (N, r"\p{N}"),
    "DECIMAL": (lambda f: f[0] == "Nd", r"\d"),
    "SPACE": (space, r"\s"),
    "NOT_SPACE": (lambda f: not space(f), r"\S"),
    "BLANK": (lambda f: f[1] == " ", r" "),
    "LF": (lambda f: f[1] == "\n", r"\n"),
    "NOT_LF": (lambda f: f[1] != "\n", r"."),
    "NEWLINE": (newline, r"[\r\n]"),
    "NEWLINE_SLASH": (lambda f: newline(f) or f[1] == "/", r"[\r\n/]"),
    "LEAD": (lambda f: not (newline(f) or L(f) or N(f)), r"[^\r\n\p{L}\p{N}]"),
    "OTHER": (lambda f: not (space(f) or L(f) or N(f)), r"[^\s\p{L}\p{N}]"),
    "LETTER_MARK": (lambda f: L(f) or M(f), r"[\p{L}\p{M}]"),
    "OTHER_NO_MARK": (lambda f: not (space(f) or L(f) or M(f) or N(f)), r"[^\s\p{L}\p{M}\p{N}]"),
    "UPPER": (upper, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    "LOWER": (lower, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    "UPPER_NO_HAN": (lambda f: upper(f) and not han(f), r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"),
    "LOWER_NO_HAN": (lambda f: lower(f) and not han(f), r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"),
    "HAN": (han, r"\p{Han}"),
    "PUNCT": (P, r"\p{P}"),
    "PUNCT_SYMBOL": (lambda f: P(f) or S(f), r"[\p{P}\p{S}]"),
    "LEAD_NO_SYMBOL": (lambda f: not (newline(f) or L(f) or P(f) or S(f)), r"[^\r\n\p{L}\p{P}\p{S}]"),
    "ASCII_PUNCT": (lambda f: f[3], r"[!-/:-@\[-`{-~]"),
    "ASCII_LETTER": (lambda f: f[2] and L(f), r"[A-Za-z]"),
    "ASCII_DIGIT": (lambda f: f[2] and N(f), r"[0-9]"),
    "WORD": (lambda f: f[6], r"\w"),
    "NOT_WORD": (lambda f: not (f[7] or space(f)), r"[^\w\s]"),
    "RUST_WORD": (lambda f: f[8], None),
    "RUST_NOT_WORD": (lambda f: not (f[8] or space(f)), None),
    "PUNCTUATION": (lambda f: f[9], None),
}


def masks():
    rows = []
    for name, (test, regex) in CLASSES.items():
        mask = sum(1 << i for i, f in enumerate(KINDS) if test(f))
        if regex:
            mine = {c for c in ALL if mask >> OF[c] & 1 and not 0xd800 <= c < 0xe000}
            assert mine == onig(regex), name
        rows.append((name, mask))
    return rows


def trie():
    """Three stages: blocks of 16 characters, blocks of 32 of those, the list of these."""
    leaf, middle, top, places = {}, {}, [], []
    for i in range(0, 0x110000, 16):
        places.append(leaf.setdefault(OF[i:i + 16], len(leaf)))
    for i in range(0, len(places), 32):
        top.append(middle.setdefault(tuple(places[i:i + 32]), len(middle)))
    assert len(middle) < 256 and len(leaf) < 65536
    return top, [x for block in middle for x in block], [x for block in leaf for x in block]


def older():
    """first, length, category in 14.0.0 of every run that 14.0.0 sees otherwise."""
    rows = []
    for c in ALL:
        old = unicodedata.category(chr(c))
        if old == now.category(chr(c)):
            continue
        if rows and rows[-1][0] + rows[-1][1] == c and rows[-1][2] == NAMES.index(old):
            rows[-1][1] += 1
        else:
            rows.append([c, 1, NAMES.index(old)])
    return rows


def table(declaration, groups):
    print(f"const {declaration} = {{")
    line = "   "
    for g in groups:
        text = f" {g},"
        if len(line) + len(text) > 120:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def main():
    top, middle, leaf = trie()
    print("/* made by: python tests/oracle/unicode_classes.py > tokenizer/tables/unicode_classes.c (Unicode 16.0.0)")
    print(" * What each table holds is said in tokenizer/unicode/unicode_classes.h. */")
    print('#include "tokenizer/unicode/unicode_classes.h"\n')
    table("uint64_t unicode_class_kinds[CLASS_END]", [f"[CLASS_{name}] = {mask:#x}" for name, mask in masks()])
    table("uint8_t unicode_ascii_kinds[128]", OF[:128])
    table("uint8_t unicode_kind_categories[64]", [NAMES.index(f[0]) for f in KINDS])
    table(f"uint8_t unicode_kind_top[{len(top)}]", top)
    table(f"uint16_t unicode_kind_middle[{len(middle)}]", middle)
    table(f"uint8_t unicode_kind_leaf[{len(leaf)}]", leaf)
    rows = older()
    table(f"uint32_t unicode_older[UNICODE_OLDER_N][3]", ["{%d,%d,%d}" % tuple(r) for r in rows])
    import sys
    print(len(KINDS), "kinds,", len(rows), "older", file=sys.stderr)


main()
