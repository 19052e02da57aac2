/* model/roformer_kinds.c - the words for RoFormer's kinds. */
#include "roformer_kinds.h"

#include <stddef.h>
#include <string.h>

const char *const roformer_variant_names[] = {"", "v1", "v2", "gau-alpha", NULL};
const char *const mask_names[] = {"causal", "padding", "unilm", NULL};
const char *const pooler_names[] = {"none", "tanh", "linear", NULL};
const char *const problem_names[] = {"", "single_label_classification", "multi_label_classification", "regression",
                                     NULL};

int name_index(const char *const *names, const char *word) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0) return i;
    return -1;
}
