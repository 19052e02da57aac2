/* tests/test_tokenizer_hostile.c - files of tokenizers that are cut, damaged or made to hurt. */
#include "test.h"
#include "tokenizer_files.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *const err = tokenizer_err;
enum { ERR = sizeof tokenizer_err };

/* Every truncation is refused; of tokenizer.bin those between two pieces behind the longest one cannot be seen. */
static void truncated(void) {
    static const char *const files[] = {"llama2c/tok512.model", "tales/tok1024.model", "llama2c/tok512.bin"};
    for (size_t k = 0; k < COUNT(files); k++) {
        const char *path = test_data(files[k]);
        MappedFile f;
        Tokenizer *t;
        if (!path) return;
        CHECK(file_map(&f, path, err, ERR) == 0);
        size_t opened = 0;
        for (size_t n = 1; n < f.size; n++) {
            int rc = tokenizer_bytes(&t, f.data, n);
            CHECK(rc == 0 || (rc == -EINVAL && err[0] && !strchr(err, '\n')));
            opened += rc == 0;
            tokenizer_free(t);
        }
        CHECK(opened <= (k == 2 ? 253 : 0));
        file_unmap(&f);
    }
}

/* The last model of golden/tokenizers.txt whose bytes stand there; malloc'ed. */
static char *last_model(size_t *size) {
    Lines l;
    char *model = NULL;
    if (!lines_open(&l, "tests/golden/tokenizers.txt")) return NULL;
    while (lines_next(&l)) {
        if (!lines_is(&l, "bytes")) continue;
        char *data = lines_bytes(&l, size);
        free(model);
        model = malloc(*size);
        memcpy(model, data, *size);
    }
    lines_close(&l);
    return model;
}

/* Each byte of a model turned to 0x00, 0x80 and 0xff, and its lowest bit flipped: opened or refused, and what opens
 * works. */
static void flipped(void) {
    size_t size = 0;
    char *model = last_model(&size);
    CHECK(size > 0);
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < 4; k++) {
            char *copy = malloc(size);
            memcpy(copy, model, size);
            copy[i] = (char)(k == 0 ? 0 : k == 1 ? 0x80 : k == 2 ? 0xff : copy[i] ^ 1);
            Tokenizer *t;
            int *ids;
            size_t n;
            int rc = tokenizer_bytes(&t, copy, size);
            CHECK(rc == 0 || rc == -EINVAL);
            if (rc == 0 && tokenizer_encode(t, "abcabc <sep>\xff <s>ccc", 20, ENCODE_ADDED | ENCODE_SPECIAL, &ids, &n,
                                            err, ERR) == 0) {
                size_t len;
                free(decode_all(t, ids, n, &len));
                free(ids);
            }
            tokenizer_free(t);
            free(copy);
        }
    free(model);
}

#define REFUSED(bytes, says) do { \
    Tokenizer *t_; \
    CHECK(tokenizer_bytes(&t_, bytes, sizeof (bytes) - 1) == -EINVAL && t_ == NULL); \
    if (!strstr(err, says)) printf("    \"%s\" does not say \"%s\"\n", err, says); \
    CHECK(strstr(err, says)); } while (0)

static void hostile_models(void) {
    /* a model: <unk>, "a", BPE, no bytes, spaces not squeezed */
    #define UNK "\x0a\x09\x0a\x05<unk>\x18\x02"
    #define TAIL "\x12\x02\x18\x02\x1a\x02\x20\x00"
    Tokenizer *t;
    CHECK(tokenizer_bytes(&t, UNK "\x0a\x03\x0a\x01" "a" TAIL, sizeof UNK - 1 + 5 + sizeof TAIL - 1) == 0);
    if (t) ENCODES(t, "a", ENCODE_ADDED, 0, 1);
    tokenizer_free(t);
    REFUSED(UNK "\x0a\x03\x0a\x01" "a" "\x12\x02\x18\x02", "no normalizer");
    REFUSED(UNK "\x0a\x03\x0a\x01" "a", "truncated?");
    REFUSED(UNK "\x12\x02\x18\x09\x1a\x00", "unknown kind");
    REFUSED(UNK "\x12\x02\x18\x02\x1a\x03\x12\x01x", "character map");
    REFUSED(UNK "\x0a\x03\x0a\x01" "a" "\x0a\x03\x0a\x01" "a" TAIL, "spelled alike");
    REFUSED(UNK UNK TAIL, "both the unknown");
    REFUSED("\x0a\x03\x0a\x01" "a" TAIL, "no unknown");
    REFUSED(UNK "\x0a\x02\x0a\x00" TAIL, "empty");
    REFUSED(UNK "\x0a\x05\x0a\x01" "a\x18\x07" TAIL, "kind 7");
    REFUSED(UNK "\x0a\x0a\x0a\x06<0xZZ>\x18\x06" TAIL, "names no byte");
    REFUSED(UNK "\x0a\x0a\x0a\x06<0x41>\x18\x06" TAIL, "byte_fallback is off");
    REFUSED(UNK "\x0a\x08\x0a\x01" "a\x15\x00\x00\xc0\x7f" TAIL, "score");
    REFUSED(UNK "\x0a\x05\x0a\x01" "a\x10\x01" TAIL, "wire type");
    /* field 41: 8 million */
    REFUSED(UNK "\x12\x08\x18\x02\xc8\x02\x80\x94\xeb\x03\x1a\x00", "bos_id");
    /* a length of 2^63 */
    REFUSED(UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" TAIL, "protobuf");
    /* a varint without end */
    REFUSED(UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" TAIL, "protobuf");
    /* longer inside than outside */
    REFUSED(UNK "\x0a\x05\x0a\x09" "abc" TAIL, "a piece");
    REFUSED(UNK "\x13\x14" TAIL, "protobuf");                                                       /* a group */
    REFUSED("\x0a", "neither");
}

/* tokenizer.bin with n pieces, one letter a piece but the last; max is the header's. */
static size_t make_bin(uint8_t *out, size_t n, uint32_t max, uint32_t last_len, float score) {
    uint8_t *p = out;
    memcpy(p, &max, 4); /* tests run on little-endian machines */
    p += 4;
    for (size_t i = 0; i < n; i++) {
        uint32_t len = i + 1 == n ? last_len : 3;
        memcpy(p, &score, 4);
        memcpy(p + 4, &len, 4);
        snprintf((char *)p + 8, 4, "%03u", (unsigned)i);
        p += 11;
    }
    return (size_t)(p - out);
}

static void hostile_bins(void) {
    uint8_t *b = malloc(11 * 1000 + 16);
    Tokenizer *t;
    size_t size = make_bin(b, 300, 3, 3, 0);
    CHECK(tokenizer_bytes(&t, b, size) == 0 && tokenizer_size(t) == 300);
    int *ids;
    size_t n;
    CHECK(t && tokenizer_encode(t, "x", 1, ENCODE_BARE, &ids, &n, err, ERR) == -EINVAL && ids == NULL &&
          strstr(err, "no piece for the byte"));
    tokenizer_free(t);
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 200, 3, 3, 0)) == -EINVAL && strstr(err, "259"));
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 300, 4, 3, 0)) == -EINVAL && strstr(err, "longest"));
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 300, 2, 3, 0)) == -EINVAL);
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 300, 3, 0xffffffffu, 0)) == -EINVAL && strstr(err, "fit"));
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 300, 3, 0, 0)) == -EINVAL);
    CHECK(tokenizer_bytes(&t, b, make_bin(b, 300, 3, 3, NAN)) == -EINVAL && strstr(err, "score"));
    free(b);
}

const Test tests_tokenizer_hostile[] = {
    {"tokenizer/truncated", truncated},
    {"tokenizer/flipped", flipped},
    {"tokenizer/hostile_models", hostile_models},
    {"tokenizer/hostile_bins", hostile_bins},
    {0}
};
