/* tests/test_config.c - what a decoder's config.json leaves open, or says beside its class, read as transformers 5.24
 * reads it. */
#include "build.h"
#include "decoder_cases.h"
#include "model/family.h"
#include "model/model.h"
#include "program.h"
#include "test.h"
#include "text/vocabulary.h"

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

/* A folder does not open, and this is in the line. */
static void refused_folder(const char *name, const char *folder, const ModelOptions *o, const char *line) {
    char err[500] = "";
    Model m;
    int rc = model_open(&m, folder, o, err, sizeof err);
    if (rc == 0) model_close(&m);
    if (rc == 0 || !strstr(err, line)) decoder_fail(name, line, err);
}

static void refused(const char *name, const char *from, const char *to, const char *line) {
    const Spoil s = {.from = from, .to = to};
    refused_folder(name, hf_folder(name, "", TENSOR_F32, &s), NULL, line);
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

/* Without layer_types (null is none) they follow from a period: the class's own, or a word of EXAONE's. */
static void test_periods(void) {
    static const char types[] = "\"layer_types\": [", none[] = "\"layer_types\": null, \"x\": [";
    static const char *const words[] = {"LLGL", "GGGG", "LLLL", "LLLX", "", "LLLG "};
    char to[100];
    same_as("gemma2", "gemma2", types, none, 1);
    same_as("exaone4", "exaone4", types, none, 1); /* and the word LLLG */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(to, sizeof to, "\"%s\"", words[i]);
        const Spoil s = {.from = "\"LLLG\"", .to = to};
        const char *folder = hf_folder("exaone4", "", TENSOR_F32, &s);
        folder_change(folder, "config.json", types, none);
        refused_folder("exaone4", folder, NULL, "sliding_window_pattern: must be a number, or a word like LLLG");
    }
}

/* These classes give every layer the window, whatever layer_types says. */
static void test_layer_types_unread(void) {
    static const char types[] = "\"sliding_window\": 8, \"layer_types\": [\"full_attention\", \"sliding_attention\"]";
    same_as("phi3", "phi3", "\"sliding_window\": 8", types, 1);
    same_as("mixtral", "mixtral", "\"sliding_window\": null", "\"sliding_window\": null, \"layer_types\": "
            "[\"full_attention\", \"sliding_attention\"]", 1);
}

/* ---- RoPE ---- */

/* rope_scaling has what rope_parameters would have, Ministral's temperature, too. */
static void test_rope_scaling(void) {
    same_as("ministral3", "ministral3", "\"rope_parameters\"", "\"rope_scaling\"", 1);
    /* flat, it is of full_attention, whose theta stays where it is */
    same_as("gemma3", "gemma3", "\"rope_parameters\": {\n    \"full_attention\": {\n      \"factor\": 8.0,",
            "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8.0}, \"rope_parameters\": {\n"
            "    \"full_attention\": {", 1);
}

/* Windows keep frequencies that were made once. */
static void test_window_grows(void) {
    refused("gemma3", "\"rope_type\": \"default\"", "\"rope_type\": \"dynamic\", \"factor\": 2.0",
            "rope of windows: changes with the length");
}

/* transformers would show every token what comes. */
static void test_not_causal(void) {
    static const char key[] = "\"tie_word_embeddings\"", line[] = "is_causal: of false";
    refused("gqa", key, "\"is_causal\": false, \"tie_word_embeddings\"", line);
    refused("granite", key, "\"is_causal\": false, \"tie_word_embeddings\"", line);
    same_as("gqa", "gqa", key, "\"is_causal\": true, \"tie_word_embeddings\"", 0);
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

/* The word that a model's outer object has on it is one, too. */
static void test_tied_outside(void) {
    static const char word[] = "\n  \"tie_word_embeddings\": true",
                      line[] = "tie_word_embeddings: must be true or false";
    refused("gemma3_vision", word, "\n  \"tie_word_embeddings\": 1", line);
    refused("gemma3_vision", word, "\n  \"tie_word_embeddings\": \"true\"", line);
}

/* The outer object ties what text_config does not, and no head is in the file: it is the words', as where the file has
 * the same bytes twice. */
static void test_tied_outside_alone(void) {
    static const char *const names[] = {"mistral3", "mistral3_small"};
    same_as("gemma3_vision", "gemma3_vision", "\n    \"tie_word_embeddings\": true",
            "\n    \"tie_word_embeddings\": false", 1);
    const Spoil twice = {.set = "language_model.lm_head.weight", .how = SPOIL_LIKE,
                         .with = "language_model.model.embed_tokens.weight"};
    for (int i = 0; i < 2; i++) {
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &twice);
        CHECK(run("logits %s --ids 1,5,9", folder) == 0);
        char *expected = taken_out();
        folder_change(folder, "model.safetensors", "language_model.lm_head", "vision_tower.head");
        CHECK(run("logits %s --ids 1,5,9", folder) == 1 && strstr(said, "tensor lm_head.weight is missing"));
        folder_change(folder, "config.json", "\n  \"tie_word_embeddings\": false",
                      "\n  \"tie_word_embeddings\": true");
        CHECK(run("logits %s --ids 1,5,9", folder) == 0 && *said == 0 && strcmp(out, expected) == 0);
        free(expected);
    }
}

/* ---- ids that end a text ---- */

/* All of a list, of both files, once each; what is no id, and more than there is room for, is said. */
static void test_ends(void) {
    static const struct { const char *ends, *line; } rows[] = {
        {"\"2\"", "eos_token_id: must be an id, or a list of ids"},
        {"{\"2\": 2}", "eos_token_id: must be an id, or a list of ids"},
        {"[2, \"3\"]", "eos_token_id: must be an id, or a list of ids"}};
    static const char bad[] = "{\"eos_token_id\": [5, null]}", good[] = "{\"eos_token_id\": [5, 63]}";
    char list[400] = "[0", all[500];
    for (int i = 1; i < 64; i++) snprintf(list + strlen(list), sizeof list - strlen(list), ", %d", i);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(all, sizeof all, "\"eos_token_id\": %s", rows[i].ends);
        refused("gqa", "\"eos_token_id\": 2", all, rows[i].line);
    }
    snprintf(all, sizeof all, "\"eos_token_id\": %s, 64]", list);
    refused("gqa", "\"eos_token_id\": 2", all, "eos_token_id: more than 64 ids that end a text");
    snprintf(all, sizeof all, "\"eos_token_id\": %s, 63, 96, -1]", list); /* twice; two outside the vocabulary */
    const Spoil s = {.from = "\"eos_token_id\": 2", .to = all};
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &s), *generation = test_in(folder, "generation_config.json");
    char err[500] = "";
    Model m;
    file_write(generation, bad, sizeof bad - 1);
    refused_folder("gqa", folder, NULL, "eos_token_id: must be an id, or a list of ids");
    file_write(generation, good, sizeof good - 1);
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
    CHECK(m.config.n_eos == 64 && m.config.eos_id[0] == 0 && m.config.eos_id[63] == 63);
    model_close(&m);
    remove(generation);
}

/* ---- words for the same ---- */

/* transformers' other word for silu; an empty rope_scaling is none; proportional RoPE is --rope's. */
static void test_same_words(void) {
    static const char method[] = "\"rope_type\": \"default\"";
    same_as("gqa", "gqa", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"swish\"", 1);
    same_as("gqa", "gqa", "\"rope_parameters\": {", "\"rope_scaling\": {}, \"rope_parameters\": {", 1);
    same_as("cohere2", "cohere2", "\"model_type\": \"cohere2\"",
            "\"model_type\": \"cohere2\", \"position_embedding_type\": \"rope_gptj\"", 1);
    const Spoil s = {.from = method, .to = "\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.5"};
    CHECK(run("logits %s --ids 1,5,7 -q", hf_folder("gqa", "", TENSOR_F32, &s)) == 0);
    char *want = taken_out();
    CHECK(run("logits %s --ids 1,5,7 -q", hf_folder("gqa", "", TENSOR_F32, &sound)) == 0 && strcmp(out, want) != 0);
    CHECK(run("logits %s --ids 1,5,7 -q --rope proportional:share=.5", hf_folder("gqa", "", TENSOR_F32, &sound)) == 0);
    CHECK(strcmp(out, want) == 0);
    free(want);
    char to[2000] = "\"long_factor\": [1";
    for (int i = 1; i < 513; i++) strcat(to, ",1");
    refused("longrope", "\"long_factor\": [", strcat(to, "], \"x\": ["),
            "long_factor: must be a list of numbers, one for each pair");
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

/* ---- numbers and words out of range ---- */

static const struct { const char *name, *from, *to, *line; } layer_rows[] = {
    {"gemma2", "\"full_attention\"", "\"half_attention\"",
     "layer_types: has a word that is not known here for this"},
    {"gemma2", "\"sliding_attention\",", "", "layer_types: must be a list with an entry for each layer"},
    {"gemma2", "\"attn_logit_softcapping\": 2.0", "\"attn_logit_softcapping\": -1",
     "a soft cap: must be 0 or more"},
    {"gemma2", "\"attn_logit_softcapping\": 2.0", "\"attn_logit_softcapping\": 1e31", "a soft cap: must be 0 or"},
    {"gemma2", "\"final_logit_softcapping\": 8.0", "\"final_logit_softcapping\": -1", "a soft cap: must be 0 or"},
    {"gemma2", "\"final_logit_softcapping\": 8.0", "\"final_logit_softcapping\": 1e31", "a soft cap: must be 0"},
    {"granite", "\"attention_multiplier\": 0.25", "\"attention_multiplier\": -1",
     "a scale: of embeddings, residuals,"},
    {"granite", "\"embedding_multiplier\": 3.0", "\"embedding_multiplier\": 1e31",
     "a scale: of embeddings, residu"},
    {"granite", "\"logits_scaling\": 2.0", "\"logits_scaling\": -2.0",
     "a scale: of embeddings, residuals, logits or"},
    {"granite", "\"residual_multiplier\": 0.5", "\"residual_multiplier\": -0.5",
     "a scale: of embeddings, residuals"},
    {"qwen3moe", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 60", "is more than there are experts"},
    {"qwen35", "\"linear_num_value_heads\": 4", "\"linear_num_value_heads\": 3",
     "linear attention's heads: do not"},
    {"qwen35", "\"linear_attention\"", "\"sliding_attention\"",
     "layer_types: has a word that is not known here for"},
    {"gpt_oss", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"\"", "hidden_act: must be a word"},
    {"gpt_oss", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"silu\\u0000\"", "hidden_act: must be a word"},
    {"gpt_oss", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"",
     "only silu is known here for this architecture"},
    {"hunyuan", "\"alpha\": 50.0", "\"alpha\": -50.0", "alpha: must be above 0"},
    {"ministral3", "\"llama_4_scaling_beta\": 0.3", "\"llama_4_scaling_beta\": -0.3", "the temperature: is out of"},
    {"ministral3", "\"llama_4_scaling_beta\": 0.3", "\"llama_4_scaling_beta\": 1e6", "the temperature: is out of"},
    {"smollm3", "\"no_rope_layers\": [", "\"no_rope_layers\": [1,",
     "no_rope_layers: must be a list with an entry for"},
    {"smollm3", "\"no_rope_layers\": [", "\"no_rope_layers\": 7, \"x\": [",
     "no_rope_layers: must be a list with an"},
    {"embeddinggemma", "\"sliding_window\": 8", "\"sliding_window\": 1",
     "sliding_window: of 1 leaves a token nothing but itself"},
    {"modernbert", "\"local_attention\": 8", "\"local_attention\": 1",
     "local_attention: of 1 leaves a token nothing but itself"},
    {"modernbert", "\"local_attention\": 8", "\"local_attention\": 0", "local_attention"},
    {"lfm2", "\"conv_bias\": false", "\"conv_bias\": true", "conv_bias: of true is not known here"},
    {"lfm2", "\"conv\"", "\"linear_attention\"", "layer_types: has a word that is not known here for"},
    {"lfm2", "\"full_attn_idxs\": null,\n  \"hidden_size\": 32,\n  \"initializer_range\": 0.02,\n"
     "  \"intermediate_size\": 48,\n  \"layer_types\": [", "\"full_attn_idxs\": 2, \"hidden_size\": 32, "
     "\"intermediate_size\": 48, \"x\": [", "full_attn_idxs: must be a list of layers"},
    {"lfm2", "\"conv_L_cache\": 3", "\"conv_L_cache\": 0", "conv_L_cache: 0 is not a whole number from 1 to 64"},
    {"lfm2_width", "\"block_ffn_dim_multiplier\": 1.5", "\"block_ffn_dim_multiplier\": -1",
     "block_ffn_dim_multiplier: is out of range"},
    {"lfm2_width", "\"block_ffn_dim_multiplier\": 1.5", "\"block_ffn_dim_multiplier\": 999",
     "tensor model.layers.0.feed_forward.w1.weight has shape"},
    {"olmo", "\"clip_qkv\": 0.75", "\"clip_qkv\": -1", "clip_qkv: must be 0 or more"},
    {"phi", "\"qk_layernorm\": false", "\"qk_layernorm\": true", "qk_layernorm: of true is not known here"},
    {"smollm3", "\"no_rope_layer_interval\": 4", "\"no_rope_layer_interval\": 0", "no_rope_layer_interval"},
    {"qwen35", "\"linear_num_value_heads\": 4", "\"linear_num_value_heads\": 1000000",
     "linear attention's heads: do not divide, or are too many"},
    {"qwen35", "\"linear_num_key_heads\": 2,\n  \"linear_num_value_heads\": 4,\n  \"linear_value_head_dim\": 8",
     "\"linear_num_key_heads\": 262144, \"linear_num_value_heads\": 262144, \"linear_value_head_dim\": 1",
     "linear attention's heads: do not divide, or are too many"},
    {"qwen35", "\"linear_conv_kernel_dim\": 4", "\"linear_conv_kernel_dim\": 0",
     "linear_conv_kernel_dim: 0 is not a whole number from 1 to 64"},
    {"qwen35moe", "\"linear_value_head_dim\"", "\"linear_value\"",
     "linear_value_head_dim: is missing in config.json"},
    {"gemma3", "\"sliding_attention\": {\n      \"rope_theta\": 100.0,\n      \"rope_type\": \"default\"\n    }",
     "\"sliding_attention\": 100.0", "rope_parameters: settings of a layer type must be an object"},
    {"gemma3", "\"full_attention\": {", "\"full_attention\": \"linear\", \"x\": {",
     "rope_parameters: settings of a layer type must be an object"},
    {"gemma2", "\"rope_theta\": 10000.0,", "\"sliding_attention\": {},",
     "rope_parameters: settings by layer type are not known here"},
    {"gqa", "\"rope_parameters\": {", "\"rope_parameters\": {\"full_attention\": {},",
     "rope_parameters: settings by layer type are not known here"},
    {"gqa", "\"rope_type\": \"default\"", "\"rope_type\": \"default\", \"partial_rotary_factor\": 0",
     "partial_rotary_factor: must be above 0 and at most 1"},
    {"gqa", "\"rope_type\": \"default\"", "\"rope_type\": \"default\", \"partial_rotary_factor\": 1.5",
     "partial_rotary_factor: must be above 0 and at most 1"},
    {"gqa", "\"rope_type\": \"default\"", "\"rope_type\": \"ntk\", \"factor\": 2",
     "rope_parameters: rope method \"ntk\" is not known here"},
    {"longrope", "\"long_factor\": [", "\"long_factor\": 2, \"x\": [",
     "long_factor: must be a list of numbers, one for each pair"},
    {"longrope", "\"short_factor\": [", "\"short_factor\": [\"1\", ", "short_factor: must be a list of numbers"},
    {"longrope", "\"long_factor\": [", "\"attention_factor\": 0, \"long_factor\": [",
     "attention_factor: must be above 0"},
    {"gpt_oss_mxfp4", "\"quant_method\": \"mxfp4\"", "\"quant_method\": \"awq\"",
     "quantization_config: this kind of quantized weights is not read"},
    {"gqa", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", "hidden_act: only silu is known here"},
    {"ministral3", "\"llama_4_scaling_beta\": 0.3", "\"llama_4_scaling_beta\": \"0.3\"",
     "llama_4_scaling_beta: must be a number"},
    {"hunyuan", "\"alpha\": 50.0", "\"alpha\": \"50.0\"", "alpha: must be a number"},
    {"qwen3moe", "\"mlp_only_layers\": []", "\"mlp_only_layers\": 1", "mlp_only_layers: must be a list"},
    {"qwen3moe", "\"mlp_only_layers\": []", "\"mlp_only_layers\": [\"1\"]",
     "mlp_only_layers: must be a list of layers"},
    {"gpt_oss", "\"truncate\": false", "\"truncate\": \"false\"", "truncate: must be true or false"},
    {"gqa", "\"num_attention_heads\": 4", "\"num_attention_heads\": 262144",
     "n_heads: n_heads x head_dim is too large"},
    {"gemma3", "\"rope_theta\": 100.0", "\"rope_theta\": -100.0",
     "rope of windows: rope method none: rope_theta must be above 0"},
};

static void test_layers_refused(void) {
    static const char *const shapes[][3] = {{"down_proj_blocks", "[4,64,2,16]", "[4,2,64,16]"},
                                            {"down_proj_blocks", "[4,64,2,16]", "[4,64,4,8 ]"},
                                            {"gate_up_proj_scales", "[4,128,2]", "[4,2,128]"}};
    char from[100], to[100], line[100];
    for (size_t i = 0; i < sizeof layer_rows / sizeof *layer_rows; i++)
        refused(layer_rows[i].name, layer_rows[i].from, layer_rows[i].to, layer_rows[i].line);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) { /* the right number of bytes */
        const char *folder = hf_folder("gpt_oss_mxfp4", "", TENSOR_F32, &sound);
        snprintf(from, sizeof from, "%s\":{\"dtype\":\"U8\",\"shape\":%s", shapes[i][0], shapes[i][1]);
        snprintf(to, sizeof to, "%s\":{\"dtype\":\"U8\",\"shape\":%s", shapes[i][0], shapes[i][2]);
        snprintf(line, sizeof line, "%.*s_blocks: its blocks and scales are not",
                 (int)(strrchr(shapes[i][0], '_') - shapes[i][0]), shapes[i][0]);
        folder_change(folder, "model.safetensors", from, to);
        refused_folder("gpt_oss_mxfp4", folder, NULL, line);
    }
}

/* What rewrites distances, or scores, is refused of models that have one more thing to do there. */
static void test_unstretched(void) {
    static const struct { const char *name, *rope, *line; } rows[] = {
        {"gemma2", "rerope:window=20", "rope: rerope is not known together with a soft cap on scores"},
        {"gpt_oss", "rerope:window=20", "rope: rerope is not known together with sink logits"},
        {"hunyuan", "log-n", "rope: log-n is not known together with norms behind the rotation"},
        {"qwen35", "nope:layers=0", "rope: nope is not known together with delta nets"},
        {"lfm2", "nope:layers=0", "rope: nope is not known together with layers of convolutions"},
        {"gemma3", "log-n", "rope: log-n is not known together with layers with a RoPE of their own"},
        {"gemma3", "dynamic-each:factor=4",
         "rope: dynamic-each is not known together with layers with a RoPE of their own"},
        {"granite", "ms-poe", "rope: ms-poe is not known together with layers that are not LLaMA's"},
        {"granite", "infllm:init=2:local=20:block=5:top=3:representatives=2:every=13",
         "rope: infllm is not known together with layers that are not LLaMA's"},
        {"gemma3", "rerope:window=20", NULL}, {"gemma3", "nope:layers=0", NULL}, {"granite", "log-n", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = run("logits %s --ids 1,5 --rope %s", hf_folder(rows[i].name, "", TENSOR_F32, &sound), rows[i].rope);
        CHECK(rows[i].line ? code == 1 && said_line(rows[i].line) : code == 0);
        if (code && !rows[i].line) decoder_fail(rows[i].name, rows[i].rope, said);
    }
}

/* ---- GGUF's keys ---- */

#define RAW(bytes) bytes, sizeof bytes - 1
#define ONE "\1\0\0\0\0\0\0\0" /* of an array or a text: its length */
#define TWO "\2\0\0\0\0\0\0\0"

/* A key of that type, and the value's bytes. NULL: it is as it should be. */
typedef struct { const char *key; uint32_t type; const char *raw; size_t n; const char *line; } RawKey;

static void put_raw(Bytes *f, const RawKey *k) {
    bytes_string(f, k->key);
    bytes_u32(f, k->type);
    bytes_put(f, k->raw, k->n);
}

/* A tensor beside the embeddings; of bytes that are 0. */
typedef struct { const char *name; uint32_t n_dims; uint64_t dims[2]; TensorType type; } RawTensor;

static int opened_with(Weights *w, const RawKey *usual, size_t n, const RawKey *k, const RawTensor *t) {
    const char *path = test_tmp("keys.gguf");
    char err[300] = "";
    Bytes f = {0};
    bytes_put(&f, "GGUF", 4), bytes_u32(&f, 3), bytes_u64(&f, t ? 2 : 1), bytes_u64(&f, n + 1);
    for (size_t i = 0; i < n; i++) put_raw(&f, &usual[i]);
    put_raw(&f, k);
    bytes_string(&f, "token_embd.weight"), bytes_u32(&f, 2), bytes_u64(&f, 32), bytes_u64(&f, 32);
    bytes_u32(&f, 0), bytes_u64(&f, 0);
    if (t) {
        bytes_string(&f, t->name), bytes_u32(&f, t->n_dims);
        for (uint32_t i = 0; i < t->n_dims; i++) bytes_u64(&f, t->dims[i]);
        bytes_u32(&f, t->type), bytes_u64(&f, 32 * 32 * 4);
    }
    bytes_pad(&f, 32);
    for (int i = 0; i < 32 * 32; i++) bytes_f32(&f, 0);
    for (uint64_t i = 0; t && i < t->dims[0] * (t->n_dims > 1 ? t->dims[1] : 1); i++)
        bytes_number(&f, 0, t->type == TENSOR_F32 ? 4 : 2);
    bytes_pad(&f, 32);
    file_write(path, f.data, f.n);
    free(f.data);
    int rc = weights_open(w, path, err, sizeof err);
    if (rc) decoder_fail(k->key, "does not open:", err);
    return rc == 0;
}

static void expect_line(const RawKey *k, int rc, const char *err) {
    if (k->line ? rc == 0 || !strstr(err, k->line) : rc != 0) decoder_fail(k->key, k->line ? k->line : "is right", err);
}

/* The settings of such a file, where `to` is wanted and they can be: what they own is gone then. */
static void expect_config(const RawKey *usual, size_t n, const RawKey *k, const RawTensor *t, Config *to) {
    Weights w;
    Config c;
    char err[300] = "";
    if (!opened_with(&w, usual, n, k, t)) return;
    int rc = config_read(&c, &w, NULL, err, sizeof err);
    expect_line(k, rc, err);
    if (to && rc == 0) *to = c;
    weights_close(&w);
}

static void expect_all(const RawKey *usual, size_t n, const RawKey *rows, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++) expect_config(usual, n, &rows[i], NULL, NULL);
}

static const RawKey llama_rows[] = {
    {"llama.attention.head_count_kv", META_ARRAY, RAW("\4\0\0\0" TWO "\2\0\0\0\2\0\0\0"), NULL},
    {"llama.attention.head_count_kv", META_ARRAY, RAW("\4\0\0\0" TWO "\2\0\0\0\4\0\0\0"),
     "llama.attention.head_count_kv: differs from layer to layer"},
    {"llama.attention.head_count_kv", META_ARRAY, RAW("\10\0\0\0" ONE ONE "4"),
     "llama.attention.head_count_kv: differs from layer to layer"},
    {"llama.attention.head_count_kv", META_ARRAY, RAW("\4\0\0\0\0\0\0\0\0\0\0\0"), "llama.attention.head_count_kv"},
    {"llama.attention.head_count_kv", META_STRING, RAW(ONE "4"), "llama.attention.head_count_kv"},
    {"llama.attention.head_count_kv", META_U64, RAW("\0\0\0\0\0\0\0\200"),
     "llama.attention.head_count_kv: 9.2233720368547758e+18 is not a whole number from"},
    {"llama.attention.head_count_kv", META_BOOL, RAW("\1"),
     "llama.attention.head_count_kv: must be a whole number"},
    {"llama.attention.kind", META_STRING, RAW("\50\0\0\0\0\0\0\0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
     "llama.attention.kind: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is not known here (softmax and linear are)"},
    {"llama.rope.scaling.attn_factor", META_F32, RAW("\0\0\0\0"), "attn_factor: must be above 0"},
    {"llama.rope.scaling.type", META_U32, RAW("\1\0\0\0"), "llama.rope.scaling.type: must be a string"},
    {"llama.rope.scaling.type", META_STRING, RAW("\6\0\0\0\0\0\0\0spiral"),
     "rope method \"spiral\" is not known here"},
    {"llama.rope.scaling.type", META_STRING, RAW("\50\0\0\0\0\0\0\0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
     "rope method \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is not known here"},
    {"llama.rope.scaling.type", META_STRING, RAW("\4\0\0\0\0\0\0\0none"), NULL},
    {"llama.attention.sliding_window_pattern", META_U32, RAW("\2\0\0\0"),
     "must be a list of booleans, one for each"},
    {"llama.attention.sliding_window_pattern", META_ARRAY, RAW("\4\0\0\0" TWO "\1\0\0\0\0\0\0\0"),
     "must be a list of booleans, one for each layer"},
    {"llama.attention.sliding_window_pattern", META_ARRAY, RAW("\7\0\0\0" ONE "\1"),
     "must be a list of booleans, one"},
    {"llama.attention.sliding_window_pattern", META_ARRAY, RAW("\7\0\0\0" TWO "\1\0"), NULL},
};

/* What llama.cpp's files may say of a model with two layers: numbers that are lists, windows, scaled frequencies. */
static void test_gguf_keys(void) {
    static const RawKey usual[] = {
        {"general.architecture", META_STRING, RAW("\5\0\0\0\0\0\0\0llama"), NULL},
        {"llama.context_length", META_U32, RAW("\100\0\0\0"), NULL},
        {"llama.embedding_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"llama.block_count", META_U32, RAW("\2\0\0\0"), NULL},
        {"llama.feed_forward_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"llama.attention.head_count", META_U32, RAW("\4\0\0\0"), NULL},
        {"llama.attention.layer_norm_rms_epsilon", META_F32, RAW("\254\305\047\067"), NULL},
        {"llama.vocab_size", META_U32, RAW("\40\0\0\0"), NULL},
        {"llama.attention.sliding_window", META_U32, RAW("\10\0\0\0"), NULL},
    };
    expect_all(usual, sizeof usual / sizeof *usual, llama_rows, sizeof llama_rows / sizeof *llama_rows);
    static const RawTensor tensors[] = {
        {"rope_freqs.weight", 1, {4}, TENSOR_F16}, {"rope_factors_long.weight", 2, {2, 2}, TENSOR_F32},
        {"rope_factors_short.weight", 1, {513}, TENSOR_F32}};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s: must be a list of F32, one for each pair", tensors[i].name);
        expect_config(usual, sizeof usual / sizeof *usual, &(RawKey){"general.name", META_U8, "\0", 1, line},
                      &tensors[i], NULL);
    }
    static const RawKey large = {"llama.rope.freq_base", META_U64, RAW("\0\0\0\0\0\0\0\200"), NULL};
    Config c = {0};
    expect_config(usual, sizeof usual / sizeof *usual, &large, NULL, &c);
    CHECK(c.rope.theta == 9223372036854775808.0);
}

static const RawKey qwen_keys[] = {
    {"general.architecture", META_STRING, RAW("\11\0\0\0\0\0\0\0qwen35moe"), NULL},
    {"qwen35moe.context_length", META_U32, RAW("\100\0\0\0"), NULL},
    {"qwen35moe.embedding_length", META_U32, RAW("\40\0\0\0"), NULL},
    {"qwen35moe.block_count", META_U32, RAW("\2\0\0\0"), NULL},
    {"qwen35moe.expert_feed_forward_length", META_U32, RAW("\40\0\0\0"), NULL},
    {"qwen35moe.attention.head_count", META_U32, RAW("\4\0\0\0"), NULL},
    {"qwen35moe.attention.layer_norm_rms_epsilon", META_F32, RAW("\254\305\047\067"), NULL},
    {"qwen35moe.expert_count", META_U32, RAW("\4\0\0\0"), NULL},
    {"qwen35moe.expert_used_count", META_U32, RAW("\2\0\0\0"), NULL},
    {"qwen35moe.expert_shared_feed_forward_length", META_U32, RAW("\0\1\0\0"), NULL},
    {"qwen35moe.ssm.conv_kernel", META_U32, RAW("\4\0\0\0"), NULL},
    {"qwen35moe.ssm.state_size", META_U32, RAW("\10\0\0\0"), NULL},
    {"qwen35moe.ssm.group_count", META_U32, RAW("\2\0\0\0"), NULL},
    {"qwen35moe.ssm.time_step_rank", META_U32, RAW("\4\0\0\0"), NULL},
    {"qwen35moe.ssm.inner_size", META_U32, RAW("\40\0\0\0"), NULL},
};

/* .. of layers that attend and layers that do not: these have no heads of keys. */
static void test_gguf_heads(void) {
    static const char kv[] = "lfm2.attention.head_count_kv";
    static const RawKey lfm2[] = {
        {"general.architecture", META_STRING, RAW("\4\0\0\0\0\0\0\0lfm2"), NULL},
        {"lfm2.context_length", META_U32, RAW("\100\0\0\0"), NULL},
        {"lfm2.embedding_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"lfm2.block_count", META_U32, RAW("\2\0\0\0"), NULL},
        {"lfm2.feed_forward_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"lfm2.attention.head_count", META_U32, RAW("\4\0\0\0"), NULL},
        {"lfm2.attention.layer_norm_rms_epsilon", META_F32, RAW("\254\305\047\067"), NULL},
        {"lfm2.shortconv.l_cache", META_U32, RAW("\3\0\0\0"), NULL},
    };
    static const RawKey lfm2_rows[] = {
        {kv, META_ARRAY, RAW("\5\0\0\0" TWO "\0\0\0\0\2\0\0\0"), NULL},
        {kv, META_ARRAY, RAW("\5\0\0\0" TWO "\1\0\0\0\2\0\0\0"), "differs from layer"},
        {kv, META_ARRAY, RAW("\5\0\0\0" TWO "\0\0\0\0\0\0\0\0"), "head_count_kv: 0 is not"},
        {kv, META_ARRAY, RAW("\5\0\0\0" ONE "\2\0\0\0"), "an entry for each layer"},
    };
    expect_all(lfm2, sizeof lfm2 / sizeof *lfm2, lfm2_rows, sizeof lfm2_rows / sizeof *lfm2_rows);
}

/* .. of models in layers: which of them have a window, or attend at all. */
static void test_gguf_layers(void) {
    static const char bools[] = "must be a list of booleans, one for each layer, or a number";
    static const RawKey gemma[] = {
        {"general.architecture", META_STRING, RAW("\6\0\0\0\0\0\0\0gemma3"), NULL},
        {"gemma3.context_length", META_U32, RAW("\100\0\0\0"), NULL},
        {"gemma3.embedding_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"gemma3.block_count", META_U32, RAW("\2\0\0\0"), NULL},
        {"gemma3.feed_forward_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"gemma3.attention.head_count", META_U32, RAW("\4\0\0\0"), NULL},
        {"gemma3.attention.layer_norm_rms_epsilon", META_F32, RAW("\254\305\047\067"), NULL},
        {"gemma3.attention.sliding_window", META_U32, RAW("\10\0\0\0"), NULL},
    };
    static const RawKey gemma_rows[] = {
        {"gemma3.attention.sliding_window_pattern", META_U32, RAW("\2\0\0\0"), NULL},
        {"gemma3.attention.sliding_window_pattern", META_ARRAY, RAW("\7\0\0\0" TWO "\1\0"), NULL},
        {"gemma3.attention.sliding_window_pattern", META_ARRAY, RAW("\7\0\0\0" ONE "\1"), bools},
        {"gemma3.attention.sliding_window_pattern", META_ARRAY, RAW("\4\0\0\0" TWO "\1\0\0\0\0\0\0\0"), bools},
        {"gemma3.attention.sliding_window_pattern", META_STRING, RAW(ONE "1"), "must be a whole number"},
        {"gemma3.rope.dimension_count", META_U32, RAW("\100\0\0\0"),
         "rope of windows: rotates more than a head has"},
        {"gemma3.rope.freq_base_swa", META_F32, RAW("\0\0\200\277"), "rope of windows: rope method none: rope_theta"},
    };
    enum { N = sizeof qwen_keys / sizeof *qwen_keys };
    static const RawKey qwen_rows[] = {
        {"qwen35moe.ssm.inner_size", META_U32, RAW("\42\0\0\0"), "ssm.inner_size: is no multiple of the value heads"},
        {"general.name", META_U8, RAW("\0"), "qwen35moe.ssm.inner_size: is missing"},
    };
    static const RawKey whole_rows[] = {
        {"qwen35moe.attention.recurrent_layers", META_ARRAY, RAW("\7\0\0\0" TWO "\1\0"), NULL},
        {"qwen35moe.attention.recurrent_layers", META_ARRAY, RAW("\7\0\0\0" ONE "\1"), bools},
        {"qwen35moe.full_attention_interval", META_U32, RAW("\0\0\0\0"), "is not a whole number from 1 to"},
    };
    expect_all(gemma, sizeof gemma / sizeof *gemma, gemma_rows, sizeof gemma_rows / sizeof *gemma_rows);
    expect_all(qwen_keys, N - 1, qwen_rows, sizeof qwen_rows / sizeof *qwen_rows);
    expect_all(qwen_keys, N, whole_rows, sizeof whole_rows / sizeof *whole_rows);
    Config c = {0}; /* room for the widest feed-forward network, which is the shared expert's */
    expect_config(qwen_keys, N, &whole_rows[0], NULL, &c);
    CHECK(c.d_ff == 32 && c.ff_rows == 256);
}

/* q, k and v in one matrix: rows of one behind those of the other, in the same bytes. */
static void test_fused(void) {
    static const RawKey usual[] = {
        {"general.architecture", META_STRING, RAW("\5\0\0\0\0\0\0\0qwen3"), NULL},
        {"qwen3.embedding_length", META_U32, RAW("\40\0\0\0"), NULL},
        {"qwen3.attention.head_count", META_U32, RAW("\4\0\0\0"), NULL},
        {"qwen3.attention.key_length", META_U32, RAW("\6\0\0\0"), NULL}};
    static const char kv[] = "qwen3.attention.head_count_kv";
    static const RawKey lists[] = {{kv, META_ARRAY, RAW("\4\0\0\0" TWO "\2\0\0\0\2\0\0\0"), NULL},
                                   {kv, META_U32, RAW("\1\0\0\0"), NULL}};
    static const RawTensor matrix = {"blk.0.attn_qkv.weight", 2, {32, 24 + 12 + 12}, TENSOR_F32};
    static const char *const names[] = {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"};
    static const size_t rows[] = {24, 12, 12};
    for (int i = 0; i < 2; i++) {
        Weights w;
        char err[300] = "";
        if (!opened_with(&w, usual, sizeof usual / sizeof *usual, &lists[i], &matrix)) return;
        const uint8_t *at = weights_find(&w, matrix.name)->data;
        CHECK(weights_expand(&w, err, sizeof err) == 0 && w.n_tensors == (i ? 2 : 4));
        for (int k = 0; k < 3; k++) {
            const Tensor *t = weights_find(&w, names[k]);
            CHECK(i ? !t : t && t->data == at && t->size == rows[k] * 128 && t->shape[0] == rows[k]);
            at += rows[k] * 128;
        }
        CHECK(!weights_find(&w, matrix.name) == !i); /* of other rows than the keys say it stays */
        weights_close(&w);
    }
}

/* A name may be as long as the file likes. No part of it has one that any model asks for: it stays whole. */
static void test_fused_long_name(void) {
    static const RawKey usual[] = {{"general.architecture", META_STRING, RAW("\5\0\0\0\0\0\0\0llama"), NULL},
                                   {"llama.attention.key_length", META_U32, RAW("\2\0\0\0"), NULL}};
    static const RawKey one = {"llama.embedding_length", META_U32, RAW("\40\0\0\0"), NULL};
    char name[5000] = "blk.0.attn_qkv.", err[300] = "";
    memset(name + strlen(name), 'x', sizeof name - strlen(name) - 1);
    const RawTensor matrix = {name, 2, {32, 2 + 2 + 2}, TENSOR_F32};
    Weights w;
    if (!opened_with(&w, usual, 2, &one, &matrix)) return;
    CHECK(weights_expand(&w, err, sizeof err) == 0 && w.n_tensors == 2 && weights_find(&w, name));
    weights_close(&w);
}

static const char right_type[] = "is not an array as long as tokenizer.ggml.tokens, of the right type";
static const RawKey vocabulary_rows[] = {
    {"general.name", META_U32, RAW("\1\0\0\0"), NULL},
    {"tokenizer.ggml.merges", META_U32, RAW("\1\0\0\0"), "tokenizer.ggml.merges"},
    {"tokenizer.ggml.merges", META_ARRAY, RAW("\4\0\0\0" ONE "\1\0\0\0"), "tokenizer.ggml.merges"},
    {"tokenizer.ggml.pre", META_U32, RAW("\1\0\0\0"), "tokenizer.ggml.pre"},
    {"tokenizer.ggml.bos_token_id", META_STRING, RAW(ONE "0"), "tokenizer.ggml.bos_token_id"},
    {"tokenizer.ggml.cls_token_id", META_STRING, RAW(ONE "0"), "tokenizer.ggml.cls_token_id"},
    {"tokenizer.ggml.seperator_token_id", META_STRING, RAW(ONE "0"), "tokenizer.ggml.seperator_token_id"},
    {"tokenizer.ggml.precompiled_charsmap", META_U32, RAW("\1\0\0\0"), "tokenizer.ggml.precompiled_charsmap"},
    {"tokenizer.ggml.precompiled_charsmap", META_ARRAY, RAW("\4\0\0\0" ONE "\1\0\0\0"),
     "tokenizer.ggml.precompiled_charsmap"},
    {"tokenizer.ggml.precompiled_charsmap", META_ARRAY, RAW("\0\0\0\0" ONE "\1"), NULL},
    {"tokenizer.ggml.precompiled_charsmap", META_ARRAY, RAW("\1\0\0\0" ONE "\1"), NULL},
    {"tokenizer.huggingface.json", META_U32, RAW("\1\0\0\0"), NULL},
    {"tokenizer.ggml.model", META_U32, RAW("\1\0\0\0"), "tokenizer.ggml.model is not a string"},
    {"tokenizer.ggml.model", META_STRING, RAW("\4\0\0\0\0\0\0\0none"), "no vocabulary in it"},
    {"tokenizer.ggml.model, which is not there", META_U8, RAW("\1"), "no vocabulary in it"},
    {"tokenizer.ggml.tokens", META_STRING, RAW(ONE "a"), "tokenizer.ggml.tokens is not an array of strings"},
    {"tokenizer.ggml.tokens", META_ARRAY, RAW("\4\0\0\0" ONE "\1\0\0\0"),
     "tokenizer.ggml.tokens is not an array of strings"},
    {"tokenizer.ggml.tokens", META_ARRAY, RAW("\10\0\0\0\0\0\0\0\0\0\0\0"), "tokenizer.ggml.tokens is not there"},
    {"tokenizer.ggml.tokens, which is not there", META_U8, RAW("\1"), "tokenizer.ggml.tokens is not there"},
    {"tokenizer.ggml.scores", META_ARRAY, RAW("\5\0\0\0" ONE "\0\0\0\0"), right_type},
    {"tokenizer.ggml.scores", META_ARRAY, RAW("\6\0\0\0" TWO "\0\0\0\0\0\0\0\0"), right_type},
    {"tokenizer.ggml.scores", META_F32, RAW("\0\0\0\0"), right_type},
    {"tokenizer.ggml.scores, which is not there", META_U8, RAW("\1"), "tokenizer.ggml.scores is not there"},
    {"tokenizer.ggml.token_type", META_ARRAY, RAW("\4\0\0\0" ONE "\1\0\0\0"), NULL},
    {"tokenizer.ggml.token_type", META_ARRAY, RAW("\6\0\0\0" ONE "\1\0\0\0"), right_type},
    {"tokenizer.ggml.token_type, which is not there", META_U8, RAW("\1"), "tokenizer.ggml.token_type is not there"},
    {"tokenizer.ggml.bos_token_id", META_U64, RAW("\0\0\0\0\1\0\0\0"), "bos_token_id is not an id"},
    {"tokenizer.ggml.bos_token_id", META_I32, RAW("\376\377\377\377"), "bos_token_id is not an id"},
    {"tokenizer.ggml.bos_token_id", META_BOOL, RAW("\1"), "bos_token_id is not an id"},
    {"tokenizer.ggml.add_bos_token", META_U32, RAW("\1\0\0\0"), "add_bos_token is not true or false"},
};

/* .. and of a vocabulary of one piece. */
static void test_vocabulary_keys(void) {
    static const RawKey usual[] = {
        {"tokenizer.ggml.model", META_STRING, RAW("\5\0\0\0\0\0\0\0llama"), NULL},
        {"tokenizer.ggml.tokens", META_ARRAY, RAW("\10\0\0\0" ONE ONE "a"), NULL},
        {"tokenizer.ggml.scores", META_ARRAY, RAW("\6\0\0\0" ONE "\0\0\0\0"), NULL},
        {"tokenizer.ggml.token_type", META_ARRAY, RAW("\5\0\0\0" ONE "\1\0\0\0"), NULL},
    };
    for (size_t i = 0; i < sizeof vocabulary_rows / sizeof *vocabulary_rows; i++) {
        Weights w;
        Vocabulary v;
        RawKey others[4];
        size_t n = 0;
        char err[300] = "";
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) /* the row's stands in its own one's place */
            if (strncmp(vocabulary_rows[i].key, usual[k].key, strlen(usual[k].key)) != 0) others[n++] = usual[k];
        if (!opened_with(&w, others, n, &vocabulary_rows[i], NULL)) continue;
        int rc = vocabulary_from_weights(&v, &w, err, sizeof err);
        expect_line(&vocabulary_rows[i], rc, err);
        CHECK(rc || (v.n == 1 && !v.json && v.pieces[0].len == 1 && !v.strips_behind));
        vocabulary_free(&v);
        weights_close(&w);
    }
}

/* A vocabulary of byte-pair pieces needs neither scores nor types: then all of them are plain. */
static void test_vocabulary_bare(void) {
    static const RawKey usual = {"tokenizer.ggml.model", META_STRING, RAW("\4\0\0\0\0\0\0\0gpt2"), NULL},
                        tokens = {"tokenizer.ggml.tokens", META_ARRAY, RAW("\10\0\0\0" ONE ONE "a"), NULL};
    Weights w;
    Vocabulary v;
    char err[300] = "";
    if (!opened_with(&w, &usual, 1, &tokens, NULL)) return;
    CHECK(vocabulary_from_weights(&v, &w, err, sizeof err) == 0 && v.n == 1);
    CHECK(v.n == 1 && v.pieces[0].type == PIECE_NORMAL && v.pieces[0].score == 0 && v.n_merges == 0);
    vocabulary_free(&v);
    weights_close(&w);
}

/* A "bert" ends its text with its separator, and says how text is normalized. */
static void test_vocabulary_bert(void) {
    static const RawKey usual[] = {
        {"tokenizer.ggml.model", META_STRING, RAW("\4\0\0\0\0\0\0\0bert"), NULL},
        {"tokenizer.ggml.tokens", META_ARRAY, RAW("\10\0\0\0" ONE ONE "a"), NULL},
        {"tokenizer.ggml.eos_token_id", META_U32, RAW("\5\0\0\0"), NULL}};
    static const struct { RawKey key; int eos, lower_case, strip_accents; } rows[] = {
        {{"tokenizer.ggml.pre", META_STRING, RAW(ONE "a"), NULL}, 5, -1, -1},
        {{"tokenizer.ggml.seperator_token_id", META_U32, RAW("\7\0\0\0"), NULL}, 7, -1, -1},
        {{"tokenizer.ggml.normalizer.lowercase", META_BOOL, RAW("\0"), NULL}, 5, 0, -1},
        {{"tokenizer.ggml.normalizer.strip_accents", META_BOOL, RAW("\1"), NULL}, 5, -1, 1},
        {{"tokenizer.ggml.normalizer.lowercase", META_U32, RAW("\1\0\0\0"),
          "tokenizer.ggml.normalizer.lowercase is not true or false"}, 0, 0, 0},
        {{"tokenizer.ggml.normalizer.strip_accents", META_U32, RAW("\1\0\0\0"),
          "tokenizer.ggml.normalizer.strip_accents is not true or false"}, 0, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Weights w;
        Vocabulary v;
        char err[300] = "";
        if (!opened_with(&w, usual, sizeof usual / sizeof *usual, &rows[i].key, NULL)) continue;
        int rc = vocabulary_from_weights(&v, &w, err, sizeof err);
        expect_line(&rows[i].key, rc, err);
        CHECK(v.eos_id == rows[i].eos && v.lower_case == rows[i].lower_case &&
              v.strip_accents == rows[i].strip_accents);
        vocabulary_free(&v);
        weights_close(&w);
    }
}

/* Runs as a folder, and convert says what GGUF has no key for. */
static void test_no_key(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"qwen3moe_raw", "\"x\"", "\"x\"", "GGUF has no key for experts in some layers only"},
        {"qwen3moe", "\"norm_topk_prob\": true", "\"norm_topk_prob\": false",
         "GGUF has no key for experts whose shares do not sum to 1"},
        {"smollm3", "\"no_rope_layers\": [\n    1,", "\"no_rope_layers\": [\n    0,",
         "GGUF has no key for layers without RoPE other than every fourth"},
        {"gemma2", "\"hidden_activation\": \"gelu_pytorch_tanh\"", "\"hidden_activation\": \"silu\"",
         "GGUF has no key for another activation than its own"},
        {"modernbert", "\"classifier_activation\": \"gelu\"", "\"classifier_activation\": \"silu\"",
         "GGUF has no key for another activation of a head than its own"},
        {"qwen35_gelu", "\"x\"", "\"x\"", "GGUF has no key for another activation than its own"},
        {"modernbert_bias", "\"x\"", "\"x\"", "GGUF has no tensor for the gate's biases of such a model"},
        {"gpt_oss", "\"swiglu_limit\": 7.0", "\"swiglu_limit\": 6.0",
         "GGUF has no key for another SwiGLU than gpt-oss's"},
        {"gpt_oss", "\"truncate\": false", "\"truncate\": true", "GGUF has no key for yarn with rounded borders"},
        {"yarn_notrunc", "\"x\"", "\"x\"", "yarn with unrounded borders (truncate false) has no key in GGUF"},
        {"dynamic", "\"x\"", "\"x\"", "rope method dynamic has no keys in GGUF"},
        {"gqa", "\"max_position_embeddings\": 64", "\"max_position_embeddings\": 5e9",
         "a context of 2^32 or more has no key in GGUF"},
        {"mistral", "\"sliding_window\": 8", "\"sliding_window\": 3e9", "a context of 2^32 or more has no key in GGUF"},
        {"deepseek_v2", "\"mscale\": 0.707", "\"mscale\": 1.0",
         "GGUF has no key for yarn whose mscale and mscale_all_dim differ"},
        {"minicpm3", "\"scale_emb\": 12", "\"scale_emb\": 10", "GGUF has no key for scales other than MiniCPM3's own"},
        {"gpt_oss", "\"swiglu_alpha\": 1.702", "\"swiglu_alpha\": 1.5",
         "GGUF has no key for another SwiGLU than gpt-oss's"},
        {"gemma3", "\"rope_type\": \"default\"", "\"factor\": 2.0, \"rope_type\": \"linear\"",
         "GGUF has no key for a rope method in layers with a window"},
        {"gemma3", "\"rope_type\": \"default\"", "\"partial_rotary_factor\": 0.5, \"rope_type\": \"default\"",
         "GGUF has no key for layers with a window that turn more or less of a head"},
        {"olmo3", "\"rope_type\": \"yarn\"", "\"rope_type\": \"yarn\", \"truncate\": false",
         "yarn with unrounded borders (truncate false) has no key in GGUF"},
        {"yarn", "\"original_max_position_embeddings\": 16", "\"original_max_position_embeddings\": 5e9",
         "a context of 2^32 or more has no key in GGUF"},
        {"yarn", "\"factor\": 4.0", "\"factor\": 1e39", "a number of its configuration is too large for GGUF's F32"},
        {"gqa", "\"rope_theta\": 10000.0", "\"rope_theta\": 1e39",
         "a number of its configuration is too large for GGUF's F32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, strcmp(rows[i].from, "\"x\"") ? &s : &sound);
        CHECK(folder && run("logits %s --ids 1,5 -q", folder) == 0);
        int code = tool("", "convert", "%s %s --no-tokenizer -q", folder, test_tmp("no-key.gguf"));
        if (code != 1) printf("    %s, %s: %d\n", rows[i].name, rows[i].to, code);
        CHECK(code == 1 && said_line(rows[i].line));
    }
}

/* The largest difference of two models' logits behind each of some ids; NaN where one does not run. */
static double apart(const char *one, const char *other) {
    static const char ids[] = "3,40,77,34,71,28,65,22,59,16,53,10,47,4,41,78,35,72,29,66";
    double worst = 0;
    int a = run("logits %s --ids %s --all -q", one, ids);
    char *before = taken_out(), *p = before, *end;
    int b = run("logits %s --ids %s --all -q", other, ids);
    for (char *q = out; a == 0 && b == 0 && *p; p = end) {
        double x = strtod(p, &end);
        worst = fmax(worst, fabs(x - strtod(q, &q)));
        if (end == p) break;
    }
    free(before);
    return a || b ? NAN : worst;
}

/* What convert makes of it runs as the folder does, and not as the architecture usually does. */
static void test_same_in_gguf(void) {
    static const struct { const char *name, *from, *to; } rows[] = {
        {"gemma2", "\"full_attention\"", "\"sliding_attention\""}, /* every layer has the window */
        {"gpt_oss", "\"full_attention\"", "\"sliding_attention\""},
        {"exaone4", "\"full_attention\"", "\"sliding_attention\""},
        {"exaone4_full", "\"sliding_window\": null", "\"sliding_window\": 4"}, /* none has it, and none turns */
        {"gemma2", "\"sliding_attention\"", "\"full_attention\""},
        {"gpt_oss", "\"rope_type\": \"yarn\"", "\"rope_type\": \"default\""},
        {"ministral3", "\"rope_type\": \"yarn\"", "\"rope_type\": \"linear\""},
        {"ministral3", "\"rope_type\": \"yarn\"", "\"rope_type\": \"default\""},
        {"smollm3_list", "\"no_rope_layers\": [\n    1,\n    0,", "\"no_rope_layers\": [\n    1,\n    1,"},
        {"gqa", "\"rope_type\": \"default\"", "\"rope_type\": \"xpos\", \"scale_base\": 20"},
    };
    char usual[600];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        snprintf(usual, sizeof usual, "%s", test_tmp("usual.gguf"));
        int has_key = tool("", "convert", "%s %s -q --no-tokenizer", hf_folder(rows[i].name, "", TENSOR_F32, &sound),
                           usual) == 0; /* then it must be another model */
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &s);
        double off = apart(folder, converted(rows[i].name, folder, NULL, 0)),
               other = has_key ? apart(folder, usual) : 1;
        if (!(off < 1e-4 && other > 1e-2)) printf("    %s, %s: %g, %g\n", rows[i].name, rows[i].to, off, other);
        CHECK(off < 1e-4 && other > 1e-2);
    }
}

/* ---- GGUF files of llama.cpp's converter that say it otherwise ---- */

/* The file at from with another name, as long as the first, in another one. */
static const char *renamed_in(const char *from, const char *name, const char *to) {
    const char *path = test_tmp("renamed.gguf");
    size_t n = 0, k = strlen(name), i = 0;
    char *bytes = file_read(from, &n);
    CHECK(bytes && strlen(to) == k);
    while (bytes && i + k <= n && memcmp(bytes + i, name, k) != 0) i++;
    CHECK(bytes && i + k <= n);
    if (bytes && i + k <= n) memcpy(bytes + i, to, k);
    file_write(path, bytes, n);
    free(bytes);
    return path;
}

/* Of StableLM the converter writes true where config.json says nothing; the second norm tells, in llama.cpp as well. */
static void test_parallel_key(void) {
    static DecoderCase g;
    if (!case_read(&g, "stablelm")) return;
    const char *path = gguf_file("stablelm", TENSOR_F32, &sound);
    path = gguf_patched(path, "stablelm.use_parallel_residual", 4, 1);
    CHECK(case_distance("stablelm", path, kernels_best(), &g) < 1e-4);
}

/* A Gemma 2 without these keys has the caps of the published ones, 50 and 30. */
static void test_usual_caps(void) {
    char said_so[600], left_out[600];
    const char *path = gguf_patched(gguf_file("gemma2", TENSOR_F32, &sound), "gemma2.attn_logit_softcapping", 6, 0x48);
    path = gguf_patched(path, "gemma2.attn_logit_softcapping", 7, 0x42);
    snprintf(said_so, sizeof said_so, "%s", gguf_patched(path, "gemma2.final_logit_softcapping", 6, 0xf0));
    path = renamed_in(said_so, "gemma2.attn_logit_softcapping", "gemma2.attn_logit_softcappin_");
    snprintf(left_out, sizeof left_out, "%s", test_tmp("left-out.gguf"));
    CHECK(shell("cp %s %s", renamed_in(path, "gemma2.final_logit_softcapping", "gemma2.final_logit_softcappin_"),
                left_out) == 0);
    CHECK(apart(said_so, left_out) == 0);
}

/* A MiniCPM without these keys has the scales of the first one. */
static void test_usual_scales(void) {
    const char *path = gguf_file("minicpm", TENSOR_F32, &sound), *folder = hf_folder("minicpm", "", TENSOR_F32, &sound);
    path = renamed_in(path, "minicpm.embedding_scale", "minicpm.embedding_scal_");
    path = renamed_in(path, "minicpm.residual_scale", "minicpm.residual_scal_");
    path = renamed_in(path, "minicpm.logit_scale", "minicpm.logit_scal_");
    folder_change(folder, "config.json", "\"scale_depth\": 0.7071067811865476", "\"scale_depth\": 1.4");
    folder_change(folder, "config.json", "\"dim_model_base\": 4.0", "\"dim_model_base\": 256");
    CHECK(apart(folder, path) < 1e-4);
}

/* Qwen3.5's list of layers counts the one that drafts; that one's tensors are no riddle. */
static void test_drafting_layer(void) {
    static const char list[] = "\7\0\0\0\4\0\0\0\0\0\0\0\1\1\0\0";
    static DecoderCase g;
    if (!case_read(&g, "qwen35_vision")) return;
    const char *path = gguf_file("qwen35_vision", TENSOR_F32, &sound);
    path = gguf_with_key(path, "qwen35.attention.recurrent_layers", META_ARRAY, list, sizeof list - 1);
    CHECK(case_distance("qwen35_vision", path, kernels_best(), &g) < 1e-4);
    CHECK(run("logits %s --ids 1,5", path) == 0 && !strstr(said, "does not use"));
    refused_folder("qwen35_vision", renamed_in(path, "blk.3.nextn.hnorm.weight", "blk.3.nextn.hnor.2.scale"), NULL,
                   "hnor.2.scale: scales and biases of this kind are not read here");
}

/* What makes of a model another one is not passed over. */
static void test_changed_by_keys(void) {
    refused_folder("gqa", gguf_with_key(gguf_file("gqa", TENSOR_F32, &sound), "llama.attention.causal", META_BOOL,
                                        "\0", 1), NULL, "attention.causal: of false");
    refused_folder("modernbert_body", gguf_with_key(gguf_file("modernbert_body", TENSOR_F32, &sound),
                                                    "modern-bert.hidden_activation", META_STRING,
                                                    "\4\0\0\0\0\0\0\0none", 12), NULL, "hidden_activation");
}

/* ---- models that are not here ---- */

/* A line of its own for those that are well known, one that points on for others; both are short. */
static void test_unknown(void) {
    static const char *const rows[][2] = {
        {"gemma3n", "model_type: architecture \"gemma3n\" is not known here: it shares keys and values between layers"},
        {"deepseek_v32", "is not known here: it attends only to tokens that a network of its own chooses"},
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
    CHECK(strstr(out, "of its own chooses\n    deep") != NULL);
    const char *why = strstr(out, "models that do not:");
    CHECK(why && strstr(why, "gemma3n") && !strstr(why, "gemma2 "));
    CHECK(run("--help") == 0 && strstr(out, "--help models"));
    for (const char *at = out, *end; (end = strchr(at, '\n')); at = end + 1) CHECK(end - at <= 120);
}

extern const Test tests_config[];
const Test tests_config[] = {
    {"config/a Mistral with layer_types", test_mistral_layer_types},
    {"config/no layer_types", test_periods},
    {"config/rope_scaling for rope_parameters", test_rope_scaling},
    {"config/windows whose RoPE would grow", test_window_grows},
    {"config/decoders that are not causal", test_not_causal},
    {"config/layer_types unread", test_layer_types_unread},
    {"config/layer_types without a window", test_no_window},
    {"config/tied, and the file has a head", test_tied_apart},
    {"config/tied, and the file has it twice", test_tied_twice},
    {"config/tied, said outside", test_tied_outside},
    {"config/tied outside, alone", test_tied_outside_alone},
    {"config/ids that end a text", test_ends},
    {"config/words for the same", test_same_words},
    {"config/partial_rotary_factor", test_partial},
    {"config/tensors that are not used", test_unused},
    {"config/tensors that nobody misses", test_not_missed},
    {"config/layers refused", test_layers_refused},
    {"config/what does not stretch", test_unstretched},
    {"config/no key in GGUF", test_no_key},
    {"config/the same in GGUF", test_same_in_gguf},
    {"config/GGUF's keys", test_gguf_keys},
    {"config/heads by layer", test_gguf_heads},
    {"config/GGUF's keys of layers", test_gguf_layers},
    {"config/StableLM's key for branches side by side", test_parallel_key},
    {"config/Gemma 2 without caps", test_usual_caps},
    {"config/MiniCPM without scales", test_usual_scales},
    {"config/a layer that drafts", test_drafting_layer},
    {"config/keys that change a model", test_changed_by_keys},
    {"config/q, k and v in one matrix", test_fused},
    {"config/q, k and v in one matrix, by a long name", test_fused_long_name},
    {"config/a vocabulary's keys", test_vocabulary_keys},
    {"config/a vocabulary without scores", test_vocabulary_bare},
    {"config/a vocabulary of BERT", test_vocabulary_bert},
    {"config/unknown models", test_unknown},
    {0},
};
