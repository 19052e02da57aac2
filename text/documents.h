/* text/documents.h - the documents of a text file. */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H

#include <stddef.h>

/* The next document of a text: documents stand between lines that hold exactly `separator`; the newline, \n or \r\n,
 * before such a line and the text's last one belong to no document. A text without such a line, or separator NULL: the
 * whole of it, byte for byte, is one document. *at walks from 0; 1 while there is one, 0 at the end. An empty document
 * has *len 0. */
int document_next(const char *text, size_t n, const char *separator, size_t *at, const char **doc, size_t *len);

#endif
