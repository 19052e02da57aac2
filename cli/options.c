/* cli/options.c - the command line: how words become Args, by the table of options. */
#include "options.h"

#include "base/nearest.h"
#include "base/paths.h"

#include "model/roformer_kinds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *field_flag(Args *a, size_t at) { return (int *)(void *)((char *)a + at); }

static int parse_integer(long long *field, const Option *o, const char *shown, const char *value) {
    const char *hint = o->hint ? o->hint : "";
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end) return usage("%s: \"%s\" is not a whole number", shown, value);
    if (errno || (double)v < o->min || (double)v > o->max)
        return usage("%s: %s is out of range (%.0f to %.0f)%s", shown, value, o->min, o->max, hint);
    *field = v;
    return 0;
}

static int parse_number(double *field, const Option *o, const char *shown, const char *value) {
    char *end;
    double v = strtod(value, &end);
    if (end == value || *end || !isfinite(v))
        return usage("%s: \"%s\" is not a number%s", shown, value, o->hint ? o->hint : "");
    if (v < o->min || v > o->max) return usage("%s: %s is out of range (%g to %g)", shown, value, o->min, o->max);
    *field = v;
    return 0;
}

static int parse_strings(StringList *list, const char *shown, const char *value) {
    if (list->n == STRING_LIST_MOST) return usage("%s can be given %d times", shown, STRING_LIST_MOST);
    if (*value == 0) return usage("%s: the text is empty", shown);
    list->at[list->n++] = value;
    return 0;
}

/* What value says into o's field of a; shown is the option as it was written. */
static int parse_value(Args *a, const Option *o, const char *shown, const char *value) {
    void *field = (char *)a + o->at;
    if (o->given) *field_flag(a, o->given) = 1;
    if (o->kind == INTEGER || o->kind == OPEN_FLAG) return parse_integer(field, o, shown, value);
    if (o->kind == NUMBER) return parse_number(field, o, shown, value);
    if (o->kind == STRINGS) return parse_strings(field, shown, value);
    if (o->words && !o->command_checks && named(shown, value, o->words, 0) < 0) return EXIT_USAGE;
    if (o->kind == NEW_FILE && !*value) return usage("%s: the name of the file is empty", shown);
    *(const char **)field = value;
    return 0;
}

/* Is word one of names, which stand between spaces? */
static int among(const char *names, const char *word) {
    size_t len = strlen(word);
    for (const char *at = names; at && (at = strstr(at, word)); at += len)
        if ((at == names || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0)) return 1;
    return 0;
}

static const Option *find_option(const char *word, size_t len, const Command *cmd) {
    for (const Option *o = options; o->name; o++) {
        if (!among(o->commands, cmd->name) && !among(o->silent, cmd->name)) continue;
        if (strlen(o->name) == len && memcmp(o->name, word, len) == 0) return o;
        if (o->alias && strlen(o->alias) == len && memcmp(o->alias, word, len) == 0) return o;
        if (len == 2 && o->letter && word[0] == '-' && word[1] == o->letter) return o;
    }
    return NULL;
}

int option_is_of(const Option *o, const Command *cmd) { return among(o->commands, cmd->name); }

static const char *asked; /* the command whose options these are: */
static const char *option_name(int i) { /* without its dashes, which are always right */
    for (const Option *o = options; o->name; o++)
        if (among(o->commands, asked) && i-- == 0) return o->name + 2;
    return NULL;
}

static int refuse_option(const char *word, size_t len, const Command *cmd) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    asked = cmd->name;
    const char *meant = word[1] == '-' ? nearest_word(name + 2, option_name) : NULL;
    if (meant) return usage("%s is not an option of %s (did you mean --%s?)", name, cmd->name, meant);
    const Option *its = NULL;
    int n = 0;
    for (const Option *o = options; o->name; o++)
        if (strcmp(o->name, name) == 0) its = o, n++;
    if (n == 1 && !strchr(its->commands, ' '))
        return usage("%s is not an option of %s, but of %s", name, cmd->name, its->commands);
    return usage("%s is not an option of %s", word, cmd->name);
}

/* Can rest be o's value behind its letter, as in -n5? Other programs' -ngl and -sys are no number of -n or -s. */
static int is_behind_letter(const Option *o, const char *rest) {
    int number = o->kind == INTEGER || o->kind == NUMBER;
    return o->kind != FLAG && (!number || strchr("+-.0123456789", *rest));
}

/* The option at argv[i], and its value where it takes one: how many words both are, 0 after saying what is wrong. */
static int parse_option(Args *a, int argc, char **argv, const Command *cmd) {
    const char *word = argv[0], *eq = strchr(word, '=');
    int joined = word[1] == '-' && eq != NULL;
    const Option *o = find_option(word, joined ? (size_t)(eq - word) : strlen(word), cmd);
    if (!o && word[1] != '-' && (o = find_option(word, 2, cmd)) && is_behind_letter(o, word + 2))
        return parse_value(a, o, o->name, word + 2) == 0;
    if (word[1] != '-' && strlen(word) > 2) o = NULL; /* flags are not run together */
    if (!o) return refuse_option(word, joined ? (size_t)(eq - word) : strlen(word), cmd), 0;
    int open = o->kind == OPEN_FLAG || o->kind == OPEN_STRING;
    if (o->kind == FLAG || (open && !joined)) {
        if (joined) return usage("%s takes no value", o->name), 0;
        *field_flag(a, o->kind == FLAG ? o->at : o->given) = 1;
        return 1;
    }
    if (joined) return parse_value(a, o, o->name, eq + 1) == 0;
    if (argc < 2) return usage("%s needs a value", word), 0;
    return parse_value(a, o, word, argv[1]) == 0 ? 2 : 0;
}

/* The k words of an option at argv[i] move in front of the words that are none: behind the *n that are there. */
static void sort_option(char **argv, int i, int k, int *n) {
    for (; k > 0; k--, i++, ++*n) {
        char *word = argv[i];
        memmove(argv + *n + 1, argv + *n, (size_t)(i - *n) * sizeof *argv);
        argv[*n] = word;
    }
}

const char compiled_in[] = "the compiled-in model";

int is_model_word(const char *word) {
    static const char *const ends[] = {".gguf", ".bin", ".safetensors"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(word, ends[i])) return 1;
    return strchr(word, '/') || file_is_folder(word) || file_exists(word);
}

/* Behind which option cmd's text stands; NULL: it takes none. */
static const char *text_option(const Command *cmd) {
    return find_option("--text", 6, cmd) ? "--text" : find_option("-i", 2, cmd) ? "-i" : NULL;
}

/* The first word stands where the model does, and is none: what it was meant as. 0 where nothing is to be said. */
static int refuse_word(const Args *a, const Command *cmd) {
    if (a->n_words == 0 || a->show.help || is_model_word(a->words[0])) return 0;
    if (cmd->takes_text)
        return a->n_words < 2 ? 0 : usage("there is no model %s; a text of several words stands in quotes", *a->words);
    const char *where = text_option(cmd);
    return where ? usage("\"%.60s\" is no model: a text stands behind %s, in quotes", a->words[0], where) : 0;
}

/* The first of these words stands behind options, of no command. */
static int refuse_command(const Args *a, int n, char **words) {
    if (*command_name || a->show.help || !command_named(*words) || is_model_word(*words)) return 0;
    for (int i = 1; i < n; i++)
        if (strcmp(words[i], "--help") == 0) return 0;
    return usage("%s is a command, and stands in front of its options: ./run %s ..", *words, *words);
}

/* Which of the words is the model, and which the text: of two the first is the model, one alone where it could be. */
static int sort_words(Args *a, const Command *cmd) {
    int most = cmd->takes_text ? 2 : 1, n = a->n_words, named = n > 0;
    if (cmd->takes_text == WORDS) return a->model = n ? a->words[0] : NULL, 0;
    if (refuse_word(a, cmd) || (n > most && refuse_command(a, n - most, a->words + most))) return EXIT_USAGE;
    if (n > most) {
        const char *where = most > 1 ? NULL : text_option(cmd);
        int file = !where && !a->in.file && find_option("-f", 2, cmd);
        return usage("\"%.60s\" is one word too many%s%s", a->words[most],
                     most > 1 ? "; a text of several words stands in quotes"
                     : where  ? ": a text stands behind "
                     : file   ? ": a file of text stands behind -f" : "",
                     where ? where : "");
    }
    if (n == 1 && cmd->takes_text && !a->show.help) named = is_model_word(a->words[0]);
    a->model = named ? a->words[0] : compiled_in;
    a->text = n > named ? a->words[named] : NULL;
    return 0;
}

int options_parse(Args *a, int argc, char **argv, const Command *cmd) {
    int only_words = 0, n = 0;
    for (int i = 0, words; i < argc; i += words) {
        const char *word = argv[i];
        words = 1;
        if (only_words || word[0] != '-' || word[1] == 0 || strchr("0123456789.", word[1])) { /* -7: no option */
            if (i == n && refuse_command(a, argc - i, argv + i)) return EXIT_USAGE;
            continue;
        }
        if (strcmp(word, "--") == 0) only_words = 1;
        else if ((words = parse_option(a, argc - i, argv + i, cmd)) == 0) return EXIT_USAGE;
        sort_option(argv, i, words, &n);
    }
    a->options = argv, a->n_options = n;
    a->words = argv + n, a->n_words = argc - n;
    return sort_words(a, cmd);
}

int named(const char *option, const char *word, const char *const *names, int first) {
    char known[100] = "";
    int i = name_index(names, word);
    if (i >= first) return i;
    for (i = first; names[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", names[i]);
    usage("%s: there is no \"%s\"; %s are known", option, word, known);
    return -1;
}

int parse_ids(int **ids, size_t *n, const char *option, const char *s) {
    *n = 0;
    if (!(*ids = calloc(strlen(s) + 1, sizeof **ids))) return fail("%s: out of memory", option);
    const char *list = s;
    int code = 0, commas;
    while (*s && code == 0) {
        char *end;
        errno = 0;
        long v = strtol(s, &end, 10);
        if (end == s || errno || v < 0 || v > 0x7fffffff || (*end && !strchr(", \n", *end)))
            code = usage("%s: \"%s\" is not a list of numbers such as 1,15,7", option, s);
        else (*ids)[(*n)++] = (int)v;
        for (commas = 0, s = end; *s && strchr(", \n", *s); s++) commas += *s == ',';
        if (code == 0 && commas > 1)
            code = usage("%s: \"%.40s\" has two commas and no number between them", option, list);
    }
    if (code == 0 && *n == 0) code = usage("%s: the list is empty", option);
    if (code) free(*ids), *ids = NULL;
    return code;
}
