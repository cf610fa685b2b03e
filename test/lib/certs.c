#include "certs.h"

#include <assert.h>
#include <stdlib.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "sim.h"

static void must(long ok)
{
    if (ok > 0)
        return;
    fprintf(stderr, "certs: OpenSSL could not make a certificate\n");
    abort();
}

static void set_times(X509 *x, const struct cert_spec *spec)
{
    time_t start = (time_t)(SIM_START_US / 1000000);
    bool usual = !spec->from_days && !spec->to_days;
    int from = usual ? -365 : spec->from_days, to = usual ? 365 : spec->to_days;
    must(X509_time_adj_ex(X509_getm_notBefore(x), from, 0, &start) != NULL);
    must(X509_time_adj_ex(X509_getm_notAfter(x), to, 0, &start) != NULL);
}

static void add_extension(X509 *x, X509V3_CTX *ctx, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, ctx, nid, value);
    must(e != NULL);
    must(X509_add_ext(x, e, -1));
    X509_EXTENSION_free(e);
}

static void set_extensions(X509 *x, const struct cert_spec *spec)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, spec->issuer ? spec->issuer->x509 : x, x, NULL, NULL, 0);
    if (spec->ca)
        add_extension(x, &ctx, NID_basic_constraints, "critical,CA:TRUE");
    if (spec->usage)
        add_extension(x, &ctx, NID_ext_key_usage, spec->usage);
    if (spec->sans)
        add_extension(x, &ctx, NID_subject_alt_name, spec->sans);
}

static char *bio_text(BIO *bio)
{
    char *bytes;
    long len = BIO_get_mem_data(bio, &bytes);
    char *text = xstrndup(bytes, (size_t)len);
    BIO_free(bio);
    return text;
}

static char *x509_pem(X509 *x)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_X509(bio, x));
    return bio_text(bio);
}

static char *key_pem(EVP_PKEY *key, const EVP_CIPHER *cipher, const char *passphrase)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(PEM_write_bio_PKCS8PrivateKey(bio, key, cipher, passphrase, passphrase ? 6 : 0, NULL,
                                       NULL));
    return bio_text(bio);
}

struct cert *cert_make(const struct cert_spec *spec)
{
    struct cert *c = NEW(struct cert);
    X509_NAME *name;
    c->key = EVP_EC_gen("P-256");
    c->x509 = X509_new();
    must(X509_set_version(c->x509, X509_VERSION_3));
    must(ASN1_INTEGER_set(X509_get_serialNumber(c->x509), 1));
    name = X509_get_subject_name(c->x509);
    must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)spec->cn, -1,
                                    -1, 0));
    must(X509_set_issuer_name(c->x509,
                              spec->issuer ? X509_get_subject_name(spec->issuer->x509) : name));
    must(X509_set_pubkey(c->x509, c->key));
    set_times(c->x509, spec);
    set_extensions(c->x509, spec);
    must(X509_sign(c->x509, spec->issuer ? spec->issuer->key : c->key, EVP_sha256()));
    c->pem = x509_pem(c->x509);
    c->key_pem = key_pem(c->key, NULL, NULL);
    return c;
}

void cert_free(struct cert *cert)
{
    X509_free(cert->x509);
    EVP_PKEY_free(cert->key);
    free(cert->pem);
    free(cert->key_pem);
    free(cert);
}

char *cert_encrypted_key(const struct cert *cert)
{
    return key_pem(cert->key, EVP_aes_128_cbc(), "secret");
}
