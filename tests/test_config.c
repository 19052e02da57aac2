/* tests/test_config.c - what a decoder's config.json leaves open, or says beside its class, read as transformers 5.24
 * reads it. */
#include "build.h"
#include "decoder_cases.h"
#include "model/model.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- helpers ---- */

/* NAME with this changed gives GOLDEN's logits: as a folder of F32, and where it is wanted as what convert makes of it.
 * 1e-4 as in decoder_cases.c. */
static void same_as(const char *golden, const char *name, const char *from, const char *to, int convert) {
    static DecoderCase g;
    if (!case_read(&g, golden)) return;
    const Spoil s = {.from = from, .to = to};
    const char *folder = hf_folder(name, "", TENSOR_F32, &s);
    CHECK(case_distance(name, folder, kernels_best(), &g) < 1e-4);
    if (convert) CHECK(case_distance(name, converted(name, folder, NULL, 0), kernels_best(), &g) < 1e-4);
}

/* It does not open, and this is in the line. */
static void refused(const char *name, const char *from, const char *to, const char *line) {
    char err[500] = "";
    Model m;
    const Spoil s = {.from = from, .to = to};
    int rc = model_open(&m, hf_folder(name, "", TENSOR_F32, &s), NULL, err, sizeof err);
    if (rc == 0) model_close(&m);
    if (rc == 0 || !strstr(err, line)) decoder_fail(name, line, err);
}

/* ---- windows by layer ---- */

/* AutoModel makes a Ministral of a Mistral with layer_types; null is none. */
static void test_mistral_layer_types(void) {
    static DecoderCase g;
    same_as("ministral", "ministral", "\"model_type\": \"ministral\"", "\"model_type\": \"mistral\"", 1);
    same_as("mistral", "mistral", "\"sliding_window\": 8", "\"sliding_window\": 8, \"layer_types\": null", 1);
    if (!case_read(&g, "mistral")) return;
    const Spoil s = {.from = "\"sliding_window\": 8",
                     .to = "\"sliding_window\": 8, \"layer_types\": [\"sliding_attention\", \"full_attention\"]"};
    case_misses("mistral", "a layer that sees all", hf_folder("mistral", "", TENSOR_F32, &s), &g);
    refused("mistral", s.from, "\"sliding_window\": 8, \"layer_types\": [\"sliding_attention\"]", "for each layer");
    refused("mistral", s.from,
            "\"sliding_window\": null, \"layer_types\": [\"sliding_attention\", \"full_attention\"]",
            "sliding_window: gives no window, but layer_types names layers");
}

/* These classes give every layer the window, whatever layer_types says. */
static void test_layer_types_unread(void) {
    static const char types[] = "\"sliding_window\": 8, \"layer_types\": [\"full_attention\", \"sliding_attention\"]";
    same_as("phi3", "phi3", "\"sliding_window\": 8", types, 1);
    same_as("mixtral", "mixtral", "\"sliding_window\": null", "\"sliding_window\": null, \"layer_types\": "
            "[\"full_attention\", \"sliding_attention\"]", 1);
}

/* transformers finds no window to make a mask of. */
static void test_no_window(void) {
    static const char line[] = "sliding_window: gives no window, but layer_types names layers that have one";
    refused("qwen2_window", "\"sliding_window\": 8", "\"sliding_window\": null", line);
    refused("qwen2_window", "\"use_sliding_window\": true", "\"use_sliding_window\": false",
            "use_sliding_window: gives no window, but layer_types names");
    refused("qwen3", "\"full_attention\"", "\"sliding_attention\"", "use_sliding_window: gives no window");
    refused("gemma2", "\"sliding_window\": 8", "\"sliding_window\": null", line);
    refused("olmo3", "\"sliding_window\": 8", "\"sliding_window\": null", line);
    same_as("smollm3_list", "smollm3_list", "\"use_sliding_window\": true", "\"use_sliding_window\": false", 0);
}

/* ---- heads that are tied, and differ ---- */

static const char untied_line[] = "tied by its configuration, but the file has another lm_head.weight: the file's is";

/* A config that ties what its file has apart: transformers 5 takes the file's, with a warning. Goldens are those of the
 * same model, untied. */
static void test_tied_apart(void) {
    static const char *const names[] = {"gqa", "granite", "qwen35moe"};
    char folder[600];
    const char *gguf = test_tmp("untied.gguf");
    for (int i = 0; i < 3; i++)
        same_as(names[i], names[i], "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true", 1);
    const Spoil s = {.from = "\"tie_word_embeddings\": false", .to = "\"tie_word_embeddings\": true"};
    for (int i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s", hf_folder(names[i], "", TENSOR_F32, &s));
        CHECK(run("logits %s --ids 1,5", folder) == 0 && said_line(untied_line));
        CHECK(run("logits %s --ids 1,5 -q", folder) == 0 && *said == 0);
        CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, gguf) == 0 && strstr(said, untied_line));
        CHECK(run("logits %s --ids 1,5", gguf) == 0 && *said == 0);
    }
}

/* The same bytes twice are one matrix, and nothing is said. */
static void test_tied_twice(void) {
    static const char *const names[] = {"gqa", "granite"};
    const Spoil s = {.from = "\"tie_word_embeddings\": false", .to = "\"tie_word_embeddings\": true",
                     .set = "lm_head.weight", .how = SPOIL_LIKE, .with = "model.embed_tokens.weight"};
    for (int i = 0; i < 2; i++) {
        char err[500] = "";
        Model m;
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &s), *gguf = converted(names[i], folder, NULL, 0);
        CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
        CHECK(m.lm_head.data == m.tok_emb.data && !m.weights.notes);
        model_close(&m);
        CHECK(model_open(&m, gguf, NULL, err, sizeof err) == 0);
        CHECK(m.lm_head.data == m.tok_emb.data && !weights_find(&m.weights, "output.weight"));
        model_close(&m);
    }
}

/* ---- part of a head ---- */

/* transformers' classes that ask partial_rotary_factor need no word; of the others a note says that here it counts. */
static void test_partial(void) {
    static const char line[] = "partial_rotary_factor: transformers does not read it for a qwen2; here 8 of a head's";
    static const char *const asked[] = {"phi3", "stablelm", "glm4", "qwen35", "qwen3next"};
    CHECK(run("logits %s --ids 1,5", hf_folder("partial", "", TENSOR_F32, &sound)) == 0 && said_line(line));
    const Spoil s = {.from = "\"partial_rotary_factor\": 0.5", .to = "\"partial_rotary_factor\": 1.0"};
    CHECK(run("logits %s --ids 1,5", hf_folder("partial", "", TENSOR_F32, &s)) == 0 && *said == 0);
    for (int i = 0; i < 5; i++)
        CHECK(run("logits %s --ids 1,5", hf_folder(asked[i], "", TENSOR_F32, &sound)) == 0 && *said == 0);
}

/* ---- tensors that no layer asks for ---- */

/* Layers beyond those that the model has: run says so, convert refuses; the same of a GGUF file. */
static void test_unused(void) {
    static const char line[] = "the file has 9 tensors that this model does not use (model.layers.1.input_layernorm.",
                      key[] = "llama.block_count";
    const Spoil s = {.from = "\"num_hidden_layers\": 2", .to = "\"num_hidden_layers\": 1"};
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &s), *gguf = test_tmp("unused.gguf");
    size_t n = 0, at = 0;
    CHECK(run("logits %s --ids 1,5", folder) == 0 && said_line(line));
    CHECK(run("logits %s --ids 1,5 -q", folder) == 0 && *said == 0);
    CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, gguf) == 1 && said_line("tensor model.layers.1."));
    char *file = file_read(gguf_file("gqa", TENSOR_F32, &sound), &n);
    while (file && at + sizeof key < n && memcmp(file + at, key, sizeof key - 1) != 0) at++;
    CHECK(file && at + sizeof key < n);
    if (!file || at + sizeof key >= n) return;
    file[at + sizeof key - 1 + 4] = 1; /* behind the value's type */
    file_write(gguf, file, n);
    free(file);
    CHECK(run("logits %s --ids 1,5", gguf) == 0 && said_line("has 9 tensors that this model does not use (blk.1."));
    CHECK(run("logits %s --ids 1,5", gguf_file("gqa", TENSOR_F32, &sound)) == 0 && *said == 0);
}

/* A vision tower, a draft, tables of frequencies and integers belong to nobody here, and nothing is said. */
static void test_not_missed(void) {
    static const char *const names[] = {"gemma3_vision", "qwen35_vision", "qwen35moe", "gqa"};
    for (int i = 0; i < 4; i++) {
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &sound);
        if (folder) CHECK(run("logits %s --ids 1,5", folder) == 0 && *said == 0);
    }
}

/* ---- models that are not here ---- */

/* A line of its own for those that are well known, one that points on for others; both are short. */
static void test_unknown(void) {
    static const char *const rows[][2] = {
        {"gemma4", "model_type: architecture \"gemma4\" is not known here: it shares keys and values between layers"},
        {"deepseek_v3", "is not known here: it keeps keys and values as one short vector a token (latent attention)"},
        {"mamba", "is not known here: it has no attention"},
        {"bert", "is not known here: it has a learned vector for each position, no RoPE"},
        {"unheard_of", "architecture \"unheard_of\" is not known here (--help models lists those that are)"}};
    char to[100];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(to, sizeof to, "\"model_type\": \"%s\"", rows[i][0]);
        refused("gqa", "\"model_type\": \"llama\"", to, rows[i][1]);
        const Spoil s = {.from = "\"model_type\": \"llama\"", .to = to};
        const char *folder = hf_folder("gqa", "", TENSOR_F32, &s);
        CHECK(run("%s -i a", folder) == 1 && said_line(rows[i][1]) && strlen(said) < 160 + strlen(folder));
    }
    CHECK(run("--help models") == 0 && strstr(out, "llama mistral qwen2"));
    CHECK(strstr(out, "latent attention)\n    deep") != NULL);
    const char *why = strstr(out, "models that do not:");
    CHECK(why && strstr(why, "gemma4") && !strstr(why, "gemma2 "));
    CHECK(run("--help") == 0 && strstr(out, "--help models"));
    for (const char *at = out, *end; (end = strchr(at, '\n')); at = end + 1) CHECK(end - at <= 120);
}

extern const Test tests_config[];
const Test tests_config[] = {
    {"config/a Mistral with layer_types", test_mistral_layer_types},
    {"config/layer_types unread", test_layer_types_unread},
    {"config/layer_types without a window", test_no_window},
    {"config/tied, and the file has a head", test_tied_apart},
    {"config/tied, and the file has it twice", test_tied_twice},
    {"config/partial_rotary_factor", test_partial},
    {"config/tensors that are not used", test_unused},
    {"config/tensors that nobody misses", test_not_missed},
    {"config/unknown models", test_unknown},
    {0},
};
