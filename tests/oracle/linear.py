#!/usr/bin/env python3
"""Goldens of linear attention with RoPE: every sum written out pair by pair in float64, no state and no recurrence.

    v/bin/python tests/oracle/linear.py                # writes tests/golden/linear.txt; needs NumPy alone
    v/bin/python tests/oracle/linear.py --print        # what the numbers are like, case by case (nothing is written)

Inputs are not stored: q, k, v and FAVOR+'s W come from a formula (hashed) that tests/test_linear.c computes too, same
bits. `pairwise` is the definition. It is held against the vectors of linear-attention.md 5.4 (FACTS below) before
anything is written, and tests/oracle/decoders.py puts whole models together with it.
"""
import argparse, os, platform
import numpy as np

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "linear.txt")
M64 = (1 << 64) - 1


def raw(name, n):
    """n numbers of 64 bits: h = FNV-1a 64 of the name; splitmix64(h + i)."""
    h = 0xCBF29CE484222325
    for b in name.encode():
        h = ((h ^ b) * 0x100000001B3) & M64
    with np.errstate(over="ignore"):
        z = np.uint64(h) + np.arange(n, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def hashed(name, n):
    """n integers -127 .. 127 of these: u = (r >> 32) % 255 - 127."""
    return ((raw(name, n) >> np.uint64(32)) % np.uint64(255)).astype(np.int64) - 127


# ---- the definition --------------------------------------------------------------------------------------------------

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


ELEMENTWISE = {
    "elu+1": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))),
    "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "exp": np.exp,
    "softmax": softmax,
    "identity": lambda x: x,
}
MAPS = [*ELEMENTWISE, "favor+"]
FORMS = {  # rotate before phi; rotate features above the fraction bar; below it; cosine
    "numerator": (0, 1, 0, 0), "both": (0, 1, 1, 0), "none": (0, 0, 0, 0),
    "cosine": (0, 1, 1, 1), "cosine-none": (0, 0, 0, 1), "before-phi": (1, 0, 0, 0),
}


def features(x, phi, W):
    """phi(x) and the log of a factor taken out of it [..] (FAVOR+ only: e^(largest exponent)). x [.., head_dim]."""
    if phi != "favor+":
        return ELEMENTWISE[phi](x), np.zeros(x.shape[:-1])
    xs = x * x.shape[-1] ** -0.25
    e = xs @ W.T - (xs * xs).sum(-1, keepdims=True) / 2
    top = e.max(-1)
    return np.exp(e - top[..., None]) / np.sqrt(len(W)), top


def projection(r, d, seed):
    """The W [r, d] that the engine draws (attention/linear.h): splitmix64, Box and Muller; blocks orthogonal."""
    state = seed

    def uniform():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        return (((z ^ (z >> 31)) >> 11) + 1) * 2.0 ** -53  # (0, 1]

    def gaussian():
        radius = np.sqrt(-2 * np.log(uniform()))
        return radius * np.cos(2 * np.pi * uniform())

    W = np.zeros((r, d))
    for j in range(r):
        g = np.array([gaussian() for _ in range(d)])
        for w in 2 * list(W[j - j % d:j]):
            g = g - (g @ w) / (w @ w) * w
        W[j] = g * (np.linalg.norm([gaussian() for _ in range(d)]) / np.linalg.norm(g))
    return W


def turn(x, cos, sin, half_split):
    """x [n, d] by cos, sin [n, rotary_dim/2]; entries from rotary_dim on stay."""
    h, y = cos.shape[-1], x.copy()
    a, b = (slice(0, h), slice(h, 2 * h)) if half_split else (slice(0, 2 * h, 2), slice(1, 2 * h, 2))
    y[:, a], y[:, b] = x[:, a] * cos - x[:, b] * sin, x[:, a] * sin + x[:, b] * cos
    return y


def unit(x):
    n = np.sqrt((x * x).sum(-1, keepdims=True))
    return np.divide(x, n, out=np.zeros_like(x), where=n > 0)


def pairwise(form, phi, q, k, v, head_rows, feature_rows=None, half_split=False, eps=1e-6, causal=True, W=None):
    """One head: outputs [n, dv], and how far each row's denominator is from cancelling: |sum| / sum of magnitudes.

    q, k [n, head_dim], v [n, dv]. head_rows: (cos, sin), each [n, rotary_dim/2], of the head's own RoPE settings;
    feature_rows: those of feature space where it has another size than the head (FAVOR+), else left out.
    """
    before, above, below, cosine = FORMS[form]
    feature_rows = feature_rows or head_rows
    assert not cosine or phi == "identity"
    if cosine:
        q, k = unit(q), unit(k)
    if before:
        q, k = turn(q, *head_rows, half_split), turn(k, *head_rows, half_split)
    # a query's own factor stays out: it is the same above and below, epsilon joins what is left
    a, _ = features(q, phi, W)
    b, log = features(k, phi, W)
    plain = a @ b.T + cosine
    turned = turn(a, *feature_rows, half_split) @ turn(b, *feature_rows, half_split).T + cosine
    seen = np.tril(np.ones(plain.shape)) if causal else np.ones(plain.shape)
    top = np.maximum.accumulate(log) if causal else np.full(len(log), log.max())  # the stabiliser a query meets
    seen = seen * np.exp(np.minimum(log[None, :] - top[:, None], 0))
    w, d = seen * (turned if above else plain), seen * (turned if below else plain)
    den = d.sum(-1)
    health = np.divide(np.abs(den), np.abs(d).sum(-1), out=np.zeros_like(den), where=den != 0)
    den = den + eps * (np.where(den < 0, -1, 1) if form == "both" else 1)
    return np.divide(w @ v, den[:, None], out=np.zeros((len(q), v.shape[1])), where=den[:, None] != 0), health


def rows_of(positions, rotary_dim, theta=10000.0):
    angle = positions[:, None] * theta ** (-2.0 * np.arange(rotary_dim // 2) / rotary_dim)
    return np.cos(angle), np.sin(angle)


# ---- vectors from elsewhere ------------------------------------------------------------------------------------------

# linear-attention.md 5.4, as scripts/v3.py prints it: N = 5, head_dim 4, two columns of v, elu+1, theta 10000,
# interleaved pairs.
# q[i][j] = sin(1 + 4i + j), k[i][j] = cos(2 + 4i + j), v[i][j] = 0.5(i + 1) - 0.25 i j.
FACTS = {  # (form, causal)
    ("none", 1): ".5 .5 .7609208106 .6304604053 1.0476798897 "
                 ".7738399449 1.2481658369 .8740829185 1.5210129837 1.0105064919",
    ("both", 1): ".5 .5 .7789746669 .6394873335 1.1635780694 "
                 ".8317890347 1.8541973358 1.1770986679 1.6532745677 1.0766372839",
    ("numerator", 1): ".5 .5 .7285632913 .5981028860 .9028710814 "
                      ".6454214676 .6693336955 .4249125949 1.2297674165 .8008430523",
    ("cosine", 1): ".5 .5 .5330937709 .5165468854 .8678322527 "
                   ".6839161263 1.0714332946 .7857166473 1.4220377960 .9610188980",
    ("before-phi", 1): ".5 .5 .7404507571 .6202253785 1.0796887375 "
                       ".7898443687 1.2984463615 .8992231807 1.4955888533 .9977944266",
    ("both", 0): "-.2482778104 .1258610948 1.3485763707 .9242881854 .9089098668 "
                 ".7044549334 2.1442967609 1.3221483804 1.6532745677 1.0766372839",
    ("numerator", 0): "-.0435172159 .0220604670 1.0387898887 .7119665167 .3717164949 "
                      ".2881006448 .9993500596 .6161875944 1.2297674165 .8008430523",
    ("cosine", 0): "1.6068756928 1.0534378464 1.4839598038 .9919799019 1.4779766205 "
                   ".9889883103 1.5379874782 1.0189937391 1.4220377960 .9610188980",
    ("before-phi", 0): "1.5463873296 1.0231936648 1.5193887244 1.0096943622 1.5216053310 "
                       "1.0108026655 1.5579347253 1.0289673627 1.4955888533 .9977944266",
}
# after the last token of numerator, causal
FACTS_S = "-3.0599519869 -1.9354538150 -4.2512709982 -2.1045299117 8.0098611838 5.2376007811 7.0949405848 4.8082259725"
FACTS_Z = "5.8489191658 5.5864244521 5.0204630863 4.9308879583"
FACTS_W = np.array([[1, 0, 0, 0], [0, -1, 0, 0], [.5, .5, .5, .5], [0, 0, 1, -1]])
# FAVOR+ with this W: none, full, no constant added to the features, epsilon 0; first column
FACTS_FAVOR = "1.6119679022 1.5414817975 1.5196346632 1.6193804228 1.4936484481"


def example():
    i, j = np.arange(5)[:, None], np.arange(4)[None, :]
    return np.sin(1 + 4 * i + j), np.cos(2 + 4 * i + j), 0.5 * (i + 1) - 0.25 * i * j[:, :2]


def check_facts():
    """The definition against those vectors, with epsilon 0: to the last printed digit. How far it is off."""
    q, k, v = example()
    rows, worst = rows_of(np.arange(5), 4), 0.0
    for (form, causal), text in FACTS.items():
        got, _ = pairwise(form, "identity" if form == "cosine" else "elu+1", q, k, v, rows, eps=0, causal=causal)
        worst = max(worst, np.abs(got.ravel() - np.array(text.split(), float)).max())
    got, _ = pairwise("none", "favor+", q, k, v, rows, eps=0, causal=False, W=FACTS_W)
    worst = max(worst, np.abs(got[:, 0] - np.array(FACTS_FAVOR.split(), float)).max())
    assert worst <= 0.51e-10, worst
    return worst


# ---- the cases -------------------------------------------------------------------------------------------------------

N, R = 512, 32  # R: FAVOR+'s features
ROWS = [0, 1, 2, 63, 64, 255, 511]


def cases():
    """(form, map, causal, head_dim, rotary_dim, half_split, position of token 0, epsilon)."""
    every = [(form, phi) for form in FORMS for phi in (["identity"] if FORMS[form][3] else MAPS)]
    out = [(form, phi, causal, 16, 16, 0, 0, 1e-6) for form, phi in every for causal in (1, 0)]
    num, cos, before = ("numerator", "elu+1"), ("cosine", "identity"), ("before-phi", "favor+")
    out += [(*case, 1, 6, 6, 0, 0, 1e-6) for case in (num, ("numerator", "favor+"), cos, ("before-phi", "softmax"))]
    out += [(*case, 1, 16, 16, 0, 10 ** 6, 1e-6) for case in (num, ("numerator", "favor+"), ("before-phi", "elu+1"))]
    out += [(*case, 1, 16, 16, 1, 0, 1e-6) for case in (num, ("both", "favor+"), ("before-phi", "exp"))]
    part = (num, 0), (("both", "softmax"), 1), (cos, 0), (before, 1)
    out += [(*case, 1, 16, 8, half, 0, 1e-6) for case, half in part]
    # an epsilon that can be seen: which denominator it joins (FAVOR+: the stabilised one), and with which sign
    visible = (num, 1), (("both", "relu"), 1), (("both", "identity"), 1), (cos, 1)
    out += [(*case, causal, 16, 16, 0, 0, 0.5) for case, causal in visible]
    out += [("numerator", "favor+", 1, 16, 16, 0, 0, 0.125), ("none", "favor+", 0, 16, 16, 0, 0, 0.125)]
    return out


def inputs(head_dim):
    """q and k within 2, v and W within 1: an exp of a score stays below e^8 or so, and no key outweighs all others."""
    of = lambda name, n, per: hashed(f"{name} {head_dim}", n * head_dim).reshape(n, head_dim) / per
    return of("q", N, 64), of("k", N, 64), of("v", N, 128), of("W", R, 128)


def one_case(form, phi, causal, head_dim, rotary_dim, half_split, start, eps):
    q, k, v, W = inputs(head_dim)
    positions = start + np.arange(N)
    rows = rows_of(positions, rotary_dim)
    wide = rows_of(positions, R) if phi == "favor+" and R != head_dim else None
    return pairwise(form, phi, q, k, v, rows, wide, bool(half_split), eps, bool(causal), W if phi == "favor+" else None)


def largest_share(phi):
    """The largest part of a row's weight that one key of 512 has, worst query (no rotation)."""
    q, k, _, W = inputs(16)
    (a, _), (b, log) = features(q, phi, W), features(k, phi, W)
    w = np.abs(a @ b.T) * np.exp(log - log.max())
    return (w / w.sum(-1, keepdims=True)).max()


def digits(values):
    """12 digits: float64 holds no more of these sums, and a float has 8."""
    return " ".join(f"{x:.12g}" for x in values)


def lines(worst):
    versions = f"python {platform.python_version()}, numpy {np.__version__}"
    yield f"# made by: python tests/oracle/linear.py ({versions})"
    yield "# The facts are those of linear-attention.md 5.4 (scripts/v3.py), five rows of two columns; the float64 sums"
    yield f"# over pairs below meet them to {worst:.0e}. fact FORM CAUSAL v .."
    for (form, causal), text in FACTS.items():
        yield f"fact {form} {causal} {text}"
    yield "# numerator, causal, after all five: S [4, 2] and z [4]"
    yield f"S {FACTS_S}\nz {FACTS_Z}"
    yield "# FAVOR+ with this W [4, 4]; none, full, epsilon 0, no constant added to the features: first column of out"
    yield f"W {digits(FACTS_W.ravel())}\nfavor {FACTS_FAVOR}"
    yield f"# Cases of so many tokens; FAVOR+ has so many features.\ntokens {N}\nfeatures {R}"
    yield "# case FORM MAP CAUSAL HEAD_DIM ROTARY_DIM HALF_SPLIT POSITION_OF_TOKEN_0 EPSILON, then: row TOKEN out .."
    for case in cases():
        out, health = one_case(*case)
        assert health[ROWS].min() > 1e-4, case  # float64 then holds 12 digits
        yield "case " + " ".join(map(str, case))
        for m in ROWS:
            yield f"row {m} {digits(out[m])}"


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--print", action="store_true", help="print what the cases are like instead")
    args = ap.parse_args()
    worst = check_facts()
    if args.print:
        print(f"off from linear-attention.md 5.4 by {worst:.1e}, which prints 10 digits")
        for phi in MAPS:
            print(f"{phi:9s} largest share of one key of {N}: {largest_share(phi):.3f}")
        for case in cases():
            out, health = one_case(*case)
            print(*case, f" largest output {np.abs(out).max():.3f}, smallest denominator {health[ROWS].min():.1e}"
                  " of its terms")
    else:
        with open(GOLDEN, "w") as f:
            f.writelines(line + "\n" for line in lines(worst))
