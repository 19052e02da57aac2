"""What ggml's own quantizer makes of numbers: tests/golden/encode.txt, for tests/test_encode.c.

    cmake -S llama.cpp -B build -DBUILD_SHARED_LIBS=ON && cmake --build build --target ggml-base
    python tests/oracle/encode.py build/bin/libggml-base.so > tests/golden/encode.txt

Needs numpy and gguf (requirements.txt). Made with the llama.cpp inside llama-cpp-python 0.3.36 (ggml 0.25.3). The numbers
come from a generator of whole numbers, the same in C, so that no input need be stored; hashes are FNV-1a, as hash_bytes.
"""
import ctypes
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

N, KINDS = 65536, 9
PLAIN = (T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0)
SEARCHED = (T.Q4_K, T.Q5_K, T.Q6_K, T.Q2_K, T.Q3_K, T.IQ4_NL, T.IQ4_XS)


def noise(n, seed):
    """n 16-bit numbers: the upper half of x = 1664525 x + 1013904223 mod 2^32 (Numerical Recipes)."""
    out, x = np.empty(n, dtype=np.int64), seed
    for i in range(n):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        out[i] = x >> 16
    return out


def values(kind):
    u = noise(9 * N, 12345 + kind).reshape(N, 9)
    bell = (u[:, :8].sum(axis=1) - 4 * 65536).astype(np.float64)  # about normal, sigma 53510
    block = np.arange(N) // 256
    x = [
        bell / 2**20,
        (u[:, 0] - 32768) / 2**16,
        u[:, 0] / 2**16,
        bell * np.abs(bell) / 2**40,
        np.where(u[:, 8] < 6554, bell / 2**20, 0),
        bell / 2**20 * 2.0 ** (block % 16 - 8),
        bell / 2**23 + 0.5,
        bell / 2**36,
        bell / 2**23 - 0.5,
    ][kind]
    return np.ascontiguousarray(x, dtype=np.float32)


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data.tobytes():
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def encode(lib, x, kind):
    block, size = gguf.GGML_QUANT_SIZES[kind]
    out = np.zeros(len(x) // block * size, dtype=np.uint8)
    pointer = ctypes.c_void_p
    lib.ggml_quantize_chunk.argtypes = [ctypes.c_int, pointer, pointer] + [ctypes.c_int64] * 3 + [pointer]
    lib.ggml_quantize_chunk(int(kind), x.ctypes.data, out.ctypes.data, 0, len(x) // 256, 256, None)
    return out


def main():
    lib = ctypes.CDLL(sys.argv[1])
    print("# made by: python tests/oracle/encode.py libggml-base.so > tests/golden/encode.txt")
    print(f"# {KINDS} kinds of input, {N} values each.")
    print("# hash ID NAME, then for each kind the hash of the bytes that ggml makes")
    for t in PLAIN:
        print("hash", t.value, t.name, *(f"{fnv(encode(lib, values(k), t)):016x}" for k in range(KINDS)))
    print("# rmse ID NAME, then for each kind the root of the mean square error of ggml's encoding")
    for t in SEARCHED:
        errors = []
        for k in range(KINDS):
            x = values(k)
            back = gguf.dequantize(encode(lib, x, t), t).astype(np.float64).ravel()
            errors.append(np.sqrt(np.mean((back - x) ** 2)))
        print("rmse", t.value, t.name, *(f"{e:.9g}" for e in errors))


main()
