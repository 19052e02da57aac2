#!/usr/bin/env python3
"""Models in layers with random weights, for bench/peers.sh: a dense one, one of experts, one of delta nets.

    v/bin/pip install torch transformers
    make && v/bin/python bench/layers.py FOLDER               FOLDER/gemma3.q8_0.gguf, .q4_k_m.gguf and so on
    make bench M="FOLDER/gemma3.q8_0.gguf FOLDER/qwen3moe.q8_0.gguf" LLAMA_BENCH=PATH
"""
import os, subprocess, sys
import torch, transformers

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "weights-tools")
USUAL = dict(vocab_size=32000, max_position_embeddings=4096, bos_token_id=1, eos_token_id=2, pad_token_id=0)
MODELS = {  # of the size of Gemma 3 1B, a small Qwen3-MoE, Qwen3.5 0.8B
    "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM", dict(
        hidden_size=1152, intermediate_size=6912, num_hidden_layers=26, num_attention_heads=4, num_key_value_heads=1,
        head_dim=256, sliding_window=512)),
    "qwen3moe": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM", dict(
        hidden_size=1024, intermediate_size=3072, num_hidden_layers=16, num_attention_heads=16, num_key_value_heads=4,
        head_dim=128, num_experts=32, num_experts_per_tok=4, moe_intermediate_size=512, norm_topk_prob=True)),
    "qwen35": ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM", dict(
        hidden_size=1024, intermediate_size=3584, num_hidden_layers=24, num_attention_heads=8, num_key_value_heads=2,
        head_dim=256, linear_num_key_heads=16, linear_num_value_heads=16, linear_key_head_dim=128,
        linear_value_head_dim=128)),
}


def main():
    out = sys.argv[1]
    torch.manual_seed(5)
    for name, (config, model, sizes) in MODELS.items():
        folder, f16 = os.path.join(out, name), os.path.join(out, name + ".f16.gguf")
        m = getattr(transformers, model)(getattr(transformers, config)(**USUAL, **sizes)).to(torch.float16)
        m.save_pretrained(folder)
        del m
        subprocess.run([TOOLS + "/convert", folder, f16, "--no-tokenizer"], check=True)
        for t in "Q8_0", "Q4_K_M":
            subprocess.run([TOOLS + "/quantize", f16, os.path.join(out, f"{name}.{t.lower()}.gguf"), t], check=True)


if __name__ == "__main__":
    main()
