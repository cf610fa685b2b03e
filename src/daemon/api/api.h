/*
 * api.h - the local API: Kubernetes clients read and watch the caches of informerd as if they were the
 * API server. Read-only; DESIGN 5.3 and informerd(8) have the behaviour.
 *
 *     request ──> api_request    what is requested: page, resource, selectors, version, form
 *                 api_view       which stream of which watch has it, and may it be read
 *                 api_discovery  /api, /apis ...
 *                 api_passthrough  /version, /openapi/v3 ...: documents of the API server itself
 *                 api_get        one object, from the store
 *                 api_list       a walk (api_walk) over the store, in slices
 *                 api_watch      the same walk, if initial events are requested, then events of the feed
 *
 * Feeds. A store has at most one feed (api_feed), created by the first list or watch request. It
 * observes the store (struct inf_store_observer) and keeps the recent changes, in the form in which the
 * cache holds the objects. Observers run inside each change, so the feed and the store never differ:
 * event consumers, on the other hand, run later and can be held by a blocked event log.
 *
 * Walks. A list has one resource version although it is sent in slices. The feed passes each change to
 * the walks in progress; a walk that has not reached that object keeps its old state (an undo map) and
 * sends that instead. A client too slow for the limit of the map is disconnected.
 *
 * Watches. A watch has no queue: it has a position in the feed. Whenever its connection can take more,
 * it gets the events after that position, and a watch whose position has left the feed ends with an
 * ERROR event 410, as kube-apiserver does. An event is written once per form and shared by all watches
 * that send it in the same form (api_body).
 *
 * Failures are Status objects (api_status). When a store is closed or redefined, its feed ends: lists
 * are cut, watches get 410, and clients list again.
 */
#ifndef DAEMON_API_H
#define DAEMON_API_H

#include <stddef.h>

#include "base/list.h"
#include "daemon/access/reader.h"
#include "seam/clock.h"
#include "wire/http/http_server.h"

struct daemon;

struct api {
    struct daemon *d;
    struct clock *clock;
    size_t history;        /* LIMIT: events of a feed; `api.history` */
    size_t feed_bytes;     /* of the objects and lines of all feeds */
    size_t feed_bytes_max; /* LIMIT: of the objects */
    size_t charged;        /* bytes that are counted in the memory budget */
    struct timer recount;  /* of unsent bytes */
    struct list feeds;     /* of struct api_feed */
    struct list facts;     /* of struct api_facts, one for each cluster: see api_discovery.h */
    struct list columns;   /* of struct api_columns */
    struct list documents; /* of struct api_document */
    struct list parked;    /* calls that wait: see api_park.h */
    struct list senders;   /* large responses in progress: see api_send.h */
    unsigned compressing;  /* responses */
    bool gzip_remote;      /* compress responses to clients of other hosts, or to local ones: */
    bool gzip_local;       /* `api.gzip` */
};

struct api_call;

/* Sets the limits to their defaults. */
void api_init(struct api *api, struct daemon *d, struct clock *clock);

/* Ends all responses in progress and frees everything. The listeners are closed afterwards. */
void api_close(struct api *api);

/* Responds to @request of @reader, now or later. */
void api_respond(struct daemon *d, const struct api_reader *reader,
                 const struct http_server_request *request, struct http_exchange *x);

/* The same for a request that does not exist later: it does not wait for documents of the API server, and
 * is answered with what is known. */
void api_respond_at_once(struct daemon *d, const struct api_reader *reader,
                         const struct http_server_request *request, struct http_exchange *x);

/* The same for a call, also for one that has waited. */
void api_serve(const struct api_call *call);

/* Counts the memory of feeds and unsent responses in the budget of the daemon (`memory.backlog`). To be called
 * when it may have changed. */
void api_charge(struct api *api);

#endif
