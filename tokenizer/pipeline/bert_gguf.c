/* tokenizer/pipeline/bert_gguf.c - GGUF's "bert": BERT's WordPiece, spelled the other way round. A piece that begins a
 * word has U+2581 in front there, and one that goes on has nothing; vocab.txt writes "##" in front of those. The parts
 * are those of BERT's tokenizer.json. */
#include "pipeline.h"

#include <errno.h>
#include <string.h>

static int has_capitals(const Vocabulary *v) {
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; v->pieces[i].type == PIECE_NORMAL && k < v->pieces[i].len; k++)
            if (v->pieces[i].text[k] >= 'A' && v->pieces[i].text[k] <= 'Z') return 1;
    return 0;
}

/* The piece as vocab.txt spells it. */
static int add_piece(Tokenizer *t, const Piece *p, char *err, size_t errlen) {
    Text text = {.n = 0};
    int whole = p->type != PIECE_NORMAL || (p->len && p->text[0] == '[' && p->text[p->len - 1] == ']');
    int begins = !whole && p->len >= 3 && memcmp(p->text, "\xe2\x96\x81", 3) == 0;
    int rc = !begins && !whole && p->len ? text_put(&text, "##", 2) : 0;
    if (rc == 0) rc = begins ? text_put(&text, p->text + 3, p->len - 3) : text_put(&text, p->text, p->len);
    if (rc) rc = base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    else rc = pieces_add(t, text.n ? text.p : "", text.n, 0, PIECE_NORMAL, err, errlen);
    text_release(&text);
    return rc;
}

static int add_parts(Tokenizer *t, int lower, int strip_accents) {
    struct Pipeline *p = t->own;
    Normalizer *z;
    Decoder *d;
    Cut *c;
    int rc = pipeline_add_normalizer(p, NORMALIZE_BERT, &z);
    if (rc == 0) z->bert = (BertNormalizer){1, 1, strip_accents, lower};
    if (rc == 0 && (rc = pipeline_add_cut(p, CUT_SPLIT, &c)) == 0)
        c->split.behavior = SPLIT_REMOVED, split_named(&c->split.pattern, "WhitespaceSplit");
    if (rc == 0 && (rc = pipeline_add_cut(p, CUT_SPLIT, &c)) == 0)
        c->split.behavior = SPLIT_ISOLATED, split_named(&c->split.pattern, "Punctuation");
    if (rc == 0 && (rc = pipeline_add_decoder(p, DECODE_WORDPIECE, &d)) == 0) rc = text_put(&d->from, "##", 2);
    if (rc == 0) d->cleanup = 1;
    p->model = MODEL_WORDPIECE;
    p->max_chars = 100;
    return rc ? rc : text_put(&p->prefix, "##", 2);
}

int bert_vocabulary(Tokenizer *t, const Vocabulary *v, int lower_case, char *err, size_t errlen) {
    int rc = pipeline_begin(t, err, errlen), lower = lower_case < 0 ? v->lower_case : lower_case;
    if (lower < 0) lower = !has_capitals(v);
    for (size_t i = 0; i < v->n && rc == 0; i++) rc = add_piece(t, &v->pieces[i], err, errlen);
    if (rc == 0) rc = special_finish(t, err, errlen);
    if (rc == 0 && add_parts(t, lower, v->strip_accents < 0 ? lower : v->strip_accents))
        rc = base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    if (rc == 0) rc = pipeline_build_words(t, t->n, err, errlen);
    for (size_t i = 0; i < v->n && rc == 0; i++) {
        int type = v->pieces[i].type;
        if ((type == PIECE_CONTROL || type == PIECE_USER_DEFINED || type == PIECE_UNKNOWN) && v->pieces[i].len)
            rc = pipeline_add_token(t, (AddedToken){.id = (int)i, .special = type != PIECE_USER_DEFINED}, err, errlen);
    }
    t->kind = "WordPiece (GGUF)";
    return rc;
}
