/* cli/explain/explain.c - the command explain: what happened in attention. */
#include "cli/cli.h"

const Topic explain_topics[] = {{0}};

int run_explain(Args *a) {
    const Topic *t = topic_named(explain_topics, "explain", a->n_words > 2 ? a->words[2] : NULL);
    return t ? t->run(a) : EXIT_USAGE;
}
