/* cli/sandbox.h - the system refuses this process what it has no need of: Landlock by path, seccomp by call. Linux on
 * x86-64 and arm64, by the kernel's own numbers; elsewhere there is none, and it says so. Nothing taken is given back.
 *
 *     SandboxPath paths[] = {{"model.gguf", SANDBOX_MODEL, 0}, {"out/picture.svg", SANDBOX_NEW, 0}};
 *     if (sandbox_enter(paths, 2, &why)) printf("no sandbox: %s\n", why);       before the first thread is made
 *     ...                                    models and texts are opened
 *     sandbox_shut();                        from here on nothing is opened but files to be written
 *
 * From sandbox_enter on: no network, no program, no process, no signal to others, no memory that may be run; files are
 * opened only where a path says so. paths stay the caller's, and have to last. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stddef.h>

typedef enum {
    SANDBOX_FILE,  /* is read */
    SANDBOX_MODEL, /* .. and the files beside it; of a folder what is in it, and the files that its links lead to */
    SANDBOX_NEW,   /* is written: files may be made, replaced and removed in its folder; it is read where it is there */
    SANDBOX_FOLDER /* all in it is read and written, as long as the program runs */
} SandboxUse;
typedef struct {
    const char *path; /* NULL: none */
    SandboxUse use;
    int late; /* needed behind sandbox_narrow, too */
} SandboxPath;

/* What was entered, as bits. 0: nothing, and *why is a line's end; without Landlock *why says so. -ENOMEM: not all
 * paths are known, and some are refused. */
enum { SANDBOX_CALLS = 1, SANDBOX_PATHS = 2, SANDBOX_WHOLE = 3 };
int sandbox_enter(const SandboxPath *paths, size_t n, const char **why);
/* Only late paths from here on. Before threads are made: Landlock holds for this one and those that it makes. */
void sandbox_narrow(void);
/* No file is opened any more but, where a SANDBOX_NEW was given, new ones to be written; with a SANDBOX_FOLDER as
 * before. For all threads there are. 0, or a negative errno; 0 where nothing was entered. */
int sandbox_shut(void);

#endif
