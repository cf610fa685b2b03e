/*
 * The answer on the wire: the head as it was recorded, gzip as one member (lists) or one member per
 * flush (watch-lists), chunked encoding.
 */
#include <assert.h>
#include <string.h>
#include <time.h>

#include "conn.h"

enum {
    SMALL = 2048, /* shorter bodies have a Content-Length */
};

/* The date @seconds from now. */
static void put_date(struct buf *out, const char *field, int seconds)
{
    char date[64];
    time_t then = time(NULL) + seconds;
    struct tm tm;
    gmtime_r(&then, &tm);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    buf_printf(out, "%s: %s\r\n", field, date);
}

static void put_fields(struct buf *out, const struct head *head, const char *audit)
{
    buf_printf(out, "HTTP/1.1 %d %s\r\n", head->code, status_phrase(head->code));
    buf_printf(out, "Audit-Id: %s\r\nCache-Control: no-cache, private\r\n", audit);
    if (head->gzip)
        buf_puts(out, "Content-Encoding: gzip\r\n");
    buf_printf(out, "Content-Type: %s\r\n", head->type);
    if (head->location)
        buf_printf(out, "Location: %s\r\n", head->location);
    if (head->retry_after && head->retry_date)
        put_date(out, "Retry-After", head->retry_after);
    else if (head->retry_after)
        buf_printf(out, "Retry-After: %d\r\n", head->retry_after);
    if (head->gzip)
        buf_puts(out, "Vary: Accept-Encoding\r\n");
    if (head->warning)
        buf_printf(out, "Warning: 299 - \"%s\"\r\n", head->warning);
    if (head->nosniff)
        buf_puts(out, "X-Content-Type-Options: nosniff\r\n");
    if (!head->early)
        buf_puts(out,
                 "X-Kubernetes-Pf-Flowschema-Uid: 00000000-0000-4000-8000-00000000f10e\r\n"
                 "X-Kubernetes-Pf-Prioritylevel-Uid: 00000000-0000-4000-8000-0000000b1e1e\r\n");
    put_date(out, "Date", 0);
}

/* @length is the length of the body, if it is known. */
static void put_head(struct conn *c, const size_t *length)
{
    struct reply *r = &c->reply;
    char audit[UUID_SIZE];
    store_uuid(&c->sim->store, audit);
    put_fields(&r->wire, &r->head, audit);
    if (c->request.close)
        buf_puts(&r->wire, "Connection: close\r\n");
    if (length)
        buf_printf(&r->wire, "Content-Length: %zu\r\n\r\n", *length);
    else
        buf_puts(&r->wire, "Transfer-Encoding: chunked\r\n\r\n");
    r->headed = true;
    r->chunked = !length;
    r->head_len = r->wire.len;
}

static void put_chunks(struct conn *c, const char *bytes, size_t len)
{
    size_t most = c->sim->settings.chunk ? (size_t)c->sim->settings.chunk : len;
    while (len) {
        size_t n = len < most ? len : most;
        buf_printf(&c->reply.wire, "%zx\r\n", n);
        buf_put(&c->reply.wire, bytes, n);
        buf_puts(&c->reply.wire, "\r\n");
        bytes += n;
        len -= n;
    }
}

static void open_gzip(struct reply *r)
{
    enum {
        GZIP = 16 + 15,
        MEMORY = 8
    };
    int rc = deflateInit2(&r->z, Z_BEST_SPEED, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    (void)rc;
    r->z_open = true;
}

static void deflate_body(struct reply *r, struct buf *out, bool last)
{
    int how = last ? Z_FINISH : Z_NO_FLUSH;
    if (!r->z_open)
        open_gzip(r);
    r->z.next_in = (unsigned char *)r->body.bytes;
    r->z.avail_in = (unsigned)r->body.len;
    do {
        r->z.avail_out = SMALL;
        r->z.next_out = (unsigned char *)buf_room(out, SMALL);
        deflate(&r->z, how);
        out->len += SMALL - r->z.avail_out;
    } while (r->z.avail_out == 0);
}

static void put_gzip(struct conn *c, bool last)
{
    struct reply *r = &c->reply;
    struct buf packed = {0};
    bool member = r->head.stream; /* each flush is one member */
    if (r->body.len || (last && !member))
        deflate_body(r, &packed, last || member);
    if (member && r->body.len)
        deflateReset(&r->z);
    put_chunks(c, packed.bytes, packed.len);
    buf_free(&packed);
}

void reply_frame(struct conn *c, bool last)
{
    struct reply *r = &c->reply;
    bool silent = strcmp(c->request.method, "HEAD") == 0;
    bool small = last && !r->head.gzip && !r->head.stream && r->body.len < SMALL;
    if (!r->headed && (last || r->body.len || r->head.stream))
        put_head(c, small ? &r->body.len : NULL);
    if (silent)
        buf_clear(&r->body);
    else if (r->head.gzip)
        put_gzip(c, last);
    else if (r->chunked)
        put_chunks(c, r->body.bytes, r->body.len);
    else if (r->body.len)
        buf_put(&r->wire, r->body.bytes, r->body.len);
    buf_clear(&r->body);
    if (last && r->chunked && !silent)
        buf_puts(&r->wire, "0\r\n\r\n");
    if (last)
        r->complete = true;
}
