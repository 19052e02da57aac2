#!/usr/bin/env python3
"""Training beside PyTorch: the same decoder, batch, threads and float32, in turn.

    v/bin/pip install torch numpy
    make && v/bin/python bench/train.py --text stories.txt --tokenizer tok1024.model llama2_tokenizer.model

PyTorch's model is written as one would for speed: fused scaled_dot_product_attention, one matrix for q, k and v and one for
gate and up, RoPE by two multiplications, the fused AdamW, gradients clipped; with torch.compile and without, and the faster
counts. A step is forward, backward and AdamW. The peak of float32 FMA is measured by ./run bench in the same run.
"""
import argparse, json, os, re, statistics, subprocess, tempfile, time
import torch
from torch import nn
from torch.nn import functional as F

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SHAPES = {  # layers, width, heads, heads of keys and values, feed-forward, vocabulary, texts, length
    "tales-1m": (6, 128, 4, 2, 352, 1024, 16, 256),
    "15M": (6, 288, 6, 6, 768, 32000, 8, 256),
}


class Layer(nn.Module):
    def __init__(self, d, heads, kv, ff):
        super().__init__()
        self.heads, self.kv, self.dim = heads, kv, d // heads
        self.norm1, self.norm2 = nn.RMSNorm(d, 1e-5), nn.RMSNorm(d, 1e-5)
        self.qkv = nn.Linear(d, (heads + 2 * kv) * self.dim, bias=False)
        self.out = nn.Linear(d, d, bias=False)
        self.up = nn.Linear(d, 2 * ff, bias=False)
        self.down = nn.Linear(ff, d, bias=False)

    def forward(self, x, cos, sin):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, -1, self.dim).transpose(1, 2).split([self.heads, self.kv, self.kv], 1)
        turn = lambda y: y * cos + torch.cat((-y[..., self.dim // 2:], y[..., :self.dim // 2]), -1) * sin
        a = F.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True, enable_gqa=self.kv != self.heads)
        x = x + self.out(a.transpose(1, 2).reshape(b, n, d))
        gate, up = self.up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, layers, d, heads, kv, ff, vocab, length):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d, heads, kv, ff) for _ in range(layers))
        self.norm = nn.RMSNorm(d, 1e-5)
        dim = d // heads
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("cos", torch.cat((angle, angle), -1).cos())
        self.register_buffer("sin", torch.cat((angle, angle), -1).sin())
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids, targets):
        x = self.table(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.cross_entropy(F.linear(self.norm(x), self.table.weight).flatten(0, 1), targets.flatten())


def torch_speed(model, shape, steps):
    vocab, texts, length = shape[5:]
    opt = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.95), weight_decay=0.1, fused=True)
    ids = torch.randint(0, vocab, (texts, length + 1))
    def step():
        model(ids[:, :-1], ids[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
    for _ in range(2):
        step()
    t0 = time.perf_counter()
    for _ in range(steps):
        step()
    return steps * texts * length / (time.perf_counter() - t0)


def our_speed(shape, steps, threads, folder, args):
    layers, d, heads, kv, ff, vocab, texts, length = shape
    command = [os.path.join(ROOT, "weights-tools", "train"), os.path.join(folder, "m.gguf"), "-f", args.text, "-z",
               args.tokenizer[vocab > 1024], "--layers", layers, "--d-model", d, "--heads", heads, "--kv-heads", kv,
               "--d-ff", ff, "--context", length, "--batch", texts, "--steps", steps + 2, "--warmup", 1, "-j", threads,
               "--held-share", 0, "--save-every", 3600, "--csv", os.path.join(folder, "m.csv")]
    said = subprocess.run([str(w) for w in command], check=True, stderr=subprocess.PIPE, text=True).stderr
    os.remove(os.path.join(folder, "m.gguf"))
    rows = [line.split(",") for line in open(os.path.join(folder, "m.csv"))][1:]
    seconds = float(rows[-1][5]) - float(rows[1][5])  # the first two steps are not timed, as PyTorch's
    return steps * texts * length / seconds, re.search(r"(\d+) MB", said)[1]


def operations(shape):
    """Of a token, forward and backward: 6 for each weight of a matrix, and attention's (causal: half of all pairs)."""
    layers, d, heads, kv, ff, vocab, _, length = shape
    weights = layers * (d * (d + 2 * kv * (d // heads)) + d * d + 3 * d * ff) + vocab * d
    return 6 * weights + layers * 6 * d * length


def row(name, threads, args):
    shape = SHAPES[name]
    tokens = shape[6] * shape[7]
    steps = max(3, int(args.seconds / (operations(shape) * tokens / 60e9 / threads)))
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    plain, ours = Decoder(*shape[:6], shape[7]), []
    models = {"plain": plain, "compiled": torch.compile(Decoder(*shape[:6], shape[7]))}
    speeds = {k: [] for k in models}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for k, model in models.items():
                speeds[k].append(torch_speed(model, shape, steps))
            speed, memory = our_speed(shape, steps, threads, folder, args)
            ours.append(speed)
    bench = subprocess.run([os.path.join(ROOT, "run"), "bench", "--json", "-q", "-j", str(threads), "--contexts", "none",
                            "--prompts", "none"], check=True, stdout=subprocess.PIPE, text=True).stdout
    peak = max(c["median"] for c in json.loads(bench)["ceilings"] if c["what"].startswith("f32 FMA"))
    a, b, c = (statistics.median(v) for v in (speeds["plain"], speeds["compiled"], ours))
    gops = c * operations(shape) / 1e9
    print(f"| {name} | {threads} | {a:.0f} | {b:.0f} | {c:.0f} | {c / max(a, b):.2f} | {gops:.0f} | {gops / peak:.2f} | "
          f"{memory} MB |", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--text", required=True, help="any of some 100 kB: what is read does not matter to speed")
    p.add_argument("--tokenizer", nargs=2, required=True, help="files with 1,024 and with 32,000 pieces")
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--shapes", nargs="+", default=list(SHAPES))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=4, help="of a timed run, about")
    args = p.parse_args()
    print("| shape | threads | PyTorch | compiled | ours | quotient | Gop/s | share of FMA | memory |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.shapes:
        for threads in args.threads:
            row(name, threads, args)


main()
