"""attention.py - where a head looks, drawn with characters:  attention.py [MODEL] [TEXT] [LAYER] [HEAD]

A row is a token that looks, a column one that it looks at; the darker, the larger the weight.
"""
import sys

import numpy as np

import roformer

path, text, layer, head = (sys.argv[1:] + [None] * 4)[:4]
model = roformer.Model(path or None)
ids = model.tokenize(text or "Tom had a red ball. Tom had a red ball.")
layer, head = int(layer or 0), int(head or 0)
weights = model.attention(ids, layer, head)

names = [model.piece(int(i)).decode(errors="replace").replace("\u2581", " ") for i in ids]
wide = max(map(len, names))
shades = " .:-=+*#%@"
print(f"layer {layer} of {model.n_layers}, head {head} of {model.n_heads}")
for name, row in zip(names, weights):
    seen = np.nan_to_num(np.abs(row))
    steps = np.ceil(seen / max(seen.max(), 1e-30) * (len(shades) - 1)).astype(int)
    print(f"{name!s:>{wide}} |{''.join(2 * shades[k] for k in steps)}|  most at {names[seen.argmax()].strip()!r}")
