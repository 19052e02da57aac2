"""kernels/iq_grids.h: the lists of rows that the IQ formats choose from, out of the gguf package (0.19.0).
    python tests/oracle/iq_grids.py > kernels/iq_grids.h

A row is packed into 16 bits, its first value lowest: eight values of two bits, or four of three, each the number of a
magnitude (or of -1, 0, 1). Needs numpy and gguf.
"""
import numpy as np
from gguf import quants

print("/* kernels/iq_grids.h - the rows of 8 or 4 values that the IQ formats choose from, each in 16 bits: values of 2 or 3")
print(" * bits, the first one lowest. Made by tests/oracle/iq_grids.py from the gguf package 0.19.0; which rows there are is")
print(" * part of the formats, as ggml has fixed them. */")
print("#ifndef IQ_GRIDS_H\n#define IQ_GRIDS_H\n\n#include <stdint.h>")
for name, of in (("iq1_grid", quants.IQ1_S), ("iq2_xxs_grid", quants.IQ2_XXS), ("iq2_xs_grid", quants.IQ2_XS), ("iq2_s_grid", quants.IQ2_S),
                 ("iq3_xxs_grid", quants.IQ3_XXS), ("iq3_s_grid", quants.IQ3_S)):
    of.init_grid()
    n, width = of.grid_shape
    index = np.searchsorted(np.array(of.grid_map), of.grid.reshape(n, width))
    assert (np.array(of.grid_map)[index] == of.grid.reshape(n, width)).all()
    rows = (index << (np.arange(width) * (2 if width == 8 else 3))).sum(axis=1)
    print("\nstatic const uint16_t %s[%d] = {" % (name, n))
    for i in range(0, n, 14):
        print("    " + " ".join("0x%04x," % r for r in rows[i:i + 14]))
    print("};")
print("\n#endif")
