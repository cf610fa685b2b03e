/*
 * nats_credentials.h - what a client of NATS proves its identity with: a user and a password, a token, the seed of an
 * nkey, or a JWT with its seed (a .creds file, as `nsc` and `nats` write it).
 *
 *     nats_credentials_set_file(&credentials, text, err)
 *     nats_credentials_put(&credentials, nonce, &out, err)       members of CONNECT, with the nonce signed
 *
 * Seeds have a checksum; a wrong one is an error of the configuration. Errors never repeat a secret.
 */
#ifndef WIRE_NATS_CREDENTIALS_H
#define WIRE_NATS_CREDENTIALS_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"
#include "wire/tls/tls_ed25519.h"

enum {
    NATS_SIGNATURE_TEXT = 86, /* characters of a signature in base64url without padding */
};

/* Zeroed: none. Owned. */
struct nats_credentials {
    char *user, *password;
    char *token;
    char *jwt;
    char *public_key; /* of the seed: "UDXU4R..."; NULL: there is no seed */
    unsigned char seed[TLS_ED25519_KEY];
};

/* Takes the seed of a user ("SUA...") out of @text, with white space around it. */
int nats_credentials_set_seed(struct nats_credentials *credentials, const char *text,
                              struct inf_error *err);

/* Takes the JWT and the seed out of the text of a .creds file. */
int nats_credentials_set_file(struct nats_credentials *credentials, const char *text,
                              struct inf_error *err);

/* Whether there are any. */
bool nats_credentials_are_set(const struct nats_credentials *credentials);

/* Appends members of a JSON object, each after a comma. @nonce: from INFO; needed for a seed. */
int nats_credentials_put(const struct nats_credentials *credentials, struct str nonce,
                         struct buf *out, struct inf_error *err);

/* Overwrites and frees them. */
void nats_credentials_free(struct nats_credentials *credentials);

#endif
