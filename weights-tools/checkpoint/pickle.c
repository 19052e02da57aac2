/* weights-tools/checkpoint/pickle.c - walking the values of a pickle. */
#include "pickle.h"

#include <stdlib.h>
#include <string.h>

void pickle_free(Pickle *p) {
    free(p->values);
    free(p->cells);
    memset(p, 0, sizeof *p);
}

const PickleValue *pickle_at(const Pickle *p, int32_t cell) { return &p->values[p->cells[cell].value]; }

const PickleValue *pickle_child(const Pickle *p, const PickleValue *v, size_t i) {
    if (v->type < PV_TUPLE || i >= v->n) return NULL;
    int32_t c = v->first;
    while (i-- > 0) c = p->cells[c].next;
    return pickle_at(p, c);
}

int pickle_is(const PickleValue *v, const char *text) {
    return v && v->type == PV_STRING && v->n == strlen(text) && memcmp(v->as.text, text, v->n) == 0;
}

const PickleValue *pickle_get(const Pickle *p, const PickleValue *v, const char *key) {
    if (v->type != PV_DICT) return NULL;
    for (int32_t c = v->first; c != PICKLE_NONE; c = p->cells[p->cells[c].next].next)
        if (pickle_is(pickle_at(p, c), key)) return pickle_at(p, p->cells[c].next);
    return NULL;
}
