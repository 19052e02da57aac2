/* cli/inspect.c - the command inspect: what a file of weights holds. */
#include "cli.h"
#include "model/notes.h"
#include "weights-tools/inspection.h"
#include "weights-tools/layout.h"

#include <stdlib.h>

/* What the file says of its pairs, and what its weights want. Exit code 1 where these differ. */
static int check_layout(const Args *a) {
    static const char *const names[] = {"interleaved (2i, 2i+1)", "half-split (i, i + d/2)"};
    LayoutCheck c;
    char err[600];
    int rc = layout_check(&c, a->words[0], a->tokenizer.file, err, sizeof err);
    if (rc) return fail("%s", err);
    for (int i = 0; i < 2; i++)
        out_printf("%-24s %.4f nats a token%s%s\n", names[i], c.loss[i], (int)c.says == i ? "; the file says so" : "",
               (int)c.wants == i ? "; the weights want it" : "");
    out_printf("%s\n", c.says == c.wants ? "the file is right, by a sentence of plain words"
                                     : "the file's rows of q and k seem to be in the other order");
    return out_end(c.says == c.wants ? EXIT_DONE : EXIT_FAILED);
}

int run_inspect(Args *a) {
    Inspection i;
    Buffer text = {0};
    char err[600];
    if (a->tokenizer.file && !a->tool.check_layout) return usage("--tokenizer goes with --check-layout");
    if (a->n_words == 0) return usage("nothing to read");
    if (a->n_words > 1) return usage("\"%s\" is one word too many", a->words[1]);
    if (a->tool.check_layout) return check_layout(a);
    if (inspection_open(&i, a->words[0], err, sizeof err)) return fail("%s", err);
    files_opened(NULL);
    for (const Note *n = i.own_weights.notes; n; n = n->next) note("%s", n->line);
    if (a->show.json) inspection_json(&i, &text);
    else inspection_text(&i, &text, !a->tool.summary, a->tool.keys);
    inspection_close(&i);
    if (!text.failed) out_bytes((const char *)text.data, text.n);
    int code = text.failed ? fail("out of memory") : EXIT_DONE;
    free(text.data);
    return out_end(code);
}
