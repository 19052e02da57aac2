/* tests/test_t5.c - vocabularies that are made here: unigram models as GGUF's "t5" has them, and pieces that stay
 * whole. */
#include "test.h"

#include "tokenizer/open.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/model.h"
#include "tests/golden/sentencepiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

static char err[300];

static Piece piece(const char *text, size_t len, float score, int type) { return (Piece){text, len, score, type}; }

static Vocabulary t5(const Piece *p, size_t n) {
    return (Vocabulary){.model = "t5", .pieces = p, .n = n, .bos_id = -1, .eos_id = -1, .unk_id = 0, .add_bos = -1,
                        .add_eos = -1,
                        .add_space_prefix = -1, .remove_extra_whitespaces = -1};
}

/* 1000 pieces a, aa, aaa .. and a long row of a. */
static void one_letter(void) {
    enum { N = 200000, PIECES = 1000 };
    char *a = malloc(N), *copy;
    Piece *p = malloc((PIECES + 1) * sizeof *p);
    memset(a, 'a', N);
    p[0] = piece("<unk>", 5, 0, PIECE_UNKNOWN);
    for (size_t i = 1; i <= PIECES; i++) p[i] = piece(a, i, -1 - (float)(i % 7), PIECE_NORMAL);
    Vocabulary v = t5(p, PIECES + 1);
    Tokenizer *t;
    int *ids;
    size_t n;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0);
    clock_t start = clock();
    CHECK(tokenizer_encode(t, a, N, ENCODE_BARE, &ids, &n, err, sizeof err) == 0);
    double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("    200 KB of one letter, 1000 pieces begin at each: %.2f s, %zu ids\n", s, n);
    size_t len = 0;
    for (size_t i = 0; i < n; i++) len += p[ids[i]].len;
    CHECK(len == N && n <= N / 990 && s < 60);
    free(ids);
    tokenizer_free(t);
    copy = malloc(2000);
    memset(copy, 'a', 2000);
    p[1] = piece(copy, UNIGRAM_PIECE_MAX + 1, 0, PIECE_NORMAL);
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && t == NULL &&
          strstr(err, "1025 bytes"));
    p[1].len = UNIGRAM_PIECE_MAX;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0);
    tokenizer_free(t);
    free(copy);
    free(a);
    free(p);
}

static void t5_rules(void) {
    Piece p[] = {piece("<pad>", 5, 0, PIECE_CONTROL), piece("</s>", 4, 0, PIECE_CONTROL),
                 piece("<unk>", 5, 0, PIECE_UNKNOWN),
                 piece("ab", 2, -1, PIECE_NORMAL), piece("a", 1, -2, PIECE_NORMAL), piece("b", 1, -2, PIECE_NORMAL),
                 piece("abc", 3, 0, PIECE_UNUSED)};
    Vocabulary v = t5(p, COUNT(p));
    v.unk_id = -1;
    Tokenizer *t;
    int *ids;
    size_t n;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0);
    CHECK(tokenizer_encode(t, "abcxba", 6, ENCODE_ADDED, &ids, &n, err, sizeof err) == 0);
    /* ab, unk for "cx", b, a, </s> */
    CHECK(n == 5 && ids[0] == 3 && ids[1] == 2 && ids[2] == 5 && ids[3] == 4 && ids[4] == 1);
    free(ids);
    tokenizer_free(t);
    p[2].type = PIECE_NORMAL; /* nothing is unknown now, and no bytes */
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == 0);
    CHECK(tokenizer_encode(t, "abz", 3, ENCODE_BARE, &ids, &n, err, sizeof err) == -EINVAL && !ids &&
          strstr(err, "neither"));
    tokenizer_free(t);
    v.charsmap = golden_map;
    v.charsmap_size = sizeof golden_map - 2;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && strstr(err, "character map"));
    v.n = 0;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL);
}

/* A user's piece is worth 0.1 for each byte but the first: two pieces at 0.06 beat one of two bytes, two at 0.04 do
 * not. The library (0.2.3) says 1 2 5, too. */
static int read_user_pieces(Tokenizer *t, const void *from, char *e, size_t e_len) {
    static const struct { const char *text; float score; int kind; } rows[] = {
        {"<unk>", 0, PIECE_UNKNOWN}, {"a", 0.06f, PIECE_NORMAL}, {"b", 0.06f, PIECE_NORMAL},
        {"ab", -5, PIECE_USER_DEFINED}, {"c", 0.04f, PIECE_NORMAL}, {"cc", -5, PIECE_USER_DEFINED}};
    (void)from;
    CHECK(spm_model_begin(t, e, e_len) == 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(pieces_add(t, rows[i].text, strlen(rows[i].text), rows[i].score, rows[i].kind, e, e_len) == 0);
    ((SpmModel *)t->own)->kind = SPM_UNIGRAM;
    t->unk = 0;
    return spm_model_finish(t, 1, e, e_len);
}

static void user_pieces(void) {
    Tokenizer *t;
    int *ids;
    size_t n;
    CHECK(tokenizer_make(&t, "made", read_user_pieces, NULL, err, sizeof err) == 0);
    CHECK(tokenizer_encode(t, "abcc", 4, ENCODE_BARE, &ids, &n, err, sizeof err) == 0);
    CHECK(n == 3 && ids[0] == 1 && ids[1] == 2 && ids[2] == 5);
    free(ids);
    tokenizer_free(t);
}

const Test tests_t5[] = {
    {"t5/one_letter", one_letter},
    {"t5/t5_rules", t5_rules},
    {"t5/user_pieces", user_pieces},
    {0},
};
