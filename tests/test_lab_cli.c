/* tests/test_lab_cli.c - the lab's commands in wrong hands: one line that says what is wrong, before anything is
 * measured. */
#include "program.h"
#include "test.h"

#include "build.h"
#include "decoder_files.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define M "model/tales-1m.gguf "

static const char *text(void) {
    static char story[4000];
    size_t n = 0;
    while (n + 60 < sizeof story) n += (size_t)snprintf(story + n, 60, "Tom had a red ball. He liked it. ");
    file_write(test_tmp("lab.txt"), story, n);
    file_write(test_tmp("nul.txt"), "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\0x", 33);
    return test_tmp("lab.txt");
}

static void wrong_use(void) {
    static const struct { int code; const char *command, *line; } rows[] = {
        {2, "plan " M "--rope foo", "there is no method \"foo\""},
        {2, "plan " M "--rope yarm", "did you mean yarn"},
        {2, "plan " M "--rope ,", "name is missing"},
        {2, "plan " M "--rope-factor 2", "not an option of plan"},
        {1, "logits " M "--ids 1 --rope longrope", "its divisors are not known"},
        {2, "logits " M "--ids 1 --rope longrope:long=not-there", "long: not-there: No such file"},
        {2, "logits " M "--ids 1 --rope longrope:long=$NUL", "no list of numbers"},
        {2, "logits " M "--ids 1 --rope yarn:factor=2 --rope-factor 4", "has a factor of its own"},
        {1, "logits " M "--ids 1 --rope dynamic-each+ms-poe", "ms-poe ranks heads"},
        {2, "compare " M "-f $TEXT --rope none --json --csv", "both given"},
        {1, "compare " M "-f $TEXT --rope none --lengths 16 --score 9 --resume /dev/null", "not a regular file"},
        {1, "compare " M "-f $TEXT --rope none --lengths 16 --from 100000 --score 3", "--from 100000: "},
        {1, "compare " M "-f $TEXT --rope none --lengths 16 --score 1000000", "too few for --score"},
        {1, "passkey " M "--lengths 64 --svg /dev/full", "--svg"},
        {1, "recall " M "-f $TEXT --svg /dev/full", "--svg"},
        {1, "proof " M "--svg /dev/full", "--svg"},
        {1, "perplexity " M "-f $TEXT --by-position --svg /dev/full", "--svg"},
        {2, "recall " M "-f $TEXT --longppl --svg x.svg", "no meaning with --longppl"},
        {2, "recall " M "-f $TEXT -c 64", "goes with --longppl"},
        {1, "proof " M "--rope infllm --json", "cannot begin later"},
        {1, "proof " M "--angles bf16 --rope rerope:window=100", "in double only"},
        {2, "recall " M "-f $TEXT --rope ''", "no method is named"},
        {2, "proof " M "--kv f16", "not an option of proof"},
    };
    char command[1000];
    if (!test_sanitized) /* which end where so much is asked for */
        CHECK(run("passkey " M "--lengths 200,1000000000 --trials 1 -q") == 1 && *out == 0 && said_line("--lengths: "));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *dollar = strchr(rows[i].command, '$');
        int nul = dollar && strncmp(dollar, "$NUL", 4) == 0;
        snprintf(command, sizeof command, "%.*s%s%s", (int)(dollar ? dollar - rows[i].command : 900), rows[i].command,
                 dollar ? nul ? test_tmp("nul.txt") : text() : "", dollar ? dollar + (nul ? 4 : 5) : "");
        text();
        int code = run("%s -q", command);
        if (code != rows[i].code) printf("    %s: code %d, %s\n", command, code, said);
        CHECK(code == rows[i].code && *out == 0 && said_line(rows[i].line));
    }
}

/* What a file's name may hold does not break the numbers' form. */
static void names(void) {
    file_write(test_tmp("l,\"st"), "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", 31);
    const char *list = test_tmp("l,st");
    file_write(list, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", 31);
    const char *ask = "recall " M "-f %s --rope 'longrope:long=\"%s\"' --distances 64 --samples 1 -q %s";
    CHECK(run(ask, text(), list, "--csv") == 0);
    const char *row = strstr(out, "\n\"longrope:long=\"\"");
    CHECK(row && strstr(row, "\"\"\",64,1,"));
    CHECK(run(ask, text(), list, "--json") == 0);
    CHECK(strstr(out, "\"rope\":\"longrope:long=\\\"") && strstr(out, "\"spec\":\"longrope:original=256:factor="));
    CHECK(run("plan " M "-c 1024") == 0 && strstr(out, "  --rope dca:") && strstr(out, "  --rope by-parts:") &&
          strstr(out, "none,ntk:factor=8,sinks,by-parts,yarn,llama3,rerope,self-extend,dca --lengths 256,1024"));
    CHECK(run("plan " M "-c 1024 --rope-theta 10") == 0 && strstr(out, "--rope none,") && !strstr(out, ",none,"));
    CHECK(run("plan " M "--rope 'longrope:long=\"%s\"' --csv", list) == 0 && strstr(out, "\n\"longrope:original=256"));
}

/* A spec of more than 2,000 characters is kept whole: a state of another one is told from it. */
static void long_specs(void) {
    char divisors[2000] = "";
    for (int i = 0; i < 16; i++) snprintf(divisors + strlen(divisors), 60, "%s1.23456789012345%02d", i ? "/" : "", i);
    CHECK(run("logits " M "--ids 1,5,7,9 --rope longrope:long=%s:short=%s+rerope:window=2 --save-state %s", divisors,
              divisors, test_tmp("long.state")) == 0);
    CHECK(run("logits " M "--ids 5 --rope longrope:long=%s:short=%s+rerope:window=20 --load-state %s", divisors,
              divisors, test_tmp("long.state")) == 1);
    CHECK(strstr(said, "was read with --rope ..") && strstr(said, "+rerope:window=2, and this session has .."));
    CHECK(strstr(said, "+rerope:window=20: give the same"));
}

/* A span longer than the nearest usual distance: distances begin at it. */
static void long_spans(void) {
    CHECK(run("recall " M "-f %s --span 100 --samples 1 --csv -q", text()) == 0 && strstr(out, "\nfile,100,1,"));
}

/* A text that fills the context with BOS in front of it is long enough; one of an id less is not. */
static void whole_texts(void) {
    const char *file = test_tmp("whole.txt"), *at = NULL;
    int ids;
    const char *story = "Tom had a red ball. He liked it. Tom had a red ball. He liked it.";
    file_write(file, story, strlen(story));
    CHECK(run("recall " M "-f %s --longppl -c 1000 --samples 1 -q", file) == 1 && (at = strstr(said, " has ")) != NULL);
    if (!at || sscanf(at, " has %d ids, and 999 are needed", &ids) != 1) ids = 0;
    CHECK(ids > 15);
    CHECK(run("recall " M "-f %s --longppl -c %d --short 4 --samples 1 --csv -q", file, ids + 1) == 0);
    char counted[20];
    snprintf(counted, sizeof counted, ",%d,", ids - 1);
    CHECK(strstr(out, counted) != NULL);
    CHECK(run("recall " M "-f %s --longppl -c %d --short 4 --samples 1 -q", file, ids + 2) == 1);
}

/* Ctrl-C: what was measured is shown, what was not is told, and the exit code is 130. */
static void interrupted(void) {
    static const char passkey[] = "passkey " M "-j 1 --lengths 128,16384 --depths 50 --trials 2",
                      recall[] = "recall " M "--distances 64,128 --samples 100000",
                      longppl[] = "recall " M "--longppl -c 600 --samples 100000",
                      not_all[] = "1 of 2 cells were not measured", before[] = "measured before";
    static const struct { const char *command, *form, *line, *shown, *not_shown; } rows[] = {
        {passkey, "", not_all, "                -\n", " nan"},
        {passkey, "--csv", not_all, "\nfile,128,50,2,0,", "\nfile,16384,"},
        {passkey, "--json", not_all, "\"length\":128,", "\"length\":16384,"},
        {recall, "", before, "       64 ", "      128 "},
        {recall, "--csv", before, "\nfile,64,", "\nfile,128,"},
        {recall, "--json", before, "\"distance\":64,", "\"distance\":128,"},
        {longppl, "", before, "\nas the file says  ", " nan"},
        {longppl, "--json", before, "\"rope\":\"file\"", ":nan"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *book = rows[i].command == passkey ? "" : "-f ";
        int code = shell(INTERRUPT_AFTER "2 %s %s %s%s %s", test_run_path(), rows[i].command, book,
                         *book ? text() : "", rows[i].form);
        CHECK(code == 130 && said_line("interrupted: ") && strstr(said, rows[i].line));
        CHECK(strstr(out, rows[i].shown) && !strstr(out, rows[i].not_shown));
    }
}

/* A terminal's pictures have colours, unless NO_COLOR holds something or TERM is dumb. */
static void colours(void) {
    static const struct { const char *environment; int coloured; } rows[] = {
        {"-u NO_COLOR TERM=xterm", 1}, {"NO_COLOR= TERM=xterm", 1}, {"NO_COLOR=1 TERM=xterm", 0},
        {"-u NO_COLOR TERM=dumb", 0}};
    if (shell("script -qec true /dev/null") != 0) test_skip("script makes no terminal here");
    else
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            CHECK(shell("script -qec \"env %s %s rope decay\" /dev/null < /dev/null", rows[i].environment,
                        test_run_path()) == 0);
            CHECK(*out && (strstr(out, "\033[") != NULL) == rows[i].coloured);
        }
}

static void help_for_specs(void) {
    CHECK(run("--rope help") == 0 && strstr(out, "\nyarn  (arXiv:2309.00071)\n") && strstr(out, "  beta_fast  "));
    CHECK(run("compare --rope help") == 0 && strstr(out, "\nrerope  ("));
}

/* The same but for numbers, which may be a unit of a place's last digit apart: 0.1, as another row rounds it. */
static int same_picture(const char *a, const char *b) {
    while (*a && *b) {
        char *end_a, *end_b;
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            if (fabs(strtod(a, &end_a) - strtod(b, &end_b)) > 0.1001) return 0;
            a = end_a, b = end_b;
        } else if (*a++ != *b++) return 0;
    }
    return !*a && !*b;
}

/* A chapter's picture is what its command draws. */
static void pictures(void) {
    static const char story[] = "explain " M "'Tom had a red ball. He liked to play with it.'";
    static const struct { const char *command, *topic, *picture; } rows[] = {
        {"rope", "clock", "rope/clock.svg"},        {"rope", "decay", "rope/decay.svg"},
        {story, "turn", "rope/turn.svg"},           {story, "map", "attention/heads.svg"},
        {story, "score", "attention/score.svg"},    {story, "lens", "model/lens.svg"},
        {"plan " M, "-c 1024 --rope none,linear,ntk,yarn,rerope,self-extend,dca", "lab/plan.svg"}};
    const char *drawn = test_tmp("drawn.svg");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(run("%s %s -q --svg %s", rows[i].command, rows[i].topic, drawn) == 0);
        size_t n[2];
        char *svg[2] = {file_read(drawn, &n[0]), file_read(rows[i].picture, &n[1])};
        if (!svg[0] || !svg[1] || !same_picture(svg[0], svg[1])) test_fail(__FILE__, __LINE__, rows[i].picture);
        free(svg[0]);
        free(svg[1]);
    }
}

/* The number in a CSV's column of its last line that begins so; NaN: there is none. */
static double number_at(const char *begins, int column) {
    const char *line = NULL;
    for (const char *s = out; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (strncmp(s, begins, strlen(begins)) == 0) line = s;
    for (; line && column > 0; column--) line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
    return line ? strtod(line, NULL) : NAN;
}

/* A window in all layers bounds what a query sees; one in those alone that rotate (EXAONE 4), how far. */
static void windows(void) {
    CHECK(run("plan %s -c 256 --rope none --csv", hf_folder("mistral", "", TENSOR_F32, &sound)) == 0);
    CHECK(number_at("none,", 5) == 7 && number_at("none,", 6) == 8 && number_at("none,", 7) == 0);
    CHECK(run("plan %s -c 256 --rope none --csv", hf_folder("exaone4", "", TENSOR_F32, &sound)) == 0);
    CHECK(number_at("none,", 5) == 7 && number_at("none,", 6) == 256);
    CHECK(run("plan %s -c 256", hf_folder("mistral", "", TENSOR_F32, &sound)) == 0);
    CHECK(strstr(out, "nothing to stretch"));
    CHECK(run("plan " M "-c 512 --rope none --csv") == 0 && number_at("none,", 5) == 511);
    CHECK(run("plan model/words-1m.gguf -c 256") == 0 && !strstr(out, "compare")); /* an encoder has no loss */
}

/* What explain and rope say of methods that multiply, and of linear attention. */
static void other_ways(void) {
    static const char story[] = "'Tom had a red ball. He liked it.'", linear[] = "model/tales-1m-linear.gguf";
    CHECK(run("explain %s %s shift --csv", linear, story) == 0 && number_at("1000,", 3) > 1);
    CHECK(run("explain %s %s shift --form none", linear, story) == 0 && strstr(out, "nothing turns them"));
    CHECK(run("explain " M "%s shift --rope log-n:original=4", story) == 0 && strstr(out, "This is no rounding"));
    CHECK(run("explain %s %s state --form both", linear, story) == 0 && strstr(out, "both turned."));
    CHECK(run("explain %s %s use --phi favor+ --layer 0 --head 0 --csv", linear, story) == 0);
    CHECK(number_at("0,0,63,", 4) > 0);
    CHECK(run("explain " M "%s score --shift 100 --csv", story) == 0);
    NEAR(number_at("moved,", 3), number_at("engine,", 3), 1e-4, 0); /* floats' angles at 100 */
    CHECK(run("explain model/words-1m.gguf %s score --query 4 --key 2 --shift 10", story) == 1);
    CHECK(said_line("--shift is for models that read from left to right"));
    CHECK(run("explain " M "%s turn --rope yarn:factor=4 --csv", story) == 0);
    double length = hypot(number_at("3,", 1), number_at("3,", 2));
    NEAR(hypot(number_at("3,", 7), number_at("3,", 8)) / length, 1 + 0.1 * log(4), 1e-6, 0);
    CHECK(run("rope decay --rope yarn:factor=4 --dims 4 --q 1,0,0,0 --k 1,0,0,0 --theta 10000 --csv") == 0);
    NEAR(number_at("0,", 2), pow(1 + 0.1 * log(4), 2), 1e-6, 0);
    CHECK(run("explain model/words-1m.gguf 'tom had a [MASK] ball.' slide --query 1 --key 5 --csv") == 0);
    CHECK(!isnan(number_at("-4,", 1)));
}

/* The model with piece `to` in place of `from`, which is as long. */
static const char *other_piece(const char *from, const char *to) {
    const char *model = test_tmp("lines.gguf");
    size_t n, len = strlen(from), at = 8;
    char *file = file_read("model/tales-1m.gguf", &n);
    while (at + len < n && ((unsigned char)file[at - 8] != len || memcmp(file + at, from, len) != 0)) at++;
    memcpy(file + at, to, len);
    file_write(model, file, n);
    free(file);
    return model;
}

/* A piece that ends a line is one field of a row, and one word of a table; JSON has no control character of a prompt's,
 * nor one of C1. */
static void controls(void) {
    const char *prompt = test_tmp("csi.txt"), *model = other_piece("\xe2\x96\x81" "From", "\xe2\x96\x81" "F\n\"m");
    CHECK(run("explain %s One lens --csv", model) == 0 && strstr(out, ",841,\"F\n\"\"m\","));
    model = other_piece("Z", "\n");
    CHECK(run("explain %s \"One\n\" lens", model) == 0 && strstr(out, "behind \"?\" (2)"));
    CHECK(run("explain %s \"One\n\" state --attention linear", model) == 0 && strstr(out, "\n    2  ?      "));
    const char *folder = test_tmp("spoken");
    const char said_first[] = "{\"prompts\":{\"query\":\"a\\u001bb\"},\"default_prompt_name\":\"query\"}";
    build_hf(folder, &(BuildShape){.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 2, .n_ctx = 16}, TENSOR_F32,
             1);
    file_write(test_in(folder, "config_sentence_transformers.json"), said_first, sizeof said_first - 1);
    CHECK(run("embed %s One -v", folder) == 0 && strstr(said, "in front of each text: \"a?b\""));
    file_write(prompt, "\xc2\x9b" "1mOne\x1b", 8);
    CHECK(run("-f %s --json --max-tokens 2 -t 0", prompt) == 0 && strstr(out, "\\u009b1mOne\\u001b"));
}

const Test tests_lab_cli[] = {{"lab cli/wrong use", wrong_use},
                              {"lab cli/names", names},
                              {"lab cli/long specs", long_specs},
                              {"lab cli/--rope help", help_for_specs},
                              {"lab cli/long spans", long_spans},
                              {"lab cli/whole texts", whole_texts},
                              {"lab cli/interrupted", interrupted},
                              {"lab cli/pictures", pictures},
                              {"lab cli/colours", colours},
                              {"lab cli/windows", windows},
                              {"lab cli/other ways", other_ways},
                              {"lab cli/control characters", controls},
                              {0}};
