/* attention/maps.c - the feature maps that this program knows. */
#include "favor.h"

const FeatureMap *const feature_maps[] = {&phi_elu_plus_1,   &phi_relu,  &phi_exp,      &phi_softmax,
                                          &phi_relu_squared, &phi_favor, &phi_identity, NULL};
