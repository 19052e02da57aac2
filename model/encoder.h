/* model/encoder.h - texts read whole, several at once, and asked through a model's heads: an encoder's, or, for their
 * hidden states, a decoder's.
 *
 *     session_init(&s, &model, &(SessionOptions){.n_ctx = 512}, ..);         room for 512 tokens at a time
 *     EncoderText text = {.ids = ids, .n = n};
 *     if (encoder_read(&s, &text, 1, err, sizeof err)) ...
 *     const float *logits = encoder_logits(&s, 4);                           what stands at the [MASK] in token 4?
 *     encoder_pool(&s, 0, vector);                                           the text as a vector
 *
 * A token's results have the same bits whatever texts are read beside its own and with any number of threads. Tokens
 * are counted through all texts of a call: the second text's first token is number n of the first. */
#ifndef ENCODER_H
#define ENCODER_H

#include "timeline.h"

typedef struct {
    const int *ids;      /* [n] */
    const int *types;    /* [n]: the segment each belongs to, or NULL: all 0 */
    const uint8_t *keep; /* [n]: 0 where a token is padding, which no other sees; or NULL: none is */
    size_t n;            /* at least 1 */
} EncoderText;

/* options.progress is asked between layers. Read texts [n_texts], each from position 0, under the model's mask; what s
 * has read before is forgotten. Errors, with nothing read: -EINTR (progress said stop), -EINVAL (not a RoFormer, an id
 * or type out of range, a text without a token that is not padding), -ENOSPC (more tokens together than n_ctx; under a
 * causal mask, than n_batch). After one text without padding under a causal or UniLM mask, session_eval goes on. */
int encoder_read(Session *s, const EncoderText *texts, size_t n_texts, char *err, size_t errlen);

/* The last layer's output for token t: [d_model], owned by s, valid until s is used again (as all below). */
const float *encoder_hidden(const Session *s, size_t t);
/* The language model's logits for token t: [vocab_size]. The model must have that head (Model.has_logits). */
const float *encoder_logits(Session *s, size_t t);
/* The same for tokens t .. t+n-1, some at a time (options.n_logits): each(arg, i, logits) for i = 0 .. n-1, in order.
 */
void encoder_logits_each(Session *s, size_t t, size_t n, SessionEach *each, void *arg);
/* The pooler's output for the text that begins with token t, into out [d_model]. Config.roformer.pooler must not be
 * NONE. */
void encoder_pool(Session *s, size_t t, float *out);
/* The mean of the hidden states of tokens t .. t+n-1, into out [d_model]; summed in double. */
void encoder_mean(const Session *s, size_t t, size_t n, float *out);
/* The classifier's logits for token t (CLASSIFIER_SEQUENCE: of the text of n tokens that begins with it), into out
 * [n_labels]. */
void encoder_classify(Session *s, size_t t, size_t n, float *out);

#endif
