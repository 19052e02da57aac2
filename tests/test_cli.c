/* tests/test_cli.c - the program as its users meet it: what comes out, where, and the exit code. */
#include "cli_files.h"
#include "decoder_files.h"
#include "base/json.h"
#include "program.h"
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void story(void) {
    CHECK(run("-s 7 -q") == 0);
    CHECK(strlen(out) > 200 && *said == 0 && out[strlen(out) - 1] == '\n');
    char *first = taken_out();
    CHECK(run("-s 7 --seed=7 --threads 2") == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(strstr(said, "tok/s") && count_lines(said) <= 2); /* timings, and perhaps that the context is used up */
    free(first);
}

/* Where llama2.c's text is at stake seeds are its own; elsewhere others, though the chain leaves the same ids. */
static void seeds(void) {
    char cmd[600];
    CHECK(run("-s 7 -q -n 50") == 0);
    char *own = taken_out();
    CHECK(run("-s 7 -q -n 50 --min-p 1e-30 --kernels ref") == 0 && strcmp(out, own) != 0);
    CHECK(run("-s 7 -q -n 50 --penalty-window 5 --top-k 0 --repetition-penalty 1") == 0 && strcmp(out, own) == 0);
    free(own);
    snprintf(cmd, sizeof cmd, "echo Hello | %s chat -s 7 -q -n 50", test_run_path());
    CHECK(test_shell(cmd, &out, &said) == 0);
    own = taken_out();
    snprintf(cmd, sizeof cmd, "echo Hello | %s -m chat -s 7 -q -n 50", test_run_path());
    CHECK(test_shell(cmd, &out, &said) == 0 && strcmp(out, own) != 0);
    free(own);
}

static void one_text_from_three_formats(void) {
    CliModel m = cli_model();
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos", m.gguf) == 0);
    char *first = taken_out();
    CHECK(strncmp(first, "the sand", 8) == 0);
    CHECK(run("generate %s -t 0 -n 30 -i 'the sand' --ignore-eos", m.folder) == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos", m.bin) == 0);
    CHECK(strcmp(first, out) == 0);
    CHECK(run("%s/model.safetensors -t 0 -n 30 -i 'the sand' --ignore-eos", m.folder) == 0);
    CHECK(strcmp(first, out) == 0);
    for (size_t n = 8; n < 10; n++) { /* without and with a newline at the file's end, which is none of the prompt's */
        file_write(test_tmp("p.txt"), "the sand\n", n);
        CHECK(run("%s -t 0 -n 30 -f %s --ignore-eos", m.gguf, test_tmp("p.txt")) == 0);
        CHECK(strcmp(first, out) == 0);
    }
    file_write(test_tmp("p.txt"), "the sand\n\n", 10); /* one newline, not two */
    CHECK(run("%s -t 0 -n 30 -f %s --ignore-eos", m.gguf, test_tmp("p.txt")) == 0);
    CHECK(strncmp(out, "the sand\n", 9) == 0);
    CHECK(run("%s -t 0 -n 30 -i 'the sand' --ignore-eos --no-echo", m.gguf) == 0);
    CHECK(strcmp(first + 8, out) == 0);
    free(first);
}

/* run() gives every command /dev/null as stdin; this one gets a file through a pipe. */
static void from_stdin(void) {
    char cmd[2500];
    CliModel m = cli_model();
    snprintf(cmd, sizeof cmd, "printf 'the sand' | %s %s -t 0 -n 20 -f - --ignore-eos -q > %s", test_run_path(),
             m.gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0);
    CHECK(run("%s -t 0 -n 20 -i 'the sand' --ignore-eos", m.gguf) == 0);
    CHECK(text_is_of(out, test_tmp("a.txt")));
    snprintf(cmd, sizeof cmd, "echo 'the sand' | %s %s -t 0 -n 20 --ignore-eos -q > %s", test_run_path(), m.gguf,
             test_tmp("a.txt")); /* nobody named stdin: echo's newline is not the prompt's */
    CHECK(system(cmd) == 0);
    CHECK(run("%s -t 0 -n 20 -i 'the sand' --ignore-eos", m.gguf) == 0);
    CHECK(text_is_of(out, test_tmp("a.txt")));
    snprintf(cmd, sizeof cmd, "printf '' | %s %s -t 0 -n 20 --ignore-eos -q > %s", test_run_path(), m.gguf,
             test_tmp("a.txt")); /* nothing is no text */
    CHECK(system(cmd) == 0 && run("%s -t 0 -n 20 --ignore-eos", m.gguf) == 0);
    CHECK(text_is_of(out, test_tmp("a.txt")));
    snprintf(cmd, sizeof cmd, "%s perplexity %s < README.md -q > %s", test_run_path(), m.gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0 && run("perplexity %s -f README.md -q", m.gguf) == 0);
    char *piped = file_read(test_tmp("a.txt"), NULL);
    CHECK(piped && strncmp(piped, out, strcspn(out, "\n")) == 0); /* its speed differs */
    free(piped);
    snprintf(cmd, sizeof cmd, "sleep 2 | %s %s -n 5 > /dev/null 2> %s", test_run_path(), m.gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0);
    char *waits = file_read(test_tmp("a.txt"), NULL);
    CHECK(waits && strstr(waits, "waiting for a text on stdin"));
    free(waits);
    snprintf(cmd, sizeof cmd, "printf 'the sand' | %s tokenize %s > %s", test_run_path(), m.gguf, test_tmp("a.txt"));
    CHECK(system(cmd) == 0);
    CHECK(run("tokenize %s 'the sand'", m.gguf) == 0);
    CHECK(text_is_of(out, test_tmp("a.txt")));
}

static void lengths_and_json(void) {
    double ids[100];
    CliModel m = cli_model();
    CHECK(run("%s -t 0 -n 10 -i 'the sand' --ignore-eos --json -q", m.gguf) == 0 && *said == 0);
    int prompt = golden_list(out, "\"prompt_tokens\"", ids, 100), fresh = golden_list(out, "\"tokens\"", ids, 100);
    CHECK(prompt + fresh == 11); /* ten behind BOS; they take ten positions, for the last one is not read again */
    CHECK(strstr(out, "\"stop\":\"length\"") && strstr(out, "\"load_s\":") &&
          strstr(out, "\"generation_tokens_per_s\":") && count_lines(out) == 1);
    CHECK(run("%s -t 0 --max-tokens 5 -i 'the sand' --ignore-eos --json", m.gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 5);
    CHECK(run("%s -t 0 --max-tokens 0 -i 'the sand'", m.gguf) == 0 && strcmp(out, "the sand\n") == 0);
    CHECK(run("%s -t 0 -n 0 --ignore-eos --json", m.gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 64 && strstr(out, "\"stop\":\"context\"") &&
          strstr(said, "context"));
    /* beyond the trained context: said in one line */
    CHECK(run("%s -t 0 -n 80 -c 80 --ignore-eos --json", m.gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 80 && strstr(said, "beyond"));
    CHECK(run("%s -n 80 -c 80 --rope yarn", m.gguf) == 0 && strstr(said, "stretched by --rope yarn"));
    CHECK(run("%s -n 1 -i 'a long prompt and the sand' --json", m.gguf) == 1); /* longer than -n */
    CHECK(*out == 0 && count_lines(said) == 1 && strstr(said, "or more, or --max-tokens"));
    CHECK(run("%s --max-tokens 0 -i 'a long prompt and the sand' --json", m.gguf) == 0);
    CHECK(golden_list(out, "\"tokens\"", ids, 100) == 0 && strstr(out, "\"stop\":\"length\""));
    CHECK(run("%s -t 0 -n 5 --ignore-eos", m.gguf) == 0 && strstr(said, "\nstopped: as long as"));
    CHECK(run("%s -t 0 -n 0 --ignore-eos", m.gguf) == 0 && strstr(said, "\nstopped: the context of 64 positions"));
    CHECK(run("-s 1 --stop .") == 0 && strstr(said, "\nstopped: a --stop text came\n"));
    CHECK(run("%s -i '%0200d'", m.gguf, 0) == 1 && strstr(said, "-c") && count_lines(said) == 1);
    /* JSON on a terminal: what a model writes opens no control sequence there, CSI in two bytes neither */
    CHECK(run("-i \"$(printf 'a\\033\\302\\2331m\\302\\240\\177')\" --max-tokens 0 --json -q") == 0);
    CHECK(strstr(out, "\"text\":\"a\\u001b\\u009b1m\302\240\\u007f\"") != NULL);
}

/* JSON has every id of a text that is longer than what the penalties look back on; without it old ids are dropped
 * (keep_id), and yet the penalties see the same. */
static void ids_kept(void) {
    enum { IDS = 400, FIRST = 60 }; /* FIRST: before anything could be dropped */
    static double ids[IDS + 10], first[IDS];
    static const char prompt[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmno";
    char err[200];
    const char *const penalties[] = {"", "--repetition-penalty 1.3", "--repetition-penalty 1.3 --penalty-window 7"};
    Json json;
    char *texts[3];
    size_t n;
    CliModel m = cli_model();
    for (int i = 0; i < 3; i++) {
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos --json -q %s", m.gguf, prompt, FIRST,
                  penalties[i]) == 0);
        CHECK(golden_list(out, "\"tokens\"", first, IDS) == FIRST);
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos --json -q %s", m.gguf, prompt, IDS,
                  penalties[i]) == 0);
        CHECK(golden_list(out, "\"tokens\"", ids, IDS + 10) == IDS && memcmp(ids, first, FIRST * sizeof *ids) == 0);
        CHECK(json_parse(&json, out, strlen(out), "out", err, sizeof err) == 0);
        const JsonValue *text = json_get(json.root, "text");
        CHECK(run("%s -i %s -t 0 --max-tokens %d -c 500 --ignore-eos -q %s", m.gguf, prompt, IDS, penalties[i]) == 0);
        texts[i] = file_read(test_tmp("stdout"), &n); /* a NUL may stand in it */
        CHECK(text && n == text->len + 1 && memcmp(texts[i], text->str, text->len) == 0); /* and a line's end */
        json_free(&json);
    }
    CHECK(strcmp(texts[0], texts[1]) != 0 && strcmp(texts[1], texts[2]) != 0); /* the penalties bear on the text */
    for (int i = 0; i < 3; i++) free(texts[i]);
}

static void stop_strings(void) {
    CliModel m = cli_model();
    CHECK(run("%s -t 0 -n 40 --ignore-eos --no-echo -i the", m.gguf) == 0);
    size_t n = strlen(out);
    CHECK(n > 12);
    if (n <= 12) return;
    char whole[2000], stop[8], *quote;
    snprintf(whole, sizeof whole, "%.1900s", out);
    /* any three bytes of plain text that stand there: the text ends before they first come */
    for (size_t at = 3; at + 4 < n && at < 12; at++) {
        snprintf(stop, sizeof stop, "%.3s", whole + at);
        if (strpbrk(stop, "'\n\\") || (stop[0] & 128) || (stop[1] & 128) || (stop[2] & 128)) continue;
        CHECK(run("%s -t 0 -n 40 --ignore-eos --no-echo -i the --stop '%s' --stop 'never there'", m.gguf, stop) == 0);
        quote = strstr(whole, stop);
        CHECK(strlen(out) == (size_t)(quote - whole) + 1 && strncmp(out, whole, (size_t)(quote - whole)) == 0);
    }
}

/* Two stop strings that stand in each other's way, in both orders: the earlier complete one ends the text; --json says
 * the same text. The compiled-in model's greedy text from this prompt has "little girl named Lily". */
static void stop_strings_overlap(void) {
    static const char *const pairs[][2] = {{"girl", " little girl named Bob"}, {"rl na", "girl named Bob"},
                                           {"girl", "irl"}};
    for (int i = 0; i < 3; i++)
        for (int swap = 0; swap < 2; swap++)
            for (int json = 0; json < 2; json++) {
                CHECK(run("-t 0 -q --no-echo -i 'Once upon a time' -n 60 --stop '%s' --stop '%s' %s", pairs[i][swap],
                          pairs[i][!swap], json ? "--json" : "") == 0);
                const char *want = i == 1 ? ", there was a little gi" : ", there was a little ";
                char line[100];
                snprintf(line, sizeof line, json ? "\"text\":\"%s\",\"stop\":\"stop\"" : "%s\n", want);
                CHECK(json ? strstr(out, line) != NULL : strcmp(out, line) == 0);
            }
    for (int n = 5; n < 30; n++) { /* wherever -n ends the text: cut there or at the string, and said so */
        CHECK(run("-t 0 --no-echo -i 'Once upon a time' -n %d --json --stop ' little girl named Bob' --stop named",
                  n) == 0);
        CHECK((strstr(out, "girl \"") != NULL) == (strstr(out, "\"stop\":\"stop\"") != NULL));
    }
}

static void logits_lines(void) {
    CliModel m = cli_model();
    CHECK(run("logits %s --ids 1,15,7", m.gguf) == 0 && *said == 0);
    CHECK(count_lines(out) == 1);
    int spaces = 0;
    for (char *p = out; *p; p++) spaces += *p == ' ';
    CHECK(spaces == BUILD_VOCAB - 1);
    char *one = taken_out();
    CHECK(run("logits %s --ids '1 15 7' --all -j 3", m.bin) == 0); /* another format, no tokenizer needed */
    CHECK(count_lines(out) == 3 && strcmp(strchr(strchr(out, '\n') + 1, '\n') + 1, one) == 0);
    CHECK(run("logits %s --ids 1,15,7 --json", m.gguf) == 0 && strncmp(out, "{\"logits\":[[", 12) == 0);
    CHECK(strtod(out + 12, NULL) == strtod(one, NULL));
    CHECK(run("logits %s --ids 1,300", m.gguf) == 1 && strstr(said, "300") && *out == 0);
    CHECK(run("logits %s --ids 1,300 --json", m.gguf) == 1 && *out == 0);
    CHECK(run("logits %s --ids 1,2,3 -c 2 --all --json", m.gguf) == 1 && *out == 0);
    CHECK(run("logits %s --ids 1,x", m.gguf) == 2);
    CHECK(run("logits %s --ids ''", m.gguf) == 2);
    CHECK(run("logits %s", m.gguf) == 2);
    free(one);
}

static void tokenize(void) {
    char vocabulary[512];
    CliModel m = cli_model();
    snprintf(vocabulary, sizeof vocabulary, "%s", test_tmp("vocab.gguf"));
    build_gguf_vocabulary(vocabulary);
    CHECK(run("tokenize %s 'the sand'", m.gguf) == 0);
    CHECK(strncmp(out, "1 ", 2) == 0 && count_lines(out) == 1);
    char *ids = taken_out();
    const char *const same[] = {m.bin, m.folder, vocabulary, m.tokenizer};
    for (int i = 0; i < 4; i++) {
        CHECK(run("tokenize %s 'the sand'", same[i]) == 0);
        CHECK(strcmp(ids, out) == 0);
    }
    CHECK(run("tokenize %s/tokenizer.model 'the sand' --no-bos", m.folder) == 0);
    CHECK(strcmp(ids + 2, out) == 0);
    /* one word beside -z is the text */
    CHECK(run("tokenize -z %s/tokenizer.model 'the sand'", m.folder) == 0 && strcmp(ids, out) == 0);
    CHECK(run("tokenize -z %s/tokenizer.model '/the/sand'", m.folder) == 0 && strlen(out) > strlen("1 99\n"));
    CHECK(run("tokenize %s/tokenizer.model 'the sand' --pre qwen2", m.folder) == 1 &&
          run("tokenize %s x --pre qwen0", m.gguf) == 2);
    CHECK(run("tokenize %s 'the' --pieces --no-bos", m.gguf) == 0);
    CHECK(strcmp(out, "\xe2\x96\x81the\n") == 0);
    CHECK(run("tokenize %s '</s>' --no-bos --special", m.gguf) == 0 && strcmp(out, "2\n") == 0);
    CHECK(run("tokenize %s '</s>' --no-bos", m.gguf) == 0 && strcmp(out, "2\n") != 0);
    CHECK(run("tokenize %s '' --no-bos", m.gguf) == 0 && strcmp(out, "\n") == 0);
    CHECK(run("tokenize %s a b", m.gguf) == 2);
    CHECK(run("tokenize %s -f /nowhere", m.gguf) == 1);
    char *model = file_read(m.gguf, NULL); /* cut: what is wrong with it as a model, as inspect says */
    file_write(test_tmp("cut.gguf"), model, 3000);
    free(model);
    CHECK(run("tokenize %s a", test_tmp("cut.gguf")) == 1 && strstr(said, "the file ends inside its metadata"));
    CHECK(run("tokenize -z %s a", test_tmp("cut.gguf")) == 1 && strstr(said, "a GGUF file, not a tokenizer's"));
    file_write(test_tmp("text.txt"), "text", 4);
    CHECK(run("tokenize %s a", test_tmp("text.txt")) == 1 && strstr(said, "no tokenizer's file"));
    free(ids);
}

/* Documents are cut as lab/README.md says; each is the same alone. */
static void perplexity_documents(void) {
    CliModel m = cli_model();
    const char *text = "the sand\n===\n\n===\nand a\nhat\n===\n";
    file_write(test_tmp("docs.txt"), text, strlen(text));
    file_write(test_tmp("d1.txt"), "the sand", 8);
    file_write(test_tmp("d2.txt"), "and a\nhat", 9);
    CHECK(run("perplexity %s -f %s --separator === --json", m.gguf, test_tmp("docs.txt")) == 0);
    double sum = json_number("nll_sum"), tokens = json_number("tokens");
    const char *crlf = "the sand\r\n===\r\n\r\n===\r\nand a\nhat\r\n===\r\n";
    file_write(test_tmp("crlf.txt"), crlf, strlen(crlf));
    CHECK(run("perplexity %s -f %s --separator === --json", m.gguf, test_tmp("crlf.txt")) == 0);
    CHECK(json_number("nll_sum") == sum && json_number("tokens") == tokens);
    CHECK(run("perplexity %s -f %s --json", m.gguf, test_tmp("d1.txt")) == 0);
    sum -= json_number("nll_sum"), tokens -= json_number("tokens");
    CHECK(run("perplexity %s -f %s --json", m.gguf, test_tmp("d2.txt")) == 0);
    NEAR(json_number("nll_sum"), sum, 2e-7, 0); /* three numbers of nine digits: half of the last, 5e-8, from each */
    CHECK(json_number("tokens") == tokens);
    CHECK(run("perplexity %s -f %s -c 4", m.gguf, test_tmp("d2.txt")) == 0); /* windows of BOS and three ids */
    CHECK(strstr(out, "window      4 positions") && strstr(out, "one stream"));
    file_write(test_tmp("empty.txt"), "\n===\n", 5);
    CHECK(run("perplexity %s -f %s --separator ===", m.gguf, test_tmp("empty.txt")) == 1);
    CHECK(run("perplexity %s -f /nowhere", m.gguf) == 1);
    CHECK(run("perplexity %s", m.gguf) == 2);
}

static const char *const misused[] = {
    "-t abc", "-t nan", "-t inf", "-t -1", "-t", "-n -5", "-n 1.5", "-n 99999999999999999999", "-p 2", "--nonsense",
    "-Q", "--top-k x", "-s -1", "--quiet=1", "--kernels none", "--rope nonsense", "--rope-factor 0.5", "--stop ''",
    "-m chat --lines README.md", "-j 0", "-m talk", "-y hello", "a b", "-i a -f b",
    "logits", "logits --ids 1 -i a", "tokenize a b c",
    "perplexity", "recall model/tales-1m.gguf", "explain map", "passkey model/tales-1m.gguf --depths 101",
    "passkey model/tales-1m.gguf --rope none,none", "recall model/tales-1m.gguf -f README.md --distances 3",
    "proof model/tales-1m.gguf --shift x", "proof model/tales-1m.gguf --angles f64", "logits --ids x",
    "--rope-factor", "-c 0", "\"$(printf '%b' '--no\\npe\\033[31m')\"", "\"$(printf 'a\\nb')\" c d"};

static void wrong_use(void) {
    CliModel m = cli_model();
    mkdir(test_tmp("empty"), 0700);
    for (size_t i = 0; i < sizeof misused / sizeof *misused; i++) {
        CHECK(run("%s", misused[i]) == 2);
        CHECK(count_lines(said) == 1 && *out == 0 && !strchr(said, 27));
        if (count_lines(said) != 1) printf("    %s: %s", misused[i], said);
    }
    const char *const failed[] = {"/nowhere/model.gguf", test_tmp("empty"), "/dev/null", "run.c",
                                  "-z /nowhere/tokenizer.bin", "--rope nope:layers=99", "--rope-factor 4",
                                  "--rope longrope:long=1/2", "--shift keep=999",
                                  "passkey model/tales-1m.gguf --lengths 20", "recall model/tales-1m.gguf -f LICENSE",
                                  "passkey model/tales-1m.gguf --template README.md",
                                  "plan model/tales-1m.gguf --rope xpos",
                                  "-f /nowhere"};
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        CHECK(run("%s", failed[i]) == 1);
        CHECK(count_lines(said) == 1 && *out == 0);
        if (count_lines(said) != 1) printf("    %s: %s", failed[i], said);
    }
    char path[1200];
    /* a long name does not push the reason out */
    snprintf(path, sizeof path, "%0200d/%0200d/%0200d/model.gguf", 0, 0, 0);
    CHECK(run("%s", path) == 1 && strstr(said, "No such file"));
    CHECK(run("perplexity %s -f %s -c 1", m.gguf, m.gguf) == 2);
}

/* A misspelt command or option, a text where a model stands, and the help that each line points to. */
static void meant(void) {
    static const struct { const char *words, *line; } rows[] = {
        {"perplexty m.gguf", "did you mean perplexity?"}, {"Chat", "did you mean chat?"},
        {"--temprature 1", "did you mean --temperature?"}, {"chat --temprature=2", "did you mean --temperature?"},
        {"'Once upon a time'", "stands behind -i"}, {"nosuch", "no command and no model nosuch"},
        {"help chatt", "did you mean chat?"}, {"help a b", "one command"}, {"''", "first word is empty"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(run("%s", rows[i].words) == 2 && strstr(said, rows[i].line) && count_lines(said) == 1);
        if (!strstr(said, rows[i].line)) printf("    %s: %s", rows[i].words, said);
    }
    CHECK(run("--zzz") == 2 && !strstr(said, "did you mean"));
    CHECK(run("nosuch.gguf") == 1 && said_line("nosuch.gguf: No such file or directory; README.md, \"Where to get"));
    CHECK(run("-z nosuch") == 1 && said_line("nosuch: No such file or directory") && !strstr(said, "README"));
    CHECK(run("chat < /dev/null") == 0 && strstr(said, "does not converse") && count_lines(said) == 1);
    CHECK(run("help") == 0 && strstr(out, "run COMMAND --help):"));
    CHECK(run("help chat") == 0 && strstr(out, "run chat ") && !strstr(out, "COMMAND --help"));
    CHECK(run("help models") == 0 && strstr(out, "models that run"));
}

/* Which word is the model, which the text; without one the compiled-in model answers, as its file does. */
static void usual_model(void) {
    static const char *const rows[] = {"logits --ids 1,435", "score --text 'Once upon a time'", "plan -c 512",
                                       "tokenize 'Once upon a time'", "embed 'a text'",
                                       "explain 'Tom had a dog.' map"};
    static const char *const named[] = {"logits model/tales-1m.gguf --ids 1,435",
                                        "score model/tales-1m.gguf --text 'Once upon a time'",
                                        "plan model/tales-1m.gguf -c 512",
                                        "tokenize model/tales-1m.gguf 'Once upon a time'",
                                        "embed model/tales-1m.gguf 'a text'",
                                        "explain model/tales-1m.gguf 'Tom had a dog.' map"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(run("%s", named[i]) == 0);
        char *expected = taken_out(), *at;
        CHECK(run("%s", rows[i]) == 0);
        while ((at = strstr(out, "the compiled-in model"))) /* its name is all that differs */
            memmove(at, at + 21, strlen(at + 21) + 1);
        static const char *const names[] = {"model/tales-1m.gguf", "tales-1m.gguf"};
        for (int k = 0; k < 2; k++)
            while (expected && (at = strstr(expected, names[k])))
                memmove(at, at + strlen(names[k]), strlen(at + strlen(names[k])) + 1);
        if (i == 2) { /* plan names a command to try */
            if (expected && (at = strstr(expected, "which is best"))) *at = 0;
            if ((at = strstr(out, "which is best"))) *at = 0;
        }
        CHECK(expected && strcmp(out, expected) == 0);
        free(expected);
    }
    CHECK(run("perplexity -f LICENSE --json") == 0 && strstr(out, "\"model\":\"the compiled-in model\""));
    CHECK(run("tokenize no-such-word") == 0 && *out == '1');
    CHECK(run("tokenize a/b") == 1 && strstr(said, "a/b: No such file"));
    CHECK(run("tokenize nosuch.gguf") == 1 && run("tokenize nosuch.gguf text") == 1);
    CHECK(run("logits --ids 1,15,7 --rope yarn:original=16:factor=4:attention_factor=1.5") == 0);
    char *by_spec = strdup(out);
    CHECK(run("logits --ids 1,15,7 --rope yarn:original=16:attention_factor=1.5 --rope-factor 4") == 0 &&
          strcmp(out, by_spec) == 0);
    free(by_spec);
    CHECK(run("logits --ids 1,,2") == 2 && strstr(said, "has two commas and no number"));
    CHECK(run("fill '[MASK]'") == 1 && strstr(said, "the compiled-in model: fill is for encoders"));
}

/* A line's text is what it has alone: its JSON is that of generate --json. */
static void lines_of_prompts(void) {
    static const char *const prompts[] = {"Once upon a time", "", "Tom had a \"red\" ball", "The cat"};
    static const char *const options[] = {"-t 0 --max-tokens 30", "-s 7 --max-tokens 40 --top-k 20 --stop dog",
                                          "-s 3 -n 60"};
    char text[300] = "";
    for (int i = 0; i < 4; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", prompts[i]);
    for (int k = 0; k < 3; k++) {
        CHECK(piped(text, "--lines - %s", options[k]) == 0 && count_lines(out) == 4);
        char *all = taken_out(), *line = all;
        for (int i = 0; all && i < 4; i++) {
            file_write(test_tmp("prompt"), prompts[i], strlen(prompts[i]));
            CHECK(run("-f %s %s --json -q", test_tmp("prompt"), options[k]) == 0);
            char *timings = strstr(out, ",\"timings\""), *next = strchr(line, '\n'), *own = strchr(line, ',');
            CHECK(timings && next && own && line[8] == '1' + i);
            if (!timings || !next || !own) break;
            size_t n = (size_t)(timings - out) - 1;
            CHECK((size_t)(next - own) == n + 2 && memcmp(own + 1, out + 1, n) == 0);
            line = next + 1;
        }
        free(all);
    }
    CHECK(piped("a\n", "--lines - -i b") == 2 && said_line("--lines and -i do not go together"));
    CHECK(piped("a\nOnce upon a time there was\n", "--lines - -n 3 -q") == 1 && *out == 0 && said_line("give -n"));
    CHECK(run("--lines /nowhere/x") == 1 && said_line("/nowhere/x") && piped("", "--lines - -q") == 0 && *out == 0);
    const char *model = delta_folder();
    CHECK(shell("sed -i s/bos_token_id/no/ %s/config.json", model) == 0);
    CHECK(piped("a\n\nb\n", "%s --lines - -q", model) == 1 && *out == 0);
    CHECK(said_line("stdin:2: this model has no token to begin a text with"));
}

/* logits of a text are those of its ids, from -i, -f and a pipe. */
static void logits_of_text(void) {
    CHECK(run("logits --ids 1,435,461") == 0);
    char *expected = taken_out();
    CHECK(run("logits -i 'Once upon'") == 0 && strcmp(out, expected) == 0);
    CHECK(piped("Once upon\n", "logits") == 0 && strcmp(out, expected) == 0);
    file_write(test_tmp("text"), "Once upon\n", 10);
    CHECK(run("logits model/tales-1m.gguf -f %s", test_tmp("text")) == 0 && strcmp(out, expected) == 0);
    CHECK(run("tokenize -f %s", test_tmp("text")) == 0 && strcmp(out, "1 435 461 13\n") == 0); /* bytes as they are */
    CHECK(run("logits -i a -f %s", test_tmp("text")) == 2 && run("logits --ids 1 -i a") == 2 && run("logits") == 2);
    free(expected);
}

static void another_models_tokenizer(void) {
    CliModel m = cli_model();
    /* pieces; the model has 300 ids */
    if (test_data("llama2c/tok512.bin"))
        CHECK(run("%s -z %s", m.bin, test_data("llama2c/tok512.bin")) == 1 && strstr(said, "512"));
}

static void helps(void) {
    static const char *const rows[] = {"", "logits ", "tokenize ", "perplexity "};
    for (int i = 0; i < 4; i++) {
        CHECK(run("%s--help", rows[i]) == 0);
        CHECK(strstr(out, "examples:") && strstr(out, "usage:") && *said == 0);
    }
    CHECK(run("-q --version") == 0 && strstr(out, "roformer.c") && strstr(out, "ref"));
}

/* Shell: in the background, until its text has begun (it takes a second on a busy machine), then a signal. */
#define BEGUN "& p=$!; i=0; while [ ! -s %s ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done; "

static void streams(void) {
    char cmd[2000];
    const char *text = test_tmp("stdout");
    snprintf(cmd, sizeof cmd, "%s -n 200 -s 1 2> %s | head -c 10 > /dev/null", test_run_path(), test_tmp("stderr"));
    CHECK(system(cmd) == 0);
    CHECK(run("-n 200 -s 1 --ignore-eos -q") == 0);
    snprintf(cmd, sizeof cmd, "%s -n 100 -s 1 -q > /dev/full 2> %s", test_run_path(), test_tmp("stderr"));
    int status = system(cmd);
    char *told = file_read(test_tmp("stderr"), NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && count_lines(told) == 1);
    free(told);
    /* a terminal that is closed ends it like Ctrl-C, unless nohup was told */
    static const int codes[] = {130, 0};
    void (*was)(int) = signal(SIGHUP, SIG_DFL); /* these tests may run under nohup, and no shell undoes that */
    for (int nohup = 0; nohup < 2; nohup++) {
        remove(text);
        snprintf(cmd, sizeof cmd,
                 "trap '%s' HUP; %s -n 4000 -c 4000 --ignore-eos -q -s 1 > %s " BEGUN "kill -HUP $p; wait $p",
                 nohup ? "" : "-", test_run_path(), text, text);
        status = system(cmd);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == codes[nohup]);
    }
    signal(SIGHUP, was);
    /* Ctrl-C: the text so far, timings, 130 */
    remove(text);
    snprintf(cmd, sizeof cmd,
             "%s -n 0 -c 100000 --ignore-eos -s 1 > %s 2> %s " BEGUN "kill -INT $p; wait $p", test_run_path(), text,
             test_tmp("stderr"), text);
    status = system(cmd);
    told = file_read(test_tmp("stderr"), NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130 && strstr(told, "tok/s"));
    free(told);
    told = file_read(test_tmp("stdout"), NULL);
    CHECK(strlen(told) > 1 && told[strlen(told) - 1] == '\n');
    free(told);
}

const Test tests_cli[] = {
    {"cli/a story from nothing", story},
    {"cli/seeds", seeds},
    {"cli/one text from three formats", one_text_from_three_formats},
    {"cli/text from stdin", from_stdin},
    {"cli/lengths, json", lengths_and_json},
    {"cli/ids kept and dropped", ids_kept},
    {"cli/stop strings", stop_strings},
    {"cli/stop strings that overlap", stop_strings_overlap},
    {"cli/logits", logits_lines},
    {"cli/tokenize", tokenize},
    {"cli/perplexity of documents", perplexity_documents},
    {"cli/wrong use", wrong_use},
    {"cli/what was meant", meant}, {"cli/the usual model", usual_model},
                          {"cli/lines of prompts", lines_of_prompts}, {"cli/logits of a text", logits_of_text},
    {"cli/another model's tokenizer", another_models_tokenizer},
    {"cli/help and version", helps},
    {"cli/closed pipe, full disk, Ctrl-C", streams},
    {0},
};
