/* weights-tools/training/options.c - the table of options, and reading by it. */
#include "options.h"

#include "attention/maps.h"
#include "base/base.h"
#include "base/nearest.h"
#include "kernels/rows.h"
#include "rope/positions.h"
#include "rope/spec.h"
#include "weights-tools/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const TrainingOptions training_usual = {
    .separator = "<|endoftext|>", .mix = "text=1", .held_share = 0.02, .words = 4000, .mask_share = 0.15,
    .family = "llama", .layers = 6, .d_model = 128, .heads = 4,
    .context = 256, .attention = "softmax", .epsilon = -1, .favor_features = 128, .position = "rope",
    .pairing = "interleaved", .theta = 10000, .steps = 1000, .batch = 16, .warmup = 100, .seed = 1, .rate = 2e-3,
    .least = 0.05, .decay = 0.1, .clip = 1, .beta1 = 0.9, .beta2 = 0.95, .held_every = 100, .save_every = 60,
};

const char *const training_families[] = {"llama", "roformer", NULL};

#define AT(field) offsetof(TrainingOptions, field)
#define HEADING(text) {NULL, NULL, NULL, TRAINING_FLAG, 0, 0, 0, 0, .help = text}
#define WHOLE(name, value, field, min, max, ...) \
    {name, NULL, value, TRAINING_WHOLE, AT(field), min, max, 1, .help = __VA_ARGS__}
#define REAL(name, value, field, min, max, ...) \
    {name, NULL, value, TRAINING_REAL, AT(field), min, max, 1, .help = __VA_ARGS__}
#define WORD(name, value, field, ...) {name, NULL, value, TRAINING_WORD, AT(field), 0, 0, 1, .help = __VA_ARGS__}
#define FLAG(name, field, ...) {name, NULL, NULL, TRAINING_FLAG, AT(field), 0, 0, 1, .help = __VA_ARGS__}

/* Why a training has no use for an option that others have, or NULL. What is no word at all is said later. */
static const char *of_the_end(const TrainingOptions *o) {
    return o->held ? "is of --text's end, and --held-out is given" : NULL;
}

static const char *of_roformer(const TrainingOptions *o) {
    return strcmp(o->family, "roformer") ? "is for a RoFormer (--family roformer)" : NULL;
}

static const char *of_own_words(const TrainingOptions *o) {
    return of_roformer(o) || o->tokenizer ? "is for a RoFormer without a tokenizer (--family roformer)" : NULL;
}

static const char *of_linear(const TrainingOptions *o) {
    return strcmp(o->attention, "softmax") ? NULL : "is linear attention's (--attention linear)";
}

static int projects(const char *map) {
    const FeatureMap *m = map ? feature_map(map) : NULL;
    return m && m->projection;
}

static const char *of_favor(const TrainingOptions *o) {
    int is = !of_linear(o) && (projects(o->phi) || projects(o->phi_key));
    return is ? NULL : "is for the map favor+ (--attention linear --phi favor+)";
}

static const char *of_rope(const TrainingOptions *o) {
    const PositionKind *kind = position_kind(o->position);
    return kind && !kind->rotates ? "is RoPE's (--position rope)" : NULL;
}

static const char *position_name(int i) { return position_kinds[i] ? position_kinds[i]->name : NULL; }

const TrainingOption training_options[] = {
    HEADING("data"),
    {"--text", "-f", "FILE", TRAINING_TEXT, AT(texts), 0, 0, 1, .help = "a text to learn; may be given several times"},
    WORD("--held-out", "FILE", held, "a text to measure on (the end of --text's)"),
    REAL("--held-share", "P", held_share, 0, 0.5, "how much of --text's end that is (0.02; 0: nothing is measured)",
         .no_use = of_the_end),
    WORD("--separator", "LINE", separator, "a line that stands between documents (<|endoftext|>)"),
    {"--tokenizer", "-z", "FILE", TRAINING_WORD, AT(tokenizer), 0, 0, 1,
     .help = "tokenizer.model, tokenizer.bin, a GGUF with a vocabulary, or a RoFormer's vocab.txt (none: each byte is "
             "an id; for a RoFormer the text's own words)"},
    FLAG("--documents", documents, "windows begin where documents do (anywhere in one long stream)"),
    WORD("--mix", "LIST", mix,
         "shares of texts and of made copies, recalls, passkeys: text=1,copy=0.5,recall=0.5 (text=1)"),
    HEADING("a RoFormer's masks"),
    REAL("--mask-share", "P", mask_share, 0.001, 0.9,
         "of the ids that are to be found (0.15): of these 80 in 100 are [MASK], 10 any id, 10 as they were",
         .no_use = of_roformer),
    FLAG("--whole-words", whole_words, "pieces of a word are masked together", .no_use = of_roformer),
    WHOLE("--words", "N", words, 10, 1000000, "a vocabulary of the text's own words, that many at most (4000)",
          .no_use = of_own_words),
    HEADING("the model"),
    WORD("--family", "NAME", family, "llama, a decoder, or roformer, an encoder that finds masked words (llama)",
         .words = training_families),
    WORD("--from", "MODEL", from,
         "go on from a model's weights; the sizes, heads and pairs given must be its own (./run inspect says them)"),
    WHOLE("--layers", "N", layers, 1, 256, "layers (6)"),
    WHOLE("--d-model", "N", d_model, 2, 16384, "width (128)"),
    WHOLE("--heads", "N", heads, 1, 1024, "heads of queries (4)"),
    WHOLE("--kv-heads", "N", kv_heads, 1, 1024, "heads of keys and values (as many)"),
    WHOLE("--head-dim", "N", head_dim, 2, 1024, "width of a head (width / heads)"),
    WHOLE("--d-ff", "N", d_ff, 1, 65536,
          "width of the feed-forward layers (8/3 of the width, to a multiple of 32; RoFormer: 4)"),
    WHOLE("--context", "N", context, 2, 16384, "positions of a text in training (256)"),
    FLAG("--own-head", own_head, "the output has a matrix of its own (the embedding's)"),
    WORD("--attention", "KIND", attention, "softmax or linear (softmax)", .words = attention_names),
    WORD("--form", "FORM", form, "where linear attention's rotation goes (numerator: RoFormer eq. 19):",
         .choice = linear_form_name, .no_use = of_linear),
    WORD("--phi", "MAP", phi, "its feature map (elu+1):", .choice = feature_map_name, .no_use = of_linear),
    WORD("--phi-key", "MAP", phi_key, "another one for keys, --phi being the queries' (--phi's):",
         .choice = feature_map_name, .no_use = of_linear),
    REAL("--epsilon", "E", epsilon, 0, 0.5, "added to its denominators (1e-6; favor+: 0)", .no_use = of_linear),
    WHOLE("--favor-features", "R", favor_features, 2, 1024, "favor+: random features a head (128)", .no_use = of_favor),
    WHOLE("--window", "N", window, 1, 16384, "softmax: positions that a query sees (all)"),
    HEADING("positions"),
    WORD("--position", "KIND", position, "how positions are given (rope):", .choice = position_name),
    REAL("--theta", "B", theta, 1.001, 1e12, "RoPE's base (10000)", .no_use = of_rope),
    WHOLE("--rotary-dim", "N", rotary_dim, 2, 1024, "entries of a head that rotate, the first ones (all)",
          .no_use = of_rope),
    WORD("--pairing", "KIND", pairing, "interleaved or half: which entries of a head are a pair (interleaved)",
         .words = rope_pairing_names, .no_use = of_rope),
    FLAG("--log-n", log_n, "scores grow by the logarithm of how many tokens there are up to the query, whatever "
         "--window hides of them, to base --context"),
    FLAG("--train-frequencies", train_frequencies, "RoPE's frequencies are learned, too: rope_freqs.weight"),
    HEADING("steps"),
    WHOLE("--steps", "N", steps, 1, 100000000, "how many (1000)"),
    WHOLE("--batch", "N", batch, 1, 65536, "texts a step (16)"),
    REAL("--rate", "R", rate, 1e-9, 10, "AdamW's rate at its highest (0.002)"),
    WHOLE("--warmup", "N", warmup, 0, 100000000, "steps in which it rises (100)"),
    REAL("--least", "P", least, 0, 1, "what the cosine leaves of it in the end (0.05)"),
    REAL("--decay", "D", decay, 0, 1, "weight decay of matrices (0.1)"),
    REAL("--clip", "C", clip, 0, 1e9, "gradients are cut to this length (1; 0: never)"),
    REAL("--beta1", "B", beta1, 0, 0.9999999, "of the mean of gradients (0.9)"),
    REAL("--beta2", "B", beta2, 0, 0.9999999, "of the mean of their squares (0.95)"),
    WHOLE("--seed", "S", seed, 0, 2147483647, "of the first weights and of all batches (1)"),
    HEADING("running"),
    {"--resume", NULL, NULL, TRAINING_FLAG, AT(resume), 0, 0, 0,
     .help = "go on from OUT's checkpoint, to the same bits"},
    {"--force", NULL, NULL, TRAINING_FLAG, AT(force), 0, 0, 0,
     .help = "begin anew where a checkpoint is, and write over OUT"},
    {"--save-every", NULL, "SECONDS", TRAINING_REAL, AT(save_every), 0, 1e9, 0, .help = "between checkpoints (60)"},
    {"--held-every", NULL, "N", TRAINING_WHOLE, AT(held_every), 1, 100000000, 0,
     .help = "steps between measurements (100)"},
    {"--csv", NULL, "FILE", TRAINING_WORD, AT(csv), 0, 0, 0, .help = "the losses, a line a step"},
    {"--svg", NULL, "FILE", TRAINING_WORD, AT(svg), 0, 0, 0,
     .help = "the losses as a picture (of a run that goes on with --resume: from there, or all with --csv)"},
    {"--threads", "-j", "N", TRAINING_WHOLE, AT(threads), 1, 1024, 0,
     .help = "(all processors); the result has the same bits"},
    {"--kernels", NULL, "ROW", TRAINING_WORD, AT(kernels), 0, 0, 0,
     .help = "a row of the arithmetic (the fastest here; last bits differ):", .choice = kernels_name},
    {"--sandbox", NULL, NULL, TRAINING_FLAG, AT(sandbox), 0, 0, 0,
     .help = "fail where the system has no sandbox for this program (one is entered where there is)"},
    {"--no-sandbox", NULL, NULL, TRAINING_FLAG, AT(no_sandbox), 0, 0, 0, .help = "enter none"},
    {"--quiet", "-q", NULL, TRAINING_FLAG, AT(quiet), 0, 0, 0, .help = "no progress"},
    {"--help", "-h", NULL, TRAINING_FLAG, AT(help), 0, 0, 0, .help = "this help"},
    {0},
};

static const char *option_name(int i) {
    int at = 0;
    for (const TrainingOption *x = training_options; x->help; x++)
        if (x->name && at++ == i) return x->name;
    return NULL;
}

static const TrainingOption *find(const char *word) {
    for (const TrainingOption *x = training_options; x->help; x++)
        if (x->name && (strcmp(word, x->name) == 0 || (x->letter && strcmp(word, x->letter) == 0))) return x;
    return NULL;
}

static int take_number(TrainingOptions *o, const TrainingOption *x, const char *word, const char *value, char *err,
                       size_t errlen) {
    char *end;
    double v = strtod(value, &end);
    int whole = x->type == TRAINING_WHOLE;
    if (*end || end == value || !(v >= x->min && v <= x->max) || (whole && v != (double)(int)v))
        return base_error(err, errlen, -EINVAL, "%s: \"%s\" is no %s from %.9g to %.9g", word, value,
                          whole ? "whole number" : "number", x->min, x->max);
    void *at = (char *)o + x->at;
    if (whole) *(int *)at = (int)v;
    else *(double *)at = v;
    return 0;
}

static int take(TrainingOptions *o, const TrainingOption *x, const char *word, const char *value, char *err,
                size_t errlen) {
    void *at = (char *)o + x->at;
    if (x->type == TRAINING_FLAG) *(int *)at = 1;
    else if (x->type == TRAINING_WORD) *(const char **)at = value;
    else if (x->type != TRAINING_TEXT) return take_number(o, x, word, value, err, errlen);
    else if (o->n_texts == TRAINING_TEXTS)
        return base_error(err, errlen, -EINVAL, "%s: more than %d texts: join them", word, TRAINING_TEXTS);
    else o->texts[o->n_texts++] = value;
    return 0;
}

/* Every option among these words has a use. */
static int check_uses(const TrainingOptions *o, int argc, char **argv, char *err, size_t errlen) {
    for (int i = 1; i < argc; i++) {
        const TrainingOption *x = find(argv[i]);
        const char *why = x && x->no_use ? x->no_use(o) : NULL;
        if (why) return base_error(err, errlen, -EINVAL, "%s: %s", argv[i], why);
        i += x && x->value;
    }
    return 0;
}

int training_parse(TrainingOptions *o, int argc, char **argv, char *err, size_t errlen) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *near;
        const TrainingOption *x = find(word);
        if (!x && word[0] == '-' && word[1]) {
            near = nearest_word(word, option_name);
            return base_error(err, errlen, -EINVAL, near ? "%s is no option; did you mean %s?" : "%s is no option",
                              word, near);
        }
        if (!x && o->out) return base_error(err, errlen, -EINVAL, "%s is one word too many; texts: --text FILE", word);
        if (!x) {
            o->out = word;
            continue;
        }
        if (x->value && i + 1 == argc) return base_error(err, errlen, -EINVAL, "%s needs a value", word);
        int rc = take(o, x, word, x->value ? argv[++i] : NULL, err, errlen);
        if (rc) return rc;
    }
    if (o->help) return 0;
    if (!o->out) return base_error(err, errlen, -EINVAL, "no file to write: OUT.gguf");
    if (!o->n_texts) return base_error(err, errlen, -EINVAL, "nothing to learn from: --text FILE");
    return check_uses(o, argc, argv, err, errlen);
}

char *training_settings(const TrainingOptions *o, uint64_t ids) {
    Buffer b = {0};
    for (const TrainingOption *x = training_options; x->help; x++) {
        const void *at = (const char *)o + x->at;
        if (!x->settles) continue;
        buffer_print(&b, "%s%s=", b.n ? " " : "", x->name + 2);
        if (x->type == TRAINING_REAL) buffer_print(&b, "%.17g", *(const double *)at);
        else if (x->type == TRAINING_WORD) {
            const char *word = *(const char *const *)at;
            buffer_bytes(&b, word ? word : "", word ? strlen(word) : 0);
        } else if (x->type == TRAINING_TEXT)
            for (int i = 0; i < o->n_texts; i++) {
                buffer_bytes(&b, ",", i > 0);
                buffer_bytes(&b, o->texts[i], strlen(o->texts[i]));
            }
        else buffer_print(&b, "%d", *(const int *)at);
    }
    buffer_print(&b, " ids=%016llx", (unsigned long long)ids);
    buffer_bytes(&b, "", 1);
    if (!b.failed) return (char *)b.data;
    free(b.data);
    return NULL;
}
