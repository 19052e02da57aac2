/* tests/test_roformer_facts.c - vectors that stood elsewhere before this engine did: facts/roformer.md 8.4 (whole tiny
 * models, printed in float64 by scripts/tiny_forward.py) and 1.9 (transformers' own tests of its table and its
 * rotation). */
#include "kernels/rows.h"
#include "model/options.h"
#include "roformer_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- 8.4: tensor t, element e: bias + scale sin(t + 0.37 e + 0.0113 e^2), in the order of creation ---- */

typedef struct {
    char json[8000];
    float data[8000];
    size_t n_json, n;
    int t;
} Maker;

static void make(Maker *k, const char *name, size_t rows, size_t cols, double scale, double bias) {
    size_t begin = 4 * k->n, count = rows * (cols ? cols : 1);
    k->t++;
    for (size_t i = 0; i < count; i++) {
        double e = (double)i;
        k->data[k->n++] = (float)(bias + scale * sin(k->t + 0.37 * e + 0.0113 * e * e));
    }
    char shape[40];
    snprintf(shape, sizeof shape, cols ? "%zu,%zu" : "%zu", rows, cols);
    k->n_json += (size_t)sprintf(k->json + k->n_json,
                                 "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                                 k->n_json ? "," : "{", name, shape, begin, 4 * k->n);
}

/* weight and bias of `name`; a norm where cols is 0 */
static void make_two(Maker *k, const char *name, size_t rows, size_t cols, double scale) {
    char full[120];
    snprintf(full, sizeof full, "%s.weight", name);
    make(k, full, rows, cols, cols ? scale : 0.1, cols ? 0 : 1);
    snprintf(full, sizeof full, "%s.bias", name);
    make(k, full, rows, 0, 0.1, 0);
}

enum { V = 11, H = 8, LAYERS = 2, I = 16, E_GAU = 12, S_GAU = 4 };

static const char *in_layer(int l, const char *part) {
    static char name[100];
    snprintf(name, sizeof name, "roformer.encoder.layer.%d.%s", l, part);
    return name;
}

static void make_v1(Maker *k, size_t E) {
    make(k, "roformer.embeddings.word_embeddings.weight", V, E, 0.3, 0);
    make(k, "roformer.embeddings.token_type_embeddings.weight", 2, E, 0.3, 0);
    make_two(k, "roformer.embeddings.LayerNorm", E, 0, 0);
    if (E != H) make_two(k, "roformer.embeddings_project", H, E, 0.3);
    for (int l = 0; l < LAYERS; l++) {
        make_two(k, in_layer(l, "attention.self.query"), H, H, 1);
        make_two(k, in_layer(l, "attention.self.key"), H, H, 1);
        make_two(k, in_layer(l, "attention.self.value"), H, H, 0.3);
        make_two(k, in_layer(l, "attention.output.dense"), H, H, 0.3);
        make_two(k, in_layer(l, "attention.output.LayerNorm"), H, 0, 0);
        make_two(k, in_layer(l, "intermediate.dense"), I, H, 0.3);
        make_two(k, in_layer(l, "output.dense"), H, I, 0.3);
        make_two(k, in_layer(l, "output.LayerNorm"), H, 0, 0);
    }
    make_two(k, "cls.predictions.transform.dense", E, H, 0.3);
    make_two(k, "cls.predictions.transform.LayerNorm", E, 0, 0);
    make(k, "cls.predictions.bias", V, 0, 0.1, 0);
}

static void make_v2_or_gau(Maker *k, int gau) {
    make(k, "roformer.embeddings.word_embeddings.weight", V, H, 0.3, 0);
    make(k, "roformer.embeddings.token_type_embeddings.weight", 2, H, 0.3, 0);
    for (int l = 0; l < LAYERS; l++) {
        if (gau) {
            make(k, in_layer(l, "gau.i_dense.weight"), 2 * E_GAU + S_GAU, H, 1, 0);
            make(k, in_layer(l, "gau.q_scaleoffset.weight"), S_GAU, 0, 0.5, 1);
            make(k, in_layer(l, "gau.k_scaleoffset.weight"), S_GAU, 0, 0.5, 1);
            make(k, in_layer(l, "gau.o_dense.weight"), H, E_GAU, 0.3, 0);
            continue;
        }
        make(k, in_layer(l, "attention.self.query.weight"), H, H, 1, 0);
        make(k, in_layer(l, "attention.self.key.weight"), H, H, 1, 0);
        make(k, in_layer(l, "attention.self.value.weight"), H, H, 0.3, 0);
        make(k, in_layer(l, "attention.output.dense.weight"), H, H, 0.3, 0);
        make(k, in_layer(l, "intermediate.dense.weight"), I, H, 0.3, 0);
        make(k, in_layer(l, "output.dense.weight"), H, I, 0.3, 0);
    }
}

typedef struct {
    const char *name, *keys; /* of config.json, beside the sizes */
    size_t E;
    int gau, padded;
    double x0[H], x4[H], logits2[V], sum; /* 0: not given */
} Fact;

static const char *make_folder(const Fact *f) {
    static char folder[500];
    static Maker k;
    char path[600], config[600];
    memset(&k, 0, sizeof k);
    if (f->E) make_v1(&k, f->E);
    else make_v2_or_gau(&k, f->gau);
    k.n_json += (size_t)sprintf(k.json + k.n_json, "}");
    snprintf(folder, sizeof folder, "%s", test_tmp("roformer-facts"));
    mkdir(folder, 0700);
    snprintf(config, sizeof config,
             "{\"model_type\": \"roformer\", \"vocab_size\": %d, \"hidden_size\": %d, \"embedding_size\": %zu,"
             " \"num_hidden_layers\": %d,\"num_attention_heads\": 2, \"intermediate_size\": %d%s}",
             V, H, f->E ? f->E : H, LAYERS, f->gau ? E_GAU : I, f->keys);
    snprintf(path, sizeof path, "%s/config.json", folder);
    file_write(path, config, strlen(config));
    char *file = calloc(1, 8 + k.n_json + 4 * k.n);
    if (!file) abort();
    for (size_t i = 0; i < 8; i++) file[i] = (char)(k.n_json >> 8 * i & 255);
    memcpy(file + 8, k.json, k.n_json);
    memcpy(file + 8 + k.n_json, k.data, 4 * k.n);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    file_write(path, file, 8 + k.n_json + 4 * k.n);
    free(file);
    return folder;
}

static const Fact facts[] = {
    {.name = "v1 E4", .keys = "", .E = 4,
     .x0 = {1.978822511, -.292455656, -.827213050, 1.070436557, -1.018576619, .070670483, -.934959929, .142935124},
     .x4 = {1.808874368, -.133995330, -.693924428, 1.177228954, -1.387888849, .209469135, -.938352597, .145324433},
     .logits2 = {-.223855543, .271046192, -.128732475, -.142232828, .375520863, -.222380403, .201677940, .460030354,
      -.634498113, -.108006131, .620239883},
     .sum = 2.115843264},
    {.name = "v1 E8", .keys = "", .E = 8,
     .x0 = {1.540380589, -.174524150, -.554832877, -1.476294614, -.053668727, 1.014042404, .568517471, -.923955512},
     .x4 = {-2.133626217, .611405782, .673967915, .680163320, .627546894, .335571351, -.270874810, -.866040418},
     .logits2 = {.829861975, -.576632319, -1.122505123, -.371712406, .842132305, -.937036274, -.414753497, -.591469297,
      -.975896036, .910282890, .594138324},
     .sum = -0.283179200},
    {.name = "v1 rotary_value", .keys = ", \"rotary_value\": true", .E = 4,
     .x0 = {1.987862558, -.636496496, -.762368885, .850520160, -1.135933417, .443519593, -.693111431, .184341063},
     .x4 = {1.893879233, -.504143550, -.693232587, .934930107, -1.356986865, .478076547, -.727477060, .204658124},
     .logits2 = {-.227728919, .008830435, .079494569, -.175240848, .306044238, -.173007413, .308628075, .130279515,
      -.335316920, .073022240, .387642840},
     .sum = 1.790250115},
    {.name = "v1 causal", .keys = ", \"is_decoder\": true", .E = 4,
     .x0 = {1.857900632, -.814303902, -1.251463587, .949201329, -.540507157, .329328716, -.639727908, .416437656},
     .x4 = {1.799229342, -.314995920, -.866481006, 1.169504424, -1.296423516, .312355188, -.809301743, .229881170},
     .logits2 = {-.220093108, .288026070, -.148421601, -.130253767, .368162672, -.210758929, .177145221, .492254537,
      -.639922418, -.142528963, .612194342},
     .sum = 1.860505551},
    {.name = "v1 unilm", .keys = ", \"mask\": \"unilm\"", .E = 4,
     .x0 = {1.963825977, -.102640623, -.627649320, 1.089926844, -1.151776937, -.005677077, -1.056551384, .044383823},
     .x4 = {1.808541935, -.119098240, -.679241673, 1.177468934, -1.394252695, .201380974, -.949026775, .138079074},
     .logits2 = {-.223814197, .272189878, -.129654828, -.142051735, .375758812, -.222535515, .201270634, .461139266,
      -.635449050, -.108374284, .620923000},
     .sum = 2.078952191},
    {.name = "v1 padded", .keys = "", .E = 4, .padded = 1,
     .x0 = {1.963825977, -.102640623, -.627649320, 1.089926844, -1.151776937, -.005677077, -1.056551384, .044383823},
     .logits2 = {-.223814197, .272189878, -.129654828, -.142051735, .375758812, -.222535515, .201270634, .461139266,
      -.635449050, -.108374284, .620923000}},
    {.name = "v2", .keys = "",
     .x0 = {-.609088635, .966001499, -.378935406, -.399150622, .512497593, .680343962, -1.077654520, -2.122752441},
     .x4 = {-1.625826458, -.157520035, .134085073, .340398799, 1.860483978, .504702992, -.693014059, -1.000815363},
     .logits2 = {-.078748022, -.132725555, -.000022379, .563728554, -.601249713, .823343601, 1.044185903, 1.224409390,
      -.790591290, .889613960, -.822868884},
     .sum = 15.215528707},
    {.name = "gau", .keys = ", \"attention_key_size\": 4", .gau = 1,
     .x0 = {-.266673583, -1.794974219, -.371235389, -1.542883160, .433051315, .899867454, -.311994616, -1.045950801},
     .x4 = {0.577716488, -.622516008, .517832368, -.886242879, -1.132073299, 1.705838687, .962281182, -1.052463787}},
};

/* Values up to 2.2, printed with 9 decimals; weights rounded to float32 and float32 sums. Worst seen: 4.3e-7. */
static const double TOLERANCE = 1e-5;

static double apart(const float *got, const double *want, int n) {
    double worst = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= worst)) worst = fabs((double)got[i] - want[i]);
    return worst;
}

static double logits_apart(Session *s, const Fact *f) {
    double sum = 0, worst = apart(encoder_logits(s, 2), f->logits2, V);
    if (f->sum == 0) return worst;
    for (size_t t = 0; t < 5; t++)
        for (int i = 0; i < V; i++) sum += (double)encoder_logits(s, t)[i];
    return fmax(worst, fabs(sum - f->sum) / (5 * V)); /* a mean of 55 */
}

static double fact_apart(const Fact *f, const Kernels *kernels) {
    static const int ids[] = {2, 5, 7, 1, 9}, types[] = {0, 0, 0, 1, 1}, padded[] = {2, 5, 7, 0, 0};
    static const uint8_t keep[] = {1, 1, 1, 0, 0};
    EncoderText text = {.ids = ids, .types = types, .n = 5};
    char err[300] = "";
    Model m;
    Session s;
    if (f->padded) text = (EncoderText){.ids = padded, .keep = keep, .n = 5};
    if (model_open(&m, make_folder(f), &(ModelOptions){.kernels = kernels}, err, sizeof err)) {
        roformer_fail(f->name, "model_open:", err);
        return NAN;
    }
    int rc = session_init(&s, &m, &(SessionOptions){.n_ctx = 5}, err, sizeof err);
    if (rc == 0) rc = encoder_read(&s, &text, 1, err, sizeof err);
    if (rc) roformer_fail(f->name, "", err);
    double worst = rc ? NAN : apart(encoder_hidden(&s, 0), f->x0, H);
    if (rc == 0 && f->x4[0] != 0) worst = fmax(worst, apart(encoder_hidden(&s, 4), f->x4, H));
    if (rc == 0 && f->logits2[0] != 0) worst = fmax(worst, logits_apart(&s, f));
    session_free(&s);
    model_close(&m);
    return worst;
}

static void test_tiny_models(void) {
    double worst = 0;
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            double d = fact_apart(&facts[i], k);
            if (!(d <= worst)) worst = d;
            if (!(d <= TOLERANCE)) roformer_fail(facts[i].name, "is not what facts 8.4 prints, with kernels", k->name);
        }
    if (getenv("ROFORMER_PRINT")) printf("    worst difference %.2e\n", worst);
}

/* ---- 1.9 ---- */

static Rope rope_of(int d) {
    RopeConfig c = {.scaling = &rope_none, .rotary_dim = d, .theta = 10000};
    Rope r;
    rope_init(&r, &c, 1);
    return r;
}

/* q = arange(2 * 12 * 16 * 64) / 100 as [2, 12, 16, 64], k = -q: the first six positions of head 0, eight entries each.
 * The test prints four decimals; its own tolerance is 1e-4. */
static void test_rotation(void) {
    static const double want[6][8] = {
        {0, .01, .02, .03, .04, .05, .06, .07},
        {-.2012, .8897, .0263, .9401, .2074, .9463, .3481, .9343},
        {-1.7057, .6271, -1.2145, 1.3897, -.6303, 1.7647, -.1173, 1.8985},
        {-2.1731, -1.6397, -2.7358, .2854, -2.1840, 1.7183, -1.3018, 2.4871},
        {.2717, -3.6173, -2.9206, -2.1988, -3.6638, .3858, -2.9155, 2.2980},
        {3.9859, -2.1580, -.7984, -4.4904, -4.1181, -2.0252, -4.4782, 1.1253},
    };
    Rope r = rope_of(64);
    const Kernels *kernels;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (int pos = 0; pos < 6; pos++) {
            float q[64], k[64], c[32], s[32];
            for (int i = 0; i < 64; i++) q[i] = (float)(pos * 64 + i) / 100, k[i] = -q[i];
            rope_row(&r, pos, c, s);
            kernels->vec->rotate(q, c, s, 64, ROPE_INTERLEAVED);
            kernels->vec->rotate(k, c, s, 64, ROPE_INTERLEAVED);
            for (int i = 0; i < 8; i++) {
                NEAR((double)q[i], want[pos][i], 1e-4, 0);
                NEAR((double)k[i], -want[pos][i], 1e-4, 0);
            }
        }
}

/* transformers' table: sines of all pairs, then cosines; d = 6, and the first five sines of d = 512. Four decimals. */
static void test_table(void) {
    static const double want[3][6] = {
        {0, 0, 0, 1, 1, 1}, {.8415, .0464, .0022, .5403, .9989, 1}, {.9093, .0927, .0043, -.4161, .9957, 1}};
    static const double wide[3][5] = {{0}, {.8415, .8219, .8020, .7819, .7617}, {.9093, .9364, .9581, .9749, .9870}};
    Rope six = rope_of(6), many = rope_of(512);
    for (int pos = 0; pos < 3; pos++) {
        float c[256], s[256];
        rope_row(&six, pos, c, s);
        for (int i = 0; i < 3; i++) {
            NEAR((double)s[i], want[pos][i], 1e-4, 0);
            NEAR((double)c[i], want[pos][3 + i], 1e-4, 0);
        }
        rope_row(&many, pos, c, s);
        for (int i = 0; i < 5; i++) NEAR((double)s[i], wide[pos][i], 1e-4, 0);
    }
}

extern const Test tests_roformer_facts[];
const Test tests_roformer_facts[] = {
    {"roformer/facts tiny models", test_tiny_models},
    {"roformer/facts rotation", test_rotation},
    {"roformer/facts table", test_table},
    {0},
};
