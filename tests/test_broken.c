/* tests/test_broken.c - files that are cut short or damaged: refused in one line, or run to the end; never a crash.
 *
 * In this process every length and every header byte is tried through the library (under `make san` with the sanitizers
 * looking on); through the program a sample of them, for the exit code and the line. */
#include "model/files/weights.h"
#include "text/vocabulary.h"
#include "tokenizer/open.h"
#include "model/session.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const BuildShape tiny = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};

/* Open path as a model and read a few ids; 0 where it ran, otherwise the error, with a line in err. */
static int use_model(const char *path, char *err, size_t errlen) {
    Model m;
    Session s;
    const float *logits;
    int rc = model_open(&m, path, NULL, err, errlen);
    if (rc) return rc;
    rc = session_init(&s, &m, &(SessionOptions){.n_ctx = 8, .threads = 1}, err, errlen);
    if (rc == 0) {
        rc = session_eval(&s, (const int[]){0, 0, 0}, 3, &logits, err, errlen);
        session_free(&s);
    }
    model_close(&m);
    return rc;
}

static int use_tokenizer(const char *path, char *err, size_t errlen) {
    Tokenizer *t;
    int *ids, rc = tokenizer_open(&t, path, err, errlen);
    size_t n;
    if (rc) return rc;
    rc = tokenizer_encode(t, "the sand\xff\xe4\xbd\xa0", 12, ENCODE_ADDED | ENCODE_SPECIAL, &ids, &n, err, errlen);
    char *text = malloc(tokenizer_decode_bound(t));
    TokenStream stream = {0};
    for (size_t i = 0; rc == 0 && i < n; i++) tokenizer_decode(t, &stream, ids[i], text);
    tokenizer_decode_end(t, &stream, text);
    free(text);
    if (rc == 0) free(ids);
    tokenizer_free(t);
    return rc;
}

static int use_vocabulary(const char *path, char *err, size_t errlen) {
    Weights w;
    Vocabulary v;
    Tokenizer *t = NULL;
    int rc = weights_open(&w, path, err, errlen);
    if (rc) return rc;
    rc = vocabulary_from_weights(&v, &w, err, errlen);
    if (rc == 0) rc = tokenizer_from_vocabulary(&t, &v, "vocabulary", err, errlen);
    vocabulary_free(&v);
    tokenizer_free(t);
    weights_close(&w);
    return rc;
}

typedef int Use(const char *path, char *err, size_t errlen);

/* Cut `cut` (a file of `folder_or_file`, or that file itself) to every length and use the whole: always refused, in a
 * line. Then the program: exit code 1, one line. */
static void truncate_all(const char *cut, const char *whole, Use *use, const char *program) {
    size_t n;
    char *file = file_read(cut, &n), err[600];
    CHECK(file != NULL);
    CHECK(use(whole, err, sizeof err) == 0);
    size_t step = n > 40000 ? n / 997 : 1;
    file_write(cut, file, n);
    for (size_t len = n - 1; len < n; len = len < step ? n : len - step) {
        CHECK(truncate(cut, (off_t)len) == 0);
        *err = 0;
        int rc = use(whole, err, sizeof err);
        CHECK(rc < 0 && *err && !strchr(err, '\n'));
        if (rc >= 0) printf("    %s cut to %zu of %zu opens\n", cut, len, n);
    }
    for (int i = 0; i < 12; i++) { /* anywhere */
        char cmd[3000];
        size_t len = n * (size_t)i / 12;
        file_write(cut, file, len);
        snprintf(cmd, sizeof cmd, program, test_run_path(), whole);
        snprintf(cmd + strlen(cmd), sizeof cmd - strlen(cmd), " > %s 2> %s < /dev/null", test_tmp("stdout"),
                 test_tmp("stderr"));
        int status = system(cmd);
        char *said = file_read(test_tmp("stderr"), NULL), *newline = strchr(said, '\n');
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        CHECK(newline && newline[1] == 0 && newline - said > 10);
        free(said);
    }
    file_write(cut, file, n);
    free(file);
}

/* Every bit of the first `head` bytes flipped, each byte also 0 and 255. */
static void flip_all(const char *path, size_t head, const char *whole, Use *use) {
    size_t n;
    char *file = file_read(path, &n), err[600];
    int opened = 0;
    if (head > n) head = n;
    for (size_t i = 0; i < head; i++)
        for (int b = 0; b < 10; b++) {
            char was = file[i];
            file[i] = (char)(b < 8 ? was ^ 1 << b : b == 8 ? 0 : 255);
            FILE *f = fopen(path, "r+b"); /* in place: only this byte is written */
            CHECK(f && fseek(f, (long)i, SEEK_SET) == 0 && fwrite(&file[i], 1, 1, f) == 1);
            if (f) fclose(f);
            *err = 0;
            int rc = use(whole, err, sizeof err);
            opened += rc == 0;
            CHECK(rc == 0 || (*err && !strchr(err, '\n')));
            file[i] = was;
            f = fopen(path, "r+b");
            if (f) fseek(f, (long)i, SEEK_SET), fwrite(&was, 1, 1, f), fclose(f);
        }
    CHECK(opened < (int)head * 10);
    free(file);
}

static void cut_llama2c(void) {
    for (int version = 0; version < 3; version++) {
        char path[512];
        snprintf(path, sizeof path, "%s", test_tmp("cut.bin"));
        build_llama2c(path, &tiny, version, 4);
        truncate_all(path, path, use_model, "%s logits %s --ids 1");
    }
}

static void cut_gguf(void) {
    static const TensorType types[] = {TENSOR_F32, TENSOR_F16};
    for (int i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s", test_tmp("cut.gguf"));
        build_gguf(path, &tiny, types[i]);
        truncate_all(path, path, use_model, "%s logits %s --ids 1");
    }
    char path[512];
    snprintf(path, sizeof path, "%s", test_tmp("cut-vocabulary.gguf"));
    build_gguf_vocabulary(path);
    truncate_all(path, path, use_vocabulary, "%s tokenize %s text");
}

static void cut_hf(void) {
    char folder[512], file[700];
    snprintf(folder, sizeof folder, "%s", test_tmp("cut-hf"));
    build_hf(folder, &tiny, TENSOR_F32, 2);
    static const char *const files[] = {"config.json", "model.safetensors.index.json",
                                        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, files[i]);
        if (i == 0) { /* the newline at its end is no part of the JSON */
            size_t n;
            char *text = file_read(file, &n);
            file_write(file, text, n - 1);
            free(text);
        }
        truncate_all(file, folder, use_model, "%s logits %s --ids 1");
    }
    snprintf(folder, sizeof folder, "%s", test_tmp("cut-hf1"));
    build_hf(folder, &tiny, TENSOR_BF16, 1);
    snprintf(file, sizeof file, "%s/model.safetensors", folder);
    truncate_all(file, folder, use_model, "%s logits %s --ids 1");
}

static void cut_tokenizers(void) {
    char path[512];
    snprintf(path, sizeof path, "%s", test_tmp("cut-tokenizer.model"));
    build_tokenizer_model(path);
    truncate_all(path, path, use_tokenizer, "%s tokenize %s text");
}

/* tokenizer.bin has no count: a cut between two pieces cannot be seen in it, but the model has as many ids as it has
 * pieces. */
static void cut_tokenizer_bin(void) {
    char bin[512], model[512], err[600];
    size_t n, opens = 0;
    snprintf(bin, sizeof bin, "%s", test_tmp("cut-tokenizer.bin"));
    snprintf(model, sizeof model, "%s", test_tmp("cut-model.bin"));
    build_tokenizer_bin(bin);
    build_llama2c(model, &tiny, 0, 0);
    char *file = file_read(bin, &n);
    for (size_t len = n - 1; len < n; len--) {
        CHECK(truncate(bin, (off_t)len) == 0);
        opens += use_tokenizer(bin, err, sizeof err) == 0;
    }
    CHECK(opens < BUILD_VOCAB);
    for (size_t len = n - 1; len > n - 40; len--) { /* the last pieces: lengths of 9 bytes each */
        char cmd[3000];
        file_write(bin, file, len);
        snprintf(cmd, sizeof cmd, "%s %s -z %s -n 3 > %s 2>&1 < /dev/null", test_run_path(), model, bin,
                 test_tmp("stdout"));
        int status = system(cmd);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
    free(file);
}

static void flips(void) {
    char path[512], file[700];
    size_t n;
    for (int version = 0; version < 3; version++) {
        snprintf(path, sizeof path, "%s", test_tmp("flip.bin"));
        build_llama2c(path, &tiny, version, 4);
        flip_all(path, version ? 256 : 28, path, use_model);
    }
    for (int linear = 0; linear < 2; linear++) {
        BuildShape shape = tiny;
        if (linear) shape.phi = "favor+", shape.form = "both";
        snprintf(path, sizeof path, "%s", test_tmp("flip.gguf"));
        build_gguf(path, &shape, TENSOR_F32);
        free(file_read(path, &n));
        flip_all(path, n - 300 * 8 * 4, path, use_model); /* the header and a little more */
        snprintf(path, sizeof path, "%s", test_tmp("flip-hf"));
        build_hf(path, &shape, TENSOR_F32, 1);
        snprintf(file, sizeof file, "%s/config.json", path);
        flip_all(file, 1000, path, use_model);
    }
    snprintf(file, sizeof file, "%s/model.safetensors", path);
    flip_all(file, 1300, path, use_model);
    snprintf(file, sizeof file, "%s/tokenizer.model", path);
    flip_all(file, 3000, file, use_tokenizer);
    snprintf(path, sizeof path, "%s", test_tmp("flip-vocabulary.gguf"));
    build_gguf_vocabulary(path);
    flip_all(path, 20000, path, use_vocabulary);
    snprintf(path, sizeof path, "%s", test_tmp("flip-tokenizer.bin"));
    build_tokenizer_bin(path);
    flip_all(path, 5000, path, use_tokenizer);
}

/* Run the program on `path` with every third byte of the first `head` damaged, within 64 MB of data memory: what it
 * takes for itself included, the mapped file not. Sizes are compared with the file before anything is allocated. */
static void damage_within_memory(const char *path, size_t head, const char *command) {
    size_t n;
    char *file = file_read(path, &n), cmd[3000];
    for (size_t i = 0; i < head && i < n; i += 3) {
        char was = file[i];
        file[i] = (char)(was ^ 0x7f);
        file_write(path, file, n);
        snprintf(cmd, sizeof cmd, "ulimit -d 65536; %s %s > /dev/null 2> %s < /dev/null", test_run_path(), command,
                 test_tmp("stderr"));
        int status = system(cmd);
        char *said = file_read(test_tmp("stderr"), NULL);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1 && !strstr(said, "out of memory") &&
              !strstr(said, "this machine"));
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 1 || strstr(said, "out of memory"))
            printf("    %s, byte %zu: %s", path, i, said);
        free(said);
        file[i] = was;
    }
    file_write(path, file, n);
    free(file);
}

static void within_memory(void) {
    if (test_sanitized) {
        test_skip("the sanitizers need more memory than this test gives");
        return;
    }
    char path[512], file[700], command[1400];
    snprintf(path, sizeof path, "%s", test_tmp("damaged.gguf"));
    build_gguf(path, &tiny, TENSOR_F32);
    snprintf(command, sizeof command, "%s -n 4 -j 1 -q", path);
    damage_within_memory(path, 500, command);
    for (int version = 0; version < 3; version++) {
        snprintf(path, sizeof path, "%s", test_tmp("damaged.bin"));
        build_llama2c(path, &tiny, version, 4);
        snprintf(command, sizeof command, "logits %s --ids 1,2 -j 1", path);
        damage_within_memory(path, 48, command);
    }
    snprintf(path, sizeof path, "%s", test_tmp("damaged-hf"));
    build_hf(path, &tiny, TENSOR_F32, 2);
    static const char *const files[] = {"config.json", "model.safetensors.index.json",
                                        "model-00001-of-00002.safetensors", "tokenizer.model"};
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        snprintf(command, sizeof command, i < 3 ? "logits %s --ids 1,2 -j 1" : "tokenize %s text", path);
        damage_within_memory(file, 300, command);
    }
    snprintf(path, sizeof path, "%s", test_tmp("damaged-tokenizer.bin"));
    build_tokenizer_bin(path);
    snprintf(command, sizeof command, "tokenize %s text", path);
    damage_within_memory(path, 300, command);
}

/* Small files that ask for much: each is refused, at once. */
static void bombs(void) {
    char folder[512], path[700], err[600], *text = malloc(100000);
    snprintf(folder, sizeof folder, "%s", test_tmp("bomb"));
    build_hf(folder, &tiny, TENSOR_F32, 1);
    snprintf(path, sizeof path, "%s/added_tokens.json", folder);
    strcpy(text, "{");
    /* each far beyond the one before */
    for (int i = 0; i < 600; i++)
        sprintf(text + strlen(text), "%s\"t%d\":%d", i ? "," : "", i, BUILD_VOCAB + 65000 * (i + 1));
    strcat(text, "}");
    file_write(path, text, strlen(text));
    CHECK(use_tokenizer(folder, err, sizeof err) < 0 && strstr(err, "added token"));
    free(text);

    BuildShape deep = {.d = 2, .ff = 1, .layers = 40, .heads = 1, .kv_heads = 1, .n_ctx = 1};
    snprintf(path, sizeof path, "%s", test_tmp("deep.bin"));
    build_llama2c(path, &deep, 0, 0);
    CHECK(use_model(path, err, sizeof err) == 0 || *err); /* 40 layers are fine; 2000 are more than a Config holds: */
    size_t per_layer = 4 * (2 + 4 * 4 + 2 + 3 * 2), n;
    char *file = file_read(path, &n), *big = calloc(1, n + 2000 * per_layer);
    memcpy(big, file, n);
    memcpy(big + 8, &(int){2000}, 4);
    file_write(path, big, n + 1960 * per_layer);
    CHECK(use_model(path, err, sizeof err) < 0 && strstr(err, "block_count"));
    free(file), free(big);
}

/* A model that another program shortens while it is in use, between its opening and its prompt. */
static void shrinks(void) {
    static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};
    char path[600], *text = NULL, *said_so = NULL, command[3000];
    snprintf(path, sizeof path, "%s", test_tmp("shrinks.gguf"));
    build_gguf(path, &shape, TENSOR_F32);
    snprintf(command, sizeof command, "(sleep 0.4; truncate -s 8192 %s; echo hi) | %s generate %s -f - --max-tokens 9",
             path, test_run_path(), path);
    CHECK(test_shell(command, &text, &said_so) == 1 && strstr(said_so, "became shorter while it was being read"));
    free(text), free(said_so);
}

extern const Test tests_broken[];
const Test tests_broken[] = {
    {"broken/llama2.c cut short", cut_llama2c},
    {"broken/GGUF cut short", cut_gguf},
    {"broken/Hugging Face cut short", cut_hf},
    {"broken/tokenizer.model cut short", cut_tokenizers},
    {"broken/tokenizer.bin cut short", cut_tokenizer_bin},
    {"broken/header bytes flipped", flips},
    {"broken/a file that shrinks", shrinks},
    {"broken/within 64 MB", within_memory},
    {"broken/small files that ask for much", bombs},
    {0},
};
