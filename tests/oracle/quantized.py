#!/usr/bin/env python3
"""Goldens of whole models in every block format, made outside the engine: a small LLaMA, its weights as the gguf package decodes them.

    python -m venv v && v/bin/pip install -r tests/oracle/requirements.txt
    v/bin/python tests/oracle/quantized.py              # writes tests/golden/quantized/
    v/bin/python tests/oracle/quantized.py --only Q4_K  # only the cases whose name holds "Q4_K"

No weights are stored. A tensor's bytes come from its name (raw_bytes below, and in tests/test_quantized.c); the scales among them get
an exponent that makes weights of about 0.08, so a file holds every code and every sub-scale. Stored per case NAME:
    NAME.gguf.head  all bytes before the tensor data, as gguf.GGUFWriter wrote them
    NAME.txt        the tensors, ids, logits

Logits are float64, twice: with exact activations, and with what meets a matrix rounded by the engine's rule (kernels.h, quantize).
The first is checked against transformers in float64. The second rounds, and a float32 program may round a number near a half the other
way; so its ids are chosen, among thousands, as those whose codes keep farthest from halves.
"""
import argparse, os, tempfile
import numpy as np, gguf, transformers
import decoders, linear, quants

GOLDEN = os.path.join(decoders.HERE, "..", "golden", "quantized")
T = gguf.GGMLQuantizationType
D, FF, LAYERS, HEADS, KV, VOCAB, CONTEXT, EPS, THETA = 256, 512, 2, 4, 2, 300, 64, 1e-5, 10000.0
HD = D // HEADS

# Where a block has its halves, and 2^how much more a minimum's scale is than the codes', for both to matter alike.
HALVES = {"Q4_0": [(0, 0)], "Q4_1": [(0, 0), (2, 3)], "Q5_0": [(0, 0)], "Q5_1": [(0, 0), (2, 4)], "Q8_0": [(0, 0)],
          "Q2_K": [(80, 0), (82, 1)], "Q3_K": [(108, 0)], "Q4_K": [(0, 0), (2, 3)], "Q5_K": [(0, 0), (2, 4)], "Q6_K": [(208, 0)],
          "IQ4_NL": [(0, 0)], "IQ4_XS": [(0, 0)]}
CASES = {name: [name] for name in HALVES}
CASES["mixed"] = list(HALVES)  # a tensor after the other
SMALL = {"IQ1_S": [(0, 0)], "IQ2_XXS": [(0, 0)], "IQ2_XS": [(0, 0)], "IQ2_S": [(0, 0)], "IQ3_XXS": [(0, 0)], "IQ3_S": [(0, 0)],
         "TQ1_0": [(52, 0)], "TQ2_0": [(64, 0)]}
HALVES.update(SMALL)
HALVES.update({"Q1_0": [(0, 0)], "NVFP4": [(b, 0) for b in range(4)]})  # NVFP4's are bytes
CASES.update({"IQ2_S": ["IQ2_S"], "TQ1_0": ["TQ1_0"], "small": list(SMALL), "Q1_0": ["Q1_0"], "NVFP4": ["NVFP4"]})
SHORT, LONG, CANDIDATES = 5, 24, 4000


def tensors(kinds):
    """(GGUF name, rows, columns); a norm has no columns. What NVFP4's matrices are multiplied by: as a norm of one."""
    scaled = kinds == ["NVFP4"]
    yield "token_embd.weight", VOCAB, D
    for l in range(LAYERS):
        for name, rows, cols in (("attn_norm", D, 0), ("attn_q", D, D), ("attn_k", KV * HD, D), ("attn_v", KV * HD, D), ("attn_output", D, D),
                                 ("ffn_norm", D, 0), ("ffn_gate", FF, D), ("ffn_up", FF, D), ("ffn_down", D, FF)):
            yield f"blk.{l}.{name}.weight", rows, cols
            if scaled and cols:
                yield f"blk.{l}.{name}.scale", 1, 0
                yield f"blk.{l}.{name}.input_scale", 1, 0  # of activations: left out
    yield "output_norm.weight", D, 0
    yield "output.weight", VOCAB, D
    if scaled:
        yield "output.scale", 1, 0


def raw_bytes(name, kind, n, halves):
    """The blocks of n weights of type kind: eight bytes from each of linear.raw(name), lowest first; then each half (at, exponent)
    keeps its sign and its fraction and gets that exponent, 0 .. 30; of NVFP4 each byte, 0 .. 15."""
    block, size = gguf.GGML_QUANT_SIZES[T[kind]]
    total = n // block * size
    b = linear.raw(name, (total + 7) // 8).astype("<u8").view(np.uint8)[:total].reshape(-1, size).copy()
    for at, exponent in halves:
        if kind == "NVFP4":
            b[:, at] = b[:, at] & 0x87 | exponent << 3
            continue
        h = np.ascontiguousarray(b[:, at:at + 2]).view("<u2")
        b[:, at:at + 2] = (h & 0x83FF | exponent << 10).astype("<u2").view(np.uint8)
    return b.reshape(-1)


def decoded(raw, kind):
    return quants.ones_twos(raw, kind.name).reshape(-1) if kind.name in quants.ONES_TWOS else gguf.quants.dequantize(raw, kind)


def exponents(kind):
    """For weights with a standard deviation of about 0.08."""
    at = [(a, 8 + more) for a, more in HALVES[kind]]
    std = decoded(raw_bytes("any", kind, 256 * 400, at), T[kind]).std()
    down = int(round(np.log2(std / 0.08)))
    return [(a, max(e - down, 0)) for a, e in at]


# ---- the file ---------------------------------------------------------------------------------------------------------------

def write_gguf(path, kinds):
    """The whole file; the lines that tell test_quantized.c what to put behind its head, and a sum of it."""
    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(D)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(FF)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV)
    w.add_layer_norm_rms_eps(EPS)
    w.add_vocab_size(VOCAB)
    w.add_rope_dimension_count(HD)
    w.add_rope_freq_base(THETA)
    lines, turn, total = [], 0, 0
    for name, rows, cols in tensors(kinds):
        if not cols:
            data = ((128 + np.trunc(linear.hashed(name, rows) / 2)) / 128).astype(np.float32)
            w.add_tensor(name, data)
            lines.append(f"tensor {name} 0 1 {rows} 0")
        else:
            kind = kinds[turn % len(kinds)]
            turn += 1
            halves = exponents(kind)
            data = raw_bytes(name, kind, rows * cols, halves)
            w.add_tensor(name, data.reshape(rows, -1), raw_dtype=T[kind])
            lines.append(f"tensor {name} {T[kind].value} {rows} {cols} {len(halves)} " + " ".join(f"{a} {e}" for a, e in halves))
        b = data.view(np.uint8).astype(np.uint64)
        total = (total + int((b * np.arange(1, len(b) + 1, dtype=np.uint64)).sum())) % 2**64
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return lines + [f"sum {total}"]


def read_gguf(path):
    """{name: float64 array}, decoded by the package; and where the data begin."""
    r = gguf.GGUFReader(path)
    out = {}
    for t in r.tensors:
        values = decoded(t.data, t.tensor_type).astype(np.float64)
        out[t.name] = values.reshape([int(n) for n in t.shape[::-1]])
    for name in [n for n in out if n.endswith(".scale")]:
        out[name.replace(".scale", ".weight")] *= out[name]
    return out, r.data_offset


# ---- the model in float64 ---------------------------------------------------------------------------------------------------

class Exact:
    def __call__(self, x):
        return x


class Rounded:
    """Blocks of 32: scale = amax / 127, codes x / scale to the nearest, halves to even. nearest [texts]: how close a code came to a half."""

    def __init__(self):
        self.nearest = 0.5

    def __call__(self, x):
        b = x.reshape(*x.shape[:-1], -1, 32)
        scale = np.abs(b).max(-1, keepdims=True) / 127
        t = b / np.where(scale > 0, scale, 1)  # nothing but zeros stay zeros
        gap = np.abs(t - np.floor(t) - 0.5)
        self.nearest = np.minimum(self.nearest, gap.reshape(len(x), -1).min(-1))
        return (np.rint(t) * scale).reshape(x.shape)


def forward(w, ids, meet, past=None, heads=HEADS, kv=KV, last=False):
    """Logits [texts, n, vocab] after each of ids [texts, n], or after the last alone; meet is what a matrix does to its input first.
    past, a list, keeps keys and values from call to call. Pairs are interleaved."""
    texts, n = ids.shape
    hd, start = len(w["blk.0.attn_q.weight"]) // heads, past[0][0].shape[1] if past else 0
    pos = start + np.arange(n)
    turn_by = np.exp(1j * pos[:, None] * THETA ** (-2.0 * np.arange(hd // 2) / hd))[:, None, :]
    seen = np.arange(start + n)[None, :] <= pos[:, None]
    layers = 1 + max(int(name.split(".")[1]) for name in w if name.startswith("blk."))

    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * w[name + ".weight"]

    def turn(x):  # entries 2i and 2i + 1 are a number's real and imaginary part
        z = (x[..., ::2] + 1j * x[..., 1::2]) * turn_by
        return np.stack([z.real, z.imag], -1).reshape(x.shape)

    x, now = w["token_embd.weight"][ids], []
    for l in range(layers):
        p = f"blk.{l}."
        mat = lambda a, name: a @ w[p + name + ".weight"].T
        xn = meet(norm(x, p + "attn_norm"))
        k = turn(mat(xn, "attn_k").reshape(texts, n, kv, hd))
        v = mat(xn, "attn_v").reshape(texts, n, kv, hd)
        q = turn(mat(xn, "attn_q").reshape(texts, n, heads, hd))
        if past:
            k, v = np.concatenate([past[l][0], k], 1), np.concatenate([past[l][1], v], 1)
        now.append((k, v))
        scores = np.einsum("bqhd,bkhd->bhqk", q, np.repeat(k, heads // kv, 2)) / np.sqrt(hd)
        scores = np.where(seen, scores, -np.inf)
        probs = np.exp(scores - scores.max(-1, keepdims=True))
        att = np.einsum("bhqk,bkhd->bqhd", probs / probs.sum(-1, keepdims=True), np.repeat(v, heads // kv, 2)).reshape(texts, n, heads * hd)
        if last and l == layers - 1:  # then no other row's roundings matter
            x, att = x[:, -1:], att[:, -1:]
        x = x + mat(meet(att), "attn_output")
        xn = meet(norm(x, p + "ffn_norm"))
        gate = mat(xn, "ffn_gate")
        x = x + mat(meet(gate / (1 + np.exp(-gate)) * mat(xn, "ffn_up")), "ffn_down")
    if past is not None:
        past[:] = now
    logits = meet(norm(x, "output_norm")) @ w["output.weight"].T
    return logits[:, -1] if last else logits


def by_transformers(w, ids):
    """The same by LlamaForCausalLM, everything in it float64; q and k rows back in half-split order."""
    c = transformers.LlamaConfig(hidden_size=D, intermediate_size=FF, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV,
                                 vocab_size=VOCAB, max_position_embeddings=CONTEXT, rms_norm_eps=EPS, tie_word_embeddings=False, rope_theta=THETA)
    c._attn_implementation = "eager"

    def value(hf, _):
        t = w[decoders.gguf_name(hf)]
        heads = HEADS if ".q_proj." in hf else KV if ".k_proj." in hf else 0
        return t.reshape(heads, HD // 2, 2, -1).swapaxes(1, 2).reshape(t.shape) if heads else t

    with decoders.everything_double():
        return decoders.run(lambda: decoders.build(c, value), list(map(int, ids)))[-1]


# ---- a case -----------------------------------------------------------------------------------------------------------------

def choose(w, rng):
    """Ids whose codes keep farthest from halves, and how far."""
    best, ids = 0, None
    for _ in range(CANDIDATES // 100):
        some, meet = rng.integers(0, VOCAB, (100, SHORT)), Rounded()
        forward(w, some, meet, last=True)
        if meet.nearest.max() > best:
            best, ids = meet.nearest.max(), some[meet.nearest.argmax()]
    return ids, best


def one_case(name):
    rng = np.random.default_rng(2104)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "x.gguf")
        lines = write_gguf(path, CASES[name])
        w, start = read_gguf(path)
        put(name, ".gguf.head", open(path, "rb").read()[:start])
    short, nearest = choose(w, rng)
    long = rng.integers(0, VOCAB, LONG)
    exact, rounded, far = (forward(w, ids[None], meet, last=True)[0] for ids, meet in ((short, Exact()), (short, Rounded()), (long, Exact())))
    other = max(np.abs(by_transformers(w, ids) - row).max() for ids, row in ((short, exact), (long, far)))
    cost, cost_far = np.abs(exact - rounded).max(), np.abs(far - forward(w, long[None], Rounded(), last=True)[0]).max()
    print(f"{name:7s} transformers {other:.1e}  nearest half {nearest:.1e}  rms, max |logit| {exact.std():.2f} {np.abs(exact).max():.2f}"
          f"  rounding moves them by {cost:.3f}, {cost_far:.3f}", flush=True)
    assert other < 1e-9
    row = lambda v, digits: " ".join(f"{x:.{digits}f}" for x in v)
    text = [f"# python tests/oracle/quantized.py; {decoders.versions()}",
            f"# float64; transformers' LlamaForCausalLM in float64 differs by {other:.1e}; no code of `short` is within {nearest:.1e} of a half;",
            f"# rounding activations moves logits by {cost:.3f} (short), {cost_far:.3f} (long)"]
    text += lines
    text += ["short " + " ".join(map(str, short)), "rounded " + row(rounded, 6), "exact " + row(exact, 4),
             "long " + " ".join(map(str, long)), "exact_long " + row(far, 4)]
    put(name, ".txt", ("\n".join(text) + "\n").encode())


def put(name, suffix, data):
    with open(os.path.join(GOLDEN, name + suffix), "wb") as f:
        f.write(data)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--only", default="", help="only cases whose name holds this")
    args = ap.parse_args()
    os.makedirs(GOLDEN, exist_ok=True)
    for case in CASES:
        if args.only in case:
            one_case(case)
