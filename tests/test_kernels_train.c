/* tests/test_kernels_train.c - training's kernels: products of float matrices, any side transposed; e^x; and
 * gradients of vectors. Every row against float64, over awkward sizes, with NaN around every buffer and between rows.
 *
 * A float sum of n products rounds to at most about n * 2^-24 of the sum of magnitudes, and sqrt(n) of that where
 * roundings go either way; n is TRAIN_DEPTH = 256 at most before sums are added up: TOL = 1e-6. Any wrong product of
 * 600 would show at 1/600. */
#include "kernels/rows.h"
#include "kernels/train_kernels.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PAD = 16, GAP = 3 }; /* floats around a buffer, and behind each row of a matrix */
static const double TOL = 1e-6;

static uint64_t rng = 88172645463325252ull;
static float random_float(void) {
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (float)((uint32_t)(rng >> 16) % 2001) / 1000.0f - 1.0f;
}

/* n floats, all NaN, and NaN around them; freed by poisoned_free. */
static float *poisoned(size_t n) {
    float *p = malloc((n + 2 * PAD) * sizeof *p);
    for (size_t i = 0; i < n + 2 * PAD; i++) p[i] = NAN;
    return p + PAD;
}
static void check_margins(const float *p, size_t n) {
    for (int i = 1; i <= PAD; i++) CHECK(isnan(p[-i]));
    for (int i = 0; i < PAD; i++) CHECK(isnan(p[n + (size_t)i]));
}
static void poisoned_free(float *p) { free(p - PAD); }

/* A matrix [rows, cols] of chance; transposed: column after column. NaN behind each row or column. */
typedef struct {
    float *memory;
    Floats as;
} RandomMatrix;

static RandomMatrix matrix_new(size_t rows, size_t cols, int transposed) {
    size_t lines = transposed ? cols : rows, length = transposed ? rows : cols, ld = length + GAP;
    RandomMatrix m = {.memory = poisoned(lines * ld)};
    for (size_t i = 0; i < lines; i++)
        for (size_t j = 0; j < length; j++) m.memory[i * ld + j] = random_float();
    m.as = (Floats){m.memory, transposed ? 1 : ld, transposed ? ld : 1};
    return m;
}

static double entry(Floats m, size_t i, size_t j) { return m.at[i * m.row + j * m.column]; }

/* c [m, n] of the first n columns and `depth` terms of panels that hold `wider` columns more and `deeper` terms more:
 * attention multiplies so, a text's keys being packed once. */
typedef struct {
    size_t m, n, depth, wider, deeper;
} Shape;

static const Shape shapes[] = {
    {1, 1, 1, 0, 0},    {1, 7, 3, 0, 0},    {3, 8, 9, 1, 0},     {4, 9, 64, 0, 1},    {5, 31, 2, 0, 0},
    {6, 33, 255, 0, 9}, {7, 47, 256, 0, 0}, {8, 65, 257, 17, 3}, {11, 12, 14, 0, 0},  {12, 6, 141, 64, 0},
    {13, 64, 6, 0, 0},  {25, 29, 12, 0, 7}, {29, 12, 282, 0, 0}, {3, 511, 10, 0, 0},  {14, 530, 33, 5, 4},
    {2, 1061, 5, 0, 0}, {5, 40, 600, 0, 1},  {29, 96, 300, 0, 0}, {50, 67, 35, 0, 0},  {57, 128, 259, 1, 0},
    {109, 71, 20, 0, 0},
};

/* Rows as far apart as ldc says; what lies between them stays as it is. */
static void expect(const float *c, size_t ldc, const float *before, Floats a, Floats b, const Shape *s, int add) {
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < ldc; j++) {
            double sum = add ? before[i * ldc + j] : 0, size = fabs(sum);
            for (size_t t = 0; t < s->depth && j < s->n; t++) {
                double product = entry(a, i, t) * entry(b, t, j);
                sum += product, size += fabs(product);
            }
            if (j < s->n) NEAR(c[i * ldc + j], sum, TOL * size, 0);
            else CHECK(isnan(c[i * ldc + j]));
        }
    check_margins(c, s->m * ldc);
}

/* How the rows are handed over, all at once or one by one, changes no bit. */
static void expect_same_by_rows(const float *c, size_t ldc, float *again, const TrainKernels *k, Floats a, Panels b,
                                const Shape *s, int add) {
    for (size_t i = 0; i < s->m; i++) {
        Floats row = {a.at + i * a.row, a.row, a.column};
        k->multiply(again + i * ldc, ldc, add, row, b, 1, s->n, s->depth);
        CHECK(memcmp(again + i * ldc, c + i * ldc, s->n * sizeof *c) == 0);
    }
}

static void product(const TrainKernels *k, const Shape *s, int a_turned, int b_turned, int add) {
    size_t ldc = s->n + GAP, columns = s->n + s->wider, packed = s->depth + s->deeper,
           floats = (columns + k->width - 1) / k->width * k->width * packed;
    RandomMatrix a = matrix_new(s->m, s->depth, a_turned), b = matrix_new(packed, columns, b_turned);
    float *panels = poisoned(floats), *c = poisoned(s->m * ldc), *before = poisoned(s->m * ldc);
    for (size_t i = 0; add && i < s->m * ldc; i++)
        if (i % ldc < s->n) c[i] = before[i] = random_float();
    k->pack(panels, b.as, packed, columns);
    check_margins(panels, floats);
    for (size_t i = 0; i < floats; i++) CHECK(!isnan(panels[i])); /* the rest of the last panel is zeroes */
    k->multiply(c, ldc, add, a.as, panels_packed(k, panels, packed), s->m, s->n, s->depth);
    expect(c, ldc, before, a.as, b.as, s, add);
    Panels lying = panels_as_they_lie(k, b.as, s->n);
    CHECK((lying.at != NULL) == (!b_turned && s->n % k->width == 0));
    expect_same_by_rows(c, ldc, before, k, a.as, lying.at ? lying : panels_packed(k, panels, packed), s, add);
    poisoned_free(a.memory), poisoned_free(b.memory), poisoned_free(panels), poisoned_free(c), poisoned_free(before);
}

static void products(void) {
    const Kernels *row;
    for (int r = 0; (row = kernels_row(r)) != NULL; r++) {
        CHECK(256 % row->train->width == 0);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int way = 0; way < 8; way++) product(row->train, &shapes[i], way & 1, way >> 1 & 1, way >> 2);
    }
}

/* 2 ulp, as train_kernels.h says. A float's ulp is 2^-23 of the power of two below it. */
static void expect_exp(float got, float x) {
    double want = exp(x);
    int exponent;
    frexp(want, &exponent);
    NEAR(got, want, 2 * ldexp(1, exponent - 24), 0);
}

static void exponentials(void) {
    enum { N = 1021 };
    const float times = 0.7f, less = 0.25f;
    const float special[] = {0, -0.0f, -INFINITY, -100, -87.4f, NAN, 1e-30f, 88};
    const Kernels *row;
    for (int r = 0; (row = kernels_row(r)) != NULL; r++)
        for (size_t n = 1; n <= N; n = n < 40 ? n + 1 : n * 3) {
            float *x = poisoned(n), *was = poisoned(n);
            for (size_t i = 0; i < n; i++) x[i] = was[i] = random_float() * 120;
            double sum = row->train->exp(x, n, times, less), want = 0;
            for (size_t i = 0; i < n; i++) expect_exp(x[i], fmaf(was[i], times, -less)), want += (double)x[i];
            NEAR(sum, want, 0, 1e-15 * (double)n); /* of floats, in another order: a double's rounding each */
            check_margins(x, n);
            poisoned_free(x), poisoned_free(was);
        }
    for (int r = 0; (row = kernels_row(r)) != NULL; r++) {
        float x[8];
        memcpy(x, special, sizeof x);
        CHECK(isnan(row->train->exp(x, 8, 1, 0)));
        CHECK(x[0] == 1 && x[1] == 1 && x[2] == 0 && x[3] == 0 && x[4] == 0 && isnan(x[5]) && x[6] == 1);
        expect_exp(x[7], special[7]);
    }
}

/* n floats of chance, NaN around them. */
static float *random_floats(size_t n) {
    float *p = poisoned(n);
    for (size_t i = 0; i < n; i++) p[i] = random_float();
    return p;
}

static void largest(const TrainKernels *k, size_t n) {
    float *x = random_floats(n);
    for (size_t i = 0; i < n; i += n / 7 + 1) {
        float was = x[i];
        x[i] = 2;
        CHECK(k->largest(x, n) == 2);
        x[i] = was;
    }
    poisoned_free(x);
}

static void softmax_back(const TrainKernels *k, size_t n) {
    float *d = random_floats(n), *was = poisoned(n), *p = random_floats(n), along = 0.3f, times = 0.7f;
    memcpy(was, d, n * sizeof *d);
    k->softmax_back(d, p, along, times, n);
    for (size_t i = 0; i < n; i++) NEAR(d[i], (double)times * p[i] * ((double)was[i] - along), 3e-7, 0);
    check_margins(d, n);
    poisoned_free(d), poisoned_free(was), poisoned_free(p);
}

/* A sum of n squares in lanes is off by some sqrt(n) roundings, here of 1021 at most: TOL. */
static void rmsnorm_back(const TrainKernels *k, size_t n) {
    float *dx = random_floats(n), *was = poisoned(n), *dy = random_floats(n), *x = random_floats(n),
          *w = random_floats(n), eps = 1e-3f;
    double square = 0, along = 0;
    memcpy(was, dx, n * sizeof *dx);
    for (size_t i = 0; i < n; i++) square += (double)x[i] * x[i], along += (double)dy[i] * w[i] * x[i];
    double r = 1 / sqrt(square / (double)n + (double)eps);
    NEAR(k->rmsnorm_back(dx, dy, x, w, n, eps), r, TOL * r, 0);
    for (size_t i = 0; i < n; i++)
        NEAR(dx[i], was[i] + r * dy[i] * w[i] - r * r * r / (double)n * along * x[i], TOL * (1 + r + r * r * r), 0);
    check_margins(dx, n);
    poisoned_free(dx), poisoned_free(was), poisoned_free(dy), poisoned_free(x), poisoned_free(w);
}

/* Gates of up to 120 on either side: e^-g is no float any more, its gradients are. */
static void swiglu_back(const TrainKernels *k, size_t n) {
    float *dgate = poisoned(n), *dup = poisoned(n), *dh = random_floats(n), *gate = random_floats(n),
          *up = random_floats(n);
    for (size_t i = 0; i < n; i += 3) gate[i] *= 120;
    k->swiglu_back(dgate, dup, dh, gate, up, n);
    for (size_t i = 0; i < n; i++) {
        double g = gate[i], s = 1 / (1 + exp(-g));
        NEAR(dup[i], dh[i] * g * s, TOL, TOL);
        NEAR(dgate[i], dh[i] * up[i] * s * (1 + g * (1 - s)), TOL, TOL);
    }
    check_margins(dgate, n), check_margins(dup, n);
    poisoned_free(dgate), poisoned_free(dup), poisoned_free(dh), poisoned_free(gate), poisoned_free(up);
}

static void vectors(void) {
    void (*const each[])(const TrainKernels *, size_t) = {largest, softmax_back, rmsnorm_back, swiglu_back};
    const Kernels *row;
    for (int r = 0; (row = kernels_row(r)) != NULL; r++)
        for (size_t n = 1; n <= 1021; n = n < 70 ? n + 1 : n * 2 + 3)
            for (size_t i = 0; i < sizeof each / sizeof *each; i++) each[i](row->train, n);
}

const Test tests_kernels_train[] = {{"kernels/train products", products},
                                    {"kernels/train e^x", exponentials},
                                    {"kernels/train vectors", vectors},
                                    {0}};
