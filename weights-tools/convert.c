/* weights-tools/convert.c - the program: PyTorch, TensorFlow and safetensors checkpoints to GGUF or safetensors. The only file
 * here that reads argv, prints and exits; --list goes to stdout, everything else to stderr. */
#include "describe.h"
#include "sidecars.h"
#include "vocab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

typedef struct {
    const char *in, *out, *config, *vocab, *name;
    DescribeWish wish;
    TypeChoice type;
    int list, quiet, help;
} Args;

static volatile sig_atomic_t interrupted;
static const char *volatile temporary; /* removed where a signal ends the program */

/* ---- saying things ---- */

static int fail(int code, const char *fmt, ...) BASE_PRINTF(2, 3);
static int fail(int code, const char *fmt, ...) {
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    base_verror(line, sizeof line, 0, fmt, ap);
    va_end(ap);
    fprintf(stderr, "convert: %s%s\n", line, code == EXIT_USAGE ? "; weights-tools/convert --help shows what there is" : "");
    return code;
}

static int fail_with(int rc, const char *err) { return fail(rc == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED, "%s", err); }

static void on_note(void *arg, const char *line) {
    const Args *a = arg;
    if (!a->quiet) fprintf(stderr, "convert: %s\n", line);
}

/* A line that is drawn over, on a terminal only, once a second has passed. */
static int on_progress(void *arg, uint64_t done, uint64_t total) {
    static time_t start, drawn;
    const Args *a = arg;
    time_t now = time(NULL);
    if (start == 0) start = now;
    if (!a->quiet && isatty(2) && now > start && (now > drawn || (drawn && done == total))) {
        drawn = now;
        if (done < total) fprintf(stderr, "\r%.0f of %.0f MB \033[K", (double)done / 1e6, (double)total / 1e6);
        else fprintf(stderr, "\r\033[K");
    }
    return interrupted;
}

static int help(void) {
    puts("usage: weights-tools/convert IN OUT.gguf|OUT.safetensors [options]\n"
         "       weights-tools/convert --list IN\n"
         "\n"
         "Reads a PyTorch file (.bin, .pt, .pth; zip or legacy; nothing in it is ever run), a TensorFlow V2 checkpoint (its\n"
         "prefix or its .index file), safetensors, or a folder with one of these. Writes GGUF (RoFormer only, vocabulary\n"
         "included) or safetensors (any model of PyTorch's; config.json and the tokenizer's files are put beside it).\n"
         "\n"
         "  --type TYPE     keep: the stored type (default; in GGUF F64 becomes F32); f32; f16: matrices as F16, vectors as F32\n"
         "  --config FILE   config.json or bert_config.json, where it is not beside IN\n"
         "  --vocab FILE    vocab.txt, where it is not beside IN\n"
         "  --name NAME     general.name in the GGUF file (the folder's name)\n"
         "  --mask MASK     padding, causal (GPT) or unilm (RoFormer-Sim; where the pooler is linear); older files do not say (padding)\n"
         "  --pooler ACT    tanh or linear (RoFormer-Sim), where there is a pooler (what the config says, or tanh)\n"
         "  --list          print names, shapes, types and what GGUF calls them, then stop\n"
         "  -q, --quiet     no notes, no progress\n"
         "  -h, --help      this help\n"
         "\n"
         "examples:\n"
         "  weights-tools/convert roformer_chinese_base/ roformer.gguf --type f16\n"
         "  weights-tools/convert chinese_roformer_L-12_H-768_A-12/bert_model.ckpt roformer.gguf\n"
         "  weights-tools/convert chinese_roformer-sim-char_L-12_H-768_A-12/ sim.gguf --mask unilm --pooler linear\n"
         "  weights-tools/convert pytorch_model.bin hf/model.safetensors\n"
         "\n"
         "Exit code: 0 done, 1 failed, 2 usage, 130 interrupted. OUT appears whole or not at all.");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* ---- the command line ---- */

/* word as one of the choices into *out (its place), or 0. */
static int choose(const char *word, const char *const *choices, int n, int *out) {
    for (*out = 0; *out < n; ++*out)
        if (strcmp(word, choices[*out]) == 0) return 1;
    return 0;
}

static int set_option(Args *a, const char *name, const char *value) {
    static const char *const types[] = {"keep", "f32", "f16"}, *const masks[] = {"padding", "causal", "unilm"};
    static const char *const poolers[] = {"tanh", "linear"};
    int i = 0, known = 1;
    if (strcmp(name, "--config") == 0) a->config = value;
    else if (strcmp(name, "--vocab") == 0) a->vocab = value;
    else if (strcmp(name, "--name") == 0) a->name = value;
    else if (strcmp(name, "--type") == 0 && (known = choose(value, types, 3, &i)) != 0) a->type = (TypeChoice)i;
    else if (strcmp(name, "--mask") == 0 && (known = choose(value, masks, 3, &i)) != 0) a->wish.mask = masks[i];
    else if (strcmp(name, "--pooler") == 0 && (known = choose(value, poolers, 2, &i)) != 0) a->wish.pooler = poolers[i];
    return known ? 0 : fail(EXIT_USAGE, "%s: \"%s\" is none of its values", name, value);
}

static int parse(Args *a, int argc, char **argv) {
    static const char *const valued[] = {"--config", "--vocab", "--name", "--type", "--mask", "--pooler"};
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        int k = 0;
        if (strcmp(w, "--list") == 0) a->list = 1;
        else if (strcmp(w, "-q") == 0 || strcmp(w, "--quiet") == 0) a->quiet = 1;
        else if (strcmp(w, "-h") == 0 || strcmp(w, "--help") == 0) a->help = 1;
        else if (choose(w, valued, 6, &k)) {
            if (i + 1 == argc) return fail(EXIT_USAGE, "%s needs a value", w);
            int code = set_option(a, w, argv[++i]);
            if (code) return code;
        } else if (w[0] == '-' && w[1]) return fail(EXIT_USAGE, "%s is no option", w);
        else if (!a->in) a->in = w;
        else if (!a->out) a->out = w;
        else return fail(EXIT_USAGE, "%s is one word too many", w);
    }
    if (a->help) return 0;
    if (!a->in) return fail(EXIT_USAGE, "nothing to read");
    if (a->list && a->out) return fail(EXIT_USAGE, "--list writes nothing: leave %s out", a->out);
    return a->list || a->out ? 0 : fail(EXIT_USAGE, "no file to write: OUT.gguf or OUT.safetensors");
}

/* ---- listing ---- */

static void list_view(const View *v, int is_tf) {
    char line[1200], shape[200] = "";
    int layer, k = 0;
    for (int d = 0; d < v->n_dims; d++) k += snprintf(shape + k, sizeof shape - (size_t)k, "%s%zu", d ? ", " : "", v->shape[d]);
    char gguf[ROFORMER_NAME_MAX] = "";
    const RoformerName *row = roformer_names_find(is_tf ? ROFORMER_IN_TF : ROFORMER_IN_TORCH, v->name, &layer);
    if (row && roformer_names_write(gguf, row, ROFORMER_IN_GGUF, layer, 0)) k = 0;
    base_error(line, sizeof line, 0, "%s  [%s]  %s%s%s", v->name, shape, elem_name(v->type), *gguf ? "  -> " : "", gguf);
    puts(line); /* base_error: names come from files, no control character may reach a terminal */
}

static int list(const Args *a, const Checkpoint *c) {
    for (size_t i = 0; i < c->n_views; i++) list_view(&c->views[i], c->container == CONTAINER_TF);
    if (!a->quiet) fprintf(stderr, "convert: %s, %zu tensors\n", container_name(c->container), c->n_views);
    return fflush(stdout) == 0 ? EXIT_DONE : fail(EXIT_FAILED, "cannot write the list: %s", strerror(errno));
}

/* ---- converting ---- */

/* What is being converted. */
typedef struct {
    const Args *a;
    Checkpoint c;
    Json config;       /* root NULL: there is none */
    char *config_path; /* NULL: none */
    char *vocab_path;
    Description m;
    Plan plan;
    Report report;
    char err[600];
} Job;

static int no_memory(Job *j) { return base_error(j->err, sizeof j->err, -ENOMEM, "%s: out of memory", j->a->in); }

static int read_config(Job *j) {
    static const char *const configs[] = {"config.json", "bert_config.json"}, *const vocabs[] = {"vocab.txt"};
    j->config_path = j->a->config ? strdup(j->a->config) : sidecar_find(j->c.folder, configs, 2);
    j->vocab_path = j->a->vocab ? strdup(j->a->vocab) : sidecar_find(j->c.folder, vocabs, 1);
    return j->config_path ? json_open(&j->config, j->config_path, j->err, sizeof j->err) : 0;
}

static int describe(Job *j) {
    if (!j->config_path)
        return base_error(j->err, sizeof j->err, -ENOENT,
                          "%s: no config.json or bert_config.json beside it: give one with --config", j->a->in);
    return describe_open(&j->m, &j->c, j->config.root, j->config_path, &j->a->wish, &j->report, j->err, sizeof j->err);
}

/* tokenizer_config.json's do_lower_case, or -1. */
static int lower_case(const Job *j) {
    static const char *const names[] = {"tokenizer_config.json"};
    char *path = sidecar_find(j->c.folder, names, 1);
    Json config = {0};
    int lower = -1;
    if (path && json_open(&config, path, NULL, 0) == 0) {
        const JsonValue *v = json_get(config.root, "do_lower_case");
        if (v && v->type == JSON_BOOL) lower = v->boolean;
    }
    json_free(&config);
    free(path);
    return lower;
}

/* The folder's own name: the last part of its path, or of the path of the current folder. */
static void model_name(const Job *j, char *out, size_t n) {
    char here[4096] = "", *path = strdup(strcmp(j->c.folder, ".") == 0 && getcwd(here, sizeof here) ? here : j->c.folder);
    for (size_t len = path ? strlen(path) : 0; len > 0 && path[len - 1] == '/'; len--) path[len - 1] = 0;
    const char *slash = path ? strrchr(path, '/') : NULL, *last = slash ? slash + 1 : path;
    int usable = last && *last && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
    snprintf(out, n, "%s", j->a->name ? j->a->name : usable ? last : "roformer");
    uint32_t cp;
    for (size_t i = 0; out[i];) { /* a name cut or spelled so that it is no UTF-8 ends there */
        int bytes = utf8_decode(out + i, strlen(out + i), &cp);
        if (bytes == 0) out[i] = 0;
        i += (size_t)bytes;
    }
    free(path);
}

static int make_meta(Job *j, GgufMeta *meta) {
    MappedFile vocab;
    char name[200];
    if (!j->vocab_path)
        return base_error(j->err, sizeof j->err, -ENOENT, "%s: no vocab.txt beside it: give one with --vocab", j->a->in);
    int rc = file_map(&vocab, j->vocab_path, j->err, sizeof j->err);
    if (rc) return rc;
    model_name(j, name, sizeof name);
    describe_meta(&j->m, meta, name);
    ElemType words = j->plan.items[0].type; /* token_embd.weight stands first */
    gguf_u32(meta, "general.file_type", words == ELEM_F16 ? 1 : words == ELEM_BF16 ? 32 : 0);
    rc = vocab_meta(meta, (const char *)vocab.data, vocab.size, j->m.sizes.vocab, lower_case(j), j->vocab_path, j->err,
                    sizeof j->err);
    file_unmap(&vocab);
    return rc;
}

/* The tensor file itself: meta NULL is safetensors. */
static int write_file(Job *j, const GgufMeta *meta) {
    NewFile f;
    int rc = newfile_open(&f, j->a->out, j->err, sizeof j->err);
    if (rc) return rc;
    temporary = f.temporary;
    rc = meta ? gguf_write(&f, &j->plan, meta, &j->report, j->err, sizeof j->err)
              : safetensors_write(&f, &j->plan, &j->report, j->err, sizeof j->err);
    temporary = NULL;
    int closed = newfile_close(&f, rc == 0, j->err, sizeof j->err);
    if (rc || closed) return rc ? rc : closed;
    if (!j->a->quiet)
        fprintf(stderr, "convert: %s: %zu tensors, %.1f MB\n", j->a->out, j->plan.n, (double)plan_bytes(&j->plan) / 1e6);
    return 0;
}

static int to_gguf(Job *j) {
    GgufMeta meta = {0};
    if (!describe_is_roformer(&j->c))
        return base_error(j->err, sizeof j->err, -EINVAL, "%s: no RoFormer's tensors; GGUF is written for RoFormers only, "
                          ".safetensors for any model of PyTorch's", j->a->in);
    int rc = describe(j);
    if (rc == 0 && describe_plan(&j->m, &j->plan, ROFORMER_IN_GGUF)) rc = no_memory(j);
    if (rc == 0) plan_set_types(&j->plan, j->a->type);
    for (size_t i = 0; i < j->plan.n; i++) /* no engine computes with F64 */
        if (j->plan.items[i].type == ELEM_F64) j->plan.items[i].type = ELEM_F32;
    if (rc == 0) rc = make_meta(j, &meta);
    if (rc == 0) rc = write_file(j, &meta);
    free(meta.bytes.data);
    return rc;
}

/* Hugging Face's own configuration says what kind of model it is; bert4keras' does not. */
static int is_hf_config(const Job *j) { return j->config.root && json_get(j->config.root, "model_type") != NULL; }

static int is_hf_roformer(const Job *j) {
    const JsonValue *type = json_get(j->config.root, "model_type");
    return json_is(type, "roformer") || json_is(type, "gau_alpha");
}

/* 1 where the tensor is another one's twin that the model ties to it: then it is left out. Anything else that shares bytes
 * is written out twice. */
static int is_redundant(const Job *j, size_t i) {
    static const char *const twins[] = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
                                        "generator_lm_head.weight", "lm_head.weight"};
    const View *v = &j->c.views[i];
    const JsonValue *tie = json_get(j->config.root, "tie_word_embeddings");
    int k, tied = tie && tie->type == JSON_BOOL ? tie->boolean : is_hf_roformer(j);
    if (!tied || !choose(v->name, twins, 4, &k)) return 0;
    for (size_t t = 0; t < j->c.n_views; t++)
        if (t != i && (view_is_same(v, &j->c.views[t]) || (is_hf_roformer(j) && view_equal(v, &j->c.views[t])))) return 1;
    return 0;
}

/* PyTorch's names stay what they are. */
static int plan_as_is(Job *j) {
    size_t integers = 0;
    for (size_t i = 0; i < j->c.n_views; i++) {
        const View *v = &j->c.views[i];
        if (!elem_is_float(v->type)) integers++;
        else if (!is_redundant(j, i) && plan_add(&j->plan, v->name, v)) return no_memory(j);
    }
    if (integers) report_note(&j->report, "left out: %zu tensors of integers", integers);
    return j->plan.n ? 0 : base_error(j->err, sizeof j->err, -EINVAL, "%s: holds no tensors of floats", j->a->in);
}

static int to_safetensors(Job *j) {
    Sidecars s;
    Buffer text = {0};
    int from_tf = j->c.container == CONTAINER_TF && describe_is_roformer(&j->c);
    int make_config = describe_is_roformer(&j->c) && j->config_path && !is_hf_config(j), rc = 0;
    if (sidecars_begin(&s, j->a->out)) return no_memory(j);
    if (from_tf || make_config) rc = describe(j);
    if (rc == 0 && make_config) {
        describe_config(&j->m, &text);
        sidecars_write(&s, "config.json", text);
    } else if (j->config_path) sidecars_copy(&s, "config.json", j->config_path);
    else report_note(&j->report, "no config.json beside the input, so none is beside the output: ./run needs one");
    if (j->vocab_path) sidecars_copy(&s, "vocab.txt", j->vocab_path);
    sidecars_common(&s, j->c.folder);
    if (rc == 0 && !from_tf) rc = plan_as_is(j);
    else if (rc == 0 && describe_plan(&j->m, &j->plan, ROFORMER_IN_TORCH)) rc = no_memory(j);
    if (rc == 0) plan_set_types(&j->plan, j->a->type);
    if (rc == 0) rc = sidecars_check(&s, j->err, sizeof j->err);
    if (rc == 0) rc = write_file(j, NULL);
    if (rc == 0) rc = sidecars_finish(&s, j->err, sizeof j->err);
    sidecars_free(&s);
    return rc;
}

/* ---- main ---- */

/* 1 where writing there would replace a file that is being read. */
static int replaces_input(const Job *j) {
    struct stat out, in;
    char *folder = file_folder(j->a->out);
    int here = folder && stat(folder, &out) == 0 && stat(j->c.folder, &in) == 0;
    here = here && out.st_ino == in.st_ino && out.st_dev == in.st_dev;
    free(folder);
    return here && j->c.container == CONTAINER_SAFETENSORS && file_exists(j->a->out) && text_ends_with(j->a->out, ".safetensors");
}

static int convert(const Args *a) {
    Job j = {.a = a, .report = {(void *)(uintptr_t)a, on_note, on_progress}};
    int gguf = a->out && text_ends_with(a->out, ".gguf");
    if (a->out && !gguf && !text_ends_with(a->out, ".safetensors"))
        return fail(EXIT_USAGE, "%s: the name of what is written must end in .gguf or .safetensors", a->out);
    int rc = checkpoint_open(&j.c, a->in, j.err, sizeof j.err);
    if (rc) return fail_with(rc, j.err);
    if (a->list) {
        int code = list(a, &j.c);
        checkpoint_close(&j.c);
        return code;
    }
    if (j.c.n_other) report_note(&j.report, "left out: %zu entries that are no tensors of numbers", j.c.n_other);
    rc = read_config(&j);
    if (rc == 0 && replaces_input(&j))
        rc = base_error(j.err, sizeof j.err, -EINVAL, "%s: is part of the input: write under another name", a->out);
    if (rc == 0) rc = gguf ? to_gguf(&j) : to_safetensors(&j);
    plan_free(&j.plan);
    describe_free(&j.m);
    json_free(&j.config);
    free(j.config_path);
    free(j.vocab_path);
    checkpoint_close(&j.c);
    return rc ? fail_with(rc, j.err) : EXIT_DONE;
}

static void on_interrupt(int sig) {
    (void)sig;
    interrupted = 1;
}

/* A mapped file that another program shortens raises SIGBUS where it is read next. */
static void on_bus_error(int sig) {
    static const char line[] = "convert: a file became shorter while it was being read\n";
    (void)sig;
    if (temporary) unlink(temporary);
    ssize_t ignored = write(2, line, sizeof line - 1);
    (void)ignored;
    _exit(EXIT_FAILED);
}

int main(int argc, char **argv) {
    struct sigaction sa = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    sa = (struct sigaction){.sa_handler = on_bus_error};
    sigaction(SIGBUS, &sa, NULL);
    sa = (struct sigaction){.sa_handler = SIG_IGN}; /* then writing fails with a reason, and what was written is removed */
    sigaction(SIGXFSZ, &sa, NULL);
    sigaction(SIGPIPE, &sa, NULL);
    Args a = {0};
    int code = parse(&a, argc, argv);
    if (code) return code;
    return a.help ? help() : convert(&a);
}
