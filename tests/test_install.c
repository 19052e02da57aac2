/* tests/test_install.c - make install, and what it puts beside the program: pages of man and completions that say what
 * the tables of commands and options say. */
#include "base/paths.h"
#include "build.h"
#include "program.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Into a folder of DESTDIR, and out of it. */
static void installs(void) {
    const char *root = test_tmp("root");
    if (!has("make")) test_skip("make install: make is not here");
    else {
        CHECK(shell("make -s install DESTDIR=%s PREFIX=/opt%s", root, "") == 0);
        CHECK(shell("cd %s/opt && ls bin share/man/man1 share/bash-completion/completions share/zsh/site-functions "
                    "share/fish/vendor_completions.d%s", root, "") == 0);
        CHECK(strstr(out, "roformer\n") && strstr(out, "roformer-quantize.1") && strstr(out, "_roformer"));
        CHECK(shell("PATH=%s/opt/bin:$PATH; roformer --help | head -n 3; roformer -i 'Once' -n 8 -t 0 -q%s",
                    root, "") == 0);
        CHECK(strstr(out, "usage: roformer [MODEL]") && strstr(out, "Once upon a time"));
        CHECK(shell("PATH=%s/opt/bin:$PATH; for c in '' chat convert rope train explain; do roformer help $c; done%s",
                    root, "") == 0 && !strstr(out, "./run") && strstr(out, "  roformer convert TinyLlama"));
        CHECK(shell("PATH=%s/opt/bin:$PATH; roformer nosuch%s", root, "") == 2 &&
              said_line("roformer: there is no command and no model nosuch; a text") &&
              strstr(said, "; roformer --help shows"));
        CHECK(shell("make -s uninstall DESTDIR=%s PREFIX=/opt && find %s -type f", root, root) == 0 && *out == 0);
    }
}

/* The tarball builds where no git is, and says its version; by musl it is one file without libraries. */
static void tarball(void) {
    const char *root = test_tmp("dist");
    if (!has("git") || !has("make") || shell("git rev-parse HEAD%s%s", "", "") != 0) {
        test_skip("make dist: this is no clone, or git is not here");
        return;
    }
    CHECK(shell("mkdir -p %s && make -s dist && mv roformer-*.tar.gz %s/r.tar.gz", root, root) == 0);
    CHECK(shell("cd %s && tar xzf r.tar.gz --strip-components=1 && cat VERSION%s", root, "") == 0);
    char *version = taken_out(), program[600];
    snprintf(program, sizeof program, "%s/run", root);
    CHECK(shell("cd %s && " MAKE_ANEW "CFLAGS=-O1 run && ./run --version%s", root, "") == 0);
    CHECK(version && strlen(version) > 3 && strstr(out, version));
    free(version);
    if (!has("musl-gcc")) test_skip("make STATIC=1: musl-gcc is not here");
    else {
        CHECK(shell("cd %s && " MAKE_ANEW "CFLAGS=-O1 STATIC=1 CC=musl-gcc run && (ldd %s || true)", root,
                    program) == 0);
        CHECK(!strstr(out, "=>"));
        CHECK(shell("%s -i Once -n 8 -t 0 -q%s", program, "") == 0 && strstr(out, "Once upon a time"));
    }
}

static void pages(void) {
    CHECK(run("help --man") == 0 && strstr(out, ".TH ROFORMER 1") && strstr(out, "\\-\\-temperature"));
    CHECK(strstr(out, ".BR roformer\\-quantize (1)") && !strstr(out, "./run"));
    CHECK(run("help --man convert") == 0 && strstr(out, "\\fB\\-\\-type\\fR \\fITYPE\\fR"));
    CHECK(run("help --man train") == 0 && strstr(out, "\\-\\-d\\-model"));
    CHECK(run("help --man nosuch") == 2 && *out == 0 && said_line("no command nosuch"));
    CHECK(run("help --completions tcsh") == 2 && *out == 0 && said_line("bash, zsh, fish are known"));
    if (!has("groff")) {
        test_skip("pages of man: groff is not here");
        return;
    }
    /* no warning, and no line that is lost */
    CHECK(shell("for c in '' $(sed -n 's/^    {\"\\([a-z]*\\)\", \".*/\\1/p' run.c); do echo \"$c\"; "
                "%s help --man $c | groff -man -Tutf8 -ww -z || exit 1; done", test_run_path()) == 0 && *said == 0);
    CHECK(count_lines(out) > 20 && strstr(out, "\nquantize\n"));
}

/* What a command is about stands in front of its options, filled but for tables; examples are examples. */
static void about(void) {
    CHECK(run("help --man chat") == 0);
    char *keys = strstr(out, "\n.PP\nAt the prompt: keys"), *examples = strstr(out, ".SH EXAMPLES\n.nf\n");
    CHECK(keys && examples && keys < strstr(out, ".SH OPTIONS") && !strstr(examples, "readline"));
    CHECK(run("help --man quantize") == 0 && strstr(out, ".SH DESCRIPTION\n.PP\n.nf\n  TYPE "));
    CHECK(strstr(out, "0.5 %\n") && strstr(out, "27 %\n.fi\n.PP\nThese are"));
    CHECK(strstr(out, ".SH SEE ALSO\n.BR roformer (1),\n.BR roformer\\-tokenize (1),\n.BR roformer\\-convert (1)\n"));
    CHECK(run("help --man") == 0 && !strstr(out, ".BR roformer (1)"));
    CHECK(run("help quantize") == 0);
    keys = strstr(out, "\n  Q4_0 "), examples = strstr(out, "\nexamples:\n");
    CHECK(keys && examples && keys < strstr(out, "\ntext in:\n") && count_lines(examples) == 5);
    CHECK(run("help train") == 0);
    char *train = taken_out();
    CHECK(run("train --help") == 0 && train && strcmp(out, train) == 0 && strstr(out, "--d-model N "));
    CHECK(strstr(out, "on this machine's processor") && strstr(out, "\nexamples:\n  "));
    examples = train ? strstr(train, "\nexamples:") : NULL;
    for (char *line = train, *end; examples && line < examples; line = end + 1) {
        end = strchr(line, '\n');
        CHECK(end - line <= 100);
    }
    free(train);
}

/* What bash offers for a line whose last word is being typed. */
static int offered(const char *line, const char *expected) {
    const char *path = test_tmp("completion.bash");
    char command[600];
    snprintf(command, sizeof command,
             "bash -c '. %.300s; COMP_WORDS=(roformer %.100s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
             "_roformer; echo \"${COMPREPLY[*]}\"'", path, line);
    int good = shell("%s%s", command, "") == 0 && strncmp(out, expected, strlen(expected)) == 0;
    if (!good) printf("    %s: %s", line, out);
    return good;
}

/* "    CMD:--option|CMD:-x) words='..';;": each of these is in that command's help. Those of --pre are too many. */
static void values_are_in_help(const char *bash) {
    char last[20] = "", command[20], option[40], words[2000];
    int n = 0;
    for (const char *line = bash; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (sscanf(line, "    %19[a-z]:%39[^|)]%*[^=]='%1999[^']'", command, option, words) != 3) continue;
        if (strcmp(option, "--pre") == 0) continue;
        if (strcmp(command, last) != 0) CHECK(run("help %s", command) == 0);
        snprintf(last, sizeof last, "%s", command);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "), n++) {
            if (!strstr(out, word)) printf("    %s %s %s\n", command, option, word);
            CHECK(strstr(out, word) != NULL);
        }
    }
    CHECK(n > 300);
}

static void completions(void) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (int i = 0; i < 3; i++) {
        CHECK(run("help --completions %s", shells[i]) == 0 && strstr(out, "min-p") && !strstr(out, "./run"));
        file_write(test_tmp("completion.bash"), out, strlen(out));
        if (!has(shells[i])) test_skip("completions of a shell that is not here");
        else CHECK(shell("%s -n %s", shells[i], test_tmp("completion.bash")) == 0 && *said == 0);
    }
    if (has("fish") && shell("fish -c 'source %s; complete -C \"roformer quantize a b Q4_K\"; "
                             "complete -C \"roformer --kv q\"'", test_tmp("completion.bash")) == 0)
        CHECK(strncmp(out, "Q4_K_M\n", 7) == 0 && strstr(out, "\nq8_0\t"));
    CHECK(run("help --completions bash") == 0);
    file_write(test_tmp("completion.bash"), out, strlen(out));
    char *bash = taken_out();
    if (bash) values_are_in_help(bash);
    free(bash);
    if (!has("bash")) return;
    CHECK(offered("quan", "quantize\n") && offered("chat --temp", "--temperature\n"));
    CHECK(offered("--kernels re", "ref\n") && offered("train --d-m", "--d-model\n"));
    CHECK(offered("chat --kv q", "q8_0\n") && offered("convert --type k", "keep\n") && offered("-m c", "chat\n"));
    CHECK(offered("embed --pooling me", "mean\n") && offered("rope rotate --pairing h", "half\n"));
    CHECK(offered("logits --attention l", "linear\n") && offered("bench --form b", "both before-phi\n"));
    CHECK(offered("proof --angles g", "ggml\n") && offered("convert --pooler ta", "tanh\n"));
    CHECK(offered("train --family r", "roformer\n") && offered("train --position al", "alibi\n"));
    CHECK(offered("quantize a b Q4_K", "Q4_K_M Q4_K_S\n") && offered("rope wave", "wavelengths\n"));
    CHECK(offered("explain Tom le", "lens\n"));
    CHECK(offered("help perp", "perplexity\n") && offered("inspect LICEN", "LICENSE\n"));
}

/* The tools are commands, and weights-tools/ has other names of the program. */
static void commands(void) {
    const char *one = test_tmp("one.gguf"), *two = test_tmp("two.gguf");
    CHECK(run("quantize model/tales-1m-linear.gguf %s F16 -q -f", one) == 0);
    CHECK(tool("", "quantize", "model/tales-1m-linear.gguf %s F16 -q", two) == 0 && files_equal(one, two));
    CHECK(run("quantize model/tales-1m-linear.gguf %s Q8_0", one) == 1 && said_line("-f writes over it"));
    CHECK(run("convert model/tales-1m-linear.gguf %s", one) == 1 && said_line("-f writes over it"));
    CHECK(files_equal(one, two) && run("convert %s %s -f -q", two, one) == 0);
    CHECK(run("inspect %s --summary", one) == 0 && strstr(out, "linear"));
    CHECK(run("train") == 2 && said_line("train --help shows"));
}

const Test tests_install[] = {{"install/make install", installs}, {"install/tarball", tarball},
                              {"install/pages of man", pages}, {"install/what commands are about", about},
                              {"install/completions", completions}, {"install/tools are commands", commands}, {0}};
