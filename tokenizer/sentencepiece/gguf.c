/* tokenizer/sentencepiece/gguf.c - a GGUF file's "llama" and "t5", with all that such a vocabulary may say. */
#include "model.h"

#include <string.h>

/* What a "t5" does not say is as llama.cpp has it: neither BOS nor a space in front, but EOS. */
static void usual_t5(Tokenizer *t) {
    t->unk = t->n > 2 && t->pieces[2].kind == PIECE_UNKNOWN ? 2 : -1;
    t->bos = -1;
    t->eos = t->n > 1 ? 1 : -1;
    t->add_bos = t->dummy_prefix = 0;
    t->add_eos = 1;
}

int spm_model_vocabulary(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    const struct { int said, *to; } numbers[] = {
        {v->bos_id, &t->bos}, {v->eos_id, &t->eos}, {v->unk_id, &t->unk}, {v->add_bos, &t->add_bos},
        {v->add_eos, &t->add_eos}, {v->add_space_prefix, &t->dummy_prefix}};
    int t5 = strcmp(v->model, "t5") == 0, rc = spm_model_begin(t, err, errlen);
    if (rc) return rc;
    SpmModel *m = t->own;
    for (size_t i = 0; i < v->n && rc == 0; i++)
        rc = spm_add(t, v->pieces[i].text, v->pieces[i].len, v->pieces[i].score, v->pieces[i].type, err, errlen);
    spm_usual(t);
    if (t5) usual_t5(t);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].said >= 0) *numbers[i].to = numbers[i].said;
    t->strips_behind = v->strips_behind;
    if (rc == 0) rc = pieces_check_ids(t, err, errlen);
    t->kind = t5 ? "SentencePiece unigram (GGUF)" : "SentencePiece BPE (GGUF)";
    m->kind = t5 ? SPM_UNIGRAM : SPM_BPE;
    m->raw_bytes = !t5;
    m->remove_extra_whitespaces = v->remove_extra_whitespaces == 1;
    if (rc || !t5 || !v->charsmap_size) return rc;
    return charsmap_open(&m->map, v->charsmap, v->charsmap_size, t->name, "the normalizer", err, errlen);
}
