/* tokenizer/split/split_patterns.c - the regexes of published tokenizers, each as its alternatives in their order.
 *
 * A new regex is a row here, with every spelling it was published in; where its alternatives are not there yet, one function
 * in split_rules.c. Spellings that differ but match the same share a row: `\s*[\r\n]` takes white space up to the last newline
 * of the run as `\s*[\r\n]+` does; a possessive `?+` or `++` changes nothing where what follows begins with no character of
 * that class; at the end of `\s+(?!\S)|\s` only one character can be left. But cl100k's newer spelling has a row of its own:
 * its `\s++$` takes the white space at the end of a text in one piece, newlines and what is behind them. */
#include "split_rules.h"

#include <string.h>


static const char *const gpt2_regexes[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s", NULL};
static const SplitRule gpt2_rules[] = {
    {.match = rule_contraction},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_LETTER},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_NUMBER},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const llama3_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+"
    "|\\s+(?!\\S)|\\s+",
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
    "|\\s+(?!\\S)|\\s+",
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]"
    "|\\s+(?!\\S)|\\s",
    NULL};
static const SplitRule llama3_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 3},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const cl100k_regexes[] = {
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$"
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
    NULL};
static const SplitRule cl100k_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 3},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_spaces_at_end},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE, .max = 1}, {0}};

static const char *const pairs_regexes[] = { /* nanochat */
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,2}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
    "|\\s+(?!\\S)|\\s+",
    NULL};
static const SplitRule pairs_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 2},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const qwen2_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+"
    "|\\s+(?!\\S)|\\s+",
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)"
    "|\\s+",
    NULL};
static const SplitRule qwen2_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const ufakzeka_regexes[] = { /* Qwen 2's without the contractions */
    "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};

static const char *const qwen35_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    NULL};
static const SplitRule qwen35_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER_MARK},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER_NO_MARK, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const marks_regexes[] = { /* as Qwen 2's, the marks of a letter with it */
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    NULL};
static const SplitRule marks_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_begun, .prefix = CLASS_LEAD, .tail = CLASS_LETTER, .body = CLASS_LETTER_MARK},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const exaone_moe_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
    NULL};
static const SplitRule exaone_moe_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_phrase, .prefix = CLASS_LEAD},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH, .tail_max = 1},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const seed_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+"
    "|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule seed_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const minicpm5_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule minicpm5_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const jais2_regexes[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+"
    "|\\s{512}(?!\\S)"
    "|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)"
    "|\\s{1,2}(?!\\S)|\\s{1}", NULL};
static const SplitRule jais2_rules[] = {
    {.match = rule_contraction_fold},
    {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 3},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_count, .min = 512, .max = 512}, {.match = rule_spaces_count, .min = 256, .max = 256},
    {.match = rule_spaces_count, .min = 128, .max = 128}, {.match = rule_spaces_count, .min = 64, .max = 64},
    {.match = rule_spaces_count, .min = 32, .max = 32},   {.match = rule_spaces_count, .min = 16, .max = 16},
    {.match = rule_spaces_count, .min = 8, .max = 8},     {.match = rule_spaces_count, .min = 4, .max = 4},
    {.match = rule_spaces_count, .min = 1, .max = 2},
    {.match = rule_run, .body = CLASS_SPACE, .max = 1}, {0}};

/* ---- words cut where a capital stands behind small letters ---- */

static const char *const o200k_regexes[] = {
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule o200k_rules[] = {
    {.match = rule_lower_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_upper_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 3},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const tekken_regexes[] = {
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
    "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule tekken_rules[] = {
    {.match = rule_lower, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_upper, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const youtu_regexes[] = {
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule youtu_rules[] = {
    {.match = rule_lower_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_upper_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const kimi_regexes[] = {
    "[\\p{Han}]+"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule kimi_rules[] = {
    {.match = rule_run, .body = CLASS_HAN},
    {.match = rule_lower_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER_NO_HAN, .tail = CLASS_LOWER_NO_HAN},
    {.match = rule_upper_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER_NO_HAN, .tail = CLASS_LOWER_NO_HAN},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 3},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

/* ---- DeepSeek V3, CLIP ---- */

static const char *const deepseek_v3_regexes[] = {
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\\r\\n]*"
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule deepseek_v3_rules[] = {
    {.match = rule_led, .prefix = CLASS_ASCII_PUNCT, .body = CLASS_ASCII_LETTER},
    {.match = rule_run, .prefix = CLASS_LEAD_NO_SYMBOL, .body = CLASS_LETTER_MARK},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_PUNCT_SYMBOL, .tail = CLASS_NEWLINE},
    {.match = rule_newlines},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const spark_regexes[] = {
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"
    "|[\\r\\n]"
    "|\\s+(?!\\S)|\\s+", NULL};
static const SplitRule spark_rules[] = {
    {.match = rule_led, .prefix = CLASS_ASCII_PUNCT, .body = CLASS_ASCII_LETTER},
    {.match = rule_run, .prefix = CLASS_LEAD_NO_SYMBOL, .body = CLASS_LETTER_MARK},
    {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_PUNCT_SYMBOL},
    {.match = rule_run, .body = CLASS_NEWLINE, .max = 1},
    {.match = rule_spaces_but_last},
    {.match = rule_run, .body = CLASS_SPACE}, {0}};

static const char *const clip_regexes[] = {
    "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+", NULL};
static const SplitRule clip_rules[] = {
    {.match = rule_literal, .literal = "<|startoftext|>"}, {.match = rule_literal, .literal = "<|endoftext|>"},
    {.match = rule_contraction},
    {.match = rule_run, .body = CLASS_LETTER},
    {.match = rule_run, .body = CLASS_NUMBER, .max = 1},
    {.match = rule_run, .body = CLASS_OTHER}, {0}};
static const char *const clip_plain_regexes[] = {"'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+", NULL};

const SplitPattern split_words[] = {
    {"gpt2", gpt2_regexes, gpt2_rules, SPLIT_CHARACTERS},
    {"llama3", llama3_regexes, llama3_rules, SPLIT_CHARACTERS},
    {"cl100k", cl100k_regexes, cl100k_rules, SPLIT_CHARACTERS},
    {"nanochat", pairs_regexes, pairs_rules, SPLIT_CHARACTERS},
    {"qwen2", qwen2_regexes, qwen2_rules, SPLIT_CHARACTERS},
    {"ufakzeka", ufakzeka_regexes, qwen2_rules + 1, SPLIT_CHARACTERS},
    {"qwen35", qwen35_regexes, qwen35_rules, SPLIT_CHARACTERS},
    {"letters with marks", marks_regexes, marks_rules, SPLIT_CHARACTERS},
    {"exaone-moe", exaone_moe_regexes, exaone_moe_rules, SPLIT_CHARACTERS},
    {"seed", seed_regexes, seed_rules, SPLIT_CHARACTERS},
    {"minicpm5", minicpm5_regexes, minicpm5_rules, SPLIT_CHARACTERS},
    {"jais2", jais2_regexes, jais2_rules, SPLIT_CHARACTERS},
    {"o200k", o200k_regexes, o200k_rules, SPLIT_CHARACTERS},
    {"tekken", tekken_regexes, tekken_rules, SPLIT_CHARACTERS},
    {"youtu", youtu_regexes, youtu_rules, SPLIT_CHARACTERS},
    {"kimi-k2", kimi_regexes, kimi_rules, SPLIT_CHARACTERS},
    {"deepseek-v3", deepseek_v3_regexes, deepseek_v3_rules, SPLIT_CHARACTERS},
    {"spark", spark_regexes, spark_rules, SPLIT_CHARACTERS},
    {"clip", clip_regexes, clip_rules, SPLIT_CHARACTERS},
    {"clip plain", clip_plain_regexes, clip_rules + 2, SPLIT_CHARACTERS}, {0}};
