/* weights-tools/training/curve.h - the losses of a course, as a CSV file that a run which goes on continues, and as a
 * picture.
 *
 *     Curve c = {0};
 *     curve_read(&c, "loss.csv", step, err, errlen);      what stands there, up to the step gone on from
 *     curve_add(&c, &point);
 *     curve_write_csv(&c, "loss.csv", err, errlen);  curve_write_svg(..);
 *     curve_free(&c); */
#ifndef CURVE_H
#define CURVE_H

#include "train/course.h"

typedef struct {
    CoursePoint *at; /* [n]; owned */
    size_t n, cap;
} Curve;

int curve_add(Curve *c, const CoursePoint *p); /* 0 or -ENOMEM */
/* Points 1 .. step of a file that curve_write_csv made; a file that is not there, or is empty, has none. 0, or a
 * negative errno and a line. */
int curve_read(Curve *c, const char *path, uint64_t step, char *err, size_t errlen);
/* step,loss,rate,norm,tokens,seconds,held,first,again,answer; what was not measured is empty. */
int curve_write_csv(const Curve *c, const char *path, char *err, size_t errlen);
/* 0, or a negative errno and a line: a file that is there, is not empty and is no such table stays as it is. */
int curve_may_write_csv(const char *path, char *err, size_t errlen);
int curve_write_svg(const Curve *c, const char *path, char *err, size_t errlen);
void curve_free(Curve *c); /* accepts a zeroed struct */

#endif
