/* weights-tools/checkpoint/view.h - a tensor of a checkpoint where it lies: a strided window on a mapped file.
 *
 *     view_read(&v, first, n, ELEM_F32, out)       elements in row-major order, whatever the strides and the type */
#ifndef VIEW_H
#define VIEW_H

#include "model/files/weights.h"

enum { VIEW_MAX_DIMS = TENSOR_MAX_DIMS };

typedef enum {
    ELEM_F32, ELEM_F16, ELEM_BF16, ELEM_F64, /* the kinds that are weights */
    ELEM_I64, ELEM_I32, ELEM_I16, ELEM_I8, ELEM_U8, ELEM_BOOL,
    ELEM_OTHER, /* known to be there; cannot be read (text, complex numbers ..) */
} ElemType;

const char *elem_name(ElemType type);   /* "F32" .. as safetensors spells it; "?" for ELEM_OTHER */
size_t elem_bytes(ElemType type);       /* 0 for ELEM_OTHER */
int elem_is_float(ElemType type);       /* 1 for the first four */

/* Element [i, j ..] stands at data + (i * stride[0] + j * stride[1] + ..) * elem_bytes(type), but for a matrix in
 * pieces, which view_read alone knows. */
typedef struct View {
    const char *name; /* NUL-terminated UTF-8; owned by the Checkpoint */
    ElemType type;
    int n_dims;       /* 0 .. VIEW_MAX_DIMS */
    size_t shape[VIEW_MAX_DIMS];
    size_t stride[VIEW_MAX_DIMS]; /* in elements */
    size_t values;    /* the product of shape */
    const uint8_t *data;
    const struct View *parts; /* [n_parts]: of a matrix that lies in pieces (view_join); data is the first one's */
    size_t n_parts;
    int axis;         /* of the pieces: 0: one below the other, 1: side by side */
} View;

/* Fill values and row-major strides from v's n_dims and shape: 1, or 0 where the product (or its bytes) exceeds a
 * size_t. */
int view_init(View *v);
/* Make v, which keeps its name, of n matrices with one type, which are borrowed: one below the other (axis 0) or side
 * by side (1). 1, or 0 where their sizes do not go together, or the product exceeds a size_t. */
int view_join(View *v, const View *parts, size_t n, int axis);
/* 1 where the elements stand one after another in row-major order. */
int view_is_contiguous(const View *v);
/* 1 where a and b are the same elements of the same file, or (view_equal) have the same type, shape and bits. */
int view_is_same(const View *a, const View *b);
int view_equal(const View *a, const View *b);
/* The transposed view of a matrix in one piece. */
View view_transposed(const View *v);
/* Elements first .. first+n-1 in row-major order into out as type `to`: F32, F16 (rounded to nearest even), or v's own
 * type. out is n * elem_bytes(to) bytes, little-endian. Returns how many finite numbers became infinite. */
size_t view_read(const View *v, size_t first, size_t n, ElemType to, uint8_t *out);

#endif
