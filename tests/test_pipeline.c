/* tests/test_pipeline.c - every component of tokenizer.json on small vocabularies, against `tokenizers`
 * (golden/pipelines.json); what is refused; files cut at every length. */
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "tokenizer/open.h"
#include "random_text.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char err[300];

static int open_text(Tokenizer **t, const char *text, size_t n) {
    const char *path = test_tmp("tokenizer.json");
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(text, 1, n, f) == n);
    if (f) fclose(f);
    err[0] = 0;
    return tokenizer_open(t, path, err, sizeof err);
}

/* A tokenizer.json of parts, a JSON object of them, and a model. */
static int open_parts(Tokenizer **t, const char *parts, const char *model) {
    size_t n = strlen(parts), room = n + strlen(model) + 20;
    char *text = malloc(room);
    n = (size_t)snprintf(text, room, "%.*s%s\"model\":%s}", (int)n - 1, parts, n > 2 ? "," : "", model);
    int rc = open_text(t, text, n);
    free(text);
    return rc;
}

/* ---- against the reference ---- */

static const uint64_t END = 0xffffffff; /* of a list */

static uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * 0x100000001b3u; }

static uint64_t mix_ids(uint64_t h, const int *ids, size_t n) {
    for (size_t i = 0; i < n; i++) h = mix(h, (uint64_t)ids[i]);
    return h;
}

static uint64_t mix_decoded(uint64_t h, const Tokenizer *t, const int *ids, size_t n) {
    size_t bound = tokenizer_decode_bound(t);
    char *out = malloc(bound);
    TokenStream s = {0};
    for (size_t i = 0; i <= n; i++) {
        size_t len = i < n ? tokenizer_decode(t, &s, ids[i], out) : tokenizer_decode_end(t, &s, out);
        CHECK(len <= bound);
        for (size_t k = 0; k < len; k++) h = mix(h, (unsigned char)out[k]);
    }
    free(out);
    return mix(h, END);
}

typedef struct {
    const char *s;
    size_t n;
} String;

/* What text a becomes, and a and b together, on top of h[5]. */
static void hash_text(const Tokenizer *t, String a, const String *b, uint64_t h[5]) {
    static const int flags[] = {ENCODE_BARE, ENCODE_SPECIAL, ENCODE_ADDED};
    int *ids, *types;
    size_t n;
    for (int i = 0; i < 3; i++) {
        CHECK(tokenizer_encode(t, a.s, a.n, flags[i], &ids, &n, err, sizeof err) == 0);
        if (!ids) return;
        h[i] = mix(mix_ids(h[i], ids, n), END);
        if (i == 0) h[4] = mix_decoded(h[4], t, ids, n);
        free(ids);
    }
    if (!b) return;
    CHECK(tokenizer_encode_pair(t, a.s, a.n, b->s, b->n, ENCODE_ADDED, &ids, &types, &n, err, sizeof err) == 0);
    if (!ids) return;
    h[3] = mix(mix_ids(mix_ids(h[3], ids, n), types, n), END);
    free(ids);
    free(types);
}

typedef struct {
    String *texts;       /* [n] */
    size_t n;
    const char **models; /* [n_models] JSON */
    size_t n_models;
    const JsonValue *rows;
    char *random;
    Json json;
} Golden;

static int golden_open(Golden *g) {
    memset(g, 0, sizeof *g);
    CHECK(json_open(&g->json, "tests/golden/pipelines.json", err, sizeof err) == 0);
    const JsonValue *texts = json_get(g->json.root, "texts"), *random = json_get(g->json.root, "random"),
        *models = json_get(g->json.root, "models");
    if (!random || !texts || !models) return 0;
    size_t n_random = (size_t)random->number;
    uint64_t state = 1;
    g->texts = calloc(texts->len + n_random, sizeof *g->texts);
    g->random = malloc(n_random * RANDOM_TEXT_MAX);
    g->models = calloc(models->len, sizeof *g->models);
    for (const JsonValue *v = texts->child; v; v = v->next) g->texts[g->n++] = (String){v->str, v->len};
    for (char *s = g->random; g->n < texts->len + n_random; s += RANDOM_TEXT_MAX)
        g->texts[g->n++] = (String){s, random_text(&state, s)};
    for (const JsonValue *v = models->child; v; v = v->next) g->models[g->n_models++] = v->str;
    g->rows = json_get(g->json.root, "rows");
    return 1;
}

static void golden_close(Golden *g) {
    free(g->texts);
    free(g->random);
    free(g->models);
    json_free(&g->json);
}

static const char *parts_of(const JsonValue *row) { return json_get(row, "parts")->str; }
static const char *model_of(const Golden *g, const JsonValue *row) {
    return g->models[(size_t)json_get(row, "model")->number];
}

static void components(void) {
    static const char *const what[] = {"ids", "special", "added", "pairs", "decoded"};
    Golden g;
    if (!golden_open(&g)) return;
    CHECK(g.rows && g.rows->len > 70);
    for (const JsonValue *row = g.rows ? g.rows->child : NULL; row; row = row->next) {
        Tokenizer *t;
        int rc = open_parts(&t, parts_of(row), model_of(&g, row));
        CHECK(rc == 0);
        if (rc) printf("    %s: %s\n", json_get(row, "name")->str, err);
        if (rc) continue;
        uint64_t h[5] = {HASH_START, HASH_START, HASH_START, HASH_START, HASH_START};
        for (size_t i = 0; i < g.n; i++) hash_text(t, g.texts[i], i + 1 < g.n ? &g.texts[i + 1] : NULL, h);
        const JsonValue *want = json_get(row, "hash")->child;
        for (int i = 0; i < 5; i++, want = want->next) {
            CHECK(h[i] == strtoull(want->str, NULL, 16));
            if (h[i] != strtoull(want->str, NULL, 16)) printf("    %s: %s\n", json_get(row, "name")->str, what[i]);
        }
        tokenizer_free(t);
    }
    golden_close(&g);
}

/* ---- what is refused, and why ---- */

static const char small[] = "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"<0x41>\":3},\"merges\":[\"a b\"]}";

static void refused(const char *parts, const char *model, const char *why) {
    Tokenizer *t;
    int rc = open_parts(&t, parts, model);
    CHECK(rc == -EINVAL && t == NULL);
    int said = strstr(err, why) != NULL;
    CHECK(said);
    if (!said) printf("    \"%s\" does not say \"%s\"\n", err, why);
    tokenizer_free(t);
}

static const char *const bad_parts[][2] = {
    {"{\"normalizer\":{\"type\":\"Rot13\"}}", "\"Rot13\""}, {"{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"}}",
    "\"UnicodeScripts\""}, {"{\"decoder\":{\"type\":\"CTC\"}}", "\"CTC\""},
    {"{\"post_processor\":{\"type\":\"Upside\"}}", "\"Upside\""}, {"{\"normalizer\":{\"type\":7}}", "normalizer"},
    {"{\"normalizer\":[]}", "normalizer"}, {"{\"decoder\":\"ByteLevel\"}", "decoder"},
    {"{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Rot14\"}]}}",
     "\"Rot14\""},
    {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(a|b)+c\"},\"content\":\"\"}}", "\"(a|b)+c\""},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x?y{7}\"},"
     "\"behavior\":\"Isolated\",\"invert\":false}}", "\"x?y{7}\""},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"x\"},"
     "\"behavior\":\"Shredded\",\"invert\":false}}", "\"Shredded\""},
    {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"!!!\"}}", "base64"},
    {"{\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a\"},\"content\":\"\"}}", "Replace"},
    {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[X]\",1],\"cls\":[\"a\",0]}}", "post-processor"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\","
     "\"single\":[{\"SpecialToken\":{\"id\":\"[Q]\",\"type_id\":0}}],\"pair\":[],"
     "\"special_tokens\":{}}}", "\"[Q]\""},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\","
     "\"single\":[{\"SpecialToken\":{\"id\":\"q\",\"type_id\":0}}],\"pair\":[],"
     "\"special_tokens\":{\"q\":{\"id\":\"q\",\"ids\":[4],\"tokens\":[\"q\"]}}}}", "post-processor"},
    {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"}}}",
     "the content of the normalizer Replace is missing"},
    {"{\"normalizer\":{\"type\":\"Replace\",\"content\":\"b\"}}",
     "the pattern of the normalizer Replace is missing"},
    {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":7},\"content\":\"b\"}}",
     "the pattern of the normalizer Replace is missing"},
    {"{\"normalizer\":{\"type\":\"Prepend\"}}", "what the normalizer Prepend puts in front is missing"},
    {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":7}}",
     "the normalizer Precompiled's map is missing"},
    {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}}",
     "its normalizer Precompiled"},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":7},\"behavior\":\"Isolated\"}}",
     "the pattern of the pre-tokenizer Split is missing"},
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"x\"}}}",
     "the behavior of a pre-tokenizer is missing"},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"last\"}}",
     "the prepend_scheme of the pre-tokenizer Metaspace \"last\""},
    {"{\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"\"}}",
     "the delimiter of a pre-tokenizer is missing"},
    {"{\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\"}}", "the delimiter of a pre-tokenizer is missing"},
    {"{\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"Shredded\"}}",
     "the behavior of a pre-tokenizer \"Shredded\""},
    {"{\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"bb\"}}",
     "the decoder Replace, where text grows longer,"},
    {"{\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"\"}}",
     "a setting of a decoder is missing"},
    {"{\"decoder\":{\"type\":\"Replace\"}}", "the pattern of the decoder Replace is missing"},
    {"{\"decoder\":{\"type\":\"Strip\",\"start\":-1}}", "the decoder Strip's start is missing"},
    {"{\"decoder\":{\"type\":\"Strip\",\"start\":1000}}", "the decoder Strip's start is missing"},
    {"{\"decoder\":{\"type\":\"Strip\"}}", "the decoder Strip's start is missing"},
    {"{\"decoder\":{\"type\":\"Strip\",\"start\":1,\"stop\":1}}", "the decoder Strip with a stop"},
    {"{\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":7}}", "a setting of a decoder is missing"},
    {"{\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"\"}}", "a setting of a decoder is missing"},
    {"{\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"CTC\"},{\"type\":\"Fuse"
     "\"}]}}",
     "the decoder \"CTC\""},
    {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"a\",0]}}",
     "a token of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"a\",0],\"cls\":[]}}",
     "a token of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[7,0],\"cls\":[\"a\",0]}}",
     "a token of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":[\"q\",0],\"cls\":[\"a\",0]}}",
     "a token of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},{\"type\":\"Upside\"},"
     "{\"type\":\"ByteLevel\"}]}}",
     "the post-processor \"Upside\""},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"Text\":{\"id\":\"A\"}}]}}",
     "an item of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":0}}]}}",
     "a token of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"q\"}}],\"spec"
     "ial_tokens\":{\"q\":{\"ids\":[-1]}}}}",
     "an id of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"q\"}}],\"spec"
     "ial_tokens\":{\"q\":{\"ids\":[\"0\"]}}}}",
     "an id of the post-processor is missing"},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[],\"pair\":[{\"Sequence\":{\"id\":\"A\"}}"
     ",{\"Sequence\":{\"id\":\"A\"}},{\"Sequence\":{\"id\":\"A\"}},{\"Sequence\":{\"id\":\"A\"}},{\"Sequence\":{"
     "\"id\":\"A\"}},{\"Sequence\":{\"id\":\"A\"}},{\"Sequence\":{\"id\":\"A\"}},{\"Sequence\":{\"id\":\"A\"}},{"
     "\"Sequence\":{\"id\":\"A\"}}]}}",
     "repeats its texts more than 8 times"},
    {"{\"added_tokens\":[{\"id\":5,\"content\":7}]}", "an added token has no content, or no id"},
    {"{\"added_tokens\":[{\"id\":1,\"content\":\"x\"}]}", "another piece"},
    {"{\"added_tokens\":[{\"id\":2000000000,\"content\":\"x\"}]}", "added token"},
    {"{\"added_tokens\":[{\"id\":5}]}", "added token"}, {"{\"added_tokens\":[{\"id\":1.5,\"content\":\"x\"}]}",
        "added token"},
    {"{\"added_tokens\":[{\"id\":5,\"content\":\"\"}]}", "added token"}, {"{\"added_tokens\":7}", "added_tokens"}};

static void refused_parts(void) {
    Tokenizer *t;
    CHECK(open_parts(&t, "{}", small) == 0);
    tokenizer_free(t);
    for (size_t i = 0; i < sizeof bad_parts / sizeof *bad_parts; i++) refused(bad_parts[i][0], small, bad_parts[i][1]);
}

#define PREFIXED "{\"type\":\"BPE\",\"continuing_subword_prefix\":\"##\",\"vocab\":{\"a\":0,\"##b\":1,\"ab\":2,"

static void refused_models(void) {
    static const char *const models[][2] = {
        {"7", "no tokenizer.json"}, {"{}", "model"}, {"{\"type\":\"Bigram\",\"vocab\":{}}", "\"Bigram\""},
        {"{\"type\":\"BPE\",\"merges\":[]}", "vocab"}, {"{\"type\":\"BPE\",\"vocab\":[],\"merges\":[]}", "vocab"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0}}", "merges"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}", "same id 0"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}", "\"a\""},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":4000000000},\"merges\":[]}", "\"a\""},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":\"0\"},\"merges\":[]}", "\"a\""},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[\"a b\"]}", "merge 0"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"ab\":1},\"merges\":[\"a b\"]}", "merge 0"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"a a\",\"aaa\"]}", "merge 1"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}", "merge 0"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[7]}", "merge 0"},
        {"{\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{\"a\":0},\"merges\":[]}", "dropout"},
        {"{\"type\":\"WordLevel\",\"unk_token\":\"[U]\",\"vocab\":{\"a\":0}}", "\"[U]\""},
        {"\"x\"", "the model is missing or of the wrong type"},
        {"{\"type\":\"Unigram\",\"vocab\":{}}", "the model's vocab is missing"},
        {"{\"type\":\"Unigram\"}", "the model's vocab is missing"},
        {"{\"type\":\"Unigram\",\"vocab\":[7]}", "piece 0 is no text with a score"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[7,1]]}", "piece 1 is no text with a score"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\",\"b\"]]}", "piece 0 is no text with a score"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[[\"a\",7]]}", "merge 0"},
        {PREFIXED "\"##ab\":3},\"merges\":[\"a ##b\",\"a ab\"]}", "merge 1"}, /* shorter than the prefix, or .. */
        {PREFIXED "\"aab\":3},\"merges\":[\"a ##b\",\"a ab\"]}", "merge 1"},
        {PREFIXED "\"bab\":3,\"bbb\":4,\"abbb\":5},\"merges\":[\"a bbb\"]}", "merge 0"}, /* .. otherwise begun */
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":{}}", "the model's merges is missing"},
        {"{\"vocab\":7}", "the model's vocab is missing"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}", "piece 0"},
        {"{\"type\":\"Unigram\",\"unk_id\":9,\"vocab\":[[\"a\",-1]]}", "unk_id"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[\"a\",-2]]}", "pieces 0 and 1 are spelled alike"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[\"b\",-2],[\"b\",-2],[\"a\",-1]]}", "pieces 1 and 2 are"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"b\",-1],[\"a\",-2],[\"a\",-2],[\"b\",-1]]}", "pieces 1 and 2 are"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) refused("{}", models[i][0], models[i][1]);
    Tokenizer *t;
    static const char neither[] = "{\"config\":{}}";
    CHECK(open_text(&t, neither, sizeof neither - 1) == -EINVAL && strstr(err, "JSON, but no tokenizer.json"));
}

/* A text to search for that is longer than what is matched at once. */
static void refused_texts(void) {
    char parts[500], text[258] = "";
    memset(text, 'x', sizeof text - 1);
    snprintf(parts, sizeof parts,
             "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"%s\"},\"content\":\"\"}}", text);
    refused(parts, small, "the text of the normalizer Replace, longer than 256 bytes,");
    snprintf(parts, sizeof parts, "{\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"%s\"}}", text);
    refused(parts, small, "the text that a pre-tokenizer cuts at, longer than 256 bytes,");
    snprintf(parts, sizeof parts, "{\"added_tokens\":[{\"id\":4,\"content\":\"%s\",\"special\":true}]}", text);
    refused(parts, small, "the added token 4 is longer than 256 bytes");
    text[65] = 0; /* 64 bytes of an affix are read; here none of the pieces has it */
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "end_of_word_suffix" : "continuing_subword_prefix";
        static const char form[] = "{\"type\":\"BPE\",\"%s\":\"%s\",\"vocab\":{\"a\":0},\"merges\":[]}";
        char model[400], why[100];
        Tokenizer *t;
        snprintf(model, sizeof model, form, key, text);
        snprintf(why, sizeof why, "the model's %s is longer than 64 bytes", key);
        refused("{}", model, why);
        snprintf(model, sizeof model, form, key, text + 1);
        CHECK(open_parts(&t, "{}", model) == 0);
        tokenizer_free(t);
    }
}

/* Normalizers that double an added token's text sixty times. */
static void refused_growth(void) {
    static const char twice[] = "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}";
    char parts[60 * sizeof twice + 200];
    size_t n = (size_t)snprintf(parts, sizeof parts,
                                "{\"added_tokens\":[{\"id\":4,\"content\":\"xa\",\"normalized\":true}],"
                                "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    for (int i = 0; i < 60; i++) n += (size_t)snprintf(parts + n, sizeof parts - n, "%s%s", i ? "," : "", twice);
    snprintf(parts + n, sizeof parts - n, "]}}");
    refused(parts, small, "its normalizers let an added token grow beyond all measure");
}

#define MARK "\xe2\x96\x81"
static const char spaces[] =
    "{\"type\":\"BPE\",\"vocab\":{\"" MARK "\":0,\"a\":1,\"" MARK "a\":2},\"merges\":[\"" MARK " a\"]}";
#define NMT "{\"normalizer\":{\"type\":\"Nmt\"}}"
#define BERT "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true," \
         "\"lowercase\":true}}"
static const char spaced[] = "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\" \":1},\"merges\":[]}";
#define WORDS(more) "{\"type\":\"WordPiece\",\"unk_token\":\"[U]\"," more "\"vocab\":{\"[U]\":0,\"a\":1,\"##a\":2}}"

/* Settings that are null, absent, or of a kind that does not count: what a text becomes then. */
static const struct { const char *parts, *model, *text; size_t n; int ids[6]; } texts[] = {
    {"{\"added_tokens\":null,\"decoder\":null,\"normalizer\":null,\"pre_tokenizer\":null,\"post_processor\":null}",
     small, "abb", 2, {2, 1}},
    {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"\"}}", small, "abb", 2, {2, 1}},
    {"{\"normalizer\":{\"type\":\"Sequence\"},\"decoder\":{\"type\":\"Sequence\"}}", small, "abb", 2, {2, 1}},
    {"{\"pre_tokenizer\":{\"type\":\"Sequence\"},\"post_processor\":{\"type\":\"Sequence\"}}", small, "ab", 1, {2}},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\"}}", spaces, "a", 1, {2}},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\"}}", spaces, "a", 1, {2}},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":7}}", spaces, "a", 1, {2}},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"add_prefix_space\":false}}", spaces, "a a", 2, {1, 2}},
    {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}}", spaces, "a a", 2, {1, 2}},
    {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":["
     "{\"SpecialToken\":{\"id\":\"a\",\"type_id\":-1}},{\"Sequence\":{\"id\":\"A\",\"type_id\":1000}},"
     "{\"SpecialToken\":{\"id\":\"q\",\"type_id\":\"x\"}}],\"special_tokens\":{\"q\":{\"ids\":[2,1]}}}}",
     small, "b", 4, {0, 1, 2, 1}},
    {"{}", "{\"type\":\"BPE\",\"dropout\":0,\"unk_token\":\"\",\"vocab\":{\"a\":0},\"merges\":[]}", "ab", 1, {0}},
    {"{}", WORDS(""), "aaa", 3, {1, 2, 2}},
    {"{}", WORDS("\"max_input_chars_per_word\":2,"), "aaa", 1, {0}},
    {"{}", WORDS("\"max_input_chars_per_word\":-1,"), "aaa", 3, {1, 2, 2}},
    {"{}", WORDS("\"max_input_chars_per_word\":\"2\","), "aaa", 3, {1, 2, 2}},
    {"{}", WORDS("\"continuing_subword_prefix\":7,"), "aa", 2, {1, 2}},
    {"{}", WORDS("\"continuing_subword_prefix\":\"@\","), "aa", 1, {0}},
    {"{}", "{\"unk_token\":\"[U]\",\"max_input_chars_per_word\":9,\"vocab\":{\"[U]\":0,\"a\":1,\"##a\":2}}", "aa",
     2, {1, 2}},
    {"{}", "{\"unk_token\":\"[U]\",\"vocab\":{\"[U]\":0,\"a\":1,\"##a\":2}}", "aa", 1, {0}}, /* whole words */
    /* a text to cut at, or to find, that is nothing stands nowhere */
    {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"\"},\"behavior\":\"Isolated\"}}", small,
     "abb", 2, {2, 1}},
    {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"},\"content\":\"\"},"
     "\"added_tokens\":[{\"id\":4,\"content\":\"x\",\"normalized\":true}]}", small, "axb", 1, {2}},
    /* each token takes the spaces behind it, of which each is one, too; as `tokenizers` has it */
    {"{\"added_tokens\":[{\"id\":4,\"content\":\"<x>\",\"rstrip\":true},"
     "{\"id\":5,\"content\":\" \",\"rstrip\":true}]}",
     small, "<x>  a", 4, {4, 5, 5, 0}},
    {NMT, spaced, "\x01" "a\x08\x0b\x0e\x1f\x7f\xc2\x8f\xc2\x9f" "a", 2, {0, 0}},
    {NMT, spaced, "\ta\n\x0c\r", 5, {1, 0, 1, 1, 1}},
    {NMT, spaced, "\xe1\x9a\x80\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90" "a", 4, {1, 1, 1, 0}},
    {NMT, spaced, "\xe2\x80\xa8\xe2\x80\xa9\xe2\x96\x81\xef\xbb\xbf\xef\xbf\xbd" "a", 6, {1, 1, 1, 1, 1, 0}},
    {NMT, spaced, "\xc2\x8e\xc2\xa0" "a", 1, {0}}, /* others stay, and are no pieces */
    {BERT, spaced, "\xf0\xab\x9d\x80\xf0\xab\xa4\xa0" "a", 5, {1, 1, 1, 1, 0}}, /* U+2B740, U+2B920 */
    {BERT, spaced, "\xf0\xab\xa0\xa0\xf0\xac\xba\xb0" "a", 1, {0}},            /* U+2B820, U+2CEB0 */
};

static void settings(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Tokenizer *t;
        int *ids = NULL;
        size_t n = 0;
        int rc = open_parts(&t, texts[i].parts, texts[i].model);
        if (rc == 0)
            rc = tokenizer_encode(t, texts[i].text, strlen(texts[i].text), ENCODE_ADDED, &ids, &n, err, sizeof err);
        int right = rc == 0 && n == texts[i].n && memcmp(ids, texts[i].ids, n * sizeof *ids) == 0;
        if (!right) printf("    row %zu: %s, %zu ids\n", i, rc ? err : "", n);
        CHECK(right);
        free(ids);
        tokenizer_free(t);
    }
}

/* What pieces become behind decoders that no published file of the golden ones has so. */
static void decoders(void) {
    static const char marked[] =
        "{\"type\":\"BPE\",\"vocab\":{\"" MARK "\":0,\"a\":1,\"" MARK "a\":2,\"b_\":3},\"merges\":[]}";
    static const struct { const char *parts; size_t n; int ids[4]; const char *text; } rows[] = {
        {"{\"decoder\":{\"type\":\"Metaspace\"}}", 3, {2, 1, 2}, "aa a"},
        {"{\"decoder\":{\"type\":\"Metaspace\",\"add_prefix_space\":false}}", 3, {2, 1, 2}, " aa a"},
        {"{\"decoder\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}}", 3, {2, 1, 2}, " aa a"},
        {"{\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"_\"}}", 2, {3, 1}, "b a"},
        {"{\"decoder\":{\"type\":\"Strip\",\"content\":\"" MARK "\",\"start\":1}}", 3, {2, 0, 1}, "aa"},
        {"{\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"_\"}}", 4, {1, 3, 3, 1}, "ab b a"},
        {"{\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"" MARK "a\"},\"content\":\"\"}}", 3,
         {2, 1, 2}, "a"},
        {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"q\"},\"content\":\"0123456789\"},\"decoder\":"
         "{\"type\":\"Fuse\"},\"added_tokens\":[{\"id\":4,\"content\":\"qaq\",\"normalized\":true}]}", 2, {4, 1},
         "0123456789a0123456789a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tokenizer *t;
        CHECK(open_parts(&t, rows[i].parts, marked) == 0);
        if (!t) continue;
        char *out = malloc(tokenizer_decode_bound(t)), text[100] = ""; /* out by itself, for the sanitizer */
        TokenStream s = {0};
        for (size_t k = 0; k <= rows[i].n; k++) {
            size_t n = k < rows[i].n ? tokenizer_decode(t, &s, rows[i].ids[k], out) : tokenizer_decode_end(t, &s, out);
            strncat(text, out, n);
        }
        if (strcmp(text, rows[i].text) != 0) printf("    row %zu: \"%s\"\n", i, text);
        CHECK(strcmp(text, rows[i].text) == 0);
        free(out);
        tokenizer_free(t);
    }
}

/* Small claims of large things: refused or opened, in little memory; nesting ends at JSON_MAX_DEPTH. */
static void claims(void) {
    Tokenizer *t;
    char *deep = calloc(1, 200000);
    for (size_t i = 0; i < 3000; i++) memcpy(deep + i * 16, "{\"normalizers\":[", 16);
    CHECK(open_text(&t, deep, strlen(deep)) == -EINVAL && strstr(err, "nest"));
    free(deep);
    /* each puts a space in front of a piece */
    char many[2200] = "{\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"WordPiece\"}";
    for (int k = 0; k < 60; k++) strcat(many, ",{\"type\":\"WordPiece\"}");
    strcat(many, "]}}");
    CHECK(open_parts(&t, many, small) == 0);
    if (t) {
        TokenStream stream = {.begun = 1};
        char *out = malloc(tokenizer_decode_bound(t));
        CHECK(tokenizer_decode(t, &stream, 0, out) == 62 && tokenizer_decode_bound(t) >= 62);
        free(out);
    }
    tokenizer_free(t);
    /* holes */
    CHECK(open_parts(&t, "{}", "{\"type\":\"BPE\",\"vocab\":{\"a\":60000},\"merges\":[]}") == 0 &&
          tokenizer_size(t) == 60001);
    size_t n;
    int *ids;
    CHECK(tokenizer_encode(t, "aba", 3, 0, &ids, &n, err, sizeof err) == 0 && n == 2 && ids[0] == 60000);
    free(ids);
    tokenizer_free(t);
}

/* ---- files cut at every length ---- */

/* Nothing, or a tokenizer that works. */
static void survive(Tokenizer **opened, int rc) {
    Tokenizer *t = *opened;
    static const char text[] = "ab \xe4\xb8\xad\xff <|endoftext|>ab12  the";
    int *ids;
    size_t n;
    CHECK((rc == 0) == (t != NULL) && (rc == 0 || err[0]));
    if (rc) return;
    if (tokenizer_encode(t, text, sizeof text - 1, ENCODE_ADDED | ENCODE_SPECIAL, &ids, &n, err, sizeof err) == 0) {
        mix_decoded(HASH_START, t, ids, n);
        free(ids);
    }
    tokenizer_free(t);
}

static void write_part(const char *folder, const char *name, const char *s, size_t n) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(s, 1, n, f) == n);
    if (f) fclose(f);
}

static void cut_files(void) {
    static const char vocab[] = "{\"a\":0,\"b\":1,\"ab\":2,\"\xc4\xa0\":3,\"abab\":4,\"<|endoftext|>\":5}",
        merges[] = "#version: 0.2\na b\nab ab\n";
    static const char ranks[] = "YQ== 0\nYg== 1\nYWI= 2\nIA== 3\nYWJhYg== 4\n";
    static const char config[] =
        "{\"added_tokens_decoder\":{\"6\":{\"content\":\"<x>\",\"special\":true}},"
        "\"eos_token\":\"<x>\",\"bos_token\":null}";
    const TokenizerOptions gpt2 = {.lower_case = -1, .pre = "gpt-2"};
    char folder[600], path[700];
    Tokenizer *t;
    snprintf(folder, sizeof folder, "%s", test_tmp("pair"));
    CHECK(mkdir(folder, 0755) == 0);
    write_part(folder, "vocab.json", vocab, sizeof vocab - 1);
    for (size_t n = 0; n < sizeof merges; n++) {
        write_part(folder, "merges.txt", merges, n);
        survive(&t, tokenizer_open_with(&t, folder, &gpt2, err, sizeof err));
    }
    for (size_t n = 0; n < sizeof config; n++) {
        write_part(folder, "tokenizer_config.json", config, n);
        survive(&t, tokenizer_open_with(&t, folder, &gpt2, err, sizeof err));
    }
    for (size_t n = 0; n < sizeof vocab; n++) {
        write_part(folder, "vocab.json", vocab, n);
        survive(&t, tokenizer_open_with(&t, folder, &gpt2, err, sizeof err));
    }
    snprintf(path, sizeof path, "%s/x.tiktoken", folder);
    for (size_t n = 0; n < sizeof ranks; n++) {
        write_part(folder, "x.tiktoken", ranks, n);
        survive(&t, tokenizer_open_with(&t, path, &gpt2, err, sizeof err));
    }
}

static void cut_json(void) {
    Golden g;
    if (!golden_open(&g)) return;
    size_t number = 0;
    for (const JsonValue *row = g.rows->child; row; row = row->next, number++) {
        const char *parts = parts_of(row), *model = number % 8 ? small : model_of(&g, row);
        size_t room = strlen(parts) + strlen(model) + 20, step = number ? 23 : 1;
        char *text = malloc(room);
        Tokenizer *t;
        size_t n = (size_t)snprintf(text, room, "{\"model\":%s%s%s", model, parts[1] == '}' ? "" : ",", parts + 1);
        for (size_t k = 0; k <= n; k += step) survive(&t, open_text(&t, text, k));
        free(text);
    }
    golden_close(&g);
}

/* A token that is asked for nowhere, or not in this place, is text, and no word or character of a text is the token:
 * those beside the model are none of its pieces. tokenizers 0.23.3 with encode_special_tokens gives these ids. */
static void added_beside(void) {
#define ADDED(id, text, more) "{\"added_tokens\":[{\"id\":" id ",\"content\":\"" text "\"," more "}]"
#define SPECIAL "\"special\":true"
#define BPE_OF(more, pieces) "{\"type\":\"BPE\"," more "\"vocab\":{\"a\":0,\"b\":1," pieces "},\"merges\":[]}"
    static const struct { const char *parts, *model, *text; size_t n; int ids[4]; } rows[] = {
        {ADDED("3", "ab", SPECIAL) "}", BPE_OF("\"ignore_merges\":true,", "\"c\":2"), "ab", 2, {0, 1}},
        {ADDED("4", "ab", "\"single_word\":true") ",\"pre_tokenizer\":{\"type\":\"Digits\","
         "\"individual_digits\":true}}",
         BPE_OF("\"ignore_merges\":true,", "\"1\":2,\"2\":3"), "1ab2", 4, {2, 0, 1, 3}},
        {ADDED("3", "x", SPECIAL) "}", BPE_OF("\"unk_token\":\"[U]\",", "\"[U]\":2"), "axb", 3, {0, 2, 1}},
        {ADDED("3", "\xe4\xb8\xad", SPECIAL) "}", BPE_OF("\"unk_token\":\"[U]\",", "\"[U]\":2"), "a\xe4\xb8\xad", 2,
         {0, 2}},
        {ADDED("3", "#x", SPECIAL) "}",
         BPE_OF("\"unk_token\":\"[U]\",\"continuing_subword_prefix\":\"#\",", "\"[U]\":2"), "ax", 2, {0, 2}},
        {ADDED("2", "<e>", SPECIAL) ",\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}}",
         "{\"type\":\"WordLevel\",\"unk_token\":\"[U]\",\"vocab\":{\"[U]\":0,\"a\":1}}", "a <e> a", 3, {1, 0, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tokenizer *t;
        int *ids = NULL;
        size_t n = 0;
        int rc = open_parts(&t, rows[i].parts, rows[i].model);
        if (rc == 0) rc = tokenizer_encode(t, rows[i].text, strlen(rows[i].text), 0, &ids, &n, err, sizeof err);
        int right = rc == 0 && n == rows[i].n && memcmp(ids, rows[i].ids, n * sizeof *ids) == 0;
        if (!right) printf("    row %zu: %s, %zu ids\n", i, rc ? err : "", n);
        CHECK(right);
        free(ids);
        tokenizer_free(t);
    }
}

/* A special token is text where nobody asked for it, even if it is one whole word of a model that takes words as they
 * are. tokenizers 0.23 with encode_special_tokens: [0, 1]. */
static void special_words(void) {
    static const char parts[] = "{\"added_tokens\":[{\"id\":2,\"content\":\"ab\",\"special\":true}]}",
                      model[] = "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[],\"ignore_merges\":true}";
    Tokenizer *t;
    CHECK(open_parts(&t, parts, model) == 0);
    for (int special = 0; special < 2; special++) {
        int *ids = NULL;
        size_t n = 0;
        CHECK(tokenizer_encode(t, "ab", 2, special ? ENCODE_SPECIAL : 0, &ids, &n, err, sizeof err) == 0);
        CHECK(special ? n == 1 && ids[0] == 2 : n == 2 && ids[0] == 0 && ids[1] == 1);
        free(ids);
    }
    tokenizer_free(t);
}

/* A BPE whose unknown piece is none opens, as in tokenizers, and refuses the texts that need it. */
static void unknown_missing(void) {
    Tokenizer *t;
    CHECK(open_parts(&t, ADDED("3", "[U]", SPECIAL) "}", BPE_OF("\"unk_token\":\"[U]\",", "\"c\":2")) == 0);
    int *ids = NULL;
    size_t n = 0;
    CHECK(tokenizer_encode(t, "ab", 2, 0, &ids, &n, err, sizeof err) == 0 && n == 2);
    free(ids);
    CHECK(tokenizer_encode(t, "ax", 2, 0, &ids, &n, err, sizeof err) == -EINVAL && strstr(err, "no unknown one"));
    tokenizer_free(t);
    for (int i = 0; i < 2; i++) { /* the same of words, where only an added token is called so */
        static const char *const models[] = {"{\"type\":\"WordLevel\",\"unk_token\":\"[U]\",\"vocab\":{\"a\":0}}",
                                             "{\"type\":\"WordPiece\",\"unk_token\":\"[U]\",\"vocab\":{\"a\":0}}"};
        CHECK(open_parts(&t, ADDED("1", "[U]", SPECIAL) "}", models[i]) == 0);
        CHECK(tokenizer_encode(t, "x", 1, 0, &ids, &n, err, sizeof err) == -EINVAL && strstr(err, "no unknown one"));
        tokenizer_free(t);
    }
}

const Test tests_pipeline[] = {
    {"pipeline/special words", special_words},
    {"pipeline/added beside the model", added_beside},
    {"pipeline/unknown piece missing", unknown_missing},
    {"pipeline/components", components},
    {"pipeline/refusals", refused_parts},
    {"pipeline/refused models", refused_models},
    {"pipeline/refused texts", refused_texts},
    {"pipeline/refused growth", refused_growth},
    {"pipeline/settings", settings},
    {"pipeline/decoders", decoders},
    {"pipeline/claims", claims},
    {"pipeline/cut files", cut_files},
    {"pipeline/cut json", cut_json},
    {0}
};
