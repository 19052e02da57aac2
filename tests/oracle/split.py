"""Golden cuts for tokenizer/split/, from `tokenizers` and tiktoken (not from us). Needs both; reads
../shared/data/text.
    python tests/oracle/split.py > tests/golden/split.json
    python tests/oracle/split.py LIBRARY N     compare N random strings a regex with a shared library built from
    tokenizer/split*.c
Of each regex the matches are hashed, as byte offsets: of tricky texts, of random strings (both sides make the same
ones with the same generator) and of the first 200000 bytes of each text. cl100k's newer spelling is tiktoken's alone:
to Oniguruma `{1,3}+` means something else, so tiktoken is asked, through a vocabulary that holds every piece a string
could be cut into. "combined" are regexes that were never published, of alternatives that were.
"""
import ctypes
import json
import sys

import tiktoken
from tokenizers import Regex, pre_tokenizers

from random_text import POINTS, Random

DATA = "../shared/data/text/"
FILES = ["botchan.txt", "frankenstein.txt", "hongloumeng_utf8.txt", "tinyshakespeare.txt", "tinystories_sample_2M.txt",
         "war-and-peace.txt",
         "wikitext2_wiki.test.raw"]
PREFIX, RANDOM = 200000, 2000
COMBINED, COMBINED_RANDOM = 300, 500  # regexes made of known alternatives; random strings for each
TIKTOKEN = ("cl100k",)  # by name: these the other engine reads otherwise
ALONE = ("thousands", "afmoe chunks", "afmoe rest", "afmoe three", "superbpe")  # they look at more than what follows
CUTS = ("superbpe",)    # matches nothing: the pieces are compared instead of the matches

REGEXES = {  # a name of ours: every spelling
    'gpt2': (
        r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
        r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
        r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
    ),
    'llama3': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r"""
        r"""\n]+|\s+(?!\S)|\s+""",
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|"""
        r"""\s+(?!\S)|\s+""",
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+"""
        r"""(?!\S)|\s""",
    ),
    'cl100k': (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s"""
        r"""*[\r\n]|\s+(?!\S)|\s""",
    ),
    'nanochat': (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|"""
        r"""\s+(?!\S)|\s+""",
    ),
    'qwen2': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"""
        r"""\s+(?!\S)|\s+""",
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+""",
    ),
    'ufakzeka': (
        r"""[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'qwen35': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"""
        r"""|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'letters with marks': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"""
        r"""\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'exaone-moe': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L"""
        r"""}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+""",
    ),
    'seed': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|"""
        r"""\s+(?!\S)|\s+""",
    ),
    'minicpm5': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"""
        r"""|\s+(?!\S)|\s+""",
    ),
    'jais2': (
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r"""
        r"""\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)"""
        r"""|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}""",
    ),
    'o200k': (
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|"""
        r"""'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'r"""
        r"""e|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'tekken': (
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?["""
        r"""\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r"""
        r"""\n]+|\s+(?!\S)|\s+""",
    ),
    'youtu': (
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|"""
        r"""'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'r"""
        r"""e|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'kimi-k2': (
        r"""[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}"""
        r"""&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^"""
        r"""\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{"""
        r"""L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'deepseek-v3': (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S"""
        r"""}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
    ),
    'spark': (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S"""
        r"""}]+|[\r\n]|\s+(?!\S)|\s+""",
    ),
    'clip': (
        r"""<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+""",
    ),
    'clip plain': (
        r"""'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+""",
    ),
    'deepseek letters': (
        '\\s?[A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376'
        '\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f'
        '\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-'
        '\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d'
        '\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb'
        '\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128'
        '\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4'
        '\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-'
        '\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3'
        '\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-'
        '\U0001e943]+',
    ),
    'deepseek signs': (
        '\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+',
    ),
    'signs': (
        ' ?[\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002\u300a\u300b\u300c\u300d\u3010\u3011]+',
    ),
    'deepseek cjk': (
        '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+',
    ),
    'kana and han': (
        '[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
    ),
    'youtu scripts': (
        '[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-'
        '\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
    ),
    'afmoe scripts': (
        r"""(?:[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF\uf900-\uFAFF\uFF65-\uFF9F\u2F00-\u2FDF]+"""
        r"""|[\u0E00-\u0E7F]+|[\u0E80-\u0EFF]+|[\u1780-\u17FF]+|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+|["""
        r"""\uAC00-\uD7AF\u1100-\u11FF]+)""",
    ),
    'bloom': (
        ' ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+',
    ),
    'thousands': (
        r"""\d{1,3}(?=(?:\d{3})*\b)""",
    ),
    'afmoe chunks': (
        r"""\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}""",
    ),
    'afmoe rest': (
        r"""\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)""",
    ),
    'afmoe three': (
        r"""\A\p{Nd}{3}|\G\p{Nd}{3}""",
    ),
    'superbpe': (
        r"""(?=(\d{3})+(?!\d))""",
    ),
    'number': (
        r"""\p{N}""",
        r"""[\p{N}]""",
        r"""\p{N}{1}""",
    ),
    'numbers': (
        r"""\p{N}+""",
        r"""[\p{N}]+""",
    ),
    'numbers to 3': (
        r"""\p{N}{1,3}""",
    ),
    'decimal': (
        r"""\d""",
        r"""\p{Nd}""",
    ),
    'decimals': (
        r"""\d+""",
        r"""\p{Nd}+""",
    ),
    'decimals to 3': (
        r"""\d{1,3}""",
        r"""\p{Nd}{1,3}""",
    ),
    'ascii digit': (
        r"""[0-9]""",
    ),
    'ascii digits': (
        r"""[0-9]+""",
    ),
    'ascii digits by 3': (
        r"""[0-9][0-9][0-9]""",
        r"""[0-9]{3}""",
    ),
    'space': (
        r"""\s""",
        r"""[\s]""",
    ),
    'spaces': (
        r"""\s+""",
        r"""[\s]+""",
    ),
    "spaces at line's end": (
        r"""\s+$""",
    ),
    'not spaces': (
        r"""\S+""",
        r"""[^\s]+""",
    ),
    'blank': (
        r""" """,
        r"""[ ]""",
    ),
    'blanks': (
        r""" +""",
        r"""[ ]+""",
    ),
    'blanks from 2': (
        r""" {2,}""",
    ),
    'newline': (
        r"""[\r\n]""",
        r"""[\n\r]""",
    ),
    'newlines': (
        r"""[\r\n]+""",
        r"""[\n\r]+""",
    ),
    'linefeed': (
        r"""\n""",
    ),
    'linefeeds': (
        r"""\n+""",
    ),
    'lines': (
        r"""[^\n]+|[\n]+""",
    ),
    'character': (
        r""".""",
    ),
    'letters': (
        r"""\s?\p{L}+""",
    ),
    'punctuation': (
        r"""\s?\p{P}+""",
    ),
    'han': (
        r"""\p{Han}+""",
        r"""[\p{Han}]+""",
    ),
    'words': (
        r"""\w+|[^\w\s]+""",
    ),
    'spaces and words': (
        r"""\s+|\w+|[^\w\s]+""",
    ),
    'indents': (
        r"""([\t\n]|    |  )""",
    ),
    'punctuation and symbols': (
        r"""[\p{P}\$\+<=>\^~\|]+""",
    ),
}

LITERALS = ["", " ", "  ", "\r\n \n", "it's IT'S \u017f'\u017f 'LL'Ve", "1234567", "  a", "a  ", "a \n ", " \n a",
            "\n\n\n", "a\x85b\xa0c\u2028d\u2029e",
            "\ufeffbom", "\u212a\u0130i\u0307", "e\u0301\u0308 \u0301x", "\U0001f469\U0001f3fd\u200d\U0001f4bb!",
            "\u4e2d\u6587abc\u3042", "\ud55c\uad6d\uc5b4 a",
            "\u0661\u0662\u0663\u0664 \u2167\u2460\xbd", "HelloWorld XMLHttp aB Ab'LL", "a(b) {c} [d] `e` f/g\n//\n/",
            "x" * 70 + " " * 70 + "\n" * 70 + "7" * 70,
            "12345678 1234567abc 123 1 12,345", " '' 's 'S'm", "\t\t\tif (x) {\r\n", "\u3000\u4e2d\u3000",
            "<|startoftext|>a<|endoftext|>"]


def texts():
    for name in FILES:
        with open(DATA + name, "rb") as f:
            data = f.read(PREFIX)
        yield data.decode(errors="ignore")


def fnv(numbers, h=0xcbf29ce484222325):
    for x in numbers:
        h = ((h ^ x) * 0x100000001b3) & (2**64 - 1)
    return h


def byte_offsets(text):
    at, out = 0, []
    for c in text:
        out.append(at)
        at += 1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4
    return out + [at]


class Oniguruma:
    def __init__(self, name, regex):
        self.split = pre_tokenizers.Split(Regex(regex),
                                          "isolated") if name in CUTS else pre_tokenizers.Split(Regex(regex), "removed",
                                              invert=True)

    def cuts(self, text):
        at = byte_offsets(text)
        return [at[x] for _, (a, b) in self.split.pre_tokenize_str(text) for x in (a, b)]


class Tiktoken:
    """The pieces of short strings: a string that is in the vocabulary is one token, so all substrings are put there."""

    def __init__(self, regex, strings):
        pieces = {bytes([b]) for b in range(256)}
        for s in strings:
            pieces.update(s[a:b].encode() for a in range(len(s)) for b in range(a + 1, min(len(s), a + 300) + 1))
        ranks = {p: i for i, p in enumerate(sorted(pieces, key=lambda p: (len(p) > 1, p)))}
        self.encoding = tiktoken.Encoding("any", pat_str=regex, mergeable_ranks=ranks, special_tokens={})

    def cuts(self, text):
        out, at = [], 0
        for token in self.encoding.encode_ordinary(text):
            n = len(self.encoding.decode_single_token_bytes(token))
            out += [at, at + n]
            at += n
        return out


def pipelines():
    """GGUF's name of a pre-tokenizer, and what stands in the model's tokenizer.json."""
    first = lambda name: REGEXES[name][0]
    cut = lambda *names: [pre_tokenizers.Split(Regex(first(n)), "isolated") for n in names]
    level = lambda use: [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use, trim_offsets=False)]
    digits, words = [pre_tokenizers.Digits(True)], ("kana and han", "deepseek-v3")
    return {
        "gpt-2": level(True),
        "llama-bpe": cut("llama3") + level(False),
        "qwen2": cut("qwen2") + level(False),
        "qwen35": cut("qwen35") + level(False),
        "tekken": cut("tekken") + level(False),
        "starcoder": digits + level(True),
        "falcon": [pre_tokenizers.Punctuation("contiguous"), *level(True), pre_tokenizers.Digits(False),
                   *cut("ascii digits by 3")],
        "bloom": cut("bloom") + level(False),
        "viking": cut("bloom") + digits + level(False),
        "deepseek-llm": cut("newline", "deepseek letters", "deepseek signs", "spaces at line's end", "deepseek cjk")
        + digits + level(False),
        "deepseek-coder": cut("newline", "letters", "punctuation", "deepseek cjk") + digits + level(False),
        "deepseek-v3": cut("numbers to 3", *words) + level(False),
        "tiny_aya": cut("thousands", "o200k") + level(False),
        "superbpe": cut("numbers", "superbpe") + level(False),
        "afmoe": cut("afmoe chunks", "afmoe rest", "afmoe three", "afmoe scripts", "deepseek-v3") + level(False),
        "youtu": cut("youtu scripts", "youtu") + level(False),
    }


def piece_ends(steps, text):
    """Where pieces end, in bytes: byte-level spelling makes a character of each byte."""
    at, out = 0, []
    for piece, _ in pre_tokenizers.Sequence(steps).pre_tokenize_str(text):
        at += len(piece)
        out.append(at)
    return out


def compare(library, n):
    lib = ctypes.CDLL(library)
    lib.matches_of.restype = ctypes.c_size_t
    lib.matches_of.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    out = (ctypes.c_uint * 10000)()
    rng, total = Random(), 0
    strings = LITERALS + [rng.string() for _ in range(n)]
    for name, regexes in REGEXES.items():
        for regex in regexes:
            known = Tiktoken(regex, strings) if name in TIKTOKEN else Oniguruma(name, regex)
            r, bad = regex.encode(), 0
            for s in strings:
                b = s.encode()
                k = lib.matches_of(r, len(r), b, len(b), out)
                bad += list(out[:k]) != known.cuts(s)
            total += bad
            print(name, len(strings), "strings", bad, "differ")
    print("total", total)


def alternatives(regex):
    """What stands between the regex's own |, those in parentheses and classes being part of an alternative."""
    out, depth, i, begin = [], 0, 0, 0
    while i < len(regex):
        c = regex[i]
        if c == "\\":
            i += 1
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "|" and depth == 0:
            out.append(regex[begin:i])
            begin = i + 1
        i += 1
    return out + [regex[begin:]]


def combinations(rng):
    """Regexes that nobody published: alternatives of the others, drawn. ALONE are whole regexes and no parts of one."""
    published = {r for regexes in REGEXES.values() for r in regexes}
    parts = sorted({a for name, regexes in REGEXES.items() if name not in ALONE + TIKTOKEN for r in regexes
                    for a in alternatives(r[3:-1] if r.startswith("(?:[") else r[1:-1] if r.startswith("([") else r)})
    assert len(parts) > 100 and "\\p{N}{1,3}+" not in parts
    while True:
        regex = "|".join(parts[rng.next(len(parts))] for _ in range(2 + rng.next(7)))
        if regex not in published:
            yield regex


def hashes_of(known, groups):
    return [hex_of(x for s in group for x in known.cuts(s)) for group in groups]


def hex_of(numbers):
    return "%016x" % fnv(numbers)


def main():
    rng = Random()
    strings = [rng.string() for _ in range(RANDOM)]
    few, long_texts = (LITERALS, strings[:COMBINED_RANDOM]), list(texts())
    rows, combined, gguf = [], [], []
    for name, regexes in REGEXES.items():
        for k, regex in enumerate(regexes):
            known = Tiktoken(regex, LITERALS + strings) if name in TIKTOKEN else Oniguruma(name, regex)
            row = {"name": name, "regex": regex, "strings": hashes_of(known, (LITERALS, strings))}
            if name not in TIKTOKEN and k == 0:
                row["texts"] = hashes_of(known, [[t] for t in long_texts])
            rows.append(row)
    for regex, _ in zip(combinations(Random()), range(COMBINED)):
        combined.append({"regex": regex, "strings": hashes_of(Oniguruma("", regex), few)})
    for name, steps in pipelines().items():
        groups = (LITERALS, strings, long_texts[1:2], long_texts[2:3])
        gguf.append({"name": name, "ends": [hex_of(x for s in group for x in piece_ends(steps, s))
                                            for group in groups]})
    made = "python tests/oracle/split.py > tests/golden/split.json (tokenizers 0.23.3, tiktoken 0.14.0)"
    print(json.dumps({"made by": made, "prefix": PREFIX, "random": RANDOM, "combined random": COMBINED_RANDOM,
                      "files": ["text/" + f for f in FILES], "literals": LITERALS,
                      "regexes": rows, "combined": combined, "gguf": gguf}, indent=0))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compare(sys.argv[1], int(sys.argv[2]))
    else:
        main()
