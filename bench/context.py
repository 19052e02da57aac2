#!/usr/bin/env python3
"""Draw what `make bench-linear T=context` printed: speed and memory against the context.

    make bench-linear T=context > bench/context.csv
    v/bin/python bench/context.py bench/context.csv bench/context.svg      # matplotlib
"""
import csv, sys
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "roformer", "svg.fonttype": "none"})
import matplotlib.pyplot as plt

rows = list(csv.DictReader(line for line in open(sys.argv[1]) if line.strip()))
fig, (speed, memory) = plt.subplots(1, 2, figsize=(9, 3.8))
for shape, marker in (("1M", "o"), ("110M", "s")):
    for attention, colour in (("softmax", "tab:red"), ("linear", "tab:blue")):
        r = [x for x in rows if x["shape"] == shape and x["attention"] == attention]
        at = [int(x["context"]) for x in r]
        for ax, key in ((speed, "tokens_per_s"), (memory, "memory_mb")):
            ax.plot(at, [float(x[key]) for x in r], marker + "-", color=colour, markersize=4, label=f"{attention}, {shape} parameters")
for ax, what in ((speed, "tokens a second, one at a time"), (memory, "memory beside the weights, MB")):
    ax.set(xscale="log", yscale="log", xlabel="tokens read before", title=what)
    ticks = [1 << 10, 1 << 13, 1 << 16, 1 << 20]
    ax.set_xticks(ticks, ["1k", "8k", "64k", "1M"])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
fig.legend(*speed.get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=8)
fig.tight_layout(rect=(0, 0.07, 1, 1))
fig.savefig(sys.argv[2], metadata={"Date": None})
