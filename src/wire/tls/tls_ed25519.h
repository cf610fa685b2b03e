/*
 * tls_ed25519.h - signatures with Ed25519 keys, which prove the identity of a client of NATS.
 */
#ifndef WIRE_TLS_ED25519_H
#define WIRE_TLS_ED25519_H

#include "base/str.h"

enum {
    TLS_ED25519_KEY = 32,       /* bytes of a seed, and of a public key */
    TLS_ED25519_SIGNATURE = 64, /* bytes */
};

void tls_ed25519_public(const unsigned char seed[TLS_ED25519_KEY],
                        unsigned char ret[TLS_ED25519_KEY]);
void tls_ed25519_sign(const unsigned char seed[TLS_ED25519_KEY], struct str message,
                      unsigned char ret[TLS_ED25519_SIGNATURE]);

#endif
