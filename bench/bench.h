/* bench/bench.h - how fast a model is read and written here, beside what the machine can do at most.
 *
 *     Bench b;
 *     BenchOptions o = {.open = my_open, .progress = my_progress, .arg = mine};
 *     int rc = bench_run(&b, &o, err, sizeof err);
 *     for (size_t i = 0; i < b.n_rows; i++) ... b.rows[i].rate.median ...
 *     bench_free(&b); */
#ifndef BENCH_H
#define BENCH_H

#include "ceilings.h"
#include "work.h"

enum { BENCH_LIST = 16, BENCH_DECODE = 32, BENCH_RUNS = 5, BENCH_MOST_RUNS = 100, BENCH_CONTEXT = 4096 + BENCH_DECODE };

typedef struct {
    size_t n, at[BENCH_LIST];
} BenchList;

typedef struct {
    /* Open the model and a session on it, with room for BENCH_CONTEXT positions if it has so many, or for as many as
     * the user wants; what the last call opened is closed first. 0, or what bench_run shall return; negative: with a
     * line in err. */
    int (*open)(void *arg, Session **s, char *err, size_t errlen);
    /* Called often; left_s: about how long the rest will take. Non-zero: stop. May be NULL. */
    int (*progress)(void *arg, const char *what, double left_s);
    void *arg;
    const BenchList *contexts; /* positions read before tokens are decoded; NULL: 0, 1024, 4096, 16384 .. */
    const BenchList *prompts;  /* prompt lengths; NULL: 128, 512, 2048 */
    const BenchList *at_once;  /* ids read at a time, up to the session's n_logits and n_batch; NULL: none */
    size_t runs;               /* of each row, at most BENCH_MOST_RUNS; 0: BENCH_RUNS, fewer where they take long */
} BenchOptions;

typedef enum { BENCH_DECODING, BENCH_AT_ONCE, BENCH_PREFILL } BenchKind;

typedef struct {
    BenchKind kind;
    size_t tokens;  /* BENCH_DECODE or about so many (fewer, where a second is over before), or the prompt */
    size_t each;    /* ids read at a time: 1, some at once, the prompt */
    size_t context; /* positions read before */
    Spread rate;    /* tokens a second; n 0: stopped before */
    Work work;      /* of one token, on average */
    double limit; /* tokens a second with reading at its best rate and arithmetic at its peak, whichever takes longer */
} BenchRow;

typedef struct {
    BenchRow rows[3 * BENCH_LIST];
    size_t n_rows;
    Spread load; /* seconds from opening the file (it has been read before) to the logits after the first token */
    size_t peak_bytes; /* the most memory the process has held so far, mapped pages of the file among it; 0: unknown */
    size_t peak_context; /* after so many positions */
    Ceilings ceilings;
    const BenchOptions *options;
    Session *session;
    int *ids;            /* [n_ids]: what is read */
    size_t n_ids;
    const char *doing;   /* for progress */
    double ends;         /* when it is thought to end */
} Bench;

/* Measure. Rows that do not fit the session are left out; linear attention, whose speed does not depend on the context,
 * is decoded at 0 only; a RoFormer that reads texts whole has prompts only, a model without logits nothing at once.
 * Errors: open's, session_eval's, -ENOMEM;
 * -EINTR where progress said stop: b then holds what was measured. b is to be freed in any case. */
int bench_run(Bench *b, const BenchOptions *o, char *err, size_t errlen);
void bench_free(Bench *b);

#endif
