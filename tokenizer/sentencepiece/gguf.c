/* tokenizer/sentencepiece/gguf.c - a GGUF file's "llama" and "t5", with all that such a vocabulary may say. */
#include "model.h"

#include <string.h>

int spm_model_vocabulary(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    int t5 = strcmp(v->model, "t5") == 0, rc = spm_model_begin(t, err, errlen);
    if (rc) return rc;
    SpmModel *m = t->own;
    Vocabulary more = *v;
    if (t5) { /* what the file does not say is as llama.cpp has it: neither BOS nor a space in front, but EOS */
        if (v->unk_id < 0 && v->n > 2 && v->pieces[2].type == PIECE_UNKNOWN) more.unk_id = 2;
        if (v->eos_id < 0 && v->n > 1) more.eos_id = 1;
        more.add_bos = v->add_bos == 1;
        more.add_eos = v->add_eos != 0;
        more.add_space_prefix = v->add_space_prefix == 1;
    }
    rc = spm_vocabulary(t, &more, err, errlen);
    if (t5 && v->bos_id < 0) t->bos = -1;
    if (t5 && more.unk_id < 0) t->unk = -1;
    if (t5) t->kind = "SentencePiece unigram (GGUF)";
    m->kind = t5 ? SPM_UNIGRAM : SPM_BPE;
    m->raw_bytes = !t5;
    m->remove_extra_whitespaces = v->remove_extra_whitespaces == 1;
    if (rc || !t5 || !v->charsmap_size) return rc;
    return charsmap_open(&m->map, v->charsmap, v->charsmap_size, t->name, "the normalizer", err, errlen);
}
