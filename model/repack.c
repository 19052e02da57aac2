/* model/repack.c - private copies of the matrices, laid out as the row of kernels wants them (kernels/panel.h). Which
 * rows want it, and why, is in kernels/README.md; ref does not. Float weights stay where the file is mapped, unless a
 * copy is asked for, as they are but in large pages. */
#include "repack.h"

#include "base/system.h"
#include "base/threads.h"
#include "kept.h"
#include "kernels/panel.h"
#include "matrices.h"
#include "notes.h"
#include "options.h"

#include <errno.h>
#include <string.h>

typedef struct {
    Team team;
    const Kernels *kernels;
    int copy; /* float weights too */
    const Matrix *w;
    PanelShape shape;
    uint8_t *out;
} Job;

static int has_panels(const Job *j, const Matrix *w) { return w->data && j->kernels->lanes && panel_fits(w); }

/* What a matrix takes of the memory of our own: nothing where it is only looked up, row by row. */
static size_t own_bytes(const Job *j, const MatrixEntry *e) {
    const Matrix *w = e->matrix;
    if (e->use == USE_LOOKUP) return 0;
    if (has_panels(j, w)) {
        PanelShape s = panel_shape(w, j->kernels->lanes);
        return s.n * s.size;
    }
    return j->copy && w->data && matrix_group(w) == 0 ? (matrix_bytes(w) + 63) & ~(size_t)63 : 0;
}

static void fill(void *arg) {
    Job *j = arg;
    for (Share i; team_take(&j->team, j->shape.n, &i);)
        for (; i.at < i.end; i.at++) panel_fill(j->out + i.at * j->shape.size, j->w, &j->shape, i.at);
}

static void copy(void *arg) {
    Job *j = arg;
    size_t row = matrix_bytes(j->w) / j->w->rows;
    for (Share i; team_take(&j->team, j->w->rows, &i);)
        memcpy(j->out + i.at * row, (const uint8_t *)j->w->data + i.at * row, (i.end - i.at) * row);
}

/* Matrix e lies at `at` from now on. */
static void give(const Job *j, const MatrixEntry *e, const uint8_t *at) {
    if (has_panels(j, e->matrix)) e->matrix->panels = at;
    else e->matrix->data = at;
}

static void give_all(Model *m, const Job *j, const uint8_t *at) {
    MatrixEntry e;
    for (size_t i = 0, n; model_matrix(m, i, &e); i++) {
        if (!(n = own_bytes(j, &e))) continue;
        give(j, &e, at);
        at += n;
    }
    m->panels_size = 0; /* nothing of it is memory of our own */
}

static int repack_all(Model *m, const ModelOptions *o, Job *j, char *err, size_t errlen) {
    MatrixEntry e;
    j->out = m->panels = pages_new(m->panels_size);
    if (!j->out)
        return base_error(err, errlen, -ENOMEM, "%s: out of memory: %zu bytes for repacked weights", m->weights.path,
                          m->panels_size);
    for (size_t i = 0, n; model_matrix(m, i, &e); i++) {
        const Matrix *w = j->w = e.matrix;
        if (!(n = own_bytes(j, &e))) continue;
        int panels = has_panels(j, w);
        if (panels) j->shape = panel_shape(w, m->kernels->lanes);
        team_run(&j->team, w->rows * w->cols < 1 << 20 ? 1 : j->team.most, panels ? fill : copy, j);
        if (m->weights.n_files)
            pages_drop(w->data, matrix_bytes(w)); /* at once, so that never much more than one copy is held */
        give(j, &e, j->out);
        j->out += n;
        if (o && o->progress && o->progress(o->progress_arg, (size_t)(j->out - m->panels), m->panels_size))
            return base_error(err, errlen, -EINTR, "%s: interrupted while it was read", m->weights.path);
    }
    return 0;
}

/* A model in memory has no file that panels could be beside or older than, and one that is changed as it is opened is
 * not its file's. */
static int may_keep(Model *m, const ModelOptions *o) {
    const char *why = !m->panels_size       ? "the weights stay as the file has them"
                      : !m->weights.n_files ? "the model has no file"
                      : o->n_loras          ? "an adapter changes the weights"
                      : o->task             ? "a task changes the weights"
                                            : NULL;
    if (why) weights_note(&m->weights, "nothing is kept (--panels): %s", why);
    return !why;
}

int model_repack(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    Job job = {.kernels = m->kernels, .copy = o && o->copy};
    int threads = o && o->threads > 0 ? o->threads : threads_most();
    MatrixEntry e;
    for (size_t i = 0; model_matrix(m, i, &e); i++) m->panels_size += own_bytes(&job, &e);
    int keep = o && o->panels && may_keep(m, o);
    if (!m->panels_size) return 0;
    if (m->panels_size / 2 >
        m->weights.file_bytes + (1 << 20)) /* panels of 16 rows, of which a hostile file fills one */
        return base_error(err, errlen, -EINVAL,
                          "%s: its matrices have so few rows that they would take many times the file's size",
                          m->weights.path);
    if (team_init(&job.team, threads))
        return base_error(err, errlen, -ENOMEM, "%s: out of memory: threads to repack weights", m->weights.path);
    const uint8_t *kept = NULL;
    int rc = keep ? kept_open(&kept, m, o, &job.team, err, errlen) : 0;
    if (rc > 0) keep = rc = 0;
    if (rc == 0 && !kept) rc = repack_all(m, o, &job, err, errlen);
    if (rc == 0 && !kept && keep) kept_write(m, o, &job.team);
    if (rc == 0 && kept) give_all(m, &job, kept);
    team_free(&job.team);
    return rc;
}

void model_unpack(Model *m) { pages_free(m->panels, m->panels_size); }
