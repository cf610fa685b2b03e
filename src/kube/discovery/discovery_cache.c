/*
 * discovery_cache.c - a list of cached documents, each with its request and the waiting readers.
 *
 * Normal path: discovery_cache_fetch() starts a request unless one is under way; its end is cached
 * and delivered to all readers. All documents are dropped together DISCOVERY_CACHE_KEEP_MS after
 * the last one was fetched. Errors other than 404 are delivered but not cached.
 */
#include "kube/discovery/discovery_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/discovery/document.h"

/* One document, which may be cached, requested, or both. */
struct cached_document {
    struct list node;
    struct discovery_cache *discovery_cache;
    char *path;
    char *text;           /* NULL: not cached, or the server does not have it */
    struct inf_error why; /* the server's 404; code 0: none is cached */
    uint64_t fetched_ms;
    struct document document; /* the request, under way if there are readers */
    struct list readers;
};

struct discovery_cache {
    const struct api_server *server;
    struct deferred_free deferred_free;
    struct list documents;
    size_t kept_bytes;
    struct timer expiry; /* of all documents, restarted by each that is fetched */
};

/* ---- cached documents ---- */

static void drop_contents(struct cached_document *p)
{
    p->discovery_cache->kept_bytes -= p->text ? strlen(p->text) : 0;
    free(p->text);
    p->text = NULL;
    p->why.code = 0;
}

static void remove_document(struct cached_document *p)
{
    drop_contents(p);
    document_stop(&p->document);
    list_remove(&p->node);
    free(p->path);
    free(p);
}

static bool is_requested(const struct cached_document *p)
{
    return p->document.source != NULL;
}

void discovery_cache_forget(struct discovery_cache *s)
{
    list_for_each_safe(node, &s->documents) {
        struct cached_document *p = container_of(node, struct cached_document, node);
        if (is_requested(p))
            drop_contents(p);
        else
            remove_document(p);
    }
}

static void discovery_cache_on_expiry(struct timer *timer)
{
    discovery_cache_forget(container_of(timer, struct discovery_cache, expiry));
}

/* If there is no room for it, all documents are dropped. */
static void store_result(struct cached_document *p, const char *text, const struct inf_error *why)
{
    struct discovery_cache *s = p->discovery_cache;
    size_t len = text ? strlen(text) : 0;
    if (s->kept_bytes + len > DISCOVERY_CACHE_MAX)
        list_for_each(node, &s->documents)
            drop_contents(container_of(node, struct cached_document, node));
    drop_contents(p);
    if (len > DISCOVERY_CACHE_MAX || (!text && why->code != INF_ENOTFOUND))
        return;
    p->text = text ? xstrdup(text) : NULL;
    p->why = text ? (struct inf_error){.code = 0} : *why;
    p->fetched_ms = clock_now_ms(s->server->clock);
    s->kept_bytes += len;
    timer_start(s->server->clock, &s->expiry, DISCOVERY_CACHE_KEEP_MS);
}

static struct cached_document *find_document(const struct discovery_cache *s, const char *path)
{
    list_for_each(node, &s->documents) {
        struct cached_document *p = container_of(node, struct cached_document, node);
        if (strcmp(p->path, path) == 0)
            return p;
    }
    return NULL;
}

bool discovery_cache_find(struct discovery_cache *s, const char *path, uint64_t max_age_ms,
                          struct discovery_page *ret)
{
    const struct cached_document *p = find_document(s, path);
    uint64_t age = p ? clock_now_ms(s->server->clock) - p->fetched_ms : 0;
    if (!p || (!p->text && !p->why.code) || age > max_age_ms || age > DISCOVERY_CACHE_KEEP_MS)
        return false;
    *ret = (struct discovery_page){.text = p->text, .why = &p->why, .age_ms = age};
    return true;
}

/* ---- requests ---- */

/* A reader may request the same document again, stop other readers, or close the cache. */
static void discovery_cache_on_end(struct document *document, const char *text,
                                   const struct inf_error *why)
{
    struct cached_document *p = container_of(document, struct cached_document, document);
    struct list notified, *node;
    list_init(&notified);
    list_move_all(&notified, &p->readers);
    store_result(p, text, why);
    while ((node = list_pop(&notified))) {
        struct discovery_reader *reader = container_of(node, struct discovery_reader, node);
        reader->document = NULL;
        reader->on_page(reader, &(struct discovery_page){.text = text, .why = why});
    }
}

static void discovery_cache_on_progress(struct document *document)
{
    struct cached_document *p = container_of(document, struct cached_document, document);
    list_for_each_safe(node, &p->readers) {
        struct discovery_reader *reader = container_of(node, struct discovery_reader, node);
        reader->on_progress(reader);
    }
}

void discovery_cache_fetch(struct discovery_cache *s, const char *path,
                           struct discovery_reader *reader)
{
    struct cached_document *p = find_document(s, path);
    if (!p) {
        p = NEW(struct cached_document);
        p->discovery_cache = s;
        p->path = xstrdup(path);
        p->document.on_end = discovery_cache_on_end;
        p->document.on_progress = discovery_cache_on_progress;
        list_init(&p->readers);
        list_push(&s->documents, &p->node);
    }
    list_push(&p->readers, &reader->node);
    reader->document = p;
    if (!is_requested(p))
        document_start(&p->document, s->server, path, NULL);
}

/* A request without readers is cancelled: it may hang. */
void discovery_cache_stop_reading(struct discovery_reader *reader)
{
    struct cached_document *p = reader->document;
    if (!p)
        return;
    list_remove(&reader->node);
    reader->document = NULL;
    if (list_empty(&p->readers))
        document_stop(&p->document);
}

/* ---- life ---- */

struct discovery_cache *discovery_cache_new(const struct api_server *server)
{
    struct discovery_cache *s = NEW(struct discovery_cache);
    s->server = server;
    s->expiry.fire = discovery_cache_on_expiry;
    list_init(&s->documents);
    return s;
}

const struct api_server *discovery_cache_server(const struct discovery_cache *s)
{
    return s->server;
}

/* Deferred, because discovery_cache_close() may be called in a callback of a document. */
static void discovery_cache_free_deferred(struct deferred_free *deferred_free)
{
    struct discovery_cache *s = container_of(deferred_free, struct discovery_cache, deferred_free);
    list_for_each_safe(node, &s->documents)
        remove_document(container_of(node, struct cached_document, node));
    free(s);
}

void discovery_cache_close(struct discovery_cache *s)
{
    if (!s)
        return;
    timer_stop(s->server->clock, &s->expiry);
    list_for_each(node, &s->documents)
        document_stop(&container_of(node, struct cached_document, node)->document);
    clock_free_later(s->server->clock, &s->deferred_free, discovery_cache_free_deferred);
}
