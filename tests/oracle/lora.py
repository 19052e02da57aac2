"""./run logits --lora against peft in float64, on small random models; prints the largest difference.

    python tests/oracle/lora.py          torch, transformers 5, peft 0.21; makes folders in a temporary one

The same adapter, converted by llama.cpp's convert_lora_to_gguf.py, on the model as GGUF: 1.3e-6 from the logits of the
PEFT folder, 3.8e-6 from libllama's (llama_adapter_lora_init).
"""
import json
import subprocess
import tempfile

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

IDS = [1, 5, 9, 33, 60, 2, 7, 7, 12, 41]
SIZES = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=64, max_position_embeddings=64)
MATRICES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def logits(folder, lora):
    text = subprocess.run(["./run", "logits", folder, "--ids", ",".join(map(str, IDS)), "--all", "--json", "--lora",
                           lora], check=True, capture_output=True, text=True).stdout
    rows = json.loads(text)["logits"]
    return np.array([row["logits"] if isinstance(row, dict) else row for row in rows])


def case(config, model_class, rslora, ranks, scale):
    model = model_class(config)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * 0.2 if p.dim() > 1 else 1 + torch.randn_like(p) * 0.05)
    folder = tempfile.mkdtemp()
    model.save_pretrained(folder)
    adapted = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, use_rslora=rslora, rank_pattern=ranks,
                                               target_modules=MATRICES))
    with torch.no_grad():
        for name, p in adapted.named_parameters():
            if "lora_" in name:
                p.copy_(torch.randn_like(p) * 0.2)
    adapted.save_pretrained(folder + "/adapter")
    for module in adapted.modules():
        if isinstance(getattr(module, "scaling", None), dict):
            module.scaling = {key: value * scale for key, value in module.scaling.items()}
    want = adapted.double().eval()(torch.tensor([IDS])).logits[0].detach().numpy()
    off = np.abs(logits(folder, f"{folder}/adapter:{scale}") - want).max()
    print(f"{config.model_type} rslora={rslora} ranks={ranks} scale={scale}: {off:.2g}")
    assert off < 1e-5


torch.manual_seed(1)
for config, model_class in [(LlamaConfig(**SIZES), LlamaForCausalLM), (Qwen3Config(head_dim=16, **SIZES), Qwen3ForCausalLM)]:
    case(config, model_class, False, {}, 1)
    case(config, model_class, True, {"q_proj": 3}, 0.5)
