/* model/files/quantized.h - Hugging Face's folders of quantized weights: matrices of small codes with their scales,
 * as several programs publish them. What is read, and by which words of quantization_config, is the table in
 * quantized.c. */
#ifndef QUANTIZED_H
#define QUANTIZED_H

#include "weights.h"

/* The quantization_config of w's configuration, or NULL. */
const struct JsonValue *quantized_config(const Weights *w);
int quantized_is(const struct JsonValue *quantization); /* 1 where one says that it is of the table */

/* Every such matrix becomes one of F16, where its scales are F16, or of BF16, in memory that is w's: codes less their
 * zero, times their scales, rounded to the nearest even, under the name of a plain weight. Scales and what else stands
 * beside a matrix leave the list, as do those of activations and caches, which the engine does not round:
 * weights_index is next. Where w's configuration is none of quantized_is nothing happens. 0, -EINVAL (a part is
 * missing, or of a shape that does not fit), -ENOMEM and one line. */
int quantized_expand(Weights *w, char *err, size_t errlen);

#endif
