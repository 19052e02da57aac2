/* weights-tools/model_write.c - a GGUF file, version 3: header, keys, list of tensors, data.
 *
 * Dimensions are listed from the contiguous one; data begins at, and every tensor takes, a multiple of the alignment.
 */
#include "model_write.h"

#include "base/threads.h"
#include "kernels/encode.h"
#include "base/newfile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 22 };

static size_t padding(const Source *s, uint64_t at) {
    return (size_t)((s->alignment - at % s->alignment) % s->alignment);
}

/* ---- the head ---- */

static int refuse(const Source *s, const Item *i, const char *why, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: tensor %.80s: %s", s->path, i->name, why);
}

/* 1 where the bytes of the file become those of the new one as they are. */
static int is_copied(const Item *i) { return i->type == item_own_type(i) && i->rows > 0 && item_raw_row(i, 0) != NULL; }

static int check(const Source *s, const Item *i, size_t *bytes, char *err, size_t errlen) {
    char why[160];
    const QuantFormat *to = quant_format(i->type), *own = quant_format(item_own_type(i));
    if (i->rows == 0 || i->cols == 0) return refuse(s, i, "holds no numbers", err, errlen);
    if (!is_copied(i) && !item_readable(i)) {
        snprintf(why, sizeof why, "its type %s is not read here", own ? own->name : "?");
        return refuse(s, i, why, err, errlen);
    }
    if (!is_copied(i) && !quant_encodes(i->type)) return refuse(s, i, "its new type is not written here", err, errlen);
    if (item_bytes(i, bytes)) return 0;
    snprintf(why, sizeof why, "rows of %zu are no whole blocks of %s", i->cols, to ? to->name : "?");
    return refuse(s, i, why, err, errlen);
}

int model_bytes(const Source *s, uint64_t *total, char *err, size_t errlen) {
    size_t bytes;
    *total = 0;
    for (size_t i = 0; i < s->n_items; i++) {
        int rc = check(s, &s->items[i], &bytes, err, errlen);
        if (rc) return rc;
        if (bytes > UINT64_MAX / 2 - *total) return refuse(s, &s->items[i], "the file would be too large", err, errlen);
        *total += bytes;
    }
    return 0;
}

static void list_tensor(Buffer *b, const Item *i, uint64_t offset) {
    buffer_u64(b, strlen(i->name));
    buffer_bytes(b, i->name, strlen(i->name));
    buffer_u32(b, (uint32_t)i->n_dims);
    for (int d = i->n_dims - 1; d >= 0; d--) buffer_u64(b, i->shape[d]);
    buffer_u32(b, (uint32_t)i->type);
    buffer_u64(b, offset);
}

/* Everything before the data. model_bytes has passed. */
static int make_head(Buffer *b, const Source *s, char *err, size_t errlen) {
    uint64_t offset = 0;
    buffer_bytes(b, "GGUF", 4);
    buffer_u32(b, 3);
    buffer_u64(b, s->n_items);
    buffer_u64(b, s->meta.n);
    buffer_bytes(b, s->meta.bytes.data, s->meta.bytes.n);
    for (size_t i = 0; i < s->n_items; i++) {
        size_t bytes = 0;
        list_tensor(b, &s->items[i], offset);
        item_bytes(&s->items[i], &bytes);
        offset += bytes + padding(s, bytes);
    }
    buffer_fill(b, 0, padding(s, b->n));
    return b->failed || s->meta.bytes.failed ? base_error(err, errlen, -ENOMEM, "%s: out of memory", s->path) : 0;
}

/* ---- the data ---- */

/* Row r of i into out, by way of room [cols]; returns what was lost. Floats to 16 bits go straight from the window,
 * which may hold doubles: no value is rounded twice. */
static size_t encode_row(const Item *i, size_t r, uint8_t *out, size_t bytes, float *room) {
    const uint8_t *raw = is_copied(i) ? item_raw_row(i, r) : NULL;
    if (raw) {
        memcpy(out, raw, bytes);
        return 0;
    }
    if (!i->from.data && i->type == TENSOR_F16 && !i->row_order && !i->col_order)
        return view_read(&i->view, r * i->cols, i->cols, ELEM_F16, out);
    item_row(i, r, room);
    return quant_encode(i->type, out, room, i->cols);
}

/* Rows first .. first + n - 1 of one tensor into piece, shared among the threads. */
typedef struct {
    Team *team;
    const Item *item;
    size_t first, n;
    uint8_t *piece;
    size_t row_bytes;
    float *room; /* [threads x cols] */
    atomic_size_t lost;
} Rows;

static void encode_shares(void *arg) {
    Rows *x = arg;
    float *room = x->room ? x->room + (size_t)team_member() * x->item->cols : NULL;
    for (Share r; team_take(x->team, x->n, &r);)
        for (; r.at < r.end; r.at++) {
            size_t lost = encode_row(x->item, x->first + r.at, x->piece + r.at * x->row_bytes, x->row_bytes, room);
            if (lost) atomic_fetch_add(&x->lost, lost);
        }
}

static size_t encode_rows(Team *team, const Item *i, size_t first, size_t n, uint8_t *piece, size_t row_bytes,
                          float *room) {
    Rows x = {.team = team, .item = i, .first = first, .n = n, .piece = piece, .row_bytes = row_bytes, .room = room};
    size_t threads = (size_t)team->most < n ? (size_t)team->most : n;
    team_run(team, (int)threads, encode_shares, &x);
    return atomic_load(&x.lost);
}

/* What one tensor needs. */
typedef struct {
    uint8_t *piece;
    float *room; /* [threads x cols] */
    size_t rows; /* of a piece */
    size_t row_bytes;
} Desk;

static int desk_init(Desk *d, const Item *i, int threads) {
    size_t bytes = 0, room;
    Item row = *i;
    row.rows = 1;
    *d = (Desk){.rows = 1};
    if ((size_t)threads > i->rows) threads = (int)i->rows; /* nobody else gets a row */
    if (!item_bytes(&row, &d->row_bytes) || !size_mul(i->cols, (size_t)threads, &room) ||
        !size_mul(room, sizeof *d->room, &room))
        return -ENOMEM;
    if (d->row_bytes < PIECE_BYTES) d->rows = PIECE_BYTES / d->row_bytes;
    if (d->rows > i->rows) d->rows = i->rows;
    if (size_mul(d->rows, d->row_bytes, &bytes)) d->piece = malloc(bytes);
    d->room = is_copied(i) ? NULL : malloc(room);
    return d->piece && (d->room || is_copied(i)) ? 0 : -ENOMEM;
}

static int write_item(NewFile *f, const Source *s, const Item *i, Team *team, const Report *r, uint64_t *done,
                      uint64_t total, char *err, size_t errlen) {
    Desk d;
    int rc = desk_init(&d, i, team->most) ? base_error(err, errlen, -ENOMEM, "%s: out of memory", s->path) : 0;
    for (size_t first = 0; first < i->rows && rc == 0; first += d.rows) {
        size_t n = i->rows - first < d.rows ? i->rows - first : d.rows;
        if (encode_rows(team, i, first, n, d.piece, d.row_bytes, d.room))
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %.80s holds numbers that are too large for %s%s", s->path,
                            i->name, quant_format(i->type)->name,
                            i->type == TENSOR_F16 ? ": use --type keep (quantize: BF16)" : ", or not finite");
        if (rc == 0) {
            newfile_write(f, d.piece, n * d.row_bytes);
            rc = f->rc;
        }
        *done += n * d.row_bytes;
        if (rc == 0 && r->progress && r->progress(r->arg, *done, total))
            rc = base_error(err, errlen, -EINTR, "%s: interrupted, nothing was written", f->path);
    }
    free(d.piece);
    free(d.room);
    return rc;
}

int model_write(NewFile *f, const Source *s, int threads, const Report *r, char *err, size_t errlen) {
    Buffer head = {0}, zeros = {0};
    uint64_t done = 0, total;
    Team team = {0};
    int rc = model_bytes(s, &total, err, errlen);
    if (rc == 0) rc = make_head(&head, s, err, errlen);
    buffer_fill(&zeros, 0, s->alignment);
    if (rc == 0 && zeros.failed) rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", s->path);
    if (rc == 0 && team_init(&team, threads < 1 ? 1 : threads))
        rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", s->path);
    if (rc == 0) newfile_write(f, head.data, head.n);
    for (size_t i = 0; i < s->n_items && rc == 0; i++) {
        size_t bytes = 0;
        rc = write_item(f, s, &s->items[i], &team, r, &done, total, err, errlen);
        item_bytes(&s->items[i], &bytes);
        if (rc == 0) newfile_write(f, zeros.data, padding(s, bytes));
        item_drop(s, &s->items[i]);
    }
    team_free(&team);
    free(zeros.data);
    free(head.data);
    return rc ? rc : f->rc;
}
