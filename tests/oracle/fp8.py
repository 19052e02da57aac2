"""FP8 as Hugging Face's files have it -> tests/golden/fp8/LAYOUT/{config.json,model.safetensors}

    python tests/oracle/fp8.py tests/golden/fp8

Each file has a matrix of F8_E4M3 with its scales, and beside it what the published software makes of
it in BF16: `a.expected`. `codes` has every code but the two NaN; `nan` those.
Sources: transformers 5.24, integrations/finegrained_fp8.py; compressed-tensors, dequantize.
"""
import json
import os
import sys

import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import dequantize
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize, _dequantize_fp8_weight

ROWS, COLS, BLOCK, LARGE = 20, 37, [8, 16], [16, 32]  # a large one has more values than there are codes
F8 = torch.float8_e4m3fn


def block_scales(block):
    return torch.rand(-(-ROWS // block[0]), -(-COLS // block[1])) * 0.02 + 1e-3


def of_blocks(matrix, scales, block):
    return _dequantize_fp8_weight(matrix, scales, block, torch.float32).to(torch.bfloat16)


def packed(matrix, scales, strategy):
    """What compressed-tensors makes of it; it multiplies in the type of the scales."""
    args = QuantizationArgs(num_bits=8, type="float", strategy=strategy, symmetric=True)
    return dequantize(matrix, scales, args=args, dtype=torch.float32).to(torch.bfloat16)


def write(folder, name, quantization, tensors):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    save_file(tensors, f"{folder}/{name}/model.safetensors")
    with open(f"{folder}/{name}/config.json", "w") as f:
        json.dump({"model_type": "llama", "quantization_config": quantization}, f, indent=1)
        f.write("\n")


def main(folder):
    torch.manual_seed(3)
    matrix = (torch.randn(ROWS, COLS) * 60).to(F8)
    block, large, row = block_scales(BLOCK), block_scales(LARGE), torch.rand(ROWS, 1) * 0.02 + 1e-3
    one = torch.tensor(0.0123, dtype=torch.bfloat16)
    fp8 = {"quant_method": "fp8", "weight_block_size": BLOCK}
    write(folder, "block", fp8, {
        "a.weight": matrix, "a.weight_scale_inv": block,
        "a.expected": of_blocks(matrix, block, BLOCK)})
    ct = {"quant_method": "compressed-tensors", "format": "float-quantized"}
    groups = {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": LARGE}}}
    write(folder, "packed_block", ct | {"config_groups": groups}, {
        "a.weight": matrix, "a.weight_scale": large, "a.expected": of_blocks(matrix, large, LARGE)})
    write(folder, "packed_row", ct, {
        "a.weight": matrix, "a.weight_scale": row, "a.input_scale": torch.ones(1),
        "a.expected": packed(matrix, row, "channel")})
    write(folder, "packed_one", ct | {"format": "naive-quantized"}, {
        "a.weight": matrix, "a.weight_scale": torch.tensor([0.0071]), "k_proj.k_scale": torch.ones(1),
        "a.expected": packed(matrix, torch.tensor([0.0071]), "tensor")})
    write(folder, "fbgemm", {"quant_method": "fbgemm_fp8"}, {
        "a.weight": matrix, "a.weight_scale": row.flatten().clone(), "a.input_scale_ub": torch.tensor(1200.0),
        "a.expected": (matrix.float() * row).to(torch.bfloat16)})
    write(folder, "modelopt", {"quant_method": "modelopt", "quant_algo": "FP8"}, {
        "a.weight": matrix, "a.weight_scale": torch.tensor(0.0071), "a.input_scale": torch.tensor(0.5),
        "a.expected": (matrix.float() * 0.0071).to(torch.bfloat16)})
    codes = torch.arange(256, dtype=torch.uint8)
    codes[127], codes[255] = 0, 128
    codes = codes.view(F8).view(16, 16)
    dequantized = Fp8Dequantize(None)._dequantize_one(codes, one, torch.bfloat16)
    write(folder, "codes", {"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None}, {
        "a.weight": codes, "a.weight_scale_inv": one, "a.activation_scale": torch.tensor(0.1),
        "a.expected": dequantized})
    nan = torch.tensor([[127, 255]], dtype=torch.uint8).view(F8)
    write(folder, "nan", {"quant_method": "fp8"}, {"a.weight": nan, "a.weight_scale_inv": torch.ones(1, 1)})


main(sys.argv[1])
