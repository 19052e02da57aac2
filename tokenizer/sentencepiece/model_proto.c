/* tokenizer/sentencepiece/model_proto.c - SentencePiece's tokenizer.model: a protobuf message, read by hand.
 *
 * A message is fields, one after another: a varint key (number << 3 | wire type), then a value - a varint (0), eight
 * bytes (1), a varint length and as many bytes (2), four bytes (5). A message inside a message is a field of wire type
 * 2. Field numbers are those of sentencepiece_model.proto; unknown fields are skipped, as protobuf wants.
 *
 * A file cut between two pieces is well-formed protobuf. So the trainer's and the normalizer's settings, which every
 * writer puts behind the pieces, must be there. */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct {
    const uint8_t *p, *end;
} Wire;

typedef struct {
    uint32_t number;
    int type;
    uint64_t value;       /* VARINT */
    const uint8_t *bytes; /* BYTES, FIXED32, FIXED64 */
    size_t len;
} Field;

static int read_varint(Wire *w, uint64_t *out) {
    *out = 0;
    for (int shift = 0; w->p < w->end; shift += 7) { /* the tenth byte ends it */
        uint8_t b = *w->p++;
        if (shift == 63 && b > 1) return 0;
        *out |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return 1;
    }
    return 0;
}

/* 1: *f is the next field; 0: the message ends here; -1: it is broken. */
static int next_field(Wire *w, Field *f) {
    uint64_t key, len;
    if (w->p == w->end) return 0;
    if (!read_varint(w, &key) || key > UINT32_MAX || key >> 3 == 0) return -1;
    *f = (Field){.number = (uint32_t)(key >> 3), .type = (int)(key & 7)};
    if (f->type == VARINT) return read_varint(w, &f->value) ? 1 : -1;
    if (f->type == BYTES) {
        if (!read_varint(w, &len)) return -1;
    } else if (f->type == FIXED64 || f->type == FIXED32) {
        len = f->type == FIXED64 ? 8 : 4;
    } else return -1; /* groups: none of SentencePiece's messages has one */
    if (len > (size_t)(w->end - w->p)) return -1;
    f->bytes = w->p;
    f->len = (size_t)len;
    w->p += len;
    return 1;
}

/* A normalizer_spec. */
typedef struct {
    Field map; /* len 0: the file has none */
    int add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
} Rules;

typedef struct {
    int has_trainer, has_normalizer;
    int model_type; /* 1 unigram, 2 BPE, 3 word, 4 char */
    int byte_fallback, space_as_suffix;
    int64_t ids[4]; /* unk, bos, eos, pad */
    Field bos_piece, eos_piece, unk_surface; /* bytes NULL where the file has none */
    Rules in, out; /* the normalizer's, the denormalizer's */
} Settings;

typedef struct {
    Tokenizer *t;
    Settings s;
    char *err;
    size_t errlen;
} ProtoReader;

static int broken(ProtoReader *r, const char *what) {
    return base_error(r->err, r->errlen, -EINVAL,
                      "%s: %s is not well-formed protobuf: truncated or no SentencePiece model",
                      r->t->name, what);
}

/* A field that we read must be of the type that it is declared with. */
static int want(ProtoReader *r, const Field *f, int type) {
    if (f->type == type) return 0;
    return base_error(r->err, r->errlen, -EINVAL, "%s: field %u has wire type %d where %d belongs", r->t->name,
                      (unsigned)f->number, f->type, type);
}

static int read_piece(ProtoReader *r, const Field *m) {
    static const char no_text[] = "";
    Wire w = {m->bytes, m->bytes + m->len};
    Field f, text = {.bytes = (const uint8_t *)no_text};
    float score = 0;
    uint64_t kind = PIECE_NORMAL;
    int more, rc = 0;
    while ((more = next_field(&w, &f)) > 0 && rc == 0) {
        if (f.number == 1 && (rc = want(r, &f, BYTES)) == 0) text = f;
        if (f.number == 2 && (rc = want(r, &f, FIXED32)) == 0) score = load_f32(f.bytes);
        if (f.number == 3 && (rc = want(r, &f, VARINT)) == 0) kind = f.value;
    }
    if (rc) return rc;
    if (more < 0) return broken(r, "a piece");
    const char *s = (const char *)text.bytes;
    size_t n = r->t->n;
    if (text.len == 0) return base_error(r->err, r->errlen, -EINVAL, "%s: piece %zu is empty", r->t->name, n);
    if (kind < PIECE_NORMAL || kind > PIECE_BYTE)
        return base_error(r->err, r->errlen, -EINVAL, "%s: piece %zu is of the unknown kind %llu", r->t->name, n,
                          (unsigned long long)kind);
    if (kind == PIECE_UNKNOWN) {
        if (r->t->unk >= 0)
            return base_error(r->err, r->errlen, -EINVAL, "%s: pieces %d and %zu are both the unknown piece",
                              r->t->name, r->t->unk, n);
        r->t->unk = (int)n;
    }
    return pieces_add(r->t, s, text.len, score, (int)kind, r->err, r->errlen);
}

static int read_trainer(ProtoReader *r, const Field *m) {
    Wire w = {m->bytes, m->bytes + m->len};
    Settings *s = &r->s;
    Field f;
    int more, rc = 0;
    s->has_trainer = 1;
    while ((more = next_field(&w, &f)) > 0 && rc == 0)
        switch (f.number) {
        case 3: if ((rc = want(r, &f, VARINT)) == 0) s->model_type = f.value <= 4 ? (int)f.value : 0; break;
        case 24: if ((rc = want(r, &f, VARINT)) == 0) s->space_as_suffix = f.value != 0; break;
        case 35: if ((rc = want(r, &f, VARINT)) == 0) s->byte_fallback = f.value != 0; break;
        case 40: case 41: case 42: case 43:
            if ((rc = want(r, &f, VARINT)) == 0) s->ids[f.number - 40] = (int64_t)f.value;
            break;
        case 44: if ((rc = want(r, &f, BYTES)) == 0) s->unk_surface = f; break;
        case 46: if ((rc = want(r, &f, BYTES)) == 0) s->bos_piece = f; break;
        case 47: if ((rc = want(r, &f, BYTES)) == 0) s->eos_piece = f; break;
        default: break;
        }
    return rc ? rc : more < 0 ? broken(r, "the trainer's part") : 0;
}

static int read_normalizer(ProtoReader *r, const Field *m, Rules *s, const char *what) {
    Wire w = {m->bytes, m->bytes + m->len};
    Field f;
    int more, rc = 0;
    while ((more = next_field(&w, &f)) > 0 && rc == 0)
        switch (f.number) {
        case 2: if ((rc = want(r, &f, BYTES)) == 0) s->map = f; break;
        case 3: if ((rc = want(r, &f, VARINT)) == 0) s->add_dummy_prefix = f.value != 0; break;
        case 4: if ((rc = want(r, &f, VARINT)) == 0) s->remove_extra_whitespaces = f.value != 0; break;
        case 5: if ((rc = want(r, &f, VARINT)) == 0) s->escape_whitespaces = f.value != 0; break;
        default: break;
        }
    return rc ? rc : more < 0 ? broken(r, what) : 0;
}

static int read_model(ProtoReader *r, const uint8_t *data, size_t size) {
    Wire w = {data, data + size};
    Field f;
    int more, rc = 0;
    while (rc == 0 && (more = next_field(&w, &f)) != 0) {
        if (more < 0) return broken(r, "the file");
        if (f.number <= 3 || f.number == 5) rc = want(r, &f, BYTES);
        if (rc) break;
        if (f.number == 1) rc = read_piece(r, &f);
        else if (f.number == 2) rc = read_trainer(r, &f);
        else if (f.number == 3) {
            r->s.has_normalizer = 1;
            rc = read_normalizer(r, &f, &r->s.in, "the normalizer's part");
        } else if (f.number == 5) rc = read_normalizer(r, &f, &r->s.out, "the denormalizer's part");
    }
    return rc;
}

static int check_kind(ProtoReader *r) {
    const Settings *s = &r->s;
    if (!s->has_trainer || !s->has_normalizer)
        return base_error(r->err, r->errlen, -EINVAL,
                          "%s: no trainer's or no normalizer's part behind the pieces: truncated?", r->t->name);
    if (s->model_type < 1)
        return base_error(r->err, r->errlen, -EINVAL, "%s: a SentencePiece model of an unknown kind", r->t->name);
    if (s->out.map.len && (s->out.add_dummy_prefix || s->out.remove_extra_whitespaces || s->out.escape_whitespaces))
        return base_error(r->err, r->errlen, -EINVAL,
                          "%s: a SentencePiece model whose denormalizer changes spaces: not read",
                          r->t->name);
    return 0;
}

static int read_maps(ProtoReader *r) {
    const Field *in = &r->s.in.map, *out = &r->s.out.map;
    const Tokenizer *t = r->t;
    SpmModel *m = t->own;
    int rc = 0;
    if (in->len) rc = charsmap_open(&m->map, in->bytes, in->len, t->name, "the normalizer", r->err, r->errlen);
    if (rc || !out->len) return rc;
    rc = charsmap_open(&m->unmap, out->bytes, out->len, t->name, "the denormalizer", r->err, r->errlen);
    if (rc == 0 && (charsmap_longest_rule(m->unmap) > DECODE_HELD_MAX ||
                    charsmap_longest_text(m->unmap) > DECODE_HELD_MAX))
        rc = base_error(r->err, r->errlen, -EINVAL, "%s: the denormalizer has a rule or a text of more than %d bytes",
                        t->name, (int)DECODE_HELD_MAX);
    return rc;
}

static int check_pieces(ProtoReader *r) {
    static const char *const names[] = {"unk_id", "bos_id", "eos_id", "pad_id"};
    Tokenizer *t = r->t;
    unsigned char have[256] = {0};
    int n_bytes = 0;
    for (int i = 0; i < 4; i++)
        if (r->s.ids[i] >= (int64_t)t->n)
            return base_error(r->err, r->errlen, -EINVAL, "%s: %s is %lld, of %zu pieces", r->t->name, names[i],
                              (long long)r->s.ids[i], t->n);
    if (t->unk < 0 && !r->s.byte_fallback)
        return base_error(r->err, r->errlen, -EINVAL, "%s: no unknown piece", r->t->name);
    for (size_t i = 0; i < t->n; i++) {
        /* A converter's slip that the library (0.2.3) mends: "<0x00>" is there, and a bare NUL as well. */
        if (r->s.byte_fallback && t->pieces[i].len == 1 && t->bytes[t->pieces[i].start] == 0)
            t->pieces[i].kind = PIECE_UNUSED;
        if (t->pieces[i].kind != PIECE_BYTE) continue;
        int b = pieces_byte_value(t->bytes + t->pieces[i].start, t->pieces[i].len);
        if (!have[b]) n_bytes++;
        have[b] = 1;
    }
    if (r->s.byte_fallback ? n_bytes != 256 : n_bytes != 0)
        return base_error(r->err, r->errlen, -EINVAL, "%s: byte_fallback is %s, but %d byte pieces are there",
                          r->t->name, r->s.byte_fallback ? "on" : "off", n_bytes);
    return 0;
}

/* As the library finds them: the control piece of that name. */
static int control_named(const Tokenizer *t, const Field *f, const char *otherwise) {
    const char *s = f->len ? (const char *)f->bytes : otherwise;
    size_t len = f->len ? f->len : strlen(otherwise);
    for (size_t i = 0; i < t->n; i++)
        if (t->pieces[i].kind == PIECE_CONTROL && t->pieces[i].len == len &&
            memcmp(t->bytes + t->pieces[i].start, s, len) == 0)
            return (int)i;
    return -1;
}

int model_proto_is(const uint8_t *data, size_t size) {
    Wire w = {data, data + size};
    uint64_t len;
    if (size < 4 || *w.p++ != (1 << 3 | BYTES) || !read_varint(&w, &len)) return 0;
    return len >= 2 && w.p < w.end && *w.p == (1 << 3 | BYTES); /* a piece, and in it its text */
}

int model_proto_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    static const char *const kinds[] = {"SentencePiece unigram", "SentencePiece BPE", "SentencePiece words",
                                        "SentencePiece characters"};
    static const SpmKind models[] = {SPM_UNIGRAM, SPM_BPE, SPM_WORD, SPM_CHAR};
    ProtoReader r = {.t = t, .err = err, .errlen = errlen};
    const Rules usual = {.add_dummy_prefix = 1, .remove_extra_whitespaces = 1, .escape_whitespaces = 1};
    r.s = (Settings){.model_type = 1, .ids = {0, -1, -1, -1}, .in = usual, .out = usual};
    int rc = spm_model_begin(t, err, errlen);
    if (rc == 0) rc = read_model(&r, data, size);
    if (rc == 0) rc = check_kind(&r);
    if (rc == 0) rc = check_pieces(&r);
    if (rc == 0) rc = read_maps(&r);
    if (rc) return rc;
    const Settings *s = &r.s;
    const Field *u = &s->unk_surface;
    SpmModel *m = t->own;
    if (u->bytes && !(m->unk_text = malloc(u->len + 1)))
        return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    if (u->bytes) memcpy(m->unk_text, u->bytes, m->unk_len = u->len);
    t->kind = kinds[s->model_type - 1];
    m->kind = models[s->model_type - 1];
    t->bos = control_named(t, &s->bos_piece, "<s>");
    t->eos = control_named(t, &s->eos_piece, "</s>");
    t->add_bos = 1; /* the file does not say: as Llama's; a unigram model without <s> is one of T5's kind */
    t->add_eos = m->kind == SPM_UNIGRAM && t->bos < 0;
    t->dummy_prefix = s->in.add_dummy_prefix;
    m->space_as_suffix = s->space_as_suffix;
    m->remove_extra_whitespaces = s->in.remove_extra_whitespaces;
    if (!s->in.escape_whitespaces) m->space_in = " ";
    return 0;
}
