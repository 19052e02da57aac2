/* tokenizer/match.h - the longest of many texts that the input begins with. */
#ifndef MATCH_H
#define MATCH_H

#include <stddef.h>
#include <stdint.h>

enum { MATCH_MAX = 256 }; /* longest text that is matched whole: bounds the work a character on hostile files */

typedef struct {
    uint32_t start, len; /* of the bytes that all matches share */
    int id;
} Match;

typedef struct {
    Match *items; /* [n], sorted, no text twice */
    size_t n, cap;
    uint32_t first[257]; /* items whose text begins with byte b: first[b] .. first[b+1]-1 */
} Matcher;

int matcher_add(Matcher *m, uint32_t start, uint32_t len, int id); /* 0 or -ENOMEM */
void matcher_sort(Matcher *m, const char *bytes);                  /* behind the last one, before the first look-up */
void matcher_free(Matcher *m);                                     /* accepts a zeroed struct */
/* The id of the longest text that s [n >= 1] begins with, its length in *len; -1 where there is none. m has some. */
int matcher_longest(const Matcher *m, const char *bytes, const char *s, size_t n, size_t *len);

#endif
