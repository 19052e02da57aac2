/* cli/rope/rope.c - the command rope: rotary position embedding by itself. */
#include "cli/rope/rope.h"

#include "model/roformer_kinds.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Topic rope_topics[] = {
    {"table", "[MODEL]", "angles, frequencies, wavelengths, cos and sin of the first positions", rope_table},
    {"clock", "[MODEL]", "the pairs as dials, at position 0, 1, 2 ..", rope_clock},
    {"rotate", "Q POS [MODEL]", "a vector turned by its position, in three ways that agree", rope_turn},
    {"decay", "[MODEL]", "how a score falls with the distance, on the whole", rope_decay},
    {"wavelengths", "[MODEL]", "each pair's wavelength against the trained context, by method", rope_wavelengths},
    {"matrix", "N [MODEL]", "R_N as a matrix and as the exponential of one", rope_matrix},
    {"relative", "[MODEL]", "scores for all positions of a query and a key: constant along diagonals", rope_relatively},
    {"axes", "LAYOUT [MODEL]", "positions of several axes: images and video between words", rope_axes},
    {0}};

int lesson_numbers(const char *option, const char *list, double *to, int most, int *n) {
    *n = 0;
    for (const char *s = list; *s;) {
        char *end;
        if (strchr(", ", *s)) {
            s++;
            continue;
        }
        double v = strtod(s, &end);
        if (end == s || !isfinite(v) || (*end && !strchr(", ", *end)))
            return usage("%s: \"%s\" is not a list of numbers such as 1,0,0.5", option, list);
        if (*n == most) return usage("%s: at most %d numbers", option, most);
        to[(*n)++] = v;
        s = end;
    }
    return *n ? 0 : usage("%s: the list is empty", option);
}

static int check_options(const Args *a, const char *used) {
    const LessonArgs *l = &a->lesson;
    const struct { const char *name; int given; } options[] = {
        {" --theta ", l->thetas != NULL}, {" --dims ", l->dims > 0}, {" --positions ", l->positions > 0},
        {" --pairing ", l->pairing != NULL}, {" --kind ", l->kind != NULL}, {" --q ", l->q != NULL},
        {" --k ", l->k != NULL}, {" --rope ", a->rope.method != NULL || a->rope.factor > 0 || a->rope.n_original > 0},
        {" -c ", a->context.n > 0}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && !strstr(used, options[i].name))
            return usage("rope %s does not use%.*s", a->words[0], (int)strlen(options[i].name) - 1, options[i].name);
    return 0;
}

/* Without a model: the paper's frequencies, or what --theta, --dims and --rope make of them; a context of 256 was
 * trained on, where a method asks. */
static int usual_frequencies(Lesson *x, int usual_dims) {
    const LessonArgs *l = &x->a->lesson;
    double theta = 10000;
    int n, code = l->thetas ? lesson_numbers("--theta", l->thetas, &theta, 1, &n) : 0;
    if (code) return code;
    x->d = l->dims ? (int)l->dims : usual_dims;
    if (x->d % 2 || x->d > 2 * ROPE_MAX_PAIRS)
        return usage("--dims: %d is not an even number up to %d", x->d, 2 * ROPE_MAX_PAIRS);
    if (!(x->numbers = calloc(1, sizeof *x->numbers))) return fail("out of memory");
    *x->numbers = (RopeNumbers){.n_ctx_train = 256, .n_layers = 1, .n_pairs = x->d / 2,
                                .n_ctx = x->a->context.n ? x->a->context.n : 1024};
    x->config = (RopeConfig){.scaling = &rope_none, .rotary_dim = x->d, .theta = theta, .numbers = x->numbers};
    char err[400];
    int rc = x->a->rope.method ? rope_spec_apply(&x->config, x->a->rope.method, err, sizeof err) : 0;
    if (rc) return option_refused(rc, "--", err);
    if (rope_check(&x->config, err, sizeof err)) return usage("%s", err);
    snprintf(x->of, sizeof x->of, "theta %g, heads of %d", theta, x->d);
    return 0;
}

int lesson_open(Lesson *x, Args *a, int i, int usual_dims, const char *used) {
    *x = (Lesson){.a = a};
    a->model = a->n_words > i ? a->words[i] : NULL;
    int code = check_options(a, used);
    if (code == 0 && a->n_words > i + 1) code = usage("\"%s\" is one word too many", a->words[i + 1]);
    if (code == 0 && a->model && (a->lesson.thetas || a->lesson.dims))
        code = usage("%s is for frequencies without a model; %s has its own (--rope-theta changes them)",
                     a->lesson.thetas ? "--theta" : "--dims", a->model);
    if (code) return code;
    if (!a->model) code = usual_frequencies(x, usual_dims);
    else if ((code = engine_open(&x->e, a, 0)) == 0) {
        const Config *c = &x->e.model.config;
        x->config = c->rope;
        x->d = c->head_dim;
        x->trained = c->n_ctx_train;
        snprintf(x->of, sizeof x->of, "%.150s", file_name(a->model));
    }
    if (code == 0 && a->model) code = needs_rope(&x->e, "this");
    if (code) return code;
    files_opened(NULL);
    if (a->lesson.pairing) x->config.pairing = (RopePairing)name_index(rope_pairing_names, a->lesson.pairing);
    rope_init(&x->rope, &x->config, a->context.n ? a->context.n : x->trained ? x->trained : 1024);
    return 0;
}

void lesson_close(Lesson *x) {
    free(x->numbers);
    engine_close(&x->e);
}

size_t lesson_positions(const Lesson *x, size_t usual) {
    return x->a->lesson.positions ? (size_t)x->a->lesson.positions : usual;
}

int run_rope(Args *a) {
    const Topic *meant = topic_among(rope_topics, a->words, a->n_words);
    if (meant && !topic_among(rope_topics, a->words, 1))
        return usage("rope: WHAT stands first: ./run rope %s %s", meant->name, meant->words);
    const Topic *t = topic_named(rope_topics, "rope", a->n_words > 0 ? a->words[0] : NULL);
    return t ? out_end(t->run(a)) : EXIT_USAGE;
}
