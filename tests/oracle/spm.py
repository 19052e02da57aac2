"""Golden ids for tokenizer/, from the SentencePiece library (not from us). Needs sentencepiece; reads ../shared/data.
    python tests/oracle/spm.py > tests/golden/tokenizers.txt
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
    "", " ", "  ", "a", " a", "a ", "  a  b  ", "Once upon a time", "Hello, world!", "\n", "\t\t", "a\nb\r\n\n c",
    "the the the", "   leading", "trailing   ",
    "x" * 50, "=" * 37, "1234567890", "don't", "ÄÖÜ äpfel", "e\u0301 o\u0308", "नमस्ते", "中文分词", "你好，世界。", "日本語テキスト",
    "🦙🦙 👩‍👩‍👧", "\ufeffbom", "\u00a0nbsp\u3000wide",
    "\u2581", "a\u2581b", " \u2581 ", "<s>", "</s> <unk>", "<0x41>", "\0", "a\0b", "\ufffd",
    "def f(x):\n    return x ** 2\n")]
TEXTS += [b"\x80", b"a\x80b", b"\xe2\x96", b"\xe2\x96\x41", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
          b"\xf0\x9f\xa6", b"\xff\xfe ok"]


def fnv(ids):
    h = 0xcbf29ce484222325
    for i in ids:
        h = ((h ^ i) * 0x100000001b3) & (2**64 - 1)
    return h


def small_model(**settings):
    """A BPE vocabulary of a few lines, without bytes: user-defined and unused pieces, merges that lead over unused
    ones."""
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
print("# made by: python tests/oracle/spm.py > tests/golden/tokenizers.txt",
      f"(sentencepiece {sentencepiece.__version__})")
print("""# model PATH in ../shared/data, or bytes of one; behind it encode TEXT IDS .. and decode TEXT IDS ..
# file MODEL TEXT N HASH: of the first bytes of a text, as many as prefix says, the number of ids and FNV-1a over them
# Texts and bytes have %41 for what is no printing character of ASCII, and a % alone for nothing.""")


def word(text):
    return "".join(chr(b) if 33 <= b < 127 and b != 37 else "%%%02x" % b for b in text) or "%"


def emit_case(kind, text, ids):
    print(" ".join([kind, word(text), *map(str, ids)]))


def emit_model(sp, texts, n_random):
    for text in texts:
        emit_case("encode", text, sp.encode(text))
    n = sp.get_piece_size()
    for _ in range(n_random):
        ids = [random.choice([random.randrange(n), random.randrange(min(n, 262))])
               for _ in range(random.randrange(1, 14))]
        emit_case("decode", sp.decode(ids).encode(), ids)


hashes = []
for path in MODELS:
    sp = sentencepiece.SentencePieceProcessor(model_file=DATA + path)
    print("model", path)
    emit_model(sp, TEXTS, 25)
    for f in FILES:
        ids = sp.encode(open(DATA + "text/" + f, "rb").read()[:PREFIX])
        hashes.append(f"file {path} text/{f} {len(ids)} {fnv(ids):016x}")
alphabet = ["a", "b", "c", "d", "é", "中", " ", "▁", "<sep>", "<s>", "ab", "abc", "ccc", "x", "\x80", "  "]
for v in range(6):
    raw = small_model(suffix=v == 3, add_dummy_prefix=v != 2, remove_extra_whitespaces=v in (1, 4),
                      escape_whitespaces=v != 5)
    sp = sentencepiece.SentencePieceProcessor(model_proto=raw)
    texts = [b"", b" ", b"abcabc", b"abc cccc", b"<sep><sep><sep>a"]
    for i in range(30):
        text = "".join(random.choice(alphabet) for _ in range(random.randrange(1, 16)))
        texts.append(text.encode("latin-1" if i == 0 else "utf-8", "replace"))
    print("bytes", word(raw))
    emit_model(sp, texts, 15)
print("prefix", PREFIX)
print("\n".join(hashes))
