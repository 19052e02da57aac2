"""Outside the tests: what weights-tools/convert writes of byte-level BPE, as llama.cpp reads it. Needs gguf, torch,
safetensors, `make`, and llama.cpp's llama-tokenize; reads ../shared/data.
    python tests/oracle/bpe_gguf.py CONVERT LLAMA_TOKENIZE
Each tokenizer goes with a random model of one layer into GGUF. The gguf package must find the tokens, merges, types
and the pre-tokenizer's name there; llama-tokenize must give the ids of this file's references on the vectors of
llama.cpp and the beginnings of the texts.
"""
import json
import os
import subprocess
import sys
import tempfile

import gguf
import torch
from safetensors.torch import save_file

from bpe import DATA, FILES, MODELS, text_of

ROWS = {"tok/gpt2": ("gpt-2", 50257, 50000), "tok/llama3.2": ("llama-bpe", 128256, 280147),
        "tok/qwen.tiktoken": ("qwen2", 151851, None)}


def model(folder, vocab):
    d = 32
    names = {"model.embed_tokens.weight": (vocab, d), "model.norm.weight": (d,), "lm_head.weight": (vocab, d)}
    layer = {"input_layernorm.weight": (d,), "post_attention_layernorm.weight": (d,), "self_attn.q_proj.weight": (d, d),
             "self_attn.k_proj.weight": (d, d),
             "self_attn.v_proj.weight": (d, d), "self_attn.o_proj.weight": (d, d), "mlp.gate_proj.weight": (d, d),
             "mlp.up_proj.weight": (d, d), "mlp.down_proj.weight": (d, d)}
    names.update({"model.layers.0." + k: v for k, v in layer.items()})
    save_file({k: torch.randn(v).to(torch.float16) for k, v in names.items()},
              os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": d,
                   "intermediate_size": d, "num_hidden_layers": 1, "num_attention_heads": 2,
                   "num_key_value_heads": 2, "vocab_size": vocab, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
                   "rope_theta": 10000.0, "hidden_act": "silu",
                   "bos_token_id": 1, "eos_token_id": 2}, f)


def texts(pre):
    out = [text_of(f)[:20000] for f in FILES]
    path = DATA + f"gguf-vocab/ggml-vocab-{pre}.gguf.inp"
    with open(path, encoding="utf-8", newline="") as f:
        return out + f.read().split("\n__ggml_vocab_test__\n")[:-1]


def ids_of(tool, path, text, folder):
    name = os.path.join(folder, "text")
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    done = subprocess.run([tool, "-m", path, "-f", name, "--ids", "--no-bos", "--no-parse-special", "--log-disable"],
                          capture_output=True, text=True)
    return json.loads(done.stdout.strip() or "[]") if done.returncode == 0 else done.stderr[-300:]


def main(convert, tool):
    for name, (pre, size, n_merges) in ROWS.items():
        with tempfile.TemporaryDirectory() as folder:
            model(folder, size)
            path = os.path.join(folder, "m.gguf")
            subprocess.run([convert, folder, path, "-q", "-z", DATA + name], check=True)
            fields = {k: f.contents() for k, f in gguf.GGUFReader(path).fields.items() if k.startswith("tokenizer.")}
            assert fields["tokenizer.ggml.model"] == "gpt2" and fields["tokenizer.ggml.pre"] == pre
            assert len(fields["tokenizer.ggml.tokens"]) == len(fields["tokenizer.ggml.token_type"]) == size
            assert n_merges in (None, len(fields["tokenizer.ggml.merges"]))
            kinds = fields["tokenizer.ggml.token_type"]
            reference, bad, all_texts = MODELS[name](), 0, texts(pre)
            for text in all_texts:
                theirs, want = ids_of(tool, path, text, folder), reference.encode(text)
                bad += theirs != want
                if theirs != want:
                    print("   ", repr(text[:60]), theirs[:300], want[:10])
            print(name, pre, len(fields["tokenizer.ggml.merges"]), "merges,", kinds.count(3), "control tokens,",
                  len(all_texts), "texts,", bad, "differ", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
