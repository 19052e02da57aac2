/* lab/lesson/forms.c - see forms.h. */
#include "forms.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* The two entries of pair i. */
static int first_of(int i, RopePairing p) { return p == ROPE_HALF ? i : 2 * i; }
static int second_of(int i, int rotary_dim, RopePairing p) { return p == ROPE_HALF ? i + rotary_dim / 2 : 2 * i + 1; }

static double angle_of(const Rope *r, int64_t pos, int i) {
    return r->angle ? r->angle(r, pos, i) : (double)pos * r->inv_freq[i];
}

void form_matrix(double *out, const Rope *r, int d, int64_t pos, RopePairing pairing) {
    memset(out, 0, (size_t)d * (size_t)d * sizeof *out);
    for (int i = r->rotary_dim; i < d; i++) out[i * d + i] = 1;
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        int a = first_of(i, pairing), b = second_of(i, r->rotary_dim, pairing);
        double angle = angle_of(r, pos, i);
        out[a * d + a] = cos(angle) * r->scale, out[a * d + b] = -sin(angle) * r->scale;
        out[b * d + a] = sin(angle) * r->scale, out[b * d + b] = cos(angle) * r->scale;
    }
}

void form_apply(double *out, const double *m, const double *x, int d) {
    for (int i = 0; i < d; i++) {
        out[i] = 0;
        for (int j = 0; j < d; j++) out[i] += m[i * d + j] * x[j]; /* mostly zeros: eq. 34 leaves them out */
    }
}

void form_product(double *out, const double *a, const double *b, int d) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double sum = 0;
            for (int k = 0; k < d; k++) sum += a[i * d + k] * b[k * d + j];
            out[i * d + j] = sum;
        }
}

void form_generator(double *out, const Rope *r, int d, RopePairing pairing) {
    memset(out, 0, (size_t)d * (size_t)d * sizeof *out);
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        int a = first_of(i, pairing), b = second_of(i, r->rotary_dim, pairing);
        out[a * d + b] = -r->inv_freq[i], out[b * d + a] = r->inv_freq[i];
    }
}

void form_exponential(double *out, const double *B, double t, int d, double *scratch) {
    size_t n = (size_t)d * (size_t)d;
    double *small = scratch, *term = scratch + n, *next = scratch + 2 * n, largest = 0;
    int halvings = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(t * B[i]));
    for (; largest > 0.5 && halvings < 1000; halvings++) largest /= 2;
    for (size_t i = 0; i < n; i++) small[i] = ldexp(t * B[i], -halvings), term[i] = out[i] = i % ((size_t)d + 1) == 0;
    for (int k = 1; k < 24 + d; k++) { /* term = (tB)^k / k! */
        form_product(next, term, small, d);
        for (size_t i = 0; i < n; i++) term[i] = next[i] / k, out[i] += term[i];
    }
    for (; halvings > 0; halvings--) {
        form_product(next, out, out, d);
        memcpy(out, next, n * sizeof *out);
    }
}

double form_apart(const double *a, const double *b, int n) {
    double off = 0;
    for (int i = 0; i < n; i++) off = fabs(a[i] - b[i]) > off ? fabs(a[i] - b[i]) : off;
    return off;
}

void form_complex(double *out, const double *x, const Rope *r, int d, int64_t pos, RopePairing pairing) {
    memcpy(out, x, (size_t)d * sizeof *out);
    for (int i = 0; i < r->rotary_dim / 2; i++) {
        int a = first_of(i, pairing), b = second_of(i, r->rotary_dim, pairing);
        double complex z = (x[a] + x[b] * I) * cexp(I * angle_of(r, pos, i)) * r->scale;
        out[a] = creal(z), out[b] = cimag(z);
    }
}
