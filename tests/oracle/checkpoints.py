#!/usr/bin/env python3
"""Goldens of weights-tools/convert: tiny RoFormers in the containers that published ones come in.

    python -m venv v && v/bin/pip install -r tests/oracle/requirements.txt
    v/bin/python tests/oracle/checkpoints.py                    # writes tests/golden/convert/
    v/bin/python tests/oracle/checkpoints.py --authors          # authors.* alone
    v/bin/python tests/oracle/checkpoints.py --check CONVERT    # what CONVERT writes, read by gguf, safetensors, transformers
    t/bin/python tests/oracle/checkpoints.py --tensorflow CONVERT   # with tensorflow instead: see check_tensorflow

No weights are stored twice: a value comes from its tensor's name and index, by value_of below and its twin in
tests/test_convert.c, so the test knows every bit without a list. The models' classes are transformers' where it has one; V2, Sim and
GAU-alpha are dicts with the names of JunnYu's releases. PyTorch's files are written by torch.save (the legacy ones
name their storages by address, so their bytes, not their tensors, differ from run to run). TensorFlow's are written here,
from the format's description, with small blocks (so that there are several) and two data files; --tensorflow reads them back with
TensorFlow, and lets convert read what TensorFlow wrote.

    v1.safetensors v1.bin v1.legacy.bin v1.raw.ckpt.* v1.snappy.ckpt.*     one model with E < H, MLM head, optimizer slots in .ckpt
    v1.config.json    transformers 5        v1.bert_config.json    as the original releases have it
    v2.bin  gau.bin  gau.ckpt.*  sim.ckpt.*  sequence.legacy.bin  token.bin  discriminator.bin  generator.bin   and their configs
    llama.bin         another family, BF16, passed through: tied lm_head, a tensor with strides, a buffer of integers
    llama-0000N-of-00002.bin, llama.bin.index.json                         the same in two shards
    authors.*         one LLaMA as Hugging Face has it (hf.bin) and as Meta publishes it: in one file, and sliced for two GPUs as LLaMA 2
                      (two.*) and as LLaMA 3 (three.*, embeddings by words); as Mistral does; as llama2.c's training saves it (tied)
    vocab.txt         24 tokens
"""
import argparse, collections, json, os, struct, subprocess, sys, tempfile
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.normpath(os.path.join(HERE, "..", "golden", "convert"))
M64 = (1 << 64) - 1
V, E, H, I, A, L, T = 24, 4, 8, 12, 2, 2, 2
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"] + list("今天气很好我去公园玩。") + ["##a", "b", "the", "非常", "é", "x" * 9, "##天"]
assert len(VOCAB) == V


def value_of(name, shape):
    """h = FNV-1a 64 of the name; r = splitmix64(h + i); the upper 32 bits of r as a signed integer / 2^32, rounded to float32."""
    h = 0xCBF29CE484222325
    for b in name.encode():
        h = ((h ^ b) * 0x100000001B3) & M64
    with np.errstate(over="ignore"):
        z = np.uint64(h) + np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(32)).astype(np.uint32).astype(np.int32) / 2.0**32).astype(np.float32).reshape(shape)


# ---- TensorFlow's bundles, from the description of the format ----------------------------------------------------------------

def crc32c_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


CRC = crc32c_table()


def masked_crc(data):
    c = 0xFFFFFFFF
    for x in data:
        c = CRC[(c ^ x) & 255] ^ (c >> 8)
    c ^= 0xFFFFFFFF
    return (((c >> 15) | (c << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def snappy(data):
    """Greedy: the longest earlier match of 4 to 64 bytes as a copy of kind 1 or 2, everything else as literals."""
    out, literal, i = bytearray(varint(len(data))), bytearray(), 0

    def flush():
        if literal:
            n = len(literal) - 1
            out.extend(bytes([n << 2]) if n < 60 else bytes([60 << 2, n]) if n < 256 else bytes([61 << 2, n & 255, n >> 8]))
            out.extend(literal)
            literal.clear()

    while i < len(data):
        best, at = 0, 0
        for j in range(max(0, i - 65535), i):
            n = 0
            while n < 64 and i + n < len(data) and data[j + n] == data[i + n]:
                n += 1
            if n > best:
                best, at = n, i - j
        if best < 4:
            literal.append(data[i])
            i += 1
            continue
        flush()
        if best < 12 and at < 2048:
            out.extend([1 | (best - 4) << 2 | (at >> 8) << 5, at & 255])
        else:
            out.extend([2 | (best - 1) << 2, at & 255, at >> 8])
        i += best
    flush()
    return bytes(out)


def block(entries, interval):
    """Entries of (key, value), prefix-compressed, a restart every `interval`."""
    out, restarts, last = bytearray(), [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % interval == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(last), len(key)) and last[shared] == key[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return bytes(out) + b"".join(struct.pack("<I", r) for r in restarts or [0]) + struct.pack("<I", len(restarts or [0]))


def write_bundle(prefix, arrays, compress, block_size, n_shards=1):
    shards, entries = [bytearray() for _ in range(n_shards)], []
    for k, name in enumerate(sorted(arrays, key=lambda s: s.encode())):
        a, shard = arrays[name], k % n_shards
        data = a.tobytes()
        dtype = {"float32": 1, "int64": 9}[a.dtype.name]
        shape = b"".join(b"\x12" + varint(len(d)) + d for d in (b"\x08" + varint(n) if n else b"" for n in a.shape))
        value = b"\x08" + varint(dtype) + b"\x12" + varint(len(shape)) + shape
        value += b"\x18" + varint(shard) if shard else b""
        value += b"\x20" + varint(len(shards[shard])) if shards[shard] else b""
        value += b"\x28" + varint(len(data)) + b"\x35" + struct.pack("<I", masked_crc(data))
        entries.append((name.encode(), value))
        shards[shard] += data
    entries.insert(0, (b"", b"\x08" + varint(n_shards) + b"\x1a\x02\x08\x01"))
    out = bytearray()

    def put(raw):
        packed = snappy(raw) if compress else raw
        kind = int(compress and len(packed) < len(raw) - len(raw) // 8)
        body = (packed if kind else raw) + bytes([kind])
        at = len(out)
        out.extend(body + struct.pack("<I", masked_crc(body)))
        return varint(at) + varint(len(body) - 1)

    index, group = [], []
    for k, e in enumerate(entries):
        group.append(e)
        if len(block(group, 16)) >= block_size or k + 1 == len(entries):
            index.append((group[-1][0], put(block(group, 16))))
            group = []
    meta = put(block([], 16))
    footer = meta + put(block(index, 1))
    out += footer + bytes(40 - len(footer)) + bytes.fromhex("57fb808b247547db")
    open(prefix + ".index", "wb").write(out)
    for s, data in enumerate(shards):
        open("%s.data-%05d-of-%05d" % (prefix, s, n_shards), "wb").write(data)


# ---- models ------------------------------------------------------------------------------------------------------------------

def tf_arrays(state):
    """TensorFlow's names and [in, out] kernels of a dict with PyTorch's names."""
    arrays = {}
    for name, v in state.items():
        if "embed_positions" in name or ".decoder." in name:
            continue
        gau = ".gau." in name
        n = name.replace("roformer.embeddings_project.", "bert/encoder/embedding_hidden_mapping_in/")
        n = n.replace("gau_alpha.encoder.layer.", "GAU_alpha/encoder/layer_").replace("gau_alpha.", "bert/")
        n = n.replace("roformer.encoder.layer.", "bert/encoder/layer_").replace("roformer.", "bert/").replace(".", "/")
        if n.endswith("_embeddings/weight"):
            n = n[:-7]
        elif "LayerNorm" in n or "scaleoffset" in n:
            n = n.replace("/weight", "/gamma").replace("/bias", "/beta")
        elif n.endswith("/weight"):
            n, v = n[:-7] + "/kernel", v.T
        elif n == "cls/predictions/bias":
            n = "cls/predictions/output_bias"
        assert gau or "bert/" in n or "cls/" in n, n
        arrays[n] = np.ascontiguousarray(v)
    return arrays


def body(prefix, e, bias, norm, layers=L, h=H, i=I):
    shapes = {"embeddings.word_embeddings.weight": (V, e), "embeddings.token_type_embeddings.weight": (T, e)}

    def dense(name, o, n):
        shapes[name + ".weight"] = (o, n)
        if bias:
            shapes[name + ".bias"] = (o,)

    def layer_norm(name, n):
        if norm:
            shapes[name + ".weight"] = shapes[name + ".bias"] = (n,)

    layer_norm("embeddings.LayerNorm", e)
    if e != h:
        dense("embeddings_project", h, e)
    for l in range(layers):
        p = "encoder.layer.%d." % l
        for q in ("query", "key", "value"):
            dense(p + "attention.self." + q, h, h)
        dense(p + "attention.output.dense", h, h)
        layer_norm(p + "attention.output.LayerNorm", h)
        dense(p + "intermediate.dense", i, h)
        dense(p + "output.dense", h, i)
        layer_norm(p + "output.LayerNorm", h)
    return {prefix + k: s for k, s in shapes.items()}


def filled(shapes):
    return collections.OrderedDict((k, value_of(k, s)) for k, s in shapes.items())


def bert_config(**more):
    return {"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": H,
            "initializer_range": 0.02, "intermediate_size": I, "max_position_embeddings": 512, "num_attention_heads": A,
            "num_hidden_layers": L, "type_vocab_size": T, "vocab_size": V, **more}


def write_json(name, value):
    with open(os.path.join(GOLDEN, name), "w") as f:
        json.dump(value, f, indent=1)
        f.write("\n")


def path(name):
    return os.path.join(GOLDEN, name)


def hugging_face(kind, name, **config):
    """One of transformers' classes with our values; its state dict, and NAME.config.json."""
    import torch, transformers
    transformers.utils.logging.disable_progress_bar()
    config = {"num_hidden_layers": L, **config}
    c = transformers.RoFormerConfig(vocab_size=V, hidden_size=H, num_attention_heads=A, intermediate_size=I, type_vocab_size=T,
                                    max_position_embeddings=16, pad_token_id=0, **config)
    model = getattr(transformers, kind)(c)
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "embed_positions" not in key:
                p.copy_(torch.from_numpy(value_of(key, tuple(p.shape))))
    with tempfile.TemporaryDirectory() as d:
        model.save_pretrained(d)
        open(path(name + ".config.json"), "w").write(open(os.path.join(d, "config.json")).read())
        data = open(os.path.join(d, "model.safetensors"), "rb").read()
    return model, data


def save(state, name, legacy=False):
    import torch
    state = collections.OrderedDict((k, v if isinstance(v, torch.Tensor) else torch.from_numpy(v)) for k, v in state.items())
    torch.save(state, path(name), _use_new_zipfile_serialization=not legacy)


def arrays_of(model):
    return {k: v.detach().numpy() for k, v in model.state_dict().items()}


def main():
    os.makedirs(GOLDEN, exist_ok=True)
    open(path("vocab.txt"), "w").write("\n".join(VOCAB) + "\n")

    model, safetensors = hugging_face("RoFormerForMaskedLM", "v1", embedding_size=E)
    open(path("v1.safetensors"), "wb").write(safetensors)
    save(model.state_dict(), "v1.bin")
    save(model.state_dict(), "v1.legacy.bin", legacy=True)
    tf = tf_arrays(arrays_of(model))
    slots = {k + s: value_of(k + s, tf[k].shape) for k in ("cls/predictions/output_bias",) for s in ("/adam_m", "/adam_v")}
    tf.update(slots, global_step=np.array(123456, np.int64))
    write_bundle(path("v1.raw.ckpt"), tf, False, 700)
    write_bundle(path("v1.snappy.ckpt"), tf, True, 4096, n_shards=2)
    write_json("v1.bert_config.json", bert_config(embedding_size=E, max_position_embeddings=16, directionality="bidi"))

    v2 = body("roformer.", H, bias=False, norm=False)
    v2["cls.predictions.decoder.weight"] = (V, H)
    state = filled(v2)
    state["cls.predictions.decoder.weight"] = state["roformer.embeddings.word_embeddings.weight"] # a copy: its own storage
    save(state, "v2.bin")
    write_json("v2.config.json", bert_config(hidden_act="relu", norm_type="rms_norm", use_bias=False, layer_norm_eps=1e-12,
                                             model_type="roformer", architectures=["RoFormerForMaskedLM"]))

    gau = {"gau_alpha.embeddings.word_embeddings.weight": (V, H), "gau_alpha.embeddings.token_type_embeddings.weight": (T, H)}
    for l in range(L):
        p = "gau_alpha.encoder.layer.%d.gau." % l
        gau.update({p + "i_dense.weight": (2 * I + 6, H), p + "o_dense.weight": (H, I), p + "q_scaleoffset.weight": (6,),
                    p + "k_scaleoffset.weight": (6,)})
    state = filled(gau)
    save(state, "gau.bin")
    write_json("gau.config.json", {"architectures": ["GAUAlphaForMaskedLM"], "model_type": "gau_alpha", "vocab_size": V, "hidden_size": H,
                                   "intermediate_size": I, "num_hidden_layers": L, "attention_key_size": 6, "hidden_act": "swish",
                                   "max_position_embeddings": 512, "normalization": "softmax_plus", "attention_scale": True,
                                   "use_bias": False, "layer_norm_eps": 1e-12, "type_vocab_size": 2, "pad_token_id": 0})
    write_bundle(path("gau.ckpt"), tf_arrays(state), True, 4096)
    write_json("gau.bert_config.json", bert_config(hidden_act="swish", attention_key_size=6))

    sim = body("roformer.", H, bias=True, norm=True, layers=1)
    sim.update({"roformer.pooler.dense.weight": (H, H), "roformer.pooler.dense.bias": (H,), "cls.predictions.bias": (V,),
                "cls.predictions.transform.dense.weight": (H, H), "cls.predictions.transform.dense.bias": (H,),
                "cls.predictions.transform.LayerNorm.weight": (H,), "cls.predictions.transform.LayerNorm.bias": (H,)})
    write_bundle(path("sim.ckpt"), tf_arrays(filled(sim)), True, 262144)
    write_json("sim.bert_config.json", bert_config(num_hidden_layers=1))

    model, _ = hugging_face("RoFormerForSequenceClassification", "sequence", num_hidden_layers=1, num_labels=3, id2label={0: "no", 1: "maybe", 2: "yes"},
                            label2id={"no": 0, "maybe": 1, "yes": 2})
    save(model.state_dict(), "sequence.legacy.bin", legacy=True)
    model, _ = hugging_face("RoFormerForTokenClassification", "token", num_hidden_layers=1, num_labels=5, rotary_value=True, is_decoder=False)
    save(model.state_dict(), "token.bin")

    # ELECTRA's English models: a body without a prefix and a discriminator's head; a generator.
    d = body("", E, bias=True, norm=True, layers=1)
    d.update({"embeddings.position_ids": None, "discriminator_predictions.dense.weight": (H, H),
              "discriminator_predictions.dense.bias": (H,), "discriminator_predictions.dense_prediction.weight": (1, H),
              "discriminator_predictions.dense_prediction.bias": (1,)})
    save({k: value_of(k, s) if s else np.arange(64, dtype=np.int64)[None] for k, s in d.items()}, "discriminator.bin")
    write_json("discriminator.config.json", bert_config(embedding_size=E, num_hidden_layers=1, rotary_value=True, model_type="roformer"))
    g = body("electra.", E, bias=True, norm=True, layers=1)
    g.update({"generator_predictions.LayerNorm.weight": (E,), "generator_predictions.LayerNorm.bias": (E,),
              "generator_predictions.dense.weight": (E, H), "generator_predictions.dense.bias": (E,), "generator_lm_head.bias": (V,),
              "generator_lm_head.weight": (V, E)})
    state = filled(g)
    state["generator_lm_head.weight"] = state["electra.embeddings.word_embeddings.weight"]
    save(state, "generator.bin")
    write_json("generator.config.json", bert_config(embedding_size=E, num_hidden_layers=1, rotary_value=True, model_type="roformer"))
    llama()
    authors()
    print("%d files, %d bytes in %s" % (len(os.listdir(GOLDEN)), sum(os.path.getsize(path(f)) for f in os.listdir(GOLDEN)), GOLDEN))


def llama():
    """BF16, and bits that BF16 holds: the upper half of value_of's."""
    import torch
    d, ff, v = 8, 12, 16
    shapes = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,), "model.layers.0.input_layernorm.weight": (d,),
              "model.layers.0.post_attention_layernorm.weight": (d,), "model.layers.0.self_attn.q_proj.weight": (d, d),
              "model.layers.0.self_attn.k_proj.weight": (4, d), "model.layers.0.self_attn.v_proj.weight": (4, d),
              "model.layers.0.self_attn.o_proj.weight": (d, d), "model.layers.0.mlp.gate_proj.weight": (ff, d),
              "model.layers.0.mlp.up_proj.weight": (ff, d), "model.layers.0.mlp.down_proj.weight": (d, ff)}
    def upper(a):
        return torch.from_numpy((a.view(np.uint32) >> 16).astype(np.int16)).view(torch.bfloat16)
    state = {k: upper(value_of(k, s)) for k, s in shapes.items()}
    down = "model.layers.0.mlp.down_proj.weight"
    state[down] = state[down].t().contiguous().t() # stored column by column
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    state["model.layers.0.self_attn.position_ids"] = torch.arange(4)
    save(state, "llama.bin")
    parts, where = [{}, {}], {}
    for i, k in enumerate(state):
        part = int(i >= 4 and k != "lm_head.weight")
        parts[part][k] = state[k]
        where[k] = "llama-%05d-of-00002.bin" % (part + 1)
    for i, part in enumerate(parts):
        save(part, "llama-%05d-of-00002.bin" % (i + 1), legacy=i == 1)
    write_json("llama.bin.index.json", {"metadata": {"total_size": 0}, "weight_map": where})
    write_json("llama.config.json", {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": v, "hidden_size": d,
                                     "intermediate_size": ff, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
                                     "max_position_embeddings": 16, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
                                     "tie_word_embeddings": True, "torch_dtype": "bfloat16"})


def unpermute(w, n_heads):
    """Rows of halves (i, i + d/2) to pairs (2i, 2i + 1): the inverse of permute in transformers' convert_llama_weights_to_hf.py."""
    rows, cols = w.shape
    return w.view(n_heads, 2, rows // n_heads // 2, cols).transpose(1, 2).reshape(rows, cols).contiguous()


AUTHORS = {"self_attn.q_proj": "attention.wq", "self_attn.k_proj": "attention.wk", "self_attn.v_proj": "attention.wv",
           "self_attn.o_proj": "attention.wo", "mlp.gate_proj": "feed_forward.w1", "mlp.down_proj": "feed_forward.w2",
           "mlp.up_proj": "feed_forward.w3", "input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm",
           "model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output", "model.layers": "layers"}


def authors():
    """A LLaMA in Hugging Face's names and rows, and in the layouts of Meta, Mistral and llama2.c. That hf.bin is what transformers makes
    of the others was seen with 4.46.3's write_model (convert_llama_weights_to_hf.py; 5.x has no such script): of random LLaMAs 1, 2, 3
    in 1, 2 and 4 files convert made the same GGUF file, byte for byte, of both folders."""
    import torch, safetensors.torch
    d, ff, v, heads = 8, 12, 16, 2
    shapes = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,), "lm_head.weight": (v, d)}
    for l in range(2):
        for k, s in {"input_layernorm": (d,), "post_attention_layernorm": (d,), "self_attn.q_proj": (d, d), "self_attn.k_proj": (d, d),
                     "self_attn.v_proj": (d, d), "self_attn.o_proj": (d, d), "mlp.gate_proj": (ff, d), "mlp.up_proj": (ff, d),
                     "mlp.down_proj": (d, ff)}.items():
            shapes["model.layers.%d.%s.weight" % (l, k)] = s
    hf = {k: torch.from_numpy((value_of(k, s).view(np.uint32) >> 16).astype(np.int16)).view(torch.bfloat16) for k, s in shapes.items()}
    save(hf, "authors.hf.bin")
    write_json("authors.hf.json", {"model_type": "llama", "vocab_size": v, "hidden_size": d, "intermediate_size": ff, "num_hidden_layers": 2,
                                   "num_attention_heads": heads, "num_key_value_heads": heads, "max_position_embeddings": 8192,
                                   "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu", "tie_word_embeddings": False,
                                   "bos_token_id": 1, "eos_token_id": 2})
    meta = {}
    for k, w in hf.items():
        for a, b in AUTHORS.items():
            k = k.replace(a + ".", b + ".")
        meta[k] = unpermute(w, heads) if k.endswith((".wq.weight", ".wk.weight")) else w
    frequencies = {"rope.freqs": torch.arange(d // heads // 2).bfloat16()}
    save({**meta, **frequencies}, "authors.one.pth")
    write_json("authors.params.json", {"dim": d, "n_layers": 2, "n_heads": heads, "vocab_size": -1, "multiple_of": 4,
                                       "ffn_dim_multiplier": 0.5, "norm_eps": 1e-5, "rope_theta": 500000.0})
    for name, by_words in (("two", 0), ("three", 1)):
        for i in range(2):
            part = {}
            for k, w in meta.items():
                beside = k.endswith(("wo.weight", "w2.weight")) or (k.startswith("tok") and not by_words)
                part[k] = w if w.dim() == 1 else w.chunk(2, 1 if beside else 0)[i].contiguous()
            if name == "two" or i == 0:
                part.update(frequencies)
            save(part, "authors.%s.%02d.pth" % (name, i))
    safetensors.torch.save_file({k: w.contiguous() for k, w in meta.items()}, path("authors.mistral.safetensors"))
    write_json("authors.mistral.json", {"dim": d, "n_layers": 2, "head_dim": d // heads, "hidden_dim": ff, "n_heads": heads, "n_kv_heads": heads,
                                        "norm_eps": 1e-6, "vocab_size": v, "sliding_window": 4096, "moe": None})
    tied = {**meta, "output.weight": meta["tok_embeddings.weight"]}
    one = torch.zeros(1)
    torch.save({"model": {"_orig_mod." + k: w for k, w in {**tied, "freqs_cos": one, "layers.0.attention.mask": torch.zeros(1, 1, 2, 2)}.items()},
          "optimizer": {"state": {0: {"step": one, "exp_avg": one}}, "param_groups": [{"lr": 5e-4, "betas": (0.9, 0.95), "params": [0]}]},
          "model_args": dict(dim=d, n_layers=2, n_heads=heads, n_kv_heads=heads, vocab_size=v, multiple_of=4, max_seq_len=64, dropout=0.0),
          "iter_num": 3, "best_val_loss": torch.tensor(1.5), "config": {"out_dir": "out", "compile": True}}, path("authors.llama2c.pt"))


# ---- checks with other people's readers --------------------------------------------------------------------------------------

def convert(program, source, out, *options):
    subprocess.run([program, source, out, "-q", *options], check=True)


def check(program):
    """convert's files by the gguf and safetensors packages; transformers' logits before and after."""
    import gguf, torch, transformers, safetensors.torch
    with tempfile.TemporaryDirectory() as d:
        expected = safetensors.torch.load_file(path("v1.safetensors"))
        for source, config in (("v1.bin", "v1.config.json"), ("v1.legacy.bin", "v1.config.json"), ("v1.raw.ckpt", "v1.bert_config.json"),
                               ("v1.snappy.ckpt", "v1.bert_config.json")):
            out = os.path.join(d, source)
            os.makedirs(out)
            options = ["--config", path(config), "--vocab", path("vocab.txt")]
            convert(program, path(source), out + "/model.safetensors", *options)
            got = safetensors.torch.load_file(out + "/model.safetensors")
            same = all(torch.equal(expected[k].view(torch.int32), v.view(torch.int32)) for k, v in got.items())
            missing = sorted(set(expected) - set(got))
            convert(program, path(source), out + "/model.gguf", "--name", "v1", *options)
            r = gguf.GGUFReader(out + "/model.gguf")
            words = next(t for t in r.tensors if t.name == "token_embd.weight")
            assert (words.data == expected["roformer.embeddings.word_embeddings.weight"].numpy()).all()
            tokens = [bytes(r.fields["tokenizer.ggml.tokens"].parts[i]).decode() for i in r.fields["tokenizer.ggml.tokens"].data]
            assert tokens == VOCAB
            print("%-15s %d tensors, same bits %s, left out %s; gguf: %d tensors, %d keys" %
                  (source, len(got), same, missing, len(r.tensors), len(r.fields)))
            ids = torch.tensor([[2, 6, 7, 4, 8, 3]])
            logits = []
            for folder in (None, out):
                if folder is None:
                    model, _ = reload_v1()
                else:
                    model = transformers.RoFormerForMaskedLM.from_pretrained(folder)
                logits.append(model.eval()(ids).logits)
            print("    transformers: largest difference of the logits", (logits[0] - logits[1]).abs().max().item())


def reload_v1():
    import torch, transformers, safetensors.torch
    c = transformers.RoFormerConfig.from_json_file(path("v1.config.json"))
    model = transformers.RoFormerForMaskedLM(c)
    model.load_state_dict(safetensors.torch.load_file(path("v1.safetensors")), strict=False)
    model.tie_weights()
    return model, c


def check_tensorflow(program):
    """TensorFlow reads every bundle written here, and convert reads the same arrays from bundles that TensorFlow wrote."""
    import tensorflow as tf
    names = [f[:-6] for f in os.listdir(GOLDEN) if f.endswith(".index")]
    for name in sorted(names):
        reader = tf.train.load_checkpoint(path(name))
        arrays = {k: reader.get_tensor(k) for k in reader.get_variable_to_shape_map()}
        base = {"v1.raw.ckpt": "v1", "v1.snappy.ckpt": "v1"}.get(name, name[:-5])
        with tempfile.TemporaryDirectory() as d:
            order = sorted(arrays)
            tf.raw_ops.SaveV2(prefix=d + "/bert_model.ckpt", tensor_names=order, shape_and_slices=[""] * len(order),
                              tensors=[arrays[k] for k in order])
            files = []
            for i, source in enumerate((path(name), d + "/bert_model.ckpt")):
                files.append(d + "/%d.gguf" % i)
                convert(program, source, files[-1], "--name", "x", "--config", path(base + ".bert_config.json"), "--vocab", path("vocab.txt"))
            same = open(files[0], "rb").read() == open(files[1], "rb").read()
            size = os.path.getsize(d + "/bert_model.ckpt.index")
        print("%-15s TensorFlow reads %d arrays; its own bundle (index %d bytes) converts to the same file: %s" % (name, len(arrays), size, same))
        assert same


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--authors", action="store_true", help="write authors.* alone")
    p.add_argument("--check", metavar="CONVERT")
    p.add_argument("--tensorflow", metavar="CONVERT")
    a = p.parse_args()
    if a.authors:
        authors()
    elif a.check:
        check(os.path.abspath(a.check))
    elif a.tensorflow:
        check_tensorflow(os.path.abspath(a.tensorflow))
    else:
        main()
