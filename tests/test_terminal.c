/* tests/test_terminal.c - what commands print on a terminal of 80 columns: no line is wider, no word is cut. */
#include "program.h"
#include "test.h"

#include "lab/plot/parts.h"

#include <string.h>

#define M "model/tales-1m.gguf "
#define STORY " 'Tom had a red ball. He liked it.'"

/* stdout and stderr of ./run ARGS there, into out: 1; 0 where there is no terminal. */
static int on_terminal(const char *args) {
    if (shell("script -qec true /dev/null") != 0) {
        test_skip("script makes no terminal here");
        return 0;
    }
    int code = shell("script -qec \"stty cols 80 rows 24; env NO_COLOR=1 PATH=$(dirname %s):$PATH run %s\" /dev/null "
                     "< /dev/null", test_run_path(), args); /* as somebody calls it: by a short name */
    if (code) printf("    %s: code %d\n", args, code);
    CHECK(code == 0);
    return 1;
}

/* What somebody copies may be wider: it stands alone on its line. */
static int to_copy(const char *line) { return strncmp(line, "  --rope ", 9) == 0 && !strchr(line + 9, ' '); }

static void check_lines(const char *args) {
    for (char *line = strtok(out, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        size_t n = strlen(line);
        int fits = (plot_columns(line, n) <= 80 || to_copy(line)) && line[n - 1] != ' ';
        if (!fits) printf("    %s: \"%s\"\n", args, line);
        CHECK(fits);
    }
}

static void widths(void) {
    static const char *const commands[] = {"plan " M "-c 1024", "plan " M,
        "compare " M "-f README.md --rope none,ntk --lengths 32,64,128,256,512 --score 32 -q",
        "compare " M "-f README.md --rope none,ntk,yarn,linear,dca --lengths 64 --by-position --score 32 -q",
        "recall " M "-f README.md --rope none,self-extend --samples 1 -q",
        "recall " M "-f README.md --rope none,self-extend:group=8:window=128 --samples 1 -q",
        "recall " M "-f README.md --longppl -c 300 --samples 1 -q", "proof " M "-q",
        "proof " M "--angles f32 --shift 1,10485759 -q", "passkey " M "--lengths 128,160 --trials 1 -q",
        "rope table", "rope table --rope yarn:factor=4", "rope clock", "rope decay", "rope matrix 3",
        "rope rotate 1,0,1,0 3", "rope relative", "explain " M STORY " turn", "explain " M STORY " lens",
        "explain " M STORY " next -t 0.8", "explain " M STORY " slide", "explain " M STORY " score --shift 100",
        "explain " M STORY " use --layer 4 --head 0", "explain " M STORY " heads", "explain " M STORY " shift",
        "explain " M STORY " pairing", "explain " M STORY " map --without-rope",
        "explain model/tales-1m-linear.gguf" STORY " state"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (on_terminal(commands[i])) check_lines(commands[i]);
}

/* Methods without room have a table of their own; a spec and a command can be copied. */
static void plan(void) {
    if (!on_terminal("plan " M "-c 1024")) return;
    CHECK(strstr(out, "   0     6.2832    40.74  every angle ") && strstr(out, "\r\npair   llama3\r\n   0        1"));
    CHECK(strstr(out, "\r\n  --rope ntk:factor=8\r\n    (twice the factor") && strstr(out, "\r\nyarn:original=256:"));
    CHECK(strstr(out, "yarn,llama3,rerope,self-extend,dca \\\r\n  --lengths 256,1024\r\n"));
    CHECK(run("plan " M "-c 1024") == 0 && strstr(out, "self-extend,dca --lengths 256,1024\n"));
    CHECK(strstr(out, " by-parts         yarn       llama3\n") && strstr(out, "\nfarthest (ms-poe"));
}

/* The columns that have no room are below, and the pipe's row has all. */
static void tables(void) {
    static const char compare[] = "compare " M "-f README.md --rope none,ntk --lengths 32,64,128,256,512 --score 32 -q",
                      recall[] = "recall " M "-f README.md --rope none --samples 1 -q";
    if (!on_terminal(compare)) return;
    CHECK(strstr(out, "loss                   32               64              128\r\nnone "));
    CHECK(strstr(out, "\r\n\r\nloss                  256              512\r\nnone "));
    CHECK(run(compare) == 0 && strstr(out, "              128              256              512\nnone "));
    CHECK(on_terminal(recall) && strstr(out, "\r\nnone       64     1 "));
    CHECK(run(recall) == 0 && strstr(out, "\nnone                                     64       1 "));
}

/* The query's columns, then the key's; a line of C is parted between words. */
static void pairs(void) {
    if (!on_terminal("explain " M STORY " turn")) return;
    const char *query = strstr(out, "pair               query         by               after\r\n"),
               *key = strstr(out, "pair                 key         by               after\r\n");
    CHECK(query && key > query);
    CHECK(run("explain " M STORY " turn") == 0 && strstr(out, "         by               after                 key "));
    CHECK(on_terminal("explain " M STORY " score") && strstr(out, "->scores(s,\r\ntrace_rq("));
    CHECK(on_terminal("explain " M STORY " map --without-rope") && strstr(out, " head 0  no RoPE head 1  no RoPE "));
    CHECK(run("explain " M STORY " lens") == 0 && !strstr(out, " \n"));
}

/* What explains a picture is not cut. */
static void subtitles(void) {
    static const struct { const char *command, *line; } rows[] = {
        {"rope wavelengths " M, "\r\npair has been all around in training\r\n"},
        {"proof " M "-q", "others on\r\n"},
        {"perplexity " M "-f README.md --by-position -q", "error\r\n"},
        {"compare " M "-f README.md --rope none,ntk --lengths 32,64 --score 32 -q", "line\r\n"},
        {"rope axes 'text:3 image:2x3 text:2' --kind tie-v2", "theirs (Su,\r\nkexue.fm 10352)\r\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (on_terminal(rows[i].command)) {
            if (!strstr(out, rows[i].line)) test_fail(__FILE__, __LINE__, rows[i].command);
            CHECK(!strstr(out, "\xe2\x80\xa6"));
            check_lines(rows[i].command);
        }
}

/* Help of every command; examples go on behind a backslash, and a comment stands alone where it has no room. */
static void help(void) {
    static const char *const commands[] = {
        "", "chat", "logits", "score", "tokenize", "perplexity", "compare", "passkey", "recall", "plan", "proof",
        "plot", "rope", "explain", "bench", "fill", "classify", "embed", "rank", "convert", "quantize", "inspect",
        "train"};
    char args[60];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(args, sizeof args, "%s --help", commands[i]);
        if (on_terminal(args)) check_lines(args);
    }
    if (on_terminal("--rope help")) check_lines("--rope help");
    if (on_terminal("--help models")) check_lines("--help models");
    if (!on_terminal("compare --help")) return;
    CHECK(strstr(out, " -f book.txt \\\r\n      --rope none,linear,ntk,yarn,rerope:window=128 --svg loss.svg\r\n"));
    CHECK(strstr(out, " --resume loss.csv\r\n      # go on after Ctrl-C\r\n"));
    CHECK(run("compare --help") == 0 && strstr(out, "rerope:window=128 --svg loss.svg\n"));
}

/* Notes and errors are lines on stderr: on a terminal broken between words, else whole. */
static void notes(void) {
    static const char chat[] = "chat -c 100 -t 0 --ignore-eos -i 'Tell me a story' < /dev/null";
    if (!on_terminal(chat)) return;
    CHECK(strstr(out, "is used up by this turn alone; -c makes room for\r\nmore\r\n"));
    check_lines(chat);
    CHECK(piped("Tell me a story\n", "chat -c 100 -t 0 --ignore-eos") == 0 && strstr(said, "-c makes room for more\n"));
    CHECK(run("--nothing-of-that-kind") == 2 && said_line("is not an option of generate; "));
}

const Test tests_terminal[] = {{"terminal/widths", widths},
                               {"terminal/plan", plan},
                               {"terminal/tables", tables},
                               {"terminal/pairs", pairs},
                               {"terminal/subtitles", subtitles},
                               {"terminal/help", help},
                               {"terminal/notes", notes},
                               {0}};
