/* tokenizer/pipeline/bpe_known.c - published vocabularies of byte-level BPE, told by their pieces: merges.txt and
 * tiktoken's files say neither how the text was cut into words nor which tokens are special.
 *
 * A vocabulary is known by a hash of its pieces 1000 to 19999: the first ids are special tokens in some, and models
 * that were trained on add pieces behind. tests/oracle/bpe.py prints the hashes. */
#include "bpe_files.h"
#include "tokenizer/names.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum { FROM = 1000, TO = 20000 };

static const char *const gpt2[] = {"<|endoftext|>", NULL};
static const char *const qwen[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>", NULL};
static const char *const llama3[] = {
    "<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eom_id|>", "<|eot_id|>", "<|python_tag|>", NULL};
static const char *const starcoder[] = {
    "<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>", "<fim_pad>", "<filename>", "<gh_stars>",
    "<issue_start>", "<issue_comment>", "<issue_closed>", "<jupyter_start>", "<jupyter_text>", "<jupyter_code>",
    "<jupyter_output>", "<empty_output>", "<commit_before>", "<commit_msg>", "<commit_after>", "<reponame>", NULL};

static const char *const cl100k[] = {"", "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "", "",
                                     "", "", "", "", "",
                                     "", "", "", "", "", "", "", "", "<|endofprompt|>", NULL};
static const char *const o200k[] = {"", "<|endoftext|>", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
                                    "", "",
                                    "<|endofprompt|>", NULL};

static const KnownVocabulary known[] = {
    {.name = "GPT-2", .pre = "gpt-2", .hash = 0x286bc74b31737a76, .tokens = gpt2, .first = 50256,
     .bos = "<|endoftext|>", .eos = "<|endoftext|>"},
    {.name = "Llama 3", .pre = "llama-bpe", .hash = 0x3e45b2e53944ca80, .least = 128000, .tokens = llama3,
     .first = 128000, .reserved = 245,
     .reserved_name = "<|reserved_special_token_", .reserved_from = 3, .bos = "<|begin_of_text|>",
     .eos = "<|end_of_text|>", .add_bos = 1},
    {.name = "cl100k", .pre = "dbrx", .hash = 0x3e45b2e53944ca80, .most = 127999, .tokens = cl100k, .first = 100256,
     .eos = "<|endoftext|>"},
    {.name = "o200k", .pre = "gpt-4o", .hash = 0x18ca25173c3c1b2d, .tokens = o200k, .first = 199998,
     .eos = "<|endoftext|>"},
    {.name = "Qwen", .pre = "qwen2", .hash = 0x880af0ad93d614cd, .most = 160000, .tokens = qwen, .first = 151643,
     .reserved = 205,
     .reserved_name = "<|extra_", .eos = "<|endoftext|>"},
    {.name = "Qwen 3.5", .pre = "qwen35", .hash = 0x880af0ad93d614cd, .least = 160001, .eos = "<|endoftext|>"},
    {.name = "Qwen 3.6", .pre = "qwen35", .hash = 0x540f2e818fca1342, .eos = "<|endoftext|>"},
    {.name = "StarCoder", .pre = "starcoder", .hash = 0x49aaeac06cc547f7, .tokens = starcoder, .bos = "<|endoftext|>",
     .eos = "<|endoftext|>"},
    {.name = "Refact", .pre = "refact", .hash = 0x62f1521fb6b532bf, .tokens = starcoder, .bos = "<|endoftext|>",
     .eos = "<|endoftext|>"},
    {.name = "Falcon", .pre = "falcon", .hash = 0xd1939fb164173cb4, .tokens = gpt2, .bos = "<|endoftext|>",
     .eos = "<|endoftext|>"},
    {.name = "GPT-NeoX", .pre = "mpt", .hash = 0x2d0158f64266cc69, .tokens = gpt2, .bos = "<|endoftext|>",
     .eos = "<|endoftext|>"},
    {.name = "Whisper", .pre = "gpt-2", .hash = 0x199c128322b8e63b, .tokens = gpt2, .first = 50257,
     .eos = "<|endoftext|>"},
    {.name = "DeepSeek LLM", .pre = "deepseek-llm", .hash = 0xe548d24141d3069},
    {.name = "DeepSeek Coder", .pre = "deepseek-coder", .hash = 0x6a3bdcd15d0fe60},
    {.name = "DeepSeek V3", .pre = "deepseek-v3", .hash = 0x64986e55d750d5a0},
    {.name = "Command R", .pre = "command-r", .hash = 0x20e07aabe35c6729},
};

static uint64_t fingerprint(const Tokenizer *t) {
    uint64_t h = HASH_START;
    for (size_t i = FROM; i < TO; i++) {
        const Entry *e = &t->pieces[i];
        uint8_t len[4] = {(uint8_t)e->len, (uint8_t)(e->len >> 8), (uint8_t)(e->len >> 16), (uint8_t)(e->len >> 24)};
        h = hash_bytes(hash_bytes(h, len, sizeof len), t->bytes + e->start, e->len);
    }
    return h;
}

const KnownVocabulary *known_vocabulary(const Tokenizer *t) {
    uint64_t h = t->n >= TO ? fingerprint(t) : 0;
    for (size_t i = 0; t->n >= TO && i < sizeof known / sizeof *known; i++)
        if (known[i].hash == h && t->n >= known[i].least && (!known[i].most || t->n <= known[i].most)) return &known[i];
    return NULL;
}

/* The token of that name is special; as piece id (0: none is free for it), where it is no piece of the model. */
static int add_named(Tokenizer *t, const char *name, int id, char *err, size_t errlen) {
    size_t len = strlen(name);
    int there = len ? pieces_find(t, name, len) : -1, rc = 0;
    if (there < 0 && (len == 0 || id == 0 || ((size_t)id < t->n && t->pieces[id].len))) return 0;
    while (there < 0 && t->n <= (size_t)id && rc == 0) rc = pieces_add(t, "", 0, 0, PIECE_UNUSED, err, errlen);
    if (there < 0 && rc == 0) rc = pieces_rename(t, there = id, name, len, PIECE_NORMAL, err, errlen);
    return rc ? rc : pipeline_add_token(t, (AddedToken){.id = there, .special = 1}, err, errlen);
}

int known_tokens(Tokenizer *t, char *err, size_t errlen) {
    const KnownVocabulary *k = known_vocabulary(t);
    char name[64];
    int rc = 0, id;
    if (!k) return 0;
    /* more pieces than the published one: their ids are taken */
    id = t->n > (size_t)k->first + 1 && k->reserved ? 0 : k->first;
    for (int i = 0; rc == 0 && k->tokens && k->tokens[i]; i++)
        rc = add_named(t, k->tokens[i], id ? id + i : 0, err, errlen);
    for (int i = 0; rc == 0 && id && i < k->reserved; i++) {
        snprintf(name, sizeof name, "%s%d|>", k->reserved_name, k->reserved_from + i);
        rc = add_named(t, name, (int)t->n, err, errlen);
    }
    if (rc == 0) rc = special_finish(t, err, errlen);
    if (rc == 0 && k->bos && t->bos < 0) t->bos = pieces_find(t, k->bos, strlen(k->bos));
    if (rc == 0 && k->eos && t->eos < 0) t->eos = pieces_find(t, k->eos, strlen(k->eos));
    t->add_bos |= k->add_bos;
    return rc;
}
