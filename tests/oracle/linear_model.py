#!/usr/bin/env python3
"""A trained model with linear attention in NumPy, float64: how far a long run of the engine is from it, and what its
weights are.

    python tests/oracle/linear_model.py drift MODEL.gguf TEXT.state IDS.txt    # the state after these ids
    python tests/oracle/linear_model.py weights MODEL.gguf IDS.txt [OUT.svg]   # negative weights, row sums; a picture

MODEL.gguf: arch llama, F32, form numerator, phi elu+1: tales-1m-linear-f32.gguf, or what convert makes of the one in
the tree. IDS.txt: ids as ./run tokenize prints them. drift goes through the text in chunks of 128 ids, with S and z
between them, all in float64. So a model, a text's ids, and the engine's state after them:
    weights-tools/convert model/tales-1m-linear.gguf MODEL.gguf --type f32
    ./run tokenize MODEL.gguf -f TEXT > IDS.txt
    ./run MODEL.gguf -f TEXT --max-tokens 0 --no-echo --save-state TEXT.state
attention/README.md has what both said.
"""
import sys, struct
import numpy as np, gguf


class Model:
    def __init__(self, path):
        r = gguf.GGUFReader(path)
        self.t = {x.name: x.data.astype(np.float64) for x in r.tensors}
        f = lambda k: r.fields["llama." + k].parts[-1][0]
        self.layers, self.d, self.heads, self.kv = (int(f(k)) for k in ("block_count", "embedding_length", "attention.head_count", "attention.head_count_kv"))
        self.hd, self.eps, base = self.d // self.heads, float(f("attention.layer_norm_rms_epsilon")), float(f("rope.freq_base"))
        self.den_eps = float(f("attention.denominator_epsilon"))
        self.inv = base ** (-2.0 * np.arange(self.hd // 2) / self.hd)
        self.S = np.zeros((self.layers, self.kv, self.hd, self.hd))
        self.z = np.zeros((self.layers, self.kv, self.hd))
        self.pos, self.seen = 0, []

    def norm(self, x, w):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * w

    def features(self, x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    def turn(self, x, angle):
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        y = np.empty_like(x)
        y[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
        y[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
        return y

    def attend(self, l, x, angle, keep):
        n, p = len(x), f"blk.{l}."
        q, k, v = ((x @ self.t[p + w + ".weight"].T).reshape(n, -1, self.hd) for w in ("attn_q", "attn_k", "attn_v"))
        a, b = self.features(q), self.features(k)
        ra, rb = self.turn(a, angle), self.turn(b, angle)
        out = np.empty((n, self.heads, self.hd))
        for h in range(self.heads):
            g = h // (self.heads // self.kv)
            w = np.tril(ra[:, h] @ rb[:, g].T)
            den = a[:, h] @ self.z[l, g] + np.tril(a[:, h] @ b[:, g].T).sum(1) + self.den_eps
            out[:, h] = (ra[:, h] @ self.S[l, g] + w @ v[:, g]) / den[:, None]
            if keep:
                self.seen.append(w / den[:, None])
        self.S[l] += np.einsum("ngi,ngj->gij", rb, v)
        self.z[l] += b.sum(0)
        return out.reshape(n, -1) @ self.t[p + "attn_output.weight"].T

    def read(self, ids, keep=False):
        """More ids; the logits after the last."""
        x = self.t["token_embd.weight"][ids]
        angle = (self.pos + np.arange(len(ids)))[:, None] * self.inv
        for l in range(self.layers):
            p = f"blk.{l}."
            x = x + self.attend(l, self.norm(x, self.t[p + "attn_norm.weight"]), angle, keep)
            y = self.norm(x, self.t[p + "ffn_norm.weight"])
            gate = y @ self.t[p + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (y @ self.t[p + "ffn_up.weight"].T)) @ self.t[p + "ffn_down.weight"].T
        self.pos += len(ids)
        return self.norm(x[-1], self.t["output_norm.weight"]) @ self.t["token_embd.weight"].T


def drift(model, state, ids):
    m = Model(model)
    for i in range(0, len(ids), 128):
        logits = m.read(ids[i : i + 128])
    raw = open(state, "rb").read()
    n = struct.unpack_from("<Q", raw, 24)[0]
    assert n == len(ids), (n, len(ids))
    got = np.frombuffer(raw, np.float32, len(logits), 40).astype(np.float64)
    doubles = np.frombuffer(raw, np.float64, (len(raw) - 48 - 4 * len(logits)) // 8, 40 + 4 * len(logits))
    shape = (m.layers, m.kv, m.hd // 16, m.hd, 16)
    S = doubles[: np.prod(shape)].reshape(shape).transpose(0, 1, 3, 2, 4).reshape(m.S.shape)
    z = doubles[np.prod(shape) :][: m.z.size].reshape(m.z.shape)
    rel = lambda x, y: np.linalg.norm(x - y) / np.linalg.norm(y)
    print(f"{n} ids: S off by {rel(S, m.S):.1e} of its norm, z by {rel(z, m.z):.1e}; by layer, S:",
          " ".join(f"{rel(S[l], m.S[l]):.1e}" for l in range(m.layers)))
    print(f"logits: largest difference {np.abs(got - logits).max():.1e} (they spread over {logits.std():.1f}); the same first choice: {got.argmax() == logits.argmax()}")


def weights(model, ids, svg):
    m = Model(model)
    m.read(ids, keep=True)
    n = len(ids)
    rows = np.array(m.seen).reshape(m.layers, m.heads, n, n)
    low = np.tril(np.ones((n, n), bool))
    print(f"{n} ids, {m.layers} layers of {m.heads} heads: {100 * (rows[..., low] < 0).mean():.1f} % of the weights are negative, the smallest {rows.min():.3f}, the largest {rows.max():.3f}")
    for l in range(m.layers):
        s = rows[l].sum(-1)
        print(f"layer {l}: negative {100 * (rows[l][..., low] < 0).mean():5.1f} %, row sums {s.min():6.3f} to {s.max():.3f}, mean {s.mean():.3f}")
    if svg:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams.update({"svg.hashsalt": "roformer", "svg.fonttype": "none"})
        import matplotlib.pyplot as plt
        share = [(rows[l, h][low] < 0).mean() for l in range(m.layers) for h in range(m.heads)]
        l, h = divmod(int(np.argsort(share)[len(share) // 2]), m.heads)
        n = min(n, 48)
        w = np.where(low[:n, :n], rows[l, h, :n, :n], np.nan)
        top = np.nanpercentile(np.abs(w), 99)
        fig, ax = plt.subplots(figsize=(5.2, 4.4))
        image = ax.imshow(w, cmap="RdBu", vmin=-top, vmax=top)
        ax.set(xlabel="key n", ylabel="query m", title=f"layer {l}, head {h}")
        fig.colorbar(image, label="weight of key n for query m")
        fig.tight_layout()
        fig.savefig(svg, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("drift", "weights"):
        sys.exit(__doc__)
    if sys.argv[1] == "drift":
        drift(sys.argv[2], sys.argv[3], [int(i) for i in open(sys.argv[4]).read().split()])
    else:
        weights(sys.argv[2], [int(i) for i in open(sys.argv[3]).read().split()], sys.argv[4] if len(sys.argv) > 4 else None)
