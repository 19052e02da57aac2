/* cli/generate.h - the command generate: what one text and --lines share (generate.c, generate_lines.c). */
#ifndef GENERATE_H
#define GENERATE_H

#include "generation.h"

/* The prompt's ids, BOS in front, to g->w; its text to g->text unless --no-echo. An exit code. */
int generate_read_prompt(Generation *g, const Args *a);
/* How many new tokens -n and --max-tokens allow behind g->n_prompt. */
size_t generate_new_tokens(const Generation *g, const Args *a);
/* A session with room for g->n_prompt ids and what may come behind them. An exit code. */
int generate_make_room(Generation *g, const Args *a);
/* Read the prompt, and draw until something ends the text. An exit code. */
int generate_text(Generation *g, const Args *a);
void generate_report_json(const Generation *g, size_t line); /* line 0: with timings */

int generate_lines(Generation *g, Args *a); /* --lines; g's engine has no session yet. An exit code */

#endif
