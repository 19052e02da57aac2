/* model/position_keys.h - which kind of position (rope/positions.h) a file's model was trained with, and its table.
 *
 * Keys, GGUF's behind the architecture's name; weights-tools/README.md has them as a table:
 *     attention.position               position_embedding_type ("absolute": learned; "rotary", "rope_gptj": rope)
 *     attention.max_alibi_bias         alibi_bias_max; "alibi": true
 *     attention.relative_buckets_count relative_attention_num_buckets
 *     attention.relative_max_distance  relative_attention_max_distance
 *     attention.log_scale              attention_log_scale */
#ifndef POSITION_KEYS_H
#define POSITION_KEYS_H

#include "family.h"
#include "rope/positions.h"

/* Into c->positions, c->place, c->n_places; c->rope, c->log_scale; its sizes and mask are there. Complaints go to r. */
void position_read(KeyReader *r, Config *c);
/* --position-extend: spec (NULL: as the file says); and what does not go together with linear attention. */
void position_settle(KeyReader *r, Config *c, const char *extend);
/* The kind's table into m->config.positions, each number finite. 0, or -EINVAL, -ENOMEM and a line. */
int position_load(Model *m, char *err, size_t errlen);

#endif
