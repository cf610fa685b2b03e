/*
 * json_string.h - writes any text as a JSON string that is safe to print.
 */
#ifndef BASE_TEXT_JSON_STRING_H
#define BASE_TEXT_JSON_STRING_H

#include "base/buf.h"
#include "base/str.h"

/* Appends @text in quotes. Characters that are utf8_is_unsafe() are escaped, so that they neither
 * control a terminal nor mislead a reader; bytes that are not UTF-8 become U+FFFD. */
void json_put_string(struct buf *out, struct str text);

/* Appends a key that needs no escapes, and a colon. */
void json_put_key(struct buf *out, const char *name);

/* Appends @json, which is valid JSON, and escapes the same characters in its strings: JSON allows most
 * of them unescaped. */
void json_put_json(struct buf *out, struct str json);

#endif
