/* tokenizer/sentencepiece/spm_wrapper.cc - spm_wrapper.h by SentencePiece's library. Written for 0.1.97 (Debian 12) and
 * later. */
#include "spm_wrapper.h"

#include <sentencepiece_processor.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

struct SpmLibrary {
    sentencepiece::SentencePieceProcessor processor;
    int anchor = -1;    /* an id that has text */
    size_t anchor_text; /* bytes of it */
};

namespace {

int fail(char *err, size_t errlen, int code, const char *why) {
    if (errlen) std::snprintf(err, errlen, "SentencePiece's library: %s", why);
    for (size_t i = 0; i < errlen && err[i]; i++)
        if (static_cast<unsigned char>(err[i]) < 32) err[i] = ' ';
    return code;
}

/* f() answers 0 or an error code, and may throw what the library or std throws. */
template <typename F> int guarded(char *err, size_t errlen, F f) {
    try {
        return f();
    } catch (const std::bad_alloc &) {
        return fail(err, errlen, -ENOMEM, "no memory");
    } catch (const std::exception &e) {
        return fail(err, errlen, -EINVAL, e.what());
    }
}

template <typename T> int copy(const T *from, size_t n, T **to, size_t *n_to) {
    *to = static_cast<T *>(std::malloc(n * sizeof(T) + 1));
    if (!*to) throw std::bad_alloc();
    if (n) std::memcpy(*to, from, n * sizeof(T));
    *n_to = n;
    return 0;
}

/* The first id that has text when decoded. */
void find_anchor(SpmLibrary *l) {
    const auto &p = l->processor;
    for (int id = 0; id < p.GetPieceSize(); id++) {
        std::string text;
        if (p.IsControl(id) || p.IsUnknown(id) || p.IsByte(id) || p.IsUnused(id)) continue;
        if (!p.Decode(std::vector<int>{id}, &text).ok() || text.empty()) continue;
        l->anchor = id;
        l->anchor_text = text.size();
        return;
    }
}

}  // namespace

int spm_library_open(SpmLibrary **out, const void *data, size_t size, char *err, size_t errlen) {
    *out = nullptr;
    return guarded(err, errlen, [&] {
        auto *l = new SpmLibrary();
        const auto status = l->processor.LoadFromSerializedProto(std::string_view(static_cast<const char *>(data),
            size));
        if (!status.ok()) {
            delete l;
            return fail(err, errlen, -EINVAL, status.ToString().c_str());
        }
        find_anchor(l);
        *out = l;
        return 0;
    });
}

void spm_library_close(SpmLibrary *l) { delete l; }

int spm_library_size(const SpmLibrary *l) { return l->processor.GetPieceSize(); }

int spm_library_encode(const SpmLibrary *l, const char *text, size_t len, int **ids, size_t *n, char *err,
                       size_t errlen) {
    *ids = nullptr;
    *n = 0;
    return guarded(err, errlen, [&] {
        std::vector<int> all;
        const auto status = l->processor.Encode(std::string_view(text, len), &all);
        if (!status.ok()) return fail(err, errlen, -EINVAL, status.ToString().c_str());
        return copy(all.data(), all.size(), ids, n);
    });
}

int spm_library_decode(const SpmLibrary *l, const int *ids, size_t n, char **text, size_t *len, char *err,
                       size_t errlen) {
    *text = nullptr;
    *len = 0;
    return guarded(err, errlen, [&] {
        std::string all;
        const auto status = l->processor.Decode(std::vector<int>(ids, ids + n), &all);
        if (!status.ok()) return fail(err, errlen, -EINVAL, status.ToString().c_str());
        return copy(all.data(), all.size(), text, len);
    });
}

int spm_library_decode_behind(const SpmLibrary *l, int id, char **text, size_t *len, char *err, size_t errlen) {
    if (l->anchor < 0) return spm_library_decode(l, &id, 1, text, len, err, errlen);
    const int both[] = {l->anchor, id};
    int rc = spm_library_decode(l, both, 2, text, len, err, errlen);
    if (rc || *len < l->anchor_text) return rc;
    *len -= l->anchor_text;
    std::memmove(*text, *text + l->anchor_text, *len);
    return 0;
}
