/* tests/test_sandbox.c - what somebody could do who got into the program, and that every command does its work without
 * it. The payload is loaded with ./run itself (payload/payload.c), so what is tested is what each command entered. */
#include "base/paths.h"
#include "build.h"
#include "program.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 where there is a sandbox here; else the test is a skip, with the program's own reason. */
static int there(void) {
    if (run("-n 1 -q --sandbox") == 0) return 1;
    CHECK(strstr(said, "--sandbox: there is none here"));
    said[strcspn(said, "\n")] = 0;
    test_skip(said);
    return 0;
}

/* The payload as a library, made once. NULL: a skip. */
static const char *payload(void) {
    static char path[400];
    snprintf(path, sizeof path, "%s", test_tmp("payload.so"));
    if (!there()) return NULL;
    if (file_there(path)) return path;
    if (shell("cc -std=c11 -O1 -shared -fPIC -pthread tests/payload/payload.c -o %s -ldl", path) == 0) return path;
    test_skip("no compiler makes the payload");
    return NULL;
}

/* What the payload needs to know, in front of ./run. */
static const char *with_payload(const char *library, const char *moment, const char *model) {
    static char before[3000];
    const char *victim = test_tmp("victim");
    file_write(victim, "mine", 4);
    snprintf(before, sizeof before, "PAYLOAD=%s VICTIM=%s MODEL=%s BESIDE=%s LD_PRELOAD=%s ", moment, victim, model,
             test_in(test_folder("out"), "beside"), library);
    return before;
}

static int victim_stays(void) {
    char text[8] = "";
    FILE *f = fopen(test_tmp("victim"), "rb");
    size_t n = f ? fread(text, 1, 4, f) : 0;
    if (f) fclose(f);
    return n == 4 && memcmp(text, "mine", 4) == 0 && !file_there(test_tmp("victim.new"));
}

/* The payload ran, what it tried was refused, and what has to work does. */
static int refused(const char *command) {
    int good = strstr(said, "payload done") && !strstr(said, "OPEN ") && !strstr(said, "FAILS ") && victim_stays();
    if (!good) printf("    %s\n%s\n", command, said);
    return good;
}

/* A model of its own folder, so that the working folder does not hold it. */
static const char *model_elsewhere(void) {
    static char path[400];
    snprintf(path, sizeof path, "%s", test_in(test_folder("in"), "tales.gguf"));
    if (!file_there(path)) CHECK(file_copy("model/tales-1m.gguf", path));
    return path;
}

/* $M is a model, $W one of words, $O a folder to write in. */
static void expand(char *to, size_t room, const char *command) {
    size_t n = 0;
    for (*to = 0; *command && n + 1 < room; command++) {
        const char *word = command[0] != '$' ? NULL : command[1] == 'M' ? model_elsewhere()
                           : command[1] == 'W' ? "model/words-1m.gguf" : test_folder("out");
        if (word) n += (size_t)snprintf(to + n, room - n, "%s", word), command++;
        else to[n++] = *command, to[n] = 0;
    }
}

enum { NOTHING = 0, READS = 1, MAKES = 2 }; /* what is still open to it: its model again; new files where it writes */
typedef struct { const char *command; int may; const char *input; } Row;
static const Row all_commands[] = {
    {"generate $M -n 5", NOTHING, ""},
    {"generate $M -n 5 -j 3 --draft lookup", NOTHING, "Once upon"},
    {"generate --lines README.md $M -n 300 --max-tokens 2 --logprobs 2", NOTHING, ""},
    {"generate $M -i Once -n 5 --save-state $O/a.state", MAKES, ""},
    {"chat $M --max-tokens 3", NOTHING, "Hello\n"},
    {"$M -m chat --max-tokens 3", NOTHING, "Hello\n"},
    {"chat $M --max-tokens 3 --save-state $O/b.state", MAKES, "Hello\n"},
    {"logits $M --ids 1,5,7", NOTHING, ""},
    {"score $M --text 'Once upon a time'", NOTHING, ""},
    {"tokenize $M Hello", NOTHING, ""},
    {"tokenize $M -f README.md", NOTHING, ""},
    {"perplexity $M -f LICENSE -c 64 --by-position --svg $O/loss.svg", MAKES, ""},
    {"perplexity $M -c 64", NOTHING, "A text on stdin, of a few words."},
    {"compare $M -f README.md --rope none,yarn --lengths 32,64 --score 8 --csv --svg $O/c.svg", MAKES, ""},
    {"compare $M -f README.md --rope none,yarn --lengths 32,64 --score 8 --resume $O/c.csv", READS | MAKES, ""}, /* its
                                                                              first output is before the rest is open */
    {"passkey $M --lengths 128 --depths 50 --trials 1 --rope none,yarn", NOTHING, ""},
    {"recall $M -f README.md --distances 64 --samples 1", NOTHING, ""},
    {"plan $M --svg $O/plan.svg", MAKES, ""},
    {"proof $M --shift 10", READS, ""},
    {"rope clock $M --svg $O/clock.svg", MAKES, ""},
    {"explain $M 'Tom had a dog. The dog' map --svg $O/map.svg", MAKES, ""},
    {"fill $W 'The [MASK] was shining.'", NOTHING, ""},
    {"embed $W -f LICENSE", NOTHING, ""},
    {"rank $W 'a dog' --by cosine", NOTHING, "a cat\na dog\n"},
    {"inspect $M", NOTHING, ""},
    {"inspect $M --check-layout", READS, ""},
    {"quantize $M $O/q.gguf Q8_0 -f", READS | MAKES, ""},
    {"convert $M $O/m.gguf -f", READS | MAKES, ""},
    {"train $O/t.gguf --text LICENSE --steps 2 --layers 1 --d-model 16 --heads 2 --context 16 --batch 2 --force", MAKES,
     ""},
    {"plot $O/c.csv --x length --y nll --svg $O/plot.svg", MAKES, ""},
    {"bench $M --contexts 0 --prompts none --runs 1", READS, ""},
};

/* A command of the table with the payload: its exit code. */
static int attacked(const char *library, const char *moment, const Row *row, const char *more, char *command,
                    size_t room) {
    const char *input = test_tmp("stdin");
    expand(command, room, row->command);
    file_write(input, row->input, strlen(row->input));
    const char *model = strstr(row->command, "$M") ? model_elsewhere() : "";
    return shell("%s%s %s%s < %s", with_payload(library, moment, model), test_run_path(), command, more, input);
}

static void every_command(void) {
    const char *library = payload();
    for (size_t i = 0; library && i < sizeof all_commands / sizeof *all_commands; i++) {
        const Row *row = &all_commands[i];
        char command[1000];
        int code = attacked(library, "flush", row, " --sandbox", command, sizeof command);
        if (code) printf("    %s: code %d\n%s\n", command, code, said);
        CHECK(code == 0 && refused(command));
        int may = (strstr(said, "may read the model") ? READS : 0) | (strstr(said, "may make beside") ? MAKES : 0);
        if (may != row->may) printf("    %s: may %d, and not %d\n", command, may, row->may);
        CHECK(may == row->may);
    }
}

/* When the first file is opened, a file that is broken on purpose has its chance. */
static void while_opening(void) {
    const char *library = payload();
    for (size_t i = 0; library && i < sizeof all_commands / sizeof *all_commands; i++) {
        const Row *row = &all_commands[i];
        char command[1000];
        if (!strstr(row->command, "$M")) continue;
        CHECK(attacked(library, "opening", row, "", command, sizeof command) == 0 && refused(command));
        CHECK(strstr(said, "may read the model") && !strstr(said, "may make beside") == !(row->may & MAKES));
    }
}

/* Threads that are there already are held, too. */
static void all_threads(void) {
    const char *library = payload();
    if (!library) return;
    CHECK(run_behind(with_payload(library, "thread", ""), "-n 5 -q") == 0 && refused("-n 5"));
    CHECK(strstr(said, "thread: refused /etc/passwd") && strstr(said, "thread: refused execve"));
}

/* The payload can do what it tries, where nobody hinders it: else all of the above would show nothing. */
static void without(void) {
    static const char *const open_to_it[] = {"/etc/passwd", "write elsewhere", "create elsewhere", "rename", "symlink",
                                             "socket inet", "socket unix", "kill the parent", "mmap to run",
                                             "mprotect to run", "fork", "clone"};
    const char *library = payload();
    if (!library) return;
    CHECK(run_behind(with_payload(library, "flush", ""), "-n 5 -q --no-sandbox") == 7); /* execve's sh */
    for (size_t i = 0; i < sizeof open_to_it / sizeof *open_to_it; i++) {
        char line[100];
        snprintf(line, sizeof line, "OPEN %s\n", open_to_it[i]);
        if (!strstr(said, line)) printf("    %s", line);
        CHECK(strstr(said, line));
    }
}

/* chat's /save and /load: the working folder, and no other. */
static void chat_folder(void) {
    char self[4096], folder[400], input[1000];
    if (!there() || !realpath(test_run_path(), self)) return;
    snprintf(folder, sizeof folder, "%s", test_folder("work"));
    CHECK(shell("mkdir -p %s/deeper", folder) == 0);
    snprintf(input, sizeof input, "One\n/save a.state\n/save deeper/b.state\n/load a.state\n/load deeper/b.state\n"
             "Two\n");
    file_write(test_in(folder, "in"), input, strlen(input));
    CHECK(shell("cd %s && %s chat -t 0 --max-tokens 3 < in", folder, self) == 0 && count_lines(out) == 2);
    CHECK(strstr(said, "ids saved to a.state") && strstr(said, "ids from deeper/b.state"));
    CHECK(shell("cd %s && chmod 600 a.state && %s chat -t 0 --max-tokens 3 < in", folder, self) == 0 &&
          shell("ls -l %s/a.state | grep -q ^-rw-------", folder) == 0);
    CHECK(file_copy(test_in(folder, "a.state"), test_tmp("c.state")));
    static const char *const beyond[] = {"/load ../c.state", "/save ../c.state", "/save ../d.state"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        snprintf(input, sizeof input, "One\n%s\nTwo\n", beyond[i]);
        file_write(test_in(folder, "in"), input, strlen(input));
        CHECK(shell("cd %s && %s chat -t 0 --max-tokens 3 < in", folder, self) == 1 && count_lines(out) == 2);
        CHECK(strstr(said, "Permission denied") && strstr(said, "within the working folder"));
        CHECK(shell("cd %s && %s chat -t 0 --max-tokens 3 --no-sandbox < in", folder, self) == 0);
    }
    /* what the options name is open, wherever it is */
    CHECK(shell("cd %s && echo One | %s chat -t 0 --max-tokens 3 -q --sandbox --load-state ../c.state "
                "--save-state ../e.state", folder, self) == 0 && file_there(test_tmp("e.state")));
}

/* Where models lie: folders of links into another, files in several parts, names with nothing in front. */
static void where_models_lie(void) {
    static const BuildShape shape = {.d = 32, .ff = 64, .layers = 1, .heads = 2, .kv_heads = 2, .n_ctx = 64};
    char self[4096], hub[400], blobs[400], *want;
    if (!there() || !realpath(test_run_path(), self)) return;
    snprintf(hub, sizeof hub, "%s", test_folder("snapshot"));
    snprintf(blobs, sizeof blobs, "%s", test_folder("blobs"));
    build_hf(blobs, &shape, TENSOR_F32, 2);
    CHECK(run("logits %s -i Once --sandbox", blobs) == 0);
    want = taken_out();
    CHECK(shell("for f in %s/*; do ln -sf $f %s/; done", blobs, hub) == 0);
    CHECK(run("logits %s -i Once --sandbox", hub) == 0 && strcmp(out, want) == 0);
    CHECK(shell("cd %s && %s logits . -i Once --sandbox", hub, self) == 0 && strcmp(out, want) == 0);
    CHECK(shell("printf Once | %s logits %s -f /dev/stdin --sandbox", self, hub) == 0 && strcmp(out, want) == 0);
    CHECK(run("convert %s %s -f -q --sandbox", hub, test_tmp("hub.gguf")) == 0);
    CHECK(run("logits %s -i Once --sandbox", test_tmp("hub.gguf")) == 0);
    free(want);
}

/* llama2.c's way: the model anywhere, its tokenizer.bin in the working folder. */
static void where_tokenizers_lie(void) {
    static const BuildShape shape = {.d = 32, .ff = 64, .layers = 1, .heads = 2, .kv_heads = 2, .n_ctx = 64};
    char self[4096], model[400], here[400], *want;
    if (!there() || !realpath(test_run_path(), self)) return;
    snprintf(model, sizeof model, "%s", test_in(test_folder("models"), "stories.bin"));
    snprintf(here, sizeof here, "%s", test_folder("working"));
    build_llama2c(model, &shape, 0, 0);
    build_tokenizer_bin(test_in(here, "tokenizer.bin"));
    CHECK(run("logits %s -i Once -z %s/tokenizer.bin --sandbox", model, here) == 0);
    want = taken_out();
    CHECK(shell("cd %s && %s logits %s -i Once --sandbox", here, self, model) == 0 && strcmp(out, want) == 0);
    CHECK(shell("cd %s && %s tokenize %s Once --sandbox", here, self, model) == 0);
    CHECK(shell("cd %s && echo Once | %s chat %s -n 2 -q --draft %s --sandbox", here, self, model, model) == 0);
    CHECK(shell("rm %s/tokenizer.bin && cd %s && %s %s --sandbox", here, here, self, model) == 1 &&
          strstr(said, "no tokenizer.bin beside it; give one with -z"));
    free(want);
}

/* A kernel that lacks one of them or both, by a library that answers for it. */
static void older_kernels(void) {
    static const char source[] =
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <stdlib.h>\n"
        "long syscall(long n, long a, long b, long c, long d, long e, long f) {\n"
        "    long (*real)(long, ...);\n"
        "    *(void **)&real = dlsym(RTLD_NEXT, \"syscall\");\n"
        "    if (n == 444 || !getenv(\"WITH_SECCOMP\")) return errno = ENOSYS, -1;\n"
        "    return real(n, a, b, c, d, e, f);\n}\n";
    char library[400], before[600];
    if (!there()) return;
    snprintf(library, sizeof library, "%s", test_tmp("older.so"));
    file_write(test_tmp("older.c"), source, strlen(source));
    if (shell("cc -w -shared -fPIC %s -o %s -ldl", test_tmp("older.c"), library)) {
        test_skip("no compiler makes the library");
        return;
    }
    for (int seccomp = 0; seccomp < 2; seccomp++) {
        snprintf(before, sizeof before, "%sLD_PRELOAD=%s ", seccomp ? "WITH_SECCOMP=1 " : "", library);
        const char *why = seccomp ? "sandbox: a part of it: this kernel has no Landlock"
                                  : "sandbox: none: this kernel has no seccomp filters";
        CHECK(run_behind(before, "-n 5 -t 0 -v") == 0 && strstr(out, "Once upon") && strstr(said, why));
        CHECK(run_behind(before, "-n 5 -t 0 -q") == 0 && *said == 0);
        CHECK(run_behind(before, "-n 5 -t 0 -q --sandbox") == 1 && *out == 0 && said_line(strstr(why, "this kernel")));
    }
}

/* A file that is replaced gets no more open, with the sandbox and without. */
static void permissions(void) {
    const char *clock = test_tmp("clock.svg"), *state = test_tmp("kept.state");
    if (!there()) return;
    for (int without = 0; without < 2; without++) {
        const char *how = without ? "--no-sandbox" : "--sandbox";
        CHECK(run("rope clock -q --svg %s %s", clock, how) == 0);
        CHECK(run("-n 2 -q --save-state %s %s", state, how) == 0);
        CHECK(shell("chmod 604 %s && chmod 600 %s", clock, state) == 0); /* 022 would leave 644 */
        CHECK(run_behind("umask 022; ", "rope clock -q --svg %s %s", clock, how) == 0);
        CHECK(run_behind("umask 022; ", "-n 2 -q --save-state %s %s", state, how) == 0);
        CHECK(shell("ls -l %s | grep -q ^-rw----r-- && ls -l %s | grep -q ^-rw-------", clock, state) == 0);
    }
}

static void options(void) {
    CHECK(run("-n 1 --sandbox --no-sandbox") == 2 && said_line("are both given"));
    CHECK(run("-n 1 -v --no-sandbox") == 0 && !strstr(said, "sandbox:"));
    CHECK(run("train x.gguf --text LICENSE --sandbox --no-sandbox") == 2 && said_line("are both given"));
    CHECK(run("-n 1 -v") == 0 && strstr(said, "sandbox: "));
    if (test_sanitized) CHECK(run("-n 1 --sandbox") == 1 && said_line("built with a sanitizer"));
    if (!there()) return;
    CHECK(run("-n 1 -v") == 0 && strstr(said, "sandbox: no network, no programs"));
    CHECK(strstr(said, "sandbox: all files are open"));
}

const Test tests_sandbox[] = {{"sandbox/options", options},
                              {"sandbox/every command", every_command},
                              {"sandbox/while opening", while_opening},
                              {"sandbox/threads", all_threads},
                              {"sandbox/without", without},
                              {"sandbox/older kernels", older_kernels},
                              {"sandbox/chat's folder", chat_folder},
                              {"sandbox/where models lie", where_models_lie},
                              {"sandbox/where tokenizers lie", where_tokenizers_lie},
                              {"sandbox/permissions", permissions},
                              {0}};
