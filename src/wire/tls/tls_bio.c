/*
 * tls_bio.c - OpenSSL's socket: reads from the bytes of the current call and writes into a buffer.
 *
 * Memory BIOs are not used: they copy every byte and grow with the input. Here OpenSSL takes from
 * the caller's buffer only what it needs for the next record and leaves the rest in place. Its
 * output is collected, so that one call to OpenSSL causes at most one write below; a single record is
 * written directly.
 *
 * It never fails and never ends: no input means "try again later", and tls.c handles the end of the
 * connection.
 */
#include <string.h>

#include <openssl/bio.h>

#include "base/alloc.h"
#include "seam/stream.h"
#include "wire/tls/tls_internal.h"

static int bio_on_read(BIO *bio, char *ret_bytes, size_t len, size_t *ret_read)
{
    struct tls_wire *wire = BIO_get_data(bio);
    size_t left = wire->in_len - wire->in_taken;
    size_t n = len < left ? len : left, first = TLS_FIRST - wire->n_first;
    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(ret_bytes, wire->in + wire->in_taken, n);
    first = first < n ? first : n;
    memcpy(wire->first + wire->n_first, ret_bytes, first);
    wire->n_first += first;
    wire->in_taken += n;
    *ret_read = n;
    return 1;
}

static int bio_on_write(BIO *bio, const char *bytes, size_t len, size_t *ret_written)
{
    struct tls_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire->direct)
        wire->all_sent &= stream_write_now(wire->direct, bytes, len);
    else
        buf_put(&wire->out, bytes, len);
    *ret_written = len;
    return 1;
}

static long bio_on_ctrl(BIO *bio, int what, long n, void *p)
{
    (void)bio, (void)n, (void)p;
    return what == BIO_CTRL_FLUSH; /* required by OpenSSL; nothing else is supported */
}

BIO_METHOD *tls_bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "informer stream");
    if (!method || !BIO_meth_set_read_ex(method, bio_on_read) ||
        !BIO_meth_set_write_ex(method, bio_on_write) || !BIO_meth_set_ctrl(method, bio_on_ctrl)) {
        BIO_meth_free(method); /* UNTESTED: only out of memory leads here */
        return NULL;
    }
    return method;
}

BIO *tls_bio_new(const BIO_METHOD *method, struct tls_wire *wire)
{
    BIO *bio = BIO_new(method);
    if (!bio)
        return NULL;
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    return bio;
}
