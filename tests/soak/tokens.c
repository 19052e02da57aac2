/* tests/soak/tokens.c - a session of linear attention that reads without an end: see soak.h. */
#include "soak.h"
#include "roformer.h"
#include "base/hash.h"
#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 700, FEW = 30, BEHIND = 50 }; /* ids of a call at most, or in the second session; behind the state */

static char err[400];

static int id_at(size_t i, size_t vocab) { return (int)(hash_mix(i) % vocab); }

static size_t vocab_of(const RoformerModel *m) { return (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE); }

static int begin(RoformerModel **m, RoformerSession **s, const char *path) {
    *s = NULL;
    if (roformer_open(m, path, NULL, err, sizeof err)) return soak_bad("%s", err);
    return roformer_session_new(s, *m, NULL, err, sizeof err) ? soak_bad("%s: %s", path, err) : 0;
}

static void end(RoformerModel *m, RoformerSession *s) {
    roformer_session_free(s);
    roformer_close(m);
}

/* Ids up to number n, in pieces whose lengths `salt` says, at most `most`; what the process holds is looked at. It is
 * warm behind n / 2 ids: a session keeps some millions (library/README.md). */
static int read_on(RoformerSession *s, size_t vocab, size_t n, size_t most, uint64_t salt, const char *what,
                   const float **logits) {
    double began = clock_seconds();
    size_t warm = n / 2, next = 10;
    Held was = {0};
    for (size_t at = roformer_position(s), k; at < n; at += k) {
        int ids[PIECE];
        k = 1 + hash_mix(at + salt) % most;
        if (k > n - at) k = n - at;
        if (at < next && at + k > next) k = next - at; /* round numbers of ids */
        if (at < warm && at + k > warm) k = warm - at;
        for (size_t i = 0; i < k; i++) ids[i] = id_at(at + i, vocab);
        if (roformer_eval(s, ids, k, logits, err, sizeof err)) return soak_bad("at %zu: %s", at, err);
        if (at + k == warm) was = held_here();
        if (at + k == next) held_say(what, next, held_here()), next *= 10;
        soak_progress(what, at + k, n, began);
    }
    return was.kb ? held_grew(what, was, held_here(), n - warm) : 0;
}

static uint64_t behind(RoformerSession *s, size_t vocab, const float *logits) {
    uint64_t hash = hash_bytes(HASH_START, logits, vocab * sizeof *logits);
    if (read_on(s, vocab, roformer_position(s) + BEHIND, 1, 0, "behind", &logits)) return 0;
    return hash_bytes(hash, logits, vocab * sizeof *logits);
}

int soak_loaded(const char *model, const char *state) {
    RoformerModel *m;
    RoformerSession *s;
    const float *logits;
    if (begin(&m, &s, model)) return 1;
    if (roformer_session_load(s, state, &logits, err, sizeof err)) return soak_bad("%s", err);
    size_t at = roformer_position(s);
    printf("%zu %016llx\n", at, (unsigned long long)behind(s, vocab_of(m), logits));
    end(m, s);
    return 0;
}

/* What a fresh process says of the state. */
static int ask_fresh(const char *model, const char *state, const char *want) {
    char line[1200], said[100] = "", exe[500];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n < 0 ? 0 : n] = 0;
    snprintf(line, sizeof line, "%s loaded %s %s", exe, model, state);
    FILE *f = popen(line, "r");
    if (f && !fgets(said, sizeof said, f)) *said = 0;
    if (f) pclose(f);
    return strcmp(said, want) == 0 ? 0 : soak_bad("a fresh process has other bits: %s, not %s", said, want);
}

int soak_tokens(const char *model, const char *folder, size_t n) {
    RoformerModel *m;
    RoformerSession *a, *b;
    const float *one, *two;
    char state[600], want[100];
    if (begin(&m, &a, model)) return 1;
    if (roformer_session_new(&b, m, NULL, err, sizeof err)) return soak_bad("%s", err);
    size_t vocab = vocab_of(m);
    snprintf(state, sizeof state, "%s/soak.state", folder);
    double began = clock_seconds();
    int bad = read_on(a, vocab, n, PIECE, 1, "ids", &one);
    if (!bad) printf("    %zu ids in %.0f s\n", n, clock_seconds() - began);
    if (!bad) bad = read_on(b, vocab, n, FEW, 2, "ids, in other pieces", &two);
    if (!bad && memcmp(one, two, vocab * sizeof *one) != 0) bad = soak_bad("cut in other places: other bits");
    if (!bad && roformer_session_save(a, state, err, sizeof err)) bad = soak_bad("%s", err);
    if (!bad) {
        snprintf(want, sizeof want, "%zu %016llx\n", n, (unsigned long long)behind(a, vocab, one));
        bad = ask_fresh(model, state, want);
    }
    unlink(state);
    roformer_session_free(b);
    end(m, a);
    return bad;
}
