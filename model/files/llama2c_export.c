/* model/files/llama2c_export.c - versions 1 and 2 of llama2.c's .bin files. What is behind the header llama2c.c reads.
 *
 *     v1   "24ka" (0x616b3432), 1, 7 int32, u8 shared classifier, zeros up to byte 256, then f32
 *     v2   the same with 2, and int32 group_size behind the u8; norms f32, every matrix int8 values then its f32 scales
 *
 * Sources: export.py, runq.c of llama2.c. */
#include "llama2c_export.h"

enum { HEADER_BYTES = 256, MAGIC = 0x616b3432, GROUP_MAX = 65536 };

static const Llama2cArray arrays[] = {
    {"blk.#.attn_norm.weight", 'D', 0},
    {"blk.#.ffn_norm.weight", 'D', 0},
    {"output_norm.weight", 'D', 0},
    {"token_embd.weight", 'V', 'D'},
    {"blk.#.attn_q.weight", 'D', 'D'}, {"blk.#.attn_k.weight", 'K', 'D'}, {"blk.#.attn_v.weight", 'K', 'D'},
    {"blk.#.attn_output.weight", 'D', 'D'},
    {"blk.#.ffn_gate.weight", 'F', 'D'}, {"blk.#.ffn_down.weight", 'D', 'F'}, {"blk.#.ffn_up.weight", 'F', 'D'},
    {"output.weight", 'V', 'D'},
    {0},
};

int llama2c_export_is(const uint8_t *data, size_t size) { return size >= 4 && load_u32(data) == MAGIC; }

static const char *implausible(const Llama2cHeader *h) {
    const char *wrong = llama2c_implausible(h);
    if (wrong) return wrong;
    if (h->version == 2 && (h->group_size < 1 || h->dim % h->group_size != 0 || h->hidden_dim % h->group_size != 0))
        return "group_size must divide dim and hidden_dim";
    if (h->group_size > GROUP_MAX) return "group_size must be at most 65536"; /* a group's integer sum fits 32 bits */
    return NULL;
}

int llama2c_export_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    ErrorLine line = {w->path, err, errlen, 0};
    if (size < HEADER_BYTES)
        return base_complain(&line, "the file ends inside its llama2.c header of 256 bytes: it is truncated, fetch it "
                                    "again");
    uint32_t version = load_u32(data + 4);
    if (version != 1 && version != 2)
        return base_complain(&line, "llama2.c version %u, only 0, 1 and 2 are read: export the model again", version);
    Llama2cHeader h = {.version = (int)version, .shared_classifier = data[36], .bytes = HEADER_BYTES, .arrays = arrays};
    llama2c_numbers(&h, data + 8);
    if (version == 2) h.group_size = (int32_t)load_u32(data + 37); /* behind one byte, so unaligned */
    if (data[36] > 1) return base_complain(&line, "llama2.c header: the shared-classifier byte is neither 0 nor 1");
    const char *wrong = implausible(&h);
    if (wrong) return base_complain(&line, "llama2.c version %d header: %s", h.version, wrong);
    return llama2c_read(w, &h, data, size, err, errlen);
}
