/* weights-tools/pickle.c - a stack machine that knows some thirty opcodes and calls nothing (pickle_names.c: the names).
 *
 * Values are numbered in the order they were made; the stack, the memo and the containers hold numbers. A container is a
 * chain of cells, since pickles go on filling a list after it was put into another. marks[] holds how high the stack stood
 * at each MARK: what stands above the latest one is what TUPLE, APPENDS and SETITEMS take.
 *
 * A list can be put into itself, which no state dict does; refuse_cycles looks for that once, at the end. */
#include "pickle_machine.h"
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

int pickle_damaged(PickleMachine *m, const char *what) {
    return base_error(m->err, m->errlen, -EINVAL, "%s: its pickle is damaged at byte %zu: %s", m->name, m->pos, what);
}

int pickle_refused(PickleMachine *m, const char *what) {
    return base_error(m->err, m->errlen, -EINVAL, "%s: its pickle %s: refused, nothing was run", m->name, what);
}

static int no_memory(PickleMachine *m) {
    return base_error(m->err, m->errlen, -ENOMEM, "%s: out of memory while reading its pickle", m->name);
}

static int too_much(PickleMachine *m) { return pickle_refused(m, "holds more values than any state dict"); }

/* ---- values, cells, stack ---- */

static int grow(PickleMachine *m, void **array, size_t n, size_t element) {
    if (n >= PICKLE_MAX_VALUES) return too_much(m);
    return array_grow(array, n, element) ? no_memory(m) : 0;
}

int pickle_push(PickleMachine *m, int32_t value) {
    void *p = m->stack;
    int rc = grow(m, &p, m->n_stack, sizeof *m->stack);
    m->stack = p;
    if (rc == 0) m->stack[m->n_stack++] = value;
    return rc;
}

int pickle_push_new(PickleMachine *m, const PickleValue *v) {
    void *p = m->p->values;
    int rc = grow(m, &p, m->p->n_values, sizeof *v);
    m->p->values = p;
    if (rc) return rc;
    m->p->values[m->p->n_values] = *v;
    return pickle_push(m, (int32_t)m->p->n_values++);
}

int pickle_push_kind(PickleMachine *m, PickleType type) {
    return pickle_push_new(m, &(PickleValue){.type = (uint8_t)type, .first = PICKLE_NONE, .last = PICKLE_NONE});
}

static int push_integer(PickleMachine *m, PickleType type, int64_t v) {
    return pickle_push_new(m, &(PickleValue){.type = (uint8_t)type, .first = PICKLE_NONE, .last = PICKLE_NONE, .as.integer = v});
}

int pickle_add_child(PickleMachine *m, int32_t container, int32_t child) {
    void *p = m->p->cells;
    if (m->p->n_cells / 2 >= m->size) return too_much(m); /* an honest child costs a byte, once more in an OrderedDict of pairs */
    int rc = grow(m, &p, m->p->n_cells, sizeof *m->p->cells);
    m->p->cells = p;
    if (rc) return rc;
    int32_t cell = (int32_t)m->p->n_cells++;
    m->p->cells[cell] = (PickleCell){child, PICKLE_NONE};
    PickleValue *v = &m->p->values[container];
    if (v->last == PICKLE_NONE) v->first = cell;
    else m->p->cells[v->last].next = cell;
    v->last = cell;
    v->n++;
    return 0;
}

/* The lowest place on the stack that may be popped: what stands below the latest mark belongs to somebody else. */
static size_t floor_of(const PickleMachine *m) { return m->n_marks ? m->marks[m->n_marks - 1] : 0; }

int pickle_pop(PickleMachine *m, int32_t *value) {
    if (m->n_stack <= floor_of(m)) return pickle_damaged(m, "nothing is left on the stack");
    *value = m->stack[--m->n_stack];
    return 0;
}

static int pop_mark(PickleMachine *m, size_t *from) {
    if (m->n_marks == 0) return pickle_damaged(m, "a mark is missing");
    *from = m->marks[--m->n_marks];
    return 0;
}

static PickleValue *value_of(PickleMachine *m, int32_t value) { return &m->p->values[value]; }

/* ---- containers ---- */

/* The stack from `from` on becomes a tuple. */
static int make_tuple(PickleMachine *m, size_t from) {
    size_t end = m->n_stack;
    int rc = pickle_push_kind(m, PV_TUPLE);
    if (rc) return rc;
    int32_t tuple = m->stack[end];
    for (size_t i = from; i < end && rc == 0; i++) rc = pickle_add_child(m, tuple, m->stack[i]);
    m->n_stack = from + 1;
    m->stack[from] = tuple;
    return rc;
}

static int short_tuple(PickleMachine *m, size_t n) {
    if (m->n_stack - floor_of(m) < n) return pickle_damaged(m, "nothing is left on the stack");
    return make_tuple(m, m->n_stack - n);
}

/* The stack from `from` on goes into the container below it: n values each, 1 into a list, 2 into a dict. */
static int fill(PickleMachine *m, size_t from, PickleType type, size_t n) {
    if (from <= floor_of(m)) return pickle_damaged(m, "nothing is left on the stack");
    int32_t container = m->stack[from - 1];
    if (value_of(m, container)->type != type) return pickle_damaged(m, "it fills something that is no list or dict");
    if ((m->n_stack - from) % n != 0) return pickle_damaged(m, "a key without a value");
    int rc = 0;
    for (size_t i = from; i < m->n_stack && rc == 0; i++) rc = pickle_add_child(m, container, m->stack[i]);
    m->n_stack = from;
    return rc;
}

static int fill_marked(PickleMachine *m, PickleType type, size_t n) {
    size_t from = 0;
    int rc = pop_mark(m, &from);
    return rc ? rc : fill(m, from, type, n);
}

static int fill_one(PickleMachine *m, PickleType type, size_t n) {
    if (m->n_stack - floor_of(m) < n) return pickle_damaged(m, "nothing is left on the stack");
    return fill(m, m->n_stack - n, type, n);
}

/* ---- the memo ---- */

/* Python numbers them in order, so an index past the pickle's own length has no honest origin. */
static int put(PickleMachine *m, size_t at) {
    if (m->n_stack <= floor_of(m)) return pickle_damaged(m, "nothing is left on the stack");
    if (at >= m->size) return pickle_damaged(m, "a memo index beyond what a pickle of this length could use");
    while (m->n_memo <= at) {
        void *p = m->memo;
        int rc = grow(m, &p, m->n_memo, sizeof *m->memo);
        m->memo = p;
        if (rc) return rc;
        m->memo[m->n_memo++] = PICKLE_NONE;
    }
    m->memo[at] = m->stack[m->n_stack - 1];
    return 0;
}

static int get(PickleMachine *m, size_t at) {
    if (at >= m->n_memo || m->memo[at] == PICKLE_NONE) return pickle_damaged(m, "it gets what it never put into the memo");
    return pickle_push(m, m->memo[at]);
}

/* MEMOIZE numbers by how many were put; torch.save's own pickles never put one index twice. */
static int memoize(PickleMachine *m) { return put(m, m->n_memo); }

/* ---- opcodes ---- */

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

/* Text whose length stands in front of it, in `width` bytes; op 0x8a: an integer, which fits 64 bits or is kept as bytes. */
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
        return push_integer(m, PV_INT, (int64_t)v);
    }
    return pickle_push_new(m, &(PickleValue){.type = integer ? PV_BIG : PV_STRING, .n = (uint32_t)n, .first = PICKLE_NONE,
                                             .last = PICKLE_NONE, .as.text = (const char *)p});
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
    if (op == 'q' || op == 'r') return put(m, (size_t)v);
    if (op == 'h' || op == 'j') return get(m, (size_t)v);
    if (op == 0x95) return v > m->size - m->pos ? pickle_damaged(m, "a frame longer than the pickle") : 0;
    if (op == 0x80) return v >= 2 && v <= 5 ? 0 : pickle_refused(m, "has a protocol other than 2 to 5");
    return push_integer(m, PV_INT, op == 'J' ? (int32_t)(uint32_t)v : (int64_t)v);
}

static int mark(PickleMachine *m) {
    void *p = m->marks;
    int rc = grow(m, &p, m->n_marks, sizeof *m->marks);
    m->marks = p;
    if (rc == 0) m->marks[m->n_marks++] = m->n_stack;
    return rc;
}

static int marked_tuple(PickleMachine *m) {
    size_t from = 0;
    int rc = pop_mark(m, &from);
    return rc ? rc : make_tuple(m, from);
}

static int unknown(PickleMachine *m, int op) {
    char what[80];
    base_error(what, sizeof what, 0, "has the opcode 0x%02x, which torch.save does not write for a state dict", (unsigned)op);
    return pickle_refused(m, what);
}

static int read_one(PickleMachine *m, int op) {
    switch (op) {
    case 0x80: case 0x95: case 'J': case 'K': case 'M': case 'q': case 'r': case 'h': case 'j': return with_number(m, op);
    case '(': return mark(m);
    case '}': return pickle_push_kind(m, PV_DICT);
    case ']': return pickle_push_kind(m, PV_LIST);
    case ')': return pickle_push_kind(m, PV_TUPLE);
    case 'N': return pickle_push_kind(m, PV_NONE);
    case 't': return marked_tuple(m);
    case 0x85: case 0x86: case 0x87: return short_tuple(m, (size_t)(op - 0x84));
    case 'a': return fill_one(m, PV_LIST, 1);
    case 'e': return fill_marked(m, PV_LIST, 1);
    case 's': return fill_one(m, PV_DICT, 2);
    case 'u': return fill_marked(m, PV_DICT, 2);
    case 0x88: case 0x89: return push_integer(m, PV_BOOL, op == 0x88);
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
    case 0x94: return memoize(m);
    default: return unknown(m, op);
    }
}

/* ---- the end ---- */

/* Depth first, without recursion: m->stack holds the path, place[v] the cell at which v's walk goes on. */
static int refuse_cycles(PickleMachine *m) {
    enum { NEVER = -2, DONE = -3 };
    Pickle *p = m->p;
    int32_t *place = malloc(p->n_values * sizeof *place);
    int rc = place ? 0 : no_memory(m);
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

void pickle_free(Pickle *p) {
    free(p->values);
    free(p->cells);
    memset(p, 0, sizeof *p);
}
