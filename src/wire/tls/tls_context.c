/*
 * tls_context.c - one SSL_CTX per set of credentials.
 *
 * Normal path: TLS 1.2 or later, the server's certificate verified against the given or the
 * system's authorities, our own certificate with its chain and key if there is one. Invalid PEM
 * text fails with INF_ECONF; the message names the kubeconfig field.
 */
#include "wire/tls/tls_context.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/alloc.h"
#include "base/err.h"
#include "wire/tls/tls_internal.h"

const char *tls_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "unknown reason";
}

/* Without this OpenSSL would prompt on the terminal. */
static int no_password(char *buf, int size, int writing, void *unused)
{
    (void)buf, (void)size, (void)writing, (void)unused;
    return -1;
}

static BIO *pem_open(const char *pem)
{
    size_t len = strlen(pem);
    return BIO_new_mem_buf(pem, len < INT32_MAX ? (int)len : INT32_MAX);
}

/* Whether the last PEM read failed only because there was nothing more to read. */
static bool pem_at_end(void)
{
    unsigned long e = ERR_peek_last_error();
    return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}

/* Calls @use for each certificate in @pem, the first with index 0. @use may take a reference. */
static int pem_each_cert(const char *pem, const char *what, SSL_CTX *ctx,
                         int (*use)(SSL_CTX *ctx, X509 *cert, int index), struct inf_error *err)
{
    BIO *bio = pem_open(pem);
    X509 *cert;
    int n = 0, rc = 0;
    ERR_clear_error();
    while (rc == 0 && (cert = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
        if (use(ctx, cert, n++) != 1)
            rc = err_set(err, INF_ECONF, "%s: certificate %d: %s", what, n, tls_reason());
        X509_free(cert);
    }
    if (rc == 0 && !pem_at_end())
        rc = err_set(err, INF_ECONF, "%s: certificate %d can't be read: %s", what, n + 1,
                     tls_reason());
    else if (rc == 0 && n == 0)
        rc = err_set(err, INF_ECONF, "%s: no certificate in PEM format found", what);
    BIO_free(bio);
    return rc;
}

static int add_authority(SSL_CTX *ctx, X509 *cert, int index)
{
    (void)index;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert);
}

static int add_client_cert(SSL_CTX *ctx, X509 *cert, int index)
{
    return index == 0 ? SSL_CTX_use_certificate(ctx, cert)
                      : (int)SSL_CTX_add1_chain_cert(ctx, cert);
}

/* Like kubectl, trusts the certificates in the file even if they are not roots. */
static int set_authorities(SSL_CTX *ctx, const char *ca_pem, struct inf_error *err)
{
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
    if (ca_pem)
        return pem_each_cert(ca_pem, "certificate-authority", ctx, add_authority, err);
    ERR_clear_error();
    if (SSL_CTX_set_default_verify_paths(ctx) != 1)
        return err_set(err, INF_ECONF, "the system's certificate authorities: %s", tls_reason());
    return 0;
}

static int set_key(SSL_CTX *ctx, const char *key_pem, struct inf_error *err)
{
    BIO *bio = pem_open(key_pem);
    EVP_PKEY *key;
    int rc = 0;
    ERR_clear_error();
    key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_BAD_PASSWORD_READ)
        rc =
            err_set(err, INF_ECONF,
                    "client-key: encrypted keys are not supported; use a key without a passphrase");
    else if (!key && pem_at_end())
        rc = err_set(err, INF_ECONF, "client-key: no private key in PEM format found");
    else if (!key)
        rc = err_set(err, INF_ECONF, "client-key: can't be read: %s", tls_reason());
    else if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        rc = err_set(err, INF_ECONF, "client-key does not belong to client-certificate: %s",
                     tls_reason());
    EVP_PKEY_free(key);
    BIO_free(bio);
    return rc;
}

int tls_context_set_identity(SSL_CTX *ctx, const struct tls_settings *s, struct inf_error *err)
{
    if (!s->cert_pem && !s->key_pem)
        return 0;
    if (!s->cert_pem || !s->key_pem)
        return err_set(err, INF_ECONF, "%s without %s",
                       s->cert_pem ? "client-certificate" : "client-key",
                       s->cert_pem ? "client-key" : "client-certificate");
    if (pem_each_cert(s->cert_pem, "client-certificate", ctx, add_client_cert, err) < 0)
        return -err->code;
    return set_key(ctx, s->key_pem, err);
}

static int set_protocol(SSL_CTX *ctx, const struct tls_settings *s)
{
    static const unsigned char protocols[] = "\x08" TLS_PROTOCOL;
    SSL_CTX_set_options(ctx,
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, tls_session_on_new);
    if (!s->insecure)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, tls_check_verify);
    SSL_CTX_set_cert_cb(ctx, tls_check_on_cert_request, NULL);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_alpn_protos(ctx, protocols, sizeof(protocols) - 1) == 0;
}

struct tls_context *tls_context_new_empty(void)
{
    struct tls_context *context = NEW(struct tls_context);
    context->refs = 1;
    tls_sessions_init(&context->sessions);
    ERR_clear_error();
    context->bio_method = tls_bio_method_new();
    return context;
}

struct tls_context *tls_context_new(const struct tls_settings *settings, struct inf_error *err)
{
    struct tls_context *context = tls_context_new_empty();
    struct inf_error why;
    context->ssl_ctx = SSL_CTX_new(TLS_client_method());
    if (!context->bio_method || !context->ssl_ctx || !set_protocol(context->ssl_ctx, settings)) {
        err_set(&why, INF_ECONF, "can't initialize OpenSSL: %s", tls_reason());
        goto fail;
    }
    if (!settings->insecure && set_authorities(context->ssl_ctx, settings->ca_pem, &why) < 0)
        goto fail;
    if (tls_context_set_identity(context->ssl_ctx, settings, &why) < 0)
        goto fail;
    return context;
fail:
    if (err)
        *err = why;
    tls_context_unref(context);
    return NULL;
}

struct tls_context *tls_context_ref(struct tls_context *context)
{
    context->refs++;
    return context;
}

void tls_context_unref(struct tls_context *context)
{
    if (!context || --context->refs > 0)
        return;
    tls_sessions_free(&context->sessions);
    SSL_CTX_free(context->ssl_ctx);
    BIO_meth_free(context->bio_method);
    free(context);
}
