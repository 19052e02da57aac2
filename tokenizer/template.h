/* tokenizer/template.h - what stands around one text or two: the tokens that ENCODE_ADDED adds. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include "internal.h"

enum { TEMPLATE_A = -1, TEMPLATE_B = -2 };

typedef struct {
    int id, type; /* id: a token's, or TEMPLATE_A, TEMPLATE_B where the texts go; type: that of its ids */
} TemplateItem;

typedef struct Template {
    TemplateItem *items; /* [n] */
    size_t n, cap;
} Template;

int template_add(Template *p, int id, int type); /* one item more: 0 or -ENOMEM */

/* Text a, and b where that is not NULL, with what the body's template_of has around them, else BOS a EOS b EOS, as far
 * as flags ask for it: tokens in front of the first text are ENCODE_BOS, the others ENCODE_EOS. Behind what is in out;
 * types of these ids into types, where that is not NULL. */
int template_encode(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags, Ids *out,
                    Ids *types, char *err, size_t errlen);

#endif
