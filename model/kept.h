/* model/kept.h - repacked matrices in a file of their own, from which the next start maps them: nothing is repacked
 * then, and processes share the memory. Only where somebody asks (ModelOptions.panels). */
#ifndef KEPT_H
#define KEPT_H

#include "base/threads.h"
#include "model.h"

/* Where m's repacked matrices [m->panels_size] are, as o->panels says: a file's name, or "auto" for one beside the
 * model. *data: mapped from it, as long as m->weights; NULL: it is not there, or of another model, of another row of
 * kernels, older than the model, or damaged, of which m gets a note; then kept_write makes it. 0; 1: it is there
 * and cannot be read, of which m gets a note: nobody knows what it is, so it is not to be written over; or a negative
 * errno and a line: -EINVAL: something else is there, nor is that. */
int kept_open(const uint8_t **data, Model *m, const ModelOptions *o, Team *team, char *err, size_t errlen);

/* m->panels to that file, whole or not at all; a failure is a note, for m can be used without. */
void kept_write(Model *m, const ModelOptions *o, Team *team);

#endif
