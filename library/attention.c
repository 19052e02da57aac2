/* library/attention.c - where heads look: lab/explain's trace of one layer, as an array. */
#include "library.h"

#include "base/base.h"
#include "lab/explain/trace.h"

#include <errno.h>

int roformer_attention(const RoformerModel *m, const int *ids, size_t n, int layer, int head, int threads, double *out,
                       char *err, size_t errlen) {
    int heads = m->model.config.n_heads;
    Trace t;
    TraceOptions o = {.threads = threads, .layer_given = 1, .layer = layer};
    if (head < -1 || head >= heads)
        return base_error(err, errlen, -EINVAL, "there is no head %d; heads are 0 to %d, or -1 for all", head,
                          heads - 1);
    int rc = library_threads(threads, err, errlen);
    if (rc == 0) rc = trace_read(&t, &m->model, ids, n, &o, err, errlen);
    if (rc) return rc;
    if (head >= 0) trace_weights(&t, layer, head, out);
    for (int h = 0; head < 0 && h < heads; h++) trace_weights(&t, layer, h, out + (size_t)h * n * n);
    trace_free(&t);
    return 0;
}
