/* train/course.c - step after step. */
#include "course.h"

#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <math.h>

/* ---- what is measured ---- */

typedef struct { double loss, right, n; } Sum;

static void sum_in(Sum *s, const Trainee *t, const Batch *b, int mark) {
    for (size_t i = 0; i < b->shape.texts * b->shape.length; i++)
        if (b->targets[i] >= 0 && (mark < 0 || b->marks[i] == mark))
            s->loss += t->loss[i], s->right += t->right[i], s->n++;
}

static Measured mean_of(const Sum *s) {
    return s->n > 0 ? (Measured){s->loss / s->n, s->right / s->n} : (Measured){NAN, NAN};
}

/* An encoder's ids are masked by chance: the same chance each time. */
static int measure_held(Trainee *t, const Course *c, Batch *b, CoursePoint *out) {
    Sum sum = {0};
    BatchPlan plan = *c->plan;
    size_t n = c->plan->masks.mask ? COURSE_MASKED : corpus_windows(c->held, c->bos, b->shape.length);
    int rc = 0;
    plan.corpus = c->held;
    plan.seed = 0;
    for (size_t i = 0; i < n && rc == 0; i += b->shape.texts) {
        if (plan.masks.mask) rc = batch_fill(b, &plan, i);
        for (size_t k = 0; !plan.masks.mask && k < b->shape.texts; k++) batch_window(b, k, c->held, c->bos, i + k);
        trainee_loss(t, b->ids, b->targets, 0);
        sum_in(&sum, t, b, -1);
    }
    out->held = mean_of(&sum);
    return rc;
}

/* Made tasks of a seed that no step has, each kind by itself. */
static int measure_tasks(Trainee *t, const Course *c, Batch *b, CoursePoint *out) {
    enum { BATCHES = 4 };
    Sum first = {0}, again = {0}, answer = {0};
    BatchPlan plan = *c->plan;
    plan.seed = ~c->plan->seed;
    int rc = 0;
    for (int kind = PIECE_COPY; kind < PIECE_KINDS; kind++) {
        for (int k = 0; k < PIECE_KINDS; k++) plan.shares[k] = k == kind;
        for (uint64_t i = 0; c->plan->shares[kind] > 0 && i < BATCHES && rc == 0; i++) {
            rc = batch_fill(b, &plan, i);
            trainee_loss(t, b->ids, b->targets, 0);
            sum_in(&first, t, b, MARK_FIRST);
            sum_in(&again, t, b, MARK_AGAIN);
            sum_in(&answer, t, b, MARK_ANSWER);
        }
    }
    out->first = mean_of(&first), out->again = mean_of(&again), out->answer = mean_of(&answer);
    return rc;
}

int course_measure(Trainee *t, const Course *c, CoursePoint *out) {
    Batch b;
    int rc = batch_init(&b, &t->shape);
    out->held = out->first = out->again = out->answer = (Measured){NAN, NAN};
    out->has_held = rc == 0;
    if (rc == 0 && c->held) rc = measure_held(t, c, &b, out);
    if (rc == 0 && !c->plan->masks.mask) rc = measure_tasks(t, c, &b, out);
    batch_free(&b);
    return rc;
}

/* ---- the course ---- */

static int not_a_number(uint64_t step, double loss, char *err, size_t errlen) {
    return base_error(err, errlen, -EDOM, "step %llu: the %s no number: a smaller --rate, or a longer --warmup",
                      (unsigned long long)step, isfinite(loss) ? "gradient is" : "loss is");
}

static int no_room(int rc, char *err, size_t errlen) {
    return base_error(err, errlen, rc, "out of memory for a batch");
}

static int one_step(Trainee *t, const Course *c, Batch *b, CoursePoint *p, char *err, size_t errlen) {
    int rc = batch_fill(b, c->plan, p->step - 1);
    if (rc) return no_room(rc, err, errlen);
    p->loss = trainee_loss(t, b->ids, b->targets, 1);
    p->rate = rate_at(c->rate, c->least, c->warmup, p->step - 1, c->steps);
    if (!isfinite(p->loss)) return not_a_number(p->step, p->loss, err, errlen);
    p->norm = adamw_step(&t->work, &t->params, &c->adamw, p->rate, p->step);
    return isfinite(p->norm) ? 0 : not_a_number(p->step, p->loss, err, errlen);
}

int course_run(Trainee *t, const Course *c, uint64_t from, const CourseHooks *h, char *err, size_t errlen) {
    Batch b;
    CoursePoint p = {.step = from};
    double began = clock_seconds(), saved = began;
    int rc = batch_init(&b, &t->shape), stop = 0;
    if (rc) no_room(rc, err, errlen);
    while (rc == 0 && !stop && p.step < c->steps) {
        p.step++;
        rc = one_step(t, c, &b, &p, err, errlen);
        p.has_held = 0;
        int last = p.step == c->steps;
        if (rc == 0 && (last || (c->held_every && p.step % c->held_every == 0)) && (rc = course_measure(t, c, &p)))
            no_room(rc, err, errlen);
        p.tokens = (double)p.step * (double)(t->shape.texts * t->shape.length);
        p.seconds = clock_seconds() - began;
        if (rc == 0) stop = h->point(h->arg, &p);
        if (rc == 0 && (last || stop || clock_seconds() - saved >= c->save_seconds)) {
            rc = h->save(h->arg, p.step, err, errlen);
            saved = clock_seconds();
        }
    }
    batch_free(&b);
    return rc ? rc : stop ? -EINTR : 0;
}
