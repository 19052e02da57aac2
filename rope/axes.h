/* rope/axes.h - positions of several axes: where tokens of text, image and video stand, and which pairs turn by which
 * coordinate.
 *
 *     AxesLayout layout;
 *     rc = axes_parse(&layout, "text:3 image:2x3 text:2", err, errlen);
 *     const AxesKind *kind = axes_kind("mrope");
 *     rc = axes_place(positions, &next, kind, &layout, err, errlen);       [n_tokens, n_axes]
 *     axes_row(&rope, kind, n_axes, positions + t * n_axes, cos, sin);     a token's angles
 *
 * Sources: Su, kexue.fm 10040 (RoPE-Tie), 10352 (Tie-v2); Qwen2-VL and Qwen3-VL, transformers' get_rope_index and
 * apply_interleaved_mrope. With all coordinates of a token equal, every kind but 2d is RoPE as it is, bit for bit. */
#ifndef AXES_H
#define AXES_H

#include "rope.h"

enum { AXES_MOST = 3, AXES_SEGMENTS = 64, AXES_TOKENS = 1000000 };

/* text: w tokens. image: h rows of w patches. video: t frames of these. */
typedef enum { AXES_TEXT, AXES_IMAGE, AXES_VIDEO } AxesMedium;
typedef struct { AxesMedium medium; int64_t t, h, w; } AxesSegment;
typedef struct {
    AxesSegment at[AXES_SEGMENTS];
    size_t n, n_tokens;
    int has_text, has_video;
} AxesLayout;

typedef struct AxesKind {
    const char *name, *axes[AXES_MOST]; /* the coordinates' names */
    const char *about, *source;
    int n_axes;                         /* 0: two, or three where there is video */
    int takes_text, takes_video;
    int first;                          /* the first token's coordinates: 0 or 1 */
    /* The place of patch (f, a, b), counted from 1, of a segment behind the coordinate `last`. */
    void (*patch)(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b, int n_axes);
    double (*end)(const AxesSegment *s,
                  double last); /* the coordinate that the segment ends at: text goes on behind it */
    int (*axis)(int pair, int n_pairs, int n_axes);   /* by which coordinate a pair turns */
} AxesKind;

/* "text:3 image:2x3 video:4x2x2 text:2". 0, or -EINVAL and a line: at most AXES_SEGMENTS parts, AXES_TOKENS tokens. */
int axes_parse(AxesLayout *out, const char *layout, char *err, size_t errlen);
const AxesKind *axes_kind(const char *name); /* NULL: there is none */
const AxesKind *axes_row_of(int i);          /* the i-th, NULL behind the last */
int axes_count(const AxesKind *k, const AxesLayout *layout); /* how many coordinates */
/* out [n_tokens, axes_count]; *next: the coordinate that a token behind the layout would have. 0, or -EINVAL and a
 * line: a medium that the kind does not place. */
int axes_place(double *out, double *next, const AxesKind *k, const AxesLayout *layout, char *err, size_t errlen);
/* cos, sin [rotary_dim/2], as rope_row64, of a token at pos [n_axes]. 2d: each half of the pairs has frequencies of its
 * own, theta^(-2i/(d/2)), of c. */
void axes_row(const Rope *r, const RopeConfig *c, const AxesKind *k, int n_axes, const double *pos, double *cos,
              double *sin);

#endif
