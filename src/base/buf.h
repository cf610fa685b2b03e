/*
 * buf.h - a growing run of bytes with a limit.
 *
 * Appending never aborts for a size that a peer chose: the caller names the limit and answers for
 * it.
 *
 *     if (buf_append(&f->partial, bytes, len, f->limit) < 0)
 *         return err_set(err, INF_ETOOBIG, "watch event over frame_max=%zu", f->limit);
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *bytes; /* NULL while nothing was ever appended */
    size_t len;
    size_t cap;
    bool secret; /* overwritten before it is forgotten, moved or freed; stays when it is freed */
};

#define BUF_NO_LIMIT ((size_t)-1) /* for sizes we choose ourselves */

/* Adds @len bytes. Returns 0, or -INF_ETOOBIG, changing nothing, if more than @limit bytes would be
 * held. */
int buf_append(struct buf *b, const char *bytes, size_t len, size_t limit);

/* Adds what we wrote ourselves; its size is ours, so there is no limit and no failure. */
void buf_puts(struct buf *b, const char *text);
void buf_put(struct buf *b, const char *bytes, size_t len);
static inline void buf_putc(struct buf *b, char c);
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *b, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void buf_vprintf(struct buf *b, const char *fmt,
                                                       va_list args);

/* Room for @len more bytes; the caller writes at the returned place and adds to b->len. */
char *buf_room(struct buf *b, size_t len);

static inline void buf_putc(struct buf *b, char c)
{
    char *at = b->cap > b->len ? b->bytes + b->len : buf_room(b, 1);
    *at = c;
    b->len++;
}

/* Forgets the first @len bytes, keeping the rest. */
void buf_consume(struct buf *b, size_t len);

/* Keeps the memory, forgets the bytes. */
void buf_clear(struct buf *b);

/* Returns the memory too. The buf is empty and can be used again. */
void buf_free(struct buf *b);

#endif
