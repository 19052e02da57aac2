/* base/threads.c - the OpenMP switch. */
#include "threads.h"

#ifdef _OPENMP
#include <omp.h>
int threads_most(void) { return omp_get_max_threads(); }
int threads_number(void) { return omp_get_thread_num(); }
int threads_work(void) { return 1; }
#else
int threads_most(void) { return 1; }
int threads_number(void) { return 0; }
int threads_work(void) { return 0; }
#endif
