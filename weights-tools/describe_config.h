/* weights-tools/describe_config.h - the configuration's part of describe_open. */
#ifndef DESCRIBE_CONFIG_H
#define DESCRIBE_CONFIG_H

#include "weights-tools/checkpoint/checkpoint.h"
#include "description.h"
#include "plan.h"

typedef struct {
    Description *m;
    const Checkpoint *c;
    const JsonValue *config;
    const char *config_name;
    const DescribeWish *wish;
    const Report *report;
    char *err;
    size_t errlen;
    int rc; /* of the configuration: the first complaint stays, after it every read is a no-op */
} DescribeReader;

/* The keys of attention, as config.json and as GGUF spell them, and their type there; {0} behind the last. */
typedef struct { const char *hf, *gguf; MetaType type; } DescribeKey;
extern const DescribeKey describe_keys[];

/* Which variant the slots are, then everything the configuration says; then, once the slots are checked, the heads.
 * Each returns r->rc. */
int describe_read_config(DescribeReader *r);
/* Before the slots are filled: m->position, where the configuration names one. "absolute" counts only where the table
 * turns out to be there, for RoFormers say it too. */
int describe_read_position(DescribeReader *r);
int describe_read_heads(DescribeReader *r);

#endif
