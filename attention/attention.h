/* for the time being */
#ifndef ATTENTION_H
#define ATTENTION_H
#include "cache.h"
#include "softmax.h"
#endif
