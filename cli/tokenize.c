/* cli/tokenize.c - the command tokenize: the ids or the pieces of a text. */
#include "cli.h"
#include "model/files/weights.h"
#include "text/open.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>

/* A piece with what would break a line or a terminal written as an escape. */
static void print_piece(const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        int len = utf8_decode(s + i, n - i, &cp);
        if (len == 0) out_printf("\\x%02x", (unsigned)(unsigned char)s[i]);
        else if (cp == '\n') out_printf("\\n");
        else if (cp == '\t') out_printf("\\t");
        else if (cp == '\\') out_printf("\\\\");
        else if (cp < 0x20 || cp == 0x7f) out_printf("\\x%02x", (unsigned)cp);
        else if (cp >= 0x80 && cp < 0xa0) out_printf("\\u%04x", (unsigned)cp);
        else out_bytes(s + i, (size_t)len);
        i += len ? (size_t)len : 1;
    }
    out_bytes("\n", 1);
}

/* 1: these are a model file's bytes, though it may be damaged. The last row takes whatever is left. */
static int looks_like_model(const char *path) {
    MappedFile f;
    const WeightsReader *r = weights_readers;
    if (file_map(&f, path, NULL, 0)) return 0;
    while (r[1].is && !r->is(f.data, f.size)) r++;
    file_unmap(&f);
    return r[1].is != NULL;
}

/* The tokenizer that path is, or that the model there has. */
static int tokenizer_of(Tokenizer **t, const Args *a, const TokenizerOptions *o, char *err, size_t errlen) {
    Weights w;
    int within = a->model == compiled_in;
    int known = a->tokenizer.file || within ? 0 : tokenizer_probe(a->model);
    if (known < 0) return base_error(err, errlen, known, "%s: %s", a->model, strerror(-known));
    if (a->tokenizer.file || known)
        return tokenizer_open_with(t, a->tokenizer.file ? a->tokenizer.file : a->model, o, err, errlen);
    int rc = weights_open_memory(&w, within ? builtin_model : NULL, builtin_model_size, a->model, err, errlen);
    if (errno_is_passing(rc) || (rc && looks_like_model(a->model))) return rc;
    if (rc) return tokenizer_open_with(t, a->model, o, err, errlen); /* says what a tokenizer would be */
    rc = vocabulary_open(t, &w, NULL, 0, o, err, errlen);
    weights_close(&w);
    return rc;
}

int run_tokenize(Args *a) {
    char err[512], *file = NULL;
    Tokenizer *t = NULL;
    size_t len = 0, n = 0;
    int *ids = NULL;
    /* with -z no model is wanted: one word with a / in it is the text, unless it is there */
    if (a->tokenizer.file && !a->text && a->model != compiled_in && !file_exists(a->model)) a->text = a->model;
    if (a->text && a->in.file) return usage("a text and -f are both given; one is enough");
    if (a->show.want_ids && a->show.pieces) return usage("--ids and --pieces are both given; one is enough");
    TokenizerOptions o;
    int code = tokenizer_options(&o, a);
    if (code) return code;
    if (tokenizer_of(&t, a, &o, err, sizeof err)) return fail("%s", err);
    if (a->show.verbose)
        answer_line("%s: %s, %zu pieces, bos %d, eos %d", a->tokenizer.file ? a->tokenizer.file : a->model,
                    tokenizer_kind(t), tokenizer_size(t), tokenizer_bos(t), tokenizer_eos(t));
    if (a->text) len = strlen(a->text);
    code = a->text ? 0 : read_text(a->in.file ? a->in.file : "-", &file, &len);
    files_opened(NULL);
    int flags = (a->in.no_bos ? 0 : ENCODE_BOS | ENCODE_EOS) | (a->in.special ? ENCODE_SPECIAL : 0);
    if (code == 0 && tokenizer_encode(t, file ? file : a->text, len, flags, &ids, &n, err, sizeof err))
        code = fail("%s", err);
    if (code == 0 && interrupted) code = EXIT_INTERRUPTED, n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t piece_len = 0;
        if (!a->show.pieces) {
            out_printf("%s%d", i ? " " : "", ids[i]);
            continue;
        }
        const char *piece = tokenizer_piece(t, ids[i], &piece_len);
        print_piece(piece ? piece : "", piece_len);
    }
    if (code == EXIT_DONE && !a->show.pieces) out_bytes("\n", 1);
    free(ids);
    free(file);
    tokenizer_free(t);
    return out_end(code);
}
