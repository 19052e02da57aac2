/* tokenizer/sentencepiece/unused.h - BPE with pieces that help to merge but are not written. */
#ifndef SPM_UNUSED_H
#define SPM_UNUSED_H

#include "spm.h"
#include "tokenizer/match.h"

/* w->text [n] to ids: 0, or what spm_merge says. user: pieces that stay whole. */
int unused_merge(SpmWork *w, const Matcher *user, size_t n);

#endif
