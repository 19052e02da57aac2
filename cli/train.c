/* cli/train.c - the command train: trains a small model on a text, to a GGUF file that ./run opens. */
#include "tool.h"
#include "base/base.h"
#include "base/paths.h"
#include "base/system.h"
#include "weights-tools/training/curve.h"
#include "weights-tools/training/setup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    TrainingSetup setup;
    Curve curve;
    double drawn;   /* when the line of progress was */
    int failed;     /* what curve_add said */
    double seconds_before; /* by the table of a run that goes on */
} Training;

/* ---- what is shown ---- */

static void show_measured(const CoursePoint *p) {
    if (!isnan(p->held.loss)) fprintf(stderr, "  held out %.4f", p->held.loss);
    if (!isnan(p->again.loss)) fprintf(stderr, "  a copy %.3f, its second %.3f", p->first.loss, p->again.loss);
    if (!isnan(p->answer.right)) fprintf(stderr, "  recalls %.0f of 100", 100 * p->answer.right);
}

/* On a terminal one line that is drawn over; measurements stay, there and elsewhere. */
static int on_point(void *arg, const CoursePoint *p) {
    Training *t = arg;
    const Course *c = &t->setup.course;
    CoursePoint row = *p;
    double now = clock_seconds(), done = (double)(p->step - t->setup.from);
    double speed = p->tokens / (double)p->step * done / p->seconds;
    double left = (double)(c->steps - p->step) * p->seconds / done;
    int terminal = isatty(2);
    char line[100], rest[100];
    row.seconds += t->seconds_before;
    t->failed = curve_add(&t->curve, &row);
    if (quiet) return interrupted || t->failed;
    snprintf(line, sizeof line, "step %llu of %llu  loss %.4f", (unsigned long long)p->step,
             (unsigned long long)c->steps, p->loss);
    int n = snprintf(rest, sizeof rest, "  %.0f tokens/s", speed);
    if (p->step < c->steps)
        snprintf(rest + n, sizeof rest - (size_t)n, "  %.0f:%02.0f to go", floor(left / 60), floor(fmod(left, 60)));
    if (p->has_held) {
        if (terminal) progress_wipe();
        fputs(line, stderr);
        show_measured(p);
        fprintf(stderr, "%s\n", rest);
    } else if (terminal && now - t->drawn > 0.2) progress_line("%s%s", line, rest);
    else return interrupted || t->failed;
    t->drawn = now;
    return interrupted || t->failed;
}

static int save_curve(Training *t, char *err, size_t errlen) {
    const TrainingOptions *o = t->setup.options;
    int rc = o->csv ? curve_write_csv(&t->curve, o->csv, err, errlen) : 0;
    return rc == 0 && o->svg ? curve_write_svg(&t->curve, o->svg, err, errlen) : rc;
}

/* The table before the checkpoint: a table that is ahead is cut when the run goes on, one behind is not whole. */
static int on_save(void *arg, uint64_t step, char *err, size_t errlen) {
    Training *t = arg;
    int rc = save_curve(t, err, errlen);
    return rc ? rc : setup_write(&t->setup, t->setup.checkpoint, step, 1, err, errlen);
}

static void show_plan(const Training *t) {
    const TrainingSetup *s = &t->setup;
    const Course *c = &s->course;
    char held[60] = "";
    if (s->held.n) snprintf(held, sizeof held, ", %zu to measure on", s->held.n);
    note("%zu parameters; %zu ids to learn%s; %llu steps of %zu x %zu tokens; %.0f MB of memory; %d thread%s, %s",
         params_numbers(&s->trainee.params), s->corpus.n, held, (unsigned long long)c->steps, s->trainee.shape.texts,
         s->trainee.shape.length, (double)s->trainee.bytes / 1e6, s->trainee.work.team.most,
         s->trainee.work.team.most == 1 ? "" : "s", s->trainee.work.kernels->name);
    if (s->from) note("goes on behind step %llu", (unsigned long long)s->from);
}

/* How ./run measures what the trainer reported. */
static void show_end(const Training *t) {
    const TrainingOptions *o = t->setup.options;
    const Corpus *held = &t->setup.held;
    note("%s is written", o->out);
    if (!o->held) return;
    note("the loss held out is that of ./run perplexity %s -f %s%s%s%s%s", o->out, o->held,
         held->n_documents > 1 ? " --separator \"" : "", held->n_documents > 1 ? o->separator : "",
         held->n_documents > 1 ? "\"" : "", t->setup.trainee.config.linear.form ? "" : " --kv f32");
}

/* ---- the work ---- */

/* What is written must be none of what is read, nor be written twice. NULL, or the file. */
static const char *clash(const TrainingOptions *o) {
    const char *const written[] = {o->out, o->csv, o->svg};
    for (size_t i = 0; i < 3; i++) {
        const char *w = written[i];
        const char *const read[] = {o->held, o->from, o->tokenizer};
        for (size_t k = 0; w && k < 3; k++)
            if (read[k] && file_same(w, read[k])) return w;
        for (int t = 0; w && t < o->n_texts; t++)
            if (file_same(w, o->texts[t])) return w;
        for (size_t k = 0; w && k < i; k++)
            if (written[k] && (strcmp(w, written[k]) == 0 || file_same(w, written[k]))) return w;
    }
    return NULL;
}

/* Before anything is learned. An exit code. */
static int check_written(const TrainingOptions *o) {
    char err[600];
    if (o->csv && strcmp(o->csv, "-") == 0) return usage("--csv -: a table goes into a file, not to stdout: name one");
    if (o->csv && curve_may_write_csv(o->csv, err, sizeof err)) return fail("--csv %s", err);
    return o->svg ? svg_may_write(o->svg) : 0;
}

/* With a setup, which it frees. */
static int train(Training *t, char *err, size_t errlen) {
    TrainingSetup *s = &t->setup;
    const TrainingOptions *o = s->options;
    int rc = 0;
    if (o->csv && s->from) rc = curve_read(&t->curve, o->csv, s->from, err, errlen);
    if (t->curve.n) t->seconds_before = t->curve.at[t->curve.n - 1].seconds;
    if (rc == 0) show_plan(t);
    if (rc == 0) rc = course_run(&s->trainee, &s->course, s->from, &(CourseHooks){t, on_point, on_save}, err, errlen);
    if (t->drawn > 0 && !quiet && isatty(2)) progress_wipe(); /* the line of progress has no end */
    if (t->failed) rc = base_error(err, errlen, t->failed, "out of memory for the losses");
    else if (rc == -EINTR)
        base_error(err, errlen, rc, "interrupted, and saved: the same command with --resume goes on");
    if (rc == 0) rc = setup_write(s, o->out, s->course.steps, 0, err, errlen);
    if (rc == 0) {
        unlink(s->checkpoint);
        show_end(t);
    }
    curve_free(&t->curve);
    setup_free(s);
    return rc;
}

int run_train(int argc, char **argv) {
    Training t = {0};
    TrainingOptions o = training_usual;
    char err[1000];
    tool_begin();
    if (training_parse(&o, argc, argv, err, sizeof err)) return usage("%s", err);
    if (o.help) return HELP_ASKED;
    quiet = o.quiet;
    if (!text_ends_with(o.out, ".gguf"))
        return usage("%s: the name of what is written must end in .gguf", o.out);
    const char *twice = clash(&o);
    if (twice) return usage("%s: is read or written already: write under another name", twice);
    if (!o.resume && !o.force && file_is_regular(o.out))
        return fail("%s: is there already, and stays as it is; --force writes over it", o.out);
    int code = confine_training(&o);
    if (code == 0) code = check_written(&o);
    if (code) return code;
    int rc = setup_init(&t.setup, &o, err, sizeof err);
    if (rc == -ENOTSUP) return usage("%s", err);
    if (rc == 0) rc = train(&t, err, sizeof err);
    return rc ? tool_fail(rc, err) : EXIT_DONE;
}
