/* cli/generation.h - ids drawn one after another and their text written as it comes: what generate and chat share. */
#ifndef GENERATION_H
#define GENERATION_H

#include "cli.h"

enum { GENERATION_STOPS = 24, GENERATION_ENDS = 8 };

typedef struct Generation Generation;
struct Generation {
    Engine e;
    Sampler sampler;
    TokenStream stream;
    char *piece;            /* room for what one id decodes to */
    char *text;             /* the output so far: what stdout gets */
    size_t n_text, cap_text;
    size_t n_out;           /* bytes of it already written; the rest may be the start of a stop string */
    size_t n_prompt_text;   /* bytes of it that are the prompt's */
    int *ids;               /* [n_ids]: prompt, then new ids; where keep_ids is 0, old ones may be dropped */
    size_t n_ids, n_prompt, n_new, room;
    const char *stops[GENERATION_STOPS]; /* texts that end the text, and are no part of it */
    int n_stops;
    int ends[GENERATION_ENDS], n_ends;   /* ids that end it beside the model's own */
    int keep_text, keep_ids;             /* what was written, and old ids, are still needed */
    int silent;                          /* nothing is written */
    int tidy;                            /* white space in front of the text is not written */
    const char *stop;       /* why the text ended */
    int saved;              /* the prompt was read to its end, and --save-state has its state */
    double prompt_s, first_token_s, generation_s;
    /* The context is full, and the last of ids is not read yet: 1 where room was made (all other ids are read again, what is left
     * of them); NULL: there is none to make. */
    int (*make_room)(Generation *g);
};

/* Sampler and stop strings as the options say, and room for pieces. 0, or an exit code after saying why. */
int generation_init(Generation *g, const Args *a);
void generation_close(Generation *g); /* the engine, too; accepts a zeroed struct */

/* s [n] behind the text. -1 where memory is out. */
int generation_add_text(Generation *g, const char *s, size_t n);
/* Draw from the logits, at most limit ids, and go on until something ends the text: g->stop says what. 0, or an exit code after
 * saying why. */
int generation_run(Generation *g, const Args *a, const float *logits, size_t limit);
/* New tokens a second; the first came with the prompt. */
double generation_rate(const Generation *g);

#endif
