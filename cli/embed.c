/* cli/embed.c - the commands embed and rank: texts as vectors, and lines by how well they answer a question. */
#include "lines.h"

#include "base/base.h"
#include "base/json.h"
#include "model/roformer.h"
#include "model/roformer_kinds.h"
#include "model/timeline.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a vector ---- */

static int open_sentence(Lines *l, size_t *width) {
    Sentence *x = &l->sentence;
    if (sentence_open(x, &l->e.model, l->e.err, sizeof l->e.err)) return fail("%s", l->e.err);
    size_t d = x->width > (size_t)l->e.model.config.d_model ? x->width : (size_t)l->e.model.config.d_model;
    *width = d;
    l->dimensions = (size_t)l->a->embed.dimensions;
    if (l->dimensions > x->width)
        return usage("--dimensions: this model's vectors have %zu entries, not %zu", x->width, l->dimensions);
    return 0;
}

/* What stands in front of a text of that task; NULL: of the usual one. An exit code. */
static int take_prompt(Lines *l, const char *task) {
    char known[600];
    const char *prompt = sentence_prompt(&l->sentence, task);
    sentence_tasks(&l->sentence, known, sizeof known);
    if (!prompt && !task) return fail("%s: its usual task \"%s\" has no prompt", l->a->model, l->sentence.usual);
    if (!prompt && !*known) return fail("%s: --task: its files name no tasks: leave it out", l->a->model);
    if (!prompt) return usage("--task: there is no \"%s\"; this model has %s", task, known);
    l->prompt = *prompt ? prompt : NULL;
    if (l->a->show.verbose && l->prompt) answer_line("  in front of each text: \"%s\"", prompt);
    return 0;
}

static int take_pooling(Lines *l) {
    int has_pooler = l->e.model.encoder && l->e.model.config.roformer.pooler != POOLER_NONE;
    int how = l->a->show.pooling ? name_index(pooling_names, l->a->show.pooling) : (int)l->sentence.pooling;
    if (l->sentence.unpooled && !l->a->show.pooling)
        return fail("%s: modules.json has no Pooling, so it makes no vector of a text; --pooling does", l->a->model);
    if (how == POOLING_POOLER && !has_pooler)
        return fail("%s: --pooling pooler: this model has no pooler; cls, mean and last need none", l->a->model);
    l->sentence.pooling = (Pooling)how;
    return 0;
}

static int check_embed(Lines *l, size_t *width) {
    int code = open_sentence(l, width);
    if (code == 0) code = take_prompt(l, l->a->embed.task);
    if (code == 0) code = take_pooling(l);
    if (code) return code;
    if (l->a->show.normalize) l->sentence.normalize = 1;
    if (l->a->show.verbose)
        fprintf(stderr, "  pooling %s%s\n", pooling_names[l->sentence.pooling],
                l->sentence.normalize ? ", length 1" : "");
    if (!l->dimensions && l->sentence.cut && l->sentence.cut < l->sentence.width)
        note("its files cut vectors to %zu entries (truncate_dim): --dimensions %zu does so, these are whole",
             l->sentence.cut, l->sentence.cut);
    l->whole = l->e.model.config.roformer.variant == 0; /* a tab parts RoFormer's pairs alone */
    return 0;
}

static size_t width_of(const Lines *l) { return l->dimensions ? l->dimensions : l->sentence.width; }

static int embed_line(Lines *l, size_t i) {
    size_t d = width_of(l);
    int json = l->a->show.json;
    if (l->a->in.pair) {
        for (size_t j = 0; j < 2; j++)
            sentence_vector(&l->sentence, &l->e.session, &l->texts, 2 * i + j, l->dimensions, l->vector + j * d);
        double cosine = texts_cosine(l->vector, l->vector + d, d);
        if (json) out_printf("{\"cosine\":");
        if (json) json_number(cosine);
        out_printf(json ? "}\n" : "%.6f\n", cosine);
        return 0;
    }
    sentence_vector(&l->sentence, &l->e.session, &l->texts, i, l->dimensions, l->vector);
    if (json) out_printf("{\"embedding\":[");
    for (size_t j = 0; j < d; j++) {
        if (j) out_bytes(json ? "," : " ", 1);
        if (json) json_number((double)l->vector[j]);
        else out_printf("%.9g", (double)l->vector[j]);
    }
    out_printf(json ? "]}\n" : "\n");
    return 0;
}

int run_embed(Args *a) {
    Lines l = {.mask = NULL};
    int code = run_lines(&l, a, check_embed, embed_line);
    sentence_close(&l.sentence);
    return code;
}

/* ---- ranking ---- */

typedef struct {
    double score;
    size_t number; /* the line's, from 0 */
    char *text;
    size_t len;
} Ranked;

typedef struct {
    Ranked *lines; /* [n] */
    size_t n, cap;
    enum { BY_CLASSIFIER, BY_YES, BY_COSINE } by;
    int yes, no;        /* ids, where the model answers with these */
    float *query;       /* [width]: the query's vector, where that is compared */
    int has_query;
    char *prompt;       /* what stands in front of each line */
} Ranking;

/* Qwen3-Reranker's question, as its page has it. */
static const char ask_before[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    "provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n";
static const char ask_usual[] = "Given a web search query, retrieve relevant passages that answer the query";
static const char ask_after[] = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

static int named_reranker(const Model *m) {
    const MetaValue *v = weights_meta(&m->weights, "general.name");
    char name[512];
    if (m->weights.format == FORMAT_GGUF && v && v->type == META_STRING)
        snprintf(name, sizeof name, "%.*s", (int)(v->n < 500 ? v->n : 500), (const char *)v->data);
    else {
        const char *path = m->weights.folder ? m->weights.folder : m->weights.path, *end = path + strlen(path);
        while (end > path && end[-1] == '/') end--;
        const char *last = end;
        while (last > path && last[-1] != '/') last--;
        snprintf(name, sizeof name, "%.*s", (int)(end - last), last);
    }
    for (char *p = name; *p; p++) *p = (char)tolower((unsigned char)*p);
    return strstr(name, "rerank") != NULL;
}

const char *const rank_ways[] = {"classifier", "yes", "cosine", NULL}; /* Ranking.by */

/* By what: a classifier of one label; yes or no; vectors. */
static int choose_way(Lines *l, Ranking *r) {
    const Model *m = &l->e.model;
    int one = m->encoder && m->config.roformer.classifier == CLASSIFIER_SEQUENCE && m->config.roformer.n_labels == 1;
    int by = l->a->embed.by ? name_index(rank_ways, l->a->embed.by)
             : one ? BY_CLASSIFIER : !m->encoder && named_reranker(m) ? BY_YES : BY_COSINE;
    if (by == BY_CLASSIFIER && !one)
        return fail("%s: --by classifier: this model has no classifier with one label", l->a->model);
    r->by = by;
    r->yes = tokenizer_named(l->e.tokenizer, "yes");
    r->no = tokenizer_named(l->e.tokenizer, "no");
    if (by == BY_YES && (m->encoder || r->yes < 0 || r->no < 0))
        return fail("%s: --by yes: this is no decoder with tokens \"yes\" and \"no\"", l->a->model);
    return 0;
}

/* What stands in front of each line: the query, and for who answers yes or no what is to be done with it. */
static int make_prompt(Lines *l, Ranking *r) {
    const char *query = l->a->text, *ask = l->a->embed.task ? l->a->embed.task : ask_usual;
    size_t room = strlen(ask) + strlen(query) + 60;
    if (r->by == BY_CLASSIFIER && strchr(query, '\t')) return usage("the query has a tab in it");
    l->prompt = r->prompt = malloc(room);
    if (!r->prompt) return fail("out of memory");
    if (r->by == BY_CLASSIFIER) snprintf(r->prompt, room, "%s\t", query); /* the first of a pair */
    else snprintf(r->prompt, room, "<Instruct>: %s\n<Query>: %s\n<Document>: ", ask, query);
    if (r->by == BY_YES) l->before = ask_before, l->after = ask_after;
    return 0;
}

static int check_rank(Lines *l, size_t *width) {
    Ranking *r = l->own;
    int code = open_sentence(l, width);
    if (code == 0) code = choose_way(l, r);
    if (code == 0 && r->by != BY_YES && l->a->embed.task)
        code = usage("--task tells a reranker that says yes or no what to look for; this model ranks otherwise");
    if (code == 0 && r->by == BY_COSINE && json_get(l->e.model.weights.config, "lora_adaptations"))
        code = fail("%s: it has an adapter for queries and one for documents: ./run embed --task query, and --task "
                    "document, make their vectors", l->a->model);
    if (code == 0 && r->by == BY_COSINE) code = take_pooling(l);
    l->whole = r->by != BY_CLASSIFIER;
    if (code || r->by != BY_COSINE) return code ? code : make_prompt(l, r);
    r->query = calloc(*width, sizeof *r->query);
    return r->query ? 0 : fail("out of memory");
}

/* Where vectors are compared the query is the first line. */
static int add_query(Lines *l) {
    const Ranking *r = l->own;
    if (r->by != BY_COSINE) return 0;
    l->prompt = sentence_prompt(&l->sentence, "query");
    int code = lines_add(l, l->a->text, strlen(l->a->text));
    l->numbers = 0; /* the query is no line of the input */
    l->prompt = sentence_prompt(&l->sentence, "document");
    return code;
}

/* P(yes) of yes and no at a text's last token. */
typedef struct { int yes, no; double p; } Answer;
static void take_answer(void *arg, size_t i, const float *logits) {
    Answer *a = arg;
    (void)i;
    a->p = sigmoid((double)logits[a->yes] - (double)logits[a->no]);
}

static double score_of(Lines *l, Ranking *r, size_t i) {
    size_t first = l->texts.first[i], n = l->texts.texts[i].n, d = width_of(l);
    if (r->by == BY_CLASSIFIER) {
        encoder_classify(&l->e.session, first, n, l->vector);
        return sigmoid((double)l->vector[0]);
    }
    if (r->by == BY_YES) {
        Answer a = {r->yes, r->no, 0};
        encoder_logits_each(&l->e.session, first + n - 1, 1, take_answer, &a);
        return a.p;
    }
    sentence_vector(&l->sentence, &l->e.session, &l->texts, i, l->dimensions, l->vector);
    return r->has_query ? texts_cosine(r->query, l->vector, d) : 0;
}

static int rank_line(Lines *l, size_t i) {
    Ranking *r = l->own;
    double score = score_of(l, r, i);
    if (r->by == BY_COSINE && !r->has_query) { /* the query itself */
        memcpy(r->query, l->vector, width_of(l) * sizeof *r->query);
        r->has_query = 1;
        return 0;
    }
    Ranked line = {score, r->n, malloc(l->len[i] + 1), l->len[i]};
    if (!line.text || array_reserve(&r->lines, &r->cap, r->n + 1, sizeof *r->lines)) {
        free(line.text);
        return fail("out of memory");
    }
    memcpy(line.text, l->line[i], line.len);
    r->lines[r->n++] = line;
    return 0;
}

static int by_score(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : x->number < y->number ? -1 : 1;
}

static int print_ranking(Lines *l) {
    Ranking *r = l->own;
    long long most = l->a->embed.most;
    if (r->n) qsort(r->lines, r->n, sizeof *r->lines, by_score);
    for (size_t i = 0; i < r->n && (most == 0 || i < (size_t)most); i++) {
        const Ranked *x = &r->lines[i];
        if (l->a->show.json) {
            out_printf("{\"line\":%zu,\"score\":", x->number + 1);
            json_number(x->score);
            out_printf(",\"text\":");
            json_string(x->text, x->len);
            out_printf("}\n");
            continue;
        }
        out_printf("%.4f\t", x->score);
        out_text(x->text, x->len);
        out_bytes("\n", 1);
    }
    return 0;
}

int run_rank(Args *a) {
    Ranking r = {0};
    Lines l = {.own = &r, .begin = add_query, .end = print_ranking, .text_is_query = 1};
    if (!a->text) return usage("rank needs a QUERY");
    int code = run_lines(&l, a, check_rank, rank_line);
    for (size_t i = 0; i < r.n; i++) free(r.lines[i].text);
    free(r.lines);
    free(r.query);
    free(r.prompt);
    sentence_close(&l.sentence);
    return code;
}
