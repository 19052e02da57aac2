#!/usr/bin/env python3
"""Lines a second into vectors, beside sentence-transformers on the same weights, threads and float32, in turn.

    v/bin/pip install sentence-transformers
    make && v/bin/python bench/sentences.py --text book.txt --vocab vocab.txt         a BERT's vocab.txt, 30,522 pieces

The model is a nomic-embed of its published size, weights random: 137 million parameters. Ours is ./run embed, opening
included, as it is called; sentence-transformers has its model open and has read lines before.
"""
import argparse, os, statistics, subprocess, tempfile, time
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from tokenizers import BertWordPieceTokenizer
from transformers import NomicBertConfig, NomicBertModel, PreTrainedTokenizerFast

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SIZES = dict(vocab_size=30528, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
             max_position_embeddings=2048, type_vocab_size=2)


def make(folder, vocab):
    torch.manual_seed(1)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=BertWordPieceTokenizer(vocab)._tokenizer, unk_token="[UNK]",
                                        cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]")
    bare = os.path.join(folder, "bare")
    NomicBertModel(NomicBertConfig(**SIZES)).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    path = os.path.join(folder, "model")
    SentenceTransformer(modules=[Transformer(bare), Pooling(768, "mean"), Normalize()]).save(path)
    return path


def rate(n, call):
    start = time.time()
    result = call()
    return n / (time.time() - start), result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--text", required=True)
    p.add_argument("--vocab", required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--words", type=int, default=60, help="of a line")
    p.add_argument("--lines", type=int, default=256)
    p.add_argument("--rounds", type=int, default=5)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    words = open(a.text, encoding="utf-8").read().split()
    lines = [" ".join(words[i:i + a.words]) for i in range(0, len(words), a.words)][:a.lines]
    with tempfile.TemporaryDirectory() as tmp:
        path, text, q8 = make(tmp, a.vocab), os.path.join(tmp, "lines.txt"), os.path.join(tmp, "q8_0.gguf")
        subprocess.run([ROOT + "/weights-tools/quantize", path, q8, "Q8_0", "-q"], check=True)
        open(text, "w", encoding="utf-8").write("\n".join(lines) + "\n")
        theirs = SentenceTransformer(path, device="cpu")
        theirs.encode(lines[:32])

        def ours(model):
            return subprocess.run([ROOT + "/run", "embed", model, "-f", text, "-q", "-j", str(a.threads)],
                                  capture_output=True, text=True, check=True).stdout
        rates = {"theirs": [], "F32": [], "Q8_0": []}
        for _ in range(a.rounds):
            r, expected = rate(len(lines), lambda: theirs.encode(lines, batch_size=32))
            rates["theirs"].append(r)
            for name, model in ("F32", path), ("Q8_0", q8):
                r, out = rate(len(lines), lambda: ours(model))
                rates[name].append(r)
                if name == "F32":
                    got = np.array([[float(x) for x in line.split()] for line in out.splitlines()])
                    off = np.abs(got - expected).max()
    m = {k: statistics.median(v) for k, v in rates.items()}
    print("| sentence-transformers | ours, F32 | quotient | ours, Q8_0 | quotient | F32 differs by |")
    print("|---|---|---|---|---|---|")
    print(f"| {m['theirs']:.1f} | {m['F32']:.1f} | {m['F32'] / m['theirs']:.2f} | {m['Q8_0']:.1f} | "
          f"{m['Q8_0'] / m['theirs']:.2f} | {off:.1e} |")


if __name__ == "__main__":
    main()
