/* cli/manual.c - pages of man, and completions for shells, from the tables of commands and options. */
#include "options.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_file(const OptionRow *r) { return r->arg && strstr(r->arg, "FILE") != NULL; }

/* ---- pages of man ---- */

/* text for troff: no sign of it is a command, - is the sign that is typed, and what is no ASCII has a name. */
static void roff(const char *text) {
    char *own = as_called(text);
    for (const char *s = own ? own : text; *s; s++) {
        uint32_t cp;
        int len, begins = s == (own ? own : text) || s[-1] == '\n';
        if (begins && (*s == '.' || *s == '\'')) out_printf("\\&");
        if (*s == '-') out_printf("\\-");
        else if (*s == '\\') out_printf("\\e");
        else if ((len = utf8_decode(s, strlen(s), &cp)) > 1) out_printf("\\[u%04X]", (unsigned)cp), s += len - 1;
        else out_bytes(s, 1);
    }
    free(own);
}

static void roff_options(const Command *cmd) {
    const char *title = "";
    OptionRow r;
    for (int at = 0; option_row(cmd, &at, &r);) {
        if (strcmp(title, r.title) != 0) out_printf(".SS %s\n", title = r.title);
        out_printf(".TP\n");
        if (r.letter) out_printf("\\fB\\-%c\\fR, ", r.letter);
        out_printf("\\fB");
        roff(r.name);
        out_printf("\\fR");
        if (r.arg) out_printf(r.open ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", r.arg);
        out_printf("\n");
        roff(r.help);
        for (int i = 0; option_listed(&r, i); i++) out_printf(" "), roff(option_listed(&r, i));
        out_printf("\n");
    }
}

/* As print_about (help.c): paragraphs are filled, lines of tables are not. */
static void roff_about(const char *text) {
    int table = 0;
    for (const char *line = text; line && *line; line += strcspn(line, "\n") + 1) {
        char one[2000];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
        if ((*one == ' ') != table) out_printf((table = !table) ? ".PP\n.nf\n" : ".fi\n");
        if (!table) out_printf(".PP\n");
        roff(one);
        out_printf("\n");
    }
    if (table) out_printf(".fi\n");
}

static void roff_examples(const Command *cmd) {
    out_printf(".SH EXAMPLES\n.nf\n");
    roff(cmd->examples);
    out_printf(".fi\n");
}

/* Does text name ./run NAME? */
static int names_command(const char *text, const char *name) {
    char words[40];
    size_t n = (size_t)snprintf(words, sizeof words, "./run %s", name);
    for (const char *at = text; at && (at = strstr(at, words)); at += n)
        if (!strchr("abcdefghijklmnopqrstuvwxyz", at[n])) return 1; /* 0, too */
    return 0;
}

/* The program's page, and those of commands that this one names. */
static void roff_see_also(const Command *commands, int n, const Command *cmd) {
    out_printf(".SH SEE ALSO\n.BR roformer (1)");
    for (int i = 0; i < n; i++) {
        const char *name = commands[i].name;
        int named_there = names_command(cmd->about, name) || names_command(cmd->examples, name);
        OptionRow r;
        for (int at = 0; option_row(cmd, &at, &r);) named_there |= names_command(r.help, name);
        if (named_there && &commands[i] != cmd) out_printf(",\n.BR roformer\\-%s (1)", name);
    }
    out_printf("\n");
}

static void roff_topics(const Topic *topics) {
    out_printf(".PP\nWHAT is one of:\n");
    for (const Topic *t = topics; t->name; t++) {
        out_printf(".TP\n.B %s", t->name);
        if (*t->words) out_printf(" "), roff(t->words);
        out_printf("\n");
        roff(t->summary);
        out_printf("\n");
    }
}

static const char exits[] = ".SH EXIT STATUS\n0 done, 1 failed (a file, memory ..), 2 wrong use, 130 interrupted.\n"
                            ".SH ENVIRONMENT\nNO_COLOR, if it is not empty: pictures on a terminal without colours. "
                            "TERM=dumb: that, and no line editor.\n";
static const char program[] =
    "Writes text with a GGUF file, a Hugging Face folder (config.json + safetensors) or a llama2.c .bin file; without "
    "one, with a small model of stories that is in the program. The text is on stdout, everything else on stderr. "
    "Without a command, generate is meant; each command has a page of its own.\n";

void manual_page(const Command *commands, int n, const Command *cmd) {
    called = "roformer";
    out_printf(".TH ROFORMER%s%s 1\n.SH NAME\nroformer%s%s \\- ", cmd ? "\\-" : "", cmd ? cmd->name : "",
               cmd ? "\\-" : "", cmd ? cmd->name : "");
    roff(cmd ? cmd->summary : "run LLaMA-family and RoFormer models");
    out_printf("\n.SH SYNOPSIS\n.B roformer%s%s\n", cmd ? " " : "", cmd ? cmd->name : "");
    roff(cmd ? cmd->usage : "[COMMAND] [MODEL] [options]");
    out_printf("\n.SH DESCRIPTION\n");
    roff_about(cmd ? cmd->about : program);
    if (cmd) roff_about(about_model(cmd));
    if (!cmd) {
        out_printf(".SH COMMANDS\n");
        for (int i = 0; i < n; i++) out_printf(".TP\n.BR roformer\\-%s (1)\n", commands[i].name),
            roff(commands[i].summary), out_printf("\n");
    } else if (cmd->topics) roff_topics(cmd->topics);
    out_printf(".SH OPTIONS\n");
    roff_options(cmd ? cmd : commands);
    roff_examples(cmd ? cmd : commands);
    out_printf("%s", exits);
    if (cmd) roff_see_also(commands, n, cmd);
}

/* ---- completions ---- */

static void values_of(const OptionRow *r) {
    for (int i = 0; option_value(r, i); i++) out_printf("%s%s", i ? " " : "", option_value(r, i));
}

static void words_of(const Command *cmd) {
    for (int i = 0; command_word(cmd, i); i++) out_printf("%s%s", i ? " " : "", command_word(cmd, i));
}

static void command_names(const Command *commands, int n, const char *between) {
    for (int i = 0; i < n; i++) out_printf("%s%s", i ? between : "", commands[i].name);
}

static void bash(const Command *commands, int n) {
    OptionRow r;
    out_printf("# bash completion of roformer, written by: roformer help --completions bash\n_roformer() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=generate words=\n"
               "    case ${COMP_WORDS[1]} in ");
    command_names(commands, n, "|");
    out_printf(") [ $COMP_CWORD -gt 1 ] && cmd=${COMP_WORDS[1]};; esac\n    case $cmd:$prev in\n");
    for (int i = 0; i < n; i++)
        for (int at = 0; option_row(&commands[i], &at, &r);)
            if (option_value(&r, 0)) {
                out_printf("    %s:%s", commands[i].name, r.name);
                if (r.letter) out_printf("|%s:-%c", commands[i].name, r.letter);
                out_printf(") words='");
                values_of(&r);
                out_printf("';;\n");
            }
    out_printf("    esac\n    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return; fi\n"
               "    case $cur in -*)\n        case $cmd in\n");
    for (int i = 0; i < n; i++) {
        out_printf("        %s) words='", commands[i].name);
        for (int at = 0, k = 0; option_row(&commands[i], &at, &r); k++) out_printf("%s%s", k ? " " : "", r.name);
        out_printf("';;\n");
    }
    out_printf("        esac\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return;;\n    esac\n"
               "    case $cmd in\n");
    for (int i = 0; i < n; i++)
        if (command_word(&commands[i], 0)) {
            out_printf("        %s) words='", commands[i].name);
            words_of(&commands[i]);
            out_printf("';;\n");
        }
    out_printf("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
               "    [ $COMP_CWORD -eq 1 ] && COMPREPLY+=($(compgen -W 'help ");
    command_names(commands, n, " ");
    out_printf("' -- \"$cur\"))\n    [ \"${COMP_WORDS[1]}\" = help ] && COMPREPLY=($(compgen -W '");
    command_names(commands, n, " ");
    out_printf("' -- \"$cur\"))\n    return 0\n}\ncomplete -o filenames -F _roformer roformer\n");
}

/* text between single quotes of a shell; what zsh's _arguments takes for its own signs is escaped. */
static void quoted(const char *text, const char *special) {
    char *own = as_called(text);
    for (const char *s = own ? own : text; *s; s++) {
        if (strchr(special, *s)) out_printf("\\");
        if (*s == '\'') out_printf("'\\''");
        else out_bytes(s, 1);
    }
    free(own);
}

static void zsh(const Command *commands, int n) {
    OptionRow r;
    out_printf("#compdef roformer\n# zsh completion of roformer, written by: roformer help --completions zsh\n"
               "local cmd=generate\nif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    local -a names=(\n");
    for (int i = 0; i < n; i++) {
        out_printf("        '%s:", commands[i].name);
        quoted(commands[i].summary, "\\:");
        out_printf("'\n");
    }
    out_printf("    )\n    _describe command names\n    _files\n    return\nfi\ncase $words[2] in ");
    command_names(commands, n, "|");
    out_printf(") cmd=$words[2]; shift words; (( CURRENT-- ));; esac\ncase $cmd in\n");
    for (int i = 0; i < n; i++) {
        out_printf("%s) _arguments -s", commands[i].name);
        for (int at = 0; option_row(&commands[i], &at, &r);)
            for (int short_one = 0; short_one <= (r.letter != 0); short_one++) {
                out_printf(" \\\n    '*");
                if (short_one) out_printf("-%c", r.letter);
                else out_printf("%s", r.name);
                if (r.arg && !short_one) out_printf("=%s", r.open ? "-" : "");
                out_printf("[");
                quoted(r.help, "\\[]:");
                out_printf("]");
                if (r.arg && !(short_one && r.open)) {
                    out_printf("%s", r.open ? "::" : ":");
                    quoted(r.arg, "\\:[]");
                    out_printf(":%s", is_file(&r) ? "_files" : option_value(&r, 0) ? "(" : "");
                    if (option_value(&r, 0)) values_of(&r), out_printf(")");
                }
                out_printf("'");
            }
        if (!command_word(&commands[i], 0)) out_printf(" '*:file:_files';;\n");
        else out_printf(" '*:word or file:{_files; compadd -- "), words_of(&commands[i]), out_printf("}';;\n");
    }
    out_printf("esac\n");
}

static void fish(const Command *commands, int n) {
    OptionRow r;
    out_printf("# fish completion of roformer, written by: roformer help --completions fish\nset -l commands ");
    command_names(commands, n, " ");
    out_printf("\n");
    for (int i = 0; i < n; i++) {
        out_printf("complete -c roformer -n \"not __fish_seen_subcommand_from $commands\" -a %s -d '",
                   commands[i].name);
        quoted(commands[i].summary, "\\");
        out_printf("'\n");
    }
    for (int i = 0; i < n; i++)
        if (command_word(&commands[i], 0)) {
            out_printf("complete -c roformer -n \"__fish_seen_subcommand_from %s\" -a '", commands[i].name);
            words_of(&commands[i]);
            out_printf("'\n");
        }
    for (int i = 0; i < n; i++)
        for (int at = 0; option_row(&commands[i], &at, &r);) {
            out_printf("complete -c roformer -n \"%s\" -l %s",
                       i == 0 ? "not __fish_seen_subcommand_from $commands[2..]" : "", r.name + 2);
            if (i) out_printf(" -n \"__fish_seen_subcommand_from %s\"", commands[i].name);
            if (r.letter) out_printf(" -s %c", r.letter);
            if (r.arg && !r.open) out_printf(is_file(&r) ? " -r -F" : " -x");
            if (option_value(&r, 0)) out_printf(" -a '"), values_of(&r), out_printf("'");
            out_printf(" -d '");
            quoted(r.help, "\\");
            out_printf("'\n");
        }
}

int manual_completions(const Command *commands, int n, const char *shell) {
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static void (*const write[])(const Command *, int) = {bash, zsh, fish};
    int i = named("--completions", shell, shells, 0);
    called = "roformer";
    if (i < 0) return EXIT_USAGE;
    write[i](commands, n);
    return 0;
}
