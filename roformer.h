/* roformer.h - the engine as a library: all that libroformer shows, and all that a program needs to include.
 *
 *     char err[300];
 *     RoformerModel *model;
 *     RoformerSession *session;
 *     RoformerSampler *sampler;
 *     RoformerWriteOptions options = {.size = sizeof options, .piece = show};
 *     if (roformer_open(&model, "model.gguf", NULL, err, sizeof err) ||
 *         roformer_session_new(&session, model, NULL, err, sizeof err) ||
 *         roformer_sampler_new(&sampler, model, NULL, err, sizeof err) ||
 *         roformer_write(session, sampler, "Once", 4, &options, NULL, err, sizeof err)) ... err says why ...
 *
 * cc write.c $(pkg-config --cflags --libs roformer) builds examples/write.c; library/README.md is the chapter.
 *
 * Errors. A function that may fail returns 0 or a negative errno, and then writes one English line, without a newline,
 * into err [errlen] (NULL: nowhere); what it was to make is NULL. Every _free and roformer_close accepts NULL.
 * Nothing is printed, no environment is read, the process is never ended, and there is no state outside these objects.
 *
 * Threads. A model is read-only once open: any number of threads may use it at a time, and sessions of it in several
 * threads compute what each would alone, bit for bit. A session, a sampler, an embedder belongs to one thread at a
 * time, and has worker threads of its own (`threads`). A model must outlive what was made of it. A model file that
 * another program cuts short while it is open raises SIGBUS: it is mapped.
 *
 * Options are structs whose first field is their size, so that later versions can add fields: begin with
 * {.size = sizeof options}; what stays zero is as usual. Texts are UTF-8, with their length in bytes; names and
 * paths end with a 0, and need not outlive the call. Ids are below the vocabulary's size. */
#ifndef ROFORMER_H
#define ROFORMER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ROFORMER_API __attribute__((visibility("default")))
#else
#define ROFORMER_API
#endif

/* 10000 * major + 100 * minor + patch. A program runs with every later library of the same major number, which is that
 * of libroformer.so.MAJOR. */
#define ROFORMER_VERSION 100
ROFORMER_API int roformer_version(void); /* of the library that runs; the macro is that of the header */

typedef struct RoformerModel RoformerModel;       /* weights and a tokenizer */
typedef struct RoformerSession RoformerSession;   /* one text on its way through a model */
typedef struct RoformerSampler RoformerSampler;   /* from logits to an id */
typedef struct RoformerEmbedder RoformerEmbedder; /* from texts to vectors */

ROFORMER_API void roformer_free(void *p); /* what a function below calls the caller's */

/* Called within long calls with what is done and all there is to do, in bytes or ids: not 0 ends the call (-EINTR). */
typedef int (*RoformerProgress)(void *arg, size_t done, size_t total);

/* ---- models ---- */

/* What is said over the file; each is the program's option of that name (run --help). NULL, 0: as the file says. */
typedef struct {
    size_t size;
    const char *tokenizer;       /* a tokenizer's file or folder */
    int no_tokenizer;            /* 1: ids only */
    const char *rope;            /* how RoPE is stretched: "yarn:factor=4", "ntk+rerope:window=128" (rope/README.md) */
    double rope_theta, rope_factor;
    int64_t rope_original;       /* the context that the stretching counts from */
    int64_t n_ctx;               /* the context that is wanted, for a method whose factor nobody gives */
    const char *position_extend; /* a learned table of positions made longer: "hierarchical" */
    const char *attention;       /* "softmax", "linear" */
    const char *phi, *phi_key, *form; /* linear attention's feature maps and form: "elu+1", "numerator" */
    const double *epsilon;
    int favor_features;
    const uint64_t *favor_seed;
    const char *arch, *mask, *pooler; /* a RoFormer's: "v1", "gau-alpha"; "padding", "causal", "unilm"; "tanh" .. */
    const char *task;            /* which of the file's adapters is taken (jina-embeddings-v3) */
    const char *const *loras;    /* [n_loras] adapters that are merged: FILE or FILE:SCALE */
    size_t n_loras;
    const char *kernels;         /* "ref", "avx2" ..; NULL: the fastest that runs here */
    int threads;                 /* to read the weights with; 0: one for each core */
    int copy;                    /* 1: weights are copied into large pages */
    const char *pre, *jieba;     /* a tokenizer's: GGUF's name of the pre-tokenizer; jieba's dictionary */
    RoformerProgress progress;
    void *progress_arg;
    const char *panels; /* keep the weights as this processor wants them in this file, or "auto": beside the model */
} RoformerOptions;

/* Open a GGUF file, a Hugging Face folder, or a llama2.c file; path NULL: the small model that is compiled in. options
 * may be NULL. A model whose tokenizer is not found opens all the same, unless options name one: functions that want
 * it say so. Errors: -ENOENT and other errnos of files, -EINVAL (not a model, broken, an option that does not fit),
 * -ENOMEM, -EINTR. The caller closes *model. */
ROFORMER_API int roformer_open(RoformerModel **model, const char *path, const RoformerOptions *options, char *err,
                               size_t errlen);
ROFORMER_API void roformer_close(RoformerModel *model);

typedef enum {
    ROFORMER_N_CTX_TRAIN, ROFORMER_VOCAB_SIZE, ROFORMER_D_MODEL, ROFORMER_N_LAYERS, ROFORMER_N_HEADS,
    ROFORMER_N_KV_HEADS, ROFORMER_HEAD_DIM, ROFORMER_N_PARAMETERS,
    ROFORMER_BOS, ROFORMER_EOS,  /* ids that begin and end a text */
    ROFORMER_HAS_LOGITS,         /* 1: it can tell what comes next, or what a [MASK] hides */
    ROFORMER_HAS_TOKENIZER,
    ROFORMER_READS_WHOLE,        /* 1: an encoder, which reads a text whole and cannot write */
    ROFORMER_IS_LINEAR           /* 1: linear attention: its text may have any length */
} RoformerNumber;
ROFORMER_API int64_t roformer_number(const RoformerModel *model, RoformerNumber which); /* -1: it has none */

typedef enum {
    ROFORMER_ARCH,      /* "llama", "qwen3", "roformer": as its file names it */
    ROFORMER_KERNELS,   /* "avx2" */
    ROFORMER_TOKENIZER, /* "SentencePiece BPE" */
    ROFORMER_ROPE       /* how RoPE is stretched, with all numbers; "none": not at all */
} RoformerWord;
ROFORMER_API const char *roformer_word(const RoformerModel *model, RoformerWord which); /* the model's; NULL: none */

/* Flags of the two functions below. ADD_BOS, ADD_EOS: where the tokenizer's file says that they are added. SPECIAL:
 * control pieces that are written in the text ("</s>") count as such. CONTINUES: the text goes on from another: no
 * space is put in front, and none is taken away. */
enum { ROFORMER_ADD_BOS = 1, ROFORMER_SPECIAL = 2, ROFORMER_ADD_EOS = 4, ROFORMER_CONTINUES = 8 };

/* text [len] as *ids [*n], the caller's (roformer_free), never NULL where it succeeds. Errors: -EINVAL (no tokenizer;
 * what no piece spells), -ENOMEM. */
ROFORMER_API int roformer_tokenize(const RoformerModel *model, const char *text, size_t len, int flags, int **ids,
                                   size_t *n, char *err, size_t errlen);
/* ids [n] as *text [*len], the caller's, with a 0 behind it. Control pieces are no text; bytes that make no character
 * are U+FFFD. Errors: -EINVAL (no tokenizer), -ENOMEM. */
ROFORMER_API int roformer_detokenize(const RoformerModel *model, const int *ids, size_t n, int flags, char **text,
                                     size_t *len, char *err, size_t errlen);
/* The piece of an id as the tokenizer's file spells it, [*len], no 0 behind it, the model's; NULL: there is none. */
ROFORMER_API const char *roformer_piece(const RoformerModel *model, int id, size_t *len);

/* ---- sessions ---- */

typedef struct {
    size_t size;
    size_t n_ctx;      /* positions, one for each id read or drawn; 0: those it was trained on, at most 4096 */
    int threads;       /* 0: one for each core. Never changes a result */
    const char *cache; /* keys and values as "f32", "f16", "q8_0"; NULL: what `run generate` takes; `run logits`: f32 */
    size_t n_batch;    /* ids computed at a time; 0: the usual. Never changes a result */
    RoformerProgress progress;
    void *progress_arg;
} RoformerSessionOptions;

/* Errors: -ENOMEM, -EINVAL. The caller frees *session. */
ROFORMER_API int roformer_session_new(RoformerSession **session, const RoformerModel *model,
                                      const RoformerSessionOptions *options, char *err, size_t errlen);
ROFORMER_API void roformer_session_free(RoformerSession *session);

/* Read ids [n], n >= 1, behind those read before. *logits (NULL: not wanted) [vocab_size]: what comes next, as
 * logarithms that are not normalised; the session's, until its next call. They have the same bits however the ids came
 * in. An encoder (ROFORMER_READS_WHOLE) reads each call's ids as a text of its own. Errors, with nothing read: -EINVAL
 * (an id outside the vocabulary, no head for logits), -ENOSPC (the context is full); -EINTR (progress said stop). */
ROFORMER_API int roformer_eval(RoformerSession *session, const int *ids, size_t n, const float **logits, char *err,
                               size_t errlen);
/* The same, and each(arg, i, logits [vocab_size]) is called for every i < n in order, with the logits behind ids[i]; of
 * an encoder those that stand at it. Where RoPE changes with the text's length (longrope, dynamic ..) all are as in a
 * text that ends with ids[n - 1]. each may copy them and do nothing else with the session. */
ROFORMER_API int roformer_eval_each(RoformerSession *session, const int *ids, size_t n,
                                    void (*each)(void *arg, size_t i, const float *logits), void *arg, char *err,
                                    size_t errlen);
ROFORMER_API size_t roformer_position(const RoformerSession *session); /* ids read; of an encoder 0 */
/* Forget all but the first n ids; 0 forgets all. -EINVAL: more than were read; linear attention can only forget all. */
ROFORMER_API int roformer_rewind(RoformerSession *session, size_t n, char *err, size_t errlen);

/* What was read, into a file that appears whole or not at all; and back, into a session of the same model, options and
 * cache. *logits (may be NULL) as from roformer_eval. Errors: -errno of the file, -EINVAL (nothing read; of linear
 * attention and delta nets the last id read without logits; not a state, damaged, another model's or cache's), -ENOSPC
 * (longer than n_ctx); a session that could not load has read nothing. */
ROFORMER_API int roformer_session_save(RoformerSession *session, const char *path, char *err, size_t errlen);
ROFORMER_API int roformer_session_load(RoformerSession *session, const char *path, const float **logits, char *err,
                               size_t errlen);

/* ---- writing ---- */

typedef struct { int id; float bias; } RoformerBias; /* -INFINITY: never drawn */

/* The links of the chain, in order; 0, NULL: off. All zeroes is greedy: always the most probable. A session of linear
 * attention, whose text has no end, remembers its last 1,048,576 ids for them. */
typedef struct {
    size_t size;
    const RoformerBias *biases;   /* [n_biases], added to logits */
    size_t n_biases;
    float repetition_penalty;     /* logit / r, or * r below 0, of ids among the last `window` */
    float presence_penalty, frequency_penalty; /* subtracted once; once for each time */
    size_t window;                /* ids that count as recent; 0: 64 */
    float dry_multiplier;         /* DRY: of ids that go on with a repeat of n, multiplier * base^(n - allowed) is .. */
    float dry_base;               /* .. subtracted; 0: 1.75 */
    size_t dry_allowed;           /* 0: 2 */
    size_t dry_window;            /* ids that it looks back on; 0: the trained context */
    const char *const *breakers;  /* [n_breakers] texts that no repeat reaches over; NULL: newline, colon, ", * */
    size_t n_breakers;
    float temperature;            /* 0: greedy, and nothing below counts; 1: as the model says */
    size_t top_k;                 /* the k most probable */
    float top_p;                  /* the smallest set of more than p in all; 0, 1: off */
    float min_p;                  /* those at least so many times as probable as the first */
    float xtc_probability, xtc_threshold; /* XTC: the chance; 0: 0.1 */
    uint64_t seed;                /* the same seed, the same text: that of run --seed; 0: 1 */
} RoformerSamplerOptions;

/* Errors: -EINVAL (an option out of range, by its name), -ENOMEM. The caller frees *sampler. */
ROFORMER_API int roformer_sampler_new(RoformerSampler **sampler, const RoformerModel *model,
                                      const RoformerSamplerOptions *options, char *err, size_t errlen);
ROFORMER_API void roformer_sampler_free(RoformerSampler *sampler);
/* The next id behind logits [vocab_size]; ids [n]: the text so far, for penalties and DRY (NULL, 0: none). Cannot
 * fail. */
ROFORMER_API int roformer_sample(RoformerSampler *sampler, const float *logits, const int *ids, size_t n);

typedef enum {
    ROFORMER_END_LENGTH,    /* max_tokens were drawn */
    ROFORMER_END_EOS,       /* the model's end of text */
    ROFORMER_END_BOS,       /* a new text would begin: so llama2.c's models end one */
    ROFORMER_END_STOP,      /* a stop text came, which is no part of what is written */
    ROFORMER_END_CONTEXT,   /* the session is full: as many ids were drawn as it had positions for, maybe none */
    ROFORMER_END_INTERRUPT  /* piece or progress said so */
} RoformerEnd;

typedef struct {
    size_t size;
    size_t max_tokens;        /* 0: 256; SIZE_MAX: up to another end */
    const char *const *stops; /* [n_stops] texts, none empty, 24 at most */
    size_t n_stops;
    int ignore_eos;           /* 1: the model's end of text ends nothing */
    int special;              /* 1: control pieces that are written in the prompt count as such */
    int (*piece)(void *arg, const char *text, size_t n); /* new text in whole characters, n may be 0; not 0 ends it */
    void *arg;
    int lookup; /* 1: what comes next is guessed from the text itself, and several ids are read at a time where that
                 * pays: text that repeats comes several times as fast. The text is the same */
} RoformerWriteOptions;

/* What came of it; size is the caller's to set, as in options. */
typedef struct {
    size_t size;
    size_t n_prompt, n_new; /* ids of the prompt, ids drawn */
    RoformerEnd end;
} RoformerWritten;

/* Read prompt [len] behind what the session has read (BOS in front where it has read nothing) and write on; written may
 * be NULL. The session then stands behind the new text (a stop text's ids are in it), and another call goes on there.
 * Errors: roformer_tokenize's and roformer_eval's; -EINVAL (an encoder; no prompt, and no id to begin a text with). */
ROFORMER_API int roformer_write(RoformerSession *session, RoformerSampler *sampler, const char *prompt, size_t len,
                                const RoformerWriteOptions *options, RoformerWritten *written, char *err,
                                size_t errlen);

/* ---- texts as vectors ---- */

typedef struct {
    size_t size;
    const char *task;    /* what stands in front of texts goes by it: "query", "document"; NULL: the usual one's */
    const char *pooling; /* "cls", "mean", "pooler", "last"; NULL: as the model's files say, if they have a Pooling */
    size_t dimensions;   /* vectors are cut to so many entries; 0: whole */
    int normalize;       /* 1: to length 1, whatever the files say */
    size_t n_ctx;        /* ids of a text; 0: those it was trained on, of a decoder at most 4096 */
    int threads;         /* 0: one for each core */
} RoformerEmbedOptions;

/* Texts are read whole and vectors left whole, whatever max_seq_length and truncate_dim say in the model's files.
 * Errors: -EINVAL (an option or module that does not fit the model, no tokenizer), those of files, -ENOMEM. */
ROFORMER_API int roformer_embedder_new(RoformerEmbedder **embedder, const RoformerModel *model,
                                       const RoformerEmbedOptions *options, char *err, size_t errlen);
ROFORMER_API void roformer_embedder_free(RoformerEmbedder *embedder);
ROFORMER_API size_t roformer_width(const RoformerEmbedder *embedder); /* entries of a vector */
/* text [len] as out [width], what `run embed` prints. Errors: -EINVAL, -ENOMEM, -ENOSPC (more ids than n_ctx). */
ROFORMER_API int roformer_embed(RoformerEmbedder *embedder, const char *text, size_t len, float *out, char *err,
                                size_t errlen);

/* ---- a look inside ---- */

/* The weights of attention while ids [n] are read as one text: out [n, n], row m the query at position m, of head
 * `head` of layer `layer`; head -1: all of them, out [n_heads, n, n]. NaN where a query does not see. Softmax: a row
 * sums to 1; linear attention: what eq. 19 multiplies values by, which may be negative. threads as in a session.
 * Errors: -EINVAL (no such layer or head, an id outside the vocabulary, a RoPE that turns keys by several angles),
 * -ENOMEM. */
ROFORMER_API int roformer_attention(const RoformerModel *model, const int *ids, size_t n, int layer, int head,
                                    int threads, double *out, char *err, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
