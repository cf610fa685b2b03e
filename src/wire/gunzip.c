/*
 * gunzip.c - zlib's inflate, member by member, slice by slice.
 *
 * Happy path: a slice is filled from the input until it is full or the input is used up, and lent.
 * At the end of a member zlib is reset and the next byte must begin another.
 *
 * Failures: bytes that begin no member, or a member zlib finds fault with. What was inflated before
 * is told first, so that the same is told however the input was cut.
 */
#include "wire/gunzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include "base/alloc.h"
#include "base/err.h"

enum {
    GZIP_ONLY = 16, /* added to the window's bits: zlib's own format is not for HTTP's gzip */
    FIRST_BYTE = 0x1f,
};

struct gunzip {
    z_stream zlib;
    bool inside; /* a member: its end has not come yet */
    bool any;    /* member was complete */
    bool full;   /* the slice was filled: zlib may have more without any input */
    char *slice; /* NULL while there is nothing in it: a quiet watch holds none */
    size_t at;   /* what of it was taken */
    size_t len;
    struct inf_error why; /* to be told once the slice is taken; code 0: nothing */
};

/* Sizes we choose: like all memory of ours, there or not at all. */
static voidpf zlib_take(voidpf opaque, uInt n, uInt size)
{
    (void)opaque;
    return xcalloc(n, size);
}

static void zlib_give(voidpf opaque, voidpf memory)
{
    (void)opaque;
    wipe_free(memory); /* the last 32 KiB of what it inflated are there */
}

struct gunzip *gunzip_new(void)
{
    struct gunzip *g = NEW(struct gunzip);
    int rc;
    g->zlib.zalloc = zlib_take;
    g->zlib.zfree = zlib_give;
    rc = inflateInit2(&g->zlib, MAX_WBITS + GZIP_ONLY);
    assert(rc == Z_OK); /* it has memory, and is the zlib of its header */
    (void)rc;
    return g;
}

/* It may have been a Secret's. */
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

/* Zeros behind the end are what some tools pad files with; in a body they have no business. */
static void begin_member(struct gunzip *g, struct str input)
{
    unsigned char first = (unsigned char)input.at[0];
    g->inside = first == FIRST_BYTE;
    if (g->inside)
        inflateReset(&g->zlib);
    else if (g->any)
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
    if (rc == Z_STREAM_END) {
        g->inside = false;
        g->any = true;
    } else if (rc != Z_OK && rc != Z_BUF_ERROR) { /* the latter: it has got nothing to do */
        err_set(&g->why, INF_EPROTO, "gzip: %s", g->zlib.msg ? g->zlib.msg : "corrupt");
    }
}

static void fill_slice(struct gunzip *g, struct str *input)
{
    if (!g->slice)
        g->slice = xmalloc(GUNZIP_SLICE);
    g->zlib.next_out = (Bytef *)g->slice;
    g->zlib.avail_out = GUNZIP_SLICE;
    while (!g->why.code && g->zlib.avail_out && (input->len || (g->inside && g->full))) {
        if (!g->inside)
            begin_member(g, *input);
        if (g->inside)
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
    return g->at < g->len || (g->inside && g->full) || g->why.code;
}

int gunzip_end(const struct gunzip *g, struct inf_error *err)
{
    if (!g->inside)
        return 0;
    return err_set(err, INF_ECUT, "gzip: the body ended in the middle of a member");
}
