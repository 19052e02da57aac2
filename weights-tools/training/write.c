/* weights-tools/training/write.c - a trainee as a GGUF file. */
#include "base/base.h"
#include "weights-tools/training/setup.h"
#include "weights-tools/model_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int add(Source *s, const char *prefix, const Param *p, const float *data) {
    char name[TENSOR_NAME + 16];
    Item i = {.n_dims = p->is_vector ? 1 : 2, .shape = {p->rows, p->cols}, .rows = p->rows, .cols = p->cols};
    if (p->is_vector) i.shape[0] = p->cols;
    i.from = (Matrix){.type = TENSOR_F32, .rows = p->rows, .cols = p->cols, .data = data};
    snprintf(name, sizeof name, "%s%s", prefix, p->name);
    return source_add(s, name, &i);
}

static Source begin(const TrainingSetup *t, const char *path) {
    Source s = {
        .path = path, .config = t->trainee.config, .alignment = 32, .file_type = -1, .quantization_version = -1};
    s.config.rope.rotary_dim = heads_rotary_dim(t->options, &s.config); /* not of features */
    return s;
}

static int put_keys(Source *s, const TrainingSetup *t, char *err, size_t errlen) {
    int rc = t->encodes ? encoder_keys(s, &t->words, err, errlen)
                        : source_keys(s, s->config.arch, "trained here", err, errlen);
    if (rc == 0 && !t->encodes) rc = source_vocabulary(s, t->tokenizer, "the tokenizer", -1, NULL, NULL, err, errlen);
    return rc ? rc : source_check_keys(s, err, errlen);
}

int setup_check(const TrainingSetup *t, char *err, size_t errlen) {
    Source s = begin(t, t->options->out);
    int rc = put_keys(&s, t, err, errlen);
    source_close(&s);
    return rc;
}

static int fill(Source *s, const TrainingSetup *t, uint64_t step, int moments, char *err, size_t errlen) {
    const Params *p = &t->trainee.params;
    int rc = put_keys(s, t, err, errlen);
    if (rc) return rc;
    if (moments) {
        gguf_u64(&s->meta, "train.step", step);
        gguf_string(&s->meta, "train.settings", t->settings);
    }
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        rc = add(s, "", &p->at[i], p->at[i].w);
        if (rc == 0 && moments) rc = add(s, "train.m.", &p->at[i], p->at[i].m);
        if (rc == 0 && moments) rc = add(s, "train.v.", &p->at[i], p->at[i].v);
    }
    source_file_type(s, 0);
    return rc ? base_error(err, errlen, rc, "%s: out of memory", s->path) : 0;
}

int setup_write(TrainingSetup *t, const char *path, uint64_t step, int moments, char *err, size_t errlen) {
    Source s = begin(t, path);
    NewFile f;
    int rc = fill(&s, t, step, moments, err, errlen);
    if (rc == 0) rc = newfile_open(&f, path, err, errlen);
    if (rc == 0) {
        rc = model_write(&f, &s, 1, &(Report){0}, err, errlen);
        int closed = newfile_close(&f, rc == 0, err, errlen);
        if (rc == 0) rc = closed;
    }
    source_close(&s);
    return rc;
}
