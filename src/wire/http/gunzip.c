/*
 * gunzip.c - zlib's inflate, member by member and slice by slice.
 *
 * Normal path: a slice is filled from the input until the slice is full or the input is used up,
 * and lent to the caller. At the end of a member zlib is reset, and the next byte must begin
 * another member.
 *
 * Failures: bytes that do not begin a member, and members that zlib rejects. Everything inflated
 * before the error is delivered first, so that the result does not depend on how the input was
 * split.
 */
#include "wire/http/gunzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    GZIP_ONLY = 16, /* added to the window bits: accept gzip only, not zlib's own format */
    FIRST_BYTE = 0x1f,
};

enum gunzip_state {
    GUNZIP_START,  /* nothing was read */
    GUNZIP_MEMBER, /* within a member */
    GUNZIP_END,    /* after a member; another one may follow */
};

struct gunzip {
    z_stream zlib;
    enum gunzip_state state;
    bool full;   /* the slice was filled: zlib may have more output without input */
    char *slice; /* NULL while empty: an idle watch holds no memory */
    size_t at;   /* number of bytes taken */
    size_t len;
    struct inf_error why; /* reported once the slice is taken; code 0: no error */
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
    wipe_free(memory); /* it holds the last 32 KiB of output */
}

struct gunzip *gunzip_new(void)
{
    struct gunzip *g = NEW(struct gunzip);
    int rc;
    g->zlib.zalloc = zlib_alloc;
    g->zlib.zfree = zlib_free;
    rc = inflateInit2(&g->zlib, MAX_WBITS + GZIP_ONLY);
    assert(rc == Z_OK); /* can fail only without memory or with a wrong zlib version */
    (void)rc;
    return g;
}

/* Wipes it: it may contain a Secret. */
static void forget_slice(struct gunzip *g)
{
    if (g->slice)
        secret_wipe(g->slice, g->len);
    g->at = g->len = 0;
}

void gunzip_free(struct gunzip *g)
{
    if (!g)
        return;
    inflateEnd(&g->zlib);
    forget_slice(g);
    free(g->slice);
    free(g);
}

/* Trailing zeros, with which some tools pad files, are not allowed in a body. */
static void begin_member(struct gunzip *g, struct str input)
{
    unsigned char first = (unsigned char)input.at[0];
    if (first == FIRST_BYTE) {
        g->state = GUNZIP_MEMBER;
        inflateReset(&g->zlib);
    } else if (g->state == GUNZIP_END)
        err_set(&g->why, INF_EPROTO, "gzip: %s after the last member",
                first ? "other data" : "zeros");
    else
        err_set(&g->why, INF_EPROTO, "gzip: the body is not in gzip format");
}

static void inflate_some(struct gunzip *g, struct str *input)
{
    uInt len = input->len < UINT_MAX ? (uInt)input->len : UINT_MAX;
    int rc;
    g->zlib.next_in = (z_const Bytef *)input->at;
    g->zlib.avail_in = len;
    rc = inflate(&g->zlib, Z_NO_FLUSH);
    input->at += len - g->zlib.avail_in;
    input->len -= len - g->zlib.avail_in;
    if (rc == Z_STREAM_END)
        g->state = GUNZIP_END;
    else if (rc != Z_OK && rc != Z_BUF_ERROR) /* Z_BUF_ERROR: no progress possible */
        err_set(&g->why, INF_EPROTO, "gzip: %s", g->zlib.msg ? g->zlib.msg : "corrupt");
}

static void fill_slice(struct gunzip *g, struct str *input)
{
    if (!g->slice)
        g->slice = xmalloc(GUNZIP_SLICE);
    g->zlib.next_out = (Bytef *)g->slice;
    g->zlib.avail_out = GUNZIP_SLICE;
    while (!g->why.code && g->zlib.avail_out &&
           (input->len || (g->state == GUNZIP_MEMBER && g->full))) {
        if (g->state != GUNZIP_MEMBER)
            begin_member(g, *input);
        if (g->state == GUNZIP_MEMBER)
            inflate_some(g, input);
        g->full = g->zlib.avail_out == 0;
    }
    g->at = 0;
    g->len = GUNZIP_SLICE - g->zlib.avail_out;
}

int gunzip_next(struct gunzip *g, struct str *input, struct str *ret_piece, struct inf_error *err)
{
    if (g->at == g->len)
        forget_slice(g);
    if (g->at == g->len && !g->why.code)
        fill_slice(g, input);
    if (g->at < g->len) {
        *ret_piece = (struct str){g->slice + g->at, g->len - g->at};
        return 1;
    }
    free(g->slice);
    g->slice = NULL;
    if (g->why.code)
        *err = g->why;
    return -g->why.code;
}

void gunzip_took(struct gunzip *g, size_t len)
{
    assert(len <= g->len - g->at);
    g->at += len;
}

bool gunzip_holds(const struct gunzip *g)
{
    return g->at < g->len || (g->state == GUNZIP_MEMBER && g->full) || g->why.code;
}

int gunzip_end(const struct gunzip *g, struct inf_error *err)
{
    if (g->state != GUNZIP_MEMBER)
        return 0;
    return err_set(err, INF_ECUT, "gzip: the body ended in the middle of a member");
}
