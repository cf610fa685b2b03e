/*
 * api.c - routes requests: see api.h.
 *
 * Nothing here waits: lists, watches and requests for a later version continue on their own.
 */
#include "daemon/api/api.h"

#include <stdint.h>

#include "base/base.h"
#include "daemon/api/api_columns.h"
#include "daemon/api/api_discovery.h"
#include "daemon/api/api_document.h"
#include "daemon/api/api_feed.h"
#include "daemon/api/api_get.h"
#include "daemon/api/api_list.h"
#include "daemon/api/api_park.h"
#include "daemon/api/api_passthrough.h"
#include "daemon/api/api_request.h"
#include "daemon/api/api_send.h"
#include "daemon/api/api_view.h"
#include "daemon/api/api_watch.h"
#include "daemon/daemon.h"
#include "daemon/watch/watch_stream.h"

enum {
    HISTORY = 10000,       /* the default of `api.history` */
    COLUMNS_MS = 3 * 1000, /* tables wait for their columns */
    RECOUNT_MS = 1000,     /* while responses are not read */
};

/* ---- memory ---- */

static size_t unsent_bytes(const struct web *web)
{
    return http_server_unsent(web->local.server) + http_server_unsent(web->tls.server);
}

void api_charge(struct api *api)
{
    size_t unsent, now;
    if (!api->d)
        return; /* a test */
    unsent = unsent_bytes(&api->d->web);
    now = api->feed_bytes + unsent;
    inf_budget_add(api->d->budget, (ptrdiff_t)now - (ptrdiff_t)api->charged);
    api->charged = now;
    if (unsent && !api->recount.running)
        timer_start(api->clock, &api->recount, RECOUNT_MS);
}

static void on_recount(struct timer *timer)
{
    api_charge(container_of(timer, struct api, recount));
}

/* ---- life ---- */

void api_init(struct api *api, struct daemon *d, struct clock *clock)
{
    *api = (struct api){.d = d, .clock = clock, .history = HISTORY, .feed_bytes_max = SIZE_MAX};
    api->recount.fire = on_recount;
    list_init(&api->feeds);
    list_init(&api->facts);
    list_init(&api->columns);
    list_init(&api->documents);
    list_init(&api->parked);
    list_init(&api->senders);
}

void api_close(struct api *api)
{
    list_for_each_safe(node, &api->feeds)
        api_feed_close(container_of(node, struct api_feed, node));
    api_park_close(api);
    api_send_close(api);
    api_discovery_close(api);
    timer_stop(api->clock, &api->recount);
    if (api->d)
        inf_budget_add(api->d->budget, -(ptrdiff_t)api->charged);
    api->charged = 0;
    api_columns_close(api);
    api_documents_close(api);
}

/* ---- requests ---- */

/* Finds the columns if @r is for a table: NULL otherwise. Returns false if the call waits for them. */
static bool find_printer(const struct api_call *call, const struct api_request *r,
                         const struct api_view *view, const struct table_printer **ret)
{
    struct api_columns *columns;
    *ret = NULL;
    if (!api_form_is_table(r->form))
        return true;
    columns = api_columns_get(call->api, view->cluster, &view->resource, view->stream->ns);
    *ret = columns->printer;
    if (columns->known || call->waited)
        return true;
    api_park(call, &columns->waiters, COLUMNS_MS);
    return false;
}

/* Takes over the contents of @r. */
static void serve_objects(const struct api_call *call, struct api_request *r)
{
    struct api *api = call->api;
    struct http_exchange *x = call->x;
    struct api_fault fault = {.code = 0};
    const struct table_printer *printer;
    struct api_view view;
    struct api_feed *feed;
    if (api_view_find(api->d, call->reader, r, &view, &fault) < 0) {
        if (fault.denied)
            api_access_audit(&api->d->web.access, call->request, x, fault.message);
        api_fault_reply(&fault, x);
        api_request_free(r);
        return;
    }
    if (!find_printer(call, r, &view, &printer)) {
        api_request_free(r);
        return;
    }
    api_view_describe(&view, x);
    if (call->request->head && r->page == API_WATCH) {
        http_exchange_reply(x, 200, "application/json", "", 0);
        api_request_free(r);
        return;
    }
    feed = api_feed_get(api, view.store, &view.resource, printer);
    api_wait_start(feed, r, x,
                   r->page == API_GET    ? api_get_go
                   : r->page == API_LIST ? api_list_go
                                         : api_watch_go);
}

static bool may_compress(const struct api_call *call)
{
    bool wanted = api_client_is_remote(call->x) ? call->api->gzip_remote : call->api->gzip_local;
    return wanted && http_accepts_gzip(call->request);
}

void api_serve(const struct api_call *call)
{
    struct api_request r;
    struct api_fault fault;
    if (api_request_read(&r, call->request, &fault) < 0) {
        api_fault_reply(&fault, call->x);
        api_request_free(&r);
        return;
    }
    r.gzip = may_compress(call);
    switch (r.page) {
    case API_CORE:
    case API_GROUPS:
    case API_GROUP:
    case API_RESOURCES: api_discovery_go(call, &r); return;
    case API_DOCUMENT: api_passthrough_go(call, &r); return;
    case API_GET:
    case API_LIST:
    case API_WATCH: serve_objects(call, &r); return;
    case API_UNKNOWN: break;
    }
    api_fault_set(&fault, 404, "the server could not find the requested resource");
    api_fault_reply(&fault, call->x);
    api_request_free(&r);
}

void api_respond(struct daemon *d, const struct api_reader *reader,
                 const struct http_server_request *request, struct http_exchange *x)
{
    api_serve(&(struct api_call){&d->web.api, reader, request, x, /* waited= */ false});
}

void api_respond_at_once(struct daemon *d, const struct api_reader *reader,
                         const struct http_server_request *request, struct http_exchange *x)
{
    api_serve(&(struct api_call){&d->web.api, reader, request, x, /* waited= */ true});
}
