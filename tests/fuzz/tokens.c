/* tests/fuzz/tokens.c - rules of tokens.h. */
#include "tokens.h"

#include "base/base.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char err[400];

char *tokens_text(const Tokenizer *t, const int *ids, size_t n, size_t *len) {
    size_t bound = tokenizer_decode_bound(t);
    char *out = malloc((n + 1) * bound), *piece = malloc(bound); /* of its own, so that one byte too far is seen */
    TokenStream s = {0};
    *len = 0;
    if (!out || !piece) abort();
    for (size_t i = 0; i <= n; i++) {
        size_t k = i < n ? tokenizer_decode(t, &s, ids[i], piece) : tokenizer_decode_end(t, &s, piece);
        if (k > bound || s.n_held < 0 || s.n_held > 3 || s.n_rest < 0 || s.n_rest >= (int)sizeof s.rest) abort();
        memcpy(out + *len, piece, k);
        *len += k;
    }
    free(piece);
    return out;
}

static int *encoded(const Tokenizer *t, const char *text, size_t size, int flags, size_t *n) {
    int *ids;
    *err = 0;
    int rc = tokenizer_encode(t, text, size, flags, &ids, n, err, sizeof err);
    if (rc == 0) return ids;
    if ((rc != -ENOMEM && rc != -EINVAL) || ids || !*err || strchr(err, '\n')) abort();
    return NULL;
}

void tokens_hold(const Tokenizer *t, const char *text, size_t size, int flags, int **out, size_t *n_out) {
    size_t n = 0, again_n = 0, len;
    int *ids = encoded(t, text, size, flags, &n), *again = encoded(t, text, size, flags, &again_n);
    if (!ids != !again || n != again_n || (n && memcmp(ids, again, n * sizeof *ids) != 0)) abort();
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (size_t)ids[i] >= tokenizer_size(t)) abort();
    if (ids) free(tokens_text(t, ids, n, &len));
    free(again);
    if (out) *out = ids, *n_out = n;
    else free(ids);
}

void tokens_settle(const Tokenizer *t, const char *text, size_t size, int flags) {
    size_t n, len, again_len;
    int *ids;
    tokens_hold(t, text, size, flags, &ids, &n);
    if (!ids) return;
    char *said = tokens_text(t, ids, n, &len);
    free(ids);
    if (!(ids = encoded(t, said, len, flags, &n))) abort();
    char *again = tokens_text(t, ids, n, &again_len);
    if (len != again_len || memcmp(said, again, len) != 0) abort();
    free(ids), free(said), free(again);
}

void tokens_in_gguf(const Tokenizer *t, const char *text, size_t size, int flags) {
    Vocabulary v;
    Tokenizer *back = NULL;
    size_t n = 0, back_n = 0;
    *err = 0;
    if (tokenizer_vocabulary(&v, t, "fuzz", err, sizeof err)) {
        if (!*err) abort();
        return;
    }
    if (tokenizer_from_vocabulary(&back, &v, "fuzz", err, sizeof err)) {
        fprintf(stderr, "as %s (%s): %s\n", v.model, v.pre ? v.pre : "", err);
        abort();
    }
    int *ids = encoded(t, text, size, flags, &n), *back_ids = encoded(back, text, size, flags, &back_n);
    /* SentencePiece's parts in a tokenizer.json take spaces and bytes a little otherwise (tests/test_bpe_export.c) */
    int named = strcmp(v.model, "llama") == 0 || strcmp(v.model, "t5") == 0;
    int parts = named && strstr(tokenizer_kind(t), "tokenizer.json");
    if (!v.lost && !parts && (!ids != !back_ids || n != back_n || (n && memcmp(ids, back_ids, n * sizeof *ids) != 0))) {
        fprintf(stderr, "%s, flags %d, as %s (%s):", tokenizer_kind(t), flags, v.model, v.pre ? v.pre : "");
        for (size_t i = 0; i < n; i++) fprintf(stderr, " %d", ids[i]);
        fprintf(stderr, " |");
        for (size_t i = 0; i < back_n; i++) fprintf(stderr, " %d", back_ids[i]);
        fprintf(stderr, "\n"), abort();
    }
    free(ids), free(back_ids);
    tokenizer_free(back);
    free((void *)(uintptr_t)v.pieces);
}
