"""Golden vectors for kernels/quants.c, decoded by the gguf package (not by us). Needs numpy and gguf.
    GGML=.../libggml-base.so python tests/oracle/quants.py > tests/golden/quants.txt

The package knows Q1_0 by name only and Q2_0 not at all: these are decoded by ggml's own functions, and by a definition (ONES_TWOS) that
must agree with them; so must the package's NVFP4.
"""
import ctypes, os
import numpy as np
from gguf import GGMLQuantizationType as T, GGML_QUANT_SIZES as SIZES
from gguf.quants import dequantize, quantize

ONES_TWOS = {"Q1_0": (41, 128, 1, (-1, 1)), "Q2_0": (42, 64, 2, (-1, 0, 1, 2))}  # id, values of a block, bits of one, what codes stand for


def ones_twos(raw, name):
    """Blocks of d, half precision, and codes, lowest bits first."""
    _, block, bits, values = ONES_TWOS[name]
    raw = raw.reshape(-1, 2 + block * bits // 8)
    codes = np.unpackbits(raw[:, 2:], axis=1, bitorder="little").reshape(len(raw), block, bits) @ (1 << np.arange(bits))
    return raw[:, :2].copy().view(np.float16).astype(np.float32) * np.array(values, np.float32)[codes]


def by_ggml(raw, name, n):
    lib = ctypes.CDLL(os.environ["GGML"])
    raw, out = np.ascontiguousarray(raw), np.zeros(n, np.float32)
    getattr(lib, "dequantize_row_" + name.lower())(raw.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n))
    return out


def show(number, name, raw, values):
    values, raw = values.astype(np.float32).reshape(-1), raw.reshape(-1)
    if name == "NVFP4" or name in ONES_TWOS:
        assert (by_ggml(raw, name, len(values)) == values).all(), name
    values = values.view(np.uint32)
    print(f"vector {number} {name}")
    for i in range(0, len(raw), 32):
        print("bytes " + raw[i:i + 32].tobytes().hex())
    for i in range(0, len(values), 8):
        print("values " + " ".join(f"{x:08x}" for x in values[i:i + 8]))


def vector(raw, qtype):
    show(qtype.value, qtype.name, raw, dequantize(raw, qtype))


if __name__ == "__main__":
    rng = np.random.default_rng(20211)
    print("# made by: GGML=.../libggml-base.so python tests/oracle/quants.py > tests/golden/quants.txt (gguf 0.19.0, ggml 0.25.3)")
    print("# format ID NAME VALUES_OF_A_BLOCK BYTES: GGML_QUANT_SIZES; the last: ggml-common.h")
    for t in T:
        print("format", t.value, t.name, *SIZES[t])
    print("format 42 Q2_0 64 18")
    print("# vector ID NAME, then its bytes and what they decode to: floats as their bits, in hexadecimal")

    halves = np.array([0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x3555, 0x2e66, 0x0203, 0xd640], np.uint16)
    vector(halves.view(np.uint8), T.F16)
    brains = np.array([0x0000, 0x8000, 0x0001, 0x0080, 0x3f80, 0xbf80,
                       0x7f7f, 0x7f80, 0xff80, 0x3eab, 0x4049, 0xc2f7], np.uint16)
    vector(brains.view(np.uint8), T.BF16)

    # quantized by the package from values of several sizes, and one block of raw random bytes with a plain scale
    x = np.concatenate([rng.normal(size=32), rng.normal(size=32) * 1e-3]).astype(np.float32)
    for qtype in (T.Q8_0, T.Q4_0):
        size = SIZES[qtype][1]
        extreme = rng.integers(0, 256, size=size, dtype=np.uint8)
        extreme[:2] = np.array([-0.0625], np.float16).view(np.uint8)
        extreme[2:4] = (0x80, 0x7f)  # the least and the greatest byte
        vector(np.concatenate([quantize(x, qtype).reshape(-1), extreme]), qtype)

    # every other block format: random bytes, with halves that are plain numbers where scales stand
    for name, halves in (("Q4_1", (0, 2)), ("Q5_0", (0,)), ("Q5_1", (0, 2)), ("Q2_K", (80, 82)), ("Q3_K", (108,)),
                         ("Q4_K", (0, 2)), ("Q5_K", (0, 2)), ("Q6_K", (208,)), ("IQ4_NL", (0,)), ("IQ4_XS", (0,))):
        block, size = SIZES[T[name]]
        raw = rng.integers(0, 256, size=(96 // block or 1) * size, dtype=np.uint8).reshape(-1, size)
        for at in halves:
            raw[:, at:at + 2] = rng.normal(size=(len(raw), 1)).astype(np.float16).view(np.uint8)
        vector(raw.reshape(-1), T[name])

    # IQ1 to IQ3 and TQ: random bytes; d of IQ1_M lies in the upper nibbles of its last four words
    for name, at in (("IQ2_XXS", 0), ("IQ2_XS", 0), ("IQ3_XXS", 0), ("IQ1_S", 0), ("IQ3_S", 0), ("IQ2_S", 0), ("IQ1_M", None), ("TQ1_0", 52),
                     ("TQ2_0", 64)):
        size = SIZES[T[name]][1]
        raw = np.random.default_rng(56 if at is None else at).integers(0, 256, size=(2, size), dtype=np.uint8)
        d = np.array([[0.0625], [-3e-6]], np.float16)  # the second is subnormal
        if at is None:
            words = raw[:, -8:].copy().view(np.uint16)
            words = (words & 0xfff) | ((d.view(np.uint16) >> np.array([[0, 4, 8, 12]], np.uint16)) << 12).astype(np.uint16)
            raw[:, -8:] = words.view(np.uint8)
        else:
            raw[:, at:at + 2] = d.view(np.uint8)
        vector(raw.reshape(-1), T[name])

    # MXFP4: a power of two from the least to the greatest, and what is between
    raw = rng.integers(0, 256, size=(7, SIZES[T.MXFP4][1]), dtype=np.uint8)
    raw[:, 0] = (0, 1, 2, 120, 127, 254, 255)
    vector(raw.reshape(-1), T.MXFP4)

    # NVFP4: scales of all kinds: 0, what would be NaN, with a sign; the least, subnormal and greatest
    raw = rng.integers(0, 256, size=(8, SIZES[T.NVFP4][1]), dtype=np.uint8)
    raw[:2, :4] = (0, 0x7f, 0x80, 0xff), (1, 7, 8, 0x7e)
    vector(raw.reshape(-1), T.NVFP4)

    for name, (number, block, bits, _) in ONES_TWOS.items():
        raw = rng.integers(0, 256, size=(2, 2 + block * bits // 8), dtype=np.uint8)
        raw[:, :2] = np.array([[0.0625], [-3e-6]], np.float16).view(np.uint8)
        show(number, name, raw, ones_twos(raw, name))
