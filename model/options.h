/* model/options.h - what may be said when a model is opened, most of it over what the file says. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "family.h"
#include "roformer_kinds.h"
#include "rope/scaling.h"

/* Zero or NULL: as the file says. */
typedef struct {
    const char *spec; /* rope/spec.h */
    double theta, factor;
    int64_t n_ctx_original;
    int64_t n_ctx; /* the context that is wanted, for a factor that nobody gives; 0: none in particular */
} RopeOverride;

typedef struct {
    enum { ATTENTION_AS_FILE, ATTENTION_SOFTMAX, ATTENTION_LINEAR } kind;
    const FeatureMap *phi, *phi_key; /* phi alone: of keys, too */
    const LinearForm *form;
    const double *epsilon;
    int favor_features;
    const uint64_t *favor_seed;
} AttentionOverride;

typedef struct {
    RoformerVariant variant;
    const Mask *mask;
    const Pooler *pooler;
} RoformerOverride;

struct ModelOptions {
    RopeOverride rope;
    AttentionOverride attention;
    RoformerOverride roformer;
    const char *task; /* which of a file's adapters is taken (jina-embeddings-v3); NULL: none */
    const char *const *loras; /* [n_loras] adapters, merged in this order (lora.h) */
    int n_loras;
    const char *position_extend; /* positions_extend (rope/positions.h); NULL: none */
    const Kernels *kernels; /* NULL: the fastest this CPU runs */
    int threads;            /* to repack weights with; 0: as many as are worth using */
    /* Asked as weights are read and repacked, in bytes of memory: not 0 ends it, and opening fails with -EINTR. NULL:
     * nobody. */
    int (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
    const char *panels; /* keep repacked weights in this file (kept.h), or, "auto", beside the model; NULL: do not */
    int copy; /* float weights are copied to large pages: opening takes longer, each token less; never other results */
};

/* c->rope stretched as o says; c->rope.numbers must be there for what is more than theta. 0, or -EINVAL and a line. */
int config_stretch(Config *c, const RopeOverride *o, char *err, size_t errlen);
/* Does that fit the rest of c? 0, or -EINVAL and a line. */
int config_check_stretch(const Config *c, char *err, size_t errlen);

/* *view: m, stretched as o says. It shares all of m, which must outlive it, and is not to be closed; numbers is the
 * caller's memory for its settings. Sessions of both may be in use at once. 0, or -EINVAL and a line. */
int model_stretch(Model *view, RopeNumbers *numbers, const Model *m, const RopeOverride *o, char *err, size_t errlen);

/* The settings, of any family's model; complaints go to r. */
void config_override(KeyReader *r, Config *c, const ModelOptions *o);

#endif
