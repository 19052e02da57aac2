/* model/entropy.h - how widely attention spreads: the entropy of a query's weights, -sum p ln p, in nats; the logarithm
 * of the number of keys where it sees all alike, 0 where it sees one.
 *
 *     EntropyMeter meter;
 *     entropy_meter(&meter);
 *     session_init(&s, &model, &(SessionOptions){.n_ctx = n, .attention = &meter.attention}, err, sizeof err);
 *     meter.from = 100;                            queries of the positions from there on are measured
 *     session_eval(..)
 *     meter.sum / (double)meter.n
 *
 * Attention itself never has its weights in one place. They are computed a second time, in double, of the queries and
 * of the keys as they are cached, behind each layer's attention: no result of the session changes, and it takes many
 * times as long. The same bits with any number of threads. */
#ifndef ENTROPY_H
#define ENTROPY_H

#include "scratch.h"
#include "session.h"

typedef struct EntropyMeter {
    Attention attention; /* what the session is made with; the meter must outlive it, and not move */
    size_t from;
    double sum;          /* of the measured queries, each in all layers and heads */
    size_t n;            /* how many that were */
    double *each;        /* [n_batch, n_heads] */
    double *keys;        /* [n_maps, groups, head_dim, KEY_LANES]: of a layer's key head, turned in each way */
    double *scores;      /* [threads, groups * KEY_LANES] */
    size_t groups, n_maps, bytes; /* bytes: of these arrays */
} EntropyMeter;

/* A meter, everything zeroed. A session made with it refuses (-EINVAL) linear attention, which has no weights, and
 * methods that choose keys by something else than their positions. */
void entropy_meter(EntropyMeter *m);
EntropyMeter *entropy_of(const Session *s); /* the session's meter, or NULL */

#endif
