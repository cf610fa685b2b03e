/*
 * log_reader_gzip.c - reads a file that logrotate has compressed.
 *
 * Normal path: a piece of the file is read and inflated, up to as many bytes as are read of a plain file at once.
 * What zlib did not use is read again with the next piece, so that memory and time of a step are bounded whatever
 * a file contains.
 *
 * A damaged file: its records up to there, a gap, then the next file.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "daemon/output/log_reader_internal.h"
#include "wire/http/gunzip.h"

void log_reader_gzip_begin(struct log_reader *r)
{
    gunzip_free(r->gunzip);
    r->gunzip = gunzip_new();
    if (!r->packed)
        r->packed = xmalloc(LOG_READER_PACKED);
}

void log_reader_gzip_end(struct log_reader *r)
{
    gunzip_free(r->gunzip);
    free(r->packed);
    r->gunzip = NULL;
    r->packed = NULL;
}

ssize_t log_reader_inflate(struct log_reader *r, size_t len)
{
    struct str input = {r->packed, len}, piece;
    struct inf_error err;
    size_t old = r->bytes.len;
    int rc = 1;
    while (r->bytes.len - old < LOG_READER_PIECE &&
           (rc = gunzip_next(r->gunzip, &input, &piece, &err)) == 1) {
        buf_put(&r->bytes, piece.at, piece.len);
        gunzip_took(r->gunzip, piece.len);
    }
    if (rc == 0 && len == 0) /* the end of the file */
        rc = gunzip_end(r->gunzip, &err);
    if (rc < 0 && r->bytes.len == old)
        return -1;
    return (ssize_t)(len - input.len);
}
