/*
 * base32.h - base32 without padding (RFC 4648 §6), as NATS writes its keys.
 */
#ifndef BASE_TEXT_BASE32_H
#define BASE_TEXT_BASE32_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Decodes upper case @text to @ret, which has room for @size bytes. Returns the number of bytes; or
 * -INF_EDECODE if a character or the length is invalid, bits are left over, or there is no room. */
int base32_decode(struct str text, unsigned char *ret, size_t size);

/* Appends @len bytes in upper case. */
void base32_put(struct buf *out, const unsigned char *bytes, size_t len);

#endif
