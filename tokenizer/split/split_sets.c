/* tokenizer/split/split_sets.c - the alternatives that are one class of characters, or that take digits in groups.
 *
 * A class is a union of kinds, or else a list of ranges as the regex has it, written with the code points' numbers. */
#include "split_alternatives.h"

/* ---- DeepSeek LLM and Coder, V3, AFMoE, Youtu: scripts by ranges ---- */

static const uint32_t letters_ranges[][2] = {{0x41, 0x5a}, {0x61, 0x7a}, {0xb5, 0xb5}, {0xc0, 0xd6}, {0xd8, 0xf6},
    {0xf8, 0x1ba}, {0x1bc, 0x1bf}, {0x1c4, 0x293}, {0x295, 0x2af}, {0x370, 0x373}, {0x376, 0x377}, {0x37b, 0x37d},
    {0x37f, 0x37f}, {0x386, 0x386}, {0x388, 0x38a}, {0x38c, 0x38c}, {0x38e, 0x3a1}, {0x3a3, 0x3f5}, {0x3f7, 0x481},
    {0x48a, 0x52f}, {0x531, 0x556}, {0x10a0, 0x10c5}, {0x13a0, 0x13f5}, {0x13f8, 0x13fd}, {0x1c90, 0x1cba},
    {0x1cbd, 0x1cbf},
    {0x1d00, 0x1d2b}, {0x1d6b, 0x1d77}, {0x1d79, 0x1d9a}, {0x1e00, 0x1f15}, {0x1f18, 0x1f1d}, {0x1f20, 0x1f45},
    {0x1f48, 0x1f4d}, {0x1f50, 0x1f57}, {0x1f59, 0x1f59}, {0x1f5b, 0x1f5b}, {0x1f5d, 0x1f5d}, {0x1f5f, 0x1f7d},
    {0x1f80, 0x1fb4}, {0x1fb6, 0x1fbc}, {0x1fbe, 0x1fbe}, {0x1fc2, 0x1fc4}, {0x1fc6, 0x1fcc}, {0x1fd0, 0x1fd3},
    {0x1fd6, 0x1fdb}, {0x1fe0, 0x1fec}, {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ffc}, {0x2102, 0x2102}, {0x2107, 0x2107},
    {0x210a, 0x2113}, {0x2115, 0x2115}, {0x2119, 0x211d}, {0x2124, 0x2124}, {0x2126, 0x2126}, {0x2128, 0x2128},
    {0x212a, 0x212d}, {0x212f, 0x2134}, {0x2139, 0x2139}, {0x213c, 0x213f}, {0x2145, 0x2149}, {0x214e, 0x214e},
    {0x2183, 0x2184}, {0x2c00, 0x2c7b}, {0x2c7e, 0x2ce4}, {0x2ceb, 0x2cee}, {0x2cf2, 0x2cf3}, {0xa640, 0xa66d},
    {0xa680, 0xa69b}, {0xa722, 0xa76f}, {0xa771, 0xa787}, {0xa78b, 0xa78e}, {0xab70, 0xabbf}, {0xfb00, 0xfb06},
    {0xfb13, 0xfb17}, {0xff21, 0xff3a}, {0xff41, 0xff5a}, {0x10400, 0x1044f}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb},
    {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df}, {0x1e900, 0x1e943}};
static const SplitSet letters_set = {letters_ranges, sizeof letters_ranges / sizeof *letters_ranges, CLASS_NONE, 0};
static const uint32_t signs_ranges[][2] = {{0x21, 0x2f}, {0x3a, 0x7e}, {0x2018, 0x201f}, {0x3000, 0x3002},
    {0xff01, 0xff0f},
    {0xff1a, 0xff5e}};
static const SplitSet signs_set = {signs_ranges, sizeof signs_ranges / sizeof *signs_ranges, CLASS_NONE, 0};
static const uint32_t signs_blank_ranges[][2] = {{0x2018, 0x201f}, {0x3000, 0x3002}, {0x300a, 0x300d}, {0x3010, 0x3011},
    {0xff01, 0xff0f}, {0xff1a, 0xff5e}};
static const SplitSet signs_blank_set = {signs_blank_ranges, sizeof signs_blank_ranges / sizeof *signs_blank_ranges,
    CLASS_NONE, 0};
static const uint32_t cjk_ranges[][2] = {{0x800, 0x9fa5}, {0xac00, 0xd7ff}};
static const SplitSet cjk_set = {cjk_ranges, sizeof cjk_ranges / sizeof *cjk_ranges, CLASS_NONE, 0};
static const uint32_t kana_ranges[][2] = {{0x3040, 0x30ff}, {0x4e00, 0x9fa5}};
static const SplitSet kana_set = {kana_ranges, sizeof kana_ranges / sizeof *kana_ranges, CLASS_NONE, 0};
static const uint32_t youtu0_ranges[][2] = {{0x3131, 0x318e}, {0xac00, 0xd7a3}};
static const SplitSet youtu0_set = {youtu0_ranges, sizeof youtu0_ranges / sizeof *youtu0_ranges, CLASS_NONE, 0};
static const uint32_t youtu1_ranges[][2] = {{0x2014, 0x2014}, {0x2018, 0x2019}, {0x201c, 0x201d}, {0x2026, 0x2026},
    {0x3001, 0x303f}, {0xfe30, 0xfe4f}, {0xff01, 0xff01}, {0xff0c, 0xff0c}, {0xff1a, 0xff1b}};
static const SplitSet youtu1_set = {youtu1_ranges, sizeof youtu1_ranges / sizeof *youtu1_ranges, CLASS_NONE, 0};
static const uint32_t youtu2_ranges[][2] = {{0x3105, 0x312f}};
static const SplitSet youtu2_set = {youtu2_ranges, sizeof youtu2_ranges / sizeof *youtu2_ranges, CLASS_NONE, 0};
static const uint32_t asian0_ranges[][2] = {{0x2f00, 0x2fdf}, {0x3040, 0x30ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff},
    {0xf900, 0xfaff}, {0xff65, 0xff9f}};
static const SplitSet asian0_set = {asian0_ranges, sizeof asian0_ranges / sizeof *asian0_ranges, CLASS_NONE, 0};
static const uint32_t asian1_ranges[][2] = {{0xe00, 0xe7f}};
static const SplitSet asian1_set = {asian1_ranges, sizeof asian1_ranges / sizeof *asian1_ranges, CLASS_NONE, 0};
static const uint32_t asian2_ranges[][2] = {{0xe80, 0xeff}};
static const SplitSet asian2_set = {asian2_ranges, sizeof asian2_ranges / sizeof *asian2_ranges, CLASS_NONE, 0};
static const uint32_t asian3_ranges[][2] = {{0x1780, 0x17ff}};
static const SplitSet asian3_set = {asian3_ranges, sizeof asian3_ranges / sizeof *asian3_ranges, CLASS_NONE, 0};
static const uint32_t asian4_ranges[][2] = {{0x1000, 0x109f}, {0xa9e0, 0xa9ff}, {0xaa60, 0xaa7f}};
static const SplitSet asian4_set = {asian4_ranges, sizeof asian4_ranges / sizeof *asian4_ranges, CLASS_NONE, 0};
static const uint32_t asian5_ranges[][2] = {{0x1100, 0x11ff}, {0xac00, 0xd7af}};
static const SplitSet asian5_set = {asian5_ranges, sizeof asian5_ranges / sizeof *asian5_ranges, CLASS_NONE, 0};

/* ---- BLOOM: words end at a space and at the marks of many scripts ---- */

static const uint32_t bloom_ranges[][2] = {{0x21, 0x21}, {0x28, 0x29}, {0x2c, 0x2c}, {0x2e, 0x2e}, {0x3f, 0x3f},
    {0x7c, 0x7c}, {0x60c, 0x60c}, {0x6d4, 0x6d4}, {0x964, 0x964}, {0x2026, 0x2026}, {0x3001, 0x3002}, {0xff0c, 0xff0c}};
static const SplitSet bloom_set = {bloom_ranges, sizeof bloom_ranges / sizeof *bloom_ranges, CLASS_SPACE, 1};

/* ---- Chameleon, and what llama.cpp takes where a GGUF file names nothing ---- */

static const uint32_t indents_ranges[][2] = {{'\t', '\n'}};
static const SplitSet indents_set = {indents_ranges, 1, CLASS_NONE, 0};
static const uint32_t default_ranges[][2] = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'}, {'|', '|'}, {'~', '~'}};
static const SplitSet default_set = {default_ranges, 6, CLASS_PUNCT, 0};

/* ---- pre-tokenizers that are no regex ask these, of a character ---- */

/* What Rust's char::is_numeric has and Unicode 16.0.0 does not yet. */
static const uint32_t numeric_ranges[][2] = {{0x11de0, 0x11de9}, {0x16ff4, 0x16ff6}};
static const SplitSet numeric_set = {numeric_ranges, 2, CLASS_NUMBER, 0};
static const uint32_t punctuation_ranges[][2] = {{0x166d, 0x166d}, {0x111c9, 0x111c9}};
static const SplitSet punctuation_set = {punctuation_ranges, 2, CLASS_PUNCTUATION, 0};

/* ---- the alternatives ---- */

const SplitAlternative split_sets[] = {
    {.spelled = {"\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
      "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5"
      "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-"
      "\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d"
      "\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-"
      "\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113"
      "\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149"
      "\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
      "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-"
      "\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0"
      "-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+"},
     .rule = {.match = rule_set, .prefix = CLASS_SPACE, .set = &letters_set}, .name = "deepseek letters"},
    {.spelled = {"\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"},
     .rule = {.match = rule_set, .prefix = CLASS_SPACE, .set = &signs_set}, .name = "deepseek signs"},
    {.spelled = {" ?[\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002\u300a\u300b\u300c\u300d\u3010\u3011]+"},
     .rule = {.match = rule_set, .prefix = CLASS_BLANK, .set = &signs_blank_set}},
    {.spelled = {"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"},
     .rule = {.match = rule_set, .set = &cjk_set}, .name = "deepseek cjk"},
    {.spelled = {"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"},
     .rule = {.match = rule_set, .set = &kana_set}, .name = "kana and han"},
    {.spelled = {"[\uac00-\ud7a3\u3131-\u318e]+"}, .rule = {.match = rule_set, .set = &youtu0_set}},
    {.spelled = {"[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"},
     .rule = {.match = rule_set, .set = &youtu1_set}},
    {.spelled = {"[\u3105-\u312f]+"}, .rule = {.match = rule_set, .set = &youtu2_set}},
    {.spelled = {"[\\u4E00-\\u9FFF\\u3040-\\u309F\\u30A0-\\u30FF\\u3400-\\u4DBF\\uf900-\\uFAFF\\uFF65-\\uFF9F\\u2F00-"
      "\\u2FDF]+"},
     .rule = {.match = rule_set, .set = &asian0_set}},
    {.spelled = {"[\\u0E00-\\u0E7F]+"}, .rule = {.match = rule_set, .set = &asian1_set}},
    {.spelled = {"[\\u0E80-\\u0EFF]+"}, .rule = {.match = rule_set, .set = &asian2_set}},
    {.spelled = {"[\\u1780-\\u17FF]+"}, .rule = {.match = rule_set, .set = &asian3_set}},
    {.spelled = {"[\\u1000-\\u109F\\uAA60-\\uAA7F\\uA9E0-\\uA9FF]+"},
     .rule = {.match = rule_set, .set = &asian4_set}},
    {.spelled = {"[\\uAC00-\\uD7AF\\u1100-\\u11FF]+"}, .rule = {.match = rule_set, .set = &asian5_set}},
    {.spelled = {" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"},
     .rule = {.match = rule_set, .prefix = CLASS_BLANK, .set = &bloom_set}, .name = "bloom"},

    {.spelled = {"\\d{1,3}(?=(?:\\d{3})*\\b)"},
     .rule = {.match = rule_groups, .body = CLASS_DECIMAL, .max = 3, .tail = CLASS_WORD}, .alone = 1},
    {.spelled = {"\\p{Nd}{1,510}(?=(?>\\p{Nd}{510})*(?:\\P{Nd}|$))|\\G\\p{Nd}{510}"},
     .rule = {.match = rule_groups, .body = CLASS_DECIMAL, .max = 510}, .alone = 1},
    {.spelled = {"\\A\\p{Nd}{1,2}(?=\\p{Nd}{3}+\\z)"},
     .rule = {.match = rule_group_rest, .body = CLASS_DECIMAL, .max = 3}, .alone = 1, .search = SPLIT_ANCHORED},
    {.spelled = {"\\A\\p{Nd}{3}|\\G\\p{Nd}{3}"},
     .rule = {.match = rule_run, .body = CLASS_DECIMAL, .min = 3, .max = 3}, .alone = 1, .search = SPLIT_ANCHORED},
    {.spelled = {"(?=(\\d{3})+(?!\\d))"},
     .rule = {.match = rule_group_cuts, .body = CLASS_DECIMAL, .max = 3}, .alone = 1},

    {.spelled = {"\\p{N}", "[\\p{N}]", "\\p{N}{1}"}, .rule = {.match = rule_run, .body = CLASS_NUMBER, .max = 1}},
    {.spelled = {"\\p{N}+", "[\\p{N}]+"}, .rule = {.match = rule_run, .body = CLASS_NUMBER}},
    {.spelled = {"\\p{N}{1,2}"}, .rule = {.match = rule_run, .body = CLASS_NUMBER, .max = 2}},
    {.spelled = {"\\p{N}{1,3}"}, .rule = {.match = rule_run, .body = CLASS_NUMBER, .max = 3}},
    {.spelled = {"\\d", "\\p{Nd}"}, .rule = {.match = rule_run, .body = CLASS_DECIMAL, .max = 1}},
    {.spelled = {"\\d+", "\\p{Nd}+"}, .rule = {.match = rule_run, .body = CLASS_DECIMAL}},
    {.spelled = {"\\d{1,3}", "\\p{Nd}{1,3}"}, .rule = {.match = rule_run, .body = CLASS_DECIMAL, .max = 3}},
    {.spelled = {"[0-9]"}, .rule = {.match = rule_run, .body = CLASS_ASCII_DIGIT, .max = 1}},
    {.spelled = {"[0-9]+"}, .rule = {.match = rule_run, .body = CLASS_ASCII_DIGIT}},
    {.spelled = {"[0-9][0-9][0-9]", "[0-9]{3}"},
     .rule = {.match = rule_run, .body = CLASS_ASCII_DIGIT, .min = 3, .max = 3}},
    {.spelled = {"\\s", "[\\s]", "\\s{1}"}, .rule = {.match = rule_run, .body = CLASS_SPACE, .max = 1}},
    {.spelled = {"\\s+", "[\\s]+"}, .rule = {.match = rule_run, .body = CLASS_SPACE}},
    {.spelled = {"\\s+$"}, .rule = {.match = rule_spaces_at_line_end}},
    {.spelled = {"\\S+", "[^\\s]+"}, .rule = {.match = rule_run, .body = CLASS_NOT_SPACE}},
    {.spelled = {" ", "[ ]"}, .rule = {.match = rule_run, .body = CLASS_BLANK, .max = 1}},
    {.spelled = {" +", "[ ]+"}, .rule = {.match = rule_run, .body = CLASS_BLANK}},
    {.spelled = {" {2,}"}, .rule = {.match = rule_run, .body = CLASS_BLANK, .min = 2}},
    {.spelled = {"[\\r\\n]", "[\\n\\r]"}, .rule = {.match = rule_run, .body = CLASS_NEWLINE, .max = 1}},
    {.spelled = {"[\\r\\n]+", "[\\n\\r]+"}, .rule = {.match = rule_run, .body = CLASS_NEWLINE}},
    {.spelled = {"\\n"}, .rule = {.match = rule_run, .body = CLASS_LF, .max = 1}},
    {.spelled = {"\\n+", "[\\n]+"}, .rule = {.match = rule_run, .body = CLASS_LF}},
    {.spelled = {"[^\\n]+"}, .rule = {.match = rule_run, .body = CLASS_NOT_LF}},
    {.spelled = {"."}, .rule = {.match = rule_run, .body = CLASS_NOT_LF, .max = 1}},
    {.spelled = {"\\s?\\p{L}+"}, .rule = {.match = rule_run, .prefix = CLASS_SPACE, .body = CLASS_LETTER}},
    {.spelled = {"\\s?\\p{P}+"}, .rule = {.match = rule_run, .prefix = CLASS_SPACE, .body = CLASS_PUNCT}},
    {.spelled = {"\\p{Han}+", "[\\p{Han}]+"}, .rule = {.match = rule_run, .body = CLASS_HAN}},
    {.spelled = {"[\\p{L}]+"}, .rule = {.match = rule_run, .body = CLASS_LETTER}},
    {.spelled = {"[^\\s\\p{L}\\p{N}]+"}, .rule = {.match = rule_run, .body = CLASS_OTHER}},
    {.spelled = {"\\w+"}, .rule = {.match = rule_run, .body = CLASS_WORD}},
    {.spelled = {"[^\\w\\s]+"}, .rule = {.match = rule_run, .body = CLASS_NOT_WORD}},
    {.spelled = {"[\\t\\n]"}, .rule = {.match = rule_set, .set = &indents_set, .max = 1}},
    {.spelled = {"    "}, .rule = {.match = rule_literal, .literal = "    "}},
    {.spelled = {"  "}, .rule = {.match = rule_literal, .literal = "  "}},
    {.spelled = {"[\\p{P}\\$\\+<=>\\^~\\|]+"}, .rule = {.match = rule_set, .set = &default_set}},
    {.spelled = {NULL}}};

const SplitNamed split_named_rules[] = {
    {"Digits", {{.match = rule_set, .set = &numeric_set, .max = 1}}, SPLIT_CHARACTERS},
    {"ByteLevel Digits", {{.match = rule_byte_digit}}, SPLIT_BYTES},
    {"Punctuation", {{.match = rule_set, .set = &punctuation_set, .max = 1}}, SPLIT_CHARACTERS},
    {"Whitespace", {{.match = rule_run, .body = CLASS_RUST_WORD}, {.match = rule_run, .body = CLASS_RUST_NOT_WORD}},
     SPLIT_CHARACTERS},
    {"WhitespaceSplit", {{.match = rule_run, .body = CLASS_SPACE, .max = 1}}, SPLIT_CHARACTERS}, {.name = NULL}};
