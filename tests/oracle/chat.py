# python tests/oracle/chat.py > tests/golden/chat.json: what transformers renders of the published templates in tests/golden/chat
# python tests/oracle/chat.py FOLDER: the same of every *.jinja there, whole texts, for looking
"""Each text is apply_chat_template's, tokenize=False, by transformers' own render_jinja_template. A golden file has the FNV-1a hash
of its bytes (base/hash.h), and of some the text. null: the template refuses the conversation (no system role)."""
import datetime
import json
import os
import sys
import tempfile

from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import render_jinja_template

HERE = os.path.dirname(os.path.abspath(__file__))


class Today(datetime.datetime):
    """What strftime_now takes for now: the day that test_chat.c has."""
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 5)


chat_template_utils.datetime = Today

S = "You are a pirate. Answer in one sentence."
TURNS = ["Hello", "Hi there!", "What is 2+2?", "Four, matey.", "Thanks"]


def conversation(system, *turns):
    messages = [] if system is None else [{"role": "system", "content": system}]
    for i, text in enumerate(turns):
        messages.append({"role": "assistant" if i % 2 else "user", "content": text})
    return messages


CONVERSATIONS = [
    conversation(None, *TURNS[:1]),
    conversation(S, *TURNS[:1]),
    conversation(S, *TURNS),
    conversation(None, *TURNS),
    conversation(S, *TURNS, "You are welcome.", "One more."),
    conversation("  spaces around \n", "  two spaces  ", " and a tab\t", "\n\nlines\n", "\u3000wide\u00a0", " end "),
    conversation("", "", "", ""),
    conversation("first\n\nsecond", "a\nb\n", "c\r\nd", "```\ncode\n```"),
    conversation("\u4f60\u662f\u4e00\u4e2a\u52a9\u624b\u3002", "\u4f60\u597d\uff0c\u4e16\u754c", "\u4f60\u597d\uff01\U0001f600", "\u518d\u89c1"),
    conversation(None, "think", "<think>\nhm\n</think>\n\nyes", "again", "no </think>\nthoughts", "last"),
    conversation(S, "text <|im_end|> </s> [INST] {bos} {{ x }}", "<<SYS>> {eos} {% raw %}", "<|eot_id|><think>"),
    conversation("Be brief. /no_think", "Hello", "\n\nHi", "Why? /think"),
    conversation("  /think Be long. /think\n", "Hello", " <think>\nhm </think>\n \n Hi ", "{date} today"),
    conversation(" /no_think ", "Hello", "Hi", "</think>"),
    conversation(None, "Hello {date}", " <|channel>thought\na<channel|> Hi [THINK]a[/THINK] {date} <|channel>b", "<seed:think>x</seed:think> [|user|]"),
]
# An answer at the end, and no beginning of another: what /save keeps.
ENDED = [conversation(S, *TURNS[:2]), conversation(None, *TURNS[:4]), conversation(None, "think", "<think>\n\nhm</think>\nyes\n")]


def hash_bytes(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return "%016x" % h


def render(template, bos, eos, messages, generate):
    try:
        out, _ = render_jinja_template([messages], chat_template=template, add_generation_prompt=generate, bos_token=bos, eos_token=eos)
    except Exception:
        return None
    return out[0]


def cases(template, bos, eos, ended=True):
    for m in CONVERSATIONS:
        yield m, 1, render(template, bos, eos, m, True)
    for m in ENDED if ended else []:
        yield m, 0, render(template, bos, eos, m, False)


def ids_of(folder, names):
    """Ids of whole rendered strings by Llama 2's tokenizer.json, its special tokens "normalized": false as in the chat models' files:
    a space in front of every stretch of text between them."""
    import transformers
    spec = json.load(open(os.path.join(HERE, "../../../shared/data/tok/hf-json/llama2/tokenizer.json"), encoding="utf-8"))
    for token in spec["added_tokens"]:
        token["normalized"] = False
    with tempfile.TemporaryDirectory() as d:
        json.dump(spec, open(os.path.join(d, "tokenizer.json"), "w", encoding="utf-8"))
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=os.path.join(d, "tokenizer.json"))
    out = []
    for name in names:
        template = open(os.path.join(folder, name + ".jinja"), encoding="utf-8", newline="").read()
        hashes = []
        for m, _, text in cases(template, "<s>", "</s>"):
            ids = tokenizer.encode(text, add_special_tokens=False) if text is not None and m != CONVERSATIONS[10] else None
            hashes.append(ids and {"hash": hash_bytes(b"".join(i.to_bytes(4, "little") for i in ids))})
        out.append({"file": name, "ids": hashes})
    return out


def main():
    if len(sys.argv) > 1:
        rows = []
        for name in sorted(os.listdir(sys.argv[1])):
            template = open(os.path.join(sys.argv[1], name), encoding="utf-8").read()
            rows.append({"file": name, "bos": "<BOS>", "eos": "</EOS>", "cases": [
                {"messages": m, "generate": g, "text": t} for m, g, t in cases(template, "<BOS>", "</EOS>")]})
        json.dump(rows, sys.stdout, ensure_ascii=False)
        return
    folder = os.path.join(HERE, "..", "golden", "chat")
    out = []
    for line in open(os.path.join(folder, "SOURCES.txt"), encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        name, row, bos, eos, ended = line.split()[:5]
        template = open(os.path.join(folder, name + ".jinja"), encoding="utf-8", newline="").read()
        texts = []
        for i, (_, _, text) in enumerate(cases(template, bos, eos, ended == "ended")):
            if text is None:
                texts.append(None)
                continue
            data = text.encode()
            texts.append({"hash": hash_bytes(data), **({"text": text} if i == 2 else {})})
        out.append({"file": name, "row": row, "bos": bos, "eos": eos, "texts": texts})
    conversations = [{"generate": 1, "messages": m} for m in CONVERSATIONS] + [{"generate": 0, "messages": m} for m in ENDED]
    print('{"conversations":[')
    print(",\n".join(json.dumps(c) for c in conversations))
    print('],"templates":[')
    print(",\n".join(json.dumps(t) for t in out))
    print('],"llama2_ids":[')
    print(",\n".join(json.dumps(t) for t in ids_of(folder, ["llama2", "mistral-v1", "zephyr", "mistral-v3-tekken", "chatml-bos", "deepseek"])))
    print("]}")


main()
