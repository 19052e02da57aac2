/* rope/angles.c - see angles.h. */
#include "angles.h"

#include <math.h>
#include <string.h>

/* Position and frequency as floats, and their product. llama2.c's run.c; transformers' tables. */
static double angle_f32(const Rope *r, int64_t pos, int i) { return (double)((float)pos * (float)r->inv_freq[i]); }

/* The frequency in eight significant bits: what is left of a buffer of frequencies when a whole model is cast to bf16.
 */
static double angle_bf16(const Rope *r, int64_t pos, int i) {
    float f = (float)r->inv_freq[i];
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u; /* to nearest, ties to even */
    memcpy(&f, &bits, sizeof f);
    return (double)((float)pos * f);
}

/* The first pair's angle, times the same float from pair to pair. ggml-org/llama.cpp, ggml-cpu/ops.cpp. */
static double angle_ggml(const Rope *r, int64_t pos, int i) {
    volatile float theta = (float)pos * (float)r->inv_freq[0],
                   scale = 1; /* each product rounded, in any optimisation */
    if (r->rotary_dim > 2) scale = (float)(r->inv_freq[1] / r->inv_freq[0]);
    for (int k = 0; k < i; k++) theta = theta * scale;
    return (double)theta;
}

const RopeAngles rope_angles[] = {{"double", NULL, 0, "here"},
                                  {"f32", angle_f32, 0, "karpathy/llama2.c, run.c, but for its powf's last bit"},
                                  {"bf16", angle_bf16, 0, "transformers, a model cast with its buffers"},
                                  {"ggml", angle_ggml, 1, "ggml-org/llama.cpp, ggml-cpu/ops.cpp"},
                                  {0}};

const RopeAngles *rope_angles_row(const char *name) {
    for (const RopeAngles *r = rope_angles; r->name; r++)
        if (strcmp(name, r->name) == 0) return r;
    return NULL;
}

int rope_geometric(const Rope *r) {
    double ratio = r->rotary_dim > 2 ? r->inv_freq[1] / r->inv_freq[0] : 1;
    for (int i = 1; i < r->rotary_dim / 2; i++)
        if (!(fabs(r->inv_freq[i] / r->inv_freq[i - 1] / ratio - 1) < 1e-9)) return 0;
    return 1;
}
