#!/usr/bin/env python3
"""RoFormer's encoder beside transformers: the same random weights, the same threads, in turn.

    v/bin/pip install torch transformers gguf
    make all build/release/bench-encoder && v/bin/python bench/encoder.py    # base size, 512 tokens

Ours is timed in F32 and in Q8_0 (the matrices quantized by the gguf package), transformers in float32 with its default attention. A row is
the median of all repeats of all rounds; a round is transformers, then each of ours.
"""
import argparse, os, statistics, subprocess, tempfile, time
import gguf, numpy as np, torch
from transformers import RoFormerConfig, RoFormerForMaskedLM

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")


def quantized(source, target):
    """A copy of a GGUF file with its matrices (but token types) as Q8_0."""
    r, w = gguf.GGUFReader(source), gguf.GGUFWriter(target, "roformer")
    for f in r.fields.values():
        if f.name.startswith("GGUF.") or f.name in ("general.architecture", "general.file_type"):
            continue
        if f.types[0] == gguf.GGUFValueType.ARRAY:
            w.add_array(f.name, f.contents())
        else:
            w.add_key_value(f.name, f.contents(), f.types[0])
    for t in r.tensors:
        data = np.array(t.data)
        big = data.ndim == 2 and data.shape[1] % 32 == 0
        q = gguf.GGMLQuantizationType.Q8_0
        w.add_tensor(t.name, gguf.quants.quantize(data, q) if big else data, raw_dtype=q if big else None)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bench", default=os.path.join(ROOT, "build", "release", "bench-encoder"))
    p.add_argument("--convert", default=os.path.join(ROOT, "weights-tools", "convert"))
    p.add_argument("--tokens", type=int, nargs="+", default=[128, 512])
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    args = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    model = RoFormerForMaskedLM(RoFormerConfig()).eval()  # the defaults are chinese_base's: 124 million parameters
    n_matmul = sum(v.numel() for k, v in model.roformer.encoder.named_parameters() if v.dim() == 2 and "embed_positions" not in k)
    with tempfile.TemporaryDirectory() as d:
        model.save_pretrained(d)
        with open(os.path.join(d, "vocab.txt"), "w") as f:
            f.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"t{i}" for i in range(5, 50000)]) + "\n")
        f32, q8 = os.path.join(d, "f32.gguf"), os.path.join(d, "q8_0.gguf")
        subprocess.run([args.convert, d, f32, "-q"], check=True)
        quantized(f32, q8)
        print(f"| tokens | transformers {__import__('transformers').__version__}, F32 | ours, F32 | ratio | GFLOP/s | ours, Q8_0 | ratio |\n|---|---|---|---|---|---|---|")
        for n in args.tokens:
            ids = torch.tensor([[i * 7919 % 1000 for i in range(n)]])
            seconds = {"torch": [], f32: [], q8: []}
            with torch.no_grad():
                model.roformer(ids)
                for _ in range(args.rounds):
                    for _ in range(3):
                        t0 = time.perf_counter()
                        model.roformer(ids)
                        seconds["torch"].append(time.perf_counter() - t0)
                    for path in (f32, q8):
                        out = subprocess.run([args.bench, path, str(n), str(args.threads), "3"], stdout=subprocess.PIPE, check=True).stdout
                        seconds[path] += [float(x) for x in out.split()]
            t, a, b = (statistics.median(v) for v in seconds.values())
            flops = 2 * n * n_matmul + 4 * n * n * 768 * 12
            print(f"| {n} | {t * 1e3:.0f} ms | {a * 1e3:.0f} ms | {t / a:.2f} | {flops / a / 1e9:.0f} | {b * 1e3:.0f} ms | {t / b:.2f} |", flush=True)


main()
