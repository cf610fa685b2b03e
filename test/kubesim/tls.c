/*
 * TLS between two memory BIOs: received bytes are written into one, bytes to send are read from the
 * other.
 */
#include <assert.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "conn.h"

enum {
    PIECE = 16 * 1024, /* clear text at a time: one record */
};

void tls_start(struct conn *c)
{
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    c->ssl = SSL_new(c->sim->tls);
    assert(c->ssl && in && out);
    SSL_set_bio(c->ssl, in, out);
    SSL_set_accept_state(c->ssl);
}

static void flush(struct conn *c)
{
    char *bytes;
    long len = BIO_get_mem_data(SSL_get_wbio(c->ssl), &bytes);
    if (len <= 0)
        return;
    conn_send_raw(c, bytes, (size_t)len);
    (void)BIO_reset(SSL_get_wbio(c->ssl));
}

static bool fatal(struct conn *c, int rc)
{
    int why = SSL_get_error(c->ssl, rc);
    return why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
}

static bool continue_handshake(struct conn *c)
{
    int rc;
    ERR_clear_error();
    rc = SSL_do_handshake(c->ssl);
    flush(c);
    if (rc != 1)
        return !fatal(c, rc);
    c->shaken = true;
    c->sim->journal.handshakes++;
    c->sim->journal.resumed += SSL_session_reused(c->ssl) ? 1 : 0;
    return true;
}

bool tls_feed(struct conn *c, const char *bytes, size_t len)
{
    char piece[PIECE];
    int n;
    BIO_write(SSL_get_rbio(c->ssl), bytes, (int)len);
    if (!c->shaken && !continue_handshake(c))
        return false;
    if (!c->shaken)
        return true;
    ERR_clear_error();
    while ((n = SSL_read(c->ssl, piece, sizeof(piece))) > 0) {
        if (buf_append(&c->in, piece, (size_t)n, HEAD_MAX + BODY_MAX) < 0)
            return false;
    }
    if (fatal(c, n))
        return false;
    flush(c);
    return true;
}

void tls_write(struct conn *c, const char *bytes, size_t len)
{
    ERR_clear_error();
    if (SSL_write(c->ssl, bytes, (int)len) <= 0) {
        conn_close(c);
        return;
    }
    flush(c);
}

void tls_send_close_notify(struct conn *c)
{
    ERR_clear_error();
    if (c->shaken)
        SSL_shutdown(c->ssl);
    flush(c);
}

void tls_free(struct conn *c)
{
    SSL_free(c->ssl);
    c->ssl = NULL;
}
