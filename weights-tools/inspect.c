/* weights-tools/inspect.c - the program: what a file of weights holds. */
#include "inspection.h"
#include "layout.h"
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Program program;
    const char *in, *tokenizer;
    int json, keys, summary, check_layout, help;
} Args;

static int help(void) {
    puts("usage: weights-tools/inspect FILE [options]\n"
         "\n"
         "Says what FILE holds: the model's sizes, rope and attention, the tokenizer, types, and each tensor. FILE is "
         "whatever\n"
         "./run opens (GGUF, a Hugging Face folder or safetensors file, llama2.c's .bin), or a checkpoint that\n"
         "weights-tools/convert reads (PyTorch, TensorFlow). Shapes are [out, in], as PyTorch counts.\n"
         "\n"
         "  -s, --summary   no table of tensors\n"
         "  -k, --keys      a GGUF file's keys, too\n"
         "      --json      all of it as one JSON object; arrays of more than 64 elements are counted\n"
         "      --check-layout   which entries of a head are a pair, by the loss of a sentence read both ways\n"
         "      -z, --tokenizer FILE   with it: where the file has no vocabulary\n"
         "  -h, --help      this help\n"
         "\n"
         "examples:\n"
         "  weights-tools/inspect model.gguf\n"
         "  weights-tools/inspect TinyLlama-1.1B/ --summary\n"
         "  weights-tools/inspect model.gguf --json | jq '.types'\n"
         "  weights-tools/inspect converted-by-hand.gguf --check-layout\n"
         "\n"
         "Exit code: 0 done, 1 failed, 2 usage.");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int parse(Args *a, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (strcmp(w, "--json") == 0) a->json = 1;
        else if (strcmp(w, "-k") == 0 || strcmp(w, "--keys") == 0) a->keys = 1;
        else if (strcmp(w, "-s") == 0 || strcmp(w, "--summary") == 0) a->summary = 1;
        else if (strcmp(w, "--check-layout") == 0) a->check_layout = 1;
        else if ((strcmp(w, "-z") == 0 || strcmp(w, "--tokenizer") == 0) && i + 1 < argc) a->tokenizer = argv[++i];
        else if (strcmp(w, "-h") == 0 || strcmp(w, "--help") == 0) a->help = 1;
        else if (w[0] == '-' && w[1]) return program_fail(&a->program, EXIT_USAGE, "%s is no option", w);
        else if (a->in) return program_fail(&a->program, EXIT_USAGE, "%s is one word too many", w);
        else a->in = w;
    }
    if (a->tokenizer && !a->check_layout)
        return program_fail(&a->program, EXIT_USAGE, "--tokenizer goes with --check-layout");
    return a->help || a->in ? 0 : program_fail(&a->program, EXIT_USAGE, "nothing to read");
}

/* What the file says of its pairs, and what its weights want. Exit code 1 where these differ. */
static int check_layout(const Args *a) {
    static const char *const names[] = {"interleaved (2i, 2i+1)", "half-split (i, i + d/2)"};
    LayoutCheck c;
    char err[600];
    int rc = layout_check(&c, a->in, a->tokenizer, err, sizeof err);
    if (rc) return program_fail_with(&a->program, rc, err);
    for (int i = 0; i < 2; i++)
        printf("%-24s %.4f nats a token%s%s\n", names[i], c.loss[i], (int)c.says == i ? "; the file says so" : "",
               (int)c.wants == i ? "; the weights want it" : "");
    printf("%s\n", c.says == c.wants ? "the file is right, by a sentence of plain words"
                                     : "the file's rows of q and k seem to be in the other order");
    if (fflush(stdout) != 0) return program_fail(&a->program, EXIT_FAILED, "cannot write: %s", strerror(errno));
    return c.says == c.wants ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv) {
    Args a = {0};
    Inspection i;
    Buffer out = {0};
    char err[600];
    program_begin(&a.program, "inspect");
    int code = parse(&a, argc, argv);
    if (code) return code;
    if (a.help) return help();
    if (a.check_layout) return check_layout(&a);
    int rc = inspection_open(&i, a.in, err, sizeof err);
    if (rc) return program_fail_with(&a.program, rc, err);
    if (a.json) inspection_json(&i, &out);
    else inspection_text(&i, &out, !a.summary, a.keys);
    inspection_close(&i);
    if (out.failed) code = program_fail(&a.program, EXIT_FAILED, "out of memory");
    else if (fwrite(out.data, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
        code = errno == EPIPE ? EXIT_DONE : program_fail(&a.program, EXIT_FAILED, "cannot write: %s", strerror(errno));
    free(out.data);
    return code;
}
