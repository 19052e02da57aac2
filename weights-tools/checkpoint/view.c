/* weights-tools/checkpoint/view.c - reading a strided window: gather what is asked for, then change its type. */
#include "view.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
} elems[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"I64", 8}, {"I32", 4},
             {"I16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}, {"?", 0}};

const char *elem_name(ElemType type) { return elems[type].name; }
size_t elem_bytes(ElemType type) { return elems[type].bytes; }
int elem_is_float(ElemType type) { return type <= ELEM_F64; }

int view_init(View *v) {
    size_t bytes = elem_bytes(v->type) ? elem_bytes(v->type) : 1;
    v->values = 1;
    for (int d = v->n_dims - 1; d >= 0; d--) {
        v->stride[d] = v->values;
        if (!size_mul(v->values, v->shape[d], &v->values)) return 0;
    }
    return size_mul(v->values, bytes, &bytes);
}

int view_join(View *v, const View *parts, size_t n, int axis) {
    *v = (View){.name = v->name, .type = parts->type, .n_dims = 2, .data = parts->data, .parts = parts, .n_parts = n,
                .axis = axis};
    v->shape[!axis] = parts->shape[!axis];
    for (size_t i = 0; i < n; i++) {
        const View *p = &parts[i];
        if (p->type != v->type || p->n_dims != 2 || p->shape[!axis] != v->shape[!axis] ||
            !size_add(v->shape[axis], p->shape[axis], &v->shape[axis]))
            return 0;
    }
    return view_init(v);
}

int view_is_contiguous(const View *v) {
    size_t expected = 1;
    if (v->n_parts) return 0;
    for (int d = v->n_dims - 1; d >= 0; d--) {
        if (v->shape[d] != 1 && v->stride[d] != expected) return v->values == 0;
        expected *= v->shape[d];
    }
    return 1;
}

static int same_shape(const View *a, const View *b) {
    return a->type == b->type && a->n_dims == b->n_dims &&
           memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape) == 0;
}

int view_is_same(const View *a, const View *b) {
    return a->data == b->data && a->parts == b->parts && same_shape(a, b) &&
           memcmp(a->stride, b->stride, (size_t)a->n_dims * sizeof *a->stride) == 0;
}

View view_transposed(const View *v) {
    View t = *v;
    t.shape[0] = v->shape[1];
    t.shape[1] = v->shape[0];
    t.stride[0] = v->stride[1];
    t.stride[1] = v->stride[0];
    return t;
}

/* Copy elements first .. first+n-1, one at least, as they are: an odometer over the outer dimensions, a run along the
 * last, which what is not contiguous has. */
static void gather(const View *v, size_t first, size_t n, uint8_t *out) {
    size_t at[VIEW_MAX_DIMS] = {0}, bytes = elem_bytes(v->type), rest = first, place = 0;
    int last = v->n_dims - 1;
    for (int d = last; d >= 0; d--) {
        at[d] = rest % v->shape[d];
        rest /= v->shape[d];
        place += at[d] * v->stride[d];
    }
    for (;;) {
        size_t run = v->shape[last] - at[last], step = v->stride[last];
        if (run > n) run = n;
        const uint8_t *from = v->data + place * bytes;
        for (size_t i = 0; i < run; i++, out += bytes, from += step * bytes) memcpy(out, from, bytes);
        n -= run;
        if (n == 0) return;
        place += run * step; /* one past the end of the row: carry into the outer dimensions */
        at[last] = v->shape[last];
        for (int d = last; d > 0 && at[d] == v->shape[d]; d--) {
            place = place - v->shape[d] * v->stride[d] + v->stride[d - 1];
            at[d] = 0;
            at[d - 1]++;
        }
    }
}

static double decode(ElemType type, const uint8_t *p) {
    uint64_t bits;
    double d;
    switch (type) {
    case ELEM_F32: return load_f32(p);
    case ELEM_F16: return f16_to_f32(load_u16(p));
    case ELEM_BF16: return bf16_to_f32(load_u16(p));
    default:
        bits = load_u64(p);
        memcpy(&d, &bits, sizeof d);
        return d;
    }
}

/* The nearest half-precision number, ties to even; beyond 65504 and half a step infinity. From double, so that no value
 * is rounded twice. Below 2^-14 the steps are 2^-24 wide, and a value that rounds up to 1024 of them is the smallest
 * normal. */
static uint16_t f16_of(double v) {
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    int exponent;
    if (isnan(v)) return sign | 0x7e00;
    if (a >= 65520) return sign | 0x7c00;
    if (a < 0x1p-14) return (uint16_t)(sign | (uint16_t)nearbyint(a * 0x1p24));
    double fraction = frexp(a, &exponent); /* 0.5 <= fraction < 1: 11 bits of it are kept */
    unsigned kept = (unsigned)nearbyint(ldexp(fraction, 11)); /* 1024 .. 2048: its top bit counts into the exponent */
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + kept));
}

static void store(uint8_t *out, uint32_t bits, int bytes) {
    for (int i = 0; i < bytes; i++, bits >>= 8) out[i] = (uint8_t)bits;
}

/* n elements of `from` at in to F32 or F16 at out. */
static size_t convert(ElemType from, const uint8_t *in, size_t n, ElemType to, uint8_t *out) {
    size_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        double v = decode(from, in + i * elem_bytes(from));
        if (to == ELEM_F16) {
            uint16_t h = f16_of(v);
            lost += (h & 0x7fff) == 0x7c00 && !isinf(v);
            store(out + 2 * i, h, 2);
        } else {
            float f = (float)v;
            uint32_t bits;
            memcpy(&bits, &f, sizeof bits);
            lost += isinf(f) && !isinf(v);
            store(out + 4 * i, bits, 4);
        }
    }
    return lost;
}

/* A run in a piece, then the next one: the rest of its row where pieces stand side by side. */
static size_t read_parts(const View *v, size_t first, size_t n, ElemType to, uint8_t *out) {
    size_t lost = 0, run;
    for (; n > 0; n -= run, first += run, out += run * elem_bytes(to)) {
        size_t at[2] = {first / v->shape[1], first % v->shape[1]};
        const View *p = v->parts;
        for (; at[v->axis] >= p->shape[v->axis]; p++) at[v->axis] -= p->shape[v->axis];
        size_t from = at[0] * p->shape[1] + at[1];
        run = v->axis ? p->shape[1] - at[1] : p->values - from;
        if (run > n) run = n;
        lost += view_read(p, from, run, to, out);
    }
    return lost;
}

size_t view_read(const View *v, size_t first, size_t n, ElemType to, uint8_t *out) {
    uint8_t part[2048];
    size_t bytes = elem_bytes(v->type), lost = 0;
    int straight = view_is_contiguous(v);
    if (n == 0) return 0;
    if (v->n_parts) return read_parts(v, first, n, to, out);
    if (to == v->type) {
        if (straight) memcpy(out, v->data + first * bytes, n * bytes);
        else gather(v, first, n, out);
        return 0;
    }
    for (size_t i = 0; i < n;) {
        size_t some = n - i < sizeof part / bytes ? n - i : sizeof part / bytes;
        if (!straight) gather(v, first + i, some, part);
        lost += convert(v->type, straight ? v->data + (first + i) * bytes : part, some, to, out);
        out += some * elem_bytes(to);
        i += some;
    }
    return lost;
}

int view_equal(const View *a, const View *b) {
    uint8_t x[2048], y[2048];
    size_t some = sizeof x / (elem_bytes(a->type) ? elem_bytes(a->type) : 1);
    if (!same_shape(a, b) || a->type == ELEM_OTHER) return 0;
    for (size_t i = 0; i < a->values; i += some) {
        size_t n = a->values - i < some ? a->values - i : some;
        view_read(a, i, n, a->type, x);
        view_read(b, i, n, b->type, y);
        if (memcmp(x, y, n * elem_bytes(a->type)) != 0) return 0;
    }
    return 1;
}
