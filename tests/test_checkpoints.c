/* tests/test_checkpoints.c - the parts of weights-tools, and real files: checksums, Snappy, names, windows, PyTorch's
 * and TensorFlow's own small files. What is hostile stands in test_hostile.c, the program's work in test_convert.c. */
#include "model/roformer_names.h"
#include "weights-tools/checkpoint/checksum.h"
#include "weights-tools/checkpoint/open.h"
#include "weights-tools/checkpoint/pickle_read.h"
#include "weights-tools/checkpoint/snappy.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- checksums, Snappy, names ---- */

/* The check values of the two polynomials, RFC 3720 B.4's 32 zeros; then every length and start against bit by bit. */
static void checksums(void) {
    static const uint8_t digits[] = "123456789", zeros[32];
    Crc zip, tf;
    crc_init(&zip, CRC32_ZIP);
    crc_init(&tf, CRC32C_TF);
    CHECK(crc_of(&zip, digits, 9) == 0xcbf43926 && crc_of(&tf, digits, 9) == 0xe3069283);
    CHECK(crc_of(&tf, zeros, 32) == 0x8a9136aa && crc_of(&tf, zeros, 0) == 0);
    CHECK(crc_unmask(0xc78ab0e5) == 0xe3069283 && crc_unmask(0xfebe8a61) == crc_of(&tf, (const uint8_t *)"foo", 3));
    uint8_t bytes[40];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t from = 0; from < 8; from++)
        for (size_t n = 0; from + n <= sizeof bytes; n++) {
            uint32_t c = 0xffffffff;
            for (size_t i = from; i < from + n; i++) {
                c ^= bytes[i];
                for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
            }
            CHECK(crc_of(&tf, bytes + from, n) == (uint32_t)~c);
        }
}

/* packed as a block of exactly n bytes: 1 where it unpacks to text, or (text NULL) where it is refused. */
static int unpacks(const char *packed, size_t n, const char *text) {
    size_t length = 0;
    uint8_t *in = malloc(n ? n : 1), *out = NULL;
    memcpy(in, packed, n);
    int good = snappy_length(in, n, &length);
    if (good) {
        out = malloc(length ? length : 1);
        good = snappy_decode(in, n, out, length);
    }
    int as_expected = text ? good && length == strlen(text) && memcmp(out, text, length) == 0 : !good;
    free(in);
    free(out);
    return as_expected;
}

static void snappy_blocks(void) {
    static const struct { const char *packed; size_t n; const char *text; } rows[] = {
        {"\0", 1, ""},
        {"\3\x08" "abc", 5, "abc"},
        {"\x0a\4ab\x11\2", 6, "ababababab"},         /* a copy of 8 from 2 back: it overlaps what it makes */
        {"\x0a\4ab\x1e\2\0", 7, "ababababab"},       /* the same with two bytes of offset */
        {"\x0a\4ab\x1f\2\0\0\0", 9, "ababababab"},   /* with four */
        {"\6\0a\5\1", 5, "aaaaaa"},
        {"\6\0a\x12\1\0", 6, "aaaaaa"},
        {"\4\xf0\3abcd", 7, "abcd"},                 /* a literal's length in 1, 2, 3, 4 bytes behind the tag */
        {"\4\xf4\3\0abcd", 8, "abcd"},
        {"\4\xf8\3\0\0abcd", 9, "abcd"},
        {"\4\xfc\3\0\0\0abcd", 10, "abcd"},
        {"", 0, NULL},
        {"\x80", 1, NULL},                           /* a length that does not end */
        {"\4\4ab", 4, NULL},                         /* less than promised */
        {"\4\4abcd", 6, NULL},                       /* a stray tag */
        {"\x0b\4ab\x11\2", 6, NULL},
        {"\x09\4ab\x11\2", 6, NULL},                 /* more than promised */
        {"\6\4ab\1\0", 6, NULL},                     /* offset 0 */
        {"\6\4ab\1\3", 6, NULL},                     /* before the beginning */
        {"\x0a\4ab\x11", 5, NULL},                   /* cut inside a copy */
        {"\x0a\4ab\x1f\2\0\0", 8, NULL},
        {"\4\xfc\3\0\0", 5, NULL},                   /* cut inside a literal's length */
        {"\4\xfc\xff\xff\xff\xff" "abcd", 10, NULL}, /* a literal of 4 GB */
        {"\xff\xff\xff\xff\x0f\0\0\0", 8, NULL},     /* a bomb: 4 GB from 3 bytes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int good = unpacks(rows[i].packed, rows[i].n, rows[i].text);
        if (!good) printf("    row %zu\n", i);
        CHECK(good);
    }
    size_t n; /* the bomb is refused by its length alone, before anybody allocates */
    CHECK(!snappy_length((const uint8_t *)"\xff\xff\xff\xff\x0f\0\0\0", 8, &n));
    /* 22 times 3: as much as copies can make */
    CHECK(snappy_length((const uint8_t *)"\x42\xfe\1\0", 4, &n) && n == 66);
    CHECK(!snappy_length((const uint8_t *)"\x6e\xfe\1\0", 4, &n));
}

/* Every row there and back in every world; what is nearly a name is none. */
static void names(void) {
    int layer, n_tf = 0;
    char name[ROFORMER_NAME_MAX];
    for (size_t i = 0; roformer_names_row(i); i++)
        for (int world = ROFORMER_IN_GGUF; world <= ROFORMER_IN_TF; world++) {
            const RoformerName *row = roformer_names_row(i);
            int gau = strncmp(row->shape, "G", 1) == 0;
            if (!roformer_names_write(name, row, (RoformerWorld)world, 37, gau)) continue;
            const RoformerName *back = roformer_names_find((RoformerWorld)world, name, &layer);
            n_tf += world == ROFORMER_IN_TF;
            int alias = back && world == ROFORMER_IN_GGUF && row->flags & NAME_ALIAS &&
                strcmp(back->gguf, row->gguf) == 0;
            CHECK(back && (back == row || alias));
            CHECK(layer == (row->gguf && strchr(row->gguf, '#') ? 37 : -1));
        }
    CHECK(n_tf == 36); /* none was passed over */
    static const char *const no_torch[] = {
        "", "roformer.", "word_embeddings.weight", "roformer.encoder.layer.x.output.dense.weight",
        "roformer.encoder.layer.01.output.dense.weight", "roformer.encoder.layer.-1.output.dense.weight",
        "roformer.encoder.layer.1024.output.dense.weight", "roformer.encoder.layer..output.dense.weight",
        "roformer.encoder.layer.1.output.dense.weight ", "bert.encoder.layer.1.output.dense",
        "roformer.cls.predictions.bias",
    };
    for (size_t i = 0; i < sizeof no_torch / sizeof *no_torch; i++)
        CHECK(!roformer_names_find(ROFORMER_IN_TORCH, no_torch[i], &layer));
    const RoformerName *q = roformer_names_find(ROFORMER_IN_TF, "bert/encoder/layer_11/attention/self/query/kernel",
                                                &layer);
    CHECK(q && layer == 11 && q->flags & NAME_TRANSPOSED && roformer_names_write(name, q, ROFORMER_IN_GGUF, layer, 0));
    CHECK(strcmp(name, "blk.11.attn_q.weight") == 0);
    CHECK(roformer_names_find(ROFORMER_IN_TORCH, "electra.encoder.layer.3.attention.self.query.weight", &layer) == q &&
          layer == 3);
    CHECK(roformer_names_find(ROFORMER_IN_TORCH, "encoder.layer.3.attention.self.query.weight", &layer) == q);
    CHECK(roformer_names_find(ROFORMER_IN_TORCH, "bert.embeddings.LayerNorm.gamma", &layer) ==
          roformer_names_find(ROFORMER_IN_TF, "bert/embeddings/LayerNorm/gamma", &layer));
    CHECK(roformer_names_is_body(ROFORMER_IN_TF, "bert/embeddings/position_embeddings") &&
          !roformer_names_is_body(ROFORMER_IN_TF, "cls/x"));
    CHECK(roformer_names_is_body(ROFORMER_IN_TORCH, "encoder.layer.0.x") &&
          !roformer_names_is_body(ROFORMER_IN_TORCH, "crf.transitions"));
    CHECK(roformer_names_is_optimizer("bert/pooler/dense/kernel/adam_m") && roformer_names_is_optimizer("global_step"));
    CHECK(!roformer_names_is_optimizer("bert/pooler/dense/kernel") && !roformer_names_is_optimizer("adam_more"));
}

/* ---- windows ---- */

static void put_double(uint8_t *out, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    for (int i = 0; i < 8; i++, bits >>= 8) out[i] = (uint8_t)bits;
}

static uint16_t half_of(double v, size_t *lost) {
    uint8_t in[8], out[2];
    View w = {.type = ELEM_F64, .n_dims = 0, .data = in, .values = 1};
    put_double(in, v);
    *lost = view_read(&w, 0, 1, ELEM_F16, out);
    return load_u16(out);
}

/* Every half-precision number is itself; the middle of two neighbours goes to the even one, a little beside it to the
 * nearer. */
static void halves(void) {
    size_t lost = 9;
    for (uint32_t h = 0; h < 0x7bff; h++) {
        double a = f16_to_f32((uint16_t)h), b = f16_to_f32((uint16_t)(h + 1)), middle = (a + b) / 2;
        uint16_t even = (uint16_t)(h & 1 ? h + 1 : h);
        int good = half_of(a, &lost) == h && half_of(-a, &lost) == (h | 0x8000) && half_of(middle, &lost) == even &&
                   half_of(-middle, &lost) == (even | 0x8000) && half_of(nextafter(middle, 0), &lost) == h &&
                   half_of(nextafter(middle, 1e9), &lost) == h + 1 && lost == 0;
        if (!good) {
            CHECK(!"half");
            break;
        }
    }
    CHECK(half_of(65519.999, &lost) == 0x7bff && lost == 0);
    CHECK(half_of(65520, &lost) == 0x7c00 && lost == 1 && half_of(-1e300, &lost) == 0xfc00 && lost == 1);
    CHECK(half_of(HUGE_VAL, &lost) == 0x7c00 && lost == 0 && (half_of(NAN, &lost) & 0x7fff) == 0x7e00 && lost == 0);
}

/* A window with strides, read from every place in every length, against three plain loops. */
static void windows(void) {
    uint8_t bytes[4 * 120], out[4 * 60];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7);
    View v = {.type = ELEM_F32, .n_dims = 3, .shape = {3, 4, 5}, .data = bytes};
    CHECK(view_init(&v) && v.values == 60 && view_is_contiguous(&v));
    static const size_t strides[][3] = {{20, 5, 1}, {5, 15, 1}, {1, 3, 12}, {40, 10, 2}, {4, 1, 0}, {0, 0, 0}};
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        memcpy(v.stride, strides[s], sizeof strides[s]);
        CHECK(view_is_contiguous(&v) == (s == 0));
        for (size_t first = 0; first < 60; first++)
            for (size_t n = 0; first + n <= 60; n++) {
                memset(out, 0xee, sizeof out);
                CHECK(view_read(&v, first, n, ELEM_F32, out) == 0);
                for (size_t i = 0; i < n; i++) {
                    size_t at = first + i,
                           place = at / 20 * v.stride[0] + at / 5 % 4 * v.stride[1] + at % 5 * v.stride[2];
                    if (memcmp(out + 4 * i, bytes + 4 * place, 4) != 0) CHECK(!"element");
                }
                CHECK(n == 60 || out[4 * n] == 0xee);
            }
    }
    View huge = {.type = ELEM_F32, .n_dims = 2, .shape = {SIZE_MAX / 2, 3}};
    CHECK(!view_init(&huge));
    huge.shape[1] = 1;
    CHECK(!view_init(&huge)); /* the product fits, its bytes do not */
    View matrix = {.type = ELEM_F32, .n_dims = 2, .shape = {6, 10}, .data = bytes};
    CHECK(view_init(&matrix));
    View turned = view_transposed(&matrix);
    CHECK(turned.shape[0] == 10 && turned.stride[0] == 1 && turned.stride[1] == 10 && !view_is_same(&matrix, &turned));
    turned = view_transposed(&turned);
    CHECK(view_is_same(&matrix, &turned) && view_equal(&matrix, &turned));
}

/* Three slices of a matrix, one of them by columns, below one another or side by side, read from every place in every
 * length. */
static void joined_windows(void) {
    float values[64], out[72];
    for (size_t i = 0; i < 64; i++) values[i] = (float)i;
    for (int axis = 0; axis < 2; axis++) {
        View parts[3], v = {.name = "joined"};
        static const size_t sizes[] = {1, 4, 2};
        size_t at = 0, first_of[3];
        for (size_t k = 0; k < 3; at += parts[k++].values) {
            parts[k] = (View){.type = ELEM_F32, .n_dims = 2, .data = (const uint8_t *)(values + at)};
            parts[k].shape[axis] = sizes[k], parts[k].shape[!axis] = 5;
            first_of[k] = at;
            CHECK(view_init(&parts[k]));
        }
        parts[1].stride[0] = 1, parts[1].stride[1] = parts[1].shape[0];
        CHECK(view_join(&v, parts, 3, axis) && v.values == 35 && v.shape[axis] == 7 && v.shape[!axis] == 5 &&
              !view_is_contiguous(&v) && view_is_same(&v, &v) && view_equal(&v, &v) && strcmp(v.name, "joined") == 0);
        CHECK(!view_is_same(&v, &parts[0]) && !view_equal(&v, &parts[0]));
        for (size_t first = 0; first < 35; first++)
            for (size_t n = 0; first + n <= 35; n++) {
                out[n] = -1;
                CHECK(view_read(&v, first, n, ELEM_F32, (uint8_t *)out) == 0 && out[n] == -1);
                for (size_t i = 0; i < n; i++) {
                    size_t p[2] = {(first + i) / v.shape[1], (first + i) % v.shape[1]}, k = 0;
                    while (p[axis] >= sizes[k]) p[axis] -= sizes[k++];
                    if (out[i] != values[first_of[k] + p[0] * parts[k].stride[0] + p[1] * parts[k].stride[1]])
                        CHECK(!"element");
                }
            }
        parts[2].shape[!axis] = 4;
        CHECK(!view_join(&v, parts, 3, axis));
        parts[2].shape[!axis] = 5, parts[2].type = ELEM_F16;
        CHECK(!view_join(&v, parts, 3, axis));
        parts[2].type = ELEM_F32, parts[2].shape[axis] = SIZE_MAX - 2;
        CHECK(!view_join(&v, parts, 3, axis));
    }
}

/* ---- real files ---- */

static const View *view_named(const Checkpoint *c, const char *name) {
    for (size_t i = 0; i < c->n_views; i++)
        if (strcmp(c->views[i].name, name) == 0) return &c->views[i];
    return NULL;
}

/* The n floats of that tensor, whatever its type. */
static int holds(const Checkpoint *c, const char *name, const char *shape, const float *expected) {
    const View *v = view_named(c, name);
    uint8_t out[256];
    char text[64] = "";
    if (!v || v->values * 4 > sizeof out) return 0;
    for (int d = 0; d < v->n_dims; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%zu", d ? "," : "", v->shape[d]);
    view_read(v, 0, v->values, ELEM_F32, out);
    int same = strcmp(text, shape) == 0;
    for (size_t i = 0; i < v->values && same; i++) same = load_f32(out + 4 * i) == expected[i];
    return same;
}

static int opens(Checkpoint *c, const char *path) {
    char err[300] = "";
    int rc = path ? checkpoint_open(c, path, err, sizeof err) : -1;
    if (rc) printf("    %s\n", err);
    return rc == 0;
}

/* facts/checkpoints.md prints what is in these two; the same six numbers through two containers. */
static void real_tiny(void) {
    static const char *const files[] = {"checkpoints/tiny_legacy.pth", "checkpoints/tiny_zip.pth"};
    static const float w[] = {1, 2, 3, 4, 5, 6}, wt[] = {1, 4, 2, 5, 3, 6}, b[] = {.5f, -2}, c16[] = {-.25f, 128};
    if (!test_data(files[0])) return;
    for (int i = 0; i < 2; i++) {
        Checkpoint c;
        if (!opens(&c, test_data(files[i]))) CHECK(!"opens");
        CHECK(c.n_views == 4 && c.container == (i ? CONTAINER_ZIP : CONTAINER_LEGACY) && c.n_other == 0);
        CHECK(holds(&c, "w", "2,3", w) && holds(&c, "wt", "3,2", wt) && holds(&c, "b", "2", b) &&
              holds(&c, "c", "2", c16));
        CHECK(view_named(&c, "b")->type == ELEM_F16 && view_named(&c, "c")->type == ELEM_BF16);
        checkpoint_close(&c);
    }
}

/* A legacy file of Python 2 and a GPU: five storages, listed in another order than they are used. */
static void real_alex(void) {
    Checkpoint c;
    if (!test_data("checkpoints/alex.pth")) return;
    CHECK(opens(&c, test_data("checkpoints/alex.pth")));
    CHECK(c.n_views == 5 && c.container == CONTAINER_LEGACY && c.file_bytes == 6009);
    static const struct { const char *name; size_t values; } rows[] = {
        {"lin0.model.1.weight", 64}, {"lin1.model.1.weight", 192}, {"lin2.model.1.weight", 384},
        {"lin3.model.1.weight", 256}, {"lin4.model.1.weight", 256},
    };
    for (int i = 0; i < 5 && c.n_views == 5; i++) {
        const View *v = view_named(&c, rows[i].name);
        uint8_t out[4 * 384];
        CHECK(v && v->type == ELEM_F32 && v->n_dims == 4 && v->values == rows[i].values);
        if (v && v->values <= 384) view_read(v, 0, v->values, ELEM_F32, out);
        for (size_t k = 0; v && k < v->values; k++)
            CHECK(isfinite(load_f32(out + 4 * k)) && fabsf(load_f32(out + 4 * k)) < 10);
    }
    checkpoint_close(&c);
}

/* data.pkl by itself: what the machine makes of it. */
static void real_pickle(void) {
    const char *path = test_data("checkpoints/tiny.pkl");
    size_t n, used;
    char err[300] = "", *file = path ? file_read(path, &n) : NULL;
    Pickle p;
    if (!file) return;
    CHECK(pickle_read(&p, (uint8_t *)file, n, &used, "tiny.pkl", err, sizeof err) == 0 && used == n);
    const PickleValue *root = &p.values[p.root], *w = pickle_get(&p, root, "w");
    CHECK(root->type == PV_DICT && root->n == 8 && w && w->type == PV_TENSOR && pickle_get(&p, root, "x") == NULL);
    const PickleValue *storage = w ? pickle_child(&p, w, 0) : NULL;
    CHECK(storage && storage->type == PV_STORAGE && pickle_is(pickle_child(&p, storage, 2), "0"));
    CHECK(storage && pickle_child(&p, storage, 4)->as.integer == 6 && pickle_child(&p, storage, 5) == NULL);
    pickle_free(&p);
    free(file);
}

/* The four bundles of TensorFlow's own tests, under the names that a checkpoint's files have. */
static void real_bundles(void) {
    static const char *const names[] = {"three", "two_cpu", "two_mkl", "two_tf2_cpu"};
    char text[2][512];
    for (int i = 0; i < 4; i++)
        for (int part = 0; part < 2; part++) {
            snprintf(text[0], 512, "checkpoints/saved_model_half_plus_%s.%s", names[i], part ? "data" : "index");
            const char *from = test_data(text[0]);
            if (!from) return;
            size_t n;
            char *bytes = file_read(from, &n);
            snprintf(text[1], 512, "%s.ckpt.%s", names[i], part ? "data-00000-of-00001" : "index");
            file_write(test_tmp(text[1]), bytes, n);
            free(bytes);
        }
    static const float half[] = {.5f}, two[] = {2}, three[] = {3};
    Checkpoint c;
    CHECK(opens(&c, test_tmp("three.ckpt")) && c.n_views == 3 && c.container == CONTAINER_TF);
    CHECK(holds(&c, "a", "", half) && holds(&c, "b", "", three) && holds(&c, "c", "", three));
    checkpoint_close(&c);
    CHECK(opens(&c, test_tmp("two_cpu.ckpt.index")) && c.n_views == 5); /* a Snappy block */
    CHECK(holds(&c, "a", "", half) && holds(&c, "a2", "", half) && holds(&c, "b", "", two));
    CHECK(holds(&c, "c", "", three) && holds(&c, "c2", "", three));
    checkpoint_close(&c);
    /* prefix compression, shapes, and floats of all kinds */
    CHECK(opens(&c, test_tmp("two_mkl.ckpt")) && c.n_views == 9);
    const View *kernel = view_named(&c, "conv2d/kernel");
    CHECK(kernel && kernel->n_dims == 4 && kernel->values == 1 && view_named(&c, "conv2d/bias")->n_dims == 1);
    uint8_t out[4];
    if (kernel) view_read(kernel, 0, 1, ELEM_F32, out);
    NEAR(load_f32(out), -0.52239597, 1e-8, 0); /* the digits that were printed */
    checkpoint_close(&c);
    CHECK(opens(&c, test_tmp("two_tf2_cpu.ckpt")) && c.n_other == 1); /* an object graph, which is text */
    checkpoint_close(&c);
}

const Test tests_checkpoints[] = {
    {"convert/checksums", checksums},
    {"convert/snappy", snappy_blocks},
    {"convert/names", names},
    {"convert/halves", halves},
    {"convert/windows", windows},
    {"convert/joined windows", joined_windows},
    {"convert/real_tiny", real_tiny},
    {"convert/real_alex", real_alex},
    {"convert/real_pickle", real_pickle},
    {"convert/real_bundles", real_bundles},
    {0},
};
