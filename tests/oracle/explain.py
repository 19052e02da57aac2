#!/usr/bin/env python3
"""What `./run explain` shows, once more in NumPy, float64, from the same weights.

    python tests/oracle/explain.py ../shared/data/tales > tests/golden/explain.txt

Of tales-1m-f32.gguf and tales-1m-linear-f32.gguf (the folder given), for one sentence's ids. Lines:
    model FILE
    ids ..
    nll I V                       the loss of id I
    weight L H M J V              of layer L, head H, query M, key J; linear attention's as eq. 19 has them
    term L H M J PAIR V           what a pair adds to a score; PAIR rest, sum: all together
    lens L T ID P ID P            the two most probable ids behind id T after layer L
    state L M S Z                 norms of S and z behind token M, mean of the key heads
"""
import sys
import numpy as np, gguf
from linear_model import Model as Linear

IDS = [1, 377, 338, 261, 465, 468, 397, 282, 353, 362, 264, 281, 371, 358, 295, 397]  # any ids will do


def fields(path, r, key, default=None):
    field = r.fields.get("llama." + key)
    return default if field is None else field.parts[-1][0]


class Softmax:
    """The decoder's layers; what attention saw is kept."""

    def __init__(self, path):
        r = gguf.GGUFReader(path)
        self.t = {x.name: x.data.astype(np.float64) for x in r.tensors}
        get = lambda key: fields(path, r, key)
        self.layers, self.d, self.heads, self.kv = (int(get(k)) for k in ("block_count", "embedding_length",
                                                                         "attention.head_count", "attention.head_count_kv"))
        self.hd, self.eps = self.d // self.heads, float(get("attention.layer_norm_rms_epsilon"))
        self.inv = float(get("rope.freq_base")) ** (-2.0 * np.arange(self.hd // 2) / self.hd)
        self.q, self.k, self.w, self.x = [], [], [], []

    def norm(self, x, w):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * w

    def pairs(self, x):
        return x[..., 0::2] + 1j * x[..., 1::2]

    def attend(self, l, x):
        n, p = len(x), f"blk.{l}."
        q, k, v = ((x @ self.t[p + w + ".weight"].T).reshape(n, -1, self.hd) for w in ("attn_q", "attn_k", "attn_v"))
        q, k = self.pairs(q), self.pairs(k)
        self.q.append(q), self.k.append(k)
        e = np.exp(1j * np.arange(n)[:, None] * self.inv)
        weights, out = np.full((self.heads, n, n), np.nan), np.empty((n, self.heads, self.hd))
        for h in range(self.heads):
            g = h // (self.heads // self.kv)
            s = np.real(np.einsum("mi,ji->mj", q[:, h] * e, np.conj(k[:, g] * e))) / np.sqrt(self.hd)
            for m in range(n):
                row = np.exp(s[m, :m + 1] - s[m, :m + 1].max())
                weights[h, m, :m + 1] = row / row.sum()
                out[m, h] = weights[h, m, :m + 1] @ v[:m + 1, g]
        self.w.append(weights)
        return out.reshape(n, -1) @ self.t[p + "attn_output.weight"].T

    def read(self, ids):
        x = self.t["token_embd.weight"][ids]
        for l in range(self.layers):
            p = f"blk.{l}."
            x = x + self.attend(l, self.norm(x, self.t[p + "attn_norm.weight"]))
            y = self.norm(x, self.t[p + "ffn_norm.weight"])
            gate = y @ self.t[p + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (y @ self.t[p + "ffn_up.weight"].T)) @ self.t[p + "ffn_down.weight"].T
            self.x.append(x)
        return self.logits(x)

    def logits(self, x):
        return self.norm(x, self.t["output_norm.weight"]) @ self.t["token_embd.weight"].T


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def tell_softmax(folder):
    name = "tales-1m-f32.gguf"
    m = Softmax(f"{folder}/{name}")
    p = softmax(m.read(IDS))
    print("model", name)
    print("ids", *IDS)
    for i in range(1, len(IDS)):
        print(f"nll {i} {-np.log(p[i - 1, IDS[i]]):.9g}")
    for l, h, q in ((0, 2, 9), (2, 1, 15), (4, 0, 12), (5, 3, 15)):
        for j in range(q + 1):
            print(f"weight {l} {h} {q} {j} {m.w[l][h, q, j]:.9g}")
    for l, h, q, j in ((0, 0, 15, 3), (3, 2, 7, 6), (4, 1, 14, 0)):
        terms = np.real(m.q[l][q, h] * np.conj(m.k[l][j, h // (m.heads // m.kv)]) * np.exp(1j * (q - j) * m.inv)) / np.sqrt(m.hd)
        for i, t in enumerate(terms):
            print(f"term {l} {h} {q} {j} {i} {t:.9g}")
        print(f"term {l} {h} {q} {j} sum {terms.sum():.9g}")
    for l in range(m.layers):
        p = softmax(m.logits(m.x[l]))
        for t in (4, 15):
            best = np.argsort(-p[t])[:2]
            print("lens", l, t, *(f"{i} {p[t, i]:.9g}" for i in best))


def tell_linear(folder):
    name = "tales-1m-linear-f32.gguf"
    m = Linear(f"{folder}/{name}")
    print("model", name)
    print("ids", *IDS)
    for i in range(len(IDS)):  # one by one: the state behind each
        m.read([IDS[i]])
        for l in (0, 3):
            S = np.sqrt((m.S[l] ** 2).sum((1, 2))).mean()
            z = np.sqrt((m.z[l] ** 2).sum(1)).mean()
            print(f"state {l} {i} {S:.9g} {z:.9g}")
    m = Linear(f"{folder}/{name}")
    m.read(IDS, keep=True)
    for l, h, q in ((1, 3, 15), (4, 0, 10)):
        for j in range(q + 1):
            print(f"weight {l} {h} {q} {j} {m.seen[l * m.heads + h][q, j]:.9g}")


tell_softmax(sys.argv[1])
tell_linear(sys.argv[1])
