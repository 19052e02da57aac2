"""Golden ids and texts for every component of tokenizer.json, from `tokenizers` (not from us), on small vocabularies.
    python tests/oracle/pipelines.py > tests/golden/pipelines.json
Each row of the file: its model, its other parts, and hashes of ids, of ids where special tokens count, of ids with
what the template adds, of pairs' ids and types, of what the first ids decode to.
    python tests/oracle/pipelines.py LIBRARY [N [NAME]]   compare (N random strings each) with a shared library, as
    bpe.py does
"""
import json
import os
import sys
import tempfile

from tokenizers import Tokenizer, pre_tokenizers

from bpe import Ours, hash_lists
from random_text import Random

RANDOM = 200
TEXTS = ["", " ", "  ", "a", " a", "a ", "Hello, world!", "the cat  sat on the mat.", "The CAT", "unaffable",
         "don't do not I'm n't", "a-b_c d/e", "12 345", "x1y22z",
         "\u2581a\u2581\u2581b", "a\u2581b c", "\n", "a\nb\r\n\n c\t", "caf\xe9 cafe\u0301",
         "\xc4\u0308\u0301 \u0130\u0131", "\u4e2d\u6587 a\u4e2d", "\ufb01\uff21\xbd\u2460", "\u1112\u1161\u11ab",
         "\0", "a\0b", "\ufffd", "\u200b\xad\u202e", "\U0001f999\U0001f999x", "zzz qqq", "zaz", "[MASK]", "a[MASK]b",
         " [MASK] ", "[MASK][MASK]", "<add> add madd add! \u4e2dadd",
         "ADD Add", "x <l> y <r> z <b> w <r><l>", "<l> <r> <l>", "the<l>cat", "abc abcd ab", "end of. ?", "a,b,,c",
         "a,", ",", "ab ab", "cacat", "0a00aa",
         "[CLS] a [SEP]", "\xe9\xe9", "a" * 30, "tha" * 12, "\u3000wide\xa0nb", "It's  the cat's", "A\u0300a\u0316",
         "\u03a3\u03c3\u03c2 \u1e9e\xdf", "</w> ##a a##"]


def bpe(pieces, merges, **more):
    pieces = list(dict.fromkeys(pieces))
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False,
            "byte_fallback": False, "ignore_merges": False, **more, "vocab": {p: i for i, p in enumerate(pieces)},
            "merges": merges}


SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CHARS = list("abcdehilmnorstuwxy'.,!-_/0123ABCDHIT\u2581\xe9\u4e2d\n ")
PAIRS = ["t h", "th e", "\u2581 a", "c a", "ca t", "\u2581 the", "a t", "h e", "l l", "o n", "a a", "aa aa", "0 0",
         "D D", "d d", "a dd", "A DD"]
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTE_PAIRS = ["t h", "th e", "\u0120 a", "\u0120 the", "a t", "c at", "\u0120 c", "\u0120 \u0120", "\xc3 \xa9",
              "\u010a \u010a", "\xe4 \xb8", "\xe4\xb8 \u0143", "o n", "a a", "aa aa"]


def made(pairs):
    return [p.replace(" ", "") for p in pairs]


def prefixed(pairs):
    return [[p.split(" ")[0], "##" + p.split(" ")[1]] for p in pairs]


WORDS = ["the", "cat", "a", "un", "##aff", "##able", "##a", "##b", "##c", "b", "c", "ab", "##cd", "##cat", ".", ",",
         "'", "s", "t", "don", "[", "]", "mask", "caf", "##e",
         "##\xe9", "\u4e2d", "##\u4e2d", "hello", "world", "!", "12", "##3", "1", "##1", "add"]
# Scores are exact in float, as those of published models are: ours are float.
SCORED = [["[UNK]", 0.0], ["[CLS]", 0.0], ["[SEP]", 0.0], ["[MASK]", 0.0]] + [[p, -2.0 - i / 8] for i,
    p in enumerate(made(PAIRS))] + [[p, -9.0 - i / 16] for i, p in enumerate(CHARS)]
FALLBACK = ["<0x%02X>" % b for b in range(256)]

MODELS = {
    "bytes": bpe(SPECIAL + BYTES + made(BYTE_PAIRS), [p.split(" ") for p in BYTE_PAIRS]),
    "whole words": bpe(SPECIAL + BYTES + ["the", "on", "th", "cat", "\u0120sat"], [["t", "h"]], ignore_merges=True),
    "characters": bpe(SPECIAL + CHARS + made(PAIRS), PAIRS, unk_token="[UNK]"),
    "fused": bpe(SPECIAL + CHARS + made(PAIRS), PAIRS, unk_token="[UNK]", fuse_unk=True),
    "unknown joins": bpe(SPECIAL + ["a", "b", "[UNK]a", "[UNK][UNK]"], [["[UNK]", "a"], ["[UNK]", "[UNK]"]],
                         unk_token="[UNK]"),
    "no unknown": bpe(SPECIAL + CHARS + made(PAIRS), PAIRS),
    "fallback": bpe(SPECIAL + CHARS + made(PAIRS) + FALLBACK, PAIRS, unk_token="[UNK]", byte_fallback=True,
                    fuse_unk=True),
    "fallback with holes": bpe(SPECIAL + CHARS + made(PAIRS) + FALLBACK[:0xb0], PAIRS, unk_token="[UNK]",
                               byte_fallback=True),
    "prefix": bpe(SPECIAL + CHARS + ["##" + c for c in CHARS] + ["th", "the", "ca", "cat", "##at", "##at\u2581"],
                  prefixed(["t h", "th e", "c a", "ca t"]) + [["##a", "##t"]],
                  unk_token="[UNK]", continuing_subword_prefix="##"),
    "suffix": bpe(SPECIAL + CHARS + [c + "</w>" for c in CHARS] + ["th", "the</w>", "ca", "cat</w>", "at</w>"],
                  [["t", "h"], ["th", "e</w>"], ["c", "a"], ["ca", "t</w>"], ["a", "t</w>"]], unk_token="[UNK]",
                  end_of_word_suffix="</w>"),
    "both": bpe(SPECIAL + CHARS + [a + c + b for c in CHARS for a, b in (("##", ""), ("", "</w>"), ("##", "</w>"))]
                + ["th", "the</w>"],
                [["t", "##h"], ["th", "##e</w>"]], unk_token="[UNK]", continuing_subword_prefix="##",
                end_of_word_suffix="</w>"),
    "wordpiece": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {p: i for i, p in enumerate(SPECIAL + WORDS)}},
    "short words": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "a",
                    "max_input_chars_per_word": 5,
                    "vocab": {p: i for i, p in enumerate(SPECIAL + ["a", "aa", "ab", "b", "c", "aaa", "the"])}},
    "words": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {p: i for i, p in enumerate(SPECIAL + WORDS)}},
    "unigram": {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": SCORED},
    "unigram with bytes": {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": SCORED
                           + [[b, -20.0] for b in FALLBACK]},
}

P_BERT = {"type": "BertPreTokenizer"}
P_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
D_BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
N_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
D_LLAMA = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                                            {"type": "ByteFallback"}, {"type": "Fuse"},
                                            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def metaspace(scheme="always", split=True, replacement="\u2581"):
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": split}


def token(i, content, special=False, **more):
    return {"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": not special, "special": special, **more}


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def template(single, pair, tokens):
    def items(text):
        out = []
        for x in text.split():
            name, _, kind = x.partition(":")
            key = "Sequence" if name in "AB" else "SpecialToken"
            out.append({key: {"id": name, "type_id": int(kind or 0)}})
        return out
    return {"type": "TemplateProcessing", "single": items(single), "pair": items(pair),
            "special_tokens": {name: {"id": name, "ids": ids, "tokens": names} for name, ids, names in tokens}}


def rows():
    behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    yield "plain", "characters", {}
    for name in MODELS:
        pre = {"bytes": P_BYTES, "whole words": P_BYTES}.get(name, P_BERT if name in ("wordpiece", "short words",
            "words", "suffix", "both", "prefix") else None)
        yield "model " + name, name, {"pre_tokenizer": pre}
    for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"):
        yield kind, "unigram with bytes", {"normalizer": {"type": kind}}
    for left, right in ((True, True), (True, False), (False, True)):
        yield f"Strip {left} {right}", "characters", {"normalizer": {"type": "Strip", "strip_left": left,
                                                                     "strip_right": right}}
    yield "Prepend", "fallback", {"normalizer": sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"},
                                                         N_SPACES), "decoder": D_LLAMA}
    yield "Replace", "characters", {"normalizer": {"type": "Replace", "pattern": {"String": "aa"}, "content": "b"}}
    yield "Replace by nothing", "characters", {"normalizer": {"type": "Replace", "pattern": {"String": "a"},
                                                              "content": ""}}
    yield "Replace a regex", "characters", {"normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"},
                                                           "content": "\u2581"}}
    yield "ByteLevel normalizer", "bytes", {"normalizer": {"type": "ByteLevel"}, "decoder": D_BYTES}
    yield "NFD Lowercase StripAccents", "characters", {"normalizer": sequence("normalizers",
        *({"type": k} for k in ("NFD", "Lowercase", "StripAccents")))}
    for clean, chinese, accents, lower in ((True, True, None, True), (True, True, None, False),
                                           (False, True, True, False), (True, False, False, True),
                                           (False, False, True, True)):
        yield f"BertNormalizer {clean} {chinese} {accents} {lower}", "unigram with bytes", {"normalizer": {
            "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": accents,
            "lowercase": lower}}
    for space in (True, False):
        for regex in (True, False):
            yield f"ByteLevel {space} {regex}", "bytes", {"pre_tokenizer": {**P_BYTES, "add_prefix_space": space,
                "use_regex": regex}, "decoder": D_BYTES}
    for scheme in ("always", "first", "never"):
        for cut in (True, False):
            yield f"Metaspace {scheme} {cut}", "unigram", {"pre_tokenizer": metaspace(scheme, cut),
                                                           "decoder": metaspace(scheme, cut),
                                                           "added_tokens": [token(1000, "<l>", True)]}
    yield "Metaspace _", "characters", {"pre_tokenizer": metaspace("always", True, "_"), "decoder": metaspace("always",
        True, "_")}
    for b in behaviors:
        for invert in (False, True):
            yield f"Split {b} {invert}", "characters", {"pre_tokenizer": split({"String": "a"}, b, invert)}
        yield f"Split regex {b}", "characters", {"pre_tokenizer": split({"Regex": "\\s+"}, b)}
        yield f"Punctuation {b}", "characters", {"pre_tokenizer": {"type": "Punctuation", "behavior": b}}
    yield "Digits True", "characters", {"pre_tokenizer": {"type": "Digits", "individual_digits": True}}
    yield "Digits False", "words", {"pre_tokenizer": {"type": "Digits", "individual_digits": False}}
    for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        yield kind, "words", {"pre_tokenizer": {"type": kind}}
    yield "CharDelimiterSplit", "words", {"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": ","}}
    yield "Sequence of cuts", "bytes", {"pre_tokenizer": sequence("pretokenizers",
                                                                  {"type": "Digits", "individual_digits": True},
                                                                  {"type": "Punctuation", "behavior": "Isolated"},
                                                                  P_BYTES), "decoder": D_BYTES}
    yield "Metaspace behind WhitespaceSplit", "unigram", {"pre_tokenizer": sequence("pretokenizers",
        {"type": "WhitespaceSplit"}, metaspace()), "decoder": metaspace()}
    for cleanup in (True, False):
        yield f"WordPiece decoder {cleanup}", "wordpiece", {"pre_tokenizer": P_BERT, "decoder": {"type": "WordPiece",
            "prefix": "##", "cleanup": cleanup}}
    yield "BPEDecoder", "suffix", {"pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": {"type": "BPEDecoder",
        "suffix": "</w>"}}
    yield "Replace decoder", "characters", {"decoder": {"type": "Replace", "pattern": {"String": "a"}, "content": "-"}}
    yield "ByteFallback", "fallback", {"decoder": {"type": "ByteFallback"}}
    yield "Fuse", "characters", {"decoder": {"type": "Fuse"}}
    yield "Strip decoder", "characters", {"decoder": {"type": "Strip", "content": "a", "start": 2, "stop": 0}}
    yield "Replace, Fuse, Strip", "characters", {
        "decoder": sequence("decoders", {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1,
                                                                      "stop": 0})}
    yield "BertProcessing", "wordpiece", {"pre_tokenizer": P_BERT, "post_processor": {"type": "BertProcessing",
        "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}}
    for name, lower in (("BERT", True), ("BERT cased", False)):
        yield name, "wordpiece", {"normalizer": {"type": "BertNormalizer", "clean_text": True,
                                                 "handle_chinese_chars": True, "strip_accents": None,
                                                 "lowercase": lower},
                                    "pre_tokenizer": P_BERT, "decoder": {"type": "WordPiece", "prefix": "##",
                                                                         "cleanup": True},
                                  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2],
                                                     "cls": ["[CLS]", 1]},
                                  "added_tokens": [token(i, p, True) for i, p in enumerate(SPECIAL)]}
    yield "RobertaProcessing", "bytes", {"pre_tokenizer": P_BYTES, "post_processor": {
        "type": "RobertaProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1], "trim_offsets": True,
        "add_prefix_space": False}}
    one, two = ("[CLS]", [1], ["[CLS]"]), ("[SEP]", [2], ["[SEP]"])
    yield "TemplateProcessing", "wordpiece", {"pre_tokenizer": P_BERT, "post_processor": template("[CLS] A [SEP]",
        "[CLS] A [SEP] B:1 [SEP]:1", [one, two])}
    yield "Template, others", "bytes", {"pre_tokenizer": P_BYTES, "post_processor": template("A [SEP]",
        "[SEP]:3 B:2 [CLS] A:1", [one, ("[SEP]", [2, 3], ["[SEP]", "[MASK]"])])}
    yield "Sequence of processors", "bytes", {"pre_tokenizer": P_BYTES, "post_processor": sequence(
        "processors", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        template("[CLS] A", "[CLS] A [CLS]:1 B:1", [one]))}
    special = [token(3, "[MASK]", True), token(1, "[CLS]", True), token(2, "[SEP]", True)]
    lower = {"normalizer": {"type": "Lowercase"}}
    for name, more in {"single_word": {"single_word": True}, "not normalized": {"normalized": False}, "normalized": {},
                       "lstrip": {"lstrip": True}, "rstrip": {"rstrip": True}}.items():
        yield "token " + name, "characters", {**lower, "added_tokens": special + [token(900, "x", **more),
            token(901, "<L>"), token(902, "ADD", **more)]}
    yield "tokens that strip", "fallback", {"added_tokens": special + [token(900, "<l>", lstrip=True),
                                                                       token(901, "<r>", rstrip=True),
                                                                       token(902, "<b>", lstrip=True, rstrip=True)]}
    yield "special tokens that strip", "bytes", {"pre_tokenizer": P_BYTES,
                                                 "added_tokens": [token(3, "[MASK]", True, lstrip=True),
                                                                  token(900, "<r>", True, rstrip=True,
                                                                        single_word=True)]}
    yield "a token among the pieces", "bytes", {"pre_tokenizer": P_BYTES, "decoder": D_BYTES,
                                                "added_tokens": [token(3, "[MASK]"), token(4 + 256, "th"),
                                                                 token(900, "a\u4e2d"), token(901, "aa")]}
    yield "normalized tokens with a prefix", "fallback", {"normalizer": sequence("normalizers",
        {"type": "Prepend", "prepend": "\u2581"}, N_SPACES), "decoder": D_LLAMA,
                                                         "added_tokens": special + [token(900, "add"),
                                                             token(901, "<l>", True)]}
    yield from families()


# The regexes of byte-level families, as their files spell them.
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
SEED = LLAMA3.replace("{1,3}", "{1}").replace(r" ?[^\s\p{L}\p{N}]+[\r\n]*", r" ?[^\s\p{L}\p{N}\r\n]+")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*"
         rf"{CONTRACTIONS}?|\p{{N}}{{1,3}}") + SIGNS
TEKKEN = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|\p{{N}}" + SIGNS
HUNYUAN = (r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
           r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
           r""" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
P_LEVEL = {**P_BYTES, "use_regex": False}  # ByteLevel behind a regex
PROCESSOR = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}


def families():
    """What the tokenizer.json files of decoders hold, on vocabularies of ours."""
    bos = ("[CLS]", [1], ["[CLS]"])
    two = ("[SEP]", [2], ["[SEP]"])
    special = [token(0, "[UNK]", True), token(1, "[CLS]", True), token(2, "[SEP]", True)]
    begins = template("[CLS] A", "[CLS] A [CLS]:1 B:1", [bos])
    unspace = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    d_gemma = sequence("decoders", unspace, {"type": "ByteFallback"}, {"type": "Fuse"})
    # Gemma: spaces become marks before the cut at spaces, which so cuts nothing; runs of newlines are tokens
    yield "family gemma", "fallback", {
        "normalizer": N_SPACES, "pre_tokenizer": split({"String": " "}, "MergedWithPrevious"), "decoder": d_gemma,
        "post_processor": begins, "added_tokens": special + [token(900, "\n\n", normalized=False),
                                                             token(901, "<l>", normalized=False), token(902, "<r>", True)]}
    # Phi-3, Mistral and Mixtral as they came out; Phi's tokens swallow the space behind them
    yield "family phi3", "fallback", {
        "normalizer": sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"}, N_SPACES), "decoder": D_LLAMA,
        "post_processor": template("A", "A B:1", []),
        "added_tokens": special + [token(900, "<l>", True, rstrip=True), token(901, "<r>", rstrip=True, normalized=False)]}
    yield "family mistral", "fallback", {"pre_tokenizer": metaspace("first", False), "decoder": D_LLAMA,
                                         "post_processor": begins, "added_tokens": special + [token(900, "<l>", True)]}
    # ERNIE 4.5: a mark for each space, none in front
    yield "family ernie4_5", "fallback", {"normalizer": N_SPACES, "decoder": d_gemma,
                                          "added_tokens": special + [token(900, "<l>", True)]}
    byte_level = {
        "llama3": (LLAMA3, "whole words"), "qwen2": (QWEN2, "bytes"), "qwen35": (QWEN35, "bytes"),
        "seed_oss": (SEED, "bytes"), "gpt_oss": (O200K, "bytes"), "tekken": (TEKKEN, "whole words"),
        "glm4": (LLAMA3, "whole words"), "stablelm2": (QWEN2, "bytes")}
    for name, (regex, model) in byte_level.items():
        after = {"llama3": sequence("processors", PROCESSOR, begins), "tekken": begins, "stablelm2": None,
                 "glm4": template("[CLS] [SEP] A", "[CLS] [SEP] A B:1", [bos, two])}.get(name, PROCESSOR)
        yield "family " + name, model, {
            "normalizer": {"type": "NFC"} if name in ("qwen2", "qwen35", "stablelm2") else None,
            "pre_tokenizer": sequence("pretokenizers", split({"Regex": regex}, "Isolated"), P_LEVEL), "decoder": D_BYTES,
            "post_processor": after, "added_tokens": special + [token(900, "<l>", True), token(901, "<r>", normalized=False)]}
    # Phi-4-mini, OLMo 2 and 3, Granite 4 (cl100k's words): what matches stays, what does not goes, and all matches
    for name, regex in (("phi4-mini", O200K), ("olmo2", LLAMA3)):
        yield "family " + name, "bytes", {
            "pre_tokenizer": sequence("pretokenizers", split({"Regex": regex}, "Removed", True), P_LEVEL),
            "decoder": D_BYTES, "post_processor": PROCESSOR, "added_tokens": special + [token(900, "<l>", True)]}
    yield "family granite3", "bytes", {
        "pre_tokenizer": sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, P_BYTES),
        "decoder": D_BYTES, "added_tokens": special + [token(900, "<l>", True)]}
    yield "family hunyuan", "bytes", {
        "pre_tokenizer": sequence("pretokenizers", *(split({"Regex": r}, "Isolated") for r in HUNYUAN), P_LEVEL),
        "decoder": D_BYTES, "post_processor": PROCESSOR, "added_tokens": special + [token(900, "<l>", True)]}


def file_of(model, parts):
    parts = {"added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
             **parts}
    vocab, tokens = MODELS[model]["vocab"], []
    ids = {p: i for i, (p, _) in enumerate(vocab)} if isinstance(vocab, list) else vocab
    # the reference counts its tokens on, so the ids of tokens behind the model's must be in a row
    for t in parts["added_tokens"]:
        tokens.append({**t, "id": ids.get(t["content"], max(len(ids) - 1, *(x["id"] for x in tokens), 0) + 1)})
    return {**parts, "added_tokens": tokens, "model": MODELS[model]}


def results(t, texts):
    """Lists of numbers: the texts' ids, ids where special tokens count, ids with the template's, pairs with types,
    what is decoded."""
    t.encode_special_tokens = True
    ids = [t.encode(s, add_special_tokens=False).ids for s in texts]
    added = [t.encode(s).ids for s in texts]
    pairs = [t.encode(a, b) for a, b in zip(texts, texts[1:])]
    decoded = [list(t.decode(i).encode()) for i in ids]
    t.encode_special_tokens = False
    return ids, [t.encode(s, add_special_tokens=False).ids for s in texts], added, [p.ids + p.type_ids
        for p in pairs], decoded


def ours_results(o, texts):
    ids = [o.encode(s) for s in texts]
    return (ids, [o.encode(s, Ours.SPECIAL) for s in texts], [o.encode(s, 5) for s in texts],
            [o.pair(a, b) for a, b in zip(texts, texts[1:])], [list(o.decode(i)) for i in ids])


def strings(n):
    rng = Random()
    return TEXTS + [rng.string() for _ in range(n)]


def compare(library, n, only):
    texts, total = strings(n), 0
    for name, model, parts in rows():
        if only and only not in name:
            continue
        try:
            t = Tokenizer.from_str(json.dumps(file_of(model, parts)))
        except Exception as e:
            print(name, "IS REFUSED BY THE REFERENCE:", e)
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokenizer.json")
            with open(path, "w") as f:
                json.dump(file_of(model, parts), f)
            try:
                o = Ours(library, path)
            except ValueError as e:
                print(name, "IS REFUSED:", e)
                total += 1
                continue
        theirs, mine = results(t, texts), ours_results(o, texts)
        bad = [sum(x != y for x, y in zip(a, b)) for a, b in zip(theirs, mine)]
        total += any(bad)
        if any(bad):
            print(name, "ids, special, added, pairs, decoded differ:", bad)
            for what, a, b in zip(("ids", "special", "added", "pair", "decoded"), theirs, mine):
                k = next((i for i in range(len(a)) if a[i] != b[i]), None)
                if k is not None:
                    show = (lambda x: bytes(x).decode(errors="replace")) if what == "decoded" else list
                    print("   ", what, repr(texts[k]), "theirs", repr(show(a[k])), "ours", repr(show(b[k])),
                          theirs[0][k] if what == "decoded" else "")
    print("rows that differ:", total)


def compact(v):
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"))


def golden():
    texts = strings(RANDOM)
    out = ['"made by": "python tests/oracle/pipelines.py > tests/golden/pipelines.json (tokenizers 0.23.3)"',
           f'"random": {RANDOM}',
           '"texts": [\n' + ",\n".join(compact(s) for s in TEXTS) + "]", '"models": [\n'
           + ",\n".join(compact(compact(m)) for m in MODELS.values()) + "]"]
    lines = []
    for name, model, parts in rows():
        whole = file_of(model, parts)
        hashes = ["%016x" % hash_lists(x) for x in results(Tokenizer.from_str(json.dumps(whole)), texts)]
        del whole["model"]
        lines.append(compact({"name": name, "model": list(MODELS).index(model),
                              "parts": compact({k: v for k, v in whole.items() if v}), "hash": hashes}))
    print("{" + ",\n".join(out + ['"rows": [\n' + ",\n".join(lines) + "]"]) + "}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else RANDOM, sys.argv[3] if len(sys.argv) > 3
                else None)
    else:
        golden()
