/*
 * tls_authority.c - makes certificates: an authority that signs itself, and servers signed by it.
 *
 * Normal path: a key, a certificate with its names, times and extensions, a signature, PEM texts. Certificates
 * begin an hour before now, for clients whose clocks are behind. PEM texts come from files and are
 * checked; anything else fails only if there is not enough memory.
 */
#include "wire/tls/tls_authority.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "wire/tls/tls_internal.h"

enum {
    EARLY_S = 3600,
    SERIAL_BYTES = 16,
};

#define AUTHORITY_NAME "informerd local API"

/* ---- PEM ---- */

static char *bio_take_text(BIO *bio)
{
    char *bytes, *text;
    long len = BIO_get_mem_data(bio, &bytes);
    text = xstrndup(bytes, len > 0 ? (size_t)len : 0);
    BIO_free(bio);
    return text;
}

static char *cert_to_pem(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return bio_take_text(bio);
}

static char *key_to_pem(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return bio_take_text(bio);
}

static int no_password(char *buf, int size, int writing, void *unused)
{
    (void)buf, (void)size, (void)writing, (void)unused;
    return -1;
}

static EVP_PKEY *key_from_pem(const char *pem, struct inf_error *err)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key;
    ERR_clear_error();
    key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key)
        err_set(err, INF_ECONF, "the key can't be read: %s", tls_reason());
    BIO_free(bio);
    return key;
}

static X509 *cert_from_pem(const char *pem, struct inf_error *err)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert;
    ERR_clear_error();
    cert = PEM_read_bio_X509(bio, NULL, no_password, NULL);
    if (!cert)
        err_set(err, INF_ECONF, "the certificate can't be read: %s", tls_reason());
    BIO_free(bio);
    return cert;
}

/* ---- parts of a certificate ---- */

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509_EXTENSION *extension;
    X509V3_CTX ctx;
    bool added;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    added = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_serial(X509 *cert)
{
    unsigned char bytes[SERIAL_BYTES];
    BIGNUM *number;
    bool set;
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] &= 0x7f; /* positive */
    number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return set;
}

static bool set_times(X509 *cert, int64_t now_us, int days)
{
    time_t now = (time_t)(now_us / 1000000);
    return X509_time_adj_ex(X509_getm_notBefore(cert), 0, -EARLY_S, &now) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, &now);
}

/* A certificate for @key, not signed yet; NULL: out of memory. */
static X509 *new_cert(EVP_PKEY *key, const char *cn, int64_t now_us, int days)
{
    X509 *cert = X509_new();
    if (cert && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
        X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                                   (const unsigned char *)cn, -1, -1, 0) == 1 &&
        X509_set_pubkey(cert, key) == 1 && set_times(cert, now_us, days))
        return cert;
    X509_free(cert); /* UNTESTED: only out of memory leads here */
    return NULL;
}

/* ---- the authority ---- */

int tls_authority_make(int64_t now_us, const char *key_pem, struct tls_pair *ret,
                       struct inf_error *err)
{
    EVP_PKEY *key = key_pem ? key_from_pem(key_pem, err) : EVP_EC_gen("P-256");
    X509 *cert;
    int rc = 0;
    if (key_pem && !key)
        return -INF_ECONF;
    cert = key ? new_cert(key, AUTHORITY_NAME, now_us, TLS_AUTHORITY_DAYS) : NULL;
    if (cert && X509_set_issuer_name(cert, X509_get_subject_name(cert)) == 1 &&
        add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign") &&
        add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
        X509_sign(cert, key, EVP_sha256()) > 0)
        *ret = (struct tls_pair){cert_to_pem(cert), key_to_pem(key)};
    else
        rc = err_set(err, INF_ECONF, "can't make a certificate authority: %s", tls_reason());
    X509_free(cert);
    EVP_PKEY_free(key);
    return rc;
}

/* ---- servers ---- */

static bool is_ip(const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* A comma would start another name, of any kind. */
static bool add_names(X509 *cert, const struct tls_names *names)
{
    struct buf text = {0};
    bool added = true;
    for (size_t i = 0; i < names->count && added; i++) {
        added = !strchr(names->items[i], ',');
        buf_printf(&text, "%s%s:%s", i ? "," : "", is_ip(names->items[i]) ? "IP" : "DNS",
                   names->items[i]);
    }
    buf_putc(&text, '\0');
    added = added && add_extension(cert, NULL, NID_subject_alt_name, text.bytes);
    buf_free(&text);
    return added;
}

/* @cert expires no later than @issuer. */
static bool limit_to_issuer(X509 *cert, X509 *issuer)
{
    const ASN1_TIME *end = X509_get0_notAfter(issuer);
    return ASN1_TIME_compare(X509_get0_notAfter(cert), end) <= 0 ||
           X509_set1_notAfter(cert, end) == 1;
}

static bool sign_server(X509 *cert, const struct tls_names *names, X509 *issuer,
                        EVP_PKEY *issuer_key)
{
    return X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
           limit_to_issuer(cert, issuer) &&
           add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, issuer, NID_ext_key_usage, "serverAuth") &&
           add_extension(cert, issuer, NID_authority_key_identifier, "keyid") &&
           add_names(cert, names) && X509_sign(cert, issuer_key, EVP_sha256()) > 0;
}

int tls_authority_issue(const struct tls_pair *authority, const struct tls_names *names,
                        int64_t now_us, struct tls_pair *ret, struct inf_error *err)
{
    X509 *issuer = cert_from_pem(authority->cert_pem, err), *cert = NULL;
    EVP_PKEY *issuer_key = issuer ? key_from_pem(authority->key_pem, err) : NULL, *key = NULL;
    int rc = -INF_ECONF;
    if (!issuer_key)
        goto out;
    ERR_clear_error();
    if (X509_check_private_key(issuer, issuer_key) != 1) {
        err_set(err, INF_ECONF, "the key does not belong to the certificate");
        goto out;
    }
    key = EVP_EC_gen("P-256");
    cert = key ? new_cert(key, names->items[0], now_us, TLS_SERVER_DAYS) : NULL;
    if (cert && sign_server(cert, names, issuer, issuer_key)) {
        *ret = (struct tls_pair){cert_to_pem(cert), key_to_pem(key)};
        rc = 0;
    } else {
        err_set(err, INF_ECONF, "can't make a certificate for '%s': %s", names->items[0],
                tls_reason());
    }
out:
    X509_free(cert);
    EVP_PKEY_free(key);
    EVP_PKEY_free(issuer_key);
    X509_free(issuer);
    return rc;
}

int64_t tls_certificate_end_us(const char *cert_pem, struct inf_error *err)
{
    X509 *cert = cert_from_pem(cert_pem, err);
    struct tm tm;
    int64_t end = -INF_ECONF;
    if (!cert)
        return end;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1)
        end = (int64_t)timegm(&tm) * 1000000;
    else
        err_set(err, INF_ECONF, "the certificate has an invalid date");
    X509_free(cert);
    return end;
}

void tls_pair_free(struct tls_pair *pair)
{
    free(pair->cert_pem);
    secret_free(pair->key_pem);
    *pair = (struct tls_pair){0};
}
