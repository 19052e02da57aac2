/* tests/test_spm_settings.c - what a tokenizer.model says beside its pieces: ids and texts, GGUF's side of it, or the
 * line that refuses; and a tokenizer.bin with odd control pieces, or with a setting beside it. */
#include "build.h"
#include "test.h"
#include "tokenizer_files.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *const err = tokenizer_err;
enum { ERR = sizeof tokenizer_err };

#define SPACE "\xe2\x96\x81"

/* ---- a tokenizer.model from a row ---- */

static const struct { const char *text; float score; int kind; } usual[] = {
    {"<unk>", 0, PIECE_UNKNOWN}, {"<s>", 0, PIECE_CONTROL}, {"</s>", 0, PIECE_CONTROL}, {SPACE "a", -1, PIECE_NORMAL},
    {"a", -3, PIECE_NORMAL}, {"b", -4, PIECE_NORMAL}, {"ab", -2, PIECE_NORMAL}, {SPACE, -5, PIECE_NORMAL},
    {SPACE "x", 0, PIECE_USER_DEFINED}, {"<y>", 0, PIECE_USER_DEFINED}, {" ", -6, PIECE_NORMAL}};

/* Bytes of a string literal: a NUL may stand among them. */
typedef struct { const char *at; size_t n; } Literal;
#define B(literal) {literal, sizeof (literal) - 1}

#define UNIGRAM B("\x18\x01")
#define BPE B("\x18\x02")
#define WORDS B("\x18\x03")
#define CHARACTERS B("\x18\x04")
#define USUAL B("\x18\x01\x20\x01\x28\x01") /* a space in front, spaces squeezed, spaces as U+2581 */
#define LOOSE B("\x18\x01\x20\x00\x28\x01")
#define GEMMAS B("\x18\x00\x20\x00\x28\x01") /* none in front */
enum { NOT_USERS = 8 };                         /* so many pieces stand in front of the user-defined ones */

static void make_pieces(Bytes *f, size_t n, Literal trainer, Literal normalizer) {
    f->n = 0;
    for (size_t i = 0; i < n; i++)
        spm_piece(f, usual[i].text, strlen(usual[i].text), usual[i].score, usual[i].kind);
    spm_field(f, 2, trainer.at, trainer.n);
    spm_field(f, 3, normalizer.at, normalizer.n);
}

static void make_model(Bytes *f, Literal trainer, Literal normalizer) {
    make_pieces(f, COUNT(usual), trainer, normalizer);
}

/* ---- settings ---- */

#define USERS "has user-defined pieces, which GGUF finds in the raw text"
#define OWN_UNKNOWN "has a text of its own for what is unknown"

/* text becomes ids, which become back, as in SentencePiece 0.2.3; why: what convert says of it, NULL where a GGUF's
 * readers give the same. User-defined pieces differ where a space is put in front of them: of "<y>a" with USUAL the
 * library makes 7 9 4, and llama.cpp, of the same pieces in a GGUF, 9 3. So they do where they are weighed. */
static const struct {
    Literal trainer, normalizer;
    const char *text;
    size_t n;
    int ids[6];
    const char *back, *why;
} models[] = {
    {BPE, USUAL, "ab", 2, {3, 5}, "ab", USERS},
    {BPE, USUAL, " a  b ", 3, {3, 7, 5}, "a b", USERS},
    {BPE, USUAL, "<y>a", 3, {7, 9, 4}, "<y>a", USERS},
    {BPE, LOOSE, "a  b", 4, {3, 7, 7, 5}, "a  b", USERS},
    {BPE, LOOSE, "<y>a", 3, {7, 9, 4}, "<y>a", USERS},
    {BPE, GEMMAS, "<y>a b", 4, {9, 4, 7, 5}, "<y>a b", NULL},
    {BPE, GEMMAS, "ab x<y> a", 4, {6, 8, 9, 3}, "ab x<y> a", NULL},
    {BPE, B("\x18\x00\x20\x01\x28\x01"), "<y>  a", 2, {9, 3}, "<y> a", USERS},
    {UNIGRAM, USUAL, "ab", 2, {3, 5}, "ab", USERS},
    {UNIGRAM, GEMMAS, "<y>a", 2, {9, 4}, "<y>a", USERS},
    {CHARACTERS, USUAL, "ab", 3, {7, 4, 5}, "ab", "has words or characters for pieces"},
    {CHARACTERS, USUAL, "<y>b", 3, {7, 9, 5}, "<y>b", "has words or characters for pieces"},
    {CHARACTERS, USUAL, "a x", 3, {7, 4, 8}, "a x", "has words or characters for pieces"},
    {WORDS, USUAL, "a b a", 3, {3, 0, 3}, "a \xe2\x81\x87  a", "has words or characters for pieces"},
    {BPE, B("\x18\x01\x20\x00\x28\x00"), "a b", 4, {10, 4, 10, 5}, " a b", "keeps spaces as they are"},
    {B("\x18\x02\xc0\x01\x01"), USUAL, "ab", 2, {6, 7}, "ab ", "puts its space behind the words"},
    {B("\x18\x02\xe2\x02\x00"), USUAL, "z a", 3, {7, 0, 3}, "a", USERS},   /* what is unknown becomes nothing */
    {B("\x18\x02\xe2\x02\x01?"), USUAL, "z a", 3, {7, 0, 3}, "? a", USERS}, /* .. or a mark */
    {B("\x18\x02\xe2\x02\x00"), GEMMAS, "z a", 2, {0, 3}, " a", OWN_UNKNOWN},
    {B("\x18\x02\xe2\x02\x01?"), GEMMAS, "z a", 2, {0, 3}, "? a", OWN_UNKNOWN},
    {B("\x18\x02\xe2\x02\x05 \xe2\x81\x87 "), GEMMAS, "z a", 2, {0, 3}, " \xe2\x81\x87  a", NULL}, /* the usual one */
};

static int says_in_gguf(const Tokenizer *t, const char *why) {
    Vocabulary v;
    *err = 0;
    int rc = tokenizer_vocabulary(&v, t, "x", err, ERR);
    const char *said = rc == -EINVAL ? err : v.differs; /* written or not */
    int right = why ? said && strstr(said, why) != NULL : rc == 0 && !said && v.n == COUNT(usual);
    free((void *)(uintptr_t)v.pieces);
    return right;
}

/* The file that convert would write gives these ids, and the text. */
static int same_in_gguf(const Tokenizer *t, const char *text, const int *ids, size_t n, const char *back) {
    Tokenizer *u = NULL;
    Vocabulary v;
    int rc = tokenizer_vocabulary(&v, t, "x", err, ERR);
    if (rc == 0) rc = tokenizer_from_vocabulary(&u, &v, "x", err, ERR);
    int right = rc == 0 && encodes(u, text, strlen(text), ENCODE_BARE, ids, n) &&
        decodes(u, ids, n, back, strlen(back));
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(u);
    return right;
}

static void settings(void) {
    static Bytes f;
    for (size_t i = 0; i < COUNT(models); i++) {
        Tokenizer *t;
        make_model(&f, models[i].trainer, models[i].normalizer);
        int opens = tokenizer_bytes(&t, f.data, f.n) == 0;
        int right = opens &&
            encodes(t, models[i].text, strlen(models[i].text), ENCODE_BARE, models[i].ids, models[i].n) &&
            decodes(t, models[i].ids, models[i].n, models[i].back, strlen(models[i].back)) &&
            says_in_gguf(t, models[i].why) &&
            (models[i].why || same_in_gguf(t, models[i].text, models[i].ids, models[i].n, models[i].back));
        if (!right) printf("    row %zu: %s\n", i, err);
        CHECK(right);
        tokenizer_free(t);
    }
}

/* In GGUF a piece that is matched whole stands in the text as it is, with its spaces. */
static void spelled_in_gguf(void) {
    static Bytes f;
    Tokenizer *t;
    Vocabulary v = {.n = 0};
    make_model(&f, (Literal)BPE, (Literal)GEMMAS);
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0 && tokenizer_vocabulary(&v, t, "x", err, ERR) == 0);
    if (v.n == COUNT(usual)) {
        CHECK(v.pieces[8].len == 2 && memcmp(v.pieces[8].text, " x", 2) == 0 &&
              v.pieces[8].type == PIECE_USER_DEFINED);
        CHECK(v.pieces[9].len == 3 && memcmp(v.pieces[9].text, "<y>", 3) == 0 && v.pieces[7].len == 3);
        CHECK(strcmp(v.model, "llama") == 0 && v.bos_id == 1 && v.eos_id == 2 && v.add_bos == 1 && v.add_eos == 0);
    }
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(t);
    /* a T5 has no <s>: neither is it added, whatever the trainer calls it */
    make_pieces(&f, NOT_USERS, (Literal)B("\x18\x01\xf2\x02\x03<t>"), (Literal)USUAL);
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0 && tokenizer_vocabulary(&v, t, "x", err, ERR) == 0);
    CHECK(strcmp(v.model, "t5") == 0 && v.bos_id == -1 && v.add_bos == 0 && v.add_eos == 1);
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(t);
}

/* ---- what is refused ---- */

static void refused(const Bytes *f, const char *why) {
    Tokenizer *t;
    int rc = tokenizer_bytes(&t, f->data, f->n), said = rc == -EINVAL && t == NULL && strstr(err, why) != NULL;
    if (!said) printf("    %d: \"%s\" does not say \"%s\"\n", rc, err, why);
    CHECK(said);
    tokenizer_free(t);
}

/* A field of another type than SentencePiece gives it is no setting to pass over. */
static void wire_types(void) {
    static const struct { Literal trainer; const char *says; } bad[] = {
        {B("\x1a\x00"), "field 3 has wire type 2 where 0 belongs"},
        {B("\xc2\x01\x00"), "field 24 has wire type 2 where 0 belongs"},
        {B("\x9a\x02\x00"), "field 35 has wire type 2 where 0 belongs"},
        {B("\xc2\x02\x00"), "field 40 has wire type 2 where 0 belongs"},
        {B("\xe0\x02\x00"), "field 44 has wire type 0 where 2 belongs"},
        {B("\xf0\x02\x00"), "field 46 has wire type 0 where 2 belongs"},
        {B("\xf8\x02\x00"), "field 47 has wire type 0 where 2 belongs"},
        {B("\xe2\x02\x05?"), "the trainer's part is not well-formed"},
    };
    static Bytes f;
    for (size_t i = 0; i < COUNT(bad); i++) {
        make_model(&f, bad[i].trainer, (Literal)USUAL);
        refused(&f, bad[i].says);
    }
}

/* Files of four bytes and more that begin like a model, and are none. */
static void no_models(void) {
    static const Literal bad[] = {B("\x0a\xff\xff\xff"), B("\x0a\x82\x80\x00"), B("\x0a\x02\x12\x00"),
                                  B("\x0a\x01\x0a\x00")};
    Tokenizer *t;
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(tokenizer_bytes(&t, bad[i].at, bad[i].n) == -EINVAL && t == NULL && strstr(err, "no tokenizer's file"));
}

/* A denormalizer may change no spaces, and its rules and texts have a bound; so has a piece that is matched whole. */
static void denormalizers(void) {
    static const struct { Literal spaces; size_t rule, text; const char *says; } bad[] = {
        {B(""), 1, 1, "denormalizer changes spaces: not read"},
        {B("\x18\x00"), 1, 1, "denormalizer changes spaces: not read"},
        {B("\x18\x00\x20\x00"), 1, 1, "denormalizer changes spaces: not read"},
        {B("\x18\x00\x20\x00\x28\x00"), 65, 1, "a rule or a text of more than 64 bytes"},
        {B("\x18\x00\x20\x00\x28\x00"), 1, 65, "a rule or a text of more than 64 bytes"},
        {B("\x18\x00\x20\x00\x28\x00"), 257, 1, "the denormalizer's character map is broken"},
        {B("\x18\x00\x20\x00\x28\x00"), 64, 64, NULL},
    };
    static Bytes f, spec;
    static uint8_t map[CHAIN_MAP_MAX];
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t n = chain_map(map, bad[i].rule, bad[i].text);
        make_model(&f, (Literal)BPE, (Literal)USUAL);
        spec.n = 0;
        bytes_put(&spec, bad[i].spaces.at, bad[i].spaces.n);
        spm_field(&spec, 2, map, n);
        spm_field(&f, 5, spec.data, spec.n);
        Tokenizer *t;
        if (bad[i].says) {
            refused(&f, bad[i].says);
            continue;
        }
        CHECK(tokenizer_bytes(&t, f.data, f.n) == 0);
        tokenizer_free(t);
    }
    char text[300];
    memset(text, 'x', sizeof text);
    make_model(&f, (Literal)BPE, (Literal)USUAL);
    spm_piece(&f, text, 257, 0, PIECE_USER_DEFINED);
    refused(&f, "piece 11 is matched whole and longer than 256 bytes");
}

static void maps_in_bpe(void) {
    static Bytes f, spec;
    static uint8_t map[CHAIN_MAP_MAX];
    Tokenizer *t;
    spec.n = 0;
    bytes_put(&spec, "\x18\x01\x20\x01\x28\x01", 6);
    spm_field(&spec, 2, map, chain_map(map, 2, 1)); /* "aa" becomes "b" */
    make_model(&f, (Literal)BPE, (Literal)B(""));
    spm_field(&f, 3, spec.data, spec.n);
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0);
    if (t) ENCODES(t, "aaa", ENCODE_BARE, 7, 5, 4);
    CHECK(t && says_in_gguf(t, "is BPE with a character map"));
    tokenizer_free(t);
}

/* A model's folder with a token more: found whole, GGUF's user-defined, and no space is dropped for it. */
static void added_beside(void) {
    static Bytes f;
    const char *folder = test_folder("spm-added");
    Tokenizer *t;
    Vocabulary v = {.n = 0};
    make_pieces(&f, NOT_USERS, (Literal)BPE, (Literal)USUAL);
    write_file(test_in(folder, "tokenizer.model"), f.data, f.n);
    write_text(test_in(folder, "added_tokens.json"), "{\"<z>\": 8}");
    write_text(test_in(folder, "tokenizer_config.json"), "{\"add_bos_token\": false}");
    CHECK(tokenizer_open(&t, folder, err, ERR) == 0);
    if (!t) return;
    ENCODES(t, "<z>a", ENCODE_ADDED, 8, 3);
    CHECK(decodes(t, (const int[]){8, 3, 3}, 3, "<z>a a", 6));
    CHECK(tokenizer_vocabulary(&v, t, "x", err, ERR) == 0 && v.n == 9 && v.add_bos == 0);
    CHECK(v.n == 9 && v.pieces[8].type == PIECE_USER_DEFINED && memcmp(v.pieces[8].text, "<z>", 3) == 0);
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(t);
    /* of a vocab.txt the lines are what goes into GGUF */
    const char *words = test_tmp("spm-words.txt");
    write_text(words, "[UNK]\na\n");
    CHECK(tokenizer_open(&t, words, err, ERR) == 0 && tokenizer_vocabulary(&v, t, "x", err, ERR) == -EINVAL &&
          strstr(err, "x: a WordPiece tokenizer: its vocab.txt is what goes into the file"));
    tokenizer_free(t);
}

/* A denormalizer sees what a piece says that is no UTF-8. */
static void bad_pieces(void) {
    static Bytes f, spec;
    static uint8_t map[CHAIN_MAP_MAX];
    Tokenizer *t;
    spec.n = 0;
    bytes_put(&spec, "\x18\x00\x20\x00\x28\x00", 6);
    spm_field(&spec, 2, map, chain_map(map, 1, 1)); /* "a" becomes "b" */
    make_model(&f, (Literal)BPE, (Literal)USUAL);
    spm_piece(&f, "a\xff", 2, -1, PIECE_NORMAL);
    spm_field(&f, 5, spec.data, spec.n);
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0);
    CHECK(t && decodes(t, (const int[]){3, 11, 4}, 3, "bb\xef\xbf\xbd" "b", 6));
    tokenizer_free(t);
    spm_piece(&f, "b", 1, -1, PIECE_CONTROL); /* each kind of piece has a name once */
    spm_piece(&f, "<s>", 3, -1, PIECE_CONTROL);
    refused(&f, "pieces 1 and 13 are spelled alike");
    spm_piece(&f, "a", 1, -1, PIECE_NORMAL);
    spm_piece(&f, "<0x41>", 6, 0, PIECE_NORMAL);
    refused(&f, "pieces 1 and 13 are spelled alike");
}

/* Which program reads a file. */
static void backends(void) {
    static Bytes f;
    const char *model = test_tmp("backend.model"), *words = test_tmp("backend.txt");
    make_model(&f, (Literal)BPE, (Literal)USUAL);
    write_file(model, f.data, f.n);
    write_text(words, "[UNK]\na\n");
    static const struct { const char *name, *says; } rows[] = {
        {"own", NULL}, {"sentencepiece", "reads its own tokenizer.model only"},
        {"google", "there is no tokenizer backend \"google\": own or sentencepiece"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const TokenizerOptions o = {.lower_case = -1, .backend = rows[i].name};
        Tokenizer *t;
        int rc = tokenizer_open_with(&t, words, &o, err, ERR);
        CHECK(rows[i].says ? rc == -EINVAL && !t && strstr(err, rows[i].says) != NULL : rc == 0);
        tokenizer_free(t);
        if (i == 1) continue; /* where the library is there, it opens */
        rc = tokenizer_open_with(&t, model, &o, err, ERR);
        CHECK(rows[i].says ? rc == -EINVAL && !t && strstr(err, rows[i].says) != NULL : rc == 0);
        tokenizer_free(t);
    }
}

/* ---- bytes, and the NUL that a converter left beside "<0x00>" ---- */

static void bare_nul(void) {
    static Bytes f;
    MappedFile m;
    Tokenizer *t;
    const char *path = test_tmp("nul.model");
    build_tokenizer_model(path);
    CHECK(file_map(&m, path, err, ERR) == 0);
    f.n = 0;
    bytes_put(&f, m.data, m.size);
    file_unmap(&m);
    spm_piece(&f, "\0", 1, 0, PIECE_NORMAL);
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0);
    int nul = t ? tokenizer_named(t, "<0x00>") : -1;
    CHECK(nul >= 0 && t && encodes(t, "\0", 1, ENCODE_BARE | ENCODE_CONTINUE, &nul, 1));
    tokenizer_free(t);
}

/* ---- tokenizer.bin ---- */

/* Control pieces without newlines around them; and characters of more bytes than any has. */
static void short_controls(void) {
    static Bytes f;
    Tokenizer *t;
    size_t len;
    const uint32_t longest = 6, one = 1;
    f.n = 0;
    bytes_put(&f, &longest, 4);
    for (int i = 0; i < 260; i++) {
        char text[8];
        uint32_t n = (uint32_t)snprintf(text, sizeof text, i < 3 ? "%d" : i < 259 ? "<0x%02X>" : "%c", i < 3 ? i
                                        : i < 259 ? i - 3 : ' ');
        bytes_put(&f, &(float){0}, 4);
        bytes_put(&f, n == 1 ? &one : &n, 4);
        bytes_put(&f, text, n);
    }
    CHECK(tokenizer_bytes(&t, f.data, f.n) == 0 && tokenizer_bos(t) == 1);
    if (!t) return;
    CHECK(*tokenizer_piece(t, 1, &len) == '1' && len == 1 && *tokenizer_piece(t, 2, &len) == '2' && len == 1);
    ENCODES(t, "\x80\x81\x82\x83\x84\x85", ENCODE_BARE, 259, 131, 132, 133, 134, 135, 136);
    ENCODES(t, "\xe2\x80\x81\x82\x83\x84", ENCODE_BARE, 259, 229, 131, 132, 133, 134, 135);
    tokenizer_free(t);
}

static void space_beside_bin(void) {
    const char *folder = test_folder("bin-folder");
    Tokenizer *with, *without;
    int *ids = NULL, *more = NULL;
    size_t n = 0, n_more = 0;
    build_tokenizer_bin(test_in(folder, "tokenizer.bin"));
    remove(test_in(folder, "tokenizer_config.json"));
    CHECK(tokenizer_open(&with, folder, err, ERR) == 0);
    write_text(test_in(folder, "tokenizer_config.json"), "{\"add_prefix_space\": false}");
    CHECK(tokenizer_open(&without, folder, err, ERR) == 0);
    CHECK(with && tokenizer_encode(with, "the sand", 8, ENCODE_CONTINUE, &ids, &n, err, ERR) == 0);
    CHECK(without && encodes(without, "the sand", 8, ENCODE_BARE, ids, n));
    CHECK(with && tokenizer_encode(with, "the sand", 8, ENCODE_BARE, &more, &n_more, err, ERR) == 0);
    CHECK(n_more != n || memcmp(more, ids, n * sizeof *ids) != 0);
    free(ids);
    free(more);
    tokenizer_free(with);
    tokenizer_free(without);
}

extern const Test tests_spm_settings[];
const Test tests_spm_settings[] = {
    {"spm settings/rows", settings},
    {"spm settings/spelled in GGUF", spelled_in_gguf},
    {"spm settings/wire types", wire_types},
    {"spm settings/no models", no_models},
    {"spm settings/denormalizers", denormalizers},
    {"spm settings/maps in BPE", maps_in_bpe},
    {"spm settings/added beside", added_beside},
    {"spm settings/bad pieces", bad_pieces},
    {"spm settings/backends", backends},
    {"spm settings/bare NUL", bare_nul},
    {"spm settings/short controls", short_controls},
    {"spm settings/a space beside a bin", space_beside_bin},
    {0},
};
