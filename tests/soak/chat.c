/* tests/soak/chat.c - a conversation of many turns by ./run chat: see soak.h. */
#include "soak.h"
#include "roformer.h"
#include "base/hash.h"
#include "base/system.h"
#include "tests/build.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 60, ANSWER = 8000 };
enum { AT_ONCE = 10, LAST = 20 }; /* turns that are said before an answer is waited for; that both have at the end */

/* A process that is talked to. */
typedef struct {
    pid_t pid;
    FILE *to;
    int from;
    char answer[ANSWER]; /* the last ones */
} Talk;

/* The id that spells it: the last one, where a text of it alone has a space in front. */
static int newline_of(const char *path) {
    RoformerModel *m;
    int *ids = NULL, id = 0;
    size_t n = 0;
    if (roformer_open(&m, path, NULL, NULL, 0) == 0 && roformer_tokenize(m, "\n", 1, 0, &ids, &n, NULL, 0) == 0 && n)
        id = ids[n - 1];
    roformer_free(ids);
    roformer_close(m);
    return id;
}

static int talk_begin(Talk *t, const char *run, const char *model, const char *folder) {
    int in[2], out[2];
    char newline[40]; /* which ends an answer's line here, and is never drawn */
    snprintf(newline, sizeof newline, "%d=-inf", newline_of(model));
    *t = (Talk){.pid = -1};
    if (pipe(in) || pipe(out)) return soak_bad("no pipe");
    fflush(NULL);
    if ((t->pid = fork()) == 0) {
        const char *const args[] = {run, "chat", model, "-t", "0", "-n", "8", "-c", "200", "-q", "-j", "2",
                                    "--chat-template", "chatml", "--logit-bias", newline, NULL};
        int log = open("/dev/null", O_WRONLY);
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(log, 2) < 0 || chdir(folder)) _exit(99);
        for (int fd = 3; fd < 64; fd++) close(fd);
        execv(run, (char **)(uintptr_t)args);
        _exit(99);
    }
    close(in[0]), close(out[1]);
    t->to = fdopen(in[1], "w");
    t->from = out[0];
    return t->pid < 0 || !t->to;
}

static void tell(Talk *t, const char *line) {
    fprintf(t->to, "%s\n", line);
    fflush(t->to);
}

/* So many answers, each of which is a line. */
static int hear(Talk *t, size_t answers) {
    size_t n = 0, lines = 0;
    while (lines < answers) {
        struct pollfd p = {.fd = t->from, .events = POLLIN};
        if (n == ANSWER - 1 || poll(&p, 1, 1000 * ANSWER_SECONDS) <= 0) return soak_bad("no answer");
        ssize_t got = read(t->from, t->answer + n, ANSWER - 1 - n);
        if (got <= 0) return soak_bad("it ended");
        for (const ssize_t end = (ssize_t)n + got; (ssize_t)n < end; n++) lines += t->answer[n] == '\n';
    }
    t->answer[n] = 0;
    return lines == answers ? 0 : soak_bad("%zu answers, not %zu: %s", lines, answers, t->answer);
}

static int talk_end(Talk *t) {
    int status = 1;
    if (t->pid <= 0) return 1;
    fclose(t->to);
    close(t->from);
    waitpid(t->pid, &status, 0);
    return status ? soak_bad("chat ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status))
                  : 0;
}

/* What is said in turn i: some words. */
static void say_words(char *line, size_t size, size_t i) {
    static const char *const words[] = {"the", "sand", "and", "sea", "it", "was", "warm", "of", "day", "in", "sun"};
    size_t n = 1 + hash_mix(i) % 12, len = 0;
    for (size_t k = 0; k < n && len < size; k++)
        len += (size_t)snprintf(line + len, size - len, "%s%s", k ? " " : "", words[hash_mix(i * 64 + k) % 11]);
}

/* A turn, and what a user may do beside it: how many answers come of it. */
static size_t turn(Talk *t, size_t i, size_t clear) {
    char line[200];
    say_words(line, sizeof line, i);
    if (clear && i % clear == 0) tell(t, "/clear");
    if (i % 97 == 0) tell(t, "/system be brief");
    if (i % 89 == 0) tell(t, "/system");
    if (i % 31 == 0) tell(t, "/undo");
    if (i % 501 == 0) tell(t, "/save kept.state");
    tell(t, line);
    if (i % 23 == 0) tell(t, "/retry");
    return i % 23 == 0 ? 2 : 1;
}

/* From the same state, whatever was said before. */
static int last_turns(Talk *t, const char *save) {
    char line[200];
    tell(t, "/system be kind");
    tell(t, "/load end.state");
    for (size_t i = 0; i < LAST; i++) {
        say_words(line, sizeof line, 1000000 + i);
        tell(t, line);
    }
    snprintf(line, sizeof line, "/save %s", save);
    tell(t, line);
    tell(t, "/retry"); /* it has been saved by then */
    return hear(t, LAST + 1);
}

/* A process that goes on from what was saved says the same, and what it saves at the end has the same bytes. */
static int same_as_fresh(Talk *old, const char *run, const char *model, const char *folder) {
    char one[700], two[700];
    Talk fresh;
    tell(old, "/save end.state");
    if (last_turns(old, "old.state") || talk_begin(&fresh, run, model, folder)) return 1;
    int bad = last_turns(&fresh, "fresh.state");
    bad |= talk_end(&fresh);
    if (!bad && strcmp(old->answer, fresh.answer) != 0)
        bad = soak_bad("a fresh process answers\n%snot\n%s", fresh.answer, old->answer);
    snprintf(one, sizeof one, "%s/old.state", folder);
    snprintf(two, sizeof two, "%s/fresh.state", folder);
    return bad || files_equal(one, two) ? bad : soak_bad("a fresh process has other bits");
}

int soak_chat(const char *run, const char *model, const char *folder, size_t turns, size_t clear) {
    Talk t;
    char program[PATH_MAX], file[PATH_MAX];
    double began = clock_seconds();
    size_t warm = turns / 4, answers = 0;
    Held was = {0}, is = {0};
    if (!realpath(run, program) || !realpath(model, file)) return soak_bad("%s or %s is not there", run, model);
    int bad = talk_begin(&t, program, file, folder);
    for (size_t i = 1; i <= turns && !bad; i++) {
        answers += turn(&t, i, clear);
        if (i % AT_ONCE) continue;
        bad = hear(&t, answers);
        answers = 0;
        is = held_by(t.pid);
        if (i == warm) was = is;
        held_say("turn", i, is);
        soak_progress("turn", i, turns, began);
    }
    if (!bad) bad = held_grew(model, was, is, turns - warm);
    if (!bad) bad = same_as_fresh(&t, program, file, folder);
    return talk_end(&t) || bad;
}
