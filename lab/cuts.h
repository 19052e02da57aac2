/* lab/cuts.h - how a text is cut into windows, and which of a window's ids are scored: our way, and other programs'.
 *
 *     Cut cut;
 *     CutOptions o = {.convention = cut_convention("yarn"), .window = 1024};
 *     if (cut_init(&cut, &o, n_ctx_train, bos, err, errlen)) ...
 *     CutWindow w = {0};
 *     while (cut_next(&cut, n, &w)) ... ids[w.begin .. w.end) are read, ids[w.first .. w.end) scored ... */
#ifndef CUTS_H
#define CUTS_H

#include <stddef.h>

/* What becomes of BOS: it stands in front of each window, one position more than its ids; it takes the place of each
 * window's first id; or it is an id of the text's beginning, where the tokenizer adds it, like any other. */
typedef enum { CUT_BOS_IN_FRONT, CUT_BOS_INSTEAD, CUT_BOS_ONCE } CutBos;

/* Of what the result is the mean: of all scored ids; of windows, each alike; or of windows by ids less one. */
typedef enum { CUT_MEAN_IDS, CUT_MEAN_WINDOWS, CUT_MEAN_WEIGHTED } CutMean;

/* A row for each program whose numbers can be had. */
typedef struct {
    const char *name;    /* "hf-sliding" */
    const char *source;  /* the file that says so */
    CutBos bos;
    CutMean mean;
    size_t window;       /* positions, unless told otherwise; 0: the trained ones */
    size_t stride;       /* ids from one window to the next; 0: no overlap. At most the window */
    int second_half;     /* scored is what comes behind position window / 2, of whole windows only, two at least */
    int stride_is_open;  /* --stride says another */
    int last_is_open;    /* --last */
    int documents;       /* a text of several documents is cut document by document; 0: it takes one stream */
    int special;         /* control pieces written in the text count as such */
    int drops_newline;   /* the file's last newline is no text */
} CutConvention;

const CutConvention *cut_convention(const char *name); /* NULL: the first one, "stream"; or NULL, there is none */
const CutConvention *cut_convention_row(int i);        /* NULL behind the last */

typedef struct {
    const CutConvention *convention; /* NULL: stream */
    size_t window, stride, last;     /* 0: the convention's own */
} CutOptions;

typedef struct {
    const CutConvention *convention;
    size_t window; /* positions of a window, BOS in front among them */
    size_t room;   /* ids of the text that it takes */
    size_t stride; /* ids from where a window begins to where the next one does */
    size_t last;   /* only so many ids of each window are scored, and a window that is not full is left out, unless it
                    * is the text's only one; 0: no such limit */
    int bos;       /* the id in front of, or instead of, a window's first; -1: none */
} Cut;

/* bos: what stands in front of a window, or takes its first id's place; -1: none. trained: positions. 0, or -EINVAL: a
 * window too short to score anything, a stride longer than the window, options that a convention does not take. */
int cut_init(Cut *c, const CutOptions *o, size_t trained, int bos, char *err, size_t errlen);

/* A window of a text: ids[begin .. end) are read, of these ids[first .. end) are scored, first > begin where no BOS
 * stands in front. first == end: nothing is. weight: what it counts for, where the mean is one of windows. */
typedef struct {
    size_t begin, end, first, before; /* before: the ids that windows up to here have read */
    double weight;
    int began;
} CutWindow;

/* The next window of a text of n ids; w begins as {0}. 1 while there is one. */
int cut_next(const Cut *c, size_t n, CutWindow *w);
/* 0 where a text of n ids can be cut so; -EINVAL and a line where it is too short. */
int cut_check(const Cut *c, size_t n, char *err, size_t errlen);

#endif
