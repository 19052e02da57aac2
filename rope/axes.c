/* rope/axes.c - positions of several axes (axes.h). */
#include "axes.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a layout ---- */

static int take_size(const char **s, int64_t *out) {
    char *end;
    if (**s < '1' || **s > '9') return 0;
    long long v = strtoll(*s, &end, 10);
    *s = end;
    *out = v;
    return v <= AXES_TOKENS;
}

static int take_segment(const char **s, AxesSegment *out) {
    static const struct { const char *name; AxesMedium medium; } media[] = {
        {"text:", AXES_TEXT}, {"image:", AXES_IMAGE}, {"video:", AXES_VIDEO}};
    *out = (AxesSegment){.t = 1, .h = 1, .w = 1};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(media[i].name);
        if (strncmp(*s, media[i].name, n) != 0) continue;
        *s += n;
        out->medium = media[i].medium;
        if (out->medium == AXES_VIDEO && (!take_size(s, &out->t) || *(*s)++ != 'x')) return 0;
        if (out->medium != AXES_TEXT && (!take_size(s, &out->h) || *(*s)++ != 'x')) return 0;
        return take_size(s, &out->w) && (**s == ' ' || **s == ',' || **s == 0);
    }
    return 0;
}

int axes_parse(AxesLayout *out, const char *layout, char *err, size_t errlen) {
    *out = (AxesLayout){0};
    for (const char *s = layout; *s;) {
        AxesSegment *a = &out->at[out->n];
        if (*s == ' ' || *s == ',') {
            s++;
            continue;
        }
        if (out->n == AXES_SEGMENTS) return base_error(err, errlen, -EINVAL, "at most %d parts", AXES_SEGMENTS);
        const char *from = s;
        if (!take_segment(&s, a))
            return base_error(err, errlen, -EINVAL, "\"%.40s\" is not text:N, image:ROWSxCOLUMNS or "
                              "video:FRAMESxROWSxCOLUMNS", from);
        double tokens = (double)a->t * (double)a->h * (double)a->w + (double)out->n_tokens;
        if (tokens > AXES_TOKENS) return base_error(err, errlen, -EINVAL, "at most %d tokens", AXES_TOKENS);
        out->n_tokens = (size_t)tokens;
        out->has_text |= a->medium == AXES_TEXT;
        out->has_video |= a->medium == AXES_VIDEO;
        out->n++;
    }
    return out->n ? 0 : base_error(err, errlen, -EINVAL, "the layout is empty");
}

/* ---- where patches stand, kind by kind; last: the last token's coordinate before them ---- */

static double size_of(const AxesSegment *s) { return (double)(s->t * s->h * s->w); }

/* An image by itself: row and column. */
static void patch_2d(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b, int n_axes) {
    (void)s, (void)f, (void)n_axes;
    out[0] = last + (double)a, out[1] = last + (double)b;
}

static double end_2d(const AxesSegment *s, double last) { return last + (double)(s->h > s->w ? s->h : s->w); }

/* kexue.fm 10040: steps of w + 1 and h + 1, so that rows and columns end at one place, (w + 1)(h + 1) further on. */
static void patch_tie(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b, int n_axes) {
    (void)f, (void)n_axes;
    out[0] = last + (double)a * (double)(s->w + 1), out[1] = last + (double)b * (double)(s->h + 1);
}

static double end_tie(const AxesSegment *s, double last) { return last + (double)(s->w + 1) * (double)(s->h + 1) - 1; }

/* The same with steps that are no whole numbers: the image is as long as its patches in a row. */
static void patch_tie_real(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b,
                           int n_axes) {
    (void)f, (void)n_axes;
    out[0] = last + (double)a * (size_of(s) + 1) / (double)(s->h + 1);
    out[1] = last + (double)b * (size_of(s) + 1) / (double)(s->w + 1);
}

static double end_length(const AxesSegment *s, double last) { return last + size_of(s); }

/* kexue.fm 10352: unit steps, the image's middle where the middle of so many words would be. */
static void patch_tie_v2(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b, int n_axes) {
    out[0] = last + (size_of(s) - (double)s->h) / 2 + (double)a;
    out[1] = last + (size_of(s) - (double)s->w) / 2 + (double)b;
    if (n_axes > 2) out[2] = last + (size_of(s) - (double)s->t) / 2 + (double)f;
}

/* Qwen2-VL: frame, row and column from where the block begins; text goes on behind the largest. */
static void patch_mrope(double *out, const AxesSegment *s, double last, int64_t f, int64_t a, int64_t b, int n_axes) {
    (void)s, (void)n_axes;
    out[0] = last + (double)f, out[1] = last + (double)a, out[2] = last + (double)b;
}

static double end_mrope(const AxesSegment *s, double last) {
    int64_t most = s->t > s->h ? s->t : s->h;
    return last + (double)(most > s->w ? most : s->w);
}

/* ---- which pair turns by which coordinate ---- */

static int axis_halves(int pair, int n_pairs, int n_axes) { return (void)n_axes, pair >= n_pairs / 2; }
static int axis_in_turn(int pair, int n_pairs, int n_axes) { return (void)n_pairs, pair % n_axes; }

/* mrope_section [16, 24, 24] of 64 pairs, and as much of any other number. */
static int axis_sections(int pair, int n_pairs, int n_axes) {
    (void)n_axes;
    return (pair >= n_pairs / 4) + (pair >= n_pairs / 4 + n_pairs * 3 / 8);
}

/* Qwen3-VL's [24, 20, 20]: of every three pairs one a coordinate, while height and width have any left. */
static int axis_interleaved(int pair, int n_pairs, int n_axes) {
    int each = n_pairs * 20 / 64;
    (void)n_axes;
    return pair < 3 * each ? pair % 3 : 0;
}

static const AxesKind kinds[] = {{"2d",
                                  {"row", "column", NULL},
                                  "an image alone: half of the pairs turn by the row, half by the column",
                                  "Su, kexue.fm 8397",
                                  2,
                                  0,
                                  0,
                                  1,
                                  patch_2d,
                                  end_2d,
                                  axis_halves},
                                 {"tie",
                                  {"row", "column", NULL},
                                  "text at (n, n), an image in steps so that both axes end alike",
                                  "Su, kexue.fm 10040",
                                  2,
                                  1,
                                  0,
                                  1,
                                  patch_tie,
                                  end_tie,
                                  axis_in_turn},
                                 {"tie-real",
                                  {"row", "column", NULL},
                                  "the same in steps that need not be whole, no longer than its patches",
                                  "Su, kexue.fm 10040",
                                  2,
                                  1,
                                  0,
                                  1,
                                  patch_tie_real,
                                  end_length,
                                  axis_in_turn},
                                 {"tie-v2",
                                  {"row", "column", "frame"},
                                  "steps of one, the middle where so many words would have theirs",
                                  "Su, kexue.fm 10352",
                                  0,
                                  1,
                                  1,
                                  1,
                                  patch_tie_v2,
                                  end_length,
                                  axis_in_turn},
                                 {"mrope",
                                  {"frame", "row", "column"},
                                  "three coordinates, each a run of the pairs",
                                  "Qwen2-VL, arXiv:2409.12191",
                                  3,
                                  1,
                                  1,
                                  0,
                                  patch_mrope,
                                  end_mrope,
                                  axis_sections},
                                 {"mrope-interleaved",
                                  {"frame", "row", "column"},
                                  "three coordinates, pairs dealt out in turn",
                                  "Qwen3-VL, transformers' modeling_qwen3_vl.py",
                                  3,
                                  1,
                                  1,
                                  0,
                                  patch_mrope,
                                  end_mrope,
                                  axis_interleaved}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const AxesKind *axes_row_of(int i) { return i >= 0 && i < N_KINDS ? &kinds[i] : NULL; }

const AxesKind *axes_kind(const char *name) {
    for (int i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

int axes_count(const AxesKind *k, const AxesLayout *layout) {
    return k->n_axes ? k->n_axes : layout->has_video ? 3 : 2;
}

int axes_place(double *out, double *next, const AxesKind *k, const AxesLayout *layout, char *err, size_t errlen) {
    int n = axes_count(k, layout);
    double last = k->first - 1; /* the coordinate of the token before */
    if ((layout->has_text && !k->takes_text) || (layout->has_video && !k->takes_video))
        return base_error(err, errlen, -EINVAL, "%s places no %s", k->name,
                          layout->has_text && !k->takes_text ? "text" : "video");
    for (size_t i = 0; i < layout->n; i++) {
        const AxesSegment *s = &layout->at[i];
        if (s->medium == AXES_TEXT) {
            for (int64_t t = 0; t < s->w; t++, out += n)
                for (int a = 0; a < n; a++) out[a] = last + 1 + (double)t;
            last += (double)s->w;
            continue;
        }
        for (int64_t f = 1; f <= s->t; f++)
            for (int64_t a = 1; a <= s->h; a++)
                for (int64_t b = 1; b <= s->w; b++, out += n) k->patch(out, s, last, f, a, b, n);
        last = k->end(s, last);
    }
    *next = last + 1;
    return 0;
}

void axes_row(const Rope *r, const RopeConfig *c, const AxesKind *k, int n_axes, const double *pos, double *cosines,
              double *sines) {
    int pairs = r->rotary_dim / 2, half = pairs / 2;
    for (int i = 0; i < pairs; i++) {
        double freq = r->inv_freq[i];
        if (k->axis == axis_halves) freq = pow(c->theta, -2.0 * (i % half) / (r->rotary_dim / 2));
        double angle = pos[k->axis(i, pairs, n_axes)] * freq; /* of 1-D RoPE, where all coordinates are alike */
        cosines[i] = cos(angle) * r->scale;
        sines[i] = sin(angle) * r->scale;
    }
}
