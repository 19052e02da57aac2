/* rope/relative.c - methods that change the distance at which a query sees a key: two functions and a row each.
 *
 * m is the query's position, j <= m a key's, both from 0; what R turns by is (where the query stands) - (where the key
 * does). A picture of each: README.md. */
#include "relative.h"

#include <math.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Appends a segment, unless it is empty. */
static int segment(RopeSegment *out, int n, int64_t first, int64_t end, int map, double at) {
    if (first >= end) return n;
    out[n] = (RopeSegment){.first = first, .end = end, .map = map, .at = at};
    return n + 1;
}

static double key_here(const RelativeNumbers *r, int map, int64_t j) {
    (void)r, (void)map;
    return (double)j;
}

static int look_plainly(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    (void)r;
    return segment(out, 0, 0, m + 1, 0, (double)m);
}

/* The first key that is nearer than w to the query at m. */
static int64_t near_from(int64_t m, int64_t w) { return larger(m - w + 1, 0); }

/* ---- far keys squeezed ---- */

/* min(m - j, W): all far keys stand at distance W. Su, kexue.fm 9708; bojone/rerope, rerope_patch.py. */
static int look_rerope(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->window);
    int n = segment(out, 0, 0, near, ROPE_UNTURNED, (double)r->window);
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* W + (m - j - W) / K: a distance beyond W grows slower. bojone/rerope, leaky_rerope_patch.py. */
static double key_leaky(const RelativeNumbers *r, int map, int64_t j) { return map ? (double)j / r->leak : (double)j; }

static int look_leaky(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->window);
    int n = segment(out, 0, 0, near, 1, (double)r->window + (double)(m - r->window) / r->leak);
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* floor(m/G) + W - floor(W/G) - floor(j/G): beyond W positions go by groups of G. Jin et al., arXiv:2401.01325;
 * datamllab/LongLM, self_extend_patch/Llama.py, integer division since commit 715c1e3. */
static double key_groups(const RelativeNumbers *r, int map, int64_t j) { return (double)(map ? j / r->group : j); }

static int look_self_extend(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->window), at = m / r->group + r->window - r->window / r->group;
    int n = segment(out, 0, 0, near, 1, (double)at);
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* llama.cpp's --grp-attn-n and -w rewrite stored positions each time W more tokens are full: the first e W keys stand
 * at floor(j/G) for good, the rest moves up behind them. So what is near depends on where the last window ended, not on
 * the query. ggml-org/llama.cpp, tools/main/main.cpp. */
static int look_self_extend_llamacpp(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t full = m / r->window * r->window, moved = full - full / r->group;
    int n = segment(out, 0, 0, full, 1, (double)(m - moved));
    return segment(out, n, full, m + 1, 0, (double)m); /* both moved alike */
}

static const char *wrong_self_extend(const RelativeNumbers *r) {
    return r->group > r->window ? "the group is larger than the window" : NULL;
}

static const char *wrong_self_extend_llamacpp(const RelativeNumbers *r) {
    return r->window % r->group ? "the window must be a multiple of the group" : wrong_self_extend(r);
}

/* m/(1 + m/C) - j/(1 + j/C): positions themselves bend. ggml-org/llama.cpp, pull request 1967. */
static double bent(const RelativeNumbers *r, int64_t p) { return (double)p / (1 + (double)p / r->c); }
static double key_power(const RelativeNumbers *r, int map, int64_t j) {
    (void)map;
    return bent(r, j);
}

static int look_power(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    return segment(out, 0, 0, m + 1, 0, bent(r, m));
}

/* ---- chunks ---- */

/* Chunks of s = C - W. A key stands where it stands in its chunk; the query does so for its own chunk, a chunk further
 * (but not beyond C) for the one before, so that near keys keep their distance, and at min(2s-1, C) for all older ones.
 * An et al., arXiv:2402.17463; HKUNLP/ChunkLlama, chunkllama_attn_replace.py. */
static double key_dca(const RelativeNumbers *r, int map, int64_t j) {
    (void)map;
    return (double)(j % (r->chunk - r->local));
}

static int look_dca(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t s = r->chunk - r->local, own = m / s * s, before = larger(own - s, 0);
    int n = segment(out, 0, 0, before, 0, (double)smaller(2 * s - 1, r->chunk));
    n = segment(out, n, before, own, 0, (double)smaller(m % s + s, r->chunk));
    return segment(out, n, own, m + 1, 0, (double)(m % s));
}

static const char *wrong_dca(const RelativeNumbers *r) {
    return r->local >= r->chunk ? "local must be smaller than the chunk" : NULL;
}

/* m - j - S + W where that distance is S or more: far keys come nearer, over positions that were trained often. An et
 * al., arXiv:2410.18745; HKUNLP/STRING. */
static int look_string(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->shift);
    int n = segment(out, 0, 0, near, 0, (double)(m - r->shift + r->window));
    return segment(out, n, near, m + 1, 0, (double)m);
}

static const char *wrong_string(const RelativeNumbers *r) {
    return r->window > r->shift ? "the window is larger than the shift" : NULL;
}

/* ---- keys left out ---- */

/* The last R keys, the query's own included. Mistral 7B, arXiv:2310.06825. */
static int look_window(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    return segment(out, 0, near_from(m, r->window), m + 1, 0, (double)m);
}

/* The first S keys and the last R, the query's own included; positions are places in that cache of S + R, so for the
 * first keys the query stands at its end. Xiao et al., arXiv:2309.17453; mit-han-lab/streaming-llm. */
static int look_sinks(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t most = r->keep + r->window, near = near_from(m, r->window);
    int n = segment(out, 0, 0, smaller(r->keep, near), 0, (double)smaller(m, most - 1));
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* The first G keys, at distance L or less, and those nearer than L. Han et al., arXiv:2308.16137;
 * Glaciohound/LM-Infinite, lambda_attention.py. */
static int look_lm_infinite(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->window);
    int n = segment(out, 0, 0, smaller(r->keep, near), ROPE_UNTURNED, (double)r->window);
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* ---- what the text decides ---- */

/* Near keys, and of the far ones, all at distance N - 1, some blocks. Xiao et al., arXiv:2402.04617; thunlp/InfLLM,
 * context_manager.py, which chooses by the queries of the chunk at hand; a decoder does not know these yet, so here it
 * is the chunk before. */
static int look_infllm(const RelativeNumbers *r, int64_t m, RopeSegment *out) {
    int64_t near = near_from(m, r->local);
    int n = segment(out, 0, 0, near, ROPE_UNTURNED, (double)(r->local - 1));
    return segment(out, n, near, m + 1, 0, (double)m);
}

/* Each head its own squeeze, min to max, by how much it looks at single keys. Zhang et al., arXiv:2403.04797;
 * VITA-Group/Ms-PoE, modify_arch/llama.py. */
static double key_ms_poe(const RelativeNumbers *r, int map, int64_t j) {
    return map ? (double)j / (r->min + (r->max - r->min) * (map - 1) / r->heads) : (double)j;
}

static const char *wrong_ms_poe(const RelativeNumbers *r) { return r->min > r->max ? "min is larger than max" : NULL; }

/* ---- rows ---- */

static double usual_half(const RopeNumbers *n) { return fmax(floor(rope_usual_original(n) / 2), 1); }
static double usual_quarter(const RopeNumbers *n) { return fmax(floor(rope_usual_original(n) / 4), 1); }
static double usual_c(const RopeNumbers *n) { return 3 * rope_usual_original(n); }
static double usual_chunk(const RopeNumbers *n) { return fmax(floor(rope_usual_original(n) * 3 / 4), 2); }
static double usual_local(const RopeNumbers *n) {
    return fmin(fmax(floor(rope_usual_original(n) / 8), 1), (double)n->distance.chunk - 1);
}
static double usual_shift(const RopeNumbers *n) { return fmax(floor(rope_usual_original(n) / 3), 1); }
static double usual_string(const RopeNumbers *n) { return fmin(128, fmax(floor((double)n->distance.shift / 8), 1)); }
static double usual_keep(const RopeNumbers *n) { return fmin(4, fmax(rope_usual_original(n) - 1, 0)); }
static double usual_cache(const RopeNumbers *n) { return fmax(rope_usual_original(n) - (double)n->distance.keep, 1); }

static double usual_64th(const RopeNumbers *n) { return fmax(floor(rope_usual_original(n) / 64), 1); }
static double usual_few(const RopeNumbers *n) { return fmin(4, (double)n->distance.block); }
static double usual_every(const RopeNumbers *n) { return fmin(512, (double)n->distance.local); }

/* The smallest group that keeps the farthest key within two thirds of what was trained: LongLM's rule of thumb. */
static double usual_group(const RopeNumbers *n) {
    int64_t L = (int64_t)rope_usual_original(n), W = n->distance.window, last = n->n_ctx - 1, room = L * 2 / 3 - W;
    if (last < L) return 1;
    if (room < 1) return (double)W;
    int64_t G = (last - W) / (room + 1); /* a smaller one is too small */
    for (G = G > 1 ? G : 1; G < W && last / G + W - W / G > L * 2 / 3;) G++;
    return (double)(G < W ? G : W);
}

/* The same among the divisors of the window. */
static double usual_divisor(const RopeNumbers *n) {
    int64_t g = (int64_t)usual_group(n);
    while (n->distance.window % g) g++;
    return (double)g;
}

/* name, kind, where, min, max, usual, usually, about (numbers.h) */
#define WHOLE(name, field, min, usually, about) \
    {name, ROPE_WHOLE, ROPE_AT(distance.field), min, ROPE_KEY_MOST, 0, usually, about}
static const RopeKey
    rerope_keys[] = {WHOLE("window", window, 1, usual_half, "W: the largest distance (half the original length)"), {0}},
    leaky_keys[] = {WHOLE("window", window, 1, usual_half, "W: distances below it stay (half the original length)"),
                    {"factor", ROPE_NUMBER, ROPE_AT(distance.leak), 1, 1e9, 0, rope_usual_factor,
                     "K: beyond W they grow K times slower (-c over the original length)"},
                    {0}},
    self_extend_keys[] = {WHOLE("window", window, 1, usual_quarter, "W: nearer keys stay (a quarter of the original)"),
                          WHOLE("group", group, 1, usual_group, "G: positions beyond that count as one (the smallest "
                                "with which the farthest key of -c is within two thirds of the original)"), {0}},
    llamacpp_keys[] = {WHOLE("window", window, 1, usual_quarter, "--grp-attn-w (a quarter of the original length)"),
                       WHOLE("group", group, 1, usual_divisor, "--grp-attn-n, which divides it (as self-extend's)"),
                       {0}},
    dca_keys[] = {WHOLE("chunk", chunk, 2, usual_chunk, "C: the farthest position of a query (three quarters of the "
                        "original length)"),
                  WHOLE("local", local, 0, usual_local, "W: chunks are C - W long (an eighth of the original)"),
                  {"magnitude", ROPE_NUMBER, ROPE_AT(distance.magnitude), 1e-3, 1e3, 1, NULL,
                   "on cos and sin; the release has 1 + 0.05 ln(n/L) (1)"},
                  {0}},
    string_keys[] = {WHOLE("shift", shift, 1, usual_shift, "S: farther distances shrink by it (a third of the "
                           "original length)"),
                     WHOLE("window", window, 0, usual_string, "W: .. to no less than this (128, or an eighth of S)"),
                     {0}},
    power_keys[] = {{"c", ROPE_NUMBER, ROPE_AT(distance.c), 1, 1e15, 0, usual_c,
                     "C: where positions p/(1 + p/C) end (three times the original length)"}, {0}},
    sinks_keys[] = {WHOLE("keep", keep, 0, usual_keep, "S: the first keys, always seen (4)"),
                    WHOLE("window", window, 1, usual_cache, "R: the last ones, the query's own included (the original "
                          "length less S)"), {0}},
    window_keys[] = {WHOLE("size", window, 1, rope_usual_original,
                           "R: keys seen, the query's own included (the original length)"), {0}},
    lm_infinite_keys[] = {WHOLE("keep", keep, 0, usual_keep, "G: the first keys, always seen (4)"),
                          WHOLE("window", window, 1, rope_usual_original,
                                "L: nearer keys are seen, and the largest distance (the original length)"), {0}},
    infllm_keys[] = {WHOLE("init", init, 0, usual_64th, "the first keys, always seen (a 64th of the original length)"),
                     WHOLE("local", local, 1, usual_half, "N: the last keys, always seen (half the original length)"),
                     WHOLE("block", block, 1, usual_64th, "keys of a block (a 64th of the original length)"),
                     {"top", ROPE_WHOLE, ROPE_AT(distance.top), 1, ROPE_KEY_MOST, 16, NULL, "blocks seen (16)"},
                     WHOLE("representatives", representatives, 1, usual_few, "keys that stand for a block (4)"),
                     WHOLE("every", every, 1, usual_every, "queries that choose blocks together (512, at most N)"),
                     {0}},
    ms_poe_keys[] = {{"min", ROPE_NUMBER, ROPE_AT(distance.min), 1e-3, 1e6, 1.2, NULL, "the first head's divisor of "
                      "positions (1.2)"},
                     {"max", ROPE_NUMBER, ROPE_AT(distance.max), 1e-3, 1e6, 1.8, NULL, "the last head's (1.8)"},
                     WHOLE("at", at, 1, rope_usual_original,
                           "heads are ranked when so many are read (the original length)"),
                     {"skip", ROPE_WHOLE, ROPE_AT(distance.skip), 0, ROPE_MOST_LAYERS, 2, NULL,
                      "the first layers, left as they are (2)"},
                     {0}};
#undef WHOLE

const RopeRelative rope_plainly = {.name = "", .n_maps = 1, .key = key_here, .look = look_plainly};

static const RopeRelative
    rerope = {.name = "rerope", .keys = rerope_keys, .n_maps = 1, .key = key_here, .look = look_rerope,
              .source = "Su, kexue.fm 9708"},
    leaky = {.name = "leaky", .keys = leaky_keys, .n_maps = 2, .key = key_leaky, .look = look_leaky,
             .source = "Su, kexue.fm 9708"},
    self_extend = {.name = "self-extend", .keys = self_extend_keys, .n_maps = 2, .key = key_groups,
                   .look = look_self_extend, .wrong = wrong_self_extend, .source = "arXiv:2401.01325"},
    self_extend_llamacpp = {.name = "self-extend-llamacpp", .keys = llamacpp_keys, .n_maps = 2, .key = key_groups,
        .look = look_self_extend_llamacpp, .wrong = wrong_self_extend_llamacpp,
        .source = "llama.cpp, tools/main/main.cpp"},
    dca = {.name = "dca", .keys = dca_keys, .n_maps = 1, .key = key_dca, .look = look_dca, .wrong = wrong_dca,
           .source = "arXiv:2402.17463"},
    string = {.name = "string", .keys = string_keys, .n_maps = 1, .key = key_here, .look = look_string,
              .wrong = wrong_string, .source = "arXiv:2410.18745"},
    power = {.name = "power", .keys = power_keys, .n_maps = 1, .key = key_power, .look = look_power,
             .source = "llama.cpp, pull request 1967"},
    sinks = {.name = "sinks", .keys = sinks_keys, .n_maps = 1, .key = key_here, .look = look_sinks,
             .only_hides = 1, .source = "arXiv:2309.17453"},
    window = {.name = "window", .keys = window_keys, .n_maps = 1, .key = key_here, .look = look_window,
              .only_hides = 1, .source = "arXiv:2310.06825"},
    lm_infinite = {.name = "lm-infinite", .keys = lm_infinite_keys, .n_maps = 1, .key = key_here,
                   .look = look_lm_infinite, .source = "arXiv:2308.16137"},
    infllm = {.name = "infllm", .keys = infllm_keys, .n_maps = 1, .key = key_here, .look = look_infllm,
              .chooses = ROPE_BY_BLOCKS, .source = "arXiv:2402.04617"},
    ms_poe = {.name = "ms-poe", .keys = ms_poe_keys, .n_maps = 1, .key = key_ms_poe, .look = look_plainly,
              .wrong = wrong_ms_poe, .chooses = ROPE_BY_HEADS, .source = "arXiv:2403.04797"};

const RopeRelative *const rope_relatives[] = {&rerope, &leaky, &self_extend, &self_extend_llamacpp, &dca, &string,
                                              &power, &sinks, &window, &lm_infinite, &infllm, &ms_poe, NULL};

const RopeRelative *rope_relative(const char *name) {
    for (const RopeRelative *const *r = rope_relatives; *r; r++)
        if (strcmp(name, (*r)->name) == 0) return *r;
    return NULL;
}
