/* weights-tools/plan.h - what will be written: names, windows, types; and how a window gets into a file.
 *
 *     Plan p = {0};
 *     plan_add(&p, "token_embd.weight", &view) ..
 *     plan_set_types(&p, TYPE_F16);
 *     safetensors_write(&f, &p, ...)                                f: a NewFile; model_write.h writes GGUF
 *     plan_free(&p); */
#ifndef PLAN_H
#define PLAN_H

#include "buffer.h"
#include "weights-tools/checkpoint/view.h"
#include "base/newfile.h"

/* How these files speak to whoever runs them: they never print. */
typedef struct {
    void *arg;
    void (*note)(void *arg, const char *line);                 /* something was left out or assumed: one line */
    int (*progress)(void *arg, uint64_t done, uint64_t total); /* bytes; non-zero: stop (-EINTR) */
} Report;

void report_note(const Report *r, const char *fmt, ...) BASE_PRINTF(2, 3);

typedef struct {
    const char *name; /* owned by the Plan */
    View view;
    ElemType type;    /* in the new file */
} Output;

typedef struct {
    Output *items; /* [n] */
    size_t n, cap;
    Weights names; /* nothing but the owner of the names */
} Plan;

typedef enum { TYPE_KEEP, TYPE_F32, TYPE_F16 } TypeChoice; /* F16: matrices; vectors become F32 */
extern const char *const type_choice_names[]; /* "keep", "f32", "f16", NULL */

int plan_add(Plan *p, const char *name, const View *v); /* keeps the type; 0 or -ENOMEM */
void plan_set_types(Plan *p, TypeChoice choice);
void plan_free(Plan *p); /* accepts a zeroed struct */

size_t output_bytes(const Output *o); /* in the new file */
uint64_t plan_bytes(const Plan *p);   /* of all of them */

/* Write one tensor's bytes, some 256 kB at a time. done and total are for r->progress; *done moves on. Errors: -EINVAL
 * (a number too large for F16), -EINTR, -ENOMEM, each with its line; f->rc, whose line newfile_close writes. */
int output_write(NewFile *f, const Output *o, const Report *r, uint64_t *done, uint64_t total, char *err,
                 size_t errlen);

/* A safetensors file: header, then the tensors, those of wider types first, in the order of names, as the safetensors
 * library orders them. p is sorted. Source: huggingface/safetensors README, "Format". */
int safetensors_write(NewFile *f, Plan *p, const Report *r, char *err, size_t errlen);

#endif
