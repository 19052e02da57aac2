/* weights-tools/source_sentence.c - how a text becomes a vector, as GGUF files say it: llama.cpp's pooling_type and the
 * dense layers of EmbeddingGemma; prompts and the last norm, for which it has no keys, in ours (text/sentence.c). */
#include "source.h"

#include "base/paths.h"
#include "kernels/kernels.h"
#include "model/layers/layers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a decoder only where sentence-transformers' files are there. */
static int is_wanted(const Source *s) {
    if (s->config.mask != MASK_CAUSAL) return 1;
    return file_has(s->checkpoint.folder, "modules.json");
}

/* dense_2 and dense_3: the numbers of their folders. */
static int put_dense(Source *s, char *err, size_t errlen) {
    const Sentence *x = &s->sentence;
    if (x->n_dense == 0) return 0;
    int plain = x->n_dense == 2;
    for (size_t i = 0; i < x->n_dense; i++) plain &= !x->dense[i].bias && !x->dense[i].tanh;
    if (!plain) return base_error(err, errlen, -EINVAL, "%s: GGUF has no key for these dense layers: it knows two, "
                                  "without a bias and an activation (./run reads the folder as it is)", s->path);
    for (size_t i = 0; i < 2; i++) {
        const Matrix *m = &x->dense[i].weight;
        const Item item = {.n_dims = 2, .shape = {m->rows, m->cols}, .rows = m->rows, .cols = m->cols, .from = *m};
        const size_t sizes[2] = {m->cols, m->rows};
        char name[40], key[120];
        snprintf(name, sizeof name, "dense_%zu.weight", i + 2);
        if (source_add(s, name, &item)) return source_no_memory(s, err, errlen);
        for (int k = 0; k < 2; k++) {
            snprintf(key, sizeof key, "%s.dense_%zu_feat_%s", s->config.arch, i + 2, k ? "out" : "in");
            gguf_u32(&s->meta, key, (uint32_t)sizes[k]);
        }
    }
    return 0;
}

int source_sentence(Source *s, const SourceWish *wish, char *err, size_t errlen) {
    static const uint32_t types[] = {[POOLING_CLS] = 2, [POOLING_MEAN] = 1, [POOLING_LAST] = 3};
    Sentence *x = &s->sentence;
    char key[160];
    if (!is_wanted(s)) return 0;
    Model m = {.config = s->config, .weights = s->weights, .kernels = kernels_best()};
    m.weights.folder = s->checkpoint.folder;
    int rc = sentence_open(x, &m, err, errlen);
    x->model = NULL; /* which is gone with this function */
    if (rc) return rc;
    snprintf(key, sizeof key, "%s.pooling_type", s->config.arch);
    if (x->unpooled) gguf_bool(&s->meta, "sentence.unpooled", 1);
    else gguf_u32(&s->meta, key, types[x->pooling]);
    gguf_bool(&s->meta, "sentence.normalize", x->normalize);
    for (size_t i = 0; i < x->n_prompts; i++) {
        if (strlen(x->prompts[i].task) > 100)
            return base_error(err, errlen, -EINVAL, "%s: the name of a task has more than 100 bytes", s->path);
        snprintf(key, sizeof key, "sentence.prompt.%s", x->prompts[i].task);
        gguf_string(&s->meta, key, x->prompts[i].text);
    }
    if (s->config.decoder && s->config.decoder->adapter >= 0) x->usual = wish->task; /* the one that is merged */
    if (x->usual) gguf_string(&s->meta, "sentence.usual_prompt", x->usual);
    return put_dense(s, err, errlen);
}
