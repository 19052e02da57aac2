/* tests/golden/encode.h - made by: python tests/oracle/encode.py libggml-base.so > tests/golden/encode.h */
#include <stdint.h>

enum { ENCODE_N = 65536, ENCODE_KINDS = 8 }; /* values of each kind of input */

/* The bytes that ggml makes: their hash for each kind of input. */
static const struct {
    int type;
    uint64_t hash[ENCODE_KINDS];
} golden_encoded[] = {
    /* F16 */ {1,
     {0x1252f9e992d2cf94, 0xfc5827c0dde0fb73, 0x69c841585fa9106d, 0x700018232cb80c17,
      0x8f323a3af6377892, 0x358933ac65ea43ee, 0x91d7ddff1dd47969, 0x970f76105fdf579a}},
    /* BF16 */ {30,
     {0x024e65bf30c699d0, 0x4eb5b2dd16dfbb58, 0xddd4b7b08c0531d0, 0x2cfb952b12c45f9f,
      0x2e4018bc250372c7, 0xe9c42b43baf145b4, 0xc07219caf00e96fe, 0xf942a3d19ec7f183}},
    /* Q4_0 */ {2,
     {0x2c08c1f632c5ef16, 0x14199c8180c81447, 0x636b26c113042227, 0xe242f6396c8f8de5,
      0x3026bc092828cc59, 0x0a2dc0ed6822728c, 0xc95127b66d0fa6ce, 0x2c5ef3a0b178203d}},
    /* Q4_1 */ {3,
     {0x200ba166c05333f8, 0x25f65a55032bdd7c, 0xbbad05187a331e6f, 0x64c3a197d625be97,
      0x2c184b4c170186eb, 0x0a90a411b095dd4c, 0xe995a93597961cb1, 0xcb5d87bb9e1de37c}},
    /* Q5_0 */ {6,
     {0x3c063a1ca530d551, 0xeb4587d14a673681, 0x4f0fa983f2d1f761, 0xf7381d2c79ab8611,
      0x408fa2feadca527c, 0x7899c86ae3f5d3cc, 0x2056a7a8cf33d35e, 0x77e809245059025d}},
    /* Q5_1 */ {7,
     {0xa806e8c382d7ad07, 0x8604f827e07d2bc0, 0x49c558691c6d46dd, 0xf23f7f8caa65ee8f,
      0x34e0815ec8cd35e6, 0xa2cdd1205b5d0ef8, 0x9ec2ea6c8b2998ac, 0xbc1d177387726fc1}},
    /* Q8_0 */ {8,
     {0xbc4bb7de4897c9ff, 0x11f178c930c4d327, 0x11c3f68cc1b8c716, 0xa328f09404ee91ed,
      0xb20c342015a29a19, 0x711958a247538f5e, 0xfab4c9c6472b6474, 0x71e644385ddf5928}},
};

/* The root of the mean square error of ggml's encoding, for each kind of input. */
static const struct {
    int type;
    double rmse[ENCODE_KINDS];
} golden_errors[] = {
    /* Q4_K */ {12, {0.00359026423, 0.0157110436, 0.016863098, 0.000398040605, 0.00079347692, 0.131991177, 0.00662127355, 2.67689982e-06}},
    /* Q5_K */ {13, {0.00181179012, 0.00796232828, 0.0083096836, 0.000205569655, 0.000575988142, 0.0664644974, 0.00448388141, 2.67520868e-06}},
    /* Q6_K */ {14, {0.000889262841, 0.0038120976, 0.00755713538, 0.000103059161, 0.000129015753, 0.0322961367, 0.0040073482, 7.75466027e-07}},
};
