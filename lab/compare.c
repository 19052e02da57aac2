/* lab/compare.c - windows of a text, of which only some ids are scored. */
#include "compare.h"

#include "base/base.h"
#include "model/entropy.h"
#include "model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ids [n]: a window; those from `first` on are scored, into bins[position / bin]. */
typedef struct {
    Perplexity *bins;
    const int *ids;
    size_t n, first, bin;
    const Model *model;
} Window;

/* The logits after id i of the window foretell id i + 1. */
static void score(void *arg, size_t i, const float *logits) {
    Window *w = arg;
    Perplexity *p = &w->bins[(i + 1) / w->bin];
    perplexity_count(p, perplexity_nll(w->model, logits, w->ids[i + 1]));
}

static int read_window(Session *s, Window *w, size_t before, size_t total, char *err, size_t errlen) {
    EntropyMeter *meter = entropy_of(s);
    if (meter) meter->from = w->first - 1;
    return perplexity_read(s, w->ids, w->n, w->first, score, w, before, total, err, errlen);
}

size_t compare_from(size_t longest) { return longest - 1; }

static size_t stride(size_t length) { return length < 8 ? 1 : length / 4; }

size_t compare_windows(const CompareCut *cut, size_t length) {
    return (cut->score + stride(length) - 1) / stride(length);
}

/* ids [n] behind BOS, or as they are: into w [length]. n fits. */
static void take(int *w, const int *ids, size_t length, int bos) {
    if (bos >= 0) *w = bos;
    memcpy(w + (bos >= 0), ids, (length - (bos >= 0)) * sizeof *w);
}

int compare_cell(Perplexity *p, Session *s, const int *ids, size_t n_ids, int bos, const CompareCut *cut, size_t length,
                 char *err, size_t errlen) {
    size_t windows = compare_windows(cut, length), total = windows * (length - 1);
    if (length < COMPARE_LEAST_LENGTH || cut->from < compare_from(length) || cut->from > n_ids ||
        cut->score > n_ids - cut->from)
        return base_error(err, errlen, -EINVAL, "the text has %zu ids: too few for windows of %zu", n_ids, length);
    Window w = {.n = length, .bin = length, .model = s->model};
    int *room = calloc(length, sizeof *room), rc = 0;
    if (!room) return base_error(err, errlen, -ENOMEM, "out of memory");
    w.ids = room;
    for (size_t i = 0, at = 0; i < windows && rc == 0; i++) {
        size_t n = cut->score - at < stride(length) ? cut->score - at : stride(length);
        Perplexity sum = *p;
        at += n;
        take(room, ids + cut->from + at - (length - (bos >= 0)), length, bos);
        w.bins = &sum;
        w.first = length - n;
        rc = read_window(s, &w, i * (length - 1), total, err, errlen);
        sum.windows++;
        if (rc == 0) *p = sum;
    }
    free(room);
    return rc;
}

size_t compare_whole(size_t n_ids, int bos, size_t length) { return n_ids / (length - (bos >= 0)); }

int compare_by_position(Perplexity *bins, size_t bin, Session *s, const int *ids, size_t n_ids, int bos, size_t windows,
                        size_t length, char *err, size_t errlen) {
    size_t step = length - (bos >= 0);
    if (length < COMPARE_LEAST_LENGTH || bin == 0 || windows > compare_whole(n_ids, bos, length))
        return base_error(err, errlen, -EINVAL, "the text has %zu ids: too few for windows of %zu", n_ids, length);
    Window w = {.bins = bins, .n = length, .first = 1, .bin = bin, .model = s->model};
    int *room = calloc(length, sizeof *room), rc = 0;
    if (!room) return base_error(err, errlen, -ENOMEM, "out of memory");
    w.ids = room;
    for (size_t i = 0; i < windows && rc == 0; i++) {
        take(room, ids + i * step, length, bos);
        rc = read_window(s, &w, i * (length - 1), windows * (length - 1), err, errlen);
        bins->windows += rc == 0;
    }
    free(room);
    return rc;
}
