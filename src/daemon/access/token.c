/*
 * token.c - issues, finds and expires short-lived tokens.
 *
 * A token is 32 random bytes in base64. Only its keyed digest is kept, which is also the key of the
 * map: the duration of a search does not depend on how much of a token is right. Expired tokens are
 * removed when another one is issued.
 */
#include "daemon/access/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/base64.h"

struct api_token {
    struct hash_node node;
    struct list order;
    unsigned char digest[TLS_DIGEST_BYTES];
    const struct api_reader *reader;
    uid_t uid;
    uint64_t end_ms;
};

void api_tokens_init(struct api_tokens *tokens, struct clock *clock, struct tls_digest *digest,
                     uint64_t valid_ms)
{
    *tokens = (struct api_tokens){.clock = clock, .digest = digest, .valid_ms = valid_ms};
    list_init(&tokens->list);
}

static uint64_t hash_of(const unsigned char digest[TLS_DIGEST_BYTES])
{
    uint64_t hash;
    memcpy(&hash, digest, sizeof(hash));
    return hash;
}

static bool same_digest(const void *key, const struct hash_node *node)
{
    return memcmp(container_of(node, const struct api_token, node)->digest, key,
                  TLS_DIGEST_BYTES) == 0;
}

static void drop_token(struct api_tokens *tokens, struct api_token *token)
{
    hashmap_remove(&tokens->by_digest, &token->node);
    list_remove(&token->order);
    free(token);
}

/* Drops expired tokens, and the oldest one of @uid if it has too many. */
static void make_room(struct api_tokens *tokens, uid_t uid)
{
    uint64_t now = clock_now_ms(tokens->clock);
    struct api_token *oldest = NULL;
    size_t own = 0;
    list_for_each_safe(node, &tokens->list) {
        struct api_token *token = container_of(node, struct api_token, order);
        if (token->end_ms <= now) {
            drop_token(tokens, token);
        } else if (token->uid == uid) {
            oldest = oldest ? oldest : token;
            own++;
        }
    }
    if (own >= API_TOKENS_PER_USER)
        drop_token(tokens, oldest);
}

char *api_tokens_issue(struct api_tokens *tokens, const struct api_reader *reader, uid_t uid)
{
    unsigned char bytes[TLS_DIGEST_KEY];
    struct api_token *token;
    struct str part;
    char *text;
    make_room(tokens, uid);
    if (tokens->by_digest.count >= API_TOKENS_MAX)
        return NULL;
    tls_digest_key(bytes);
    text = base64_encode((const char *)bytes, sizeof(bytes));
    secret_wipe(bytes, sizeof(bytes));
    part = str_of(text);
    token = NEW(struct api_token);
    tls_digest_make(tokens->digest, &part, 1, token->digest);
    token->reader = reader;
    token->uid = uid;
    token->end_ms = clock_now_ms(tokens->clock) + tokens->valid_ms;
    hashmap_add(&tokens->by_digest, &token->node, hash_of(token->digest));
    list_push(&tokens->list, &token->order);
    return text;
}

static struct api_token *find_token(const struct api_tokens *tokens, struct str text)
{
    unsigned char digest[TLS_DIGEST_BYTES];
    struct hash_node *node;
    struct api_token *token;
    if (!tokens->by_digest.count)
        return NULL;
    tls_digest_make(tokens->digest, &text, 1, digest);
    node = hashmap_find(&tokens->by_digest, hash_of(digest), same_digest, digest);
    if (!node)
        return NULL;
    token = container_of(node, struct api_token, node);
    return token->end_ms > clock_now_ms(tokens->clock) ? token : NULL;
}

const struct api_reader *api_tokens_find(const struct api_tokens *tokens, struct str text)
{
    const struct api_token *token = find_token(tokens, text);
    return token ? token->reader : NULL;
}

const struct api_reader *api_tokens_take(struct api_tokens *tokens, struct str text)
{
    struct api_token *token = find_token(tokens, text);
    const struct api_reader *reader = token ? token->reader : NULL;
    if (token)
        drop_token(tokens, token);
    return reader;
}

void api_tokens_clear(struct api_tokens *tokens)
{
    list_for_each_safe(node, &tokens->list)
        drop_token(tokens, container_of(node, struct api_token, order));
    hashmap_free(&tokens->by_digest);
    tokens->by_digest = (struct hashmap){0};
}
