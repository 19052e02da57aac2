/* tests/decoder_files.c - headers and a formula's values put together. */
#include "decoder_files.h"
#include "program.h"

#include "base/newfile.h"
#include "build.h"
#include "test.h"
#include "weights-tools/model_write.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME = 100 };

const Spoil sound = {0};

char *decoder_golden(const char *name, const char *suffix, size_t *size) {
    static const char *const folders[] = {"decoders", "architectures", "encoders"};
    char path[200], *text = NULL;
    for (size_t i = 0; !text && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "tests/golden/%s/%s%s", folders[i], name, suffix);
        text = file_read(path, size);
    }
    return text;
}

static void write_two(const char *path, const void *a, size_t na, const void *b, size_t nb) {
    FILE *f = fopen(path, "wb");
    int good = f && fwrite(a, 1, na, f) == na && fwrite(b, 1, nb, f) == nb;
    if (f && fclose(f) != 0) good = 0;
    if (!good) test_fail(__FILE__, __LINE__, path);
}

void decoder_fail(const char *name, const char *what, const char *more) {
    char line[500];
    snprintf(line, sizeof line, "%s: %s %s", name, what, more);
    test_fail(__FILE__, __LINE__, line);
}

char *wrong_read(char *line, Wrong *w) {
    memset(w, 0, sizeof *w);
    char *next = strchr(line, '\n');
    if (next) *next++ = 0;
    for (int i = 0; i < 6 && line; i++) {
        w->field[i] = line;
        line = strchr(line, '\t');
        if (line) *line++ = 0;
    }
    CHECK(w->field[5] != NULL);
    if (!w->field[5]) return NULL;
    const char *how = w->field[2], *to = w->field[3], *by = w->field[4];
    if (strcmp(how, "config") == 0) w->s = (Spoil){.from = to, .to = by};
    else if (strchr(how, '/')) w->s = (Spoil){.file = how, .from = to, .to = by};
    else if (strcmp(how, "trade") == 0) w->s = (Spoil){.set = to, .with = by, .how = SPOIL_TRADE};
    else w->s = (Spoil){.set = to, .value = strtof(by, NULL),
                        .how = strcmp(how, "add") == 0 ? SPOIL_ADD : strcmp(how, "swap") == 0 ? SPOIL_SWAP : SPOIL_SET};
    w->pooled = strchr(how, '/') || strstr(to, "_Dense");
    return next && *next ? next : NULL;
}

/* ---- weights by formula: value_of of decoders.py and architectures.py ---- */

static int ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static int is_norm(const char *name) {
    static const char *const ends[] = {"norm.weight", "norm1.weight", "norm2.weight", "_ln.weight", "LayerNorm.weight"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return 1;
    return 0;
}

/* The name whose values a tensor has: its own, but where tensors trade theirs. */
static const char *traded(const char *name, char room[NAME], const Spoil *s) {
    const char *has = s->how == SPOIL_TRADE ? strstr(name, s->set) : NULL, *gets = s->with;
    size_t n = has ? strlen(s->set) : 0;
    if (s->how == SPOIL_TRADE && !has && (has = strstr(name, s->with))) {
        n = strlen(s->with);
        gets = s->set;
    }
    if (!has) return name;
    snprintf(room, NAME, "%.*s%s%s", (int)(has - name), name, gets, has + n);
    return room;
}

static uint64_t spoiled_at(const char *name, uint64_t i, const Spoil *s) {
    if (!s->set || !strstr(name, s->set)) return i;
    return s->how == SPOIL_SWAP ? i ^ (uint64_t)s->value : s->how == SPOIL_REPEAT ? i % (uint64_t)s->value : i;
}

static float value_at(const char *name, uint64_t i, const Spoil *s) {
    char other[NAME];
    int spoils = s->set && strstr(name, s->set);
    const char *of = spoils && s->how == SPOIL_LIKE ? s->with : traded(name, other, s);
    int u = name_value(of, spoiled_at(name, i, s));
    float v = is_norm(name) ? (float)(128 + u / 2) / 128 : (float)u / 256;
    if (spoils && s->how == SPOIL_SET) return s->value;
    return spoils && s->how == SPOIL_ADD ? v + s->value : v;
}

/* What mxfp4 has: codes, two a byte; scales, 127 for 1. */
static unsigned byte_at(const char *name, uint64_t i, const Spoil *s) {
    int u = name_value(name, spoiled_at(name, i, s));
    return ends_with(name, "_scales") ? 123 + (unsigned)(u + 129) % 3 : (unsigned)u & 255;
}

static void put_value(Bytes *data, float v, TensorType type) {
    uint8_t bytes[4];
    bytes_put(data, bytes, float_encode(bytes, v, type));
}

/* ---- a Hugging Face folder ---- */

/* text, malloc'ed, with `to` where it had `from`, once; NULL stays NULL. */
static char *replaced(const char *name, char *text, const char *from, const char *to) {
    char *at = text ? strstr(text, from) : NULL;
    if (text && !at) decoder_fail(name, "JSON does not hold", from);
    if (!at) return text;
    char *made = calloc(1, strlen(text) + strlen(to) + 1);
    if (!made) abort();
    memcpy(made, text, (size_t)(at - text));
    strcat(strcat(made, to), at + strlen(from));
    free(text);
    return made;
}

/* The `true` that a line ends with as false. */
static const char *as_false(const char *line, char room[NAME]) {
    snprintf(room, NAME, "%.*sfalse", (int)(strlen(line) - strlen("true")), line);
    return room;
}

/* JSON that is stored as NAMESUFFIX, as `file` of a folder, spoiled where s says this file. */
static void write_json(const char *folder, const char *file, const char *name, const char *suffix, const Spoil *s) {
    char path[600], other[NAME], *text = decoder_golden(name, suffix, NULL);
    int is_config = strcmp(file, "config.json") == 0;
    if (s->from && !s->file && is_config) text = replaced(name, text, s->from, s->to);
    if (s->file && strcmp(s->file, file) == 0) {
        text = replaced(name, text, as_false(s->to, other), s->to);
        text = replaced(name, text, s->from, as_false(s->from, other));
    }
    snprintf(path, sizeof path, "%s/%s", folder, file);
    remove(path); /* another case's may be there */
    if (text) write_two(path, text, strlen(text), "", 0);
    free(text);
}

/* header: 8 bytes of length and JSON, as the safetensors package wrote it for F32. Appends this tensor's line for type
 * to json and its values, those of PREFIXname, to data; returns where to look for the next one, or NULL after the
 * last. */
static char *hf_tensor(char *header, const char *prefix, char *json, Bytes *data, TensorType type, const Spoil *s) {
    static const char *const types[] = {[TENSOR_F32] = "F32", [TENSOR_F16] = "F16", [TENSOR_BF16] = "BF16"};
    char *p = strstr(header, ":{\"dtype\":\""), name[NAME] = "", has[9] = "", shape[40] = "";
    if (!p) return NULL;
    char *start = p - 1;
    while (start[-1] != '"') start--;
    unsigned long from = 0, to = 0;
    snprintf(name, sizeof name, "%s%.*s", prefix, (int)(p - 1 - start), start);
    if (sscanf(p, ":{\"dtype\":\"%8[A-Z0-9]\",\"shape\":[%39[0-9,]],\"data_offsets\":[%lu,%lu]", has, shape, &from,
               &to) != 4)
        return NULL;
    size_t begin = data->n;
    int bytes = strcmp(has, "U8") == 0;
    for (uint64_t i = 0; bytes && i < to - from; i++) bytes_u8(data, byte_at(name, i, s));
    for (uint64_t i = 0; !bytes && i < (to - from) / 4; i++) put_value(data, value_at(name, i, s), type);
    sprintf(json + strlen(json), "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
            json[1] ? "," : "", name + strlen(prefix), bytes ? "U8" : types[type], shape, begin, data->n);
    return p + 1;
}

/* The safetensors file of the head NAMESUFFIX at path, or none where there is no such head. */
static void write_tensors(const char *path, const char *name, const char *suffix, const char *prefix, TensorType type,
                          const Spoil *s) {
    size_t n_head;
    char *head = decoder_golden(name, suffix, &n_head);
    if (!head) return;
    char *json = calloc(1, 2 * n_head + 1000), *p = head + 8;
    Bytes data = {0};
    if (!json) abort();
    strcpy(json + 8, "{");
    while ((p = hf_tensor(p, prefix, json + 8, &data, type, s))) { }
    strcat(json + 8, "}");
    size_t n_json = strlen(json + 8);
    for (size_t i = 0; i < 8; i++) json[i] = (char)(n_json >> 8 * i & 255);
    if (type == TENSOR_F32) write_two(path, head, n_head, data.data, data.n); /* the package's own header */
    else write_two(path, json, n_json + 8, data.data, data.n);
    free(data.data);
    free(json);
    free(head);
}

/* What sentence-transformers has beside the model, where the case has it; the folder may hold another case's. */
static void write_modules(const char *folder, const char *name, TensorType type, const Spoil *s) {
    static const char *const files[] = {"modules.json", "config_sentence_transformers.json", "1_Pooling", "2_Dense",
                                        "3_Dense"};
    char path[600], file[60], suffix[60], prefix[20];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int is_folder = i > 1;
        snprintf(suffix, sizeof suffix, ".%s%s", files[i], is_folder ? ".config.json" : "");
        snprintf(file, sizeof file, "%s%s", files[i], is_folder ? "/config.json" : "");
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (is_folder) mkdir(path, 0700);
        write_json(folder, file, name, suffix, s);
        if (!is_folder) continue;
        snprintf(path, sizeof path, "%s/%s/model.safetensors", folder, files[i]);
        snprintf(suffix, sizeof suffix, ".%s.safetensors.head", files[i]);
        snprintf(prefix, sizeof prefix, "%s.", files[i]);
        remove(path);
        write_tensors(path, name, suffix, prefix, type, s);
    }
}

const char *hf_folder(const char *name, const char *config, TensorType type, const Spoil *s) {
    static char folder[500];
    char path[600], suffix[40];
    snprintf(suffix, sizeof suffix, ".config%s.json", config);
    char *there = decoder_golden(name, suffix, NULL);
    if (!there) return NULL;
    free(there);
    snprintf(folder, sizeof folder, "%s", test_tmp("oracle-hf"));
    CHECK(shell("rm -rf %s", folder) == 0); /* what another test put beside the model */
    mkdir(folder, 0700);
    write_json(folder, "config.json", name, suffix, s);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    write_tensors(path, name, ".safetensors.head", "", type, s);
    write_modules(folder, name, type, s);
    return folder;
}

void folder_change(const char *folder, const char *file, const char *from, const char *to) {
    char path[600];
    size_t n = 0, begin = ends_with(file, ".safetensors") ? 8 : 0;
    Bytes b = {0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *text = file_read(path, &n), *at = text && n > begin ? strstr(text + begin, from) : NULL;
    if (at) {
        size_t before = (size_t)(at - text), removed = strlen(from);
        if (begin) bytes_u64(&b, load_u64((const uint8_t *)text) + strlen(to) - removed);
        bytes_put(&b, text + begin, before - begin);
        bytes_put(&b, to, strlen(to));
        bytes_put(&b, at + removed, n - before - removed);
        file_write(path, b.data, b.n);
    } else {
        decoder_fail(file, "does not hold", from);
    }
    free(b.data);
    free(text);
}

/* ---- a GGUF file ---- */

/* The tensor's entry in the head, written for F32, gets this offset and, where it is cast, this type; its type now. */
static TensorType gguf_retype(char *head, size_t n_head, const char *name, int cast, TensorType type, size_t offset) {
    size_t len = strlen(name), at = 8;
    while (at + len + 8 < n_head &&
           !(memcmp(head + at, name, len) == 0 && (unsigned char)head[at - 8] == len && head[at - 7] == 0)) at++;
    char *dims = head + at + len, *p = dims + 4 + 8 * dims[0]; /* name, n_dims, dims, type, offset */
    if (cast) *p = (char)type;
    for (int i = 0; i < 8; i++) p[4 + i] = (char)(offset >> 8 * i & 255);
    return (TensorType)*p;
}

/* A stretch of numbers of one of Hugging Face's tensors, by loops, the outermost first. */
typedef struct {
    char name[NAME];
    long start, count[6], stride[6];
    int loops;
} TensorPiece;

/* The piece at p, NAME START LOOPS COUNT STRIDE ..; where the next one is, NULL behind the last. */
static const char *piece_read(const char *p, TensorPiece *q) {
    int used = 0;
    if (sscanf(p, "%99s %ld %d%n", q->name, &q->start, &q->loops, &used) != 3 || q->loops > 6) return NULL;
    char *end = (char *)p + used;
    for (int k = 0; k < q->loops; k++) {
        q->count[k] = strtol(end, &end, 10);
        q->stride[k] = strtol(end, &end, 10);
    }
    return end;
}

static uint64_t piece_at(const TensorPiece *q, long i) {
    long at = q->start;
    for (int k = q->loops - 1; k >= 0; i /= q->count[k--]) at += i % q->count[k] * q->stride[k];
    return (uint64_t)at;
}

/* A block: its scale, 16 bytes of codes, the second half of them in the upper halves. Hugging Face has scales and codes
 * apart, codes side by side. */
static void put_mxfp4(Bytes *data, const char *scales, uint64_t block, const Spoil *s) {
    char blocks[NAME + 8];
    snprintf(blocks, sizeof blocks, "%.*s_blocks", (int)(strlen(scales) - strlen("_scales")), scales);
    bytes_u8(data, byte_at(scales, block, s));
    for (uint64_t j = 0; j < 16; j++) {
        unsigned low = byte_at(blocks, block * 16 + j / 2, s), high = byte_at(blocks, block * 16 + 8 + j / 2, s);
        int down = j % 2 ? 4 : 0;
        bytes_u8(data, (low >> down & 15) | (high >> down & 15) << 4);
    }
}

/* cast, keep, mxfp4: as | plus1 | negexp, pieces to the line's end. */
static void gguf_pieces(const char *p, int mxfp4, TensorType type, Bytes *data, const Spoil *s) {
    const char *end = p + strcspn(p, "\n");
    char as[10];
    int used = 0;
    if (sscanf(p, "%9s%n", as, &used) != 1) return;
    p += used;
    TensorPiece q;
    while (p < end && (p = piece_read(p, &q))) {
        long n = 1;
        for (int k = 0; k < q.loops; k++) n *= q.count[k];
        for (long i = 0; i < n; i++) {
            uint64_t at = s->unpermuted ? (uint64_t)(q.start + i) : piece_at(&q, i);
            if (mxfp4) put_mxfp4(data, q.name, at, s);
            else if (strcmp(as, "plus1") == 0) put_value(data, value_at(q.name, at, s) + 1, type);
            else if (strcmp(as, "negexp") == 0) put_value(data, -expf(value_at(q.name, at, s)), type);
            else put_value(data, value_at(q.name, at, s), type);
        }
    }
}

/* One line of NAME.gguf.map: GGUF_NAME HF_NAME COUNT COLUMNS HOW ..; HOW: plain, permute N_HEAD, values v v v .. and
 * those of gguf_pieces. */
static void gguf_tensor(const char *line, char *head, size_t head_size, TensorType type, Bytes *data, const Spoil *s) {
    char gguf_name[NAME], name[NAME], how[20];
    unsigned long count, cols, n_head = 1;
    int used = 0;
    bytes_pad(data, 32);
    if (sscanf(line, "%99s %99s %lu %lu %19s%n", gguf_name, name, &count, &cols, how, &used) != 5) return;
    int permuted = strcmp(how, "permute") == 0, mxfp4 = strcmp(how, "mxfp4") == 0, values = strcmp(how, "values") == 0;
    int cast = strcmp(how, "cast") == 0, in_pieces = cast || mxfp4 || strcmp(how, "keep") == 0;
    type = gguf_retype(head, head_size, gguf_name, cast || (cols > 1 && !in_pieces && !values), type, data->n);
    char *p = (char *)line + used;
    if (in_pieces) gguf_pieces(p, mxfp4, type, data, s);
    if (permuted) n_head = strtoul(p, &p, 10);
    unsigned long head_dim = count / cols / n_head;
    for (unsigned long i = 0; !in_pieces && i < count; i++) {
        unsigned long row = i / cols, h = row / head_dim, j = row % head_dim;
        if (permuted && !s->unpermuted) row = h * head_dim + j % 2 * (head_dim / 2) + j / 2;
        put_value(data, values ? strtof(p, &p) : value_at(name, (uint64_t)row * cols + i % cols, s), type);
    }
}

const char *gguf_file(const char *name, TensorType type, const Spoil *s) {
    size_t n_head;
    char *head = decoder_golden(name, ".gguf.head", &n_head), *map = decoder_golden(name, ".gguf.map", NULL);
    const char *path = head && map ? test_tmp("oracle.gguf") : NULL;
    Bytes data = {0};
    for (char *line = path ? map : NULL; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        gguf_tensor(line, head, n_head, type, &data, s);
    bytes_pad(&data, 32);
    if (path) write_two(path, head, n_head, data.data, data.n);
    free(data.data);
    free(map);
    free(head);
    return path;
}

const char *gguf_with_key(const char *from, const char *key, MetaType type, const void *raw, size_t n_raw) {
    const char *path = test_tmp("with-key.gguf");
    size_t n = 0;
    char *file = file_read(from, &n), fill[32] = "", name[NAME + 10];
    Bytes b = {0};
    bytes_put(&b, file, 16), bytes_u64(&b, load_u64((const uint8_t *)file + 16) + 2);
    bytes_string(&b, key), bytes_u32(&b, type), bytes_put(&b, raw, n_raw);
    snprintf(name, sizeof name, "fill.%.100s", key);
    for (size_t i = 0; (b.n - 24 + 8 + strlen(name) + 4 + 8 + i) % 32; i++) fill[i] = 'x';
    bytes_string(&b, name), bytes_u32(&b, META_STRING), bytes_string(&b, fill);
    bytes_put(&b, file + 24, n - 24);
    file_write(path, b.data, b.n);
    free(b.data);
    free(file);
    return path;
}

const char *gguf_patched(const char *path, const char *name, size_t at, unsigned byte) {
    size_t n = 0, len = strlen(name), i = 0;
    char *file = file_read(path, &n);
    while (file && i + len + at < n && memcmp(file + i, name, len) != 0) i++;
    CHECK(file && i + len + at < n);
    if (file && i + len + at < n) file[i + len + at] = (char)byte;
    file_write(path, file, n);
    free(file);
    return path;
}

const char *converted(const char *name, const char *folder, const char *task, int floats) {
    char err[300] = "";
    Source s;
    NewFile f;
    const Report quiet = {0};
    const char *path = test_tmp("oracle-converted.gguf");
    if (!folder) return NULL;
    int rc = source_open(&s, folder, &(SourceWish){.no_tokenizer = 1, .task = task}, &quiet, err, sizeof err);
    if (rc == 0) {
        for (size_t i = 0; i < s.n_items && floats; i++) s.items[i].type = TENSOR_F32;
        source_file_type(&s, 0);
        rc = newfile_open(&f, path, err, sizeof err);
        if (rc == 0) {
            rc = model_write(&f, &s, 1, &quiet, err, sizeof err);
            int closed = newfile_close(&f, rc == 0, err, sizeof err);
            if (rc == 0) rc = closed;
        }
        source_close(&s);
    }
    if (rc) decoder_fail(name, "is not converted:", err);
    return rc ? NULL : path;
}
