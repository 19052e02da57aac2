/* tokenizer/pipeline/tokenizer_json.h - what the readers of tokenizer.json and of the files beside it share. */
#ifndef TOKENIZER_JSON_H
#define TOKENIZER_JSON_H

#include "pipeline.h"
#include "tokenizer/names.h"

/* -EINVAL and a line: the component v of that kind is not known, or `what` is missing. */
int json_refuse(const Tokenizer *t, const char *what, const JsonValue *v, char *err, size_t errlen);

/* Components (JSON null: none) behind those that t's pipeline has: 0, -EINVAL (one that is not known, named),
 * -ENOMEM. */
int json_normalizer(Tokenizer *t, const JsonValue *v, char *err, size_t errlen);
int json_pre_tokenizer(Tokenizer *t, const JsonValue *v, char *err, size_t errlen);
/* *bytes: one is ByteFallback */
int json_decoder(Tokenizer *t, const JsonValue *v, int *bytes, char *err, size_t errlen);
/* once the pieces are finished */
int json_template(Tokenizer *t, const JsonValue *v, char *err, size_t errlen);

/* {"text": id, ..} as pieces. */
int json_vocabulary(Tokenizer *t, const JsonValue *vocab, char *err, size_t errlen);

/* The token's text as piece id, which may lie beyond the model's. */
int json_add_token(Tokenizer *t, int id, const char *text, size_t len, AddedToken token, char *err, size_t errlen);

/* tekken.c: what has a "config" and a "vocab" and is no tokenizer.json. */
int tekken_read(Tokenizer *t, const JsonValue *root, char *err, size_t errlen);

#endif
