/* model/activations.c - what files call the functions between two matrices: the words of transformers' ACT2FN, but
 * those that have weights of their own. */
#include "keys_more.h"

#include <string.h>

int activation_named(const char *word) {
    static const struct {
        const char *word;
        Activation activation;
    } rows[] = {
        {"gelu", ACTIVATION_GELU}, {"gelu_python", ACTIVATION_GELU}, {"gelu_new", ACTIVATION_GELU_TANH},
        {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH}, {"gelu_python_tanh", ACTIVATION_GELU_TANH},
        {"gelu_fast", ACTIVATION_GELU_TANH}, {"gelu_accurate", ACTIVATION_GELU_TANH}, {"relu", ACTIVATION_RELU},
        {"silu", ACTIVATION_SILU}, {"swish", ACTIVATION_SILU}, {"quick_gelu", ACTIVATION_QUICK_GELU},
        {"gelu_10", ACTIVATION_GELU_10}, {"relu2", ACTIVATION_RELU2}, {"relu6", ACTIVATION_RELU6},
        {"leaky_relu", ACTIVATION_LEAKY_RELU}, {"tanh", ACTIVATION_TANH}, {"sigmoid", ACTIVATION_SIGMOID},
        {"linear", ACTIVATION_LINEAR}, {"mish", ACTIVATION_MISH}, {"hardswish", ACTIVATION_HARDSWISH},
        {"laplace", ACTIVATION_LAPLACE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0) return (int)rows[i].activation;
    return -1;
}

Activation key_activation(KeyReader *r, const char *word) {
    int found = activation_named(word);
    if (found >= 0) return (Activation)found;
    base_complain(&r->line,
                  "%s: \"%.80s\" is not known here (gelu, gelu_new, relu, silu and most of transformers' are)",
                  r->key, word);
    return ACTIVATION_GELU;
}
