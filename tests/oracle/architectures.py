#!/usr/bin/env python3
"""Goldens of the architectures one step from llama: tiny models of transformers' own classes, their float64 logits.

    export LLAMA_CPP=PATH                                  # a checkout of llama.cpp, whose converter writes the heads
    v/bin/python tests/oracle/architectures.py             # writes tests/golden/architectures/
    v/bin/python tests/oracle/architectures.py --only qwen # only the cases whose name holds "qwen"
    v/bin/python tests/oracle/architectures.py --out DIR   # whole real models to try by hand (nothing else is written)
    v/bin/python tests/oracle/architectures.py --search    # ids at which float32 is calm, for the linear layers

The cases stand in architecture_cases.py. Stored is what decoders.py stores, but
    NAME.config4.json     is an older spelling of config.json, as the family's repositories on the Hub have it
    NAME.gguf.head, .map  are llama.cpp's own converter's, and gguf_map.py's
    wrong.txt             has models that are wrong in one thing: the case, what, how (config: a text for another; set,
                          add, swap: numbers of tensors), to what, by what, how far off the logits are then

The golden is transformers' own code with every float32 inside it made float64; that none is left is seen by looking at
every operation. Whole texts are held against one id at a time with transformers' cache: for gated delta rules that is
the recurrence against the form in chunks.
"""
import argparse, contextlib, json, os, platform, re, shutil, tempfile
import gguf_map  # first: it brings llama.cpp's gguf package
import numpy as np, torch, transformers, safetensors.numpy
from torch.utils._python_dispatch import TorchDispatchMode
from transformers.integrations.mxfp4 import convert_moe_packed_tensors
import decoders, linear
from architecture_cases import CASES, CHUNKS, DROP, GROWING, WRONG, rope

GOLDEN = os.path.join(decoders.HERE, "..", "golden", "architectures")
NARROW = torch.float32, torch.float16, torch.bfloat16
ROUGH = 5e-5  # how far float32 may be off, for the engine's tolerance is 1e-4


def ids_of(seed):
    """The first 40 of 2104 are those of decoders.py."""
    return [3 + int(v) for v in np.random.RandomState(seed).randint(0, 93, 72)]


# ---- a folder as the Hub has it -------------------------------------------------------------------------------------

def value_of(case, name, shape):
    """decoders.value_of in shape; bytes where mxfp4 has them: codes of any kind, scales 2^-4 .. 2^-2."""
    n = int(np.prod(shape))
    if name.endswith(("_blocks", "_scales")):
        u = linear.hashed(name, n)
        return (123 + u % 3 if name.endswith("_scales") else u).astype(np.uint8).reshape(shape)
    v = decoders.value_of(name, n)
    if case.repeat and case.repeat[0] in name:
        v = np.tile(v[:case.repeat[1]], n)[:n]
    return v.reshape(shape).astype(np.float32)


def config_of(case):
    base = dict(decoders.BASE, pad_token_id=0, rope_parameters=rope())
    keys = copy_of(case.keys)
    text = keys.get("text_config", keys)
    if "vocab_size" not in text:  # else it says all that it wants to say
        text |= base | text
    return getattr(transformers, case.model).config_class(**keys)


def copy_of(tree):
    return json.loads(json.dumps(tree))


def shapes_of(case, folder):
    """{name: shape} of what transformers wrote, as the Hub's files have it."""
    shapes = {k: v.shape for k, v in safetensors.numpy.load_file(os.path.join(folder, "model.safetensors")).items()}
    if "quantization_config" in case.keys:  # [E, in, out] becomes [E, out, in/32, 16] and [E, out, in/32]
        for name in [n for n in shapes if re.search(r"experts\.(gate_up|down)_proj$", n)]:
            e, rows, columns = shapes.pop(name)
            shapes |= {name + "_blocks": (e, columns, rows // 32, 16), name + "_scales": (e, columns, rows // 32)}
    if case.published:
        shapes = case.published.shapes(shapes)
    if case.rename:
        shapes = {n.replace(*case.rename): s for n, s in shapes.items()}
    return shapes | case.more


def write_folder(case, folder, fill=value_of):
    """config.json by transformers; its tensors' names with the formula's weights."""
    with torch.no_grad():
        model = getattr(transformers, case.model)(config_of(case))
        model.save_pretrained(folder, save_original_format=not case.as_module)
    path = os.path.join(folder, "config.json")
    if case.published:
        config = json.load(open(path))
        os.rename(path, os.path.join(folder, "class.json"))
        with open(path, "w") as f:
            f.write(json.dumps(case.published.config(copy_of(config)), indent=2) + "\n")
    weights = {n: fill(case, n, s) for n, s in sorted(shapes_of(case, folder).items())}
    safetensors.numpy.save_file(weights, os.path.join(folder, "model.safetensors"), {"format": "pt"})


def older(case, saved):
    """A saved config.json in an older spelling."""
    def one(t):
        gone = ("layer_types", "dtype", "_sliding_window_pattern", "use_bidirectional_attention", "rope_parameters")
        out, p = {k: v for k, v in t.items() if k not in gone}, copy_of(t["rope_parameters"])
        if "full_attention" in p:
            out["rope_local_base_freq"] = p["sliding_attention"]["rope_theta"]
            p = p["full_attention"]
        out["rope_theta"], kind = p.pop("rope_theta"), p.pop("rope_type")
        if "partial_rotary_factor" in p:
            out["partial_rotary_factor"] = p.pop("partial_rotary_factor")
        out["rope_scaling"] = None if kind == "default" else dict(p, rope_type=kind)
        return {k: v for k, v in (out | case.old(t)).items() if v is not DROP}

    new = dict(saved, text_config=one(saved["text_config"])) if "text_config" in saved else one(saved)
    if case.flat:
        outer = "architectures", "model_type", "vision_config", "tie_word_embeddings"
        new = dict(new.pop("text_config"), **{k: new[k] for k in outer if k in new})
    return dict(new, torch_dtype="float32", transformers_version="4.55.0")


# ---- transformers ----------------------------------------------------------------------------------------------------

class Doubles(TorchDispatchMode):
    """An operation that gives less than float64 is an error."""
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        for t in out if isinstance(out, (tuple, list)) else [out]:
            assert not isinstance(t, torch.Tensor) or t.dtype not in NARROW, (func, t.dtype)
        return out


def load(case, folder, dtype):
    """The class, by transformers' own loader: every tensor of the file has its place, none is left out."""
    name = re.sub("Model$", "ForCausalLM", case.model)
    model, info = getattr(transformers, name).from_pretrained(
        folder, dtype=dtype, attn_implementation="eager", experts_implementation="eager", output_loading_info=True)
    assert not (info["missing_keys"] or info["mismatched_keys"] or set(info["unexpected_keys"]) - set(case.more)), info
    return model.eval()


def whole(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].double().numpy()


def stepwise(model, ids):
    cache, rows = None, []
    with torch.no_grad():
        for i in ids:
            out = model(input_ids=torch.tensor([[i]]), past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            rows.append(out.logits[0, 0].double().numpy())
    return np.array(rows)


def copied(folder):
    out = tempfile.mkdtemp(dir=os.path.dirname(folder))
    return shutil.copytree(folder, out, dirs_exist_ok=True)


def opened(case, folder, dtype):
    """A copy of a folder with tensors of dtype, mxfp4 decoded by transformers' own function; its quantizer, which calls
    that too, wants more packages."""
    out = copied(folder)
    path = os.path.join(out, "model.safetensors")
    tensors = {}
    for name, t in (read := safetensors.numpy.load_file(path)).items():
        if name.endswith("_blocks"):
            scales = torch.from_numpy(read[name.replace("_blocks", "_scales")])
            t = convert_moe_packed_tensors(torch.from_numpy(t), scales, dtype=torch.float32).numpy()
        if not name.endswith("_scales"):
            tensors[name.removesuffix("_blocks")] = np.ascontiguousarray(t.astype(dtype))
    config = json.load(open(os.path.join(out, "class.json" if case.published else "config.json")))
    if case.published:
        tensors = {n: np.ascontiguousarray(t) for n, t in case.published.tensors(config, tensors).items()}
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})
    config.pop("quantization_config", None)
    json.dump(config, open(os.path.join(out, "config.json"), "w"))
    return out


def watch_routers(model, gaps):
    """Let routers say by how much the last expert that they take beats the first that they leave."""
    def hook(module, args, out):
        scores = out[0]
        if hasattr(module, "e_score_correction_bias"):
            scores = scores.sigmoid() + module.e_score_correction_bias
        if hasattr(module, "moe_statics"):
            scores = module.moe_statics(scores.softmax(-1))
        k = getattr(module, "top_k", None) or module.config.top_k_experts
        scores = scores if hasattr(module, "top_k") else scores.log()  # Gemma 4's gives a softmax
        best = scores.sort(descending=True).values
        gaps.append((best[:, k - 1] - best[:, k]).min().item())
    for m in model.modules():
        if type(m).__name__.lower().endswith(("topkrouter", "textrouter")):
            m.register_forward_hook(hook)


@contextlib.contextmanager
def lower_first(on):
    """Of equal experts torch.topk takes any, and not always the same one: let it be the one with the lower number."""
    def topk(x, k, dim):
        values, order = x.sort(dim=dim, descending=True, stable=True)
        return values[..., :k], order[..., :k]
    old = torch.topk
    torch.topk = topk if on else old
    try:
        yield
    finally:
        torch.topk = old


def rows_of(case, folder, check=False):
    """[(length of the call, position, logits)] in float64."""
    ids, out = ids_of(case.seed), []
    with decoders.everything_double(), lower_first(case.repeat):
        model, gaps = load(case, opened(case, folder, np.float64), torch.float64), []
        watch_routers(model, gaps)
        for n in sorted({n for n, _ in case.rows}):
            with Doubles() if check else contextlib.nullcontext():
                logits = whole(model, ids[:n])
            out += [(n, p, logits[p]) for m, p in case.rows if m == n]
        if check:
            assert not any(t.dtype in NARROW for t in [*model.parameters(), *model.buffers()])
            assert not gaps or (min(gaps) == 0 if case.repeat else min(gaps) > 3e-4), ("experts nearly tie", min(gaps))
            if case.rows is not GROWING:  # longrope's cache keeps what the shorter text's list turned
                assert np.abs(stepwise(model, ids[:n]) - logits).max() < 1e-10
    return out


def off(a, b):
    return max(np.abs(x[2] - y[2]).max() for x, y in zip(a, b))


def as_it_is(case, folder):
    """transformers in float32: whole texts, and one id at a time."""
    ids, model = ids_of(case.seed), load(case, opened(case, folder, np.float32), torch.float32)
    with lower_first(case.repeat):
        rows = [(n, p, whole(model, ids[:n])[p]) for n, p in case.rows]
        steps = stepwise(model, ids[:max(n for n, _ in case.rows)])
    return rows, [(n, p, steps[p]) for n, p in case.rows]


# ---- wrong in one thing ----------------------------------------------------------------------------------------------

def spoil(folder, what, to, by):
    """A copy of a folder that is wrong in one thing."""
    out = copied(folder)
    path = os.path.join(out, "config.json" if what == "config" else "model.safetensors")
    if what == "config":
        text = open(path).read()
        assert to in text, to
        with open(path, "w") as f:
            f.write(text.replace(to, by, 1))
        return out
    tensors = safetensors.numpy.load_file(path)
    assert any(to in name for name in tensors), to
    for name, t in tensors.items():
        if to in name:
            i = np.arange(t.size)
            tensors[name] = {"set": lambda: np.full_like(t, float(by)), "add": lambda: t + t.dtype.type(by),
                             "swap": lambda: t.reshape(-1)[i ^ int(by)].reshape(t.shape)}[what]()
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})
    return out


# ---- writing ---------------------------------------------------------------------------------------------------------

def put(name, suffix, data):
    with open(os.path.join(GOLDEN, name + suffix), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def versions():
    return (f"python {platform.python_version()}, numpy {np.__version__}, torch {torch.__version__.split('+')[0]}, "
            f"transformers {transformers.__version__}, safetensors {safetensors.__version__}")


def one_case(name, tmp):
    case, folder = CASES[name], os.path.join(tmp, name)
    write_folder(case, folder)
    rows = rows_of(case, folder, check=True)
    stock, stepped = (off(rows, r) for r in as_it_is(case, folder))
    assert stock < ROUGH and (stepped < ROUGH or case.rows is GROWING)
    print(f"{name:18s} {case.model:31s} float32 {stock:.1e}, one by one {stepped:.1e}"
          f"  max|logit| {max(np.abs(r).max() for _, _, r in rows):5.2f}", flush=True)

    config = open(os.path.join(folder, "config.json")).read()
    put(name, ".config.json", config)
    blob = open(os.path.join(folder, "model.safetensors"), "rb").read()
    put(name, ".safetensors.head", blob[:8 + int.from_bytes(blob[:8], "little")])
    if case.old:
        text = json.dumps(older(case, json.loads(config)), indent=2) + "\n"
        put(name, ".config4.json", text)
        again = copied(folder)
        with open(os.path.join(again, "config.json"), "w") as f:
            f.write(text.replace('"su"', '"longrope"'))  # its later name; transformers 5.24 stumbles over su
        assert off(rows, rows_of(case, again)) < 1e-12, "the older spelling says something else"
    if not case.no_gguf:
        head, lines = gguf_map.head_and_map(folder, tmp)
        put(name, ".gguf.head", head)
        put(name, ".gguf.map", "\n".join(lines) + "\n")
    put(name, ".logits", "\n".join(
        [f"# python tests/oracle/architectures.py; {versions()}",
         f"# {case.model} with float64 inside; as it is (float32) off by at most {stock:.1e}",
         *([f"# no GGUF: {case.no_gguf}"] if case.no_gguf else []),
         "ids " + " ".join(map(str, ids_of(case.seed)[:max(n for n, _ in case.rows)]))] +
        [f"row {n} {p} " + " ".join(f"{v:.7g}" for v in row) for n, p, row in rows]) + "\n")
    return [(name, *w, off(rows, rows_of(case, spoil(folder, *w[1:])))) for w in WRONG.get(name, [])]


def write_wrong(lines, path=os.path.join(GOLDEN, "wrong.txt"), order=list(CASES)):
    """All of wrong.txt, or the lines of the cases that were made."""
    names = {l[0] for l in lines}
    kept = [l.split("\t") for l in open(path).read().splitlines()] if os.path.exists(path) else []
    lines = [[*l[:5], f"{l[5]:.2g}"] for l in lines] + [l for l in kept if l[0] not in names and l[0] in order]
    with open(path, "w") as f:
        f.writelines("\t".join(l) + "\n" for l in sorted(lines, key=lambda l: order.index(l[0])))


def real_models(out, only):
    """Whole models with torch's random weights (std 0.25): folders and GGUF files, with their float64 logits."""
    def fill(case, name, shape):
        if name.endswith(("_blocks", "_scales")):
            return value_of(case, name, shape)
        return ((1 if name.endswith("norm.weight") else 0) + 0.25 * torch.randn(shape)).float().numpy()
    for name, case in CASES.items():
        if only not in name:
            continue
        where = os.path.join(out, name)
        torch.manual_seed(2104)
        with tempfile.TemporaryDirectory() as tmp:
            folder = os.path.join(tmp, name)
            write_folder(case, folder, fill)
            rows = [[n, p, list(map(float, r))] for n, p, r in rows_of(case, folder)]
            shutil.copytree(folder, os.path.join(where, "f32"))
            for kind in ("ALL_F32", "MOSTLY_F16", "MOSTLY_BF16") if not case.no_gguf else ():
                gguf_map.convert(folder, os.path.join(where, kind.split("_")[1].lower() + ".gguf"), kind)
        with open(os.path.join(where, "logits.json"), "w") as f:
            json.dump({"ids": ids_of(case.seed), "rows": rows}, f)
        print(name, "->", where)


def search(only):
    """Which ids a case with gated delta rules should have: those where float32, whole and one by one, is nearest. Where
    a query and a key cancel the norm behind them enlarges what float32 left."""
    for name, case in CASES.items():
        if only in name and case.rows is CHUNKS:
            with tempfile.TemporaryDirectory() as tmp:
                folder, found = os.path.join(tmp, name), []
                write_folder(case, folder)
                for case.seed in range(2104, 2144):
                    rows = rows_of(case, folder)
                    found.append((max(off(rows, r) for r in as_it_is(case, folder)), case.seed))
                print(name, [f"{s}: {d:.1e}" for d, s in sorted(found)[:4]], flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--out", help="write whole real models into this folder instead")
    ap.add_argument("--search", action="store_true", help="look for calm ids instead")
    ap.add_argument("--only", default="", help="only cases whose name holds this")
    args = ap.parse_args()
    if args.out or args.search:
        return real_models(args.out, args.only) if args.out else search(args.only)
    os.makedirs(GOLDEN, exist_ok=True)
    wrong = []
    for name in CASES:
        if args.only in name:
            with tempfile.TemporaryDirectory() as tmp:
                wrong += one_case(name, tmp)
    write_wrong(wrong)
    for w in wrong:
        print("   ", *w)
    assert all(w[5] > 1e-2 for w in wrong)


if __name__ == "__main__":
    main()
