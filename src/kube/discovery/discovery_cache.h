/*
 * discovery_cache.h - fetches discovery documents of a server and caches them for all readers.
 *
 *     if (!discovery_cache_find(cache, "/apis", max_age_ms, &page))    cached, or
 *         discovery_cache_fetch(cache, "/apis", &reader);              on_page is called later
 *
 * Many watches start together, and each needs the discovery documents. Readers of the same document
 * share one request, and later readers use the cached copy. A 404 is cached too; other errors are
 * not.
 */
#ifndef KUBE_DISCOVERY_CACHE_H
#define KUBE_DISCOVERY_CACHE_H

#include "informer/error.h"

#include "base/list.h"
#include "kube/source/api_source.h"

enum {
    DISCOVERY_CACHE_KEEP_MS = 5 * 60 * 1000, /* older documents are not used */
    DISCOVERY_CACHE_MAX =
        16 * 1024 * 1024, /* LIMIT: bytes cached; if exceeded, all other documents are dropped */
};

struct discovery_cache;

struct cached_document;

/* A document, valid until control returns to the loop. */
struct discovery_page {
    const char *text; /* NULL: not available because of @why */
    const struct inf_error *why;
    uint64_t age_ms;
};

/* Embedded in its owner, which sets the functions; the rest is zero. */
struct discovery_reader {
    struct list node;
    struct cached_document *document; /* the document it waits for; NULL: none */
    void (*on_page)(struct discovery_reader *reader,
                    const struct discovery_page *page);   /* once, from the loop */
    void (*on_progress)(struct discovery_reader *reader); /* bytes were received */
};

/* @server must outlive it. */
struct discovery_cache *discovery_cache_new(const struct api_server *server);

/* The server that the documents come from. */
const struct api_server *discovery_cache_server(const struct discovery_cache *discovery_cache);

/* There must be no readers. NULL is allowed. */
void discovery_cache_close(struct discovery_cache *discovery_cache);

/* Drops all cached documents, because the server has changed. */
void discovery_cache_forget(struct discovery_cache *discovery_cache);

/* Returns whether the document is cached and not older than @max_age_ms; then sets @ret. */
bool discovery_cache_find(struct discovery_cache *discovery_cache, const char *path,
                          uint64_t max_age_ms, struct discovery_page *ret);

/* Requests the document, or joins a request that is under way. */
void discovery_cache_fetch(struct discovery_cache *discovery_cache, const char *path,
                           struct discovery_reader *reader);

/* Does nothing if @reader does not wait. */
void discovery_cache_stop_reading(struct discovery_reader *reader);

#endif
