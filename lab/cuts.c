/* lab/cuts.c - windows over a text: a table of conventions, and one walk for them all. */
#include "cuts.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>

static const CutConvention conventions[] = {
    {.name = "stream",
     .source = "lab/README.md",
     .bos = CUT_BOS_IN_FRONT,
     .mean = CUT_MEAN_IDS,
     .stride_is_open = 1,
     .last_is_open = 1,
     .documents = 1},
    /* Chunks side by side of one stream that begins with BOS; each chunk's first id makes way for BOS; the ids behind
     * position n_ctx/2 are scored, so that each has half a window in front; the rest of the text is dropped. */
    {.name = "llama.cpp",
     .source = "ggml-org/llama.cpp, tools/perplexity/perplexity.cpp, perplexity()",
     .bos = CUT_BOS_INSTEAD,
     .mean = CUT_MEAN_IDS,
     .window = 512,
     .second_half = 1,
     .drops_newline = 1},
    /* Each window scores what the one before did not reach. A window's mean is multiplied by its new ids less one, as
     * the labels' shift costs one id; but that is so of the first window only (and of all, where none overlap): the
     * others score all their new ids, so these weights are slightly off, and are reproduced. Until October 2024 (its
     * pull request 34387) the page took the mean of the windows' means. */
    {.name = "hf-sliding",
     .source = "huggingface/transformers, docs/source/en/perplexity.md",
     .bos = CUT_BOS_ONCE,
     .mean = CUT_MEAN_WEIGHTED,
     .stride = 512,
     .stride_is_open = 1,
     .special = 1},
    /* The same walk with BOS in front of each window, and the mean of the windows' means. */
    {.name = "yarn",
     .source = "jquesnelle/yarn, eval/perplexity.py, compute_perplexity()",
     .bos = CUT_BOS_IN_FRONT,
     .mean = CUT_MEAN_WINDOWS,
     .stride = 256,
     .stride_is_open = 1,
     .documents = 1,
     .special = 1},
};
enum { N_CONVENTIONS = sizeof conventions / sizeof *conventions };

const CutConvention *cut_convention_row(int i) { return i < N_CONVENTIONS ? &conventions[i] : NULL; }

const CutConvention *cut_convention(const char *name) {
    for (int i = 0; i < N_CONVENTIONS; i++)
        if (!name || strcmp(conventions[i].name, name) == 0) return &conventions[i];
    return NULL;
}

static int check(const Cut *c, const CutOptions *o, char *err, size_t errlen) {
    const CutConvention *v = c->convention;
    size_t least = v->second_half ? 3 : 2;
    if (c->window < least)
        return base_error(err, errlen, -EINVAL, "a window of %zu position%s leaves nothing to score", c->window,
                          c->window == 1 ? "" : "s");
    if (o->stride && !v->stride_is_open)
        return base_error(err, errlen, -EINVAL, "%s has no stride: its windows stand side by side", v->name);
    if (o->last && !v->last_is_open)
        return base_error(err, errlen, -EINVAL, "%s says itself which ids of a window are scored", v->name);
    if (c->stride > c->window)
        return base_error(err, errlen, -EINVAL,
                          "a stride of %zu is longer than the window of %zu: ids would be left out", c->stride,
                          c->window);
    if (o->last > c->window - 1)
        return base_error(err, errlen, -EINVAL, "a window of %zu positions scores %zu ids, so there are no last %zu",
                          c->window, c->window - 1, o->last);
    if (o->last > c->stride)
        return base_error(err, errlen, -EINVAL, "the last %zu of windows %zu apart: ids would be scored twice", o->last,
                          c->stride);
    return 0;
}

int cut_init(Cut *c, const CutOptions *o, size_t trained, int bos, char *err, size_t errlen) {
    const CutConvention *v = o->convention ? o->convention : &conventions[0];
    *c = (Cut){.convention = v, .last = o->last, .bos = v->bos == CUT_BOS_ONCE ? -1 : bos};
    c->window = o->window ? o->window : v->window ? v->window : trained;
    c->room = c->window - (v->bos == CUT_BOS_IN_FRONT && c->bos >= 0 && c->window > 0);
    c->stride = o->stride ? o->stride : v->stride ? (v->stride < c->window ? v->stride : c->window) : c->room;
    return check(c, o, err, errlen);
}

int cut_check(const Cut *c, size_t n, char *err, size_t errlen) {
    if (!c->convention->second_half || n >= 2 * c->window) return 0;
    return base_error(err, errlen, -EINVAL, "%s wants two windows of %zu at least; the text has %zu ids",
                      c->convention->name, c->window, n);
}

/* Ids from begin on that a window scores: none that it has nothing to foretell from, none that was read before. */
static size_t first_scored(const Cut *c, const CutWindow *w) {
    int in_front = c->convention->bos == CUT_BOS_IN_FRONT && c->bos >= 0;
    size_t first = w->begin + !in_front;
    if (c->convention->second_half) first = w->begin + c->window / 2 + 1;
    if (first < w->before) first = w->before;
    if (c->last && w->end - w->begin > c->last && first < w->end - c->last) first = w->end - c->last;
    return first < w->end ? first : w->end;
}

int cut_next(const Cut *c, size_t n, CutWindow *w) {
    if (w->began && w->end == n) return 0;
    CutWindow next = {.begin = w->began ? w->begin + c->stride : 0, .before = w->end, .began = 1};
    if (next.begin >= n) return 0;
    next.end = n - next.begin < c->room ? n : next.begin + c->room;
    int full = next.end - next.begin == c->room;
    if (!full && (c->convention->second_half || (c->last && w->began))) return 0;
    next.first = first_scored(c, &next);
    size_t fresh = next.end - next.before, size = next.end - next.begin;
    next.weight = c->convention->mean == CUT_MEAN_WEIGHTED ? (double)(fresh < size ? fresh : size) - 1 : 1;
    *w = next;
    return 1;
}
