#!/usr/bin/env python3
"""Goldens of every kind of position (rope/positions.h): whole small models in float64, a query and a key at a time.

    v/bin/python tests/oracle/positions.py             # writes tests/golden/positions.txt; needs NumPy alone
    v/bin/python tests/oracle/positions.py --float32   # how far float32 arithmetic would be off; writes nothing

A case is a whole model: keys, and tensors whose values a formula gives (linear.hashed of the name; here and in
tests/test_positions.c the same), of a decoder (llama) and of an encoder (roformer v1). Each score is written out by its
definition: no table of distances, no buckets worked out ahead, no state. Lines, per case:

    case NAME ARCH                       what follows belongs to it
    key TYPE NAME VALUE                  u32, f32, str
    tensor NAME ROWS COLS PER            u / PER (COLS 0: a vector); PER 0: (128 + u/2) / 128, u/2 cut toward zero
    option VALUE                         --position-extend
    text N ID ..  types N T ..  keep N K ..
    row N V V ..                         decoders: after the first N ids; encoders: of token N; every fourth logit
    wrong WHAT, and rows                 what the formula gives with this mistake in it: the engine must be far from them

Slopes are those of get_slopes in fairseq_layers/attention_with_linear_biases (arXiv:2108.12409's release), buckets those
of transformers' T5Attention._relative_position_bucket, with its logarithm in float64; the slopes and buckets that
rope-methods.md 6.1 prints are checked first (check_anchors).
"""
import argparse, math, os
import numpy as np
import linear

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "positions.txt")
VOCAB, EVERY = 61, 4
LENGTHS = (1, 2, 7, 33, 64, 100, 150)

# ---- positions -------------------------------------------------------------------------------------------------------


def slopes(n):
    """get_slopes of the release, as it stands there."""
    def power_of_2(n):
        start = 2 ** (-2 ** -(math.log2(n) - 3))
        return [start * start ** i for i in range(n)]
    if math.log2(n).is_integer():
        return power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_of_2(closest) + slopes(2 * closest)[0::2][:n - closest]


def bucket(relative, bidirectional, n_buckets, most):
    """_relative_position_bucket for one pair; relative = key's position - query's."""
    out = 0
    if bidirectional:
        n_buckets //= 2
        out += n_buckets if relative > 0 else 0
        relative = abs(relative)
    else:
        relative = -min(relative, 0)
    exact = n_buckets // 2
    if relative < exact:
        return out + relative
    large = exact + int(math.log(relative / exact) / math.log(most / exact) * (n_buckets - exact) + 1e-12)
    return out + min(large, n_buckets - 1)


def sinusoid(pos, d):
    p = np.empty(d)
    for t in range(d // 2):
        p[2 * t] = math.sin(pos / 10000 ** (2 * t / d))
        p[2 * t + 1] = math.cos(pos / 10000 ** (2 * t / d))
    return p


def check_anchors():
    assert slopes(8) == [2.0 ** -(i + 1) for i in range(8)]
    assert np.allclose(slopes(12)[8:], [.70710678, .35355339, .1767767, .088388348], atol=1e-8)
    assert np.allclose(slopes(6), [.25, .0625, .015625, .00390625, .5, .125])
    for first, b in zip((8, 12, 16, 23, 32, 46, 64, 91), range(8, 16)):
        assert bucket(-first, True, 32, 128) == b and bucket(1 - first, True, 32, 128) == b - 1
    for first, b in zip((16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113), range(16, 32)):
        assert bucket(-first, False, 32, 128) == b and bucket(1 - first, False, 32, 128) == b - 1
    for ahead, b in ((1, 17), (8, 24), (12, 25), (16, 26), (23, 27), (128, 31)):
        assert bucket(ahead, True, 32, 128) == b


# ---- a model ---------------------------------------------------------------------------------------------------------


class Model:
    """One case; wrong: the mistake in it, or ""."""

    def __init__(self, case, wrong="", kind=np.float64):
        self.c, self.wrong, self.kind = case, wrong, kind
        self.t = {name: self.values(name, rows, cols, per) for name, rows, cols, per in case["tensors"]}
        self.position = case["position"]

    def values(self, name, rows, cols, per):
        u = linear.hashed(name, rows * max(cols, 1))
        v = u / per if per else (128 + np.trunc(u / 2)) / 128
        return v.reshape(rows, cols).astype(self.kind) if cols else v.astype(self.kind)

    def row(self, k):
        """The learned row of position k."""
        e, n, alpha = self.t["position_embd.weight"], self.c["n_ctx"], self.c.get("alpha")
        k = max(k - (self.wrong == "position off by one"), 0)
        if k < n:
            return e[k]
        if self.wrong == "alpha .6":
            alpha = .6
        u = (e - alpha * e[0]) / (1 - alpha)
        i, j = (k % n, k // n) if self.wrong == "high and low exchanged" else (k // n, k % n)
        return alpha * u[i] + (1 - alpha) * u[j]

    def added(self, k, d):
        if self.position == "learned":
            return self.row(k)
        if self.position == "sinusoidal":
            p = sinusoid(k + (self.wrong == "position off by one"), d)
            return np.concatenate([p[0::2], p[1::2]]) if self.wrong == "sines first" else p
        return np.zeros(d)

    def bias(self, h, m, n):
        """Query at m, key at n."""
        heads = self.c["heads"]
        if self.position == "alibi":
            s = slopes(heads)[(h + (self.wrong == "slope of another head")) % heads] ** (self.c.get("max_bias", 8) / 8)
            return -s * abs(m - n)
        if self.position == "t5":
            table, both = self.t["blk.0.attn_rel_b.weight"], self.c["arch"] == "roformer" and self.c["mask"] != "causal"
            if self.wrong == "one direction":
                both = False
            if self.wrong == "directions exchanged":
                m, n = n, m
            b = bucket(n - m, both, self.c.get("buckets", 32), self.c.get("most", 128))
            if self.wrong == "bucket off by one":
                b = min(b + 1, len(table) - 1)
            return float(table[b, (h + (self.wrong == "bias of another head")) % heads])
        return 0.0

    def turned(self, x, pos, sign=0):
        """x [.., hd] turned by pos, pairs (2i, 2i+1); sign: xpos's zeta^(sign pos / base)."""
        d = x.shape[-1]
        i = np.arange(d // 2)
        angle = pos * self.c.get("theta", 10000.0) ** (-2.0 * i / d) / self.t.get("rope_freqs.weight", np.ones(d // 2))
        if self.wrong == "frequencies times":
            angle = angle * self.t["rope_freqs.weight"] ** 2
        grow = ((2 * i + 0.4 * d) / (1.4 * d)) ** (sign * pos / self.c.get("base", 512)) if sign else 1.0
        if self.position not in ("rope", "xpos"):
            angle, grow = 0 * angle, 1.0
        y = np.empty_like(x)
        y[..., 0::2] = (x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)) * grow
        y[..., 1::2] = (x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)) * grow
        return y

    def attend(self, q, k, v, sees):
        """q [n, heads, hd], k and v [n, kv, hd]; sees(m, n)."""
        n, heads, hd = q.shape
        out, group = np.zeros_like(q), heads // k.shape[1]
        sign = (1 if self.wrong != "zeta upside down" else -1) if self.position == "xpos" else 0
        feature = linear.ELEMENTWISE
        for h in range(heads):
            g = h // group
            for m in range(n):
                seen = [j for j in range(n) if sees(m, j)]
                if "phi" in self.c:
                    a, b = self.c["phi"], self.c.get("phi_key", self.c["phi"])
                    if self.wrong == "maps exchanged":
                        a, b = b, a
                    fq, fk = feature[a](q[m, h]), feature[b](k[seen, g])
                    rq, rk = self.turned(fq, m), np.array([self.turned(x, j) for x, j in zip(fk, seen)])
                    w = rk @ rq / (fk.sum(0) @ fq + 1e-6)
                else:
                    rq = self.turned(q[m, h], m, sign)
                    s = np.array([self.turned(k[j, g], j, -sign) @ rq for j in seen]) / math.sqrt(hd)
                    if self.c.get("log_scale"):
                        keys = len(seen) if self.wrong == "few keys too" else max(len(seen), 16)
                        s = s * math.log(keys) / math.log(self.c["log_scale"])
                    s = s + np.array([self.bias(h, m, j) for j in seen])
                    w = np.exp(s - s.max())
                    w = w / w.sum()
                out[m, h] = w.astype(self.kind) @ v[seen, g]
        return out.reshape(n, -1)

    def heads_of(self, x, name, heads):
        y = x @ self.t[name + ".weight"].T + self.t.get(name + ".bias", 0)
        return y.reshape(len(x), heads, -1)

    def decoder(self, ids):
        """Logits after each id."""
        c, t = self.c, self.t
        norm = lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + self.kind(1e-5)) * w
        x = np.array([t["token_embd.weight"][i] + self.added(m, c["d"]) for m, i in enumerate(ids)]).astype(self.kind)
        for l in range(c["layers"]):
            b = f"blk.{l}."
            y = norm(x, t[b + "attn_norm.weight"])
            q, k, v = (self.heads_of(y, b + w, n) for w, n in (("attn_q", c["heads"]), ("attn_k", c["kv"]), ("attn_v", c["kv"])))
            x = x + self.attend(q, k, v, lambda m, j: j <= m) @ t[b + "attn_output.weight"].T
            y = norm(x, t[b + "ffn_norm.weight"])
            gate = y @ t[b + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (y @ t[b + "ffn_up.weight"].T)) @ t[b + "ffn_down.weight"].T
        return norm(x, t["output_norm.weight"]) @ t["token_embd.weight"].T

    def encoder(self, ids, types, keep):
        c, t = self.c, self.t
        gelu = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))

        def norm(x, name):
            y = x - x.mean(-1, keepdims=True)
            return y / np.sqrt((y * y).mean(-1, keepdims=True) + self.kind(1e-12)) * t[name + ".weight"] + t[name + ".bias"]

        dense = lambda x, name: x @ t[name + ".weight"].T + t[name + ".bias"]
        c_of = np.cumsum(types)
        sees = {"padding": lambda m, j: True, "causal": lambda m, j: j <= m, "unilm": lambda m, j: c_of[j] <= c_of[m]}[c["mask"]]
        x = np.array([t["token_embd.weight"][i] + t["token_types.weight"][y] + self.added(m, c["E"])
                      for m, (i, y) in enumerate(zip(ids, types))])
        x = norm(x, "token_embd_norm")
        if c["E"] != c["d"]:
            x = dense(x, "token_embd_proj")
        for l in range(c["layers"]):
            b = f"blk.{l}."
            q, k, v = (self.heads_of(x, b + w, c["heads"]) for w in ("attn_q", "attn_k", "attn_v"))
            att = self.attend(q, k, v, lambda m, j: keep[j] and sees(m, j))
            x = norm(x + dense(att, b + "attn_output"), b + "attn_output_norm")
            x = norm(x + dense(gelu(dense(x, b + "ffn_up")), b + "ffn_down"), b + "layer_output_norm")
        h = norm(gelu(dense(x, "mlm.dense")), "mlm.norm")
        return h @ t["token_embd.weight"].T + t["mlm.bias"]


# ---- the cases -------------------------------------------------------------------------------------------------------


def decoder(position, heads=6, kv=2, hd=8, n_ctx=64, keys=(), tensors=(), wrong=(), lengths=LENGTHS, **more):
    d, ff, layers = 48, 40, 2
    t = [("token_embd.weight", VOCAB, d, 256)]
    for l in range(layers):
        b = f"blk.{l}."
        t += [(b + "attn_norm.weight", d, 0, 0), (b + "attn_q.weight", heads * hd, d, 256),
              (b + "attn_k.weight", kv * hd, d, 256), (b + "attn_v.weight", kv * hd, d, 256),
              (b + "attn_output.weight", d, heads * hd, 256), (b + "ffn_norm.weight", d, 0, 0),
              (b + "ffn_gate.weight", ff, d, 256), (b + "ffn_up.weight", ff, d, 256), (b + "ffn_down.weight", d, ff, 256)]
    t += [("output_norm.weight", d, 0, 0), *tensors]
    k = [("u32", "context_length", n_ctx), ("u32", "embedding_length", d), ("u32", "block_count", layers),
         ("u32", "feed_forward_length", ff), ("u32", "attention.head_count", heads), ("u32", "attention.head_count_kv", kv),
         ("u32", "attention.key_length", hd), ("u32", "attention.value_length", hd), ("u32", "rope.dimension_count", hd),
         ("f32", "attention.layer_norm_rms_epsilon", 1e-5), *keys]
    return dict(arch="llama", position=position, d=d, heads=heads, kv=kv, layers=layers, n_ctx=n_ctx, keys=k, tensors=t,
                wrong=wrong, lengths=lengths, **more)


def encoder(position, mask="padding", heads=3, E=24, n_ctx=64, keys=(), tensors=(), wrong=(), **more):
    d, ff, layers = 24, 40, 2
    dense = lambda name, rows, cols: [(name + ".weight", rows, cols, 256), (name + ".bias", rows, 0, 256)]
    norm = lambda name, n: [(name + ".weight", n, 0, 0), (name + ".bias", n, 0, 256)]
    t = [("token_embd.weight", VOCAB, E, 256), ("token_types.weight", 2, E, 256), *norm("token_embd_norm", E)]
    t += dense("token_embd_proj", d, E) if E != d else []
    for l in range(layers):
        b = f"blk.{l}."
        for w in ("attn_q", "attn_k", "attn_v", "attn_output"):
            t += dense(b + w, d, d)
        t += norm(b + "attn_output_norm", d) + dense(b + "ffn_up", ff, d) + dense(b + "ffn_down", d, ff)
        t += norm(b + "layer_output_norm", d)
    t += dense("mlm.dense", E, d) + norm("mlm.norm", E) + [("mlm.bias", VOCAB, 0, 256), *tensors]
    k = [("str", "variant", "v1"), ("u32", "context_length", n_ctx), ("u32", "embedding_length", d),
         ("u32", "embedding_length_in", E), ("u32", "block_count", layers), ("u32", "feed_forward_length", ff),
         ("u32", "token_type_count", 2), ("u32", "attention.head_count", heads), ("f32", "attention.layer_norm_epsilon", 1e-12),
         ("str", "mask", mask), ("str", "hidden_act", "gelu"), *keys]
    return dict(arch="roformer", position=position, mask=mask, d=d, E=E, heads=heads, kv=heads, layers=layers, n_ctx=n_ctx,
                keys=k, tensors=t, wrong=wrong, **more)


def kind(name):
    return [("str", "attention.position", name)]


def table(n, d):
    return [("position_embd.weight", n, d, 256)]


def biases(n, heads):
    return [("blk.0.attn_rel_b.weight", n, heads, 32)]


def linear_keys(phi, key=None):
    out = [("str", "attention.kind", "linear"), ("str", "attention.feature_map", phi)]
    return out + ([("str", "attention.feature_map_key", key)] if key else [])


T5_8 = [("u32", "attention.relative_buckets_count", 8), ("u32", "attention.relative_max_distance", 20)]
CASES = {
    "rope": decoder("rope"),
    "nope": decoder("nope", keys=kind("nope")),
    "sinusoidal": decoder("sinusoidal", keys=kind("sinusoidal"), wrong=("position off by one", "sines first")),
    "learned": decoder("learned", n_ctx=150, keys=kind("learned"), tensors=table(150, 48), wrong=("position off by one",)),
    "extended": decoder("learned", n_ctx=13, keys=kind("learned"), tensors=table(13, 48), alpha=.4,
                        option="hierarchical", wrong=("alpha .6", "high and low exchanged")),
    "extended.7": decoder("learned", n_ctx=33, keys=kind("learned"), tensors=table(33, 48), alpha=.7,
                          option="hierarchical:alpha=.7"),
    "alibi": decoder("alibi", keys=kind("alibi"), wrong=("slope of another head",)),
    "alibi.8": decoder("alibi", heads=8, kv=8, keys=[("f32", "attention.max_alibi_bias", 8.0)]),
    "alibi.12": decoder("alibi", heads=12, kv=3, hd=4, keys=kind("alibi") + [("f32", "attention.max_alibi_bias", 8.0)],
                        wrong=("slope of another head",)),
    "alibi.max": decoder("alibi", heads=4, kv=1, keys=[("f32", "attention.max_alibi_bias", 4.0)], max_bias=4),
    "t5": decoder("t5", keys=kind("t5"), tensors=biases(32, 6), wrong=("bucket off by one", "bias of another head")),
    "t5.8": decoder("t5", heads=4, kv=4, keys=kind("t5") + T5_8, tensors=biases(8, 4), buckets=8, most=20,
                    wrong=("bucket off by one",)),
    "xpos": decoder("xpos", keys=kind("xpos"), wrong=("zeta upside down",)),
    "xpos.64": decoder("xpos", keys=[("str", "rope.scaling.type", "xpos"), ("f32", "rope.scaling.scale_base", 64.0)], base=64),
    "log-n": decoder("rope", keys=[("u32", "attention.log_scale", 64)], log_scale=64, wrong=("few keys too",)),
    "alibi.log-n": decoder("alibi", keys=kind("alibi") + [("u32", "attention.log_scale", 32)], log_scale=32),
    "frequencies": decoder("rope", keys=[("f32", "rope.freq_base", 31.25)], theta=31.25,
                           tensors=[("rope_freqs.weight", 4, 0, 0)], wrong=("frequencies times",)),
    "linear.nope": decoder("nope", keys=kind("nope") + linear_keys("elu+1"), phi="elu+1"),
    "linear.learned": decoder("learned", n_ctx=150, keys=kind("learned") + linear_keys("elu+1"), tensors=table(150, 48),
                              phi="elu+1"),
    "linear.keys": decoder("rope", keys=linear_keys("softmax", "exp"), phi="softmax", phi_key="exp", wrong=("maps exchanged",)),
    "linear.relu": decoder("sinusoidal", keys=kind("sinusoidal") + linear_keys("elu+1", "relu2"), phi="elu+1", phi_key="relu2"),
    "e.rope": encoder("rope"),
    "e.nope": encoder("nope", keys=kind("nope")),
    "e.sinusoidal": encoder("sinusoidal", E=16, keys=kind("sinusoidal"), wrong=("position off by one",)),
    "e.learned": encoder("learned", E=16, keys=kind("learned"), tensors=table(64, 16), wrong=("position off by one",)),
    "e.extended": encoder("learned", n_ctx=9, keys=kind("learned"), tensors=table(9, 24), alpha=.4, option="hierarchical"),
    "e.alibi": encoder("alibi", keys=kind("alibi"), wrong=("slope of another head",)),
    "e.t5": encoder("t5", keys=kind("t5"), tensors=biases(32, 3), wrong=("one direction", "directions exchanged")),
    "e.t5.unilm": encoder("t5", "unilm", keys=kind("t5") + T5_8, tensors=biases(8, 3), buckets=8, most=20),
    "e.t5.causal": encoder("t5", "causal", keys=kind("t5"), tensors=biases(32, 3)),
    "e.alibi.unilm": encoder("alibi", "unilm", keys=kind("alibi")),
    "e.linear": encoder("learned", keys=kind("learned") + linear_keys("elu+1", "exp"), tensors=table(64, 24), phi="elu+1",
                        phi_key="exp", wrong=("maps exchanged",)),
}
IDS = [2 + int(u + 127) % (VOCAB - 2) for u in linear.hashed("ids of positions", 150)]
# Two texts: one whole, one with padding in its middle and at its end.
TEXTS = [(53, [0] * 30 + [1] * 23, (), (0, 1, 20, 30, 52)), (24, [0] * 10 + [1] * 14, (3, 4, 11, 12, 13, 22, 23), (0, 5, 10, 21))]


def row_line(n, v):
    return f"row {n} " + " ".join(f"{x:.7g}" for x in v[::EVERY])


def texts_of(c):
    if c["arch"] == "llama":
        return [(IDS, None, None, None)]
    return [(IDS[:n], types, [int(i not in padding) for i in range(n)], rows) for n, types, padding, rows in TEXTS]


def logits(c, wrong, text, kind=np.float64):
    """{row: logits}"""
    ids, types, keep, rows = text
    m = Model(c, wrong, kind)
    if c["arch"] == "llama":
        out = m.decoder(ids)
        return {n: out[n - 1] for n in c["lengths"]}
    out = m.encoder(ids, types, keep)
    return {n: out[n] for n in rows}


def far(a, b):
    return max(np.abs(a[n] - b[n]).max() for n in a)


def case_lines(name, c, float32):
    lines, told = [f"case {name} {c['arch']}"], [f"{name:15s}"]
    lines += [f"key {t} {k} {v}" for t, k, v in c["keys"]]
    lines += [f"tensor {n} {r} {k} {p}" for n, r, k, p in c["tensors"]]
    lines += [f"option {c['option']}"] if "option" in c else []
    for text in texts_of(c):
        ids, types, keep, _ = text
        right = logits(c, "", text)
        lines.append(f"text {len(ids)} " + " ".join(map(str, ids)))
        if types:
            lines += [f"types {len(ids)} " + " ".join(map(str, types)), f"keep {len(ids)} " + " ".join(map(str, keep))]
        lines += [row_line(n, v) for n, v in right.items()]
        told.append(f"logits to {max(np.abs(v).max() for v in right.values()):.1f}")
        if float32:
            told.append(f"float32 {far(right, logits(c, '', text, np.float32)):.1e}")
    for wrong in c["wrong"]:
        text = texts_of(c)[0]
        missed, right = logits(c, wrong, text), logits(c, "", text)
        told.append(f"\n    {wrong}: off by {far(right, missed):.2g}")
        assert far(right, missed) > 3e-2, (name, wrong)
        lines += ["wrong " + wrong] + [row_line(n, v) for n, v in missed.items()]
    print(*told, flush=True)
    return lines


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--only", default="", help="only cases whose name holds this; nothing is written")
    ap.add_argument("--float32", action="store_true", help="print what float32 arithmetic gives; nothing is written")
    args = ap.parse_args()
    check_anchors()
    text = [f"# python tests/oracle/positions.py; numpy {np.__version__}"]
    for name, c in CASES.items():
        if args.only in name:
            text += case_lines(name, c, args.float32)
    if not args.only and not args.float32:
        with open(GOLDEN, "w") as f:
            f.write("\n".join(text) + "\n")
