/* made by: python tests/oracle/unicode_forms.py golden > tests/golden/unicode_forms.h (tokenizers 0.23.3) */
static const unsigned long long unicode_forms_golden[] = { /* NFD NFC NFKD NFKC, lower, accents, BERT 1 2 4 8 15 */
    0x1b8231118119bfe3u,
    0x8fb8621ff49cd8edu,
    0x76eba4dca5d3d8ceu,
    0xa33c9161af88cf53u,
    0x61808ef77afe1afeu,
    0x2c03d8dc31b8b212u,
    0x50cb09b40d347f96u,
    0x2f37616826cbcba5u,
    0x55e9483421823ff5u,
    0x61808ef77afe1afeu,
    0xb807c12876d70ab3u,
};
