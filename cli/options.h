/* cli/options.h - what a row of the table of options says (option_rows.c); options.c reads the command line by it. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli.h"

/* NEW_FILE: a string that is not empty. OPEN_FLAG, OPEN_STRING: a flag that may have a whole number, a string behind
 * an = */
typedef enum { FLAG, OPEN_FLAG, OPEN_STRING, INTEGER, NUMBER, STRING, NEW_FILE, STRINGS } Kind;

typedef enum { TEXT_IN, OUTPUT, SAMPLING, MEASURING, CONTEXT, ROPE, ATTENTION, ROFORMER, MACHINE } Group;
extern const char *const option_groups[]; /* their titles */

typedef struct {
    Group group;
    char letter;
    const char *name, *arg; /* arg: what its value is called; NULL for a flag */
    Kind kind;
    const char *commands; /* names of those that take it */
    size_t at;            /* where its value goes, in Args */
    const char *help;
    double min, max;    /* INTEGER, NUMBER */
    const char *alias;  /* another name of it */
    size_t given;       /* an int in Args that says it was given; 0: none */
    const char *hint;   /* behind what is said of a wrong value */
    const char *silent; /* names of commands that take it, too, and do not say so in their help */
    const char *(*choice)(int i); /* the i-th of its values, NULL behind the last; help lists them behind a colon */
    const char *const *words;     /* .. or all of them, NULL behind the last: any other is refused */
    int command_checks;           /* 1: the command refuses any other, for it has more to say */
} Option;
extern const Option options[]; /* a row without a name ends it */
/* An option as help, pages of man and completions show it, those of train too. */
typedef struct {
    const char *title, *name, *arg, *help; /* title: its group's */
    char letter;
    int open; /* its value stands behind an =, or is left out */
    const char *(*choice)(int i);
    const char *const *words;
} OptionRow;
const char *option_value(const OptionRow *r, int i); /* the i-th of those that it may have; NULL: no more are known */
const char *option_listed(const OptionRow *r, int i); /* .. where its help, which ends in a colon, is to list them */
const char *command_word(const Command *cmd, int i); /* .. of the words that cmd knows: WHAT, TYPE */
/* The *at-th row of cmd's table, from there on; 0 behind the last. *r: the one before, from the second call on. */
int option_row(const Command *cmd, int *at, OptionRow *r);
const char *about_model(const Command *cmd); /* what MODEL is, where cmd takes one, else NULL; until the next call */
int option_is_of(const Option *o, const Command *cmd); /* 1: its help shows it */

#endif
