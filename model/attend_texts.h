/* model/attend_texts.h - linear attention's state where tokens are not read one after the other: several texts, tokens
 * that see what follows them (RoFormer), chunks. */
#ifndef ATTEND_TEXTS_H
#define ATTEND_TEXTS_H

#include "past.h"

extern const LinearSteps linear_texts; /* for SessionOptions.linear; chunks of options.chunk where that is above 1 */

#endif
