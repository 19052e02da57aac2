"""Golden for tokenizer/pipeline/tekken.c, from Mistral's own package (not from us): a small tekken.json whose ranks
tiktoken learns from the README, and what mistral_common's Tekkenizer makes of texts with it.
    pip install mistral-common tiktoken
    python tests/oracle/tekken.py
writes tests/golden/tekken/tekken.json, tekken-v13.json (special tokens named, as newer files have them) and texts.json.
    python tests/oracle/tekken.py --chats
writes tests/golden/tekken/chats.json: conversations as mistral_common writes them for each version of tekken.json
    python tests/oracle/tekken.py FILE [RUN]      compares `RUN tokenize` (./run) with it on FILE, a published tekken.json,
                                                  and the texts of ../shared/data
"""
import base64
import glob
import json
import os
import subprocess
import sys
import tempfile

from mistral_common.protocol.instruct.messages import AssistantMessage, SystemMessage, UserMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tiktoken._educational import bpe_train

PATTERN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
           r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|"
           r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
RANKS, LEFT_OUT, SPECIAL = 400, 20, 30  # the last ranks are in the file, but beyond the vocabulary
TEXTS = ["", " ", "Hello, world!", "the model's text is read", "  two  spaces ", "12345 67", "\n\n \r\n\tx", "w\xf6rld \u4f60\u597d",
         "\U0001f999\u200d\U0001f467", "ABCdef GHI jKL", "a/b//c\n/", "e\u0301 \u0928\u092e\u0938\u094d\u0924\u0947",
         "[INST]a[/INST]</s>", "\0\x7f", "run it: ./run model.gguf -i 'Once upon a time'"]


def write(path, version, named):
    ranks = bpe_train(open("README.md").read(), RANKS, PATTERN)
    vocab = [{"rank": i, "token_bytes": base64.b64encode(b).decode(),
              "token_str": b.decode() if b.isascii() else None} for b, i in sorted(ranks.items(), key=lambda x: x[1])]
    config = {"pattern": PATTERN, "num_vocab_tokens": RANKS, "default_vocab_size": RANKS - LEFT_OUT + SPECIAL,
              "default_num_special_tokens": SPECIAL, "version": version}
    root = {"config": config, "vocab": vocab}
    if named:
        names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[THINK]", "[/THINK]"]
        root["special_tokens"] = [{"rank": i, "token_str": s, "is_control": True} for i, s in enumerate(names)]
    json.dump(root, open(path, "w"), indent=0)
    return Tekkenizer.from_file(path)


def ours(run, file, text):
    with tempfile.NamedTemporaryFile("w", newline="") as f:
        f.write(text)
        f.flush()
        said = subprocess.run([run, "tokenize", "-z", file, "-f", f.name], capture_output=True, text=True, check=True)
    return [int(x) for x in said.stdout.split()]


NAMES = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
         "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
         "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"]
CHATS = [[("user", "Hello")], [("system", "Be brief."), ("user", "Hello")],
         [("system", "Be brief. "), ("user", " Hello\n"), ("assistant", " Hi \n"), ("user", "Why?")],
         [("user", "a\n\nb"), ("assistant", "[INST]c"), ("user", "\u4f60\u597d"), ("assistant", "d"), ("user", " ")]]
KINDS = {"system": SystemMessage, "user": UserMessage, "assistant": AssistantMessage}


def chats(version):
    root = json.load(open("tests/golden/tekken/tekken-v13.json"))
    root["config"]["version"] = version
    root["special_tokens"] = [{"rank": i, "token_str": s, "is_control": True} for i, s in enumerate(NAMES)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tekken.json")
        json.dump(root, open(path, "w"))
        tokenizer = MistralTokenizer.from_file(path)
    for chat in CHATS:
        messages = [KINDS[role](content=text) for role, text in chat]
        text = tokenizer.encode_chat_completion(ChatCompletionRequest(messages=messages)).text
        yield {"version": version, "messages": chat, "text": text}


if sys.argv[1:] == ["--chats"]:
    json.dump([row for v in ("v3", "v7", "v11", "v13") for row in chats(v)], open("tests/golden/tekken/chats.json", "w"),
              indent=0)
elif len(sys.argv) > 1:
    theirs, run = Tekkenizer.from_file(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "./run"
    for name in sorted(glob.glob("../shared/data/text/*")):
        text = open(name, encoding="utf-8", errors="ignore", newline="").read()[:200000]
        ids = theirs.encode(text, True, False)
        print(name, len(ids), "the same" if ids == ours(run, sys.argv[1], text) else "DIFFERENT")
else:
    both = {"tekken": write("tests/golden/tekken/tekken.json", "v3", False),
            "tekken-v13": write("tests/golden/tekken/tekken-v13.json", "v13", True)}
    rows = [{"text": x, **{k: t.encode(x, True, False) for k, t in both.items()}} for x in TEXTS]
    json.dump(rows, open("tests/golden/tekken/texts.json", "w"), indent=0)
