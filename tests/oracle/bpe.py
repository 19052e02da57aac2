"""Golden ids and texts for tokenizer/pipeline/ and what reads into it, from `tokenizers` and tiktoken (not from us).
Needs those two, sentencepiece and gguf; reads ../shared/data.
    python tests/oracle/bpe.py > tests/golden/bpe.h
    python tests/oracle/bpe.py LIBRARY N [FILE ..]   compare N random strings a model, and all texts, with a shared
    library built from
                                                     tokenizer/ base/ model/ lab/; FILE: only these, tokenizer.json
                                                     files too
The reference of each model:
    tok/gpt2, tok/llama3.2     `tokenizers`, built from vocabulary and merges as the model's own tokenizer.json has them
    tok/qwen.tiktoken          tiktoken with Qwen's pattern, behind tokenizers' NFC, as in Qwen2's tokenizer.json
    tok/hf-json                `tokenizers`, the file itself
    bert_base_uncased_vocab    `tokenizers`, BertWordPieceTokenizer; ours is opened from the tokenizer.json that it
    saves gguf-vocab bert-bge        the same, its pieces spelled back as in vocab.txt
    gguf-vocab falcon, gpt-2   `tokenizers`, built from the file's vocabulary and merges, cut as the models'
    tokenizer.json say gguf-vocab llama-spm, phi-3   SentencePiece with Llama 2's tokenizer.model; of phi-3 no text
    with </s>, a token of its own there
The ids are those of the text alone; `special` those where special tokens count as such, `added` with what the
template adds.
"""
import ctypes
import json
import os
import sys
import tempfile

import gguf
import sentencepiece
import tiktoken
from tokenizers import AddedToken, BertWordPieceTokenizer, Regex, Tokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from random_text import Random
from split import LITERALS, REGEXES, pipelines
from narrow import print

DATA = "../shared/data/"
FILES = ["botchan.txt", "frankenstein.txt", "hongloumeng_utf8.txt", "tinyshakespeare.txt", "tinystories_sample_2M.txt",
         "war-and-peace.txt",
         "wikitext2_wiki.test.raw"]
RANDOM = 2000

PARTS = ["", " ", "a", "Hello", "\n", "  \n ", "don't", "\u4e2d\u6587", "12345", "_x_"]
TOKENS = ["<|endoftext|>", "<|begin_of_text|>", "<|eot_id|>", "<|reserved_special_token_7|>", "<|im_start|>",
          "<|im_end|>", "<|extra_3|>",
          "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<s>", "</s>", "<unk>", ">>TITLE<<", "<|endoftext|", "<0x41>"]
TEXTS = LITERALS + [
    "Once upon a time", "Hello, world!", "the the the", "   leading", "trailing   ", "x" * 200, "=" * 37, "ab" * 100,
    " a" * 100, "\t" * 90,
    "\xc4\xd6\xdc \xe4pfel", "e\u0301 o\u0308", "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8", "\U0001f999\U0001f999 \U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\u00a0nbsp\u3000wide", "\u2581", "a\u2581b", " \u2581 ",
    "\0", "a\0b", "\ufffd", "def f(x):\n    return x ** 2\n", "https://x.y/z?a=b&c=%20d", "3.14159 -1e10 0x7fff",
    "\uac00\u1100\u1161", "\u1112\u1161\u11ab",
    "\ufb01 \uff21\uff22 \u2460 \xbd", "I'LL you'Re we'vE", "unaffable", "\u017f'\u017f", "A\u0300\u0316\u0301",
    "\U00010400\U00010428", "\u0e44\u0e17\u0e22",
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "a" * 101, "word " * 30, "\r\r\n\n\r", "\x7f\x80\x9f",
    "\u200b\u200c\u200d\u2060", "caf\xe9 Caf\xc9 cafe\u0301"]
TEXTS += [a + b for a in PARTS for b in PARTS if a and b] + [a + t + b for t in TOKENS for a,
                                                             b in (("", ""), ("a ", " b"), (" ", "\n"), ("x", "y"))]


def c_string(s):
    return '"' + "".join("\\%03o" % b if b < 32 or b > 126 or b in b'"\\?' else chr(b) for b in s.encode()) + '"'


def byte_level(vocab, merges, cuts, special, ignore_merges=False):
    t = Tokenizer(models.BPE(vocab, merges, ignore_merges=ignore_merges))
    t.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in special])
    return t


def level(regex):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)


def split(name):
    return pre_tokenizers.Split(Regex(REGEXES[name][0]), "isolated")


def pair(folder):
    with open(DATA + folder + "/encoder.json", encoding="utf-8") as f:
        vocab = json.load(f)
    with open(DATA + folder + "/vocab.bpe", encoding="utf-8") as f:
        lines = f.read().split("\n")
    return vocab, [tuple(x.split(" ")) for x in lines if x and not x.startswith("#version")]


def gpt2():
    return byte_level(*pair("tok/gpt2"), [level(True)], ["<|endoftext|>"])


def llama3():
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
               "<|finetune_right_pad_id|>",
               "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
               "<|python_tag|>"]
    special += ["<|reserved_special_token_%d|>" % i for i in range(3, 248)]
    t = byte_level(*pair("tok/llama3.2"), [split("llama3"), level(False)], special, True)
    t.post_processor = processors.TemplateProcessing("<|begin_of_text|> $A", "<|begin_of_text|> $A $B",
                                                     [("<|begin_of_text|>", 128000)])
    return t


def bert(words):
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as f:
        f.write("\n".join(words) + "\n")
        f.flush()
        return BertWordPieceTokenizer(f.name)._tokenizer


def vocab_gguf(name):
    fields = gguf.GGUFReader(DATA + f"gguf-vocab/ggml-vocab-{name}.gguf").fields
    return {k.split(".")[-1]: f.contents() for k, f in fields.items() if k.startswith("tokenizer.ggml.")}


def gguf_byte_level(name):
    v = vocab_gguf(name)
    special = [s for s, kind in zip(v["tokens"], v["token_type"]) if kind == 3]
    return byte_level({s: i for i, s in enumerate(v["tokens"])}, [tuple(m.split(" ")) for m in v["merges"]],
                      pipelines()[v["pre"]], special)


def gguf_bert(name):
    pieces = vocab_gguf(name)["tokens"]
    return bert([p[1:] if p[0] == "\u2581" else p if p[0] == "[" and p[-1] == "]" else "##" + p for p in pieces])


class HuggingFace:
    def __init__(self, tokenizer):
        self.text, self.special = tokenizer, Tokenizer.from_str(tokenizer.to_str())
        self.text.encode_special_tokens = True
        for t in (self.text, self.special):
            t.no_truncation()
            t.no_padding()

    def encode(self, s):
        return self.text.encode(s, add_special_tokens=False).ids

    def encode_special(self, s):
        return self.special.encode(s, add_special_tokens=False).ids

    def encode_added(self, s):
        return self.text.encode(s).ids

    def decode(self, ids):
        return self.text.decode(ids, skip_special_tokens=True)


class Qwen:
    def __init__(self):
        special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + ["<|extra_%d|>" % i for i in range(205)]
        with open(DATA + "tok/qwen.tiktoken") as f:
            lines = [x.split() for x in f.read().splitlines()]
        import base64
        self.e = tiktoken.Encoding("qwen", pat_str=REGEXES["qwen2"][0], mergeable_ranks={base64.b64decode(a): int(b)
            for a, b in lines},
                                   special_tokens={s: len(lines) + i for i, s in enumerate(special)})

    def encode(self, s):
        return self.e.encode_ordinary(normalizers.NFC().normalize_str(s))

    encode_added = encode

    def encode_special(self, s):
        return self.e.encode(normalizers.NFC().normalize_str(s), allowed_special="all")

    def decode(self, ids):
        return self.e.decode(ids, errors="replace")


class SentencePiece:
    def __init__(self):
        self.p = sentencepiece.SentencePieceProcessor(DATA + "spm/llama2_tokenizer.model")

    def encode(self, s):
        return self.p.encode(s)

    encode_added = encode_special = encode

    def decode(self, ids):
        return self.p.decode(ids)


def bert_base():
    with open(DATA + "tok/bert_base_uncased_vocab.txt", encoding="utf-8") as f:
        return bert(f.read().split("\n")[:-1])


MODELS = {
    "tok/gpt2": lambda: HuggingFace(gpt2()),
    "tok/llama3.2": lambda: HuggingFace(llama3()),
    "tok/qwen.tiktoken": Qwen,
    "tok/hf-json/llama2": lambda: HuggingFace(Tokenizer.from_file(DATA + "tok/hf-json/llama2/tokenizer.json")),
    "tok/hf-json/phi-2": lambda: HuggingFace(Tokenizer.from_file(DATA + "tok/hf-json/phi-2/tokenizer.json")),
    "tok/bert_base_uncased_vocab.txt": lambda: HuggingFace(bert_base()),
    "gguf-vocab/ggml-vocab-bert-bge.gguf": lambda: HuggingFace(gguf_bert("bert-bge")),
    "gguf-vocab/ggml-vocab-falcon.gguf": lambda: HuggingFace(gguf_byte_level("falcon")),
    "gguf-vocab/ggml-vocab-gpt-2.gguf": lambda: HuggingFace(gguf_byte_level("gpt-2")),
    "gguf-vocab/ggml-vocab-llama-spm.gguf": SentencePiece,
    "gguf-vocab/ggml-vocab-phi-3.gguf": SentencePiece,
}


def asked(model, s):
    return not ("phi-3" in model and "</s>" in s)


def text_of(name):
    with open(DATA + "text/" + name, "rb") as f:
        return f.read().decode(errors="replace")


def fnv(numbers, h=0xcbf29ce484222325):
    for x in numbers:
        h = ((h ^ x) * 0x100000001b3) & (2**64 - 1)
    return h


def hash_lists(lists):
    """Every list's end counts too."""
    return fnv(x for a in lists for x in (*a, 0xffffffff))


def golden():
    rng = Random()
    random = [rng.string() for _ in range(RANDOM)]
    texts = {f: text_of(f) for f in FILES}
    print("/* made by: python tests/oracle/bpe.py > tests/golden/bpe.h (tokenizers 0.23.3, tiktoken 0.14.0, sen"
          "tencepiece 0.2.3) */")
    print("enum { BPE_RANDOM = %d };" % RANDOM)
    print("static const char *const bpe_texts[] = {%s, NULL};" % ", ".join(f'"text/{f}"' for f in FILES))
    print("static const struct { const char *s; unsigned n; } bpe_literals[] = {")
    for s in TEXTS:
        print("    {%s, %d}," % (c_string(s).replace("??", "?\\077"), len(s.encode())))
    print("    {NULL, 0}};")
    print("/* hashes of ids: of the literals (special tokens being text, counting, with the template's), the ra"
          "ndom strings and what their ids\n"
          " * decode to; of each text, and what its ids decode to */")
    print("static const struct "
          "{ const char *model; unsigned long long literals, special, added, random, decoded, texts[%d][2]; } b"
          "pe_golden[] = {" % len(FILES))
    for name, make in MODELS.items():
        m = make()
        mine = [s for s in TEXTS if asked(name, s)]
        ids = [m.encode(s) for s in mine + random]
        hashes = [hash_lists(ids[:len(mine)]), hash_lists(map(m.encode_special, mine)),
                  hash_lists(map(m.encode_added, mine)), hash_lists(ids[len(mine):]),
                  hash_lists(m.decode(i).encode() for i in ids)]
        print('    {"%s", %s, {' % (name, ", ".join("%#xu" % h for h in hashes)))
        for text in texts.values():
            ids = m.encode(text)
            print("        {%#xu, %#xu}," % (fnv(ids), fnv(m.decode(ids).encode())))
        print("    }},", flush=True)
    print("    {NULL, 0, 0, 0, 0, 0, {{0}}}};")


class Options(ctypes.Structure):
    _fields_ = [("jieba", ctypes.c_char_p), ("folder", ctypes.c_char_p), ("lower_case", ctypes.c_int),
                ("bert4keras", ctypes.c_int),
                ("pre", ctypes.c_char_p), ("backend", ctypes.c_char_p)]


class Ours:
    BOS, SPECIAL, EOS = 1, 2, 4

    def __init__(self, library, path):
        self.c, self.t, err = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.create_string_buffer(500)
        weights = ctypes.create_string_buffer(4096)
        options = Options(None, None, -1, 0, None, None)
        if path.endswith(".gguf"):
            rc = self.c.weights_open(weights, path.encode(), err, 500) or self.c.vocabulary_open(
                ctypes.byref(self.t), weights, None, ctypes.c_size_t(0), None, err, ctypes.c_size_t(500))
        else:
            rc = self.c.tokenizer_open_with(ctypes.byref(self.t), path.encode(), ctypes.byref(options), err,
                                            ctypes.c_size_t(500))
        if rc:
            raise ValueError(err.value.decode())
        for f in (self.c.tokenizer_decode_bound, self.c.tokenizer_decode, self.c.tokenizer_decode_end):
            f.restype = ctypes.c_size_t
        self.c.free.argtypes = [ctypes.c_void_p]
        self.out = ctypes.create_string_buffer(self.c.tokenizer_decode_bound(self.t))

    def encode(self, s, flags=0):
        b, ids, n, err = s.encode(), ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t(), ctypes.create_string_buffer(500)
        rc = self.c.tokenizer_encode(self.t, b, ctypes.c_size_t(len(b)), flags, ctypes.byref(ids), ctypes.byref(n), err,
                                     ctypes.c_size_t(500))
        if rc:
            raise ValueError(err.value.decode())
        got = ids[:n.value]
        self.c.free(ctypes.cast(ids, ctypes.c_void_p))
        return got

    def pair(self, a, b, flags=5):
        """Ids and types of two texts."""
        a, b, n, err = a.encode(), b.encode(), ctypes.c_size_t(), ctypes.create_string_buffer(500)
        ids, types = ctypes.POINTER(ctypes.c_int)(), ctypes.POINTER(ctypes.c_int)()
        rc = self.c.tokenizer_encode_pair(self.t, a, ctypes.c_size_t(len(a)), b, ctypes.c_size_t(len(b)), flags,
                                          ctypes.byref(ids), ctypes.byref(types),
                                          ctypes.byref(n), err, ctypes.c_size_t(500))
        if rc:
            raise ValueError(err.value.decode())
        got = ids[:n.value] + types[:n.value]
        self.c.free(ctypes.cast(ids, ctypes.c_void_p))
        self.c.free(ctypes.cast(types, ctypes.c_void_p))
        return got

    def decode(self, ids):
        stream, parts = ctypes.create_string_buffer(1024), []
        for i in ids:
            n = self.c.tokenizer_decode(self.t, stream, i, self.out)
            parts.append(ctypes.string_at(self.out, n))
        n = self.c.tokenizer_decode_end(self.t, stream, self.out)
        return b"".join(parts) + ctypes.string_at(self.out, n)


POOLS = [(0x20, 0x7f)] * 4 + [(0, 0x80), (0x80, 0x250), (0x250, 0x600), (0x600, 0x1000), (0x1000, 0x2000),
                              (0x2000, 0x3000), (0x3000, 0x3400), (0x3400, 0xa000),
         (0xa000, 0xd800), (0xe000, 0x10000), (0x10000, 0x20000), (0x1f300, 0x1fb00), (0x20000, 0x30000), (0, 0x110000)]


def wide(rng):
    """A string over all of Unicode, assigned or not, with words and tokens in it."""
    out = []
    for _ in range(1 + rng.next(14)):
        kind = rng.next(8)
        if kind == 0:
            out.append(PARTS[rng.next(len(PARTS))])
        elif kind == 1 and rng.next(4) == 0:
            out.append(TOKENS[rng.next(len(TOKENS))])
        else:
            low, high = POOLS[rng.next(len(POOLS))]
            points = [low + rng.next(high - low) for _ in range(1 + rng.next(3))]
            out.append("".join(chr(c) for c in points if not 0xd800 <= c < 0xe000) * (1
                + (rng.next(16) == 0) * rng.next(20)))
    return "".join(out)


def compare(library, n, names):
    """A row of the table in tokenizer/README.md for each model: how many strings differ in ids, in what they decode
    to, in ids with special tokens."""
    print("| model | texts | literals and random strings | ids differ | decoded differ | special differ |\n|---"
          "|---|---|---|---|---|")
    for name in names or MODELS:
        path, make = DATA + name, MODELS.get(name)
        if not make:
            path, make = name, lambda: HuggingFace(Tokenizer.from_file(path))
        m = make()
        with tempfile.TemporaryDirectory() as folder:
            if name.endswith("vocab.txt"):
                path = os.path.join(folder, "tokenizer.json")
                m.text.save(path)
            ours = Ours(library, path)
        rng, bad, shown = Random(), [0, 0, 0], 0
        strings = [s for s in TEXTS + [wide(rng) if i % 2 else rng.string() for i in range(n)] if asked(name, s)]
        for s in strings:
            ids = m.encode(s)
            wrong = [ours.encode(s) != ids, ours.decode(ids) != m.decode(ids).encode(),
                     ours.encode(s, Ours.SPECIAL) != m.encode_special(s) if not isinstance(m, SentencePiece) else False]
            bad = [a + b for a, b in zip(bad, wrong)]
            if any(wrong) and shown < 5:
                shown += 1
                print(name, wrong, repr(s), ours.encode(s), ids, ours.decode(ids), m.decode(ids).encode(),
                      file=sys.stderr)
        texts = sum(ours.encode(t) != m.encode(t) for t in map(text_of, FILES))
        print(f"| {name} | {len(FILES)}: {texts} | {len(strings)} | {' | '.join(map(str, bad))} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) >= 3:
        compare(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
    else:
        golden()
