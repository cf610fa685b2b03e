#include "tls_peer.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

static void must(long ok)
{
    if (ok > 0)
        return;
    ERR_print_errors_fp(stderr);
    abort();
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                   const unsigned char *in, unsigned in_len, void *arg)
{
    struct tls_peer *peer = SSL_get_app_data(ssl);
    (void)arg;
    memcpy(peer->alpn, in, in_len < sizeof(peer->alpn) ? in_len : sizeof(peer->alpn) - 1);
    *out = peer->protocol ? (const unsigned char *)peer->protocol : in + 1;
    *out_len = peer->protocol ? (unsigned char)strlen(peer->protocol) : in[0];
    return SSL_TLSEXT_ERR_OK;
}

static void require_certificate(SSL_CTX *ctx, const struct cert *ca)
{
    X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(ctx), (time_t)(SIM_START_US / 1000000));
    must(X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca->x509));
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

static int on_ticket(SSL *ssl, void *arg)
{
    static const char ballast[20000];
    (void)arg;
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), ballast, sizeof(ballast));
}

static SSL_CTX *server_new(const struct tls_peer_settings *settings)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    must(SSL_CTX_use_certificate(ctx, settings->cert->x509));
    must(SSL_CTX_use_PrivateKey(ctx, settings->cert->key));
    if (settings->middle)
        must(SSL_CTX_add1_chain_cert(ctx, settings->middle->x509));
    if (settings->tls12)
        must(SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION));
    if (settings->no_tickets)
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    if (settings->fat_tickets)
        must(SSL_CTX_set_session_ticket_cb(ctx, on_ticket, NULL, NULL));
    if (settings->client_ca)
        require_certificate(ctx, settings->client_ca);
    must(SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"peer", 4));
    SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
    return ctx;
}

void tls_peer_init(struct tls_peer *peer, const struct tls_peer_settings *settings)
{
    *peer = (struct tls_peer){.protocol = settings->protocol};
    if (settings->twin)
        must(SSL_CTX_up_ref(settings->twin->ctx));
    peer->ctx = settings->twin ? settings->twin->ctx : server_new(settings);
    peer->ssl = SSL_new(peer->ctx);
    SSL_set_app_data(peer->ssl, peer);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_accept_state(peer->ssl);
}

void tls_peer_done(struct tls_peer *peer)
{
    if (!peer->failed)
        SSL_set_shutdown(peer->ssl,
                         SSL_SENT_SHUTDOWN); /* otherwise OpenSSL would drop the session */
    SSL_free(peer->ssl);
    SSL_CTX_free(peer->ctx);
    buf_free(&peer->received);
    buf_free(&peer->to_send);
}

/* Notes a failure if @rc is one. */
static void check(struct tls_peer *peer, int rc)
{
    int error = SSL_get_error(peer->ssl, rc);
    peer->failed |= error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL;
}

static void note_client(struct tls_peer *peer)
{
    X509 *cert = SSL_get1_peer_certificate(peer->ssl);
    if (cert)
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, peer->client,
                                  sizeof(peer->client));
    X509_free(cert);
}

static void continue_handshake(struct tls_peer *peer)
{
    const char *name;
    int rc = SSL_do_handshake(peer->ssl);
    check(peer, rc);
    peer->shaken = rc == 1;
    peer->resumed = rc == 1 && SSL_session_reused(peer->ssl);
    if (rc == 1 && (name = SSL_get_servername(peer->ssl, TLSEXT_NAMETYPE_host_name)))
        snprintf(peer->sni, sizeof(peer->sni), "%s", name);
    if (rc == 1)
        note_client(peer);
}

static void receive(struct tls_peer *peer)
{
    char bytes[4096];
    int n;
    while ((n = SSL_read(peer->ssl, bytes, sizeof(bytes))) > 0)
        buf_put(&peer->received, bytes, (size_t)n);
    peer->client_goodbye |= SSL_get_error(peer->ssl, n) == SSL_ERROR_ZERO_RETURN;
    check(peer, n);
}

static void send_all(struct tls_peer *peer)
{
    if (peer->key_update)
        must(SSL_key_update(peer->ssl, SSL_KEY_UPDATE_REQUESTED));
    peer->key_update = false;
    if (peer->to_send.len)
        must(SSL_write(peer->ssl, peer->to_send.bytes, (int)peer->to_send.len));
    buf_clear(&peer->to_send);
    if (peer->goodbye && !peer->said_goodbye)
        SSL_shutdown(peer->ssl);
    peer->said_goodbye = peer->goodbye;
}

static void move_bytes(struct tls_peer *peer, struct pipe *pipe)
{
    char bytes[4096];
    int n;
    while ((n = BIO_read(peer->out, bytes, sizeof(bytes))) > 0)
        if (!pipe->ending)
            pipe_send(pipe, bytes, (size_t)n);
}

void tls_peer_on_tick(struct pipe *pipe)
{
    struct tls_peer *peer = pipe->peer;
    ERR_clear_error();
    BIO_write(peer->in, pipe->written.bytes, (int)pipe->written.len);
    buf_clear(&pipe->written);
    if (!peer->shaken && !peer->failed)
        continue_handshake(peer);
    if (peer->shaken && !peer->failed && !peer->said_goodbye) {
        receive(peer);
        send_all(peer);
    }
    move_bytes(peer, pipe);
}

void tls_peer_send(struct tls_peer *peer, const char *bytes, size_t len)
{
    buf_put(&peer->to_send, bytes, len);
}
