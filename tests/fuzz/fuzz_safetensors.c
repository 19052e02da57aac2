/* tests/fuzz/fuzz_safetensors.c - any bytes as a safetensors file. The first eight are replaced by a header length that
 * fits, from the first two, for otherwise hardly any input would get as far as the header; an input that starts with
 * 0xff keeps its own. Quantized matrices become floats, as the configuration says that would have such tensors. */
#include "mutate.h"

#include "base/json.h"
#include "model/files/quantized.h"
#include "model/files/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static int holds(const uint8_t *data, size_t size, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, word, n) == 0) return 1;
    return 0;
}

static const char *config_of(const uint8_t *data, size_t size) {
    static const char *const rows[][2] = {
        {"g_idx", "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":32}}"},
        {"qweight", "{\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":16}}"},
        {"weight_scale_2", "{\"quantization_config\":{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\"}}"},
        {"weight_scale_inv", "{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[8,16]}}"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (holds(data, size, rows[i][0])) return rows[i][1];
    return "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"mixed-precision\"}}";
}

static void read_and_touch(const uint8_t *data, size_t size) {
    const char *config = config_of(data, size);
    Json j;
    Weights w;
    char err[256] = "", name[] = "fuzz";
    memset(&w, 0, sizeof w);
    w.path = name;
    int rc = safetensors_read(&w, data, size, name, err, sizeof err);
    if (rc == 0) rc = weights_finish(&w, err, sizeof err);
    int unread = json_parse(&j, config, strlen(config), name, NULL, 0);
    w.config = j.root;
    if (rc == 0 && !unread) rc = quantized_expand(&w, err, sizeof err);
    if (rc && !err[0]) abort();
    for (size_t i = 0; rc == 0 && i < w.n_tensors; i++)
        for (size_t k = 0; k < w.tensors[i].size; k++) sink = w.tensors[i].data[k];
    w.path = NULL; /* not weights_close's to free */
    weights_close(&w);
    json_free(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8) return 0;
    uint8_t *copy = malloc(size);
    if (!copy) return 0;
    memcpy(copy, data, size);
    if (data[0] != 0xff) {
        size_t n = load_u16(data);
        memset(copy, 0, 8);
        if (n > size - 8) n = size - 8;
        copy[0] = (uint8_t)n;
        copy[1] = (uint8_t)(n >> 8);
    }
    read_and_touch(copy, size);
    free(copy);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return mutate(mutate_safetensors, data, size, most, seed);
}
