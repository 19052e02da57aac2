/* model/repack.c - private copies of the matrices, laid out as the row of kernels wants them (kernels/panel.h). Which
 * rows want it, and why, is in kernels/README.md; ref does not. Float weights stay where the file is mapped, unless a
 * copy is asked for, as they are but in large pages. */
#include "repack.h"

#include "base/system.h"
#include "base/threads.h"
#include "kernels/panel.h"
#include "matrices.h"
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

int model_repack(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    Job job = {.kernels = m->kernels, .copy = o && o->copy};
    int threads = o && o->threads > 0 ? o->threads : threads_most();
    MatrixEntry e;
    for (size_t i = 0; model_matrix(m, i, &e); i++) m->panels_size += own_bytes(&job, &e);
    if (!m->panels_size) return 0;
    if (m->panels_size / 2 >
        m->weights.file_bytes + (1 << 20)) /* panels of 16 rows, of which a hostile file fills one */
        return base_error(err, errlen, -EINVAL,
                          "%s: its matrices have so few rows that they would take many times the file's size",
                          m->weights.path);
    m->panels = pages_new(m->panels_size);
    if (!m->panels || team_init(&job.team, threads))
        return base_error(err, errlen, -ENOMEM, "%s: out of memory: %zu bytes for repacked weights", m->weights.path,
                          m->panels_size);
    job.out = m->panels;
    int stop = 0;
    for (size_t i = 0, n; !stop && model_matrix(m, i, &e); i++) {
        Matrix *w = e.matrix;
        if (!(n = own_bytes(&job, &e))) continue;
        int panels = has_panels(&job, w);
        job.w = w;
        if (panels) job.shape = panel_shape(w, m->kernels->lanes);
        team_run(&job.team, w->rows * w->cols < 1 << 20 ? 1 : job.team.most, panels ? fill : copy, &job);
        if (m->weights.n_files)
            pages_drop(w->data, matrix_bytes(w)); /* at once, so that never much more than one copy is held */
        if (panels) w->panels = job.out;
        else w->data = job.out;
        job.out += n;
        stop = o && o->progress && o->progress(o->progress_arg, (size_t)(job.out - m->panels), m->panels_size);
    }
    team_free(&job.team);
    return stop ? base_error(err, errlen, -EINTR, "%s: interrupted while it was read", m->weights.path) : 0;
}

void model_unpack(Model *m) { pages_free(m->panels, m->panels_size); }
