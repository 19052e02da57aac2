/* tests/soak/opens.c - a model of any format opened, used and closed again and again: see soak.h. */
#include "soak.h"
#include "roformer.h"
#include "base/hash.h"
#include "base/system.h"

#include <stdio.h>
#include <string.h>

static char err[400];

static int add_text(void *arg, const char *text, size_t n) {
    uint64_t *hash = arg;
    *hash = hash_bytes(*hash, text, n);
    return 0;
}

static int write_text(RoformerModel *m, uint64_t *hash) {
    const RoformerSessionOptions so = {.size = sizeof so, .n_ctx = 32, .threads = 2};
    const RoformerWriteOptions wo = {.size = sizeof wo, .max_tokens = 4, .ignore_eos = 1, .piece = add_text,
                                     .arg = hash};
    RoformerSession *s = NULL;
    RoformerSampler *sampler = NULL;
    const float *logits;
    int rc = roformer_session_new(&s, m, &so, err, sizeof err);
    if (rc == 0) rc = roformer_sampler_new(&sampler, m, NULL, err, sizeof err);
    if (rc == 0) rc = roformer_write(s, sampler, "the", 3, &wo, NULL, err, sizeof err);
    if (rc == 0) rc = roformer_eval(s, &(int){5}, 1, &logits, err, sizeof err);
    if (rc == 0)
        *hash = hash_bytes(*hash, logits, (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE) * sizeof *logits);
    roformer_sampler_free(sampler);
    roformer_session_free(s);
    return rc;
}

static int embed_text(RoformerModel *m, uint64_t *hash) {
    const RoformerEmbedOptions o = {.size = sizeof o, .threads = 2};
    RoformerEmbedder *e = NULL;
    float vector[1024];
    int rc = roformer_embedder_new(&e, m, &o, err, sizeof err);
    size_t width = rc ? 0 : roformer_width(e);
    if (rc == 0 && width > sizeof vector / sizeof *vector) rc = -1;
    if (rc == 0) rc = roformer_embed(e, "a the b", 7, vector, err, sizeof err);
    if (rc == 0) *hash = hash_bytes(*hash, vector, width * sizeof *vector);
    roformer_embedder_free(e);
    return rc;
}

int soak_opens(const char *path, size_t times) {
    double began = clock_seconds();
    uint64_t first = 0;
    size_t warm = times / 4;
    Held was = {0}, is = {0};
    for (size_t i = 1; i <= times; i++) {
        RoformerModel *m;
        uint64_t hash = HASH_START;
        int rc = roformer_open(&m, strcmp(path, "built-in") ? path : NULL, NULL, err, sizeof err);
        if (rc == 0) rc = roformer_number(m, ROFORMER_READS_WHOLE) == 1 ? embed_text(m, &hash) : write_text(m, &hash);
        roformer_close(m);
        if (rc) return soak_bad("%s, time %zu: %s", path, i, err);
        if (i == 1) first = hash;
        if (hash != first) return soak_bad("%s: other bits the %zu. time than the first", path, i);
        is = held_here();
        if (i == warm) was = is;
        held_say("time", i, is);
        soak_progress(path, i, times, began);
    }
    return held_grew(path, was, is, times - warm);
}
