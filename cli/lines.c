/* cli/lines.c - lines of text through a model, some at a time; and the commands fill and classify. */
#include "lines.h"

#include "model/attend_texts.h"
#include "model/family.h"
#include "base/base.h"
#include "base/utf8.h"
#include "base/system.h"
#include "model/roformer.h"
#include "model/roformer_kinds.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read what has been gathered, and do the work. */
static int lines_flush(Lines *l) {
    int code = 0;
    l->e.progress.start = clock_seconds();
    int rc = l->texts.n ? encoder_read(&l->e.session, l->texts.texts, l->texts.n, l->e.err, sizeof l->e.err) : 0;
    progress_clear(&l->e.progress);
    if (rc) code = rc == -EINTR ? EXIT_INTERRUPTED : fail("%s", l->e.err);
    for (size_t i = 0; i < l->n; i++) {
        if (code == 0 && !out.gone && !out.broken) code = l->work(l, i);
        free(l->line[i]);
    }
    l->n = 0;
    texts_clear(&l->texts);
    out_flush();
    return code;
}

/* A text with what stands in front of it; a [MASK] in it as this vocabulary spells it. */
static int add_text(Lines *l, const char *text, size_t len, int split) {
    static const char mask[] = "[MASK]";
    size_t n = l->prompt ? strlen(l->prompt) : 0, own = l->mask ? strlen(l->mask) : 0, k = sizeof mask - 1, at;
    split = split && !l->whole;
    if (n == 0 && !l->before && (own == 0 || strcmp(l->mask, mask) == 0))
        return texts_add(&l->texts, text, len, split, l->e.err, sizeof l->e.err);
    char *whole = malloc(n + len * (1 + own) + 1);
    if (!whole) return base_error(l->e.err, sizeof l->e.err, -ENOMEM, "out of memory");
    if (n) memcpy(whole, l->prompt, n);
    for (size_t from = 0; from < len; from = at + k) {
        at = own ? find_bytes(text, from, len, mask) : len;
        memcpy(whole + n, text + from, at - from);
        n += at - from;
        if (at == len) break;
        memcpy(whole + n, l->mask, own);
        n += own;
    }
    int rc = l->before ? texts_add_between(&l->texts, l->before, whole, n, l->after, l->e.err, sizeof l->e.err)
                       : texts_add(&l->texts, whole, n, split, l->e.err, sizeof l->e.err);
    free(whole);
    return rc;
}

/* sentence-transformers cuts such a text. */
static void note_longer(Lines *l, size_t n) {
    size_t longest = l->sentence.longest;
    if (l->longer || !longest || n <= longest) return;
    l->longer = 1;
    note("line %zu has %zu tokens, of which sentence-transformers reads %zu (max_seq_length); here all count, of the "
         "lines behind it, too", l->numbers, n, longest);
}

/* The line [len] as one text, or with --pair as two: an exit code. */
static int lines_encode(Lines *l, const char *line, size_t len) {
    char *err = l->e.err;
    const char *tab = l->a->in.pair ? memchr(line, '\t', len) : NULL;
    size_t room = l->e.session.options.n_ctx, first = tab ? (size_t)(tab - line) : len, longest = 0,
           n_texts = l->texts.n;
    if (l->a->in.pair && !tab)
        return fail("line %zu: no tab in it; --pair wants two texts with a tab between", l->numbers);
    int rc = add_text(l, line, first, !l->a->in.pair);
    if (rc == 0 && tab) rc = add_text(l, tab + 1, len - first - 1, 0);
    for (size_t i = n_texts; i < l->texts.n; i++)
        if (l->texts.texts[i].n > longest) longest = l->texts.texts[i].n;
    if (rc == 0 && longest <= room) return note_longer(l, longest), 0;
    texts_drop(&l->texts, l->texts.n - n_texts);
    if (rc) return fail("line %zu: %s", l->numbers, err);
    return fail("line %zu has %zu tokens, more than the context of %zu; -c makes room for more", l->numbers, longest,
                room);
}

/* One line more: an exit code. Where the tokens gathered would become too many, those before it are read first. */
int lines_add(Lines *l, const char *line, size_t len) {
    l->numbers++;
    if (len && line[len - 1] == '\r') len--;
    size_t cap = l->cap;
    if (array_reserve(&l->line, &cap, l->n + 1, sizeof *l->line) ||
        array_reserve(&l->len, &l->cap, l->n + 1, sizeof *l->len))
        return fail("out of memory");
    size_t had = l->texts.n_tokens;
    int code = lines_encode(l, line, len);
    if (code == 0 && had && l->texts.n_tokens > l->most) { /* once more, behind the others */
        texts_drop(&l->texts, 1 + (size_t)l->a->in.pair);
        code = lines_flush(l);
        if (code == 0) code = lines_encode(l, line, len);
    }
    if (code) return code;
    l->line[l->n] = malloc(len + 1);
    if (!l->line[l->n]) return fail("out of memory");
    memcpy(l->line[l->n], line, len);
    l->line[l->n][len] = 0;
    l->len[l->n++] = len;
    return 0;
}

/* The lines of -f FILE or stdin, or the one text of the command line. */
static int lines_read(Lines *l) {
    const Args *a = l->a;
    const char *text = l->text_is_query ? NULL : a->text;
    if (text && a->in.file) return usage("a text and -f are both given; one is enough");
    int from_stdin = !a->in.file || strcmp(a->in.file, "-") == 0, code = 0;
    if (text) code = lines_add(l, text, strlen(text));
    FILE *f = text ? NULL : from_stdin ? stdin : fopen(a->in.file, "rb");
    if (!text && !f) return fail("%s: %s", a->in.file, strerror(errno));
    files_opened(NULL);
    char *line = NULL;
    size_t cap = 0;
    if (f == stdin) note_terminal();
    for (ssize_t n; f && code == 0 && !interrupted && !out.gone && (n = getline(&line, &cap, f)) >= 0;) {
        if (n && line[n - 1] == '\n') n--;
        code = lines_add(l, line, (size_t)n);
        struct pollfd input = {.fd = from_stdin ? 0 : -1, .events = POLLIN};
        if (from_stdin && code == 0 && !l->text_is_query && poll(&input, 1, 0) == 0)
            code = lines_flush(l); /* whoever writes the lines waits for an answer */
    }
    int why = errno;
    if (f && code == 0 && (ferror(f) || !feof(f)) && !interrupted && !out.gone)
        code = fail("%s: %s", from_stdin ? "stdin" : a->in.file, why == ENOMEM ? "out of memory" : strerror(why));
    free(line);
    if (f && f != stdin) fclose(f);
    int last = interrupted || code == EXIT_INTERRUPTED ? 0 : lines_flush(l); /* those in front of a bad line too */
    if (code == 0) code = last;
    return code ? code : interrupted ? EXIT_INTERRUPTED : 0;
}

static int open_session(Lines *l) {
    const Args *a = l->a;
    CacheType cache = session_usual_cache(&l->e.model);
    int code = cache_option(&cache, a, &l->e.model);
    SessionOptions o = {.n_ctx = l->most,
                        .n_batch = l->most,
                        .threads = (int)a->machine.threads,
                        .chunk = (size_t)a->attention.chunk,
                        .linear = a->attention.chunk ? &linear_texts : NULL,
                        .cache = cache,
                        .progress = on_progress,
                        .progress_arg = &l->e.progress};
    if (code) return code;
    return session_init(&l->e.session, &l->e.model, &o, l->e.err, sizeof l->e.err) ? fail("%s", l->e.err) : 0;
}

/* Whether something stands around a text, [CLS] and [SEP] of a RoFormer's. */
static int adds_ends(const Tokenizer *t) {
    char err[200];
    int *ids = NULL;
    size_t n = 0;
    int rc = tokenizer_encode(t, "", 0, ENCODE_BOS | ENCODE_EOS, &ids, &n, err, sizeof err);
    free(ids);
    return rc == 0 && n > 1;
}

int run_lines(Lines *l, Args *a, LinesCheck *check, LineWork *work) {
    enum { TOGETHER = 1024, USUAL = 4096 }; /* enough for every core, and little memory; of a decoder's long context */
    l->a = a, l->work = work;
    size_t width = 0;
    int code = engine_open(&l->e, a, 1);
    if (code) return code;
    const Config *c = &l->e.model.config;
    code = check(l, &width);
    size_t usual = l->e.model.encoder ? SIZE_MAX : USUAL, room = (size_t)c->n_ctx_train;
    if (room > usual) room = usual;
    if (a->context.n) room = (size_t)a->context.n;
    l->most = room < TOGETHER / 2 ? TOGETHER : 2 * room; /* a pair may be two texts */
    l->e.progress = (Progress){.what = "reading"};
    if (code == 0 && a->attention.chunk && !c->linear.form)
        code = usage("--chunk is for linear attention; this model's is softmax");
    if (code == 0 && c->roformer.variant && !adds_ends(l->e.tokenizer))
        note("the vocabulary lacks [CLS] or [SEP]: is it this model's?");
    if (code == 0 && room > (size_t)c->n_ctx_train)
        note("context %zu goes beyond the %lld positions this model was trained on", room, (long long)c->n_ctx_train);
    if (code == 0) code = open_session(l);
    l->vector = calloc(2 * width + 1, sizeof *l->vector);
    size_t labels = (size_t)c->roformer.n_labels,
           ranked = (size_t)a->show.candidates > labels ? (size_t)a->show.candidates : labels;
    l->candidates = calloc(ranked + 1, sizeof *l->candidates);
    if (code == 0 && (!l->vector || !l->candidates)) code = fail("out of memory");
    texts_init(&l->texts, l->e.tokenizer);
    l->texts.special = l->e.model.encoder != NULL; /* as transformers reads an encoder's */
    if (code == 0) {
        l->e.session.options.n_ctx = room; /* of one text */
        if (l->begin) code = l->begin(l);
        if (code == 0) code = lines_read(l);
        if (code == 0 && l->end) code = l->end(l);
    }
    while (l->n) free(l->line[--l->n]);
    free(l->line);
    free(l->len);
    free(l->vector);
    free(l->candidates);
    texts_free(&l->texts);
    engine_close(&l->e);
    return out_end(code);
}

/* A piece as text: without the "##" that says that a word goes on. */
static const char *shown_piece(const Tokenizer *t, int id, size_t *len) {
    const char *p = tokenizer_piece(t, id, len);
    if (!p) *len = 0;
    else if (*len > 2 && memcmp(p, "##", 2) == 0) p += 2, *len -= 2;
    return p ? p : "";
}

static int check_fill(Lines *l, size_t *width) {
    static const char *const names[] = {"[MASK]", "<mask>", "<|mask|>"};
    (void)width;
    l->mask_id = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && l->mask_id < 0; i++)
        l->mask = names[i], l->mask_id = tokenizer_named(l->e.tokenizer, names[i]);
    if (!l->e.model.encoder)
        return fail("%s: fill is for encoders, such as model/words-1m.gguf; this is a %s", l->a->model,
                    l->e.model.config.arch);
    if (!l->e.model.has_logits)
        return fail("%s: this model has no language model's head, so it cannot fill; ./run embed makes vectors",
                    l->a->model);
    if (l->mask_id < 0) return fail("%s: the vocabulary has no [MASK]", l->a->model);
    if ((size_t)l->a->show.candidates > (size_t)l->e.model.config.vocab_size)
        return usage("--top-k: the vocabulary has only %d tokens", l->e.model.config.vocab_size);
    return 0;
}

static void fill_json(Lines *l, size_t t, int first) {
    out_printf("%s{\"position\":%zu,\"candidates\":[", first ? "" : ",", t);
    for (long long k = 0; k < l->a->show.candidates; k++) {
        size_t len;
        const char *p = tokenizer_piece(l->e.tokenizer, l->candidates[k].id, &len);
        out_printf("%s{\"id\":%d,\"token\":", k ? "," : "", l->candidates[k].id);
        json_string(p ? p : "", p ? len : 0);
        out_printf(",\"probability\":");
        json_number(l->candidates[k].p);
        out_printf("}");
    }
    out_printf("]}");
}

/* The line with its masks filled by the best, then a line for each mask. */
static int fill_line(Lines *l, size_t i) {
    const EncoderText *x = &l->texts.texts[i];
    const char *line = l->line[i];
    size_t from = 0, len_line = l->len[i]; /* what is printed so far */
    char *list = NULL; /* the lines below the filled text */
    size_t n_list = 0, n = 0;
    FILE *f = l->a->show.json ? NULL : open_memstream(&list, &n_list);
    if (!l->a->show.json && !f) return fail("out of memory");
    if (l->a->show.json) {
        out_printf("{\"text\":");
        json_string(line, len_line);
        out_printf(",\"masks\":[");
    }
    for (size_t t = 0; t < x->n; t++) {
        size_t len;
        if (x->ids[t] != l->mask_id) continue;
        texts_best(encoder_logits(&l->e.session, l->texts.first[i] + t), (size_t)l->e.model.config.vocab_size,
                   l->candidates, (size_t)l->a->show.candidates);
        if (l->a->show.json) fill_json(l, t, n == 0);
        n++;
        if (l->a->show.json) continue;
        size_t own = find_bytes(line, from, len_line, l->mask), at = find_bytes(line, from, len_line, "[MASK]"),
               n_mask = own < at ? strlen(l->mask) : sizeof "[MASK]" - 1;
        if (own < at) at = own;
        out_text(line + from, at - from);
        from = at < len_line ? at + n_mask : at;
        const char *p = shown_piece(l->e.tokenizer, l->candidates[0].id, &len);
        out_text(p, len);
        fprintf(f, "  %zu ", n);
        for (long long k = 0; k < l->a->show.candidates; k++) {
            p = tokenizer_piece(l->e.tokenizer, l->candidates[k].id, &len);
            fprintf(f, " %.*s %.4f", p ? (int)len : 0, p ? p : "", l->candidates[k].p);
        }
        fputc('\n', f);
    }
    int bad = f && close_written(f);
    if (l->a->show.json) out_printf("]}\n");
    else if (!bad) {
        out_text(line + from, len_line - from);
        out_bytes("\n", 1);
        out_text(list, n_list);
    }
    free(list);
    if (bad) return fail("out of memory");
    if (n == 0 && l->a->text) return fail("\"%s\" has no [MASK] to fill", line);
    if (n == 0 && !l->a->show.json) note("\"%s\" has no [MASK] to fill", line);
    return 0;
}

int run_fill(Args *a) { return run_lines(&(Lines){.mask = NULL}, a, check_fill, fill_line); }

static int check_classify(Lines *l, size_t *width) {
    *width = (size_t)l->e.model.config.roformer.n_labels;
    int none = !l->e.model.encoder || !l->e.model.config.roformer.classifier;
    return none ? fail("%s: this model has no classifier", l->a->model) : 0;
}

static void print_label(const Lines *l, int i, int json) {
    size_t len;
    const char *name = model_label(&l->e.model, i, &len);
    char own[24];
    if (l->e.model.config.roformer.classifier == CLASSIFIER_REPLACED) name = "replaced", len = 8;
    if (!len) name = own, len = (size_t)snprintf(own, sizeof own, "LABEL_%d", i);
    if (json) json_string(name, len);
    else out_text(name, len);
}

double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* The labels of token t, best first, with their probabilities: together 1, or each for itself where several may be
 * true; or with the numbers themselves, where these are what the model was trained for, as one label is unless the
 * file or ELECTRA's question says otherwise. Of tokens problem_type says nothing: transformers trains them by cross
 * entropy, and its pipeline makes a softmax, whatever it is. */
static void print_labels(Lines *l, size_t t, size_t n_tokens) {
    const RoformerConfig *f = &l->e.model.config.roformer;
    int n = f->n_labels, json = l->a->show.json,
        problem = f->classifier == CLASSIFIER_SEQUENCE ? f->problem : PROBLEM_NONE,
        each = problem == PROBLEM_MULTI || f->classifier == CLASSIFIER_REPLACED,
        plain = !each && (problem == PROBLEM_REGRESSION || n == 1);
    Candidate *best = l->candidates;
    encoder_classify(&l->e.session, t, n_tokens, l->vector);
    texts_best(l->vector, (size_t)n, best, (size_t)n);
    for (int i = 0; i < n && (each || plain); i++) {
        double v = (double)l->vector[best[i].id];
        best[i].p = each ? sigmoid(v) : v;
    }
    if (json) out_printf("[");
    for (int i = 0; i < n; i++) {
        out_printf(json ? (i ? ",{\"label\":" : "{\"label\":") : i ? "  " : "");
        print_label(l, best[i].id, json);
        if (json) out_printf(",\"%s\":", plain || n == 1 ? "score" : "probability");
        if (json) json_number(best[i].p);
        out_printf(json ? "}" : " %.4f", best[i].p);
    }
    if (json) out_printf("]");
}

static int classify_line(Lines *l, size_t i) {
    const EncoderText *x = &l->texts.texts[i];
    int whole = l->e.model.config.roformer.classifier == CLASSIFIER_SEQUENCE, json = l->a->show.json;
    if (json) out_printf(whole ? "{\"labels\":" : "{\"tokens\":[");
    for (size_t t = 0; t < (whole ? 1 : x->n); t++) {
        size_t len;
        const char *p = tokenizer_piece(l->e.tokenizer, x->ids[t], &len);
        if (!whole && json) {
            out_printf("%s{\"token\":", t ? "," : "");
            json_string(p ? p : "", p ? len : 0);
            out_printf(",\"labels\":");
        } else if (!whole) {
            out_text(p ? p : "", p ? len : 0);
            out_bytes("\t", 1);
        }
        print_labels(l, l->texts.first[i] + t, x->n);
        if (!json) out_bytes("\n", 1);
        else if (!whole) out_printf("}");
    }
    if (!json && !whole) out_bytes("\n", 1); /* an empty line behind a text's tokens */
    if (json) out_printf(whole ? "}\n" : "]}\n");
    return 0;
}

int run_classify(Args *a) { return run_lines(&(Lines){.mask = NULL}, a, check_classify, classify_line); }
