/* tokenizer/names.h - pieces by what they are called, while a tokenizer is opened: these walk all of them. */
#ifndef NAMES_H
#define NAMES_H

#include "internal.h"

int pieces_named(const Tokenizer *t, const char *text, size_t len); /* the first id spelled so, of any kind, or -1 */
/* Give id (< t->n) another text and kind: 0, or what pieces_add says. */
int pieces_rename(Tokenizer *t, int id, const char *text, size_t len, int kind, char *err, size_t errlen);
/* pieces_finish, and -EINVAL with a line where two pieces that are looked up together have the same text. */
int pieces_finish_unique(Tokenizer *t, char *err, size_t errlen);

#endif
