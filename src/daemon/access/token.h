/*
 * token.h - short-lived tokens in memory: one-time codes, which a reader gets over the Unix socket and
 * uses at api.listen; and bearer tokens where no certificate authority can sign them (session.h).
 *
 *     text = api_tokens_issue(&tokens, reader, uid)    as the response to /informerd/v1/code
 *     reader = api_tokens_find(&tokens, text)          until their validity ends
 *     reader = api_tokens_take(&tokens, text)          the same, once: the codes of session.h
 *
 * They exist only in memory: a restart invalidates them, and clients get new ones.
 */
#ifndef DAEMON_API_TOKEN_H
#define DAEMON_API_TOKEN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/hashmap.h"
#include "base/list.h"
#include "base/str.h"
#include "daemon/access/reader.h"
#include "seam/clock.h"

enum {
    API_TOKEN_MS = 10 * 60 * 1000, /* validity */
    API_TOKENS_MAX = 4096,         /* LIMIT: valid tokens; beyond it none are issued */
    API_TOKENS_PER_USER = 64,      /* LIMIT: beyond it, the oldest token of the user is dropped */
};

struct api_tokens {
    struct clock *clock;
    uint64_t valid_ms;
    struct tls_digest *digest; /* borrowed */
    struct list list;          /* of struct api_token, the oldest first */
    struct hashmap by_digest;
};

/* Tokens will be valid for @valid_ms. */
void api_tokens_init(struct api_tokens *tokens, struct clock *clock, struct tls_digest *digest,
                     uint64_t valid_ms);

/* A new token of @reader, which must outlive it, for the user @uid. The caller frees it with
 * secret_free(). NULL: too many tokens are valid. */
char *api_tokens_issue(struct api_tokens *tokens, const struct api_reader *reader, uid_t uid);

/* The reader of a token that is valid; NULL: none. */
const struct api_reader *api_tokens_find(const struct api_tokens *tokens, struct str text);

/* The same; the token is no longer valid afterwards. */
const struct api_reader *api_tokens_take(struct api_tokens *tokens, struct str text);

/* Invalidates all tokens; frees their memory. */
void api_tokens_clear(struct api_tokens *tokens);

#endif
