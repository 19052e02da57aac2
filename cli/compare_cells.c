/* cli/compare_cells.c - the cells of a comparison, one after the other, each kept as it is done. */
#include "compare.h"

#include "base/paths.h"
#include "base/system.h"
#include "model/entropy.h"
#include "model/options.h"
#include "model/timeline.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first bin: nothing is scored at position 0. */
static size_t first_row(const Comparison *c) { return c->bin == 1; }

size_t compare_rows(const Comparison *c) {
    return c->bin ? (c->lengths[0] + c->bin - 1) / c->bin - first_row(c) : 1;
}

/* ---- how much there is to do ---- */

/* Multiplications: of every position's matrices, and of its attention, which grows with the length. */
static double cell_work(const Comparison *c, size_t length) {
    const Config *m = &c->e.model.config;
    double windows = (double)(c->bin ? c->windows : compare_windows(&c->cut, length));
    double attention = m->linear.form ? 0 : (double)m->n_layers * m->n_heads * (m->head_dim + m->value_dim);
    return windows * (double)length * ((double)c->e.model.n_parameters + attention * (double)length / 2);
}

static int is_done(const Comparison *c, const char *rope, size_t length) {
    const CompareCell *cell = compare_table_find(&c->table, rope, length, first_row(c));
    return cell && !(c->a->compare.entropy && isnan(cell->entropy));
}

static void count_work(Comparison *c) {
    c->n_cells = 0;
    for (size_t i = 0; i < c->n_ropes; i++)
        for (size_t j = 0; j < c->n_lengths; j++)
            if (!is_done(c, c->ropes[i], c->lengths[j])) c->n_cells++, c->work += cell_work(c, c->lengths[j]);
}

static int on_positions(void *arg, size_t done, size_t total) {
    Comparison *c = arg;
    double t = clock_seconds(), work = c->work_done + c->work_cell * (double)done / (double)total;
    if (quiet || !isatty(2) || t - c->start < 2 || t - c->drawn < 0.2) return interrupted;
    c->drawn = t;
    progress_line("cell %zu of %zu, %.0f s to go ", c->cell, c->n_cells,
                  ceil((t - c->start) / work * (c->work - work)));
    return interrupted;
}

/* meter: where --entropy asks for it. */
static SessionOptions session_options(Comparison *c, size_t length, EntropyMeter *meter) {
    entropy_meter(meter);
    return (SessionOptions){.n_ctx = length, .threads = (int)c->a->machine.threads, .cache = c->cache, .n_logits = 16,
                            .attention = c->a->compare.entropy ? &meter->attention : NULL,
                            .progress = on_positions, .progress_arg = c};
}

/* What the largest cell takes, said before the first. */
static int say_memory(Comparison *c) {
    RopeNumbers *numbers = malloc(sizeof *numbers);
    size_t most = 0, longest = c->lengths[c->n_lengths - 1];
    int code = numbers ? 0 : fail("out of memory");
    for (size_t i = 0; i < c->n_ropes && code == 0; i++) {
        Model view;
        Session s;
        EntropyMeter meter;
        SessionOptions o = session_options(c, longest, &meter);
        if ((code = compare_view(c, &view, numbers, c->ropes[i], longest))) break;
        if (session_init(&s, &view, &o, c->e.err, sizeof c->e.err)) {
            code = fail("--rope %s, at %zu: %s", c->ropes[i], longest, c->e.err);
            break;
        }
        if (session_bytes(&s) + meter.bytes > most) most = session_bytes(&s) + meter.bytes;
        session_free(&s);
    }
    free(numbers);
    size_t scored = c->bin ? c->windows * (c->lengths[0] - 1) : c->cut.score;
    if (code == 0)
        note("%zu method%s x %zu length%s, %zu ids each%s; at most %.1f MB of memory beside the file", c->n_ropes,
             c->n_ropes == 1 ? "" : "s", c->n_lengths, c->n_lengths == 1 ? "" : "s", scored,
             c->n_cells < c->n_ropes * c->n_lengths ? ", some there already" : "",
             (double)(most + c->e.model.panels_size) / 1e6);
    return code;
}

/* ---- the file of --resume ---- */

/* What is there of it: cells of this run, and where the last ends. */
static int read_kept(Comparison *c, const char *path, size_t *whole) {
    char *text;
    size_t n;
    int code = read_text(path, &text, &n);
    if (code) return code;
    int rc = compare_table_read(&c->table, path, text, n, compare_rows(c), whole, c->e.err, sizeof c->e.err);
    if (rc) code = fail("--resume %s", c->e.err);
    else if (*whole == 0) { /* nothing, or a head that was broken off */
        size_t len;
        char *head = compare_text(c, 1, NULL, &len);
        if (!head) code = fail("out of memory");
        else if (n > len || memcmp(text, head, n) != 0)
            code = fail("--resume %s: is there and is no table of this run; it stays as it is", path);
        free(head);
    }
    free(text);
    return code;
}

static int open_kept(Comparison *c) {
    const char *path = c->a->compare.resume;
    size_t whole = 0;
    if (file_there(path) && !file_is_regular(path)) return fail("--resume %s: is not a regular file", path);
    int there = file_there(path), code = there ? read_kept(c, path, &whole) : 0;
    if (code) return code;
    c->file = fopen(path, there ? "r+b" : "wb");
    if (!c->file || (there && ftruncate(fileno(c->file), (off_t)whole) != 0) || fseek(c->file, 0, SEEK_END) != 0)
        return fail("--resume %s: %s", path, strerror(errno));
    if (whole == 0) code = compare_stream(c, 1, NULL);
    return code == 0 && ferror(c->file) ? fail("--resume %s: %s", path, strerror(errno)) : code;
}

/* ---- measuring ---- */

/* The rows of p's cell, kept and written. */
static int keep(Comparison *c, const Perplexity *p, const CompareCell *of) {
    int code = 0;
    for (size_t i = 0; i < compare_rows(c) && code == 0; i++) {
        const Perplexity *bin = &p[first_row(c) + i];
        CompareCell cell = *of;
        cell.position = (first_row(c) + i) * c->bin;
        cell.nll = perplexity_mean(bin);
        cell.error = perplexity_stderr(bin);
        cell.tokens = bin->tokens;
        if (compare_table_add(&c->table, &cell, "this run", c->e.err, sizeof c->e.err)) code = fail("%s", c->e.err);
    }
    if (code == 0) code = compare_stream(c, 0, compare_table_find(&c->table, of->rope, of->length, first_row(c)));
    if (code == 0 && c->file && ferror(c->file)) code = fail("--resume %s: cannot be written", c->a->compare.resume);
    return code;
}

static int measure_cell(Comparison *c, RopeNumbers *numbers, Perplexity *bins, const char *rope, size_t length) {
    Model view;
    Session s;
    char spec[ROPE_SPEC_MOST], *err = c->e.err;
    const size_t errlen = sizeof c->e.err;
    EntropyMeter meter;
    SessionOptions o = session_options(c, length, &meter);
    int code = compare_view(c, &view, numbers, rope, length), rc;
    if (code) return code;
    if (rope_spec_print(&view.config.rope, spec, sizeof spec)) *spec = 0;
    if (session_init(&s, &view, &o, err, errlen)) return fail("--rope %s, at %zu: %s", rope, length, err);
    memset(bins, 0, (first_row(c) + compare_rows(c)) * sizeof *bins);
    if (c->bin) rc = compare_by_position(bins, c->bin, &s, c->ids, c->n_ids, c->bos, c->windows, length, err, errlen);
    else rc = compare_cell(bins, &s, c->ids, c->n_ids, c->bos, &c->cut, length, err, errlen);
    session_free(&s);
    if (rc == -EINTR) return EXIT_INTERRUPTED;
    if (rc) return fail("--rope %s, at %zu: %s", rope, length, err);
    return keep(c, bins, &(CompareCell){.rope = (char *)rope, .spec = *spec ? spec : NULL, .length = length,
                                        .entropy = meter.n ? meter.sum / (double)meter.n : NAN});
}

static int measure_all(Comparison *c) {
    RopeNumbers *numbers = malloc(sizeof *numbers);
    Perplexity *bins = calloc(first_row(c) + compare_rows(c), sizeof *bins);
    int code = numbers && bins ? 0 : fail("out of memory");
    c->start = clock_seconds();
    for (size_t i = 0; i < c->n_ropes && code == 0; i++)
        for (size_t j = 0; j < c->n_lengths && code == 0 && !out.gone && !out.broken; j++) {
            if (is_done(c, c->ropes[i], c->lengths[j])) continue;
            c->cell++;
            c->work_cell = cell_work(c, c->lengths[j]);
            code = interrupted ? EXIT_INTERRUPTED : measure_cell(c, numbers, bins, c->ropes[i], c->lengths[j]);
            c->work_done += c->work_cell;
        }
    if (c->drawn > 0) progress_wipe();
    if (code == EXIT_INTERRUPTED)
        note("interrupted: %zu of %zu cells were not measured%s", c->n_cells - c->cell + 1, c->n_cells,
             c->file ? "; the same command goes on" : "; --resume FILE would keep what there is");
    free(numbers);
    free(bins);
    return code;
}

int compare_measure(Comparison *c) {
    int code = c->a->compare.resume ? open_kept(c) : 0;
    if (code == 0) code = compare_check_entropy(c);
    if (code == 0) files_opened(c->a);
    if (code == 0) count_work(c);
    if (code == 0) code = say_memory(c);
    if (code == 0 && !c->file && c->a->show.csv) code = compare_stream(c, 1, NULL);
    if (code == 0) code = measure_all(c);
    if (c->file && fclose(c->file) != 0 && code == 0)
        code = fail("--resume %s: %s", c->a->compare.resume, strerror(errno));
    c->file = NULL;
    return code;
}
