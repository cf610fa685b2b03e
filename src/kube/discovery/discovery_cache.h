/*
 * discovery_cache.h - documents of a server, fetched once for all who read them, and kept for a while.
 *
 *     page = shelf_find(shelf, "/apis", max_age_ms);                 there it is, or
 *     shelf_fetch(shelf, "/apis", &reader);                          the reader is told when it is
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
    SHELF_KEEP_MS = 5 * 60 * 1000, /* nothing older than this is given out */
    SHELF_MAX =
        16 * 1024 * 1024, /* LIMIT: bytes kept; if it would be more, all before is dropped */
};

struct shelf;

struct place;

/* What a server said, lent until the loop goes on. */
struct page {
    const char *text; /* NULL: it has none, and @why says it */
    const struct inf_error *why;
    uint64_t age_ms;
};

/* Embedded in its owner, zeroed but for the functions. */
struct shelf_reader {
    struct list node;
    struct place *place; /* where it waits; NULL: it doesn't */
    void (*on_page)(struct shelf_reader *reader, const struct page *page); /* once, from the loop */
    void (*on_progress)(struct shelf_reader *reader);                      /* it is on its way */
};

/* @server must outlive it. */
struct shelf *shelf_new(const struct api_server *server);

/* The server whose documents these are. */
const struct api_server *shelf_server(const struct shelf *shelf);

/* Nobody reads any more. NULL is fine. */
void shelf_close(struct shelf *shelf);

/* Keeps nothing of what was fetched: the server is another one. */
void shelf_forget(struct shelf *shelf);

/* Whether it is here and not older than @max_age_ms. */
bool shelf_find(struct shelf *shelf, const char *path, uint64_t max_age_ms, struct page *ret);

/* As new as can be. */
void shelf_fetch(struct shelf *shelf, const char *path, struct shelf_reader *reader);

/* Harmless for one that is not told anything. */
void shelf_stop_reading(struct shelf_reader *reader);

#endif
