/* tests/test_roformer_config.c - what is refused of a RoFormer's file, and with which line: settings that are not known
 * or do not go together, and every tensor that is missing or has another shape, by the name that the file would give
 * it. */
#include "model/files/weights.h"
#include "model/roformer.h"
#include "model/notes.h"
#include "model/options.h"
#include "model/roformer_kinds.h"
#include "build.h"
#include "decoder_files.h"
#include "program.h"
#include "roformer_files.h"
#include "test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void expect_refused(const char *name, const char *path, const char *line) {
    char err[600] = "";
    Model m;
    int rc = model_open(&m, path, NULL, err, sizeof err);
    if (rc == 0) {
        roformer_fail(name, "opens, where it should say:", line);
        model_close(&m);
        return;
    }
    if (rc != -EINVAL || !strstr(err, line)) roformer_fail(line, "expected, not", err);
    CHECK(strncmp(err, path, strlen(path)) == 0 && !strchr(err, '\n'));
}

/* A model, a change of it, and the line that refuses it: in config.json, and in a GGUF file's head. */
typedef struct {
    const char *name, *line;
    Change c;
} Setting;

static const Setting folder_settings[] = {
    {"mlm", "hidden_act: \"prelu\" is not known here (gelu, gelu_new, relu, silu and most of transformers' are)",
     {.from = "\"gelu\"", .to = "\"prelu\""}},
    {"mlm", "hidden_act: must be a word", {.from = "\"gelu\"", .to = "7"}},
    {"unilm", "mask: is a word not known here", {.from = "\"unilm\"", .to = "\"diagonal\""}},
    {"sim", "pooler_activation: is a word not known here", {.from = "\"linear\"", .to = "\"conv\""}},
    {"mlm", "add_cross_attention: cross attention is not known here",
     {.from = "\"add_cross_attention\": false", .to = "\"add_cross_attention\": true"}},
    {"mlm", "model_type: architecture \"reformer\" is not known here",
     {.from = "\"roformer\"", .to = "\"reformer\""}},
    {"mlm", "quantization_config: this kind of quantized weights is not read",
     {.from = "\"hidden_act\"", .to = "\"quantization_config\": {\"quant_method\": \"gptq\"}, \"hidden_act\""}},
    {"mlm", "hidden_size: is missing in config.json", {.from = "\"hidden_size\"", .to = "\"hidden\""}},
    {"mlm", "vocab_size: is missing in config.json", {.from = "\"vocab_size\"", .to = "\"vocab\""}},
    {"mlm", "num_attention_heads: is missing in config.json",
     {.from = "\"num_attention_heads\"", .to = "\"heads\""}},
    {"mlm", "head_dim: is not given, and the heads do not divide",
     {.from = "\"num_attention_heads\": 2", .to = "\"num_attention_heads\": 3"}},
    {"keysize", "head_dim: must be even", {.from = "\"attention_key_size\": 6", .to = "\"attention_key_size\": 7"}},
    {"mlm", "layer_norm_eps: is missing or out of range", {.from = "1e-12", .to = "1.5"}},
    {"mlm", "rope: a method that changes with the text's length is not known for RoFormer",
     {.from = "\"hidden_act\"",
      .to = "\"rope_scaling\": {\"type\": \"longrope\", \"original_max_position_embeddings\": 64,"
            " \"short_factor\": [1, 1, 1, 1, 1],\"long_factor\": [1, 2, 3, 4, 5]}, \"hidden_act\""}},
    {"mlm", "rope_scaling: rope method \"spiral\" is not known here",
     {.from = "\"hidden_act\"", .to = "\"rope_scaling\": {\"type\": \"spiral\"}, \"hidden_act\""}},
    {"gau", "attention: a gated attention unit has softmax attention only",
     {.from = "\"use_bias\"", .to = "\"attention_kind\": \"linear\", \"use_bias\""}},
    {"keysize", "attention: linear attention needs keys as wide as values",
     {.from = "\"vocab_size\"", .to = "\"attention_kind\": \"linear\", \"vocab_size\""}},
    {"linear", "attention_feature_map: \"cubic\" is not known here", {.from = "\"elu+1\"", .to = "\"cubic\""}},
    {"keysize", "rotary_value: more entries turn than a value has",
     {.from = "\"attention_key_size\": 6", .to = "\"rotary_value\": true, \"attention_key_size\": 12"}},
    {"mlm", "rope_scaling: settings by layer type are not known here",
     {.from = "\"hidden_act\"", .to = "\"rope_scaling\": {\"full_attention\": {}}, \"hidden_act\""}},
    {"mlm", "n_heads: n_heads x value_dim is too large",
     {.from = "\"vocab_size\"", .to = "\"attention_head_size\": 1000000, \"attention_key_size\": 10, \"vocab_size\""}},
    {"mlm", "attention: values turn as keys do (rotary_value), so features must be as many as a head has entries",
     {.from = "\"rotary_value\": false",
      .to = "\"rotary_value\": true, \"attention_kind\": \"linear\", \"attention_form\": \"before-phi\","
            " \"attention_feature_map\": \"favor+\""}},
    {"mlm", "is missing", {.from = "\"num_hidden_layers\": 2", .to = "\"num_hidden_layers\": 3"}},
    {"mlm", "layers are claimed", {.from = "\"num_hidden_layers\": 2", .to = "\"num_hidden_layers\": 1000"}},
};

static const Setting gguf_settings[] = {
    {"seq", "roformer.hidden_act: \"gelx\" is not known here", {.head_from = "gelu", .head_to = "gelx"}},
    {"sim", "roformer.mask: is a word not known here", {.head_from = "unilm", .head_to = "unilx"}},
    {"sim", "roformer.pooler: is a word not known here", {.head_from = "linear", .head_to = "linexr"}},
    {"mlm", "roformer.variant: is a word not known here", {.head_from = "v1", .head_to = "v9"}},
    {"mlm", "architecture \"reformer\" is not known here", {.head_from = "roformer", .head_to = "reformer"}},
    {"mlm", "embedding_length", {.head_from = "embedding_length", .head_to = "embedding_xxxxxx"}},
    {"mlm", "block_count", {.head_from = "block_count", .head_to = "block_xxxxx"}},
    {"gau", "roformer.variant: is a word not known here", {.head_from = "gau-alpha", .head_to = "gau-alphx"}},
};

static void expect_all_refused(const Setting *rows, size_t n, int gguf) {
    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i].name;
        const char *path =
            gguf ? roformer_gguf(name, TENSOR_F32, &rows[i].c) : roformer_folder(name, TENSOR_F32, &rows[i].c);
        expect_refused(name, path, rows[i].line);
    }
}

static void test_settings(void) {
    expect_all_refused(folder_settings, sizeof folder_settings / sizeof *folder_settings, 0);
    expect_all_refused(gguf_settings, sizeof gguf_settings / sizeof *gguf_settings, 1);
}

/* ---- tensors ---- */

/* A head that lacks its own mark is a head that is not there; the word embeddings of GGUF are the vocabulary's size
 * too. */
static const char *lacking(const char *name) {
    static const char *const marks[] = {"mlm.dense.weight", "transform.dense.weight", "pooler.weight",
                                        "pooler.dense.weight",
                                        "cls.out.weight", "classifier.out_proj.weight", "disc.out.weight",
                                        "dense_prediction.weight"};
    if (strstr(name, "embed_positions")) return NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(name, marks[i])) return NULL;
    return strcmp(name, "token_embd.weight") == 0 ? "token_embd.weight: the tensor is missing or not a matrix" : "";
}

/* Each tensor in turn under a name that nobody asks for. */
static void each_missing(const char *name, int gguf) {
    Weights w;
    char err[400] = "", from[200], to[200], line[300];
    size_t refused = 0;
    const char *path = gguf ? roformer_gguf(name, TENSOR_F32, NULL) : roformer_folder(name, TENSOR_F32, NULL);
    if (weights_open(&w, path, err, sizeof err)) {
        roformer_fail(name, err, "");
        return;
    }
    size_t n = w.n_tensors;
    char (*names)[200] = calloc(n, sizeof *names);
    if (!names) abort();
    for (size_t i = 0; i < n; i++) snprintf(names[i], sizeof *names, "%s", w.tensors[i].name);
    weights_close(&w);
    for (size_t i = 0; i < n; i++) {
        const char *special = lacking(names[i]);
        snprintf(from, sizeof from, "%s", names[i]);
        snprintf(to, sizeof to, "%s", names[i]);
        to[strlen(to) - 1] = '?';
        if (!special) continue;
        if (*special) snprintf(line, sizeof line, "%s", special);
        else snprintf(line, sizeof line, "tensor %.190s is missing", names[i]);
        Change c = {.head_from = from, .head_to = to};
        expect_refused(name, gguf ? roformer_gguf(name, TENSOR_F32, &c) : roformer_folder(name, TENSOR_F32, &c), line);
        refused++;
    }
    CHECK(refused >= 10);
    free(names);
}

static void test_missing(void) {
    static const char *const names[] = {"mlm", "v2", "gau", "sim", "seq", "electra"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int gguf = 0; gguf < 2; gguf++) each_missing(names[i], gguf);
}

static void test_shapes(void) {
    static const Setting folders[] = {
        {"mlm", "intermediate.dense.weight has shape [20, 28], the model needs [28, 20]",
         {.head_from = "\"shape\":[28,20]", .head_to = "\"shape\":[20,28]"}},
        {"mlm", "word_embeddings.weight has shape [61, 12], the model needs [62, 12]",
         {.from = "\"vocab_size\": 61", .to = "\"vocab_size\": 62"}},
        {"mlm", "word_embeddings.weight has shape [61, 12], the model needs [61, 20]",
         {.from = "\"embedding_size\": 12", .to = "\"embedding_size\": 20"}},
        {"mlm", "token_type_embeddings.weight has shape [2, 12], the model needs [3, 12]",
         {.from = "\"type_vocab_size\": 2", .to = "\"type_vocab_size\": 3"}},
        {"keysize", "self.query.weight has shape [12, 20], the model needs [20, 20]",
         {.from = ",\n  \"attention_key_size\": 6", .to = ""}},
        {"gau", "gau.i_dense.weight has shape [62, 20], the model needs [64, 20]",
         {.from = "\"attention_key_size\": 6", .to = "\"attention_key_size\": 8"}},
    };
    static const Setting ggufs[] = {
        {"tok", "token_types.weight has shape [3, 24], the model needs [2, 24]",
         {.head_from = "token_type_count", .head_to = "token_type_xxxxx"}},
        {"mlm", "token_embd.weight has shape [61, 12], the model needs [61, 20]",
         {.head_from = "embedding_length_in", .head_to = "embedding_length_xx"}},
        {"keysize", "blk.0.attn_q.weight has shape [12, 20], the model needs [20, 20]",
         {.head_from = "attention.key_length", .head_to = "attention.key_xxxxxx"}},
    };
    expect_all_refused(folders, sizeof folders / sizeof *folders, 0);
    expect_all_refused(ggufs, sizeof ggufs / sizeof *ggufs, 1);
}

/* Names that mean the same: another prefix and gamma for weight (the file then means what it meant); decoder.bias for
 * predictions.bias; and one tensor under two such names. */
static void test_aliases(void) {
    static Golden g;
    static const struct {
        const char *name;
        Change c;
    } same[] = {
        {"mlm", {.head_from = "roformer.encoder.layer.1.output.LayerNorm.weight",
                 .head_to = "gau_alpha.encoder.layer.1.output.LayerNorm.gamma"}},
        {"untied", {.head_from = "\"cls.predictions.bias\":", .head_to = "\"cls.predictions.bixs\":"}},
    };
    for (size_t i = 0; i < 2; i++)
        if (golden_read(&g, same[i].name) && /* test_roformer.c's tolerance */
            !(golden_distance(same[i].name, roformer_folder(same[i].name, TENSOR_F32, &same[i].c), NULL, &g,
                              30) < 1e-4))
            roformer_fail(same[i].name, "is not the same with", same[i].c.head_to);
    expect_refused("mlm",
                   roformer_folder("mlm", TENSOR_F32,
                                   &(Change){.head_from = "roformer.encoder.layer.1.output.LayerNorm.weight",
                                             .head_to = "gau_alpha.encoder.layer.0.output.LayerNorm.gamma"}),
                   "is there under two names");
}

/* A head that its configuration ties and the file has apart is the file's, in both programs, and they say so; the same
 * bytes twice are one matrix. The golden is that of the same tensors untied. */
static void test_ties(void) {
    static Golden g;
    static const char both[] = "another cls.predictions.decoder.weight, cls.predictions.decoder.bias: the file's is";
    const char *gguf = test_tmp("ties.gguf");
    Change c = {.from = "\"tie_word_embeddings\": false", .to = "\"tie_word_embeddings\": true"};
    char folder[600], err[400] = "";
    snprintf(folder, sizeof folder, "%s", roformer_folder("untied", TENSOR_F32, &c));
    if (!golden_read(&g, "untied")) return;
    CHECK(golden_distance("untied", folder, NULL, &g, 30) < 1e-4); /* test_roformer.c's tolerance */
    CHECK(run("logits %s --ids 1,2", folder) == 0 && said_line(both));
    CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, gguf) == 0 && strstr(said, both));
    CHECK(golden_distance("untied", gguf, NULL, &g, 30) < 1e-4);
    c.set = "cls.predictions.decoder.weight", c.like = "roformer.embeddings.word_embeddings.weight";
    Model m;
    CHECK(model_open(&m, roformer_folder("untied", TENSOR_F32, &c), NULL, err, sizeof err) == 0);
    CHECK(m.lm_head.data == m.tok_emb.data && m.weights.notes && !strstr(m.weights.notes->line, "decoder.weight"));
    CHECK(m.encoder->mlm_bias[5] == roformer_value("cls.predictions.decoder.bias", 5));
    model_close(&m);
    CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, gguf) == 0 &&
          strstr(said, "another cls.predictions.decoder.bias: the file's"));
    CHECK(model_open(&m, gguf, NULL, err, sizeof err) == 0);
    CHECK(m.lm_head.data == m.tok_emb.data);
    CHECK(m.encoder->mlm_bias[5] == roformer_value("cls.predictions.decoder.bias", 5));
    model_close(&m);
    CHECK(model_open(&m, roformer_folder("untied", TENSOR_F32, NULL), NULL, err, sizeof err) == 0 && !m.weights.notes);
    model_close(&m);
}

/* How far two texts of numbers are apart; 1e30 where they are not as many. */
static double texts_apart(const char *a, const char *b) {
    double most = 0;
    for (char *next_a, *next_b;; a = next_a, b = next_b) {
        double x = strtod(a, &next_a), y = strtod(b, &next_b);
        if ((next_a == a) != (next_b == b)) return 1e30;
        if (next_a == a) return most;
        if (!(fabs(x - y) <= most)) most = fabs(x - y);
    }
}

/* A config.json without model_type is none of Hugging Face's: convert makes one. */
static void forget_type(const char *path) {
    size_t n = 0;
    char *text = file_read(path, &n), *at = text ? strstr(text, "\"model_type\"") : NULL;
    if (at) at[1] = '_', file_write(path, text, n);
    CHECK(at != NULL);
    free(text);
}

/* Two names for one tensor whose older one stands first in the file: the newer one's numbers count all the same. A file
 * that ties its head, and has one, but no embeddings; one that does not, and has none. */
static void test_heads(void) {
    static const char older[] = "cls.predictions.bias", newer[] = "cls.predictions.decoder.bias",
                      weight[] = "model.safetensors";
    Change c = {.from = "\"tie_word_embeddings\": false", .to = "\"tie_word_embeddings\": true"};
    char err[400] = "";
    Model m;
    const char *folder = roformer_folder("untied", TENSOR_F32, NULL);
    folder_change(folder, weight, "\"cls.predictions.decoder.bias\"", "\"cls.predictions.x\"");
    folder_change(folder, weight, "\"cls.predictions.bias\"", "\"cls.predictions.decoder.bias\"");
    folder_change(folder, weight, "\"cls.predictions.x\"", "\"cls.predictions.bias\"");
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0);
    CHECK(m.encoder->mlm_bias[5] == roformer_value(older, 5) && roformer_value(older, 5) != roformer_value(newer, 5));
    model_close(&m);
    c.set = older, c.like = newer;
    CHECK(model_open(&m, roformer_folder("untied", TENSOR_F32, &c), NULL, err, sizeof err) == 0);
    CHECK(m.weights.notes && !strstr(m.weights.notes->line, "bias")); /* the same twice */
    model_close(&m);
    folder = roformer_folder("untied", TENSOR_F32, &c);
    folder_change(folder, weight, "roformer.embeddings.word_embeddings.weight", "roformer.embeddings.words");
    expect_refused("untied", folder, "word_embeddings.weight is missing");
    folder = roformer_folder("untied", TENSOR_F32, NULL);
    folder_change(folder, weight, "cls.predictions.decoder.weight", "cls.predictions.decoder.w");
    expect_refused("untied", folder, "tensor cls.predictions.decoder.weight is missing");
    const Change untied = {.from = "\"vocab_size\"", .to = "\"tie_word_embeddings\": false, \"vocab_size\""};
    for (int i = 0; i < 2; i++) { /* of v2 and GAU-alpha it is all there is of a head */
        CHECK(model_open(&m, roformer_folder(i ? "gau" : "v2", TENSOR_F32, &untied), NULL, err, sizeof err) == 0);
        CHECK(!m.has_logits);
        model_close(&m);
    }
}

/* ELECTRA's generator has gelu in its head, whatever hidden_act says: where relu and gelu make the same of the layers
 * (of zeroes), they make the same of the whole; a RoFormer's head has hidden_act. */
static void test_generator(void) {
    static const struct { const char *name, *from, *to; int same; } rows[] = {
        {"generator", "\"hidden_size\"", "\"hidden_act\": \"relu\", \"hidden_size\"", 1},
        {"wide", "\"gelu\"", "\"relu\"", 0}};
    for (int i = 0; i < 2; i++) {
        static char usual[20000];
        const Change zero = {.set = ".intermediate.dense."};
        Change relu = zero;
        relu.from = rows[i].from, relu.to = rows[i].to;
        CHECK(run("logits %s --ids 1,2,3", roformer_folder(rows[i].name, TENSOR_F32, &zero)) == 0);
        snprintf(usual, sizeof usual, "%s", out);
        CHECK(run("logits %s --ids 1,2,3", roformer_folder(rows[i].name, TENSOR_F32, &relu)) == 0);
        CHECK((strcmp(out, usual) == 0) == rows[i].same);
    }
}

/* Tensors by names that are none of a RoFormer's, and what they are of. */
static void test_other_tensors(void) {
    static const char weight[] = "model.safetensors", table[] = "roformer.encoder.embed_positions.weight";
    static const struct { const char *from, *to; } same[] = {
        {"roformer.encoder.embed_positions.weight", "roformer.embeddings.position_ids"},
        {"roformer.encoder.embed_positions.weight\":{\"dtype\":\"F32\"",
         "roformer.encoder.embed_positions.weight\":{\"dtype\":\"I32\""},
        {"roformer.encoder.embed_positions.weight\":{\"dtype\":\"F32\",\"shape\":[1536,10]",
         "roformer.encoder.embed_positions.weight\":{\"dtype\":\"F32\",\"shape\":[10,1536]"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) { /* not compared, and nobody misses them */
        const Change zero = {.set = table, .value = 0.5f};
        const char *folder = roformer_folder("mlm", TENSOR_F32, &zero);
        CHECK(run("logits %s --ids 1,2,3", folder) == 0 && said_line("the file's table of sines"));
        folder_change(folder, weight, same[i].from, same[i].to);
        CHECK(run("logits %s --ids 1,2,3", folder) == 0 && *said == 0);
    }
    static const char *const layers[] = {"100000", "01", "x", "-1", "4096"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char to[100];
        const char *folder = roformer_folder("mlm", TENSOR_F32, NULL);
        snprintf(to, sizeof to, "roformer.encoder.layer.%s.output.LayerNorm.weight", layers[i]);
        folder_change(folder, weight, "roformer.encoder.layer.1.output.LayerNorm.weight", to);
        expect_refused("mlm", folder, "tensor roformer.encoder.layer.1.output.LayerNorm.weight is missing");
    }
}

/* Biases where there are none to be: they would be dropped. */
static void test_biases(void) {
    static const struct { const char *name, *tensor, *bias; } rows[] = {
        {"v2_narrow", "roformer.embeddings_project.weight", "roformer.embeddings_project.bias"},
        {"v2", "roformer.embeddings.word_embeddings.weight", "roformer.encoder.layer.1.output.dense.bias"},
        {"gau", "gau_alpha.embeddings.word_embeddings.weight", "gau_alpha.embeddings.LayerNorm.bias"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char from[100], to[300];
        const char *folder = roformer_folder(rows[i].name, TENSOR_F32, NULL);
        snprintf(from, sizeof from, "\"%s\":", rows[i].tensor);
        snprintf(to, sizeof to, "\"%s\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},%s", rows[i].bias,
                 from);
        folder_change(folder, "model.safetensors", from, to);
        snprintf(to, sizeof to, "tensor %s: a v2 or GAU-alpha that has biases is not read here", rows[i].bias);
        expect_refused(rows[i].name, folder, to);
    }
}

/* How many labels a classifier has: none where it is no matrix, or of more rows than there may be. */
static void test_label_counts(void) {
    static const char line[] = "the classifier: has no labels, or too many";
    static const char *const shapes[] = {"[60]", "[65537,0]", "[1048577,0]", "[0,20]"};
    for (int i = 0; i < 4; i++) {
        static const char weight[] = "model.safetensors", entry[] = "\"classifier.out_proj.weight\":";
        const char *folder = roformer_folder("seq", TENSOR_F32, NULL);
        char to[200], whole[60] = "";
        char *head = file_read(test_in(folder, weight), NULL), *at = head ? strstr(head + 8, entry) : NULL;
        if (at) sscanf(at + strlen(entry), "%59[^}]", whole); /* {"dtype":"F32","shape":[3,20],"data_offsets":[..] */
        unsigned long begin = at ? strtoul(strstr(whole, "offsets\":[") + 10, NULL, 10) : 0;
        free(head);
        if (i == 0) snprintf(to, sizeof to, "%s{\"dtype\":\"F32\",\"shape\":%s", entry, shapes[i]);
        else snprintf(to, sizeof to, "%s{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%lu,%lu]},"
                      "\"x\":{\"dtype\":\"F32\",\"shape\":[3,20]", entry, shapes[i], begin, begin);
        folder_change(folder, weight, "\"classifier.out_proj.weight\":{\"dtype\":\"F32\",\"shape\":[3,20]", to);
        expect_refused("seq", folder, line);
    }
}

/* A classifier of choices is none of ours, in config.json's word and in GGUF's; a head's width, and no pooler. */
static void test_said_otherwise(void) {
    static Golden g;
    static const Change choice = {.from = "ForTokenClassification", .to = "ForMultipleChoice"},
                        size = {.from = "\"vocab_size\"", .to = "\"attention_head_size\": 10, \"vocab_size\""},
                        numbers = {.from = "\"RoFormerForMaskedLM\"", .to = "7"},
                        other = {.from = "{", .to = "{\"position_embedding_type\": \"absolute\","};
    const Pooler none = POOLER_NONE;
    char gguf[600], err[400] = "";
    Model m;
    snprintf(gguf, sizeof gguf, "%s", test_tmp("choice.gguf"));
    const char *folder = roformer_folder("tok", TENSOR_F32, &choice);
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0 && m.config.roformer.classifier == CLASSIFIER_NONE);
    model_close(&m);
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 0);
    CHECK(model_open(&m, gguf, NULL, err, sizeof err) == 0 && m.config.roformer.classifier == CLASSIFIER_NONE);
    model_close(&m);
    const ModelOptions o = {.roformer.pooler = &none};
    CHECK(model_open(&m, roformer_folder("sim", TENSOR_F32, NULL), &o, err, sizeof err) == 0);
    CHECK(m.config.roformer.pooler == POOLER_NONE && !m.encoder->pooler.data);
    model_close(&m);
    if (!golden_read(&g, "mlm")) return;
    CHECK(golden_distance("mlm", roformer_folder("mlm", TENSOR_F32, &size), NULL, &g, 64) < 1e-4);
    CHECK(golden_distance("mlm", roformer_folder("mlm", TENSOR_F32, &numbers), NULL, &g, 64) < 1e-4);
    folder = roformer_folder("mlm", TENSOR_F32, &other); /* with a tensor of another's */
    folder_change(folder, "model.safetensors", "{\"__meta", "{\"other\":{\"dtype\":\"F32\",\"shape\":[0],"
                  "\"data_offsets\":[0,0]},\"__meta");
    CHECK(model_open(&m, folder, NULL, err, sizeof err) == 0 && !m.config.positions);
    model_close(&m);
}

/* What stretches RoPE, or lets less of a head turn, is in the file that convert makes: GGUF and safetensors give the
 * folder's own numbers, which without it are others; what GGUF has no key for is refused. */
static void test_rope_converted(void) {
    static const char *const says[] = {
        "\"partial_rotary_factor\": 0.4", "\"rope_theta\": 500",
        "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}",
        "\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4, \"rope_theta\": 500, "
        "\"original_max_position_embeddings\": 16, \"partial_rotary_factor\": 0.4}",
        "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 1, "
        "\"high_freq_factor\": 4, \"original_max_position_embeddings\": 16}",
        "\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4}"};
    static Golden g;
    char folder[600], gguf[600], safetensors[600], to[500], *plain, *whole;
    snprintf(gguf, sizeof gguf, "%s", test_tmp("rope.gguf"));
    snprintf(folder, sizeof folder, "%s", roformer_folder("scaled", TENSOR_F32, NULL));
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 0);
    if (golden_read(&g, "scaled")) CHECK(golden_distance("scaled", gguf, NULL, &g, 30) < 1e-4);
    CHECK(run("logits %s --ids 1,2,3,4,5,6,7 --all", roformer_folder("mlm", TENSOR_F32, NULL)) == 0);
    plain = taken_out();
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        snprintf(to, sizeof to, "%s, \"hidden_act\"", says[i]);
        const Change c = {.from = "\"hidden_act\"", .to = to};
        snprintf(folder, sizeof folder, "%s", roformer_folder("mlm", TENSOR_F32, &c));
        int known = strstr(says[i], "dynamic") == NULL;
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == !known);
        CHECK(known || said_line("rope: a method that changes with the text's length is not known for RoFormer"));
        if (!known) continue;
        snprintf(to, sizeof to, "rope-%zu", i);
        mkdir(test_tmp(to), 0700);
        snprintf(safetensors, sizeof safetensors, "%s/model.safetensors", test_tmp(to));
        CHECK(run("logits %s --ids 1,2,3,4,5,6,7 --all", folder) == 0 && texts_apart(out, plain) > 1e-3);
        whole = taken_out();
        forget_type(test_in(folder, "config.json"));
        CHECK(tool("", "convert", "%s %s -q", folder, safetensors) == 0);
        /* llama3's divisors are floats in GGUF; without them logits are 1e-3 away */
        double most = strstr(says[i], "llama3") ? 1e-5 : 0;
        CHECK(run("logits %s --ids 1,2,3,4,5,6,7 --all", gguf) == 0 && texts_apart(out, whole) <= most);
        CHECK(run("logits %s --ids 1,2,3,4,5,6,7 --all", test_tmp(to)) == 0 && strcmp(out, whole) == 0);
        free(whole);
    }
    free(plain);
}

/* transformers turns by the table that the file has; here it is compared with RoPE's, as its type rounds it. */
static void test_table(void) {
    static const char line[] = "the file's table of sines (roformer.encoder.embed_positions.weight) is up to 1";
    const Change other = {.set = "embed_positions", .value = 0.5f};
    CHECK(run("logits %s --ids 1,2,3", roformer_folder("mlm", TENSOR_F16, NULL)) == 0 && *said == 0);
    CHECK(run("logits %s --ids 1,2,3 --rope yarn:factor=4", roformer_folder("mlm", TENSOR_F32, NULL)) == 0);
    CHECK(!strstr(said, "table of sines"));
    CHECK(run("logits %s --ids 1,2,3", roformer_folder("mlm", TENSOR_F32, &other)) == 0 && said_line(line));
}

/* A classifier's labels have names in both worlds; one that has a classifier has no words. */
static void test_labels(void) {
    const char *paths[] = {roformer_folder("seq", TENSOR_F32, NULL), roformer_gguf("seq", TENSOR_F32, NULL)};
    for (int i = 0; i < 2; i++) {
        char err[400] = "";
        Model m;
        size_t len = 0;
        if (model_open(&m, paths[i], NULL, err, sizeof err)) {
            roformer_fail("seq", err, "");
            continue;
        }
        CHECK(m.config.roformer.classifier == CLASSIFIER_SEQUENCE && m.config.roformer.n_labels == 3);
        CHECK(strncmp(model_label(&m, 1, &len), "green", 5) == 0 && len == 5);
        CHECK(strncmp(model_label(&m, 2, &len), "blue", 4) == 0 && len == 4);
        CHECK(!m.has_logits);
        model_close(&m);
    }
}

/* A text's classifier of one matrix, as GAU-alpha's is: what the same matrix says of the text's first token. */
static void test_one_matrix(void) {
    static const Change text = {.from = "ForTokenClassification", .to = "ForSequenceClassification"};
    static const char *const rows[][2] = {
        {"\"summary_type\": \"mean\"", "summary_type"}, {"\"summary_activation\": \"tanh\"", "summary_activation"},
        {"\"summary_use_proj\": true", "summary_use_proj"}};
    static Golden g;
    const char *gguf = test_tmp("one.gguf");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char to[100];
        const char *folder = roformer_folder("tok", TENSOR_F32, &text);
        snprintf(to, sizeof to, "%s, \"vocab_size\"", rows[i][0]);
        folder_change(folder, "config.json", "\"vocab_size\"", to);
        expect_refused("tok", folder, rows[i][1]);
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 1 && said_line(rows[i][1]));
    }
    const char *folder = roformer_folder("tok", TENSOR_F32, &text);
    folder_change(folder, "config.json", "\"vocab_size\"", "\"summary_type\": \"first\", \"vocab_size\"");
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 0);
    for (int i = 0; i < 2; i++) {
        char err[400] = "";
        Model m;
        CHECK(model_open(&m, i ? gguf : folder, NULL, err, sizeof err) == 0);
        CHECK(m.config.roformer.classifier == CLASSIFIER_SEQUENCE && m.config.roformer.n_labels == 3);
        CHECK(!m.encoder->cls_dense.data && m.encoder->cls_out.data);
        model_close(&m);
        if (golden_read(&g, "tok")) CHECK(golden_distance("tok", i ? gguf : folder, NULL, &g, 30) < 1e-4);
    }
}

/* Names that are no list of them, or too few, are none: what is said then is a label's number. */
static void test_label_names(void) {
    static const char key[] = "roformer.classifier.labels", none[] = "xxxxxxxx.classifier.labels",
                      one[] = "\10\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0red";
    static const struct { MetaType type; const char *raw; size_t n; const char *first; } rows[] = {
        {META_U32, "\1\0\0\0", 4, ""}, {META_ARRAY, "\4\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0", 16, ""},
        {META_ARRAY, one, sizeof one - 1, "red"}};
    for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
        char err[400] = "", path[600];
        Model m;
        size_t len = 9;
        const Change c = {.head_from = key, .head_to = none};
        snprintf(path, sizeof path, "%s", roformer_gguf("seq", TENSOR_F32, &c));
        const char *with = i ? gguf_with_key(path, key, rows[i - 1].type, rows[i - 1].raw, rows[i - 1].n) : path;
        CHECK(model_open(&m, with, NULL, err, sizeof err) == 0);
        const char *first = model_label(&m, 0, &len), *wanted = i ? rows[i - 1].first : "";
        CHECK(len == strlen(wanted) && memcmp(first, wanted, len) == 0);
        CHECK(strcmp(model_label(&m, 1, &len), "") == 0 && len == 0);
        model_close(&m);
    }
}

extern const Test tests_roformer_config[];
const Test tests_roformer_config[] = {
    {"roformer/settings", test_settings},
    {"roformer/missing", test_missing},
    {"roformer/shapes", test_shapes},
    {"roformer/aliases", test_aliases},
    {"roformer/ties", test_ties},
    {"roformer/rope, converted", test_rope_converted},
    {"roformer/table of sines", test_table},
    {"roformer/labels", test_labels},
    {"roformer/one matrix", test_one_matrix},
    {"roformer/names of labels", test_label_names},
    {"roformer/numbers of labels", test_label_counts},
    {"roformer/heads", test_heads},
    {"roformer/generator", test_generator},
    {"roformer/other tensors", test_other_tensors},
    {"roformer/biases", test_biases},
    {"roformer/said otherwise", test_said_otherwise},
    {0},
};
