/* tests/fuzz/fuzz_chat.c - libFuzzer target for text/chat_template.c: any bytes as a template, and any conversation
 * through any row. The first byte chooses the row, the second what is asked; in the rest byte 0xff ends a message. */
#include "text/chat_template.h"
#include "tokenizer/open.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char err[200];

static Tokenizer *made(void) {
    static const Piece pieces[] = {
        {"<unk>", 5, 0, PIECE_UNKNOWN},        {"<s>", 3, -1, PIECE_CONTROL},      {"</s>", 4, -2, PIECE_CONTROL},
        {"<|im_start|>", 12, -3, PIECE_CONTROL}, {"[INST]", 6, -4, PIECE_CONTROL}, {"<think>", 7, -5,
        PIECE_USER_DEFINED}, {"\xe2\x96\x81", 3, -6, PIECE_NORMAL}, {"a", 1, -7, PIECE_NORMAL},
            {"\xe2\x96\x81" "a", 4, -8, PIECE_NORMAL}};
    Vocabulary v = {.model = "llama", .pieces = pieces, .n = sizeof pieces / sizeof *pieces, .bos_id = 1, .eos_id = 2,
                    .unk_id = 0, .add_bos = 1, .add_eos = 0, .add_space_prefix = 1, .remove_extra_whitespaces = 0};
    Tokenizer *t;
    if (tokenizer_from_vocabulary(&t, &v, "fuzz", err, sizeof err)) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Tokenizer *tokenizer;
    enum { MOST = 24 };
    ChatMessage m[MOST];
    ChatParts p;
    size_t n = 0, rows = 0;
    int *ids;
    if (!tokenizer) tokenizer = made();
    if (size < 2) return 0;
    while (chat_template_row((int)rows)) rows++;
    const ChatTemplate *t = chat_template_row((int)(data[0] % rows)),
                       *found = chat_template_recognise((const char *)data + 2, size - 2);
    int asked = data[1];
    if (found && chat_template_find(found->name) != found) abort();
    char *standard = chat_template_default((const char *)data + 2, size - 2);
    ChatOptions o = {.bos = asked & 1 ? "<s>" : NULL, .eos = asked & 2 ? "</s>" : NULL, .generate = asked >> 2 & 1,
                     .goes_on = asked >> 3 & 1, .system = standard};
    const char *from = (const char *)data + 2, *end = (const char *)data + size;
    for (; n < MOST && from < end; n++) {
        const char *stop = memchr(from, 0xff, (size_t)(end - from));
        size_t len = (size_t)((stop ? stop : end) - from);
        int system = n == 0 && asked & 16;
        m[n] = (ChatMessage){system ? CHAT_SYSTEM : (n & 1) == !(asked & 16) ? CHAT_ASSISTANT : CHAT_USER, from, len};
        from += len + 1;
    }
    if (chat_render(&p, t, m, n, &o, err, sizeof err)) abort();
    size_t at = p.n ? (size_t)(asked >> 5) % p.n : 0, n_ids;
    if (chat_encode(&p, at, tokenizer, asked & 1, &ids, &n_ids, err, sizeof err) == 0) {
        for (size_t i = 0; i < n_ids; i++)
            if (ids[i] < 0 || (size_t)ids[i] >= tokenizer_size(tokenizer)) abort();
        free(ids);
    }
    chat_parts_free(&p);
    free(standard);
    return 0;
}
