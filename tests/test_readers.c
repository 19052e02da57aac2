/* tests/test_readers.c - files that are no models, and sizes that no file has; the formats stand in
 * test_readers_*.c. */
#include "reader_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void test_not_models(void) {
    static const struct { const char *bytes; size_t n; const char *expected; } files[] = {
        {"hello, this is some text of more than twenty-eight bytes", 56, "neither GGUF, nor safetensors, nor llama2.c"},
        {"x", 1, "neither GGUF"},
        {"GGU", 3, "neither GGUF"},
        {"24ka", 4, "ends inside its llama2.c header"},
        {"PK\3\4aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36, "pickle"},
        {"\x80\2}q\0.", 6, "pickle"},
        {"version https://git-lfs.github.com/spec/v1\n", 43, "Git LFS"},
        {"{\"a\":1}", 7, "give the folder"},
        {"FUGG\0\0\0\3", 8, "big-endian"},
        {"tjgg\1\0\0\0", 8, "before GGUF"},
        {"ggjt\1\0\0\0", 8, "before GGUF"},
        {"lmgg\1\0\0\0", 8, "before GGUF"},
        {"fmgg\1\0\0\0", 8, "before GGUF"},
        {"\x80\0}q\0.", 6, "neither GGUF"}, /* pickles have protocols 1 to 5 */
        {"\x80\6}q\0.", 6, "neither GGUF"},
        {"\2\0\0\0\0\0\0\0  ", 10, "neither GGUF"}, /* a header of safetensors without its brace */
        {"\3\0\0\0\0\0\0\0\0{}", 11, "neither GGUF"},
        {"\3\0\0\0\0\0\0\0 {}", 11, "config.json: is missing"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        CHECK(save(test_tmp("other"), files[i].bytes, files[i].n) &&
              refused_path(test_tmp("other"), files[i].expected));
    CHECK(refused_path(test_tmp("not-there.gguf"), "No such file"));
    CHECK(refused_path("/dev/null", "not a regular file"));
    char err[256];
    Weights w;
    CHECK(weights_open(&w, test_tmp("not-there.gguf"), err, sizeof err) == -ENOENT);
    const char *pickles[] = {test_data("checkpoints/tiny.pkl"), test_data("checkpoints/tiny_legacy.pth"),
                             test_data("checkpoints/tiny_zip.pth")};
    for (int i = 0; i < 3; i++)
        if (pickles[i]) CHECK(refused_path(pickles[i], "pickle"));
}

/* Files that announce a terabyte must fail before they allocate: the test's own address space is small here. */
static void test_announced_sizes(void) {
    static Bytes f;
    struct rlimit old, tight;
    if (test_sanitized) {
        test_skip("AddressSanitizer needs the address space");
        return;
    }
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    tight = old;
    tight.rlim_cur = 512u << 20;
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    put_gguf(&f, 3, 1ull << 40, 1ull << 40);
    CHECK(refused(&f, "announced"));
    put_key_file(&f), put_array(&f, "k", META_U8, 1ull << 40), bytes_u64(&f, 0);
    CHECK(refused(&f, "longer than the file"));
    put_tensor_file(&f, 1, 1ull << 40, 0, TENSOR_F32, 0, 64);
    CHECK(refused(&f, sizeof(size_t) > 4 ? "past the end" : "larger than any file"));
    good_llama2c(&f, 2, 1), f.data[30] = 0xff; /* a vocab_size of 16.7 million */
    CHECK(refused(&f, "bytes"));
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
}

const Test tests_readers[] = {
    {"readers/not_models", test_not_models},
    {"readers/announced_sizes", test_announced_sizes},
    {0},
};
