/* cli/options.c - the command line: a table of options, and how words become Args. */
#include "cli.h"
#include "bench/bench.h"
#include "text/chat_template.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { FLAG, INTEGER, NUMBER, STRING, STRINGS } Kind;

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
    {"--file", NULL, "FILE", "read the text from FILE; - is stdin", 'f', STRING, TEXTS & ~CHAT, AT(file), 0, 0},
    {"--steps", "--n-predict", "N", "positions to read and write, prompt included; 0: to the context's end, which linear attention has not (256)", 'n', INTEGER, GENERATE, AT(n), 0, 1e15},
    {"--max-tokens", NULL, "N", "at most N new tokens", 0, INTEGER, GENERATE, AT(max_tokens), 0, 1e15},
    {"--prompt", NULL, "TEXT", "the first message", 'i', STRING, CHAT, AT(prompt), 0, 0},
    {"--max-tokens", NULL, "N", "tokens of an answer (up to its own end)", 0, INTEGER, CHAT, AT(max_tokens), 0, 1e15},
    {"--steps", "--n-predict", "N", "the same; 0: up to its own end", 'n', INTEGER, CHAT, AT(n), 0, 1e15},
    {"--save-state", NULL, "FILE", "/save FILE at the end", 0, STRING, CHAT, AT(save_state), 0, 0},
    {"--load-state", NULL, "FILE", "/load FILE at the beginning", 0, STRING, CHAT, AT(load_state), 0, 0},
    {"--temperature", "--temp", "T", "0 is greedy (1.0)", 't', NUMBER, WRITERS, AT(temperature), 0, 1e6},
    {"--top-p", NULL, "P", "nucleus: 0 or 1 is off (0.9)", 'p', NUMBER, WRITERS, AT(top_p), 0, 1},
    {"--top-k", NULL, "K", "only the K most probable; 0 is off (0)", 0, INTEGER, WRITERS, AT(top_k), 0, 1e9},
    {"--min-p", NULL, "P", "only those P times as probable as the first; 0 is off (0)", 0, NUMBER, WRITERS, AT(min_p), 0, 1},
    {"--repetition-penalty", "--repeat-penalty", "R", "divide the logits of recent tokens; 1 is off (1)", 0, NUMBER, WRITERS, AT(repetition), 1e-6, 1e6},
    {"--presence-penalty", NULL, "X", "subtract once from recent tokens (0)", 0, NUMBER, WRITERS, AT(presence), -1e6, 1e6},
    {"--frequency-penalty", NULL, "X", "subtract for each time a token is recent (0)", 0, NUMBER, WRITERS, AT(frequency), -1e6, 1e6},
    {"--penalty-window", "--repeat-last-n", "N", "how many tokens are recent (64)", 0, INTEGER, WRITERS, AT(penalty_window), 0, 1e9},
    {"--seed", NULL, "S", "same seed, same text; 0 is the time (0)", 's', INTEGER, WRITERS, AT(seed), 0, 9.2e18},
    {"--stop", NULL, "TEXT", "end before TEXT; may be given up to 16 times", 0, STRINGS, WRITERS, AT(stop), 0, 0},
    {"--ignore-eos", NULL, NULL, "go on after an end-of-text token", 0, FLAG, WRITERS, AT(ignore_eos), 0, 0},
    {"--no-echo", NULL, NULL, "leave the prompt out of the output", 0, FLAG, GENERATE, AT(no_echo), 0, 0},
    {"--mode", NULL, "MODE", "generate or chat (generate)", 'm', STRING, GENERATE, AT(mode), 0, 0},
    {"--system", NULL, "TEXT", "for chat: the system prompt (the template's own, where it has one)", 'y', STRING, WRITERS, AT(system), 0, 0},
    {"--chat-template", NULL, "NAME", "for chat: how a conversation is written down (as the file says):", 0, STRING, WRITERS, AT(chat_template), 0, 0},
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
    {"--tokenizer", NULL, "FILE", "tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt, a .tiktoken file, or a folder with one or with vocab.json and merges.txt", 'z', STRING, TEXTS, AT(tokenizer), 0, 0},
    {"--pre", NULL, "NAME", "byte-level BPE whose file does not say how words are cut: gpt-2, llama-bpe, qwen2 .. (GGUF's names; known vocabularies need none)", 0, STRING, TEXTS, AT(pre), 0, 0},
    {"--tokenizer-backend", NULL, "NAME", "who encodes a tokenizer.model: own, or sentencepiece, its library, where built with SENTENCEPIECE=1 (own)", 0, STRING, TEXTS, AT(backend), 0, 0},
    {"--jieba", NULL, "DICT", "WordPiece: jieba's dictionary, by which text is cut into words (dict.txt beside the model)", 0, STRING, TEXTS, AT(jieba), 0, 0},
    {"--bert4keras", NULL, NULL, "WordPiece: bert4keras' order of steps, not transformers'", 0, FLAG, TEXTS, AT(bert4keras), 0, 0},
    {"--context", "--ctx-size", "N", "positions to make room for; may go beyond the trained ones", 'c', INTEGER, MODELS, AT(context), 1, 1e15},
    {"--threads", NULL, "N", "threads (all processors)", 'j', INTEGER, MODELS, AT(threads), 1, 1024},
    {"--kv", NULL, "TYPE", "what keys and values are kept as: f32, f16, q8_0 or auto: f16 for larger decoders of 16 bits or fewer a weight (auto; logits: f32)", 0, STRING, MODELS, AT(kv), 0, 0},
    {"--kernels", NULL, "NAME", "a row of the arithmetic (the fastest that runs here):", 0, STRING, MODELS, AT(kernels), 0, 0},
    {"--no-mmap", NULL, NULL, "copy F32, F16 and BF16 weights into large pages: a slower start, faster tokens (the file is mapped)", 0, FLAG, MODELS, AT(no_mmap), 0, 0},
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
    {"--json", NULL, NULL, "print a JSON object; for lines of text one a line", 0, FLAG, ALL & ~(TOKENIZE | CHAT), AT(json), 0, 0},
    {"--quiet", NULL, NULL, "no timings, no progress", 'q', FLAG, ALL, AT(quiet), 0, 0},
    {"--verbose", NULL, NULL, "say what was opened", 'v', FLAG, ALL, AT(verbose), 0, 0},
    {"--version", NULL, NULL, "version and kernels", 0, FLAG, ALL, AT(version), 0, 0},
    {"--help", NULL, NULL, "this help", 'h', FLAG, ALL, AT(help), 0, 0},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

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

int options_parse(Args *a, int argc, char **argv, const Command *cmd) {
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

void print_kernels(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++) printf(" %s", k->name);
}

void options_print(int command) {
    for (int i = 0; i < N_OPTIONS; i++) {
        const Option *o = &options[i];
        if (!(o->commands & command)) continue;
        char left[64];
        snprintf(left, sizeof left, "%c%c%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ", " : "  ",
                 o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        printf("  %-32s %s", left, o->help);
        if (o->offset == AT(kernels)) print_kernels();
        for (int r = 0; o->offset == AT(chat_template) && chat_template_row(r); r++) printf(" %s", chat_template_row(r)->name);
        for (int r = 0; o->offset == AT(rope) && rope_scalings[r]; r++) printf(" %s", rope_scalings[r]->name);
        for (int r = 0; o->offset == AT(phi) && feature_map_row(r); r++) printf(" %s", feature_map_row(r)->name);
        for (int r = 0; o->offset == AT(form) && linear_form_row(r); r++) printf(" %s", linear_form_row(r)->name);
        putchar('\n');
    }
}

int named(const char *option, const char *word, const char *const *names, int first) {
    char known[100] = "";
    int i = name_index(names, word);
    if (i >= first) return i;
    for (i = first; names[i]; i++) snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", names[i]);
    usage("%s: there is no \"%s\"; %s are known", option, word, known);
    return -1;
}

int *parse_ids(const char *option, const char *s, size_t *n) {
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
