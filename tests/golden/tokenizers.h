/* made by: python tests/oracle/spm.py > tests/golden/tokenizers.h (sentencepiece 0.2.3) */
#ifndef GOLDEN_TOKENIZERS_H
#define GOLDEN_TOKENIZERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct { const char *text; size_t len; const int *ids; size_t n; } GoldenCase;
typedef struct { const char *model; size_t model_size; /* 0: model is a path in ../shared/data, else its bytes */
    const GoldenCase *encode; size_t n_encode; const GoldenCase *decode; size_t n_decode; } GoldenTokenizer;

static const int golden_ids_0[] = {0};
static const int golden_ids_1[] = {0};
static const int golden_ids_2[] = {0};
static const int golden_ids_3[] = {261};
static const int golden_ids_4[] = {261};
static const int golden_ids_5[] = {261};
static const int golden_ids_6[] = {261, 268};
static const int golden_ids_7[] = {403, 407, 261, 378};
static const int golden_ids_8[] = {346, 306, 414, 432, 263, 304, 341, 443};
static const int golden_ids_9[] = {410, 13};
static const int golden_ids_10[] = {410, 12, 12};
static const int golden_ids_11[] = {261, 13, 430, 16, 13, 13, 280};
static const int golden_ids_12[] = {265, 265, 265};
static const int golden_ids_13[] = {278, 411, 380, 299};
static const int golden_ids_14[] = {259, 420, 412, 290, 299};
static const int golden_ids_15[] = {410, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444, 444};
static const int golden_ids_16[] = {410, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
static const int golden_ids_17[] = {410, 475, 479, 472, 484, 480, 490, 491, 487, 483, 477};
static const int golden_ids_18[] = {279, 289, 439, 413};
static const int golden_ids_19[] = {410, 198, 135, 198, 153, 198, 159, 410, 198, 167, 427, 431, 411, 421};
static const int golden_ids_20[] = {344, 207, 132, 334, 207, 139};
static const int golden_ids_21[] = {410, 227, 167, 171, 227, 167, 177, 227, 167, 187, 227, 168, 144, 227, 167, 167, 227, 168, 138};
static const int golden_ids_22[] = {410, 231, 187, 176, 233, 153, 138, 232, 139, 137, 235, 178, 144};
static const int golden_ids_23[] = {410, 231, 192, 163, 232, 168, 192, 242, 191, 143, 231, 187, 153, 234, 152, 143, 230, 131, 133};
static const int golden_ids_24[] = {410, 233, 154, 168, 233, 159, 175, 235, 173, 161, 230, 134, 137, 230, 133, 176, 230, 133, 188, 230, 134, 139};
static const int golden_ids_25[] = {410, 243, 162, 169, 156, 243, 162, 169, 156, 410, 243, 162, 148, 172, 229, 131, 144, 243, 162, 148, 172, 229, 131, 144, 243, 162, 148, 170};
static const int golden_ids_26[] = {410, 242, 190, 194, 430, 287};
static const int golden_ids_27[] = {410, 498, 416, 430, 419, 427, 230, 131, 131, 424, 292, 411};
static const int golden_ids_28[] = {0};
static const int golden_ids_29[] = {261, 268};
static const int golden_ids_30[] = {0};
static const int golden_ids_31[] = {410, 504, 419, 505};
static const int golden_ids_32[] = {410, 504, 492, 419, 505, 410, 504, 379, 433, 505};
static const int golden_ids_33[] = {410, 504, 477, 444, 484, 475, 505};
static const int golden_ids_34[] = {410, 3};
static const int golden_ids_35[] = {261, 3, 430};
static const int golden_ids_36[] = {410, 242, 194, 192};
static const int golden_ids_37[] = {279, 411, 431, 272, 489, 444, 488, 467, 13, 410, 276, 413, 425, 420, 416, 410, 444, 410, 497, 497, 410, 479, 13};
static const int golden_ids_38[] = {410, 242, 194, 192};
static const int golden_ids_39[] = {261, 242, 194, 192, 430};
static const int golden_ids_40[] = {410, 242, 194, 192, 242, 194, 192};
static const int golden_ids_41[] = {410, 242, 194, 192, 242, 194, 192, 447};
static const int golden_ids_42[] = {410, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_43[] = {410, 242, 194, 192, 242, 194, 192};
static const int golden_ids_44[] = {410, 242, 194, 192, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_45[] = {410, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_46[] = {410, 242, 194, 192, 242, 194, 192, 334, 433};
static const int golden_ids_47[] = {154, 48, 59, 44, 428, 92};
static const int golden_ids_48[] = {126, 406, 68, 429, 315, 192, 64, 218, 232, 306};
static const int golden_ids_49[] = {41, 175, 294, 84, 250, 39, 179, 467, 276, 158, 197, 236};
static const int golden_ids_50[] = {119, 223, 203};
static const int golden_ids_51[] = {85, 411, 142, 367, 154, 154, 12, 269};
static const int golden_ids_52[] = {189, 27, 203};
static const int golden_ids_53[] = {246, 63, 213, 112, 104, 103, 106};
static const int golden_ids_54[] = {177, 485, 238};
static const int golden_ids_55[] = {319, 175, 490, 210, 27, 267, 114, 228};
static const int golden_ids_56[] = {102, 364, 241, 176, 357, 225, 100};
static const int golden_ids_57[] = {0, 352, 102, 222};
static const int golden_ids_58[] = {237, 86};
static const int golden_ids_59[] = {77, 242, 159};
static const int golden_ids_60[] = {71};
static const int golden_ids_61[] = {14, 217, 132, 31};
static const int golden_ids_62[] = {430, 155, 450, 153, 484, 333, 58, 283};
static const int golden_ids_63[] = {463, 453, 231, 253, 70, 200, 323, 438, 310};
static const int golden_ids_64[] = {73, 140, 203, 166, 206, 100, 47, 173, 9, 339, 115, 135};
static const int golden_ids_65[] = {185};
static const int golden_ids_66[] = {264, 506, 285, 37, 45, 85, 62};
static const int golden_ids_67[] = {213};
static const int golden_ids_68[] = {132, 82, 51, 319, 296, 277, 256, 18, 125, 221};
static const int golden_ids_69[] = {259, 117, 71, 355, 36, 441, 195, 248, 470};
static const int golden_ids_70[] = {1, 168, 17, 223, 171};
static const int golden_ids_71[] = {486, 254};
static const GoldenCase golden_encode_0[] = {
    {"", 0, golden_ids_0, 0},
    {" ", 1, golden_ids_1, 0},
    {"  ", 2, golden_ids_2, 0},
    {"a", 1, golden_ids_3, 1},
    {" a", 2, golden_ids_4, 1},
    {"a ", 2, golden_ids_5, 1},
    {"  a  b  ", 8, golden_ids_6, 2},
    {"Once upon a time", 16, golden_ids_7, 4},
    {"Hello, world!", 13, golden_ids_8, 8},
    {"\012", 1, golden_ids_9, 2},
    {"\011\011", 2, golden_ids_10, 3},
    {"a\012b\015\012\012 c", 8, golden_ids_11, 7},
    {"the the the", 11, golden_ids_12, 3},
    {"   leading", 10, golden_ids_13, 4},
    {"trailing   ", 11, golden_ids_14, 5},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 50, golden_ids_15, 51},
    {"\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075", 37, golden_ids_16, 38},
    {"1234567890", 10, golden_ids_17, 11},
    {"don\047t", 5, golden_ids_18, 4},
    {"\303\204\303\226\303\234 \303\244pfel", 13, golden_ids_19, 14},
    {"e\314\201 o\314\210", 7, golden_ids_20, 6},
    {"\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207", 18, golden_ids_21, 19},
    {"\344\270\255\346\226\207\345\210\206\350\257\215", 12, golden_ids_22, 13},
    {"\344\275\240\345\245\275\357\274\214\344\270\226\347\225\214\343\200\202", 18, golden_ids_23, 19},
    {"\346\227\245\346\234\254\350\252\236\343\203\206\343\202\255\343\202\271\343\203\210", 21, golden_ids_24, 22},
    {"\360\237\246\231\360\237\246\231 \360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247", 27, golden_ids_25, 28},
    {"\357\273\277bom", 6, golden_ids_26, 6},
    {"\302\240nbsp\343\200\200wide", 13, golden_ids_27, 12},
    {"\342\226\201", 3, golden_ids_28, 0},
    {"a\342\226\201b", 5, golden_ids_29, 2},
    {" \342\226\201 ", 5, golden_ids_30, 0},
    {"<s>", 3, golden_ids_31, 4},
    {"</s> <unk>", 10, golden_ids_32, 10},
    {"<0x41>", 6, golden_ids_33, 7},
    {"\000", 1, golden_ids_34, 2},
    {"a\000b", 3, golden_ids_35, 3},
    {"\357\277\275", 3, golden_ids_36, 4},
    {"def f\050x\051\072\012    return x \052\052 2\012", 28, golden_ids_37, 23},
    {"\200", 1, golden_ids_38, 4},
    {"a\200b", 3, golden_ids_39, 5},
    {"\342\226", 2, golden_ids_40, 7},
    {"\342\226A", 3, golden_ids_41, 8},
    {"\355\240\200", 3, golden_ids_42, 10},
    {"\300\200", 2, golden_ids_43, 7},
    {"\364\220\200\200", 4, golden_ids_44, 13},
    {"\360\237\246", 3, golden_ids_45, 10},
    {"\377\376 ok", 5, golden_ids_46, 9},
};
static const GoldenCase golden_decode_0[] = {
    {"\357\277\275\0558\051gY", 8, golden_ids_47, 6},
    {"\173esAcir\357\277\275\075\357\277\275\357\277\275ll", 19, golden_ids_48, 10},
    {"\046\357\277\275atQ\357\277\275\044\357\277\275\072re\357\277\275\357\277\275\357\277\275", 26, golden_ids_49, 12},
    {"t\357\277\275\357\277\275", 7, golden_ids_50, 3},
    {"Re\357\277\275end\357\277\275\357\277\275\011 and", 19, golden_ids_51, 8},
    {"\357\277\275\030\357\277\275", 7, golden_ids_52, 3},
    {"\357\277\275<\357\277\275medg", 11, golden_ids_53, 7},
    {"\357\277\275\303\251\357\277\275", 8, golden_ids_54, 3},
    {"O\357\277\2756\357\277\275\030 too\357\277\275", 16, golden_ids_55, 8},
    {"c you\357\277\275\357\277\275 mom\357\277\275a", 19, golden_ids_56, 7},
    {" \134342\134201\134207  rc\357\277\275", 20, golden_ids_57, 4},
    {"\357\277\275S", 4, golden_ids_58, 2},
    {"J\357\277\275\357\277\275", 7, golden_ids_59, 3},
    {"D", 1, golden_ids_60, 1},
    {"\013\326\201\034", 4, golden_ids_61, 4},
    {"b\357\277\275\077\357\277\2754ig7ay", 14, golden_ids_62, 8},
    {"GF\357\277\275\357\277\275C\357\277\275utLily", 18, golden_ids_63, 9},
    {"F\357\277\275\310\243\357\277\275a,\357\277\275\006ppp\357\277\275", 21, golden_ids_64, 12},
    {"\357\277\275", 3, golden_ids_65, 1},
    {"nd\174er\042\052R\073", 9, golden_ids_66, 7},
    {"\357\277\275", 3, golden_ids_67, 1},
    {"\357\277\275O0 O saou\357\277\275\017z\357\277\275", 20, golden_ids_68, 10},
    {"trDked!O\357\277\275\357\277\275V", 15, golden_ids_69, 9},
    {"\357\277\275\016\334\250", 6, golden_ids_70, 5},
    {"\342\200\246\357\277\275", 6, golden_ids_71, 2},
};
static const int golden_ids_72[] = {0};
static const int golden_ids_73[] = {259};
static const int golden_ids_74[] = {1678};
static const int golden_ids_75[] = {263};
static const int golden_ids_76[] = {29871, 263};
static const int golden_ids_77[] = {263, 29871};
static const int golden_ids_78[] = {259, 263, 29871, 289, 259};
static const int golden_ids_79[] = {9038, 2501, 263, 931};
static const int golden_ids_80[] = {15043, 29892, 3186, 29991};
static const int golden_ids_81[] = {29871, 13};
static const int golden_ids_82[] = {29871, 12, 12};
static const int golden_ids_83[] = {263, 13, 29890, 30004, 13, 13, 274};
static const int golden_ids_84[] = {278, 278, 278};
static const int golden_ids_85[] = {1678, 8236};
static const int golden_ids_86[] = {25053, 1678};
static const int golden_ids_87[] = {921, 14633, 14633, 14633, 14633, 14633, 14633, 14633, 14633, 14633, 14633, 14633, 4419, 12353};
static const int golden_ids_88[] = {1275, 9166, 9166, 25512};
static const int golden_ids_89[] = {29871, 29896, 29906, 29941, 29946, 29945, 29953, 29955, 29947, 29929, 29900};
static const int golden_ids_90[] = {1016, 29915, 29873};
static const int golden_ids_91[] = {11585, 30094, 30104, 7533, 7810, 295};
static const int golden_ids_92[] = {321, 30103, 288, 31719};
static const int golden_ids_93[] = {29871, 30424, 30485, 30489, 30296, 30475, 30569};
static const int golden_ids_94[] = {29871, 30275, 30333, 30748, 235, 178, 144};
static const int golden_ids_95[] = {29871, 30919, 31076, 30214, 30793, 30967, 30267};
static const int golden_ids_96[] = {29871, 30325, 30346, 30968, 30572, 30454, 30255, 30279};
static const int golden_ids_97[] = {29871, 243, 162, 169, 156, 243, 162, 169, 156, 29871, 243, 162, 148, 172, 30722, 243, 162, 148, 172, 30722, 243, 162, 148, 170};
static const int golden_ids_98[] = {29871, 30143, 29890, 290};
static const int golden_ids_99[] = {20246, 14239, 30358, 8157};
static const int golden_ids_100[] = {259};
static const int golden_ids_101[] = {263, 289};
static const int golden_ids_102[] = {268};
static const int golden_ids_103[] = {529, 29879, 29958};
static const int golden_ids_104[] = {1533, 29879, 29958, 529, 2960, 29958};
static const int golden_ids_105[] = {529, 29900, 29916, 29946, 29896, 29958};
static const int golden_ids_106[] = {29871, 3};
static const int golden_ids_107[] = {263, 3, 29890};
static const int golden_ids_108[] = {29871, 30140};
static const int golden_ids_109[] = {822, 285, 29898, 29916, 1125, 13, 1678, 736, 921, 3579, 29871, 29906, 13};
static const int golden_ids_110[] = {29871, 30140};
static const int golden_ids_111[] = {263, 30140, 29890};
static const int golden_ids_112[] = {29871, 26308};
static const int golden_ids_113[] = {29871, 26308, 29909};
static const int golden_ids_114[] = {29871, 26308, 30140};
static const int golden_ids_115[] = {29871, 26308};
static const int golden_ids_116[] = {29871, 26308, 26308};
static const int golden_ids_117[] = {29871, 26308, 30140};
static const int golden_ids_118[] = {29871, 26308, 3431};
static const int golden_ids_119[] = {8656, 21};
static const int golden_ids_120[] = {9818};
static const int golden_ids_121[] = {79, 166};
static const int golden_ids_122[] = {9311, 27028, 29815};
static const int golden_ids_123[] = {19138, 1021, 20877, 12341, 20570, 16033, 14973, 33, 38, 7693, 235};
static const int golden_ids_124[] = {245, 25132, 75, 8321, 408, 15918, 111};
static const int golden_ids_125[] = {146, 15266, 102, 2813, 9489};
static const int golden_ids_126[] = {230, 12676, 2444, 134, 260, 57, 254, 12913, 251};
static const int golden_ids_127[] = {72, 192, 3961, 173, 3933, 148, 33};
static const int golden_ids_128[] = {39, 219, 24, 26, 20806, 136, 16743};
static const int golden_ids_129[] = {12233, 26606, 23578, 210, 70, 15911, 241, 144, 133, 122, 15832, 5483, 256};
static const int golden_ids_130[] = {231, 230, 4574, 89, 46, 188, 26521, 211, 107};
static const int golden_ids_131[] = {31, 9093, 22503, 3034, 204};
static const int golden_ids_132[] = {31258, 16, 242, 37, 239, 8141, 5058};
static const int golden_ids_133[] = {22970, 18071, 25634, 19, 65, 17309, 36, 98, 8548, 154, 9129, 15574};
static const int golden_ids_134[] = {210};
static const int golden_ids_135[] = {99};
static const int golden_ids_136[] = {21206, 116, 30315, 17, 215, 22366, 221, 6724, 10214, 113, 24919};
static const int golden_ids_137[] = {16245, 15894, 74, 1781, 72, 1698, 230, 24009, 84, 94};
static const int golden_ids_138[] = {193};
static const int golden_ids_139[] = {14497, 40, 179, 31310, 182, 26935};
static const int golden_ids_140[] = {23109};
static const int golden_ids_141[] = {17744, 186, 992, 26601, 17, 31};
static const int golden_ids_142[] = {32, 139, 22, 162};
static const int golden_ids_143[] = {123, 27066, 238, 128, 26699};
static const GoldenCase golden_encode_1[] = {
    {"", 0, golden_ids_72, 0},
    {" ", 1, golden_ids_73, 1},
    {"  ", 2, golden_ids_74, 1},
    {"a", 1, golden_ids_75, 1},
    {" a", 2, golden_ids_76, 2},
    {"a ", 2, golden_ids_77, 2},
    {"  a  b  ", 8, golden_ids_78, 5},
    {"Once upon a time", 16, golden_ids_79, 4},
    {"Hello, world!", 13, golden_ids_80, 4},
    {"\012", 1, golden_ids_81, 2},
    {"\011\011", 2, golden_ids_82, 3},
    {"a\012b\015\012\012 c", 8, golden_ids_83, 7},
    {"the the the", 11, golden_ids_84, 3},
    {"   leading", 10, golden_ids_85, 2},
    {"trailing   ", 11, golden_ids_86, 2},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 50, golden_ids_87, 14},
    {"\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075", 37, golden_ids_88, 4},
    {"1234567890", 10, golden_ids_89, 11},
    {"don\047t", 5, golden_ids_90, 3},
    {"\303\204\303\226\303\234 \303\244pfel", 13, golden_ids_91, 6},
    {"e\314\201 o\314\210", 7, golden_ids_92, 4},
    {"\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207", 18, golden_ids_93, 7},
    {"\344\270\255\346\226\207\345\210\206\350\257\215", 12, golden_ids_94, 7},
    {"\344\275\240\345\245\275\357\274\214\344\270\226\347\225\214\343\200\202", 18, golden_ids_95, 7},
    {"\346\227\245\346\234\254\350\252\236\343\203\206\343\202\255\343\202\271\343\203\210", 21, golden_ids_96, 8},
    {"\360\237\246\231\360\237\246\231 \360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247", 27, golden_ids_97, 24},
    {"\357\273\277bom", 6, golden_ids_98, 4},
    {"\302\240nbsp\343\200\200wide", 13, golden_ids_99, 4},
    {"\342\226\201", 3, golden_ids_100, 1},
    {"a\342\226\201b", 5, golden_ids_101, 2},
    {" \342\226\201 ", 5, golden_ids_102, 1},
    {"<s>", 3, golden_ids_103, 3},
    {"</s> <unk>", 10, golden_ids_104, 6},
    {"<0x41>", 6, golden_ids_105, 6},
    {"\000", 1, golden_ids_106, 2},
    {"a\000b", 3, golden_ids_107, 3},
    {"\357\277\275", 3, golden_ids_108, 2},
    {"def f\050x\051\072\012    return x \052\052 2\012", 28, golden_ids_109, 13},
    {"\200", 1, golden_ids_110, 2},
    {"a\200b", 3, golden_ids_111, 3},
    {"\342\226", 2, golden_ids_112, 2},
    {"\342\226A", 3, golden_ids_113, 3},
    {"\355\240\200", 3, golden_ids_114, 3},
    {"\300\200", 2, golden_ids_115, 2},
    {"\364\220\200\200", 4, golden_ids_116, 3},
    {"\360\237\246", 3, golden_ids_117, 3},
    {"\377\376 ok", 5, golden_ids_118, 3},
};
static const GoldenCase golden_decode_1[] = {
    {"plain\022", 6, golden_ids_119, 2},
    {"ALL", 3, golden_ids_120, 1},
    {"L\357\277\275", 4, golden_ids_121, 2},
    {"trust limitations mi\304\231dzy", 25, golden_ids_122, 3},
    {"summar same sant laidHistorySK hast\036\043 thous\357\277\275", 46, golden_ids_123, 11},
    {"\357\277\275 DresdenH przy as Digitall", 29, golden_ids_124, 7},
    {"\357\277\275\320\272\320\260\321\200chead kl", 17, golden_ids_125, 5},
    {"\357\277\275mean seems\357\277\275 t6\357\277\275\140\051.\357\277\275", 28, golden_ids_126, 9},
    {"E\357\277\275 vom\357\277\275 remain\357\277\275\036", 22, golden_ids_127, 7},
    {"\044\357\277\275\025\027uil\357\277\275 dealing", 20, golden_ids_128, 7},
    {"\320\276\320\261\320\276 thoroughlyenf\357\277\275C vue\356\215\202w allenn\303\251\357\277\275", 44, golden_ids_129, 13},
    {"\357\277\275\357\277\275URV\053\357\277\275Nothing\357\277\275h", 24, golden_ids_130, 9},
    {"\034illobelowmar\357\277\275", 16, golden_ids_131, 5},
    {"\343\203\244\015\357\277\275\042\357\277\275atr\303\241z", 17, golden_ids_132, 7},
    {"OURaruFIX\020> dicembre!_ spirit\357\277\275 introduced commonly", 52, golden_ids_133, 12},
    {"\357\277\275", 3, golden_ids_134, 1},
    {"\140", 1, golden_ids_135, 1},
    {"\303\251chq\342\210\200\016\357\277\275 imply\357\277\275 testingugenn S\303\251", 38, golden_ids_136, 11},
    {"ignor assumesG goodEock\357\277\275 w\305\202Q\133", 32, golden_ids_137, 10},
    {"\357\277\275", 3, golden_ids_138, 1},
    {"citiz\045\357\277\275\340\270\202\357\277\275 coffee", 22, golden_ids_139, 6},
    {"pesso", 5, golden_ids_140, 1},
    {"ADD\357\277\275 vooccupation\016\034", 21, golden_ids_141, 6},
    {"\035\357\277\275\023\357\277\275", 8, golden_ids_142, 4},
    {"x meses\357\277\275\175 Warner", 18, golden_ids_143, 5},
};
static const int golden_ids_144[] = {0};
static const int golden_ids_145[] = {259};
static const int golden_ids_146[] = {2287};
static const int golden_ids_147[] = {264};
static const int golden_ids_148[] = {28705, 264};
static const int golden_ids_149[] = {264, 28705};
static const int golden_ids_150[] = {259, 264, 28705, 287, 259};
static const int golden_ids_151[] = {5713, 3714, 264, 727};
static const int golden_ids_152[] = {22557, 28725, 1526, 28808};
static const int golden_ids_153[] = {28705, 13};
static const int golden_ids_154[] = {28705, 12, 12};
static const int golden_ids_155[] = {264, 13, 28726, 28801, 13, 13, 277};
static const int golden_ids_156[] = {272, 272, 272};
static const int golden_ids_157[] = {2287, 5374};
static const int golden_ids_158[] = {27166, 2287};
static const int golden_ids_159[] = {1318, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 5735, 22607};
static const int golden_ids_160[] = {327, 3047, 3047, 965};
static const int golden_ids_161[] = {28705, 28740, 28750, 28770, 28781, 28782, 28784, 28787, 28783, 28774, 28734};
static const int golden_ids_162[] = {949, 28742, 28707};
static const int golden_ids_163[] = {18912, 28940, 28961, 14239, 10018, 301};
static const int golden_ids_164[] = {317, 28949, 289, 30814};
static const int golden_ids_165[] = {28705, 29540, 29672, 29671, 29300, 29708, 29586};
static const int golden_ids_166[] = {28705, 28991, 29019, 29062, 30352};
static const int golden_ids_167[] = {28705, 29383, 29530, 28924, 30050, 29822, 28944};
static const int golden_ids_168[] = {28705, 29142, 29119, 30321, 29610, 29753, 29109, 29123};
static const int golden_ids_169[] = {28705, 243, 162, 169, 156, 243, 162, 169, 156, 28705, 243, 162, 148, 172, 29274, 243, 162, 148, 172, 29274, 243, 162, 148, 170};
static const int golden_ids_170[] = {28705, 31759, 28726, 300};
static const int golden_ids_171[] = {28705, 29000, 14089, 29351, 5734};
static const int golden_ids_172[] = {259};
static const int golden_ids_173[] = {264, 287};
static const int golden_ids_174[] = {260};
static const int golden_ids_175[] = {523, 28713, 28767};
static const int golden_ids_176[] = {1867, 28713, 28767, 523, 2060, 28767};
static const int golden_ids_177[] = {523, 28734, 28744, 28781, 28740, 28767};
static const int golden_ids_178[] = {28705, 3};
static const int golden_ids_179[] = {264, 3, 28726};
static const int golden_ids_180[] = {28705, 29137};
static const int golden_ids_181[] = {801, 285, 28732, 28744, 1329, 13, 2287, 604, 1318, 619, 28705, 28750, 13};
static const int golden_ids_182[] = {28705, 29137};
static const int golden_ids_183[] = {264, 29137, 28726};
static const int golden_ids_184[] = {28705, 29137, 29137};
static const int golden_ids_185[] = {28705, 29137, 29137, 28741};
static const int golden_ids_186[] = {28705, 29137, 29137, 29137};
static const int golden_ids_187[] = {28705, 29137, 29137};
static const int golden_ids_188[] = {28705, 29137, 29137, 29137, 29137};
static const int golden_ids_189[] = {28705, 29137, 29137, 29137};
static const int golden_ids_190[] = {28705, 29137, 29137, 3614};
static const int golden_ids_191[] = {4, 26960, 163, 11857, 12834, 13361, 15784, 13977};
static const int golden_ids_192[] = {20466, 215, 23257, 68, 15103};
static const int golden_ids_193[] = {150, 137, 8324, 14398, 8039, 96, 202, 8059, 51, 1213, 118, 29962, 28733};
static const int golden_ids_194[] = {1651, 38};
static const int golden_ids_195[] = {91, 19760, 3466, 188, 4632, 8353, 5, 13401, 20349};
static const int golden_ids_196[] = {253, 2073, 26078, 20944};
static const int golden_ids_197[] = {138, 157, 26, 182, 9, 100, 23856};
static const int golden_ids_198[] = {80};
static const int golden_ids_199[] = {46, 186};
static const int golden_ids_200[] = {5326, 72, 2917, 178, 5302, 196, 101, 22, 27, 2827, 20350, 27170, 18527};
static const int golden_ids_201[] = {80, 11770, 8095, 19, 199, 156, 127};
static const int golden_ids_202[] = {188, 16501, 1, 120, 25020, 242, 3508};
static const int golden_ids_203[] = {14109, 26289, 1332, 30216, 258, 21389};
static const int golden_ids_204[] = {20123, 251};
static const int golden_ids_205[] = {30016, 179, 165, 29657, 257, 6826, 10455, 93, 142, 29340, 25956, 24, 31658};
static const int golden_ids_206[] = {201, 192, 74, 41, 7538};
static const int golden_ids_207[] = {129, 20946, 24481, 148, 13686};
static const int golden_ids_208[] = {16003, 730, 181};
static const int golden_ids_209[] = {17140, 13540};
static const int golden_ids_210[] = {12000, 4415, 76, 3139};
static const int golden_ids_211[] = {138, 26593, 179, 19722, 5409, 12, 6083, 1912, 20074, 102, 89};
static const int golden_ids_212[] = {24, 3};
static const int golden_ids_213[] = {24418, 24305, 53, 7611, 10994, 223, 9686};
static const int golden_ids_214[] = {86, 29645, 81, 199, 122, 240, 27515, 119, 108};
static const int golden_ids_215[] = {19180, 4738, 3666, 11300, 1011, 22695, 24142, 28065, 33, 3509};
static const GoldenCase golden_encode_2[] = {
    {"", 0, golden_ids_144, 0},
    {" ", 1, golden_ids_145, 1},
    {"  ", 2, golden_ids_146, 1},
    {"a", 1, golden_ids_147, 1},
    {" a", 2, golden_ids_148, 2},
    {"a ", 2, golden_ids_149, 2},
    {"  a  b  ", 8, golden_ids_150, 5},
    {"Once upon a time", 16, golden_ids_151, 4},
    {"Hello, world!", 13, golden_ids_152, 4},
    {"\012", 1, golden_ids_153, 2},
    {"\011\011", 2, golden_ids_154, 3},
    {"a\012b\015\012\012 c", 8, golden_ids_155, 7},
    {"the the the", 11, golden_ids_156, 3},
    {"   leading", 10, golden_ids_157, 2},
    {"trailing   ", 11, golden_ids_158, 2},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 50, golden_ids_159, 25},
    {"\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075", 37, golden_ids_160, 4},
    {"1234567890", 10, golden_ids_161, 11},
    {"don\047t", 5, golden_ids_162, 3},
    {"\303\204\303\226\303\234 \303\244pfel", 13, golden_ids_163, 6},
    {"e\314\201 o\314\210", 7, golden_ids_164, 4},
    {"\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207", 18, golden_ids_165, 7},
    {"\344\270\255\346\226\207\345\210\206\350\257\215", 12, golden_ids_166, 5},
    {"\344\275\240\345\245\275\357\274\214\344\270\226\347\225\214\343\200\202", 18, golden_ids_167, 7},
    {"\346\227\245\346\234\254\350\252\236\343\203\206\343\202\255\343\202\271\343\203\210", 21, golden_ids_168, 8},
    {"\360\237\246\231\360\237\246\231 \360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247", 27, golden_ids_169, 24},
    {"\357\273\277bom", 6, golden_ids_170, 4},
    {"\302\240nbsp\343\200\200wide", 13, golden_ids_171, 5},
    {"\342\226\201", 3, golden_ids_172, 1},
    {"a\342\226\201b", 5, golden_ids_173, 2},
    {" \342\226\201 ", 5, golden_ids_174, 1},
    {"<s>", 3, golden_ids_175, 3},
    {"</s> <unk>", 10, golden_ids_176, 6},
    {"<0x41>", 6, golden_ids_177, 6},
    {"\000", 1, golden_ids_178, 2},
    {"a\000b", 3, golden_ids_179, 3},
    {"\357\277\275", 3, golden_ids_180, 2},
    {"def f\050x\051\072\012    return x \052\052 2\012", 28, golden_ids_181, 13},
    {"\200", 1, golden_ids_182, 2},
    {"a\200b", 3, golden_ids_183, 3},
    {"\342\226", 2, golden_ids_184, 3},
    {"\342\226A", 3, golden_ids_185, 4},
    {"\355\240\200", 3, golden_ids_186, 4},
    {"\300\200", 2, golden_ids_187, 3},
    {"\364\220\200\200", 4, golden_ids_188, 5},
    {"\360\237\246", 3, golden_ids_189, 4},
    {"\377\376 ok", 5, golden_ids_190, 4},
};
static const GoldenCase golden_decode_2[] = {
    {"\001\321\210\321\202\320\260\357\277\275 FutleAudio LA rarely", 31, golden_ids_191, 8},
    {"Computer\357\277\275 gebruA sons", 23, golden_ids_192, 5},
    {"\357\277\275\357\277\275 discovered\320\262\320\265\320\264\320\265 colon\135\357\277\275 decor0conds\340\271\204\055", 51, golden_ids_193, 13},
    {"ique\043", 5, golden_ids_194, 2},
    {"Xairo ou\357\277\275istance density\002UTEPayload", 37, golden_ids_195, 9},
    {"\357\277\275\321\201\320\272\320\270wb Toy", 15, golden_ids_196, 4},
    {"\357\277\275\357\277\275\027\357\277\275\006aomas", 16, golden_ids_197, 7},
    {"M", 1, golden_ids_198, 1},
    {"\053\357\277\275", 4, golden_ids_199, 2},
    {"moEping\357\277\275 sudden\357\277\275b\023\030endsbidden AveFetch", 42, golden_ids_200, 13},
    {"M glancedonym\020\304\231\174", 17, golden_ids_201, 7},
    {"\357\277\275 Rusu Were\357\277\275 track", 22, golden_ids_202, 7},
    {"zk\303\250seized\342\237\251\357\277\275 traged", 23, golden_ids_203, 6},
    {"mouth\357\277\275", 8, golden_ids_204, 2},
    {"\345\240\264\357\277\275\357\277\275\345\233\240\357\277\275\321\202\320\276\321\200 fabricZ\357\277\275\360\237\231\202INSTANCE\025\341\271\254", 48, golden_ids_205, 13},
    {"\306\275G\046utt", 7, golden_ids_206, 5},
    {"\176n\303\241 m\303\245n\357\277\275 viv", 16, golden_ids_207, 5},
    {"atticeUser\357\277\275", 13, golden_ids_208, 3},
    {"placement Books", 15, golden_ids_209, 2},
    {"brill druI\320\266\320\270", 14, golden_ids_210, 4},
    {"\357\277\275\320\273\320\273\320\260\357\277\275ickymult\011 Thomas tell\321\201\321\213cV", 39, golden_ids_211, 11},
    {"\025\000", 2, golden_ids_212, 2},
    {"harm strangers2 json \303\226\357\277\275 Francisco", 36, golden_ids_213, 7},
    {"S\343\202\253N\357\277\275w\357\277\275 chrti", 18, golden_ids_214, 9},
    {"\320\240\320\276\321\201\321\201\320\270\320\270BCptember HashqueFLOATetics \303\244ven\036 associ", 53, golden_ids_215, 10},
};
static const int golden_ids_216[] = {0};
static const int golden_ids_217[] = {0};
static const int golden_ids_218[] = {0};
static const int golden_ids_219[] = {261};
static const int golden_ids_220[] = {261};
static const int golden_ids_221[] = {261};
static const int golden_ids_222[] = {261, 269};
static const int golden_ids_223[] = {435, 461, 261, 409};
static const int golden_ids_224[] = {311, 297, 950, 969, 538, 326, 977};
static const int golden_ids_225[] = {946, 13};
static const int golden_ids_226[] = {946, 12, 12};
static const int golden_ids_227[] = {261, 13, 967, 16, 13, 13, 279};
static const int golden_ids_228[] = {265, 265, 265};
static const int golden_ids_229[] = {498, 349, 290};
static const int golden_ids_230[] = {260, 424, 312, 290};
static const int golden_ids_231[] = {946, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981, 981};
static const int golden_ids_232[] = {946, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};
static const int golden_ids_233[] = {946, 1008, 1013, 1002, 1014, 1018, 1015, 1019, 1020, 60, 1011};
static const int golden_ids_234[] = {829, 975, 949};
static const int golden_ids_235[] = {946, 198, 135, 198, 153, 198, 159, 946, 198, 167, 965, 966, 364};
static const int golden_ids_236[] = {323, 207, 132, 286, 207, 139};
static const int golden_ids_237[] = {946, 227, 167, 171, 227, 167, 177, 227, 167, 187, 227, 168, 144, 227, 167, 167, 227, 168, 138};
static const int golden_ids_238[] = {946, 231, 187, 176, 233, 153, 138, 232, 139, 137, 235, 178, 144};
static const int golden_ids_239[] = {946, 231, 192, 163, 232, 168, 192, 242, 191, 143, 231, 187, 153, 234, 152, 143, 230, 131, 133};
static const int golden_ids_240[] = {946, 233, 154, 168, 233, 159, 175, 235, 173, 161, 230, 134, 137, 230, 133, 176, 230, 133, 188, 230, 134, 139};
static const int golden_ids_241[] = {946, 243, 162, 169, 156, 243, 162, 169, 156, 946, 243, 162, 148, 172, 229, 131, 144, 243, 162, 148, 172, 229, 131, 144, 243, 162, 148, 170};
static const int golden_ids_242[] = {946, 242, 190, 194, 967, 287};
static const int golden_ids_243[] = {946, 197, 163, 952, 967, 955, 965, 230, 131, 131, 959, 430};
static const int golden_ids_244[] = {0};
static const int golden_ids_245[] = {261, 269};
static const int golden_ids_246[] = {0};
static const int golden_ids_247[] = {946, 63, 955, 65};
static const int golden_ids_248[] = {946, 63, 50, 955, 65, 946, 63, 370, 968, 65};
static const int golden_ids_249[] = {946, 63, 1011, 981, 1014, 1008, 65};
static const int golden_ids_250[] = {946, 3};
static const int golden_ids_251[] = {261, 3, 967};
static const int golden_ids_252[] = {946, 242, 194, 192};
static const int golden_ids_253[] = {281, 947, 966, 275, 43, 981, 44, 1001, 13, 404, 949, 455, 952, 946, 981, 946, 45, 45, 946, 1013, 13};
static const int golden_ids_254[] = {946, 242, 194, 192};
static const int golden_ids_255[] = {261, 242, 194, 192, 967};
static const int golden_ids_256[] = {946, 242, 194, 192, 242, 194, 192};
static const int golden_ids_257[] = {946, 242, 194, 192, 242, 194, 192, 983};
static const int golden_ids_258[] = {946, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_259[] = {946, 242, 194, 192, 242, 194, 192};
static const int golden_ids_260[] = {946, 242, 194, 192, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_261[] = {946, 242, 194, 192, 242, 194, 192, 242, 194, 192};
static const int golden_ids_262[] = {946, 242, 194, 192, 242, 194, 192, 286, 968};
static const int golden_ids_263[] = {229, 147, 204, 150};
static const int golden_ids_264[] = {867, 131, 188, 975, 15, 177};
static const int golden_ids_265[] = {98, 87, 103, 2, 48, 253, 81, 118, 339, 53, 48, 44};
static const int golden_ids_266[] = {51, 134, 350, 943, 713, 922, 224, 64, 946, 547, 126};
static const int golden_ids_267[] = {713, 96, 208, 400, 154, 890, 54, 198, 6, 113};
static const int golden_ids_268[] = {72, 828, 880, 468, 221, 50, 496, 216};
static const int golden_ids_269[] = {40, 5, 1003, 514, 409, 104, 189, 840};
static const int golden_ids_270[] = {376, 28, 195, 125, 215, 543, 621, 802, 336, 395, 180};
static const int golden_ids_271[] = {64, 117, 129, 380, 575, 164, 993, 78};
static const int golden_ids_272[] = {43, 287, 23, 600, 292, 925, 427};
static const int golden_ids_273[] = {185, 1012, 898, 541, 242, 247, 295, 1020, 164, 151};
static const int golden_ids_274[] = {872, 369, 23, 261, 992, 436};
static const int golden_ids_275[] = {187, 107, 175, 26, 181, 170};
static const int golden_ids_276[] = {104, 241, 649, 20, 25, 615, 97, 256, 301};
static const int golden_ids_277[] = {937};
static const int golden_ids_278[] = {18, 6, 158, 94, 70, 27, 60, 828, 28, 973, 169};
static const int golden_ids_279[] = {31, 19, 446};
static const int golden_ids_280[] = {36, 923, 749, 255, 520, 23, 199, 84};
static const int golden_ids_281[] = {161, 898, 59, 213, 231, 149, 124, 158, 192, 119};
static const int golden_ids_282[] = {164, 548, 86, 140, 43};
static const int golden_ids_283[] = {781, 29, 105, 197, 179, 203, 657, 387, 92, 183, 305, 1010, 761};
static const int golden_ids_284[] = {15, 574, 104};
static const int golden_ids_285[] = {133, 49, 268, 693, 774, 17, 938, 813, 526, 259};
static const int golden_ids_286[] = {81, 481, 131};
static const int golden_ids_287[] = {24};
static const GoldenCase golden_encode_3[] = {
    {"", 0, golden_ids_216, 0},
    {" ", 1, golden_ids_217, 0},
    {"  ", 2, golden_ids_218, 0},
    {"a", 1, golden_ids_219, 1},
    {" a", 2, golden_ids_220, 1},
    {"a ", 2, golden_ids_221, 1},
    {"  a  b  ", 8, golden_ids_222, 2},
    {"Once upon a time", 16, golden_ids_223, 4},
    {"Hello, world!", 13, golden_ids_224, 7},
    {"\012", 1, golden_ids_225, 2},
    {"\011\011", 2, golden_ids_226, 3},
    {"a\012b\015\012\012 c", 8, golden_ids_227, 7},
    {"the the the", 11, golden_ids_228, 3},
    {"   leading", 10, golden_ids_229, 3},
    {"trailing   ", 11, golden_ids_230, 4},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 50, golden_ids_231, 51},
    {"\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075\075", 37, golden_ids_232, 38},
    {"1234567890", 10, golden_ids_233, 11},
    {"don\047t", 5, golden_ids_234, 3},
    {"\303\204\303\226\303\234 \303\244pfel", 13, golden_ids_235, 13},
    {"e\314\201 o\314\210", 7, golden_ids_236, 6},
    {"\340\244\250\340\244\256\340\244\270\340\245\215\340\244\244\340\245\207", 18, golden_ids_237, 19},
    {"\344\270\255\346\226\207\345\210\206\350\257\215", 12, golden_ids_238, 13},
    {"\344\275\240\345\245\275\357\274\214\344\270\226\347\225\214\343\200\202", 18, golden_ids_239, 19},
    {"\346\227\245\346\234\254\350\252\236\343\203\206\343\202\255\343\202\271\343\203\210", 21, golden_ids_240, 22},
    {"\360\237\246\231\360\237\246\231 \360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247", 27, golden_ids_241, 28},
    {"\357\273\277bom", 6, golden_ids_242, 6},
    {"\302\240nbsp\343\200\200wide", 13, golden_ids_243, 12},
    {"\342\226\201", 3, golden_ids_244, 0},
    {"a\342\226\201b", 5, golden_ids_245, 2},
    {" \342\226\201 ", 5, golden_ids_246, 0},
    {"<s>", 3, golden_ids_247, 4},
    {"</s> <unk>", 10, golden_ids_248, 10},
    {"<0x41>", 6, golden_ids_249, 7},
    {"\000", 1, golden_ids_250, 2},
    {"a\000b", 3, golden_ids_251, 3},
    {"\357\277\275", 3, golden_ids_252, 4},
    {"def f\050x\051\072\012    return x \052\052 2\012", 28, golden_ids_253, 21},
    {"\200", 1, golden_ids_254, 4},
    {"a\200b", 3, golden_ids_255, 5},
    {"\342\226", 2, golden_ids_256, 7},
    {"\342\226A", 3, golden_ids_257, 8},
    {"\355\240\200", 3, golden_ids_258, 10},
    {"\300\200", 2, golden_ids_259, 7},
    {"\364\220\200\200", 4, golden_ids_260, 13},
    {"\360\237\246", 3, golden_ids_261, 10},
    {"\377\376 ok", 5, golden_ids_262, 9},
};
static const GoldenCase golden_decode_3[] = {
    {"\357\277\275\357\277\275\311\223", 8, golden_ids_263, 4},
    {"bra\357\277\275\357\277\275\047\014\357\277\275", 14, golden_ids_264, 6},
    {"_Td\055\357\277\275Nske2\055\051", 14, golden_ids_265, 12},
    {"0\357\277\275nt fr outsideip\357\277\275\075  what\173", 30, golden_ids_266, 11},
    {"outside\135\357\277\275 k\357\277\275 rem3\357\277\275\003n", 26, golden_ids_267, 10},
    {"Esel soonart\357\277\275/oug\357\277\275", 22, golden_ids_268, 8},
    {"\045\002V al timee\357\277\275 Max", 19, golden_ids_269, 8},
    {"M\031\357\277\275z\357\277\275 away things wocely\357\277\275", 31, golden_ids_270, 11},
    {"\075r\176 want then\357\277\275FK", 18, golden_ids_271, 8},
    {"\050om\024 Timmyis nowter", 19, golden_ids_272, 7},
    {"\357\277\275\303\261 farag\357\277\275\357\277\275id8\357\277\275\357\277\275", 26, golden_ids_273, 10},
    {"because they\024 aq him", 20, golden_ids_274, 6},
    {"\357\277\275h\357\277\275\027\357\277\275\357\277\275", 14, golden_ids_275, 6},
    {"e\357\277\275 your\021\026 wal\136\357\277\275 sa", 22, golden_ids_276, 9},
    {"After", 5, golden_ids_277, 1},
    {"\017\003\357\277\275\133C\0309sel\031S\357\277\275", 17, golden_ids_278, 11},
    {"\034\020fu", 4, golden_ids_279, 3},
    {"! Boion\357\277\275side\024\357\277\275Q", 19, golden_ids_280, 8},
    {"\357\277\275 far8\357\277\275\357\277\275\357\277\275y\357\277\275\357\277\275t", 25, golden_ids_281, 10},
    {"\357\277\275 lovedS\357\277\275\050", 14, golden_ids_282, 5},
    {"hugged\032f\302\260\357\277\275 my veryY\357\277\275le\302\273 hand", 34, golden_ids_283, 13},
    {"\014 frome", 7, golden_ids_284, 3},
    {"\357\277\275.in twough\016 walked thanked Ehe", 33, golden_ids_285, 10},
    {"Nood\357\277\275", 7, golden_ids_286, 3},
    {"\025", 1, golden_ids_287, 1},
};
static const int golden_ids_288[] = {0};
static const int golden_ids_289[] = {13};
static const int golden_ids_290[] = {10, 6, 18};
static const int golden_ids_291[] = {10, 15, 18, 18, 18, 18};
static const int golden_ids_292[] = {15, 4, 3, 16};
static const int golden_ids_293[] = {13, 15, 17, 0, 6, 16, 15, 0, 13, 6, 6, 18};
static const int golden_ids_294[] = {15, 12, 0, 6, 18, 13, 12};
static const int golden_ids_295[] = {15, 0, 15, 20};
static const int golden_ids_296[] = {8, 0, 15, 17, 0, 15, 18, 6, 18, 20, 0, 12, 16, 18, 0};
static const int golden_ids_297[] = {15, 6, 13, 15, 0, 6, 18, 20};
static const int golden_ids_298[] = {13, 17, 0, 20, 0};
static const int golden_ids_299[] = {15, 20, 3, 0, 15, 20, 16, 3, 0, 6, 0, 3, 13, 0};
static const int golden_ids_300[] = {15, 0, 13, 0, 20, 17, 15};
static const int golden_ids_301[] = {13, 15, 0, 3, 10, 0, 3, 15};
static const int golden_ids_302[] = {13, 0, 12, 0, 17, 0, 20, 16, 0, 6, 20, 0, 16};
static const int golden_ids_303[] = {15, 0, 6, 18, 0, 17, 0, 15, 3, 0, 14, 15, 0};
static const int golden_ids_304[] = {15, 18, 18, 13, 3};
static const int golden_ids_305[] = {13, 20, 15};
static const int golden_ids_306[] = {15, 0, 8, 18, 0, 17, 6, 18, 6, 0, 13};
static const int golden_ids_307[] = {8, 0};
static const int golden_ids_308[] = {13, 15, 20, 3, 15, 0, 6, 18, 17, 0, 6, 18, 16, 6, 18, 0, 18, 0, 6, 18};
static const int golden_ids_309[] = {15, 10, 18, 18, 17, 0, 13, 0, 16, 20, 16, 15};
static const int golden_ids_310[] = {13, 0};
static const int golden_ids_311[] = {15, 0, 3};
static const int golden_ids_312[] = {8, 16, 0, 15, 3, 16, 0, 15, 0};
static const int golden_ids_313[] = {10, 0};
static const int golden_ids_314[] = {15, 0, 17, 3, 0, 13, 3, 0, 12, 20};
static const int golden_ids_315[] = {13, 15, 20, 0, 12, 0, 16, 12, 0};
static const int golden_ids_316[] = {15, 17, 18, 18, 18, 17, 6, 18, 6, 18, 18, 18, 15, 6, 0, 6};
static const int golden_ids_317[] = {15, 12, 17, 6, 20, 6, 18, 15, 0, 16, 6, 18, 0, 18, 6, 0};
static const int golden_ids_318[] = {8, 15, 20, 0};
static const int golden_ids_319[] = {15, 0, 17, 17, 17, 4, 17};
static const int golden_ids_320[] = {15, 0, 3, 0, 16, 0, 15, 17, 0};
static const int golden_ids_321[] = {15, 0, 17, 3, 18, 0};
static const int golden_ids_322[] = {15, 20, 0, 20, 0, 3, 15, 18};
static const int golden_ids_323[] = {9, 19, 20, 11, 9, 15, 7, 16, 18, 11, 17, 8};
static const int golden_ids_324[] = {9, 5, 11, 16};
static const int golden_ids_325[] = {11, 13, 11, 19, 3, 8, 13, 13};
static const int golden_ids_326[] = {12, 13, 14, 11, 12, 20, 12, 5};
static const int golden_ids_327[] = {13, 18, 10, 6, 0, 18, 17, 19, 16, 14, 19, 14, 16};
static const int golden_ids_328[] = {16, 20, 13, 14, 16, 10, 2};
static const int golden_ids_329[] = {9, 16};
static const int golden_ids_330[] = {9, 6, 5, 11, 13, 9, 9, 18, 5};
static const int golden_ids_331[] = {18, 20, 6, 19, 5, 0, 16, 19, 1, 18, 11, 1, 20};
static const int golden_ids_332[] = {14, 0, 12, 14, 7, 5};
static const int golden_ids_333[] = {14, 19, 15, 12, 9, 15};
static const int golden_ids_334[] = {5, 12};
static const int golden_ids_335[] = {17, 10, 10, 13, 7};
static const int golden_ids_336[] = {9, 7, 0, 4};
static const int golden_ids_337[] = {6, 14};
static const GoldenCase golden_encode_4[] = {
    {"", 0, golden_ids_288, 0},
    {" ", 1, golden_ids_289, 1},
    {"abcabc", 6, golden_ids_290, 3},
    {"abc cccc", 8, golden_ids_291, 6},
    {"<sep><sep><sep>a", 16, golden_ids_292, 4},
    {"  bd\351aba <s>\200d  ababc", 21, golden_ids_293, 12},
    {"cccdabc  ccc", 12, golden_ids_294, 7},
    {"\302\200\342\226\201\303\251", 7, golden_ids_295, 4},
    {"a\302\200 b\344\270\255\342\226\201cabc\303\251\302\200dcccac\302\200", 27, golden_ids_296, 15},
    {"ab\342\226\201  dabc\303\251", 13, golden_ids_297, 8},
    {"\342\226\201b\344\270\255\302\200\303\251\302\200", 13, golden_ids_298, 5},
    {"\303\251<sep>xx\342\226\201\303\251a<sep><s>ab\344\270\255<sep>  d", 36, golden_ids_299, 14},
    {"\302\200  d\303\251b ", 9, golden_ids_300, 7},
    {"  <s>d<sep> abcx<sep>\342\226\201", 24, golden_ids_301, 8},
    {"\342\226\201dccc<s>x\344\270\255b<s>\303\251a\302\200ab\303\251\302\200a", 30, golden_ids_302, 13},
    {"<s>\344\270\255abcxbx <sep>\344\270\255\303\251\344\270\255\342\226\201\344\270\255", 32, golden_ids_303, 13},
    {"cc  <sep>", 9, golden_ids_304, 5},
    {" \303\251 ", 4, golden_ids_305, 3},
    {"<s> acxbabcab<s>  ", 18, golden_ids_306, 11},
    {"ax", 2, golden_ids_307, 2},
    {"  \303\251<sep>\342\226\201\344\270\255abcb\344\270\255abcaabc\302\200cdabc", 36, golden_ids_308, 20},
    {"\342\226\201abcccb<s>d  \302\200a\303\251a\342\226\201", 24, golden_ids_309, 12},
    {"\342\226\201\344\270\255", 6, golden_ids_310, 2},
    {"d<s><sep>", 9, golden_ids_311, 3},
    {"aad <sep>a\302\200\342\226\201\302\200", 17, golden_ids_312, 9},
    {"abcd", 4, golden_ids_313, 2},
    {"\344\270\255b<sep>d\302\200  <sep>dddccc\303\251", 27, golden_ids_314, 10},
    {"\342\226\201\342\226\201\303\251\302\200ccc\344\270\255acccx", 21, golden_ids_315, 9},
    {"bcccbabcabccc\342\226\201abxab", 21, golden_ids_316, 16},
    {"cccbab\303\251abc\342\226\201xaabcd\344\270\255cabx", 27, golden_ids_317, 16},
    {"a\342\226\201\303\251x", 7, golden_ids_318, 4},
    {"\302\200bbb<sep><sep>b", 16, golden_ids_319, 7},
    {"d<sep>dax\342\226\201b<s>d<s>", 20, golden_ids_320, 9},
    {"\344\270\255db<sep>c\302\200", 13, golden_ids_321, 6},
    {"\303\251\302\200d\303\251<s>x<s><sep>\342\226\201c", 23, golden_ids_322, 8},
};
static const GoldenCase golden_decode_4[] = {
    {"bcd\303\251ccbc abcacccb a", 20, golden_ids_323, 12},
    {"bcab acca", 9, golden_ids_324, 4},
    {"cc  ccd<sep> a    ", 18, golden_ids_325, 8},
    {"ccc  \303\251\344\270\255ccccc\303\251cccab a", 24, golden_ids_326, 8},
    {" c abcab \342\201\207 cbda\303\251\344\270\255d\303\251\344\270\255a", 29, golden_ids_327, 13},
    {"a\303\251  \303\251\344\270\255a abc", 15, golden_ids_328, 7},
    {"bca", 3, golden_ids_329, 2},
    {"bcabab acc  bcbccab a", 21, golden_ids_330, 9},
    {"c\303\251abdab a \342\201\207 adccc\303\251", 22, golden_ids_331, 13},
    {"\303\251\344\270\255 \342\201\207 ccc\303\251\344\270\255abcab a", 25, golden_ids_332, 6},
    {"\303\251\344\270\255d cccbc ", 13, golden_ids_333, 6},
    {"ab accc", 7, golden_ids_334, 2},
    {"b abc abc  abc", 14, golden_ids_335, 5},
    {"bcabc \342\201\207 <sep><sep>", 20, golden_ids_336, 4},
    {"ab\303\251\344\270\255", 7, golden_ids_337, 2},
};
static const int golden_ids_338[] = {0};
static const int golden_ids_339[] = {0};
static const int golden_ids_340[] = {10, 6, 18};
static const int golden_ids_341[] = {10, 15, 18, 18, 18, 18};
static const int golden_ids_342[] = {15, 4, 3, 16};
static const int golden_ids_343[] = {15, 0, 6, 18, 6, 18, 15, 18, 18, 18, 18, 18, 18, 15, 0, 15, 0};
static const int golden_ids_344[] = {15, 3, 0, 6, 18, 15, 12, 15, 20, 0, 18, 3, 12, 16};
static const int golden_ids_345[] = {15, 20, 0, 16, 18, 18, 18, 18, 0, 15, 6, 15, 0, 18};
static const int golden_ids_346[] = {10, 0, 15, 18, 0, 18, 15, 0, 20};
static const int golden_ids_347[] = {15, 12, 0, 6, 18, 12, 0, 20, 3, 0, 16, 6, 18, 6, 18, 0, 16, 0};
static const int golden_ids_348[] = {15, 12, 6, 18, 0};
static const int golden_ids_349[] = {15, 0, 3, 15, 17, 18, 18, 18};
static const int golden_ids_350[] = {15, 0};
static const int golden_ids_351[] = {15, 0, 20, 12, 17, 0};
static const int golden_ids_352[] = {13, 15, 3, 0, 6, 18, 16, 0, 17, 17};
static const int golden_ids_353[] = {15, 0, 17, 6};
static const int golden_ids_354[] = {10, 18, 0, 12, 15, 3, 18, 6, 18, 0, 6, 0, 17};
static const int golden_ids_355[] = {15, 0, 20, 15, 17, 3, 0, 15, 3};
static const int golden_ids_356[] = {15, 17, 0, 6, 18, 6, 18};
static const int golden_ids_357[] = {15, 18, 15, 0, 20, 20};
static const int golden_ids_358[] = {15, 8, 0, 20};
static const int golden_ids_359[] = {10, 0, 20, 20, 15, 6, 0, 20, 0, 12, 15, 0};
static const int golden_ids_360[] = {10};
static const int golden_ids_361[] = {15, 17, 17, 3, 0, 15, 0};
static const int golden_ids_362[] = {15, 0, 6, 0, 6, 18, 0};
static const int golden_ids_363[] = {15, 18, 17, 16, 0, 15, 18, 6, 3, 0};
static const int golden_ids_364[] = {15, 0, 15, 6, 16, 6, 18, 18, 0, 3};
static const int golden_ids_365[] = {15, 20, 16};
static const int golden_ids_366[] = {15, 12};
static const int golden_ids_367[] = {15, 20, 0, 6, 18, 0, 6, 18, 18, 18, 0, 6, 18, 6, 10};
static const int golden_ids_368[] = {10, 3};
static const int golden_ids_369[] = {15, 17};
static const int golden_ids_370[] = {15, 12, 17};
static const int golden_ids_371[] = {15, 0, 15, 0};
static const int golden_ids_372[] = {15, 18, 20, 15, 0, 20};
static const int golden_ids_373[] = {20, 14, 6, 1, 4, 16, 2, 0};
static const int golden_ids_374[] = {0, 18, 2, 14, 17, 12, 10};
static const int golden_ids_375[] = {13, 15, 9, 7, 4, 18, 11, 14, 8, 5};
static const int golden_ids_376[] = {8, 16, 7, 7};
static const int golden_ids_377[] = {16, 2, 4, 20, 14, 18, 4, 1, 1, 1, 14, 4};
static const int golden_ids_378[] = {6, 5, 0, 7, 16, 1, 11, 19, 8, 6};
static const int golden_ids_379[] = {14, 15, 8, 9, 18, 8, 0, 15, 1, 19};
static const int golden_ids_380[] = {14, 7, 11, 9, 5, 10, 11, 10};
static const int golden_ids_381[] = {7, 14, 20, 12, 16, 11};
static const int golden_ids_382[] = {1, 6, 11, 2, 10, 17, 1, 15, 7, 4, 14, 12};
static const int golden_ids_383[] = {18, 9, 17};
static const int golden_ids_384[] = {6, 5};
static const int golden_ids_385[] = {14, 2, 5, 8, 20, 7, 12, 19, 16, 6};
static const int golden_ids_386[] = {19, 18, 4};
static const int golden_ids_387[] = {17, 20, 10, 20, 19};
static const GoldenCase golden_encode_5[] = {
    {"", 0, golden_ids_338, 0},
    {" ", 1, golden_ids_339, 0},
    {"abcabc", 6, golden_ids_340, 3},
    {"abc cccc", 8, golden_ids_341, 6},
    {"<sep><sep><sep>a", 16, golden_ids_342, 4},
    {"\077\077abcabc cccccc <s>   \077\200\351", 25, golden_ids_343, 17},
    {"<sep>\302\200abc\342\226\201ccc \303\251dc<sep>ccca", 30, golden_ids_344, 14},
    {"\303\251<s>acccc\344\270\255\342\226\201ab dc", 21, golden_ids_345, 14},
    {"abc<s> c<s>c\342\226\201<s>\303\251", 20, golden_ids_346, 9},
    {"ccc<s>abcccc\302\200\303\251<sep>\344\270\255aabcabcxa\302\200", 35, golden_ids_347, 18},
    {"cccabcd\344\270\255", 10, golden_ids_348, 5},
    {"d<sep>\342\226\201bccc", 13, golden_ids_349, 8},
    {"\344\270\255", 3, golden_ids_350, 2},
    {" <s>\303\251cccb<s>\344\270\255", 16, golden_ids_351, 6},
    {"\342\226\201  <sep>xabcad<s>bb", 21, golden_ids_352, 10},
    {"dbab ", 5, golden_ids_353, 4},
    {"abccxccc\342\226\201<sep>cabcx\302\200ab\302\200b", 28, golden_ids_354, 13},
    {" x\303\251   b<sep>\344\270\255\344\270\255\342\226\201<sep>", 27, golden_ids_355, 9},
    {"b\344\270\255abcabc", 10, golden_ids_356, 7},
    {"c <s>\303\251\303\251    ", 13, golden_ids_357, 6},
    {"\342\226\201a\302\200\303\251", 8, golden_ids_358, 4},
    {"abc<s>\303\251\303\251\342\226\201abdx\344\270\255\303\251\302\200ccc d<s>", 32, golden_ids_359, 12},
    {"abc", 3, golden_ids_360, 1},
    {" bb<sep><s> d<s>", 16, golden_ids_361, 7},
    {"d\344\270\255ab\302\200\302\200abc<s>\344\270\255", 19, golden_ids_362, 7},
    {"cba\302\200  cab<sep>d", 16, golden_ids_363, 10},
    {"  x   abaabcc<s><sep>\342\226\201", 24, golden_ids_364, 10},
    {"\303\251a", 3, golden_ids_365, 3},
    {"ccc", 3, golden_ids_366, 2},
    {"\303\251<s>abc\344\270\255\344\270\255d<s>abccc\344\270\255abcab\342\226\201abc", 37, golden_ids_367, 15},
    {"abc<sep>\342\226\201", 11, golden_ids_368, 2},
    {"b", 1, golden_ids_369, 2},
    {"cccb", 4, golden_ids_370, 3},
    {"  x  \344\270\255", 8, golden_ids_371, 4},
    {"c\303\251\342\226\201\344\270\255\303\251", 11, golden_ids_372, 6},
};
static const GoldenCase golden_decode_5[] = {
    {"\303\251\303\251\344\270\255ab<sep><sep>a \342\201\207 ", 25, golden_ids_373, 8},
    {" \342\201\207 c\303\251\344\270\255bccc abc", 19, golden_ids_374, 7},
    {"  bcabc<sep><sep>ccc\303\251\344\270\255 aab a", 31, golden_ids_375, 10},
    {"aaabcabc", 8, golden_ids_376, 4},
    {"a<sep><sep>\303\251\303\251\344\270\255c<sep><sep>\303\251\344\270\255<sep><sep>", 44, golden_ids_377, 12},
    {"abab a \342\201\207 abcaccd aab", 22, golden_ids_378, 10},
    {"\303\251\344\270\255  abcc a \342\201\207  d", 20, golden_ids_379, 10},
    {"\303\251\344\270\255abcccbcab a abccc abc", 26, golden_ids_380, 8},
    {"abc\303\251\344\270\255\303\251cccacc", 16, golden_ids_381, 6},
    {"abcc abcb abc<sep><sep>\303\251\344\270\255ccc", 31, golden_ids_382, 12},
    {"cbcb", 4, golden_ids_383, 3},
    {"abab a", 6, golden_ids_384, 2},
    {"\303\251\344\270\255ab a a\303\251abccccdaab", 23, golden_ids_385, 10},
    {"dc<sep><sep>", 12, golden_ids_386, 3},
    {"b\303\251 abc\303\251d", 10, golden_ids_387, 5},
};
static const int golden_ids_388[] = {0};
static const int golden_ids_389[] = {15};
static const int golden_ids_390[] = {6, 18, 6, 18};
static const int golden_ids_391[] = {6, 18, 15, 18, 18, 18, 18};
static const int golden_ids_392[] = {4, 3, 16};
static const int golden_ids_393[] = {17, 0, 17};
static const int golden_ids_394[] = {6, 13};
static const int golden_ids_395[] = {12, 3, 0, 16, 16, 6, 6, 17, 0, 6};
static const int golden_ids_396[] = {18, 16, 20};
static const int golden_ids_397[] = {20, 18, 6, 18, 6, 18};
static const int golden_ids_398[] = {6, 18, 20, 6, 15, 3, 13, 17};
static const int golden_ids_399[] = {0, 3, 6, 18, 3, 20, 3, 16, 13, 0, 6, 18, 20, 15};
static const int golden_ids_400[] = {18, 16, 20, 0, 17, 15, 0};
static const int golden_ids_401[] = {6, 18, 14, 0, 16};
static const int golden_ids_402[] = {15, 0, 13, 10, 12};
static const int golden_ids_403[] = {15, 6, 16, 0, 16, 18, 18, 18, 18, 6, 18};
static const int golden_ids_404[] = {15};
static const int golden_ids_405[] = {12, 0, 12, 8, 3, 16, 3, 0, 15};
static const int golden_ids_406[] = {6, 18, 15, 6, 0};
static const int golden_ids_407[] = {3, 0, 13, 15, 0, 13, 3, 20, 0, 18};
static const int golden_ids_408[] = {16, 13, 15, 0, 6, 0};
static const int golden_ids_409[] = {17, 10, 17};
static const int golden_ids_410[] = {0, 20, 0, 16, 0, 20, 16, 20, 0, 20, 6, 18};
static const int golden_ids_411[] = {0};
static const int golden_ids_412[] = {18, 18, 18, 18, 0, 6, 18, 18, 18, 6, 17, 13, 6};
static const int golden_ids_413[] = {15, 0};
static const int golden_ids_414[] = {6, 6, 18, 0, 13, 20, 0, 16, 0, 15};
static const int golden_ids_415[] = {20, 0, 6, 18, 13, 18, 6, 18, 13, 18, 3, 0};
static const int golden_ids_416[] = {3};
static const int golden_ids_417[] = {18, 17, 15, 17, 0};
static const int golden_ids_418[] = {6, 18, 3, 16, 6, 17, 0, 6, 0, 3, 12, 0, 6};
static const int golden_ids_419[] = {0, 12, 20, 18, 18, 18, 18, 18, 18, 0, 20, 16, 15};
static const int golden_ids_420[] = {3, 12, 13, 0, 18, 17, 17, 18, 18, 18, 6};
static const int golden_ids_421[] = {0, 6, 0, 16, 13, 15, 10, 18, 18, 15, 12, 6, 18};
static const int golden_ids_422[] = {18, 18, 18, 18, 3, 6, 18, 15, 4, 15, 10, 13, 15};
static const int golden_ids_423[] = {16, 16, 11};
static const int golden_ids_424[] = {14, 12, 3};
static const int golden_ids_425[] = {8, 11, 2};
static const int golden_ids_426[] = {9, 20, 5, 4, 15, 11, 12};
static const int golden_ids_427[] = {0, 1, 17, 10, 8, 20, 2, 9, 14};
static const int golden_ids_428[] = {9, 20, 7, 18, 18, 6};
static const int golden_ids_429[] = {12, 13};
static const int golden_ids_430[] = {3, 13, 15, 12, 4, 6, 1, 10, 14, 7, 3};
static const int golden_ids_431[] = {18, 6, 1, 4, 1, 10, 16, 8, 10, 9, 16, 9, 13};
static const int golden_ids_432[] = {6, 17, 14, 11, 14};
static const int golden_ids_433[] = {10, 18, 1, 14, 18, 12, 6, 13, 1, 19, 0, 7};
static const int golden_ids_434[] = {6, 4, 14, 1, 8, 13, 4, 14, 18, 8, 17, 7, 10};
static const int golden_ids_435[] = {9, 6, 13, 12, 11, 20, 15, 0, 15, 9, 4};
static const int golden_ids_436[] = {18, 1, 0, 4, 10};
static const int golden_ids_437[] = {7, 11, 2, 3, 19, 14, 1, 13};
static const GoldenCase golden_encode_6[] = {
    {"", 0, golden_ids_388, 0},
    {" ", 1, golden_ids_389, 1},
    {"abcabc", 6, golden_ids_390, 4},
    {"abc cccc", 8, golden_ids_391, 7},
    {"<sep><sep><sep>a", 16, golden_ids_392, 3},
    {"bxb", 3, golden_ids_393, 3},
    {"ab  ", 4, golden_ids_394, 2},
    {"ccc<sep>\302\200aaababbxab", 20, golden_ids_395, 10},
    {"ca\303\251", 4, golden_ids_396, 3},
    {"\303\251cabcabc", 9, golden_ids_397, 6},
    {"abc\303\251ab\342\226\201<sep>  b", 18, golden_ids_398, 8},
    {"<s>\302\200<sep>abc<sep>\303\251<sep>a  dabc\303\251\342\226\201", 37, golden_ids_399, 14},
    {"ca\303\251db \344\270\255", 10, golden_ids_400, 7},
    {"abc\303\251\344\270\255\344\270\255a", 12, golden_ids_401, 5},
    {"\342\226\201\302\200   abcccc", 14, golden_ids_402, 5},
    {" abadaccccabc", 13, golden_ids_403, 11},
    {"\342\226\201", 3, golden_ids_404, 1},
    {"cccxccc\342\226\201a<sep>a<sep>x\342\226\201", 26, golden_ids_405, 9},
    {"abc abx", 7, golden_ids_406, 5},
    {"<sep><s>   \344\270\255  <sep>\303\251<s><s>c", 30, golden_ids_407, 10},
    {"a  \342\226\201\344\270\255ab\302\200", 13, golden_ids_408, 6},
    {"b abcb", 6, golden_ids_409, 3},
    {"\302\200\344\270\255x\303\251<s>ad\303\251a\303\251<s>\303\251abc", 26, golden_ids_410, 12},
    {"\344\270\255\302\200", 5, golden_ids_411, 1},
    {"ccccxabcccabb\342\226\201 ab", 19, golden_ids_412, 13},
    {"\342\226\201xd", 5, golden_ids_413, 2},
    {"ababcdd  \303\251xa\344\270\255\342\226\201", 19, golden_ids_414, 10},
    {"\303\251dabc  cabc \342\226\201c<sep>\344\270\255", 25, golden_ids_415, 12},
    {"<sep>", 5, golden_ids_416, 1},
    {"cb bx", 5, golden_ids_417, 5},
    {"abc<sep>aabb\302\200<s>abx<sep>cccxab", 31, golden_ids_418, 13},
    {"xccc\303\251ccccccx\303\251a\342\226\201", 19, golden_ids_419, 13},
    {"<sep>ccc\342\226\201 dcbbcccab", 21, golden_ids_420, 11},
    {"\302\200ab\302\200a    abccc\342\226\201cccabc", 25, golden_ids_421, 13},
    {"cccc<sep>abc\342\226\201<sep><sep>  abc  \342\226\201", 35, golden_ids_422, 13},
};
static const GoldenCase golden_decode_6[] = {
    {"aacc", 4, golden_ids_423, 3},
    {"\303\251\344\270\255ccc<sep>", 13, golden_ids_424, 3},
    {" acc", 4, golden_ids_425, 3},
    {"bc\303\251ab a<sep><sep> ccccc", 24, golden_ids_426, 7},
    {" \342\201\207 b abc a\303\251bc\303\251\344\270\255", 21, golden_ids_427, 9},
    {"bc\303\251abcccab", 11, golden_ids_428, 6},
    {"ccc  ", 5, golden_ids_429, 2},
    {"<sep>   ccc<sep><sep>ab abc\303\251\344\270\255abc<sep>", 40, golden_ids_430, 11},
    {"cab<sep><sep> abca a abcbcabc  ", 31, golden_ids_431, 13},
    {"abb\303\251\344\270\255cc\303\251\344\270\255", 15, golden_ids_432, 5},
    {" abcc\303\251\344\270\255ccccab  d \342\201\207 abc", 27, golden_ids_433, 12},
    {"ab<sep><sep>\303\251\344\270\255 a  <sep><sep>\303\251\344\270\255c ababc abc", 47, golden_ids_434, 13},
    {"bcab  ccccc\303\251  \342\201\207  bc<sep><sep>", 32, golden_ids_435, 11},
    {"c \342\201\207 <sep><sep> abc", 20, golden_ids_436, 5},
    {"abccc<sep>d\303\251\344\270\255  ", 18, golden_ids_437, 8},
};
static const int golden_ids_438[] = {0};
static const int golden_ids_439[] = {13};
static const int golden_ids_440[] = {6, 18, 6, 18, 15};
static const int golden_ids_441[] = {6, 18, 15, 18, 18, 18, 18, 15};
static const int golden_ids_442[] = {4, 3, 16, 15};
static const int golden_ids_443[] = {6, 18, 18, 6, 18, 0, 6, 18, 0, 18, 15};
static const int golden_ids_444[] = {16, 13, 0, 20, 3, 0, 15};
static const int golden_ids_445[] = {15, 0, 15};
static const int golden_ids_446[] = {13, 3, 0, 15};
static const int golden_ids_447[] = {0, 15, 0, 17, 3, 6, 18, 15};
static const int golden_ids_448[] = {0, 12, 15, 20, 15};
static const int golden_ids_449[] = {13, 0, 16, 0, 17, 13, 13, 18, 0, 20, 3, 16, 0, 15};
static const int golden_ids_450[] = {0, 18, 13, 13};
static const int golden_ids_451[] = {17, 15, 18, 6, 0, 17, 15, 0, 6, 15};
static const int golden_ids_452[] = {0, 15};
static const int golden_ids_453[] = {6, 15};
static const int golden_ids_454[] = {0, 17, 18, 15, 14, 20, 6, 18, 20, 13, 10, 15};
static const int golden_ids_455[] = {13, 15};
static const int golden_ids_456[] = {13, 15};
static const int golden_ids_457[] = {6, 18, 18, 15, 17, 6, 18, 0, 18, 6, 18, 15};
static const int golden_ids_458[] = {0, 13, 13, 20, 3, 0, 17, 0, 15};
static const int golden_ids_459[] = {0, 18, 3, 13, 13};
static const int golden_ids_460[] = {0, 13, 15, 17, 18, 18, 18, 12, 6, 18, 18, 18, 18, 18, 18, 18, 15};
static const int golden_ids_461[] = {6, 0, 16, 15};
static const int golden_ids_462[] = {15, 8, 0, 13, 0, 15};
static const int golden_ids_463[] = {0, 20, 6, 15, 18, 6, 18, 15};
static const int golden_ids_464[] = {0, 17, 0, 6, 18, 3, 0, 15};
static const int golden_ids_465[] = {0, 15, 0, 15, 17, 18, 18, 18, 0, 12, 3, 6, 20, 15};
static const int golden_ids_466[] = {0, 10, 12, 0, 13, 15};
static const int golden_ids_467[] = {15, 0, 12, 16, 16, 0, 15};
static const int golden_ids_468[] = {15, 0, 15};
static const int golden_ids_469[] = {3, 6, 18, 0, 12, 20, 3, 0, 18, 6, 0, 15};
static const int golden_ids_470[] = {0, 6, 18, 0, 12, 17, 15};
static const int golden_ids_471[] = {13, 15, 10, 6, 0, 12, 0, 20, 0, 17, 6, 13, 20, 15};
static const int golden_ids_472[] = {3, 15};
static const int golden_ids_473[] = {6, 5, 7};
static const int golden_ids_474[] = {0, 17, 12, 8, 18, 17, 4, 5, 1, 12, 9, 19, 14};
static const int golden_ids_475[] = {11, 12, 8, 14, 5, 4, 15, 8, 12, 3, 14};
static const int golden_ids_476[] = {9, 11, 7, 19, 9, 3, 10, 15, 11};
static const int golden_ids_477[] = {13, 6, 2, 16, 13, 18, 4, 7, 1};
static const int golden_ids_478[] = {20, 19, 19, 19, 3};
static const int golden_ids_479[] = {2, 0, 3, 0, 14, 14, 17, 3, 20, 10, 6};
static const int golden_ids_480[] = {18, 7, 8, 2, 2};
static const int golden_ids_481[] = {16, 1, 10, 20, 4, 19, 6};
static const int golden_ids_482[] = {5, 6};
static const int golden_ids_483[] = {6, 17, 0, 2, 0, 17, 20, 11};
static const int golden_ids_484[] = {11};
static const int golden_ids_485[] = {3};
static const int golden_ids_486[] = {11, 2};
static const int golden_ids_487[] = {10, 16, 16, 11, 8, 5, 4, 6, 0, 14, 18, 10, 15};
static const GoldenCase golden_encode_7[] = {
    {"", 0, golden_ids_438, 0},
    {" ", 1, golden_ids_439, 1},
    {"abcabc", 6, golden_ids_440, 5},
    {"abc cccc", 8, golden_ids_441, 8},
    {"<sep><sep><sep>a", 16, golden_ids_442, 4},
    {"abccabc\077abc\077c", 13, golden_ids_443, 11},
    {"a  <s>\303\251<sep>d", 14, golden_ids_444, 7},
    {"\342\226\201d", 4, golden_ids_445, 3},
    {"  <sep>d", 8, golden_ids_446, 4},
    {"\302\200\342\226\201\344\270\255b<sep>abc", 17, golden_ids_447, 8},
    {"<s>ccc \303\251", 9, golden_ids_448, 5},
    {"\342\226\201\342\226\201dadb   \342\226\201c\344\270\255\303\251<sep>ax", 29, golden_ids_449, 14},
    {"d<s>dc \342\226\201\342\226\201", 13, golden_ids_450, 4},
    {"b\342\226\201cabdb \344\270\255<s>ab", 18, golden_ids_451, 10},
    {"\302\200\344\270\255", 5, golden_ids_452, 2},
    {"ab", 2, golden_ids_453, 2},
    {"xxbc\342\226\201\303\251\344\270\255\303\251abc\303\251  \342\226\201abc", 27, golden_ids_454, 12},
    {"  ", 2, golden_ids_455, 2},
    {"  ", 2, golden_ids_456, 2},
    {"abcc babcxcabc", 14, golden_ids_457, 12},
    {"\344\270\255    \303\251<sep><s>b\302\200\344\270\255x", 24, golden_ids_458, 9},
    {"<s>dc<sep>\342\226\201\342\226\201 ", 17, golden_ids_459, 5},
    {"\302\200\342\226\201  bccccccabccccccc", 23, golden_ids_460, 17},
    {"abx<s>a", 7, golden_ids_461, 4},
    {"  ad  x", 7, golden_ids_462, 6},
    {"<s>\302\200\303\251ab cabc", 14, golden_ids_463, 8},
    {"\302\200b<s>abc<sep>\344\270\255", 17, golden_ids_464, 8},
    {"\302\200x\342\226\201d bccc\344\270\255ccc<sep>ab\303\251", 27, golden_ids_465, 14},
    {"\344\270\255\342\226\201abcccc<s>  ", 17, golden_ids_466, 6},
    {" \344\270\255cccaa\344\270\255", 12, golden_ids_467, 7},
    {"\342\226\201\302\200", 5, golden_ids_468, 3},
    {"<sep>abcdccc\303\251<sep>xcab\302\200", 25, golden_ids_469, 12},
    {"<s>abc<s>cccb", 13, golden_ids_470, 7},
    {"    abcabdccc\302\200<s>\303\251\302\200bab  \303\251", 29, golden_ids_471, 14},
    {"<sep>", 5, golden_ids_472, 2},
};
static const GoldenCase golden_decode_7[] = {
    {"abab aabc", 9, golden_ids_473, 3},
    {" \342\201\207 bccc acb<sep><sep>ab acccbcd\303\251\344\270\255", 38, golden_ids_474, 13},
    {"ccccc a\303\251\344\270\255ab a<sep><sep>  accc<sep>\303\251\344\270\255", 42, golden_ids_475, 11},
    {"bcccabcdbc<sep> abc cc", 22, golden_ids_476, 9},
    {" aba  c<sep><sep>abc", 20, golden_ids_477, 9},
    {"\303\251ddd<sep>", 10, golden_ids_478, 5},
    {" \342\201\207 <sep> \342\201\207 \303\251\344\270\255\303\251\344\270\255b<sep>\303\251 abcab", 39, golden_ids_479, 11},
    {"cabc a", 6, golden_ids_480, 5},
    {"a abc\303\251<sep><sep>dab", 20, golden_ids_481, 7},
    {"ab aab", 6, golden_ids_482, 2},
    {"abb \342\201\207  \342\201\207 b\303\251cc", 18, golden_ids_483, 8},
    {"cc", 2, golden_ids_484, 1},
    {"<sep>", 5, golden_ids_485, 1},
    {"cc", 2, golden_ids_486, 2},
    {"abcaacc aab a<sep><sep>ab \342\201\207 \303\251\344\270\255c abc ", 41, golden_ids_487, 13},
};
static const int golden_ids_488[] = {0};
static const int golden_ids_489[] = {0};
static const int golden_ids_490[] = {10, 6, 18};
static const int golden_ids_491[] = {10, 15, 18, 18, 18, 18};
static const int golden_ids_492[] = {15, 4, 3, 16};
static const int golden_ids_493[] = {15, 0};
static const int golden_ids_494[] = {10, 12, 0};
static const int golden_ids_495[] = {15, 20, 15, 0, 18, 17, 15, 0, 12};
static const int golden_ids_496[] = {13, 15, 20, 0, 15, 18, 18, 18, 18, 15, 8};
static const int golden_ids_497[] = {13, 17, 15, 0, 15, 6};
static const int golden_ids_498[] = {15, 17, 18, 18, 18, 13, 17, 0, 3, 17};
static const int golden_ids_499[] = {15, 0, 16};
static const int golden_ids_500[] = {15, 0, 14, 6, 0, 12, 16, 18, 16, 18, 18};
static const int golden_ids_501[] = {15, 17, 0, 12, 16, 8, 0, 15, 0};
static const int golden_ids_502[] = {15, 0, 18, 6, 18, 0, 18, 15, 0, 18, 6, 18, 3};
static const int golden_ids_503[] = {15, 0, 20, 15, 6};
static const int golden_ids_504[] = {8, 18, 18, 17, 0, 15, 12, 0, 15, 18, 16};
static const int golden_ids_505[] = {15, 17, 16, 20, 0, 17, 0, 3, 20, 3, 0, 6, 18, 16};
static const int golden_ids_506[] = {15, 12, 0};
static const int golden_ids_507[] = {15, 6, 3, 8, 0, 16, 6, 10, 6, 16, 15, 6};
static const int golden_ids_508[] = {15, 18, 0, 17, 6, 0, 6, 6, 18, 18, 0};
static const int golden_ids_509[] = {15, 17, 15, 0, 18, 15, 0, 16, 3};
static const int golden_ids_510[] = {15, 0, 12};
static const int golden_ids_511[] = {15, 3, 16, 18, 15, 3, 20};
static const int golden_ids_512[] = {15, 18, 18, 12, 0, 12, 16, 18, 6, 18, 18};
static const int golden_ids_513[] = {15, 0, 15, 3};
static const int golden_ids_514[] = {15, 0, 3, 0, 12, 0, 6, 6, 8};
static const int golden_ids_515[] = {13, 0, 10, 6, 3, 16};
static const int golden_ids_516[] = {15, 18, 18, 0, 3, 0, 17, 20, 15, 0, 17, 18, 18, 18, 3};
static const int golden_ids_517[] = {15, 18, 15, 17, 18, 0, 16, 3, 20, 6, 18, 6, 18, 0};
static const int golden_ids_518[] = {10, 3, 6, 18};
static const int golden_ids_519[] = {15, 0, 15, 0, 12};
static const int golden_ids_520[] = {8, 13, 15, 12, 6, 18, 13, 3, 6, 0, 12, 6, 18};
static const int golden_ids_521[] = {8, 15, 0, 15, 0};
static const int golden_ids_522[] = {15, 0};
static const int golden_ids_523[] = {3, 15};
static const int golden_ids_524[] = {14, 2, 14, 7, 2, 6, 1};
static const int golden_ids_525[] = {1, 16, 2, 14, 2, 20, 8, 3, 15};
static const int golden_ids_526[] = {0, 20, 17, 15, 20, 12, 11, 0, 2};
static const int golden_ids_527[] = {9};
static const int golden_ids_528[] = {9, 2, 0, 15};
static const int golden_ids_529[] = {16, 6, 6, 14, 7, 5, 0, 5};
static const int golden_ids_530[] = {8, 17, 4};
static const int golden_ids_531[] = {8, 4, 18, 7, 2, 13, 8, 1, 0};
static const int golden_ids_532[] = {9, 2};
static const int golden_ids_533[] = {20, 7, 18, 16, 2};
static const int golden_ids_534[] = {5, 7, 16, 1, 6, 15, 5, 7, 6, 12};
static const int golden_ids_535[] = {12, 11, 6, 3, 19, 2};
static const int golden_ids_536[] = {10, 13, 5, 12, 20, 17, 20, 9, 2, 18};
static const int golden_ids_537[] = {17};
static const GoldenCase golden_encode_8[] = {
    {"", 0, golden_ids_488, 0},
    {" ", 1, golden_ids_489, 0},
    {"abcabc", 6, golden_ids_490, 3},
    {"abc cccc", 8, golden_ids_491, 6},
    {"<sep><sep><sep>a", 16, golden_ids_492, 4},
    {"\077", 1, golden_ids_493, 2},
    {"abccccdd", 8, golden_ids_494, 3},
    {"\303\251 \302\200\302\200\302\200cb  \344\270\255ccc", 19, golden_ids_495, 9},
    {"\342\226\201    \303\251d  cccc\342\226\201\342\226\201a", 23, golden_ids_496, 11},
    {"\342\226\201b\342\226\201d ab", 11, golden_ids_497, 6},
    {"bccc\342\226\201\342\226\201bx<sep>b", 18, golden_ids_498, 10},
    {"\302\200a  ", 5, golden_ids_499, 3},
    {"dd\344\270\255\303\251\344\270\255abdcccacacc", 21, golden_ids_500, 11},
    {"b<s>\302\200ccca a\344\270\255\302\200 d ", 20, golden_ids_501, 9},
    {"xdcabcdc\342\226\201dcabc<sep>", 21, golden_ids_502, 13},
    {"<s><s>\303\251  ab", 12, golden_ids_503, 5},
    {" accbd ccc\302\200x ca", 16, golden_ids_504, 11},
    {"ba\303\251xb\344\270\255<s>\302\200<sep>\303\251<sep><s>abca", 33, golden_ids_505, 14},
    {"cccd\344\270\255\302\200\344\270\255  ", 14, golden_ids_506, 3},
    {"ab<sep>\342\226\201axaab\342\226\201abcaba\342\226\201ab", 29, golden_ids_507, 12},
    {"c\344\270\255dbabxababccd\302\200\344\270\255 ", 22, golden_ids_508, 11},
    {"b\342\226\201xc  <s>a<sep>", 17, golden_ids_509, 9},
    {"d\344\270\255\302\200\344\270\255<s>ccc\342\226\201", 18, golden_ids_510, 3},
    {"<sep>ac <sep>\303\251", 15, golden_ids_511, 7},
    {"ccccc<s>cccacabcc", 17, golden_ids_512, 11},
    {"d  <sep>", 8, golden_ids_513, 4},
    {"\302\200\344\270\255d<sep><s>cccx\344\270\255\302\200d\302\200abab a", 32, golden_ids_514, 9},
    {"\342\226\201d abcab<sep>a", 16, golden_ids_515, 6},
    {" cc\344\270\255<s><sep>\344\270\255b\303\251  dbccc<sep>", 32, golden_ids_516, 15},
    {"c\342\226\201bc<s>a<sep>\303\251abcabc\344\270\255", 26, golden_ids_517, 14},
    {"abc<sep>abc", 11, golden_ids_518, 4},
    {"\344\270\255d\342\226\201\344\270\255<s>ccc", 16, golden_ids_519, 5},
    {"a\342\226\201 \342\226\201cccabc\342\226\201  <sep>abdcccabc\342\226\201", 36, golden_ids_520, 13},
    {"a  \302\200  d", 8, golden_ids_521, 5},
    {"\302\200  ", 4, golden_ids_522, 2},
};
static const GoldenCase golden_decode_8[] = {
    {"<sep> ", 6, golden_ids_523, 2},
    {"\303\251\344\270\255\303\251\344\270\255abcab", 15, golden_ids_524, 7},
    {"a\303\251\344\270\255\303\251 a<sep> ", 16, golden_ids_525, 9},
    {" \342\201\207 \303\251b \303\251ccccc \342\201\207 ", 21, golden_ids_526, 9},
    {"bc", 2, golden_ids_527, 1},
    {"bc \342\201\207  ", 8, golden_ids_528, 4},
    {"aabab\303\251\344\270\255abcab a \342\201\207 ab a", 26, golden_ids_529, 8},
    {"ab<sep><sep>", 12, golden_ids_530, 3},
    {"a<sep><sep>cabc   a \342\201\207 ", 24, golden_ids_531, 9},
    {"bc", 2, golden_ids_532, 2},
    {"\303\251abcca", 7, golden_ids_533, 5},
    {"ab aabcaab ab aabcabccc", 23, golden_ids_534, 10},
    {"cccccab<sep>d", 13, golden_ids_535, 6},
    {"abc  ab accc\303\251b\303\251bcc", 20, golden_ids_536, 10},
    {"b", 1, golden_ids_537, 1},
};
static const int golden_ids_538[] = {0};
static const int golden_ids_539[] = {0};
static const int golden_ids_540[] = {0, 6, 18, 6, 18};
static const int golden_ids_541[] = {0, 6, 18, 0, 18, 18, 18, 18};
static const int golden_ids_542[] = {0, 4, 3, 16};
static const int golden_ids_543[] = {0, 3, 16, 18, 16, 0, 18, 0, 16, 0, 3};
static const int golden_ids_544[] = {0, 8, 16, 0, 18, 18, 0, 20, 0, 6, 18, 6, 18, 6, 0};
static const int golden_ids_545[] = {0, 3, 6, 17, 18, 3, 0, 3, 18, 18, 17, 3};
static const int golden_ids_546[] = {0, 6, 6, 0};
static const int golden_ids_547[] = {0, 17, 20};
static const int golden_ids_548[] = {0, 12, 0, 16, 15, 0, 18, 0, 18, 20, 0};
static const int golden_ids_549[] = {0, 15, 18, 0, 20, 16, 0, 15, 3, 0};
static const int golden_ids_550[] = {0, 6, 17, 16, 8, 15, 0};
static const int golden_ids_551[] = {0, 3, 14, 17, 15, 0};
static const int golden_ids_552[] = {0, 6, 0, 12, 6, 0, 17, 6, 18, 0, 17, 6, 15, 20};
static const int golden_ids_553[] = {0, 15, 0, 16};
static const int golden_ids_554[] = {0, 6, 0, 6, 18, 0};
static const int golden_ids_555[] = {0, 18, 0, 18, 18, 18, 18, 0, 18, 3};
static const int golden_ids_556[] = {0, 15, 0, 6, 0, 6, 18, 0, 6, 17, 0, 18, 3};
static const int golden_ids_557[] = {0, 17, 20, 18};
static const int golden_ids_558[] = {0, 17, 0, 18, 6, 0, 18, 20, 12};
static const int golden_ids_559[] = {0, 17, 17, 0, 20, 0, 18, 6, 0, 15};
static const int golden_ids_560[] = {0, 12, 0, 6};
static const int golden_ids_561[] = {0, 15, 0, 18, 3};
static const int golden_ids_562[] = {0, 12, 0, 15, 0, 12, 0, 20, 0};
static const int golden_ids_563[] = {0, 6, 8, 3, 0, 20, 6, 6, 0, 6, 0, 17, 16};
static const int golden_ids_564[] = {0, 10, 16, 3, 17, 17, 6, 15, 6, 3, 6, 18, 0, 6, 18, 6, 18};
static const int golden_ids_565[] = {0, 12, 0, 8, 0, 15};
static const int golden_ids_566[] = {0, 17, 0, 20, 0, 3, 6, 18, 18, 18, 0, 20, 15, 6, 17, 6, 18};
static const int golden_ids_567[] = {0, 6, 20, 17, 0, 6, 0, 6, 6, 18, 15, 18, 0};
static const int golden_ids_568[] = {0, 16, 16, 10, 18, 18};
static const int golden_ids_569[] = {0, 17, 0, 12, 0, 12, 0};
static const int golden_ids_570[] = {0, 6, 6, 18, 0, 6, 18, 0, 18, 0, 16};
static const int golden_ids_571[] = {0, 15, 0, 6, 18, 6, 18, 0, 17, 0, 16, 20, 0, 18, 0};
static const int golden_ids_572[] = {0, 6, 18, 0, 15, 17, 10, 0, 18, 18, 18, 18, 0, 6, 0};
static const int golden_ids_573[] = {5, 17, 19, 17, 0, 18};
static const int golden_ids_574[] = {6};
static const int golden_ids_575[] = {16, 4, 4, 0, 8, 7, 20, 1, 10};
static const int golden_ids_576[] = {8, 7, 6, 14, 8, 0, 2, 10, 5};
static const int golden_ids_577[] = {10, 6, 11, 9, 6, 2, 18, 16, 15};
static const int golden_ids_578[] = {15, 8, 15, 16, 11, 2, 13, 11, 14, 15, 20, 19, 5};
static const int golden_ids_579[] = {20, 12, 5, 5, 3, 10, 15, 11, 17, 20, 8};
static const int golden_ids_580[] = {18, 11, 2, 10, 5, 0, 6, 4, 1, 8};
static const int golden_ids_581[] = {17, 4, 15};
static const int golden_ids_582[] = {2, 4, 1, 5, 0, 3, 3};
static const int golden_ids_583[] = {6, 13, 13, 7, 0, 4, 20, 14, 14, 14};
static const int golden_ids_584[] = {10, 16, 17, 5, 5, 16, 11, 12, 10, 10};
static const int golden_ids_585[] = {6, 10, 17, 19, 17};
static const int golden_ids_586[] = {2, 4, 13, 16, 0};
static const int golden_ids_587[] = {12, 13};
static const GoldenCase golden_encode_9[] = {
    {"", 0, golden_ids_538, 0},
    {" ", 1, golden_ids_539, 1},
    {"abcabc", 6, golden_ids_540, 5},
    {"abc cccc", 8, golden_ids_541, 8},
    {"<sep><sep><sep>a", 16, golden_ids_542, 4},
    {"<sep>aca\077c\077a\077\077\077<sep>", 20, golden_ids_543, 11},
    {"\342\226\201aadcc \303\251  abcabcab<s>x", 25, golden_ids_544, 15},
    {"  <sep>abbc<sep>\344\270\255<sep>ccb<sep>", 32, golden_ids_545, 12},
    {"abab  ", 6, golden_ids_546, 4},
    {" b\303\251", 4, golden_ids_547, 3},
    {"xccc<s>a\342\226\201<s>c  dc\303\251 \302\200\302\200", 26, golden_ids_548, 11},
    {"\342\226\201c  x\303\251a  d\302\200\342\226\201<sep>x", 24, golden_ids_549, 10},
    {"abba\342\226\201a\342\226\201<s> \302\200", 17, golden_ids_550, 7},
    {" \344\270\255 <s><sep>\303\251\344\270\255b\342\226\201\302\200", 24, golden_ids_551, 6},
    {"ab<s>cccab<s>babc<s>bab\342\226\201\303\251", 28, golden_ids_552, 14},
    {"\342\226\201\302\200a", 6, golden_ids_553, 4},
    {"abdabc  ", 8, golden_ids_554, 6},
    {"<s>cdccccx  c<sep>", 18, golden_ids_555, 10},
    {"\342\226\201\302\200ab  xabc\302\200abbd\302\200c<sep>", 27, golden_ids_556, 13},
    {"b\303\251c", 4, golden_ids_557, 4},
    {"b<s>cabxc\303\251ccc", 14, golden_ids_558, 9},
    {"dbb<s>\303\251dcab\344\270\255x\344\270\255\342\226\201", 22, golden_ids_559, 10},
    {"cccxab", 6, golden_ids_560, 4},
    {"d\342\226\201\302\200dc<sep>", 13, golden_ids_561, 5},
    {"ccc  \342\226\201\344\270\255<s>\302\200ccc \303\251   d", 26, golden_ids_562, 9},
    {"ab\342\226\201a<sep>  \303\251abab\344\270\255ab xba", 28, golden_ids_563, 13},
    {"\342\226\201abca<sep>bbab\342\226\201ab<sep>abc<s>abcabc", 38, golden_ids_564, 17},
    {"ccc<s>d\342\226\201ax\342\226\201", 15, golden_ids_565, 6},
    {"b\344\270\255\303\251<s><sep>abcccx<s>\303\251\342\226\201abbabc", 34, golden_ids_566, 17},
    {"\344\270\255ab\303\251b\302\200ab  \302\200 ababc\342\226\201cdd", 28, golden_ids_567, 13},
    {"aa\342\226\201abccc", 10, golden_ids_568, 6},
    {"b \302\200ccc<s>  ccc<s>", 18, golden_ids_569, 7},
    {"  ababc<s>abcdc  \302\200xa", 21, golden_ids_570, 11},
    {"\342\226\201  abcabcdb\302\200xa\303\251xc\344\270\255<s>", 27, golden_ids_571, 15},
    {"abcd\342\226\201b\342\226\201abcx\344\270\255ccccx ab<s>", 29, golden_ids_572, 15},
};
static const GoldenCase golden_decode_9[] = {
    {"ab abdb \342\201\207 c", 13, golden_ids_573, 6},
    {"ab", 2, golden_ids_574, 1},
    {"a<sep><sep><sep><sep> \342\201\207  aabc\303\251 abc", 37, golden_ids_575, 9},
    {"aabcab\303\251\344\270\255 a \342\201\207  abcab a", 26, golden_ids_576, 9},
    {"abcabccbcabca ", 14, golden_ids_577, 9},
    {" a acc  cc\303\251\344\270\255 \303\251dab a", 23, golden_ids_578, 13},
    {"\303\251cccab aab a<sep> abc ccb\303\251 a", 30, golden_ids_579, 11},
    {"ccc abcab a \342\201\207 ab<sep><sep> a", 30, golden_ids_580, 10},
    {"b<sep><sep> ", 12, golden_ids_581, 3},
    {"<sep><sep>ab a \342\201\207 <sep><sep>", 29, golden_ids_582, 7},
    {"ab    abc \342\201\207 <sep><sep>\303\251\303\251\344\270\255\303\251\344\270\255\303\251\344\270\255", 41, golden_ids_583, 10},
    {"abcabab aab aaccccc abc abc", 27, golden_ids_584, 10},
    {"ab abcbdb", 9, golden_ids_585, 5},
    {"<sep><sep>  a \342\201\207 ", 18, golden_ids_586, 5},
    {"ccc  ", 5, golden_ids_587, 2},
};
static const GoldenTokenizer golden_tokenizers[] = {
    {"llama2c/tok512.model", 0, golden_encode_0, 47, golden_decode_0, 25},
    {"spm/llama2_tokenizer.model", 0, golden_encode_1, 47, golden_decode_1, 25},
    {"spm/mistral_tokenizer.model.v1", 0, golden_encode_2, 47, golden_decode_2, 25},
    {"tales/tok1024.model", 0, golden_encode_3, 47, golden_decode_3, 25},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\000\032\006\030\001 \000\050\001", 319, golden_encode_4, 35, golden_decode_4, 15},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\000\032\006\030\001 \001\050\001", 319, golden_encode_5, 35, golden_decode_5, 15},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\000\032\006\030\000 \000\050\001", 319, golden_encode_6, 35, golden_decode_6, 15},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\001\032\006\030\001 \000\050\001", 319, golden_encode_7, 35, golden_decode_7, 15},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\000\032\006\030\001 \001\050\001", 319, golden_encode_8, 35, golden_decode_8, 15},
    {"\012\016\012\005<unk>\025\000\000\000\000\030\002\012\014\012\003<s>\025\000\000\000\000\030\003\012\015\012\004</s>\025\000\000\000\000\030\003\012\016\012\005<sep>\025\000\000\000\000\030\004\012\023\012\012<sep><sep>\025\000\000\000\000\030\004\012\015\012\004ab a\025\000\000\000\000\030\004\012\013\012\002ab\025\000\000\000\200\030\001\012\014\012\003abc\025\000\000\000\200\030\005\012\015\012\004\342\226\201a\025\000\000\200\277\030\001\012\013\012\002bc\025\000\000\200\277\030\005\012\017\012\006\342\226\201abc\025\000\000\000\300\030\001\012\013\012\002cc\025\000\000\000\300\030\005\012\014\012\003ccc\025\000\000\100\300\030\001\012\017\012\006\342\226\201\342\226\201\025\000\000\100\300\030\001\012\016\012\005\303\251\344\270\255\025\000\000\200\300\030\001\012\014\012\003\342\226\201\025\000\000\310\302\030\001\012\012\012\001a\025\000\000\312\302\030\001\012\012\012\001b\025\000\000\314\302\030\001\012\012\012\001c\025\000\000\316\302\030\001\012\012\012\001d\025\000\000\320\302\030\005\012\013\012\002\303\251\025\000\000\322\302\030\001\022\005\030\002\300\001\000\032\006\030\001 \000\050\000", 319, golden_encode_9, 35, golden_decode_9, 15},
};

/* the first 200000 bytes of a text: number of ids, FNV-1a over them */
enum { GOLDEN_PREFIX = 200000 };
static const struct { const char *model, *text; size_t n; uint64_t hash; } golden_files[] = {
    {"llama2c/tok512.model", "text/botchan.txt", 115878, 0x61b6d57e5d6ebb58u},
    {"llama2c/tok512.model", "text/hongloumeng_utf8.txt", 195996, 0x633fbbd38893b3a8u},
    {"llama2c/tok512.model", "text/wikitext2_wiki.test.raw", 125302, 0x66c630df285181cfu},
    {"llama2c/tok512.model", "text/tinystories_sample_2M.txt", 102912, 0x75aa9605d3805e51u},
    {"spm/llama2_tokenizer.model", "text/botchan.txt", 56598, 0x0847bbe84d96e7e6u},
    {"spm/llama2_tokenizer.model", "text/hongloumeng_utf8.txt", 106214, 0xcb1ce606847ca067u},
    {"spm/llama2_tokenizer.model", "text/wikitext2_wiki.test.raw", 52951, 0x98371978e25e008cu},
    {"spm/llama2_tokenizer.model", "text/tinystories_sample_2M.txt", 53413, 0x83c40ec64d8b7230u},
    {"spm/mistral_tokenizer.model.v1", "text/botchan.txt", 55401, 0x5e6f27cbd1f83e51u},
    {"spm/mistral_tokenizer.model.v1", "text/hongloumeng_utf8.txt", 86108, 0x77dd533f57d6102fu},
    {"spm/mistral_tokenizer.model.v1", "text/wikitext2_wiki.test.raw", 51956, 0xf77803456d84244du},
    {"spm/mistral_tokenizer.model.v1", "text/tinystories_sample_2M.txt", 51534, 0x326a342652270409u},
    {"tales/tok1024.model", "text/botchan.txt", 86496, 0xf2f68fcd70205c2eu},
    {"tales/tok1024.model", "text/hongloumeng_utf8.txt", 199016, 0xb1aa68c55e9d5d75u},
    {"tales/tok1024.model", "text/wikitext2_wiki.test.raw", 99870, 0x461417b9412f9fe2u},
    {"tales/tok1024.model", "text/tinystories_sample_2M.txt", 70139, 0x439856f3ec2f2f90u},
};

#endif
