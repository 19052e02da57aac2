/* cli/generation.h - what generate and chat share: an engine, a sampler, and a writer whose text goes to stdout. */
#ifndef GENERATION_H
#define GENERATION_H

#include "cli.h"
#include "model/sampler_more.h"
#include "text/ahead.h"
#include "text/channels.h"
#include "text/stops.h"
#include "logprobs.h"
#include "wrap.h"

enum { GENERATION_ENDS = 8, GENERATION_SHOWN = 4 };

typedef struct {
    Engine e;
    Sampler sampler;
    SamplerMore more; /* the sampler's, where biases, DRY or XTC were asked for; what it points at is owned: */
    SamplerBias *biases;
    SamplerBreaker *breakers;
    TextWriter w;
    struct Drafting *drafting; /* draft.c: --draft; else NULL */
    TextStops stops;
    int ends[GENERATION_ENDS];   /* [w.n_ends] */
    int shown[GENERATION_SHOWN]; /* [w.n_shown] */
    TextChannels channels;       /* where in_channels: on the way to stdout */
    int in_channels;
    char where[300];           /* in front of errors about the prompt: "FILE:LINE: ", or "" */
    size_t n_prompt;           /* how many of w.ids are the prompt's */
    Logprobs logprobs; /* --logprobs: of the ids written */
    char *text; /* [n_text] where keep_text: what was written; a prompt's text may stand in front */
    size_t n_text, cap_text;
    int keep_text, silent; /* silent: nothing goes to stdout */
    int wraps;             /* stdout is a terminal, and words are not cut at its edge */
    Wrap wrap;
    int tidy;              /* white space in front of the text is not written */
    int answered;          /* something was written: w.end says how it ended */
    int own_seed;          /* llama2.c has no such command: seeds need not give its text */
    int saved;             /* the prompt was read to its end, and --save-state has its state */
    double prompt_s;
    size_t n_seen;             /* ids whose text has come */
    double first_s, last_s;    /* when that of the first and of the last came, by clock_seconds() */
} Generation;

/* What no option says of sampling, as the model does, and a note of it (suggested.c). */
void suggested_take(Args *a, const Weights *w);

/* Sampler and stop strings as the options say. 0, or an exit code after saying why. */
int generation_init(Generation *g, const Args *a);
void generation_close(Generation *g); /* the engine, too; accepts a zeroed struct */
void generation_free(Generation *g);  /* all but the engine */

/* --draft, once there is a session: draft_logits of them a batch. An exit code. */
int drafting_init(Generation *g, const Args *a);
size_t draft_logits(const Args *a);
void drafting_free(struct Drafting *d);          /* accepts NULL */
const Ahead *drafting_ahead(const Generation *g); /* NULL: none */

/* s [n] behind the text. -1 where memory is out. */
int generation_add_text(Generation *g, const char *s, size_t n);
/* Draw from the logits, at most limit ids. 0, or an exit code after saying why. */
int generation_run(Generation *g, const float *logits, size_t limit);

/* Its parts, for text_step. */
int generation_begin(Generation *g, size_t limit);
int generation_end(Generation *g);

/* Seconds from the program's begin to the first id, and from that to the last; new ids a second (the first came with
 * the prompt). */
double generation_first_token_s(const Generation *g);
double generation_s(const Generation *g);
double generation_rate(const Generation *g);

#endif
