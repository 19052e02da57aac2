/* tests/faults/main.c - the program with one call that fails: run once for each point, and judged each time.
 *
 *     faults [options] -- ARGS                ./run ARGS
 *     faults [options] -- library MODEL       a job of library.c; so are guessing MODEL and editing
 *     faults-core [options] -- ARGS           ./core ARGS
 *
 *     -d FOLDER   what ARGS writes is in it: each run finds it as it is now
 *     -i FILE     stdin
 *     -n N        at most N points of a kind, and as many as -r says of those behind them, drawn by -s
 *     -r N, -s SEED
 *     -k LETTERS  kinds: memory, exhausted, read, write, interrupt, thread, short; without it all
 *     -a END      a file whose name ends so may also be there after a failure, and opens (a training's checkpoint)
 *     -p END      a file whose name ends so may be the beginning of the whole one (compare --resume goes on with it)
 *     -x WORD     a line of stdout that begins so holds times, and is not compared
 *     -t          all lines do: they are counted
 *
 * What must hold: exit code 1 and one line on stderr that says why ("memory" where that ran out; where it stays
 * exhausted a second may follow), or the output of a run in which nothing fails; files as they were or whole; nothing
 * held at the end. Exit code 1 where it does not. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "faults.h"
#include "base/paths.h"
#include "tests/build.h"

#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int __wrap_main(int argc, char **argv);
int __real_main(int argc, char **argv);

static const char kind_letters[] = "merwits"; /* of FaultKind */
static const char *const kind_names[] = {"memory", "exhausted", "read", "write", "interrupt", "thread", "short"};
enum { RUN_SECONDS = 20, FILES = 32, SHOWN = 12 };

typedef struct {
    const char *folder, *input, *kinds, *also, *begun, *times;
    size_t first, drawn;
    int counted;
    unsigned seed;
    int argc;
    char **argv;
} Options;

static Options o = {.kinds = kind_letters, .first = 1000, .drawn = 1000, .seed = 1};
static Faults *shared;
static char said_path[64], out_path[64];
static size_t findings, ran, carried_on, done[FAULT_KINDS];

/* ---- a folder's files ---- */

typedef struct { char name[256]; char *data; size_t n; } File;
typedef struct { File files[FILES]; size_t n; } Folder;

static void path_in(char *path, size_t size, const char *name) { snprintf(path, size, "%s/%s", o.folder, name); }

static Folder folder_read(void) {
    Folder f = {.n = 0};
    DIR *d = o.folder ? opendir(o.folder) : NULL;
    for (struct dirent *e; d && f.n < FILES && (e = readdir(d));) {
        char path[1024];
        File *file = &f.files[f.n];
        if (*e->d_name == '.') continue;
        path_in(path, sizeof path, e->d_name);
        snprintf(file->name, sizeof file->name, "%s", e->d_name);
        file->data = file_read(path, &file->n);
        f.n++;
    }
    if (d) closedir(d);
    return f;
}

static void folder_free(Folder *f) {
    for (size_t i = 0; i < f->n; i++) free(f->files[i].data);
    f->n = 0;
}

static const File *named_as(const Folder *f, const File *file) {
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->files[i].name, file->name) == 0) return &f->files[i];
    return NULL;
}

static int holds(const Folder *f, const File *file) {
    const File *same = named_as(f, file);
    return same && same->n == file->n && memcmp(same->data, file->data, file->n) == 0;
}

/* The folder is as it was. */
static void folder_reset(const Folder *was) {
    Folder is = folder_read();
    char path[1024];
    for (size_t i = 0; i < is.n; i++) {
        path_in(path, sizeof path, is.files[i].name);
        if (!holds(was, &is.files[i])) unlink(path);
    }
    for (size_t i = 0; i < was->n; i++) {
        path_in(path, sizeof path, was->files[i].name);
        if (!holds(&is, &was->files[i])) file_write(path, was->files[i].data, was->files[i].n);
    }
    folder_free(&is);
}

/* ---- one run ---- */

typedef struct {
    int code; /* 128 + signal */
    char *out, *said;
    size_t n_out;
    Folder folder;
} Outcome;

static void outcome_free(Outcome *r) {
    free(r->out), free(r->said);
    folder_free(&r->folder);
}

static void child(int argc, char **argv) {
    if (!freopen(o.input ? o.input : "/dev/null", "r", stdin) || !freopen(out_path, "w", stdout) ||
        !freopen(said_path, "w", stderr))
        _exit(99);
    setvbuf(stderr, NULL, _IONBF, 0);
    alarm(RUN_SECONDS);
    faults_begin(shared);
    atexit(faults_end);
    for (const FaultJob *job = fault_jobs; job->name; job++)
        if (argc && strcmp(argv[0], job->name) == 0) exit(job->run(argv[1], o.folder));
    char *all[64] = {(char *)fault_program};
    for (int i = 0; i < argc && i < 62; i++) all[i + 1] = argv[i];
    exit(__real_main(argc + 1, all));
}

static Outcome run_once(FaultKind kind, size_t at, int trace, int argc, char **argv) {
    Outcome r = {.code = 99};
    int status = 0;
    memset(shared, 0, sizeof *shared);
    shared->kind = kind, shared->at = at, shared->trace = trace;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) child(argc, argv);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return r;
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r.out = file_read(out_path, &r.n_out);
    char *times = o.times ? strstr(r.out, o.times) : NULL;
    size_t n_times = times ? strcspn(times, "\n") : 0;
    r.n_out -= n_times;
    if (times) memmove(times, times + n_times, r.n_out - (size_t)(times - r.out));
    r.said = file_read(said_path, NULL);
    r.folder = folder_read();
    return r;
}

/* ---- judging ---- */

/* Where the program lies: its own addresses begin there. */
static int program_base(struct dl_phdr_info *info, size_t size, void *to) {
    (void)size;
    *(uintptr_t *)to = (uintptr_t)info->dlpi_addr;
    return 1;
}

static void print_frames(const char *what, const char *call, void *const *frames) {
    char cmd[1200], exe[512];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    uintptr_t base = 0;
    dl_iterate_phdr(program_base, &base);
    printf("      %s %s\n", what, call ? call : "?");
    if (n <= 0 || !frames[0]) return;
    exe[n] = 0;
    snprintf(cmd, sizeof cmd, "addr2line -fspe '%s'", exe);
    for (int i = 3; i < FAULT_FRAMES && frames[i]; i++)
        snprintf(cmd + strlen(cmd), sizeof cmd - strlen(cmd), " 0x%lx",
                 (unsigned long)((uintptr_t)frames[i] - base - 1));
    snprintf(cmd + strlen(cmd), sizeof cmd - strlen(cmd), " 2>&1 | sed '/^run_once/,$d; s/^/        /; s/ at .*//'");
    fflush(stdout);
    if (system(cmd) != 0) printf("        %s\n", cmd);
}

static size_t lines(const char *s) {
    size_t n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

/* What is left in the folder after a failure is what was there, or a whole file. */
static const char *judge_files(const Outcome *r, const Folder *before, const Outcome *whole) {
    for (size_t i = 0; i < r->folder.n; i++) {
        const File *f = &r->folder.files[i], *all = named_as(&whole->folder, f);
        if (holds(before, f) || holds(&whole->folder, f) || (o.also && text_ends_with(f->name, o.also))) continue;
        int begun = o.begun && text_ends_with(f->name, o.begun) && all && f->n <= all->n;
        if (!begun || memcmp(f->data, all->data, f->n) != 0) return f->name;
    }
    for (size_t i = 0; i < before->n; i++)
        if (!named_as(&r->folder, &before->files[i])) return before->files[i].name;
    return NULL;
}

/* NULL where all is as it must be. */
static const char *judge(const Outcome *r, FaultKind kind, int failed, const Folder *before, const Outcome *whole) {
    if (r->code == 128 + 14) return "it hangs";
    if (r->code > 128 && (kind != FAULT_INTERRUPT || r->code != 130)) return "it crashes";
    if (!shared->ended) return "it ends by _exit";
    if (shared->held) return "something is held at its end";
    int same = o.counted ? lines(r->out) == lines(whole->out)
                         : r->n_out == whole->n_out && memcmp(r->out, whole->out, r->n_out) == 0;
    same &= r->folder.n == whole->folder.n;
    for (size_t i = 0; i < r->folder.n && same; i++) same = holds(&whole->folder, &r->folder.files[i]);
    if (r->code == whole->code) return same ? NULL : "it goes on with another output";
    if (kind == FAULT_INTERRUPT && r->code == 130) return judge_files(r, before, whole) ? "a file is left half" : NULL;
    if (r->code != 1) return "its exit code is not 1";
    if (!failed) return "it fails where nothing failed";
    size_t n = lines(r->said), usual = lines(whole->said), named = strlen(fault_program);
    if (n == 0) return "no line says why";
    if (n > usual + 1 + (kind == FAULT_EXHAUSTED)) return "more than a line";
    if (usual == 0 && (strncmp(r->said, fault_program, named) != 0 || r->said[named] != ':'))
        return "the line is not the program's";
    int memory = kind == FAULT_MEMORY || kind == FAULT_EXHAUSTED;
    if (memory && !strstr(r->said, "memory")) return "the line does not say that memory ran out";
    return judge_files(r, before, whole) ? "a file is left that is not whole" : NULL;
}

static void report(const char *what, FaultKind kind, size_t at, const Outcome *r, const Folder *before,
                   const Outcome *whole) {
    if (findings++ >= SHOWN) return;
    printf("    %s %zu: %s; exit code %d, %zu bytes on stdout\n", kind_names[kind], at, what, r->code, r->n_out);
    for (const char *s = r->said; s && *s;) {
        int n = (int)strcspn(s, "\n");
        printf("      | %.*s\n", n, s);
        s += n + (s[n] == '\n');
    }
    const char *file = judge_files(r, before, whole);
    if (file) printf("      file: %s\n", file);
    folder_reset(before);
    Outcome again = run_once(kind, at, 1, o.argc, o.argv); /* the same, with who took what is held */
    print_frames("failed:", shared->call, shared->frames);
    if (shared->held) print_frames("held:", shared->held_call, shared->held_frames);
    outcome_free(&again);
}

static size_t try_point(FaultKind kind, size_t at, const Folder *before, const Outcome *whole) {
    folder_reset(before);
    Outcome r = run_once(kind, at, 0, o.argc, o.argv);
    const char *bad = judge(&r, kind, shared->failed, before, whole);
    size_t reached = kind == FAULT_SHORT || shared->failed;
    ran += reached;
    carried_on += reached && !bad && r.code == whole->code;
    if (!bad && o.also)
        for (size_t i = 0; i < r.folder.n; i++) {
            char path[1024], *inspect[] = {"inspect", path, "-q"};
            path_in(path, sizeof path, r.folder.files[i].name);
            if (holds(before, &r.folder.files[i]) || holds(&whole->folder, &r.folder.files[i])) continue;
            Outcome opens = run_once(FAULT_MEMORY, 0, 0, 3, inspect);
            if (opens.code) bad = "a checkpoint that cannot be opened is left";
            outcome_free(&opens);
        }
    if (bad) report(bad, kind, at, &r, before, whole);
    outcome_free(&r);
    return reached;
}

static void try_kind(FaultKind kind, size_t n, const Folder *before, const Outcome *whole) {
    size_t at = 1;
    if (kind == FAULT_SHORT) n = 1;
    for (; at <= n && at <= o.first; at++) done[kind] += try_point(kind, at, before, whole);
    if (n > o.first + o.drawn)
        for (size_t i = 0; i < o.drawn; i++) {
            o.seed = o.seed * 1103515245u + 12345u;
            done[kind] += try_point(kind, o.first + 1 + (o.seed >> 8) % (n - o.first), before, whole);
        }
    else for (; at <= n; at++) done[kind] += try_point(kind, at, before, whole);
}

static int options_read(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "d:i:n:r:s:k:a:p:x:t")) != -1;) switch (c) {
        case 'd': o.folder = optarg; break;
        case 'i': o.input = optarg; break;
        case 'n': o.first = strtoul(optarg, NULL, 10); break;
        case 'r': o.drawn = strtoul(optarg, NULL, 10); break;
        case 's': o.seed = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'k': o.kinds = optarg; break;
        case 'a': o.also = optarg; break;
        case 'p': o.begun = optarg; break;
        case 'x': o.times = optarg; break;
        case 't': o.counted = 1; break;
        default: return 0;
        }
    o.argc = argc - optind, o.argv = argv + optind;
    return o.argc > 0;
}

int __wrap_main(int argc, char **argv) {
    if (!options_read(argc, argv)) return 2;
    snprintf(out_path, sizeof out_path, "/tmp/roformer-faults-%ld.out", (long)getpid());
    snprintf(said_path, sizeof said_path, "/tmp/roformer-faults-%ld.err", (long)getpid());
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    Folder before = folder_read();
    unsigned seed = o.seed;
    Outcome whole = run_once(FAULT_MEMORY, 0, 1, o.argc, o.argv);
    if (whole.code || !shared->ended || shared->held)
        report("nothing failed", FAULT_MEMORY, 0, &whole, &before, &whole);
    size_t count[FAULT_KINDS];
    for (int k = 0; k < FAULT_KINDS; k++) count[k] = atomic_load(&shared->count[k]);
    count[FAULT_EXHAUSTED] = count[FAULT_MEMORY];
    for (int k = 0; k < FAULT_KINDS; k++)
        if (strchr(o.kinds, kind_letters[k])) try_kind((FaultKind)k, count[k], &before, &whole);
    for (int k = 0; k < FAULT_KINDS; k++) printf("%s %zu of %zu, ", kind_names[k], done[k], count[k]);
    printf("%zu runs, %zu of them went on, %zu findings; seed %u\n", ran, carried_on, findings, seed);
    unlink(out_path), unlink(said_path);
    outcome_free(&whole);
    folder_free(&before);
    return findings != 0;
}
