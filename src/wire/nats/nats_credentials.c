/*
 * nats_credentials.c - reads seeds and .creds files, and signs the nonce of the server.
 *
 * A seed is base32 of: five bits of the prefix S, eight bits of the prefix of the role (U: user), 32 bytes, and a
 * CRC-16 (XMODEM), least significant byte first. A public key is base32 of the prefix of the role, 32 bytes and a CRC-16.
 */
#include "wire/nats/nats_credentials.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/base32.h"
#include "base/text/base64.h"
#include "base/text/json_string.h"

enum {
    PREFIX_SEED = 18 << 3, /* 'S' */
    PREFIX_USER = 20 << 3, /* 'U' */
    SEED_TEXT = 58,        /* characters */
    SEED_BYTES = 2 + TLS_ED25519_KEY + 2,
    PUBLIC_BYTES = 1 + TLS_ED25519_KEY + 2,
};

static uint16_t crc16(const unsigned char *bytes, size_t len)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
    }
    return (uint16_t)crc;
}

/* ---- seeds ---- */

static char *public_key_of(const unsigned char *seed)
{
    unsigned char bytes[PUBLIC_BYTES] = {PREFIX_USER};
    struct buf text = {0};
    uint16_t crc;
    tls_ed25519_public(seed, bytes + 1);
    crc = crc16(bytes, sizeof(bytes) - 2);
    bytes[sizeof(bytes) - 2] = (unsigned char)(crc & 0xff);
    bytes[sizeof(bytes) - 1] = (unsigned char)(crc >> 8);
    base32_put(&text, bytes, sizeof(bytes));
    buf_putc(&text, '\0');
    return text.bytes;
}

static int decode_seed(struct str text, unsigned char ret[TLS_ED25519_KEY], struct inf_error *err)
{
    unsigned char raw[SEED_BYTES];
    int rc = 0;
    if (text.len != SEED_TEXT || base32_decode(text, raw, sizeof(raw)) != SEED_BYTES ||
        crc16(raw, SEED_BYTES - 2) != (raw[SEED_BYTES - 2] | raw[SEED_BYTES - 1] << 8))
        rc = err_set(err, INF_ECONF, "it has no valid seed of an nkey, which starts with SU");
    else if ((raw[0] & 0xf8) != PREFIX_SEED ||
             ((raw[0] & 7) << 5 | (raw[1] & 0xf8) >> 3) != PREFIX_USER)
        rc = err_set(err, INF_ECONF,
                     "its nkey is not that of a user; use a seed that starts with SU");
    else
        memcpy(ret, raw + 2, TLS_ED25519_KEY);
    secret_wipe(raw, sizeof(raw));
    return rc;
}

static struct str trimmed(struct str text)
{
    static const char blanks[] = " \t\r\n";
    while (text.len && strchr(blanks, text.at[text.len - 1]))
        text.len--;
    while (text.len && strchr(blanks, text.at[0]))
        text = (struct str){text.at + 1, text.len - 1};
    return text;
}

static int set_seed(struct nats_credentials *c, struct str text, struct inf_error *err)
{
    int rc = decode_seed(trimmed(text), c->seed, err);
    if (rc < 0)
        return rc;
    free(c->public_key);
    c->public_key = public_key_of(c->seed);
    return 0;
}

int nats_credentials_set_seed(struct nats_credentials *credentials, const char *text,
                              struct inf_error *err)
{
    return set_seed(credentials, str_of(text), err);
}

/* ---- .creds files ---- */

static struct str take_line(struct str *rest)
{
    const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->at) + 1 : rest->len;
    struct str line = {rest->at, len};
    *rest = (struct str){rest->at + len, rest->len - len};
    return trimmed(line);
}

static bool is_mark(struct str line)
{
    return line.len >= 6 && memcmp(line.at, "---", 3) == 0 &&
           memcmp(line.at + line.len - 3, "---", 3) == 0;
}

/* The next text between two lines of dashes, such as
 *     -----BEGIN NATS USER JWT-----
 *     eyJ0...
 *     ------END NATS USER JWT------ */
static struct str take_block(struct str *rest)
{
    while (rest->len) {
        struct str line = take_line(rest), text;
        if (!is_mark(line) || !memmem(line.at, line.len, "BEGIN", 5))
            continue;
        do
            text = take_line(rest);
        while (!text.len && rest->len);
        return text;
    }
    return (struct str){0};
}

int nats_credentials_set_file(struct nats_credentials *credentials, const char *text,
                              struct inf_error *err)
{
    struct str rest = str_of(text), jwt = take_block(&rest), seed = take_block(&rest);
    if (!jwt.len || !seed.len || is_mark(jwt) || !str_is_token(jwt))
        return err_set(err, INF_ECONF,
                       "it is no .creds file: a block with a JWT and one with a seed are needed");
    if (set_seed(credentials, seed, err) < 0)
        return -err->code;
    secret_free(credentials->jwt);
    credentials->jwt = xstrndup(jwt.at, jwt.len);
    return 0;
}

/* ---- CONNECT ---- */

bool nats_credentials_are_set(const struct nats_credentials *credentials)
{
    return credentials->user || credentials->password || credentials->token || credentials->jwt ||
           credentials->public_key;
}

static void put_member(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_putc(out, ',');
    json_put_key(out, name);
    json_put_string(out, str_of(value));
}

/* base64url without padding */
static void put_signature(const struct nats_credentials *c, struct str nonce, struct buf *out)
{
    unsigned char signature[TLS_ED25519_SIGNATURE];
    char *text;
    tls_ed25519_sign(c->seed, nonce, signature);
    text = base64_encode((const char *)signature, sizeof(signature));
    for (char *at = text; *at; at++)
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
    text[NATS_SIGNATURE_TEXT] = '\0';
    put_member(out, "sig", text);
    free(text);
}

int nats_credentials_put(const struct nats_credentials *credentials, struct str nonce,
                         struct buf *out, struct inf_error *err)
{
    put_member(out, "user", credentials->user);
    put_member(out, "pass", credentials->password);
    put_member(out, "auth_token", credentials->token);
    if (!credentials->public_key)
        return 0;
    if (!nonce.len)
        return err_set(err, INF_EUNAUTHORIZED,
                       "the server accepts no nkeys: it has sent no nonce to sign");
    put_member(out, "jwt", credentials->jwt);
    if (!credentials->jwt)
        put_member(out, "nkey", credentials->public_key);
    put_signature(credentials, nonce, out);
    return 0;
}

void nats_credentials_free(struct nats_credentials *credentials)
{
    secret_free(credentials->user);
    secret_free(credentials->password);
    secret_free(credentials->token);
    secret_free(credentials->jwt);
    free(credentials->public_key);
    secret_wipe(credentials->seed, sizeof(credentials->seed));
    *credentials = (struct nats_credentials){0};
}
