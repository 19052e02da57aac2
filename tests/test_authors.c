/* tests/test_authors.c - weights-tools/convert of LLaMAs and Mistrals as their authors publish them, and of llama2.c's
 * training checkpoints: one model of tests/oracle/checkpoints.py in all these layouts, and in Hugging Face's. */
#include "convert_files.h"
#include "program.h"
#include "tokenizer_files.h"
#include "test.h"
#include "base/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GGUF "-q -f --name m --no-tokenizer"

/* The folder NAME with these files: golden, name there, golden, name .. */
static const char *folder_of(const char *name, const char *const *files) {
    const char *folder = convert_folder(name);
    for (; *files; files += 2) golden_into(files[0], folder, files[1]);
    return folder;
}

static const char *one(const char *name) {
    return folder_of(name, (const char *const[]){"authors.one.pth", "consolidated.00.pth", "authors.params.json",
                                                 "params.json", NULL});
}

/* A path that lives, unlike test_in's, until the next one of this kind. */
static const char *file_in(char path[300], const char *folder, const char *name) {
    snprintf(path, 300, "%s", test_in(folder, name));
    return path;
}

/* The file that Hugging Face's folder of the model gives, with `from` of its configuration replaced. */
static const char *expected(const char *from, const char *to) {
    static char path[300];
    const char *folder = folder_of("authors-hf", (const char *const[]){"authors.hf.bin", "pytorch_model.bin", NULL});
    golden_with(test_in(folder, "config.json"), "authors.hf.json", from, to);
    CHECK(tool("", "convert", "%s %s " GGUF, folder, file_in(path, folder, "m.gguf")) == 0);
    return path;
}

/* Whole, sliced for two as LLaMA 2 and as LLaMA 3, by the folder or any of its files: the same file as Hugging Face's,
 * keys and rows. */
static void metas(void) {
    const char *hf = expected("\"model_type\"", "\"model_type\""), *to = convert_folder("authors-to");
    const char *two = folder_of("authors-two", (const char *const[]){
        "authors.two.00.pth", "consolidated.00.pth", "authors.two.01.pth", "consolidated.01.pth",
        "authors.params.json", "params.json", NULL});
    const char *three = folder_of("authors-three", (const char *const[]){
        "authors.three.00.pth", "consolidated.00.pth", "authors.three.01.pth", "consolidated.01.pth",
        "authors.params.json", "params.json", NULL});
    golden_into("authors.one.pth", two, "consolidated.merged.pth"); /* which is no slice, but a file by itself */
    const char *const paths[] = {one("authors-one"), two, three, test_in(two, "consolidated.01.pth"),
                                 test_in(two, "consolidated.merged.pth")};
    for (size_t i = 0; i < COUNT(paths); i++) {
        CHECK(tool("", "convert", "%s %s " GGUF, paths[i], test_in(to, "m.gguf")) == 0 && *said == 0);
        CHECK(files_equal(test_in(to, "m.gguf"), hf));
    }
    CHECK(tool("", "convert", "%s %s -f --no-tokenizer", two, test_in(to, "m.gguf")) == 0 &&
          strstr(said, "8192 tokens, as models of its settings were") && strstr(said, "left out: 1 tensor of freq"));
    CHECK(tool("", "quantize", "%s %s Q8_0 -q -f", two, test_in(to, "q.gguf")) == 1 && said_line("-z"));
    CHECK(tool("", "inspect", "%s", two) == 0 && strstr(out, "in 2 files") &&
          strstr(out, "layers.1.feed_forward.w2.weight  BF16                 192  [8, 12]"));
    /* joined matrices in a file of their own */
    CHECK(tool("", "convert", "%s %s -q", two, test_in(to, "m.safetensors")) == 0);
    CHECK(checkpoints_equal(paths[0], test_in(to, "m.safetensors"), 22));
}

/* What params.json may say beside the golden's, and Hugging Face's config.json of the same. */
static void settings(void) {
    static const struct { const char *params, *config; } rows[] = {
        {"\"norm_eps\": 1e-05, \"use_scaled_rope\": true",
         "\"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": "
         "1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}"},
        {"\"norm_eps\": 1e-05, \"max_seq_len\": 8192, \"n_kv_heads\": 2, \"use_scaled_rope\": false, \"moe\": null",
         "\"rms_norm_eps\": 1e-05"},
        {"\"norm_eps\": 0.5", "\"rms_norm_eps\": 0.5"},
    };
    char path[300];
    const char *folder = one("authors-settings"), *m = file_in(path, folder, "m.gguf");
    for (size_t i = 0; i < COUNT(rows); i++) {
        golden_with(test_in(folder, "params.json"), "authors.params.json", "\"norm_eps\": 1e-05", rows[i].params);
        CHECK(tool("", "convert", "%s %s -f --name m --no-tokenizer", folder, m) == 0);
        CHECK(!strstr(said, "says 32: --config takes one") == (i != 0));
        if (i == 0) /* and a context that goes with it */
            golden_with(test_in(folder, "params.json"), "authors.params.json", "\"norm_eps\": 1e-05",
                        "\"norm_eps\": 1e-05, \"max_position_embeddings\": 8192, \"use_scaled_rope\": true");
        CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 0);
        CHECK(files_equal(m, expected("\"rms_norm_eps\": 1e-05", rows[i].config)));
    }
    static const struct { const char *from, *to, *context; } contexts[] = {
        {"500000.0", "1000000.0", "16384"}, {"\"rope_theta\": 500000.0", "\"max_batch_size\": 1", "4096"},
        {"\"norm_eps\": 1e-05,\n \"rope_theta\": 500000.0", "\"norm_eps\": 1e-06", "2048"},
        {"500000.0", "500000.0, \"use_scaled_rope\": true", "131072"}};
    for (size_t i = 0; i < COUNT(contexts); i++) {
        golden_with(test_in(folder, "params.json"), "authors.params.json", contexts[i].from, contexts[i].to);
        CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 0);
        keys_are(m, (const Key[]){{"llama.context_length", contexts[i].context}}, 1);
    }
    /* Hugging Face's own file instead of params.json */
    remove(test_in(folder, "params.json"));
    CHECK(tool("", "convert", "%s %s --config " CONVERT_GOLDEN "authors.hf.json " GGUF, folder, m) == 0);
    CHECK(files_equal(m, expected("\"model_type\"", "\"model_type\"")));
}

/* 1 where the files hold the same tensors, bit for bit, but for what the second one lacks. */
static int same_tensors(const char *a, const char *b, size_t n) {
    Weights x, y;
    int same = 0;
    if (!weights_opened(&x, a)) return 0;
    if (weights_opened(&y, b)) {
        same = y.n_tensors == n;
        for (size_t i = 0; i < y.n_tensors && same; i++) {
            const Tensor *t = weights_find(&x, y.tensors[i].name);
            same = t && t->type == y.tensors[i].type && t->size == y.tensors[i].size &&
                   memcmp(t->data, y.tensors[i].data, t->size) == 0;
        }
        weights_close(&y);
    }
    weights_close(&x);
    return same;
}

static void mistral_and_llama2c(void) {
    const char *hf = expected("\"model_type\"", "\"model_type\"");
    const char *folder = folder_of("authors-mistral", (const char *const[]){
        "authors.mistral.safetensors", "consolidated.safetensors", "authors.mistral.json", "params.json",
        "authors.llama2c.pt", "ckpt.pt", NULL});
    char path[300];
    const char *m = file_in(path, folder, "m.gguf");
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 0 && same_tensors(hf, m, 21));
    keys_are(m, (const Key[]){{"llama.attention.sliding_window", "4096"}, {"llama.rope.freq_base", "10000"},
                              {"llama.context_length", "32768"}, {"llama.attention.layer_norm_rms_epsilon", "1e-06"}},
             4);
    golden_with(test_in(folder, "params.json"), "authors.mistral.json", "\"sliding_window\": 4096",
                "\"sliding_window\": null");
    golden_into("authors.hf.json", folder, "config.json"); /* which is not what the authors' file is read by */
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 0 && same_tensors(hf, m, 21));
    keys_are(m, (const Key[]){{"llama.attention.sliding_window", "absent"}, {"llama.rope.freq_base", "1e+06"}}, 2);
    /* a head that is not there is missing, but where it is said to be tied */
    size_t n, at = 0;
    char *file = file_read(test_in(folder, "consolidated.safetensors"), &n);
    while (file && at + 15 < n && memcmp(file + at, "\"output.weight\"", 15) != 0) at++;
    CHECK(file && at + 15 < n);
    if (file) file[at + 1] = 'x', file_write(test_in(folder, "consolidated.safetensors"), file, n);
    free(file);
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 && said_line("tensor lm_head.weight is missing"));
    golden_with(test_in(folder, "params.json"), "authors.mistral.json", "\"dim\"",
                "\"tied_embeddings\": true, \"dim\"");
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 &&
          said_line("tensor xutput.weight: no mistral known here"));
    /* what it says of itself wins; its head is the embeddings; a mask and an optimizer are not the model's */
    CHECK(tool("", "convert", "%s/ckpt.pt %s " GGUF, folder, m) == 0 && same_tensors(hf, m, 20));
    keys_are(m, (const Key[]){{"llama.context_length", "64"}, {"llama.rope.freq_base", "10000"},
                              {"llama.attention.head_count_kv", "2"}}, 3);
}

static void refusals(void) {
    static const struct { const char *from, *to, *says; } rows[] = {
        {"\"dim\"", "\"moe\": {\"num_experts\": 8}, \"dim\"", "params.json: moe: not known of a LLaMA or a Mistral"},
        {"\"dim\"", "\"width\"", "width: not known"},
        {"\"dim\": 8,", "", "params.json: dim is missing"},
        {"\"n_heads\": 2", "\"n_heads\": \"2\"", "params.json: n_heads must be a number above 0"},
        {"\"n_heads\": 2", "\"n_heads\": 3", "params.json: head_dim: is not given"},
        {"\"dim\": 8", "\"dim\": 1e300", "params.json: dim must be a number above 0 and at most 1e+09"},
        {"\"dim\": 8", "\"dim\": 16", "wq.weight has 8 rows of 16: is one of the files consolidated.NN.pth missing?"},
        {"\"dim\"", "\"hidden_dim\": 99, \"dim\"", "params.json: hidden_dim: the tensors have 12"},
        {"-1", "17", "params.json: vocab_size: the tensors have 16"},
        {"\"dim\"", "\"use_scaled_rope\": 1, \"dim\"", "use_scaled_rope must be true or false"},
        {"\"dim\"", "\"sliding_window\": -5, \"dim\"", "sliding_window must be a number above 0"},
        {"\"n_layers\": 2", "\"n_layers\": 3", "tensor model.layers.2.input_layernorm.weight is missing"},
        {"\"n_layers\": 2", "\"n_layers\": 1", "tensor model.layers.1."},
        {"\"dim\"", "\"model_type\": \"mamba\", \"dim\"", "only \"transformer\" is known here"},
        {"{", "[{", "params.json: line"},
    };
    char path[300];
    const char *folder = one("authors-wrong"), *m = file_in(path, folder, "m.gguf");
    for (size_t i = 0; i < COUNT(rows); i++) {
        golden_with(test_in(folder, "params.json"), "authors.params.json", rows[i].from, rows[i].to);
        int code = tool("", "convert", "%s %s " GGUF, folder, m), right = code == 1 && said_line(rows[i].says);
        if (!right) printf("    %s: %d, %s\n", rows[i].to, code, said);
        CHECK(right);
    }
    golden_with(test_in(folder, "q.json"), "authors.hf.json", "\"llama\"", "\"qwen3\"");
    CHECK(tool("", "convert", "%s %s --config %s " GGUF, folder, m, test_in(folder, "q.json")) == 1 &&
          said_line("the configuration is of a qwen3"));
    remove(test_in(folder, "params.json"));
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 && said_line("params.json: is missing"));
    CHECK(run("%s -n 1", folder) == 1 && said_line("./run convert makes a GGUF file of them"));
    golden_into("authors.params.json", folder, "params.json");
    golden_into("authors.two.01.pth", folder, "consolidated.01.pth"); /* a slice beside a whole */
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 && said_line("its slices in 2 files do not go together"));
    remove(test_in(folder, "consolidated.00.pth")), remove(test_in(folder, "consolidated.01.pth"));
    golden_into("authors.two.00.pth", folder, "consolidated.00.pth");
    golden_into("llama.bin", folder, "consolidated.01.pth");
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 && said_line("of a later file is not in the first"));
    remove(test_in(folder, "consolidated.01.pth"));
    CHECK(tool("", "convert", "%s %s " GGUF, folder, m) == 1 &&
          said_line("is one of the files consolidated.NN.pth missing?"));
    CHECK(files_in(folder) == 3); /* nothing half done */
}

const Test tests_authors[] = {
    {"convert/Meta's", metas},
    {"convert/params.json", settings},
    {"convert/Mistral's and llama2.c's", mistral_and_llama2c},
    {"convert/authors' layout refused", refusals},
    {0},
};
