/* cli/help.c - --help of a command, from its row and those of its options; --help models; --rope help. */
#include "options.h"

#include "kernels/rows.h"
#include "lab/plot/parts.h"
#include "model/keys_more.h"
#include "rope/spec.h"
#include "weights-tools/training/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_MOST = 100, HELP_LEAST = 60, HELP_INDENT = 34, KEY_INDENT = 26, COMMAND_INDENT = 15,
       MODEL_INDENT = 4, EXAMPLE_INDENT = 6 };

/* As wide as the terminal is, within reason. */
static int help_width(void) {
    int width = HELP_MOST, height, colour;
    if (out.terminal) screen(&width, &height, &colour);
    return width > HELP_MOST || width <= 0 ? HELP_MOST : width < HELP_LEAST ? HELP_LEAST : width;
}

int option_row(const Command *cmd, int *at, OptionRow *r) {
    const TrainingOption *t = training_options;
    const char *title = *at ? r->title : "";
    for (; cmd->run_own && t[*at].help; ++*at) {
        if (!t[*at].name) title = t[*at].help;
        else return *r = (OptionRow){.title = title, .name = t[*at].name, .arg = t[*at].value, .help = t[*at].help,
                                     .letter = t[*at].letter ? t[*at].letter[1] : 0, .choice = t[*at].choice,
                                     .words = t[*at].words}, ++*at;
    }
    for (; !cmd->run_own && options[*at].name; ++*at) {
        const Option *o = &options[*at];
        if (option_is_of(o, cmd))
            return *r = (OptionRow){option_groups[o->group], o->name, o->arg, o->help, o->letter,
                                    o->kind == OPEN_FLAG || o->kind == OPEN_STRING, o->choice, o->words},
                   ++*at;
    }
    return 0;
}

const char *option_value(const OptionRow *r, int i) {
    return r->choice ? r->choice(i) : r->words ? r->words[i] : NULL;
}

const char *option_listed(const OptionRow *r, int i) {
    return r->help[strlen(r->help) - 1] == ':' ? option_value(r, i) : NULL;
}

const char *command_word(const Command *cmd, int i) {
    return cmd->topics ? cmd->topics[i].name : cmd->word ? cmd->word(i) : NULL;
}

/* text from that column on, wrapped between words; *column is where the cursor stands. */
static void print_wrapped(const char *text, int indent, int *column) {
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (*column > indent && *column + 1 + len > help_width()) *column = printf("\n%*s", indent, "") - 1;
        else if (*column > indent) *column += printf(" ");
        *column += printf("%.*s", len, text);
        text += len + (text[len] == ' ');
    }
}

/* left, and from the column indent on what is said of it; the line is open still. */
static int print_row(const char *left, int indent, const char *text) {
    int column = printf("  %-*s", indent - 2, left);
    print_wrapped(text, indent, &column);
    return column;
}

static void print_option(const OptionRow *r) {
    char left[64];
    snprintf(left, sizeof left, "%c%c%s%s%s%s%s", r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
             r->letter ? ", " : "  ", r->name, r->open ? "[=" : r->arg ? " " : "", r->arg ? r->arg : "",
             r->open ? "]" : "");
    char *help = as_called(r->help);
    int column = print_row(left, HELP_INDENT, help ? help : r->help);
    free(help);
    for (int i = 0; option_listed(r, i); i++) print_wrapped(option_listed(r, i), HELP_INDENT, &column);
    putchar('\n');
}

static void print_options(const Command *cmd) {
    const char *title = "";
    OptionRow r;
    for (int at = 0; option_row(cmd, &at, &r);) {
        if (strcmp(title, r.title) != 0) printf("\n%s:\n", title = r.title);
        print_option(&r);
    }
}

static void print_topics(const Topic *topics) {
    printf("\nWHAT:\n");
    for (const Topic *t = topics; t->name; t++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", t->name, t->words);
        print_row(left, HELP_INDENT, t->summary);
        putchar('\n');
    }
}

/* Paragraphs, a line each; a line of a table, which a space begins, stays as it is. */
static void print_about(const char *text) {
    char *own = as_called(text);
    for (char *line = own, *end; line && *line; line = end) {
        int column = 0;
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        if (*line == ' ') printf("%s", line);
        else print_wrapped(line, 0, &column);
        putchar('\n');
    }
    free(own);
}

const char *about_model(const Command *cmd) {
    static char text[600];
    int may = strstr(cmd->usage, "[MODEL") != NULL; /* be left out */
    if (!strstr(cmd->usage, "MODEL")) return NULL;
    snprintf(text, sizeof text,
             "MODEL is a GGUF file, a Hugging Face folder (config.json + safetensors) or a llama2.c .bin file; --help "
             "models lists the models that run.%s%s\n", may ? " Without one, the model in the program is taken" : "",
             !may ? "" : cmd->takes_text != 1 ? "."
             : ": a first word that is a file or folder, holds a / or ends in .gguf, .bin or .safetensors is MODEL, "
               "any other the text.");
    return text;
}

/* Where s [n] may be parted: in front of the last option, pipe or file that begins by `most`, else of the first one,
 * outside quotes; 0: not at all. */
static size_t command_break(const char *s, size_t n, size_t most) {
    size_t at = 0;
    char quote = 0;
    for (size_t i = 0; i + 1 < n && (i <= most || !at); i++) {
        if (quote ? s[i] == quote : s[i] == '"' || s[i] == '\'') quote = quote ? 0 : s[i];
        if (!quote && s[i] == ' ' && strchr("-|<>", s[i + 1])) at = i;
    }
    return at;
}

void print_command(const char *line, int indent) {
    const char *comment = strstr(line, " # ");
    size_t n = comment ? (size_t)(comment - line) : strlen(line), room = (size_t)line_room(), column = 0, at;
    if (plot_columns(line, strlen(line)) <= room) {
        out_printf("%s\n", line);
        return;
    }
    while (n && line[n - 1] == ' ') n--;
    while (column + n > room && (at = command_break(line, n, room > column + 2 ? room - column - 2 : 0))) {
        out_printf("%*s%.*s \\\n", (int)column, "", (int)at, line);
        line += at + 1, n -= at + 1, column = (size_t)indent;
    }
    out_printf("%*s%.*s", (int)column, "", (int)n, line);
    int beside = comment && column + n + 1 + strlen(comment) <= room;
    if (beside) out_printf(" %s", comment);
    else if (comment) out_printf("\n%*s%s", indent, "", comment + 1);
    out_printf("\n");
}

/* Each line a command; as called. */
static void print_examples(const char *text) {
    char *own = as_called(text);
    for (char *line = own, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        print_command(line, EXAMPLE_INDENT);
    }
    free(own);
}

void help_print(const Command *commands, int n, const Command *cmd) {
    int usual = cmd == commands; /* it needs no name */
    prose("usage: %s %s%s%s", called, usual ? "" : cmd->name, usual ? "" : " ", cmd->usage);
    if (cmd->about) putchar('\n'), print_about(cmd->about);
    if (about_model(cmd)) putchar('\n'), print_about(about_model(cmd));
    if (usual) {
        printf("\ncommands (%s help COMMAND, or %s COMMAND --help):\n", called, called);
        for (int i = 0; i < n; i++) print_row(commands[i].name, COMMAND_INDENT, commands[i].summary), putchar('\n');
    }
    if (cmd->topics) print_topics(cmd->topics);
    print_options(cmd);
    printf("\nexamples:\n");
    print_examples(cmd->examples);
}

static void print_model(const char *name, int *column) {
    if (*column == 0) *column = printf("%*s", MODEL_INDENT, "");
    print_wrapped(name, MODEL_INDENT, column);
}

void models_print(void) {
    const char *last = "";
    int column = 0;
    printf("models that run, by model_type (config.json) or general.architecture (GGUF):\n");
    for (int i = 0; architectures[i]; i++)
        if (!architecture_lacks(architectures[i])) print_model(architectures[i]->name, &column);
    printf("\n\nmodels that do not:\n");
    for (int i = 0; architectures[i]; i++) {
        const char *why = architecture_lacks(architectures[i]);
        if (!why) continue;
        if (strcmp(why, last) != 0) {
            if (*last) putchar('\n');
            print_row("it", strlen("  it "), why);
            putchar('\n');
            column = 0;
        }
        last = why;
        print_model(architectures[i]->name, &column);
    }
    putchar('\n');
}

void print_kernels(void) {
    for (int i = 0; kernels_row(i); i++) printf(" %s", kernels_row(i)->name);
}

int options_ask_for_specs(const Args *a) {
    const char *spec = a->rope.method ? a->rope.method : a->compare.ropes;
    return spec && strcmp(spec, "help") == 0;
}

void print_specs(void) {
    const char *name, *source;
    int column = printf("--rope NAME[:key=value..][+NAME..]  ");
    print_wrapped("how RoPE is stretched; rope/README.md says what each one does", 0, &column);
    putchar('\n');
    for (int i = 0; (name = rope_spec_name(i)); i++) {
        const RopeKey *k = rope_spec_keys(name, &source);
        printf("\n%s  (%s)\n", name, source);
        for (; k->name; k++) {
            print_row(k->name, KEY_INDENT, k->about);
            putchar('\n');
        }
    }
}
