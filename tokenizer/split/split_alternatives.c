/* tokenizer/split/split_alternatives.c - the alternatives of which the regexes of published tokenizers are made: of
 * words, signs and white space; split_sets.c has those of one class.
 *
 * A new regex of known alternatives needs nothing. A new alternative is a row, with every spelling it was published in;
 * where no rule does it yet, one function in split_rules.c. Each rule matches what its alternative would match alone,
 * at any place, and so their order is all that a regex adds. Spellings that match the same share a row: `\s*[\r\n]`
 * takes white space up to the last newline of the run as `\s*[\r\n]+` does; a possessive `?+` or `++` changes nothing
 * where what follows begins with no character of that class. */
#include "split_alternatives.h"

#include <stddef.h>

/* tiktoken's newer spelling. Its `{1,3}+` is possessive for tiktoken, but means "again and again" to Oniguruma. */
static const char cl100k[] =
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|"
    "\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s";

const SplitAlternative split_words[] = {
    /* contractions, of which the seven in a row are one */
    {.spelled = {"'s|'t|'re|'ve|'m|'ll|'d", "'(?:[sdmt]|ll|ve|re)"}, .rule = {.match = rule_contraction}},
    {.spelled = {"'s"}, .rule = {.match = rule_literal, .literal = "'s"}},
    {.spelled = {"'t"}, .rule = {.match = rule_literal, .literal = "'t"}},
    {.spelled = {"'re"}, .rule = {.match = rule_literal, .literal = "'re"}},
    {.spelled = {"'ve"}, .rule = {.match = rule_literal, .literal = "'ve"}},
    {.spelled = {"'m"}, .rule = {.match = rule_literal, .literal = "'m"}},
    {.spelled = {"'ll"}, .rule = {.match = rule_literal, .literal = "'ll"}},
    {.spelled = {"'d"}, .rule = {.match = rule_literal, .literal = "'d"}},
    {.spelled = {"(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'(?i:[sdmt]|ll|ve|re)"},
     .rule = {.match = rule_contraction_fold}},
    /* words */
    {.spelled = {" ?\\p{L}+", " ?\\p{L}++"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_LETTER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?\\p{L}+", "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+", "[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++"},
     .rule = {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+"},
     .rule = {.match = rule_run, .prefix = CLASS_LEAD, .body = CLASS_LETTER_MARK}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*)+"},
     .rule = {.match = rule_begun, .prefix = CLASS_LEAD, .tail = CLASS_LETTER, .body = CLASS_LETTER_MARK}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+"},
     .rule = {.match = rule_phrase, .prefix = CLASS_LEAD}},
    {.spelled = {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"},
     .rule = {.match = rule_led, .prefix = CLASS_ASCII_PUNCT, .body = CLASS_ASCII_LETTER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"},
     .rule = {.match = rule_run, .prefix = CLASS_LEAD_NO_SYMBOL, .body = CLASS_LETTER_MARK}},
    /* words cut where a capital stands behind small letters */
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"},
     .rule = {.match = rule_lower, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'"
      "re|'ve|'m|'ll|'d)?"},
     .rule = {.match = rule_lower_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"},
     .rule = {.match = rule_upper, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'"
      "re|'ve|'m|'ll|'d)?"},
     .rule = {.match = rule_upper_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER, .tail = CLASS_LOWER}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
      "&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"},
     .rule = {.match = rule_lower_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER_NO_HAN, .tail = CLASS_LOWER_NO_HAN}},
    {.spelled = {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
      "&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"},
     .rule = {.match = rule_upper_fold, .prefix = CLASS_LEAD, .body = CLASS_UPPER_NO_HAN, .tail = CLASS_LOWER_NO_HAN}},
    /* numbers, signs */
    {.spelled = {" ?\\p{N}+", " ?\\p{N}++"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_NUMBER}},
    {.spelled = {"\\p{N}{1,3}+"}, .rule = {.match = rule_run, .body = CLASS_NUMBER, .max = 3}, .only = cl100k},
    {.spelled = {" ?[^\\s\\p{L}\\p{N}]+", " ?[^\\s\\p{L}\\p{N}]++", " ?[^\\s\\p{L}\\p{N}\\r\\n]+"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER}},
    {.spelled = {" ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*", " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*",
                 " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE}},
    {.spelled = {" ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH}},
    {.spelled = {" ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER, .tail = CLASS_NEWLINE_SLASH,
              .tail_max = 1}},
    {.spelled = {" ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_OTHER_NO_MARK, .tail = CLASS_NEWLINE}},
    {.spelled = {" ?[\\p{P}\\p{S}]+[\\r\\n]*"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_PUNCT_SYMBOL, .tail = CLASS_NEWLINE}},
    {.spelled = {" ?[\\p{P}\\p{S}]+"},
     .rule = {.match = rule_run, .prefix = CLASS_BLANK, .body = CLASS_PUNCT_SYMBOL}},
    {.spelled = {"<\\|startoftext\\|>"}, .rule = {.match = rule_literal, .literal = "<|startoftext|>"}},
    {.spelled = {"<\\|endoftext\\|>"}, .rule = {.match = rule_literal, .literal = "<|endoftext|>"}},
    /* white space */
    {.spelled = {"\\s*[\\r\\n]+", "\\s*[\\r\\n]"}, .rule = {.match = rule_newlines}},
    {.spelled = {"\\s+(?!\\S)"}, .rule = {.match = rule_spaces_but_last}},
    {.spelled = {"\\s++$"}, .rule = {.match = rule_spaces_at_end}},
    {.spelled = {"\\s{512}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 512, .max = 512}},
    {.spelled = {"\\s{256}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 256, .max = 256}},
    {.spelled = {"\\s{128}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 128, .max = 128}},
    {.spelled = {"\\s{64}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 64, .max = 64}},
    {.spelled = {"\\s{32}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 32, .max = 32}},
    {.spelled = {"\\s{16}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 16, .max = 16}},
    {.spelled = {"\\s{8}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 8, .max = 8}},
    {.spelled = {"\\s{4}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 4, .max = 4}},
    {.spelled = {"\\s{1,2}(?!\\S)"}, .rule = {.match = rule_spaces_count, .min = 1, .max = 2}},
    {.spelled = {NULL}}};
