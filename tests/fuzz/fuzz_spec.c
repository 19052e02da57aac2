/* tests/fuzz/fuzz_spec.c - any bytes as specs of RoPE (rope/spec.h): each refused with a line, or taken; then it
 * prints, parses to the same again, and gives numbers that a session could use. */
#include "rope/relative.h"
#include "rope/scores.h"
#include "rope/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int apply(RopeConfig *c, const char *spec) {
    char err[300] = "";
    *c->numbers = (RopeNumbers){.n_ctx_train = 256, .n_layers = 12, .n_pairs = 8, .n_ctx = 1024, .distance.heads = 4};
    c->scaling = &rope_none;
    int rc = rope_spec_apply(c, spec, err, sizeof err);
    if (rc == 0) rc = rope_check(c, err, sizeof err);
    if (rc && (!*err || strchr(err, '\n'))) abort();
    return rc;
}

/* Segments lie in order within the text, and all positions are numbers. */
static void look(const RopeConfig *c) {
    const RopeNumbers *n = c->numbers;
    const int64_t at[] = {0, 1, 255, 256, 1023, 100000};
    Rope r;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        RopeSegment s[ROPE_SEGMENTS];
        int count = n->relative ? n->relative->look(&n->distance, at[i], s) : 0;
        for (int k = 0; k < count; k++) {
            int64_t before = k ? s[k - 1].end : 0;
            if (s[k].first < before || s[k].end <= s[k].first || s[k].end > at[i] + 1 || !isfinite(s[k].at)) abort();
            if (s[k].map >= 0 && !isfinite(n->relative->key(&n->distance, s[k].map, s[k].first))) abort();
        }
        if (n->relative && (count == 0 || s[count - 1].end != at[i] + 1)) abort(); /* it sees itself */
        if (!isfinite(rope_score(c, at[i], 3))) abort();
        rope_init_each(&r, c, at[i] + 1);
        for (int k = 0; k < 8; k++)
            if (!isfinite(r.inv_freq[k])) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static RopeNumbers a, b;
    RopeConfig one = {.rotary_dim = 16, .theta = 10000, .numbers = &a}, two = one;
    char spec[400], printed[ROPE_SPEC_MOST], again[ROPE_SPEC_MOST];
    char *text = malloc(size + 1);
    const char *list = text;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    two.numbers = &b;
    while (rope_spec_next(&list, spec, sizeof spec) > 0) {
        if (strchr(spec, '/') && strstr(spec, "=")) continue; /* names of files are not for a fuzzer */
        if (apply(&one, spec)) continue;
        if (rope_spec_print(&one, printed, sizeof printed)) continue;
        if (apply(&two, printed) || rope_spec_print(&two, again, sizeof again) || strcmp(printed, again) != 0) abort();
        look(&one);
    }
    free(text);
    return 0;
}
