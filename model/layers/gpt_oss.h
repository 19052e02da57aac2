/* model/layers/gpt_oss.h - the experts of gpt-oss as Hugging Face's files have them: gate and up row by row in turn, in
 * blocks of MXFP4 with their scales apart, or as floats with rows and columns exchanged. */
#ifndef GPT_OSS_H
#define GPT_OSS_H

#include "parts.h"

/* The matrices of part (FORM_GATES, FORM_UPS, FORM_DOWNS) of layer l into out [n_experts], [rows, cols] each, in the
 * model's own memory. Complaints go to ld. */
void gpt_oss_experts(Loader *ld, Matrix *out, const LayerPart *part, int l, size_t rows, size_t cols);
/* The same of their biases: [n_experts, rows], or NULL after a complaint. */
const float *gpt_oss_biases(Loader *ld, const LayerPart *part, int l, size_t rows);

#endif
