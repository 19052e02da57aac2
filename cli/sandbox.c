/* cli/sandbox.c - two fences of Linux. Landlock knows paths: which files may be opened, for what. seccomp knows calls:
 * a list of those that are allowed, all others fail with EPERM, which is an error line as any other. Numbers and
 * layouts are the kernel's (include/uapi/linux: landlock.h, seccomp.h, filter.h, audit.h), stated here because a
 * system's headers may be older than its kernel. */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "sandbox.h"

#include "base/base.h"
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sanitizers open files, make processes and look into them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
enum { ARCH = (int)0xc000003e };
#define HAS_SANDBOX 1
#elif defined(__linux__) && defined(__aarch64__) && defined(__LP64__)
enum { ARCH = (int)0xc00000b7 };
#define HAS_SANDBOX 1
#endif

#if defined(SANITIZED) || !defined(HAS_SANDBOX)

int sandbox_enter(const SandboxPath *paths, size_t n, const char **why) {
    (void)paths, (void)n;
#if defined(SANITIZED)
    *why = "this program is built with a sanitizer, which it would stop";
#else
    *why = "it is for Linux on x86-64 and arm64";
#endif
    return 0;
}
void sandbox_narrow(void) {}
int sandbox_shut(void) { return 0; }

#else

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static struct { const SandboxPath *paths; size_t n; int is, shut, no_memory; } entered;

/* ---- Landlock: paths ---- */

enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_ENTER = 446 }; /* the same on both processors */
enum {
    MAY_RUN = 1 << 0, MAY_WRITE = 1 << 1, MAY_READ = 1 << 2, MAY_LIST = 1 << 3, MAY_REMOVE = 1 << 5, MAY_MAKE = 1 << 8,
    MAY_TRUNCATE = 1 << 14, /* from the third version on; the fifth has devices' ioctl */
    OF_FILES = MAY_RUN | MAY_WRITE | MAY_READ | MAY_TRUNCATE,
    MAY_CHANGE = MAY_WRITE | MAY_REMOVE | MAY_MAKE | MAY_TRUNCATE
};
enum { NEIGHBOURS = 4096 }; /* files beside a model that are looked at */

typedef struct { int fd; uint64_t handled; } Rules;

/* What a version of Landlock can refuse, and so does: all of it. */
static uint64_t handled_by(long version) {
    return version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff;
}

/* A path that cannot be opened, or lies where there is no need of a rule (a pipe's), gets none. */
static void allow(const Rules *r, const char *path, uint64_t rights) {
    struct { uint64_t rights; int32_t parent; } rule = {rights & r->handled, open(path, O_PATH | O_CLOEXEC)};
    struct stat st;
    if (rule.parent < 0) return;
    if (rights & ~(uint64_t)OF_FILES && (fstat(rule.parent, &st) != 0 || !S_ISDIR(st.st_mode)))
        rule.rights &= OF_FILES;
    syscall(LANDLOCK_ADD, r->fd, 1 /* what is beneath a path */, &rule, 0);
    close(rule.parent);
}

/* Each file in folder and, `deep` folders down, those that links lead to: the Hub's cache is made of them. None of a
 * model's files is hidden. *left: how many entries may still be looked at. */
static void allow_within(const Rules *r, const char *folder, int deep, int links_only, int *left) {
    DIR *d = opendir(folder);
    entered.no_memory |= !d && errno == ENOMEM;
    for (struct dirent *e; d && *left > 0 && (e = readdir(d)); --*left) {
        int is_file = e->d_type == DT_REG, is_folder = e->d_type == DT_DIR; /* neither: a link, or not known here */
        if (e->d_name[0] == '.' || (is_file && links_only) || (is_folder && !deep)) continue;
        char *path = file_join(folder, e->d_name);
        entered.no_memory |= !path;
        if (path && is_folder) allow_within(r, path, deep - 1, links_only, left);
        else if (path && (is_file || file_is_regular(path))) allow(r, path, MAY_READ);
        free(path);
    }
    if (d) closedir(d);
}

static void allow_model(const Rules *r, const char *path) {
    int left = NEIGHBOURS, within = file_is_folder(path);
    char *folder = within ? strdup(path) : file_folder(path);
    entered.no_memory |= !folder;
    allow(r, path, MAY_READ | MAY_LIST);
    if (folder && !within) allow(r, folder, MAY_LIST);
    if (folder) allow_within(r, folder, within ? 2 : 0, within, &left);
    if (folder && !within && left == 0) allow(r, folder, MAY_READ); /* a rule for each of them would take too long */
    free(folder);
}

/* A link is written where it leads. */
static void allow_new(const Rules *r, const char *path) {
    char *real = realpath(path, NULL);
    entered.no_memory |= !real && errno == ENOMEM;
    char *folder = file_folder(real ? real : path);
    entered.no_memory |= !folder;
    allow(r, path, MAY_READ | MAY_WRITE | MAY_TRUNCATE);
    if (folder) allow(r, folder, MAY_CHANGE);
    free(folder);
    free(real);
}

static int enter_paths(int late_only) {
    static const char *const system_files[] = {"/sys/devices/system/cpu", "/proc/self", "/proc/meminfo",
                                               "/etc/localtime", "/usr/share/zoneinfo"};
    long version = syscall(LANDLOCK_CREATE, NULL, 0, 1 /* the version is asked */);
    if (version < 1) return -ENOSYS;
    Rules r = {.handled = handled_by(version)};
    r.fd = (int)syscall(LANDLOCK_CREATE, &r.handled, sizeof r.handled, 0);
    if (r.fd < 0) return -errno;
    for (size_t i = 0; i < sizeof system_files / sizeof *system_files; i++)
        allow(&r, system_files[i], MAY_READ | MAY_LIST);
    for (size_t i = 0; i < entered.n; i++) {
        const SandboxPath *p = &entered.paths[i];
        if (!p->path || (late_only && !p->late)) continue;
        if (p->use == SANDBOX_FILE) allow(&r, p->path, file_is_folder(p->path) ? MAY_LIST : MAY_READ);
        else if (p->use == SANDBOX_MODEL) allow_model(&r, p->path);
        else if (p->use == SANDBOX_NEW) allow_new(&r, p->path);
        else allow(&r, p->path, MAY_READ | MAY_LIST | MAY_CHANGE);
    }
    int rc = syscall(LANDLOCK_ENTER, r.fd, 0) ? -errno : 0;
    close(r.fd);
    return rc;
}

/* ---- seccomp: calls ---- */

/* When a call is allowed. */
enum {
    OPENING = 1,     /* from the start on */
    SHUT = 2,        /* nothing is opened any more */
    SHUT_NEW = 4,    /* .. but new files to be written */
    SHUT_FOLDER = 8, /* .. but what paths allow */
    ALWAYS = OPENING | SHUT | SHUT_NEW | SHUT_FOLDER, FILES = OPENING | SHUT_FOLDER, MAKING = FILES | SHUT_NEW
};

static const struct { int call, when; } calls[] = {
    /* what is open */
    {SYS_read, ALWAYS}, {SYS_readv, ALWAYS}, {SYS_pread64, ALWAYS}, {SYS_write, ALWAYS}, {SYS_writev, ALWAYS},
    {SYS_pwrite64, ALWAYS}, {SYS_lseek, ALWAYS}, {SYS_close, ALWAYS}, {SYS_fstat, ALWAYS}, {SYS_fsync, ALWAYS},
    {SYS_fdatasync, ALWAYS}, {SYS_ftruncate, ALWAYS}, {SYS_fadvise64, ALWAYS}, {SYS_ppoll, ALWAYS},
    {SYS_pselect6, ALWAYS},
    /* what stands at a path: its kind, size and time */
    {SYS_newfstatat, ALWAYS}, {SYS_statx, ALWAYS}, {SYS_faccessat, ALWAYS}, {439 /* faccessat2 */, ALWAYS},
    {SYS_readlinkat, ALWAYS}, {SYS_getcwd, ALWAYS},
    /* files: to read, to make */
    {SYS_openat, FILES}, {SYS_getdents64, FILES}, {SYS_unlinkat, MAKING}, {SYS_renameat2, MAKING},
    /* memory, threads */
    {SYS_brk, ALWAYS}, {SYS_munmap, ALWAYS}, {SYS_mremap, ALWAYS}, {SYS_madvise, ALWAYS}, {SYS_mincore, ALWAYS},
    {SYS_futex, ALWAYS}, {SYS_set_robust_list, ALWAYS}, {SYS_set_tid_address, ALWAYS}, {SYS_rseq, ALWAYS},
    {SYS_membarrier, ALWAYS}, {SYS_exit, ALWAYS}, {SYS_exit_group, ALWAYS}, {SYS_sched_yield, ALWAYS},
    {SYS_sched_getaffinity, ALWAYS}, {SYS_sched_getparam, ALWAYS}, {SYS_sched_getscheduler, ALWAYS},
    {SYS_getcpu, ALWAYS},
    /* time, and what the system says of itself and of us */
    {SYS_clock_gettime, ALWAYS}, {SYS_clock_getres, ALWAYS}, {SYS_clock_nanosleep, ALWAYS}, {SYS_nanosleep, ALWAYS},
    {SYS_gettimeofday, ALWAYS}, {SYS_times, ALWAYS}, {SYS_getrusage, ALWAYS}, {SYS_sysinfo, ALWAYS},
    {SYS_uname, ALWAYS}, {SYS_getpid, ALWAYS}, {SYS_gettid, ALWAYS}, {SYS_getrandom, ALWAYS},
    /* signals that come */
    {SYS_rt_sigaction, ALWAYS}, {SYS_rt_sigprocmask, ALWAYS}, {SYS_rt_sigreturn, ALWAYS}, {SYS_sigaltstack, ALWAYS},
    {SYS_restart_syscall, ALWAYS},
    /* the next fence */
    {SYS_seccomp, OPENING}, {LANDLOCK_CREATE, OPENING}, {LANDLOCK_ADD, OPENING}, {LANDLOCK_ENTER, OPENING},
#if defined(SYS_renameat)
    {SYS_renameat, MAKING},
#endif
#if defined(__x86_64__) /* the older calls, which C libraries still make there; arch_prctl: AMX is asked for */
    {SYS_stat, ALWAYS}, {SYS_lstat, ALWAYS}, {SYS_access, ALWAYS}, {SYS_readlink, ALWAYS}, {SYS_poll, ALWAYS},
    {SYS_select, ALWAYS}, {SYS_time, ALWAYS}, {SYS_open, FILES}, {SYS_getdents, FILES}, {SYS_unlink, MAKING},
    {SYS_rename, MAKING}, {SYS_arch_prctl, ALWAYS},
#endif
};

/* .. where an argument & mask is this value. */
enum { WHOLE_ARGUMENT = -1, OWN = -2 }; /* OWN, a value: this process */
static const struct { int call, when, argument, mask, value; } calls_with[] = {
    {SYS_mmap, ALWAYS, 2, PROT_EXEC, 0},
    {SYS_mprotect, ALWAYS, 2, PROT_EXEC, 0},
    {SYS_clone, ALWAYS, 0, 0x10000, 0x10000}, /* CLONE_THREAD: no process */
    {SYS_kill, ALWAYS, 0, WHOLE_ARGUMENT, OWN},
    {SYS_tgkill, ALWAYS, 0, WHOLE_ARGUMENT, OWN},
    {SYS_tkill, ALWAYS, 0, WHOLE_ARGUMENT, OWN},
    {SYS_prlimit64, ALWAYS, 0, WHOLE_ARGUMENT, 0},
    {SYS_fcntl, ALWAYS, 1, WHOLE_ARGUMENT, F_GETFD},
    {SYS_fcntl, ALWAYS, 1, WHOLE_ARGUMENT, F_SETFD},
    {SYS_fcntl, ALWAYS, 1, WHOLE_ARGUMENT, F_GETFL},
    {SYS_fcntl, ALWAYS, 1, WHOLE_ARGUMENT, F_SETFL},
    /* a terminal's settings and its size; not TIOCSTI, by which another program would be typed to */
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, TCGETS},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, TCSETS},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, TCSETSW},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, TCSETSF},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, TIOCGWINSZ},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, (int)0x802c542a}, /* TCGETS2 and three TCSETS2, of newer C libraries */
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, 0x402c542b},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, 0x402c542c},
    {SYS_ioctl, ALWAYS, 1, WHOLE_ARGUMENT, 0x402c542d},
    {SYS_openat, SHUT_NEW, 2, O_ACCMODE | O_CREAT | O_EXCL, O_WRONLY | O_CREAT | O_EXCL},
    {SYS_linkat, MAKING, 4, WHOLE_ARGUMENT, AT_SYMLINK_FOLLOW}, /* a name for a file that has none */
    {SYS_openat, SHUT_NEW, 2, O_ACCMODE | O_TMPFILE, O_WRONLY | O_TMPFILE},
#if defined(__x86_64__)
    {SYS_open, SHUT_NEW, 1, O_ACCMODE | O_CREAT | O_EXCL, O_WRONLY | O_CREAT | O_EXCL},
    {SYS_open, SHUT_NEW, 1, O_ACCMODE | O_TMPFILE, O_WRONLY | O_TMPFILE},
#endif
};
enum { N_CALLS = sizeof calls / sizeof *calls, N_WITH = sizeof calls_with / sizeof *calls_with };
enum { MOST = 12 + N_CALLS + 6 * N_WITH };
/* clone3 hides its flags, and newer calls are not known here: as if the kernel were older, and C libraries have another
 * way. */
enum { CLONE3 = 435, NEWER = 450 };

/* seccomp's machine: one register, jumps forward (struct sock_filter). */
typedef struct { uint16_t code; uint8_t yes, no; uint32_t k; } Step;
typedef struct { Step at[MOST]; unsigned short n; } Filter;
enum { LOAD = 0x20, AND = 0x54, IF_EQUAL = 0x15, IF_AT_LEAST = 0x35, JUMP = 0x05, RETURN = 0x06 };
enum { IN_CALL = 0, IN_ARCH = 4, IN_ARGUMENTS = 16 }; /* where struct seccomp_data has them; low halves come first */
static const uint32_t ALLOWED = 0x7fff0000, REFUSED = 0x00050000 | EPERM, UNKNOWN = 0x00050000 | ENOSYS;

static void step(Filter *f, int code, uint32_t k, int yes, int no) {
    f->at[f->n++] = (Step){(uint16_t)code, (uint8_t)yes, (uint8_t)no, k};
}

/* Few steps: the kernel goes through them for each call there is, to know which are always allowed. */
static void step_calls(Filter *f, int when) {
    int n = 0;
    for (int i = 0; i < N_CALLS; i++) n += (calls[i].when & when) != 0;
    for (int i = 0; i < N_CALLS; i++)
        if (calls[i].when & when) step(f, IF_EQUAL, (uint32_t)calls[i].call, n--, 0);
    step(f, JUMP, 1, 0, 0);
    step(f, RETURN, ALLOWED, 0, 0);
}

static void step_call_with(Filter *f, int i) {
    int value = calls_with[i].value == OWN ? (int)getpid() : calls_with[i].value;
    step(f, IF_EQUAL, (uint32_t)calls_with[i].call, 0, 5);
    step(f, LOAD, (uint32_t)(IN_ARGUMENTS + 8 * calls_with[i].argument), 0, 0);
    step(f, AND, (uint32_t)calls_with[i].mask, 0, 0);
    step(f, IF_EQUAL, (uint32_t)value, 0, 1);
    step(f, RETURN, ALLOWED, 0, 0);
    step(f, LOAD, IN_CALL, 0, 0);
}

/* All threads there are; without the slower loads that older kernels think a filter asks for. */
static int enter_calls(int when) {
    enum { SET_FILTER = 1, ALL_THREADS = 1, SPEED_KEPT = 4 };
    Filter f = {.n = 0};
    step(&f, LOAD, IN_ARCH, 0, 0);
    step(&f, IF_EQUAL, (uint32_t)ARCH, 1, 0);
    step(&f, RETURN, REFUSED, 0, 0);
    step(&f, LOAD, IN_CALL, 0, 0);
    step_calls(&f, when);
    for (int i = 0; i < N_WITH; i++)
        if (calls_with[i].when & when) step_call_with(&f, i);
    step(&f, IF_EQUAL, CLONE3, 1, 0);
    step(&f, IF_AT_LEAST, NEWER, 0, 1);
    step(&f, RETURN, UNKNOWN, 0, 0);
    step(&f, RETURN, REFUSED, 0, 0);
    struct { unsigned short n; const Step *at; } program = {f.n, f.at}; /* struct sock_fprog */
    long rc = syscall(SYS_seccomp, SET_FILTER, ALL_THREADS | SPEED_KEPT, &program);
    if (rc < 0 && errno == EINVAL) rc = syscall(SYS_seccomp, SET_FILTER, ALL_THREADS, &program);
    return rc < 0 ? -errno : rc > 0 ? -EAGAIN : 0;
}

/* ---- both ---- */

int sandbox_enter(const SandboxPath *paths, size_t n, const char **why) {
    entered.paths = paths, entered.n = n;
    *why = "this kernel refuses it";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
    if (enter_paths(0) == 0) entered.is |= SANDBOX_PATHS;
    if (entered.no_memory) return -ENOMEM;
    if (!entered.is) *why = "this kernel has no Landlock";
    if (enter_calls(OPENING) == 0) entered.is |= SANDBOX_CALLS;
    else *why = "this kernel has no seccomp filters";
    return entered.is;
}

void sandbox_narrow(void) {
    if (entered.is & SANDBOX_PATHS) enter_paths(1);
}

int sandbox_shut(void) {
    int when = SHUT;
    for (size_t i = 0; i < entered.n; i++)
        if (entered.paths[i].path && entered.paths[i].use == SANDBOX_FOLDER) when = SHUT_FOLDER;
        else if (entered.paths[i].path && entered.paths[i].use == SANDBOX_NEW && when == SHUT) when = SHUT_NEW;
    int rc = entered.is & SANDBOX_CALLS && !entered.shut ? enter_calls(when) : 0;
    entered.shut = rc == 0;
    return rc;
}

#endif
