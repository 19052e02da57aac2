#!/usr/bin/env python3
"""Where the numbers of gelu in kernels/vector_loops.h come from.

    v/bin/pip install numpy scipy && v/bin/python tests/oracle/gelu.py

The upper tail of the normal distribution is Phi(-a) = erfc(a / sqrt(2)) / 2 = e^(-a^2/2) * erfcx(a / sqrt(2)) / 2 for a >= 0. The last
factor falls slowly and smoothly, so a polynomial in t = 1 / (1 + P a) without a constant has it: fitted on Chebyshev nodes
of a in [0, 13.2] (e^(-a^2/2) is 0 in float from there on), least squares of the relative error with weights that grow where it is largest.
"""
import numpy as np
from scipy.special import erfcx

P, DEGREE, A_MAX = 0.21, 9, 13.2
t_min = 1 / (1 + P * A_MAX)
t = (t_min + 1) / 2 + (1 - t_min) / 2 * np.cos((np.arange(4000) + 0.5) * np.pi / 4000)
wanted = 0.5 * erfcx((1 / t - 1) / P / np.sqrt(2))
A = np.stack([t**j for j in range(1, DEGREE + 1)], axis=1) / wanted[:, None]
w = np.ones_like(t)
for _ in range(60):
    c = np.linalg.lstsq(A * w[:, None], w, rcond=None)[0]
    error = abs(A @ c - 1)
    w *= (error / error.max() + 0.02) ** 0.3
for j, v in enumerate(c, 1):
    print(f"t^{j}  {v:.9g}f")
print(f"largest relative error {error.max():.2g}")
