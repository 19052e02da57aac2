"""tokenizer/tables/unicode_forms.h: what the normalizers of `tokenizers` know of characters that Python 3.11 does not.
    python tests/oracle/unicode_forms.py > tokenizer/tables/unicode_forms.h
    python tests/oracle/unicode_forms.py golden > tests/golden/unicode_forms.h
Needs Python 3.11, unicodedata2 == 16.0.0 and tokenizers 0.23.3, which is asked about every code point: its normal
forms and its StripAccents are of Unicode 9.0, its BertNormalizer of 8.0, its Lowercase of 17.0.
"""
import sys
import unicodedata

import unicodedata2 as now
from tokenizers import normalizers as N

assert unicodedata.unidata_version == "14.0.0" and now.unidata_version == "16.0.0"
ALL = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
NFD, NFKD, NFC = (f().normalize_str for f in (N.NFD, N.NFKD, N.NFC))


def runs(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def bert(**settings):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    normalize = N.BertNormalizer(**{**off, **settings}).normalize_str
    return {c for c in ALL if normalize("a" + chr(c)) == "a"}


def compat():
    """first, how many, length of each, place in the pool: full compatibility decompositions of characters in a row."""
    rows, pool = [], []
    for c in ALL:
        d = NFKD(chr(c))
        if d == NFD(chr(c)):
            continue
        assert d == "".join(NFKD(x) for x in d) and all(ord(x) < 0x10000 for x in d)
        if rows and rows[-1][0] + rows[-1][1] == c and rows[-1][2] == len(d):
            rows[-1][1] += 1
        else:
            rows.append([c, 1, len(d), len(pool)])
        pool += [ord(x) for x in d]
    return rows, pool


def lowers():
    """first, last, step, difference, as in unicode.py."""
    rows, lower = [], N.Lowercase().normalize_str
    for c in ALL:
        low = lower(chr(c))
        if low == chr(c).lower():
            continue
        assert len(low) == 1 and chr(c).lower() == chr(c)
        d = ord(low) - c
        if rows and rows[-1][3] == d and (c - rows[-1][1] == rows[-1][2] or rows[-1][0] == rows[-1][1]
                                          and c - rows[-1][1] <= 2):
            rows[-1][2], rows[-1][1] = c - rows[-1][1], c
        else:
            rows.append([c, c, 1, d])
    return rows


def newer_marks(accents):
    """Marks that Unicode 9.0 does not have: no accents, and of class 0. And whether that is all the difference to
    14.0.0."""
    newer = {c for c in ALL if now.category(chr(c))[0] == "M"} - accents
    for c in ALL:
        k = 0 if c in newer else unicodedata.combining(chr(c))
        before, behind = "a\u0345" + chr(c), "a" + chr(c) + "\u0334"
        if unicodedata.combining(chr(c)) and not unicodedata.decomposition(chr(c)):
            assert (NFD(before) != before) == (0 < k < 240) and (NFD(behind) != behind) == (k > 1), hex(c)
    odd = [c for c in ALL if NFD(chr(c)) != unicodedata.normalize("NFD", chr(c))]
    assert odd == [0x11938] and NFC("\U00011935\U00011930") != "\U00011938"  # unicode.c knows this one
    return newer


def table(kind, name, groups):
    print(f"static const {kind} {name} = {{")
    line = "   "
    for g in groups:
        text = " " + ("{" + ",".join(map(str, g)) + "}" if isinstance(g, list) else str(g)) + ","
        if len(line) + len(text) > 120:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def main():
    accents = {c for c in ALL if N.StripAccents().normalize_str(chr(c)) == ""}
    bert_accents, marks = bert(strip_accents=True), {c for c in ALL if now.category(chr(c)) == "Mn"}
    rows, pool = compat()
    print("/* made by: python tests/oracle/unicode_forms.py > tokenizer/tables/unicode_forms.h (tokenizers 0.23.3)")
    print(" * What each table holds is said in tokenizer/unicode/unicode.c, the only file that includes this one. */")
    print("#ifndef UNICODE_FORMS_H\n#define UNICODE_FORMS_H\n")
    table("uint32_t", "newer_marks[][2]", runs(newer_marks(accents)))
    # unicode.c knows these, too
    assert accents - {c for c in ALL if now.category(chr(c))[0] == "M"} == {0x1cf2, 0x1cf3}
    table("uint32_t", "bert_newer_marks[][2]", runs(marks - bert_accents))
    assert bert_accents - marks == {0x1734, 0x1171e}
    table("uint32_t", "bert_controls[][2]", runs(bert(clean_text=True)))
    table("uint32_t", "compat_runs[][4]", rows)
    table("uint16_t", "compat_pool[]", pool)
    table("int32_t", "newer_lower_runs[][4]", lowers())
    print("\n#endif")


def golden():
    """A hash of what each normalizer makes of every character of the planes that have letters, between marks."""
    ops = [N.NFD(), N.NFC(), N.NFKD(), N.NFKC(), N.Lowercase(), N.StripAccents()]
    ops += [N.BertNormalizer(bool(b & 1), bool(b & 2), bool(b & 4), bool(b & 8)) for b in (1, 2, 4, 8, 15)]
    print("/* made by: python tests/oracle/unicode_forms.py golden > tests/golden/unicode_forms.h (tokenizers 0"
          ".23.3) */")
    print("static const unsigned long long unicode_forms_golden[] = { /* NFD NFC NFKD NFKC, lower, accents, BER"
          "T 1 2 4 8 15 */")
    for op in ops:
        h = 0xcbf29ce484222325
        for c in ALL:
            if c < 0x20000 or 0x2f800 <= c < 0x2fa20 or 0xe0000 <= c < 0xe0200:
                for byte in op.normalize_str("a\u0345" + chr(c) + "\u0316\u1161\u11a8").encode():
                    h = ((h ^ byte) * 0x100000001b3) & (2**64 - 1)
        print(f"    {h:#x}u,")
    print("};")


if len(sys.argv) > 1:
    golden()
else:
    main()
