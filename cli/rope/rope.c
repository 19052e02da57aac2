/* cli/rope/rope.c - the command rope: rotary position embedding by itself. */
#include "cli/cli.h"

const Topic rope_topics[] = {{0}};

int run_rope(Args *a) {
    const Topic *t = topic_named(rope_topics, "rope", a->model);
    return t ? t->run(a) : EXIT_USAGE;
}
