/*
 * A watch: optionally the initial objects, then changes, read from the resource's history at the
 * watch's own position. Ends by its timeout, or when the client is so slow that the history no
 * longer has its position.
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"

enum {
    BATCH = 32 * 1024,  /* bytes produced at a time */
    LIFE_S = 30 * 60,   /* of a watch without timeoutSeconds, and up to twice that */
    LIFE_MAX = 1 << 30, /* LIMIT: of timeoutSeconds */
};

static void watch_free(struct producer *p)
{
    struct watch *w = container_of(p, struct watch, producer);
    uv_timer_stop(&w->conn->deadline);
    list_remove(&w->node);
    selection_free(&w->selection);
    snapshot_free(&w->s);
    buf_free(&w->last);
    free(w);
}

static void put_event(struct watch *w, struct buf *body, const char *type, const struct object *o,
                      uint64_t rv)
{
    struct buf text = {0};
    buf_printf(&text, "{\"type\":\"%s\",\"object\":", type);
    if (w->form == FORM_TABLE)
        table_put_one(&text, o, w->table, rv, !w->columns_sent);
    else
        object_put(&text, o, w->form, rv);
    w->columns_sent = true;
    buf_putc(&text, '}');
    if (w->pretty)
        json_put_pretty(body, text.bytes, text.len);
    else
        buf_put(body, text.bytes, text.len);
    buf_putc(body, '\n');
    buf_free(&text);
    w->sent++;
}

/* One change as this watch sees it: an object that no longer matches the selector is deleted. */
static void put_change(struct watch *w, struct buf *body, const struct event *e)
{
    bool was = e->before && selection_has(&w->selection, e->before);
    bool is = e->now && selection_has(&w->selection, e->now);
    if (e->rv <= w->after)
        return;
    if (is)
        put_event(w, body, was ? "MODIFIED" : "ADDED", e->now, 0);
    else if (was)
        put_event(w, body, "DELETED", e->before, e->rv);
}

static void put_bookmark(struct watch *w, struct buf *body, uint64_t rv, bool end)
{
    const struct resource *r = w->resource;
    const char *mark = end ? "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "";
    const char *comma = end ? "," : "";
    unsigned long long v = rv;
    buf_puts(body, "{\"type\":\"BOOKMARK\",\"object\":");
    if (w->form == FORM_TABLE)
        table_put_bookmark(body, r, rv, mark);
    else if (w->form == FORM_METADATA)
        buf_printf(body,
                   "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                   "\"metadata\":{\"resourceVersion\":\"%llu\"%s%s}}",
                   v, comma, mark);
    else if (r->custom)
        buf_printf(body,
                   "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{%s%s"
                   "\"resourceVersion\":\"%llu\"}}",
                   r->api_version, r->kind, mark, comma, v);
    else
        buf_printf(body,
                   "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":"
                   "\"%llu\"%s%s}%s}",
                   r->kind, r->api_version, v, comma, mark, r->hollow);
    buf_puts(body, "}\n");
    w->sent++;
}

static bool ends_each(const struct watch *w)
{
    return w->conn->reply.fault.kind == FAULT_EACH && w->sent > 0;
}

static bool is_blind(const struct watch *w)
{
    return w->conn->reply.fault.kind == FAULT_BLIND;
}

static enum progress put_initial(struct watch *w, struct buf *body)
{
    while (w->next < w->s.count && body->len < BATCH && !ends_each(w) && !watch_fault_due(w)) {
        put_event(w, body, "ADDED", w->s.objects[w->next], 0);
        object_unref(w->s.objects[w->next]);
        w->s.objects[w->next++] = NULL;
    }
    if (w->next < w->s.count || watch_fault_due(w))
        return MADE_SOME;
    w->initial = false;
    if (w->marks_end && w->conn->reply.fault.kind != FAULT_NO_END)
        put_bookmark(w, body, w->s.rv, true);
    return MADE_SOME;
}

static enum progress put_live(struct watch *w, struct buf *body)
{
    struct history *h = &w->resource->history;
    if (w->cursor < h->first || w->cursor > h->next)
        return MADE_ALL; /* too slow, or the store was rewound */
    while (w->cursor < h->next && body->len < BATCH && !ends_each(w) && !watch_fault_due(w))
        put_change(w, body, history_at(h, w->cursor++));
    if (w->cursor < h->next || watch_fault_due(w))
        return MADE_SOME;
    if (w->bookmark_due || (w->over && w->bookmarks))
        put_bookmark(w, body, w->resource->store->rv, false);
    w->bookmark_due = false;
    if (w->over)
        return MADE_ALL;
    return body->len ? MADE_SOME : MUST_WAIT;
}

static enum progress watch_more(struct producer *p, struct buf *body)
{
    struct watch *w = container_of(p, struct watch, producer);
    enum progress made;
    if (w->last.len) { /* only an error */
        buf_put(body, w->last.bytes, w->last.len);
        return MADE_ALL;
    }
    if (is_blind(w))
        return w->over ? MADE_ALL : MUST_WAIT;
    if (watch_fault_due(w) && !watch_fault_inject(w, body))
        return MADE_ALL;
    made = w->initial ? put_initial(w, body) : put_live(w, body);
    return ends_each(w) ? MADE_ALL : made;
}

static void on_deadline(uv_timer_t *timer)
{
    watch_end(timer->data);
}

static void set_deadline(struct watch *w, uint64_t seconds)
{
    uint64_t ms = seconds * 1000;
    if (seconds == 0 || seconds > LIFE_MAX)
        ms = (LIFE_S + rng_below(&w->resource->store->rng, LIFE_S)) * 1000;
    if (is_blind(w))
        ms = w->conn->reply.fault.ms;
    uv_timer_start(&w->conn->deadline, on_deadline, ms, 0);
}

static void fail(struct watch *w, const struct status *s)
{
    buf_puts(&w->last, "{\"type\":\"ERROR\",\"object\":");
    status_put(&w->last, s);
    buf_puts(&w->last, "}\n");
}

/* The start: the current state, a version of the history, or an error. */
static void choose_start(struct watch *w, uint64_t rv, bool initial)
{
    struct resource *r = w->resource;
    struct status s;
    w->cursor = r->history.next;
    if (initial && rv > r->store->rv) {
        status_too_large(&s, rv, r->store->rv);
        fail(w, &s);
    } else if (initial) {
        w->initial = true;
        snapshot_take(&w->s, r, r->store->rv);
        snapshot_select(&w->s, &w->selection);
    } else if (rv && rv < r->history.floor) {
        status_set(&s, 410, "Expired", "too old resource version: %llu (%llu)",
                   (unsigned long long)rv, (unsigned long long)r->history.floor);
        fail(w, &s);
    } else if (rv) {
        w->cursor = history_after(&r->history, rv);
        w->after = rv;
    }
}

static void open_watch(struct conn *c, const struct route *route, struct selection *selection,
                       enum table_object table)
{
    const struct params *q = &c->request.query;
    uint64_t rv = params_number(q, "resourceVersion", 0);
    const char *send = params_get(q, "sendInitialEvents", NULL);
    bool initial =
        send ? params_true(q, "sendInitialEvents") : rv == 0; /* older clients rely on it */
    struct head head = {.code = 200, .stream = true};
    struct watch *w = NEW(struct watch);
    w->producer = (struct producer){watch_more, watch_free};
    w->conn = c;
    w->resource = route->resource;
    w->selection = *selection;
    w->form = accepted_form(&c->request, FORM_WHOLE);
    w->table = table;
    w->pretty = requests_pretty(c);
    w->bookmarks = params_true(q, "allowWatchBookmarks");
    w->marks_end = w->bookmarks && send && initial;
    list_push(&w->resource->watches, &w->node);
    choose_start(w, rv, initial);
    set_deadline(w, params_number(q, "timeoutSeconds", 0));
    head.gzip = initial && w->bookmarks && c->request.gzip && c->sim->settings.gzip_watch;
    c->sim->journal.watches++;
    reply_stream(c, &head, &w->producer);
}

void watch_answer(struct conn *c, const struct route *route)
{
    struct selection selection;
    enum table_object table;
    struct status s;
    if (!table_object_read(&c->request, &table, &s) ||
        !options_check(c->sim, &c->request.query, true, &s) ||
        !selection_read(&selection, route->resource, route->ns, &c->request.query, &s))
        reply_status(c, &s);
    else
        open_watch(c, route, &selection, table);
}

void watches_bookmark(struct kubesim *sim)
{
    list_for_each(n, &sim->store.resources) {
        struct resource *r = container_of(n, struct resource, node);
        list_for_each(m, &r->watches) {
            struct watch *w = container_of(m, struct watch, node);
            w->bookmark_due = w->bookmarks;
            conn_wake(w->conn);
        }
    }
}

void watch_end(struct conn *c)
{
    container_of(c->reply.producer, struct watch, producer)->over = true;
    conn_wake(c);
}

void watches_notify(struct store *store, struct resource *r)
{
    (void)store;
    list_for_each(n, &r->watches)
        conn_wake(container_of(n, struct watch, node)->conn);
}

bool conn_watches(const struct conn *c)
{
    return c->reply.producer && c->reply.producer->more == watch_more;
}
