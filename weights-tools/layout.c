/* weights-tools/layout.c - see layout.h. */
#include "layout.h"

#include "base/base.h"
#include "lab/explain/use.h"
#include "text/open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Plain words, which most models have read the like of. */
static const char sentence[] =
    "Once upon a time there was a little girl who lived in a house near the sea. Every day she "
    "went to the beach with her dog, and they played with the ball until the sun went down.";

static int read_both(LayoutCheck *out, const Model *m, const int *ids, char *err, size_t errlen) {
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        Model view = *m;
        view.config.rope.pairing = (RopePairing)i;
        rc = use_loss(&out->loss[i], &view, ids, out->n, NULL, 0, err, errlen);
    }
    return rc;
}

int layout_check(LayoutCheck *out, const char *path, const char *tokenizer, char *err, size_t errlen) {
    Model m;
    Tokenizer *t = NULL;
    int *ids = NULL;
    *out = (LayoutCheck){0};
    int rc = model_open(&m, path, NULL, err, errlen);
    if (rc) return rc;
    if (m.config.mask != MASK_CAUSAL || m.config.rope.rotary_dim < 4)
        rc = base_error(err, errlen, -EINVAL, "%s: %s", path,
                        m.config.mask != MASK_CAUSAL
                            ? "does not read from left to right: there is no loss to go by"
                            : "turns two entries of a head, which are one pair in either layout");
    if (rc == 0) rc = vocabulary_open(&t, &m.weights, tokenizer, (size_t)m.config.vocab_size, NULL, err, errlen);
    if (rc == 0) rc = tokenizer_encode(t, sentence, strlen(sentence), ENCODE_BOS, &ids, &out->n, err, errlen);
    if (rc == 0) rc = read_both(out, &m, ids, err, errlen);
    out->says = m.config.rope.pairing;
    out->wants = out->loss[ROPE_HALF] < out->loss[ROPE_INTERLEAVED] ? ROPE_HALF : ROPE_INTERLEAVED;
    free(ids);
    tokenizer_free(t);
    model_close(&m);
    return rc;
}
