/* kernels/inline.h - words for the functions whose sizes and formats must be constants in their body, and whose loops
 * must have the registers to themselves. */
#ifndef INLINE_H
#define INLINE_H

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* In front of a loop of up to 16 rounds whose variables are to be registers: all rounds, one behind the other. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
