#!/usr/bin/env python3
"""Goldens of RoFormer's forward pass, made outside the engine: tiny models of every kind and what they say in float64.

    v/bin/python tests/oracle/roformer.py               # writes tests/golden/roformer/; what it needs: requirements.txt
    v/bin/python tests/oracle/roformer.py --only v2     # only the cases whose name holds "v2"

No weights are stored: a value comes from its tensor's name and index (value_of), here and in tests/roformer_files.c. Stored:
    NAME.config.json         as transformers' save_pretrained writes it where it has the model, else as its makers' files are
    NAME.gguf.head           all bytes before the tensor data that gguf.GGUFWriter wrote, F32
    HEAD.safetensors.head    the header that the safetensors package wrote, F32; cases with the same tensors share it
    NAME.txt                 texts (ids, types, keep), and rows: hidden, logits, pool, label TOKEN v v ..
    names.map                GGUF names and PyTorch names, by the makers' tables and not by the engine's

The golden is `forward`: NumPy in float64 throughout. Before anything is written it is held against the vectors of facts/roformer.md
8.4, which another program printed (check_facts), and in every case that transformers has, or that its layers can be made to
compute, against transformers (twin). What is left to `forward` and those vectors: GAU-alpha, attention_key_size, the poolers.
"""
import argparse, contextlib, copy, json, math, os, platform, tempfile
import numpy as np, torch, transformers, gguf, safetensors, safetensors.torch
from transformers.models.roformer import modeling_roformer as code
import linear as linear_attention

torch.set_num_threads(1)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "roformer")
VOCAB = 61


def value_of(name, n):
    """The first n values of the tensor called `name`, row-major: u / 256, u from -127 to 127 (linear.hashed of the name); norms'
    weights and GAU's scales (128 + u/2) / 128, u/2 cut toward zero. At most 8 significant bits: exact in F32, F16, BF16."""
    u = linear_attention.hashed(name, n)
    return (128 + np.trunc(u / 2)) / 128 if name.endswith(("LayerNorm.weight", "scaleoffset.weight")) else u / 256


# ---- the cases --------------------------------------------------------------------------------------------------------------

# V1's sizes: heads of 10 and embeddings narrower than the model; heads of 6 and wider ones; none given.
NARROW = dict(vocab_size=VOCAB, embedding_size=12, hidden_size=20, num_hidden_layers=2, num_attention_heads=2, intermediate_size=28)
WIDE = dict(NARROW, embedding_size=24, hidden_size=18, num_attention_heads=3)
SAME = dict(NARROW, embedding_size=18, hidden_size=18, num_attention_heads=3, intermediate_size=22)
V2 = dict(NARROW, embedding_size=20, hidden_act="relu", norm_type="rms_norm", use_bias=False)
GAU = dict(vocab_size=VOCAB, hidden_size=20, num_hidden_layers=2, intermediate_size=28, attention_key_size=6, hidden_act="swish",
           normalization="softmax_plus", attention_scale=True, use_bias=False, max_position_embeddings=512)
LABELS = dict(id2label={0: "red", 1: "green", 2: "blue"}, label2id={"red": 0, "green": 1, "blue": 2})
MLM, LM, BODY = "RoFormerForMaskedLM", "RoFormerForCausalLM", "RoFormerModel"
SEQ, TOK = "RoFormerForSequenceClassification", "RoFormerForTokenClassification"


def linear_case(feature_map, form="numerator", epsilon=1e-6, **keys):
    return dict(attention_kind="linear", attention_feature_map=feature_map, attention_form=form,
                attention_denominator_epsilon=epsilon, **keys)


def case(head, sizes, of=None, like=None, kind="v1", parts=(), texts="pair one tail holes", mask=None, **keys):
    """head: the safetensors header's name; of: transformers' class, or like: one with the same body, for a file that it would write
    otherwise; parts: heads, in the order of the tensors."""
    return dict(head=head, kind=kind, of=of, like=of or like, parts=parts, texts=texts.split(), mask=mask, keys=dict(sizes, **keys))


UNILM = "pair one tail holes zig ones"
CASES = {
    "mlm": case("mlm", NARROW, MLM, parts=("mlm",), texts="pair one tail holes long"),
    "wide": case("wide", WIDE, MLM, parts=("mlm",)),
    "body": case("body", SAME, BODY),
    "gelu_new": case("mlm", NARROW, MLM, parts=("mlm",), hidden_act="gelu_new"),
    "relu": case("mlm", NARROW, MLM, parts=("mlm",), hidden_act="relu"),
    "eps": case("mlm", NARROW, MLM, parts=("mlm",), layer_norm_eps=0.125),
    "rotary": case("mlm", NARROW, MLM, parts=("mlm",), rotary_value=True),
    "causal": case("mlm", NARROW, LM, parts=("mlm",), is_decoder=True, texts="pair one tail holes longest"),
    "unilm": case("mlm", NARROW, LM, parts=("mlm",), mask="unilm", texts=UNILM),
    "untied": case("untied", NARROW, MLM, parts=("mlm", "decoder"), tie_word_embeddings=False),
    "scaled": case("mlm", NARROW, like=MLM, parts=("mlm",), texts="pair tail", rope_theta=500.0, rope_scaling=dict(type="linear", factor=3.0)),
    "seq": case("seq", NARROW, SEQ, parts=("seq",), **LABELS),
    "seq_gelu_new": case("seq", NARROW, SEQ, parts=("seq",), hidden_act="gelu_new", **LABELS),
    "tok": case("tok", WIDE, TOK, parts=("tok",), hidden_act="relu", type_vocab_size=3, **LABELS),
    "tanh": case("tanh", NARROW, like=BODY, parts=("pooler",), texts="pair tail"),
    "sim": case("sim", SAME, like=LM, parts=("pooler", "mlm"), pooler_activation="linear", use_bias=True, norm_type="layer_norm", mask="unilm",
                texts=UNILM),
    "electra": case("electra", WIDE, like=BODY, parts=("disc",), rotary_value=True, texts="pair tail"),
    "generator": case("generator", WIDE, like=BODY, parts=("gen",), rotary_value=True, texts="pair tail"),
    "keysize": case("keysize", NARROW, parts=("mlm",), attention_key_size=6),
    "v2": case("v2", V2, like=BODY, kind="v2", parts=("tied",)),
    "v2_narrow": case("v2_narrow", dict(V2, embedding_size=12), like=BODY, kind="v2", type_vocab_size=3),
    "v2_causal": case("v2", V2, like=BODY, kind="v2", parts=("tied",), is_decoder=True, texts="pair tail holes"),
    "v2_unilm": case("v2", V2, like=BODY, kind="v2", parts=("tied",), mask="unilm", texts=UNILM),
    "gau": case("gau", GAU, kind="gau", parts=("tied",), texts="pair one tail holes long"),
    "gau_causal": case("gau", GAU, kind="gau", parts=("tied",), is_decoder=True, texts="pair holes"),
    "gau_unilm": case("gau", GAU, kind="gau", parts=("tied",), mask="unilm", texts=UNILM),
    "linear": case("mlm", NARROW, MLM, parts=("mlm",), texts="pair one tail holes long", **linear_case("elu+1")),
    "linear_both": case("mlm", NARROW, MLM, parts=("mlm",), texts="pair holes", **linear_case("elu+1", "both")),
    "linear_cosine": case("mlm", NARROW, MLM, parts=("mlm",), texts="pair holes", **linear_case("identity", "cosine", 0.125)),
    "linear_rotary": case("mlm", NARROW, MLM, parts=("mlm",), texts="pair holes", rotary_value=True, **linear_case("exp", "none")),
    "linear_causal": case("mlm", NARROW, LM, parts=("mlm",), is_decoder=True, texts="pair one tail holes longest",
                          **linear_case("relu", epsilon=0.5)),
    "linear_unilm": case("mlm", NARROW, LM, parts=("mlm",), mask="unilm", texts=UNILM, **linear_case("exp")),
    "linear_v2": case("v2", V2, like=BODY, kind="v2", parts=("tied",), texts="pair tail", **linear_case("softmax")),
}


def text(n, types=None, padding=(), rows=(), logits=()):
    """rows, logits: the tokens whose hidden state and logits are stored."""
    ids = [4 + int(u + 127) % 57 for u in linear_attention.hashed(f"ids {n}", n)]
    keep = None if not padding else [int(t not in padding) for t in range(n)]
    return dict(ids=[0 if keep and not keep[t] else i for t, i in enumerate(ids)], types=types, keep=keep, rows=rows, logits=logits)


TEXTS = {
    "pair": text(23, [0] * 13 + [1] * 10, rows=(0, 12, 13, 22), logits=(4, 22)),
    "one": text(9, rows=(0, 8)),
    "tail": text(14, [0] * 6 + [1] * 4 + [0] * 4, range(10, 14), rows=(0, 9), logits=(9,)),
    "holes": text(16, [0] * 8 + [1] * 8, (0, 1, 6, 11, 12), rows=(2, 10, 15), logits=(7,)),
    "zig": text(12, [0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0], rows=(0, 2, 3, 4, 11)),
    "ones": text(5, [1, 1, 0, 0, 1], rows=(0, 1, 2)),
    "long": text(600, [0] * 401 + [1] * 199, range(590, 600), rows=(0, 299, 589), logits=(589,)),
    "longest": text(1536, rows=(511, 1023, 1535), logits=(1535,)),
}


def settings(c):
    """Everything that `forward` asks, with the defaults of transformers' RoFormerConfig (GAU-alpha's: its maker's)."""
    k = dict(type_vocab_size=2, layer_norm_eps=1e-12, rotary_value=False, is_decoder=False, hidden_act="gelu", rope_theta=10000.0,
             rope_scaling=None, attention_kind="softmax", pooler_activation="tanh", num_attention_heads=1, max_position_embeddings=1536)
    k.update(c["keys"], kind=c["kind"], parts=c["parts"])
    k.setdefault("embedding_size", k["hidden_size"])
    k.setdefault("attention_key_size", k["hidden_size"] // k["num_attention_heads"])
    k["mask"] = c["mask"] or ("causal" if k["is_decoder"] else "padding")
    return k


def tensors_of(c):
    """{PyTorch name: shape}, in the model's order."""
    k = settings(c)
    v, t, e, h, i = (k[x] for x in ("vocab_size", "type_vocab_size", "embedding_size", "hidden_size", "intermediate_size"))
    keys, s, v1, gau = k["attention_key_size"] * k["num_attention_heads"], k["attention_key_size"], k["kind"] == "v1", k["kind"] == "gau"
    p = {"gau": "gau_alpha.", "v1": "roformer.", "v2": "roformer."}[k["kind"]]
    p = "" if c["of"] == BODY else "electra." if "gen" in k["parts"] else p
    out = {p + "embeddings.word_embeddings.weight": (v, e), p + "embeddings.token_type_embeddings.weight": (t, e)}

    def dense(name, rows, cols, bias=v1):
        out[name + ".weight"] = (rows, cols)
        if bias:
            out[name + ".bias"] = (rows,)

    def norm(name, n):
        if v1:
            out.update({name + ".weight": (n,), name + ".bias": (n,)})

    norm(p + "embeddings.LayerNorm", e)
    if e != h:
        dense(p + "embeddings_project", h, e)
    for l in range(k["num_hidden_layers"]):
        y = f"{p}encoder.layer.{l}."
        if gau:
            dense(y + "gau.i_dense", 2 * i + s, h)
            out.update({y + "gau.q_scaleoffset.weight": (s,), y + "gau.k_scaleoffset.weight": (s,)})
            dense(y + "gau.o_dense", h, i)
            continue
        for name, rows in (("query", keys), ("key", keys), ("value", h)):
            dense(y + "attention.self." + name, rows, h)
        dense(y + "attention.output.dense", h, h)
        norm(y + "attention.output.LayerNorm", h)
        dense(y + "intermediate.dense", i, h)
        dense(y + "output.dense", h, i)
        norm(y + "output.LayerNorm", h)
    for part in k["parts"]:
        if part == "pooler":
            dense(p + "pooler.dense", h, h)
        if part in ("mlm", "gen"):
            name = "cls.predictions." if part == "mlm" else "generator_predictions."
            name, bias = name + ("transform." if part == "mlm" else ""), "cls.predictions.bias" if part == "mlm" else "generator_lm_head.bias"
            dense(name + "dense", e, h)
            norm(name + "LayerNorm", e)
            out[bias] = (v,)
        if part == "decoder":
            dense("cls.predictions.decoder", v, e)  # its own bias too: transformers 5 then leaves predictions.bias unused
        if part == "seq":
            dense("classifier.dense", h, h)
            dense("classifier.out_proj", 3, h)
        if part == "tok":
            dense("classifier", 3, h)
        if part == "disc":
            dense("discriminator_predictions.dense", h, h)
            dense("discriminator_predictions.dense_prediction", 1, h)
    return out


# ---- the model in float64 ---------------------------------------------------------------------------------------------------

erf = np.vectorize(math.erf)
ACTIVATIONS = {
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x / (1 + np.exp(-x)),
}


def seen_by(mask, types, keep):
    """[n, n]: 1 where the query of the row sees the key of the column."""
    n, m = len(keep), np.arange(len(keep))
    sees = np.ones((n, n), bool)
    if mask == "causal":
        sees = m[None, :] <= m[:, None]
    if mask == "unilm":
        c = np.cumsum(types)
        sees = c[None, :] <= c[:, None]
    return sees & (np.array(keep) != 0)[None, :]


def turn(x, cos, sin):
    """x [n, heads, d] in pairs (2i, 2i+1), as far as there are cosines [n, pairs]."""
    r = 2 * cos.shape[-1]
    y, c, s = x.copy(), cos[:, None], sin[:, None]
    y[..., 0:r:2], y[..., 1:r:2] = x[..., 0:r:2] * c - x[..., 1:r:2] * s, x[..., 0:r:2] * s + x[..., 1:r:2] * c
    return y


def softmax_heads(k, q, key, v, sees):
    """q, key turned [n, heads, d], v [n, heads, dv]; rows that see nothing are zeroes (and compared with nothing)."""
    scores = np.einsum("qhd,khd->hqk", q, key) / math.sqrt(q.shape[-1])
    if k["kind"] == "gau":  # attention_normalize of bert4keras, "softmax_plus"
        scores = scores * (np.log(np.maximum(sees.sum(-1), 16)) / math.log(512))[None, :, None]
    scores = np.where(sees, scores, -1e300)
    e = sees * np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", e / np.maximum(e.sum(-1, keepdims=True), 1e-300), v)


def linear_heads(k, q, key, v, cos, sin, sees):
    """The same with linear attention, pair by pair; q and key come as they are."""
    form, epsilon = k["attention_form"], k["attention_denominator_epsilon"]
    before, above, below, cosine = linear_attention.FORMS[form]
    rotate = lambda x: linear_attention.turn(x, cos, sin, False)
    out = np.empty_like(v)
    for h in range(v.shape[1]):
        a, b = q[:, h], key[:, h]
        if cosine:
            a, b = linear_attention.unit(a), linear_attention.unit(b)
        if before:
            a, b = rotate(a), rotate(b)
        a, b = (linear_attention.features(x, k["attention_feature_map"], None)[0] for x in (a, b))
        plain, turned = a @ b.T + cosine, rotate(a) @ rotate(b).T + cosine
        den = (sees * (turned if below else plain)).sum(-1)
        den = den + epsilon * (np.where(den < 0, -1, 1) if form == "both" else 1)
        out[:, h] = (sees * (turned if above else plain)) @ v[:, h] / np.where(den == 0, 1, den)[:, None]
    return out


def forward(k, w, ids, types=None, keep=None):
    """Hidden states [n, hidden_size] of one text; w(name) is a float64 array or None, name without the prefix."""
    n, heads, eps = len(ids), k["num_attention_heads"], k["layer_norm_eps"]
    types, keep = types or [0] * n, keep or [1] * n
    act, d = ACTIVATIONS[k["hidden_act"]], k["attention_key_size"]
    scale = (k["rope_scaling"] or {}).get("factor", 1.0)
    angle = np.arange(n)[:, None] / scale * k["rope_theta"] ** (-2.0 * np.arange(d // 2) / d)
    cos, sin, sees = np.cos(angle), np.sin(angle), seen_by(k["mask"], types, keep)

    def linear(x, name):
        y = x @ w(name + ".weight").T
        return y if w(name + ".bias") is None else y + w(name + ".bias")

    def norm(x, name):
        if k["kind"] != "v1":
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w(name + ".weight") + w(name + ".bias")

    def attend(q, key, v):
        if k["attention_kind"] == "linear":
            att = linear_heads(k, q, key, turn(v, cos, sin) if k["rotary_value"] else v, cos, sin, sees)
        else:
            att = softmax_heads(k, turn(q, cos, sin), turn(key, cos, sin), turn(v, cos, sin) if k["rotary_value"] else v, sees)
        return att.reshape(n, -1)

    x = norm(w("embeddings.word_embeddings.weight")[ids] + w("embeddings.token_type_embeddings.weight")[types], "embeddings.LayerNorm")
    if w("embeddings_project.weight") is not None:
        x = linear(x, "embeddings_project")
    for l in range(k["num_hidden_layers"]):
        y = f"encoder.layer.{l}."
        if k["kind"] == "gau":
            e = k["intermediate_size"]
            u, v, b = np.split(act(linear(x, y + "gau.i_dense")), [e, 2 * e], -1)
            q, key = (b * w(f"{y}gau.{s}_scaleoffset.weight") for s in "qk")
            x = norm(x + linear(u * attend(q[:, None], key[:, None], v[:, None]), y + "gau.o_dense"), None)
            continue
        q, key, v = (linear(x, y + "attention.self." + s).reshape(n, heads, -1) for s in ("query", "key", "value"))
        x = norm(x + linear(attend(q, key, v), y + "attention.output.dense"), y + "attention.output.LayerNorm")
        x = norm(x + linear(act(linear(x, y + "intermediate.dense")), y + "output.dense"), y + "output.LayerNorm")
    return x


def heads_of(k, w, x):
    """What stands above the hidden states x: {"logits": [n, vocab], "pool": [n, hidden], "label": [n, labels]}."""
    out, act, parts = {}, ACTIVATIONS[k["hidden_act"]], k["parts"]
    linear = lambda y, name: y @ w(name + ".weight").T + w(name + ".bias")
    words = w("embeddings.word_embeddings.weight")
    if "mlm" in parts or "gen" in parts:
        stem = "cls.predictions.transform." if "mlm" in parts else "generator_predictions."
        y = act(linear(x, stem + "dense"))
        y = y - y.mean(-1, keepdims=True)
        y = y / np.sqrt((y * y).mean(-1, keepdims=True) + k["layer_norm_eps"])
        y = y * w(stem + "LayerNorm.weight") + w(stem + "LayerNorm.bias")
        bias = w("cls.predictions.decoder.bias" if "decoder" in parts else "cls.predictions.bias" if "mlm" in parts else "generator_lm_head.bias")
        out["logits"] = y @ (w("cls.predictions.decoder.weight") if "decoder" in parts else words).T + bias
    if "tied" in parts:
        out["logits"] = x @ words.T
    if "pooler" in parts:
        y = linear(x, "pooler.dense")
        out["pool"] = np.tanh(y) if k["pooler_activation"] == "tanh" else y
    if "seq" in parts:
        out["label"] = linear(act(linear(x, "classifier.dense")), "classifier.out_proj")
    if "tok" in parts:
        out["label"] = linear(x, "classifier")
    if "disc" in parts:
        out["label"] = linear(act(linear(x, "discriminator_predictions.dense")), "discriminator_predictions.dense_prediction")
    return out


PREFIXES = ("roformer.", "gau_alpha.", "electra.", "")


def weights(c):
    held = {name: value_of(name, math.prod(shape)).reshape(shape) for name, shape in tensors_of(c).items()}
    return lambda name: next((held[p + name] for p in PREFIXES if p + name in held), None)


# ---- vectors from elsewhere -------------------------------------------------------------------------------------------------

# facts/roformer.md 8.4, printed by scripts/tiny_forward.py: (kind, sizes, text): x of token 0; x of token 4; logits of token 2; their sum.
FACTS = [
    ("v1", dict(embedding_size=4), "", "1.978822511 -.292455656 -.827213050 1.070436557 -1.018576619 .070670483 -.934959929 .142935124",
     "1.808874368 -.133995330 -.693924428 1.177228954 -1.387888849 .209469135 -.938352597 .145324433",
     "-.223855543 .271046192 -.128732475 -.142232828 .375520863 -.222380403 .201677940 .460030354 -.634498113 -.108006131 .620239883",
     2.115843264),
    ("v1", {}, "", "1.540380589 -.174524150 -.554832877 -1.476294614 -.053668727 1.014042404 .568517471 -.923955512",
     "-2.133626217 .611405782 .673967915 .680163320 .627546894 .335571351 -.270874810 -.866040418",
     ".829861975 -.576632319 -1.122505123 -.371712406 .842132305 -.937036274 -.414753497 -.591469297 -.975896036 .910282890 .594138324",
     -.283179200),
    ("v1", dict(embedding_size=4, rotary_value=True), "",
     "1.987862558 -.636496496 -.762368885 .850520160 -1.135933417 .443519593 -.693111431 .184341063",
     "1.893879233 -.504143550 -.693232587 .934930107 -1.356986865 .478076547 -.727477060 .204658124",
     "-.227728919 .008830435 .079494569 -.175240848 .306044238 -.173007413 .308628075 .130279515 -.335316920 .073022240 .387642840",
     1.790250115),
    ("v1", dict(embedding_size=4, mask="causal"), "",
     "1.857900632 -.814303902 -1.251463587 .949201329 -.540507157 .329328716 -.639727908 .416437656",
     "1.799229342 -.314995920 -.866481006 1.169504424 -1.296423516 .312355188 -.809301743 .229881170",
     "-.220093108 .288026070 -.148421601 -.130253767 .368162672 -.210758929 .177145221 .492254537 -.639922418 -.142528963 .612194342",
     1.860505551),
    ("v1", dict(embedding_size=4, mask="unilm"), "",
     "1.963825977 -.102640623 -.627649320 1.089926844 -1.151776937 -.005677077 -1.056551384 .044383823",
     "1.808541935 -.119098240 -.679241673 1.177468934 -1.394252695 .201380974 -.949026775 .138079074",
     "-.223814197 .272189878 -.129654828 -.142051735 .375758812 -.222535515 .201270634 .461139266 -.635449050 -.108374284 .620923000",
     2.078952191),
    ("v1", dict(embedding_size=4), "padded", "1.963825977 -.102640623 -.627649320 1.089926844 -1.151776937 -.005677077 -1.056551384 .044383823",
     None, "-.223814197 .272189878 -.129654828 -.142051735 .375758812 -.222535515 .201270634 .461139266 -.635449050 -.108374284 .620923000",
     None),
    ("v2", {}, "", "-.609088635 .966001499 -.378935406 -.399150622 .512497593 .680343962 -1.077654520 -2.122752441",
     "-1.625826458 -.157520035 .134085073 .340398799 1.860483978 .504702992 -.693014059 -1.000815363",
     "-.078748022 -.132725555 -.000022379 .563728554 -.601249713 .823343601 1.044185903 1.224409390 -.790591290 .889613960 -.822868884",
     15.215528707),
    ("gau", dict(num_attention_heads=1, intermediate_size=12, attention_key_size=4), "",
     "-.266673583 -1.794974219 -.371235389 -1.542883160 .433051315 .899867454 -.311994616 -1.045950801",
     "0.577716488 -.622516008 .517832368 -.886242879 -1.132073299 1.705838687 .962281182 -1.052463787", None, None),
]


def check_facts():
    """The largest difference from FACTS, which have 9 decimals."""
    worst, tiny = 0, dict(vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    for kind, keys, how, x0, x4, logits2, total in FACTS:
        parts = {"v1": ("mlm",), "v2": ("tied",), "gau": ()}[kind]
        act = {"v1": "gelu", "v2": "relu", "gau": "swish"}[kind]
        c = case("", dict(tiny, hidden_act=act, **{x: y for x, y in keys.items() if x != "mask"}), kind=kind, parts=parts, mask=keys.get("mask"))
        held, k = {}, settings(c)
        for t, (name, shape) in enumerate(tensors_of(c).items(), 1):  # the script makes them in this order
            gain = name.endswith(("LayerNorm.weight", "scaleoffset.weight"))
            sharp = any(s in name for s in ("query.weight", "key.weight", "i_dense"))
            scale = 1.0 if sharp else 0.5 if "scaleoffset" in name else 0.1 if len(shape) == 1 else 0.3
            e = np.arange(math.prod(shape))
            held[name] = (gain + scale * np.sin(t + .37 * e + .0113 * e * e)).reshape(shape)
        w = lambda name: next((held[p + name] for p in PREFIXES if p + name in held), None)
        padded = how == "padded"
        x = forward(k, w, [2, 5, 7, 0, 0] if padded else [2, 5, 7, 1, 9], [0] * 5 if padded else [0, 0, 0, 1, 1], [1, 1, 1, 0, 0] if padded else None)
        logits = heads_of(k, w, x).get("logits")
        pairs = [(x[0], x0), (x[4], x4)] + ([(logits[2], logits2)] if logits2 else [])
        far = max(np.abs(got - np.array([float(s) for s in want.split()])).max() for got, want in pairs if want)
        far = max(far, abs(logits.sum() - total)) if total else far
        worst = max(worst, far)
    assert worst < 2e-9, worst
    return worst


# ---- transformers -----------------------------------------------------------------------------------------------------------

def exact_table(model, k):
    """The sines and cosines as create_weight makes them, less its rounding to float32; and what it does not know, theta and factor."""
    t = model.encoder.embed_positions.weight
    n, d = t.shape
    angle = np.arange(n)[:, None] / (k["rope_scaling"] or {}).get("factor", 1.0) * k["rope_theta"] ** (-2.0 * np.arange(d // 2) / d)
    exact = torch.from_numpy(np.concatenate([np.sin(angle), np.cos(angle)], 1))
    assert k["rope_scaling"] or (t.double() - exact).abs().max() < 1e-7
    t.data = exact


class RmsNorm(torch.nn.Module):
    """v2's norm, for LayerNorm's place."""

    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps)


def make_v2(model, eps):
    """Norms without weights; biases are zero already."""
    for module in list(model.modules()):
        if hasattr(module, "LayerNorm"):
            module.LayerNorm = RmsNorm(eps)


def recurrence(self, hidden_states, attention_mask=None, sinusoidal_pos=None, **kwargs):
    """In place of RoFormerSelfAttention.forward: linear attention as a state, taken in group by group. Tokens of a group see each
    other and all groups before; recurrence.groups: their ends; recurrence.keep: 0 for padding."""
    c, F = self.config_of, torch.nn.functional
    split = lambda x: x.view(*x.shape[:-1], -1, self.attention_head_size).transpose(1, 2)
    q, k, v = split(self.query(hidden_states)), split(self.key(hidden_states)), split(self.value(hidden_states))
    def rotate(x):
        head, rest = x[..., : self.attention_head_size], x[..., self.attention_head_size :]
        return torch.cat([self.apply_rotary_position_embeddings(sinusoidal_pos, head, head)[0], rest], -1)
    if c["rotary_value"]:
        v = rotate(v)
    form, epsilon = c["attention_form"], c["attention_denominator_epsilon"]
    if form.startswith("cosine"):
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    f = {"elu+1": lambda x: F.elu(x) + 1, "relu": F.relu, "exp": torch.exp, "softmax": lambda x: x.softmax(-1), "identity": lambda x: x}
    f = f[c["attention_feature_map"]]
    one = lambda x: F.pad(x, (0, 1), value=1.0) if form.startswith("cosine") else x
    plain, turned = [one(f(q)), one(f(k))], [rotate(one(f(q))), rotate(one(f(k)))]
    above = turned if form in ("numerator", "both", "cosine") else plain
    below = turned if form in ("both", "cosine") else plain
    S, z, out, t = 0, 0, torch.zeros_like(v), 0
    for end in recurrence.groups:
        for j in range(t, end):
            if recurrence.keep[j]:
                S = S + above[1][:, :, j, :, None] * v[:, :, j, None, :]
                z = z + below[1][:, :, j]
        for j in range(t, end):
            if torch.is_tensor(z):
                den = (below[0][:, :, j] * z).sum(-1, keepdim=True)
                den = den + (torch.sign(den) if form == "both" else 1) * epsilon
                out[:, :, j] = torch.einsum("bhr,bhrd->bhd", above[0][:, :, j], S) / den
        t = end
    return out.transpose(1, 2).flatten(2), None


@contextlib.contextmanager
def attention_of(c, k):
    """transformers' own attention, or where the case has linear attention the recurrence."""
    old = code.RoFormerSelfAttention.forward
    if k["attention_kind"] == "linear":
        code.RoFormerSelfAttention.forward, code.RoFormerSelfAttention.config_of = recurrence, k
    try:
        yield
    finally:
        code.RoFormerSelfAttention.forward = old


def groups_of(mask, types, n):
    if mask == "unilm":
        return [t + 1 for t in range(n) if t + 1 == n or types[t + 1]]
    return [n] if mask == "padding" else list(range(1, n + 1))


def build(c):
    """transformers' model of the case, its weights by formula, in double; what its own file would say stays as it is."""
    keys = {x: y for x, y in c["keys"].items() if x != "mask"}
    model = getattr(transformers, c["like"])(transformers.RoFormerConfig(**copy.deepcopy(keys), attn_implementation="eager")).eval()
    if c["kind"] == "v2":
        make_v2(model, settings(c)["layer_norm_eps"])
    w = weights(c)
    for name, t in model.named_parameters():
        if "embed_positions" not in name:
            v = w(next(name[len(p):] for p in PREFIXES if name.startswith(p)))
            assert v is not None or (c["kind"] == "v2" and name.endswith(".bias")), name
            t.data = torch.zeros(t.shape).double() if v is None else torch.from_numpy(v.copy())
    return model.double()


def twin(c, k, goldens):
    """The largest difference of the goldens from transformers; None where it has no such model."""
    if c["like"] is None:
        return None
    model, worst = build(c), 0.0
    body = getattr(model, "roformer", model)
    exact_table(body, k)
    for (name, x, heads) in goldens:
        t = TEXTS[name]
        n, keep = len(t["ids"]), t["keep"] or [1] * len(t["ids"])
        types = t["types"] or [0] * n
        recurrence.groups, recurrence.keep = groups_of(k["mask"], types, n), keep
        mask = torch.tensor([keep])
        if k["mask"] == "unilm":  # transformers takes a mask of its own making or one that is whole already
            mask = torch.from_numpy(np.where(seen_by("unilm", types, keep), 0, -1e300))[None, None]
        with torch.no_grad(), attention_of(c, k):
            given = dict(input_ids=torch.tensor([t["ids"]]), token_type_ids=torch.tensor([types]), attention_mask=mask)
            hidden = body(**given).last_hidden_state[0].numpy()
            said = None if model is body else model(**given).logits[0].numpy()
        kept = np.array(keep) != 0
        worst = max(worst, np.abs(hidden - x)[kept].max())
        if said is not None:
            mine = heads.get("logits", heads.get("label"))
            worst = max(worst, np.abs(said - mine[0]).max() if c["of"] == SEQ else np.abs(said - mine)[kept].max())
    assert worst < 1e-10, worst
    return worst


# ---- files ------------------------------------------------------------------------------------------------------------------

# As llama.cpp names BERT's tensors where it has them; the others are ours. Left: what the engine computes itself.
NAMES = [("token_embd", "embeddings.word_embeddings"), ("token_types", "embeddings.token_type_embeddings"),
         ("token_embd_norm", "embeddings.LayerNorm"), ("token_embd_proj", "embeddings_project"),
         ("blk.#.attn_q", "encoder.layer.#.attention.self.query"),
         ("blk.#.attn_k", "encoder.layer.#.attention.self.key"), ("blk.#.attn_v", "encoder.layer.#.attention.self.value"),
         ("blk.#.attn_output", "encoder.layer.#.attention.output.dense"), ("blk.#.attn_output_norm", "encoder.layer.#.attention.output.LayerNorm"),
         ("blk.#.ffn_up", "encoder.layer.#.intermediate.dense"), ("blk.#.ffn_down", "encoder.layer.#.output.dense"),
         ("blk.#.layer_output_norm", "encoder.layer.#.output.LayerNorm"), ("blk.#.gau_in", "encoder.layer.#.gau.i_dense"),
         ("blk.#.gau_q_scale", "encoder.layer.#.gau.q_scaleoffset"), ("blk.#.gau_k_scale", "encoder.layer.#.gau.k_scaleoffset"),
         ("blk.#.gau_out", "encoder.layer.#.gau.o_dense"), ("pooler", "pooler.dense"), ("mlm.dense", "cls.predictions.transform.dense"),
         ("mlm.norm", "cls.predictions.transform.LayerNorm"), ("mlm", "cls.predictions"), ("mlm.decoder", "cls.predictions.decoder"),
         ("mlm.dense", "generator_predictions.dense"), ("mlm.norm", "generator_predictions.LayerNorm"), ("mlm", "generator_lm_head"),
         ("cls.dense", "classifier.dense"), ("cls.out", "classifier.out_proj"), ("cls", "classifier"),
         ("disc.dense", "discriminator_predictions.dense"), ("disc.out", "discriminator_predictions.dense_prediction")]


ALIASES = {"cls.predictions.decoder.bias": "mlm.bias"}


def gguf_name(name):
    if name in ALIASES:
        return ALIASES[name]
    for p in PREFIXES:
        if name.startswith(p):
            stem, kind = name[len(p):].rsplit(".", 1)
            parts = stem.split(".")
            layer = parts[2] if parts[:2] == ["encoder", "layer"] else ""
            stem = ".".join(["encoder", "layer", "#", *parts[3:]]) if layer else stem
            for g, t in NAMES:
                if t == stem:
                    return g.replace("#", layer) + "." + kind
    raise KeyError(name)


def write_gguf(name, c, k, path):
    w = gguf.GGUFWriter(path, "roformer")
    u, gau = lambda key, v: w.add_uint32("roformer." + key, v), k["kind"] == "gau"
    w.add_name(name)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_string("roformer.variant", {"gau": "gau-alpha"}.get(k["kind"], k["kind"]))
    u("context_length", k["max_position_embeddings"])
    u("embedding_length", k["hidden_size"])
    u("embedding_length_in", k["embedding_size"])
    u("feed_forward_length", k["intermediate_size"])
    u("block_count", k["num_hidden_layers"])
    u("token_type_count", k["type_vocab_size"])
    u("attention.head_count", k["num_attention_heads"])
    if gau or "attention_key_size" in c["keys"]:
        u("attention.key_length", k["attention_key_size"])
    if gau:
        u("attention.value_length", k["intermediate_size"])
    w.add_float32("roformer.attention.layer_norm_epsilon", k["layer_norm_eps"])
    w.add_float32("roformer.rope.freq_base", k["rope_theta"])
    u("rope.dimension_count", k["attention_key_size"])
    if k["rope_scaling"]:
        w.add_string("roformer.rope.scaling.type", k["rope_scaling"]["type"])
        w.add_float32("roformer.rope.scaling.factor", k["rope_scaling"]["factor"])
    w.add_bool("roformer.rotary_value", k["rotary_value"])
    w.add_string("roformer.hidden_act", k["hidden_act"])
    w.add_string("roformer.mask", k["mask"])
    w.add_string("roformer.pooler", k["pooler_activation"] if "pooler" in k["parts"] else "none")
    for part, kind in (("seq", "sequence"), ("tok", "token")):
        if part in k["parts"]:
            w.add_string("roformer.classifier.kind", kind)
            w.add_array("roformer.classifier.labels", list(k["id2label"].values()))
    if k["attention_kind"] == "linear":
        for key in ("kind", "feature_map", "form"):
            w.add_string("roformer.attention." + key, k["attention_" + key])
        w.add_float32("roformer.attention.denominator_epsilon", k["attention_denominator_epsilon"])
    held = tensors_of(c)
    if "decoder" in k["parts"]:
        del held["cls.predictions.bias"]
    for name, shape in held.items():
        w.add_tensor(gguf_name(name), value_of(name, math.prod(shape)).reshape(shape).astype(np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_hf(c, folder):
    """config.json and model.safetensors: by transformers where the case is one of its own."""
    tensors = {name: torch.from_numpy(value_of(name, math.prod(shape)).reshape(shape)).float() for name, shape in tensors_of(c).items()}
    if c["of"]:
        build(c).float().save_pretrained(folder)
        saved = safetensors.torch.load_file(os.path.join(folder, "model.safetensors"))
        held = {n: t for n, t in saved.items() if "embed_positions" not in n}
        assert {n: t.shape for n, t in held.items()} == {n: t.shape for n, t in tensors.items()}, set(held) ^ set(tensors)
        assert all((held[n] == t).all() for n, t in tensors.items())
        if c["mask"]:
            path = os.path.join(folder, "config.json")
            conf = dict(json.load(open(path)), mask=c["mask"])
            open(path, "w").write(json.dumps(conf, indent=2) + "\n")
        return
    kind = {"gau": "gau_alpha"}.get(c["kind"], "roformer")
    names = {"gau": "GAUAlphaForMaskedLM"}
    conf = dict(architectures=[names.get(c["kind"], LM if c["mask"] else MLM)], model_type=kind, **c["keys"])
    if c["mask"] and "pooler" not in c["parts"]:  # a linear pooler says it without words
        conf["mask"] = c["mask"]
    open(os.path.join(folder, "config.json"), "w").write(json.dumps(conf, indent=2) + "\n")
    safetensors.torch.save_file(tensors, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


def put(name, data):
    with open(os.path.join(GOLDEN, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def row(word, t, v):
    return f"{word} {t} " + " ".join(f"{x:.7g}" for x in v)


def one_case(name):
    c = CASES[name]
    k, w = settings(c), weights(c)
    goldens = []
    for t in c["texts"]:
        x = forward(k, w, *(TEXTS[t][s] for s in ("ids", "types", "keep")))
        goldens.append((t, x, heads_of(k, w, x)))
    apart = twin(c, k, goldens)
    how = (" with v2 norms" if c["kind"] == "v2" else "") + (" around a recurrence" if k["attention_kind"] == "linear" else "")
    against = f"{c['like']}{how}: largest difference {apart:.1e}" if c["like"] else "nothing"
    print(f"{name:15s} against {against}; largest |x| {max(np.abs(x).max() for _, x, _ in goldens):.2f}")

    lines = [f"# python tests/oracle/roformer.py; NumPy {np.__version__} in float64, held against {against}"
             + (f" (transformers {transformers.__version__})" if c["like"] else " but the vectors of facts 8.4"), "head " + c["head"]]
    for t, x, heads in goldens:
        spec = TEXTS[t]
        lines.append(f"text {t} {len(spec['ids'])}")
        lines += [f"{word} " + " ".join(map(str, spec[word])) for word in ("ids", "types", "keep") if spec[word]]
        lines += [row("hidden", p, x[p]) for p in spec["rows"]]
        lines += [row("logits", p, heads["logits"][p]) for p in spec["logits"] if "logits" in heads]
        first = spec["rows"][0] if c["kind"] == "v1" and spec["keep"] and not spec["keep"][0] else 0  # the first token, unless it is padding
        lines += [row("pool", first, heads["pool"][first])] if "pool" in heads else []
        lines += [row("label", p, heads["label"][p]) for p in spec["rows"] if "label" in heads]
    put(name + ".txt", "\n".join(lines) + "\n")
    with tempfile.TemporaryDirectory() as tmp:
        write_hf(c, tmp)
        put(name + ".config.json", open(os.path.join(tmp, "config.json"), "rb").read())
        blob = open(os.path.join(tmp, "model.safetensors"), "rb").read()
        put(c["head"] + ".safetensors.head", blob[:8 + int.from_bytes(blob[:8], "little")])
        path = os.path.join(tmp, "x.gguf")
        write_gguf(name, c, k, path)
        put(name + ".gguf.head", open(path, "rb").read()[:gguf.GGUFReader(path).data_offset])


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--only", default="", help="only cases whose name holds this")
    args = ap.parse_args()
    os.makedirs(GOLDEN, exist_ok=True)
    print(f"python {platform.python_version()}, numpy {np.__version__}, torch {torch.__version__}, "
          f"transformers {transformers.__version__}, safetensors {safetensors.__version__}")
    print(f"off from facts/roformer.md 8.4 by {check_facts():.1e}, which prints 9 decimals")
    put("names.map", "".join(f"{g}.{kind} {t}.{kind}\n" for g, t in NAMES for kind in ("weight", "bias") if f"{t}.{kind}" not in ALIASES)
        + "".join(f"{g} {t}\n" for t, g in ALIASES.items()))
    for case_name in CASES:
        if args.only in case_name:
            one_case(case_name)
