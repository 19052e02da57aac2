/* tests/fuzz/fuzz_bpe_files.c - libFuzzer target for byte-level BPE without a tokenizer.json. The first byte chooses:
 *   0  a tiktoken file   1  GGUF's gpt2   2  gemma4   3  bert: pieces and merges are the lines of the data, the first
 *   byte of a piece its type
 *   4  well-formed text there and back through merges that have every byte
 * The second byte chooses the pre-tokenizer. */
#include "tokens.h"

#include "tokenizer/pipeline/bpe_files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char err[200];

static void use(const Tokenizer *t, const char *text, size_t size) {
    int flags = size & 1 ? ENCODE_SPECIAL : ENCODE_ADDED;
    tokens_hold(t, text, size, flags, NULL, NULL);
    tokens_in_gguf(t, text, size, flags);
}

static const char *pre_name(uint8_t b) {
    size_t n = 0;
    while (split_gguf_list(n)) n++;
    return split_gguf_list(b % n)->name;
}

typedef struct {
    const uint8_t *data;
    size_t size;
    const char *pre;
} Ranks;

static int read_ranks(Tokenizer *t, const void *from, char *e, size_t e_len) {
    const Ranks *r = from;
    int rc = tiktoken_is(r->data, r->size) ? 0 : -22;
    if (rc == 0) rc = tiktoken_read(t, r->data, r->size, r->pre, e, e_len);
    return rc ? rc : pipeline_finish_added(t, e, e_len);
}

static void ranks(const uint8_t *data, size_t size, const char *pre) {
    const Ranks r = {data, size, pre};
    Tokenizer *t;
    int rc = tokenizer_make(&t, "fuzz", read_ranks, &r, err, sizeof err);
    if (rc && rc != -12 && rc != -22) abort();
    if (rc == 0) use(t, (const char *)data, size < 500 ? size : 500);
    tokenizer_free(t);
}

enum { MOST = 600 };

static void gguf(const char *model, const char *text, size_t size, const char *pre) {
    static Piece pieces[MOST];
    static Merge merges[MOST];
    Vocabulary v = {.model = model, .pieces = pieces, .merges = merges, .bos_id = size % 7 ? -1 : 3, .eos_id = -1,
                    .unk_id = size % 5 ? -1 : 0,
                    .add_bos = -1, .add_eos = -1, .add_space_prefix = -1, .remove_extra_whitespaces = -1,
                    .lower_case = -1, .strip_accents = -1, .pre = pre};
    Tokenizer *t;
    for (const char *p = text, *end = text + size, *stop; p < end; p = stop + 1) {
        stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        int merge = memchr(p, ' ', (size_t)(stop - p)) != NULL;
        if (merge && v.n_merges < MOST) merges[v.n_merges++] = (Merge){p, (size_t)(stop - p)};
        else if (!merge && v.n < MOST && stop > p)
            pieces[v.n++] = (Piece){.text = p + 1, .len = (size_t)(stop - p) - 1, .type = (*p & 15) % 8};
        if (stop == end) break;
    }
    int rc = tokenizer_from_vocabulary(&t, &v, "fuzz", err, sizeof err);
    if (rc && rc != -12 && rc != -22) abort();
    if (rc == 0) use(t, text, size < 500 ? size : 500);
    if (rc == 0) tokenizer_free(t);
}

/* All bytes and some merges. */
static Tokenizer *made(const char *pre) {
    static char names[300][2];
    static Piece pieces[300];
    static const char *const more[] = {"th", "the", "\xc4\xa0t", "\xc4\xa0the", "aa", "aaaa", "\xc3\xa4\xc2\xb8"};
    static const char *const joins[] = {"t h", "th e", "\xc4\xa0 t", "\xc4\xa0 the", "a a", "aa aa",
                                        "\xc3\xa4 \xc2\xb8"};
    Merge merges[7];
    size_t n = 0;
    Tokenizer *t;
    for (; n < 256; n++)
        pieces[n] = (Piece){.text = names[n], .len = (size_t)byte_char((uint8_t)n, names[n]), .type = PIECE_NORMAL};
    for (size_t i = 0; i < 7; i++) {
        pieces[n++] = (Piece){.text = more[i], .len = strlen(more[i]), .type = PIECE_NORMAL};
        merges[i] = (Merge){joins[i], strlen(joins[i])};
    }
    Vocabulary v = {.model = "gpt2", .pieces = pieces, .n = n, .merges = merges, .n_merges = 7, .bos_id = -1,
                    .eos_id = -1, .unk_id = -1, .pre = pre};
    if (tokenizer_from_vocabulary(&t, &v, "fuzz", err, sizeof err)) abort();
    return t;
}

static void there_and_back(const Tokenizer *t, const char *text, size_t size) {
    uint32_t cp;
    int *ids;
    size_t n, len;
    for (size_t i = 0; i < size; i += len)
        if ((len = (size_t)utf8_decode(text + i, size - i, &cp)) == 0) return;
    if (tokenizer_encode(t, text, size, ENCODE_BARE, &ids, &n, err, sizeof err)) abort();
    char *back = tokens_text(t, ids, n, &len);
    if (n > size || len != size || memcmp(back, text, size) != 0) abort();
    free(back);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const whole[] = {"gpt-2", "llama-bpe", "falcon", "deepseek-v3", "gpt-4o", "bloom", "starcoder"};
    static Tokenizer *all[7];
    static const char *const models[] = {NULL, "gpt2", "gemma4", "bert"};
    if (size < 2) return 0;
    const char *text = (const char *)data + 2;
    size_t n = size - 2, what = data[0] % 5, k = data[1] % 7;
    if (what == 0) ranks(data + 2, n, pre_name(data[1]));
    else if (what < 4) gguf(models[what], text, n, pre_name(data[1]));
    else {
        if (!all[k]) all[k] = made(whole[k]);
        there_and_back(all[k], text, n);
    }
    return 0;
}
