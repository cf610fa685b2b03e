/*
 * reader.c - makes readers from the configuration, and finds the one of a request.
 *
 * Tokens are kept as keyed digests (HMAC-SHA256): comparing digests takes the same time for every
 * token, and a core dump does not contain the token. A group that does not exist, or a token file that
 * can't be read, is empty or holds more than a token, is an error: the configuration is not applied.
 */
#include "daemon/access/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "base/group.h"
#include "base/str.h"

enum {
    TOKEN_FILE_MAX = 4096, /* LIMIT: bytes of a token file */
    TOKEN_MIN = 16,        /* shorter ones can be guessed */
};

/* ---- loading ---- */

static struct conf_list copy_list(const struct conf_list *list)
{
    struct conf_list copy = {.count = list->count};
    if (!list->count)
        return (struct conf_list){0};
    copy.items = xcalloc(list->count, sizeof(char *));
    for (size_t i = 0; i < list->count; i++)
        copy.items[i] = xstrdup(list->items[i]);
    return copy;
}

static void free_list(struct conf_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
}

static int find_group(const char *name, gid_t *ret, struct inf_error *err)
{
    return group_find(name, ret) ? 0 : err_set(err, INF_ECONF, "group '%s': no such group", name);
}

static void digest_token(struct tls_digest *digest, struct str token,
                         unsigned char ret[TLS_DIGEST_BYTES])
{
    tls_digest_make(digest, &token, 1, ret);
}

static int read_token(const char *path, struct tls_digest *digest,
                      unsigned char ret[TLS_DIGEST_BYTES], struct inf_error *err)
{
    struct str token;
    char *text = NULL;
    size_t len;
    int rc = file_read(path, TOKEN_FILE_MAX, &text, &len, err);
    if (rc < 0) {
        err->code = INF_EIO;
        return -INF_EIO;
    }
    token = (struct str){text, len};
    while (token.len && strchr(" \t\r\n", token.at[token.len - 1]))
        token.len--;
    if (token.len < TOKEN_MIN || !str_is_token(token))
        rc = err_set(err, INF_ECONF,
                     "token file '%s': expected a single token of at least %d characters without "
                     "white space",
                     path, TOKEN_MIN);
    else
        digest_token(digest, token, ret);
    secret_wipe(text, len);
    free(text);
    return rc;
}

static int load_reader(const struct conf_api_reader *conf, struct tls_digest *digest,
                       struct api_reader *r, struct inf_error *err)
{
    int rc = 0;
    r->name = xstrdup(conf->name);
    r->watches = copy_list(&conf->watches);
    r->namespaces = copy_list(&conf->namespaces);
    if (conf->uid) {
        r->identity = API_BY_UID;
        r->uid = (uid_t)strtoul(conf->uid, NULL, 10);
    } else if (conf->group) {
        r->identity = API_BY_GROUP;
        rc = find_group(conf->group, &r->gid, err);
    } else {
        r->identity = API_BY_TOKEN;
        rc = read_token(conf->token_file, digest, r->token, err);
    }
    return rc < 0 ? err_wrap(err, "api.readers: '%s'", conf->name) : 0;
}

/* After those of the configuration: an entry for one of these users comes first. */
static void add_own_readers(struct api_readers *readers)
{
    uid_t own = geteuid();
    readers->items[readers->count++] =
        (struct api_reader){.name = xstrdup("root"), .identity = API_BY_UID, .uid = 0};
    if (own)
        readers->items[readers->count++] =
            (struct api_reader){.name = xstrdup("informerd"), .identity = API_BY_UID, .uid = own};
}

int api_readers_load(const struct conf_api *conf, struct tls_digest *digest,
                     struct api_readers *ret, struct inf_error *err)
{
    struct api_readers readers = {.digest = digest};
    int rc = 0;
    readers.items = xcalloc(conf->n_readers + 2, sizeof(*readers.items));
    for (size_t i = 0; rc == 0 && i < conf->n_readers; i++)
        rc = load_reader(&conf->readers[i], digest, &readers.items[readers.count++], err);
    if (rc < 0) {
        api_readers_free(&readers);
        return rc;
    }
    add_own_readers(&readers);
    *ret = readers;
    return 0;
}

void api_readers_free(struct api_readers *readers)
{
    for (size_t i = 0; i < readers->count; i++) {
        struct api_reader *r = &readers->items[i];
        free(r->name);
        free_list(&r->watches);
        free_list(&r->namespaces);
    }
    free(readers->items);
    *readers = (struct api_readers){0};
}

/* ---- comparing ---- */

static bool list_same(const struct conf_list *a, const struct conf_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* Members of other identities are zero. */
static bool reader_same(const struct api_reader *a, const struct api_reader *b)
{
    return strcmp(a->name, b->name) == 0 && a->identity == b->identity && a->uid == b->uid &&
           a->gid == b->gid && memcmp(a->token, b->token, sizeof(a->token)) == 0 &&
           list_same(&a->watches, &b->watches) && list_same(&a->namespaces, &b->namespaces);
}

bool api_readers_same(const struct api_readers *a, const struct api_readers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!reader_same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* ---- finding ---- */

static bool is_peer(const struct api_reader *r, const struct peer_credentials *peer)
{
    switch (r->identity) {
    case API_BY_UID: return r->uid == peer->uid;
    case API_BY_GROUP: return peer_credentials_has_group(peer, r->gid);
    case API_BY_TOKEN: break;
    }
    return false;
}

const struct api_reader *api_readers_of_peer(const struct api_readers *readers,
                                             const struct peer_credentials *peer)
{
    if (peer->uid == PEER_OVERFLOW_UID)
        return NULL;
    for (size_t i = 0; i < readers->count; i++)
        if (is_peer(&readers->items[i], peer))
            return &readers->items[i];
    return NULL;
}

const struct api_reader *api_readers_of_token(const struct api_readers *readers, const char *token)
{
    unsigned char digest[TLS_DIGEST_BYTES];
    const struct api_reader *found = NULL;
    if (!readers->count)
        return NULL;
    digest_token(readers->digest, str_of(token), digest);
    for (size_t i = 0; i < readers->count; i++)
        if (readers->items[i].identity == API_BY_TOKEN && !found &&
            memcmp(readers->items[i].token, digest, sizeof(digest)) == 0)
            found = &readers->items[i];
    return found;
}

/* ---- limits ---- */

static bool list_has(const struct conf_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

bool api_reader_has_watch(const struct api_reader *r, const char *watch)
{
    return !r->watches.count || list_has(&r->watches, watch);
}

bool api_reader_is_unlimited(const struct api_reader *r)
{
    return !r->watches.count && !r->namespaces.count;
}

bool api_reader_may(const struct api_reader *r, const char *watch, const char *ns)
{
    return api_reader_has_watch(r, watch) &&
           (!r->namespaces.count || (ns && list_has(&r->namespaces, ns)));
}
