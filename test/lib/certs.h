/*
 * certs.h - certificates for tests, made at run time. Times count from SIM_START_US (sim.h).
 */
#ifndef TEST_CERTS_H
#define TEST_CERTS_H

#include <stdbool.h>

struct cert {
    char *pem;     /* this certificate only */
    char *key_pem; /* its key, without passphrase */
    struct x509_st *x509;
    struct evp_pkey_st *key;
};

struct cert_spec {
    const char *cn;
    const char *sans;          /* "DNS:localhost,IP:127.0.0.1"; NULL: none */
    const struct cert *issuer; /* NULL: signed by itself */
    const char *usage;         /* "serverAuth,clientAuth"; NULL: any */
    bool ca;
    int from_days, to_days; /* both 0: from a year before to a year after */
};

struct cert *cert_make(const struct cert_spec *spec);
void cert_free(struct cert *cert);

/* The key of @cert, encrypted with a passphrase. The caller frees it. */
char *cert_encrypted_key(const struct cert *cert);

#endif
