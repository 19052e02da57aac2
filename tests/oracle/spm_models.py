"""Golden hashes for tests/test_sentencepiece.c: the SentencePiece library's ids and texts, and tokenizers'
Precompiled normalizer.
    python tests/oracle/spm_models.py > tests/golden/sentencepiece.h
    make build/release/bench-ids && python tests/oracle/spm_models.py 100000 build/release/bench-ids
is another run, outside the tests: 100,000 random texts a model and all of ../shared/data/text, what differs in print.
Needs sentencepiece 0.2.3 and tokenizers 0.23; reads ../shared/data. Random texts are not written down: Random below is
the same few lines in the test, and what it made is compared by a hash over all ids.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as pb
from narrow import print

DATA = "../shared/data/"
MODELS = ["spm/google_test_model.model", "spm/google_test_ja_model.model", "spm/t5_tokenizer_base.model",
          "spm/ortx_nmt_vocab.joint.spm",
          "spm/llama2_tokenizer.model", "spm/mistral_tokenizer.model.v1", "llama2c/tok512.model", "tales/tok1024.model"]
FILES = ["botchan.txt", "frankenstein.txt", "hongloumeng_utf8.txt", "tinyshakespeare.txt", "tinystories_sample_2M.txt",
         "war-and-peace.txt",
         "wikitext2_wiki.test.raw"]
TEXTS = [s.encode() for s in (
    "", " ", "   ", "a", " a  b ", "Hello, world!", "\n", "a\tb\r\nc", "ＡＢＣ　ｄｅｆ", "ﬁ ﬂ ﷺ ㍿",
    "e\u0301 A\u030a \u1100\u1161", "①②③ ½", "吾輩は猫である。", "中文分词",
    "🦙🦙 👩‍👩‍👧", "\ufeffbom", "\u00a0nbsp\u3000wide", "\u2581", "a\u2581b", "<s></s><unk>", "<extra_id_0>", "<0x41>",
    "\0a\0", "\ufffd", "\u200b\u200d\u00ad", "x" * 40,
    "Straße NAÏVE", "the " * 5, "don't stop", "123,456.78")]
TEXTS += [b"\x80", b"a\x80b", b"\xe2\x96", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xff\xfe ok"]
MARKS = [0x41, 0x65, 0x20, 0xaa, 0xb2, 0xfb01, 0x2460, 0x301, 0x308, 0x200d, 0x1f468, 0x2764, 0xfe0f, 0x1f1e6, 0x1f1e7,
         0x915, 0x94d, 0x930, 0x93e,
         0x600, 0xac00, 0xac01, 0x1100, 0x1161, 0x11a8, 0xd, 0xa, 0xad, 0x897, 0x1acf, 0xe33, 0x1f3fb, 0x200c, 0xff21,
         0x3000]


class Random:
    def __init__(self, seed):
        self.r = seed

    def below(self, n):
        self.r = (self.r * 1664525 + 1013904223) & 0xffffffff
        return (self.r >> 8) % n

    def unicode(self):
        out = b""
        for _ in range(self.below(24)):
            kind = self.below(10)
            if kind == 3:
                out += b" "
            elif kind == 8:
                out += bytes([self.below(256)])
            else:
                first, n = {4: (0x80, 0x500), 5: (0x300, 0x70), 6: (0x3000, 0x6fff), 7: (0, 0x110000),
                            9: (0xf900, 0x700)}.get(kind, (0x20, 95))
                # surrogates: bytes that are no UTF-8
                out += chr(first + self.below(n)).encode("utf-8", "surrogatepass")
        return out

    def of(self, words, most):
        return b"".join(words[self.below(len(words))] for _ in range(self.below(most)))


def fnv(data, h=0xcbf29ce484222325):
    for x in data:
        h = ((h ^ x) * 0x100000001b3) & (2**64 - 1)
    return h


def decoded(sp, ids):
    text = sp.decode(ids)
    return text if isinstance(text, bytes) else text.encode()


def hashes(sp, texts):
    """Over the ids of all texts, 2^31 behind each, and over the texts decoded again, a NUL behind each."""
    a, b, n = 0xcbf29ce484222325, 0xcbf29ce484222325, 0
    for t in texts:
        ids = sp.encode(t)
        n += len(ids)
        a = fnv(ids + [1 << 31], a)
        b = fnv(decoded(sp, ids) + b"\0", b)
    return f"{n}, 0x{a:016x}u, 0x{b:016x}u"


def c_bytes(b):
    out, after = "", False
    for x in b:
        plain = 32 <= x < 127 and chr(x) not in '"\\?' and not (after and chr(x) in "01234567")
        out += chr(x) if plain else "\\%o" % x
        after = not plain and x < 0o100
    return '"' + out + '"'


def c_long(b):
    return "\n    " + "\n    ".join(c_bytes(b[i:i + 40]) for i in range(0, len(b), 40))


def character_map():
    """A map of a few rules as the trainer compiles it: two characters to one, one to many, to nothing, a longer rule
    before a shorter."""
    rules = {"A": "a", "AB": "x", "ABC": "", "é": "e", "e\u0301": "é", "ﬁ": "fi", "中": " zhong ", "\u3000": " ",
             "\u200b": "", "①": "1", "aa": "b"}
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/rules.tsv", "w") as f:
            for k, v in rules.items():
                f.write(" ".join("%X" % ord(c) for c in k) + "\t" + " ".join("%X" % ord(c) for c in v) + "\n")
        with open(d + "/text", "w") as f:
            f.write("a b c\nab c\n" * 20)
        sentencepiece.SentencePieceTrainer.train(input=d + "/text", model_prefix=d + "/m", vocab_size=8,
                                                 hard_vocab_limit=False,
                                                 normalization_rule_tsv=d + "/rules.tsv", minloglevel=3)
        m = pb.ModelProto()
        m.ParseFromString(open(d + "/m.model", "rb").read())
        return m.normalizer_spec.precompiled_charsmap


LETTERS = ["a", "b", "c", "é", "中", "▁", "\u0301", "ﬁ", "<", "s", ">"]


def made(seed):
    """A model of a few pieces: every kind, every switch, equal scores, pieces inside pieces. Returns its bytes
    without the map and without byte pieces, and which of the two (and a denormalizer) are to be put behind it."""
    r = random.Random(seed)
    m = pb.ModelProto()
    T = m.SentencePiece
    seen = set()

    def add(text, score=0.0, kind=T.NORMAL):
        if text in seen:
            return
        seen.add(text)
        p = m.pieces.add()
        p.piece, p.score, p.type = text, score, kind

    add("<unk>", kind=T.UNKNOWN)
    add("<s>", kind=T.CONTROL)
    add("</s>", kind=T.CONTROL)
    scores = [-1.0, -2.0, -0.5, -3.25, r.uniform(-9, 0), r.uniform(-9, 2)]
    scale = r.choice([1, 1, 1, 30000])  # sums beyond 100000, where the library begins again
    for _ in range(r.choice([0, 0, 2])):
        add("".join(r.choice(LETTERS + [" "]) for _ in range(r.randrange(1, 5))), r.choice([0.0, -5.0]), T.USER_DEFINED)
    for c in LETTERS:
        if r.random() < .8:
            add(c, r.choice(scores) * scale, T.UNUSED if r.random() < .1 else T.NORMAL)
    for _ in range(r.choice([4, 10, 20])):
        add("".join(r.choice(LETTERS) for _ in range(r.choice([2, 2, 2, 3, 3, 4, 6]))), r.choice(scores) * scale,
            T.UNUSED if r.random() < .1 else T.NORMAL)
    with_bytes = seed % 3 == 0
    m.trainer_spec.model_type = [1, 1, 1, 2, 1, 3, 1, 4][seed % 8]
    m.trainer_spec.byte_fallback = with_bytes
    m.trainer_spec.treat_whitespace_as_suffix = seed % 5 == 1
    if seed % 7 == 2:
        m.trainer_spec.unk_surface = "?"
    m.normalizer_spec.add_dummy_prefix = bool(seed & 1)
    m.normalizer_spec.remove_extra_whitespaces = bool(seed & 2)
    m.normalizer_spec.escape_whitespaces = seed % 6 != 4
    denormalizer = seed % 9 == 5
    if denormalizer:
        d = m.denormalizer_spec
        d.add_dummy_prefix = d.remove_extra_whitespaces = d.escape_whitespaces = False
    return m.SerializeToString(), with_bytes, seed % 4 != 0, denormalizer


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, b):
    return bytes([number << 3 | 2]) + varint(len(b)) + b


def whole(raw, with_bytes, with_map, denormalizer, cmap):
    """Protobuf lets a message grow by what stands behind it."""
    if with_bytes:
        raw += b"".join(field(1, field(1, b"<0x%02X>" % i) + b"\x18\x06") for i in range(256))
    if with_map:
        raw += field(3, field(2, cmap))
    if denormalizer:
        raw += field(5, field(2, cmap))
    return raw


WORDS = [s.encode() for s in LETTERS + [" ", "  ", "A", "AB", "ABC", "aa", "e\u0301", "①", "\u3000", "\u200b", "<s>",
                                        "<unk>", "ab", "\ufffd", "x"]] + [b"\x80", b"\0"]


def usable(sp, texts):
    """Without the texts that the library itself refuses: a control piece found in them."""
    out = []
    for t in texts:
        try:
            sp.encode(t)
            out.append(t)
        except Exception:
            pass
    return out


def print_header():
    print(f"/* made by: python tests/oracle/spm_models.py > tests/golden/sentencepiece.h (sentencepiece "
          f"{sentencepiece.__version__},")
    print(f" * tokenizers {tokenizers.__version__}) */\n#ifndef GOLDEN_SENTENCEPIECE_H\n#define GOLDEN_SENTENCE"
          f"PIECE_H\n\n#include <stddef.h>\n#include <stdint.h>\n")
    print("/* n ids in all, a hash over them, a hash over them decoded */\ntypedef struct "
          "{ size_t n; uint64_t ids, text; } GoldenHash;\n")
    print("static const struct { const char *text; size_t len; } golden_strings[] = {")
    print("\n".join(f"    {{{c_bytes(t)}, {len(t)}}}," for t in TEXTS) + "\n};\n")
    print("enum { GOLDEN_RANDOM = 2000, GOLDEN_MADE = 60, GOLDEN_MARKS = 4000 }; /* random texts a model */\n")
    print("/* golden_strings one after another, then GOLDEN_RANDOM texts of Random(1 + the row) */")
    print("static const struct { const char *model; GoldenHash strings, random; } golden_spm[] = {")
    for k, path in enumerate(MODELS):
        sp = sentencepiece.SentencePieceProcessor(model_file=DATA + path)
        r = Random(1 + k)
        print(f'    {{"{path}", {{{hashes(sp, TEXTS)}}}, {{{hashes(sp, [r.unicode() for _ in range(2000)])}}}}},')
    print("};\n\nstatic const struct { const char *model, *text; GoldenHash hash; } golden_spm_files[] = {")
    for path in MODELS:
        sp = sentencepiece.SentencePieceProcessor(model_file=DATA + path)
        for f in FILES:
            print(f'    {{"{path}", "text/{f}", {{{hashes(sp, [open(DATA + "text/" + f, "rb").read()])}}}}},')
    print("};\n")


def print_made():
    cmap = character_map()
    print(f"static const char golden_map[] = {c_long(cmap)}; /* rules: see character_map() */\n")
    print("static const struct { const char *text; size_t len; } golden_words[] = {"
          + ", ".join(f"{{{c_bytes(w)}, {len(w)}}}" for w in WORDS) + "};\n")
    print("/* model [size], to be followed by 256 byte pieces, the map as normalizer, as denormalizer; then GOL"
          "DEN_MADE texts of up to 19")
    print(" * golden_words by Random(1000 + the row), less `refused`, which the library takes for control pieces */")
    print("static const struct { const char *model; size_t size; int bytes, map, unmap; GoldenHash hash; } gold"
          "en_made[] = {")
    for seed in range(36):
        raw, *more = made(seed)
        sp = sentencepiece.SentencePieceProcessor()
        sp.LoadFromSerializedProto(whole(raw, *more, cmap))
        r = Random(1000 + seed)
        texts = [r.of(WORDS, 20) for _ in range(60)]
        assert usable(sp, texts) == texts, seed
        print(f"    {{{c_long(raw)},\n     {len(raw)}, {int(more[0])}, {int(more[1])}, {int(more[2])}, {{"
              f"{hashes(sp, texts)}}}}},")
    print("};\n")


def print_precompiled():
    m = pb.ModelProto()
    m.ParseFromString(open(DATA + MODELS[2], "rb").read())
    normalizer = tokenizers.normalizers.Precompiled(m.normalizer_spec.precompiled_charsmap)
    words = [chr(c) for c in MARKS]
    r, h = Random(5), 0xcbf29ce484222325
    for _ in range(4000):
        h = fnv(normalizer.normalize_str("".join(words[r.below(len(words))] for _ in range(r.below(12)))).encode()
                + b"\0", h)
    print("static const uint32_t golden_marks[] = {" + ", ".join("0x%x" % c for c in MARKS) + "};")
    print(f"/* {MODELS[2]}'s map, asked as tokenizers' Precompiled does:\n * GOLDEN_MARKS texts of up to 11 gol"
          f"den_marks by Random(5) */")
    print(f"static const uint64_t golden_precompiled = 0x{h:016x}u;")
    model = tokenizers.Tokenizer(tokenizers.models.Unigram([(p.piece, p.score) for p in m.pieces], unk_id=2,
                                                           byte_fallback=False))
    words += ["</s>", "<unk>", "▁the", "ing"]
    r, h = Random(6), 0xcbf29ce484222325
    for _ in range(4000):
        h = fnv(model.encode("".join(words[r.below(len(words))] for _ in range(r.below(12)))).ids + [1 << 31], h)
    print("/* .. and its pieces as tokenizers' Unigram takes them: as many texts of golden_marks and golden_mor"
          "e by Random(6) */")
    print("static const char *const golden_more[] = {" + ", ".join(c_bytes(w.encode()) for w in words[len(MARKS):])
          + "};")
    print(f"static const uint64_t golden_tokenizers_unigram = 0x{h:016x}u;\n\n#endif")


def compare(count, program):
    """program MODEL reads texts (a 32-bit length, the bytes) and answers ids (a 32-bit number, the ids), then the
    decoded text."""
    for k, path in enumerate(MODELS):
        sp = sentencepiece.SentencePieceProcessor(model_file=DATA + path)
        r = Random(77 + k)
        texts = [r.unicode() for _ in range(count)] + [open(DATA + "text/" + f, "rb").read() for f in FILES]
        out = subprocess.run([program, DATA + path], input=b"".join(struct.pack("<I", len(t)) + t for t in texts),
                             stdout=subprocess.PIPE, check=True).stdout
        at = wrong = 0
        for t in texts:
            n, = struct.unpack_from("<I", out, at)
            ids = list(struct.unpack_from("<%di" % n, out, at + 4))
            at += 4 + 4 * n
            size, = struct.unpack_from("<I", out, at)
            text = out[at + 4:at + 4 + size]
            at += 4 + size
            want = sp.encode(t)
            wrong += want != ids or decoded(sp, want) != text
        print(f"{path}: {len(texts)} texts, {wrong} differ", flush=True)


if len(sys.argv) > 2:
    compare(int(sys.argv[1]), sys.argv[2])
else:
    print_header()
    print_made()
    print_precompiled()
