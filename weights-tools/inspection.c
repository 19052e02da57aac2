/* weights-tools/inspection.c - opening a file to look at it. */
#include "inspection.h"

#include "model/family.h"
#include "text/open.h"
#include "base/paths.h"
#include "weights-tools/checkpoint/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_tensor(Inspection *i, const TensorLine *t) {
    if (array_reserve(&i->tensors, &i->cap_tensors, i->n_tensors + 1, sizeof *t)) return -ENOMEM;
    i->tensors[i->n_tensors++] = *t;
    return 0;
}

static int add_weights(Inspection *i) {
    int rc = 0;
    for (size_t k = 0; k < i->weights->n_tensors && rc == 0; k++) {
        const Tensor *t = &i->weights->tensors[k];
        TensorLine line = {.name = t->name, .type = t->type_name, .n_dims = t->n_dims, .values = 1, .bytes = t->size};
        for (int d = 0; d < t->n_dims; d++) line.values *= line.shape[d] = t->shape[d];
        if (t->group) line.bytes += line.values / (uint64_t)t->group * 4; /* its scales stand apart */
        rc = add_tensor(i, &line);
    }
    return rc;
}

static int add_views(Inspection *i) {
    int rc = 0;
    for (size_t k = 0; k < i->checkpoint.n_views && rc == 0; k++) {
        const View *v = &i->checkpoint.views[k];
        TensorLine line = {.name = v->name, .type = elem_name(v->type), .n_dims = v->n_dims, .values = v->values};
        for (int d = 0; d < v->n_dims; d++) line.shape[d] = v->shape[d];
        line.bytes = v->values * elem_bytes(v->type);
        rc = add_tensor(i, &line);
    }
    return rc;
}

static int compare_types(const void *a, const void *b) {
    const TypeLine *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : strcmp(x->type, y->type);
}

/* There are some forty types, so a walk finds one. */
static int sum_types(Inspection *i) {
    for (size_t k = 0; k < i->n_tensors; k++) {
        const TensorLine *t = &i->tensors[k];
        size_t at = 0;
        while (at < i->n_types && strcmp(i->types[at].type, t->type) != 0) at++;
        if (at == i->n_types) {
            if (array_reserve(&i->types, &i->cap_types, i->n_types + 1, sizeof *i->types)) return -ENOMEM;
            i->types[i->n_types++] = (TypeLine){.type = t->type};
        }
        i->types[at].tensors++;
        i->types[at].values += t->values;
        i->types[at].bytes += t->bytes;
        i->values += t->values;
    }
    if (i->n_types) qsort(i->types, i->n_types, sizeof *i->types, compare_types);
    return 0;
}

/* The file's own tokenizer, or the one beside it; what is elsewhere is not what this file holds. */
static int look_for_tokenizer(Inspection *i) {
    const Weights *w = i->weights;
    Tokenizer *t = NULL;
    const MetaValue *model = w->format == FORMAT_GGUF ? weights_meta(w, "tokenizer.ggml.model") : NULL;
    int own = model && !(model->type == META_STRING && model->n == 4 && memcmp(model->data, "none", 4) == 0);
    int rc = own || w->format == FORMAT_GGUF ? 0 : tokenizer_probe(w->folder);
    if (rc < 0) return rc;
    if (!own && rc == 0) {
        if (w->format == FORMAT_HF) rc = tokenizer_open(&t, w->folder, i->no_tokenizer, sizeof i->no_tokenizer);
        if (rc != -EINVAL) *i->no_tokenizer = 0;
        return rc;
    }
    size_t vocab = i->has_config ? (size_t)i->config.vocab_size : 0;
    rc = vocabulary_open(&t, w, NULL, vocab, NULL, i->no_tokenizer, sizeof i->no_tokenizer);
    if (rc == -ENOENT) *i->no_tokenizer = 0; /* a rank file in the folder is not a llama2.c model's */
    if (rc) return rc;
    snprintf(i->tokenizer, sizeof i->tokenizer, "%s", tokenizer_kind(t));
    i->pieces = tokenizer_size(t);
    i->bos = tokenizer_bos(t);
    i->eos = tokenizer_eos(t);
    tokenizer_free(t);
    return 0;
}

static const char *format_of(Inspection *i) {
    const Weights *w = i->weights;
    if (!w) return container_name(i->checkpoint.container);
    if (w->format == FORMAT_GGUF) return "GGUF";
    if (w->format == FORMAT_HF) return "safetensors";
    int64_t version = 0;
    meta_integer(weights_meta(w, "llama2c.version"), &version);
    snprintf(i->word, sizeof i->word, "llama2.c version %d", (int)version);
    return i->word;
}

/* What weights_open refuses may be PyTorch's, TensorFlow's, or safetensors without a config.json. Where it is none of
 * these either, the line that knows the file's kind stays. */
static int open_checkpoint(Inspection *i, const char *path, int rc, char *err, size_t errlen) {
    char why[600];
    if (errno_is_passing(rc)) return rc;
    int failed = checkpoint_open(&i->checkpoint, path, why, sizeof why);
    if (failed == 0) return 0;
    return rc == -ENOEXEC && failed != -ENOEXEC ? base_error(err, errlen, failed, "%s", why) : rc;
}

int inspection_open(Inspection *i, const char *path, char *err, size_t errlen) {
    memset(i, 0, sizeof *i);
    i->path = path;
    i->bos = i->eos = -1;
    int rc = weights_open(&i->own_weights, path, err, errlen);
    if (rc == 0) i->weights = &i->own_weights;
    else rc = open_checkpoint(i, path, rc, err, errlen);
    if (rc) return rc;
    i->format = format_of(i);
    i->file_bytes = i->weights ? i->weights->file_bytes : i->checkpoint.file_bytes;
    i->n_files = i->weights ? i->weights->n_files : i->checkpoint.weights.n_files;
    rc = i->weights ? add_weights(i) : add_views(i);
    if (rc == 0) rc = sum_types(i);
    if (rc) {
        inspection_close(i);
        return base_error(err, errlen, rc, "%s: out of memory", path);
    }
    if (!i->weights) {
        snprintf(i->refused, sizeof i->refused, "a checkpoint: ./run convert makes a model of it");
        return 0;
    }
    rc = config_read(&i->config, i->weights, NULL, i->refused, sizeof i->refused);
    i->has_config = rc == 0;
    if (!errno_is_passing(rc)) rc = look_for_tokenizer(i);
    if (!errno_is_passing(rc)) return 0; /* whatever else they are, refused and no_tokenizer say */
    base_error(err, errlen, rc, "%s: %s", path, rc == -ENOMEM ? "out of memory" : strerror(-rc));
    inspection_close(i);
    return rc;
}

void inspection_close(Inspection *i) {
    free(i->tensors);
    free(i->types);
    weights_close(&i->own_weights);
    checkpoint_close(&i->checkpoint);
    memset(i, 0, sizeof *i);
}

/* A control character, of ASCII or of Latin-1's second row, moves a terminal's cursor or worse. */
void buffer_clean(Buffer *b, const char *s, size_t n) {
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        int bytes = utf8_decode(s + i, n - i, &cp);
        if (bytes == 0) {
            buffer_bytes(b, "\xef\xbf\xbd", 3);
            i++;
            continue;
        }
        if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) buffer_bytes(b, "?", 1);
        else buffer_bytes(b, s + i, (size_t)bytes);
        i += (size_t)bytes;
    }
}
