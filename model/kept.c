/* model/kept.c - see kept.h. A file is a page that begins with a Header, and the panels as they lie in memory. */
#define _DEFAULT_SOURCE /* st_mtim */
#include "kept.h"

#include "base/hash.h"
#include "base/newfile.h"
#include "base/paths.h"
#include "notes.h"
#include "options.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VERSION = 1, PAGE = 4096, PIECE = 1 << 20, MAGIC = 8 }; /* VERSION goes up where panel.h's layout changes */
static const char magic[] = "rfpanels", own_ending[] = ".panels";

/* In this machine's order of bytes, for this machine made it. */
typedef struct {
    char magic[MAGIC];
    uint32_t version, lanes;   /* lanes: of a panel */
    uint64_t key, bytes;       /* the model's; of all panels */
    uint64_t sum, header_sum;  /* of the panels; of what stands before it */
} Header;

static char *path_of(const Model *m, const char *panels) {
    const char *path = m->weights.path;
    if (strcmp(panels, "auto") != 0) return strdup(panels);
    size_t n = strlen(path) + 40;
    char *made = malloc(n);
    if (made)
        snprintf(made, n, "%s%s.%d%s", path, file_is_folder(path) ? "/model" : "", m->kernels->lanes, own_ending);
    return made;
}

/* ---- which model it is ---- */

static uint64_t file_key(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    const uint64_t of[] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    return hash_mix(hash_bytes(HASH_START, of, sizeof of));
}

/* Sizes and times of the model's file; of several, of all files in its folder that are not ours, in any order. */
static uint64_t files_key(const Weights *w) {
    if (w->n_files < 2 && !file_is_folder(w->path)) return file_key(w->path);
    DIR *folder = opendir(w->folder);
    uint64_t sum = 0;
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char *path = text_ends_with(e->d_name, own_ending) ? NULL : file_join(w->folder, e->d_name);
        if (path) sum += file_key(path);
        free(path);
    }
    if (folder) closedir(folder);
    return sum;
}

static uint64_t model_key(const Model *m, const ModelOptions *o) {
    const Weights *w = &m->weights;
    const uint64_t numbers[] = {files_key(w), w->file_bytes, (uint64_t)o->copy};
    uint64_t hash = hash_bytes(HASH_START, numbers, sizeof numbers);
    for (size_t i = 0; i < w->n_tensors; i++) { /* the header */
        const Tensor *t = &w->tensors[i];
        hash = hash_bytes(hash, t->name, strlen(t->name) + 1);
        hash = hash_bytes(hash, &t->type, sizeof t->type);
        hash = hash_bytes(hash, t->shape, (size_t)t->n_dims * sizeof *t->shape);
        hash = hash_bytes(hash, m->used + i, 1);
    }
    return hash;
}

/* ---- a sum of all bytes, as fast as memory gives them ---- */

typedef struct {
    Team *team;
    const uint8_t *data;
    size_t n;
    uint64_t sums[TEAM_MOST];
} SumJob;

/* Of whole words side by side, so that a compiler makes vectors of it: the second sums tell places apart. */
static uint64_t piece_sum(const uint8_t *p, size_t n) {
    enum { LANES = 8 };
    uint64_t a[LANES] = {0}, b[LANES] = {0}, hash = HASH_START;
    size_t at = 0;
    for (; at + sizeof a <= n; at += sizeof a) {
        uint64_t word[LANES];
        memcpy(word, p + at, sizeof word);
        for (int i = 0; i < LANES; i++) a[i] += word[i], b[i] += a[i];
    }
    hash = hash_bytes(hash_bytes(hash, a, sizeof a), b, sizeof b);
    return hash_bytes(hash, p + at, n - at);
}

static void sum_pieces(void *arg) {
    SumJob *j = arg;
    uint64_t sum = 0;
    for (Share i; team_take(j->team, (j->n + PIECE - 1) / PIECE, &i);)
        for (; i.at < i.end; i.at++) {
            size_t at = i.at * PIECE;
            sum += hash_mix(piece_sum(j->data + at, j->n - at < PIECE ? j->n - at : PIECE) + i.at);
        }
    j->sums[team_member()] = sum;
}

static uint64_t sum_of(const uint8_t *data, size_t n, Team *team) {
    SumJob j = {.team = team, .data = data, .n = n};
    uint64_t sum = 0;
    team_run(team, team->most, sum_pieces, &j);
    for (int i = 0; i < team->most; i++) sum += j.sums[i];
    return sum;
}

/* ---- the file ---- */

static Header header_of(const Model *m, const ModelOptions *o, uint64_t sum) {
    Header h = {.version = VERSION, .lanes = (uint32_t)m->kernels->lanes, .key = model_key(m, o),
                .bytes = m->panels_size, .sum = sum};
    memcpy(h.magic, magic, MAGIC);
    h.header_sum = hash_bytes(HASH_START, &h, offsetof(Header, header_sum));
    return h;
}

static void unmap(void *file) {
    file_unmap(file);
    free(file);
}

/* Why the mapped file does not have m's panels; NULL: it has. */
static const char *differs(const MappedFile *f, const Model *m, const ModelOptions *o, Team *team) {
    Header is, want = header_of(m, o, 0);
    memcpy(&is, f->data, sizeof is);
    if (is.header_sum != hash_bytes(HASH_START, &is, offsetof(Header, header_sum))) return "damaged";
    if (is.version != want.version || is.lanes != want.lanes) return "of another version, or for other kernels";
    if (is.key != want.key || is.bytes != want.bytes) return "of another model, or older than this one";
    if (f->size != PAGE + m->panels_size || is.sum != sum_of(f->data + PAGE, m->panels_size, team)) return "damaged";
    return NULL;
}

/* 1: it is there and cannot be read, by its permissions or because another process put it there after this one was
 * confined. Gone since it was looked for: it is not there. */
static int not_read(int rc, Model *m, const char *err) {
    if (rc == -EACCES) weights_note(&m->weights, "%s: the weights are repacked without it", err);
    return rc == -EACCES ? 1 : rc == -ENOENT ? 0 : rc;
}

int kept_open(const uint8_t **data, Model *m, const ModelOptions *o, Team *team, char *err, size_t errlen) {
    char *path = path_of(m, o->panels);
    MappedFile *f = calloc(1, sizeof *f);
    const char *why = NULL;
    int rc = path && f ? 0 : base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
    *data = NULL;
    if (rc == 0 && file_there(path)) rc = not_read(file_map(f, path, err, errlen), m, err);
    if (rc == 0 && f->data && (f->size < PAGE || memcmp(f->data, magic, MAGIC) != 0))
        rc = base_error(err, errlen, -EINVAL, "%s: is no file of repacked weights, so it is left as it is; name "
                        "another (--panels)", path);
    if (rc == 0 && f->data && (why = differs(f, m, o, team)))
        weights_note(&m->weights, "%s is %s: it is written again", path, why);
    if (rc == 0 && f->data && !why) {
        const uint8_t *at = f->data + PAGE;
        if (weights_own(&m->weights, f, unmap)) *data = at;
        else rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path); /* f is gone already */
    } else if (f) unmap(f);
    free(path);
    return rc;
}

void kept_write(Model *m, const ModelOptions *o, Team *team) {
    char *path = path_of(m, o->panels), err[300] = "out of memory", page[PAGE] = {0};
    const Header h = header_of(m, o, sum_of(m->panels, m->panels_size, team));
    NewFile f;
    memcpy(page, &h, sizeof h);
    int rc = path ? newfile_open(&f, path, err, sizeof err) : -ENOMEM;
    if (rc == 0) {
        newfile_write(&f, page, PAGE);
        newfile_write(&f, m->panels, m->panels_size);
        rc = newfile_close(&f, 1, err, sizeof err);
    }
    if (rc) weights_note(&m->weights, "the repacked weights are not kept: %s", err);
    else weights_note(&m->weights, "the repacked weights are kept in %s, %.1f MB", path, (double)m->panels_size / 1e6);
    free(path);
}
