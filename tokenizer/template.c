/* tokenizer/template.c - one text or two with what stands around them. */
#include "template.h"

#include "inspect.h"

#include <errno.h>
#include <stdlib.h>

int template_add(Template *p, int id, int type) {
    if (array_reserve(&p->items, &p->cap, p->n + 1, sizeof *p->items)) return -ENOMEM;
    p->items[p->n++] = (TemplateItem){id, type};
    return 0;
}

/* BOS a EOS b EOS into items; how many. */
static size_t usual(const Tokenizer *t, int pair, TemplateItem items[5]) {
    int eos = t->add_eos && t->eos >= 0;
    size_t n = 0;
    if (t->add_bos && t->bos >= 0) items[n++] = (TemplateItem){t->bos, 0};
    for (int i = 0; i < 1 + pair; i++) {
        items[n++] = (TemplateItem){i ? TEMPLATE_B : TEMPLATE_A, i};
        if (eos) items[n++] = (TemplateItem){t->eos, i};
    }
    return n;
}

int template_encode(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags, Ids *out,
                    Ids *types, char *err, size_t errlen) {
    TemplateItem items[5];
    const Template *own = t->body->template_of ? t->body->template_of(t, b != NULL) : NULL;
    const TemplateItem *p = own ? own->items : items;
    size_t n = own ? own->n : usual(t, b != NULL, items);
    int rc = 0, begun = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *text = p[i].id == TEMPLATE_B ? b : a;
        size_t len = p[i].id == TEMPLATE_B ? b_len : a_len;
        if (p[i].id < 0 && text) rc = t->body->encode_all(t, text, len, flags & ~ENCODE_ADDED, out, err, errlen);
        else if (p[i].id >= 0 && flags & (begun ? ENCODE_EOS : ENCODE_BOS)) rc = ids_push(out, p[i].id);
        begun |= p[i].id < 0;
        while (rc == 0 && types && types->n < out->n) rc = ids_push(types, p[i].type);
    }
    return rc;
}

int tokenizer_encode_pair(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags,
                          int **ids, int **types, size_t *n, char *err, size_t errlen) {
    enum { ROOM = 64 };
    Ids out = {.n = 0}, type = {.n = 0};
    int rc = array_reserve(&out.ids, &out.cap, ROOM, sizeof *out.ids);
    if (rc == 0 && types) rc = array_reserve(&type.ids, &type.cap, ROOM, sizeof *type.ids);
    if (rc == 0) rc = template_encode(t, a, a_len, b, b_len, flags, &out, types ? &type : NULL, err, errlen);
    if (rc == -ENOMEM) base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", a_len);
    if (rc) free(out.ids), free(type.ids);
    *ids = rc ? NULL : out.ids;
    *n = rc ? 0 : out.n;
    if (types) *types = rc ? NULL : type.ids;
    return rc;
}
