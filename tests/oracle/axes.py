#!/usr/bin/env python3
"""Logits of tokens that stand at positions of several axes, by transformers' own Qwen2-VL and Qwen3-VL: tests/golden/axes.txt.

    v/bin/python tests/oracle/axes.py

The models are the text halves, with the weights of tests/golden/decoders' cases qwen2 and qwen3 (decoders.py), in float64 (the
angles are transformers' own, float32: 1e-6 off). Positions are those of "text:3 image:2x3 text:2 image:2x2 text:3", as their
get_rope_index gives them (facts: rope/axes.h), and a second row of them that no layout gives: any three numbers a token.
"""
import os
import numpy as np, torch, transformers
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLTextModel
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextModel
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig
import decoders

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = dict(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=64, rms_norm_eps=1e-5)


def layout():
    """text:3 image:2x3 text:2 image:2x2 text:3, frame row column, as get_rope_index counts."""
    out, at = [], 0
    for kind, h, w in (("text", 1, 3), ("image", 2, 3), ("text", 1, 2), ("image", 2, 2), ("text", 1, 3)):
        if kind == "text":
            out += [(at + i,) * 3 for i in range(w)]
            at += w
        else:
            out += [(at, at + a, at + b) for a in range(h) for b in range(w)]
            at += max(h, w)
    return out


def free(n):
    return [((5 * i) % 17, (3 * i + 1) % 23, (7 * i) % 13) for i in range(n)]


def model(case):
    if case == "qwen2":  # 4 pairs: 1, 1, 2 of them by frame, row, column
        c = Qwen2VLTextConfig(**SIZES, use_sliding_window=False, tie_word_embeddings=False,
                              rope_parameters=dict(rope_type="default", rope_theta=1e4, mrope_section=[1, 1, 2]))
        m = Qwen2VLTextModel(c)
    else:  # 8 pairs: 4, 2, 2, dealt out
        c = Qwen3VLTextConfig(**SIZES, head_dim=16, attention_bias=False, tie_word_embeddings=True,
                              rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[4, 2, 2], mrope_interleaved=True))
        m = Qwen3VLTextModel(c)
    m = m.double().eval()
    with torch.no_grad():
        for name, p in m.named_parameters():
            p.copy_(torch.from_numpy(decoders.value_of("model." + name, p.numel()).reshape(p.shape)))
    head = "lm_head.weight" if case == "qwen2" else "model.embed_tokens.weight"
    return m, torch.from_numpy(decoders.value_of(head, 96 * 32).reshape(96, 32))


def main():
    with open(os.path.join(HERE, "..", "golden", "axes.txt"), "w") as f:
        f.write("# Qwen2-VL and Qwen3-VL, transformers %s, float64; made by tests/oracle/axes.py\n" % transformers.__version__)
        for case, kind in (("qwen2", "mrope"), ("qwen3", "mrope-interleaved")):
            m, head = model(case)
            for places in (layout(), free(18)):
                ids = decoders.IDS[:len(places)]
                p = torch.tensor(places).T[:, None]
                with torch.no_grad():
                    x = m(input_ids=torch.tensor([ids]), position_ids=p, use_cache=False).last_hidden_state[0]
                logits = (x @ head.T).numpy()
                f.write("case %s %s %d\n" % (case, kind, len(ids)))
                f.write("ids %s\n" % ",".join(map(str, ids)))
                for at in places:
                    f.write("at %d %d %d\n" % at)
                for t in (4, 8, len(ids) - 1):
                    f.write("row %d %s\n" % (t, " ".join("%.7g" % v for v in logits[t])))


main()
