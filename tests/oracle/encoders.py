#!/usr/bin/env python3
"""Goldens of the encoders with RoPE: tiny models, their float64 hidden states, logits, labels and embeddings.

    export LLAMA_CPP=PATH                             # a checkout of llama.cpp, whose converter writes the heads
    v/bin/python tests/oracle/encoders.py             # writes tests/golden/encoders/
    v/bin/python tests/oracle/encoders.py --only gte  # only the cases whose name holds "gte"
    v/bin/python tests/oracle/encoders.py --out DIR   # the folders and GGUF files themselves, to try by hand

The cases stand in encoder_cases.py. Stored is what architectures.py stores, but
    NAME.config.json       as the model's repository on the Hub has it; NAME.config5.json: transformers 5.24's spelling;
                           NAME.configboth.json: both in one file, as one repository has it now
    NAME.modules.json, NAME.1_Pooling.config.json ..    sentence-transformers' files; NAME.2_Dense.safetensors.head
    NAME.TASK.gguf.head    a LoRA adapter of jina's as llama.cpp's converter splits them off
    NAME.golden, NAME.TASK.golden    texts (`text`, `ids`, `types`, `keep`: 0 is padding), and behind each its rows:
        hidden TOKEN ..    the last layer's output            logits TOKEN ..    of the masked language model
        pool 0 ..          the pooler's output                label TOKEN ..     the classifier's logits (yes, no)
        embed WIDTH ..     what sentence-transformers' modules make of the text
        cut WIDTH ..       that, cut to a width as the model's card says, of length 1
    wrong_encoders.txt     as architectures.py's wrong.txt; `trade`: tensors take each other's names; a file's name:
                           two of its flags trade places, and how far off embeddings are then

The golden is transformers' own code with every float32 inside it made float64, fed by its own loader; the embedding is
sentence-transformers' own modules, made from the files stored. NeoBERT is in neither: it is written down below from its
repository's code.
"""
import argparse, contextlib, json, os, tempfile
import architectures as arch  # first: it brings llama.cpp's gguf package
import numpy as np, torch, transformers, safetensors, safetensors.numpy, sentence_transformers
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
import decoders, gguf_map
from encoder_cases import CASES, FIVE, WRONG

GOLDEN = os.path.join(decoders.HERE, "..", "golden", "encoders")
LONG, SHORT = arch.ids_of(2104)[:33], arch.ids_of(2105)[:9]


class Text:
    """n ids, of which the last n_padding are padding; types: 0, and 1 from the middle on."""
    def __init__(self, name, ids, typed, n_padding=0):
        self.name, self.ids = name, ids + [1] * n_padding
        self.types = [int(t >= len(ids) // 2) for t in range(len(self.ids))] if typed else None
        self.keep = [1] * len(ids) + [0] * n_padding
        last = len(ids) - 1
        self.rows = {"long": [0, 7, 16, 32], "short": [0, last], "padded": [last]}[name]
        self.logits = [16, last] if name == "long" else [last]


def texts_of(case):
    return [Text("long", LONG, case.types), Text("short", SHORT, case.types), Text("padded", SHORT, case.types, 4)]


# ---- a folder as the Hub has it -------------------------------------------------------------------------------------

def value_of(name, shape):
    return decoders.value_of(name, int(np.prod(shape))).reshape(shape).astype(np.float32)


def class_of(case):
    return getattr(transformers, case.model)


def new_config(case):
    """The case's config.json in transformers 5.24's spelling."""
    keys = case.keys(case.hub) if callable(case.keys) else case.keys or without(
        case.hub, "architectures", "auto_map", "dtype", "torch_dtype")
    config = class_of(case).config_class(**json.loads(json.dumps(keys)), dtype="float32")
    config.architectures = [case.model]
    return json.loads(config.to_json_string(use_diff=False))


def without(d, *keys):
    return {k: v for k, v in d.items() if k not in keys}


def saved_shapes(case):
    """{name: shape} as transformers' save_pretrained writes them."""
    with tempfile.TemporaryDirectory() as tmp, torch.no_grad():
        class_of(case)(class_of(case).config_class(**new_config(case))).save_pretrained(
            tmp, save_original_format=not case.modules)
        return {n: t.shape for n, t in safetensors.numpy.load_file(os.path.join(tmp, "model.safetensors")).items()}


def with_lora(shapes, n, rank):
    """Matrices as torch's parametrizations call them, with two more for each: embeddings have theirs transposed."""
    out = {}
    for name, shape in shapes.items():
        if not name.endswith(".weight") or len(shape) < 2:
            out[name] = shape
            continue
        stem = name.removesuffix(".weight") + ".parametrizations.weight."
        rows, columns = shape
        out |= {stem + "original": shape} | (
            {stem + "0.lora_A": (n, rows, rank), stem + "0.lora_B": (n, rank, columns)} if "embeddings." in name else
            {stem + "0.lora_A": (n, rank, columns), stem + "0.lora_B": (n, rows, rank)})
    return out


def hub_shapes(case):
    if case.model in NEOBERT:
        return neobert_shapes(case)
    ours, hubs = case.prefix
    shapes = {n.replace(ours, hubs, 1) if n.startswith(ours) else n: s
              for n, s in saved_shapes(case).items() if n not in case.without}
    return (with_lora(shapes, len(case.tasks) - 1, case.lora) if case.lora else shapes) | case.more


def write(folder, path, data):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(data if isinstance(data, str) else json.dumps(data, indent=2) + "\n")


def write_folder(case, folder):
    os.makedirs(folder)
    write(folder, "config.json", case.hub or new_config(case))
    tensors = {n: value_of(n, s) for n, s in sorted(hub_shapes(case).items())}
    safetensors.numpy.save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    for path, data in case.st.items():
        write(folder, path, data)
        if "Dense/" in path:  # both have a tensor of this name: the folder's name makes it another
            w = value_of(path.split("/")[0] + ".linear.weight", (data["out_features"], data["in_features"]))
            safetensors.numpy.save_file({"linear.weight": w}, os.path.join(folder, os.path.dirname(path),
                                                                          "model.safetensors"), {"format": "pt"})


# ---- transformers ----------------------------------------------------------------------------------------------------

def merged(tensors, config, task):
    """Parametrized matrices made plain, with a task's LoRA in them, in float64."""
    out, scale = {}, config["lora_alpha"] / config["lora_rank"]
    for name, t in tensors.items():
        if "parametrizations" not in name:
            out[name] = t
        elif name.endswith(".original"):
            stem = name.removesuffix("original")
            if task:
                i = config["lora_adaptations"].index(task)
                a, b = (tensors[stem + f"0.lora_{x}"][i].astype(np.float64) for x in "AB")
                t = t.astype(np.float64) + scale * (a @ b if "embeddings." in name else b @ a)
            out[name.replace("parametrizations.weight.original", "weight")] = t
    return out


def ready(case, folder, dtype, task):
    """A copy of the folder that transformers' own loader takes."""
    out = arch.copied(folder)
    path, config = os.path.join(out, "model.safetensors"), json.load(open(os.path.join(folder, "config.json")))
    tensors = safetensors.numpy.load_file(path)
    if case.lora:
        tensors = merged(tensors, config, task)
    ours, hubs = case.prefix
    tensors = {n.replace(hubs, ours, 1) if n.startswith(hubs) and hubs else n: np.ascontiguousarray(t.astype(dtype))
               for n, t in tensors.items() if n not in case.more}
    for n in case.without:
        tensors[n] = np.zeros(saved_shapes(case)[n], dtype)
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})
    if callable(case.keys):
        write(out, "config.json", class_of(case).config_class(**case.keys(config)).to_json_string())
    return out


def load(case, folder, dtype, task):
    np_dtype = np.float64 if dtype == torch.float64 else np.float32
    model, info = class_of(case).from_pretrained(ready(case, folder, np_dtype, task), dtype=dtype,
                                                 attn_implementation="eager", output_loading_info=True)
    assert not (info["missing_keys"] or info["mismatched_keys"] or info["unexpected_keys"]), info
    return model.eval()


def answers(case, model, texts):
    """What the model says of texts read in one batch, padded on the right: for each {kind: rows}."""
    longest = max(len(t.ids) for t in texts)
    batch = lambda rows: torch.tensor([list(r) + [0] * (longest - len(r)) for r in rows])
    given = dict(input_ids=batch(t.ids for t in texts), attention_mask=batch(t.keep for t in texts))
    if case.types:
        given["token_type_ids"] = batch(t.types for t in texts)
    with torch.no_grad():
        body = model.base_model(**given)
        out = {"hidden": body.last_hidden_state}
        if getattr(body, "pooler_output", None) is not None and "Sequence" in case.model:
            out["pool"] = body.pooler_output
        if "For" in case.model:
            out["label" if "Classification" in case.model else "logits"] = model(**given).logits
    return [{k: v[i].double().numpy() for k, v in out.items()} for i in range(len(texts))]


# ---- NeoBERT, from the code of chandar-lab/NeoBERT ------------------------------------------------------------------

NEOBERT = {"NeoBERTLMHead": "decoder", "NeoBERTForSequenceClassification": "classifier"}


def neobert_shapes(case):
    h = case.hub
    d, vocab, ff = h["hidden_size"], h["vocab_size"], (h["intermediate_size"] * 2 // 3 + 7) // 8 * 8
    shapes = {"model.encoder.weight": (vocab, d), "model.layer_norm.weight": (d,)}
    for l in range(h["num_hidden_layers"]):
        shapes |= {f"model.transformer_encoder.{l}.{n}.weight": s for n, s in {
            "attention_norm": (d,), "qkv": (3 * d, d), "wo": (d, d), "ffn_norm": (d,), "ffn.w12": (2 * ff, d),
            "ffn.w3": (d, ff)}.items()}
    head = {"decoder": vocab} if NEOBERT[case.model] == "decoder" else {"dense": d, "classifier": len(h["id2label"])}
    for name, rows in head.items():
        shapes |= {name + ".weight": (rows, d), name + ".bias": (rows,)}
    return shapes


class NeoBert:
    """NumPy, a text at a time. RMS norms before each branch; q, k and v stand side by side in every head's rows; pairs
    are neighbours; silu of the first half of w12 times the second."""
    def __init__(self, folder, dtype):
        self.h = json.load(open(os.path.join(folder, "config.json")))
        tensors = safetensors.numpy.load_file(os.path.join(folder, "model.safetensors"))
        self.w = {n.removesuffix(".weight").removeprefix("model."): t.astype(dtype) for n, t in tensors.items()}
        self.dtype = dtype

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.dtype(self.h["norm_eps"])) * self.w[name]

    def attention(self, x, layer, keep):
        n, heads = len(x), self.h["num_attention_heads"]
        q, k, v = np.split((x @ self.w[layer + "qkv"].T).reshape(n, heads, -1), 3, -1)
        angle = np.arange(n)[:, None] * 10000.0 ** (-2.0 * np.arange(q.shape[-1] // 2) / q.shape[-1])
        turn = np.exp(1j * angle)[:, None]
        q, k = (((t[..., ::2] + 1j * t[..., 1::2]) * turn) for t in (q, k))
        scores = np.einsum("qhd,khd->hqk", q, k.conj()).real.astype(self.dtype) / self.dtype(np.sqrt(v.shape[-1]))
        scores = np.where(np.array(keep, bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        att = np.einsum("hqk,khd->qhd", p / p.sum(-1, keepdims=True), v).reshape(n, -1)
        return att @ self.w[layer + "wo"].T

    def hidden(self, text):
        x = self.w["encoder"][text.ids]
        for l in range(self.h["num_hidden_layers"]):
            layer = f"transformer_encoder.{l}."
            x = x + self.attention(self.norm(x, layer + "attention_norm"), layer, text.keep)
            a, b = np.split(self.norm(x, layer + "ffn_norm") @ self.w[layer + "ffn.w12"].T, 2, -1)
            x = x + (a / (1 + np.exp(-a)) * b) @ self.w[layer + "ffn.w3"].T
        return self.norm(x, "layer_norm")

    def dense(self, x, name):
        return x @ self.w[name].T + self.w[name + ".bias"]

    def answers(self, text):
        x = self.hidden(text)
        if "decoder" in self.w:
            return {"hidden": x, "logits": self.dense(x, "decoder")}
        return {"hidden": x, "label": self.dense(np.tanh(self.dense(x[0], "dense")), "classifier")}


# ---- all that is said of a text --------------------------------------------------------------------------------------

def embedded(case, folder, hidden, keep):
    """What sentence-transformers' modules make of one text's hidden states; and that, cut."""
    features = dict(token_embeddings=torch.from_numpy(hidden)[None], attention_mask=torch.tensor([keep]))
    with torch.no_grad():
        for module in json.load(open(os.path.join(folder, "modules.json")))[1:]:
            kind = {"Pooling": Pooling, "Dense": Dense, "Normalize": Normalize}[module["type"].split(".")[-1]]
            made = kind() if kind is Normalize else kind.load(folder, subfolder=module["path"], local_files_only=True)
            features = made.double()(features)
    e, cuts = features["sentence_embedding"][0].numpy(), {}
    for width in case.cuts:
        c = (e - e.mean()) / np.sqrt(e.var() + 1e-5) if case.levelled else e
        cuts[width] = c[:width] / np.linalg.norm(c[:width])
    return e, cuts


def rows_of(case, folder, text, said):
    """[(kind, token or width, values)] of what is stored."""
    rows = [("hidden", p, said["hidden"][p]) for p in text.rows]
    last = sum(text.keep) - 1
    if "logits" in said:
        rows += [("logits", p, said["logits"][p]) for p in text.logits]
        rows += [("label", last, said["logits"][last][list(case.answer)])] if case.answer else []
    for kind in ("pool", "label"):
        of_tokens = kind in said and said[kind].ndim > 1
        rows += [(kind, p, said[kind][p] if of_tokens else said[kind])
                 for p in (text.rows if of_tokens else [0]) if kind in said]
    if case.st:
        e, cuts = embedded(case, folder, said["hidden"], text.keep)
        rows += [("embed", len(e), e)] + [("cut", width, c) for width, c in cuts.items()]
    return rows


def said_of(case, folder, task, check):
    """What the model says of each text alone, in float64. check: every operation is looked at, and texts that are read
    beside each other are held against the same texts alone."""
    with decoders.everything_double():
        model, texts = load(case, folder, torch.float64, task), texts_of(case)
        with arch.Doubles() if check else contextlib.nullcontext():
            alone = [answers(case, model, [t])[0] for t in texts]
        assert not any(t.dtype in arch.NARROW for t in [*model.parameters(), *model.buffers()])
        for t, one, beside in zip(texts, alone, answers(case, model, texts)) if check else ():
            for k in one:
                n = sum(t.keep) if one[k].ndim > 1 else None
                assert np.abs(one[k][:n] - beside[k][:n]).max() < 1e-11, (t.name, k)
        return alone


def golden(case, folder, task="", check=False):
    """{text's name: rows} in float64."""
    if case.model in NEOBERT:
        said = map(NeoBert(folder, np.float64).answers, texts_of(case))
    else:
        said = said_of(case, folder, task, check)
    return {t.name: rows_of(case, folder, t, s) for t, s in zip(texts_of(case), said)}


def as_it_is(case, folder, task):
    """The same in float32."""
    if case.model in NEOBERT:
        said = map(NeoBert(folder, np.float32).answers, texts_of(case))
    else:
        model = load(case, folder, torch.float32, task)
        said = [answers(case, model, [t])[0] for t in texts_of(case)]
    return {t.name: rows_of(case, folder, t, s) for t, s in zip(texts_of(case), said)}


def off(a, b, kinds=("hidden", "logits", "pool", "label")):
    return max(np.abs(x[2] - y[2]).max() for t in a for x, y in zip(a[t], b[t]) if x[0] in kinds)


# ---- wrong in one thing ----------------------------------------------------------------------------------------------

def spoil(folder, how, to, by):
    """A copy of a folder that is wrong in one thing. Tensors of a module are called by its folder, too."""
    if how == "config" or how in ("set", "add", "swap") and "Dense" not in to:
        return arch.spoil(folder, how, to, by)
    out = arch.copied(folder)
    if how not in ("trade", "set"):  # a file: `to` and `by` trade places
        text = open(os.path.join(out, how)).read()
        other_to, other_by = (x.replace("true", "false") for x in (to, by))
        assert to in text and other_by in text
        text = text.replace(to, "\0").replace(other_by, by).replace("\0", other_to)
        write(out, how, text)
        return out
    sub = "." if how == "trade" else to.split(".")[0]
    path = os.path.join(out, sub, "model.safetensors")
    tensors = safetensors.numpy.load_file(path)
    for n, t in tensors.items():
        if how == "set":
            tensors[n] = np.full_like(t, float(by))
        elif to in n or by in n:
            tensors[n] = value_of(n.replace(to, by) if to in n else n.replace(by, to), t.shape)
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})
    return out


def wrong_ones(name, case, folder, task, rows):
    out = []
    for what, how, to, by in WRONG.get(name, []):
        bad = golden(case, spoil(folder, how, to, by), task)
        kinds = ("embed",) if "/" in how or "Dense" in to else ("hidden", "logits", "pool", "label")
        out.append((name, what, how, to, by, off(rows, bad, kinds)))
    return out


# ---- writing ---------------------------------------------------------------------------------------------------------

def put(name, suffix, data):
    with open(os.path.join(GOLDEN, name + suffix), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def head_of(path):
    blob = open(path, "rb").read()
    return blob[:8 + int.from_bytes(blob[:8], "little")]


def text_of(case, golden_rows, notes):
    lines = ["# python tests/oracle/encoders.py; " + arch.versions().replace("safetensors", "sentence-transformers "
             + sentence_transformers.__version__ + ", safetensors"), *("# " + n for n in notes)]
    for t in texts_of(case):
        lines += [f"text {t.name} {len(t.ids)}", "ids " + " ".join(map(str, t.ids))]
        lines += ["types " + " ".join(map(str, t.types))] if t.types else []
        lines += ["keep " + " ".join(map(str, t.keep))] if 0 in t.keep else []
        lines += [f"{kind} {p} " + " ".join(f"{x:.7g}" for x in v) for kind, p, v in golden_rows[t.name]]
    return "\n".join(lines) + "\n"


def for_converter(case, folder):
    """Under transformers 5.24 llama.cpp's converter finds no sizes in nomic's older spelling alone."""
    if "both" in case.spellings:
        write(folder, "config.json", case.spellings["both"](case.hub, new_config(case)))


def write_case_files(name, case, folder, tmp):
    put(name, ".config.json", open(os.path.join(folder, "config.json")).read())
    for suffix, spelled in case.spellings.items():
        config = spelled(case.hub, new_config(case))
        put(name, f".config{suffix}.json", json.dumps(config, indent=2) + "\n")
    put(name, ".safetensors.head", head_of(os.path.join(folder, "model.safetensors")))
    for path in case.st:
        put(name, "." + path.replace("/", "."), open(os.path.join(folder, path)).read())
        if "Dense/" in path:
            dense = os.path.dirname(path)
            put(name, f".{dense}.safetensors.head", head_of(os.path.join(folder, dense, "model.safetensors")))
    if not case.no_gguf:
        for_converter(case, folder)
        for task, (head, lines) in gguf_map.heads_and_maps(folder, tmp, case.tasks).items():
            put(name, f"{task and '.' + task}.gguf.head", head)
            put(name, f"{task and '.' + task}.gguf.map", "\n".join(lines) + "\n")


def one_case(name, tmp):
    case, folder, wrong = CASES[name], os.path.join(tmp, name + "-qwen3-reranker" * bool(CASES[name].answer)), []
    write_folder(case, folder)
    for task in case.tasks:
        full = name + (task and "." + task)
        rows = golden(case, folder, task, check=True)
        stock = off(rows, as_it_is(case, folder, task), ("hidden", "logits", "pool", "label", "embed", "cut"))
        print(f"{full:24s} {case.model:36s} float32 {stock:.1e}  "
              f"max {max(np.abs(r[2]).max() for t in rows.values() for r in t):5.2f}", flush=True)
        assert stock < arch.ROUGH
        notes = [f"{case.model} with float64 inside; as it is (float32) off by at most {stock:.1e}"]
        notes += [f"no GGUF: {case.no_gguf}"] if case.no_gguf else []
        notes += ["label: logits of ids %d (yes) and %d (no)" % case.answer] if case.answer else []
        put(full, ".golden", text_of(case, rows, notes))
        wrong += wrong_ones(full, case, folder, task, rows)
    write_case_files(name, case, folder, tmp)
    return wrong


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--out", help="write whole models into this folder instead")
    ap.add_argument("--only", default="", help="only cases whose name holds this")
    args = ap.parse_args()
    os.makedirs(GOLDEN, exist_ok=True)
    wrong = []
    for name in CASES:
        if args.only in name:
            with tempfile.TemporaryDirectory() as tmp:
                if args.out:
                    write_folder(CASES[name], os.path.join(args.out, name))
                    if not CASES[name].no_gguf:
                        for_converter(CASES[name], os.path.join(args.out, name))
                        gguf_map.convert(os.path.join(args.out, name), os.path.join(args.out, name + ".gguf"))
                else:
                    wrong += one_case(name, tmp)
    for w in wrong:
        print("   ", *w[:5], f"{w[5]:.2g}")
    arch.write_wrong(wrong, os.path.join(GOLDEN, "wrong_encoders.txt"), list(WRONG))
    assert all(w[5] > 1e-2 for w in wrong)


if __name__ == "__main__":
    main()
