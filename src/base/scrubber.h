/*
 * scrubber.h - removes our own credentials from text that a peer sent.
 *
 *     scrubber_retire(&scrubber, SCRUBBER_SERVER);      whenever a credential changes
 *     scrubber_add(&scrubber, SCRUBBER_SERVER, token);
 *     len = scrubber_clean(&scrubber, text, len);       "token ***" instead of "token eyJhb..."
 *
 * A server or a proxy may repeat what we sent it, in an error message for instance. Text of a peer
 * is cleaned before it becomes part of an error, a log line or a record.
 *
 * Found are: the credential as it was sent; with characters escaped as in JSON (\u0041, \/) or in
 * URLs (%41); and, because texts are cut, the beginning of it from SCRUBBER_FRAGMENT bytes on.
 * Credentials shorter than SCRUBBER_WORD bytes would occur in ordinary text by chance: they are
 * replaced only where no letter or digit is next to them. Not found: other encodings.
 */
#ifndef BASE_SCRUBBER_H
#define BASE_SCRUBBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"

enum {
    SCRUBBER_CURRENT = 4, /* LIMIT: credentials of a group that are in use: a login has two forms */
    SCRUBBER_FORMER =
        8, /* LIMIT: credentials that were replaced; the oldest one is forgotten first */
    SCRUBBER_WORD = 6,      /* shorter credentials are replaced as whole words only */
    SCRUBBER_FRAGMENT = 16, /* this much of the beginning of a credential is replaced, too */
};

/* The peer that a credential is for; each group is replaced separately. */
enum scrubber_group {
    SCRUBBER_SERVER,
    SCRUBBER_PROXY,
    SCRUBBER_GROUPS,
};

/* A credential that was replaced: only hashes are kept, to recognize it. */
struct scrubber_former {
    size_t len;           /* 0: none */
    uint64_t head, whole; /* keyed hashes of its first SCRUBBER_FRAGMENT bytes, and of all */
    char first;           /* its first byte */
};

/* Zeroed: no credentials. Owns copies. */
struct scrubber {
    char *current[SCRUBBER_GROUPS][SCRUBBER_CURRENT];
    struct scrubber_former former[SCRUBBER_FORMER];
    size_t next_former;
    struct siphash_key key; /* of the hashes; random */
};

/* Adds a credential that is used from now on. NULL and "" are ignored. */
void scrubber_add(struct scrubber *s, enum scrubber_group group, const char *secret);

/* Marks the credentials of @group as replaced: overwrites them and keeps only hashes, because a
 * response to a request that was sent with them may still arrive. */
void scrubber_retire(struct scrubber *s, enum scrubber_group group);

/* Adds the base64 of "user:password", and the password in it. */
void scrubber_add_basic(struct scrubber *s, enum scrubber_group group, const char *basic);

/* Replaces credentials in the @len bytes of @text by "***" and returns the new length, which is
 * never larger. @s may be NULL: then the text is not changed. */
size_t scrubber_clean(const struct scrubber *s, char *text, size_t len);

/* Like scrubber_clean(), for a NUL-terminated text. */
void scrubber_clean_text(const struct scrubber *s, char *text);

/* Whether the NUL-terminated @text contains a credential. */
bool scrubber_finds(const struct scrubber *s, const char *text);

/* Overwrites and frees all credentials. */
void scrubber_free(struct scrubber *s);

#endif
