/*
 * reader.h - the readers of the local API: who may read, and what.
 *
 *     api_readers_load(&conf->api, digest, &readers, &err)
 *     reader = api_readers_of_peer(&readers, &peer)          a Unix socket: by uid or group
 *     reader = api_readers_of_token(&readers, token)         Authorization: Bearer TOKEN
 *     if (!reader || !api_reader_may(reader, "pods", "shop")) ... 403
 *
 * The user of the daemon and root may read everything over the Unix socket, unless api.readers has an
 * entry for them. Everything that is not allowed is denied.
 */
#ifndef DAEMON_API_READER_H
#define DAEMON_API_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "informer/error.h"

#include "daemon/conf/conf.h"
#include "loop/peer_credentials.h"
#include "wire/tls/tls_digest.h"

enum api_identity {
    API_BY_UID,
    API_BY_GROUP,
    API_BY_TOKEN,
};

struct api_reader {
    char *name;
    enum api_identity identity;
    uid_t uid;
    gid_t gid;
    unsigned char token[TLS_DIGEST_BYTES]; /* its digest */
    struct conf_list watches;              /* names; none: all */
    struct conf_list namespaces;           /* none: all */
};

/* A zeroed set has no readers. */
struct api_readers {
    struct api_reader *items;
    size_t count;
    struct tls_digest *digest; /* borrowed; of tokens */
};

/*
 * Makes the readers of @conf. Looks up groups and reads token files: blocks, like loading the
 * configuration. Fails with INF_ECONF or INF_EIO; the message names the reader, never a token.
 */
int api_readers_load(const struct conf_api *conf, struct tls_digest *digest,
                     struct api_readers *ret, struct inf_error *err);
void api_readers_free(struct api_readers *readers); /* may be called for a zeroed or freed one */

/* Whether both sets, made with the same digest key, allow the same to the same identities. */
bool api_readers_same(const struct api_readers *a, const struct api_readers *b);

/* The first reader that is this user or has this group; NULL: none. The overflow uid, which stands for
 * users of other user namespaces, is never a reader. */
const struct api_reader *api_readers_of_peer(const struct api_readers *readers,
                                             const struct peer_credentials *peer);

/* The reader with this token; NULL: none. The duration does not depend on the token. */
const struct api_reader *api_readers_of_token(const struct api_readers *readers, const char *token);

/* Whether @reader may read some objects of the watch @watch. */
bool api_reader_has_watch(const struct api_reader *reader, const char *watch);

/* Whether it may read everything. */
bool api_reader_is_unlimited(const struct api_reader *reader);

/* Whether @reader may read objects of the watch @watch in the namespace @ns. NULL: all namespaces, or
 * cluster-scoped objects. */
bool api_reader_may(const struct api_reader *reader, const char *watch, const char *ns);

#endif
