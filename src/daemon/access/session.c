/*
 * session.c - signs and verifies sessions.
 *
 * The text is base64 of a digest and of what it signs: "END IDENTITY ID NAME", for example
 * "1763500000 uid 1000 ops". Everything about a text that is wrong has the same result: no reader.
 */
#include "daemon/access/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text/base64.h"

static const char purpose[] = "informerd page session 1";

struct tls_digest *api_session_key(const char *authority_key_pem)
{
    static const unsigned char none[TLS_DIGEST_KEY];
    unsigned char key[TLS_DIGEST_BYTES];
    struct str parts[] = {str_of(purpose), str_of(authority_key_pem)};
    struct tls_digest *derive = tls_digest_new(none), *digest;
    tls_digest_make(derive, parts, 2, key);
    tls_digest_free(derive);
    digest = tls_digest_new(key);
    secret_wipe(key, sizeof(key));
    return digest;
}

/* Appends the claim that a session of @reader makes, without the end of its validity and the name. */
static void put_identity(struct buf *out, const struct api_reader *reader)
{
    if (reader->identity == API_BY_UID)
        buf_printf(out, "uid %" PRIu64 " ", (uint64_t)reader->uid);
    else
        buf_printf(out, "group %" PRIu64 " ", (uint64_t)reader->gid);
}

char *api_session_issue(struct tls_digest *key, const struct api_reader *reader, int64_t now_us,
                        int64_t valid_s)
{
    unsigned char digest[TLS_DIGEST_BYTES];
    struct buf claim = {0}, all = {.secret = true};
    struct str part;
    char *text;
    buf_printf(&claim, "%" PRId64 " ", now_us / 1000000 + valid_s);
    put_identity(&claim, reader);
    buf_puts(&claim, reader->name);
    part = (struct str){claim.bytes, claim.len};
    tls_digest_make(key, &part, 1, digest);
    buf_put(&all, (const char *)digest, sizeof(digest));
    buf_put(&all, claim.bytes, claim.len);
    text = base64_encode(all.bytes, all.len);
    buf_free(&claim);
    buf_free(&all);
    return text;
}

/* In a time that does not depend on where they differ. */
static bool same_digest(const char *a, const unsigned char *b)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < TLS_DIGEST_BYTES; i++)
        difference |= (unsigned char)a[i] ^ b[i];
    return !difference;
}

static bool is_signed(struct tls_digest *key, const char *digest, struct str claim)
{
    unsigned char expected[TLS_DIGEST_BYTES];
    tls_digest_make(key, &claim, 1, expected);
    return same_digest(digest, expected);
}

static bool is_of(const struct api_reader *reader, const char *identity, const char **ret_name)
{
    struct buf own = {0};
    bool same;
    put_identity(&own, reader);
    same = strncmp(own.bytes, identity, own.len) == 0;
    *ret_name = identity + own.len;
    buf_free(&own);
    return same;
}

/* @claim is signed, so it has the form of api_session_issue(). The first reader of the user or group counts,
 * as for a peer: an entry of the configuration replaces a reader that is built in. */
static const struct api_reader *find_claimed(const struct api_readers *readers, const char *claim,
                                             int64_t now_us)
{
    char *identity;
    int64_t end_s = strtoll(claim, &identity, 10);
    if (end_s <= now_us / 1000000)
        return NULL;
    for (size_t i = 0; i < readers->count; i++) {
        const struct api_reader *reader = &readers->items[i];
        const char *name;
        if (reader->identity != API_BY_TOKEN && is_of(reader, identity + 1, &name))
            return strcmp(reader->name, name) == 0 ? reader : NULL;
    }
    return NULL;
}

const struct api_reader *api_session_find(struct tls_digest *key, const struct api_readers *readers,
                                          const char *text, int64_t now_us)
{
    const struct api_reader *found = NULL;
    size_t len = strlen(text), size = 0;
    char *bytes = NULL;
    if (len > API_SESSION_TEXT_MAX || base64_decode(text, len, &bytes, &size) < 0)
        return NULL;
    if (size > TLS_DIGEST_BYTES &&
        is_signed(key, bytes, (struct str){bytes + TLS_DIGEST_BYTES, size - TLS_DIGEST_BYTES}))
        found = find_claimed(readers, bytes + TLS_DIGEST_BYTES, now_us);
    secret_free(bytes);
    return found;
}
