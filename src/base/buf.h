/*
 * buf.h - a growing byte buffer with a limit.
 *
 * buf_append() is for sizes that a peer chooses: the caller passes the limit and handles the error.
 *
 *     if (buf_append(&f->partial, bytes, len, f->limit) < 0)
 *         return err_set(err, INF_ETOOBIG, "watch event over frame_max=%zu", f->limit);
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *bytes; /* NULL until the first append */
    size_t len;
    size_t cap;
    bool
        secret; /* overwrite the bytes before they are dropped, moved or freed; kept by buf_free() */
};

#define BUF_NO_LIMIT ((size_t)-1) /* for sizes that we choose */

/* Appends @len bytes. Returns 0, or -INF_ETOOBIG without a change if the buffer would exceed @limit
 * bytes. */
int buf_append(struct buf *b, const char *bytes, size_t len, size_t limit);

/* Append text of our own. Its size is known to be reasonable, so there is no limit and no failure. */
void buf_puts(struct buf *b, const char *text);
void buf_put(struct buf *b, const char *bytes, size_t len);
static inline void buf_putc(struct buf *b, char c);
void buf_put_u64(struct buf *b, uint64_t number); /* in decimal */
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void buf_vprintf(struct buf *b, const char *fmt,
                                                       va_list args);

/* Makes room for @len more bytes. The caller writes them at the returned address and adds to b->len. */
char *buf_room(struct buf *b, size_t len);

static inline void buf_putc(struct buf *b, char c)
{
    char *at = b->cap > b->len ? b->bytes + b->len : buf_room(b, 1);
    *at = c;
    b->len++;
}

/* Removes the first @len bytes. */
void buf_consume(struct buf *b, size_t len);

/* Removes all bytes and keeps the memory. */
void buf_clear(struct buf *b);

/* Frees the memory. The buffer is empty and can be used again. */
void buf_free(struct buf *b);

#endif
