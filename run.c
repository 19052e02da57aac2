/* run.c - the program: the only file that reads argv, prints and exits. A table of options, a table of commands, and each
 * command a short function. stdout is the text, everything else goes to stderr. */
#include "lab/bench.h"
#include "lab/perplexity.h"
#include "lab/texts.h"
#include "lab/vocabulary.h"
#include "model/builtin.h"
#include "model/sampler.h"
#include "model/session.h"
#include "tokenizer/tokenizer.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* ---- what the program was told ---- */

typedef struct {
    /* positional */
    const char *model, *text;
    /* text in and out */
    const char *prompt, *file, *tokenizer, *mode, *system;
    const char *stop[16];
    int n_stop;
    int no_echo, ignore_eos, special, no_bos, pieces, want_ids, all, json, quiet, verbose, version, help;
    const char *ids, *type_ids, *attention_mask, *separator;
    /* lengths */
    long long n, max_tokens, context, threads;
    /* sampling */
    double temperature, top_p, min_p, repetition, presence, frequency;
    long long top_k, penalty_window, seed;
    /* the model */
    const char *kernels, *rope, *arch, *mask, *pooler, *jieba, *pooling;
    int bert4keras, normalize, pair;
    long long candidates, runs;
    const char *contexts, *prompts;
    int csv;
    double rope_theta, rope_factor;
    long long rope_original;
    const char *attention, *phi, *form, *save_state, *load_state, *kv;
    double epsilon;
    long long favor_features, favor_seed, chunk;
    /* which of these were given */
    int n_given, max_given, seed_given, epsilon_given, favor_seed_given;
    int exact; /* the command asks for the most exact cache where --kv does not say */
} Args;

typedef enum { FLAG, INTEGER, NUMBER, STRING, STRINGS } Kind;
enum {
    GENERATE = 1, LOGITS = 2, TOKENIZE = 4, PERPLEXITY = 8, FILL = 16, EMBED = 32, CLASSIFY = 64, BENCH = 128, ALL = 255,
    ENCODERS = FILL | EMBED | CLASSIFY, MODELS = ALL & ~TOKENIZE, TEXTS = ALL & ~(LOGITS | BENCH)
};

typedef struct {
    const char *name, *alias, *arg, *help;
    char letter;
    Kind kind;
    int commands;
    size_t offset;
    double min, max; /* INTEGER, NUMBER */
} Option;

#define AT(field) offsetof(Args, field)
static const Option options[] = {
    {"--prompt", NULL, "TEXT", "the text to go on from", 'i', STRING, GENERATE, AT(prompt), 0, 0},
    {"--file", NULL, "FILE", "read the text from FILE; - is stdin", 'f', STRING, TEXTS, AT(file), 0, 0},
    {"--steps", "--n-predict", "N", "positions to read and write, prompt included; 0: to the context's end, which linear attention has not (256)", 'n', INTEGER, GENERATE, AT(n), 0, 1e15},
    {"--max-tokens", NULL, "N", "at most N new tokens", 0, INTEGER, GENERATE, AT(max_tokens), 0, 1e15},
    {"--temperature", "--temp", "T", "0 is greedy (1.0)", 't', NUMBER, GENERATE, AT(temperature), 0, 1e6},
    {"--top-p", NULL, "P", "nucleus: 0 or 1 is off (0.9)", 'p', NUMBER, GENERATE, AT(top_p), 0, 1},
    {"--top-k", NULL, "K", "only the K most probable; 0 is off (0)", 0, INTEGER, GENERATE, AT(top_k), 0, 1e9},
    {"--min-p", NULL, "P", "only those P times as probable as the first; 0 is off (0)", 0, NUMBER, GENERATE, AT(min_p), 0, 1},
    {"--repetition-penalty", "--repeat-penalty", "R", "divide the logits of recent tokens; 1 is off (1)", 0, NUMBER, GENERATE, AT(repetition), 1e-6, 1e6},
    {"--presence-penalty", NULL, "X", "subtract once from recent tokens (0)", 0, NUMBER, GENERATE, AT(presence), -1e6, 1e6},
    {"--frequency-penalty", NULL, "X", "subtract for each time a token is recent (0)", 0, NUMBER, GENERATE, AT(frequency), -1e6, 1e6},
    {"--penalty-window", "--repeat-last-n", "N", "how many tokens are recent (64)", 0, INTEGER, GENERATE, AT(penalty_window), 0, 1e9},
    {"--seed", NULL, "S", "same seed, same text; 0 is the time (0)", 's', INTEGER, GENERATE, AT(seed), 0, 9.2e18},
    {"--stop", NULL, "TEXT", "end before TEXT; may be given up to 16 times", 0, STRINGS, GENERATE, AT(stop), 0, 0},
    {"--ignore-eos", NULL, NULL, "go on after an end-of-text token", 0, FLAG, GENERATE, AT(ignore_eos), 0, 0},
    {"--no-echo", NULL, NULL, "leave the prompt out of the output", 0, FLAG, GENERATE, AT(no_echo), 0, 0},
    {"--mode", NULL, "MODE", "generate (chat is not built yet)", 'm', STRING, GENERATE, AT(mode), 0, 0},
    {"--system", NULL, "TEXT", "system prompt, for chat only", 'y', STRING, GENERATE, AT(system), 0, 0},
    {"--ids", NULL, "1,15,7", "the ids to evaluate, exactly these", 0, STRING, LOGITS, AT(ids), 0, 0},
    {"--type-ids", NULL, "0,0,1", "RoFormer: the segment of each id (all 0)", 0, STRING, LOGITS, AT(type_ids), 0, 0},
    {"--attention-mask", NULL, "1,1,0", "RoFormer: 0 where an id is padding, which no other sees (all 1)", 0, STRING, LOGITS, AT(attention_mask), 0, 0},
    {"--top-k", NULL, "K", "candidates for each mask (5)", 0, INTEGER, FILL, AT(candidates), 1, 1e6},
    {"--pooling", NULL, "HOW", "cls, mean (of all tokens), or pooler (the file's pooler, else mean)", 0, STRING, EMBED, AT(pooling), 0, 0},
    {"--normalize", NULL, NULL, "vectors of length 1", 0, FLAG, EMBED, AT(normalize), 0, 0},
    {"--pair", NULL, NULL, "each line is two texts with a tab between: print the cosine of their vectors", 0, FLAG, EMBED, AT(pair), 0, 0},
    {"--all", NULL, NULL, "a line of logits for every id, not only the last (longrope: all as in one call of this length)", 0, FLAG, LOGITS, AT(all), 0, 0},
    {"--ids", NULL, NULL, "print ids on one line (the default)", 0, FLAG, TOKENIZE, AT(want_ids), 0, 0},
    {"--pieces", NULL, NULL, "print pieces, one a line", 0, FLAG, TOKENIZE, AT(pieces), 0, 0},
    {"--no-bos", NULL, NULL, "the text's own ids, nothing added before or after", 0, FLAG, TOKENIZE, AT(no_bos), 0, 0},
    {"--special", NULL, NULL, "special tokens written in the text count as such", 0, FLAG, GENERATE | TOKENIZE, AT(special), 0, 0},
    {"--separator", NULL, "LINE", "the file is documents between lines that hold exactly LINE", 0, STRING, PERPLEXITY, AT(separator), 0, 0},
    {"--contexts", NULL, "0,1024", "decode after so many positions; none: not at all (0,1024,4096 .. as far as -c or the model goes)", 0, STRING, BENCH, AT(contexts), 0, 0},
    {"--prompts", NULL, "128,512", "read prompts of these lengths; none: not at all (128,512,2048)", 0, STRING, BENCH, AT(prompts), 0, 0},
    {"--runs", NULL, "N", "runs of each line (5, fewer where they take long)", 0, INTEGER, BENCH, AT(runs), 1, BENCH_MOST_RUNS},
    {"--csv", NULL, NULL, "print a table with commas", 0, FLAG, BENCH, AT(csv), 0, 0},
    {"--tokenizer", NULL, "FILE", "tokenizer.model, tokenizer.bin, vocab.txt or a folder with one", 'z', STRING, TEXTS, AT(tokenizer), 0, 0},
    {"--jieba", NULL, "DICT", "WordPiece: jieba's dictionary, by which text is cut into words (dict.txt beside the model)", 0, STRING, TEXTS, AT(jieba), 0, 0},
    {"--bert4keras", NULL, NULL, "WordPiece: bert4keras' order of steps, not transformers'", 0, FLAG, TEXTS, AT(bert4keras), 0, 0},
    {"--context", "--ctx-size", "N", "positions to make room for; may go beyond the trained ones", 'c', INTEGER, MODELS, AT(context), 1, 1e15},
    {"--threads", NULL, "N", "threads (all processors)", 'j', INTEGER, MODELS, AT(threads), 1, 1024},
    {"--kv", NULL, "TYPE", "what keys and values are kept as: f32, f16, q8_0 or auto: f16 for larger decoders of 16 bits or fewer a weight (auto; logits: f32)", 0, STRING, MODELS, AT(kv), 0, 0},
    {"--kernels", NULL, "NAME", "a row of the arithmetic (the fastest that runs here):", 0, STRING, MODELS, AT(kernels), 0, 0},
    {"--rope", NULL, "METHOD", "a scaling method (the file's):", 0, STRING, MODELS, AT(rope), 0, 0},
    {"--rope-theta", NULL, "B", "base of the frequencies (the file's)", 0, NUMBER, MODELS, AT(rope_theta), 1e-6, 1e30},
    {"--rope-factor", NULL, "S", "how many times longer than trained", 0, NUMBER, MODELS, AT(rope_factor), 1, 1e9},
    {"--rope-original-context", NULL, "N", "the length trained on (the file's)", 0, INTEGER, MODELS, AT(rope_original), 1, 1e15},
    {"--attention", NULL, "KIND", "softmax or linear (the file's); linear: RoFormer eq. 19, memory does not grow", 0, STRING, MODELS, AT(attention), 0, 0},
    {"--phi", NULL, "MAP", "linear attention's feature map (the file's, or elu+1):", 0, STRING, MODELS, AT(phi), 0, 0},
    {"--form", NULL, "FORM", "where its rotation goes (the file's, or numerator; cosine forms take --phi identity only):", 0, STRING, MODELS, AT(form), 0, 0},
    {"--epsilon", NULL, "E", "added to its denominators (the file's, or 1e-6)", 0, NUMBER, MODELS, AT(epsilon), 0, 0.999},
    {"--favor-features", NULL, "R", "favor+: random features a head (the file's, or 128)", 0, INTEGER, MODELS, AT(favor_features), 2, 1024},
    {"--favor-seed", NULL, "S", "favor+: which random features (the file's, or 1)", 0, INTEGER, MODELS, AT(favor_seed), 0, 9e15},
    {"--arch", NULL, "KIND", "RoFormer: v1, v2 or gau-alpha (as the tensors say)", 0, STRING, MODELS, AT(arch), 0, 0},
    {"--mask", NULL, "MASK", "RoFormer: padding, causal or unilm (the file's)", 0, STRING, MODELS, AT(mask), 0, 0},
    {"--pooler", NULL, "KIND", "RoFormer: tanh, linear or none (the file's)", 0, STRING, MODELS, AT(pooler), 0, 0},
    {"--chunk", NULL, "C", "linear attention: read in chunks of C tokens, to compare; 0 is one by one (0)", 0, INTEGER, MODELS, AT(chunk), 0, 4096},
    {"--save-state", NULL, "FILE", "keep what was read in FILE: the prompt need not be read again", 0, STRING, GENERATE | LOGITS, AT(save_state), 0, 0},
    {"--load-state", NULL, "FILE", "go on from a saved state; -i is then how the text goes on", 0, STRING, GENERATE | LOGITS, AT(load_state), 0, 0},
    {"--json", NULL, NULL, "print a JSON object; for lines of text one a line", 0, FLAG, ALL & ~TOKENIZE, AT(json), 0, 0},
    {"--quiet", NULL, NULL, "no timings, no progress", 'q', FLAG, ALL, AT(quiet), 0, 0},
    {"--verbose", NULL, NULL, "say what was opened", 'v', FLAG, ALL, AT(verbose), 0, 0},
    {"--version", NULL, NULL, "version and kernels", 0, FLAG, ALL, AT(version), 0, 0},
    {"--help", NULL, NULL, "this help", 'h', FLAG, ALL, AT(help), 0, 0},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

typedef struct {
    const char *name, *usage, *summary, *examples;
    int bit;
    int (*run)(Args *a);
} Command;

static int run_generate(Args *a), run_logits(Args *a), run_tokenize(Args *a), run_perplexity(Args *a), run_fill(Args *a), run_embed(Args *a),
    run_classify(Args *a), run_bench(Args *a);

static const Command commands[] = {
    {"generate", "[MODEL] [options]", "write text; the default command",
     "  ./run                                        a story from the compiled-in model\n"
     "  ./run -i \"Lily found a key\" -t 0.8 -s 42     the same text each time\n"
     "  ./run model/tales-1m.gguf -i \"Once upon a time\" -n 200\n"
     "  ./run folder-from-hugging-face -f prompt.txt --max-tokens 100 --stop \"The end\"\n"
     "  ./run stories15M.bin -z tokenizer.bin -t 0\n",
     GENERATE, run_generate},
    {"logits", "MODEL --ids 1,15,7 [--all]", "print what the model expects next, for comparing with other software",
     "  ./run logits model.gguf --ids 1,403,407\n"
     "  ./run logits folder --ids 1,403,407 --all --json\n",
     LOGITS, run_logits},
    {"tokenize", "MODEL|TOKENIZER [TEXT | -f FILE]", "print the ids of a text (from stdin where none is given)",
     "  ./run tokenize model.gguf \"Hello world\"\n"
     "  ./run tokenize tokenizer.model -f book.txt --no-bos\n"
     "  echo -n \"Hello\" | ./run tokenize tokenizer.bin --pieces\n",
     TOKENIZE, run_tokenize},
    {"perplexity", "MODEL -f FILE [--separator LINE]", "how well the model foresees a text",
     "  ./run perplexity model.gguf -f book.txt\n"
     "  ./run perplexity model.gguf -f stories.txt --separator \"<|endoftext|>\" --json\n",
     PERPLEXITY, run_perplexity},
    {"fill", "MODEL [TEXT | -f FILE]", "what stands at each [MASK]; a line is a text (RoFormer)",
     "  ./run fill chinese_roformer.gguf \"今天[MASK]很好，我[MASK]去公园玩。\"\n"
     "  ./run fill folder --jieba dict.txt --top-k 10 --json < texts\n",
     FILL, run_fill},
    {"embed", "MODEL [TEXT | -f FILE]", "a vector for each line (RoFormer)",
     "  ./run embed roformer-sim.gguf --normalize < sentences > vectors\n"
     "  printf '今天天气好\\t今天天气不错\\n' | ./run embed roformer-sim.gguf --pair\n",
     EMBED, run_embed},
    {"classify", "MODEL [TEXT | -f FILE]", "the labels of each line, or of each of its tokens (RoFormer)",
     "  ./run classify folder \"这部电影很好看\"\n"
     "  ./run classify folder --json < reviews\n",
     CLASSIFY, run_classify},
    {"bench", "[MODEL] [options]", "how fast the model is here, beside what this machine can do at most",
     "  ./run bench                                  the compiled-in model\n"
     "  ./run bench model.gguf -j 2\n"
     "  ./run bench model.gguf -c 16384 --prompts 512 --json\n"
     "  ./run bench model.gguf --contexts 0 --prompts none --runs 9 --csv > speed.csv\n"
     "\nWhat the columns say:\n"
     "  tok/s    the median of the runs, and the slowest and the fastest\n"
     "  MB/tok   bytes of matrices, keys and values that a token reads; a prompt reads all once, so a token reads its part\n"
     "  GB/s     that times tok/s\n"
     "  Gop/s    multiplications and additions: two for each weight, and attention's own; a prompt's output only for its last token\n"
     "  limit    tok/s with memory at its best rate and arithmetic at its peak, as measured between the runs, whichever takes longer\n"
     "  share    tok/s of limit\n"
     "  load     from opening the file, which has been read before, to the logits after a token; without the tokenizer\n",
     BENCH, run_bench},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

/* ---- saying things ---- */

static double started;                      /* when the program began */
static volatile sig_atomic_t interrupted;   /* Ctrl-C was pressed */
static int quiet;
static const char *command_name = ""; /* the command's name as it was given, for what an error points to */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *fmt, ...) BASE_PRINTF(1, 2);
static int fail(const char *fmt, ...) {
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    base_verror(line, sizeof line, 0, fmt, ap); /* one line, no control characters, whatever a name holds */
    va_end(ap);
    fprintf(stderr, "run: %s\n", line);
    return EXIT_FAILED;
}

static int usage(const char *fmt, ...) BASE_PRINTF(1, 2);
static int usage(const char *fmt, ...) {
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    base_verror(line, sizeof line, 0, fmt, ap);
    va_end(ap);
    fprintf(stderr, "run: %s; ./run %s%s--help shows what there is\n", line, command_name, *command_name ? " " : "");
    return EXIT_USAGE;
}

static void note(const char *fmt, ...) BASE_PRINTF(1, 2);
static void note(const char *fmt, ...) {
    if (quiet) return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* A line on stderr that is drawn over, from two seconds on, on a terminal only. */
typedef struct {
    const char *what;
    double start, drawn;
    int on_screen;
} Progress;

static void progress_show(Progress *p, size_t done, size_t total) {
    double t = now();
    if (quiet || !isatty(2) || t - p->start < 2 || t - p->drawn < 0.2 || done == 0) return;
    p->drawn = t;
    p->on_screen = 1;
    fprintf(stderr, "\r%s: %zu of %zu tokens, %.0f s to go \033[K", p->what, done, total,
            (t - p->start) / (double)done * (double)(total - done));
}

static void progress_clear(Progress *p) {
    if (p->on_screen) fputs("\r\033[K", stderr);
    p->on_screen = 0;
}

static int on_progress(void *arg, size_t done, size_t total) {
    progress_show(arg, done, total);
    return interrupted;
}

/* Anything written to stdout goes through here. A reader that has gone away (EPIPE) is no error: there is just nobody left. */
typedef struct {
    int terminal; /* control characters of the model's text are not for a terminal */
    int gone;     /* EPIPE */
    int broken;   /* errno of any other failure */
} Out;

static Out out;

static void out_check(int bad) {
    if (!bad || out.gone || out.broken) return;
    if (errno == EPIPE) out.gone = 1;
    else out.broken = errno ? errno : EIO;
}

static void out_bytes(const char *s, size_t n) {
    if (n && !out.gone && !out.broken) out_check(fwrite(s, 1, n, stdout) != n);
}

static void out_flush(void) {
    if (!out.gone && !out.broken) out_check(fflush(stdout) != 0);
}

/* Text of the model, in whole characters: to a terminal without C0 (but newline and tab), DEL and C1. */
static void out_text(const char *s, size_t n) {
    for (size_t i = 0, start = 0; out.terminal && i <= n; i++) {
        unsigned char c = i < n ? (unsigned char)s[i] : 0, next = i + 1 < n ? (unsigned char)s[i + 1] : 0;
        int c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
        if (i < n && !c1 && c != 0x7f && (c >= 0x20 || c == '\n' || c == '\t')) continue;
        out_bytes(s + start, i - start);
        i += (size_t)c1;
        start = i + 1;
    }
    if (!out.terminal) out_bytes(s, n);
}

static int out_end(int code) {
    out_flush();
    if (!out.broken) return code;
    return fail("cannot write the output: %s", strerror(out.broken));
}

static void out_printf(const char *fmt, ...) BASE_PRINTF(1, 2);
static void out_printf(const char *fmt, ...) {
    if (out.gone || out.broken) return;
    va_list ap;
    va_start(ap, fmt);
    out_check(vfprintf(stdout, fmt, ap) < 0);
    va_end(ap);
}

static void json_string(const char *s, size_t n) {
    out_bytes("\"", 1);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = utf8_decode(s + i, n - i, &cp);
        if (len == 0) out_printf("\\ufffd");
        else if (cp < 0x20 || cp == 0x7f) out_printf("\\u%04x", (unsigned)cp);
        else if (cp == '"' || cp == '\\') out_printf("\\%c", (int)cp);
        else out_bytes(s + i, (size_t)len);
        i += len ? (size_t)len : 1;
    }
    out_bytes("\"", 1);
}

/* JSON has no word for what is no number. */
static void json_number(double v) { out_printf(isfinite(v) ? "%.9g" : "null", v); }

static void json_ids(const char *key, const int *ids, size_t n) {
    out_printf("\"%s\":[", key);
    for (size_t i = 0; i < n; i++) out_printf("%s%d", i ? "," : "", ids[i]);
    out_printf("],");
}

/* ---- reading the command line ---- */

static int parse_value(Args *a, const Option *o, const char *shown, const char *value) {
    char *field = (char *)a + o->offset, *end;
    errno = 0;
    if (o->kind == STRING) {
        if (!*value && (o->offset == AT(save_state) || o->offset == AT(load_state))) return usage("%s: the name of the file is empty", shown);
        *(const char **)(void *)field = value;
    } else if (o->kind == STRINGS) {
        if (a->n_stop == (int)(sizeof a->stop / sizeof *a->stop)) return usage("%s can be given 16 times", shown);
        if (*value == 0) return usage("%s: the text is empty", shown);
        a->stop[a->n_stop++] = value;
    } else if (o->kind == INTEGER) {
        long long v = strtoll(value, &end, 10);
        if (end == value || *end) return usage("%s: \"%s\" is not a whole number", shown, value);
        if (o->offset == AT(n) && v == -1) return usage("%s: -1 is out of range; 0 goes to the context's end", shown);
        if (errno || (double)v < o->min || (double)v > o->max)
            return usage("%s: %s is out of range (%.0f to %.0f)", shown, value, o->min, o->max);
        *(long long *)(void *)field = v;
    } else {
        double v = strtod(value, &end);
        if (end == value || *end || !isfinite(v))
            return usage("%s: \"%s\" is not a number%s", shown, value, o->offset == AT(top_p) ? " (-p is top-p; the prompt is -i)" : "");
        if (v < o->min || v > o->max) return usage("%s: %s is out of range (%g to %g)", shown, value, o->min, o->max);
        *(double *)(void *)field = v;
    }
    if (o->offset == AT(n)) a->n_given = 1;
    if (o->offset == AT(max_tokens)) a->max_given = 1;
    if (o->offset == AT(seed)) a->seed_given = 1;
    if (o->offset == AT(epsilon)) a->epsilon_given = 1;
    if (o->offset == AT(favor_seed)) a->favor_seed_given = 1;
    return 0;
}

static const Option *find_option(const char *word, size_t len, int command) {
    for (int i = 0; i < N_OPTIONS; i++) {
        const Option *o = &options[i];
        if (!(o->commands & command)) continue;
        if (strlen(o->name) == len && memcmp(o->name, word, len) == 0) return o;
        if (o->alias && strlen(o->alias) == len && memcmp(o->alias, word, len) == 0) return o;
        if (len == 2 && o->letter && word[0] == '-' && word[1] == o->letter) return o;
    }
    return NULL;
}

/* Options may stand anywhere; --name VALUE and --name=VALUE; after -- everything is positional. */
static int parse(Args *a, int argc, char **argv, const Command *cmd) {
    int only_words = 0;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *eq = strchr(word, '=');
        if (only_words || word[0] != '-' || word[1] == 0) {
            if (!a->model) a->model = word;
            else if (!a->text && cmd->bit & (TOKENIZE | ENCODERS)) a->text = word;
            else return usage("\"%s\" is one word too many", word);
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = 1;
            continue;
        }
        int joined = word[1] == '-' && eq != NULL;
        const Option *o = find_option(word, joined ? (size_t)(eq - word) : strlen(word), cmd->bit);
        if (!o && word[1] != '-' && (o = find_option(word, 2, cmd->bit)) && o->kind != FLAG) { /* -n5 */
            int rc = parse_value(a, o, o->name, word + 2);
            if (rc) return rc;
            continue;
        }
        if (word[1] != '-' && strlen(word) > 2) o = NULL; /* flags are not run together */
        if (!o) return usage("%s is not an option of %s", word, cmd->name);
        if (o->kind == FLAG) {
            if (joined) return usage("%s takes no value", o->name);
            *(int *)(void *)((char *)a + o->offset) = 1;
            continue;
        }
        if (!joined && i + 1 >= argc) return usage("%s needs a value", word);
        int rc = parse_value(a, o, joined ? o->name : word, joined ? eq + 1 : argv[++i]);
        if (rc) return rc;
    }
    return 0;
}

static void print_kernels(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++) printf(" %s", k->name);
}

static int help(const Command *cmd) {
    printf("roformer.c %s: runs LLaMA-family and RoFormer models\n\nusage: ./run %s%s%s\n", VERSION,
           cmd->bit == GENERATE ? "" : cmd->name, cmd->bit == GENERATE ? "" : " ", cmd->usage);
    printf("MODEL is a GGUF file, a Hugging Face folder (config.json + safetensors) or a llama2.c .bin file.\n\n");
    if (cmd->bit == GENERATE) {
        printf("commands (./run COMMAND --help):\n");
        for (int i = 0; i < N_COMMANDS; i++) printf("  %-12s %s\n", commands[i].name, commands[i].summary);
        putchar('\n');
    }
    printf("options:\n");
    for (int i = 0; i < N_OPTIONS; i++) {
        const Option *o = &options[i];
        if (!(o->commands & cmd->bit)) continue;
        char left[64];
        snprintf(left, sizeof left, "%c%c%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ", " : "  ",
                 o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        printf("  %-32s %s", left, o->help);
        if (o->offset == AT(kernels)) print_kernels();
        for (int r = 0; o->offset == AT(rope) && rope_scaling_row(r); r++) printf(" %s", rope_scaling_row(r)->name);
        for (int r = 0; o->offset == AT(phi) && feature_map_row(r); r++) printf(" %s", feature_map_row(r)->name);
        for (int r = 0; o->offset == AT(form) && linear_form_row(r); r++) printf(" %s", linear_form_row(r)->name);
        putchar('\n');
    }
    printf("\nexamples:\n%s", cmd->examples);
    return out_end(EXIT_DONE);
}

/* ---- files, tokenizers, models ---- */

enum { TEXT_MAX = 1 << 29 }; /* 512 MB: an endless pipe ends here, and the tokenizer takes little more */

/* All of f: 0, or an exit code after saying why. *text is malloc'ed. */
static int read_all(FILE *f, const char *name, char **text, size_t *n) {
    size_t cap = 0;
    for (;;) {
        if (*n == cap) {
            char *more = *n < TEXT_MAX ? realloc(*text, cap = cap ? 2 * cap : 65536) : NULL;
            if (!more) return fail(*n < TEXT_MAX ? "%s: out of memory for the text" : "%s: the text is longer than 512 MB", name);
            *text = more;
        }
        size_t got = fread(*text + *n, 1, cap - *n, f);
        *n += got;
        if (got == 0 && feof(f)) return 0;
        if (got == 0) return interrupted ? EXIT_INTERRUPTED : fail("%s: %s", name, strerror(errno));
    }
}

/* The whole of a file or of stdin ("-"), byte for byte. The caller frees *text. */
static int read_text(const char *path, char **text, size_t *n) {
    int from_stdin = strcmp(path, "-") == 0;
    FILE *f = from_stdin ? stdin : fopen(path, "rb");
    *text = NULL;
    *n = 0;
    if (!f) return interrupted ? EXIT_INTERRUPTED : fail("%s: %s", path, strerror(errno));
    int code = read_all(f, from_stdin ? "stdin" : path, text, n);
    if (!from_stdin) fclose(f);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

static void describe_roformer(const Model *m) {
    static const char *const classifiers[] = {"", ", sequence classifier", ", token classifier", ", replaced-token detector"};
    const RoformerConfig *f = &m->config.roformer;
    fprintf(stderr, "\n  RoFormer %s: embeddings of %d, %d token types, mask %s%s; heads:%s%s%s%s", roformer_variant_names[f->variant], f->d_embed,
            f->n_types, mask_names[m->config.mask], f->rotary_value ? ", values turn too" : "", m->encoder.has_mlm ? " language model" : "",
            f->pooler ? ", pooler " : "", f->pooler ? pooler_names[f->pooler] : "", classifiers[f->classifier]);
}

static void describe(const Model *m, const Tokenizer *t) {
    const Config *c = &m->config;
    const LinearForm *form = c->linear.form;
    int turns = !form || form->before_phi || form->in_numerator || form->in_denominator;
    fprintf(stderr, "%s: %s, %.2f M parameters, %s, %.2f MB\n", m->weights.path, c->arch, (double)m->n_parameters / 1e6,
            ((const char *const[]){"GGUF", "Hugging Face", "llama2.c"})[m->weights.format], (double)m->weights.file_bytes / 1e6);
    fprintf(stderr, "  d_model %d, d_ff %d, %d layers, %d heads of %d, %d key/value heads, vocabulary %d, trained context %lld\n",
            c->d_model, c->d_ff, c->n_layers, c->n_heads, c->head_dim, c->n_kv_heads, c->vocab_size, (long long)c->n_ctx_train);
    fprintf(stderr, "  weights %s, output %s; rope theta %g, scaling %s, %s pairs, %d of %d entries turn",
            quant_format((int)m->layers->w_up.type)->name, m->lm_head.data == m->tok_emb.data ? "tied" : "its own",
            c->rope.theta, c->rope.n_divisors ? "llama3 (rope_freqs)" : c->rope.scaling->name,
            c->rope.pairing == ROPE_HALF ? "half-split" : "interleaved", turns ? c->rope.rotary_dim : 0,
            c->linear.form && !c->linear.form->before_phi ? linear_features_n(&c->linear) : c->head_dim);
    if (c->rope.factor > 1) fprintf(stderr, ", factor %g", c->rope.factor);
    if (c->window) fprintf(stderr, "; window %lld", (long long)c->window);
    if (c->roformer.variant) describe_roformer(m);
    if (c->linear.form)
        fprintf(stderr, "\n  linear attention: form %s, phi %s, %d features a head, epsilon %g", c->linear.form->name, c->linear.phi->name,
                linear_features_n(&c->linear), c->linear.epsilon);
    fprintf(stderr, "\n  kernels %s", m->kernels->name);
    if (t) fprintf(stderr, "; tokenizer: %s, %zu pieces", tokenizer_kind(t), tokenizer_size(t));
    fputc('\n', stderr);
    for (size_t i = 0; i < m->weights.n_tensors; i++)
        if (!m->used[i]) fprintf(stderr, "  not used: tensor %s\n", m->weights.tensors[i].name);
}

/* What a command runs on; everything zeroed or open. */
typedef struct {
    Model model;
    Tokenizer *tokenizer;
    Session session;
    const float *logits; /* after the last id read, where a state was loaded, of n_loaded ids */
    size_t n_loaded;
    Progress progress;
    double load_s;
    char err[512];
} Engine;

static void engine_close(Engine *e) {
    session_free(&e->session);
    tokenizer_free(e->tokenizer);
    model_close(&e->model);
}

/* --attention and its kind: 0, or an exit code after saying why. seed is where --favor-seed goes. */
static int attention_options(AttentionOverride *o, const Args *a, uint64_t *seed) {
    int linear = a->attention && strcmp(a->attention, "linear") == 0;
    if (a->attention && !linear && strcmp(a->attention, "softmax") != 0)
        return usage("--attention: there is no kind \"%s\"; softmax and linear are known", a->attention);
    if (a->attention) o->kind = linear ? ATTENTION_LINEAR : ATTENTION_SOFTMAX;
    const char *own = a->phi ? "--phi" : a->form ? "--form" : a->epsilon_given ? "--epsilon" : a->favor_features ? "--favor-features"
                      : a->favor_seed_given ? "--favor-seed" : NULL;
    if (o->kind == ATTENTION_SOFTMAX && own) return usage("%s is for linear attention, and --attention softmax is given", own);
    if (a->phi && !(o->phi = feature_map(a->phi))) return usage("--phi: there is no feature map \"%s\"", a->phi);
    if (a->form && !(o->form = linear_form(a->form))) return usage("--form: there is no form \"%s\"", a->form);
    if (o->form && o->form->cosine && o->phi && strcmp(o->phi->name, "identity") != 0)
        return usage("--form %s takes --phi identity only", a->form);
    if (a->favor_features % 2) return usage("--favor-features: %lld is odd; RoPE turns pairs", a->favor_features);
    *seed = (uint64_t)a->favor_seed;
    if (a->epsilon_given) o->epsilon = &a->epsilon;
    if (a->favor_seed_given) o->favor_seed = seed;
    o->favor_features = (int)a->favor_features;
    return 0;
}

/* Where word stands among names, from the first on; -1 after saying why. */
static int named(const char *option, const char *word, const char *const *names, int first) {
    char known[100] = "";
    int i = name_index(names, word);
    if (i >= first) return i;
    for (i = first; names[i]; i++) snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", names[i]);
    usage("%s: there is no \"%s\"; %s are known", option, word, known);
    return -1;
}

/* --arch, --mask, --pooler: 0, or an exit code after saying why. mask, pooler are where the values go. */
static int roformer_options(RoformerOverride *o, const Args *a, Mask *mask, Pooler *pooler) {
    int variant = a->arch ? named("--arch", a->arch, roformer_variant_names, 1) : 0;
    int m = a->mask ? named("--mask", a->mask, mask_names, 0) : 0, p = a->pooler ? named("--pooler", a->pooler, pooler_names, 0) : 0;
    if (variant < 0 || m < 0 || p < 0) return EXIT_USAGE;
    *mask = (Mask)m;
    *pooler = (Pooler)p;
    *o = (RoformerOverride){.variant = (RoformerVariant)variant, .mask = a->mask ? mask : NULL, .pooler = a->pooler ? pooler : NULL};
    return 0;
}

static TokenizerOptions tokenizer_options(const Args *a) {
    return (TokenizerOptions){.jieba = a->jieba, .lower_case = -1, .bert4keras = a->bert4keras};
}

/* 0, or an exit code after saying why. */
static int engine_open(Engine *e, const Args *a, int want_tokenizer) {
    memset(e, 0, sizeof *e);
    ModelOptions o = {.threads = (int)a->threads, .config.rope = {.theta = a->rope_theta, .factor = a->rope_factor, .n_ctx_original = a->rope_original}};
    uint64_t favor_seed;
    Mask mask;
    Pooler pooler;
    TokenizerOptions to = tokenizer_options(a);
    int code = attention_options(&o.config.attention, a, &favor_seed);
    if (code == 0) code = roformer_options(&o.config.roformer, a, &mask, &pooler);
    if (code) return code;
    if (a->kernels && !(o.kernels = kernels_find(a->kernels)))
        return usage("--kernels: there is no row \"%s\" that this processor can run", a->kernels);
    if (a->rope && !(o.config.rope.scaling = rope_scaling(a->rope))) return usage("--rope: there is no method \"%s\"", a->rope);
    int rc = a->model ? model_open(&e->model, a->model, &o, e->err, sizeof e->err)
                      : model_open_memory(&e->model, builtin_model, builtin_model_size, "the compiled-in model", &o, e->err, sizeof e->err);
    if (rc == 0 && want_tokenizer)
        rc = vocabulary_open(&e->tokenizer, &e->model.weights, a->tokenizer, (size_t)e->model.config.vocab_size, &to, e->err,
                             sizeof e->err);
    if (rc) {
        engine_close(e);
        return fail("%s", e->err);
    }
    e->load_s = now() - started;
    const LinearConfig *linear = &e->model.config.linear;
    if (e->model.config.attention_changed)
        note("attention: %s%s%s%s%s, which this model was not trained with: expect worse text", linear->form ? "linear (" : "softmax",
             linear->form ? linear->form->name : "", linear->form ? ", " : "", linear->form ? linear->phi->name : "", linear->form ? ")" : "");
    if (a->verbose) describe(&e->model, e->tokenizer);
    return 0;
}

/* Before anything is read: will --save-state be able to write? What is there and is no state stays. An exit code. */
static int check_save(const Args *a, const Model *m, char *err, size_t errlen) {
    NewFile f;
    size_t ids;
    if (!a->save_state) return 0;
    if (m->config.mask == MASK_PADDING) return fail("--save-state: this model reads texts whole (mask padding), so there is no state to go on from");
    if (newfile_open(&f, a->save_state, err, errlen)) return fail("%s", err);
    newfile_close(&f, 0, err, errlen);
    if (file_exists(a->save_state) && session_saved_ids(a->save_state, &ids, NULL, err, errlen))
        return fail("--save-state: %s is there and is not a saved state; it stays as it is", a->save_state);
    return 0;
}

/* What --kv says, where it says something: *cache is what it would be otherwise. 0, or an exit code after saying why. */
static int cache_option(CacheType *cache, const Args *a, const Model *m) {
    if (a->kv && m->config.linear.form) return usage("--kv is for softmax attention; linear attention keeps a state and no cache");
    if (a->kv && strcmp(a->kv, "auto") == 0 && !a->load_state) *cache = session_usual_cache(m);
    if (!a->kv || strcmp(a->kv, "auto") == 0) return 0;
    int i = name_index(cache_type_names, a->kv);
    if (i < 0) return usage("--kv: there is no \"%s\"; f32, f16, q8_0 and auto are known", a->kv);
    *cache = (CacheType)i;
    return 0;
}

/* A session with room for -c positions, else for those wanted, at most the trained ones; where a state is loaded, for its
 * ids too. Linear attention takes no room. An exit code; e stays open. */
static int engine_session(Engine *e, const Args *a, size_t wanted, size_t n_logits) {
    size_t trained = (size_t)e->model.config.n_ctx_train, saved = 0;
    int linear = e->model.config.linear.form != NULL, endless = linear && e->model.config.mask == MASK_CAUSAL;
    int code = check_save(a, &e->model, e->err, sizeof e->err);
    if (code) return code;
    CacheType cache = a->exact ? CACHE_F32 : session_usual_cache(&e->model);
    if (a->load_state && session_saved_ids(a->load_state, &saved, &cache, e->err, sizeof e->err)) return fail("%s", e->err);
    if ((code = cache_option(&cache, a, &e->model))) return code;
    if (wanted < SIZE_MAX - saved) wanted += saved;
    size_t n_ctx = a->context ? (size_t)a->context : wanted < trained ? wanted : trained;
    if (a->context && endless) note("-c: linear attention has no context to fill, so it ends nothing");
    if (n_ctx > trained && !endless)
        note("context %zu goes beyond the %zu positions this model was trained on; --rope can stretch it", n_ctx, trained);
    e->progress = (Progress){.what = "reading", .start = now()};
    SessionOptions o = {.n_ctx = n_ctx ? n_ctx : 1,
                        .threads = (int)a->threads,
                        .chunk = (size_t)a->chunk,
                        .cache = cache,
                        .n_logits = n_logits,
                        .progress = on_progress,
                        .progress_arg = &e->progress};
    if (e->model.config.roformer.variant) o.n_batch = o.n_ctx; /* encoder_read takes a text whole */
    if (a->chunk && !linear) return usage("--chunk is for linear attention; this model's is softmax");
    if (session_init(&e->session, &e->model, &o, e->err, sizeof e->err)) return fail("%s", e->err);
    if (a->verbose && endless)
        fprintf(stderr, "  context without end, chunks of %zu, %d threads, %.1f MB of memory beside the file\n",
                e->session.options.chunk ? e->session.options.chunk : 1, e->session.options.threads, (double)(session_bytes(&e->session) + e->model.panels_size) / 1e6);
    else if (a->verbose)
        fprintf(stderr, "  context %zu%s%s, %d threads, %.1f MB of memory beside the file\n", n_ctx, linear ? "" : ", keys and values as ",
                linear ? "" : cache_type_names[cache], e->session.options.threads, (double)(session_bytes(&e->session) + e->model.panels_size) / 1e6);
    if (a->load_state && session_load(&e->session, a->load_state, &e->logits, e->err, sizeof e->err)) return fail("%s", e->err);
    if (a->load_state && a->verbose) fprintf(stderr, "  state of %zu ids from %s\n", e->session.pos, a->load_state);
    e->n_loaded = e->session.pos;
    return 0;
}

/* Save what was read where --save-state asks; an exit code. */
static int save_state(Engine *e, const Args *a) {
    if (!a->save_state) return 0;
    if (session_save(&e->session, a->save_state, e->err, sizeof e->err)) return fail("%s", e->err);
    note("state of %zu ids saved to %s", e->session.pos, a->save_state);
    return 0;
}

/* ---- generate ---- */

typedef struct {
    Engine e;
    Sampler sampler;
    TokenStream stream;
    char *piece;            /* room for what one id decodes to */
    char *text;             /* the output so far: what stdout gets */
    size_t n_text, cap_text;
    size_t n_out;           /* bytes of it already written; the rest may be the start of a stop string */
    size_t n_prompt_text;   /* bytes of it that are the prompt's */
    int *ids;               /* [n_ids]: prompt, then new ids; without --json old ones may be dropped (keep_id) */
    size_t n_ids, n_prompt, n_new, room;
    const char *stop;       /* why the text ended */
    int saved;              /* the prompt was read to its end, and --save-state has its state */
    double prompt_s, first_token_s, generation_s;
} Generation;

static void generation_close(Generation *g) {
    engine_close(&g->e);
    sampler_free(&g->sampler);
    free(g->piece);
    free(g->text);
    free(g->ids);
}

/* -1 where memory is out. */
static int add_text(Generation *g, const char *s, size_t n) {
    if (g->n_text + n >= g->cap_text) {
        size_t cap = 2 * (g->n_text + n) + 256;
        char *more = realloc(g->text, cap);
        if (!more) return -1;
        g->text = more;
        g->cap_text = cap;
    }
    memcpy(g->text + g->n_text, s, n);
    g->n_text += n;
    return 0;
}

/* Where needle first stands in text[from .. n-1], or n. */
static size_t find_bytes(const char *text, size_t from, size_t n, const char *needle) {
    size_t len = strlen(needle);
    for (size_t at = from; at + len <= n; at++)
        if (memcmp(text + at, needle, len) == 0) return at;
    return n;
}

/* Write what is known to stay. Where a stop string has come, the text is cut before the first one, and the result is 1.
 * Otherwise an end of the text that may begin one is held back, unless this is the last call. */
static int write_text(Generation *g, const Args *a, int last) {
    size_t from = g->n_out, cut = g->n_text;
    for (int i = 0; i < a->n_stop; i++) {
        size_t at = find_bytes(g->text, from, g->n_text, a->stop[i]);
        if (at < cut) cut = at;
    }
    int stopped = cut < g->n_text;
    g->n_text = cut;
    for (int i = 0; i < a->n_stop && !stopped && !last; i++) {
        size_t len = strlen(a->stop[i]);
        for (size_t at = g->n_text > from + len - 1 ? g->n_text - (len - 1) : from; at < cut; at++)
            if (memcmp(g->text + at, a->stop[i], g->n_text - at) == 0) cut = at;
    }
    if (!a->json) {
        out_text(g->text + from, cut - from);
        out_flush();
    }
    g->n_out = cut;
    if (!a->json) { /* what is written is not needed any more: a text without end takes no memory */
        memmove(g->text, g->text + cut, g->n_text - cut);
        g->n_text -= cut;
        g->n_out = 0;
    }
    return stopped;
}

/* One more id. The penalties look back on the last penalty_window of them; only JSON wants them all. -1 where memory is out. */
static int keep_id(Generation *g, const Args *a, int id) {
    size_t recent = (size_t)a->penalty_window;
    if (g->n_ids == g->room && !a->json && g->n_ids >= 2 * recent) {
        memmove(g->ids, g->ids + g->n_ids - recent, recent * sizeof *g->ids);
        g->n_ids = recent;
    }
    if (g->n_ids == g->room) {
        int *more = realloc(g->ids, (2 * g->room + 64) * sizeof *more);
        if (!more) return -1;
        g->ids = more;
        g->room = 2 * g->room + 64;
    }
    g->ids[g->n_ids++] = id;
    return 0;
}

static int is_end(const Generation *g, int id) {
    const Config *c = &g->e.model.config;
    if (id == c->bos_id || (g->e.model.weights.format != FORMAT_LLAMA2C &&
                            (id == tokenizer_eos(g->e.tokenizer) || id == tokenizer_bos(g->e.tokenizer))))
        return 1;
    for (int i = 0; i < c->n_eos; i++)
        if (id == c->eos_id[i]) return 1;
    return 0;
}

/* New tokens a second; the first came with the prompt. */
static double generation_rate(const Generation *g) {
    return g->n_new > 1 ? (double)(g->n_new - 1) / fmax(g->generation_s, 1e-9) : 0;
}

static void report(const Generation *g, const Args *a) {
    const Session *s = &g->e.session;
    if (strcmp(g->stop, "context") == 0) note("the context of %zu positions is used up; -c makes room for more", s->options.n_ctx);
    if (g->prompt_s == 0 && g->n_prompt) /* nothing was asked of the model */
        note("nothing new: the prompt's %zu tokens are all that -n or --max-tokens allows; a larger one goes on", g->n_prompt);
    if (g->prompt_s == 0) return;
    if (a->save_state && !g->saved) note("interrupted before the prompt was read: no state was saved");
    size_t n_read = s->pos - g->e.n_loaded < g->n_prompt ? s->pos - g->e.n_loaded : g->n_prompt;
    char speed[64] = "";
    if (g->n_new > 1) snprintf(speed, sizeof speed, " at %.1f tok/s", generation_rate(g));
    note("%zu prompt token%s in %.3f s (%.1f tok/s), first token after %.3f s, %zu new token%s%s; seed %lld", n_read, n_read == 1 ? "" : "s",
         g->prompt_s, (double)n_read / g->prompt_s, g->first_token_s, g->n_new, g->n_new == 1 ? "" : "s", speed, a->seed);
}

static void report_json(const Generation *g) {
    out_printf("{");
    json_ids("prompt_tokens", g->ids, g->n_prompt);
    json_ids("tokens", g->ids + g->n_prompt, g->n_new);
    out_printf("\"text\":");
    json_string(g->text, g->n_text);
    out_printf(
        ",\"stop\":\"%s\",\"timings\":{\"load_s\":%.6f,\"prompt_s\":%.6f,\"prompt_tokens_per_s\":%.3f,\"first_token_s\":%.6f,\"generation_s\":%.6f,\"generation_tokens_per_s\":%.3f}}\n",
        g->stop, g->e.load_s, g->prompt_s, g->prompt_s > 0 ? (double)g->n_prompt / g->prompt_s : 0, g->first_token_s,
        g->generation_s, generation_rate(g));
}

/* The prompt's ids, BOS in front; its text goes out first unless --no-echo. An exit code. */
static int read_prompt(Generation *g, const Args *a) {
    size_t len = a->prompt ? strlen(a->prompt) : 0;
    char *file = NULL;
    if (a->prompt && a->file) return usage("-i and -f both give a prompt; one is enough");
    int code = a->file ? read_text(a->file, &file, &len) : 0;
    if (code) return code;
    const char *text = file ? file : a->prompt ? a->prompt : "";
    Tokenizer *t = g->e.tokenizer;
    int *ids = NULL, bos = tokenizer_bos(t) >= 0 ? tokenizer_bos(t) : g->e.model.config.bos_id;
    int flags = (a->load_state ? ENCODE_CONTINUE : ENCODE_BOS) | (a->special ? ENCODE_SPECIAL : 0);
    int source = g->e.model.config.mask == MASK_UNILM; /* the prompt is a text of its own, what comes is another one */
    if (source && !a->load_state) flags |= ENCODE_EOS;
    int rc = tokenizer_encode(t, text, len, flags, &ids, &g->n_prompt, g->e.err, sizeof g->e.err);
    if (rc == 0 && !a->no_echo && !source && add_text(g, text, len)) rc = base_error(g->e.err, sizeof g->e.err, -ENOMEM, "out of memory");
    if (rc == 0 && g->n_prompt == 0 && bos < 0 && !a->load_state)
        rc = base_error(g->e.err, sizeof g->e.err, -EINVAL, "this model has no token to begin a text with; give a prompt (-i)");
    if (rc == 0 && g->n_prompt == 0 && !a->load_state) ids[0] = bos, g->n_prompt = 1; /* encode always leaves room for one */
    g->ids = ids;
    g->n_prompt_text = g->n_text;
    g->stream.tight = 1; /* WordPiece's spaces are not Chinese text's */
    g->stream.begun = (len > 0 && !source) || a->load_state; /* after a prompt, a leading space is the text's own */
    free(file);
    return rc ? fail("%s", g->e.err) : 0;
}

/* How many new tokens -n and --max-tokens allow: -n counts positions, and the last new token takes none. */
static size_t new_tokens(const Generation *g, const Args *a) {
    size_t most = (size_t)a->max_tokens, P = g->n_prompt;
    if (a->max_given && !a->n_given) return most;
    size_t by_n = a->n == 0 ? SIZE_MAX : (size_t)a->n + 1 > P ? (size_t)a->n + 1 - P : 0;
    return a->max_given && most < by_n ? most : by_n;
}

/* The prompt into the session. Under the UniLM mask it is the first segment, read whole. A negative errno, and a line in e->err. */
static int eval_prompt(Engine *e, const Args *a, const int *ids, size_t n, const float **logits) {
    Session *s = &e->session;
    if (e->model.config.mask != MASK_UNILM || a->load_state) return session_eval(s, ids, n, logits, e->err, sizeof e->err);
    EncoderText text = {.ids = ids, .n = n};
    if (!model_has_logits(&e->model)) return base_error(e->err, sizeof e->err, -EINVAL, "this model has no head for logits");
    int rc = encoder_read(s, &text, 1, e->err, sizeof e->err);
    if (rc == 0) *logits = encoder_logits(s, n - 1);
    return rc;
}

/* Evaluate and draw until something ends the text. An exit code. */
static int generate(Generation *g, const Args *a) {
    Session *s = &g->e.session;
    const float *logits;
    size_t limit = new_tokens(g, a), n_ctx = s->options.n_ctx;
    g->stop = "length";
    if (limit == 0 && !a->save_state) return 0;
    double t0 = now(), t1 = 0;
    logits = g->e.logits; /* of a loaded state that nothing is added to */
    int rc = g->n_prompt || !logits ? eval_prompt(&g->e, a, g->ids, g->n_prompt, &logits) : 0;
    progress_clear(&g->e.progress);
    g->prompt_s = now() - t0;
    if (rc == 0 && save_state(&g->e, a)) return EXIT_FAILED;
    g->saved = rc == 0;
    while (rc == 0 && limit) {
        int id = sampler_next(&g->sampler, logits, g->ids, g->n_ids);
        t1 = now();
        if (g->n_new == 0) g->first_token_s = t1 - started, t0 = t1;
        g->generation_s = t1 - t0;
        if (is_end(g, id) && !a->ignore_eos) {
            g->stop = id == tokenizer_bos(g->e.tokenizer) || id == g->e.model.config.bos_id ? "bos" : "eos";
            break;
        }
        if (keep_id(g, a, id)) return fail("out of memory");
        g->n_new++;
        if (add_text(g, g->piece, tokenizer_decode(g->e.tokenizer, &g->stream, id, g->piece))) return fail("out of memory");
        if (write_text(g, a, 0)) g->stop = "stop";
        else if (interrupted) g->stop = "interrupt";
        else if (g->n_new == limit) g->stop = "length";
        else if (s->pos == n_ctx) g->stop = "context";
        else if (!out.gone && !out.broken) {
            rc = session_eval(s, &id, 1, &logits, g->e.err, sizeof g->e.err);
            continue;
        }
        break;
    }
    if (rc == -EINTR) g->stop = "interrupt";
    else if (rc) return fail("%s", g->e.err);
    if (strcmp(g->stop, "stop") != 0) { /* the end of the text: nothing is held back any more */
        if (add_text(g, g->piece, tokenizer_decode_end(g->e.tokenizer, &g->stream, g->piece))) return fail("out of memory");
        if (write_text(g, a, 1)) g->stop = "stop";
    }
    return 0;
}

static int run_generate(Args *a) {
    Generation g = {0};
    if (a->mode && file_exists(a->mode)) return usage("-m is llama2.c's mode; the model is the first word: ./run %s", a->mode);
    if (a->mode && strcmp(a->mode, "generate") != 0) return usage("-m %s: only generate is built yet", a->mode);
    if (a->system) return usage("-y: a system prompt is for chat, which is not built yet");
    int code = engine_open(&g.e, a, 1);
    if (code) return code;
    if (g.e.model.config.mask == MASK_PADDING) {
        code = fail("%s: this RoFormer reads texts whole (mask padding); ask it with ./run fill, embed or classify, or let --mask causal write",
                    a->model);
        goto done;
    }
    if ((code = read_prompt(&g, a))) goto done;
    size_t limit = new_tokens(&g, a), wanted = g.n_prompt + (limit ? limit - 1 : 0);
    if (limit > SIZE_MAX / 2) wanted = SIZE_MAX;
    size_t trained = (size_t)g.e.model.config.n_ctx_train, most = a->context ? (size_t)a->context : trained;
    if ((limit || a->save_state) && g.n_prompt > most && !g.e.model.config.linear.form) {
        code = fail("the prompt's %zu tokens do not fit the context of %zu; -c makes room for more", g.n_prompt, most);
        goto done;
    }
    if ((code = engine_session(&g.e, a, limit ? wanted : g.n_prompt, 1))) goto done;
    SamplerOptions so = {.temperature = (float)a->temperature,
                         .top_p = (float)a->top_p,
                         .top_k = (size_t)a->top_k,
                         .min_p = (float)a->min_p,
                         .repetition_penalty = (float)a->repetition,
                         .presence_penalty = (float)a->presence,
                         .frequency_penalty = (float)a->frequency,
                         .window = (size_t)a->penalty_window,
                         .seed = (uint64_t)a->seed};
    g.piece = malloc(tokenizer_decode_bound(g.e.tokenizer));
    if (sampler_init(&g.sampler, (size_t)g.e.model.config.vocab_size, &so, g.e.err, sizeof g.e.err) || !g.piece) {
        code = fail("%s", *g.e.err ? g.e.err : "out of memory");
        goto done;
    }
    g.room = g.n_ids = g.n_prompt;
    if (!a->json) { /* the prompt is the user's own text: as it is */
        out_bytes(g.text, g.n_prompt_text);
        out_flush();
    }
    g.n_out = g.n_prompt_text;
    code = generate(&g, a);
    if (code == 0) {
        if (a->json) report_json(&g);
        else out_bytes("\n", 1);
        out_flush();
        report(&g, a);
        if (strcmp(g.stop, "interrupt") == 0) code = EXIT_INTERRUPTED;
    }
done:
    generation_close(&g);
    return out_end(code);
}

/* ---- logits ---- */

/* "1,15,7" (commas, spaces) to ids; malloc'ed, NULL after saying why. */
static int *parse_ids(const char *option, const char *s, size_t *n) {
    int *ids = malloc((strlen(s) + 1) * sizeof *ids);
    *n = 0;
    while (ids && *s) {
        char *end;
        errno = 0;
        long v = strtol(s, &end, 10);
        if (end == s || errno || v < 0 || v > 0x7fffffff || (*end && !strchr(", \n", *end))) {
            usage("%s: \"%s\" is not a list of numbers such as 1,15,7", option, s);
            free(ids);
            return NULL;
        }
        ids[(*n)++] = (int)v;
        for (s = end; *s && strchr(", \n", *s);) s++;
    }
    if (ids && *n == 0) {
        usage("%s: the list is empty", option);
        free(ids);
        ids = NULL;
    }
    return ids;
}

typedef struct {
    size_t vocab_size;
    int json, begun; /* begun: a row is out */
} LogitsPrinter;

static void print_logits(void *arg, size_t i, const float *logits) {
    LogitsPrinter *p = arg;
    p->begun = 1;
    if (p->json) out_printf(i ? ",[" : "{\"logits\":[["); /* the opening only now: an error leaves stdout empty */
    for (size_t v = 0; v < p->vocab_size; v++)
        out_printf(p->json && !isfinite(logits[v]) ? "%snull" : "%s%.9g", v == 0 ? "" : p->json ? "," : " ", (double)logits[v]);
    out_printf(p->json ? "]" : "\n");
}

/* RoFormer: the ids as one text under the model's mask. */
static int encoder_rows(Engine *e, const Args *a, const EncoderText *text, LogitsPrinter *p) {
    if (!model_has_logits(&e->model)) return base_error(e->err, sizeof e->err, -EINVAL, "this model has no head for logits");
    int rc = encoder_read(&e->session, text, 1, e->err, sizeof e->err);
    if (rc == 0) encoder_logits_each(&e->session, a->all ? 0 : text->n - 1, a->all ? text->n : 1, print_logits, p);
    return rc;
}

static int print_rows(Engine *e, const Args *a, const EncoderText *text) {
    LogitsPrinter p = {.vocab_size = (size_t)e->model.config.vocab_size, .json = a->json};
    const float *logits = NULL;
    int rc, whole = text->types || text->keep || e->model.config.mask != MASK_CAUSAL;
    if (whole && a->load_state) return usage("--load-state: these ids are read as a text of their own (mask, --type-ids, --attention-mask)");
    if (whole) rc = encoder_rows(e, a, text, &p);
    else if (a->all) rc = session_eval_each(&e->session, text->ids, text->n, print_logits, &p, e->err, sizeof e->err);
    else rc = session_eval(&e->session, text->ids, text->n, &logits, e->err, sizeof e->err);
    progress_clear(&e->progress);
    if (logits) print_logits(&p, 0, logits);
    if (a->json && p.begun) out_printf("]}\n"); /* interrupted: what there is, closed */
    return rc == -EINTR ? EXIT_INTERRUPTED : rc ? fail("%s", e->err) : save_state(e, a);
}

/* A list that stands beside --ids, of the same length: malloc'ed, NULL where s is; *code where it is wrong. */
static int *parse_beside(const char *option, const char *s, size_t n, int *code) {
    size_t count;
    int *list = s && *code == 0 ? parse_ids(option, s, &count) : NULL;
    if (s && *code == 0 && (!list || count != n)) {
        if (list) usage("%s has %zu entries, and --ids has %zu", option, count, n);
        *code = EXIT_USAGE;
    }
    return list;
}

static int run_logits(Args *a) {
    Engine e = {0};
    size_t n = 0;
    int code = 0;
    if (!a->model) return usage("logits needs a MODEL");
    if (!a->ids) return usage("logits needs --ids");
    a->exact = 1;
    int *ids = parse_ids("--ids", a->ids, &n);
    if (!ids) code = EXIT_USAGE;
    int *types = parse_beside("--type-ids", a->type_ids, n, &code), *mask = parse_beside("--attention-mask", a->attention_mask, n, &code);
    uint8_t *keep = mask && code == 0 ? malloc(n) : NULL;
    for (size_t i = 0; keep && i < n; i++) keep[i] = mask[i] != 0;
    if (code == 0 && mask && !keep) code = fail("out of memory");
    if (code == 0) code = engine_open(&e, a, 0);
    if (code == 0) code = engine_session(&e, a, n, a->all ? 8 : 1);
    if (code == 0) code = print_rows(&e, a, &(EncoderText){.ids = ids, .types = types, .keep = keep, .n = n});
    engine_close(&e);
    free(ids);
    free(types);
    free(mask);
    free(keep);
    return out_end(code);
}

/* ---- tokenize ---- */

/* A piece with what would break a line or a terminal written as an escape. */
static void print_piece(const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        int len = utf8_decode(s + i, n - i, &cp);
        if (len == 0) out_printf("\\x%02x", (unsigned)(unsigned char)s[i]);
        else if (cp == '\n') out_printf("\\n");
        else if (cp == '\t') out_printf("\\t");
        else if (cp == '\\') out_printf("\\\\");
        else if (cp < 0x20 || cp == 0x7f) out_printf("\\x%02x", (unsigned)cp);
        else if (cp >= 0x80 && cp < 0xa0) out_printf("\\u%04x", (unsigned)cp);
        else out_bytes(s + i, (size_t)len);
        i += len ? (size_t)len : 1;
    }
    out_bytes("\n", 1);
}

/* The tokenizer that path is, or that the model there has. */
static int tokenizer_of(Tokenizer **t, const Args *a, char *err, size_t errlen) {
    TokenizerOptions o = tokenizer_options(a);
    if (a->tokenizer || tokenizer_probe(a->model)) return tokenizer_open_with(t, a->tokenizer ? a->tokenizer : a->model, &o, err, errlen);
    Weights w;
    int rc = weights_open(&w, a->model, err, errlen);
    if (rc) return rc;
    rc = vocabulary_open(t, &w, NULL, 0, &o, err, errlen);
    weights_close(&w);
    return rc;
}

static int run_tokenize(Args *a) {
    char err[512], *file = NULL;
    Tokenizer *t = NULL;
    size_t len = a->text ? strlen(a->text) : 0, n = 0;
    int *ids = NULL;
    if (!a->model) return usage("tokenize needs a MODEL or a TOKENIZER");
    if (a->text && a->file) return usage("a text and -f are both given; one is enough");
    if (a->want_ids && a->pieces) return usage("--ids and --pieces are both given; one is enough");
    if (tokenizer_of(&t, a, err, sizeof err)) return fail("%s", err);
    if (a->verbose) fprintf(stderr, "%s: %s, %zu pieces\n", a->model, tokenizer_kind(t), tokenizer_size(t));
    int code = a->text ? 0 : read_text(a->file ? a->file : "-", &file, &len);
    int flags = (a->no_bos ? 0 : ENCODE_BOS | ENCODE_EOS) | (a->special ? ENCODE_SPECIAL : 0);
    if (code == 0 && tokenizer_encode(t, file ? file : a->text, len, flags, &ids, &n, err, sizeof err)) code = fail("%s", err);
    for (size_t i = 0; i < n; i++) {
        size_t piece_len = 0;
        if (!a->pieces) {
            out_printf("%s%d", i ? " " : "", ids[i]);
            continue;
        }
        const char *piece = tokenizer_piece(t, ids[i], &piece_len);
        print_piece(piece ? piece : "", piece_len);
    }
    if (code == EXIT_DONE && !a->pieces) out_bytes("\n", 1);
    free(ids);
    free(file);
    tokenizer_free(t);
    return out_end(code);
}

/* ---- perplexity ---- */

static int on_batch(void *arg, size_t done, size_t total) {
    (void)arg, (void)done, (void)total;
    return interrupted;
}

/* Progress goes by bytes of text, as the number of tokens is not known before the end. */
static int score_documents(Engine *e, const Args *a, const char *text, size_t n, size_t window, Perplexity *p, size_t *documents) {
    size_t at = 0, len, n_ids;
    const char *doc;
    int rc = 0, bos = tokenizer_bos(e->tokenizer) >= 0 ? tokenizer_bos(e->tokenizer) : e->model.config.bos_id;
    while (rc == 0 && perplexity_document(text, n, a->separator, &at, &doc, &len)) {
        int *ids;
        if (len == 0) continue;
        rc = tokenizer_encode(e->tokenizer, doc, len, ENCODE_BARE, &ids, &n_ids, e->err, sizeof e->err);
        if (rc) break;
        ++*documents;
        size_t step = window - (bos >= 0);
        for (size_t i = 0; i < n_ids && rc == 0; i += step) { /* a window at a time, so that progress can be shown */
            rc = interrupted ? -EINTR
                             : perplexity_add(p, &e->session, ids + i, n_ids - i < step ? n_ids - i : step, bos, window, e->err,
                                              sizeof e->err);
            size_t bytes = (size_t)(doc - text) + (size_t)((double)len * (double)(i + step < n_ids ? i + step : n_ids) / (double)n_ids);
            if (p->tokens) progress_show(&e->progress, p->tokens, (size_t)((double)p->tokens * (double)n / (double)(bytes ? bytes : 1)));
        }
        free(ids);
    }
    return rc;
}

static int run_perplexity(Args *a) {
    Engine e;
    size_t n, documents = 0;
    Perplexity p = {0};
    if (!a->model) return usage("perplexity needs a MODEL");
    if (!a->file) return usage("perplexity needs a text (-f FILE)");
    if (a->context == 1) return usage("-c 1: a window of one position leaves nothing to score");
    int code = engine_open(&e, a, 1);
    if (code) return code;
    char *text;
    if ((code = read_text(a->file, &text, &n))) {
        engine_close(&e);
        return code;
    }
    size_t window = a->context ? (size_t)a->context : (size_t)e.model.config.n_ctx_train;
    if ((code = engine_session(&e, a, n + 2, 16))) { /* a text has no more ids than bytes, and a space and BOS in front */
        engine_close(&e);
        free(text);
        return code;
    }
    e.session.options.progress = on_batch; /* only the whole file's progress is shown */
    e.progress.what = "scoring";
    double t0 = now();
    int rc = score_documents(&e, a, text, n, window, &p, &documents);
    double seconds = now() - t0, mean = perplexity_mean(&p), error = perplexity_stderr(&p), rate = (double)p.tokens / fmax(seconds, 1e-9);
    progress_clear(&e.progress);
    if (rc == -EINTR) note("interrupted: what follows is of the text's beginning only");
    if (rc && !(rc == -EINTR && p.tokens)) {
        code = rc == -EINTR ? EXIT_INTERRUPTED : fail("%s", e.err);
    } else if (p.tokens == 0) {
        code = fail("%s: no text to score", a->file);
    } else if (!isfinite(p.nll_sum)) {
        code = fail("%s: the model's logits are not finite; its weights may be damaged", a->model);
    } else if (a->json) {
        if (!isfinite(exp(mean))) code = fail("%s: a mean of %.9g nats has no perplexity that a number can hold", a->model, mean);
        else
            out_printf(
                "{\"nll_mean\":%.9g,\"nll_sum\":%.9g,\"perplexity\":%.9g,\"stderr\":%.9g,\"tokens\":%zu,\"tokens_per_second\":%.3f,\"window\":%zu}\n",
                mean, p.nll_sum, exp(mean), error, p.tokens, rate, window);
    } else {
        out_printf(
            "nll_mean    %.7f nats a token\nnll_sum     %.7f\nperplexity  %.7f\nstderr      %.7f of nll_mean\ntokens      %zu\ntokens/s    %.1f\nwindow      %zu positions\n",
            mean, p.nll_sum, exp(mean), error, p.tokens, rate, window);
        if (a->separator) out_printf("cut         %zu documents, %zu windows, each from BOS\n", documents, p.windows);
        else out_printf("cut         one stream, %zu windows, each from BOS\n", p.windows);
    }
    if (rc == -EINTR) code = EXIT_INTERRUPTED;
    free(text);
    engine_close(&e);
    return out_end(code);
}

/* ---- fill, embed, classify: lines of text through an encoder ---- */

/* What a command does with one text that was read: an exit code. */
typedef struct Lines Lines;
typedef int LineWork(Lines *l, size_t i);

struct Lines {
    Engine e;
    const Args *a;
    Texts texts;
    char **line;    /* [cap]: the lines that texts holds, malloc'ed; with --pair two texts are a line's */
    size_t *len;    /* [cap]: their bytes; a line may hold a NUL */
    size_t n, cap;
    size_t numbers; /* lines seen so far: the number of the next */
    size_t most;    /* tokens that are read at a time */
    LineWork *work;
    float *vector;  /* [2, d_model or n_labels]: scratch for work */
    Candidate *candidates;
    int mask_id;
    Pooling pooling;
};

/* Read what has been gathered, and do the work. */
static int lines_flush(Lines *l) {
    int code = 0;
    l->e.progress.start = now();
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

/* The line [len] as one text, or with --pair as two: an exit code. */
static int lines_encode(Lines *l, const char *line, size_t len) {
    char *err = l->e.err;
    const char *tab = l->a->pair ? memchr(line, '\t', len) : NULL;
    size_t room = l->e.session.options.n_ctx, first = tab ? (size_t)(tab - line) : len, longest = 0, n_texts = l->texts.n;
    if (l->a->pair && !tab) return fail("line %zu: no tab in it; --pair wants two texts with a tab between", l->numbers);
    int rc = texts_add(&l->texts, line, first, !l->a->pair, err, sizeof l->e.err);
    if (rc == 0 && tab) rc = texts_add(&l->texts, tab + 1, len - first - 1, 0, err, sizeof l->e.err);
    for (size_t i = n_texts; i < l->texts.n; i++)
        if (l->texts.texts[i].n > longest) longest = l->texts.texts[i].n;
    if (rc == 0 && longest <= room) return 0;
    texts_drop(&l->texts, l->texts.n - n_texts);
    if (rc) return fail("line %zu: %s", l->numbers, err);
    return fail("line %zu has %zu tokens, more than the context of %zu; -c makes room for more", l->numbers, longest, room);
}

/* One line more. Where the tokens gathered would become too many, those before it are read first. */
static int lines_add(Lines *l, const char *line, size_t len) {
    l->numbers++;
    if (len && line[len - 1] == '\r') len--;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        char **more = realloc(l->line, cap * sizeof *more);
        if (more) l->line = more;
        size_t *lens = more ? realloc(l->len, cap * sizeof *lens) : NULL;
        if (!lens) return fail("out of memory");
        l->len = lens;
        l->cap = cap;
    }
    size_t had = l->texts.n_tokens;
    int code = lines_encode(l, line, len);
    if (code == 0 && had && l->texts.n_tokens > l->most) { /* once more, behind the others */
        texts_drop(&l->texts, 1 + (size_t)l->a->pair);
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
    if (a->text && a->file) return usage("a text and -f are both given; one is enough");
    int from_stdin = !a->file || strcmp(a->file, "-") == 0, code = 0;
    if (a->text) code = lines_add(l, a->text, strlen(a->text));
    FILE *f = a->text ? NULL : from_stdin ? stdin : fopen(a->file, "rb");
    if (!a->text && !f) return fail("%s: %s", a->file, strerror(errno));
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; f && code == 0 && !interrupted && !out.gone && (n = getline(&line, &cap, f)) >= 0;) {
        if (n && line[n - 1] == '\n') n--;
        code = lines_add(l, line, (size_t)n);
        struct pollfd input = {.fd = from_stdin ? 0 : -1, .events = POLLIN};
        if (from_stdin && code == 0 && poll(&input, 1, 0) == 0) code = lines_flush(l); /* whoever writes the lines waits for an answer */
    }
    if (f && code == 0 && ferror(f) && !interrupted) code = fail("%s: %s", from_stdin ? "stdin" : a->file, strerror(errno));
    free(line);
    if (f && f != stdin) fclose(f);
    int last = interrupted || code == EXIT_INTERRUPTED ? 0 : lines_flush(l); /* those in front of a bad line too */
    if (code == 0) code = last;
    return code ? code : interrupted ? EXIT_INTERRUPTED : 0;
}

/* What a command needs of the model; width: floats that work wants for one vector. 0, or an exit code. */
typedef int LinesCheck(Lines *l, size_t *width);

static int run_lines(Args *a, const char *name, LinesCheck *check, LineWork *work) {
    enum { TOGETHER = 1024 }; /* enough for every core, and little memory */
    Lines l = {.a = a, .work = work};
    size_t width = 0;
    if (!a->model) return usage("%s needs a MODEL", name);
    int code = engine_open(&l.e, a, 1);
    if (code) return code;
    const Config *c = &l.e.model.config;
    if (!c->roformer.variant) code = fail("%s: %s is for RoFormer models; this is a %s", a->model, name, c->arch);
    else code = check(&l, &width);
    size_t room = a->context ? (size_t)a->context : (size_t)c->n_ctx_train;
    l.most = room < TOGETHER / 2 ? TOGETHER : 2 * room; /* a pair may be two texts */
    l.e.progress = (Progress){.what = "reading"};
    if (code == 0 && a->chunk && !c->linear.form) code = usage("--chunk is for linear attention; this model's is softmax");
    if (code == 0 && (tokenizer_bos(l.e.tokenizer) < 0 || tokenizer_eos(l.e.tokenizer) < 0)) note("the vocabulary lacks [CLS] or [SEP]: is it this model's?");
    if (code == 0 && room > (size_t)c->n_ctx_train) note("context %zu goes beyond the %lld positions this model was trained on", room, (long long)c->n_ctx_train);
    CacheType cache = session_usual_cache(&l.e.model);
    if (code == 0) code = cache_option(&cache, a, &l.e.model);
    SessionOptions o = {.n_ctx = l.most, .n_batch = l.most, .threads = (int)a->threads, .chunk = (size_t)a->chunk, .cache = cache,
                        .progress = on_progress, .progress_arg = &l.e.progress};
    if (code == 0 && session_init(&l.e.session, &l.e.model, &o, l.e.err, sizeof l.e.err)) code = fail("%s", l.e.err);
    l.vector = malloc((2 * width + 1) * sizeof *l.vector);
    size_t labels = (size_t)c->roformer.n_labels, ranked = (size_t)a->candidates > labels ? (size_t)a->candidates : labels;
    l.candidates = malloc((ranked + 1) * sizeof *l.candidates);
    if (code == 0 && (!l.vector || !l.candidates)) code = fail("out of memory");
    texts_init(&l.texts, l.e.tokenizer);
    if (code == 0) {
        l.e.session.options.n_ctx = room; /* of one text */
        code = lines_read(&l);
    }
    while (l.n) free(l.line[--l.n]);
    free(l.line);
    free(l.len);
    free(l.vector);
    free(l.candidates);
    texts_free(&l.texts);
    engine_close(&l.e);
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
    l->mask_id = tokenizer_named(l->e.tokenizer, "[MASK]");
    (void)width;
    if (!model_has_logits(&l->e.model)) return fail("%s: this model has no language model's head, so it cannot fill", l->a->model);
    if (l->mask_id < 0) return fail("%s: the vocabulary has no [MASK]", l->a->model);
    if ((size_t)l->a->candidates > (size_t)l->e.model.config.vocab_size) return usage("--top-k: the vocabulary has only %d tokens", l->e.model.config.vocab_size);
    return 0;
}

static void fill_json(Lines *l, size_t t, int first) {
    out_printf("%s{\"position\":%zu,\"candidates\":[", first ? "" : ",", t);
    for (long long k = 0; k < l->a->candidates; k++) {
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
    static const char mask[] = "[MASK]";
    const EncoderText *x = &l->texts.texts[i];
    const char *line = l->line[i];
    size_t from = 0, len_line = l->len[i]; /* what is printed so far */
    char *list = NULL; /* the lines below the filled text */
    size_t n_list = 0, n = 0;
    FILE *f = l->a->json ? NULL : open_memstream(&list, &n_list);
    if (!l->a->json && !f) return fail("out of memory");
    if (l->a->json) {
        out_printf("{\"text\":");
        json_string(line, len_line);
        out_printf(",\"masks\":[");
    }
    for (size_t t = 0; t < x->n; t++) {
        size_t len;
        if (x->ids[t] != l->mask_id) continue;
        texts_best(encoder_logits(&l->e.session, l->texts.first[i] + t), (size_t)l->e.model.config.vocab_size, l->candidates, (size_t)l->a->candidates);
        if (l->a->json) fill_json(l, t, n == 0);
        n++;
        if (l->a->json) continue;
        size_t at = find_bytes(line, from, len_line, mask);
        out_text(line + from, at - from);
        from = at < len_line ? at + sizeof mask - 1 : at;
        const char *p = shown_piece(l->e.tokenizer, l->candidates[0].id, &len);
        out_text(p, len);
        fprintf(f, "  %zu ", n);
        for (long long k = 0; k < l->a->candidates; k++) {
            p = tokenizer_piece(l->e.tokenizer, l->candidates[k].id, &len);
            fprintf(f, " %.*s %.4f", p ? (int)len : 0, p ? p : "", l->candidates[k].p);
        }
        fputc('\n', f);
    }
    if (f) fclose(f);
    if (l->a->json) out_printf("]}\n");
    else {
        out_text(line + from, len_line - from);
        out_bytes("\n", 1);
        out_text(list, n_list);
    }
    free(list);
    if (n == 0 && l->a->text) return fail("\"%s\" has no [MASK] to fill", line);
    if (n == 0 && !l->a->json) note("\"%s\" has no [MASK] to fill", line);
    return 0;
}

static int run_fill(Args *a) { return run_lines(a, "fill", check_fill, fill_line); }

static int check_embed(Lines *l, size_t *width) {
    int has_pooler = l->e.model.config.roformer.pooler != POOLER_NONE;
    int how = l->a->pooling ? named("--pooling", l->a->pooling, pooling_names, 0) : has_pooler ? POOLING_POOLER : POOLING_MEAN;
    if (how < 0) return EXIT_USAGE;
    if (how == POOLING_POOLER && !has_pooler) return fail("%s: --pooling pooler: this model has no pooler; cls and mean need none", l->a->model);
    l->pooling = (Pooling)how;
    *width = (size_t)l->e.model.config.d_model;
    if (l->a->verbose) fprintf(stderr, "  pooling %s\n", pooling_names[how]);
    return 0;
}

static int embed_line(Lines *l, size_t i) {
    size_t d = (size_t)l->e.model.config.d_model;
    int json = l->a->json;
    if (l->a->pair) {
        for (size_t j = 0; j < 2; j++) texts_pool(&l->texts, &l->e.session, 2 * i + j, l->pooling, l->vector + j * d);
        double cosine = texts_cosine(l->vector, l->vector + d, d);
        if (json) out_printf("{\"cosine\":");
        if (json) json_number(cosine);
        out_printf(json ? "}\n" : "%.6f\n", cosine);
        return 0;
    }
    texts_pool(&l->texts, &l->e.session, i, l->pooling, l->vector);
    if (l->a->normalize) texts_normalize(l->vector, d);
    if (json) out_printf("{\"embedding\":[");
    for (size_t j = 0; j < d; j++) {
        if (j) out_bytes(json ? "," : " ", 1);
        if (json) json_number((double)l->vector[j]);
        else out_printf("%.9g", (double)l->vector[j]);
    }
    out_printf(json ? "]}\n" : "\n");
    return 0;
}

static int run_embed(Args *a) { return run_lines(a, "embed", check_embed, embed_line); }

static int check_classify(Lines *l, size_t *width) {
    *width = (size_t)l->e.model.config.roformer.n_labels;
    return l->e.model.config.roformer.classifier ? 0 : fail("%s: this model has no classifier", l->a->model);
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

/* The labels of token t with their probabilities, best first. One label is a question of its own: a sigmoid for ELECTRA's,
 * the plain number where a model was trained to give a number. */
static void print_labels(Lines *l, size_t t) {
    int n = l->e.model.config.roformer.n_labels, json = l->a->json;
    Candidate *best = l->candidates;
    encoder_classify(&l->e.session, t, l->vector);
    if (n == 1) {
        double v = (double)l->vector[0];
        best[0] = (Candidate){.p = l->e.model.config.roformer.classifier == CLASSIFIER_REPLACED ? 1 / (1 + exp(-v)) : v};
    } else {
        texts_best(l->vector, (size_t)n, best, (size_t)n);
    }
    if (json) out_printf("[");
    for (int i = 0; i < n; i++) {
        out_printf(json ? (i ? ",{\"label\":" : "{\"label\":") : i ? "  " : "");
        print_label(l, best[i].id, json);
        if (json) out_printf(",\"%s\":", n == 1 ? "score" : "probability");
        if (json) json_number(best[i].p);
        out_printf(json ? "}" : " %.4f", best[i].p);
    }
    if (json) out_printf("]");
}

static int classify_line(Lines *l, size_t i) {
    const EncoderText *x = &l->texts.texts[i];
    int whole = l->e.model.config.roformer.classifier == CLASSIFIER_SEQUENCE, json = l->a->json;
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
        print_labels(l, l->texts.first[i] + t);
        if (!json) out_bytes("\n", 1);
        else if (!whole) out_printf("}");
    }
    if (!json && !whole) out_bytes("\n", 1); /* an empty line behind a text's tokens */
    if (json) out_printf(whole ? "}\n" : "]}\n");
    return 0;
}

static int run_classify(Args *a) { return run_lines(a, "classify", check_classify, classify_line); }

/* ---- bench ---- */

typedef struct {
    Engine e;
    Args *a;
    int opened;
    double drawn; /* when progress was last drawn */
    Bench bench;
} Benchmark;

/* Notes are for the first opening only. Why it fails has been said: what comes back is an exit code. */
static int bench_open(void *arg, Session **s, char *err, size_t errlen) {
    Benchmark *b = arg;
    (void)err, (void)errlen;
    if (b->opened) engine_close(&b->e);
    int verbose = b->a->verbose, was_quiet = quiet;
    if (b->opened) b->a->verbose = 0, quiet = 1;
    int code = engine_open(&b->e, b->a, 0);
    if (code == 0) code = engine_session(&b->e, b->a, BENCH_CONTEXT, 1);
    b->a->verbose = verbose;
    quiet = was_quiet;
    b->opened = 1;
    *s = &b->e.session;
    return code;
}

static int bench_progress(void *arg, const char *what, double left_s) {
    Benchmark *b = arg;
    if (quiet || !isatty(2) || now() - b->drawn < 0.2) return interrupted;
    b->drawn = now();
    fprintf(stderr, left_s > 0 ? "\r%s, about %.0f s to go \033[K" : "\r%s \033[K", what, ceil(left_s));
    return interrupted;
}

/* "0,1024" or "none": 0, or an exit code. *where: list, or NULL where nothing was said. */
static int bench_list(const char *option, const char *s, size_t least, BenchList *list, const BenchList **where) {
    const size_t most = 1 << 24;
    size_t n = 0;
    *list = (BenchList){0};
    *where = s ? list : NULL;
    if (!s || strcmp(s, "none") == 0) return 0;
    int *numbers = parse_ids(option, s, &n);
    if (!numbers) return EXIT_USAGE;
    for (size_t i = 0; i < n && i < BENCH_LIST; i++) list->at[list->n++] = (size_t)numbers[i];
    int bad = n > BENCH_LIST;
    for (size_t i = 0; i < list->n; i++) bad |= list->at[i] < least || list->at[i] > most;
    free(numbers);
    return bad ? usage("%s: up to %d numbers from %zu to %zu", option, BENCH_LIST, least, most) : 0;
}

static const char *bench_kind(const BenchRow *r) { return r->kind == BENCH_DECODING ? "decode" : "prefill"; }

static void bench_ceiling_text(const Ceilings *c, Ceiling which) {
    Spread one = ceilings_rate(c, which, 0), all = ceilings_rate(c, which, 1);
    const char *unit = which < CEILING_F32 ? "GB/s" : "Gop/s";
    if (all.n == 0) return;
    out_printf("%-38s %9.1f (%.1f to %.1f)", ceilings_name(c, which), one.median / 1e9, one.least / 1e9, one.most / 1e9);
    if (c->threads > 1) out_printf("  %9.1f (%.1f to %.1f)", all.median / 1e9, all.least / 1e9, all.most / 1e9);
    out_printf(" %s\n", unit);
}

static void bench_text(const Bench *b, const Model *m, const char *name) {
    char context[40] = "without end";
    if (!m->config.linear.form) snprintf(context, sizeof context, "%zu", b->session->options.n_ctx);
    out_printf("%s: %s, %.2f M parameters, %s, %.1f MB; kernels %s, %d thread%s, context %s\n\n", name, m->config.arch,
               (double)m->n_parameters / 1e6, quant_format((int)m->layers->w_up.type)->name, (double)m->weights.file_bytes / 1e6, m->kernels->name,
               b->session->options.threads, b->session->options.threads == 1 ? "" : "s", context);
    out_printf("what this machine can do at most: 1 thread, all threads\n");
    for (int i = 0; i < N_CEILINGS; i++) bench_ceiling_text(&b->ceilings, (Ceiling)i);
    out_printf("\nload to first token %.3f s (%.3f to %.3f); peak memory %.1f MB after %zu positions\n\n", b->load.median, b->load.least,
               b->load.most, (double)b->peak_bytes / 1e6, b->peak_context);
    out_printf("%-14s %10s  %-24s %4s %9s %8s %8s %10s %6s\n", "", "tok/s", "slowest to fastest", "runs", "MB/tok", "GB/s", "Gop/s", "limit", "share");
    for (const BenchRow *r = b->rows; r < b->rows + b->n_rows; r++) {
        char what[40], spread[60];
        double v = r->rate.median;
        if (r->rate.n == 0) continue;
        snprintf(what, sizeof what, r->kind == BENCH_DECODING ? "decode at %zu" : "prefill %zu", r->kind == BENCH_DECODING ? r->context : r->tokens);
        snprintf(spread, sizeof spread, "%.1f to %.1f", r->rate.least, r->rate.most);
        out_printf("%-14s %10.1f  %-24s %4zu %9.2f %8.2f %8.1f %10.1f %4.0f %%\n", what, v, spread, r->rate.n, r->work.bytes / 1e6,
                   v * r->work.bytes / 1e9, v * work_ops(r->work) / 1e9, r->limit, 100 * v / r->limit);
    }
}

static void bench_csv_row(const char *what, size_t at, int threads, Spread s, double scale, const char *unit) {
    out_printf("%s,%zu,%d,%zu,%.9g,%.9g,%.9g,%s", what, at, threads, s.n, s.median * scale, s.least * scale, s.most * scale, unit);
}

/* One table: a ceiling's name has commas of its own, and becomes a line's name without them. */
static void bench_csv(const Bench *b) {
    static const char *const names[N_CEILINGS] = {"read_1", "read_4", "reread_1", "reread_4", "f32", "int8", "int4"};
    int threads = b->session->options.threads;
    out_printf("what,at,threads,runs,median,least,most,unit,bytes_per_token,ops_per_token,limit,share\n");
    for (int i = 0; i < N_CEILINGS; i++)
        for (int all = 0; all < 1 + (threads > 1); all++) {
            Spread s = ceilings_rate(&b->ceilings, (Ceiling)i, all);
            if (s.n == 0) continue;
            bench_csv_row(names[i], 0, all ? threads : 1, s, 1e-9, i < CEILING_F32 ? "GB/s" : "Gop/s");
            out_printf(",,,,\n");
        }
    bench_csv_row("load", 0, threads, b->load, 1, "s");
    double peak = (double)b->peak_bytes;
    out_printf(",,,,\n");
    bench_csv_row("peak_memory", b->peak_context, threads, (Spread){peak, peak, peak, 1}, 1, "bytes");
    out_printf(",,,,\n");
    for (const BenchRow *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (r->rate.n == 0) continue;
        bench_csv_row(bench_kind(r), r->kind == BENCH_DECODING ? r->context : r->tokens, threads, r->rate, 1, "tok/s");
        out_printf(",%.9g,%.9g,%.9g,%.9g\n", r->work.bytes, work_ops(r->work), r->limit, r->rate.median / r->limit);
    }
}

static void json_spread(Spread s, double scale) {
    out_printf("\"runs\":%zu,\"median\":", s.n);
    json_number(s.median * scale);
    out_printf(",\"least\":");
    json_number(s.least * scale);
    out_printf(",\"most\":");
    json_number(s.most * scale);
}

static void bench_json_rows(const Bench *b, BenchKind kind) {
    const char *comma = "";
    for (const BenchRow *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (r->kind != kind || r->rate.n == 0) continue;
        out_printf("%s{\"%s\":%zu,", comma, kind == BENCH_DECODING ? "context" : "tokens", kind == BENCH_DECODING ? r->context : r->tokens);
        json_spread(r->rate, 1);
        out_printf(",\"unit\":\"tok/s\",\"bytes_per_token\":%.9g,\"ops_per_token\":%.9g,\"gb_per_s\":", r->work.bytes, work_ops(r->work));
        json_number(r->rate.median * r->work.bytes / 1e9);
        out_printf(",\"gop_per_s\":");
        json_number(r->rate.median * work_ops(r->work) / 1e9);
        out_printf(",\"limit\":");
        json_number(r->limit);
        out_printf(",\"share\":");
        json_number(r->rate.median / r->limit);
        out_printf("}");
        comma = ",";
    }
}

static void bench_json(const Bench *b, const Model *m, const char *name) {
    int threads = b->session->options.threads;
    const char *comma = "";
    char context[40] = "null"; /* without end */
    if (!m->config.linear.form) snprintf(context, sizeof context, "%zu", b->session->options.n_ctx);
    out_printf("{\"model\":");
    json_string(name, strlen(name));
    out_printf(",\"architecture\":");
    json_string(m->config.arch, strlen(m->config.arch));
    out_printf(",\"parameters\":%zu,\"weights\":\"%s\",\"file_bytes\":%zu,\"kernels\":\"%s\",\"threads\":%d,\"context\":%s,\"ceilings\":[",
               m->n_parameters, quant_format((int)m->layers->w_up.type)->name, (size_t)m->weights.file_bytes, m->kernels->name, threads,
               context);
    for (int i = 0; i < N_CEILINGS; i++)
        for (int all = 0; all < 1 + (threads > 1); all++) {
            Spread s = ceilings_rate(&b->ceilings, (Ceiling)i, all);
            if (s.n == 0) continue;
            out_printf("%s{\"what\":\"%s\",\"threads\":%d,", comma, ceilings_name(&b->ceilings, (Ceiling)i), all ? threads : 1);
            json_spread(s, 1e-9);
            out_printf(",\"unit\":\"%s\"}", i < CEILING_F32 ? "GB/s" : "Gop/s");
            comma = ",";
        }
    out_printf("],\"load\":{");
    json_spread(b->load, 1);
    out_printf(",\"unit\":\"s\"},\"peak_memory\":{\"bytes\":%zu,\"context\":%zu},\"decode\":[", b->peak_bytes, b->peak_context);
    bench_json_rows(b, BENCH_DECODING);
    out_printf("],\"prefill\":[");
    bench_json_rows(b, BENCH_PREFILL);
    out_printf("]}\n");
}

static int run_bench(Args *a) {
    Benchmark b = {.a = a};
    BenchOptions o = {.open = bench_open, .progress = bench_progress, .arg = &b, .runs = (size_t)a->runs};
    BenchList contexts, prompts;
    if (a->json && a->csv) return usage("--json and --csv are both given; one is enough");
    int code = bench_list("--contexts", a->contexts, 0, &contexts, &o.contexts);
    if (code == 0) code = bench_list("--prompts", a->prompts, 1, &prompts, &o.prompts);
    if (code) return code;
    int rc = bench_run(&b.bench, &o, b.e.err, sizeof b.e.err);
    if (b.drawn > 0) fputs("\r\033[K", stderr);
    if (rc == -EINTR) note(b.bench.ceilings.turn ? "interrupted: what follows is what was measured before" : "interrupted");
    else if (rc < 0) fail("%s", b.e.err);
    if (rc == 0 || (rc == -EINTR && b.bench.ceilings.turn)) {
        const Model *m = &b.e.model;
        if (a->json) bench_json(&b.bench, m, m->weights.path);
        else if (a->csv) bench_csv(&b.bench);
        else bench_text(&b.bench, m, m->weights.path);
    }
    bench_free(&b.bench);
    engine_close(&b.e);
    return out_end(rc == -EINTR ? EXIT_INTERRUPTED : rc < 0 ? EXIT_FAILED : rc);
}

/* ---- the program ---- */

static void on_interrupt(int sig) {
    (void)sig;
    interrupted = 1;
}

/* A mapped file that another program shortens raises SIGBUS where it is read next. */
static void on_bus_error(int sig) {
    static const char line[] = "run: a file became shorter while it was being read\n";
    (void)sig;
    ssize_t ignored = write(2, line, sizeof line - 1);
    (void)ignored;
    _exit(EXIT_FAILED);
}

static void install_signals(void) {
    struct sigaction sa = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND}; /* a second Ctrl-C ends at once */
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    sa = (struct sigaction){.sa_handler = on_bus_error};
    sigaction(SIGBUS, &sa, NULL);
    sa = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &sa, NULL);
    sigaction(SIGXFSZ, &sa, NULL); /* a file that grows beyond its limit is a failed write */
}

static int print_version(void) {
    printf("roformer.c %s\nkernels:", VERSION);
    print_kernels();
    putchar('\n');
    return out_end(EXIT_DONE);
}

int main(int argc, char **argv) {
    started = now();
    out.terminal = isatty(1);
    install_signals();
    const Command *cmd = &commands[0];
    int first = 1;
    for (int i = 0; argc > 1 && i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) cmd = &commands[i], first = 2;
    if (first == 2) command_name = cmd->name;
    Args a = {.n = 256, .temperature = 1.0, .top_p = 0.9, .repetition = 1, .penalty_window = 64, .candidates = 5};
    int code = parse(&a, argc - first, argv + first, cmd);
    if (code) return code;
    quiet = a.quiet;
    if (a.help) return help(cmd);
    if (a.version) return print_version();
    if (!a.seed_given || a.seed == 0) a.seed = (long long)(((uint64_t)time(NULL) * 1000003u + (uint64_t)getpid()) & 0x7fffffff) | 1;
    return cmd->run(&a);
}
