/* weights-tools/vocab.h - vocab.txt into a GGUF file's metadata. */
#ifndef VOCAB_H
#define VOCAB_H

#include "gguf_write.h"

/* Append tokenizer.ggml.model = "wordpiece", .tokens, .token_type and the ids of [CLS] [SEP] [PAD] [MASK] [UNK] (as BOS
 * and EOS too: [CLS] and [SEP]). A line is a token, its number the id, its end \n, \r or \r\n. Fewer lines than
 * vocab_size are filled up with unused tokens. lower_case: 0, 1, or -1: unknown. Errors: -EINVAL and one line (more
 * lines than vocab_size, no UTF-8, no [UNK]), -ENOMEM. */
int vocab_meta(GgufMeta *m, const char *text, size_t size, size_t vocab_size, int lower_case, const char *name,
               char *err, size_t errlen);

#endif
