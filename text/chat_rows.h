/* text/chat_rows.h - the files of rows, in the order in which they are tried; each ends at a row without a name. */
#ifndef CHAT_ROWS_H
#define CHAT_ROWS_H

#include "chat_template.h"

extern const ChatTemplate chat_rows_chatml[], chat_rows_llama[], chat_rows_others[];

#endif
