/* cli/convert.c - the command convert: any model or checkpoint to GGUF or safetensors. --list goes to stdout,
 * everything else to stderr. */
#include "tool.h"
#include "model/files/quantized.h"
#include "weights-tools/mixture.h"
#include "weights-tools/sidecars.h"
#include "weights-tools/checkpoint/open.h"
#include "base/base.h"
#include "model/roformer_kinds.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Args *a;
    const char *in, *out;
    SourceWish wish;
    TypeChoice type;
    int list;
} Conversion;

/* ---- the command line ---- */

/* What --type names, or -1 after saying what is wrong. */
static int type_of(const char *word) {
    if (!word) return TYPE_KEEP;
    int type = name_index(type_choice_names, word);
    if (type >= 0 || !mixture_find(word)) return named("--type", word, type_choice_names, 0);
    usage("--type: ./run quantize IN OUT.gguf %s writes that", mixture_find(word)->name);
    return -1;
}

static int read_options(Conversion *v, const Args *a) {
    const ToolArgs *t = &a->tool;
    int type = type_of(t->type);
    if (type < 0) return EXIT_USAGE;
    *v = (Conversion){.a = a, .in = a->words[0], .out = a->words[1], .type = (TypeChoice)type,
                       .list = t->list};
    v->wish = (SourceWish){.config = t->config, .name = t->name, .pre = a->tokenizer.pre, .task = t->task,
                           .tokenizer = a->tokenizer.file, .no_tokenizer = t->no_tokenizer,
                           .roformer = {.mask = t->mask, .pooler = t->pooler}};
    if (a->n_words == 0) return usage("nothing to read");
    if (a->n_words > 2) return usage("\"%s\" is one word too many", a->words[2]);
    if (a->n_words == 1) v->out = NULL;
    if (v->list && v->out) return usage("--list writes nothing: leave %s out", v->out);
    return v->list || v->out ? 0 : usage("no file to write: OUT.gguf or OUT.safetensors");
}

/* ---- listing ---- */

static void list_view(const View *v, int is_tf) {
    char line[1200], shape[200] = "";
    int layer, k = 0;
    for (int d = 0; d < v->n_dims; d++)
        k += snprintf(shape + k, sizeof shape - (size_t)k, "%s%zu", d ? ", " : "", v->shape[d]);
    char gguf[ROFORMER_NAME_MAX] = "";
    const RoformerName *row = roformer_names_find(is_tf ? ROFORMER_IN_TF : ROFORMER_IN_TORCH, v->name, &layer);
    if (row) roformer_names_write(gguf, row, ROFORMER_IN_GGUF, layer, 0);
    base_error(line, sizeof line, 0, "%s  [%s]  %s%s%s", v->name, shape, elem_name(v->type), *gguf ? "  -> " : "",
               gguf);
    out_printf("%s\n", line); /* base_error: names come from files, no control character may reach a terminal */
}

static int list(const Checkpoint *c) {
    for (size_t i = 0; i < c->n_views; i++) list_view(&c->views[i], c->container == CONTAINER_TF);
    note("%s, %zu tensor%s", container_name(c->container), c->n_views, plural(c->n_views));
    return out_end(EXIT_DONE);
}

/* ---- to GGUF ---- */

static void say_what_was_written(const Conversion *a, size_t tensors, uint64_t bytes) {
    note("%s: %zu tensor%s, %.1f MB", a->out, tensors, plural(tensors), (double)bytes / 1e6);
}

/* The types to write, vectors as F32, which is how others' programs expect them; general.file_type goes by the first
 * matrix, which is the embeddings. -1: as the GGUF file says. */
static int set_types(Source *s, TypeChoice choice) {
    int type = -1, mxfp4 = 0;
    for (size_t i = 0; i < s->n_items; i++) {
        Item *t = &s->items[i];
        int stays = t->type == TENSOR_MXFP4 ? choice != TYPE_F32 /* smaller than F16 already */
                                            : choice == TYPE_KEEP && (s->is_gguf || item_is_weight(t));
        if (!stays) t->type = choice == TYPE_F16 && item_is_weight(t) ? TENSOR_F16 : TENSOR_F32;
        if (type < 0 && t->n_dims >= 2) type = t->type;
        mxfp4 |= t->type == TENSOR_MXFP4;
    }
    if (choice == TYPE_KEEP && s->is_gguf) return -1;
    return mxfp4 ? 38 : type == TENSOR_F16 ? 1 : type == TENSOR_BF16 ? 32 : 0;
}

static int to_gguf(const Conversion *a, const Report *r, char *err, size_t errlen) {
    Source s;
    uint64_t total = 0;
    int rc = source_open(&s, a->in, &a->wish, r, err, errlen);
    if (rc) return rc;
    source_file_type(&s, set_types(&s, a->type));
    rc = tool_write_model(a->out, &s, 1, r, &total, err, errlen);
    if (rc == 0) say_what_was_written(a, s.n_items, total);
    source_close(&s);
    return rc;
}

/* ---- to safetensors ---- */

/* What is being converted. */
typedef struct {
    const Conversion *a;
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

/* What a tokenizer's file is called beside the new one; NULL: it is none that is found there. */
static const char *vocab_name(const char *path) {
    static const char *const names[] = {"tokenizer.json", "tokenizer.model", "tekken.json"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return names[i];
    return text_ends_with(name, ".txt") ? "vocab.txt" : NULL;
}

static int read_config(Job *j) {
    static const char *const configs[] = {"config.json", "bert_config.json"}, *const vocabs[] = {"vocab.txt"};
    const SourceWish *w = &j->a->wish;
    if (sidecar_find(&j->config_path, w->config, j->c.folder, configs, 2) ||
        sidecar_find(&j->vocab_path, w->tokenizer, j->c.folder, vocabs, !w->no_tokenizer))
        return no_memory(j);
    return j->config_path ? json_open(&j->config, j->config_path, j->err, sizeof j->err) : 0;
}

static int describe(Job *j) {
    if (!j->config_path)
        return base_error(j->err, sizeof j->err, -ENOENT,
                          "%s: no config.json or bert_config.json beside it: give one with --config", j->a->in);
    return describe_open(&j->m, &j->c, j->config.root, j->config_path, &j->a->wish.roformer, &j->report, j->err,
                         sizeof j->err);
}

static int write_tensors(void *arg, NewFile *f, char *err, size_t errlen) {
    Job *j = arg;
    return safetensors_write(f, &j->plan, &j->report, err, errlen);
}

/* The tensor file itself. */
static int write_file(Job *j) {
    int rc = tool_write(j->a->out, write_tensors, j, j->err, sizeof j->err);
    if (rc) return rc;
    say_what_was_written(j->a, j->plan.n, plan_bytes(&j->plan));
    return 0;
}

/* Hugging Face's own configuration says what kind of model it is; bert4keras' does not. */
static int is_hf_config(const Job *j) { return j->config.root && json_get(j->config.root, "model_type") != NULL; }

static int is_hf_roformer(const Job *j) {
    const JsonValue *type = json_get(j->config.root, "model_type");
    return json_is(type, "roformer") || json_is(type, "gau_alpha");
}

/* 1 where the tensor is another one's twin that the model ties to it: then it is left out. Anything else that shares
 * bytes is written out twice. */
static int is_redundant(const Job *j, size_t i) {
    static const char *const twins[] = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
                                        "generator_lm_head.weight", "lm_head.weight", NULL};
    const View *v = &j->c.views[i];
    int tied = json_flag(j->config.root, "tie_word_embeddings", is_hf_roformer(j));
    if (!tied || name_index(twins, v->name) < 0) return 0;
    for (size_t t = 0; t < j->c.n_views; t++)
        if (t != i && (view_is_same(v, &j->c.views[t]) || (is_hf_roformer(j) && view_equal(v, &j->c.views[t]))))
            return 1;
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
    if (integers) report_note(&j->report, "left out: %zu tensor%s of integers", integers, plural(integers));
    return j->plan.n ? 0 : base_error(j->err, sizeof j->err, -EINVAL, "%s: holds no tensors of floats", j->a->in);
}

static int to_safetensors(Job *j) {
    Sidecars s;
    Buffer text = {0};
    int from_tf = j->c.container == CONTAINER_TF && describe_is_roformer(&j->c);
    int make_config = describe_is_roformer(&j->c) && j->config_path && !is_hf_config(j), rc = 0;
    if (sidecars_begin(&s, j->a->out)) return no_memory(j);
    if (!make_config && (j->a->wish.roformer.mask || j->a->wish.roformer.pooler))
        rc = base_error(j->err, sizeof j->err, -EINVAL, "%s: --mask and --pooler: no config.json is made that could "
                        "say them", j->a->in);
    if (rc == 0 && quantized_is(json_get(j->config.root, "quantization_config")))
        rc = base_error(j->err, sizeof j->err, -EINVAL, "%s: its quantized matrices become floats, which its "
                        "config.json does not say: name OUT.gguf", j->a->in);
    if (rc == 0 && (from_tf || make_config)) rc = describe(j);
    if (rc == 0 && make_config) {
        describe_config(&j->m, &text);
        sidecars_write(&s, "config.json", text);
    } else if (j->config_path) sidecars_copy(&s, "config.json", j->config_path);
    else if (source_has_params(&j->c))
        report_note(&j->report, "its tensors keep their authors' names, which ./run does not open: OUT.gguf it does");
    else report_note(&j->report, "no config.json beside the input, so none is beside the output: ./run needs one");
    if (file_has(j->c.folder, "modules.json"))
        report_note(&j->report, "left out: modules.json, which says how texts become vectors; OUT.gguf keeps that");
    if (j->vocab_path) sidecars_copy(&s, vocab_name(j->vocab_path), j->vocab_path);
    int its_tokenizer = !j->a->wish.tokenizer && !j->a->wish.no_tokenizer;
    if (rc == 0 && sidecars_common(&s, j->c.folder, its_tokenizer)) rc = no_memory(j);
    if (rc == 0 && !from_tf) rc = plan_as_is(j);
    else if (rc == 0 && describe_plan(&j->m, &j->plan, ROFORMER_IN_TORCH)) rc = no_memory(j);
    if (rc == 0) plan_set_types(&j->plan, j->a->type);
    if (rc == 0) rc = sidecars_check(&s, j->err, sizeof j->err);
    if (rc == 0) rc = write_file(j);
    if (rc == 0) rc = sidecars_finish(&s, j->err, sizeof j->err);
    sidecars_free(&s);
    return rc;
}

/* Where writing there would replace a file that is being read: an error line. */
static int keep_input(Job *j) {
    char *folder = file_folder(j->a->out);
    if (!folder) return no_memory(j);
    int here = file_same(folder, j->c.folder);
    free(folder);
    if (!here || j->c.container != CONTAINER_SAFETENSORS || !file_exists(j->a->out)) return 0;
    return base_error(j->err, sizeof j->err, -EINVAL, "%s: is part of the input: write under another name", j->a->out);
}

static int convert_checkpoint(const Conversion *a, const Report *r) {
    Job j = {.a = a, .report = *r};
    int rc = checkpoint_open(&j.c, a->in, j.err, sizeof j.err);
    if (rc) return tool_fail(rc, j.err);
    if (a->list) {
        int code = list(&j.c);
        checkpoint_close(&j.c);
        return code;
    }
    if (j.c.n_other) report_note(&j.report, "left out: %zu entries that are no tensors of numbers", j.c.n_other);
    rc = read_config(&j);
    if (rc == 0) rc = keep_input(&j);
    if (rc == 0) rc = to_safetensors(&j);
    plan_free(&j.plan);
    describe_free(&j.m);
    json_free(&j.config);
    free(j.config_path);
    free(j.vocab_path);
    checkpoint_close(&j.c);
    return rc ? tool_fail(rc, j.err) : EXIT_DONE;
}

int run_convert(Args *args) {
    Conversion v;
    const Conversion *a = &v;
    char err[600];
    int code = read_options(&v, args);
    if (code) return code;
    int gguf = a->out && text_ends_with(a->out, ".gguf");
    if (a->out && !gguf && !text_ends_with(a->out, ".safetensors"))
        return usage("%s: the name of what is written must end in .gguf or .safetensors", a->out);
    const char *own = a->wish.pre ? "--pre" : a->wish.task ? "--task" : a->wish.name ? "--name" : NULL;
    if (a->out && !gguf && own) return usage("%s goes with OUT.gguf", own);
    if (a->out && !gguf && a->wish.tokenizer && !vocab_name(a->wish.tokenizer))
        return usage("-z %s: is copied beside OUT.safetensors, under a name that is known there: vocab.txt, "
                     "tokenizer.json, tokenizer.model or tekken.json", a->wish.tokenizer);
    if (a->out && tool_is_input(a->in, a->out)) return fail("%s: is the input: write under another name", a->out);
    if (a->out && (code = tool_may_write(args, a->out))) return code;
    tool_begin();
    Report r = tool_report("converting");
    if (!gguf) return convert_checkpoint(a, &r);
    int rc = to_gguf(a, &r, err, sizeof err);
    return rc ? tool_fail(rc, err) : EXIT_DONE;
}
