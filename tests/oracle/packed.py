"""Whole numbers and FP4 as Hugging Face's files have them -> tests/golden/packed/LAYOUT/{config.json,model.safetensors}

    python tests/oracle/packed.py tests/golden/packed

Each file has a matrix of codes with its parts, and beside it what the published software makes of it: `a.expected`, in F16 where the
scales are F16, else BF16. Of compressed-tensors' formats the package packs and unpacks them. AWQ and GPTQ are packed and unpacked here in
NumPy, by definitions written from the published packing; with LLAMA_CPP (a checkout), AUTOAWQ and GPTQMODEL (their sources) set, what
llama.cpp's converter makes of GPTQ and those packages' own functions must agree.
Sources: compressed-tensors 0.20 (compressors/); AutoAWQ 0.2.9, awq/modules/linear/gemm.py and utils/packing_utils.py; GPT-QModel 7.7,
nn_modules/qlinear/__init__.py and utils/model.py; NVIDIA's modelopt, torch/quantization/qtensor/nvfp4_tensor.py.
"""
import importlib, importlib.util, json, os, sys, types

import numpy as np
import torch
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from safetensors.torch import save_file

ROWS, COLS, GROUP = 12, 80, 16
FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
rng = np.random.default_rng(7)


def write(folder, name, quantization, tensors):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    save_file({k: v.contiguous() for k, v in tensors.items()}, f"{folder}/{name}/model.safetensors")
    with open(f"{folder}/{name}/config.json", "w") as f:
        json.dump({"model_type": "llama", "quantization_config": quantization}, f, indent=1)
        f.write("\n")


def ints(low, high, *shape):
    return torch.from_numpy(rng.integers(low, high, size=shape))


def scales(dtype, *shape):
    return torch.from_numpy(rng.random(shape) * 0.02 + 1e-3).to(dtype)


# ---- compressed-tensors ------------------------------------------------------------------------------------------------------------

def ct(folder, name, fmt, args, parts, more=None):
    """parts as the package's decompress takes them."""
    scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**args))
    given = {k: v.clone() for k, v in parts.items()}
    out = BaseCompressor.get_value_from_registry(fmt).decompress(given, scheme)["weight"]
    scale = parts["weight_scale"]
    out = out.to(torch.float16 if scale.dtype == torch.float16 else torch.bfloat16)
    groups = {"group_0": {"weights": {k: v for k, v in args.items()}}}
    config = {"quant_method": "compressed-tensors", "format": fmt, "config_groups": groups}
    write(folder, name, config | (more or {}), {f"a.{k}": v for k, v in parts.items()} | {"a.expected": out})


def pack(bits, scale, zero=None, cols=COLS):
    low = 1 << (bits - 1)
    parts = {"weight_packed": pack_to_int32(ints(-low, low, ROWS, cols).to(torch.int8), bits), "weight_scale": scale,
             "weight_shape": torch.tensor([ROWS, cols])}
    if zero is not None:
        parts["weight_zero_point"] = pack_to_int32(zero.to(torch.int8), bits, packed_dim=0)
    return parts


def compressed(folder):
    group = dict(type="int", strategy="group", group_size=GROUP)
    bf, half, full = torch.bfloat16, torch.float16, torch.float32
    n = COLS // GROUP
    ct(folder, "w4a16", "pack-quantized", dict(num_bits=4, symmetric=True) | group, pack(4, scales(bf, ROWS, n)))
    ct(folder, "w4a16_asym", "pack-quantized", dict(num_bits=4, symmetric=False) | group,
       pack(4, scales(half, ROWS, n), ints(-8, 8, ROWS, n)))
    ct(folder, "w8a16", "pack-quantized", dict(num_bits=8, symmetric=True, type="int", strategy="channel"),
       pack(8, scales(full, ROWS, 1), cols=37))
    ct(folder, "w8a16_asym", "pack-quantized", dict(num_bits=8, symmetric=False) | group,
       pack(8, scales(bf, ROWS, n), ints(-128, 128, ROWS, n)))
    ct(folder, "w3a16_asym", "pack-quantized", dict(num_bits=3, symmetric=False, type="int", strategy="channel"),
       pack(3, scales(bf, ROWS, 1), ints(-4, 4, ROWS, 1)))
    # an order of columns: an older package's, whose definition is that column c has the scale of group g_idx[c]
    parts = pack(4, scales(bf, ROWS, n), ints(-8, 8, ROWS, n))
    order = torch.from_numpy(rng.permutation(np.arange(COLS) // GROUP).astype(np.int32))
    from compressed_tensors.compressors.pack_quantized.helpers import unpack_from_int32
    q = unpack_from_int32(parts["weight_packed"], 4, (ROWS, COLS)).to(bf)
    z = unpack_from_int32(parts["weight_zero_point"], 4, (ROWS, n), packed_dim=0).to(bf)
    at = order.long()
    write(folder, "w4a16_order", {"quant_method": "compressed-tensors", "format": "pack-quantized"},
          {f"a.{k}": v for k, v in parts.items()} | {"a.weight_g_idx": order, "a.expected": (q - z[:, at]) * parts["weight_scale"][:, at]})

    w8 = {"weight": ints(-128, 128, ROWS, 37).to(torch.int8)}
    ct(folder, "w8a8", "int-quantized", dict(num_bits=8, type="int", strategy="channel", symmetric=True), w8 | {"weight_scale": scales(bf, ROWS, 1)})
    ct(folder, "w8a8_one", "int-quantized", dict(num_bits=8, type="int", strategy="tensor", symmetric=False),
       w8 | {"weight_scale": scales(full, 1), "weight_zero_point": torch.tensor([-11], dtype=torch.int8)})

    codes = torch.arange(256, dtype=torch.uint8).repeat(2)[:4 * 40].reshape(4, 40)
    codes[1] += 100
    f8 = torch.from_numpy(np.array([[1, 8, 0x38, 0x45, 0x7e], [0x3b, 0, 0x40, 0x41, 0x42], [0x30, 0x31, 0x32, 0x33, 0x34],
                                    [0x77, 0x66, 0x55, 0x44, 0x22]], np.uint8)).view(torch.float8_e4m3fn)
    whole = torch.tensor([1234.5])
    ct(folder, "nvfp4", "nvfp4-pack-quantized", dict(num_bits=4, type="float", strategy="tensor_group", group_size=16, symmetric=True),
       {"weight_packed": codes, "weight_scale": f8, "weight_global_scale": whole, "input_global_scale": torch.ones(1)})
    e8 = torch.from_numpy(np.array([[127, 120], [1, 0], [254, 130], [126, 100]], np.uint8))
    ct(folder, "mxfp4", "mxfp4-pack-quantized", dict(num_bits=4, type="float", strategy="group", group_size=32, symmetric=True),
       {"weight_packed": codes[:, :32], "weight_scale": e8})
    # modelopt's: scales are multiplied
    second = torch.tensor(0.00081)
    values = FP4[torch.stack((codes & 15, codes >> 4), -1).reshape(4, 80).long()]
    expected = values.reshape(4, 5, 16) * (f8.float() * second)[..., None]
    write(folder, "modelopt", {"quant_method": "modelopt", "quant_algo": "NVFP4"},
          {"a.weight": codes, "a.weight_scale": f8, "a.weight_scale_2": second, "a.input_scale": torch.tensor(0.1),
           "a.expected": expected.reshape(4, 80).to(bf)})


# ---- AWQ, GPTQ: codes [outputs, inputs], zeros [outputs, groups] ---------------------------------------------------------------------

AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # which output of eight stands at each nibble of a word, the lowest first


def words(bits, codes):
    """The last axis in words of 32, one code behind the other."""
    code_bits = (codes[..., None] >> np.arange(bits)) & 1
    line = code_bits.reshape(*codes.shape[:-1], -1)
    line = np.concatenate([line, np.zeros((*line.shape[:-1], -line.shape[-1] % 32), line.dtype)], -1)
    return (line.reshape(*line.shape[:-1], -1, 32).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(-1).astype(np.uint32)


def int32(a):
    return torch.from_numpy(np.ascontiguousarray(a).astype(np.uint32).view(np.int32))


def expected(codes, zeros, scale, group):
    """In float64, rounded once; scale [groups, outputs]."""
    s = scale.double().numpy().T[:, group]
    out = torch.from_numpy((codes - zeros[:, group]) * s)
    return out.to(torch.float16 if scale.dtype == torch.float16 else torch.bfloat16)


def awq(folder, name, group, dtype):
    groups = -(-COLS // group)
    codes, zeros = rng.integers(0, 16, (16, COLS)), rng.integers(0, 16, (16, groups))
    scale = scales(dtype, groups, 16)
    at = np.concatenate([8 * w + np.array(AWQ_ORDER) for w in range(2)])
    qweight, qzeros = int32(words(4, codes.T[:, at])), int32(words(4, zeros.T[:, at]))
    want = expected(codes, zeros, scale, np.arange(COLS) // group)
    if "AUTOAWQ" in os.environ:
        spec = importlib.util.spec_from_file_location("packing_utils", os.environ["AUTOAWQ"] + "/awq/utils/packing_utils.py")
        theirs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(theirs)
        assert torch.equal(theirs.dequantize_gemm(qweight, qzeros, scale, 4, group).T.to(want.dtype), want)
    write(folder, name, {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm", "zero_point": True},
          {"a.qweight": qweight, "a.qzeros": qzeros, "a.scales": scale, "a.expected": want})


def gptq(folder, name, bits, group, dtype, v2=False, act_order=False, borrows=False):
    groups, top, outputs = -(-96 // group), 1 << bits, 32 if bits == 3 else 16
    codes, zeros = rng.integers(0, top, (outputs, 96)), rng.integers(0 if v2 or borrows else 1, top, (outputs, groups))
    scale = scales(dtype, groups, outputs)
    g_idx = np.arange(96) // group
    if act_order:
        g_idx = rng.permutation(g_idx)
    if borrows:  # GPT-QModel takes 1 off each zero of a word at once
        stored = words(bits, zeros.T) - np.uint32(0x11111111)
    else:
        stored = words(bits, zeros.T - (0 if v2 else 1))
    qweight, qzeros = int32(words(bits, codes).T), int32(stored)
    want = expected(codes, zeros, scale, g_idx)
    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": act_order, "sym": False}
    if v2:
        config["checkpoint_format"] = "gptq_v2"
    order = torch.from_numpy(g_idx.astype(np.int32))
    if "LLAMA_CPP" in os.environ and bits != 3 and not borrows:
        assert torch.equal(by_llama_cpp(config, order, qweight, qzeros, scale).to(want.dtype), want), name
    if "GPTQMODEL" in os.environ and not borrows:
        assert torch.equal(by_gptqmodel(bits, v2, order, qweight, qzeros, scale).T.to(want.dtype), want), name
    tensors = {"a.qweight": qweight, "a.qzeros": qzeros, "a.scales": scale, "a.expected": want}
    write(folder, name, config, tensors | ({"a.g_idx": order} if act_order else {}))


def by_llama_cpp(config, order, qweight, qzeros, scale):
    """Its converter's, which makes floats of a folder's tensors."""
    path = os.environ["LLAMA_CPP"]
    sys.path[:0] = [p for p in (path + "/gguf-py", path) if p not in sys.path]
    from conversion.base import ModelBase
    parts = {"a.qweight": qweight, "a.qzeros": qzeros, "a.scales": scale, "a.g_idx": order}
    model = types.SimpleNamespace(hparams={"quantization_config": config}, lazy=False, _is_nvfp4=False, _fp8_as_q8=False,
                                  model_tensors={k: (lambda v=v: v.clone()) for k, v in parts.items()})
    ModelBase.dequant_model(model)
    return model.model_tensors["a.weight"]()


def by_gptqmodel(bits, v2, order, qweight, qzeros, scale):
    """Its functions that take words apart, without the package's own imports."""
    root = os.environ["GPTQMODEL"] + "/gptqmodel"
    for name in ("", ".utils", ".quantization"):
        package = types.ModuleType("gptqmodel" + name)
        package.__path__ = [root + name.replace(".", "/")]
        sys.modules.setdefault("gptqmodel" + name, package)
    for name, what in (("logger", {"setup_logger": lambda: None}), ("torch", {"HAS_NPU": False})):
        module = types.ModuleType("gptqmodel.utils." + name)
        module.__dict__.update(what)
        sys.modules.setdefault("gptqmodel.utils." + name, module)
    theirs = importlib.import_module("gptqmodel.utils.model_dequant")
    zeros = theirs.unpack_cols(qzeros if v2 else theirs._correct_gptq_v1_qzeros(qzeros, bits), bits)
    return scale[order.long()].double() * (theirs.unpack_rows(qweight, bits) - zeros[order.long()])


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    compressed(sys.argv[1])
    awq(sys.argv[1], "awq", GROUP, torch.float16)
    awq(sys.argv[1], "awq_bf16", COLS, torch.bfloat16)
    gptq(sys.argv[1], "gptq", 4, 32, torch.float16, act_order=True)
    gptq(sys.argv[1], "gptq_v2", 4, 96, torch.bfloat16, v2=True)
    gptq(sys.argv[1], "gptq_8", 8, 32, torch.float16)
    gptq(sys.argv[1], "gptq_2", 2, 32, torch.float16)
    gptq(sys.argv[1], "gptq_3", 3, 64, torch.float16)
    gptq(sys.argv[1], "gptq_borrows", 4, 32, torch.float16, borrows=True)
