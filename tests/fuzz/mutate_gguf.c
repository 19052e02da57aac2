/* tests/fuzz/mutate_gguf.c - GGUF: a count, a type, a name, a dimension, an offset changes, keys and tensors are
 * dropped, doubled and traded; then, mostly, counts and offsets are made right again and the file is as long as it must
 * be. What was not understood stays as it is. */
#include "mutate.h"

#include "base/base.h"
#include "kernels/quants.h"

#include <string.h>

enum { MOST = 300 };

typedef struct {
    size_t begin, name_end, end; /* the entry; behind its name */
    size_t type;                 /* where its type stands: of a key, of a tensor */
} Part;

typedef struct {
    Part keys[MOST], tensors[MOST];
    size_t n_keys, n_tensors, end; /* end: of the head */
    size_t align;
} Parts;

static const size_t value_bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static size_t number_at(const Mutant *m, size_t at, int n) {
    if (at > m->size || m->size - at < (size_t)n) return 0;
    return n == 4 ? load_u32(m->data + at) : (size_t)load_u64(m->data + at);
}

static void put_number(Mutant *m, size_t at, uint64_t v, int n) {
    for (int i = 0; i < n && at + (size_t)i < m->size; i++) m->data[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

/* Behind the string at `at`; 0: it does not fit. */
static size_t string_end(const Mutant *m, size_t at) {
    size_t n = number_at(m, at, 8);
    return at + 8 <= m->size && n <= m->size - at - 8 ? at + 8 + n : 0;
}

static size_t value_end(const Mutant *m, size_t at, uint32_t type) {
    if (type == 8) return string_end(m, at);
    if (type < 13 && type != 9) return at + value_bytes[type] <= m->size ? at + value_bytes[type] : 0;
    uint32_t elem = (uint32_t)number_at(m, at, 4);
    size_t n = number_at(m, at + 4, 8);
    if (type != 9 || elem == 9 || elem > 12 || n > m->size) return 0;
    at += 12;
    if (elem != 8) return at <= m->size && n * value_bytes[elem] <= m->size - at ? at + n * value_bytes[elem] : 0;
    while (n-- > 0 && at) at = string_end(m, at);
    return at;
}

static void read_parts(const Mutant *m, Parts *p) {
    size_t at = 24, n_tensors = number_at(m, 8, 8), n_keys = number_at(m, 16, 8);
    *p = (Parts){.end = m->size < 24 ? m->size : 24, .align = 32};
    while (p->n_keys < n_keys && p->n_keys < MOST) {
        Part *k = &p->keys[p->n_keys];
        k->begin = at;
        if (!(k->name_end = k->type = string_end(m, at)) || k->type + 4 > m->size) return;
        if (!(at = k->end = value_end(m, k->type + 4, (uint32_t)number_at(m, k->type, 4)))) return;
        if (k->name_end - k->begin == 25 && memcmp(m->data + k->begin + 8, "general.alignment", 17) == 0)
            p->align = number_at(m, k->type + 4, 4);
        p->n_keys++, p->end = at;
    }
    while (p->n_tensors < n_tensors && p->n_tensors < MOST) {
        Part *t = &p->tensors[p->n_tensors];
        t->begin = at;
        if (!(t->name_end = string_end(m, at))) return;
        t->type = t->name_end + 4 + 8 * (number_at(m, t->name_end, 4) % 16);
        if (t->type + 12 > m->size) return;
        at = t->end = t->type + 12;
        p->n_tensors++, p->end = at;
    }
}

/* Its bytes, 0 where its type or its size is beyond a small file. */
static size_t tensor_bytes(const Mutant *m, const Part *t) {
    size_t type = number_at(m, t->type, 4), values = 1;
    const QuantFormat *f = type < TENSOR_I8_GROUPS ? quant_format((int)type) : NULL;
    for (size_t at = t->name_end + 4; at < t->type; at += 8)
        if (!size_mul(values, number_at(m, at, 8), &values) || values > 1 << 24) return 0;
    return f ? values / (size_t)f->block * (size_t)f->bytes : 0;
}

int gguf_layout(uint8_t *data, size_t size, size_t most, size_t *begin, size_t *bytes) {
    static Parts p;
    Mutant m = {.data = data, .size = size};
    read_parts(&m, &p);
    size_t align = p.align && p.align <= 65536 ? p.align : 32, sum = 0;
    for (size_t i = 0; i < p.n_tensors; i++) {
        put_number(&m, p.tensors[i].type + 4, sum, 8);
        sum = (sum + tensor_bytes(&m, &p.tensors[i]) + align - 1) / align * align;
    }
    *begin = p.n_tensors ? (p.end + align - 1) / align * align : p.end;
    *bytes = sum;
    return sum <= most && p.n_keys == number_at(&m, 16, 8) && p.n_tensors == number_at(&m, 8, 8);
}

/* Offsets, and the length of a small file, as its tensors ask for. */
static void put_right(Mutant *m) {
    size_t begin, bytes;
    if (!gguf_layout(m->data, m->size, m->most, &begin, &bytes) || begin + bytes > m->most) return;
    if (begin + bytes > m->size) memset(m->data + m->size, 0, begin + bytes - m->size);
    m->size = begin + bytes;
}

static const char *const names[] = {"general.alignment", "general.architecture", "split.no", "split.count",
    "split.tensors.count", "tokenizer.ggml.model", "tokenizer.ggml.tokens", "llama.block_count", "llama.context_length",
    "llama.embedding_length", "llama.attention.head_count", "llama.rope.scaling.type", "token_embd.weight",
    "output.weight", "blk.0.attn_q.weight", "rope_freqs.weight", "llama"};

/* The name, or a string's value, that ends at `end`: another one, or changed. */
static int rename_part(Mutant *m, size_t begin, size_t end) {
    const char *name = names[chance(m, sizeof names / sizeof *names)];
    size_t n = chance(m, 2) ? remake(m, begin + 8, end - begin - 8) : 0;
    if (n == 0) n = splice(m, begin + 8, end - begin - 8, name, strlen(name)) ? strlen(name) : end - begin - 8;
    put_number(m, begin, n, 8);
    return 1;
}

/* Counts are put right as parts go and come. */
static int rearrange(Mutant *m, const Part *parts, size_t n, size_t count_at) {
    const Part *a = &parts[chance(m, (uint32_t)n)], *b = &parts[chance(m, (uint32_t)n)];
    int more = 0, done;
    switch (chance(m, 3)) {
    case 0: done = splice(m, a->begin, a->end - a->begin, NULL, 0), more = -1; break;
    case 1: done = splice(m, b->end, 0, m->data + a->begin, a->end - a->begin), more = 1; break;
    default: return a < b && trade(m, a->begin, a->end - a->begin, b->begin, b->end - b->begin);
    }
    if (done) put_number(m, count_at, number_at(m, count_at, 8) + (uint64_t)more, 8);
    return done;
}

/* A key's value of numbers, or a length of one. */
static int change_value(Mutant *m, const Part *k) {
    size_t type = number_at(m, k->type, 4), at = k->type + 4;
    if (type == 8) return rename_part(m, at, k->end);
    int n = (int)value_bytes[type < 13 ? type : 0];
    if (type == 9) { /* its length, its elements' type, or an element */
        size_t elem = number_at(m, at, 4), count = number_at(m, at + 4, 8);
        uint32_t what = chance(m, 4);
        if (what == 0) return put_number(m, at, chance(m, 14), 4), 1;
        if (what == 1 || elem > 12 || elem == 8 || elem == 9 || count == 0)
            return put_number(m, at + 4, chance_number(m, count), 8), 1;
        n = (int)value_bytes[elem];
        at += 12 + chance(m, (uint32_t)count) * (size_t)n;
    }
    if (chance(m, 3) == 0 && n >= 4) { /* a float, as floats have borders of their own */
        static const uint32_t floats[] = {0, 0x3f800000, 0x7f800000, 0x7fc00000, 0x80000000, 1, 0x7f7fffff, 0x3dcccccd};
        return put_number(m, at + (size_t)n - 4, floats[chance(m, 8)], 4), 1;
    }
    uint64_t was = n >= 4 ? number_at(m, at, n) : m->data[at];
    return put_number(m, at, chance_number(m, was), n), 1;
}

static int change_tensor(Mutant *m, const Part *t) {
    size_t dims = (t->type - t->name_end - 4) / 8, at = t->name_end + 4 + 8 * (dims ? chance(m, (uint32_t)dims) : 0);
    switch (chance(m, 5)) {
    case 0: return put_number(m, t->type, chance(m, 2) ? chance(m, 42) : number_at(m, t->type, 4) ^ 1, 4), 1;
    case 1: return put_number(m, t->type + 4, chance_number(m, number_at(m, t->type + 4, 8)), 8), 1;
    case 2: /* one dimension more, or fewer */
        if (dims && chance(m, 2)) {
            put_number(m, t->name_end, dims - 1, 4);
            return splice(m, at, 8, NULL, 0);
        }
        put_number(m, t->name_end, dims + 1, 4);
        return splice(m, t->name_end + 4, 0, "\1\0\0\0\0\0\0\0", 8);
    case 3: return dims && (put_number(m, at, chance_number(m, number_at(m, at, 8)), 8), 1);
    default: return rename_part(m, t->begin, t->name_end);
    }
}

int mutate_gguf(Mutant *m) {
    static Parts p;
    int done = 0;
    read_parts(m, &p);
    uint32_t what = chance(m, 12);
    const Part *k = p.n_keys ? &p.keys[chance(m, (uint32_t)p.n_keys)] : NULL;
    const Part *t = p.n_tensors ? &p.tensors[chance(m, (uint32_t)p.n_tensors)] : NULL;
    if (what == 0) {
        static const size_t at[] = {4, 8, 16};
        size_t field = at[chance(m, 3)];
        int n = field == 4 ? 4 : 8;
        put_number(m, field, chance_number(m, number_at(m, field, n)), n);
        return m->size >= 24;
    }
    if (what < 4 && k) done = change_value(m, k);
    else if (what < 5 && k) done = rename_part(m, k->begin, k->name_end);
    else if (what < 6 && k) put_number(m, k->type, chance(m, 14), 4), done = 1;
    else if (what < 8 && k) done = rearrange(m, p.keys, p.n_keys, 16);
    else if (what < 10 && t) done = rearrange(m, p.tensors, p.n_tensors, 8);
    else if (t) done = change_tensor(m, t);
    if (done && chance(m, 4)) put_right(m);
    return done;
}
