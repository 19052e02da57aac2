/* tests/test_sentencepiece.c - unigram models, character maps and every switch of SentencePiece against its library
 * 0.2.3; Hugging Face's Precompiled against tokenizers; hostile models and maps; our own code against the library that
 * is linked in (make SENTENCEPIECE=1), where it is. */
#include "test.h"

#include "tokenizer/open.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/unicode/grapheme.h"
#include "tokenizer/sentencepiece/unigram.h"
#include "tests/golden/sentencepiece.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

static char err[300];

/* ---- random texts: the same lines as in tests/oracle/spm_models.py ---- */

typedef struct {
    uint32_t r;
} Random;

static uint32_t below(Random *r, uint32_t n) {
    r->r = r->r * 1664525u + 1013904223u;
    return (r->r >> 8) % n;
}

/* A code point as UTF-8 spells it, surrogates too. */
static size_t put_char(char *out, uint32_t cp) {
    if (cp < 0xd800 || cp > 0xdfff) return (size_t)utf8_encode(cp, out);
    memcpy(out, (char[]){(char)(0xe0 | cp >> 12), (char)(0x80 | (cp >> 6 & 63)), (char)(0x80 | (cp & 63))}, 3);
    return 3;
}

static size_t random_unicode(Random *r, char *out) {
    static const uint32_t ranges[10][2] = {
        {0x20, 95}, {0x20, 95}, {0x20, 95}, {0, 0}, {0x80, 0x500}, {0x300, 0x70}, {0x3000, 0x6fff}, {0, 0x110000},
        {0, 0},
        {0xf900, 0x700}};
    size_t len = 0;
    for (uint32_t n = below(r, 24); n > 0; n--) {
        uint32_t kind = below(r, 10);
        if (kind == 3) out[len++] = ' ';
        else if (kind == 8) out[len++] = (char)below(r, 256);
        else len += put_char(out + len, ranges[kind][0] + below(r, ranges[kind][1]));
    }
    return len;
}

static size_t random_words(Random *r, char *out) {
    size_t len = 0;
    for (uint32_t n = below(r, 20); n > 0; n--) {
        uint32_t w = below(r, COUNT(golden_words));
        memcpy(out + len, golden_words[w].text, golden_words[w].len);
        len += golden_words[w].len;
    }
    return len;
}

/* ---- hashes ---- */

static GoldenHash hash_start(void) { return (GoldenHash){0, HASH_START, HASH_START}; }

/* One more text: its ids, and those decoded as a stream. */
static void hash_text(GoldenHash *h, const Tokenizer *t, const char *text, size_t len) {
    int *ids;
    size_t n, bound = tokenizer_decode_bound(t);
    int rc = tokenizer_encode(t, text, len, ENCODE_BARE, &ids, &n, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    if (rc) return;
    char *out = malloc(bound);
    TokenStream s = {0};
    for (size_t i = 0; i <= n; i++) {
        h->ids = (h->ids ^ (i < n ? (uint64_t)ids[i] : 1u << 31)) * 0x100000001b3u;
        size_t k = i < n ? tokenizer_decode(t, &s, ids[i], out) : tokenizer_decode_end(t, &s, out);
        CHECK(k <= bound);
        h->text = hash_bytes(h->text, out, k);
    }
    h->text = hash_bytes(h->text, "", 1);
    h->n += n;
    free(out);
    free(ids);
}

static int same(GoldenHash a, GoldenHash b, const char *what) {
    if (a.n == b.n && a.ids == b.ids && a.text == b.text) return 1;
    printf("    %s: %zu ids, not %zu; ids %s, decoded %s\n", what, a.n, b.n, a.ids == b.ids ? "equal" : "differ",
           a.text == b.text ? "equal" : "differ");
    return 0;
}

static int open_data(Tokenizer **t, const char *name, const TokenizerOptions *o) {
    const char *path = test_data(name);
    *t = NULL;
    if (!path) return 0;
    err[0] = 0;
    int rc = tokenizer_open_with(t, path, o, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

static int open_bytes(Tokenizer **t, const void *data, size_t n) {
    const char *path = test_tmp("spm.model");
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, n, f) == n);
    if (f) fclose(f);
    err[0] = 0;
    return tokenizer_open(t, path, err, sizeof err);
}

/* ---- real models ---- */

static void models(void) {
    for (size_t k = 0; k < COUNT(golden_spm); k++) {
        Tokenizer *t;
        if (!open_data(&t, golden_spm[k].model, NULL)) return;
        GoldenHash h = hash_start();
        for (size_t i = 0; i < COUNT(golden_strings); i++)
            hash_text(&h, t, golden_strings[i].text, golden_strings[i].len);
        CHECK(same(h, golden_spm[k].strings, golden_spm[k].model));
        Random r = {(uint32_t)k + 1};
        char text[24 * 4];
        h = hash_start();
        for (int i = 0; i < GOLDEN_RANDOM; i++) hash_text(&h, t, text, random_unicode(&r, text));
        CHECK(same(h, golden_spm[k].random, golden_spm[k].model));
        tokenizer_free(t);
    }
}

static void files(void) {
    for (size_t k = 0; k < COUNT(golden_spm_files); k++) {
        Tokenizer *t;
        MappedFile f;
        const char *path = test_data(golden_spm_files[k].text);
        if (!path || !open_data(&t, golden_spm_files[k].model, NULL)) return;
        CHECK(file_map(&f, path, err, sizeof err) == 0);
        GoldenHash h = hash_start();
        hash_text(&h, t, (const char *)f.data, f.size);
        CHECK(same(h, golden_spm_files[k].hash, golden_spm_files[k].text));
        file_unmap(&f);
        tokenizer_free(t);
    }
}

/* ---- models made for the purpose ---- */

/* Fields as protobuf writes them, behind out [*n]. */
static void put_field(char *out, size_t *n, int number, const void *data, size_t len) {
    out[(*n)++] = (char)(number << 3 | 2);
    size_t rest = len;
    for (; rest > 127; rest >>= 7) out[(*n)++] = (char)((rest & 127) | 128);
    out[(*n)++] = (char)rest;
    memcpy(out + *n, data, len);
    *n += len;
}

enum { MADE_ROOM = 4096 + 3 * sizeof golden_map + 256 * 16 };

/* A message in a message grows by what stands behind it. out [MADE_ROOM] */
static size_t make_model(char *out, const char *raw, size_t size, int bytes, int map, int unmap) {
    static char spec[sizeof golden_map + 8];
    size_t n = size, n_spec = 0;
    memcpy(out, raw, size);
    put_field(spec, &n_spec, 2, golden_map, sizeof golden_map - 1);
    for (int b = 0; bytes && b < 256; b++) {
        char name[8], piece[16];
        size_t len = 0;
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)b);
        put_field(piece, &len, 1, name, 6);
        memcpy(piece + len, "\x18\x06", 2);
        put_field(out, &n, 1, piece, len + 2);
    }
    if (map) put_field(out, &n, 3, spec, n_spec);
    if (unmap) put_field(out, &n, 5, spec, n_spec);
    return n;
}

static void switches(void) {
    char *model = malloc(MADE_ROOM), text[20 * 8], what[40];
    for (size_t k = 0; k < COUNT(golden_made); k++) {
        Tokenizer *t;
        size_t n = make_model(model, golden_made[k].model, golden_made[k].size, golden_made[k].bytes,
                              golden_made[k].map,
                              golden_made[k].unmap);
        int rc = open_bytes(&t, model, n);
        if (rc) printf("    %s\n", err);
        CHECK(rc == 0);
        if (rc) continue;
        Random r = {1000 + (uint32_t)k};
        GoldenHash h = hash_start();
        for (int i = 0; i < GOLDEN_MADE; i++) hash_text(&h, t, text, random_words(&r, text));
        snprintf(what, sizeof what, "made model %zu", k);
        CHECK(same(h, golden_made[k].hash, what));
        tokenizer_free(t);
    }
    free(model);
}

/* ---- character maps: test_charsmap.c has their rules ---- */

static CharsMap *open_map(const void *blob, size_t n) {
    CharsMap *m;
    err[0] = 0;
    return charsmap_open(&m, blob, n, "map", "the test", err, sizeof err) ? NULL : m;
}

/* The normalizer's map of a tokenizer.model: field 2 of field 3. */
static CharsMap *map_of(const uint8_t *p, const uint8_t *end, int depth) {
    while (p < end) {
        int key = *p++;
        uint64_t len = 0;
        for (int shift = 0; p < end; shift += 7) {
            len |= (uint64_t)(*p & 127) << shift;
            if (*p++ < 128) break;
        }
        if ((key & 7) != 2) continue; /* a varint: read, and done with */
        if (depth == 1 && key == 0x12) return open_map(p, (size_t)len);
        if (depth == 0 && key == 0x1a) return map_of(p, p + len, 1);
        p += len;
    }
    return NULL;
}

static void precompiled(void) {
    MappedFile f;
    const char *path = test_data("spm/t5_tokenizer_base.model");
    if (!path) return;
    CHECK(file_map(&f, path, err, sizeof err) == 0);
    CharsMap *m = map_of(f.data, f.data + f.size, 0);
    CHECK(m != NULL);
    Random r = {5};
    uint64_t h = HASH_START;
    for (int i = 0; i < GOLDEN_MARKS && m; i++) {
        char text[12 * 4];
        size_t len = 0;
        Text out = {0};
        for (uint32_t n = below(&r, 12); n > 0; n--)
            len += (size_t)utf8_encode(golden_marks[below(&r, COUNT(golden_marks))], text + len);
        CHECK(charsmap_precompiled(m, text, len, &out) == 0);
        h = hash_bytes(hash_bytes(h, out.p ? out.p : "", out.n), "", 1);
        free(out.p);
    }
    CHECK(h == golden_precompiled);
    charsmap_free(m);
    file_unmap(&f);
}

/* Unigram as Hugging Face's tokenizers has it: sums as double, every piece of the vocabulary, runs of unknown text as
 * one. */
static void tokenizers_unigram(void) {
    Tokenizer *t;
    Unigram *u;
    UnigramRun run = {0};
    Random r = {6};
    uint64_t h = HASH_START;
    if (!open_data(&t, "spm/t5_tokenizer_base.model", NULL)) return;
    CHECK(unigram_build(&u, t, UNIGRAM_TOKENIZERS, 0, err, sizeof err) == 0);
    for (int i = 0; i < GOLDEN_MARKS; i++) {
        char text[12 * 8];
        size_t len = 0;
        Ids ids = {0};
        for (uint32_t n = below(&r, 12); n > 0; n--) {
            uint32_t w = below(&r, COUNT(golden_marks) + COUNT(golden_more));
            const char *more = w < COUNT(golden_marks) ? NULL : golden_more[w - COUNT(golden_marks)];
            if (more) memcpy(text + len, more, strlen(more));
            len += more ? strlen(more) : (size_t)utf8_encode(golden_marks[w], text + len);
        }
        CHECK(unigram_encode(u, t, text, len, &run, &ids) == 0);
        for (size_t k = 0; k < ids.n; k++) h = (h ^ (uint64_t)ids.ids[k]) * 0x100000001b3u;
        h = (h ^ 1u << 31) * 0x100000001b3u;
        free(ids.ids);
    }
    CHECK(h == golden_tokenizers_unigram);
    unigram_run_free(&run);
    unigram_free(u);
    tokenizer_free(t);
}

/* ---- GGUF ---- */

/* The vocabulary that a GGUF file would hold gives the model's ids. */
static void through_gguf(void) {
    static const char *const names[] = {"spm/t5_tokenizer_base.model", "spm/google_test_ja_model.model"};
    const char *path = test_data("text/botchan.txt");
    for (size_t i = 0; i < COUNT(names) && path; i++) {
        Tokenizer *t, *g = NULL;
        Vocabulary v;
        MappedFile f;
        if (!open_data(&t, names[i], NULL)) return;
        CHECK(tokenizer_vocabulary(&v, t, names[i], err, sizeof err) == 0);
        CHECK(v.model && strcmp(v.model, "t5") == 0 && v.charsmap_size > 1000);
        CHECK(tokenizer_from_vocabulary(&g, &v, "made", err, sizeof err) == 0 &&
              file_map(&f, path, err, sizeof err) == 0);
        free((void *)(uintptr_t)v.pieces);
        GoldenHash a = hash_start(), b = a;
        Random r = {9};
        for (int k = 0; g && k < 500; k++) {
            char text[24 * 4];
            size_t len = random_unicode(&r, text);
            hash_text(&a, t, text, len);
            hash_text(&b, g, text, len);
        }
        if (g) hash_text(&a, t, (const char *)f.data, f.size), hash_text(&b, g, (const char *)f.data, f.size);
        CHECK(g && same(b, a, names[i]) && a.n > 1000 && tokenizer_eos(g) == tokenizer_eos(t));
        tokenizer_free(t);
        tokenizer_free(g);
        file_unmap(&f);
    }
    Tokenizer *t;
    Vocabulary v;
    if (open_data(&t, "spm/ortx_nmt_vocab.joint.spm", NULL))
        CHECK(tokenizer_vocabulary(&v, t, "x", err, sizeof err) == -EINVAL && strstr(err, "in decoding"));
    tokenizer_free(t);
}

/* ---- damaged files ---- */

/* A model with every part, cut at every length and with each of its bytes changed. */
static void broken(void) {
    char *model = malloc(MADE_ROOM);
    size_t n = make_model(model, golden_made[1].model, golden_made[1].size, 0, 1, 0), opened = 0;
    for (size_t cut = 1; cut < n; cut++) {
        Tokenizer *t;
        int rc = open_bytes(&t, model, cut);
        CHECK(rc == 0 || (rc == -EINVAL && t == NULL && err[0]));
        opened += rc == 0;
        tokenizer_free(t);
    }
    CHECK(opened <= 1); /* before the map that was put behind it the model was whole */
    for (size_t i = 0; i < n; i++) {
        Tokenizer *t;
        char was = model[i];
        model[i] = (char)(was ^ (i % 2 ? 0x80 : 1 << i % 7));
        int rc = open_bytes(&t, model, n);
        CHECK(rc == 0 || rc == -EINVAL);
        GoldenHash h = hash_start();
        int *ids;
        size_t n_ids;
        if (rc == 0 && tokenizer_encode(t, "abc A\xc3\xa9 <s>\xff", 12, ENCODE_SPECIAL, &ids, &n_ids, err,
                                        sizeof err) == 0) {
            hash_text(&h, t, "ab", 2);
            free(ids);
        }
        tokenizer_free(t);
        model[i] = was;
    }
    free(model);
}

/* A text that goes on has no space put in front, and what was encoded in two parts is not what was in one. */
static void goes_on(void) {
    Tokenizer *t;
    int *ids;
    size_t n;
    if (!open_data(&t, "spm/t5_tokenizer_base.model", NULL)) return;
    CHECK(strcmp(tokenizer_kind(t), "SentencePiece unigram") == 0 && tokenizer_bos(t) == -1 && tokenizer_eos(t) == 1);
    CHECK(tokenizer_encode(t, "Hello", 5, ENCODE_ADDED, &ids, &n, err, sizeof err) == 0);
    CHECK(n == 2 && ids[0] == 8774 && ids[1] == 1);
    free(ids);
    CHECK(tokenizer_encode(t, "ing", 3, ENCODE_CONTINUE, &ids, &n, err, sizeof err) == 0);
    CHECK(n == 1 && ids[0] == tokenizer_named(t, "ing"));
    free(ids);
    tokenizer_free(t);
    char dir[300], path[400], *text = NULL, *text_err = NULL, command[1600];
    snprintf(dir, sizeof dir, "%s", test_tmp("t5"));
    mkdir(dir, 0700);
    snprintf(path, sizeof path, "%s/spiece.model", dir);
    snprintf(command, sizeof command, "cp %s %s", test_data("spm/t5_tokenizer_base.model"), path);
    CHECK(test_shell(command, &text, &text_err) == 0 && tokenizer_probe(dir) &&
          tokenizer_open(&t, dir, err, sizeof err) == 0);
    CHECK(t && tokenizer_size(t) == 32000);
    tokenizer_free(t);
    free(text), free(text_err);
}

/* ---- the library itself ---- */

/* The scores of a text's pieces, summed. */
static double sum_of(const Tokenizer *t, const char *text, size_t len) {
    int *ids;
    size_t n;
    double sum = 0;
    if (tokenizer_encode(t, text, len, ENCODE_BARE, &ids, &n, err, sizeof err)) return NAN;
    for (size_t i = 0; i < n; i++) sum += (double)t->pieces[ids[i]].score;
    free(ids);
    return sum;
}

/* Line by line. Where the lines differ, it must be a tie: older libraries than 0.2.3 (Debian has 0.1.97) compare a sum
 * in double with one that was rounded to float, and never bring a long text's sum back to 0; so of two cuts that are
 * equally good to the last bit of a float they may take the other. BPE has no sums: there nothing differs. */
static void compare_lines(const Tokenizer *own, const Tokenizer *library, const char *name, const char *text,
                          size_t size) {
    size_t lines = 0, differ = 0;
    for (size_t i = 0, end; i < size; i = end + 1, lines++) {
        for (end = i; end < size && text[end] != '\n'; end++) continue;
        GoldenHash a = hash_start(), b = a;
        hash_text(&a, own, text + i, end - i);
        hash_text(&b, library, text + i, end - i);
        CHECK(a.text == b.text);
        if (a.ids == b.ids) continue;
        differ++;
        CHECK(strcmp(tokenizer_kind(own), "SentencePiece unigram") == 0);
        NEAR(sum_of(own, text + i, end - i), sum_of(library, text + i, end - i), 1e-3, 0);
    }
    if (differ) printf("    %s: %zu of %zu lines are cut elsewhere, with the same sum\n", name, differ, lines);
    CHECK(lines > 0 && differ * 200 < lines);
}

enum { LIBRARY_PART = 200000 }; /* bytes of each file: the library takes half a second for a megabyte */

static void backend(void) {
    const TokenizerOptions wants = {.lower_case = -1, .backend = "sentencepiece"},
        other = {.lower_case = -1, .backend = "x"};
    const char *path = test_data(golden_spm[0].model);
    Tokenizer *own, *library;
    if (!path) return;
    CHECK(tokenizer_open_with(&library, path, &other, err, sizeof err) == -EINVAL &&
          strstr(err, "own or sentencepiece"));
    int rc = tokenizer_open_with(&library, path, &wants, err, sizeof err);
    if (rc == -EINVAL && strstr(err, "make SENTENCEPIECE=1")) {
        test_skip("SentencePiece's library is not built in (make SENTENCEPIECE=1)");
        return;
    }
    CHECK(rc == 0);
    tokenizer_free(library);
    for (size_t k = 0; k < COUNT(golden_spm); k++) {
        if (!open_data(&own, golden_spm[k].model, NULL) || !open_data(&library, golden_spm[k].model, &wants)) return;
        CHECK(tokenizer_size(own) == tokenizer_size(library) && tokenizer_bos(own) == tokenizer_bos(library));
        GoldenHash a = hash_start(), b = a;
        Random r = {(uint32_t)k + 1};
        char text[24 * 4];
        for (size_t i = 0; i < COUNT(golden_strings); i++) {
            hash_text(&a, own, golden_strings[i].text, golden_strings[i].len);
            hash_text(&b, library, golden_strings[i].text, golden_strings[i].len);
        }
        for (int i = 0; i < GOLDEN_RANDOM; i++) {
            size_t len = random_unicode(&r, text);
            hash_text(&a, own, text, len);
            hash_text(&b, library, text, len);
        }
        CHECK(same(b, a, golden_spm[k].model));
        for (size_t i = 0; i < COUNT(golden_spm_files); i++) {
            MappedFile f;
            if (strcmp(golden_spm_files[i].model, golden_spm[k].model) != 0) continue;
            CHECK(file_map(&f, test_data(golden_spm_files[i].text), err, sizeof err) == 0);
            size_t part = f.size < LIBRARY_PART ? f.size : LIBRARY_PART;
            compare_lines(own, library, golden_spm_files[i].text, (const char *)f.data, part);
            file_unmap(&f);
        }
        int *x, *y;
        size_t n, m;
        CHECK(tokenizer_encode(own, " goes on", 8, ENCODE_CONTINUE, &x, &n, err, sizeof err) == 0);
        CHECK(tokenizer_encode(library, " goes on", 8, ENCODE_CONTINUE, &y, &m, err, sizeof err) == 0);
        CHECK(n == m && memcmp(x, y, n * sizeof *x) == 0);
        free(x), free(y);
        tokenizer_free(own);
        tokenizer_free(library);
    }
}

extern const Test tests_sentencepiece[];
const Test tests_sentencepiece[] = {
    {"sentencepiece/models", models},
    {"sentencepiece/files", files},
    {"sentencepiece/switches", switches},
    {"sentencepiece/precompiled", precompiled},
    {"sentencepiece/tokenizers_unigram", tokenizers_unigram},
    {"sentencepiece/through_gguf", through_gguf},
    {"sentencepiece/broken", broken},
    {"sentencepiece/goes_on", goes_on},
    {"sentencepiece/backend", backend},
    {0},
};
