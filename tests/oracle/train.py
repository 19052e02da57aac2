#!/usr/bin/env python3
"""Goldens of training: what PyTorch in float64 says of small models: losses, gradients, twenty steps of AdamW.

    v/bin/python tests/oracle/train.py             # writes tests/golden/train.txt; needs torch, transformers, NumPy
    v/bin/python tests/oracle/train.py --print     # what the models are like, how far off float32 is; writes nothing

Each model is written out from its equations, every query meeting every key; backward is autograd's, the step is
torch.optim.AdamW's behind torch's clip_grad_norm_. Weights and ids are not stored: a formula (linear.hashed of the
name) gives them, here and in tests/test_train_oracle.c the same. Lines, per kind:

    kind NAME                 what follows belongs to it
    losses V V ..             before the first step, between two, and after the last; each of another batch
    gradient TENSOR HEX       of the first batch, as GGUF names the tensor: eight digits a number, float32's bits

Who says that the models are right: each run holds logits against positions.py (a query and a key at a time),
linear attention against linear.py's pairs, and gradients against transformers' LlamaForCausalLM and RoFormerForMaskedLM.
"""
import argparse, math, os
import numpy as np
import torch
import torch.nn.functional as F
import decoders, linear, positions

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "train.txt")
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def packed(g):
    """Floats without their last two bits (to the nearest: 2.4e-7 of each), five digits of base 64 each."""
    bits = (np.asarray(g).astype(np.float32).reshape(-1).view(np.uint32).astype(np.uint64) + 2) >> 2
    return "".join(DIGITS[int(b) >> s & 63] for b in bits for s in (24, 18, 12, 6, 0))


VOCAB, D, FF, LAYERS, TEXTS, LENGTH = 29, 12, 14, 2, 2, 141
STEPS, WARMUP, RATE, LEAST, DECAY, CLIP, EPS = 20, 5, 0.005, 0.05, 0.5, 0.5, 1e-5
BUCKETS, MAX_DISTANCE, FAVOR_FEATURES, FAVOR_SEED, THETA = 16, 40, 24, 1, 10000.0


def kind(position="rope", heads=2, head_dim=0, **more):
    """phi, phi_key, form: linear attention. eps: what its denominators get."""
    head_dim = head_dim or D // heads
    k = dict(position=position, heads=heads, kv_heads=heads, head_dim=head_dim, half=False, rotary_dim=head_dim,
             window=LENGTH, log_n=0, learns=False, own_head=False, form="", phi="elu+1", eps=1e-6, encodes=False)
    return {**k, **more, "phi_key": more.get("phi_key", more.get("phi", "elu+1"))}


KINDS = {
    "rope": kind(),
    "grouped, half pairs": kind(heads=4, kv_heads=2, head_dim=6, half=True),
    "partial": kind(rotary_dim=4),
    "window": kind(window=20),
    "log n": kind(log_n=64),
    "frequencies": kind(learns=True),
    "own head": kind(own_head=True),
    "nope": kind("nope"),
    "sinusoidal": kind("sinusoidal"),
    "learned": kind("learned"),
    "alibi": kind("alibi", heads=3),
    "t5": kind("t5"),
    "xpos": kind("xpos"),
    "eq. 19": kind(form="numerator"),
    "both": kind(form="both"),
    "none": kind(form="none"),
    "cosine": kind(form="cosine", phi="identity"),
    "before phi": kind(form="before-phi"),
    "partial, eq. 19": kind(form="numerator", rotary_dim=4),
    # Of keys alone: a query without any feature attends to nothing, and near such queries the loss has kinks; float32
    # and float64 of PyTorch itself then part within a few steps (by 1e-3 after twenty).
    "relu": kind(form="numerator", phi_key="relu", eps=0.125),
    "exp, grouped": kind(form="numerator", phi="exp", kv_heads=1),
    "favor+": kind(form="numerator", phi="favor+", eps=0),
    "efficient": kind(form="numerator", phi="softmax", phi_key="exp"),
    "encoder": kind(encodes=True),
    "encoder, sinusoidal": kind("sinusoidal", encodes=True),
    "encoder, learned": kind("learned", encodes=True),
    "encoder, t5": kind("t5", encodes=True),
    "encoder, eq. 19": kind(form="numerator", encodes=True),
}

# ---- what both sides compute by a formula ----------------------------------------------------------------------------


def shapes(k):
    """Every tensor, by GGUF's name, and whether decay pulls at it."""
    q, kv = k["heads"] * k["head_dim"], k["kv_heads"] * k["head_dim"]
    out = {"token_embd.weight": (VOCAB, D, 1)}
    if k["encodes"]:
        return {**out, **encoder_shapes(k, q)}
    for l in range(LAYERS):
        for name, rows, cols in (("attn_norm", D, 0), ("attn_q", q, D), ("attn_k", kv, D), ("attn_v", kv, D),
                                 ("attn_output", D, q), ("ffn_norm", D, 0), ("ffn_gate", FF, D), ("ffn_up", FF, D),
                                 ("ffn_down", D, FF)):
            out[f"blk.{l}.{name}.weight"] = (rows, cols, cols > 0)
    out["output_norm.weight"] = (D, 0, 0)
    if k["own_head"]:
        out["output.weight"] = (VOCAB, D, 1)
    if k["learns"]:
        out["rope_freqs.weight"] = (k["rotary_dim"] // 2, 0, 0)
    return {**out, **table_shape(k)}


def table_shape(k):
    return {"learned": {"position_embd.weight": (LENGTH, D, 0)},
            "t5": {"blk.0.attn_rel_b.weight": (BUCKETS, k["heads"], 0)}}.get(k["position"], {})


def encoder_shapes(k, q):
    """RoFormer's: every matrix has a bias, every norm, too."""
    out = {"token_types.weight": (1, D, 1)}
    both = lambda name, rows, cols: {f"{name}.weight": (rows, cols, cols > 0), f"{name}.bias": (rows, 0, 0)}
    out |= both("token_embd_norm", D, 0)
    for l in range(LAYERS):
        for name, rows, cols in (("attn_q", q, D), ("attn_k", q, D), ("attn_v", q, D), ("attn_output", D, q),
                                 ("attn_output_norm", D, 0), ("ffn_up", FF, D), ("ffn_down", D, FF),
                                 ("layer_output_norm", D, 0)):
            out |= both(f"blk.{l}.{name}", rows, cols)
    return {**out, **both("mlm.dense", D, D), **both("mlm.norm", D, 0), "mlm.bias": (VOCAB, 0, 0), **table_shape(k)}


def weights(k, floats=torch.float64):
    """Matrices within 2/3 of 0, so that scores are not all alike; vectors within 1/3 of 1. Floats, as the trainer's."""
    out = {}
    for name, (rows, cols, _) in shapes(k).items():
        u = linear.hashed(name, rows * max(cols, 1)).astype(np.float32)
        x = u / np.float32(192) if cols else 1 + u / np.float32(384)
        out[name] = torch.tensor(x.reshape(rows, cols) if cols else x, dtype=floats, requires_grad=True)
    return out


def batch(step):
    """ids and targets [TEXTS, LENGTH]: seven times the id before; some do not count, and no text's first does."""
    ids = (linear.hashed(f"ids {step}", TEXTS * LENGTH) + 127) % VOCAB
    targets = np.roll(ids, 1) * 7 % VOCAB
    targets[linear.hashed(f"targets {step}", TEXTS * LENGTH) > 112] = -1
    ids, targets = ids.reshape(TEXTS, LENGTH), targets.reshape(TEXTS, LENGTH)
    targets[:, 0] = -1
    return torch.tensor(ids), torch.tensor(targets)


# ---- the models ------------------------------------------------------------------------------------------------------


def angles(n, rotary_dim, divisor=1.0):
    """[n, rotary_dim / 2]: position times 10000^(-2i/rotary_dim). RoFormer, section 3.2.2; learned: over `divisor`."""
    theta = THETA ** (-2.0 * torch.arange(rotary_dim // 2, dtype=torch.float64) / rotary_dim)
    return torch.arange(n, dtype=torch.float64)[:, None] * (theta / divisor)


def rotated(x, angle, half, grow=1.0):
    """x [texts, n, heads, d] by R of eq. 34; entries behind the pairs stay. grow [n, pairs]: of each pair."""
    n = angle.shape[1]
    first, second = (slice(0, n), slice(n, 2 * n)) if half else (slice(0, 2 * n, 2), slice(1, 2 * n, 2))
    a, b, cos, sin = x[..., first], x[..., second], torch.cos(angle)[:, None].to(x), torch.sin(angle)[:, None].to(x)
    y = x.clone()
    y[..., first], y[..., second] = (a * cos - b * sin) * grow, (a * sin + b * cos) * grow
    return y


def zeta(n, d, sign):
    """xPos, arXiv:2212.10554: zeta_i^(position / 512), zeta_i = (2i + 0.4 d) / (1.4 d)."""
    z = (2 * torch.arange(d // 2, dtype=torch.float64) + 0.4 * d) / (1.4 * d)
    return (z ** (sign * torch.arange(n, dtype=torch.float64)[:, None] / 512))[:, None]


def bias(k, w, n):
    """What is added to scores [heads, n, n]: ALiBi's -slope |m - n|, T5's number of the bucket."""
    m, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    if k["position"] == "alibi":
        slopes = torch.tensor(positions.slopes(k["heads"]), dtype=torch.float64)
        return -slopes[:, None, None] * (m - j).abs()
    if k["position"] == "t5":
        both = k["encodes"]  # sides
        buckets = [[positions.bucket(y - x if both else min(y - x, 0), both, BUCKETS, MAX_DISTANCE) for y in range(n)]
                   for x in range(n)]
        return w["blk.0.attn_rel_b.weight"][torch.tensor(buckets)].permute(2, 0, 1)
    return torch.zeros(1, 1, 1, dtype=torch.float64)


def softmax_attention(k, w, q, key, v):
    """softmax(scale q k^T + bias) v; q, key, v [texts, n, heads, d]."""
    n, d = q.shape[1], q.shape[3]
    if k["position"] in ("rope", "xpos"):
        angle = angles(n, k["rotary_dim"], w["rope_freqs.weight"].double() if k["learns"] else 1.0)
        up, down = (zeta(n, d, 1).to(q), zeta(n, d, -1).to(q)) if k["position"] == "xpos" else (1.0, 1.0)
        q, key = rotated(q, angle, k["half"], up), rotated(key, angle, k["half"], down)
    scores = torch.einsum("tmhd,tnhd->thmn", q, key) / math.sqrt(d)
    m, j = torch.arange(n)[:, None], torch.arange(n)[None, :]
    if k["log_n"]:
        keys = (m + 1).clamp(min=16).double()  # few keys count as 16
        scores = scores * (torch.log(keys) / math.log(k["log_n"])).to(q)
    seen = (j <= m) & (m - j < k["window"]) | k["encodes"]
    p = torch.softmax((scores + bias(k, w, n).to(q)).masked_fill(~seen, -math.inf), -1)
    return torch.einsum("thmn,tnhd->tmhd", p, v)


def favor(x):
    """Positive features of softmax's kernel, arXiv:2009.14794, lemma 1: e^(w.x' - |x'|^2 / 2) / sqrt(r)."""
    w = linear.projection(FAVOR_FEATURES, x.shape[-1], FAVOR_SEED).astype(np.float32)  # the trainer has floats of it
    x = x / x.shape[-1] ** 0.25
    return torch.exp(x @ torch.tensor(w).to(x).T - (x * x).sum(-1, keepdim=True) / 2) / len(w) ** 0.5


MAPS = {"elu+1": lambda x: F.elu(x) + 1, "relu": torch.relu, "exp": torch.exp, "identity": lambda x: x, "favor+": favor,
        "softmax": lambda x: torch.softmax(x, -1)}


def linear_attention(k, q, key, v):
    """RoFormer eq. 19: sum of (R phi(q)) . (R phi(k)) v over sum of phi(q) . phi(k); other forms rotate elsewhere."""
    before, above, below, cosine = linear.FORMS[k["form"]]
    turn = lambda x: rotated(x, angles(x.shape[1], x.shape[-1] if k["phi"] == "favor+" else k["rotary_dim"]), k["half"])
    if cosine:
        q, key = (x / x.norm(dim=-1, keepdim=True) for x in (q, key))
    if before:
        q, key = turn(q), turn(key)
    a, b = MAPS[k["phi"]](q), MAPS[k["phi_key"]](key)
    seen = (lambda p: p) if k["encodes"] else torch.tril
    pairs = lambda x, y: seen(torch.einsum("tmhd,tnhd->thmn", x, y) + cosine)
    plain, turned = pairs(a, b), pairs(turn(a), turn(b))
    d = (turned if below else plain).sum(-1)
    d = d + k["eps"] * (torch.where(d < 0, -1.0, 1.0) if k["form"] == "both" else 1.0)
    return torch.einsum("thmn,tnhd->tmhd", turned if above else plain, v) / d.permute(0, 2, 1)[..., None]


def rmsnorm(x, w):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w


def embedded(k, w, ids):
    n, x = ids.shape[1], w["token_embd.weight"][ids]
    if k["position"] == "learned":
        x = x + w["position_embd.weight"][:n]
    if k["position"] == "sinusoidal":
        x = x + torch.tensor(np.array([positions.sinusoid(m, D) for m in range(n)])).to(x)
    return x


def encoder_logits(k, w, ids):
    """RoFormer (arXiv:2104.09864): BERT's encoder, a norm behind each sum; [texts, n, VOCAB]."""
    texts, n = ids.shape
    linear_map = lambda name, x: x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    norm = lambda name, x: F.layer_norm(x, (D,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-5)
    x = norm("token_embd_norm", embedded(k, w, ids) + w["token_types.weight"][0])
    for l in range(LAYERS):
        of = f"blk.{l}."
        q, key, v = (linear_map(of + name, x).reshape(texts, n, k["heads"], -1) for name in ("attn_q", "attn_k", "attn_v"))
        att = linear_attention(k, q, key, v) if k["form"] else softmax_attention(k, w, q, key, v)
        x = norm(of + "attn_output_norm", x + linear_map(of + "attn_output", att.reshape(texts, n, -1)))
        x = norm(of + "layer_output_norm", x + linear_map(of + "ffn_down", F.gelu(linear_map(of + "ffn_up", x))))
    return norm("mlm.norm", F.gelu(linear_map("mlm.dense", x))) @ w["token_embd.weight"].T + w["mlm.bias"]


def logits(k, w, ids):
    """LLaMA (arXiv:2302.13971): [texts, n, VOCAB]."""
    if k["encodes"]:
        return encoder_logits(k, w, ids)
    texts, n = ids.shape
    x = embedded(k, w, ids)
    for l in range(LAYERS):
        of = lambda name: w[f"blk.{l}.{name}.weight"]
        y = rmsnorm(x, of("attn_norm"))
        q, key, v = ((y @ of(name).T).reshape(texts, n, -1, k["head_dim"]) for name in ("attn_q", "attn_k", "attn_v"))
        key, v = (z.repeat_interleave(k["heads"] // k["kv_heads"], 2) for z in (key, v))
        att = linear_attention(k, q, key, v) if k["form"] else softmax_attention(k, w, q, key, v)
        x = x + att.reshape(texts, n, -1) @ of("attn_output").T
        y = rmsnorm(x, of("ffn_norm"))
        x = x + (F.silu(y @ of("ffn_gate").T) * (y @ of("ffn_up").T)) @ of("ffn_down").T
    return rmsnorm(x, w["output_norm.weight"]) @ w["output.weight" if k["own_head"] else "token_embd.weight"].T


def loss(k, w, step):
    ids, targets = batch(step)
    return F.cross_entropy(logits(k, w, ids).reshape(-1, VOCAB), targets.reshape(-1), ignore_index=-1)


# ---- a course --------------------------------------------------------------------------------------------------------


def rate(step):
    """Of step 0, 1 ..: rises over WARMUP steps, falls by a cosine to LEAST of RATE at STEPS."""
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    return RATE * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) / 2)


def gradients(k, floats=torch.float64):
    w = weights(k, floats)
    loss(k, w, 0).backward()
    return {name: x.grad.numpy() for name, x in w.items()}


def course(k, floats=torch.float64):
    """The losses, and the gradients' length in each step. The step's eps is larger than the usual 1e-8, so that it can
    be seen, and so that numbers whose gradient is next to nothing do not take whole steps by rounding alone."""
    w, sizes = weights(k, floats), shapes(k)
    groups = [{"params": [w[n] for n in w if sizes[n][2]], "weight_decay": DECAY},
              {"params": [w[n] for n in w if not sizes[n][2]], "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=EPS)
    losses, lengths = [], []
    for step in range(STEPS):
        adamw.zero_grad()
        x = loss(k, w, step)
        x.backward()
        lengths.append(torch.nn.utils.clip_grad_norm_(list(w.values()), CLIP).item())
        for g in adamw.param_groups:
            g["lr"] = rate(step)
        adamw.step()
        losses.append(x.item())
    return losses + [loss(k, w, STEPS).item()], lengths


# ---- who says that they are right ------------------------------------------------------------------------------------


def check_logits():
    """Forward, against positions.Model; how far off."""
    ids, worst = batch(0)[0][:, :60], 0.0
    for name in ("rope", "log n", "frequencies", "nope", "sinusoidal", "learned", "alibi", "t5", "xpos", "eq. 19",
                 "efficient"):
        k = KINDS[name]
        w = weights(k)
        c = dict(arch="llama", position=k["position"], d=D, heads=k["heads"], kv=k["kv_heads"], layers=LAYERS,
                 n_ctx=LENGTH, tensors=[], buckets=BUCKETS, most=MAX_DISTANCE, log_scale=k["log_n"])
        c.update(dict(phi=k["phi"], phi_key=k["phi_key"]) if k["form"] else {})
        m = positions.Model(c)
        m.t = {n: x.detach().numpy() for n, x in w.items()}
        mine = logits(k, w, ids).detach().numpy()
        worst = max(worst, max(np.abs(m.decoder(list(ids[t].numpy())) - mine[t]).max() for t in range(TEXTS)))
    assert worst < 1e-12, worst
    return worst


def check_linear():
    """Each form and map of a head, against linear.pairwise."""
    q, key, v = (torch.tensor(linear.hashed(f"check {c}", 30 * 6).reshape(1, 30, 1, 6) / 128.0) for c in "qkv")
    worst = 0.0
    for k in KINDS.values():
        if not k["form"] or k["phi"] != k["phi_key"] or k["encodes"]:
            continue
        W = linear.projection(FAVOR_FEATURES, 6, FAVOR_SEED).astype(np.float32).astype(float)
        rows = linear.rows_of(np.arange(30), k["rotary_dim"])
        wide = linear.rows_of(np.arange(30), FAVOR_FEATURES) if k["phi"] == "favor+" else None
        head = (x[0, :, 0].numpy() for x in (q, key, v))
        want, _ = linear.pairwise(k["form"], k["phi"], *head, rows, wide, eps=k["eps"], W=W)
        worst = max(worst, np.abs(linear_attention(k, q, key, v)[0, :, 0].numpy() - want).max())
    assert worst < 1e-12, worst
    return worst


def far_from(model, k, name_of):
    """The gradients of a model of transformers, all that is float32 in it made float64, beside ours."""
    parts = dict(model.named_parameters())
    with torch.no_grad():
        for n, x in weights(k).items():
            parts[name_of(n)].copy_(x)
    ids, targets = batch(0)
    F.cross_entropy(model(ids).logits.reshape(-1, VOCAB), targets.reshape(-1), ignore_index=-1).backward()
    far = lambda a, b: np.linalg.norm(a - b) / np.linalg.norm(b)
    worst = max(far(parts[name_of(n)].grad.numpy(), g) for n, g in gradients(k).items())
    assert worst < 1e-12, worst
    return worst


@decoders.everything_double()
def check_roformer():
    """Against RoFormerForMaskedLM, whose angles are what everything_double makes of them."""
    from transformers import RoFormerConfig, RoFormerForMaskedLM
    k = KINDS["encoder"]
    model = RoFormerForMaskedLM(RoFormerConfig(
        vocab_size=VOCAB, hidden_size=D, embedding_size=D, intermediate_size=FF, num_hidden_layers=LAYERS,
        num_attention_heads=k["heads"], max_position_embeddings=LENGTH, type_vocab_size=1, layer_norm_eps=1e-5,
        pad_token_id=None, hidden_dropout_prob=0, attention_probs_dropout_prob=0)).double()
    embed = model.roformer.encoder.embed_positions  # filled in float32, and not a parameter that learns
    a = angles(LENGTH, k["head_dim"])
    embed.weight = torch.nn.Parameter(torch.cat((torch.sin(a), torch.cos(a)), -1), requires_grad=False)
    hf = {"token_embd": "roformer.embeddings.word_embeddings", "token_types": "roformer.embeddings.token_type_embeddings",
          "token_embd_norm": "roformer.embeddings.LayerNorm", "attn_q": "attention.self.query",
          "attn_k": "attention.self.key", "attn_v": "attention.self.value", "attn_output": "attention.output.dense",
          "attn_output_norm": "attention.output.LayerNorm", "ffn_up": "intermediate.dense", "ffn_down": "output.dense",
          "layer_output_norm": "output.LayerNorm", "mlm.dense": "cls.predictions.transform.dense",
          "mlm.norm": "cls.predictions.transform.LayerNorm"}

    def name_of(n):
        layer, tensor = n.split(".")[1], n.rsplit(".", 1)
        if n == "mlm.bias":
            return "cls.predictions.bias"
        if n.startswith("blk."):
            return f"roformer.encoder.layer.{layer}." + hf[tensor[0].split(".")[2]] + "." + tensor[1]
        return hf[tensor[0]] + "." + tensor[1]

    return far_from(model, k, name_of)


@decoders.everything_double()
def check_llama():
    """Against LlamaForCausalLM."""
    from transformers import LlamaConfig, LlamaForCausalLM
    k = KINDS["grouped, half pairs"]
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=VOCAB, hidden_size=D, intermediate_size=FF, num_hidden_layers=LAYERS, num_attention_heads=k["heads"],
        num_key_value_heads=k["kv_heads"], head_dim=k["head_dim"], rms_norm_eps=1e-5, tie_word_embeddings=True,
        attn_implementation="eager")).double()
    hf = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "attn_norm": "input_layernorm",
          "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
          "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
          "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}

    def name_of(n):
        *layer, tensor, _ = n.split(".")
        return (f"model.layers.{layer[1]}." if layer else "") + hf[tensor] + ".weight"

    return far_from(model, k, name_of)


def no_gradient(k, tensor):
    """Softmax does not see what is added to all scores of a query: a key's bias that no rotation turns. Nothing but
    rounding is its gradient, and 0 is stored."""
    return tensor.endswith("attn_k.bias") and k["position"] != "rope"


def lines():
    yield f"# python tests/oracle/train.py; torch {torch.__version__}, numpy {np.__version__}"
    for name, k in KINDS.items():
        yield f"kind {name}"
        yield "losses " + " ".join(f"{x:.10g}" for x in course(k)[0])
        for tensor, g in gradients(k).items():
            g = g * 0 if no_gradient(k, tensor) else g
            assert np.linalg.norm(g) > 1e-3 or no_gradient(k, tensor), (name, tensor)  # |g| is a measure
            yield f"gradient {tensor} " + packed(g)


def print_kind(name, k):
    (losses, lengths), g, g32 = course(k), gradients(k), gradients(k, torch.float32)
    off = {n: np.linalg.norm(g32[n] - g[n]) / np.linalg.norm(g[n]) for n in g if not no_gradient(k, n)}
    worst, drift = max(off, key=off.get), max(abs(a - b) for a, b in zip(losses, course(k, torch.float32)[0]))
    print(f"{name:20s} loss {losses[0]:.3f} .. {losses[-1]:.3f}, gradients' length {min(lengths):.2f} .. "
          f"{max(lengths):.2f}; float32: losses {drift:.1e} off, gradients {off[worst]:.1e} ({worst})", flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--print", action="store_true", help="print what the models are like; nothing is written")
    args = ap.parse_args()
    torch.set_num_threads(1)
    print(f"off from positions.py by {check_logits():.1e}, from linear.py by {check_linear():.1e}, from transformers "
          f"by {check_llama():.1e} (LLaMA) and {check_roformer():.1e} (RoFormer)")
    if args.print:
        for name, k in KINDS.items():
            print_kind(name, k)
    else:
        with open(GOLDEN, "w") as f:
            f.writelines(line + "\n" for line in lines())
