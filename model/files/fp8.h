/* model/files/fp8.h - Hugging Face's weights of 8 bits with scales (FP8): matrices of F8_E4M3, `name_scale_inv` or
 * `name_scale` beside each. */
#ifndef FP8_H
#define FP8_H

#include "weights.h"

/* The quantization_config of w's configuration, or NULL. */
const struct JsonValue *fp8_config(const Weights *w);
/* 1 where one says so: quant_method fp8, fbgemm_fp8, compressed-tensors (float-quantized or
 * naive-quantized, without transforms) or modelopt (quant_algo FP8). */
int fp8_is(const struct JsonValue *quantization);

/* Every matrix of F8_E4M3 becomes one of BF16 in memory that is w's: its values times their scales, rounded to the
 * nearest even. Scales are one for all, one a row, or one a block of rows and columns. They leave the list, as do those
 * of activations and caches, which the engine does not round: weights_index is next. Where w's configuration is none
 * of fp8_is nothing happens. 0, -EINVAL (no scales, or of a shape that does not fit), -ENOMEM and one line.
 * Source: transformers' integrations/finegrained_fp8.py (Fp8Dequantize); the compressed-tensors package. */
int fp8_expand(Weights *w, char *err, size_t errlen);

#endif
