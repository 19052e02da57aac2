/* kernels/inline.h - one word for the functions whose sizes and formats must be constants in their body. */
#ifndef INLINE_H
#define INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
