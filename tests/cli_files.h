/* tests/cli_files.h - what the tests of the program share: small models, and numbers out of JSON. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "build.h"

/* One model of 300 words in three formats, built in the tests' temporary folder. */
typedef struct {
    char gguf[512], bin[512], folder[512];
    char tokenizer[512]; /* tokenizer.bin beside bin */
} CliModel;

CliModel cli_model(void);

int text_is_of(const char *text, const char *path); /* 1: the file holds that text */
double json_number(const char *key); /* the number after "key": in the last run's JSON of one line */
/* Numbers of a JSON list after key, whitespace or not, into x [max]; the count. */
int golden_list(const char *json, const char *key, double *x, int max);

#endif
