#!/usr/bin/env python3
"""What a format costs a model: the two tables of bench/kernels.md, "What the formats cost". From the repository's root, after `make`:

    v/bin/python tests/oracle/format_cost.py tales     # the tales model on held-out text, beside F32
    v/bin/python tests/oracle/format_cost.py gaussian  # a model of Gaussian weights with rows of 256, on text drawn from itself

Both run weights-tools/quantize and ./run. Standard errors are of the difference to F32, by whole documents: the same text is read with
both, so what the two have in common falls out.
"""
import argparse, json, os, subprocess, tempfile
import numpy as np, gguf
import quantized

KINDS = ("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q5_1", "Q5_0", "Q4_K_M", "Q4_K_S", "IQ4_NL", "IQ4_XS", "Q4_1", "Q4_0",
         "Q3_K_L", "Q3_K_M", "Q3_K_S", "Q2_K")
TALES, SEPARATOR = "../shared/data/tales/", "<|endoftext|>"
D, FF, LAYERS, HEADS, KV, VOCAB, TEXTS, LENGTH = 256, 512, 4, 4, 2, 512, 48, 128


def quantize(source, tmp, kind):
    """A file of that kind, and what is in it."""
    path = os.path.join(tmp, f"{kind}.gguf")
    subprocess.run(["weights-tools/quantize", source, path, kind, "-q"], check=True)
    r = gguf.GGUFReader(path)
    bits = sum(t.n_bytes for t in r.tensors) * 8 / sum(t.n_elements for t in r.tensors)
    kinds = [t.tensor_type.name for t in r.tensors if len(t.shape) > 1]
    return path, bits, " + ".join(sorted(set(kinds), key=kinds.count, reverse=True))


def mean_and_error(sums, counts):
    """Of sums over documents: the mean of a token, and its standard error with documents as the independent things."""
    mean, n = sums.sum() / counts.sum(), len(sums)
    return mean, np.sqrt(n / (n - 1) * ((sums - mean * counts) ** 2).sum()) / counts.sum()


# ---- a real model -----------------------------------------------------------------------------------------------------------

def documents():
    lines, out = open(TALES + "heldout.txt", encoding="utf-8").read().rstrip("\n").split("\n"), [[]]
    for line in lines:
        if line == SEPARATOR:
            out.append([])
        else:
            out[-1].append(line)
    return ["\n".join(d) for d in out if d]


def nll(model, tmp, text):
    """Sum and tokens of a text, as ./run perplexity has them."""
    path = os.path.join(tmp, "text")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    j = json.loads(subprocess.run(["./run", "perplexity", model, "-f", path, "--separator", SEPARATOR, "-q", "--json", "-j", "1"], check=True,
                                  capture_output=True, text=True).stdout)
    return j["nll_sum"], j["tokens"]


def tales():
    docs, base = documents(), None
    print("| type | in the file | bits a weight | nats a token | beside F32 |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as tmp:
        for kind in KINDS:
            path, bits, inside = quantize(TALES + "tales-1m-f32.gguf", tmp, kind)
            sums, counts = np.array([nll(path, tmp, d) for d in docs]).T
            base = sums if base is None else base
            more, error = mean_and_error(sums - base, counts)
            beside = "" if kind == "F32" else f"{more:+.5f} ± {error:.5f}"
            print(f"| {kind} | {inside} | {bits:.1f} | {sums.sum() / counts.sum():.6f} | {beside} |", flush=True)
        print(f"{int(counts.sum())} tokens, {len(docs)} documents")


# ---- a model with rows of 256 -----------------------------------------------------------------------------------------------

def gaussian_model(path, rng):
    """F32; every product has entries of size 1, the logits of 2.7, which makes its texts as uncertain as tales-1m's."""
    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(LENGTH)
    w.add_embedding_length(D)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(FF)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV)
    w.add_layer_norm_rms_eps(quantized.EPS)
    w.add_vocab_size(VOCAB)
    w.add_rope_dimension_count(D // HEADS)
    w.add_rope_freq_base(quantized.THETA)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    normal = lambda rows, cols, gain=1.0: (gain / np.sqrt(cols) * rng.standard_normal((rows, cols))).astype(np.float32)
    kv, ones = KV * D // HEADS, np.ones(D, np.float32)
    w.add_tensor("token_embd.weight", normal(VOCAB, D, 16))
    for l in range(LAYERS):
        p = f"blk.{l}."
        w.add_tensor(p + "attn_norm.weight", ones)
        w.add_tensor(p + "ffn_norm.weight", ones)
        for name, rows, cols in (("attn_q", D, D), ("attn_k", kv, D), ("attn_v", kv, D), ("attn_output", D, D), ("ffn_gate", FF, D), ("ffn_up", FF, D),
                                 ("ffn_down", D, FF)):
            w.add_tensor(p + name + ".weight", normal(rows, cols))
    w.add_tensor("output_norm.weight", ones)
    w.add_tensor("output.weight", normal(VOCAB, D, 2.7))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def log_probs(logits):
    x = logits - logits.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def draw(weights, rng):
    """Ids [TEXTS, LENGTH] from the model's own distribution, after a first id drawn evenly."""
    ids, past = rng.integers(0, VOCAB, (TEXTS, 1)), []
    while ids.shape[1] < LENGTH:
        p = np.exp(log_probs(quantized.forward(weights, ids[:, -1:], quantized.Exact(), past, HEADS, KV, last=True)))
        pick = (p.cumsum(-1) < rng.random((TEXTS, 1))).sum(-1)
        ids = np.concatenate([ids, np.minimum(pick, VOCAB - 1)[:, None]], 1)
    return ids


def engine(path, ids):
    """Log-probabilities [TEXTS, LENGTH - 1, VOCAB] by ./run logits; its cache is F32."""
    out = []
    for text in ids:
        said = subprocess.run(["./run", "logits", path, "--all", "-j", "1", "--ids", ",".join(map(str, text[:-1]))], check=True, capture_output=True, text=True)
        out.append([line.split() for line in said.stdout.splitlines()])
    return log_probs(np.array(out, dtype=np.float64))


def gaussian():
    rng = np.random.default_rng(2104)
    with tempfile.TemporaryDirectory() as tmp:
        source = os.path.join(tmp, "source.gguf")
        gaussian_model(source, rng)
        w = quantized.read_gguf(source)[0]
        ids = draw(w, rng)
        exact = log_probs(quantized.forward(w, ids[:, :-1], quantized.Exact(), None, HEADS, KV))
        counts = np.full(TEXTS, LENGTH - 1)
        of = lambda logp: -np.take_along_axis(logp, ids[:, 1:, None], -1)[..., 0].sum(1)
        kl = lambda logp: (np.exp(exact) * (exact - logp)).sum(-1)
        print(f"{counts.sum()} tokens drawn from F32, {of(exact).sum() / counts.sum():.4f} nats a token\n")
        print("| type | in the file | bits a weight | KL, weights alone | KL, the engine | nats a token beside F32 | same first choice |")
        print("|---|---|---|---|---|---|---|")
        for kind in KINDS:
            path, bits, inside = quantize(source, tmp, kind)
            alone = kl(log_probs(quantized.forward(quantized.read_gguf(path)[0], ids[:, :-1], quantized.Exact(), None, HEADS, KV))).mean()
            logp = engine(path, ids)
            k, k_error = mean_and_error(kl(logp).sum(1), counts)
            more, error = mean_and_error(of(logp) - of(exact), counts)
            same = (logp.argmax(-1) == exact.argmax(-1)).mean()
            print(f"| {kind} | {inside} | {bits:.1f} | {alone:.2g} | {k:.2g} ± {k_error:.1g} | {more:+.2g} ± {error:.1g} | {100 * same:.1f} % |", flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("what", choices=("tales", "gaussian"))
    {"tales": tales, "gaussian": gaussian}[ap.parse_args().what]()
