/* text/channels.h - answers in channels, as gpt-oss writes them (OpenAI's harmony), in the form that others have:
 *
 *     <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi!
 *     <think>\nHm.\n</think>\n\nHi!
 *
 * Between a text's pieces and who shows them; what is kept of the text is what the model wrote. */
#ifndef TEXT_CHANNELS_H
#define TEXT_CHANNELS_H

#include <stddef.h>

enum { CHANNEL_HEADER = 256 }; /* bytes of what stands before <|message|>; a longer one is shown as it is */

typedef struct {
    void (*show)(void *arg, const char *text, size_t n);
    void *arg;
    char held[CHANNEL_HEADER]; /* [n_held] a header, or what may become a token */
    size_t n_held;
    int body, thinking; /* behind a <|message|>; .. of a channel that is not final */
} TextChannels;

void text_channels_begin(TextChannels *c); /* before an answer */
void text_channels_piece(TextChannels *c, const char *text, size_t n);
void text_channels_end(TextChannels *c); /* behind it: what was held; thoughts that were not ended are ended */

#endif
