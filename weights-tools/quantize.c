/* weights-tools/quantize.c - the program: any readable model as a GGUF file of another type. */
#include "base/threads.h"
#include "mixture.h"
#include "model_write.h"
#include "program.h"
#include "weights-tools/checkpoint/text.h"
#include "base/newfile.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Program program;
    const char *in, *out, *type;
    SourceWish wish;
    int threads, help;
} Args;

static int help(void) {
    puts("usage: weights-tools/quantize IN OUT.gguf TYPE [options]\n"
         "\n"
         "IN is whatever ./run opens (GGUF, a Hugging Face folder or safetensors file, llama2.c's .bin) or\n"
         "weights-tools/convert reads. The mixture of types is llama.cpp's; a tensor whose rows are no whole blocks of "
         "its type\n"
         "gets another one, and a line says so.\n"
         "\n"
         "  TYPE            bits a weight, mean error of a weight (of a Gaussian's sigma)\n"
         "  F32  F16  BF16  32, 16, 16\n"
         "  Q8_0            8.5      0.5 %\n"
         "  Q6_K            6.6      1.8 %\n"
         "  Q5_K_M          5.5      3.6 %   attn_v and ffn_down of half of the layers, and the output, in Q6_K\n"
         "  Q4_K_M          4.5      7.1 %   the same\n"
         "  Q4_0            4.5      8.6 %   the output in Q6_K\n"
         "\n"
         "  -j, --threads N threads (all processors); the file does not depend on it\n"
         "  -z FILE         the tokenizer, where it is not beside IN: any file or folder that ./run tokenize opens\n"
         "  --no-tokenizer  write none\n"
         "  --config FILE   config.json or bert_config.json, where it is not beside IN\n"
         "  -q, --quiet     no notes, no progress\n"
         "  -h, --help      this help\n"
         "\n"
         "examples:\n"
         "  weights-tools/quantize tinyllama-f16.gguf tinyllama-q4.gguf Q4_K_M\n"
         "  weights-tools/quantize TinyLlama-1.1B/ tinyllama-q8.gguf Q8_0 -j 4\n"
         "  weights-tools/quantize stories15M.bin stories15M-q8.gguf Q8_0 -z tokenizer.bin\n"
         "\n"
         "Exit code: 0 done, 1 failed, 2 usage, 130 interrupted. OUT.gguf appears whole or not at all.");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int set_threads(Args *a, const char *word, const char *value) {
    char *end;
    long n = strtol(value, &end, 10);
    if (*end || end == value || n < 1 || n > 1024)
        return program_fail(&a->program, EXIT_USAGE, "%s: \"%s\" is no number from 1 to 1024", word, value);
    a->threads = (int)n;
    return 0;
}

static int parse(Args *a, int argc, char **argv) {
    static const char *const valued[] = {"-j", "--threads", "--config", "-z", "--tokenizer", "--vocab"};
    const Program *p = &a->program;
    const char **places[] = {&a->in, &a->out, &a->type};
    int n = 0, k, code;
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (strcmp(w, "-q") == 0 || strcmp(w, "--quiet") == 0) a->program.quiet = 1;
        else if (strcmp(w, "-h") == 0 || strcmp(w, "--help") == 0) a->help = 1;
        else if (strcmp(w, "--no-tokenizer") == 0) a->wish.no_tokenizer = 1;
        else if (program_choose(w, valued, 6, &k)) {
            if (i + 1 == argc) return program_fail(p, EXIT_USAGE, "%s needs a value", w);
            if (k == 2) a->wish.config = argv[++i];
            else if (k > 2) a->wish.tokenizer = argv[++i];
            else if ((code = set_threads(a, w, argv[++i])) != 0) return code;
        } else if (w[0] == '-' && w[1]) return program_fail(p, EXIT_USAGE, "%s is no option", w);
        else if (n == 3) return program_fail(p, EXIT_USAGE, "%s is one word too many", w);
        else *places[n++] = w;
    }
    if (a->help || n == 3) return 0;
    static const char *const missing[] = {"nothing to read", "no file to write: OUT.gguf", "no type: Q8_0, Q4_K_M .."};
    return program_fail(p, EXIT_USAGE, "%s", missing[n]);
}

static const Mixture *find_type(const Args *a, int *code) {
    const Mixture *m = mixture_find(a->type);
    char names[200] = "";
    for (int i = 0, n = 0; !m && mixture_row(i); i++)
        n += snprintf(names + n, sizeof names - (size_t)n, "%s%s", i ? ", " : "", mixture_row(i)->name);
    if (!m) *code = program_fail(&a->program, EXIT_USAGE, "type \"%s\" is not written here (%s are)", a->type, names);
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
        else sum += (double)own.rows * (double)own.cols * (double)sizeof(double); /* F64, which has no format */
    }
    return sum;
}

/* "12 Q4_K, 5 F32": how many tensors have which type. */
static void say_what_was_written(const Args *a, const Source *s, uint64_t bytes) {
    size_t n[1024] = {0};
    if (a->program.quiet) return;
    for (size_t i = 0; i < s->n_items; i++)
        if (s->items[i].type >= 0 && s->items[i].type < 1024) n[s->items[i].type]++;
    fprintf(stderr, "quantize: %s: %.1f MB, of %.1f;", a->out, (double)bytes / 1e6, bytes_before(s) / 1e6);
    const char *between = " ";
    for (int t = 0; t < 1024; t++)
        if (n[t]) {
            fprintf(stderr, "%s%zu %s", between, n[t], quant_format(t)->name);
            between = ", ";
        }
    fputc('\n', stderr);
}

static int quantize(const Args *a, const Mixture *m, const Report *r, char *err, size_t errlen) {
    Source s;
    NewFile f;
    uint64_t total = 0;
    int rc = source_open(&s, a->in, &a->wish, r, err, errlen);
    if (rc) return rc;
    mixture_apply(m, &s, r);
    source_file_type(&s, m->file_type);
    rc = model_bytes(&s, &total, err, errlen);
    if (rc == 0) rc = program_open(&f, a->out, err, errlen);
    if (rc == 0) {
        rc = model_write(&f, &s, a->threads, r, err, errlen);
        int closed = program_close(&f, rc == 0, err, errlen);
        if (rc == 0) rc = closed;
        if (rc == 0) say_what_was_written(a, &s, total);
    }
    source_close(&s);
    return rc;
}

int main(int argc, char **argv) {
    Args a = {.threads = threads_most()};
    char err[600];
    program_begin(&a.program, "quantize");
    int code = parse(&a, argc, argv);
    if (code) return code;
    if (a.help) return help();
    const Mixture *m = find_type(&a, &code);
    if (!m) return code;
    if (!text_ends_with(a.out, ".gguf"))
        return program_fail(&a.program, EXIT_USAGE, "%s: the name of what is written must end in .gguf", a.out);
    if (file_same(a.in, a.out))
        return program_fail(&a.program, EXIT_FAILED, "%s: is the input: write under another name", a.out);
    Report r = program_report(&a.program);
    int rc = quantize(&a, m, &r, err, sizeof err);
    return rc ? program_fail_with(&a.program, rc, err) : EXIT_DONE;
}
