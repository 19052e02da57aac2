/* tests/test_faults.c - every call that may fail fails once: the program of tests/faults/, on small models of each
 * format and for each command.
 *
 * `make test` tries the first points of a kind and some of the others, always the same, fewer under sanitizers, where a
 * run takes a second; `make faults` 400 and 200, from a seed that it prints. */
#include "base/json.h"
#include "build.h"
#include "convert_files.h"
#include "decoder_files.h"
#include "positions_files.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"
#include "tokenizer_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *name, *args; /* a shell's words: $M the models, $D an empty folder to write to, $G goldens of convert */
    const char *options;     /* of the program faults; NULL: none */
    const char *before;      /* a shell's words, in front of it; NULL: none */
} Job;

#define V1_FILES "--config $G/v1.config.json --vocab $G/vocab.txt"
#define V1 "--name m " V1_FILES
#define TEXT "-i 'the sand' -q -j 1 -t 0 -n 5"
#define TINY "--text $M/text --d-model 8 --layers 1 --heads 2 --context 8 --batch 1 -q -j 1"
#define TRAIN "--steps 2 " TINY
#define LONG "--steps 500 --csv $M/a.csv --svg $M/a.svg " TINY /* both hold times: they lie where nobody compares */

static const Job opening[] = {
    {"GGUF", "logits $M/m.gguf --ids 1,2 -j 1", NULL, NULL},
    {"Hugging Face", "logits $M/hf --ids 1,2 -j 1", NULL, NULL},
    {"Hugging Face, a shard", "logits $M/hf1 --ids 1,2 -j 1", NULL, NULL},
    {"llama2.c v0", "logits $M/v0.bin --ids 1,2 -j 1", NULL, NULL},
    {"llama2.c v1", "logits $M/v1.bin --ids 1,2 -j 1", NULL, NULL},
    {"llama2.c v2", "logits $M/v2.bin --ids 1,2 -j 1", NULL, NULL},
    {"linear attention", "logits $M/linear.gguf --ids 1,2 -j 1", NULL, NULL},
    {"RoFormer", "logits $M/roformer --ids 1,2 -j 1", NULL, NULL},
    {"RoFormer, GGUF", "logits $M/roformer.gguf --ids 1,2 -j 1", NULL, NULL},
    {"GGUF, in parts", "logits $M/s-00001-of-00002.gguf --ids 1,2 -j 1", NULL, NULL},
    {"learned positions", "logits $M/learned.gguf --ids 1,2 -j 1", NULL, NULL},
    {"norms of each head", "logits $M/stablelm_par --ids 1,2 -j 1", NULL, NULL},
    {"experts, fused delta nets", "logits $M/qwen3next --ids 1,2 -j 1", NULL, NULL},
    {"an encoder by other names", "logits $M/modernbert --ids 1,2 -j 1", NULL, NULL},
    {"heads in one matrix", "logits $M/neobert --ids 1,2 -j 1", NULL, NULL},
    {"threads", "logits $M/m.gguf --ids 1,2 -j 3", "-k t", NULL},
    {"tokenizer.bin", "tokenize $M/tokenizer.bin 'the sand'", NULL, NULL},
    {"tokenizer.model", "tokenize $M/hf/tokenizer.model 'the sand'", NULL, NULL},
    {"a folder's added tokens", "tokenize $M/added 'the <x> sand'", NULL, NULL},
    {"a model's tokenizer", "tokenize $M/m.gguf 'the sand'", NULL, NULL},
    {"a model's merges", "tokenize $M/delta.gguf 'the sand'", NULL, NULL},
    {"tokenizer.json", "tokenize $M/delta 'the sand'", NULL, NULL},
    {"tiktoken", "tokenize $M/ranks.tiktoken 'abab' --pre gpt-2", NULL, NULL},
    {"vocab.json, merges.txt", "tokenize $M/merges 'abab' --pre gpt-2", NULL, NULL},
    {"tiktoken in a folder", "tokenize $M/tik 'abab' --pre gpt-2", NULL, NULL},
    {"vocab.txt", "tokenize $M/roformer 'The [MASK], \xe4\xbb\x8a caf\xc3\xa9\nand [\xef\xbf\xbdUNK]'", NULL, NULL},
    {"vocab.txt, bert4keras", "tokenize $M/roformer 'The [MASK], \xe4\xbb\x8a caf\xc3\xa9' --bert4keras", NULL, NULL},
    {"BERT in GGUF", "tokenize $M/bert.gguf 'The sand, caf\xc3\xa9 [MASK]'", NULL, NULL},
    {"Gemma 4 in GGUF", "tokenize $M/gemma4.gguf 'abab \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 <x>'", NULL, NULL},
    {"maps", "tokenize $M/maps.model 'aaab <y>ba zz ab'", NULL, NULL},
    {"maps and merges", "tokenize $M/merges.model 'aaab <y>ba zz ab'", NULL, NULL},
    {"unused pieces", "tokenize $M/unused.model 'abab ab <y>ba zz abb'", NULL, NULL},
    {"jieba", "tokenize $G/vocab.txt '\xe9\x9d\x9e\xe5\xb8\xb8' --jieba $M/dict", NULL, NULL},
    {0},
};

static const Job writing[] = {
    {"generate", "$M/m.gguf " TEXT, NULL, NULL},
    {"generate, delta nets", "$M/delta -i 'ab cd' -q -j 1 -t 0 -n 5", NULL, NULL},
    {"generate, f16", "$M/hf " TEXT, NULL, NULL},
    {"generate, a file", "generate $M/m.gguf -f $M/lines -q -j 1 --max-tokens 5 -t 0", NULL, NULL},
    {"generate, stdin", "generate $M/m.gguf -q -j 1 --max-tokens 5 -t 0", "-i $M/lines", NULL},
    {"generate, sampled", "$M/m.gguf -i 'the sand' -q -j 1 -n 9 -s 7 --top-k 9 --min-p 0.01 --repetition-penalty 1.1 "
                          "--dry-multiplier 1 --xtc-probability 0.3 --stop zzz", NULL, NULL},
    {"generate, guessing", "$M/m.gguf -i 'the the the the' -q -j 1 -n 20 -t 0 --draft lookup", NULL, NULL},
    {"generate, a draft", "$M/m.gguf " TEXT " --draft $M/linear.gguf", NULL, NULL},
    {"generate, lines", "$M/m.gguf --lines $M/lines -q -j 1 -n 4 -t 0 --parallel 2", NULL, NULL},
    {"generate, lines, threads", "$M/m.gguf --lines $M/lines -q -j 2 -n 4 -t 0 --parallel 2", NULL, NULL},
    {"generate, a state", "$M/m.gguf " TEXT " --save-state $D/state", NULL, NULL},
    {"generate, from a state", "$M/m.gguf " TEXT " --load-state $D/state", NULL,
     "$RUN $M/m.gguf " TEXT " --save-state $D/state > /dev/null && "},
    {"generate, shift", "$M/m.gguf -i 'the sand' -q -j 1 -t 0 -n 30 -c 16 --shift keep=4", NULL, NULL},
    {"chat", "chat $M/m.gguf -q -j 1 -n 5 -t 0 --chat-template chatml", "-i $M/turns", NULL},
    {"chat, kept", "chat --no-sandbox $M/m.gguf -q -j 1 -n 3 -t 0 --chat-template plain", "-d $D -i $M/kept",
     "echo hi | $RUN chat $M/m.gguf -q -n 3 -t 0 --chat-template plain --save-state $D/t > $M/said && "},
    {"fill", "fill $M/roformer.gguf '[MASK] a' -q -j 1", NULL, NULL},
    {"fill, lines", "fill $M/roformer -f $M/masks -q -j 1", NULL, NULL},
    {0},
};

static const Job library[] = {
    {"roformer.h", "library $M/m.gguf", "-d $D", NULL},
    {"roformer.h, delta nets", "library $M/delta", NULL, NULL},
    {"roformer.h, linear attention", "library $M/linear.gguf", NULL, NULL},
    {"roformer.h, an embedder", "library $M/roformer.gguf", NULL, NULL},
    {"guesses", "guessing $M/m.gguf", NULL, NULL},
    {"guesses, linear attention", "guessing $M/linear.gguf", NULL, NULL},
    {"a line that is typed", "editing", NULL, NULL},
    {0},
};

static const Job core[] = {
    {"core", "-i Once -n 9 -t 0", NULL, NULL},
    {"core, sampled", "$M/m.gguf -i 'the sand' -n 12 -s 7", NULL, NULL},
    {"core, linear attention", "$M/eq19.gguf -n 9 -t 0", NULL, NULL},
    {"core, quantized", "$M/q8.gguf -i the -n 9 -t 0", NULL, NULL},
    {"core, llama2.c", "$M/v0.bin -i the -n 9 -t 0", NULL, NULL},
    {0},
};

/* Commands that measure and show. */
static const Job showing[] = {
    {"perplexity", "perplexity $M/m.gguf -f $M/text -q -j 1 -c 16", "-x tokens/s", NULL},
    {"perplexity, by position", "perplexity $M/m.gguf -f $M/text -q -j 1 -c 16 --by-position --csv --svg $D/a.svg",
     "-d $D", NULL},
    {"logits, a text", "logits $M/hf -i 'the sand' --all -j 1 --json", NULL, NULL},
    {"embed", "embed $M/roformer.gguf 'a' -q -j 1", NULL, NULL},
    {"embed, modules", "embed $M/gte 'a' -q -j 1", NULL, NULL},
    {"compare", "compare $M/m.gguf -f $M/text --rope none,linear:factor=2 --lengths 16,24 --score 8 -j 1 -q --csv",
     NULL, NULL},
    {"compare, kept", "compare $M/m.gguf -f $M/text --rope none,linear:factor=2 --lengths 16 --score 8 -j 1 -q "
                      "--resume $D/a.csv --svg $D/a.svg", "-d $D -p .csv", NULL},
    {"score", "score $M/m.gguf -i 'the' --text ' sand' -j 1", NULL, NULL},
    {"passkey", "passkey -j 1 -q --csv --lengths 256 --trials 1 --depths 50", NULL, NULL},
    {"recall", "recall -f LICENSE -j 1 -q --csv --distances 64 --span 16 --samples 1", NULL, NULL},
    {"proof", "proof $M/m.gguf -j 1 -q", NULL, NULL},
    {"plan", "plan $M/m.gguf", NULL, NULL},
    {"rank", "rank $M/roformer.gguf 'a' -f $M/masks -q -j 1", NULL, NULL},
    {"explain, numbers", "explain $M/m.gguf 'the sand' map -j 1 --csv", NULL, NULL},
    {"explain, pairing", "explain $M/m.gguf 'the sand' pairing -j 1", NULL, NULL},
    {"explain, next", "explain $M/m.gguf 'the sand' next -j 1", NULL, NULL},
    {"explain, lens", "explain $M/m.gguf 'the sand' lens -j 1", NULL, NULL},
    {"explain, state", "explain $M/linear.gguf 'the sand' state -j 1", NULL, NULL},
    {"explain", "explain $M/m.gguf 'the sand' map -j 1 --svg $D/a.svg", "-d $D", NULL},
    {"generate, panels", "$M/q8.gguf " TEXT " --panels $D/p", NULL, NULL}, /* can be done without */
    {"generate, kept panels", "$M/q8.gguf " TEXT " --panels $D/p", NULL,
     "$RUN $M/q8.gguf " TEXT " --panels $D/p > /dev/null && "},
    {"generate, panels beside", "$D/m.gguf " TEXT " --panels auto", NULL, "cp $M/q8.gguf $D/m.gguf && "},
    {"generate, an adapter", "$M/wide.gguf " TEXT " --lora $M/adapter.gguf:0.5", NULL, NULL},
    {"generate, PEFT's adapter", "$M/wide " TEXT " --lora $M/peft", NULL, NULL},
    {"rope", "rope table --csv", NULL, NULL},
    {"inspect", "inspect $M/m.gguf --json", NULL, NULL},
    {"inspect, a folder", "inspect $M/hf", NULL, NULL},
    {"inspect, 8 bits with scales", "inspect $G/../fp8/block", NULL, NULL},
    {"convert --list, 8 bits with scales", "convert --list $G/../fp8/block", NULL, NULL},
    {"convert --list, packed codes", "convert --list $G/../packed/gptq", NULL, NULL},
    {"inspect, a checkpoint", "inspect $G/v1.bin", NULL, NULL},
    {0},
};

static const Job timing[] = {
    {"bench", "bench $M/m.gguf --contexts 0 --prompts 9 --at-once 2 --runs 1 -j 1 -q", "-t -n 40 -r 20", NULL},
    {"bench, threads", "bench $M/m.gguf --contexts 0 --prompts none --runs 1 -j 2 --json -q", "-k t -t", NULL},
    {0},
};

static const Job making[] = {
    {"convert, PyTorch", "convert -f $G/v1.bin $D/m.gguf -q " V1, "-d $D", NULL},
    {"convert, over another", "convert -f $G/v1.bin $D/m.gguf -q " V1, "-d $D", "cp LICENSE $D/m.gguf; "},
    {"convert, legacy", "convert $G/v1.legacy.bin $D/m.gguf -q " V1, "-d $D", NULL},
    {"convert, TensorFlow", "convert $G/v1.snappy.ckpt.index $D/m.gguf -q " V1, "-d $D", NULL},
    {"convert, safetensors", "convert $G/v1.safetensors $D/model.safetensors -q " V1_FILES, "-d $D", NULL},
    {"convert, a folder", "convert $G/v1.raw.ckpt.index $D/model.safetensors -q --config $G/v1.bert_config.json",
     "-d $D", NULL},
    {"convert, a decoder", "convert $M/hf $D/m.gguf -q", "-d $D", NULL},
    {"convert, a task's adapter", "convert $M/jina_v3 $D/m.gguf -q --no-tokenizer --task query", "-d $D", NULL},
    {"convert, linear attention", "convert $M/linear_relu $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"convert, experts", "convert $M/mixtral $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"convert, delta nets", "convert $M/delta $D/m.gguf -q", "-d $D", NULL},
    {"convert, delta nets of key heads", "convert $M/qwen3next $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"convert, one matrix for q, k, v", "convert $M/phi3_long $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"convert, heads side by side", "convert $M/neobert $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"convert, an embedder", "convert $M/embeddinggemma $D/m.gguf -q --no-tokenizer", "-d $D", NULL},
    {"quantize", "quantize $M/wide.gguf $D/m.gguf Q4_0 -q -j 1", "-d $D", NULL},
    {"train, an encoder", "train $D/m.gguf --family roformer --words 300 " TRAIN, "-d $D -a .checkpoint.gguf", NULL},
    {"train, a vocabulary", "train $D/m.gguf --family roformer --whole-words -z $M/roformer/vocab.txt " TRAIN,
     "-d $D -a .checkpoint.gguf", NULL},
    {"train, a model's words", "train $D/m.gguf --family roformer -z $M/roformer.gguf " TRAIN,
     "-d $D -a .checkpoint.gguf", NULL},
    {"train, a tokenizer", "train $D/m.gguf -z $M/tokenizer.bin " TRAIN, "-d $D -a .checkpoint.gguf", NULL},
    {"quantize, threads", "quantize $M/v0.bin $D/m.gguf Q8_0 -q -j 2 -z $M/tokenizer.bin", "-d $D", NULL},
    {"train", "train $D/m.gguf " TRAIN, "-d $D -a .checkpoint.gguf", NULL},
    {"train, from a model", "train $D/m.gguf --from $M/tiny.gguf " TRAIN, "-d $D -a .checkpoint.gguf",
     "{ test -e $M/tiny.gguf || $RUN train $M/tiny.gguf " TRAIN "; } && "},
    {"train, resumed", "train $D/m.gguf --resume " LONG, "-d $D -a .checkpoint.gguf",
     "{ $RUN train $D/m.gguf --save-every 0 " LONG " & }; "
     "while kill -0 $! && ! test -e $D/m.checkpoint.gguf; do :; done; kill -9 $!; wait; "},
    {0},
};

static void build_models(const char *folder) {
    const BuildShape tiny = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 64};
    BuildShape linear = tiny, wide = tiny;
    static const char *const names[] = {"v0.bin", "v1.bin", "v2.bin"};
    linear.phi = "elu+1", linear.form = "numerator";
    build_gguf(test_in(folder, "eq19.gguf"), &linear, TENSOR_F32);
    linear.phi = "favor+", linear.form = "both";
    wide.d = wide.ff = 32;
    build_gguf(test_in(folder, "m.gguf"), &tiny, TENSOR_F32);
    build_gguf(test_in(folder, "linear.gguf"), &linear, TENSOR_F32);
    build_gguf(test_in(folder, "wide.gguf"), &wide, TENSOR_F32);
    build_gguf(test_in(folder, "q8.gguf"), &wide, TENSOR_Q8_0);
    build_hf(test_in(folder, "wide"), &wide, TENSOR_BF16, 1);
    build_hf(test_in(folder, "hf"), &tiny, TENSOR_BF16, 2);
    build_hf(test_in(folder, "hf1"), &tiny, TENSOR_F16, 1);
    for (int i = 0; i < 3; i++) build_llama2c(test_in(folder, names[i]), &tiny, i, 4);
    build_tokenizer_bin(test_in(folder, "tokenizer.bin"));
}

/* A key of two bytes more in the file at path. */
static void add_u16(const char *path, const char *key, int value) {
    const char raw[2] = {(char)value, 0};
    CHECK(file_copy(gguf_with_key(path, key, META_U16, raw, 2), path));
}

/* m.gguf in two parts, the second of which holds no tensors. */
static void build_parts(const char *folder) {
    char first[600], second[600], err[300];
    Weights w;
    Bytes b = {0};
    snprintf(first, sizeof first, "%s/s-00001-of-00002.gguf", folder);
    snprintf(second, sizeof second, "%s/s-00002-of-00002.gguf", folder);
    CHECK(weights_open(&w, test_in(folder, "m.gguf"), err, sizeof err) == 0);
    CHECK(file_copy(test_in(folder, "m.gguf"), first));
    add_u16(first, "split.no", 0);
    add_u16(first, "split.count", 2);
    add_u16(first, "split.tensors.count", (int)w.n_tensors);
    weights_close(&w);
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, 0), bytes_u64(&b, 2);
    bytes_string(&b, "split.no"), bytes_u32(&b, META_U16), bytes_number(&b, 1, 2);
    bytes_string(&b, "split.count"), bytes_u32(&b, META_U16), bytes_number(&b, 2, 2);
    file_write(second, b.data, b.n);
    free(b.data);
}

/* Whose weights stand in their files in ways of their own. */
static void build_others(const char *folder) {
    static const char *const names[] = {"gte", "stablelm_par", "qwen3next", "modernbert", "neobert", "jina_v3",
                                        "linear_relu", "mixtral", "phi3_long", "embeddinggemma"};
    static PositionsCase c;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(shell("cp -R %s %s/%s", hf_folder(names[i], "", TENSOR_F32, &sound), folder, names[i]) == 0);
    CHECK(shell("cp %s/delta/tokenizer.json %s/gte", folder, folder) == 0);
    if (positions_find(&c, "learned")) CHECK(file_copy(positions_write(&c), test_in(folder, "learned.gguf")));
    CHECK(tool("", "convert", "%s/delta %s/delta.gguf -q", folder, folder) == 0);
    build_parts(folder);
}

/* Row `name` as a file. */
static void write_part(const Json *golden, const char *name, const char *path) {
    const JsonValue *row = json_get(golden->root, "rows"), *model = json_get(golden->root, "models")->child;
    for (row = row->child; row && !json_is(json_get(row, "name"), name); row = row->next) { }
    FILE *f = fopen(path, "w");
    CHECK(row && f);
    for (int i = row ? (int)json_get(row, "model")->number : 0; i > 0; i--) model = model->next;
    const char *text = row ? json_get(row, "parts")->str : "{}";
    if (f) fprintf(f, "{\"model\":%s%s%s", model->str, text[1] == '}' ? "" : ",", text + 1), fclose(f);
}

/* SentencePiece's: of a kind, with a text for what is unknown; maps: with a character map and a denormalizer's; unused:
 * the kind of its last pieces. */
static void build_spm(const char *path, const char *kind, int maps, int unused) {
    static const struct { const char *text; float score; int kind; } pieces[] = {
        {"<unk>", 0, PIECE_UNKNOWN}, {"\xe2\x96\x81", -3, PIECE_NORMAL}, {"a", -2, PIECE_NORMAL},
        {"b", -2, PIECE_NORMAL}, {"<y>", 0, PIECE_USER_DEFINED}, {"ab", -1, PIECE_NORMAL},
        {"abb", -1.5f, PIECE_NORMAL}};
    uint8_t *map = malloc(CHAIN_MAP_MAX);
    Bytes b = {0}, before = {0}, behind = {0};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        spm_piece(&b, pieces[i].text, strlen(pieces[i].text), pieces[i].score,
                  i > 4 && unused ? unused : pieces[i].kind);
    bytes_put(&before, "\x18\x01\x20\x00\x28\x01", 6);
    bytes_put(&behind, "\x18\x00\x20\x00\x28\x00", 6);
    if (maps) spm_field(&before, 2, map, chain_map(map, 2, 1)), spm_field(&behind, 2, map, chain_map(map, 1, 2));
    spm_field(&b, 2, kind, 6);
    spm_field(&b, 3, before.data, before.n);
    if (maps) spm_field(&b, 5, behind.data, behind.n);
    file_write(path, b.data, b.n);
    free(map), free(b.data), free(before.data), free(behind.data);
}

/* The keys of a vocabulary, and no tensors. */
static void build_gemma4(const char *path) {
    static const char *const pieces[] = {"a", "b", "ab", "<0xC3>", "<0xA9>", "<x>", "\xe2\x96\x81"};
    static const uint8_t types[] = {PIECE_NORMAL, PIECE_NORMAL, PIECE_NORMAL, PIECE_BYTE, PIECE_BYTE,
                                    PIECE_USER_DEFINED, PIECE_NORMAL};
    Bytes b = {0};
    put_gguf(&b, 3, 0, 5);
    bytes_string(&b, "general.architecture"), bytes_u32(&b, META_STRING), bytes_string(&b, "gemma3");
    bytes_string(&b, "tokenizer.ggml.model"), bytes_u32(&b, META_STRING), bytes_string(&b, "gemma4");
    put_array(&b, "tokenizer.ggml.tokens", META_STRING, 7);
    for (int i = 0; i < 7; i++) bytes_string(&b, pieces[i]);
    put_array(&b, "tokenizer.ggml.token_type", META_I32, 7);
    for (int i = 0; i < 7; i++) bytes_u32(&b, types[i]);
    put_array(&b, "tokenizer.ggml.merges", META_STRING, 1);
    bytes_string(&b, "a b");
    file_write(path, b.data, b.n);
    free(b.data);
}

/* Tokenizers of kinds that none of the models has. */
static void build_tokenizers(const char *folder) {
    CHECK(shell("mkdir %s/tik && cp %s/ranks.tiktoken %s/tik/a.tiktoken", folder, folder, folder) == 0);
    build_spm(test_in(folder, "maps.model"), "\x18\x01\xe2\x02\x01?", 1, 0);
    build_spm(test_in(folder, "merges.model"), "\x18\x02\xe2\x02\x01?", 1, 0);
    build_spm(test_in(folder, "unused.model"), "\x18\x02\xe2\x02\x01?", 0, PIECE_UNUSED);
    build_gemma4(test_in(folder, "gemma4.gguf"));
    Json golden;
    char err[300];
    if (json_open(&golden, "tests/golden/pipelines.json", err, sizeof err)) return;
    write_part(&golden, "BERT", test_in(folder, "bert.json"));
    json_free(&golden);
    CHECK(tool("", "convert", "%s/hf1 %s/bert.gguf --tokenizer %s/bert.json -q", folder, folder, folder) == 0);
}

/* A folder with a model of each kind, made once. */
static const char *models(void) {
    static char folder[512];
    if (*folder) return folder;
    snprintf(folder, sizeof folder, "%s", test_folder("faults"));
    build_models(folder);
    const char *delta = delta_folder();
    CHECK(delta && shell("cp -R %s %s/delta", delta, folder) == 0);
    CHECK(shell("cp -R %s %s/peft && cp %s %s/adapter.gguf", lora_folder(), folder, lora_file(), folder) == 0);
    build_others(folder);
    CHECK(shell("mkdir %s/merges", folder) == 0);
    file_write(test_in(folder, "merges/merges.txt"), "#version: 0.2\na b\n", 18);
    file_write(test_in(folder, "merges/vocab.json"), "{\"a\": 0, \"b\": 1, \"ab\": 2}", 25);
    CHECK(shell("mkdir %s/added && cp %s/hf/tokenizer.model %s/added", folder, folder, folder) == 0);
    file_write(test_in(folder, "added/added_tokens.json"), "{\"<x>\": 300}", 12);
    const char *added = "{\"bos_token\": \"<s>\", \"added_tokens_decoder\": {\"301\": {\"content\": \"<y>\"}}}";
    file_write(test_in(folder, "added/tokenizer_config.json"), added, strlen(added));
    file_write(test_in(folder, "ranks.tiktoken"), "YQ== 0\nYg== 1\nYWI= 2\n", 21);
    build_tokenizers(folder);
    file_write(test_in(folder, "dict"), "\xe9\x9d\x9e\xe5\xb8\xb8 100 d\n\xe9\x9d\x9e 5 d\n", 21);
    const char *text = "The sand was warm, and the sea came in.\nIt was the end of the day: the sun went down.\n";
    file_write(test_in(folder, "text"), text, strlen(text));
    file_write(test_in(folder, "lines"), "the\nsand\nsea\n", 13);
    file_write(test_in(folder, "turns"), "hello\n/retry\nand\n/undo\nso\n", 26);
    char kept[1300];
    snprintf(kept, sizeof kept, "hello\n/save %s/out/s\nand\n/load %s/out/t\nso\n", folder, folder);
    file_write(test_in(folder, "kept"), kept, strlen(kept));
    file_write(test_in(folder, "masks"), "[MASK] a\n\xe4\xbb\x8a [MASK]\n", 21);
    CHECK(shell("mkdir -p %s/roformer && cp " CONVERT_GOLDEN "v1.config.json %s/roformer/config.json && cp "
                CONVERT_GOLDEN "v1.safetensors %s/roformer/model.safetensors && cp " CONVERT_GOLDEN
                "vocab.txt %s/roformer/", folder, folder, folder, folder) == 0);
    CHECK(shell("sed 's/\xe9\x9d\x9e\xe5\xb8\xb8/zz/' " CONVERT_GOLDEN "vocab.txt > %s/roformer/vocab.txt",
                folder) == 0); /* without the word that wants jieba's dictionary */
    CHECK(tool("", "convert", "%s/roformer %s/roformer.gguf -q --name m", folder, folder) == 0);
    return folder;
}

/* It stands beside the program under test, where its linker can make it. */
static const char *program(const char *name) {
    const char *path = test_beside(name);
    if (access(path, X_OK) == 0) return path;
    test_skip("faults is not built: by make m32, or a linker that cannot wrap calls");
    return NULL;
}

static void run_jobs(const Job *jobs, const char *by) {
    const char *all = getenv("FAULTS"), *folder = models(), *faults = program(by), *only = getenv("FAULTS_JOB");
    char limits[80];
    if (all) snprintf(limits, sizeof limits, "-s %s", *all ? all : "1");
    else snprintf(limits, sizeof limits, "%s -s 1", test_sanitized ? "-n 6 -r 6" : "-n 20 -r 20");
    for (; faults && jobs->name; jobs++) {
        char command[4000];
        if (only && !strstr(jobs->name, only)) continue;
        snprintf(command, sizeof command,
                 "M=%s G=%s D=%s RUN=%s; rm -rf $D; mkdir $D; %s %s %s %s -- %s", folder, CONVERT_GOLDEN,
                 test_in(folder, "out"), test_run_path(), jobs->before ? jobs->before : "", faults, limits,
                 jobs->options ? jobs->options : "", jobs->args);
        int code = shell("%s", command);
        if (all || code) printf("    %s:\n%s%s", jobs->name, out, said);
        CHECK(code == 0);
    }
}

/* The parts that a tokenizer.json may be made of, by rows of golden/pipelines.json. */
static const char *const parts[] = {
    "BERT", "Template, others", "model suffix", "model unigram with bytes", "model wordpiece", "Sequence of cuts",
    "Replace, Fuse, Strip", "tokens that strip", "normalized tokens with a prefix", "RobertaProcessing", "NFKC",
    "Lowercase", "StripAccents", "Nmt", "Metaspace always True", "ByteLevel True True", "Split Removed False",
    "model fallback", "model prefix", "model words", "family gemma", "BPEDecoder"};
enum { GO_INTO_GGUF = 2 }; /* the first two */

static void tokenize_each(void) {
    Json golden;
    char err[300];
    if (json_open(&golden, "tests/golden/pipelines.json", err, sizeof err)) {
        test_fail(__FILE__, __LINE__, err);
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        write_part(&golden, parts[i], test_in(models(), "part.json"));
        const char *tokenize = "tokenize $M/part.json ' The sand, [MASK] caf\xc3\xa9 \xe4\xb8\xad<s>12'";
        run_jobs((const Job[]){{parts[i], tokenize, NULL, NULL}, {0}}, "faults");
        if (i < GO_INTO_GGUF)
            run_jobs((const Job[]){{parts[i], "convert $M/hf1 $D/m.gguf --tokenizer $M/part.json -q", "-d $D", NULL},
                                   {0}}, "faults");
    }
    json_free(&golden);
}

static void open_each(void) { run_jobs(opening, "faults"); }
static void write_each(void) { run_jobs(writing, "faults"); }
static void use_library(void) { run_jobs(library, "faults"); }
static void show_each(void) { run_jobs(showing, "faults"); }
static void make_each(void) { run_jobs(making, "faults"); }
static void run_core(void) { run_jobs(core, "faults-core"); }

static void time_each(void) {
    if (getenv("FAULTS")) run_jobs(timing, "faults");
    else test_skip("bench takes a second for each: make faults");
}

extern const Test tests_faults[];
const Test tests_faults[] = {
    {"faults/opening", open_each},
    {"faults/tokenizers", tokenize_each},
    {"faults/writing", write_each},
    {"faults/library", use_library},
    {"faults/showing", show_each},
    {"faults/making", make_each},
    {"faults/core", run_core},
    {"faults/timing", time_each},
    {0},
};
