/* weights-tools/checkpoint/pickle_machine.c - values, the stack, the containers and the memo.
 *
 * Values are numbered in the order they were made; the stack, the memo and the containers hold numbers. A container is
 * a chain of cells, since pickles go on filling a list after it was put into another. marks[] holds how high the stack
 * stood at each MARK: what stands above the latest one is what TUPLE, APPENDS and SETITEMS take. */
#include "pickle_machine.h"

#include <errno.h>
#include <stdlib.h>

/* ---- errors ---- */

int pickle_damaged(PickleMachine *m, const char *what) {
    return base_error(m->err, m->errlen, -EINVAL, "%s: its pickle is damaged at byte %zu: %s", m->name, m->pos, what);
}

int pickle_refused(PickleMachine *m, const char *what) {
    return base_error(m->err, m->errlen, -EINVAL, "%s: its pickle %s: refused, nothing was run", m->name, what);
}

int pickle_no_memory(PickleMachine *m) {
    return base_error(m->err, m->errlen, -ENOMEM, "%s: out of memory while reading its pickle", m->name);
}

static int too_much(PickleMachine *m) { return pickle_refused(m, "holds more values than any state dict"); }

/* ---- values, cells, stack ---- */

/* Room for one more in an array of n, of which no honest pickle fills PICKLE_MAX_VALUES. */
static int grow(PickleMachine *m, void *array, size_t *cap, size_t n, size_t element) {
    if (n >= PICKLE_MAX_VALUES) return too_much(m);
    return array_reserve(array, cap, n + 1, element) ? pickle_no_memory(m) : 0;
}

int pickle_push(PickleMachine *m, int32_t value) {
    int rc = grow(m, &m->stack, &m->cap_stack, m->n_stack, sizeof *m->stack);
    if (rc == 0) m->stack[m->n_stack++] = value;
    return rc;
}

int pickle_push_new(PickleMachine *m, const PickleValue *v) {
    int rc = grow(m, &m->p->values, &m->p->cap_values, m->p->n_values, sizeof *v);
    if (rc) return rc;
    m->p->values[m->p->n_values] = *v;
    return pickle_push(m, (int32_t)m->p->n_values++);
}

int pickle_push_kind(PickleMachine *m, PickleType type) {
    return pickle_push_new(m, &(PickleValue){.type = (uint8_t)type, .first = PICKLE_NONE, .last = PICKLE_NONE});
}

int pickle_push_integer(PickleMachine *m, PickleType type, int64_t v) {
    return pickle_push_new(
        m, &(PickleValue){.type = (uint8_t)type, .first = PICKLE_NONE, .last = PICKLE_NONE, .as.integer = v});
}

int pickle_add_child(PickleMachine *m, int32_t container, int32_t child) {
    /* An honest child costs a byte, once more in an OrderedDict of pairs. */
    if (m->p->n_cells / 2 >= m->size) return too_much(m);
    int rc = grow(m, &m->p->cells, &m->p->cap_cells, m->p->n_cells, sizeof *m->p->cells);
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

int pickle_mark(PickleMachine *m) {
    int rc = grow(m, &m->marks, &m->cap_marks, m->n_marks, sizeof *m->marks);
    if (rc == 0) m->marks[m->n_marks++] = m->n_stack;
    return rc;
}

static int pop_mark(PickleMachine *m, size_t *from) {
    if (m->n_marks == 0) return pickle_damaged(m, "a mark is missing");
    *from = m->marks[--m->n_marks];
    return 0;
}

PickleValue *pickle_value(PickleMachine *m, int32_t value) { return &m->p->values[value]; }

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

int pickle_tuple(PickleMachine *m, size_t n) {
    if (m->n_stack - floor_of(m) < n) return pickle_damaged(m, "nothing is left on the stack");
    return make_tuple(m, m->n_stack - n);
}

/* The stack from `from` on goes into the container below it: n values each, 1 into a list, 2 into a dict. */
static int fill(PickleMachine *m, size_t from, PickleType type, size_t n) {
    if (from <= floor_of(m)) return pickle_damaged(m, "nothing is left on the stack");
    int32_t container = m->stack[from - 1];
    if (pickle_value(m, container)->type != type)
        return pickle_damaged(m, "it fills something that is no list or dict");
    if ((m->n_stack - from) % n != 0) return pickle_damaged(m, "a key without a value");
    int rc = 0;
    for (size_t i = from; i < m->n_stack && rc == 0; i++) rc = pickle_add_child(m, container, m->stack[i]);
    m->n_stack = from;
    return rc;
}

int pickle_fill_marked(PickleMachine *m, PickleType type, size_t n) {
    size_t from = 0;
    int rc = pop_mark(m, &from);
    return rc ? rc : fill(m, from, type, n);
}

int pickle_fill_one(PickleMachine *m, PickleType type, size_t n) {
    if (m->n_stack - floor_of(m) < n) return pickle_damaged(m, "nothing is left on the stack");
    return fill(m, m->n_stack - n, type, n);
}

int pickle_marked_tuple(PickleMachine *m) {
    size_t from = 0;
    int rc = pop_mark(m, &from);
    return rc ? rc : make_tuple(m, from);
}

/* ---- the memo ---- */

/* Python numbers them in order, so an index past the pickle's own length has no honest origin. */
int pickle_put(PickleMachine *m, size_t at) {
    if (m->n_stack <= floor_of(m)) return pickle_damaged(m, "nothing is left on the stack");
    if (at >= m->size) return pickle_damaged(m, "a memo index beyond what a pickle of this length could use");
    while (m->n_memo <= at) {
        int rc = grow(m, &m->memo, &m->cap_memo, m->n_memo, sizeof *m->memo);
        if (rc) return rc;
        m->memo[m->n_memo++] = PICKLE_NONE;
    }
    m->memo[at] = m->stack[m->n_stack - 1];
    return 0;
}

int pickle_get_memo(PickleMachine *m, size_t at) {
    if (at >= m->n_memo || m->memo[at] == PICKLE_NONE)
        return pickle_damaged(m, "it gets what it never put into the memo");
    return pickle_push(m, m->memo[at]);
}

/* MEMOIZE numbers by how many were put; torch.save's own pickles never put one index twice. */
int pickle_memoize(PickleMachine *m) { return pickle_put(m, m->n_memo); }
