/*
 * gzip.c - zlib's deflate at its fastest level, as kube-apiserver compresses: a higher one costs several times
 * the CPU time for a few percent.
 */
#include "wire/http/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include "base/alloc.h"

enum {
    GZIP_FORMAT = 16, /* added to the window bits: gzip, not zlib's own format */
    LEVEL = 1,
    MEMORY_LEVEL = 8,    /* zlib's default */
    SLICE = 16 * 1024,   /* of output, at a time */
    INPUT = 1024 * 1024, /* at most, in one call of zlib */
};

struct gzip {
    z_stream zlib;
};

/* Sizes are limited by zlib: failing to allocate aborts, as everywhere. */
static voidpf zlib_alloc(voidpf opaque, uInt n, uInt size)
{
    (void)opaque;
    return xcalloc(n, size);
}

static void zlib_free(voidpf opaque, voidpf memory)
{
    (void)opaque;
    wipe_free(memory); /* it holds the last 32 KiB of input, which may contain a Secret */
}

struct gzip *gzip_new(void)
{
    struct gzip *g = NEW(struct gzip);
    int rc;
    g->zlib.zalloc = zlib_alloc;
    g->zlib.zfree = zlib_free;
    rc = deflateInit2(&g->zlib, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT, MEMORY_LEVEL,
                      Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK); /* can fail only without memory or with a wrong zlib version */
    (void)rc;
    return g;
}

void gzip_free(struct gzip *g)
{
    if (!g)
        return;
    deflateEnd(&g->zlib);
    free(g);
}

/* Compresses the input that zlib has, and everything else if @flush is Z_FINISH. */
static void deflate_all(struct gzip *g, int flush, struct buf *out)
{
    int rc;
    do {
        g->zlib.next_out = (Bytef *)buf_room(out, SLICE);
        g->zlib.avail_out = SLICE;
        rc = deflate(&g->zlib, flush);
        assert(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
        out->len += SLICE - g->zlib.avail_out;
    } while (g->zlib.avail_in || (flush == Z_FINISH && rc != Z_STREAM_END));
}

void gzip_put(struct gzip *g, const char *bytes, size_t len, struct buf *out)
{
    while (len) {
        size_t n = len < INPUT ? len : INPUT;
        g->zlib.next_in = (z_const Bytef *)bytes;
        g->zlib.avail_in = (uInt)n;
        deflate_all(g, Z_NO_FLUSH, out);
        bytes += n;
        len -= n;
    }
}

void gzip_end(struct gzip *g, struct buf *out)
{
    deflate_all(g, Z_FINISH, out);
}
