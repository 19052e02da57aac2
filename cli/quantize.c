/* cli/quantize.c - the command quantize: any readable model as a GGUF file of another type. */
#include "tool.h"
#include "base/threads.h"
#include "weights-tools/mixture.h"
#include "base/paths.h"

#include <stdio.h>

typedef struct {
    const char *in, *out;
    SourceWish wish;
    int threads;
} Work;

const char *quantize_type(int i) { return mixture_row(i) ? mixture_row(i)->name : NULL; }

static const Mixture *find_type(const char *type, int *code) {
    const Mixture *m = mixture_find(type);
    char names[200] = "";
    for (int i = 0, n = 0; !m && quantize_type(i); i++)
        n += snprintf(names + n, sizeof names - (size_t)n, "%s%s", i ? ", " : "", quantize_type(i));
    if (!m) *code = usage("type \"%s\" is not written here (%s are)", type, names);
    return m;
}

/* Of the tensors, as they are read. */
static double bytes_before(const Source *s) {
    double sum = 0;
    for (size_t i = 0; i < s->n_items; i++) {
        Item own = s->items[i];
        size_t bytes;
        own.type = item_own_type(&own);
        if (item_bytes(&own, &bytes)) sum += (double)bytes;
        else sum += (double)own.rows * (double)own.cols * (double)sizeof(double); /* F64, or several */
    }
    return sum;
}

/* "12 Q4_K, 5 F32": how many tensors have which type. */
static void say_what_was_written(const Work *a, const Source *s, uint64_t bytes) {
    size_t n[1024] = {0}, len = 0;
    char types[400] = "";
    for (size_t i = 0; i < s->n_items; i++)
        if (s->items[i].type >= 0 && s->items[i].type < 1024) n[s->items[i].type]++;
    for (int t = 0; t < 1024 && len < sizeof types; t++)
        if (n[t])
            len += (size_t)snprintf(types + len, sizeof types - len, "%s%zu %s", len ? ", " : "", n[t],
                                    quant_format(t)->name);
    note("%s: %.1f MB, of %.1f; %s", a->out, (double)bytes / 1e6, bytes_before(s) / 1e6, types);
}

static int quantize(const Work *a, const Mixture *m, const Report *r, char *err, size_t errlen) {
    Source s;
    uint64_t total = 0;
    int rc = source_open(&s, a->in, &a->wish, r, err, errlen);
    if (rc) return rc;
    mixture_apply(m, &s, r);
    source_file_type(&s, m->file_type);
    rc = tool_write_model(a->out, &s, a->threads, r, &total, err, errlen);
    if (rc == 0) say_what_was_written(a, &s, total);
    source_close(&s);
    return rc;
}

int run_quantize(Args *args) {
    static const char *const missing[] = {"nothing to read", "no file to write: OUT.gguf", "no type: Q8_0, Q4_K_M .."};
    char err[600];
    int code = 0;
    if (args->n_words < 3) return usage("%s", missing[args->n_words]);
    if (args->n_words > 3) return usage("\"%s\" is one word too many", args->words[3]);
    Work w = {.in = args->words[0], .out = args->words[1],
              .threads = args->machine.threads ? (int)args->machine.threads : threads_most(),
              .wish = {.config = args->tool.config, .tokenizer = args->tokenizer.file,
                       .no_tokenizer = args->tool.no_tokenizer}};
    const Mixture *m = find_type(args->words[2], &code);
    if (!m) return code;
    if (!text_ends_with(w.out, ".gguf")) return usage("%s: the name of what is written must end in .gguf", w.out);
    if (tool_is_input(w.in, w.out)) return fail("%s: is the input: write under another name", w.out);
    if ((code = tool_may_write(args, w.out))) return code;
    tool_begin();
    Report r = tool_report("quantizing");
    int rc = quantize(&w, m, &r, err, sizeof err);
    return rc ? tool_fail(rc, err) : EXIT_DONE;
}
