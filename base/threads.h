/* base/threads.h - what the program asks of OpenMP, and the answers where a compiler has none. */
#ifndef THREADS_H
#define THREADS_H

int threads_most(void);   /* threads that a parallel region would take by itself: the processors; 1 without OpenMP */
int threads_number(void); /* which thread of its region is asking, from 0 */
int threads_work(void);   /* 1 where more than one thread can run at all */

#endif
