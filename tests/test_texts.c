/* tests/test_texts.c - fill, embed, classify, generate and logits of a RoFormer, by the program, on small random models
 * that the table of names describes (model/roformer_names.h). What the numbers should be is test_roformer.c's; here it
 * is what the program makes of them: lines, pairs, batches, poolings, JSON, refusals. */
#include "base/json.h"
#include "text/texts.h"
#include "model/roformer_names.h"
#include "build.h"
#include "program.h"
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* printf 'input' | ./run ARGS; its exit code. */
static int run_on(const char *input, const char *fmt, ...) {
    char args[1500], cmd[5000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    snprintf(cmd, sizeof cmd, "printf '%s' | %s %s", input, test_run_path(), args);
    return test_shell(cmd, &out, &said);
}

/* ---- a model ---- */

enum { D = 24, FF = 40, LAYERS = 2, HEADS = 2 };
static const char *const words[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\xe4\xbb\x8a", "\xe5\xa4\xa9",
                                    "\xe5\xbe\x88", "\xe5\xa5\xbd",
                                    "\xe6\x88\x91", "\xe5\x8e\xbb", "good", "##ness", "day", "\xe3\x80\x82",
                                    "\xef\xbc\x8c"};
enum { V = sizeof words / sizeof *words };

/* What a folder holds beside the body. */
typedef struct {
    const char *name, *heads; /* letters of RoformerName.group */
    unsigned variant;         /* NAME_V1, NAME_V2, NAME_GAU */
    const char *config;       /* more keys */
    size_t labels;
} Kind;

static void tensor(FILE *header, FILE *data, const RoformerName *row, int layer, const RoformerSizes *sizes, int gau,
                   size_t *at) {
    char name[ROFORMER_NAME_MAX];
    size_t shape[2] = {1, 1}, n = 1;
    int dims = roformer_names_shape(row, sizes, shape);
    roformer_names_write(name, row, ROFORMER_IN_TORCH, layer, gau);
    for (int i = 0; i < dims; i++) n *= shape[i];
    fprintf(header, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu", *at ? "," : "", name, shape[0]);
    if (dims == 2) fprintf(header, ",%zu", shape[1]);
    fprintf(header, "],\"data_offsets\":[%zu,%zu]}", *at, *at + 4 * n);
    int norm = strstr(name, "LayerNorm.weight") != NULL || strstr(name, "scaleoffset") != NULL;
    for (size_t i = 0; i < n; i++) {
        float v = (float)(norm + 0.4 * sin((double)*at * 0.13 + (double)i * 1.7 + (double)(i % 7) * 0.9));
        fwrite(&v, sizeof v, 1, data);
    }
    *at += 4 * n;
}

static int wanted(const Kind *k, const RoformerName *row) {
    if (!row->torch || row->flags & (NAME_ALIAS | NAME_COMPUTED | NAME_PROJECTED)) return 0;
    return row->group ? strchr(k->heads, row->group) != NULL : (row->flags & k->variant) != 0;
}

/* The folder of that model, in this run's temporary folder. */
static const char *build(const Kind *k) {
    static char folder[512];
    char path[700], *text = NULL, *bytes = NULL;
    size_t n_text = 0, n_bytes = 0, at = 0;
    const RoformerSizes sizes = {.vocab = V, .types = 2, .d_embed = D, .d_model = D, .d_ff = FF, .keys = D,
                                 .values = D, .gau_in = 2 * FF + 8, .gau_key = 8, .labels = k->labels};
    FILE *header = open_memstream(&text, &n_text), *data = open_memstream(&bytes, &n_bytes);
    fputc('{', header);
    const RoformerName *row;
    for (size_t i = 0; (row = roformer_names_row(i)); i++) {
        int layered = row->torch && strchr(row->torch, '#');
        for (int l = 0; wanted(k, row) && l < (layered ? LAYERS : 1); l++)
            tensor(header, data, row, layered ? l : -1, &sizes, k->variant == NAME_GAU, &at);
    }
    fputc('}', header);
    fclose(header), fclose(data);
    snprintf(folder, sizeof folder, "%s", test_tmp(k->name));
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    FILE *f = fopen(path, "wb");
    uint64_t size = n_text;
    fwrite(&size, 8, 1, f), fwrite(text, 1, n_text, f), fwrite(bytes, 1, n_bytes, f);
    fclose(f);
    free(text), free(bytes);
    snprintf(path, sizeof path, "%s/config.json", folder);
    f = fopen(path, "w");
    const char *type = k->variant == NAME_GAU ? "gau_alpha\",\"attention_key_size\":8,\"x\":\"" : "roformer";
    fprintf(f, "{\"model_type\":\"%s\",\"vocab_size\":%d,\"hidden_size\":%d,", type, V, D);
    fprintf(f, "\"num_hidden_layers\":%d,\"num_attention_heads\":%d,\"intermediate_size\":%d,", LAYERS, HEADS, FF);
    fprintf(f, "\"max_position_embeddings\":64%s%s}", *k->config ? "," : "", k->config);
    fclose(f);
    snprintf(path, sizeof path, "%s/vocab.txt", folder);
    f = fopen(path, "w");
    for (int i = 0; i < V; i++) fprintf(f, "%s\n", words[i]);
    fclose(f);
    return folder;
}

static const Kind v1 = {"enc-v1", "m", NAME_V1, "", 0};
static const Kind sim = {"enc-sim", "mp", NAME_V1, "\"pooler_activation\":\"linear\"", 0};
static const Kind gpt = {"enc-gpt", "m", NAME_V1, "\"is_decoder\":true", 0};
static const Kind v2 = {"enc-v2", "", NAME_V2, "\"hidden_act\":\"relu\"", 0};
static const Kind gau = {"enc-gau", "", NAME_GAU, "\"hidden_act\":\"swish\"", 0};
static const Kind sequence = {"enc-seq", "s", NAME_V1, "\"id2label\":{\"0\":\"bad\",\"1\":\"fine\",\"2\":\"great\"}",
                              3};
static const Kind token = {"enc-tok", "c", NAME_V1, "", 2};
static const Kind electra = {"enc-disc", "d", NAME_V1, "", 1};

/* ---- fill ---- */

static void fill(void) {
    const Kind *const kinds[] = {&v1, &v2, &gau};
    for (int i = 0; i < 3; i++) {
        const char *m = build(kinds[i]);
        CHECK(run_on("", "fill %s '今天[MASK]好。'", m) == 0);
        CHECK(strncmp(out, "今天", 6) == 0 && strstr(out, "好。\n  1  ") && *said == 0);
        char *one = out;
        out = NULL;
        /* such a line stays as it is */
        CHECK(run_on("今天[MASK]好。\\n\\n我去\\n", "fill %s", m) == 0 && strstr(said, "no [MASK]"));
        CHECK(strncmp(out, one, strlen(one)) == 0 && strcmp(out + strlen(one), "\n我去\n") == 0);
        CHECK(run_on("", "fill %s 今天", m) == 1 && strstr(said, "no [MASK]"));
        CHECK(run_on("a\\0b[MASK]\\0c\\n", "fill %s", m) == 0 && memcmp(out, "a\0b", 3) == 0);
        CHECK(run_on("我[MASK][MASK]\\ngoodness\\t[MASK]day\\r\\n今天[MASK]好。\\n", "fill %s --top-k 2", m) == 0);
        CHECK(strstr(out, "\n  2  ") != NULL && strchr(out, '\t') == strrchr(out, '\t'));
        free(one);
    }
    Json j;
    char err[200];
    CHECK(run_on("", "fill %s '[MASK]天[MASK]' --top-k 16 --json", build(&v1)) == 0);
    CHECK(json_parse(&j, out, strlen(out), "stdout", err, sizeof err) == 0);
    const JsonValue *masks = json_get(j.root, "masks");
    CHECK(masks && masks->len == 2 && json_get(masks->child, "position")->number == 1 &&
          json_get(masks->child->next, "position")->number == 3);
    double sum = 0, last = 2;
    for (const JsonValue *e = json_get(masks->child, "candidates")->child; e; e = e->next) {
        double p = json_get(e, "probability")->number;
        CHECK(p <= last && p >= 0);
        sum += last = p;
    }
    NEAR(sum, 1, 1e-6, 0); /* of the whole vocabulary, printed with nine digits */
    json_free(&j);
}

/* Many lines at once are read together; each has the bits it has alone. */
static void together(void) {
    char many[3000] = "", *all;
    const char *m = build(&sim);
    for (int i = 0; i < 90; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%s\\n",
                 i % 3 == 0 ? "今天很好" : i % 3 == 1 ? "我去" : "goodness day");
    CHECK(run_on(many, "embed %s -j 2", m) == 0);
    all = out;
    out = NULL;
    CHECK(run_on("今天很好\\n我去\\ngoodness day\\n", "embed %s -j 1", m) == 0);
    size_t n = strlen(out);
    for (int i = 0; i < 30; i++) CHECK(strncmp(all + (size_t)i * n, out, n) == 0);
    CHECK(strlen(all) == 30 * n);
    free(all);
}

/* ---- embed ---- */

static double number(const char *text, int i) {
    while (i--) text = strchr(text, ' ') + 1;
    return strtod(text, NULL);
}

static void embed(void) {
    Model model;
    Session s;
    char err[300];
    float want[D];
    int ids[] = {2, 5, 6, 3}; /* [CLS] 今 天 [SEP] */
    EncoderText text = {.ids = ids, .n = 4};
    const char *m = build(&sim);
    CHECK(model_open(&model, m, NULL, err, sizeof err) == 0 &&
          session_init(&s, &model, &(SessionOptions){.n_ctx = 64}, err, sizeof err) == 0);
    CHECK(encoder_read(&s, &text, 1, err, sizeof err) == 0);
    CHECK(run_on("", "embed %s 今天 --pooling cls", m) == 0);
    for (int i = 0; i < D; i++) NEAR(number(out, i), encoder_hidden(&s, 0)[i], 0, 1e-8);
    CHECK(run_on("", "embed %s 今天 --pooling mean", m) == 0);
    for (int i = 0; i < D; i++) {
        double mean = 0;
        for (size_t t = 0; t < 4; t++) mean += (double)encoder_hidden(&s, t)[i] / 4;
        NEAR(number(out, i), mean, 1e-6, 0); /* rounded to float once */
    }
    encoder_pool(&s, 0, want);
    CHECK(run_on("", "embed %s 今天", m) == 0); /* the pooler, as the file has one */
    for (int i = 0; i < D; i++) NEAR(number(out, i), want[i], 0, 1e-8);
    CHECK(run_on("", "embed %s 今天 --pooler tanh", m) == 0);
    for (int i = 0; i < D; i++) NEAR(number(out, i), tanh((double)want[i]), 1e-6, 0);
    CHECK(run_on("", "embed %s 今天 --normalize", m) == 0);
    double length = 0;
    for (int i = 0; i < D; i++) length += number(out, i) * number(out, i);
    NEAR(length, 1, 1e-6, 0);
    CHECK(run_on("今天\\t今天\\n今天\\tday\\n", "embed %s --pair", m) == 0);
    NEAR(strtod(out, NULL), 1, 1e-6, 0);
    CHECK(strtod(strchr(out, '\n'), NULL) < 0.9999);
    CHECK(run_on("今天\\n", "embed %s --pair", m) == 1 && strstr(said, "line 1"));
    /* the lines before it */
    CHECK(run_on("今\\t天\\n今天\\n", "embed %s --pair", m) == 1 && strstr(said, "line 2") && *out);
    CHECK(run_on("今天\\n", "embed %s --pooling max", m) == 2 && strstr(said, "cls, mean, pooler"));
    session_free(&s);
    model_close(&model);
    CHECK(run_on("今天\\n", "embed %s --pooling pooler", build(&v1)) == 1 && strstr(said, "no pooler"));
    CHECK(run_on("今天\\n", "embed %s", build(&v1)) == 0); /* mean, where there is none */
}

/* ---- classify ---- */

static void classify(void) {
    CHECK(run_on("今天\\n我\\t去\\n", "classify %s", build(&sequence)) == 0);
    CHECK(strstr(out, "bad ") && strstr(out, "fine ") && strstr(out, "great "));
    double sum = 0;
    for (char *p = out; (p = strchr(p, '.')); p++) sum += strtod(p - 1, NULL);
    NEAR(sum, 2, 6e-4, 0); /* two lines of three probabilities, four digits each */
    CHECK(run_on("", "classify %s 今天", build(&token)) == 0);
    CHECK(strncmp(out, "[CLS]\tLABEL_", 12) == 0 && strstr(out, "\n天\tLABEL_"));
    CHECK(run_on("", "classify %s 今天 --json", build(&electra)) == 0 && strstr(out, "\"replaced\""));
    CHECK(run_on("", "classify %s 今天", build(&v1)) == 1 && strstr(said, "no classifier"));
}

/* The three numbers, by the labels' order in the file, of a sequence classifier whose config.json says this, too. */
static void scores(const char *path, const char *key, double v[3]) {
    static const char *const labels[] = {"bad", "fine", "great"};
    CHECK(run_on("", "classify %s 今天 --json", path) == 0);
    for (int i = 0; i < 3; i++) {
        char text[60];
        snprintf(text, sizeof text, "\"label\":\"%s\",\"%s\":", labels[i], key);
        const char *at = strstr(out, text);
        CHECK(at != NULL);
        v[i] = at ? strtod(at + strlen(text), NULL) : 0;
    }
}

/* What problem_type says of the same logits: softmax, sigmoids, themselves; in GGUF, too. */
static void problems(void) {
    static const char *const kinds[] = {NULL, "single_label_classification", "multi_label_classification",
                                        "regression"};
    const char *gguf = test_tmp("problem.gguf");
    double softmax[3], single[3], each[3], plain[3], *const to[] = {softmax, single, each, plain}, again[3];
    for (int i = 0; i < 4; i++) {
        char config[300];
        snprintf(config, sizeof config, "%s,\"problem_type\":%s%s%s", sequence.config, i ? "\"" : "",
                 i ? kinds[i] : "null", i ? "\"" : "");
        Kind k = sequence;
        k.config = config;
        const char *folder = build(&k), *key = i == 3 ? "score" : "probability";
        scores(folder, key, to[i]);
        CHECK(tool("", "convert", "%s %s -q", folder, gguf) == 0);
        scores(gguf, key, again);
        for (int j = 0; j < 3; j++) NEAR(again[j], to[i][j], 1e-6, 1e-5);
    }
    for (int j = 0; j < 3; j++) {
        NEAR(single[j], softmax[j], 0, 0);
        NEAR(each[j], 1 / (1 + exp(-plain[j])), 1e-6, 0);
        NEAR(softmax[j], exp(plain[j]) / (exp(plain[0]) + exp(plain[1]) + exp(plain[2])), 1e-6, 0);
    }
    Kind k = token;
    char config[300], *usual = NULL;
    for (int i = 0; i < 4; i++) { /* tokens' labels are a softmax, whatever it says */
        snprintf(config, sizeof config, "\"problem_type\":%s%s%s", i ? "\"" : "", i ? kinds[i] : "null", i ? "\"" : "");
        k.config = config;
        CHECK(run_on("", "classify %s 今天 --json", build(&k)) == 0 && strstr(out, "\"probability\""));
        if (i == 0) usual = taken_out();
        else CHECK(usual && strcmp(usual, out) == 0);
    }
    free(usual);
    k = sequence;
    snprintf(config, sizeof config, "%s,\"problem_type\":\"guess\"", sequence.config);
    k.config = config;
    CHECK(run_on("", "classify %s 今天", build(&k)) == 1 && said_line("problem_type: is a word not known here"));
}

/* ---- generate, logits ---- */

static void generate(void) {
    CHECK(run_on("", "%s -i 今天 -t 0 --max-tokens 5 --ignore-eos -q", build(&gpt)) == 0 && strncmp(out, "今天", 6) == 0);
    CHECK(run_on("", "%s -i 今天 -t 0 --max-tokens 5 -q", build(&v1)) == 1 && strstr(said, "--mask causal"));
    CHECK(run_on("", "%s -i 今天 -t 0 --max-tokens 5 --mask causal -q", build(&v1)) == 0);
    /* Sim: the text read whole as segment 0, then segment 1 token by token: what logits say of the pair */
    const char *m = build(&sim);
    CHECK(run_on("", "%s -i 今天 -t 0 --max-tokens 3 --ignore-eos --json -q", m) == 0);
    Json j;
    char err[200];
    int ids[7] = {2, 5, 6, 3}, n = 4;
    CHECK(json_parse(&j, out, strlen(out), "stdout", err, sizeof err) == 0);
    for (const JsonValue *e = json_get(j.root, "tokens")->child; e && n < 7; e = e->next) ids[n++] = (int)e->number;
    json_free(&j);
    for (int at = 4; at < 7; at++) {
        char list[100] = "", types[100] = "";
        for (int i = 0; i < at; i++) {
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? "," : "", ids[i]);
            snprintf(types + strlen(types), sizeof types - strlen(types), "%s%d", i ? "," : "", i >= 4);
        }
        CHECK(run_on("", "logits %s --ids %s --type-ids %s", m, list, types) == 0);
        int best = 0;
        for (int i = 1; i < V; i++)
            if (number(out, i) > number(out, best)) best = i;
        CHECK(best == ids[at]);
    }
}

static void logits(void) {
    const char *m = build(&v1);
    CHECK(run_on("", "logits %s --ids 2,5,6,3 --all", m) == 0);
    char *whole = out;
    out = NULL;
    CHECK(run_on("", "logits %s --ids 2,5,6,3,0,0 --attention-mask 1,1,1,1,0,0 --all", m) == 0);
    CHECK(strncmp(out, whole, strlen(whole)) == 0); /* padding is not seen: the same bits */
    CHECK(run_on("", "logits %s --ids 2,5,6,3,0,0 --all", m) == 0);
    CHECK(strncmp(out, whole, strlen(whole)) != 0);
    CHECK(run_on("", "logits %s --ids 2,5,6,3 --type-ids 0,0,1,1 --all", m) == 0 && strcmp(out, whole) != 0);
    free(whole);
    CHECK(run_on("", "logits %s --ids 2,5 --type-ids 0", m) == 2 && strstr(said, "--type-ids has 1"));
    CHECK(run_on("", "logits %s --ids 2,5 --type-ids 0,2", m) == 1 && strstr(said, "type 2"));
    CHECK(run_on("", "logits %s --ids 2,5 --attention-mask 0,0", m) == 1 && strstr(said, "padding"));
    CHECK(run_on("", "logits %s --ids 2,99", m) == 1 && strstr(said, "99"));
    CHECK(run_on("", "logits %s --ids 2", build(&sequence)) == 1 && strstr(said, "no head"));
    char state[512];
    snprintf(state, sizeof state, "%s", test_tmp("texts.state"));
    CHECK(run_on("", "logits %s --ids 2,5,3 --save-state %s", build(&v1), state) == 1 && strstr(said, "whole") &&
          *out == 0);
    CHECK(run_on("", "generate %s -i 今天 --save-state %s --max-tokens 0 -q", build(&sim), state) == 0);
    CHECK(run_on("", "generate %s --load-state %s -t 0 --max-tokens 3 --ignore-eos -q", build(&sim), state) == 0);
    char *loaded = out;
    out = NULL;
    CHECK(run_on("", "generate %s -i 今天 -t 0 --max-tokens 3 --ignore-eos -q", build(&sim)) == 0 &&
          strcmp(loaded, out) == 0);
    free(loaded);
    CHECK(run_on("", "logits %s --ids 5 --type-ids 1 --load-state %s", build(&sim), state) == 2 &&
          strstr(said, "--load-state"));
}

static void refusals(void) {
    const char *m = build(&v1);
    CHECK(run_on("", "fill %s '[MASK]' --arch v3", m) == 2 && strstr(said, "gau-alpha"));
    CHECK(run_on("", "fill %s '[MASK]' --arch gau-alpha", m) == 1 && strstr(said, "gated"));
    CHECK(run_on("", "fill %s '[MASK]' --mask none", m) == 2 && strstr(said, "unilm"));
    CHECK(run_on("", "fill %s '[MASK]' --pooler tanh", m) == 1 && strstr(said, "no pooler"));
    CHECK(run_on("", "fill %s '[MASK]' --top-k 17", m) == 2 && strstr(said, "--top-k"));
    CHECK(run_on("", "fill %s '[MASK]' -f x", m) == 2);
    CHECK(run_on("", "fill %s -f /nowhere/x", m) == 1 && strstr(said, "/nowhere/x"));
    CHECK(run_on("", "fill %s '[MASK]今天很好' -c 5", m) == 1 && strstr(said, "-c"));
    CHECK(run_on("", "fill %s '[MASK]'", "model/tales-1m.gguf") == 1 && strstr(said, "encoders"));
    CHECK(run_on("", "embed") == 0 && *out == 0 && run_on("", "embed /nowhere/m x") == 1);
    CHECK(run_on("", "fill %s '[MASK]' --jieba /nowhere/dict", m) == 1 && strstr(said, "/nowhere/dict"));
    CHECK(run_on("", "fill %s --help", m) == 0 && strstr(out, "[MASK]"));
}

/* ---- text/texts.c by itself ---- */

static void best(void) {
    const float logits_[] = {1, 3, -2, 3, 0};
    Candidate c[5];
    double sum = exp(1.0 - 3) + 1 + exp(-5.0) + 1 + exp(-3.0);
    texts_best(logits_, 5, c, 3);
    CHECK(c[0].id == 1 && c[1].id == 3 && c[2].id == 0);
    NEAR(c[0].p, 1 / sum, 1e-15, 0);
    NEAR(c[2].p, exp(-2.0) / sum, 1e-15, 0);
    texts_best(logits_, 5, c, 5);
    CHECK(c[3].id == 4 && c[4].id == 2);
    float zero[3] = {0, 0, 0}, one[3] = {3, 0, 4};
    texts_normalize(zero, 3);
    texts_normalize(one, 3);
    CHECK(zero[0] == 0 && texts_cosine(zero, one, 3) == 0);
    NEAR(one[2], 0.8, 0, 1e-7);
}

extern const Test tests_texts[];
const Test tests_texts[] = {
    {"texts/fill", fill},       {"texts/together", together}, {"texts/embed", embed},
    {"texts/classify", classify},
    {"texts/what classes are", problems},
    {"texts/generate", generate}, {"texts/logits", logits},   {"texts/refusals", refusals}, {"texts/best", best},
    {0},
};
