#!/usr/bin/env python3
"""Goldens of the decoder, made outside the engine: tiny models of every supported kind and their float64 logits.

    python -m venv v && v/bin/pip install -r tests/oracle/requirements.txt
    v/bin/python tests/oracle/decoders.py              # writes tests/golden/decoders/
    v/bin/python tests/oracle/decoders.py --out DIR    # whole real models to try by hand (nothing else is written)
    v/bin/python tests/oracle/decoders.py --only yarn  # only the cases whose name holds "yarn"
    v/bin/python tests/oracle/decoders.py --llama-cpp  # what llama.cpp makes of the GGUF files (nothing is written)

No weights are stored. A value comes from a formula that this file and tests/test_oracle.c both compute (value_of below).
Stored per case NAME (tests/oracle/README.md says which test reads what):
    NAME.config.json        as transformers' save_pretrained writes it (v5: rope_parameters)
    NAME.config4*.json      the same model in older spellings (rope_theta + rope_scaling): same golden
    NAME.safetensors.head   the header that the safetensors package wrote, F32
    NAME.gguf.head, .map    all bytes before the tensor data that gguf.GGUFWriter wrote, F32; and where each tensor comes from
    NAME.logits             ids and logits

The golden is `forward` below, NumPy in float64 throughout. It is checked in every case against transformers' own code, twice:
as it is (its angles, norms and softmax are float32), and with every float32 inside it made a float64.
Linear attention (linear_elu and all after it) transformers does not have, so nobody else's program says what is right there.
`forward` sums over pairs (linear.py, held against linear-attention.md 5.4); it is compared with transformers' layers around
`recurrence`, the same attention written a second time, as a state, in torch.
"""
import sys
import argparse, contextlib, copy, json, logging, math, os, platform, tempfile, warnings
import numpy as np, torch, transformers, gguf, safetensors, safetensors.torch
from transformers.models.llama import modeling_llama as llama_code
from transformers.models.qwen3 import modeling_qwen3 as qwen3_code
import linear as linear_attention

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "decoders")


# ---- the weights ------------------------------------------------------------------------------------------------------------

NORMS = "norm.weight", "norm1.weight", "norm2.weight", "_ln.weight", "LayerNorm.weight"


def value_of(name, n):
    """The first n values of the tensor called `name` (its Hugging Face name), row-major.

    u, -127 .. 127: linear.hashed of the name.
    Norm weights (the name ends as one of NORMS): (128 + u/2) / 128, u/2 cut toward zero: 65/128 .. 191/128.
    Everything else: u / 256. Every value has at most 8 significant bits: exact in F32, F16 and BF16 alike.
    """
    u = linear_attention.hashed(name, n)
    v = (128 + np.trunc(u / 2)) / 128 if name.endswith(NORMS) else u / 256
    t = torch.from_numpy(v)
    assert (t.to(torch.bfloat16).double() == t).all() and (t.half().double() == t).all()
    return v


# ---- the cases --------------------------------------------------------------------------------------------------------------

LLAMA, MISTRAL, QWEN2, QWEN3 = "llama", "mistral", "qwen2", "qwen3"
CLASSES = {LLAMA: (transformers.LlamaConfig, transformers.LlamaForCausalLM), MISTRAL: (transformers.MistralConfig, transformers.MistralForCausalLM),
           QWEN2: (transformers.Qwen2Config, transformers.Qwen2ForCausalLM), QWEN3: (transformers.Qwen3Config, transformers.Qwen3ForCausalLM)}
BASE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, vocab_size=96,
            max_position_embeddings=64, rms_norm_eps=1e-5, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2)
WIDE = dict(num_attention_heads=2, num_key_value_heads=1)  # head_dim 16: eight frequencies, so that a ramp has steps
SHORT, LONG = [1.0, 1.05, 1.2, 1.5, 1.7, 2.0, 2.5, 3.0], [1.0, 1.3, 2.1, 3.4, 5.5, 8.9, 14.4, 23.3]
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, rope_theta=100.0)


def rope(rope_type, theta=10000.0, **keys):
    return dict(rope_type=rope_type, rope_theta=theta, **keys)


def linear_case(feature_map, form, epsilon=1e-6, **keys):
    return dict(attention_kind="linear", attention_feature_map=feature_map, attention_form=form,
                attention_denominator_epsilon=epsilon, **keys)


CASES = {
    "mha": (LLAMA, {}),
    "gqa": (LLAMA, dict(num_key_value_heads=2)),
    "mqa": (LLAMA, dict(num_key_value_heads=1, head_dim=12)),
    "tied": (LLAMA, dict(num_key_value_heads=2, tie_word_embeddings=True)),
    "bias": (LLAMA, dict(num_key_value_heads=2, attention_bias=True, mlp_bias=True)),
    "eps": (LLAMA, dict(num_key_value_heads=2, rms_norm_eps=1e-2)),
    "theta": (LLAMA, dict(**WIDE, rope_parameters=rope("default", 500000.0))),
    "linear": (LLAMA, dict(**WIDE, rope_parameters=rope("linear", factor=4.0))),
    "linear_old": (LLAMA, dict(**WIDE, rope_parameters=rope("linear", 1000.0, factor=2.5))),
    "llama3": (LLAMA, dict(**WIDE, rope_parameters=rope("llama3", 500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16))),
    "dynamic": (LLAMA, dict(**WIDE, max_position_embeddings=16, rope_parameters=rope("dynamic", factor=2.0))),
    "yarn": (LLAMA, dict(**WIDE, rope_parameters=YARN)),
    "yarn_attn": (LLAMA, dict(**WIDE, rope_parameters=dict(YARN, attention_factor=1.3))),
    "yarn_mscale": (LLAMA, dict(**WIDE, rope_parameters=dict(YARN, mscale=1.2, mscale_all_dim=0.4))),
    "yarn_betas": (LLAMA, dict(**WIDE, rope_parameters=dict(YARN, factor=3.0, original_max_position_embeddings=32, beta_fast=2.0, beta_slow=0.25))),
    "yarn_notrunc": (LLAMA, dict(**WIDE, rope_parameters=dict(YARN, truncate=False, beta_fast=2.0, beta_slow=0.5))),
    "longrope": (LLAMA, dict(**WIDE, rope_parameters=rope("longrope", short_factor=SHORT, long_factor=LONG, original_max_position_embeddings=32))),
    "longrope_f": (LLAMA, dict(**WIDE, rope_parameters=rope("longrope", short_factor=SHORT, long_factor=LONG, original_max_position_embeddings=16, factor=8.0))),
    "mistral": (MISTRAL, dict(num_key_value_heads=2, sliding_window=8)),
    "qwen2": (QWEN2, dict(num_key_value_heads=2)),
    "qwen2_window": (QWEN2, dict(num_key_value_heads=2, num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=1)),
    "qwen2_yarn": (QWEN2, dict(**WIDE, rope_parameters=dict(YARN, rope_theta=50.0))),
    "partial": (QWEN2, dict(**WIDE, rope_parameters=rope("default", 1000.0, partial_rotary_factor=0.5))),
    "qwen3": (QWEN3, dict(num_key_value_heads=2, head_dim=16, tie_word_embeddings=True, rope_parameters=rope("default", 1e6))),
    "qwen3_bias": (QWEN3, dict(num_key_value_heads=1, head_dim=10, attention_bias=True)),
    "linear_elu": (LLAMA, linear_case("elu+1", "numerator", num_key_value_heads=2)),
    "linear_relu": (LLAMA, linear_case("relu", "numerator", 0.5, num_key_value_heads=1)),
    "linear_relu2": (LLAMA, linear_case("relu2", "numerator", **WIDE)),
    "linear_exp": (LLAMA, linear_case("exp", "numerator", num_key_value_heads=2)),
    "linear_softmax": (LLAMA, linear_case("softmax", "numerator", num_key_value_heads=2)),
    "linear_identity": (LLAMA, linear_case("identity", "numerator", num_attention_heads=2, num_key_value_heads=2, head_dim=10)),
    "linear_both": (LLAMA, linear_case("elu+1", "both", **WIDE)),
    "linear_none": (LLAMA, linear_case("elu+1", "none", num_key_value_heads=2)),
    "linear_before": (LLAMA, linear_case("elu+1", "before-phi", num_key_value_heads=2)),
    "linear_cosine": (LLAMA, linear_case("identity", "cosine", 0.125, num_key_value_heads=2)),
    "linear_cosine_none": (LLAMA, linear_case("identity", "cosine-none", num_key_value_heads=2)),
    "linear_qwen3": (QWEN3, linear_case("elu+1", "numerator", num_key_value_heads=2, head_dim=16, tie_word_embeddings=True)),
    "linear_yarn": (LLAMA, dict(**WIDE, attention_kind="linear", rope_parameters=YARN)),  # all else is what a file may leave out
    "linear_favor": (LLAMA, linear_case("favor+", "numerator", 0.5, num_key_value_heads=2, attention_favor_features=20, attention_favor_seed=5)),
}
NO_GGUF = {"dynamic": "GGUF has no key for it", "yarn_notrunc": "GGUF has no key for it",
           "linear_favor": "W meets q's entries in their order, and arch llama has another"}
IDS = [3 + int(v) for v in np.random.RandomState(2104).randint(0, 93, 40)]
ROWS = {"longrope": [1, 7, 31, 32, 33, 40], "longrope_f": [1, 7, 16, 17, 33, 40], "dynamic": [1, 7, 16, 17, 33, 40]}  # lengths of calls


def is_linear(c):
    return getattr(c, "attention_kind", "softmax") == "linear"


def linear_settings(c):
    """Feature map, form, epsilon of a config with linear attention."""
    return (getattr(c, "attention_feature_map", "elu+1"), getattr(c, "attention_form", "numerator"),
            getattr(c, "attention_denominator_epsilon", 1e-6))


def favor_projection(c):
    """FAVOR+'s W [features, head_dim], or None."""
    if linear_settings(c)[0] != "favor+":
        return None
    return linear_attention.projection(c.attention_favor_features, c.hidden_size // c.num_attention_heads, c.attention_favor_seed)


def config_of(name):
    kind, keys = CASES[name]
    keys = copy.deepcopy(dict(BASE, **keys))
    keys.setdefault("rope_parameters", rope("default"))
    return CLASSES[kind][0](**keys)


def old_configs(name, saved):
    """Older spellings of a saved config.json, by suffix: transformers before v5 wrote these, and Phi-3's files their own way."""
    saved = {k: v for k, v in saved.items() if k not in ("layer_types", "dtype")}
    params = saved.pop("rope_parameters")
    theta, partial = params.pop("rope_theta"), params.pop("partial_rotary_factor", None)
    v4 = dict(saved, rope_theta=theta, torch_dtype="float32", transformers_version="4.44.0")
    if partial is not None:
        v4["partial_rotary_factor"] = partial
    if v4.get("head_dim") == v4["hidden_size"] // v4["num_attention_heads"] and saved["model_type"] != QWEN3:
        del v4["head_dim"]  # a key that LLaMA's configs did not always have
    kind = params["rope_type"]
    out = {}
    if saved.get("attention_kind") == "linear":  # its keys were never spelled otherwise
        return out
    if kind == "default":
        out["4"] = dict(v4, rope_scaling=None)
        return out if name in ("mha", "theta", "qwen2_window", "partial", "mistral") else {}
    out["4"] = dict(v4, rope_scaling=params)
    typed = {("type" if k == "rope_type" else k): v for k, v in params.items()}
    out["4type"] = dict(v4, rope_scaling=typed)
    if kind == "yarn" and params["factor"] == 64 / params["original_max_position_embeddings"]:
        out["5null"] = dict(saved, rope_parameters=dict(params, factor=None, rope_theta=theta))  # the ratio is the factor
    if kind == "longrope":  # Phi-3: the original length stands at the top level
        top = {k: v for k, v in typed.items() if k != "original_max_position_embeddings"}
        out["4top"] = dict(v4, rope_scaling=top, original_max_position_embeddings=params["original_max_position_embeddings"])
    return out


# ---- the model in float64 ---------------------------------------------------------------------------------------------------

def frequencies(c, n):
    """inv_freq [d/2] and the factor on cos and sin, for a call whose last position is n - 1."""
    p = c.rope_parameters
    head_dim = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    d = int(head_dim * p.get("partial_rotary_factor", 1.0))
    base, kind, s = p["rope_theta"], p["rope_type"], p.get("factor")
    top = c.max_position_embeddings
    i = np.arange(d // 2)
    w = base ** (-2.0 * i / d)
    original = p.get("original_max_position_embeddings")
    if kind == "default":
        return w, 1.0
    if kind == "linear":
        return w / s, 1.0
    if kind == "dynamic":
        b = base * ((s * max(n, top) / top) - (s - 1)) ** (d / (d - 2))
        return b ** (-2.0 * i / d), 1.0
    if kind == "llama3":
        out = []
        for f in w:
            wl, lo, hi = 2 * math.pi / f, p["low_freq_factor"], p["high_freq_factor"]
            t = (original / wl - lo) / (hi - lo)
            out.append(f if wl < original / hi else f / s if wl > original / lo else (1 - t) * f / s + t * f)
        return np.array(out), 1.0
    s = s or top / original
    if kind == "longrope":
        a = p.get("attention_factor") or (1.0 if s <= 1 else math.sqrt(1 + math.log(s) / math.log(original)))
        return w / np.array(p["long_factor" if n > original else "short_factor"]), a
    assert kind == "yarn"
    g = lambda k: 1.0 if s <= 1 else 0.1 * k * math.log(s) + 1
    a = p.get("attention_factor")
    if a is None:
        m, m_all = p.get("mscale"), p.get("mscale_all_dim")
        a = g(m) / g(m_all) if m and m_all else g(1)
    corr = lambda r: d * math.log(original / (r * 2 * math.pi)) / (2 * math.log(base))
    lo, hi = corr(p.get("beta_fast") or 32), corr(p.get("beta_slow") or 1)
    if p.get("truncate", True):
        lo, hi = math.floor(lo), math.ceil(hi)
    lo, hi = max(lo, 0), min(hi, d - 1)
    ramp = np.clip((i - lo) / (hi - lo + (0.001 if lo == hi else 0)), 0, 1)
    return w / s * ramp + w * (1 - ramp), a


def softmax_heads(c, l, q, k, v, stats):
    """[n, heads, head_dim] of layer l; q [n, heads, head_dim], k and v [n, kv heads, head_dim], turned."""
    n, heads, hd = q.shape
    k, v = np.repeat(k, heads // k.shape[1], 1), np.repeat(v, heads // v.shape[1], 1)
    scores = np.einsum("qhd,khd->hqk", q, k) / math.sqrt(hd)
    pos = np.arange(n)
    seen = pos[None, :] <= pos[:, None]
    slides = c.model_type == MISTRAL or (getattr(c, "layer_types", None) or ["full_attention"] * 99)[l] == "sliding_attention"
    if slides and c.sliding_window is not None:
        seen &= pos[None, :] > pos[:, None] - c.sliding_window
    scores = np.where(seen, scores, -np.inf)
    probs = np.exp(scores - scores.max(-1, keepdims=True))
    probs /= probs.sum(-1, keepdims=True)
    if stats is not None:
        stats.append(probs[:, -1].max(-1).mean())
    return np.einsum("hqk,khd->qhd", probs, v)


def linear_heads(c, q, k, v, cos, sin, stats):
    """The same with linear attention; q and k come as they are, for it turns their features: by the model's own RoPE settings,
    the factor on cos and sin among them. FAVOR+'s features have the frequencies of a head of their number."""
    heads, kv = q.shape[1], k.shape[1]
    phi, form, epsilon = linear_settings(c)
    W = favor_projection(c)
    rows = None if W is None else linear_attention.rows_of(np.arange(len(q)), len(W), c.rope_parameters["rope_theta"])
    att, health = zip(*(linear_attention.pairwise(form, phi, q[:, h], k[:, h * kv // heads], v[:, h * kv // heads], (cos, sin),
                                                  feature_rows=rows, half_split=True, eps=epsilon, W=W) for h in range(heads)))
    if stats is not None:
        stats.append(np.min(health))
    return np.stack(att, 1)


def forward(c, weight, ids, stats=None):
    """Logits [n, vocab] of one call. weight(name) is a float64 array."""
    n, eps = len(ids), c.rms_norm_eps
    heads, kv = c.num_attention_heads, c.num_key_value_heads
    hd = getattr(c, "head_dim", None) or c.hidden_size // heads
    inv, a = frequencies(c, n)
    angle = np.arange(n)[:, None] * inv
    cos, sin, half = a * np.cos(angle), a * np.sin(angle), len(inv)

    def norm(x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight(name)

    def linear(x, name):
        y = x @ weight(name + ".weight").T
        return y + weight(name + ".bias") if weight(name + ".bias") is not None else y

    def turn(x):  # [n, heads, hd], half-split pairs (i, i + half) of the first 2*half entries
        a0, b0 = x[..., :half], x[..., half:2 * half]
        ci, si = cos[:, None, :], sin[:, None, :]
        return np.concatenate([a0 * ci - b0 * si, b0 * ci + a0 * si, x[..., 2 * half:]], -1)

    x = weight("model.embed_tokens.weight")[ids]
    for l in range(c.num_hidden_layers):
        p = f"model.layers.{l}."
        xn = norm(x, p + "input_layernorm.weight")
        q = linear(xn, p + "self_attn.q_proj").reshape(n, heads, hd)
        k = linear(xn, p + "self_attn.k_proj").reshape(n, kv, hd)
        v = linear(xn, p + "self_attn.v_proj").reshape(n, kv, hd)
        if c.model_type == QWEN3:
            q, k = norm(q, p + "self_attn.q_norm.weight"), norm(k, p + "self_attn.k_norm.weight")
        att = linear_heads(c, q, k, v, cos, sin, stats) if is_linear(c) else softmax_heads(c, l, turn(q), turn(k), v, stats)
        x = x + linear(att.reshape(n, heads * hd), p + "self_attn.o_proj")
        xn = norm(x, p + "post_attention_layernorm.weight")
        gate = linear(xn, p + "mlp.gate_proj")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(xn, p + "mlp.up_proj"), p + "mlp.down_proj")
    head = "model.embed_tokens" if c.tie_word_embeddings else "lm_head"
    return norm(x, "model.norm.weight") @ weight(head + ".weight").T


# ---- transformers -----------------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def everything_double():
    """transformers writes torch.float, torch.float32 and x.float() where it wants float32: let them all mean float64."""
    old = torch.float, torch.float32, torch.Tensor.float
    torch.float = torch.float32 = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.float, torch.float32, torch.Tensor.float = old
        torch.set_default_dtype(torch.float32)


def build(c, fill=value_of):
    model = CLASSES[c.model_type][1](copy.deepcopy(c)).double().eval()
    for name, t in model.named_parameters():
        t.data = torch.from_numpy(np.asarray(fill(name, t.numel()), dtype=np.float64).reshape(t.shape).copy())
    return model


def build_phi3(c):
    """The model of case `partial` in the one of transformers' classes that turns part of a head: Phi-3, which fuses q k v and gate up."""
    conf = transformers.Phi3Config(**{k: getattr(c, k) for k in BASE}, rope_parameters=dict(c.rope_parameters), pad_token_id=0, attn_implementation="eager")
    model, w = transformers.Phi3ForCausalLM(conf).double().eval(), dict(build(c).named_parameters())
    for l, layer in enumerate(model.model.layers):
        a, m = (f"model.layers.{l}.self_attn.", f"model.layers.{l}.mlp.")
        layer.self_attn.qkv_proj.weight.data = torch.cat([w[a + f"{x}_proj.weight"].data for x in "qkv"])
        layer.self_attn.qkv_proj.bias = torch.nn.Parameter(torch.cat([w[a + f"{x}_proj.bias"].data for x in "qkv"]))
        layer.mlp.gate_up_proj.weight.data = torch.cat([w[m + f"{x}_proj.weight"].data for x in ("gate", "up")])
    for name, t in model.named_parameters():
        if name in w:
            t.data = w[name].data
    return model


def run(make, ids):
    with torch.no_grad():
        return make()(input_ids=torch.tensor([ids]), use_cache=False).logits[0].double().numpy()


def favor(x, W):
    """FAVOR+'s features over their largest, and the log of that."""
    x = x / x.shape[-1] ** 0.25
    e = x @ W.T - x.square().sum(-1, keepdim=True) / 2
    return torch.exp(e - e.amax(-1, keepdim=True)) / len(W) ** 0.5, e.amax(-1)


def recurrence(module, q, k, v, mask, **kwargs):
    """Linear attention as transformers calls it, one token after the other: q [1, heads, n, head_dim], k, v [1, kv heads, ..]."""
    phi, form, epsilon = linear_settings(module.config)
    cos, sin = recurrence.rows
    W = favor_projection(module.config)
    if W is not None:
        angle = torch.outer(torch.arange(q.shape[2]), module.config.rope_parameters["rope_theta"] ** (-torch.arange(0, len(W), 2) / len(W)))
        cos, sin, W = angle.repeat(1, 2).cos(), angle.repeat(1, 2).sin(), torch.from_numpy(W).to(q.dtype)
    turn = lambda x: x * cos + llama_code.rotate_half(x) * sin
    k, v = llama_code.repeat_kv(k, module.num_key_value_groups), llama_code.repeat_kv(v, module.num_key_value_groups)
    F = torch.nn.functional
    if form == "before-phi":
        q, k = turn(q), turn(k)
    if form.startswith("cosine"):
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    f = {"elu+1": lambda x: F.elu(x) + 1, "relu": F.relu, "relu2": lambda x: F.relu(x).square(), "exp": torch.exp,
         "softmax": lambda x: x.softmax(-1), "identity": lambda x: x, "favor+": lambda x: favor(x, W)[0]}[phi]
    one = lambda x: F.pad(x, (0, 1), value=1.0) if form.startswith("cosine") else x
    plain, turned = [one(f(q)), one(f(k))], [one(turn(f(q))), one(turn(f(k)))]
    above = turned if form in ("numerator", "both", "cosine") else plain
    below = turned if form in ("both", "cosine") else plain
    log = favor(k, W)[1] if W is not None else k.new_zeros(k.shape[:3])
    top = torch.cummax(log, 2).values  # S and z are held divided by e^top
    S, z, out = 0, 0, []
    for t in range(q.shape[2]):
        take, keep = torch.exp(log - top)[:, :, t, None], torch.exp(top[:, :, max(t - 1, 0)] - top[:, :, t])[..., None]
        S = S * keep[..., None] + (take * above[1][:, :, t])[..., None] * v[:, :, t, None, :]
        z = z * keep + take * below[1][:, :, t]
        den = (below[0][:, :, t] * z).sum(-1, keepdim=True)
        den = den + (torch.sign(den) if form == "both" else 1) * epsilon
        out.append(torch.einsum("bhr,bhrd->bhd", above[0][:, :, t], S) / den)
    return torch.stack(out, 1), None


def stay(q, k, cos, sin):
    """In place of apply_rotary_pos_emb: q and k stay, their rows are kept for `recurrence`."""
    recurrence.rows = cos[:, None], sin[:, None]
    return q, k


transformers.AttentionInterface.register("linear recurrence", recurrence)


@contextlib.contextmanager
def unturned(on):
    modules = [llama_code, qwen3_code] if on else []
    old = [m.apply_rotary_pos_emb for m in modules]
    for m in modules:
        m.apply_rotary_pos_emb = stay
    try:
        yield
    finally:
        for m, f in zip(modules, old):
            m.apply_rotary_pos_emb = f


def weights_of(model):
    w = {k: v.detach().double().numpy() for k, v in model.named_parameters()}
    return lambda name: w.get(name)


# ---- GGUF -------------------------------------------------------------------------------------------------------------------

GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
              "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def gguf_name(hf):
    top = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
    if hf in top:
        return top[hf]
    _, _, l, rest = hf.split(".", 3)
    stem, kind = rest.rsplit(".", 1)
    return f"blk.{l}.{GGUF_NAMES[stem]}.{kind}"


def permute(w, n_head):
    """As llama.cpp's converter does for arch llama: half-split rows become interleaved. HF_row[h*D + c*D/2 + i] = GGUF_row[h*D + 2i + c]."""
    return w.reshape(n_head, 2, w.shape[0] // n_head // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def quantizes(t, qtype):
    """Norms, biases and rows that are no whole number of blocks stay F32."""
    return qtype != gguf.GGMLQuantizationType.F32 and t.ndim > 1 and t.shape[-1] % gguf.GGML_QUANT_SIZES[qtype][0] == 0


def write_gguf(name, c, tensors, path, qtype=gguf.GGMLQuantizationType.F32, tokenizer=None):
    """A whole GGUF file of {hf name: array}; the lines of its map. Keys: conversion/base.py, llama.py and phi.py of llama.cpp, except as noted."""
    arch = LLAMA if c.model_type == MISTRAL else c.model_type
    w = gguf.GGUFWriter(path, arch)
    p = c.rope_parameters
    hd = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    w.add_name(name)
    if tokenizer:
        w.add_tokenizer_model(tokenizer)
    w.add_context_length(c.max_position_embeddings)
    w.add_embedding_length(c.hidden_size)
    w.add_block_count(c.num_hidden_layers)
    w.add_feed_forward_length(c.intermediate_size)
    w.add_head_count(c.num_attention_heads)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_vocab_size(c.vocab_size)
    if getattr(c, "head_dim", None):
        w.add_key_length(hd)
        w.add_value_length(hd)
    d = int(hd * p.get("partial_rotary_factor", 1.0))
    if arch == LLAMA or d != hd:
        w.add_rope_dimension_count(d)
    w.add_rope_freq_base(p["rope_theta"])
    extra = {}
    kind, s = p["rope_type"], p.get("factor")
    if kind == "linear":
        if name == "linear_old":
            w.add_float32(f"{arch}.rope.scale_linear", s)  # what files of 2023 carry; llama.cpp still reads it
        else:
            w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            w.add_rope_scaling_factor(s)
    elif kind == "yarn":
        w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        w.add_rope_scaling_factor(s)
        w.add_rope_scaling_orig_ctx_len(p["original_max_position_embeddings"])
        a, own = frequencies(c, 1)[1], 1 + 0.1 * math.log(s)
        if abs(a - own) > 1e-9:  # llama.cpp turns by own * attn_factor. Its converter leaves attn_factor out and so loses a.
            w.add_rope_scaling_attn_factors(a / own)
        if "attention_factor" in p:  # the converter's key, which llama.cpp overwrites and so ignores
            w.add_rope_scaling_yarn_attn_factor(p["attention_factor"])
        if "beta_fast" in p:
            w.add_rope_scaling_yarn_beta_fast(p["beta_fast"])
            w.add_rope_scaling_yarn_beta_slow(p["beta_slow"])
    elif kind == "longrope":
        w.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        w.add_rope_scaling_orig_ctx_len(p["original_max_position_embeddings"])
        w.add_rope_scaling_attn_factors(frequencies(c, 1)[1])
        extra = {"rope_factors_long.weight": p["long_factor"], "rope_factors_short.weight": p["short_factor"]}
    elif kind == "llama3":
        plain = p["rope_theta"] ** (-2.0 * np.arange(d // 2) / d)
        extra = {"rope_freqs.weight": list(plain / frequencies(c, 1)[0])}
    for key in ("kind", "feature_map", "form", "denominator_epsilon"):
        if hasattr(c, f"attention_{key}"):
            add = w.add_float32 if key == "denominator_epsilon" else w.add_string
            add(f"{arch}.attention.{key}", getattr(c, f"attention_{key}"))
    if getattr(c, "sliding_window", None):
        w.add_sliding_window(c.sliding_window)
        if c.model_type != MISTRAL:
            w.add_sliding_window_pattern([t == "sliding_attention" for t in c.layer_types])
    w.add_file_type(gguf.LlamaFileType.ALL_F32 if qtype == gguf.GGMLQuantizationType.F32 else gguf.LlamaFileType[f"MOSTLY_{qtype.name}"])
    w.add_quantization_version(gguf.GGML_QUANT_VERSION)
    lines = []
    for g, values in extra.items():
        v = np.array(values, dtype=np.float32)
        w.add_tensor(g, v)
        lines.append(f"{g} - {len(v)} {len(v)} values " + " ".join(f"{x:.9g}" for x in v))
    for hf, t in tensors.items():
        how, t = "plain", np.asarray(t, dtype=np.float32)
        if arch == LLAMA and ".q_proj." in hf or arch == LLAMA and ".k_proj." in hf:
            n_head = c.num_attention_heads if ".q_proj." in hf else c.num_key_value_heads
            how, t = f"permute {n_head}", permute(t, n_head)
        lines.append(f"{gguf_name(hf)} {hf} {t.size} {t.shape[-1] if t.ndim > 1 else 1} {how}")
        t = np.ascontiguousarray(t)
        if quantizes(t, qtype):
            w.add_tensor(gguf_name(hf), gguf.quants.quantize(t, qtype), raw_dtype=qtype)
        else:
            w.add_tensor(gguf_name(hf), t)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return lines


# ---- writing ----------------------------------------------------------------------------------------------------------------

def versions():
    return f"python {platform.python_version()}, numpy {np.__version__}, torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}, gguf 0.19.0, safetensors {safetensors.__version__}"


def in_order(model, state):
    """The tensors of a safetensors file in the model's own order (the package gives them in none)."""
    return {k: state[k].numpy() for k, _ in model.named_parameters() if k in state}


def put(name, suffix, data):
    with open(os.path.join(GOLDEN, name + suffix), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def golden_rows(name, c, weight, ids):
    """[(length of the call, position, logits)]: one call of 33 ids, or the last row of calls of several lengths."""
    if name in ROWS:
        return [(n, n - 1, forward(c, weight, ids[:n])[-1]) for n in ROWS[name]]
    all_rows = forward(c, weight, ids[:33])
    return [(33, p, all_rows[p]) for p in (0, 1, 6, 15, 31, 32)]


def agreement(name, c, rows, ids):
    """Largest difference from transformers: as it is, and with its float32 made float64."""
    make = (lambda: build_phi3(c)) if name == "partial" else (lambda: build(c))
    out = []
    for context in (contextlib.nullcontext, everything_double):
        worst = 0.0
        with context(), unturned(is_linear(c)):
            seen = {}
            for n, p, row in rows:
                if n not in seen:
                    seen[n] = run(make, ids[:n])
                worst = max(worst, np.abs(seen[n][p] - row).max())
        out.append(worst)
    return out


def one_case(name):
    c = config_of(name)
    c._attn_implementation = "linear recurrence" if is_linear(c) else "eager"
    model = build(c)
    weight = weights_of(model)
    rows = golden_rows(name, c, weight, IDS)
    stats = []
    forward(c, weight, IDS[:33], stats)
    stock, double = agreement(name, c, rows, IDS)
    peak = max(np.abs(r).max() for _, _, r in rows)
    against = "Phi3ForCausalLM" if name == "partial" else CLASSES[c.model_type][1].__name__
    told = f"smallest denominator {min(stats):.1e} of its terms" if is_linear(c) else f"mean top probability {np.mean(stats):.2f}"
    print(f"{name:18s} {against:18s} stock {stock:.1e}  float64 {double:.1e}  max|logit| {peak:5.2f}  {told}")
    assert stock < 1e-3 and double < 1e-9, name

    with tempfile.TemporaryDirectory() as tmp:
        model.float().save_pretrained(tmp)
        config = open(os.path.join(tmp, "config.json")).read()
        blob = open(os.path.join(tmp, "model.safetensors"), "rb").read()
        put(name, ".config.json", config)
        put(name, ".safetensors.head", blob[:8 + int.from_bytes(blob[:8], "little")])
        for suffix, old in old_configs(name, json.loads(config)).items():
            put(name, f".config{suffix}.json", json.dumps(old, indent=2) + "\n")
            again = CLASSES[c.model_type][0](**{k: v for k, v in json.loads(json.dumps(old)).items() if k != "model_type"})
            again._attn_implementation = "eager"
            for n in {n for n, _, _ in rows}:
                model2 = CLASSES[c.model_type][1](copy.deepcopy(again)).double().eval()  # standardizes again, as transformers does when it computes
                assert name == "partial" or np.abs(model2.model.rotary_emb.inv_freq.numpy() - frequencies(c, 1)[0]).max() < 1e-6, (name, suffix)
                assert name == "partial" or abs(model2.model.rotary_emb.attention_scaling - frequencies(c, 1)[1]) < 1e-12, (name, suffix)
                model2.load_state_dict(build(c).state_dict())
                if name != "partial":
                    with torch.no_grad():
                        got = model2(input_ids=torch.tensor([IDS[:n]]), use_cache=False).logits[0].double().numpy()
                    assert all(np.abs(got[p] - r).max() < 1e-3 for m, p, r in rows if m == n), (name, suffix, n)
        if name not in NO_GGUF:
            path = os.path.join(tmp, "x.gguf")
            lines = write_gguf(name, c, in_order(model, safetensors.torch.load(blob)), path)
            start = gguf.GGUFReader(path).data_offset
            put(name, ".gguf.head", open(path, "rb").read()[:start])
            put(name, ".gguf.map", "\n".join(lines) + "\n")

    text = [f"# python tests/oracle/decoders.py; {versions()}",
            f"# NumPy float64; largest difference from transformers' {against}{' around a recurrence' if is_linear(c) else ''} as it is "
            f"{stock:.1e} (float32 angles, norms, softmax), with float64 inside {double:.1e}",
            *[f"# no GGUF: {NO_GGUF[n]}" for n in NO_GGUF if n == name],
            "ids " + " ".join(map(str, IDS))]
    text += [f"row {n} {p} " + " ".join(f"{v:.7g}" for v in row) for n, p, row in rows]
    put(name, ".logits", "\n".join(text) + "\n")


def real_models(out, only):
    """Whole models with torch's random weights (std 0.25): Hugging Face folders and GGUF files, with their float64 logits."""
    for name in CASES:
        if only not in name:
            continue
        c = config_of(name)
        c._attn_implementation = "eager"
        torch.manual_seed(2104)
        fill = lambda n, k: (1 + 0.25 * torch.randn(k)).float().numpy() if n.endswith("norm.weight") else (0.25 * torch.randn(k)).float().numpy()
        model = build(c, fill)
        where = os.path.join(out, name)
        os.makedirs(where, exist_ok=True)

        def logits(label, weight):
            rows = golden_rows(name, c, weight, IDS)
            with open(os.path.join(where, label + ".logits.json"), "w") as f:
                json.dump({"ids": IDS, "rows": [[n, p, list(map(float, r))] for n, p, r in rows]}, f)
            np.save(os.path.join(where, label + ".logits.npy"), np.array([r for _, _, r in rows]))

        for dtype, label in ((torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16")):
            m = copy.deepcopy(model).to(dtype)
            m.save_pretrained(os.path.join(where, label))
            if dtype == torch.float32:
                m.save_pretrained(os.path.join(where, "sharded"), max_shard_size="20KB")
            logits(label, weights_of(m))
        if name not in NO_GGUF:
            tensors = in_order(model, safetensors.torch.load_file(os.path.join(where, "f32", "model.safetensors")))
            for q in ("F32", "F16", "BF16", "Q8_0", "Q4_0"):
                kind = gguf.GGMLQuantizationType[q]
                write_gguf(name, c, tensors, os.path.join(where, f"{q.lower()}.gguf"), kind)
                held = {k: gguf.quants.dequantize(gguf.quants.quantize(v, kind), kind) if quantizes(v, kind) else v for k, v in tensors.items()}
                logits(f"{q.lower()}.gguf", lambda k: None if k not in held else held[k].astype(np.float64))  # activations stay exact
        print(name, "->", where)


def ask_llama_cpp(only):
    """The GGUF files put before llama.cpp itself (pip install cyllama==0.2.18): the largest difference of its float32 logits."""
    from cyllama.llama import llama_cpp
    llama_cpp.disable_logging()
    print("llama.cpp: ggml", llama_cpp.ggml_version(), llama_cpp.ggml_commit())
    for name in CASES:
        if is_linear(config_of(name)):
            continue
        if only not in name or name in NO_GGUF or name in ("partial", "qwen3_bias"):  # it asserts that qwen2 turns whole heads; knows no biases in qwen3
            continue
        c = config_of(name)
        model = build(c)
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, "x.gguf")
            state = {k: v.detach().float() for k, v in model.named_parameters()}
            write_gguf(name, c, in_order(model, state), path, tokenizer="none")
            m = type("Model", (llama_cpp.LlamaModel,), {"n_vocab": c.vocab_size})(path, verbose=False)
            p = llama_cpp.LlamaContextParams()
            p.n_ctx, p.n_batch, p.n_ubatch, p.type_k, p.type_v, p.flash_attn_type, p.n_threads = 256, 64, 64, 0, 0, 0, 1
            worst = {}
            for n, pos, row in golden_rows(name, c, weights_of(model), IDS):
                ctx = llama_cpp.LlamaContext(m, p, verbose=False)
                batch = llama_cpp.LlamaBatch(n_tokens=64, embd=0, n_seq_max=1)
                for i, t in enumerate(IDS[:n]):
                    batch.add(t, i, [0], True)
                ctx.decode(batch)
                worst[n, pos] = np.abs(np.array(ctx.get_logits_ith(pos))[:c.vocab_size] - row).max()
            print(f"{name:13s}" + "".join(f"  {n}/{pos}: {d:.1e}" for (n, pos), d in worst.items()), flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--out", help="write whole real models into this folder instead")
    ap.add_argument("--llama-cpp", action="store_true", help="compare the GGUF files with llama.cpp (needs cyllama) instead")
    ap.add_argument("--only", default="", help="only cases whose name holds this")
    args = ap.parse_args()
    if args.llama_cpp:
        ask_llama_cpp(args.only)
    elif args.out:
        real_models(args.out, args.only)
    else:
        os.makedirs(GOLDEN, exist_ok=True)
        for case in CASES:
            if args.only in case:
                one_case(case)
