/*
 * buf.c - a buffer that doubles its memory as it grows. A secret one never leaves a copy behind.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    BUF_FIRST = 256,
};

/* For secrets: realloc() would leave a copy in freed memory. */
static char *buf_move_secret(const struct buf *b, size_t cap)
{
    char *bytes = xmalloc(cap);
    if (b->len) {
        memcpy(bytes, b->bytes, b->len);
        secret_wipe(b->bytes, b->len);
    }
    free(b->bytes);
    return bytes;
}

char *buf_room(struct buf *b, size_t len)
{
    if (b->cap - b->len < len) {
        size_t cap = b->cap ? b->cap : BUF_FIRST;
        while (cap - b->len < len)
            cap *= 2;
        b->bytes = b->secret ? buf_move_secret(b, cap) : xrealloc(b->bytes, cap);
        b->cap = cap;
    }
    return b->bytes + b->len;
}

void buf_put(struct buf *b, const char *bytes, size_t len)
{
    if (!len)
        return;
    memcpy(buf_room(b, len), bytes, len);
    b->len += len;
}

int buf_append(struct buf *b, const char *bytes, size_t len, size_t limit)
{
    if (len > limit || b->len > limit - len)
        return -INF_ETOOBIG;
    buf_put(b, bytes, len);
    return 0;
}

void buf_puts(struct buf *b, const char *text)
{
    buf_put(b, text, strlen(text));
}

void buf_put_u64(struct buf *b, uint64_t number)
{
    char digits[20]; /* of 2^64 - 1 */
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    buf_put(b, digits + at, sizeof(digits) - at);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}

/* Usually there is enough room and the text is formatted once. A secret is always measured first: text
 * that did not fit would leave a partial copy after b->len. */
void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    size_t room = b->secret ? 0 : b->cap - b->len;
    va_list again;
    int n;
    va_copy(again, args);
    n = vsnprintf(room ? b->bytes + b->len : NULL, room, fmt, args);
    if (n > 0 && (size_t)n >= room)
        vsnprintf(buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt, again);
    if (n > 0)
        b->len += (size_t)n;
    va_end(again);
}

void buf_consume(struct buf *b, size_t len)
{
    b->len -= len;
    if (b->len)
        memmove(b->bytes, b->bytes + len, b->len);
    if (b->secret)
        secret_wipe(b->bytes + b->len, len);
}

void buf_clear(struct buf *b)
{
    if (b->secret)
        secret_wipe(b->bytes, b->len);
    b->len = 0;
}

void buf_free(struct buf *b)
{
    buf_clear(b);
    free(b->bytes);
    *b = (struct buf){.secret = b->secret};
}
