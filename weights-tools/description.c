/* weights-tools/description.c - looking for a slot. */
#include "description.h"

#include <stdlib.h>
#include <string.h>

/* A model has hundreds of slots, and few look-ups are made by name. */
long describe_slot(const Description *m, const char *gguf, int layer, size_t from) {
    for (size_t i = from; i < m->n_slots; i++)
        if (m->slots[i].layer == layer && strcmp(m->slots[i].row->gguf, gguf) == 0) return (long)i;
    return -1;
}

void describe_free(Description *m) {
    free(m->slots);
    memset(m, 0, sizeof *m);
}
