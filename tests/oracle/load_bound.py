"""Files of one megabyte that are as much work to open as their format allows: how long ./run takes to open or to refuse
each, and the memory it held at most.

    python3 tests/oracle/load_bound.py [./run]
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

MB = 1 << 20


def text(s):
    return struct.pack("<Q", len(s)) + s


def gguf(tensors, keys):
    return b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)


def key(name, value):
    return text(name) + value


def tensor(name, at):
    return text(name) + struct.pack("<IQIQ", 1, 1, 0, at)


def many_tensors():
    tensors = [tensor(b"%x" % i, 32 * i) for i in range(MB // 70)]
    head = gguf(tensors, [])
    return head + bytes(-len(head) % 32 + 32 * len(tensors))


def same_names():
    return gguf([tensor(b"a" * 60 + b"%04d" % (i // 2), 0) for i in range(MB // 96)], [])


def many_keys():
    return gguf([], [key(b"k%x" % i, struct.pack("<II", 4, i)) for i in range(MB // 22)])


def many_strings():
    n = MB // 9
    return gguf([], [key(b"a", struct.pack("<IIQ", 9, 8, n) + text(b"x") * n)])


def vocabulary():
    n = MB // 20
    pieces = [b"%04x" % i for i in range(n)]
    return gguf([], [key(b"general.architecture", struct.pack("<I", 8) + text(b"llama")),
                     key(b"tokenizer.ggml.model", struct.pack("<I", 8) + text(b"llama")),
                     key(b"tokenizer.ggml.tokens", struct.pack("<IIQ", 9, 8, n) + b"".join(map(text, pieces))),
                     key(b"tokenizer.ggml.scores", struct.pack("<IIQ", 9, 6, n) + bytes(4 * n)),
                     key(b"tokenizer.ggml.token_type", struct.pack("<IIQ", 9, 5, n) + struct.pack("<I", 2) + struct.pack("<I", 1) * (n - 1))])


def claims():
    return gguf([], [key(b"a", struct.pack("<IIQ", 9, 8, (1 << 60)))]) + bytes(MB)


def safetensors():
    entries = {"%x" % i: {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i in range(MB // 62)}
    header = json.dumps(entries, separators=(",", ":")).encode()
    return struct.pack("<Q", len(header)) + header + bytes(len(entries))


def deep():
    header = b'{"a":' + b"[" * MB
    return struct.pack("<Q", len(header)) + header


def bpe(merge):
    vocab, merges = {"a": 0, "b": 1}, []
    for i in range(MB // 90 if merge == "apart" else 16):
        if merge == "apart":
            piece = "%05x" % i
            for c in piece:
                vocab.setdefault(c, len(vocab))
            vocab[piece[:2]] = vocab.get(piece[:2], len(vocab))
        else:
            vocab["a" * (2 << i)] = 2 + i
            merges.append(" ".join(["a" * (1 << i)] * 2))
    return json.dumps({"model": {"type": "BPE", "vocab": vocab, "merges": merges}}).encode()


def numbers():
    return json.dumps({"model": {"type": "BPE", "vocab": {"%x" % i: i for i in range(MB // 18)}, "merges": []}}).encode()


def unigram():
    pieces = [["%04x" % i + "a" * 900, -float(i)] for i in range(MB // 930)]
    return json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": pieces}}).encode()


def added():
    tokens = [{"id": i + 1, "content": "<%x" % i, "special": True} for i in range(MB // 48)]
    return json.dumps({"added_tokens": tokens, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}).encode()


def sentencepiece():
    def piece(s, kind):
        body = b"\x0a" + bytes([len(s)]) + s + b"\x15" + struct.pack("<f", -1) + b"\x18" + bytes([kind])
        return b"\x0a" + bytes([len(body)]) + body
    return piece(b"<unk>", 2) + b"".join(piece(b"%05x" % i, 1) for i in range(MB // 16)) + b"\x12\x00\x1a\x00"


def alternatives():
    pattern = "|".join("(?:%x+)+" % i for i in range(MB // 14))
    return json.dumps({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"},
                       "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}).encode()


FILES = [
    ("GGUF, 15,000 tensors", "a.gguf", many_tensors), ("GGUF, names that stand twice", "a.gguf", same_names),
    ("GGUF, 48,000 keys", "a.gguf", many_keys), ("GGUF, an array of 116,000 texts", "a.gguf", many_strings),
    ("GGUF, an array that claims 2^60 texts", "a.gguf", claims), ("GGUF, a vocabulary of 52,000", "v.gguf", vocabulary),
    ("safetensors, 17,000 tensors", "a.safetensors", safetensors),
    ("safetensors, a header a million deep", "a.safetensors", deep),
    ("tokenizer.json, merges that all join", "tokenizer.json", lambda: bpe("join")),
    ("tokenizer.json, a vocabulary of 58,000", "tokenizer.json", numbers),
    ("tokenizer.json, pieces of 900 letters", "tokenizer.json", unigram),
    ("tokenizer.json, 22,000 added tokens", "tokenizer.json", added),
    ("tokenizer.json, a pattern of a megabyte", "tokenizer.json", alternatives),
    ("SentencePiece, 65,000 pieces", "a.model", sentencepiece),
    ("WordPiece, 180,000 lines", "vocab.txt", lambda: b"[UNK]\n" + b"".join(b"%x\n" % i for i in range(180000))),
]


def measure(command):
    # Through time(1), which is small: a child's peak counts what its parent held when it began.
    child = subprocess.run(["/usr/bin/time", "-f", "%U %S %M", *command], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, check=False)
    *said, last = child.stderr.decode(errors="replace").strip().splitlines()
    user, system, held = last.split()
    said = [line for line in said if not line.startswith("Command exited")]
    return child.returncode, float(user) + float(system), float(held) / 1024, said[-1] if said else ""


def main():
    run = sys.argv[1] if len(sys.argv) > 1 else "./run"
    print(f"{'file':44}{'MB':>6}{'command':>10}{'exit':>6}{'seconds':>9}{'MB held':>9}")
    with tempfile.TemporaryDirectory() as folder:
        words = os.path.join(folder, "text")
        with open(words, "w") as f:
            f.write("aaaaaaaaaaaaaaaaaaaa bbbb <1 0ff " * 3000)
        for what, name, make in FILES:
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(make())
            size = os.path.getsize(path) / 1e6
            command = ["inspect", path] if name.startswith("a.") and name != "a.model" else ["tokenize", path, "-f", words]
            code, seconds, held, said = measure([run, *command])
            print(f"{what:44}{size:6.1f}{command[0]:>10}{code:6}{seconds:9.2f}{held:9.0f}  {said[-70:]}")


main()
