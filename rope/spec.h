/* rope/spec.h - how a model is stretched, as one line of text:  NAME[:key=value[:key=value..]][+NAME..]
 *
 *     rope_spec_apply(&config, "yarn:factor=4+rerope:window=128+log-n", err, errlen);
 *     rope_spec_print(&config, text, sizeof text);       every number, given or not; it parses to the same again
 *
 * Parts: at most one that changes frequencies (scaling.h), one that changes distances (relative.h); layers that do not
 * rotate (nope); scores (scores.h). "file" as a part: the frequencies stay as the file has them, as they do where no
 * part names any. Lists are written 0-3/7/11; values may be quoted. */
#ifndef SPEC_H
#define SPEC_H

#include "scaling.h"

enum { ROPE_SPEC_MOST = 30000 }; /* bytes of a printed spec, its 0 included: longrope has 1,024 numbers at most */

/* The method and numbers of c become what the spec says; numbers that it does not give become the file's, where the
 * method is the file's own, or else the usual ones. c->numbers must be there, with n_ctx_train, n_layers, n_pairs and
 * n_ctx set. A file of frequencies that the spec names is read. 0, or -EINVAL (or an errno of that file) and one line;
 * c is then not to be used. */
int rope_spec_apply(RopeConfig *c, const char *spec, char *err, size_t errlen);

/* The same for any model: names, keys and values that no model could take are refused. 0, or as above. */
int rope_spec_check(const char *spec, char *err, size_t errlen);

/* What c does, as a spec with all its numbers, into out [size]: 0, or -ENOSPC where that is too small; ROPE_SPEC_MOST
 * never is. */
int rope_spec_print(const RopeConfig *c, char *out, size_t size);

/* Of a list of specs with commas between: the next one from *list on, copied into out [size]; *list moves behind it.
 * 1, or 0 at the end, or -EINVAL where it does not fit. */
int rope_spec_next(const char **list, char *out, size_t size);

extern const char *const rope_pairing_names[]; /* "interleaved", "half", NULL: by RopePairing */
/* For a help text: the i-th of all parts' names, frequencies first; NULL behind the last. */
const char *rope_spec_name(int i);
/* The keys of the part of that name, and where it comes from. */
const RopeKey *rope_spec_keys(const char *name, const char **source);

#endif
