/*
 * json_string.h - any text as a JSON string that is safe to print.
 */
#ifndef BASE_JSON_STRING_H
#define BASE_JSON_STRING_H

#include "base/buf.h"
#include "base/str.h"

/* Adds @text with quotes around it. Control characters, DEL and C1 are escaped, so no terminal
 * obeys them; what is not UTF-8 becomes U+FFFD. */
void json_put_string(struct buf *out, struct str text);

#endif
