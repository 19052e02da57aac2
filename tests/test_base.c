/* tests/test_base.c - error lines, checked sizes, UTF-8, mapped files, teams of threads, JSON. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/base.h"
#include "base/newfile.h"
#include "base/system.h"
#include "base/json.h"
#include "base/team.h"
#include "base/threads.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "model/scratch.h"
#include "program.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void test_errors(void) {
    char err[16];
    CHECK(base_error(err, sizeof err, -5, "%s", "a\033b\nc\177d") == -5);
    CHECK(strcmp(err, "a?b?c?d") == 0);
    base_error(err, sizeof err, 0, "%s", "0123456789abcdefghij");
    CHECK(strlen(err) == sizeof err - 1 && strcmp(err, "01234...defghij") == 0);
    CHECK(base_error(NULL, 0, -7, "x") == -7);
}

static void test_sizes(void) {
    size_t n = 0;
    CHECK(size_mul(3, 5, &n) && n == 15);
    CHECK(size_mul(0, SIZE_MAX, &n) && n == 0);
    CHECK(size_mul(SIZE_MAX, 1, &n) && n == SIZE_MAX);
    CHECK(!size_mul(SIZE_MAX / 2 + 1, 2, &n));
    CHECK(size_add(SIZE_MAX, 0, &n) && !size_add(SIZE_MAX, 1, &n));
    static const uint8_t b[9] = {0, 1, 2, 3, 4, 5, 6, 7, 0x88};
    CHECK(load_u16(b + 1) == 0x0201 && load_u32(b + 1) == 0x04030201 && load_u64(b + 1) == 0x8807060504030201);
}

static void test_utf8(void) {
    static const char *const bad[] = {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x82", "\xc3("};
    uint32_t cp;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(utf8_decode(bad[i], strlen(bad[i]), &cp) == 0);
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char s[4];
        if (c >= 0xd800 && c <= 0xdfff) continue;
        int n = utf8_encode(c, s);
        if (utf8_decode(s, (size_t)n, &cp) != n || cp != c || utf8_length((unsigned char)s[0]) != n)
            CHECK(!"utf8 there and back");
    }
}

static int write_file(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!f) return 0;
    int ok = fwrite(data, 1, n, f) == n;
    return fclose(f) == 0 && ok;
}

static void test_files(void) {
    char err[256] = "";
    MappedFile f;
    const char *path = test_tmp("base.txt");
    CHECK(write_file(path, "abc", 3) && file_map(&f, path, err, sizeof err) == 0);
    CHECK(f.size == 3 && memcmp(f.data, "abc", 3) == 0);
    file_unmap(&f);
    CHECK(f.data == NULL && file_exists(path) && !file_is_folder(path));
    CHECK(write_file(path, "", 0) && file_map(&f, path, err, sizeof err) == -EINVAL && strstr(err, "empty"));
    CHECK(file_map(&f, test_tmp("not-there"), err, sizeof err) == -ENOENT && f.data == NULL);
    CHECK(file_map(&f, "/", err, sizeof err) == -EISDIR);
    CHECK(file_map(&f, "/dev/null", err, sizeof err) == -EINVAL);
    static const char *const folders[][2] = {{"a/b.bin", "a"}, {"b.bin", "."}, {"/b.bin", "/"}, {"/a/b", "/a"}};
    for (size_t i = 0; i < 4; i++) {
        char *s = file_folder(folders[i][0]);
        CHECK(s && strcmp(s, folders[i][1]) == 0);
        free(s);
    }
}

static int file_holds(const char *path, const char *text) {
    char err[256];
    MappedFile f;
    if (file_map(&f, path, err, sizeof err)) return 0;
    int same = f.size == strlen(text) && memcmp(f.data, text, f.size) == 0;
    file_unmap(&f);
    return same;
}

/* 1 where a folder can hold files without names. */
static int holds_nameless(const char *folder) {
#ifdef O_TMPFILE
    int fd = open(folder, O_WRONLY | O_TMPFILE, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
#else
    return (void)folder, 0;
#endif
}

/* Write text as a new file. While it is not finished path is as it was, and part is there only where files without
 * names are not, or if it was before. */
static int write_new(const char *path, const char *text, int keep, const char *part) {
    char err[256];
    NewFile f;
    struct stat before = {0}, now = {0};
    int left_over = file_exists(part);
    stat(path, &before);
    int rc = newfile_open(&f, path, err, sizeof err);
    if (rc) return rc;
    stat(path, &now);
    CHECK(now.st_ino == before.st_ino && now.st_size == before.st_size);
    CHECK((*f.nameless != 0) == holds_nameless(test_folder(".")) && file_exists(part) == (left_over || !*f.nameless));
    newfile_write(&f, text, strlen(text));
    return newfile_close(&f, keep, err, sizeof err);
}

static void test_new_files(void) {
    const char *path = test_tmp("new.txt"), *link = test_tmp("new-link");
    char part[512], err[256], name[251] = "";
    struct stat st;
    NewFile f;
    snprintf(part, sizeof part, "%s.%ld-0.part", path, (long)getpid());
    CHECK(write_new(path, "none", 0, part) == 0 && !file_exists(path) && !file_exists(part)); /* keep 0 */
    CHECK(write_new(path, "old", 1, part) == 0 && file_holds(path, "old") && !file_exists(part));
    CHECK(write_new(path, "none", 0, part) == 0 && file_holds(path, "old") && !file_exists(part));
    CHECK(write_file(part, "left over", 9)); /* as by a process that was killed */
    CHECK(write_new(path, "new", 1, part) == 0 && file_holds(path, "new") && file_holds(part, "left over"));
    CHECK(remove(part) == 0);
    CHECK(symlink("new.txt", link) == 0);
    CHECK(write_new(link, "through", 1, part) == 0 && file_holds(path, "through"));
    CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(remove(path) == 0);
    memset(name, 'n', 250); /* which leaves no room for .part: said at once, not when all is written */
    CHECK(newfile_open(&f, test_tmp(name), err, sizeof err) == -ENAMETOOLONG);
    char longer[400] = "/tmp/";
    memset(longer + 5, 'n', 300);
    CHECK(newfile_open(&f, longer, err, sizeof err) == -ENAMETOOLONG && strstr(err, "too long"));
    CHECK(newfile_open(&f, "/dev/null/new", err, sizeof err) == -ENOTDIR && strstr(err, "Not a directory"));
    CHECK(newfile_open(&f, link, err, sizeof err) == -EINVAL && !f.file && !file_exists(path));
    CHECK(newfile_open(&f, "/dev/null", err, sizeof err) == -EINVAL &&
          newfile_open(&f, "/", err, sizeof err) == -EINVAL);
}

static int mode_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int)(st.st_mode & 07777) : -1;
}

/* A new file has what the umask leaves; one that replaces another has that one's permissions, but no setuid. */
static void test_new_files_modes(void) {
    static const int modes[][2] = {{0600, 0600}, {0640, 0640}, {0666, 0640}, {0755, 0750}, {04711, 0710}};
    const char *path = test_tmp("modes.txt");
    mode_t before = umask(027);
    CHECK(write_new(path, "new", 1, "") == 0 && mode_of(path) == 0640);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(chmod(path, (mode_t)modes[i][0]) == 0);
        CHECK(write_new(path, "none", 0, "") == 0 && mode_of(path) == modes[i][0]);
        CHECK(write_new(path, "again", 1, "") == 0 && file_holds(path, "again") && mode_of(path) == modes[i][1]);
    }
    umask(before);
}

/* What may be replaced: nothing, an empty file, and what begins as one of the texts does. */
static void test_new_files_begin(void) {
    static const char *const texts[] = {"<svg", "a longer text"};
    static const struct { const char *text; int rc; } rows[] = {
        {"", 0}, {"<svg", 0}, {"<svg more", 0}, {"a longer text, more", 0},
        {"<sv", -EEXIST}, {" <svg", -EEXIST}, {"a longer", -EEXIST}, {"else", -EEXIST}};
    const char *path = test_tmp("begins.txt");
    char err[256];
    CHECK(newfile_check_begins(path, texts, 2, "a text", err, sizeof err) == 0);
    CHECK(newfile_check_begins("/dev/null", texts, 2, "a text", err, sizeof err) == -EINVAL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(write_file(path, rows[i].text, strlen(rows[i].text)));
        CHECK(newfile_check_begins(path, texts, 2, "a text", err, sizeof err) == rows[i].rc);
        CHECK(rows[i].rc == 0 || strstr(err, "is there and is not a text; it stays as it is"));
    }
}

/* A folder where a file can be without a name, but not be given one: here because it was opened to have none. */
static void test_new_files_no_links(void) {
    if (!holds_nameless(test_folder("."))) {
        test_skip("no files without names here");
        return;
    }
#ifdef O_TMPFILE
    const char *path = test_tmp("unlinked.txt");
    char part[512];
    snprintf(part, sizeof part, "%s.%ld-0.part", path, (long)getpid());
    for (int i = 0; i < 3; i++) {
        char err[256];
        NewFile f;
        int keep = i > 0;
        CHECK(i < 2 || chmod(path, 0640) == 0);
        if (newfile_open(&f, path, err, sizeof err)) {
            test_fail(__FILE__, __LINE__, err);
            return;
        }
        int fd = open(test_folder("."), O_WRONLY | O_TMPFILE | O_EXCL, 0600);
        CHECK(fd >= 0 && *f.nameless && dup2(fd, fileno(f.file)) >= 0 && close(fd) == 0);
        newfile_write(&f, "copied", 6);
        CHECK(newfile_close(&f, keep, err, sizeof err) == 0);
        CHECK((keep ? file_holds(path, "copied") : !file_exists(path)) && !file_exists(part));
        CHECK(i < 2 || mode_of(path) == 0640);
    }
#endif
}

static void test_new_files_read_only(void) {
    const char *path = test_tmp("locked.txt");
    if (geteuid() == 0) {
        test_skip("root may write everything");
        return;
    }
    CHECK(write_file(path, "old", 3) && chmod(path, 0400) == 0);
    CHECK(write_new(path, "new", 1, "") == -EACCES && file_holds(path, "old"));
}

/* On a full disk (a file may not grow beyond 1000 bytes here) the old file stays whole, whether it shows in a write or
 * only at the end, where what stdio has kept back is written. */
static void test_new_files_full(void) {
    static const size_t sizes[] = {100000, 3000};
    const char *path = test_tmp("full.txt");
    char part[512];
    struct rlimit old, small;
    snprintf(part, sizeof part, "%s.%ld-0.part", path, (long)getpid());
    if (getrlimit(RLIMIT_FSIZE, &old)) {
        test_skip("there is no limit for the size of files here");
        return;
    }
    small = old, small.rlim_cur = 1000;
    CHECK(write_file(path, "old", 3));
    for (int i = 0; i < 2; i++) {
        char *text = malloc(sizes[i] + 1);
        if (!text) return;
        memset(text, 'x', sizes[i]), text[sizes[i]] = 0;
        fflush(NULL); /* nothing else is to meet the limit */
        void (*signal_before)(int) = signal(SIGXFSZ, SIG_IGN);
        int limited = setrlimit(RLIMIT_FSIZE, &small) == 0, rc = write_new(path, text, 1, part);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0 && limited && rc == -EFBIG);
        signal(SIGXFSZ, signal_before);
        CHECK(file_holds(path, "old") && !file_exists(part));
        free(text);
    }
}

/* ---- JSON ---- */

static int parse(Json *j, const char *text, char *err, size_t errlen) {
    return json_parse(j, text, strlen(text), "t.json", err, errlen);
}

static void test_json_values(void) {
    char err[256] = "";
    Json j;
    static const char text[] = " {\"a\": [1, -2.5e3, 0, -0], \"b\": {\"c\": true, \"d\": null}, "
                               "\"e\\n\": \"x\\u00e9\\ud83d\\ude00\\\"\\/\", \"\": false, \"k\": [], \"l\": {}} \n";
    CHECK(parse(&j, text, err, sizeof err) == 0);
    const JsonValue *a = json_get(j.root, "a");
    CHECK(a && a->type == JSON_ARRAY && a->len == 4 && a->child->number == 1 && a->child->next->number == -2500);
    CHECK(a && a->child->next->next->next->next == NULL);
    CHECK(json_get(json_get(j.root, "b"), "c")->boolean == 1 &&
          json_get(json_get(j.root, "b"), "d")->type == JSON_NULL);
    CHECK(json_is(json_get(j.root, "e\n"), "x\xc3\xa9\xf0\x9f\x98\x80\"/"));
    CHECK(json_get(j.root, "") && json_get(j.root, "")->type == JSON_BOOL && json_get(j.root, "")->boolean == 0);
    CHECK(json_get(j.root, "k")->len == 0 && json_get(j.root, "l")->child == NULL && j.root->len == 6);
    CHECK(json_get(j.root, "z") == NULL && json_get(NULL, "z") == NULL && json_get(a, "z") == NULL &&
          !json_is(NULL, "z"));
    json_free(&j);
    CHECK(j.root == NULL);
    json_free(&j);
    CHECK(json_parse(&j, "\"a\\u0000b\"", 10, "t", err, sizeof err) == 0 && j.root->len == 3 &&
          memcmp(j.root->str, "a\0b", 4) == 0);
    json_free(&j);
}

static void test_json_refused(void) {
    static const char *const bad[][2] = {
        {"", "too early"}, {" ", "too early"}, {"{", "too early"}, {"[1,", "too early"}, {"\"abc", "never ends"},
        {"{\"a\"", "too early"}, {"{\"a\":", "too early"}, {"[1,]", "value is expected"},
        {"{\"a\":1,}", "double quotes"}, {"[1 2]", "',' or ']'"}, {"{\"a\" 1}", "':'"}, {"{a:1}", "double quotes"},
        {"{'a':1}", "double quotes"}, {"{\"a\":1]", "',' or '}'"}, {"[1}", "',' or ']'"}, {"1 2", "behind"},
        {"{}x", "behind"}, {"nul", "value is expected"}, {"True", "value is expected"}, {"NaN", "value is expected"},
        {"Infinity", "value is expected"}, {"-Infinity", "not a number"}, {"1e999", "too large"},
        {"-1e999", "too large"}, {"01", "not a number"}, {"-", "not a number"}, {"1.", "not a number"},
        {".5", "value is expected"}, {"1e", "not a number"}, {"1e+", "not a number"}, {"+1", "value is expected"},
        {"0x10", "behind"}, {"\"\\x41\"", "escape"}, {"\"\\u12g4\"", "hexadecimal"}, {"\"\\ud800\"", "surrogate"},
        {"\"\\udc00\"", "surrogate"}, {"\"\\ud800\\u0041\"", "surrogate"}, {"\"a\tb\"", "control"},
        {"\"a\nb\"", "control"}, {"\"\x80\"", "UTF-8"}, {"\"\xed\xa0\x80\"", "UTF-8"}, {"\"\xc0\xaf\"", "UTF-8"},
        {"\xef\xbb\xbf{}", "value is expected"}, {"{\"a\":1,\"b\":2,\"a\":3}", "stands twice"},
        {"{\"a\":1,\"\\u0061\":3}", "stands twice"}, {"[[{\"x\":{\"q\":1,\"q\":1}}]]", "\"q\""},
        {"// c\n1", "value is expected"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char err[256] = "";
        Json j;
        int rc = parse(&j, bad[i][0], err, sizeof err);
        int good = rc == -EINVAL && strstr(err, bad[i][1]) && strstr(err, "t.json: line") && j.root == NULL &&
            j.memory == NULL;
        if (!good) printf("    %s -> %d %s\n", bad[i][0], rc, err);
        CHECK(good);
    }
    char err[256];
    Json j;
    CHECK(json_parse(&j, "[1\0]", 4, "t", err, sizeof err) == -EINVAL);
    CHECK(parse(&j, "{\n  \"a\": 1,\n  \"b\": tru\n}", err, sizeof err) == -EINVAL &&
          strcmp(err, "t.json: line 3, column 8: a value is expected here") == 0);
}

static void test_json_depth(void) {
    char text[200], err[256];
    Json j;
    for (int depth = 60; depth <= 70; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        int rc = json_parse(&j, text, 2 * (size_t)depth, "t", err, sizeof err);
        CHECK((rc == 0) == (depth <= JSON_MAX_DEPTH));
        json_free(&j);
    }
}

/* Every prefix is refused; every change of one byte ends without a report of the sanitizers. */
static void test_json_cut(void) {
    static const char text[] = "{\"a\": [1.5e-3, \"\\ud83d\\ude00\\n\xc3\xa9\"], \"b\": {\"c\": null, \"d\": false}}";
    char copy[sizeof text], err[256];
    Json j;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        CHECK(json_parse(&j, text, n, "t", err, sizeof err) == -EINVAL && err[0]);
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, text, sizeof text);
            copy[n] = (char)byte;
            json_parse(&j, copy, sizeof text - 1, "t", err, sizeof err);
            json_free(&j);
        }
    }
}

/* A vocabulary's worth of keys in one object, in the order of the text; then the same with the last key repeated. */
static void test_json_many_keys(void) {
    enum { N = 150000 };
    char *text = malloc((size_t)N * 24), err[256] = "";
    if (!text) return;
    size_t n = 0;
    text[n++] = '{';
    for (int i = 0; i < N; i++) n += (size_t)sprintf(text + n, "%s\"token%d\":%d", i ? "," : "", i * 7919 % N, i);
    text[n++] = '}';
    Json j;
    CHECK(json_parse(&j, text, n, "t", err, sizeof err) == 0 && j.root->len == N);
    int i = 0;
    if (j.root)
        for (const JsonValue *c = j.root->child; c; c = c->next, i++)
            if (c->number != i) CHECK(!"document order");
    CHECK(i == N);
    json_free(&j);
    n += (size_t)sprintf(text + n - 1, ",\"token77\":1}") - 1;
    CHECK(json_parse(&j, text, n, "t", err, sizeof err) == -EINVAL && strstr(err, "\"token77\" stands twice"));
    free(text);
}

/* Two bytes of text cost 64 of tree: past 4 times the text and 48 MB the reader gives up. */
static void test_json_budget(void) {
    size_t n = 8u << 20;
    char *text = malloc(n), err[256] = "";
    if (!text) return;
    for (size_t i = 0; i < n; i++) text[i] = i == 0 ? '[' : i % 2 ? '0' : ',';
    Json j;
    CHECK(json_parse(&j, text, n, "t", err, sizeof err) == -ENOMEM && strstr(err, "more values"));
    free(text);
}

/* An object whose children there is room for, and not to sort them, as a key that stands twice is looked for: of its 11
 * bytes each child is allowed 33 beside JSON_MAX_BYTES, and takes a JsonValue and up to one and a half addresses. */
static void test_json_sorted(void) {
    enum { N = JSON_MAX_BYTES / (sizeof(JsonValue) - 33 + sizeof(void *) * 3 / 4) };
    char *text = malloc((size_t)N * 12), *to = text, err[256] = "";
    Json j;
    for (int i = 0; text && i < N; i++) {
        memcpy(to, i ? ",\"000000\":0" : "{\"000000\":0", 11);
        for (int k = 0, rest = i; k < 6; k++, rest /= 16) to[2 + k] = (char)("0123456789abcdef"[rest % 16]);
        to += 11;
    }
    if (text) *to++ = '}';
    CHECK(text && json_parse(&j, text, (size_t)(to - text), "t", err, sizeof err) == -ENOMEM);
    CHECK(strstr(err, "more values") != NULL);
    free(text);
}

static void test_json_files(void) {
    static const char *const names[] = {"tok/hf-json/llama2/tokenizer.json", "tok/hf-json/phi-2/tokenizer.json",
                                        "tok/gpt2/encoder.json", "roformer/v1_base/config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = test_data(names[i]);
        char err[256] = "";
        Json j;
        if (!path) continue;
        CHECK(json_open(&j, path, err, sizeof err) == 0 && j.root->type == JSON_OBJECT);
        if (err[0]) printf("    %s\n", err);
        json_free(&j);
    }
}

static void test_json_in_a_folder(void) {
    char err[256] = "";
    Json j;
    CHECK(json_open_in(&j, "tests/golden", "pipelines.json", err, sizeof err) == 0 && j.root);
    json_free(&j);
    CHECK(json_open_in(&j, "tests/golden", "none.json", err, sizeof err) == 0 && !j.root && !err[0]);
    json_free(&j);
    CHECK(json_open_in(&j, "tests", "golden", err, sizeof err) < 0 && !j.root && strstr(err, "tests/golden"));
    json_free(&j);
}

enum { MEMBERS = 5, LOOPS = 7, ITEMS = 1000 };
static const size_t loop_items[LOOPS] = {0, 1, 2, 3, 4, 77, ITEMS};

typedef struct {
    Team team;
    int late; /* the thread that begins late */
    atomic_int met[LOOPS][ITEMS];
    atomic_size_t wrong;
} Counted;

static void count(void *arg) {
    Counted *c = arg;
    for (int round = 0; round < 3; round++) {
        if (team_member() == c->late) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        for (int k = 0; k < LOOPS; k++)
            for (Share i; team_take(&c->team, loop_items[k], &i);)
                for (; i.at < i.end; i.at++) atomic_fetch_add(&c->met[k][i.at], 1);
        if (round == 2) return; /* loops may be the last thing that a text does */
        team_wait(&c->team);
        for (int k = 0; k < LOOPS; k++)
            for (Share i = team_share(&c->team, loop_items[k]); i.at < i.end; i.at++)
                if (atomic_load(&c->met[k][i.at]) != round + 1) atomic_fetch_add(&c->wrong, 1);
        team_wait(&c->team);
    }
}

/* Every item of every loop is met once a round, by teams that grow and shrink, whoever is late. */
static void test_teams(void) {
    static const int sizes[] = {1, 5, 2, 2, 4, 1, 1, 3, 5, 1, 4};
    static Counted c;
    CHECK(team_init(&c.team, MEMBERS) == 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(c.met, 0, sizeof c.met);
        c.late = (int)i % 3;
        team_run(&c.team, sizes[i], count, &c);
        for (int k = 0; k < LOOPS; k++)
            for (size_t j = 0; j < loop_items[k]; j++) CHECK(atomic_load(&c.met[k][j]) == 3);
        CHECK(atomic_load(&c.wrong) == 0);
    }
    CHECK(c.team.inside->worth == MEMBERS); /* two runs of all threads are not enough to go on with fewer */
    team_free(&c.team);
}

typedef struct {
    Team team;
    int late;
    atomic_int met;
} Hampered;

/* A millisecond's work; the second thread does nothing for five before, as one does that has lost its core. */
static void begin_late(void *arg) {
    Hampered *h = arg;
    atomic_fetch_add(&h->met, 1);
    if (team_member() == 1 && h->late) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    for (clock_t end = clock() + CLOCKS_PER_SEC / 500; clock() < end;) continue; /* of all threads */
}

static int threads_of_next(Hampered *h) {
    atomic_store(&h->met, 0);
    team_run(&h->team, 2, begin_late, h);
    return atomic_load(&h->met);
}

/* A twentieth of a second's work; counts the threads that had a core nearly all of the time. */
static void count_free(void *arg) {
    Hampered *h = arg;
    double began = clock_seconds(), ran = thread_seconds();
    while (clock_seconds() < began + 0.05) continue;
    if (thread_seconds() - ran > 0.045) atomic_fetch_add(&h->met, 1);
}

static int cores_are_free(void) {
    static Hampered h;
    if (team_init(&h.team, 2)) return 1;
    atomic_store(&h.met, 0);
    team_run(&h.team, 2, count_free, &h);
    team_free(&h.team);
    return atomic_load(&h.met) == 2;
}

/* A team goes on without a thread that is late again and again, asks for it now and then, and takes it back when it is
 * in time. How many runs that takes is not said: this machine may be busy itself. */
static void test_late_threads(void) {
    enum { MANY = 2000 };
    static Hampered h;
    int runs = 0;
    CHECK(team_init(&h.team, 2) == 0);
    for (h.late = 1; runs < MANY && threads_of_next(&h) == 2;) runs++;
    CHECK(runs >= 3 && runs < MANY);
    for (runs = 0; runs < MANY && threads_of_next(&h) == 1;) runs++;
    CHECK(runs >= 10 && runs < MANY);
    TeamInside *t = h.team.inside;
    for (h.late = runs = 0; runs < MANY && t->hampered + (t->worth == 1);) runs++, threads_of_next(&h);
    if (runs == MANY && !cores_are_free()) test_skip("other programs have the cores: no thread is in time");
    else CHECK(runs < MANY && threads_of_next(&h) == 2);
    team_free(&h.team);
}

/* A program of 32 bits says why it does not map a file of 3 GB; one of 64 bits maps it. Room for more than 32 bits can
 * count is seen before it is taken. */
static void test_narrow(void) {
    int narrow = sizeof(size_t) == 4;
    const char *path = test_tmp("large");
    char err[300] = "";
    MappedFile f;
    FILE *file = fopen(path, "wb");
    if (!file || ftruncate(fileno(file), (off_t)3 << 30) != 0) test_skip("the file system has no holes for 3 GB");
    else {
        CHECK(file_map(&f, path, err, sizeof err) == (narrow ? -EFBIG : 0));
        CHECK(!narrow || (f.data == NULL && strstr(err, "its 3072 MB are more than a program of 32 bits can map")));
        file_unmap(&f);
    }
    if (file) fclose(file);
    remove(path);
    Carver k = {0};
    scratch_carve(&k, ((uint64_t)1 << 32) + 1, 1);
    CHECK(k.overflow == narrow);
}

/* A compiler for a big-endian machine is told so; one for a little-endian machine is not. */
static void test_byte_order(void) {
    static const char *const compilers[] = {"s390x-linux-gnu-gcc", "powerpc64-linux-gnu-gcc", "clang --target=s390x",
                                            "clang --target=powerpc64le"};
    int tried = 0;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        if (!has(compilers[i])) continue;
        int rc = shell("echo '#include \"base/base.h\"' | %s -std=c11 -ffreestanding -iquote . -fsyntax-only -x c -",
                       compilers[i]), little = strstr(compilers[i], "le") != NULL;
        CHECK(little ? rc == 0 : rc != 0 && strstr(said, "big-endian machines are not supported"));
        tried++;
    }
    if (!tried) test_skip("no compiler for a big-endian machine is here (Debian: clang, or gcc-s390x-linux-gnu)");
}

/* One more at a time; a size that no memory has leaves everything as it was. */
static void arrays(void) {
    int *a = NULL;
    size_t cap = 0;
    for (size_t n = 0; n < 1000; n++) {
        CHECK(array_reserve(&a, &cap, n + 1, sizeof *a) == 0 && cap > n);
        a[n] = (int)n;
    }
    CHECK(cap == 1024 && a[0] == 0 && a[999] == 999);
    int *before = a;
    CHECK(array_reserve(&a, &cap, SIZE_MAX, sizeof *a) == -ENOMEM &&
          array_reserve(&a, &cap, SIZE_MAX / 4, sizeof *a) == -ENOMEM);
    CHECK(a == before && cap == 1024);
    free(a);
}

const Test tests_base[] = {
    {"base/arrays", arrays},
    {"base/errors", test_errors},
    {"base/sizes", test_sizes},
    {"base/utf8", test_utf8},
    {"base/files", test_files},
    {"base/narrow", test_narrow},
    {"base/byte order", test_byte_order},
    {"base/new files", test_new_files},
    {"base/new files, permissions", test_new_files_modes},
    {"base/new files, beginnings", test_new_files_begin},
    {"base/new files, no links", test_new_files_no_links},
    {"base/new files, read-only", test_new_files_read_only},
    {"base/new files, full disk", test_new_files_full},
    {"base/teams", test_teams},
    {"base/teams, late threads", test_late_threads},
    {"base/json_values", test_json_values},
    {"base/json_refused", test_json_refused},
    {"base/json_depth", test_json_depth},
    {"base/json_cut", test_json_cut},
    {"base/json_many_keys", test_json_many_keys},
    {"base/json_budget", test_json_budget},
    {"base/json_sorted", test_json_sorted},
    {"base/json_files", test_json_files},
    {"base/json_in_a_folder", test_json_in_a_folder},
    {0},
};
