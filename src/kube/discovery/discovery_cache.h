/*
 * discovery_cache.h - documents of a server, fetched once for all who read them, and kept for a while.
 *
 *     page = discovery_cache_find(discovery_cache, "/apis", max_age_ms);                 there it is, or
 *     discovery_cache_fetch(discovery_cache, "/apis", &reader);                          the reader is told when it is
 *
 * Many watches begin together, and each has to know what the server has: those who want the same
 * document at the same time share one request, and who comes soon after needs none. That there is no
 * such document (404) is kept as well; what else can go wrong is not.
 */
#ifndef KUBE_DISCOVERY_CACHE_H
#define KUBE_DISCOVERY_CACHE_H

#include "informer/error.h"

#include "base/list.h"
#include "kube/source/api_source.h"

enum {
    DISCOVERY_CACHE_KEEP_MS = 5 * 60 * 1000, /* nothing older than this is given out */
    DISCOVERY_CACHE_MAX =
        16 * 1024 * 1024, /* LIMIT: bytes kept; if it would be more, all before is dropped */
};

struct discovery_cache;

struct cached_document;

/* What a server said, lent until the loop goes on. */
struct discovery_page {
    const char *text; /* NULL: it has none, and @why says it */
    const struct inf_error *why;
    uint64_t age_ms;
};

/* Embedded in its owner, zeroed but for the functions. */
struct discovery_reader {
    struct list node;
    struct cached_document *place; /* where it waits; NULL: it doesn't */
    void (*on_page)(struct discovery_reader *reader,
                    const struct discovery_page *page);   /* once, from the loop */
    void (*on_progress)(struct discovery_reader *reader); /* it is on its way */
};

/* @server must outlive it. */
struct discovery_cache *discovery_cache_new(const struct api_server *server);

/* The server whose documents these are. */
const struct api_server *shelf_server(const struct discovery_cache *discovery_cache);

/* Nobody reads any more. NULL is fine. */
void discovery_cache_close(struct discovery_cache *discovery_cache);

/* Keeps nothing of what was fetched: the server is another one. */
void shelf_forget(struct discovery_cache *discovery_cache);

/* Whether it is here and not older than @max_age_ms. */
bool discovery_cache_find(struct discovery_cache *discovery_cache, const char *path,
                          uint64_t max_age_ms, struct discovery_page *ret);

/* As new as can be. */
void discovery_cache_fetch(struct discovery_cache *discovery_cache, const char *path,
                           struct discovery_reader *reader);

/* Harmless for one that is not told anything. */
void discovery_cache_stop_reading(struct discovery_reader *reader);

#endif
