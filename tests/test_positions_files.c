/* tests/test_positions_files.c - files of every kind of position: what is refused, and with which line; what commands
 * and tools make of them. */
#include "positions_files.h"

#include "attention/maps.h"
#include "model/options.h"
#include "model/state.h"
#include "rope/positions.h"
#include "build.h"
#include "program.h"
#include "roformer_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- refusals ---- */

/* A case with one key or its last tensor changed, and what is said of it. */
static const struct {
    const char *name, *type, *key, *value; /* type NULL: no key */
    size_t rows, cols;                     /* of the last tensor; 0: as it is */
    const char *option, *why;
} refusals[] = {
    {"nope", "str", "attention.position", "shaw", 0, 0, NULL, "\"shaw\" is not known here (rope, nope, sinusoidal"},
    {"nope", "u32", "attention.position", "3", 0, 0, NULL, "attention.position: must be a word"},
    {"learned", NULL, NULL, NULL, 149, 48, NULL,
     "tensor position_embd.weight has shape [149, 48], the model needs [150, 48]"},
    {"learned", NULL, NULL, NULL, 150, 40, NULL, "needs [150, 48]"},
    {"learned", NULL, NULL, NULL, 7200, 0, NULL, "has shape [7200]"},
    {"nope", "str", "attention.position", "learned", 0, 0, NULL, "tensor position_embd.weight is missing"},
    {"nope", "str", "attention.position", "t5", 0, 0, NULL, "tensor blk.0.attn_rel_b.weight is missing"},
    {"t5", NULL, NULL, NULL, 31, 6, NULL, "tensor blk.0.attn_rel_b.weight has shape [31, 6], the model needs [32, 6]"},
    {"t5", NULL, NULL, NULL, 32, 5, NULL, "needs [32, 6]"},
    {"t5", "u32", "attention.relative_buckets_count", "1", 0, 0, NULL, "at least 2 buckets"},
    {"e.t5", "u32", "attention.relative_buckets_count", "31", 0, 0, NULL, "an even number"},
    {"e.t5", "u32", "attention.relative_buckets_count", "2", 0, 0, NULL, "at least 4 buckets"},
    {"t5", "u32", "attention.relative_max_distance", "16", 0, 0, NULL, "the largest distance must be above"},
    {"alibi.max", "f32", "attention.max_alibi_bias", "nan", 0, 0, NULL, "max_alibi_bias must be above 0"},
    {"alibi.max", "f32", "attention.max_alibi_bias", "-8", 0, 0, NULL, "max_alibi_bias must be above 0"},
    {"alibi.max", "f32", "attention.max_alibi_bias", "inf", 0, 0, NULL, "max_alibi_bias must be above 0"},
    {"nope", "f32", "attention.max_alibi_bias", "8", 0, 0, NULL, "is ALiBi's, and attention.position says nope"},
    {"alibi", "str", "attention.kind", "linear", 0, 0, NULL,
     "this model's positions are alibi, a number for each query and key"},
    {"t5", "str", "attention.kind", "linear", 0, 0, NULL, "linear attention keeps a sum of keys"},
    {"log-n", "str", "attention.kind", "linear", 0, 0, NULL, "attention.log_scale: is for softmax"},
    {"log-n", "u32", "attention.log_scale", "1", 0, 0, NULL, "attention.log_scale: 1 is not a whole number from 2"},
    {"nope", "str", "rope.scaling.type", "xpos", 0, 0, NULL,
     "is for models that rotate, and this one's positions are nope"},
    {"frequencies", "str", "attention.position", "alibi", 0, 0, NULL, "rope_freqs.weight: is for models that rotate"},
    {"xpos", "str", "rope.scaling.type", "yarn", 0, 0, NULL, "is another method"},
    {"linear.keys", "str", "attention.feature_map_key", "cube", 0, 0, NULL, "\"cube\" is not known here"},
    {"linear.keys", "str", "attention.feature_map_key", "favor+", 0, 0, NULL, "favor+ projects, and softmax does not"},
    {"linear.keys", "str", "attention.form", "cosine", 0, 0, NULL, "feature map identity, not softmax"},
    {"learned", NULL, NULL, NULL, 0, 0, "hierarchical:alpha=.5", "alpha must lie between 0 and 1, and not be 0.5"},
    {"learned", NULL, NULL, NULL, 0, 0, "hierarchical:alpha=1", "alpha must lie between 0 and 1"},
    {"learned", NULL, NULL, NULL, 0, 0, "hierarchical:alpha=x", "alpha is not a number"},
    {"learned", NULL, NULL, NULL, 0, 0, "linear", "they are extended by hierarchical"},
    {"sinusoidal", NULL, NULL, NULL, 0, 0, "hierarchical", "positions sinusoidal: there is no table that ends"},
    {"rope", NULL, NULL, NULL, 0, 0, "hierarchical", "this model has RoPE, which --rope stretches"},
};

static void refuses(void) {
    static PositionsCase c;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        Model m;
        char err[600] = "";
        if (!positions_find(&c, refusals[i].name)) continue;
        PositionsPart *last = &c.parts[c.n_parts - 1];
        if (refusals[i].type) positions_set_key(&c, refusals[i].type, refusals[i].key, refusals[i].value);
        if (refusals[i].rows) last->rows = refusals[i].rows, last->cols = refusals[i].cols;
        ModelOptions o = {.position_extend = refusals[i].option};
        int rc = model_open(&m, positions_write(&c), &o, err, sizeof err);
        CHECK(rc == -EINVAL);
        if (!strstr(err, refusals[i].why) || strchr(err, '\n')) positions_fail(&c, err, (double)i);
        if (rc == 0) model_close(&m);
    }
}

/* What goes together: a method that is named twice, a table that is extended (64^2 places, of which the context takes
 * what it needs), linear attention beside positions that are added to words. */
static void takes(void) {
    static PositionsCase c;
    static const struct { const char *name, *key, *value, *option; } rows[] = {
        {"xpos", "rope.scaling.type", "xpos", NULL}, {"learned", NULL, NULL, "hierarchical"},
        {"learned", "attention.kind", "linear", NULL}, {"sinusoidal", "attention.kind", "linear", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Model m;
        char err[600] = "";
        float plain[VOCAB], got[VOCAB];
        Session s;
        if (!positions_find(&c, rows[i].name)) continue;
        for (int changed = 0; changed < 2; changed++) {
            if (changed && rows[i].key) positions_set_key(&c, "str", rows[i].key, rows[i].value);
            ModelOptions o = {.position_extend = changed ? rows[i].option : NULL};
            CHECK(model_open(&m, positions_write(&c), &o, err, sizeof err) == 0);
            if (rows[i].option && changed) CHECK(m.config.n_places > 150 && m.config.n_places <= 150 * 150);
            positions_start(&s, &m, (SessionOptions){.threads = 1});
            positions_go_on(changed ? got : plain, &s, &c, 20, 20);
            session_free(&s);
            model_close(&m);
        }
        CHECK((memcmp(got, plain, sizeof got) == 0) == (i < 2)); /* within its table it is the table */
    }
}

/* A table with a number that is none: its last. */
static void not_finite(void) {
    static PositionsCase c;
    static const char *const names[] = {"learned", "t5"};
    for (int i = 0; i < 2; i++) {
        Model m;
        char err[300] = "";
        size_t n;
        if (!positions_find(&c, names[i])) continue;
        const char *path = positions_write(&c);
        uint8_t *bytes = (uint8_t *)file_read(path, &n);
        const PositionsPart *last = &c.parts[c.n_parts - 1];
        size_t at = n - (4 * part_values(last) + 31) / 32 * 32 + 4 * (part_values(last) - 1);
        memcpy(bytes + at, "\0\0\xc0\x7f", 4);
        file_write(path, bytes, n);
        free(bytes);
        CHECK(model_open(&m, path, NULL, err, sizeof err) == -EINVAL);
        CHECK(strstr(err, "not finite") && strstr(err, last->name));
    }
}

/* ---- one feature map for queries, another for keys ---- */

/* By option as by key; and another state than with one map. */
static void phi_key(void) {
    static PositionsCase c;
    Model m;
    Session s;
    char err[300] = "";
    float want[VOCAB], got[VOCAB];
    if (!positions_find(&c, "linear.keys") || positions_open(&m, &c, NULL)) return;
    positions_start(&s, &m, (SessionOptions){.threads = 1});
    positions_go_on(want, &s, &c, 60, 60);
    CHECK(session_save(&s, test_tmp("phi.state"), err, sizeof err) == 0);
    session_free(&s);
    model_close(&m);
    c.n_keys--; /* the keys' map, which is the last */
    for (int i = 0; i < 2; i++) {
        AttentionOverride a = {.phi_key = i ? NULL : feature_map("exp")};
        CHECK(model_open(&m, positions_write(&c), &(ModelOptions){.attention = a}, err, sizeof err) == 0);
        positions_start(&s, &m, (SessionOptions){.threads = 2});
        positions_go_on(got, &s, &c, 60, 7);
        CHECK((memcmp(got, want, sizeof got) == 0) == (i == 0));
        CHECK((session_load(&s, test_tmp("phi.state"), NULL, err, sizeof err) == 0) == (i == 0));
        session_free(&s);
        model_close(&m);
    }
}

/* A state is of one kind of position: the same weights read otherwise do not take it. */
static void states(void) {
    static PositionsCase c;
    Model m;
    Session s;
    char err[300] = "";
    float logits[VOCAB];
    if (!positions_find(&c, "alibi") || positions_open(&m, &c, NULL)) return;
    positions_start(&s, &m, (SessionOptions){.threads = 1});
    positions_go_on(logits, &s, &c, 20, 20);
    CHECK(session_save(&s, test_tmp("alibi.state"), err, sizeof err) == 0);
    session_free(&s);
    model_close(&m);
    positions_set_key(&c, "f32", "attention.max_alibi_bias", "4");
    for (int i = 0; i < 3 && positions_open(&m, &c, NULL) == 0; i++) {
        positions_start(&s, &m, (SessionOptions){.threads = 1});
        CHECK(session_load(&s, test_tmp("alibi.state"), NULL, err, sizeof err) == -EINVAL);
        session_free(&s);
        model_close(&m);
        c.n_keys--;
        positions_set_key(&c, "str", "attention.position", i ? "rope" : "nope");
    }
}

/* ---- the programs ---- */

/* The compiled-in model's file with a kind of position; the keys together are whole blocks of 32 bytes. */
static const char *story_model(const char *word) {
    size_t n, fill;
    uint8_t *file = (uint8_t *)file_read("model/tales-1m.gguf", &n);
    Bytes b = {0};
    char filler[64];
    bytes_put(&b, file, 16), bytes_u64(&b, load_u64(file + 16) + 2);
    bytes_string(&b, "llama.attention.position"), bytes_u32(&b, META_STRING), bytes_string(&b, word);
    for (fill = 1; (b.n - 24 + 8 + fill + 5) % 32; fill++) {}
    memset(filler, 'x', fill), filler[fill] = 0;
    bytes_string(&b, filler), bytes_u32(&b, META_U8), bytes_u8(&b, 0);
    bytes_put(&b, file + 24, n - 24);
    file_write(test_tmp("story.gguf"), b.data, b.n);
    free(b.data);
    free(file);
    return test_tmp("story.gguf");
}

static void refused(const char *args, const char *model, const char *why) {
    CHECK(run(args, model) == 1);
    CHECK(said_line(why));
}

static void commands(void) {
    static const char why[] = "is of RoPE, and this model has none: its positions are alibi";
    const char *m = story_model("alibi");
    refused("plan %s", m, why);
    refused("explain %s 'Tom had a red ball.' turn", m, why);
    refused("explain %s 'Tom had a red ball.' score", m, why);
    refused("explain %s 'Tom had a red ball.' slide", m, why);
    refused("explain %s 'Tom had a red ball.' pairing", m, why);
    refused("explain %s 'Tom had a red ball.' use", m, why);
    refused("explain %s 'Tom had a red ball.' map --without-rope", m, why);
    refused("rope clock %s", m, why);
    refused("proof %s --angles f32", m, why);
    refused("%s -n 5 --rope yarn:factor=2", m, "rope: yarn stretches RoPE, and this model has none");
    refused("%s -n 5 --rope-theta 500", m, "rope: --rope-theta stretches RoPE");
    refused("%s -n 5 --attention linear", m, "this model's positions are alibi");
    refused("compare %s -f LICENSE --rope none,ntk --lengths 16 --score 64", m, "its positions are alibi");
    CHECK(run("compare %s -f LICENSE --rope none,window:size=8 --lengths 16 --score 64 --csv -q", m) == 0);
    CHECK(run("explain %s 'Tom had a red ball.' map --csv", m) == 0 && strstr(out, "with,0,0,1,0,"));
    CHECK(run("explain %s 'Tom had a red ball.' shift", m) == 0);
    CHECK(run("proof %s -q", m) == 0 && strstr(out, "softmax") && !strstr(out, "linear"));
    CHECK(strstr(out, "0.00e+00")); /* distances alone, exactly */
    CHECK(run("%s -v -t 0 -n 12 -i Once", m) == 0 && strstr(said, "positions alibi, no rope"));
    CHECK(run("perplexity %s -f LICENSE -q", m) == 0);
    char core[1200], *core_out = NULL, *core_said = NULL;
    const char *beside = test_run_path();
    snprintf(core, sizeof core, "%.*score %s", (int)(strlen(beside) - 3), beside, m);
    int code = test_shell(core, &core_out, &core_said); /* 127: there is none */
    CHECK(code == 127 || (code == 1 && strstr(core_said, "attention.position: is not known to the core")));
    free(core_out);
    free(core_said);
    m = story_model("sinusoidal");
    CHECK(run("proof %s -q --attention softmax", m) == 0 && !strstr(out, "0.00e+00"));
    CHECK(run("%s -n 5 --position-extend hierarchical", m) == 1 && said_line("there is no table that ends"));
    CHECK(run("-n 5 --position-extend hierarchical") == 1 && said_line("this model has RoPE"));
    CHECK(run("-n 5 --phi-key exp") == 1 && said_line("--phi-key"));
    CHECK(run("-n 5 --phi-key cube") == 2 && run("-n 5 --attention softmax --phi-key exp") == 2);
    CHECK(run("-n 9 -t 0 --attention linear --phi elu+1 --phi-key exp -v") == 0);
    CHECK(strstr(said, "phi elu+1, of keys exp"));
}

/* inspect says the kind; quantize and convert carry keys and tables. */
static void tools(void) {
    static PositionsCase c;
    Model m;
    Session s;
    char err[300] = "", path[600], to[600];
    float want[VOCAB], got[VOCAB];
    static const char *const programs[] = {"quantize", "convert"}, *const words[] = {"%s %s Q8_0", "%s %s"};
    static const char *const names[] = {"t5", "learned"};
    for (int i = 0; i < 4; i++) {
        if (!positions_find(&c, names[i / 2]) || positions_open(&m, &c, NULL)) return;
        positions_start(&s, &m, (SessionOptions){.threads = 1});
        positions_go_on(want, &s, &c, 60, 60);
        session_free(&s);
        model_close(&m);
        snprintf(path, sizeof path, "%s", positions_write(&c));
        snprintf(to, sizeof to, "%s", test_tmp("carried.gguf"));
        CHECK(tool("", programs[i % 2], words[i % 2], path, to) == 0);
        CHECK(model_open(&m, to, NULL, err, sizeof err) == 0);
        const Tensor *table = weights_find(&m.weights, c.parts[c.n_parts - 1].name);
        CHECK(table && table->type == TENSOR_F32);
        positions_start(&s, &m, (SessionOptions){.threads = 1});
        positions_go_on(got, &s, &c, 60, 60);
        for (int v = 0; v < VOCAB; v++) NEAR((double)got[v], (double)want[v], i % 2 ? 0 : 0.5, 0);
        session_free(&s);
        model_close(&m);
    }
    CHECK(tool("", "inspect", "%s -s", to) == 0 && strstr(out, "positions      learned") && !strstr(out, "\nrope "));
    CHECK(tool("", "inspect", "%s --json", to) == 0 && strstr(out, "\"position\":\"learned\""));
}

/* ---- config.json ---- */

/* A folder whose config.json begins with these keys, too; the folder is new each time. */
static const char *folder_with(const char *keys) {
    static const BuildShape shape = {.d = 48, .ff = 32, .layers = 2, .heads = 6, .kv_heads = 2, .n_ctx = 64};
    const char *folder = test_folder("positions-hf"), *config = test_in(folder, "config.json");
    Bytes b = {0};
    build_hf(folder, &shape, TENSOR_F32, 1);
    char *text = file_read(config, NULL);
    bytes_put(&b, "{", 1), bytes_put(&b, keys, strlen(keys)), bytes_put(&b, text + 1, strlen(text + 1));
    file_write(config, b.data, b.n);
    free(b.data);
    free(text);
    return folder;
}

static void folders(void) {
    static const struct { const char *keys, *name, *why; } rows[] = {
        {"\"alibi\":true,", "alibi", NULL}, {"\"alibi\":false,", "rope", NULL},
        {"\"position_embedding_type\":\"nope\",", "nope", NULL},
        {"\"position_embedding_type\":\"rotary\",", "rope", NULL},
        {"\"position_embedding_type\":\"sinusoidal\",\"attention_log_scale\":64,", "sinusoidal", NULL},
        {"\"position_embedding_type\":\"absolute\",", NULL, "tensor model.embed_positions.weight is missing"},
        {"\"position_embedding_type\":\"t5\",", NULL, "tensor model.relative_attention_bias.weight is missing"},
        {"\"position_embedding_type\":\"relative_key\",", NULL, "\"relative_key\" is not known here"},
        {"\"position_embedding_type\":\"nope\",\"alibi\":true,", NULL, "position says nope"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Model m, converted;
        char err[300] = "", path[600], to[600];
        snprintf(path, sizeof path, "%s", folder_with(rows[i].keys));
        int rc = model_open(&m, path, NULL, err, sizeof err);
        CHECK((rc == 0) == (rows[i].why == NULL));
        if (rc && !strstr(err, rows[i].why)) test_fail(__FILE__, __LINE__, err);
        if (rc) continue;
        CHECK(strcmp(position_kind_of(m.config.positions)->name, rows[i].name) == 0);
        snprintf(to, sizeof to, "%s", test_tmp("from-hf.gguf"));
        CHECK(tool("", "convert", "%s %s --no-tokenizer", path, to) == 0);
        CHECK(model_open(&converted, to, NULL, err, sizeof err) == 0);
        CHECK(position_kind_of(converted.config.positions) == position_kind_of(m.config.positions));
        CHECK(converted.config.log_scale == m.config.log_scale);
        model_close(&converted);
        model_close(&m);
    }
}

static double off(const float *a, const float *b) {
    double most = 0;
    for (int v = 0; v < VOCAB; v++) {
        double d = fabs((double)a[v] - (double)b[v]);
        if (isnan(d)) return d;
        if (d > most) most = d;
    }
    return most;
}

/* Logits of the tenth id of a case's text: by session_eval where it reads ids one by one. */
static void tenth(float *to, const PositionsCase *c, const char *path) {
    Model m;
    Session s;
    char err[300] = "";
    EncoderText text = {.ids = c->texts[0].ids, .n = 10};
    int rc = model_open(&m, path, NULL, err, sizeof err);
    if (rc) {
        test_fail(__FILE__, __LINE__, err);
        return;
    }
    positions_start(&s, &m, (SessionOptions){.threads = 1});
    if (positions_decoder(c)) positions_go_on(to, &s, c, 10, 10);
    else if (encoder_read(&s, &text, 1, err, sizeof err)) test_fail(__FILE__, __LINE__, err);
    else memcpy(to, encoder_logits(&s, 9), VOCAB * sizeof *to);
    session_free(&s);
    model_close(&m);
}

/* Learned tables by Hugging Face's names, as a folder and converted: what the GGUF file says. (Decoders' heads are not
 * in half-split order there, which without rotation makes no difference.) */
static void folders_with_tables(void) {
    static const struct { const char *name, *kind; } rows[] = {
        {"learned", "learned"}, {"learned", "absolute"}, {"t5", "t5"}, {"t5.8", "t5"},
        {"e.learned", "absolute"}, {"e.t5", "t5"}};
    static PositionsCase c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float want[VOCAB] = {0}, got[VOCAB] = {0};
        char folder[600], to[600];
        if (!positions_find(&c, rows[i].name)) continue;
        tenth(want, &c, positions_write(&c));
        snprintf(folder, sizeof folder, "%s", positions_folder(&c, rows[i].kind));
        tenth(got, &c, folder);
        if (!(off(got, want) < 1e-4)) positions_fail(&c, "as a folder", off(got, want));
        snprintf(to, sizeof to, "%s", test_tmp("folder.gguf"));
        CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, to) == 0);
        tenth(got, &c, to);
        if (!(off(got, want) < 1e-4)) positions_fail(&c, "converted", off(got, want));
    }
}

/* RoFormers whose config.json says "absolute", as BERT's descendants' do, have RoPE as ever. */
static void roformers(void) {
    static Golden g;
    Change says = {.from = "{", .to = "{\"position_embedding_type\": \"absolute\","};
    if (!golden_read(&g, "mlm")) return;
    CHECK(golden_distance("mlm", roformer_folder("mlm", TENSOR_F32, &says), NULL, &g, 64) < 1e-4);
}

const Test tests_positions_files[] = {
    {"positions files/refuses", refuses},
    {"positions files/takes", takes},
    {"positions files/numbers that are none", not_finite},
    {"positions files/maps of keys", phi_key},
    {"positions files/states", states},
    {"positions files/commands", commands},
    {"positions files/tools", tools},
    {"positions files/folders", folders},
    {"positions files/folders with tables", folders_with_tables},
    {"positions files/RoFormers", roformers},
    {0}};
