#!/usr/bin/env python3
"""A RoFormer that has learnt something: trains a small character model with transformers' own RoFormerForMaskedLM.

    v/bin/pip install torch transformers
    v/bin/python tests/oracle/train_mlm.py OUT --minutes 10      # from ../shared/data/text/hongloumeng_utf8.txt
    v/bin/python tests/oracle/train_mlm.py OUT --check ./run     # held-out masks: ./run fill beside transformers

OUT gets config.json, model.safetensors, vocab.txt, tokenizer_config.json, and heldout.txt: lines of the book's last 5 % that
were not trained on, with 15 % of their characters masked. --check lets both programs fill the masks of the same lines and
compares: the share of masks where the best candidate is the right character (transformers in float64), and how many
candidates differ. Nothing of OUT is kept in the tree.
"""
import argparse, json, os, random, subprocess, time
import torch
from transformers import RoFormerConfig, RoFormerForMaskedLM

HERE = os.path.dirname(os.path.abspath(__file__))
BOOK = os.path.join(HERE, "..", "..", "..", "shared", "data", "text", "hongloumeng_utf8.txt")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LENGTH = 126  # characters of a window; with [CLS] and [SEP] 128


def read_book(path):
    """Its lines without spaces, one text; a character is one token, so nothing is left that BasicTokenizer would change."""
    text = "".join("".join(line.split()) for line in open(path, encoding="utf-8", errors="replace"))
    return "".join(c for c in text if c.isprintable() and c != "\ufffd" and not c.isascii())


def make_vocabulary(text):
    counts = {}
    for c in text:
        counts[c] = counts.get(c, 0) + 1
    return SPECIAL + sorted((c for c, n in counts.items() if n >= 3), key=lambda c: (-counts[c], c))


def mask_window(ids, vocab_size, rng):
    """BERT's rule: 15 % are asked for; of these 80 % become [MASK], 10 % another character, 10 % stay."""
    x, labels = list(ids), [-100] * len(ids)
    for i in range(1, len(ids) - 1):
        if rng.random() < 0.15:
            labels[i], how = ids[i], rng.random()
            x[i] = 4 if how < 0.8 else rng.randrange(5, vocab_size) if how < 0.9 else ids[i]
    return x, labels


def train(args):
    text = read_book(args.book)
    cut = len(text) * 95 // 100
    vocab = make_vocabulary(text[:cut])
    number = {c: i for i, c in enumerate(vocab)}
    ids = [number.get(c, 1) for c in text[:cut]]
    config = RoFormerConfig(vocab_size=len(vocab), embedding_size=128, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
                            intermediate_size=512, max_position_embeddings=512, type_vocab_size=2, hidden_dropout_prob=0.0,
                            attention_probs_dropout_prob=0.0)
    torch.manual_seed(1)
    rng, model = random.Random(1), RoFormerForMaskedLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.01)
    start, step, shown, smooth = time.time(), 0, 0, None
    while (done := (time.time() - start) / (60 * args.minutes)) < 1:
        batch = [mask_window([2] + ids[a:a + LENGTH] + [3], len(vocab), rng) for a in (rng.randrange(cut - LENGTH) for _ in range(16))]
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 200) * max(0.02, 1 - done)
        loss = model(torch.tensor([b[0] for b in batch]), labels=torch.tensor([b[1] for b in batch])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
        if time.time() - shown > 20:
            shown = time.time()
            print(f"step {step}, loss {smooth:.3f}, {100 * done:.0f} %", flush=True)
    print(f"{step} steps, loss {smooth:.3f}")
    model.save_pretrained(args.out)
    with open(os.path.join(args.out, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(vocab) + "\n")
    json.dump({"tokenizer_class": "BertTokenizer", "do_lower_case": True}, open(os.path.join(args.out, "tokenizer_config.json"), "w"))
    rng, lines = random.Random(2), []
    for a in range(cut, len(text) - LENGTH, LENGTH):
        window = text[a:a + LENGTH]
        if all(c in number for c in window):
            lines.append(("".join("[MASK]" if rng.random() < 0.15 else c for c in window), window))
    with open(os.path.join(args.out, "heldout.txt"), "w", encoding="utf-8") as f:
        f.writelines(masked + "\n" for masked, _ in lines)
    json.dump([whole for _, whole in lines], open(os.path.join(args.out, "heldout.json"), "w"))


def check(args):
    vocab = open(os.path.join(args.out, "vocab.txt"), encoding="utf-8").read().split("\n")[:-1]
    number = {c: i for i, c in enumerate(vocab)}
    masked = open(os.path.join(args.out, "heldout.txt"), encoding="utf-8").read().split("\n")[:-1]
    whole = json.load(open(os.path.join(args.out, "heldout.json")))
    model = RoFormerForMaskedLM.from_pretrained(args.out).double().eval()
    theirs, right = [], []
    for line, answer in zip(masked, whole):
        ids = [2]
        for i, part in enumerate(line.split("[MASK]")):
            ids += [4] * (i > 0) + [number[c] for c in part]
        ids.append(3)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        at = [i for i, v in enumerate(ids) if v == 4]
        theirs += logits[at].argmax(-1).tolist()
        right += [number[answer[i - 1]] for i in at]
    out = subprocess.run([args.check, "fill", args.model or args.out, "-f", os.path.join(args.out, "heldout.txt"), "--top-k", "1", "--json", "-q"],
                         stdout=subprocess.PIPE, check=True).stdout
    ours = [m["candidates"][0]["id"] for line in out.decode().splitlines() for m in json.loads(line)["masks"]]
    assert len(ours) == len(theirs) == len(right)
    share = lambda mine: sum(a == b for a, b in zip(mine, right)) / len(right)
    print(f"{len(masked)} lines, {len(right)} masks: transformers {share(theirs):.4f} right, ./run fill {share(ours):.4f}; "
          f"{sum(a != b for a, b in zip(ours, theirs))} best candidates differ")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--book", default=BOOK)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--check", metavar="RUN", help="compare the program RUN with transformers; no training")
    p.add_argument("--model", help="with --check: what RUN opens, where it is not OUT (a converted file)")
    args = p.parse_args()
    os.makedirs(args.out, exist_ok=True)
    check(args) if args.check else train(args)


main()
