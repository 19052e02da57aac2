/* train/course.h - a course of training: steps, what is measured on the way, and when the state is kept.
 *
 *     Course c = {.plan = &plan, .held = &held, .bos = 1, .steps = 2000, .warmup = 100, .rate = 2e-3, .least = 0.05,
 *                 .adamw = adamw_usual, .held_every = 200, .save_seconds = 60};
 *     rc = course_run(&trainee, &c, 0, &(CourseHooks){arg, point, save}, err, sizeof err); */
#ifndef COURSE_H
#define COURSE_H

#include "adamw.h"
#include "corpus.h"

enum { COURSE_MASKED = 64 }; /* windows of the held-out part that an encoder is measured on, about */

typedef struct {
    const BatchPlan *plan;
    const Corpus *held;     /* measured on, cut as `run perplexity` cuts it, of an encoder windows anywhere with masks
                             * that are the same each time; NULL: nothing is */
    int bos;                /* in front of its windows, or -1 */
    uint64_t steps, warmup;
    double rate, least;     /* rate_at */
    AdamW adamw;
    uint64_t held_every;    /* steps; the last step is always measured */
    double save_seconds;    /* from one save to the next, at most; the end is always saved */
} Course;

/* What was measured of one kind of target: mean loss, share of them that were the most probable id; NaN: none. */
typedef struct { double loss, right; } Measured;

typedef struct {
    uint64_t step;         /* done, from 1 */
    double loss;           /* the step's, before it */
    double rate, norm;     /* of the gradients, before they were cut */
    double tokens;         /* read, from the course's first step on */
    double seconds;        /* since the course began or went on */
    int has_held;
    Measured held;         /* the held-out part; of an encoder its masked ids */
    Measured first, again, answer; /* made tasks that no step has seen: corpus.h's marks */
} CoursePoint;

typedef struct {
    void *arg;
    int (*point)(void *arg, const CoursePoint *p); /* after each step; non-zero: stop (-EINTR), saved first */
    int (*save)(void *arg, uint64_t step, char *err, size_t errlen); /* the trainee after so many steps */
} CourseHooks;

/* Steps from + 1 .. steps. 0; -EINTR (point said so); -EDOM: the loss or a gradient is no number, and what was saved
 * last stays; -ENOMEM; what save returned. */
int course_run(Trainee *t, const Course *c, uint64_t from, const CourseHooks *h, char *err, size_t errlen);

/* The held-out part alone; tasks may be NULL. 0 or -ENOMEM. */
int course_measure(Trainee *t, const Course *c, CoursePoint *out);

#endif
