/*
 * json_string.h - any text as a JSON string that is safe to print.
 */
#ifndef BASE_JSON_STRING_H
#define BASE_JSON_STRING_H

#include "base/buf.h"
#include "base/str.h"

/* Adds @text with quotes around it. What utf8_is_unsafe() is escaped, so that no terminal obeys it
 * and no reader is misled; what is not UTF-8 becomes U+FFFD. */
void json_put_string(struct buf *out, struct str text);

/* Adds a key of our own, which needs no escapes, and the colon behind it. */
void json_put_key(struct buf *out, const char *name);

/* Adds @json, which is JSON already, with the same characters escaped in its strings: JSON allows
 * most of them as they are. */
void json_put_json(struct buf *out, struct str json);

#endif
