/* tests/test_encoders.c - encoders with RoPE that are not RoFormer, and decoders that embed, against transformers' own
 * classes and sentence-transformers' own modules in float64.
 *
 * tests/oracle/encoders.py made tests/golden/encoders: for each case config.json as its repository on the Hub has it,
 * the same in transformers 5.24's spelling, the safetensors header, the head that llama.cpp's converter wrote, and
 * sentence-transformers' files; what the model says of texts, and their embeddings; and wrong_encoders.txt, models that
 * are wrong in one thing. They must miss here, too. */
#include "build.h"
#include "decoder_files.h"
#include "base/json.h"
#include "kernels/encoder_kernels.h"
#include "kernels/rows.h"
#include "model/options.h"
#include "program.h"
#include "roformer_files.h"
#include "test.h"
#include "text/sentence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Values are -4 .. 6, embeddings mostly of length 1. Worst seen of float32 against float64: transformers itself 7e-6,
 * in embeddinggemma 2e-5, llama.cpp 3e-6 (tests/oracle/README.md). What is wrong in one thing is off by 0.03 and more
 * there. */
static const double TOLERANCE = 1e-4, WRONG = 1e-2;
enum { LONGEST = 64, WIDTH = 32 };

/* ---- a case ---- */

/* NAME, or NAME.TASK: what the files are called, and the adapter that is asked for (NULL: none). */
typedef struct {
    char files[40];
    const char *task;
    Golden golden;
} Case;

static int case_open(Case *c, const char *name) {
    snprintf(c->files, sizeof c->files, "%.*s", (int)strcspn(name, "."), name);
    c->task = strchr(name, '.') ? strchr(name, '.') + 1 : NULL;
    return golden_read(&c->golden, name);
}

static double most(double a, double b) { return b <= a ? a : b; } /* a NaN stays */

/* How far what s makes of text i, which it has read alone, is from the golden's embeddings and cuts. Cuts are of length
 * 1 there whatever the files say. */
static double vector_apart(const Sentence *x, Session *s, const Golden *g, size_t i, const Texts *texts) {
    float v[GOLDEN_WIDTH];
    double worst = 0;
    for (const GoldenRow *r = g->rows; r < g->rows + g->n_rows; r++) {
        int cut = r->kind == GOLDEN_CUT;
        if (r->text != i || (r->kind != GOLDEN_EMBED && !cut)) continue;
        if (r->n > x->width) return NAN;
        sentence_vector(x, s, texts, 0, cut ? r->n : 0, v);
        if (cut && !x->normalize && !x->layer_norm) texts_normalize(v, r->n);
        for (size_t j = 0; j < r->n; j++) worst = most(worst, fabs((double)v[j] - r->v[j]));
    }
    return worst;
}

/* The largest difference of embeddings; padded texts are left out: sentence.h never has them. */
static double vectors_apart(const char *name, const char *path, const ModelOptions *o, const Golden *g) {
    char err[300] = "";
    Model m;
    Session s = {0};
    Sentence x = {0};
    size_t first = 0;
    double worst = 0;
    if (model_open(&m, path, o, err, sizeof err)) return NAN;
    if (m.weights.notes) decoder_fail(name, "a file that is in order", "has notes");
    if (session_init(&s, &m, &(SessionOptions){.n_ctx = LONGEST, .n_batch = LONGEST, .threads = 1}, err, sizeof err) ||
        sentence_open(&x, &m, err, sizeof err)) {
        decoder_fail(name, "its embeddings:", err);
        worst = NAN;
    }
    for (size_t i = 0; x.width && i < g->n_texts; i++) {
        EncoderText t = golden_text(g, i);
        const Texts texts = {.texts = &t, .first = &first, .n = 1, .n_tokens = t.n};
        if (t.keep) continue;
        if (encoder_read(&s, &t, 1, err, sizeof err)) worst = NAN;
        worst = most(worst, vector_apart(&x, &s, g, i, &texts));
    }
    sentence_close(&x);
    session_free(&s);
    model_close(&m);
    return worst;
}

static int embeds(const Golden *g) {
    for (const GoldenRow *r = g->rows; r < g->rows + g->n_rows; r++)
        if (r->kind == GOLDEN_EMBED) return 1;
    return 0;
}

/* ---- every case ---- */

static double worst_seen;

static void expect(const Case *c, const char *file, const char *path, const Kernels *k, const Golden *g) {
    const ModelOptions o = {.kernels = k, .task = c->task};
    double d = golden_distance(c->files, path, &o, g, LONGEST);
    if (path && embeds(g)) d = most(d, vectors_apart(c->files, path, &o, g));
    worst_seen = most(worst_seen, d);
    if (d <= TOLERANCE) return;
    char what[200];
    snprintf(what, sizeof what, "off by %.2e with kernels %s in", d, k->name);
    decoder_fail(c->files, what, file);
}

/* The golden of a case's GGUF file, which has a head only where the converter wrote one (cls.*). */
static const Golden *of_gguf(const Case *c) {
    static Golden less;
    char *map = decoder_golden(c->files, ".gguf.map", NULL);
    int headless = map && !strstr(map, "cls.");
    less = c->golden;
    less.n_rows = 0;
    for (size_t i = 0; i < c->golden.n_rows; i++) {
        const GoldenRow *r = &c->golden.rows[i];
        int of_head = r->kind == GOLDEN_LOGITS || r->kind == GOLDEN_POOL || r->kind == GOLDEN_LABEL;
        if (!headless || !of_head) less.rows[less.n_rows++] = *r;
    }
    free(map);
    return &less;
}

/* GGUF has no key, or no tensor, for what makes them what they are (config/no key). */
static int is_folder_only(const Case *c) {
    return strcmp(c->files, "nomic_gelu") == 0 || strcmp(c->files, "modernbert_bias") == 0;
}

static void case_holds(const Case *c) {
    static const char *const spellings[] = {"5", "both"};
    const Golden *g = &c->golden, *less = of_gguf(c);
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++) {
        expect(c, "F32 safetensors", hf_folder(c->files, "", TENSOR_F32, &sound), k, g);
        expect(c, "F16 safetensors", hf_folder(c->files, "", TENSOR_F16, &sound), k, g);
        expect(c, "BF16 safetensors", hf_folder(c->files, "", TENSOR_BF16, &sound), k, g);
        const char *path = c->task ? NULL : gguf_file(c->files, TENSOR_F32, &sound);
        if (path) expect(c, "F32 GGUF", path, k, less);
        path = c->task ? NULL : gguf_file(c->files, TENSOR_F16, &sound);
        if (path) expect(c, "F16 GGUF", path, k, less);
    }
    Case merged = *c; /* an adapter is in the matrices then */
    merged.task = NULL;
    if (!is_folder_only(c))
        expect(&merged, "a converted folder",
               converted(c->files, hf_folder(c->files, "", TENSOR_F32, &sound), c->task, 0), kernels_best(), g);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *folder = hf_folder(c->files, spellings[i], TENSOR_F32, &sound);
        if (folder) expect(c, spellings[i], folder, kernels_best(), g);
    }
}

/* All texts read in one call give the bits that each gives alone. */
static void batch_is_alone(const Case *c) {
    static float together[GOLDEN_TEXTS * LONGEST][WIDTH];
    const Golden *g = &c->golden;
    EncoderText texts[GOLDEN_TEXTS];
    char err[300] = "";
    Model m;
    Session s;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < g->n_texts; total += texts[i++].n) texts[i] = golden_text(g, i);
    CHECK(total <= GOLDEN_TEXTS * LONGEST);
    const ModelOptions task = {.task = c->task};
    int rc = model_open(&m, hf_folder(c->files, "", TENSOR_F32, &sound), &task, err, sizeof err);
    CHECK(rc == 0);
    if (rc) return;
    SessionOptions o = {.n_ctx = total, .n_batch = total, .threads = 1};
    CHECK(m.config.d_model == WIDTH && session_init(&s, &m, &o, err, sizeof err) == 0);
    CHECK(encoder_read(&s, texts, g->n_texts, err, sizeof err) == 0);
    for (size_t t = 0; t < total; t++) memcpy(together[t], encoder_hidden(&s, t), sizeof together[t]);
    for (size_t i = 0; i < g->n_texts; at += texts[i++].n) {
        CHECK(encoder_read(&s, &texts[i], 1, err, sizeof err) == 0);
        for (size_t t = 0; t < texts[i].n; t++)
            if ((!texts[i].keep || texts[i].keep[t]) &&
                memcmp(together[at + t], encoder_hidden(&s, t), sizeof together[0]) != 0)
                decoder_fail(c->files, "has other bits in a batch:", g->texts[i].name);
    }
    session_free(&s);
    model_close(&m);
}

/* ---- wrong in one thing ---- */

static void wrong_ones_miss(const char *name, const Case *c) {
    char *text = decoder_golden("wrong_encoders", ".txt", NULL), *line = text;
    const ModelOptions o = {.task = c->task};
    CHECK(text != NULL);
    while (line) {
        Wrong w;
        line = wrong_read(line, &w);
        if (strcmp(name, w.field[0]) != 0) continue;
        const char *path = hf_folder(c->files, "", TENSOR_F32, &w.s);
        double d = w.pooled ? vectors_apart(name, path, &o, &c->golden)
                            : golden_distance(name, path, &o, &c->golden, LONGEST);
        if (getenv("ORACLE_PRINT")) printf("    %s, %s: off by %.2g\n", name, w.field[1], d);
        if (!(d > WRONG)) decoder_fail(name, "the golden does not see", w.field[1]);
    }
    free(text);
}

/* A list that ends with NULL. */
static void run_cases(const char *const *names) {
    static Case c;
    worst_seen = 0;
    for (; *names; names++) {
        if (!case_open(&c, *names)) continue;
        case_holds(&c);
        batch_is_alone(&c);
        wrong_ones_miss(*names, &c);
    }
    if (getenv("ORACLE_PRINT")) printf("    worst difference %.2e\n", worst_seen);
}

static void test_nomic(void) {
    run_cases((const char *const[]){"nomic", "nomic2", "nomic_mlm", "nomic_mlm2", "nomic_untied", "nomic_gelu",
                                    "nomic_cls", NULL});
}
static void test_modernbert(void) {
    run_cases((const char *const[]){"modernbert", "modernbert2", "modernbert_body", "modernbert_bias", NULL});
}
static void test_modernbert_cls(void) {
    run_cases((const char *const[]){"modernbert_cls", "modernbert_mean", "modernbert_tokens", NULL});
}
static void test_eurobert(void) {
    run_cases((const char *const[]){"eurobert", "eurobert_tied", "eurobert_body", "eurobert_bos",
                                    "eurobert_mean", "eurobert_late", "eurobert_tokens", NULL});
}
static void test_neobert(void) { run_cases((const char *const[]){"neobert", "neobert_cls", NULL}); }
static void test_gte(void) {
    run_cases((const char *const[]){"gte", "gte2", "gte_arctic", "gte_english", "gte_reranker", "gte_reranker2",
                                    "gte_tokens", "gte_mlm", NULL});
}

/* What only the code beside models on the Hub has: GTE's q, k and v apart, mixed NTK, the layers' activation in the
 * head; nomic's learned positions; jina's theta where nothing says it, which is another one in transformers. */
static void test_of_hub(void) {
    static Golden g;
    char err[300] = "", from[60], to[60];
    Model m;
    const char *folder = hf_folder("gte2", "", TENSOR_F32, &sound);
    if (!folder || !golden_read(&g, "gte2")) return;
    for (int i = 0; i < 12; i++) {
        const char *which = i % 2 ? "bias" : "weight";
        snprintf(from, sizeof from, "layers.%d.self_attn.%c_proj.%s", i / 6, "qkv"[i / 2 % 3], which);
        snprintf(to, sizeof to, "encoder.layer.%d.attention.%c_proj.%s", i / 6, "qkv"[i / 2 % 3], which);
        folder_change(folder, "model.safetensors", from, to);
    }
    CHECK(golden_distance("q, k and v apart", folder, NULL, &g, LONGEST) <= TOLERANCE);
    const Spoil mixed = {.from = "\"factor\": 8.0", .to = "\"factor\": 8.0, \"mixed_b\": 0.625"},
                silu = {.from = "\"hidden_act\": \"gelu\"", .to = "\"hidden_act\": \"silu\""};
    CHECK(model_open(&m, hf_folder("gte", "", TENSOR_F32, &mixed), NULL, err, sizeof err) == 0);
    CHECK(strcmp(m.config.rope.scaling->name, "ntk-mixed") == 0 && m.config.rope.numbers->power == 0.625);
    model_close(&m);
    CHECK(model_open(&m, hf_folder("gte", "", TENSOR_F32, &silu), NULL, err, sizeof err) == 0);
    CHECK(m.config.roformer.activation == ACTIVATION_SILU);
    model_close(&m);
    folder = hf_folder("nomic", "", TENSOR_F32, &sound);
    folder_change(folder, "model.safetensors", "token_type_embeddings", "position_embeddings");
    folder_change(folder, "config.json", "rotary_emb_fraction", "rotary_emb_fractions");
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == -EINVAL && strstr(err, "rotary_emb_fraction: is missing"));
    const Spoil silent = {.from = "\"rotary_emb_base\": 20000.0,", .to = ""};
    CHECK(model_open(&m, hf_folder("jina_v3", "", TENSOR_F32, &silent), NULL, err, sizeof err) == 0);
    CHECK(m.config.rope.theta == 10000);
    model_close(&m);
}

static void test_jina(void) {
    run_cases((const char *const[]){"jina_v3", "jina_v3_2", "jina_v3_mlm", "jina_v3_untied", "jina_v3_cls", NULL});
}
static void test_gemma(void) { run_cases((const char *const[]){"embeddinggemma", NULL}); }
/* Also where a head is promised that is not there: of a model that embeds nobody wants it. */
static void test_qwen3_embedding(void) {
    static Case c;
    const Spoil untied = {.from = "\"tie_word_embeddings\": true", .to = "\"tie_word_embeddings\": false"};
    run_cases((const char *const[]){"qwen3_embedding", NULL});
    if (!case_open(&c, "qwen3_embedding")) return;
    expect(&c, "a folder without a head", hf_folder(c.files, "", TENSOR_F32, &untied), kernels_best(), &c.golden);
    char err[300] = "";
    Model m;
    Session s;
    const float *logits;
    CHECK(model_open(&m, hf_folder(c.files, "", TENSOR_F32, &untied), NULL, err, sizeof err) == 0 && !m.has_logits);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = LONGEST, .threads = 1}, err, sizeof err) == 0);
    CHECK(session_eval(&s, (const int[]){1}, 1, &logits, err, sizeof err) == -EINVAL && strstr(err, "no head"));
    session_free(&s);
    model_close(&m);
    CHECK(model_open(&m, hf_folder("qwen3_reranker", "", TENSOR_F32, &untied), NULL, err, sizeof err) == -EINVAL);
    CHECK(strstr(err, "tensor lm_head.weight is missing") != NULL);
}

/* A task's LoRA is in the folder. (In llama.cpp's world it is a file of its own beside the GGUF file.) */
static void test_jina_tasks(void) {
    run_cases((const char *const[]){"jina_v3.retrieval.query", "jina_v3.text-matching", NULL});
}

/* ---- a decoder's answer: the last token's logits ---- */

static double answer_apart(const char *name, const char *path, const Kernels *k, const Golden *g, size_t i) {
    EncoderText t = golden_text(g, i);
    size_t n = t.n;
    const GoldenRow *r;
    const float *logits = NULL;
    char err[300] = "";
    double worst = NAN;
    Model m;
    Session s;
    while (t.keep && !t.keep[n - 1]) n--;
    if (!(r = golden_row(g, GOLDEN_LOGITS, i, n - 1)) ||
        model_open(&m, path, &(ModelOptions){.kernels = k}, err, sizeof err)) {
        decoder_fail(name, "model_open:", err);
        return NAN;
    }
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = LONGEST, .threads = 1}, err, sizeof err) == 0);
    if (session_eval(&s, t.ids, n, &logits, err, sizeof err) == 0) worst = 0;
    for (size_t j = 0; logits && j < r->n; j++) {
        double d = fabs((double)logits[j] - r->v[j]);
        if (!(d <= worst)) worst = d;
    }
    session_free(&s);
    model_close(&m);
    return worst;
}

/* Logits of all words, read token by token and as cli/embed.c reads a text; the two that make a score stand among them.
 */
static void test_qwen3_reranker(void) {
    static const TensorType types[] = {TENSOR_F32, TENSOR_F16, TENSOR_BF16};
    static Golden g;
    const Kernels *k;
    if (!golden_read(&g, "qwen3_reranker")) return;
    for (size_t i = 0; i < g.n_texts; i++)
        for (int row = 0; (k = kernels_row(row)); row++)
            for (size_t t = 0; t < 3; t++) {
                CHECK(answer_apart("F", hf_folder("qwen3_reranker", "", types[t], &sound), k, &g, i) <= TOLERANCE);
                CHECK(answer_apart("G", gguf_file("qwen3_reranker", types[t], &sound), k, &g, i) <= TOLERANCE);
            }
    for (size_t i = 0; i < g.n_rows;) /* no classifier says them */
        if (g.rows[i].kind == GOLDEN_LABEL) g.rows[i] = g.rows[--g.n_rows];
        else i++;
    CHECK(golden_distance("F", hf_folder("qwen3_reranker", "", TENSOR_F32, &sound), NULL, &g, LONGEST) <= TOLERANCE);
    CHECK(golden_distance("G", gguf_file("qwen3_reranker", TENSOR_F32, &sound), NULL, &g, LONGEST) <= TOLERANCE);
    const Spoil other = {.from = "\"rope_theta\": 1000000", .to = "\"rope_theta\": 10000"};
    CHECK(answer_apart("theta", hf_folder("qwen3_reranker", "", TENSOR_F32, &other), NULL, &g, 0) > WRONG);
}

/* ---- prompts ---- */

/* Whether the model at path has that prompt for that task; text NULL: none. */
static int prompt_is(const char *path, const char *task, const char *text) {
    char err[300] = "";
    Model m;
    Sentence x;
    if (!path || model_open(&m, path, NULL, err, sizeof err)) return 0;
    CHECK(sentence_open(&x, &m, err, sizeof err) == 0);
    const char *prompt = sentence_prompt(&x, task);
    int is = text ? prompt && strcmp(prompt, text) == 0 : !prompt;
    sentence_close(&x);
    model_close(&m);
    return is;
}

/* All that config_sentence_transformers.json has. A GGUF file has none: what models of its kind are asked with. */
static void test_prompts(void) {
    static const struct { const char *name, *query, *document; int gguf; } cases[] = {
        {"nomic", "search_query: ", "search_document: ", 1},
        {"modernbert_body", "search_query: ", "search_document: ", 0},
        {"gte_arctic", "query: ", NULL, 0},
        {"jina_v3", "Represent the query for retrieving evidence documents: ", NULL, 0},
        {"embeddinggemma", "task: search result | query: ", "title: none | text: ", 1},
        {"qwen3_embedding",
         "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:", "", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].name, *folder = hf_folder(name, "", TENSOR_F32, &sound);
        char err[300] = "";
        Json j = {0};
        char *text = decoder_golden(name, ".config_sentence_transformers.json", NULL);
        CHECK(prompt_is(folder, "query", cases[i].query) && prompt_is(folder, "document", cases[i].document));
        CHECK(prompt_is(folder, "nonsense", NULL) && prompt_is(folder, NULL, ""));
        if (text) CHECK(json_parse(&j, text, strlen(text), name, err, sizeof err) == 0);
        const JsonValue *prompts = json_get(j.root, "prompts");
        for (const JsonValue *e = prompts ? prompts->child : NULL; e; e = e->next)
            if (!prompt_is(folder, e->key, e->str)) decoder_fail(name, "has another prompt for", e->key);
        json_free(&j);
        free(text);
        const char *path = converted(name, folder, NULL, 0);
        CHECK(prompt_is(path, "query", cases[i].query) && prompt_is(path, "document", cases[i].document));
        if (!cases[i].gguf) continue;
        path = gguf_file(name, TENSOR_F32, &sound);
        CHECK(prompt_is(path, "query", cases[i].query) && prompt_is(path, "document", cases[i].document));
    }
}

/* ---- what is not computed here is refused ---- */

static void test_refusals(void) {
    static const struct { const char *name, *from, *to, *file, *task, *line; } bad[] = {
        {"nomic", "\"prenorm\": false", "\"prenorm\": true", NULL, NULL, "prenorm: norms in front"},
        {"nomic", "\"causal\": false", "\"causal\": true", NULL, NULL, "causal: a causal nomic-bert"},
        {"nomic", "\"rotary_emb_fraction\": 1.0", "\"rotary_emb_fraction\": 0.0", NULL, NULL,
         "rotary_emb_fraction: must be above 0"},
        {"nomic", "\"rotary_scaling_factor\": null", "\"rotary_scaling_factor\": 2.0", NULL, NULL,
         "rotary_scaling_factor: "},
        {"nomic", "\"rotary_emb_interleaved\": false", "\"rotary_emb_interleaved\": true", NULL, NULL,
         "rotary_emb_interleaved: pairs side by side"},
        {"nomic", "\"parallel_block\": false", "\"parallel_block\": true", NULL, NULL, "parallel_block: "},
        {"gte", "\"position_embedding_type\": \"rope\"", "\"position_embedding_type\": \"absolute\"", NULL, NULL,
         "only rope is known"},
        {"modernbert_cls", "\"classifier_pooling\": \"cls\"", "\"classifier_pooling\": \"max\"", NULL, NULL,
         "only cls and mean"},
        {"nomic", "\"swiglu\"", "\"glu\"", NULL, NULL, "activation_function: only swiglu and geglu"},
        {"gte", "\"logn_attention_scale\": false", "\"logn_attention_scale\": true", NULL, NULL,
         "logn_attention_scale: "},
        {"gte", "\"layer_norm\"", "\"rms_norm\"", NULL, NULL, "layer_norm_type: only layer_norm"},
        {"gte", "\"ntk\"", "\"moonshine\"", NULL, NULL, "moonshine"},
        {"jina_v3", "\"rotary\"", "\"absolute\"", NULL, NULL, "position_embedding_type: only jina-embeddings-v3's"},
        {"jina_v3", "\"rotary\"", "\"rotary\", \"rotary_emb_interleaved\": true", NULL, NULL,
         "rotary_emb_interleaved: pairs side by side"},
        {"jina_v3", "\"rotary\"", "\"rotary\"", NULL, "separation",
         "there is no adapter \"separation\"; its are retrieval.query, text-matching"},
        {"modernbert", "\"hidden_activation\": \"gelu\"", "\"hidden_activation\": \"moonshine\"", NULL, NULL,
         "moonshine"},
        {"eurobert", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", NULL, NULL, "n_kv_heads"},
        {"neobert", "\"pooling_mode_cls_token\": true", "\"pooling_mode_max_tokens\": true",
         "1_Pooling/config.json", NULL, "pooling \"pooling_mode_max_tokens\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const Spoil s = {.from = bad[i].from, .to = bad[i].to, .file = bad[i].file};
        char err[300] = "";
        Model m;
        Sentence x = {0};
        const char *folder = hf_folder(bad[i].name, "", TENSOR_F32, &s);
        int rc = model_open(&m, folder, &(ModelOptions){.task = bad[i].task}, err, sizeof err), opened = rc == 0;
        if (opened) rc = sentence_open(&x, &m, err, sizeof err);
        if (rc == 0 || !strstr(err, bad[i].line)) decoder_fail(bad[i].name, bad[i].line, rc ? err : "is not refused");
        sentence_close(&x);
        if (opened) model_close(&m);
    }
}

/* [UNK], [CLS], [SEP] and ten words, as BERT's tokenizers have them. */
static const char *with_tokenizer(const char *folder) {
    static const char words[] =
        "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
        "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]\":2,\"where\":3,\"is\":4,"
        "\"the\":5,\"cat\":6,\"dog\":7,\"search\":8,\"_\":9,\"query\":10,\"document\":11,\":\":12}},"
        "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
        "\"strip_accents\":null,\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
        "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],\"cls\":[\"[CLS]\",1]},"
        "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},\"added_tokens\":[]}";
    if (folder) file_write(test_in(folder, "tokenizer.json"), words, sizeof words - 1);
    return folder;
}

/* sentence-transformers' files that mean what is not computed here. */
#define DENSE(n) "{\"type\":\"b.Dense\",\"path\":\"" #n "_Dense\"}"
#define POOLING "{\"type\":\"b.Pooling\",\"path\":\"1_Pooling\"}"

static void test_modules(void) {
    static const struct { const char *file, *text, *line; } bad[] = {
        {"modules.json", "[{\"type\":\"a.Normalize\",\"path\":\"\"},{\"type\":\"b.Pooling\",\"path\":\"1_Pooling\"}]",
         "pooling behind others"},
        {"modules.json", "{\"type\":\"a.Normalize\"}", "must be a list of modules"},
        {"modules.json", "[{\"type\":\"a.Dense\",\"path\":\"../2_Dense\"}]", "path \"../2_Dense\""},
        {"1_Pooling/config.json", "{\"pooling_mode_cls_token\":true,\"pooling_mode_max_tokens\":true}",
         "several ways at once"},
        {"modules.json", "[{\"type\":\"a.Normalize\",\"path\":\"\"}," DENSE(2) "]", "a dense layer behind a norm"},
        {"modules.json", "[" DENSE(2) "," POOLING "]", "pooling behind others"},
        {"modules.json", "[" DENSE(2) "," DENSE(2) "]", "a dense layer without a fitting linear.weight,"},
        {"modules.json", "[" DENSE(2) "," DENSE(3) "," DENSE(2) "," DENSE(3) "," DENSE(2) "]",
         "more dense layers than four, \"2_Dense\""},
        {"modules.json", "[{\"type\":\"b.Dense\",\"path\":\"1_Pooling\"}]", "1_Pooling"},
        {"modules.json", "[{\"type\":\"b.Router\",\"path\":\"1_Pooling\"}]", "module \"Router\""},
        {"modules.json", "[{\"type\":7,\"path\":\"1_Pooling\"}]", "module \"\""},
        {"modules.json", "[{\"type\":\"Pooling\",\"path\":\"1_Pooling\"}]", "module \"\""}, /* of no package */
        {"modules.json", "[{\"type\":\"b.Pooling\",\"path\":7}]", "path \"\""},
        {"modules.json", "[{\"type\":\"b.Pooling\",\"path\":\"..\"}]", "path \"..\""},
        {"modules.json", "[{\"type\":\"b.Pooling\",\"path\":\"1_Pooling\"}", "modules.json: line 1"},
        {"config_sentence_transformers.json", "{", "config_sentence_transformers.json: line 1"},
        {"1_Pooling/config.json", "{\"pooling_mode\":\"mean\",\"include_prompt\":false}", "include_prompt false"},
        {"1_Pooling/config.json", "{\"pooling_mode\":\"max\"}", "pooling \"max\""},
        {"1_Pooling/config.json", "{\"pooling_mode\":\"max\",\"pooling_mode_mean_tokens\":true}", "pooling \"max\""},
        {"1_Pooling/config.json", "{\"pooling_mode\":[\"mean\",\"max\"]}", "several ways at once"},
        {"1_Pooling/config.json", "{\"pooling_mode\":[]}", "pooling \"\""},
        {"1_Pooling/config.json", "{\"pooling_mode_max_tokens\":1}", "pooling \"pooling_mode_max_tokens\""},
        {"1_Pooling/config.json", "[]", "pooling \"without its config.json\""},
        {"1_Pooling/config.json", "{\"pooling_mode_cls_token\":true,\"pooling_mode_mean_tokens\":true}",
         "several ways at once"},
        {"modules.json", "[" DENSE(2) "," DENSE(3) "]", "no Pooling"},
        {"sentence_bert_config.json", "{\"do_lower_case\":true}", "the tokenizer keeps capitals"},
        {"2_Dense/config.json", "{\"use_residual\":true}", "use_residual"},
        {"2_Dense/config.json", "{\"module_input_name\":\"token_embeddings\"}", "of other features"},
        {"2_Dense/config.json", "{\"activation_function\":7}", "activation \"\""},
        {"2_Dense/config.json", "{\"activation_function\":\"torch.nn.modules.activation.Tanhshrink\"}", "Tanhshrink"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char err[300] = "";
        Model m;
        Sentence x;
        const char *folder = hf_folder("embeddinggemma", "", TENSOR_F32, &sound);
        if (!folder) return;
        file_write(test_in(folder, bad[i].file), bad[i].text, strlen(bad[i].text));
        CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
        CHECK(sentence_open(&x, &m, err, sizeof err) < 0 && strstr(err, bad[i].line));
        if (!strstr(err, bad[i].line)) printf("    %s: %s\n", bad[i].text, err);
        model_close(&m);
    }
}

/* A dense layer of a model of width 32, as safetensors: a header, and zeros behind it but for one value. */
static void write_dense(const char *folder, const char *header, size_t bytes) {
    Bytes b = {0};
    bytes_u64(&b, strlen(header));
    bytes_put(&b, header, strlen(header));
    for (size_t i = 0; i < bytes / 4; i++) bytes_f32(&b, i + 1 == bytes / 4 ? 2 : 0);
    file_write(test_in(folder, "2_Dense/model.safetensors"), b.data, b.n);
    free(b.data);
}

/* tanh(W h + b) of W = 0 and b = (0, 2), and no norm behind it. */
static void check_bias(const Sentence *x, const Model *m) {
    static const int ids[] = {2, 5, 1};
    EncoderText text = {.ids = ids, .n = 3};
    size_t first = 0;
    const Texts texts = {.texts = &text, .first = &first, .n = 1, .n_tokens = 3};
    float v[2] = {9, 9};
    char err[300];
    Session s;
    CHECK(session_init(&s, m, &(SessionOptions){.n_ctx = 16}, err, sizeof err) == 0);
    CHECK(encoder_read(&s, &text, 1, err, sizeof err) == 0);
    sentence_vector(x, &s, &texts, 0, 0, v);
    CHECK(v[0] == 0);
    NEAR(v[1], tanh(2), 0, 1e-6);
    session_free(&s);
}

/* What they may say in several ways, or not at all, and what is done with a text before and behind the model. */
static void test_said(void) {
    static const struct { const char *file, *text; Pooling pooling; size_t longest, cut; int unpooled; } rows[] = {
        {"1_Pooling/config.json", "{\"pooling_mode\":[\"cls\"]}", POOLING_CLS, 0, 0, 0},
        {"1_Pooling/config.json", "{\"pooling_mode\":\"cls\",\"pooling_mode_mean_tokens\":true}",
         POOLING_CLS, 0, 0, 0},
        {"1_Pooling/config.json", "{\"word_embedding_dimension\":32}", POOLING_MEAN, 0, 0, 0},
        {"sentence_bert_config.json", "{\"max_seq_length\":3,\"do_lower_case\":true}", POOLING_MEAN, 3, 0, 0},
        {"tokenizer_config.json", "{\"model_max_length\":4}", POOLING_MEAN, 4, 0, 0},
        {"tokenizer_config.json", "{\"model_max_length\":1e30}", POOLING_MEAN, 0, 0, 0},
        {"config_sentence_transformers.json", "{\"truncate_dim\":8}", POOLING_MEAN, 0, 8, 0},
        {"modules.json", "[" POOLING ",{\"type\":\"a.Dropout\",\"path\":\"2_D\"}]", POOLING_MEAN, 0, 0, 0},
        {"modules.json", "[{\"type\":\"a.Transformer\",\"path\":\"\"}]", POOLING_MEAN, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char err[300] = "";
        Model m;
        Sentence x;
        const char *folder = with_tokenizer(hf_folder("nomic", "", TENSOR_F32, &sound));
        if (!folder) return;
        file_write(test_in(folder, rows[i].file), rows[i].text, strlen(rows[i].text));
        CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
        CHECK(sentence_open(&x, &m, err, sizeof err) == 0);
        CHECK(x.pooling == rows[i].pooling && x.longest == rows[i].longest && x.cut == rows[i].cut);
        CHECK(x.unpooled == rows[i].unpooled);
        if (*err) printf("    %s: %s\n", rows[i].text, err);
        sentence_close(&x);
        model_close(&m);
        CHECK(run("embed %s 'where is the cat'", folder) == rows[i].unpooled);
        if (rows[i].longest) CHECK(said_line("line 1 has 6 tokens, of which sentence-transformers reads"));
        if (rows[i].cut) CHECK(said_line("(truncate_dim)"));
        if (rows[i].unpooled) {
            CHECK(said_line("has no Pooling"));
            CHECK(tool("", "convert", "%s %s", folder, test_tmp("unpooled.gguf")) == 0);
            CHECK(run("embed %s cat", test_tmp("unpooled.gguf")) == 1 && said_line("has no Pooling"));
        }
        CHECK(run("embed %s cat --pooling cls -q", folder) == 0 && !*said);
    }
}

/* A converted file says, too, what a classifier's numbers are; a head of the same matrices that asks something else. */
static void test_problem(void) {
    static const char class[] = "ModernBertForSequenceClassification";
    char err[300] = "";
    Model m;
    const char *folder = hf_folder("modernbert_cls", "", TENSOR_F32, &sound);
    if (!folder) return;
    folder_change(folder, "config.json", "\"classifier_bias\"",
                  "\"problem_type\": \"multi_label_classification\", \"classifier_bias\"");
    CHECK(model_open(&m, converted("modernbert_cls", folder, NULL, 0), NULL, err, sizeof err) == 0);
    CHECK(m.config.roformer.classifier == CLASSIFIER_SEQUENCE && m.config.roformer.problem == PROBLEM_MULTI);
    model_close(&m);
    folder_change(folder, "config.json", class, "ModernBertForQuestionAnswering");
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == -EINVAL && strstr(err, "architectures"));
}

/* Its weight and bias, whole and not; what stands behind it; prompts that are told by their type. */
static void test_dense(void) {
#define TENSOR(name, dtype, shape, from, to) \
    "\"linear." name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"
#define WEIGHT TENSOR("weight", "F32", "2,32", "0", "256")
    static const char weight[] = "a dense layer without a fitting linear.weight,", bias[] = "a dense layer's bias,";
    static const struct { const char *header; size_t bytes; const char *line; } rows[] = {
        {"{" WEIGHT "," TENSOR("bias", "F32", "2", "256", "264") "}", 264, NULL},
        {"{" WEIGHT "}", 256, NULL},
        {"{" TENSOR("bias", "F32", "2", "0", "8") "}", 8, weight},
        {"{" TENSOR("weight", "I32", "2,32", "0", "256") "}", 256, weight},
        {"{" TENSOR("weight", "F32", "64", "0", "256") "}", 256, weight},
        {"{" TENSOR("weight", "F32", "4,16", "0", "256") "}", 256, weight},
        {"{" TENSOR("weight", "F32", "0,32", "0", "0") "," TENSOR("bias", "F32", "2", "0", "8") "}", 8, weight},
        {"{" WEIGHT "," TENSOR("bias", "I32", "2", "256", "264") "}", 264, bias},
        {"{" WEIGHT "," TENSOR("bias", "F32", "1,2", "256", "264") "}", 264, bias},
        {"{" WEIGHT "," TENSOR("bias", "F32", "3", "256", "268") "}", 268, bias},
    };
    static const char tanh_said[] = "{\"activation_function\":\"torch.nn.modules.activation.Tanh\"}",
                      modules[] = "[" POOLING "," DENSE(2) "]",
                      prompts[] = "{\"prompts\":{\"a\":7,\"b\":\"B: \"},\"default_prompt_name\":\"b\"}",
                      others[] = "{\"prompts\":[],\"default_prompt_name\":7}";
    const char *folder = hf_folder("embeddinggemma", "", TENSOR_F32, &sound);
    if (!folder) return;
    file_write(test_in(folder, "modules.json"), modules, sizeof modules - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char err[300] = "";
        Model m;
        Sentence x;
        write_dense(folder, rows[i].header, rows[i].bytes);
        file_write(test_in(folder, "2_Dense/config.json"), i % 2 ? "{}" : tanh_said, i % 2 ? 2 : sizeof tanh_said - 1);
        file_write(test_in(folder, "config_sentence_transformers.json"), i ? others : prompts,
                   i ? sizeof others - 1 : sizeof prompts - 1);
        CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
        int rc = sentence_open(&x, &m, err, sizeof err);
        int right = rows[i].line ? rc < 0 && strstr(err, rows[i].line) : rc == 0;
        if (!right) printf("    row %zu: %d, %s\n", i, rc, err);
        CHECK(right);
        if (rc == 0) {
            CHECK(x.width == 2 && x.n_dense == 1 && x.dense[0].tanh == 1);
            CHECK(i ? !x.dense[0].bias : x.dense[0].bias && x.dense[0].bias[0] == 0 && x.dense[0].bias[1] == 2);
            CHECK(i ? x.n_prompts == 2 && !x.usual : x.n_prompts == 1 && strcmp(sentence_prompt(&x, NULL), "B: ") == 0);
        }
        if (i == 0 && rc == 0) check_bias(&x, &m);
        sentence_close(&x);
        model_close(&m);
    }
}

/* llama.cpp has a task's LoRA in a file of its own beside the model's. */
static void test_gguf_refusals(void) {
    char err[300] = "";
    Model m;
    const char *path = gguf_file("jina_v3", TENSOR_F32, &sound);
    CHECK(model_open(&m, path, &(ModelOptions){.task = "text-matching"}, err, sizeof err) == -EINVAL);
    CHECK(strstr(err, "not read here") != NULL);
}

/* What weights-tools/convert writes has llama.cpp's converter's tensors, byte for byte, and no others but a head of
 * words, which that one leaves out. */
static void test_convert(void) {
    static const char *const names[] = {"nomic", "modernbert_body", "modernbert_mean", "eurobert_body", "neobert",
                                        "jina_v3", "embeddinggemma", "qwen3_embedding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char err[300] = "";
        Weights ours, theirs;
        const char *path = converted(names[i], hf_folder(names[i], "", TENSOR_F32, &sound), NULL, 0);
        CHECK(path && weights_open(&ours, path, err, sizeof err) == 0);
        CHECK(weights_open(&theirs, gguf_file(names[i], TENSOR_F32, &sound), err, sizeof err) == 0);
        for (size_t k = 0; k < theirs.n_tensors; k++) {
            const Tensor *t = &theirs.tensors[k], *u = weights_find(&ours, t->name);
            int same = u && u->type == t->type && u->n_dims == t->n_dims && u->size == t->size &&
                       memcmp(u->shape, t->shape, sizeof u->shape) == 0 && memcmp(u->data, t->data, t->size) == 0;
            if (!same) decoder_fail(names[i], u ? "another tensor than llama.cpp's:" : "is not written:", t->name);
        }
        for (size_t k = 0; k < ours.n_tensors; k++) {
            const char *name = ours.tensors[k].name;
            int head = strncmp(name, "mlm.", 4) == 0 || strcmp(name, "output.weight") == 0;
            if (!head && !weights_find(&theirs, name)) decoder_fail(names[i], "llama.cpp has no", name);
        }
        weights_close(&theirs);
        weights_close(&ours);
    }
}

/* ---- the program ---- */

static size_t vector_of(double v[WIDTH]) {
    size_t n = 0;
    for (char *p = out, *end; n < WIDTH && (v[n] = strtod(p, &end), end != p); p = end) n++;
    return n;
}

/* [MASK] is found in a text where the vocabulary is a tokenizer.json, whose special tokens other texts do not have. */
static void test_fill(void) {
    const char *folder = with_tokenizer(hf_folder("modernbert", "", TENSOR_F32, &sound));
    if (!folder) return;
    folder_change(folder, "tokenizer.json", "\"_\":9", "\"[MASK]\":9");
    folder_change(folder, "tokenizer.json", "\"added_tokens\":[]",
                  "\"added_tokens\":[{\"id\":9,\"content\":\"[MASK]\",\"single_word\":false,\"lstrip\":true,"
                  "\"rstrip\":false,\"normalized\":false,\"special\":true}]");
    CHECK(run("fill %s 'where is the [MASK]' --json", folder) == 0 && strstr(out, "\"position\":"));
}

/* -v names both bases of a model whose layers with a window turn by another one. */
static void test_local_theta(void) {
    const char *folder = with_tokenizer(hf_folder("modernbert_body", "", TENSOR_F32, &sound));
    if (folder) CHECK(run("embed %s -v 'the cat'", folder) == 0 && strstr(said, "rope theta 160000, ") &&
                      strstr(said, " entries turn, theta 10000 in layers with a window; window "));
}

/* The words of another model's tokenizer, in the current folder. */
static void test_elsewhere(void) {
    char self[4096], model[4096], here[400];
    const char *folder = hf_folder("nomic", "", TENSOR_F32, &sound);
    if (!folder || !realpath(test_run_path(), self) || !realpath(folder, model)) return;
    snprintf(here, sizeof here, "%s", with_tokenizer(test_folder("elsewhere")));
    CHECK(shell("cd %s && %s embed %s cat", here, self, model) == 1);
    CHECK(said_line("the tokenizer has 13 pieces and the model 96: they do not belong together (-z gives another)"));
    CHECK(shell("cd %s && %s embed %s cat -z tokenizer.json", here, self, model) == 0);
}

/* rank's scores are the cosines of the vectors that embed makes for the two tasks; the best line is the first. */
static void test_rank(void) {
    static const char *const lines[] = {"the dog", "cat", "where is the cat"};
    const char *found = with_tokenizer(hf_folder("nomic", "", TENSOR_F32, &sound));
    char folder[600], expected[60], *line;
    double query[WIDTH], text[WIDTH], best = -2;
    if (!found) return;
    snprintf(folder, sizeof folder, "%s", found);
    CHECK(run("embed %s --task query 'where is the cat' -q", folder) == 0 && vector_of(query) == WIDTH);
    char *scores[3];
    for (size_t i = 0; i < 3; i++) {
        double dot = 0, a = 0, b = 0;
        CHECK(run("embed %s --task document '%s' -q", folder, lines[i]) == 0 && vector_of(text) == WIDTH);
        for (size_t j = 0; j < WIDTH; j++) dot += query[j] * text[j], a += query[j] * query[j], b += text[j] * text[j];
        snprintf(expected, sizeof expected, "%.4f\t%s\n", dot / sqrt(a * b), lines[i]);
        scores[i] = strdup(expected);
        if (dot / sqrt(a * b) > best) best = dot / sqrt(a * b);
    }
    CHECK(piped("the dog\ncat\nwhere is the cat\n", "rank %s 'where is the cat' -q", folder) == 0);
    for (size_t i = 0; i < 3; i++) {
        CHECK(strstr(out, scores[i]) != NULL);
        free(scores[i]);
    }
    CHECK(fabs(strtod(out, &line) - best) < 1e-4);
    CHECK(piped("cat\n", "rank %s dog --pooling nonsense", folder) == 2 && said_line("--pooling"));
    CHECK(piped("cat\n", "rank %s dog --task query", folder) == 2 && said_line("--task tells a reranker"));
    CHECK(piped("cat\n", "embed %s --task nonsense", folder) == 2 && said_line("this model has"));
}

/* ---- embeddings as they are stored ---- */

static double length_of(const GoldenRow *r) {
    double sum = 0;
    for (size_t i = 0; i < r->n; i++) sum += r->v[i] * r->v[i];
    return sqrt(sum);
}

/* Every text of a case with modules.json has one, and cuts of length 1; padding behind a text changes nothing. */
static void test_embeddings(void) {
    static const char *const names[] = {
        "nomic", "nomic2", "modernbert2", "modernbert_body", "eurobert_body", "neobert", "gte", "gte2", "gte_arctic",
        "gte_english", "jina_v3", "jina_v3.retrieval.query", "jina_v3.text-matching", "jina_v3_2", "embeddinggemma",
        "qwen3_embedding"};
    static Golden g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char base[40];
        snprintf(base, sizeof base, "%.*s", (int)strcspn(names[i], "."), names[i]);
        char *modules = decoder_golden(base, ".modules.json", NULL);
        CHECK(modules != NULL && golden_read(&g, names[i]) && g.n_texts == 3);
        for (size_t t = 0; t < 3; t++) {
            const GoldenRow *e = golden_row(&g, GOLDEN_EMBED, t, WIDTH);
            CHECK(e != NULL && e->n == WIDTH);
            if (e && modules && strstr(modules, "Normalize\"")) NEAR(length_of(e), 1.0, 1e-7, 0);
        }
        const GoldenRow *alone = golden_row(&g, GOLDEN_EMBED, 1, WIDTH);
        const GoldenRow *padded = golden_row(&g, GOLDEN_EMBED, 2, WIDTH);
        for (size_t j = 0; alone && padded && j < WIDTH; j++) NEAR(padded->v[j], alone->v[j], 1e-7, 0);
        for (const GoldenRow *r = g.rows; r < g.rows + g.n_rows; r++)
            if (r->kind == GOLDEN_CUT) {
                CHECK(r->n == r->token);
                NEAR(length_of(r), 1.0, 1e-7, 0);
            }
        free(modules);
    }
}

extern const Test tests_encoders[];
const Test tests_encoders[] = {
    {"encoders/nomic", test_nomic},
    {"encoders/modernbert", test_modernbert},
    {"encoders/modernbert's classes", test_modernbert_cls},
    {"encoders/modernbert's second theta", test_local_theta},
    {"encoders/eurobert", test_eurobert},
    {"encoders/neobert", test_neobert},
    {"encoders/gte", test_gte},
    {"encoders/the Hub's own code", test_of_hub},
    {"encoders/jina", test_jina},
    {"encoders/jina's tasks", test_jina_tasks},
    {"encoders/embeddinggemma", test_gemma},
    {"encoders/qwen3 embedding", test_qwen3_embedding},
    {"encoders/qwen3 reranker", test_qwen3_reranker},
    {"encoders/prompts", test_prompts},
    {"encoders/refusals", test_refusals},
    {"encoders/modules", test_modules},
    {"encoders/modules, said otherwise", test_said},
    {"encoders/what a classifier says", test_problem},
    {"encoders/dense", test_dense},
    {"encoders/refusals about GGUF", test_gguf_refusals},
    {"encoders/convert", test_convert},
    {"encoders/fill", test_fill},
    {"encoders/rank", test_rank},
    {"encoders/a tokenizer elsewhere", test_elsewhere},
    {"encoders/embeddings as they are stored", test_embeddings},
    {0},
};
