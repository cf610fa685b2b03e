/*
 * tls_server.c - the SSL_CTX of a server.
 *
 * TLS 1.2 or later, HTTP/1.1, no client certificates. A client that offers only other protocols (ALPN)
 * is refused; one that offers none is served. Sessions are resumed by tickets, which the client keeps:
 * the server keeps nothing per client. Fails with INF_ECONF if certificate and key can't be used.
 */
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/err.h"
#include "wire/tls/tls_internal.h"

/* The fastest first, as kube-apiserver orders them. */
#define CIPHERS "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

static int select_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                           const unsigned char *offered, unsigned len, void *unused)
{
    static const char ours[] = TLS_PROTOCOL;
    (void)ssl, (void)unused;
    for (unsigned at = 0; at < len && offered[at] < len - at; at += offered[at] + 1u)
        if (offered[at] == sizeof(ours) - 1 && memcmp(offered + at + 1, ours, offered[at]) == 0) {
            *ret = offered + at + 1;
            *ret_len = offered[at];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool set_server_protocol(SSL_CTX *ctx)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CLEANSE_PLAINTEXT | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                 SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_ciphersuites(ctx, CIPHERS) == 1 && SSL_CTX_set_num_tickets(ctx, 1) == 1;
}

struct tls_context *tls_context_new_server(const char *cert_pem, const char *key_pem,
                                           struct inf_error *err)
{
    struct tls_settings settings = {.cert_pem = cert_pem, .key_pem = key_pem};
    struct tls_context *context = tls_context_new_empty();
    struct inf_error why;
    context->ssl_ctx = SSL_CTX_new(TLS_server_method());
    if (!context->bio_method || !context->ssl_ctx || !set_server_protocol(context->ssl_ctx))
        err_set(&why, INF_ECONF, "can't initialize OpenSSL: %s", tls_reason());
    else if (tls_context_set_identity(context->ssl_ctx, &settings, &why) == 0)
        return context;
    if (err)
        *err = why;
    tls_context_unref(context);
    return NULL;
}
