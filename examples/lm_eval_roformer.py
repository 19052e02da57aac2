"""lm_eval_roformer.py - EleutherAI's lm-evaluation-harness on this engine: its command line, with one more --model.

    python examples/lm_eval_roformer.py --model roformer --model_args path=model.gguf --tasks arc_easy,wikitext

model_args: path, and max_length (the trained context, at most 4096), add_bos_token, cache, and the options of
roformer.h (rope=yarn:factor=4, threads=2 ..). Wants lm_eval (0.4.13) and NumPy; torch is the harness's own wish.

Requests that begin alike, as the choices of one question do, are read once: the session goes back to where they part,
which changes no bit of what follows.
"""
import numpy as np
from lm_eval.api.model import TemplateLM
from lm_eval.api.registry import register_model
from lm_eval.models.utils import normalize_gen_kwargs
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from tqdm import tqdm

import roformer

ROWS = 64  # logits that are held at a time: vocab_size floats each


@register_model("roformer")
class RoformerLM(TemplateLM):
    def __init__(self, path=None, max_length=None, add_bos_token=None, cache=None, batch_size=None, device=None,
                 max_batch_size=None, **options):
        super().__init__()  # batch_size, device: the harness hands them on, and there is one text on one machine here
        self.model = roformer.Model(path, **options)
        if not self.model.has_logits or self.model.reads_whole:
            raise ValueError(f"{path}: {self.model.arch} does not tell what comes next")
        self.max_length = int(max_length or min(self.model.n_ctx_train, 4096))
        self.add_bos = True if add_bos_token is None else add_bos_token in (True, "True", 1)
        self.session = self.model.session(n_ctx=self.max_length, cache=cache, threads=options.get("threads"))
        self.read = []  # the ids that the session has read

    @property
    def eot_token_id(self):
        return self.model.eos

    @property
    def prefix_token_id(self):
        return self.model.bos if self.model.bos >= 0 else self.model.eos

    @property
    def tokenizer_name(self):
        return self.model.tokenizer

    def tok_encode(self, string, add_special_tokens=None, **_):
        bos = self.add_bos if add_special_tokens is None else add_special_tokens
        begins = self.model.piece(self.model.bos)  # a text that has its BOS needs no other
        bos = bos and not (add_special_tokens is None and begins and string.encode().startswith(begins))
        return self.model.tokenize(string, bos=bos, special=True).tolist()

    def _go_on(self, ids):
        """The session stands where ids [n] begin to differ from what it read: how many they share, at most n - 1."""
        n = 0
        while n < min(len(ids) - 1, len(self.read)) and ids[n] == self.read[n]:
            n += 1
        if n < len(self.read) and self.model.is_linear:
            n = 0  # a state has no way back
        self.session.rewind(n)
        self.read = self.read[:n]
        return n

    def _score(self, context, continuation):
        """The logarithm of the continuation's probability, and whether each of its ids is the most probable."""
        ids = (context + continuation)[-(self.max_length + 1):][:-1]
        first = len(ids) - len(continuation)  # row i tells ids[i + 1]: the first of the rows that are wanted
        at = self._go_on(ids[:first + 1])
        if at < first:
            self.session.eval(ids[at:first])
        total, greedy = 0.0, True
        for i in range(0, len(continuation), ROWS):
            rows = self.session.eval(ids[first + i:first + i + ROWS], all=True).astype(np.float64)
            told = np.array(continuation[i:i + ROWS])
            top = rows.max(axis=1, keepdims=True)
            norm = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
            total += float((rows[np.arange(len(told)), told] - norm).sum())
            greedy &= bool((rows.argmax(axis=1) == told).all())
        self.read = ids
        return total, greedy

    def _loglikelihood_tokens(self, requests, disable_tqdm=False, **_):
        results = [None] * len(requests)
        for i in tqdm(sorted(range(len(requests)), key=lambda i: requests[i][1] + requests[i][2]),
                      disable=disable_tqdm, desc="Reading"):  # those that begin alike, one after the other
            key, context, continuation = requests[i]
            if not context or not 0 < len(continuation) <= self.max_length:
                raise ValueError(f"{key}: nothing to score, or more than max_length={self.max_length} ids")
            results[i] = self._score(context, continuation)
            if key is not None:
                self.cache_hook.add_partial("loglikelihood", key, results[i])
        return results

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        totals = []
        for (text,) in (request.args for request in requests):
            windows = map(make_disjoint_window, get_rolling_token_windows(
                self.tok_encode(text), self.prefix_token_id, self.max_length, context_len=1))
            scores = self._loglikelihood_tokens([(None, *w) for w in windows], disable_tqdm)
            totals.append(sum(score for score, _ in scores))
            self.cache_hook.add_partial("loglikelihood_rolling", (text,), totals[-1])
        return totals

    def generate_until(self, requests, disable_tqdm=False):
        texts = []
        for context, given in tqdm([request.args for request in requests], disable=disable_tqdm, desc="Writing"):
            kwargs = normalize_gen_kwargs(given)
            room = self.max_length - kwargs["max_gen_toks"]
            if room <= 0:
                raise ValueError(f"max_gen_toks={kwargs['max_gen_toks']} leaves no room in {self.max_length} positions")
            ids = self.tok_encode(context)[-room:] or [self.prefix_token_id]
            at = self._go_on(ids)
            self.session.eval(ids[at:])
            sampling = {k: kwargs[k] for k in ("top_p", "top_k", "min_p", "repetition_penalty", "seed") if k in kwargs}
            texts.append(self.session.write(max_tokens=kwargs["max_gen_toks"], stops=[s for s in kwargs["until"] if s],
                                            temperature=kwargs.get("temperature", 0.0) if kwargs["do_sample"] else 0.0,
                                            **sampling))
            self.session.rewind(0 if self.model.is_linear else len(ids))
            self.read = [] if self.model.is_linear else ids
            self.cache_hook.add_partial("generate_until", (context, given), texts[-1])
        return texts


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
