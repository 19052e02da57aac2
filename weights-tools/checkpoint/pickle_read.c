/* weights-tools/checkpoint/pickle_read.c - some thirty opcodes, and none that calls. A list can be put into itself,
 * which no state dict does; refuse_cycles looks for that once, at the end. */
#include "pickle_read.h"
#include "pickle_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take(PickleMachine *m, size_t n, const uint8_t **p) {
    if (n > m->size - m->pos) return pickle_damaged(m, "it ends too early");
    *p = m->data + m->pos;
    m->pos += n;
    return 0;
}

/* A little-endian number of n bytes, 1 .. 8. */
static int take_number(PickleMachine *m, size_t n, uint64_t *v) {
    const uint8_t *p = NULL;
    int rc = take(m, n, &p);
    *v = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) *v |= (uint64_t)p[i] << (8 * i);
    return rc;
}

/* Text whose length stands in front of it, in `width` bytes; op 0x8a: an integer, which fits 64 bits or is kept as
 * bytes. */
static int counted(PickleMachine *m, size_t width, int integer) {
    uint64_t n = 0;
    const uint8_t *p = NULL;
    int rc = take_number(m, width, &n);
    if (rc == 0 && n > UINT32_MAX) return pickle_damaged(m, "a text longer than a state dict has");
    if (rc == 0) rc = take(m, (size_t)n, &p);
    if (rc) return rc;
    if (integer && n <= 8) {
        uint64_t v = n && p[n - 1] & 0x80 ? UINT64_MAX : 0; /* two's complement */
        for (size_t i = 0; i < n; i++) v = (v & ~((uint64_t)0xff << (8 * i))) | (uint64_t)p[i] << (8 * i);
        return pickle_push_integer(m, PV_INT, (int64_t)v);
    }
    return pickle_push_new(m, &(PickleValue){.type = integer ? PV_BIG : PV_STRING, .first = PICKLE_NONE,
                                             .last = PICKLE_NONE, .n = (uint32_t)n, .as.text = (const char *)p});
}

static int floating(PickleMachine *m) {
    const uint8_t *p = NULL;
    uint64_t bits = 0;
    PickleValue v = {.type = PV_FLOAT, .first = PICKLE_NONE, .last = PICKLE_NONE};
    int rc = take(m, 8, &p);
    for (int i = 0; rc == 0 && i < 8; i++) bits = bits << 8 | p[i]; /* the one big-endian number of pickles */
    memcpy(&v.as.number, &bits, sizeof bits);
    return rc ? rc : pickle_push_new(m, &v);
}

static int with_number(PickleMachine *m, int op) {
    size_t width = op == 'K' || op == 'q' || op == 'h' || op == 0x80 ? 1 : op == 'M' ? 2 : op == 0x95 ? 8 : 4;
    uint64_t v = 0;
    int rc = take_number(m, width, &v);
    if (rc) return rc;
    if (op == 'q' || op == 'r') return pickle_put(m, (size_t)v);
    if (op == 'h' || op == 'j') return pickle_get_memo(m, (size_t)v);
    if (op == 0x95) return v > m->size - m->pos ? pickle_damaged(m, "a frame longer than the pickle") : 0;
    if (op == 0x80) return v >= 2 && v <= 5 ? 0 : pickle_refused(m, "has a protocol other than 2 to 5");
    return pickle_push_integer(m, PV_INT, op == 'J' ? (int32_t)(uint32_t)v : (int64_t)v);
}

static int unknown(PickleMachine *m, int op) {
    char what[80];
    base_error(what, sizeof what, 0, "has the opcode 0x%02x, which torch.save does not write for a state dict",
               (unsigned)op);
    return pickle_refused(m, what);
}

static int read_one(PickleMachine *m, int op) {
    switch (op) {
    case 0x80: case 0x95: case 'J': case 'K': case 'M':
    case 'q': case 'r': case 'h': case 'j': return with_number(m, op);
    case '(': return pickle_mark(m);
    case '}': return pickle_push_kind(m, PV_DICT);
    case ']': return pickle_push_kind(m, PV_LIST);
    case ')': return pickle_push_kind(m, PV_TUPLE);
    case 'N': return pickle_push_kind(m, PV_NONE);
    case 't': return pickle_marked_tuple(m);
    case 0x85: case 0x86: case 0x87: return pickle_tuple(m, (size_t)(op - 0x84));
    case 'a': return pickle_fill_one(m, PV_LIST, 1);
    case 'e': return pickle_fill_marked(m, PV_LIST, 1);
    case 's': return pickle_fill_one(m, PV_DICT, 2);
    case 'u': return pickle_fill_marked(m, PV_DICT, 2);
    case 0x88: case 0x89: return pickle_push_integer(m, PV_BOOL, op == 0x88);
    case 0x8a: return counted(m, 1, 1);
    case 'U': case 0x8c: return counted(m, 1, 0);
    case 'T': case 'X': return counted(m, 4, 0);
    case 0x8d: return counted(m, 8, 0);
    case 'G': return floating(m);
    case 'c': return pickle_global(m);
    case 0x93: return pickle_stack_global(m);
    case 'R': case 0x81: return pickle_reduce(m);
    case 'b': return pickle_build(m);
    case 'Q': return pickle_storage(m);
    case 0x94: return pickle_memoize(m);
    default: return unknown(m, op);
    }
}

/* ---- the end ---- */

/* Depth first, without recursion: m->stack holds the path, place[v] the cell at which v's walk goes on. */
static int refuse_cycles(PickleMachine *m) {
    enum { NEVER = -2, DONE = -3 };
    Pickle *p = m->p;
    int32_t *place = calloc(p->n_values, sizeof *place);
    int rc = place ? 0 : pickle_no_memory(m);
    for (size_t i = 0; rc == 0 && i < p->n_values; i++) place[i] = NEVER;
    m->n_stack = 0;
    if (rc == 0) rc = pickle_push(m, p->root);
    if (rc == 0) place[p->root] = p->values[p->root].first;
    while (rc == 0 && m->n_stack > 0) {
        int32_t v = m->stack[m->n_stack - 1], cell = place[v];
        if (cell == PICKLE_NONE) {
            place[v] = DONE;
            m->n_stack--;
            continue;
        }
        place[v] = p->cells[cell].next;
        int32_t child = p->cells[cell].value;
        if (place[child] == DONE) continue;
        if (place[child] != NEVER) rc = pickle_refused(m, "holds an object that contains itself");
        if (rc == 0) rc = pickle_push(m, child);
        if (rc == 0) place[child] = p->values[child].first;
    }
    free(place);
    return rc;
}

int pickle_read(Pickle *p, const uint8_t *data, size_t size, size_t *used, const char *name, char *err, size_t errlen) {
    memset(p, 0, sizeof *p);
    PickleMachine m = {.p = p, .data = data, .size = size, .name = name, .err = err, .errlen = errlen};
    int rc = size >= 2 && data[0] == 0x80 ? 0 : pickle_damaged(&m, "it does not begin as one");
    while (rc == 0) {
        const uint8_t *op = NULL;
        rc = take(&m, 1, &op);
        if (rc == 0 && *op == '.') break;
        if (rc == 0) rc = read_one(&m, *op);
    }
    if (rc == 0 && (m.n_stack != 1 || m.n_marks != 0)) rc = pickle_damaged(&m, "it leaves other than one value");
    if (rc == 0) p->root = m.stack[0];
    if (rc == 0) rc = refuse_cycles(&m);
    *used = m.pos;
    free(m.stack);
    free(m.memo);
    free(m.marks);
    if (rc) pickle_free(p);
    return rc;
}
