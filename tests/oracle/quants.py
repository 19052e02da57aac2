"""Golden vectors for kernels/quants.c, decoded by the gguf package (not by us). Needs numpy and gguf.
    python tests/oracle/quants.py > tests/golden/quants.h
"""
import numpy as np
from gguf import GGMLQuantizationType as T, GGML_QUANT_SIZES as SIZES
from gguf.quants import dequantize, quantize

rng = np.random.default_rng(20211)


def c_array(kind, name, items, fmt):
    lines = [", ".join(fmt % int(x) for x in items[i:i + 16]) for i in range(0, len(items), 16)]
    print(f"static const {kind} {name}[] = {{\n    " + ",\n    ".join(lines) + ",\n};")


def vector(name, raw, qtype):
    values = dequantize(raw, qtype).astype(np.float32).reshape(-1)
    c_array("uint8_t", f"golden_{name}", raw.reshape(-1), "0x%02x")
    c_array("uint32_t", f"golden_{name}_f32", values.view(np.uint32), "0x%08x")


print("/* made by: python tests/oracle/quants.py > tests/golden/quants.h (gguf 0.19.0); floats as their bits */")
print("#ifndef GOLDEN_QUANTS_H\n#define GOLDEN_QUANTS_H\n\n#include <stdint.h>\n")

halves = np.array([0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x3555, 0x2e66, 0x0203, 0xd640], np.uint16)
vector("f16", halves.view(np.uint8), T.F16)
brains = np.array([0x0000, 0x8000, 0x0001, 0x0080, 0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x3eab, 0x4049, 0xc2f7], np.uint16)
vector("bf16", brains.view(np.uint8), T.BF16)

# quantized by the package from values of several sizes, and one block of raw random bytes with a plain scale
x = np.concatenate([rng.normal(size=32), rng.normal(size=32) * 1e-3]).astype(np.float32)
for name, qtype in (("q8_0", T.Q8_0), ("q4_0", T.Q4_0)):
    size = SIZES[qtype][1]
    extreme = rng.integers(0, 256, size=size, dtype=np.uint8)
    extreme[:2] = np.array([-0.0625], np.float16).view(np.uint8)
    extreme[2:4] = (0x80, 0x7f)  # the least and the greatest byte
    vector(name, np.concatenate([quantize(x, qtype).reshape(-1), extreme]), qtype)

# every other block format: random bytes, with halves that are plain numbers where scales stand
for name, halves in (("Q4_1", (0, 2)), ("Q5_0", (0,)), ("Q5_1", (0, 2)), ("Q2_K", (80, 82)), ("Q3_K", (108,)), ("Q4_K", (0, 2)),
                     ("Q5_K", (0, 2)), ("Q6_K", (208,)), ("IQ4_NL", (0,)), ("IQ4_XS", (0,))):
    block, size = SIZES[T[name]]
    raw = rng.integers(0, 256, size=(96 // block or 1) * size, dtype=np.uint8).reshape(-1, size)
    for at in halves:
        raw[:, at:at + 2] = rng.normal(size=(len(raw), 1)).astype(np.float16).view(np.uint8)
    vector(name.lower(), raw.reshape(-1), T[name])

print("\n/* GGML_QUANT_SIZES: id, values in a block, bytes of a block */")
print("static const struct { int id; const char *name; int block, bytes; } golden_formats[] = {")
for t in T:
    print(f'    {{{t.value}, "{t.name}", {SIZES[t][0]}, {SIZES[t][1]}}},')
print("};\n\n#endif")
