/* tests/payload/payload.c - what somebody would do who got into ./run: a library that is loaded with it (LD_PRELOAD)
 * and tries, at the moment that PAYLOAD names, whatever the sandbox is to refuse. A line on stderr for each:
 * "refused NAME", "OPEN NAME", and for what has to work still "works NAME", "FAILS NAME".
 *
 *     PAYLOAD=flush      when output is written first: all is open
 *     PAYLOAD=opening    when the first file is opened
 *     PAYLOAD=thread     at the first output, by a thread that is older than the program's first line
 *     VICTIM, MODEL, BESIDE: a file elsewhere, one that the program has read, a name to be made where it writes */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *who = "";
static char victim[4096], model[4096], beside[4096], moment[40];
static atomic_int stage; /* of the other thread: 1 its turn, 2 it is done */
static int done;

static void say(const char *what, const char *name) {
    char line[200];
    int n = snprintf(line, sizeof line, "%s%s %s\n", who, what, name);
    if (write(2, line, (size_t)n) < 0) _exit(99);
}

static int attempt(const char *name, long rc) {
    int refused = rc < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS || errno == EXDEV);
    if (!refused) say("OPEN", name);
    else say("refused", name);
    return !refused;
}

static void works(const char *name, int well) { say(well ? "works" : "FAILS", name); }

static void *nothing(void *arg) { return arg; }

static void files(void) {
    static const char *const elsewhere[] = {"/etc/passwd", "/etc", "/dev/null", "/proc/1/environ"};
    char other[5000];
    int fd;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        attempt(elsewhere[i], open(elsewhere[i], O_RDONLY));
    attempt("write elsewhere", open(victim, O_WRONLY));
    attempt("truncate", truncate(victim, 0));
    snprintf(other, sizeof other, "%s.new", victim);
    attempt("create elsewhere", open(other, O_WRONLY | O_CREAT | O_EXCL, 0600));
    attempt("create, open()", open(other, O_RDWR | O_CREAT, 0600));
    attempt("rename", rename(victim, other));
    attempt("unlink", unlink(victim));
    attempt("mkdir", mkdir(other, 0700));
    attempt("symlink", symlink("/etc/passwd", other));
    attempt("link", link(victim, other));
    attempt("linkat", linkat(AT_FDCWD, victim, AT_FDCWD, other, AT_SYMLINK_FOLLOW));
    if (*beside && attempt("link beside", linkat(AT_FDCWD, victim, AT_FDCWD, beside, AT_SYMLINK_FOLLOW)))
        unlink(beside);
    attempt("nameless elsewhere", open("/tmp", O_WRONLY | O_TMPFILE, 0600));
    attempt("chmod", chmod(victim, 0777));
    attempt("memfd", syscall(SYS_memfd_create, "x", 0));
    if (*model && (fd = open(model, O_RDONLY)) >= 0)
        say("may", "read the model"), attempt("fchmod", fchmod(fd, 0644)), close(fd);
    if (*beside && (fd = open(beside, O_WRONLY | O_CREAT | O_EXCL, 0600)) >= 0)
        say("may", "make beside"), close(fd), attempt("read what was made", open(beside, O_RDWR)), unlink(beside);
}

static void others(void) {
    struct iovec io = {victim, 1};
    struct rlimit limit;
    attempt("socket inet", socket(AF_INET, SOCK_STREAM, 0));
    attempt("socket inet6", socket(AF_INET6, SOCK_DGRAM, 0));
    attempt("socket unix", socket(AF_UNIX, SOCK_STREAM, 0));
    attempt("socket netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    attempt("connect", connect(0, &(struct sockaddr){.sa_family = AF_INET}, sizeof(struct sockaddr)));
    attempt("kill the parent", kill(getppid(), 0));
    attempt("kill all", kill(-1, 0));
    attempt("limits of another", prlimit(getppid(), RLIMIT_CORE, NULL, &limit));
    attempt("memory of another", process_vm_readv(getppid(), &io, 1, &io, 1, 0));
    attempt("ptrace", ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
    attempt("type into the terminal", ioctl(0, TIOCSTI, "x"));
    attempt("io_uring", syscall(425, 1, NULL));
    attempt("bpf", syscall(SYS_bpf, 0, NULL, 0));
    attempt("userfaultfd", syscall(SYS_userfaultfd, 0));
    attempt("perf_event", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    attempt("unshare", syscall(SYS_unshare, 0));
    attempt("mount", syscall(SYS_mount, NULL, NULL, NULL, 0, NULL));
    attempt("chroot", chroot("/"));
    attempt("personality", syscall(SYS_personality, 0xffffffff));
    attempt("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
}

static void programs(void) {
    char *words[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *run = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    works("mmap", page != MAP_FAILED);
    attempt("mmap to run", run == MAP_FAILED ? -1 : 0);
    attempt("mprotect to run", mprotect(page, 4096, PROT_READ | PROT_EXEC));
    attempt("pkey_mprotect", syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1));
#if defined(__x86_64__)
    long rc;
    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(20) : "memory"); /* getpid, as a 32-bit program asks */
    errno = rc < 0 ? (int)-rc : 0;
    attempt("32-bit calls", rc < 0 ? -1 : 0);
    attempt("x32 calls", syscall(0x40000000 | 39));
#endif
    long child = fork();
    if (child == 0) _exit(0);
    attempt("fork", child);
    child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    attempt("clone", child);
    unsigned long long clone3[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
    child = syscall(435, clone3, sizeof clone3);
    if (child == 0) _exit(0);
    attempt("clone3", child);
    attempt("execve", execve("/bin/sh", words, NULL));
    attempt("execveat", syscall(SYS_execveat, AT_FDCWD, "/bin/sh", words, NULL, 0));
}

static void what_works(void) {
    struct timespec t = {0, 1000};
    pthread_t thread;
    char *memory = malloc(64 << 20), bytes[8];
    works("memory", memory != NULL);
    if (memory) memset(memory, 1, 64 << 20);
    free(memory);
    works("threads", pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
    works("time", clock_gettime(CLOCK_REALTIME, &t) == 0 && nanosleep(&(struct timespec){0, 1000}, NULL) == 0);
    works("random bytes", syscall(SYS_getrandom, bytes, sizeof bytes, 0) == sizeof bytes);
    works("a signal to itself", kill(getpid(), 0) == 0 && raise(SIGURG) == 0);
    works("writing", write(1, "", 0) == 0);
}

static void all(void) {
    files();
    others();
    what_works();
    programs();
}

/* A thread that was there before the program's first line. */
static void *early(void *arg) {
    while (atomic_load(&stage) != 1) nanosleep(&(struct timespec){0, 100000}, NULL);
    who = "thread: ";
    if (strcmp(moment, "thread") == 0) others(), programs(), attempt("/etc/passwd", open("/etc/passwd", O_RDONLY));
    atomic_store(&stage, 2);
    return arg;
}

static void take(char *to, const char *name) { snprintf(to, name ? 4096 : 1, "%s", name ? name : ""); }

__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    take(victim, getenv("VICTIM")), take(model, getenv("MODEL")), take(beside, getenv("BESIDE"));
    snprintf(moment, sizeof moment, "%s", getenv("PAYLOAD") ? getenv("PAYLOAD") : "");
    if (strcmp(moment, "thread") == 0) (void)pthread_create(&thread, NULL, early, NULL);
}

static void attack(void) {
    if (done) return;
    done = 1;
    if (strcmp(moment, "thread") == 0) {
        atomic_store(&stage, 1);
        while (atomic_load(&stage) != 2) nanosleep(&(struct timespec){0, 100000}, NULL);
    } else all();
    who = "";
    say("payload", "done");
}

int fflush(FILE *f) {
    static int (*real)(FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fflush");
    if (strcmp(moment, "opening") != 0) attack();
    return real(f);
}

/* The sandbox opens paths for rules with O_PATH, before there is one. */
int open(const char *path, int flags, ...) {
    va_list ap;
    va_start(ap, flags);
    unsigned mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    if (strcmp(moment, "opening") == 0 && !(flags & O_PATH)) attack();
    return openat(AT_FDCWD, path, flags, mode);
}
