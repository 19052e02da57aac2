/* weights-tools/describe.c - tensors into slots, and the slots against the configuration. */
#include "describe.h"
#include "describe_config.h"

#include "model/notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static RoformerWorld world_of(const Checkpoint *c) {
    return c->container == CONTAINER_TF ? ROFORMER_IN_TF : ROFORMER_IN_TORCH;
}

static int bad_tensor(DescribeReader *r, const char *name, const char *why) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %.100s: %s", r->m->name, name, why);
}

int describe_is_roformer(const Checkpoint *c) {
    int layer;
    for (size_t i = 0; i < c->n_views; i++)
        if (roformer_names_find(world_of(c), c->views[i].name, &layer) == roformer_names_row(0)) return 1;
    return 0;
}

/* ---- tensors into slots ---- */

/* GGUF's order: what stands before the layers in the table, each layer, what stands behind. */
static int compare_slots(const void *a, const void *b) {
    const Slot *x = a, *y = b;
    int p = x->layer >= 0 ? 1 : x->row->group ? 2 : 0, q = y->layer >= 0 ? 1 : y->row->group ? 2 : 0;
    if (p != q) return p - q;
    if (x->layer != y->layer) return x->layer - y->layer;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* One left-out tensor more; the first one's name is kept for the note. */
static void leave_out(const char **first, size_t *n, const char *name) {
    if ((*n)++ == 0) *first = name;
}

static int add_slot(DescribeReader *r, const RoformerName *row, int layer, const View *v) {
    Slot s = {row, layer, *v};
    if (world_of(r->c) == ROFORMER_IN_TF && row->flags & NAME_TRANSPOSED) {
        if (v->n_dims != 2) return bad_tensor(r, v->name, "a kernel that is no matrix");
        s.view = view_transposed(v);
    }
    if (array_reserve(&r->m->slots, &r->m->cap_slots, r->m->n_slots + 1, sizeof s))
        return base_error(r->err, r->errlen, -ENOMEM, "%s: out of memory", r->m->name);
    r->m->slots[r->m->n_slots++] = s;
    return 0;
}

/* Is the row the table of the kind of position that the configuration names? */
static int asks_for(const Description *m, const RoformerName *row) {
    return m->position && m->position->table && strcmp(m->position->table, row->gguf) == 0;
}

static int collect(DescribeReader *r) {
    const char *integer = NULL, *unknown = NULL, *slot = NULL;
    size_t n_integers = 0, n_unknown = 0, n_optimizer = 0;
    RoformerWorld world = world_of(r->c);
    int layer, rc = 0;
    for (size_t i = 0; i < r->c->n_views && rc == 0; i++) {
        const View *v = &r->c->views[i];
        const RoformerName *row = roformer_names_find(world, v->name, &layer);
        if (world == ROFORMER_IN_TF && roformer_names_is_optimizer(v->name)) leave_out(&slot, &n_optimizer, v->name);
        else if (row && row->flags & NAME_COMPUTED) continue;
        else if (!elem_is_float(v->type)) leave_out(&integer, &n_integers, v->name);
        else if (row && row->flags & NAME_POSITIONS && !asks_for(r->m, row))
            rc = bad_tensor(r, v->name, "a table of positions: a BERT, not a RoFormer (unless position_embedding_type "
                                        "says so)");
        else if (row) rc = add_slot(r, row, layer, v);
        else if (roformer_names_is_body(world, v->name)) rc = bad_tensor(r, v->name, "no RoFormer known here has it");
        else leave_out(&unknown, &n_unknown, v->name);
    }
    if (rc) return rc;
    if (n_optimizer) report_note(r->report, "left out: %zu of an optimizer's tensors (%.60s ..)", n_optimizer, slot);
    if (n_integers) report_note(r->report, "left out: %zu tensor%s of integers (%.60s ..)", n_integers,
                                plural(n_integers), integer);
    if (n_unknown)
        report_note(r->report, "left out: %zu tensor%s that no RoFormer known here has (%.60s ..)", n_unknown,
                    plural(n_unknown), unknown);
    if (r->m->n_slots > 0) qsort(r->m->slots, r->m->n_slots, sizeof *r->m->slots, compare_slots);
    return 0;
}

/* As describe_slot, for a row of the body, in the sorted list; a head's row may have come under an alias. */
static int has_row(const Description *m, const RoformerName *row, int layer) {
    if (row->group) return describe_slot(m, row->gguf, layer, 0) >= 0;
    return m->n_slots &&
           bsearch(&(Slot){.row = row, .layer = layer}, m->slots, m->n_slots, sizeof *m->slots, compare_slots);
}

static void drop_slot(Description *m, long i) {
    memmove(m->slots + i, m->slots + i + 1, (m->n_slots - (size_t)i - 1) * sizeof *m->slots);
    m->n_slots--;
}

/* ---- tied tensors ---- */

static int same_values(const View *a, const View *b) { return view_is_same(a, b) || view_equal(a, b); }

/* The decoder is the word embeddings again, and its bias the head's: one of them is enough. What the configuration ties
 * (the default) and the file has apart is the file's, as transformers takes it. */
static void resolve_ties(DescribeReader *r) {
    Description *m = r->m;
    char other[300] = "";
    long decoder = describe_slot(m, "mlm.decoder.weight", -1, 0), words = describe_slot(m, "token_embd.weight", -1, 0);
    int own = decoder >= 0 && words >= 0 && !same_values(&m->slots[decoder].view, &m->slots[words].view);
    if (own) snprintf(other, sizeof other, "%.100s", m->slots[decoder].view.name);
    else if (decoder >= 0 && words >= 0) drop_slot(m, decoder);
    long first = describe_slot(m, "mlm.bias", -1, 0);
    long second = first < 0 ? -1 : describe_slot(m, "mlm.bias", -1, (size_t)first + 1);
    int two = second >= 0 && !same_values(&m->slots[first].view, &m->slots[second].view);
    if (two) /* the alias, decoder.bias, sorts behind */
        snprintf(other + strlen(other), sizeof other - strlen(other), "%s%.100s", *other ? ", " : "",
                 m->slots[second].view.name);
    if (second >= 0) drop_slot(m, first);
    if (*other && m->tied) report_note(r->report, note_untied, other);
    else if (two) report_note(r->report, "left out: one of two biases of the head (decoder.bias is kept)");
    if (own) m->tied = 0;
}

/* Any other tensor that came under two names is an error: which one is meant? Two prefixes make neighbours; the names
 * of a head are few. */
static int refuse_doubles(DescribeReader *r) {
    for (size_t i = 1; i < r->m->n_slots; i++) {
        const Slot *s = &r->m->slots[i];
        if (compare_slots(s - 1, s) == 0 || (s->row->group && describe_slot(r->m, s->row->gguf, -1, 0) != (long)i))
            return bad_tensor(r, s->view.name, "stands twice under different names");
    }
    return 0;
}

/* ---- tensors against the configuration ---- */

static int check_shape(DescribeReader *r, const Slot *s) {
    RoformerSizes sizes = r->m->sizes;
    size_t want[2] = {0, 0};
    for (size_t i = 0; i < r->m->n_slots && s->row->group; i++) { /* L: the rows of this head's own matrix */
        const Slot *t = &r->m->slots[i];
        int is_matrix = t->row->group == s->row->group && strcmp(t->row->shape, "LH") == 0 && t->view.n_dims == 2;
        if (is_matrix) sizes.labels = t->view.shape[0];
    }
    int n = roformer_names_shape(s->row, &sizes, want);
    int fits = s->view.n_dims == n;
    for (int d = 0; d < n && fits; d++) fits = want[d] == 0 ? s->view.shape[d] > 0 : s->view.shape[d] == want[d];
    if (fits) return 0;
    char why[160];
    int k = snprintf(why, sizeof why, "has the shape [");
    for (int d = 0; d < s->view.n_dims && d < 3; d++)
        k += snprintf(why + k, sizeof why - (size_t)k, "%s%zu", d ? ", " : "", s->view.shape[d]);
    k += snprintf(why + k, sizeof why - (size_t)k, "%s], the configuration asks for [%zu",
                  s->view.n_dims > 3 ? ", .." : "", want[0]);
    if (n > 1) k += snprintf(why + k, sizeof why - (size_t)k, ", %zu", want[1]);
    snprintf(why + k, sizeof why - (size_t)k, "] (as [out, in])");
    return bad_tensor(r, s->view.name, why);
}

static unsigned variant_flag(const Description *m) {
    return m->variant == ROFORMER_V1 ? NAME_V1 : m->variant == ROFORMER_V2 ? NAME_V2 : NAME_GAU;
}

/* Every row that this variant has must be there, in each layer; a head must be whole. */
static int check_complete(DescribeReader *r) {
    Description *m = r->m;
    for (size_t i = 0; roformer_names_row(i); i++) {
        const RoformerName *row = roformer_names_row(i);
        int layered = row->gguf && strchr(row->gguf, '#'), wanted = (row->flags & variant_flag(m)) != 0;
        if (!row->gguf || row->flags & (NAME_ALIAS | NAME_OPTIONAL)) continue;
        if (row->flags & NAME_PROJECTED && m->sizes.d_embed == m->sizes.d_model) wanted = 0;
        if (row->flags & NAME_POSITIONS) wanted = asks_for(m, row);
        for (size_t k = 0; row->group && k < m->n_slots && !wanted; k++) wanted = m->slots[k].row->group == row->group;
        for (int l = layered ? 0 : -1; wanted && l < (layered ? m->n_layers : 0); l++)
            if (!has_row(m, row, l)) {
                char name[ROFORMER_NAME_MAX] = "";
                RoformerWorld world = row->tf ? world_of(r->c) : ROFORMER_IN_TORCH;
                roformer_names_write(name, row, world, l, m->variant == ROFORMER_GAU);
                return bad_tensor(r, name, "is missing");
            }
    }
    return 0;
}

static int check_slots(DescribeReader *r) {
    Description *m = r->m;
    int rc = 0;
    for (size_t i = 0; i < m->n_slots && rc == 0; i++) {
        const Slot *s = &m->slots[i];
        int body = (s->row->flags & NAME_ALL) != 0;
        if (s->layer >= m->n_layers)
            rc = bad_tensor(r, s->view.name, "belongs to a layer that the configuration does not have");
        else if (body && !(s->row->flags & variant_flag(m)))
            rc = bad_tensor(r, s->view.name, "has no place beside the others: no v1, v2 or GAU-alpha has them all");
        else if (s->row->flags & NAME_PROJECTED && m->sizes.d_embed == m->sizes.d_model)
            rc = bad_tensor(r, s->view.name, "is there, but the configuration's embedding_size is its hidden_size");
        else rc = check_shape(r, s);
    }
    return rc ? rc : check_complete(r);
}

int describe_open(Description *m, const Checkpoint *c, const JsonValue *config, const char *config_name,
                  const DescribeWish *wish, const Report *report, char *err, size_t errlen) {
    memset(m, 0, sizeof *m);
    m->name = c->folder;
    DescribeReader r = {m, c, config, config_name, wish, report, err, errlen, 0};
    int rc =
        config->type == JSON_OBJECT ? 0 : base_error(err, errlen, -EINVAL, "%s: is not a JSON object", config_name);
    if (rc == 0) rc = describe_read_position(&r);
    if (rc == 0) rc = collect(&r);
    if (rc == 0) rc = describe_read_config(&r);
    if (rc == 0) {
        resolve_ties(&r);
        rc = refuse_doubles(&r);
    }
    if (rc == 0) rc = check_slots(&r);
    if (rc == 0) rc = describe_read_heads(&r);
    if (rc) describe_free(m);
    return rc;
}

int describe_plan(const Description *m, Plan *p, RoformerWorld world) {
    int rc = 0;
    for (size_t i = 0; i < m->n_slots && rc == 0; i++) {
        char name[ROFORMER_NAME_MAX];
        if (roformer_names_write(name, m->slots[i].row, world, m->slots[i].layer, m->variant == ROFORMER_GAU))
            rc = plan_add(p, name, &m->slots[i].view);
    }
    return rc;
}
