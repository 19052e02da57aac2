/* tokenizer/unicode/grapheme.h - where what a reader sees as one character ends: Unicode's extended grapheme clusters
 * (UAX 29). */
#ifndef GRAPHEME_H
#define GRAPHEME_H

#include <stddef.h>

/* The bytes of the cluster that s [n], n >= 1, begins with; a byte that is no UTF-8 is one by itself. The tables are
 * those of Unicode 17.0, as in the crate unicode-segmentation 1.13 that tokenizers 0.23.3 uses. */
size_t grapheme_next(const char *s, size_t n);

#endif
