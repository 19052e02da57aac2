/* tokenizer/split/split_gguf.c - the pre-tokenizers that GGUF files name in tokenizer.ggml.pre.
 *
 * The names are llama.cpp's. What they do is what the model's own tokenizer.json does, as far as it was published,
 * because that is what the model was trained with. llama.cpp differs from it in these, and we do not follow it there:
 *   's in capitals   a long s (U+017F) ends a contraction for the regex (?i:'s), not for llama.cpp's ['sS]
 *   tekken, gpt-4o   llama.cpp has [^a-z] and [^A-Z] for capitals and small letters: words of other scripts are cut
 *   elsewhere
 *   Digits           is what Rust calls numeric; llama.cpp asks \p{N}
 *   falcon           Punctuation is of an older Unicode; Digits comes behind ByteLevel, where it takes some bytes for
 *   numbers
 *   nfc              llama.cpp normalizes nothing; stablelm2's is in its tokenization_arcade100k.py, qwen35's in
 *                    transformers' Qwen3_5Tokenizer
 * "default" is llama.cpp's own invention for files without a name. */
#include "split.h"

#include <string.h>

/* What the names of cuts stand for; a cut that has none here is an alternative, by its name or as it is spelled. */
static const char *const regexes[][2] = {
    {"gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},
    {"llama3", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\"
      "n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"jais2", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\"
      "n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\"
      "s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"},
    {"minicpm5", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"qwen2", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"qwen35", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N"
      "}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"ufakzeka", "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"seed", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"exaone-moe", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?"
      "[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
    {"o200k", "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t"
      "|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p"
      "{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]"
      "+|\\s+(?!\\S)|\\s+"},
    {"tekken", "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n"
      "\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\"
      "p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"youtu", "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t"
      "|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p"
      "{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s"
      "+(?!\\S)|\\s+"},
    {"kimi-k2", "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm"
      "}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\"
      "p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'"
      "ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"deepseek-v3", "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
      " ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"spark", "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
      " ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+"},
    {"youtu scripts",
     "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-"
      "\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"},
    {"afmoe scripts",
     "[\\u4E00-\\u9FFF\\u3040-\\u309F\\u30A0-\\u30FF\\u3400-\\u4DBF\\uf900-\\uFAFF\\uFF65-\\uFF9F\\u2F00"
      "-\\u2FDF]+|[\\u0E00-\\u0E7F]+|[\\u0E80-\\u0EFF]+|[\\u1780-\\u17FF]+|[\\u1000-\\u109F\\uAA60-"
      "\\uAA7F\\uA9E0-\\uA9FF]+|[\\uAC00-\\uD7AF\\u1100-\\u11FF]+"}};

static const PreTokenizer table[] = {
    {.name = "default", .cuts = {{"[\\p{P}\\$\\+<=>\\^~\\|]+", 0}, {"gpt2", 0}, {"\\p{N}+", 0}, {"[0-9]{3}", 0}}},

    {.name = "llama-bpe", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "llama3", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "llama-v3", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "falcon3", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "falcon-h1", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "pixtral", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "midm-2.0", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "lfm2", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "jina-v5-nano", .cuts = {{"llama3", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "dbrx", .cuts = {{"llama3", 0}}},
    {.name = "smaug-bpe", .cuts = {{"llama3", 0}}},
    {.name = "chatglm-bpe", .cuts = {{"llama3", 0}}},
    {.name = "glm4", .cuts = {{"llama3", 0}}, .ignore_merges = 1},
    {.name = "glm5", .cuts = {{"llama3", 0}}, .ignore_merges = 1},
    {.name = "jais-2", .cuts = {{"jais2", 0}}},
    {.name = "minicpm5", .cuts = {{"\\p{N}{1,3}", 0}, {"minicpm5", 0}}, .ignore_merges = 1},

    {.name = "qwen2", .cuts = {{"qwen2", 0}}, .nfc = 1},
    {.name = "deepseek-r1-qwen", .cuts = {{"qwen2", 0}}, .nfc = 1},
    {.name = "kormo", .cuts = {{"qwen2", 0}}},
    {.name = "f2llmv2", .cuts = {{"qwen2", 0}}, .nfc = 1},
    {.name = "megrez", .cuts = {{"qwen2", 0}}, .nfc = 1},
    {.name = "stablelm2", .cuts = {{"qwen2", 0}}, .nfc = 1},
    {.name = "hunyuan", .cuts = {{"qwen2", 0}}},
    {.name = "solar-open", .cuts = {{"qwen2", 0}}},
    {.name = "grok-2", .cuts = {{"qwen2", 0}}},
    {.name = "bailingmoe", .cuts = {{"qwen2", 0}}},
    {.name = "bailingmoe2", .cuts = {{"qwen2", 0}}},
    {.name = "llada-moe", .cuts = {{"qwen2", 0}}},
    {.name = "laguna", .cuts = {{"[^\\n]+|[\\n]+", 0}, {"qwen2", 0}}},
    {.name = "qwen35", .cuts = {{"qwen35", 0}}, .nfc = 1},
    {.name = "ufakzeka", .cuts = {{"ufakzeka", 0}}},
    {.name = "seed-coder", .cuts = {{"seed", 0}}},
    {.name = "exaone-moe", .cuts = {{"exaone-moe", 0}}},

    {.name = "gpt-4o", .cuts = {{"o200k", 0}}},
    {.name = "llama4", .cuts = {{"o200k", 0}}},
    {.name = "kanana2", .cuts = {{"o200k", 0}}},
    {.name = "talkie", .cuts = {{"o200k", 0}}},
    {.name = "minimax-m2", .cuts = {{"o200k", 0}}},
    {.name = "granite-embed-multi-97m", .cuts = {{"o200k", 0}}, .ignore_merges = 1},
    {.name = "tiny_aya", .cuts = {{"\\d{1,3}(?=(?:\\d{3})*\\b)", 0}, {"o200k", 0}}},
    {.name = "cohere2moe", .cuts = {{"\\d{1,3}(?=(?:\\d{3})*\\b)", 0}, {"o200k", 0}}},
    {.name = "tekken", .cuts = {{"tekken", 0}}, .ignore_merges = 1, .add_bos = 1},
    {.name = "youtu", .cuts = {{"youtu scripts", 0}, {"youtu", 0}}, .ignore_merges = 1},
    {.name = "kimi-k2", .cuts = {{"kimi-k2", 0}}},

    {.name = "deepseek-llm", .cuts = {{"[\\r\\n]", 0}, {"deepseek letters", 0}, {"deepseek signs", 0}, {"\\s+$", 0},
        {"deepseek cjk", 0}, {"Digits", 0}}},
    {.name = "deepseek-coder", .cuts = {{"[\\r\\n]", 0}, {"\\s?\\p{L}+", 0}, {"\\s?\\p{P}+", 0}, {"deepseek cjk", 0},
        {"Digits", 0}}},
    {.name = "deepseek-v3", .cuts = {{"\\p{N}{1,3}", 0}, {"kana and han", 0}, {"deepseek-v3", 0}}},
    {.name = "hunyuan-dense", .cuts = {{"\\p{N}{1,3}", 0}, {"kana and han", 0}, {"deepseek-v3", 0}}},
    {.name = "hy_v4", .cuts = {{"\\p{N}{1,3}", 0}, {"kana and han", 0}, {"deepseek-v3", 0}}},
    {.name = "joyai-llm", .cuts = {{"\\p{N}{1,3}", 0}, {"kana and han", 0}, {"deepseek-v3", 0}}},
    {.name = "spark2_5", .cuts = {{"\\p{N}{1,3}", 0}, {"kana and han", 0}, {"spark", 0}, {"\\p{N}", 0}}},
    {.name = "afmoe", .cuts = {{"\\p{Nd}{1,510}(?=(?>\\p{Nd}{510})*(?:\\P{Nd}|$))|\\G\\p{Nd}{510}", 0},
                               {"\\A\\p{Nd}{1,2}(?=\\p{Nd}{3}+\\z)", 0}, {"\\A\\p{Nd}{3}|\\G\\p{Nd}{3}", 0},
                               {"afmoe scripts", 0},
        {"deepseek-v3", 0}}},

    {.name = "falcon", .cuts = {{"Punctuation", SPLIT_CONTIGUOUS}, {"gpt2", 0}, {"ByteLevel Digits", SPLIT_CONTIGUOUS},
        {"[0-9]{3}", 0}}},
    {.name = "starcoder", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "refact", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "command-r", .cuts = {{"Digits", 0}, {"gpt2", 0}}, .nfc = 1},
    {.name = "smollm", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "codeshell", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "exaone", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "minerva-7b", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "mellum2", .cuts = {{"Digits", 0}, {"gpt2", 0}}},
    {.name = "chameleon", .cuts = {{"([\\t\\n]|    |  )", 0}, {"Digits", 0}, {"Punctuation", 0}, {"gpt2", 0}},
     .add_bos = 1},
    {.name = "superbpe", .cuts = {{"\\p{N}+", 0}, {"(?=(\\d{3})+(?!\\d))", 0}}},

    {.name = "gpt-2", .cuts = {{"gpt2", 0}}},
    {.name = "phi-2", .cuts = {{"gpt2", 0}}},
    {.name = "gigachat", .cuts = {{"gpt2", 0}}},
    {.name = "a.x-4.0", .cuts = {{"gpt2", 0}}},
    {.name = "mellum", .cuts = {{"gpt2", 0}}},
    {.name = "exaone4", .cuts = {{"gpt2", 0}}},
    {.name = "jais", .cuts = {{"gpt2", 0}}},
    {.name = "trillion", .cuts = {{"gpt2", 0}}},
    {.name = "granite-docling", .cuts = {{"gpt2", 0}}},
    {.name = "jina-es", .cuts = {{"gpt2", 0}}},
    {.name = "jina-de", .cuts = {{"gpt2", 0}}},
    {.name = "jina-v2-es", .cuts = {{"gpt2", 0}}},
    {.name = "jina-v2-de", .cuts = {{"gpt2", 0}}},
    {.name = "jina-v1-en", .cuts = {{"gpt2", 0}}},
    {.name = "jina-v2-code", .cuts = {{"gpt2", 0}}},
    {.name = "roberta-bpe", .cuts = {{"gpt2", 0}}},
    {.name = "mpt", .cuts = {{"gpt2", 0}}, .nfc = 1},
    {.name = "olmo", .cuts = {{"gpt2", 0}}, .nfc = 1},
    {.name = "modern-bert", .cuts = {{"gpt2", 0}}, .nfc = 1},

    {.name = "bloom", .cuts = {{"bloom", 0}}},
    {.name = "gpt3-finnish", .cuts = {{"bloom", 0}}},
    {.name = "poro-chat", .cuts = {{"bloom", 0}}},
    {.name = "viking", .cuts = {{"bloom", 0}, {"Digits", 0}}},

    {.name = "gemma4", .add_bos = 2, .raw = 1},
    {.name = "granite-embed-multi-311m", .add_bos = 2, .raw = 1},
    {.name = "sarvam-moe", .raw = 1},
    {.name = "whitespace", .cuts = {{"WhitespaceSplit", SPLIT_REMOVED}}, .raw = 1},
};

const PreTokenizer *split_gguf_list(size_t i) { return i < sizeof table / sizeof *table ? &table[i] : NULL; }

const PreTokenizer *split_gguf(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0) return &table[i];
    return NULL;
}

static void find_pattern(SplitPattern *p, const char *name) {
    for (size_t i = 0; i < sizeof regexes / sizeof *regexes; i++)
        if (strcmp(regexes[i][0], name) == 0) name = regexes[i][1];
    if (!split_named(p, name)) split_pattern(p, name, strlen(name));
}

int split_gguf_whole(const SplitPattern *p) {
    static const char *const names[] = {"gpt2", "llama3", "qwen2", "qwen35", "ufakzeka", "seed", "o200k", "tekken",
                                        "youtu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SplitPattern whole;
        find_pattern(&whole, names[i]);
        if (split_same(&whole, p)) return 1;
    }
    return 0;
}

size_t split_gguf_steps(const PreTokenizer *p, SplitStep steps[SPLIT_GGUF_STEPS]) {
    size_t n = 0;
    for (; n < SPLIT_GGUF_STEPS && p->cuts[n].pattern; n++) {
        steps[n] = (SplitStep){.behavior = p->cuts[n].behavior};
        find_pattern(&steps[n].pattern, p->cuts[n].pattern);
    }
    return n;
}
