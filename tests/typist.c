/* tests/typist.c - the program on a pseudo-terminal. */
#include "typist.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *typist_term = "dumb";

static void child(const char *slave, const char *command) {
    setsid();
    int tty = open(slave, O_RDWR); /* of a session's leader: its terminal */
    if (tty < 0 || dup2(tty, 0) < 0 || dup2(tty, 2) < 0) _exit(120);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(121);
}

int typist_begin(Typist *t, const char *fmt, ...) {
    char args[1000], command[2000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    memset(t, 0, sizeof *t);
    snprintf(t->answers, sizeof t->answers, "%s", test_tmp("answers"));
    snprintf(command, sizeof command, "TERM=%s exec %s %s > %s", typist_term, test_run_path(), args, t->answers);
    t->fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (t->fd < 0 || grantpt(t->fd) || unlockpt(t->fd)) {
        test_skip("no pseudo-terminal here");
        return -1;
    }
    char slave[100];
    snprintf(slave, sizeof slave, "%s", ptsname(t->fd));
    fflush(stdout);
    t->pid = fork();
    if (t->pid == 0) child(slave, command);
    return 0;
}

int typist_sees(Typist *t, const char *text) {
    for (int turns = 0; turns < 300; turns++) {
        char *found = strstr(t->screen + t->at, text);
        if (found) {
            t->at = (size_t)(found - t->screen) + strlen(text);
            return 1;
        }
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        if (poll(&p, 1, 100) <= 0) continue;
        ssize_t got = read(t->fd, t->screen + t->n, sizeof t->screen - 1 - t->n);
        if (got <= 0) break;
        t->n += (size_t)got;
    }
    fprintf(stderr, "waited for \"%s\"; the screen: %s\n", text, t->screen + t->at);
    return 0;
}

void typist_types(Typist *t, const char *text) { CHECK(write(t->fd, text, strlen(text)) == (ssize_t)strlen(text)); }

int typist_ended(Typist *t) {
    int status = 0;
    for (int turns = 0; turns < 300 && waitpid(t->pid, &status, WNOHANG) == 0; turns++) {
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        char ignored[4096];
        if (poll(&p, 1, 100) > 0 && read(t->fd, ignored, sizeof ignored) <= 0) poll(NULL, 0, 20);
        if (turns == 298) kill(t->pid, SIGKILL);
    }
    close(t->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

size_t typist_written(const Typist *t) {
    struct stat st;
    return stat(t->answers, &st) == 0 ? (size_t)st.st_size : 0;
}

int typist_writes(const Typist *t, size_t n) {
    for (int i = 0; i < 3000 && typist_written(t) <= n; i++) poll(NULL, 0, 10);
    return typist_written(t) > n;
}
