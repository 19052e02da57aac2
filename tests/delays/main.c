/* tests/delays/main.c - rounds of jobs whose threads are held up at random; each must give the bits of one thread.
 *
 *     delays [options] FOLDER        models, as tests/test_delays.c makes them
 *
 *     -r ROUNDS   how many (1)
 *     -f FIRST    from this round on: a round is the same whoever came before it
 *     -s SEED
 *     -w WORD     jobs whose name or model holds it
 *     -t THREADS  instead of 2, 3 and 5 by chance
 *     -a          not jobs by chance: each of them, ROUNDS times
 *     -x          leave out each wait (a call of team_wait) in turn, in ROUNDS rounds whose job comes there or until
 *                 it shows: which ones nobody misses. For whoever doubts that missing ones are found
 *     -v          how often threads were held up in each place
 *
 * A process works and another looks on: a round that takes a minute hangs, and where its threads stand is printed. Exit
 * code 1 where bits differ, a round hangs or crashes, or threads never met. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, dl_iterate_phdr */
#include "delays.h"
#include "base/hash.h"
#include "base/system.h"
#include "tests/test.h"

#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_SECONDS = 60, LEFT_OUT_SECONDS = 10, LOOKS = 50, FINDINGS = 10 }; /* LOOKS: a second */

static struct {
    uint64_t rounds, first, seed;
    const char *word, *folder;
    int threads, each, leave_out, places;
} o = {.rounds = 1, .seed = 1};
static Delays *shared;

/* ---- the process that works ---- */

void job_fails(const char *what, const char *why) {
    printf("%s, round %llu: %s: %s\n", shared->job, (unsigned long long)shared->round, what, why);
    exit(1);
}

void test_fail(const char *file, int line, const char *what) { /* train_kit.c's */
    (void)line;
    job_fails(file, what);
}

static void name_job(const Job *j) {
    snprintf(shared->job, sizeof shared->job, "%s %s%s%s%s", j->name,
             *j->path ? j->path + strlen(o.folder) + 1 : j->kind ? j->kind->name : "the built-in model",
             j->spec ? ", " : "", j->spec ? j->spec : "", j->linear ? ", linear" : j->cache ? ", a small cache" : "");
}

static int do_round(const Job *jobs, size_t n, uint64_t round) {
    static const int threads[] = {2, 3, 5};
    uint64_t seed = hash_mix(o.seed * 0x9e3779b97f4a7c15u + round);
    const Job *j = &jobs[o.each ? round % n : seed % n];
    shared->threads = o.threads ? o.threads : threads[seed / n % 3];
    name_job(j);
    shared->round = round;
    shared->reached = 0;
    uint64_t want = j->run(j, seed, 1);
    if (shared->left_out && !shared->reached) return 0;
    delays_begin(seed);
    uint64_t got = j->run(j, seed, shared->threads);
    delays_end();
    if (got == want || shared->left_out) return got != want;
    printf("round %llu: %s: %d threads have other bits than one\n", (unsigned long long)round, shared->job,
           shared->threads);
    fflush(stdout);
    return 1;
}

static int work(const Job *jobs, size_t n) {
    int bad = 0;
    if (shared->left_out) {
        for (uint64_t r = o.first, reached = 0; reached < o.rounds && r < o.first + 50 * o.rounds && !bad; r++)
            bad = do_round(jobs, n, r), reached += (uint64_t)shared->reached;
        return bad;
    }
    for (uint64_t r = o.first; r < o.first + o.rounds && bad < FINDINGS; r++) bad += do_round(jobs, n, r);
    return bad != 0;
}

/* ---- the one that looks on ---- */

static void say_where(const char *what) {
    printf("round %llu: %s: %d threads %s\n", (unsigned long long)shared->round, shared->job, shared->threads, what);
    for (int i = 0; i < DELAY_THREADS; i++)
        if (shared->at[i]) printf("    thread %d was last at %s\n", i, shared->at[i]);
}

static void show_progress(double began, int end) {
    double took = clock_seconds() - began;
    uint64_t done = shared->round - o.first;
    if (!isatty(2)) return;
    if (end || done == 0) fprintf(stderr, "\r\033[K");
    else fprintf(stderr, "\rround %llu of %llu, %.0f a second, %.0f s left\033[K", (unsigned long long)done,
                 (unsigned long long)o.rounds, (double)done / took, took / (double)done * (double)(o.rounds - done));
}

static int look_on(pid_t pid) {
    double began = clock_seconds();
    uint64_t round = o.first;
    int status, hangs = 0, looks = 0, most = LOOKS * (shared->left_out ? LEFT_OUT_SECONDS : ROUND_SECONDS);
    while (waitpid(pid, &status, WNOHANG) == 0) { /* looks, not time: the machine may sleep */
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / LOOKS}, NULL);
        show_progress(began, 0);
        if (shared->round != round) round = shared->round, looks = 0;
        if (++looks == most) hangs = 1, kill(pid, SIGKILL);
    }
    show_progress(began, 1);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (!shared->left_out) say_where(hangs ? "hang" : "crash");
    return 1;
}

/* What was tried. 1 where threads never met: a test that could not have failed. */
static int summary(size_t n_jobs) {
    uint64_t runs[] = {shared->runs[2], shared->runs[3], shared->runs[5]};
    printf("%llu rounds of %zu jobs, seed %llu: %.3g points, %.3g delays, %llu sleeps; runs of 2, 3 and 5 threads: "
           "%llu, %llu, %llu\n",
           (unsigned long long)o.rounds, n_jobs, (unsigned long long)o.seed, (double)shared->points,
           (double)shared->delays, (unsigned long long)shared->asleep, (unsigned long long)runs[0],
           (unsigned long long)runs[1], (unsigned long long)runs[2]);
    for (int i = 0; i < DELAY_PLACES && shared->places[i].where && o.places; i++)
        printf("%12llu  %s\n", (unsigned long long)shared->places[i].n, shared->places[i].where);
    int met = o.threads ? shared->runs[o.threads < DELAY_TEAM ? o.threads : DELAY_TEAM] > 0
                        : runs[0] && runs[1] && runs[2];
    if (o.rounds < 20 || (met && shared->delays && shared->asleep)) return 0;
    return printf("threads did not meet in all ways: this says nothing\n"), 1;
}

/* ---- waits left out ---- */

static pid_t begin_work(const Job *jobs, size_t n) {
    shared->round = o.first;
    fflush(NULL);
    pid_t pid = fork();
    if (pid) return pid;
    if (shared->left_out && !freopen("/dev/null", "w", stderr)) exit(2);
    exit(work(jobs, n));
}

/* Where the program lies: its own addresses begin there. */
static int program_base(struct dl_phdr_info *info, size_t size, void *to) {
    (void)size;
    *(uintptr_t *)to = (uintptr_t)info->dlpi_addr;
    return 1;
}

/* The function that a wait is in, by addr2line, and the place in the program, for objdump. */
static void say_wait(int i, int missed) {
    char line[700], exe[500];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    uintptr_t base = 0;
    dl_iterate_phdr(program_base, &base);
    base = (uintptr_t)shared->waits[i] - base - 1;
    printf("%s  wait %d, 0x%lx in ", missed ? "missed      " : "NOT missed  ", i, (unsigned long)base);
    fflush(stdout);
    exe[n < 0 ? 0 : n] = 0;
    snprintf(line, sizeof line, "addr2line -fe '%s' 0x%lx | head -n 1", exe, (unsigned long)base);
    if (n <= 0 || system(line) != 0) printf("?\n");
}

/* All jobs once, so that all waits are known; then without one after the other. */
static int leave_out(const Job *jobs, size_t n) {
    int missed = 0, all = 0;
    for (size_t i = 0; i < n; i++) name_job(&jobs[i]), jobs[i].run(&jobs[i], hash_mix(i), 1);
    for (; all < DELAY_WAITS && shared->waits[all]; all++) {
        shared->left_out = shared->waits[all];
        int bad = look_on(begin_work(jobs, n)) != 0;
        say_wait(all, bad);
        missed += bad;
    }
    printf("%d of %d waits are missed when they are left out, in %llu rounds at most\n", missed, all,
           (unsigned long long)o.rounds);
    return missed == 0;
}

static int options_read(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "r:f:s:w:t:axv")) != -1;) switch (c) {
        case 'r': o.rounds = strtoull(optarg, NULL, 10); break;
        case 'f': o.first = strtoull(optarg, NULL, 10); break;
        case 's': o.seed = strtoull(optarg, NULL, 10); break;
        case 'w': o.word = optarg; break;
        case 't': o.threads = (int)strtoul(optarg, NULL, 10); break;
        case 'a': o.each = 1; break;
        case 'x': o.leave_out = 1; break;
        case 'v': o.places = 1; break;
        default: return 0;
        }
    o.folder = argv[optind];
    return o.folder != NULL;
}

static size_t chosen(Job *jobs, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        name_job(&jobs[i]);
        if (!o.word || strstr(shared->job, o.word)) jobs[kept++] = jobs[i];
    }
    return kept;
}

int main(int argc, char **argv) {
    Job *jobs;
    if (!options_read(argc, argv)) return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    delays_share(shared);
    size_t n = jobs_of(o.folder, &jobs);
    n = chosen(jobs, n);
    if (n == 0) return printf("no job's name holds \"%s\"\n", o.word ? o.word : ""), 2;
    if (o.each) o.rounds *= n;
    int bad = o.leave_out ? leave_out(jobs, n) : look_on(begin_work(jobs, n));
    if (!o.leave_out && summary(n)) bad = 1;
    free(jobs);
    return bad;
}
