/* weights-tools/describe_internal.h - shared by describe.c (tensors) and describe_config.c (the configuration). */
#ifndef DESCRIBE_INTERNAL_H
#define DESCRIBE_INTERNAL_H

#include "describe.h"

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

/* The slot of that GGUF name and layer, from number `from` on; -1 where there is none. Linear. */
long describe_slot(const Description *m, const char *gguf, int layer, size_t from);

/* Which variant the slots are, then everything the configuration says; then, once the slots are checked, the heads. Each
 * returns r->rc. */
int describe_read_config(DescribeReader *r);
int describe_read_heads(DescribeReader *r);

#endif
