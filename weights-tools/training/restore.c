/* weights-tools/training/restore.c - tensors of a file into a trainee. */
#include "restore.h"

#include "base/base.h"
#include "rope/positions.h"
#include "rope/spec.h"
#include "weights-tools/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const Item *find_item(const Source *s, const char *name) {
    for (size_t i = 0; i < s->n_items; i++)
        if (strcmp(s->items[i].name, name) == 0) return &s->items[i];
    return NULL;
}

/* An encoder's heads that no training has: what it was asked before. */
static int other_head(const char *name) {
    static const char *const heads[] = {"pooler.", "nsp.", "disc.", "cls.", "qa."};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(name, heads[i], strlen(heads[i])) == 0) return 1;
    return 0;
}

/* Of q and k as the items are: where a folder's rows changed places, as GGUF's llama has them. */
static RopePairing pairing_of(const Source *s) {
    const Item *q = find_item(s, "blk.0.attn_q.weight");
    return q && q->row_order ? ROPE_INTERLEAVED : s->config.rope.pairing;
}

/* What tensors' shapes do not tell, and that none of the model would be left out. */
static int same_model(const Trainee *t, const Source *s, const char *path, char *err, size_t errlen) {
    const Config *a = &t->config, *b = &s->config;
    int turns = position_kind_of(a->positions)->rotates && position_kind_of(b->positions)->rotates;
    if (a->n_heads != b->n_heads || a->n_kv_heads != b->n_kv_heads)
        return base_error(err, errlen, -EINVAL, "%s: has %d heads of queries, %d of keys, not %d and %d: --heads, "
                          "--kv-heads", path, b->n_heads, b->n_kv_heads, a->n_heads, a->n_kv_heads);
    if (turns && a->rope.pairing != pairing_of(s))
        return base_error(err, errlen, -EINVAL, "%s: its pairs are %s, not %s: --pairing", path,
                          rope_pairing_names[pairing_of(s)], rope_pairing_names[a->rope.pairing]);
    for (size_t i = 0; i < s->n_items; i++) {
        const char *name = s->items[i].name;
        if (!params_find(&t->params, name) && (a->mask == MASK_CAUSAL || !other_head(name)))
            return base_error(err, errlen, -EINVAL, "%s: tensor %s would be left out; give the options of the model "
                              "that is gone on from (--layers, --own-head, --position ..)", path, name);
    }
    return 0;
}

int restore_model(Trainee *t, const char *path, char *err, size_t errlen) {
    Source s;
    Weights w;
    int rc = weights_open(&w, path, err, errlen);
    if (rc) return rc;
    SourceWish wish = {.no_tokenizer = w.format != FORMAT_GGUF}; /* GGUF: it is in the file */
    weights_close(&w);
    if ((rc = source_open(&s, path, &wish, &(Report){0}, err, errlen)) != 0) return rc;
    for (size_t i = 0; i < t->params.n && rc == 0; i++) {
        const Param *p = &t->params.at[i];
        const Item *item = find_item(&s, p->name);
        if (!item || item->rows != p->rows || item->cols != p->cols || !item_readable(item))
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %s %s; give the sizes of the model that is gone on from",
                            path, p->name, item ? "has another shape" : "is missing");
        for (size_t r = 0; rc == 0 && r < p->rows; r++) item_row(item, r, p->w + r * p->cols);
    }
    if (rc == 0) rc = same_model(t, &s, path, err, errlen);
    source_close(&s);
    return rc;
}

static int read_floats(float *out, const Weights *w, const char *prefix, const Param *p, char *err, size_t errlen) {
    char name[TENSOR_NAME + 16];
    snprintf(name, sizeof name, "%s%s", prefix, p->name);
    const Tensor *t = weights_find(w, name);
    if (!t || t->type != TENSOR_F32 || t->size != p->rows * p->cols * sizeof *out)
        return base_error(err, errlen, -EINVAL, "%s: tensor %s is missing or has another shape", w->path, name);
    memcpy(out, t->data, t->size);
    return 0;
}

static int same_settings(const Weights *w, const char *settings, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, "train.settings");
    if (!v || v->type != META_STRING) return base_error(err, errlen, -EINVAL, "%s: is no checkpoint", w->path);
    size_t n = strlen(settings), same = 0;
    const char *had = (const char *)v->data;
    while (same < n && same < v->n && had[same] == settings[same]) same++;
    if (same == n && same == v->n) return 0;
    same += same == v->n && settings[same] == ' '; /* to where the first word that differs, or is new, begins */
    while (same > 0 && settings[same - 1] != ' ') same--;
    if (strncmp(settings + same, "ids=", 4) == 0)
        return base_error(err, errlen, -EINVAL, "%s: was made of other texts than those that are there now, or by an "
                          "older version: bring them back, or begin anew (--force)", w->path);
    size_t rest = 0;
    while (same + rest < v->n && had[same + rest] != ' ' && rest < 100) rest++;
    return base_error(err, errlen, -EINVAL, "%s: was made with --%.*s, not --%.*s: give the same options", w->path,
                      (int)rest, had + same, (int)strcspn(settings + same, " "), settings + same);
}

int restore_checkpoint(Trainee *t, const char *path, const char *settings, uint64_t *step, char *err, size_t errlen) {
    Weights w;
    int64_t done = 0;
    int rc = weights_open(&w, path, err, errlen);
    if (rc) return rc;
    rc = same_settings(&w, settings, err, errlen);
    if (rc == 0 && (!meta_integer(weights_meta(&w, "train.step"), &done) || done < 1))
        rc = base_error(err, errlen, -EINVAL, "%s: key train.step is missing", path);
    for (size_t i = 0; i < t->params.n && rc == 0; i++) {
        const Param *p = &t->params.at[i];
        rc = read_floats(p->w, &w, "", p, err, errlen);
        if (rc == 0) rc = read_floats(p->m, &w, "train.m.", p, err, errlen);
        if (rc == 0) rc = read_floats(p->v, &w, "train.v.", p, err, errlen);
    }
    *step = (uint64_t)done;
    weights_close(&w);
    return rc;
}
