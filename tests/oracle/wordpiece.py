"""Golden ids for tokenizer/wordpiece/ from transformers' slow tokenizers with rjieba, from bert4keras with jieba,
and what Python's unicodedata says of every character. Reads ../shared/data.
    python tests/oracle/wordpiece.py > tests/golden/wordpiece.h
Needs a venv of its own: transformers 5 has a RoFormerTokenizer that does not call jieba. bert4keras is not imported
(it wants Keras): the two functions asked are taken out of its files.
    pip install -r tests/oracle/requirements-wordpiece.txt && pip install --no-deps bert4keras==0.11.5

The ids of texts come from RoFormerTokenizer as it is, with the dictionary inside rjieba. Random strings are made of
words of the vocabulary, among them the one word that ../shared/data/jieba/dict.txt lacks (U+5409 U+6797); there
rjieba reads that file.
"""
import ast
import importlib.metadata
import logging
import os
import types
import unicodedata

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import jieba
import rjieba
import transformers
from transformers import BertTokenizer, RoFormerTokenizer
from narrow import print

DATA = "../shared/data/"
WORD, CHAR, BERT = "roformer/v1_base/vocab.txt", "roformer/v2_char_base/vocab.txt", "tok/bert_base_uncased_vocab.txt"
DICT = DATA + "jieba/dict.txt"
BLOCK = 500  # lines to a hash
RANDOM, PER_HASH = 1000, 100
jieba.setLogLevel(logging.ERROR)


def lines_of(path):
    return open(DATA + path, encoding="utf-8").read().split("\n")


# ---- hashing and printing ----

def fnv(values, h=0xcbf29ce484222325):
    for v in values:
        h = ((h ^ v) * 0x100000001b3) & (2**64 - 1)
    return h


def c_text(s):
    b = s if isinstance(s, bytes) else s.encode()
    return '"' + "".join(chr(x) if chr(x).isalnum() and x < 128 or x in b" <>[]#/_.,'!()=:;&%{}-" else "\\%03o" % x
                         for x in b) + '"'


def array(kind, name, items, dims="[]"):
    print(f"static const {kind} {name}{dims} = {{")
    line = "   "
    for item in items:
        if len(line) + len(item) > 125:
            print(line)
            line = "   "
        line += f" {item},"
    print(line + "\n};")


# ---- the references ----

def rjieba_of(path):
    """rjieba with another dictionary; a word that stands twice keeps its last frequency, as when rjieba reads a
    file."""
    j = rjieba.Jieba.empty()
    for line in open(path, encoding="utf-8"):
        word, frequency = line.split()[:2]
        j.add_word(word, int(frequency), None)
    return j


class Keras:
    """bert4keras' Tokenizer, its own code; pre_tokenize as JunnYu and ZhuiyiTechnology call jieba."""
    made = None

    def __init__(self, vocab, lower, cut=None):
        if not Keras.made:
            files = {f.name: f for f in importlib.metadata.files("bert4keras")}
            code = lambda name, keep: compile(ast.Module([n for n in ast.parse(files[name].read_text()).body
                                                          if keep(n)], []), name, "exec")
            is_import = lambda n: isinstance(n, ast.ImportFrom) and (n.module or "").startswith("bert4keras")
            space = {"is_string": lambda x: isinstance(x, str), "is_py2": False, "unicodedata": unicodedata}
            exec(code("snippets.py", lambda n: getattr(n, "name", "") == "lowercase_and_normalize"), space)
            exec(code("tokenizers.py", lambda n: not is_import(n)), space)
            Keras.made = space["Tokenizer"]
        self.t = Keras.made(DATA + vocab, do_lower_case=lower, pre_tokenize=cut)

    def encode(self, text):
        return self.t.encode(text)[0]


shared_rjieba = rjieba_of(DICT)
shared_jieba = jieba.Tokenizer(dictionary=DICT)
keras_cut = lambda text: shared_jieba.cut(text, HMM=False)


def roformer(vocab, shared=False, **settings):
    t = RoFormerTokenizer(DATA + vocab, **settings)
    if shared:
        t.jieba = shared_rjieba
    return t


# name, vocabulary, jieba, lower_case, bert4keras, tokenizer_config.json, the reference for random strings
no = lambda **k: "{" + ", ".join(f'"{a}": {str(b).lower()}' for a, b in k.items()) + "}"
SETUPS = [
    ("word", WORD, 1, -1, 0, "", lambda: roformer(WORD, True)),
    ("char with jieba", CHAR, 1, -1, 0, "", lambda: roformer(CHAR, True)),
    ("bert", BERT, 0, -1, 0, "", lambda: BertTokenizer(DATA + BERT)),
    ("char", CHAR, 0, -1, 0, "", lambda: BertTokenizer(DATA + CHAR)),
    ("word cased", WORD, 1, 0, 0, "", lambda: roformer(WORD, True, do_lower_case=False)),
    ("bert cased", BERT, 0, -1, 0, no(do_lower_case=False), lambda: BertTokenizer(DATA + BERT, do_lower_case=False)),
    ("bert accents", BERT, 0, -1, 0, no(strip_accents=False), lambda: BertTokenizer(DATA + BERT, strip_accents=False)),
    ("bert cased, no accents", BERT, 0, 0, 0, no(strip_accents=True), lambda: BertTokenizer(DATA + BERT,
        do_lower_case=False, strip_accents=True)),
    ("bert no Chinese", BERT, 0, -1, 0, no(tokenize_chinese_chars=False), lambda: BertTokenizer(DATA + BERT,
        tokenize_chinese_chars=False)),
    ("keras word", WORD, 1, 1, 1, "", lambda: Keras(WORD, True, keras_cut)),
    ("keras char", CHAR, 0, 1, 1, "", lambda: Keras(CHAR, True)),
    ("keras cased", BERT, 0, 0, 1, "", lambda: Keras(BERT, False)),
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

# ---- random strings: the same few lines in C ----

RANGES = [(0x20, 0x7e), (0xa0, 0x24f), (0x300, 0x36f), (0x370, 0x5ff), (0x1e00, 0x1fff), (0x2000, 0x2bff),
          (0x3000, 0x30ff), (0x3400, 0x3420), (0x9fb0, 0xa000),
          (0xac00, 0xac80), (0x1100, 0x11ff), (0xf900, 0xfb10), (0xff00, 0xffef), (0x1f300, 0x1f700),
          (0x2a6d0, 0x2a710), (0x2b730, 0x2b750), (0x2cea0, 0x2cec0), (0x2ebe0, 0x2f810)]
ODD = [0, 9, 10, 13, 0xb, 0x1c, 0x85, 0xa0, 0xad, 0x130, 0x131, 0x3a3, 0x344, 0x212a, 0x212b, 0x2028, 0x2029, 0x3000,
       0x2500, 0x200b, 0xfeff, 0xfffd, 0xe000, 0x378, 0x1d15e, 0x301, 0x327]
FIXED = SPECIAL + ["[mask]", "[MA\0SK]", "[MASK", "##", "\r\n", "AT&T", "C++", "c#", "B超", "卡拉OK", "──", "ΑΣ", "ΑΣ.Β",
                   "don't", "北京大学", "   "]
REPEAT = [1, 2, 5, 99, 100, 101, 150, 205]
state = 0


def rnd(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
    return (state >> 33) % n


def random_string(vocab):
    out = []
    for _ in range(1 + rnd(12)):
        kind = rnd(14)
        if kind < 4:
            lo, hi = RANGES[rnd(len(RANGES))]
            out.append(chr(lo + rnd(hi - lo + 1)))
        elif kind < 6:
            out.append(chr(ODD[rnd(len(ODD))]))
        elif kind < 9:
            out.append(vocab[rnd(len(vocab))])
        elif kind == 9:
            out.append(FIXED[rnd(len(FIXED))])
        elif kind == 10:
            letter = chr(97 + rnd(26))
            out.append(letter * REPEAT[rnd(len(REPEAT))])
        elif kind == 11:
            c = rnd(0x110000)
            out.append("x" if 0xd800 <= c < 0xe000 else chr(c))
        elif kind == 12:
            out.append(" ")
        else:
            out.append(chr(0x4e00 + rnd(0x51a6)))
    return "".join(out)


# ---- the parts of the header ----

def unicode_part():
    everything = [chr(c) for c in range(0x110000)]
    names = "Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs".split()
    form = lambda f: fnv(ord(x) for c in everything for x in unicodedata.normalize(f, c))
    print("/* every code point, FNV-1a over the numbers: category, combining class, lower case, NFD, NFC */")
    print(f'static const char golden_unicode_version[] = "{unicodedata.unidata_version}";')
    hashes = [fnv(names.index(unicodedata.category(c)) for c in everything),
              fnv(unicodedata.combining(c) for c in everything),
              fnv(ord(x) for c in everything for x in c.lower()), form("NFD"), form("NFC")]
    array("uint64_t", "golden_unicode", [f"0x{h:016x}u" for h in hashes])
    global state
    state = 11
    marks = [c for c in everything if unicodedata.combining(c)]
    print("/* strings of marks, letters and sigmas: their lower case, NFD, NFC;\n * golden_marks: (first, last)"
          " of characters with a class */")
    runs = []
    for c in marks:
        if runs and runs[-1][1] == ord(c) - 1:
            runs[-1][1] += 1
        else:
            runs.append([ord(c), ord(c)])
    runs = [r for r in runs if r[0] < 0x1000]
    array("uint32_t", "golden_marks", [f"{{{a}, {b}}}" for a, b in runs], "[][2]")
    hashes = [0xcbf29ce484222325] * 3
    for _ in range(5000):
        s = ""
        for _ in range(1 + rnd(24)):
            kind = rnd(6)
            if kind < 2:
                lo, hi = runs[rnd(len(runs))]
                s += chr(lo + rnd(hi - lo + 1))
            elif kind == 2:
                s += "aEiou'.\u03a3\u0391\u03c3"[rnd(10)]
            else:
                lo, hi = [(0xc0, 0x24f), (0x370, 0x3ff), (0x1f00, 0x1fff), (0x1100, 0x11ff), (0xac00, 0xd7a3)][rnd(5)]
                s += chr(lo + rnd(hi - lo + 1))
        for i, r in enumerate((s.lower(), unicodedata.normalize("NFD", s), unicodedata.normalize("NFC", s))):
            hashes[i] = fnv(map(ord, r), hashes[i])
    array("uint64_t", "golden_sequences", [f"0x{h:016x}u" for h in hashes])


def setup_part():
    print("\n/* jieba: with ../shared/data/jieba/dict.txt; config: tokenizer_config.json beside the vocabulary,"
          " \"\": none */")
    print("typedef struct { const char *name, *vocab; int jieba, lower_case, bert4keras; const char *config; } "
          "GoldenSetup;")
    array("GoldenSetup", "golden_setups", [f'{{"{n}", "{v}", {j}, {low}, {k}, {c_text(config)}}}' for n, v, j, low, k,
                                           config, _ in SETUPS])
    print(f"/* random strings: {RANDOM} for each setup, from state = its number + 1; ids with [CLS] and [SEP], "
          f"a hash for {PER_HASH} strings */")
    print(f"enum {{ GOLDEN_RANDOM = {RANDOM}, GOLDEN_PER_HASH = {PER_HASH} }};")
    array("uint32_t", "golden_ranges", [f"{{{a}, {b}}}" for a, b in RANGES], "[][2]")
    array("uint32_t", "golden_odd", map(str, ODD))
    array("int", "golden_repeat", map(str, REPEAT))
    print("typedef struct { const char *text; size_t len; } GoldenText;")
    array("GoldenText", "golden_fixed", [f"{{{c_text(f)}, {len(f.encode())}}}" for f in FIXED])
    rows = []
    global state
    for i, (name, vocab, _, _, keras, _, make) in enumerate(SETUPS):
        tokenizer, pieces = make(), lines_of(vocab)[:-1]
        state = i + 1
        hashes = []
        for k in range(RANDOM):
            if k % PER_HASH == 0:
                hashes.append(0xcbf29ce484222325)
            s = random_string(pieces)
            if keras and any(x in s for x in SPECIAL):  # here bert4keras has another opinion, see tokenizer/README.md
                continue
            hashes[-1] = fnv(tokenizer.encode(s), hashes[-1])
        rows.append("{" + ", ".join(f"0x{h:016x}u" for h in hashes) + "}")
    array("uint64_t", "golden_random", rows, f"[][{RANDOM // PER_HASH}]")


def text_part():
    print(f"\n/* texts, {BLOCK} lines to a block: number of ids with [CLS] and [SEP] for each line, "
          "FNV-1a over them */")
    print("typedef struct { int setup; const char *text; int n_blocks; const struct "
          "{ size_t n; uint64_t hash; } *blocks; } GoldenFile;"
          .replace("const struct { size_t n; uint64_t hash; }", "const GoldenBlock").replace("typedef",
              "typedef struct { size_t n; uint64_t hash; } GoldenBlock;\ntypedef", 1))
    story, sentences, botchan = "text/hongloumeng_utf8.txt", "jieba/test_sentences.txt", "text/botchan.txt"
    files = [(0, story, roformer(WORD)), (0, sentences, roformer(WORD)), (1, story, roformer(CHAR)),
             (1, sentences, roformer(CHAR)), (2, botchan, BertTokenizer(DATA + BERT)),
             (3, story, BertTokenizer(DATA + CHAR)), (9, story, Keras(WORD, True, keras_cut)),
             (10, story, Keras(CHAR, True))]
    rows = []
    for i, (setup, path, t) in enumerate(files):
        ids = [t.encode(line) for line in lines_of(path)[:-1]]
        blocks = [sum(ids[k:k + BLOCK], []) for k in range(0, len(ids), BLOCK)]
        array("GoldenBlock", f"golden_blocks_{i}", [f"{{{len(b)}, 0x{fnv(b):016x}u}}" for b in blocks])
        rows.append(f'{{{setup}, "{path}", {len(blocks)}, golden_blocks_{i}}}')
    print(f"enum {{ GOLDEN_BLOCK = {BLOCK} }};")
    array("GoldenFile", "golden_texts", rows)


LISTS = {0: ["今天天气非常好。", "永和服装饰品有限公司,今天天气非常好[UNK]", "欢迎使用百度飞桨", "今天[MASK]很好，我[MASK]去公园玩。", "我来到北京清华大学[SEP]",
             "AT&T是一件不错的公司，给你发offer了吗？",
             "C++和c#是什么关系？11+122=133，是吗？PI=3.14159", "南京市长江大桥", "  \t全角　空格\r\n，\0控\ufffd制\u200b符", "Ünïcode é ΑΣ 한국어 ﬁ",
             "[mask] [MASK [CLS]x", "㐀\U00020000\U0002ceb0豈", "", "──…——"],
         1: ["今天天气非常好。", "B超、卡拉OK、naïve café", "──", "1234.5678 abc-def", "ΑΒΓ가나다"],
         2: ["UNwantéd,running", "unaffable", "a\n'll !!to?'d of, can't.", "\u00ad", "ah博推zz",
             " \tHeLLo!how  \n Are yoU?  ", "x" * 100, "x" * 101, "[MASK] is a [MASK].", "don't 3.14 $5 a`b",
             "H\u00e9llo\u2028w\u00f6rld\u3000!"]}


def list_part():
    print("\n/* whole lists, with [CLS] and [SEP] */")
    print("typedef struct { int setup; const char *text; size_t len; int n, ids[120]; } GoldenList;")
    rows = []
    for setup, texts in LISTS.items():
        t = roformer(SETUPS[setup][1]) if setup < 2 else BertTokenizer(DATA + BERT)
        for s in texts:
            ids = t.encode(s)
            rows.append(f"{{{setup}, {c_text(s)}, {len(s.encode())}, {len(ids)}, {{{', '.join(map(str, ids))}}}}}")
    array("GoldenList", "golden_lists", rows)
    print("\n/* pairs: a, b, then ids and types */")
    print("typedef struct { int setup; const char *a, *b; int n, ids[40], types[40]; } GoldenPair;")
    rows = []
    for setup, a, b in [(0, "今天天气非常好。", "我要去公园"), (0, "广州", ""), (0, "", "深圳[MASK]"),
                        (2, "Hello there", "General Kenobi!")]:
        t = roformer(WORD) if setup == 0 else BertTokenizer(DATA + BERT)
        e = t(a, b)
        ids, types = e["input_ids"], e["token_type_ids"]
        rows.append(f"{{{setup}, {c_text(a)}, {c_text(b)}, {len(ids)}, {{{', '.join(map(str, ids))}}}, {{"
                    f"{', '.join(map(str, types))}}}}}")
    array("GoldenPair", "golden_pairs", rows)


CUTS = ["abc网球拍卖会def！！？\r\n\t", "我们中出了一个叛徒", "南京市长江大桥", "x\r\n\ty", "如果放到post中将出错。", "「台中」正确应该不会被切开", "我来到北京清华大学",
        "他来到了网易杭研大厦", "长春市长春节讲话",
        "结婚的和尚未结婚的", "AT&T是一件不错的公司，给你发offer了吗？", "C++和c#是什么关系？11+122=133，是吗？PI=3.14159", "今天[MASK]很好，我[MASK]去公园玩。",
        "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作", "在1号店能买到小S和大S八卦的书，还有3D电视。", "a㐀b\U0002ceb0c豈\r\rd\r\n",
        "王5.5%abc++d#_-e"]
SMALL = [("南京 30\n南京市 20\n市长 10\n长江 40\n大桥 8\n长江大桥 12\n市 5\n江大桥 1\n", ["南京市长江大桥", "南京长江", "江大桥市长市"]),
         ("一 4\n二 4\n一二 1\n三 7\n", ["一二", "一二三", "三一二"]),  # 4/16 * 4/16 = 1/16: a tie
         ("一二 3\n二三 5\n一 5\n三 3\n", ["一二三", "三一二三"]),  # ties by the last bit
         ("一二 5\n二三 3\n一 3\n三 5\n一二三四 1\n", ["一二三", "一二三五", "一二三四"]),
         ("天气 5 n\n天气 9\nab 3\nb-c 2\n", ["天气abab", "xab-cd", "天天气气"])]


def jieba_part():
    print("\n/* jieba alone: the words with '/' between, as rjieba cuts; dict NULL: the whole dictionary */")
    print("typedef struct { const char *dict, *text, *words; } GoldenCut;")
    rows = [f"{{NULL, {c_text(s)}, {c_text('/'.join(rjieba.cut(s, False)))}}}" for s in CUTS]
    for text, sentences in SMALL:
        j = rjieba.Jieba.empty()
        for line in text.split("\n")[:-1]:
            j.add_word(line.split()[0], int(line.split()[1]), None)
        rows += [f"{{{c_text(text)}, {c_text(s)}, {c_text('/'.join(j.cut(s, False)))}}}" for s in sentences]
    array("GoldenCut", "golden_cuts", rows)
    words = [len(x.encode()) for line in lines_of("text/hongloumeng_utf8.txt") for x in rjieba.cut(line, False)]
    print(f"/* all of hongloumeng_utf8.txt, line by line: number of words, FNV-1a over their bytes' numbers */"
          f"\nenum {{ GOLDEN_WORDS = {len(words)} }};")
    print(f"static const uint64_t golden_words = 0x{fnv(words):016x}u;")
    cps = [c for c in range(1, 0x110000) if not 0xd800 <= c < 0xe000]
    j = rjieba.Jieba.empty()
    for c in cps:
        j.add_word(chr(c) * 2, 1, None)
    print(f"/* characters that words may hold: FNV-1a over them */\nstatic const uint64_t golden_in_words = 0x"
          f"{fnv(c for c in cps if len(j.cut(chr(c) * 2, False)) == 1):016x}u;")


def decode_part():
    """Special tokens are left out but [UNK], which ours shows; so the reference is asked without them."""
    print("\n/* ids to text */")
    print("typedef struct { int setup; int n, ids[20]; const char *text; } GoldenDecode;")
    global state
    state = 99
    rows = []
    bert, word = BertTokenizer(DATA + BERT), roformer(WORD)
    b = lambda *tokens: bert.convert_tokens_to_ids(list(tokens))
    cases = [(2, b("don", "'", "t", "stop", ",", "he", "said", ".")), (2, b("'", "a", "'", "b", "'")),
             (2, b("a", "'", "'", "b")), (2, b("a", "'", ".", "'", "##s")),
             (2, b("##ing", "##ed", "un", "##aff", "##able")),
             (2, b("a", "'", "[SEP]", "s", "!", "?", "[UNK]", ".")),
             (2, b("[CLS]", "it", "'", "s", "3", ".", "5", "%", "[SEP]")),
             (0, word.encode("今天天气非常好。don't stop.")), (2, b("'")), (2, b("x", "'")),
             (2, b("do", "n", "'", "t")), (2, b("a", "n", "'", "##t", "n", "'")), (2, b("a", "n")),
             (2, b("n", "n", "'", ".", "n", "'", "m"))]
    common = b(*".?!,'-") + b("s", "t", "re", "ve", "m", "##s", "##t", "[MASK]", "[UNK]")
    for _ in range(24):
        cases.append((2, [common[rnd(len(common))] if rnd(2) else rnd(bert.vocab_size) for _ in range(2 + rnd(14))]))
    cases += [(0, [rnd(word.vocab_size) for _ in range(10)]) for _ in range(4)]
    for setup, ids in cases:
        t = bert if setup == 2 else word
        seen = [i for i in ids if t.convert_ids_to_tokens(i) not in ("[PAD]", "[CLS]", "[SEP]", "[MASK]")]
        rows.append(f"{{{setup}, {len(ids)}, {{{', '.join(map(str, ids))}}}, {c_text(t.decode(seen))}}}")
    array("GoldenDecode", "golden_decodes", rows)


print(f"/* made by: python tests/oracle/wordpiece.py > tests/golden/wordpiece.h\n * (transformers "
      f"{transformers.__version__}, rjieba "
      f"{importlib.metadata.version('rjieba')}, jieba {jieba.__version__}, bert4keras "
      f"{importlib.metadata.version('bert4keras')}) */")
print("#ifndef GOLDEN_WORDPIECE_H\n#define GOLDEN_WORDPIECE_H\n\n#include <stddef.h>\n#include <stdint.h>\n")
unicode_part()
setup_part()
text_part()
list_part()
jieba_part()
decode_part()
print("\n#endif")
