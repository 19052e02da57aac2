"""lm_eval_hf.py - examples/lm_eval_roformer.py beside the harness's own `hf` model: the same small LLaMA, the same
three tasks (lm_eval/: choices, whole texts, texts that go on), document by document. From the repository's root,
behind `make lib`:

    python -m venv v && v/bin/pip install -r tests/oracle/requirements-lm_eval.txt
    v/bin/python tests/oracle/lm_eval_hf.py

Nothing is downloaded, and nothing kept: the model has random weights, and its tokenizer, byte-level BPE, is made of
this project's README files. Exit 1 where a greedy id, a text or a metric differs, or a logarithm of a probability by
more than tolerance() says; and where a model with another theta passes for the same.

Result (lm_eval 0.4.13, transformers 5.24, torch 2.15): of two tokenizers 59 answers each, no text or greedy id differs,
logarithms are at most 2.2e-4 apart (of -9190.93, a text of 1,600 ids); with another theta 29 and 31 answers differ.
"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="lm_eval_hf-"))
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=str(FOLDER / "hf"),
                  TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, "examples")

import lm_eval  # noqa: E402
import torch  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

import lm_eval_roformer  # noqa: E402, F401

TASKS = ["roformer_choice", "roformer_rolling", "roformer_write"]


def make_model(path, bos):
    """A LLaMA of 3 layers, random; bos: its tokenizer puts <s> in front of every text."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train(sorted(map(str, Path().glob("*/README.md"))), trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    if bos:
        t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>").save_pretrained(path)
    torch.manual_seed(1)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=700, hidden_size=96, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, initializer_range=0.15, bos_token_id=0, eos_token_id=1))
    model.save_pretrained(path)


def evaluate(kind, args):
    return lm_eval.simple_evaluate(model=kind, model_args=args, tasks=TASKS, log_samples=True, bootstrap_iters=0,
                                   task_manager=TaskManager(include_path="tests/oracle/lm_eval"))


def scores(sample):
    """All numbers, truths and texts of a document's answers, flat."""
    for answer in sample["resps"]:
        for part in answer:
            yield from part if isinstance(part, tuple) else [part]


def tolerance(y):
    """Both compute in float32, each in its order; and hf adds logarithms up in float32, whose steps are y * 2^-23."""
    return 1e-4 + 2 ** -22 * abs(y)


def compare(ours, theirs):
    """The largest difference, how many answers there were, and what differs that may not."""
    worst, n, wrong = 0.0, 0, []
    for task in TASKS:
        for a, b in zip(ours["samples"][task], theirs["samples"][task], strict=True):
            for x, y in zip(scores(a), scores(b), strict=True):
                n += 1
                if isinstance(y, float):
                    worst = max(worst, abs(x - y))
                if abs(x - y) > tolerance(y) if isinstance(y, float) else x != y:
                    wrong.append(f"{task} {str(a['doc'])[:60]}: {x!r}, hf {y!r}")
        for name, y in theirs["results"][task].items():
            x = ours["results"][task][name]
            if isinstance(y, float) and abs(x - y) > 1e-4 * max(1, abs(y)) or isinstance(y, str) and x != y:
                wrong.append(f"{task} {name}: {x!r}, hf {y!r}")
    return worst, n, wrong


def main():
    failed = False
    for bos in (False, True):
        path = str(FOLDER / f"model-{bos}")
        make_model(path, bos)
        theirs = evaluate("hf", {"pretrained": path, "dtype": "float32", "device": "cpu"})
        ours = evaluate("roformer", {"path": path, "cache": "f32"})
        worst, n, wrong = compare(ours, theirs)
        failed |= bool(wrong)
        print(f"tokenizer {'with' if bos else 'without'} BOS: {n} answers, logarithms at most {worst:.1e} apart; "
              f"{len(wrong)} differ", *wrong, sep="\n    ")
        _, _, wrong = compare(evaluate("roformer", {"path": path, "cache": "f32", "rope_theta": 12000.0}), theirs)
        failed |= not wrong
        print(f"    theta 12000 for 10000: {len(wrong)} differ")
    shutil.rmtree(FOLDER)
    sys.exit(failed)


if __name__ == "__main__":
    main()
