/* base/system.h - what only the operating system knows: pages, time, signals. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stddef.h>

/* size bytes of zeros for long use, from the start of a page, in large pages where there are such; NULL: no memory. */
void *pages_new(size_t size);
void pages_free(void *p, size_t size); /* p may be NULL */
/* The whole pages of a mapped file within data [size] need not stay in memory: read again, they come from the file. */
void pages_drop(const void *data, size_t size);

double clock_seconds(void);  /* of a clock that never goes back */
double thread_seconds(void); /* for which this thread has run on a core */

/* From now on `handler` is called for signal sig; but a hangup that the process was started to ignore stays ignored:
 * nohup. flags: sigaction's. */
void signal_catch(int sig, void (*handler)(int sig), int flags);

#endif
