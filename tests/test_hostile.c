/* tests/test_hostile.c - PyTorch files that mean harm: pickles, zip archives, legacy files. Each is refused with a
 * line; nothing is run, nothing large is allocated. TensorFlow's tables stand in test_hostile_tf.c. */
#include "hostile_files.h"
#include "weights-tools/checkpoint/pickle_machine.h"
#include "weights-tools/checkpoint/pickle_read.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- pickles ---- */

static void pickles_read(void) {
    static const char *const good[] = {
        "K%00(K%04K%04t(K%04K%01t",         "K%0f(t(t",         "K%02K%03%85K%04%85",
        "K%00(K%02K%02K%02t(K%00K%01K%02t", "K%10(K%00t(K%01t", "K%08]K%08a]K%01a",
    };
    static const size_t values[] = {16, 1, 3, 8, 0, 8};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Buffer f = zip_of_pickle(with_tensor("U%010", good[i]));
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1 &&
              r.c.views[0].values == values[i]);
        if (r.rc) printf("    %s: %s\n", good[i], r.err);
        read_done(&r);
        free(f.data);
    }
    /* protocol 4 and 5 spell the same things with other opcodes; a dict around the dict, beside other things */
    static const char *const others[] = {
        "%80%04%95%00%00%00%00%00%00%00%00}%94(%8c%01w%8c%0ctorch._utils%8c%12_rebuild_tensor_v2%93((%8c%07storage%8c%"
        "05torch"
        "%8c%0cFloatStorage%93%8c%010%8c%03cpuK%10tQK%00K%10%85K%01%85%89}tRu.",
        "%80%05}(%8d%0a%00%00%00%00%00%00%00state_dict}(X%01%00%00%00wctorch._utils%0A_rebuild_tensor_v2%0A("
        "(U%07storagectorch%0AFloatStorage%0AU%010U%03cpuK%10tQK%00K%10%85K%01%85%89}tR"
        "U%05epochJ%ff%ff%ff%ffuU%02lrG%3f%f0%00%00%00%00%00%00u.",
        "%80%02ccollections%0AOrderedDict%0Aq%01](](U%01wctorch._utils%0A_rebuild_parameter%0A"
        "(ctorch._utils%0A_rebuild_tensor%0A((U%07storagectorch%0AFloatStorage%0AU%010U%03cpu%8a%01%10tQK%00K%10%85"
        "K%01%85tR%88h%01)RtRee%85R}U%09_metadata}sb.",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Buffer f = zip_of_pickle(others[i]);
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1 && r.c.views[0].values == 16);
        CHECK(r.c.n_other == (i == 1)); /* epoch; lr stands outside */
        if (r.rc) printf("    %zu: %s\n", i, r.err);
        read_done(&r);
        free(f.data);
    }
}

/* What a pickle says, and the word that refuses it. */
static const char *const pickles[][2] = {
    {"cos%0Asystem%0A(U%02idtR.", "begin"},
    {"%80%02cos%0Asystem%0A(U%02idtR.", "asks for os.system, which"},
    {"%80%02cposix%0Asystem%0A.", "posix.system"},
    {"%80%04%8c%02nt%8c%06system%93.", "nt.system"},
    {"%80%02c__builtin__%0Aeval%0A.", "__builtin__.eval"},
    {"%80%02cbuiltins%0Agetattr%0A.", "builtins.getattr"},
    {"%80%02ctorch%0AFloatStorage.x%0A.", "torch.FloatStorage.x"},
    {"%80%02ctorch%0Afloatstorage%0A.", "torch.floatstorage"},
    {"%80%02ctorch.FloatStorage%0A%0A.", "torch.FloatStorage."},
    {"%80%02ctorch._utils%0A_rebuild_tensor_v2%0A.", "no dict of tensors"},
    {"%80%02(ios%0Asystem%0A.", "opcode 0x69"},
    {"%80%02(cos%0Asystem%0Ao.", "os.system"},
    {"%80%02(o.", "opcode 0x6f"},
    {"%80%02%82%01.", "opcode 0x82"},
    {"%80%02I1%0A.", "opcode 0x49"},
    {"%80%02S'x'%0A.", "opcode 0x53"},
    {"%80%02B%01%00%00%00x.", "opcode 0x42"},
    {"%80%04%8f.", "opcode 0x8f"},
    {"%80%020.", "opcode 0x30"},
    {"%80%02%ff.", "opcode 0xff"},
    /* a chain of calls: the result of an allowed one called again, and so on */
    {"%80%02ccollections%0AOrderedDict%0A)R)R)R)R.", "calls something that is no name"},
    {"%80%02ctorch%0AFloatStorage%0A)R.", "arguments that torch.save does not write"},
    {"%80%02ctorch%0ASize%0A(K%01tR.", "arguments that torch.save does not write"},
    {"%80%02ccollections%0AOrderedDict%0A]%85R.", "no dict of tensors"},
    {"%80%02ccollections%0AOrderedDict%0A]K%01a%85R.", "something else than pairs"},
    {"%80%02ctorch._utils%0A_rebuild_parameter%0AK%01%85R.", "arguments"},
    {"%80%02ctorch._utils%0A_rebuild_tensor_v2%0A)R.", "arguments"},
    {"%80%02}}b]}b.", "no dict"},
    {"%80%02}K%01b.", "no dict"},
    /* the memo */
    {"%80%02}r%ff%ff%ff%ff.", "memo index"},
    {"%80%02}r%00%00%00%10.", "memo index"},
    {"%80%02h%00.", "never put"},
    {"%80%02}q%01h%00.", "never put"},
    {"%80%02j%ff%ff%ff%ff.", "never put"},
    {"%80%02q%00.", "nothing is left"},
    /* the stack */
    {"%80%02.", "other than one value"},
    {"%80%02}}.", "other than one value"},
    {"%80%02}(.", "other than one value"},
    {"%80%02t.", "mark is missing"},
    {"%80%02%87.", "nothing is left"},
    {"%80%02}(%85.", "nothing is left"},
    {"%80%02](e(a.", "nothing is left"},
    {"%80%02(e.", "nothing is left"},
    {"%80%02}(K%01u.", "key without a value"},
    {"%80%02]K%01K%02s.", "no list or dict"},
    {"%80%02}K%01a.", "no list or dict"},
    {"%80%02K%01K%02a.", "no list or dict"},
    {"%80%02R.", "nothing is left"},
    {"%80%02b.", "nothing is left"},
    {"%80%02Q.", "nothing is left"},
    {"%80%02%93.", "nothing is left"},
    {"%80%02K%01K%01%93.", "a name that is no text"},
    /* lengths */
    {"%80%01}.", "protocol"},
    {"%80%06}.", "protocol"},
    {"%80%04%95%ff%ff%ff%ff%ff%ff%ff%7f}.", "frame"},
    {"%80%04%8d%ff%ff%ff%ff%ff%ff%ff%ff.", "longer than a state dict"},
    {"%80%02X%ff%ff%ff%ff.", "ends too early"},
    {"%80%02U%09abc", "ends too early"},
    {"%80%02ctorch", "never ends"},
    {"%80%02ctorch%0AFloat", "never ends"},
    {"%80%02G%00", "ends too early"},
    {"%80%02}", "ends too early"},
    {"%80%02}..", "something stands behind"},
    /* an object that holds itself: a list, a dict, through a tuple */
    {"%80%02]q%00h%00a.", "contains itself"},
    {"%80%02}q%00U%01xh%00s.", "contains itself"},
    {"%80%02}q%00(U%01x]h%00%85au.", "contains itself"},
    /* what is read, but is no state dict */
    {"%80%02}.", "no dict of tensors"},
    {"%80%02K%01.", "no dict of tensors"},
    {"%80%02}U%01xK%01s.", "no dict of tensors"},
    {"%80%02N.", "no dict of tensors"},
};

static void pickles_refused(void) {
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        int good = refused_file(AS_ZIP, zip_of_pickle(pickles[i][0]), pickles[i][1]);
        if (!good) printf("    %s\n", pickles[i][0]);
        CHECK(good);
    }
}

/* The storage's key, the window on it (offset, size, stride), and what is wrong with that. */
static const char *const windows[][3] = {
    {"U%010", "K%01(K%04K%04t(K%04K%01t", "past the end of its storage"},
    {"U%010", "K%00K%11%85K%01%85", "past the end"},
    {"U%010", "K%10(t(t", "past the end"},
    {"U%010", "K%11(K%00t(K%01t", "begins past the end"},
    {"U%010", "K%00K%02%85K%10%85", "past the end"},
    {"U%010", "K%00K%02%85%8a%08%ff%ff%ff%ff%ff%ff%ff%7f%85", "past the end"},
    {"U%010", "K%00K%05%85%8a%08%ff%ff%ff%ff%ff%ff%ff%7f%85", "past the end"}, /* 4 times that is no size */
    {"U%010", "%8a%08%ff%ff%ff%ff%ff%ff%ff%7fK%03%85%8a%08%ff%ff%ff%ff%ff%ff%ff%7f%85", "past the end"},
    {"U%010", "K%00(%8a%08%ff%ff%ff%ff%ff%ff%ff%7fK%02t(K%00K%00t", "larger than any file"},
    {"U%010", "K%00(%8a%05%00%00%00%00%01t(K%00t", "more elements than its storage"}, /* 4 G times the same element */
    {"U%010", "K%00(K%05K%04t(K%00K%01t", "more elements than its storage"},
    {"U%010", "J%ff%ff%ff%ffK%01%85K%01%85", "no storage"},
    {"U%010", "K%00J%ff%ff%ff%ff%85K%01%85", "a dimension that is no count"},
    {"U%010", "K%00K%02%85J%ff%ff%ff%ff%85", "a stride that is no count"},
    {"U%010", "K%00K%02%85)", "do not match"},
    {"U%010", "K%00K%02K%02", "do not match"},
    {"U%010", "K%00(K%01K%01K%01K%01K%01K%01K%01K%01K%01t(K%01K%01K%01K%01K%01K%01K%01K%01K%01t", "more than 8"},
    {"U%012", "K%00K%10%85K%01%85", "data/2 is not in the archive"},
    {"U%04../0", "K%00K%10%85K%01%85", "not in the archive"},
    {"U%41aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg", "K%00K%10%85K%01%85", "name is longer"},
    {"K%00", "K%00K%10%85K%01%85", "storage that torch.save would not write"},
};

/* A tensor's name, its storage's class, numel and what follows; and what is wrong. */
static const char *const storages[][5] = {
    {"U%01w", "FloatStorage", "K%11", "", "has 64 bytes, its tensors ask for 17 of F32"},
    {"U%01w", "DoubleStorage", "K%10", "", "has 64 bytes, its tensors ask for 16 of F64"},
    {"U%01w", "FloatStorage", "%8a%08%01%00%00%00%00%00%00%40", "", "larger than any file"},
    {"U%01w", "FloatStorage", "%8a%0a%01%00%00%00%00%00%00%00%00%01", "", "would not write"},
    {"U%01w", "FloatStorage", "J%ff%ff%ff%ff", "", "would not write"},
    {"U%01w", "FloatStorage", "K%10", "K%01%85", "a part of another"}, /* a view, PyTorch 0.3 */
    {"U%01w", "FloatStorage", "K%10", "NN", "would not write"},
    {"U%01w", "Size", "K%10", "", "would not write"},
    {"K%07", "FloatStorage", "K%10", "", "whose name is no text"},
    {"U%02w%00", "FloatStorage", "K%10", "", "empty or no text"},
    {"U%00", "FloatStorage", "K%10", "", "empty or no text"},
    {"U%01%ff", "FloatStorage", "K%10", "", "empty or no text"},
};

/* Windows on storages that are not as they should be. */
static void storages_refused(void) {
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        int good = refused_file(AS_ZIP, zip_of_pickle(with_tensor(windows[i][0], windows[i][1])), windows[i][2]);
        if (!good) printf("    %s %s\n", windows[i][0], windows[i][1]);
        CHECK(good);
    }
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        const char *const *row = storages[i];
        const char *text = tensor_text(row[0], row[1], "U%010", row[2], row[3], "K%00K%01%85K%01%85");
        CHECK(refused_file(AS_ZIP, zip_of_pickle(text), row[4]));
    }
    Buffer f = zip_of_pickle("%80%02}(U%01wctorch._utils%0A_rebuild_tensor_v2%0Aq%01((U%07storagectorch%0A"
                             "FloatStorage%0AU%010U%03cpuK%10tQq%02K%00K%01%85K%01%85%89}tRU%01wh%01("
                             "h%02K%00K%01%85K%01%85%89}tRu.");
    CHECK(refused_file(AS_ZIP, f, "w stands twice"));
    f = zip_of_pickle("%80%02}(U%01wctorch._utils%0A_rebuild_tensor_v2%0A(K%01K%00K%01%85K%01%85%89}tRu.");
    CHECK(refused_file(AS_ZIP, f, "no storage"));
    f = zip_of_pickle("%80%02}(U%01wctorch._utils%0A_rebuild_tensor_v2%0A((U%07storagectorch%0A"
                      "FloatStorage%0AU%010U%03cpuK%10tQK%00K%01%85K%01%85%89}}U%03neg%88stRu.");
    CHECK(refused_file(AS_ZIP, f, "w: is a view with settings of its own, such as neg"));
}

/* Many tensors on one storage unfold to more than any model's: refused before anything is written. */
static void sharing_bomb(void) {
    static char text[60000];
    char *p = text;
    p += sprintf(p, "%%80%%02}(U%%040000ctorch._utils%%0A_rebuild_tensor_v2%%0Aq%%01((U%%07storagectorch%%0A"
                    "FloatStorage%%0AU%%010U%%03cpuK%%10tQq%%02K%%00K%%10%%85q%%03K%%01%%85q%%04%%89}tR");
    for (int i = 1; i < 1000; i++) p += sprintf(p, "U%%04%04dh%%01(h%%02K%%00h%%03h%%04%%89}tR", i);
    sprintf(p, "u.");
    Buffer f = zip_of_pickle(text); /* some 28 bytes a tensor, each of 64 bytes: twice the file's length */
    Read r;
    CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1000);
    r.c.file_bytes = 3999; /* as if it were so short that they were over 16 times as long */
    CHECK(checkpoint_finish(&r.c, "mem", r.err, sizeof r.err) == -EINVAL && strstr(r.err, "share bytes so often"));
    r.c.file_bytes = 4000;
    CHECK(checkpoint_finish(&r.c, "mem", r.err, sizeof r.err) == 0);
    read_done(&r);
    free(f.data);
}

/* Opcodes of one byte that each make a value: the reader stops at its limit, not where memory does. */
static void pickle_too_long(void) {
    size_t n = PICKLE_MAX_VALUES + 100, used;
    uint8_t *bytes = malloc(n);
    char err[200];
    Pickle p;
    static const char each[] = "})](N"; /* values; tuples; lists; marks */
    for (size_t i = 0; i < sizeof each - 1; i++) {
        memset(bytes, each[i], n);
        bytes[0] = 0x80;
        bytes[1] = 2;
        CHECK(pickle_read(&p, bytes, n, &used, "mem", err, sizeof err) == -EINVAL &&
              strstr(err, "more values than any"));
        CHECK(p.values == NULL);
    }
    /* a list of 1000 pairs, which every three letters more copy into another dict */
    uint8_t *at = bytes;
    memcpy(at, "\x80\2ccollections\nOrderedDict\nq\1]q\0(", 33);
    for (at += 33; at < bytes + 33 + 5000; at += 5) memcpy(at, "K\1K\1\x86", 5);
    memcpy(at, "eh\0\x85q\2", 6);
    for (at += 6; at < bytes + 60000; at += 5) memcpy(at, "h\1h\2R", 5);
    CHECK(pickle_read(&p, bytes, 60000, &used, "mem", err, sizeof err) == -EINVAL &&
          strstr(err, "more values than any"));
    for (size_t i = 4; i + 1 < n; i += 2) memcpy(bytes + i, "h", 2); /* the same value again and again */
    memcpy(bytes + 2, "}\x94", 2);
    CHECK(pickle_read(&p, bytes, n & ~(size_t)1, &used, "mem", err, sizeof err) == -EINVAL);
    free(bytes);
}

/* ---- zip archives ---- */

static void zips(void) {
    Buffer p = bytes_of(with_tensor("U%010", "K%00K%10%85K%01%85"));
    static const uint8_t storage[64] = {1, 2, 3};
    const Entry good[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n},
                          {.name = "m/data/0", .data = storage, .n = 64}};
    for (int variant = 0; variant < 4; variant++) { /* entries and end record with 32 and with 64 bits */
        Entry e[2] = {good[0], good[1]};
        e[0].zip64 = e[1].zip64 = variant & 1;
        Buffer f = zip_build(e, 2, variant >> 1);
        Read r;
        CHECK(read_memory(&r, AS_ZIP, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1);
        if (r.rc) printf("    variant %d: %s\n", variant, r.err);
        read_done(&r);
        for (size_t n = 0; n < f.n; n++) CHECK(refused_bytes(AS_ZIP, f.data, n, NULL, 0, "mem: "));
        free(f.data);
    }
    static const struct { Entry spoil; const char *expected; } rows[] = {
        {{.method = 8}, "m/data/0: is compressed"}, /* deflated: how a bomb is packed */
        {{.method = 12}, "m/data/0: is compressed"},
        {{.flags = 1}, "is encrypted"},
        {{.crc_change = 1}, "do not have its checksum"},
        {{.size_change = 1, .packed_change = 1}, "reach into the directory"},
        {{.size_change = 0x40000000, .packed_change = 0x40000000}, "reach into the directory"},
        {{.size_change = 1}, "its two sizes differ"},
        {{.packed_change = 1}, "its two sizes differ"},
        {{.size_change = (uint32_t)-4, .packed_change = (uint32_t)-4}, "has 60 bytes, its tensors ask for 16 of F32"},
        {{.local_name = "m/data/1"}, "another name in its local header"},
        {{.local_name = "m/data/"}, "another name in its local header"},
        {{.at_change = 1}, "local header is not there"},
        {{.at_change = 0x7fffffff}, "outside the archive"},
        {{.size_change = 0xffffffffu - 64, .packed_change = 0xffffffffu - 64},
         "reach into the directory"}, /* no 64-bit sizes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Entry e[2] = {good[0], rows[i].spoil};
        e[1].name = good[1].name;
        e[1].data = storage;
        e[1].n = 64;
        Buffer f = zip_build(e, 2, 0);
        CHECK(refused_file(AS_ZIP, f, rows[i].expected));
    }
    free(p.data);
}

/* Several entries on the same bytes are how a small archive unpacks to petabytes. */
static void zip_overlaps(void) {
    Buffer p = bytes_of(with_tensor("U%010", "K%00K%10%85K%01%85"));
    static const uint8_t storage[64] = {1, 2, 3};
    Entry e[3] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                  {.name = "m/data/0", .data = storage, .n = 64}};
    Buffer f = zip_build(e, 3, 0);
    CHECK(refused_file(AS_ZIP, f, "stands twice"));
    e[2].at_change = (size_t)0 - (30 + 8 + 64); /* the third's directory entry points at the second's header */
    f = zip_build(e, 3, 0);
    CHECK(refused_file(AS_ZIP, f, "shares bytes"));
    e[2].name = "m/data/1";
    f = zip_build(e, 3, 0);
    CHECK(refused_file(AS_ZIP, f, "another name"));
    e[0].name = "m/data.pkx";
    f = zip_build(e, 2, 0);
    CHECK(refused_file(AS_ZIP, f, "no data.pkl"));
    f = zip_build(e, 0, 0);
    CHECK(refused_file(AS_ZIP, f, "it is empty"));
    Entry big[] = {{.name = "m/data.pkl", .data = p.data, .n = p.n}, {.name = "m/data/0", .data = storage, .n = 64},
                   {.name = "m/byteorder", .data = "big", .n = 3}};
    f = zip_build(big, 3, 0);
    CHECK(refused_file(AS_ZIP, f, "byte order"));
    f = zip_build(big, 2, 1); /* 64-bit records: n, length, offset that lie */
    size_t end64 = f.n - 22 - 20 - 56;
    for (int field = 24; field < 56; field += 8)
        for (int how = 0; how < 3; how++) {
            uint8_t *copy = exactly(f.data, f.n);
            memset(copy + end64 + field, how ? 0xff : 0, how == 2 ? 7 : 8);
            CHECK(refused_bytes(AS_ZIP, copy, f.n, NULL, 0, "zip archive") || field == 48);
            free(copy);
        }
    static const struct { size_t at; const char *expected; } records[] = {
        {0, "the record of its 64-bit sizes is not where it should be"}, {16, "it is one of several disks"},
        {20, "it is one of several disks"}, {24, "it is one of several disks"},
        {56 + 4, "it is one of several disks"}, {56 + 16, "it is one of several disks"}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        uint8_t *copy = exactly(f.data, f.n);
        copy[end64 + records[i].at] ^= 2;
        CHECK(refused_bytes(AS_ZIP, copy, f.n, NULL, 0, records[i].expected));
        free(copy);
    }
    free(f.data);
    big[1].zip64 = 1; /* an extra field that has room for one of three sizes */
    f = zip_build(big, 2, 0);
    for (size_t i = 0; i + 4 < f.n; i++)
        if (memcmp(f.data + i, "\1\0\x18\0", 4) == 0) f.data[i + 2] = 8;
    CHECK(refused_file(AS_ZIP, f, "m/data/0: a 64-bit size is missing"));
    free(p.data);
}

/* ---- the older format ---- */

/* The parts of a legacy file, each spoiled by hand. */
static void legacy_refused(void) {
    static const char magic[] = "%80%02%8a%0al%fc%9cF%f9 j%a8P%19.", version[] = "%80%02M%e9%03.";
    static const char machine[] = "%80%02}U%0dlittle_endian%88s.";
    const char *state = tensor_text("U%01w", "FloatStorage", "U%01k", "K%02", "N", "K%00K%02%85K%01%85");
    static const char keys[] = "%80%02]U%01ka.", storage[] = "%02%00%00%00%00%00%00%0012345678";
    const char *const good[] = {magic, version, machine, state, keys, storage, ""};
    static const struct { int part; const char *text, *expected; } rows[] = {
        {0, "%80%02%8a%0al%fc%9cF%f9 j%a8P%18.", "not a file that torch.save wrote"},
        {1, "%80%02M%ea%03.", "unknown version"},
        {2, "%80%02}U%0dlittle_endian%89s.", "byte order"},
        {2, "%80%02}.", "byte order"},
        {2, "%80%02K%01.", "byte order"},
        {4, "%80%02].", "something stands behind its last storage"},
        {4, "%80%02}.", "no list"},
        {4, "%80%02](U%01kU%01ke.", "holds a storage twice"},
        {4, "%80%02]U%01xa.", "no tensor uses"},
        {4, "%80%02]K%01a.", "no tensor uses"},
        {5, "", "ends inside its storages"},
        {5, "%02%00%00%00%00%00%00%001234567", "ends inside its storages"},
        {5, "%03%00%00%00%00%00%00%00123456789012", "another length"},
        {5, "%02%00%00%00%00%00%00%80", "another length"},
        {6, "x", "something stands behind"},
        {3, "%80%02cos%0Asystem%0A(U%02idtR.", "os.system"},
        {3, "%80%02}.", "no tensor uses"},
        {3, "%80%02}((U%07storagectorch%0AFloatStorage%0AU%01kU%03cpuK%02NtQK%01"
            "(U%07storagectorch%0ALongStorage%0AU%01kU%03cpuK%02NtQK%01u.", "disagree"},
    };
    for (int i = -1; i < (int)(sizeof rows / sizeof *rows); i++) {
        Buffer f = {0};
        for (int k = 0; k < 7; k++) {
            Buffer part = bytes_of(i >= 0 && rows[i].part == k ? rows[i].text : good[k]);
            buffer_bytes(&f, part.data, part.n);
            free(part.data);
        }
        Read r;
        if (i >= 0) CHECK(refused_bytes(AS_LEGACY, f.data, f.n, NULL, 0, rows[i].expected));
        else {
            CHECK(read_memory(&r, AS_LEGACY, f.data, f.n, NULL, 0) == 0 && r.c.n_views == 1);
            CHECK(r.rc == 0 && memcmp(r.c.views[0].data, "12345678", 8) == 0);
            read_done(&r);
        }
        free(f.data);
    }
}

const Test tests_hostile[] = {
    {"convert/pickles_read", pickles_read},
    {"convert/pickles_refused", pickles_refused},
    {"convert/storages_refused", storages_refused},
    {"convert/sharing_bomb", sharing_bomb},
    {"convert/pickle_too_long", pickle_too_long},
    {"convert/zips", zips},
    {"convert/zip_overlaps", zip_overlaps},
    {"convert/legacy_refused", legacy_refused},
    {0},
};
