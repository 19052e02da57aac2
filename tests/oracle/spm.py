"""Golden ids for tokenizer/, from the SentencePiece library (not from us). Needs sentencepiece; reads ../shared/data.
    python tests/oracle/spm.py > tests/golden/tokenizers.h
Strings stand there as bytes, so that NUL and ill-formed UTF-8 may be in them.
"""
import random

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb

DATA = "../shared/data/"
MODELS = ["llama2c/tok512.model", "spm/llama2_tokenizer.model", "spm/mistral_tokenizer.model.v1", "tales/tok1024.model"]
FILES = ["botchan.txt", "hongloumeng_utf8.txt", "wikitext2_wiki.test.raw", "tinystories_sample_2M.txt"]
PREFIX = 200000  # bytes of each file; the cut may fall inside a character, which is a test too

TEXTS = [s.encode() for s in (
    "", " ", "  ", "a", " a", "a ", "  a  b  ", "Once upon a time", "Hello, world!", "\n", "\t\t", "a\nb\r\n\n c", "the the the", "   leading", "trailing   ",
    "x" * 50, "=" * 37, "1234567890", "don't", "ÄÖÜ äpfel", "e\u0301 o\u0308", "नमस्ते", "中文分词", "你好，世界。", "日本語テキスト", "🦙🦙 👩‍👩‍👧", "\ufeffbom", "\u00a0nbsp\u3000wide",
    "\u2581", "a\u2581b", " \u2581 ", "<s>", "</s> <unk>", "<0x41>", "\0", "a\0b", "\ufffd", "def f(x):\n    return x ** 2\n")]
TEXTS += [b"\x80", b"a\x80b", b"\xe2\x96", b"\xe2\x96\x41", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\xa6", b"\xff\xfe ok"]


def fnv(ids):
    h = 0xcbf29ce484222325
    for i in ids:
        h = ((h ^ i) * 0x100000001b3) & (2**64 - 1)
    return h


def c_bytes(b):
    return '"' + "".join(chr(x) if chr(x).isalnum() and x < 128 or x in b" <>/_.,!" else "\\%03o" % x for x in b) + '"'


def c_ints(ids):
    return "{" + ", ".join(map(str, ids)) + "}" if ids else "{0}"


def small_model(**settings):
    """A BPE vocabulary of a few lines, without bytes: user-defined and unused pieces, merges that lead over unused ones."""
    m = pb.ModelProto()
    T = m.SentencePiece
    def add(text, score=0.0, kind=T.NORMAL):
        p = m.pieces.add()
        p.piece, p.score, p.type = text, score, kind
    add("<unk>", kind=T.UNKNOWN)
    add("<s>", kind=T.CONTROL)
    add("</s>", kind=T.CONTROL)
    add("<sep>", kind=T.USER_DEFINED)
    add("<sep><sep>", kind=T.USER_DEFINED)
    add("ab a", kind=T.USER_DEFINED)
    for i, text in enumerate(("ab", "abc", "▁a", "bc", "▁abc", "cc", "ccc", "▁▁", "é中")):
        add(text, -float(i // 2), T.UNUSED if text in ("abc", "cc", "bc") else T.NORMAL)
    for i, c in enumerate("▁abcdé"):
        add(c, -100.0 - i, T.UNUSED if c == "d" else T.NORMAL)
    m.trainer_spec.model_type = 2
    m.trainer_spec.treat_whitespace_as_suffix = settings.pop("suffix")
    for key, value in settings.items():
        setattr(m.normalizer_spec, key, value)
    return m.SerializeToString()


random.seed(7)
print(f"/* made by: python tests/oracle/spm.py > tests/golden/tokenizers.h (sentencepiece {sentencepiece.__version__}) */")
print("#ifndef GOLDEN_TOKENIZERS_H\n#define GOLDEN_TOKENIZERS_H\n\n#include <stddef.h>\n#include <stdint.h>\n")
print("typedef struct { const char *text; size_t len; const int *ids; size_t n; } GoldenCase;")
print("typedef struct { const char *model; size_t model_size; /* 0: model is a path in ../shared/data, else its bytes */")
print("    const GoldenCase *encode; size_t n_encode; const GoldenCase *decode; size_t n_decode; } GoldenTokenizer;\n")
cases = 0


def emit_case(rows, text, ids):
    global cases
    print(f"static const int golden_ids_{cases}[] = {c_ints(ids)};")
    rows.append(f"    {{{c_bytes(text)}, {len(text)}, golden_ids_{cases}, {len(ids)}}},")
    cases += 1


def emit_model(number, sp, texts, n_random):
    encode, decode = [], []
    for text in texts:
        emit_case(encode, text, sp.encode(text))
    n = sp.get_piece_size()
    for _ in range(n_random):
        ids = [random.choice([random.randrange(n), random.randrange(min(n, 262))]) for _ in range(random.randrange(1, 14))]
        emit_case(decode, sp.decode(ids).encode(), ids)
    for name, rows in (("encode", encode), ("decode", decode)):
        print(f"static const GoldenCase golden_{name}_{number}[] = {{\n" + "\n".join(rows) + "\n};")


table, hashes = [], []
for k, path in enumerate(MODELS):
    sp = sentencepiece.SentencePieceProcessor(model_file=DATA + path)
    emit_model(k, sp, TEXTS, 25)
    table.append(f'    {{"{path}", 0, golden_encode_{k}, {len(TEXTS)}, golden_decode_{k}, 25}},')
    for f in FILES:
        ids = sp.encode(open(DATA + "text/" + f, "rb").read()[:PREFIX])
        hashes.append(f'    {{"{path}", "text/{f}", {len(ids)}, 0x{fnv(ids):016x}u}},')
alphabet = ["a", "b", "c", "d", "é", "中", " ", "▁", "<sep>", "<s>", "ab", "abc", "ccc", "x", "\x80", "  "]
for k in range(len(MODELS), len(MODELS) + 6):
    v = k - len(MODELS)
    raw = small_model(suffix=v == 3, add_dummy_prefix=v != 2, remove_extra_whitespaces=v in (1, 4), escape_whitespaces=v != 5)
    sp = sentencepiece.SentencePieceProcessor(model_proto=raw)
    texts = [b"", b" ", b"abcabc", b"abc cccc", b"<sep><sep><sep>a"]
    texts += ["".join(random.choice(alphabet) for _ in range(random.randrange(1, 16))).encode("latin-1" if i == 0 else "utf-8", "replace") for i in range(30)]
    emit_model(k, sp, texts, 15)
    table.append(f"    {{{c_bytes(raw)}, {len(raw)}, golden_encode_{k}, {len(texts)}, golden_decode_{k}, 15}},")
print("static const GoldenTokenizer golden_tokenizers[] = {\n" + "\n".join(table) + "\n};\n")
print(f"/* the first {PREFIX} bytes of a text: number of ids, FNV-1a over them */\nenum {{ GOLDEN_PREFIX = {PREFIX} }};")
print("static const struct { const char *model, *text; size_t n; uint64_t hash; } golden_files[] = {\n" + "\n".join(hashes) + "\n};\n\n#endif")
