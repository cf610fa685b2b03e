/*
 * api_feed.c - observes a store, keeps its recent changes, and delivers them to the watches.
 *
 * Normal path: a change becomes an entry, inside the change itself; a task then delivers it, in the
 * same iteration of the loop if there is time. The oldest entries are dropped at the limits.
 *
 * A feed that was created while a new list is being reported ignores those changes: its readers began
 * with the new objects. When the server's version goes back, or the store ends, the feed ends.
 */
#include "daemon/api/api_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/api/api_wait.h"
#include "daemon/api/api_walk.h"
#include "daemon/api/api_watch.h"
#include "wire/http/http_exchange.h"

enum {
    FIRST_CAPACITY = 64,
    BOOKMARK_MS = 60 * 1000,  /* between two bookmarks, as kube-apiserver sends them */
    IDLE_MS = 10 * 60 * 1000, /* a feed without readers is closed after this time */
};

/* The version of entries whose version is no number: later than any. A watch can only begin at the
 * current one then. */
#define OPAQUE UINT64_MAX

static const char *const event_names[] = {
    [API_ADDED] = "ADDED", [API_MODIFIED] = "MODIFIED", [API_DELETED] = "DELETED"};

/* ---- versions ---- */

uint64_t api_version_number(const char *version)
{
    char *end;
    uint64_t number = strtoull(version, &end, 10);
    return *end || *version < '0' || *version > '9' ? 0 : number;
}

uint64_t api_feed_version(const struct api_feed *f)
{
    return api_version_number(inf_store_resource_version(f->store));
}

void api_feed_note_version(struct api_feed *f)
{
    uint64_t version = api_feed_version(f);
    if (f->seen < version)
        f->seen = version;
}

bool api_feed_find(const struct api_feed *f, uint64_t version, uint64_t *ret_number)
{
    uint64_t low = f->first, high = f->next;
    if (version < f->oldest)
        return false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (f->entries[middle & (f->capacity - 1)].version > version)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_number = low;
    return true;
}

/* ---- entries ---- */

struct api_entry *api_feed_entry(struct api_feed *f, uint64_t number)
{
    return &f->entries[number & (f->capacity - 1)];
}

static size_t entry_bytes(const struct api_entry *e)
{
    return inf_object_size(e->object) + (e->old ? inf_object_size(e->old) : 0);
}

static void count_bytes(struct api_feed *f, ptrdiff_t bytes)
{
    f->bytes += (size_t)bytes;
    f->api->feed_bytes += (size_t)bytes;
}

static void count_line_bytes(struct api_feed *f, ptrdiff_t bytes)
{
    f->line_bytes += (size_t)bytes;
    f->api->feed_bytes += (size_t)bytes;
}

static void free_lines(struct api_feed *f, struct api_entry *e)
{
    struct api_line *line;
    while ((line = e->lines)) {
        e->lines = line->next;
        count_line_bytes(f, -(ptrdiff_t)line->len);
        free(line);
    }
}

static void drop_first(struct api_feed *f)
{
    struct api_entry *e = api_feed_entry(f, f->first);
    f->oldest = e->version;
    count_bytes(f, -(ptrdiff_t)entry_bytes(e));
    free_lines(f, e);
    inf_object_unref(e->old);
    inf_object_unref(e->object);
    f->first++;
}

/* Drops entries of the largest feed until all of them together are within their limit. The last entry of
 * a feed stays. */
static void limit_all_feeds(struct api *api)
{
    while (api->feed_bytes > api->feed_bytes_max) {
        struct api_feed *largest = NULL;
        list_for_each(node, &api->feeds) {
            struct api_feed *f = container_of(node, struct api_feed, node);
            if (f->next - f->first > 1 && (!largest || f->bytes > largest->bytes))
                largest = f;
        }
        if (!largest)
            return;
        drop_first(largest);
    }
}

static void make_room(struct api_feed *f)
{
    size_t history = f->api->history, count;
    while ((count = (size_t)(f->next - f->first)) &&
           (count >= history || f->bytes > API_FEED_BYTES_MAX))
        drop_first(f);
    if (count == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : FIRST_CAPACITY;
        struct api_entry *entries = xcalloc(capacity, sizeof(*entries));
        for (uint64_t n = f->first; n < f->next; n++)
            entries[n & (capacity - 1)] = *api_feed_entry(f, n);
        free(f->entries);
        f->entries = entries;
        f->capacity = capacity;
    }
}

static void add_entry(struct api_feed *f, const struct inf_store_change *change)
{
    const struct inf_event *event = change->event;
    const struct inf_object *object = event->verb == INF_DELETED && event->final ? event->old_object
                                      : change->new_held                         ? change->new_held
                                                                                 : change->old_held;
    struct api_entry *e;
    uint64_t version = api_feed_version(f);
    api_feed_note_version(f);
    make_room(f);
    e = api_feed_entry(f, f->next++);
    *e = (struct api_entry){
        .event = event->verb == INF_ADDED      ? API_ADDED
                 : event->verb == INF_MODIFIED ? API_MODIFIED
                                               : API_DELETED,
        .final = event->final,
        .version = version ? version : OPAQUE,
        .old = change->old_held ? inf_object_ref(change->old_held) : NULL,
        .object = inf_object_ref(object),
    };
    count_bytes(f, (ptrdiff_t)entry_bytes(e));
    limit_all_feeds(f->api);
}

/* ---- ordinary forms ---- */

static void release_expanded(struct api_expanded *x)
{
    inf_object_unref(x->old);
    inf_object_unref(x->object);
    *x = (struct api_expanded){.number = 0};
}

static void release_all_expanded(struct api_feed *f)
{
    for (size_t i = 0; i < API_EXPANDED; i++)
        release_expanded(&f->expanded[i]);
}

static struct api_expanded *expanded_of(struct api_feed *f, uint64_t number)
{
    struct api_expanded *x = &f->expanded[number % API_EXPANDED];
    if (x->number != number) {
        release_expanded(x);
        x->number = number;
    }
    return x;
}

const struct inf_object *api_feed_object(struct api_feed *f, uint64_t number)
{
    struct api_expanded *x = expanded_of(f, number);
    if (!x->object)
        x->object = inf_object_expand(api_feed_entry(f, number)->object);
    return x->object;
}

const struct inf_object *api_feed_old(struct api_feed *f, uint64_t number)
{
    struct api_expanded *x = expanded_of(f, number);
    if (!x->old && api_feed_entry(f, number)->old)
        x->old = inf_object_expand(api_feed_entry(f, number)->old);
    return x->old;
}

/* ---- lines ---- */

/* An object that leaves a selection is reported in its last selected state, with the version of the
 * change; a deletion whose last state is unknown also has that version. */
static void write_line(struct api_feed *f, uint64_t number, enum api_form form,
                       enum api_event event, bool columns, struct buf *out)
{
    const struct api_entry *e = api_feed_entry(f, number);
    bool leaves = e->event == API_MODIFIED && event == API_DELETED;
    bool other_version = (leaves || (e->event == API_DELETED && !e->final)) && e->version != OPAQUE;
    char version[24];
    (void)snprintf(version, sizeof(version), "%" PRIu64, e->version);
    api_put_event(out, &f->type, form, event_names[event],
                  leaves ? api_feed_old(f, number) : api_feed_object(f, number),
                  other_version ? version : NULL, columns, clock_wall_us(f->clock));
}

void api_feed_limit_lines(struct api_feed *f)
{
    if (f->lines_from < f->first)
        f->lines_from = f->first;
    while (f->line_bytes > API_SHARED_BYTES_MAX && f->lines_from + 1 < f->next)
        free_lines(f, api_feed_entry(f, f->lines_from++));
}

static struct api_line *line_new(const struct buf *text)
{
    struct buf chunk = {0};
    size_t head = http_chunk_put(&chunk, text->bytes, text->len);
    struct api_line *line = xmalloc(sizeof(*line) + chunk.len);
    *line = (struct api_line){.head = head, .line = text->len, .len = chunk.len};
    memcpy(line->bytes, chunk.bytes, chunk.len);
    buf_free(&chunk);
    return line;
}

const struct api_line *api_feed_line(struct api_feed *f, uint64_t number, enum api_form form,
                                     enum api_event event)
{
    struct api_entry *e = api_feed_entry(f, number);
    struct api_line *line;
    struct buf text = {0};
    if (number < f->lines_from)
        return NULL;
    for (line = e->lines; line; line = line->next)
        if (line->form == form && line->event == event)
            return line;
    write_line(f, number, form, event, /* columns= */ false, &text);
    line = line_new(&text);
    line->form = form;
    line->event = event;
    line->next = e->lines;
    e->lines = line;
    count_line_bytes(f, (ptrdiff_t)line->len);
    buf_free(&text);
    return line;
}

void api_feed_put_line(struct api_feed *f, uint64_t number, enum api_form form,
                       enum api_event event, bool columns, struct buf *out)
{
    const struct api_line *line = columns ? NULL : api_feed_line(f, number, form, event);
    if (line)
        buf_put(out, line->bytes + line->head, line->line);
    else
        write_line(f, number, form, event, columns, out);
    api_feed_limit_lines(f);
}

/* ---- the observer ---- */

static struct api_feed *feed_of(struct inf_store_observer *observer)
{
    return container_of(observer, struct api_feed, observer);
}

static void feed_on_change(struct inf_store_observer *observer,
                           const struct inf_store_change *change)
{
    struct api_feed *f = feed_of(observer);
    bool replaced = change->event->origin != INF_LIVE;
    if (replaced && !f->replacing)
        return;
    add_entry(f, change);
    list_for_each(node, &f->walks)
        api_walk_note(container_of(node, struct api_walk, node), change, replaced);
    api_feed_schedule(f);
}

static void feed_on_end(struct inf_store_observer *observer)
{
    struct api_feed *f = feed_of(observer);
    f->store = NULL; /* the next request gets another feed */
    api_feed_schedule(f);
}

static void feed_on_replaced(struct inf_store_observer *observer, bool begins)
{
    struct api_feed *f = feed_of(observer);
    bool back = api_feed_version(f) < f->seen;
    if (begins && back) {
        inf_store_unobserve(observer);
        feed_on_end(observer);
        return;
    }
    f->replacements += begins;
    f->replacing = begins;
    api_feed_schedule(f); /* walks that wait continue */
}

/* ---- delivery ---- */

void api_feed_schedule(struct api_feed *f)
{
    task_schedule(f->clock, &f->deliver);
}

static void feed_free_deferred(struct deferred_free *deferred_free)
{
    struct api_feed *f = container_of(deferred_free, struct api_feed, deferred_free);
    free(f->entries);
    api_type_free(&f->type);
    free(f);
}

/* Everything that reads from the feed ends. @expired: clients have to list again. */
static void end_feed(struct api_feed *f, bool expired)
{
    if (f->store)
        inf_store_unobserve(&f->observer);
    f->store = NULL;
    api_walk_wake_all(f);
    api_wait_end_all(f);
    api_watch_end_all(f, expired);
    release_all_expanded(f);
    while (f->first < f->next)
        drop_first(f);
    list_remove(&f->node);
    api_charge(f->api);
    task_cancel(&f->deliver);
    timer_stop(f->clock, &f->bookmarks);
    clock_free_later(f->clock, &f->deferred_free, feed_free_deferred);
}

void api_feed_close(struct api_feed *f)
{
    end_feed(f, /* expired= */ false);
}

static void feed_deliver(struct task *task)
{
    struct api_feed *f = container_of(task, struct api_feed, deliver);
    if (!f->store) {
        end_feed(f, /* expired= */ true);
        return;
    }
    api_walk_wake_all(f);
    list_for_each_safe(node, &f->watches) {
        if (clock_over_budget(f->clock)) {
            list_remove(&f->watches); /* the next turn begins with this watch */
            list_push(node, &f->watches);
            api_feed_schedule(f);
            break;
        }
        api_watch_advance(container_of(node, struct api_watch, node));
    }
    release_all_expanded(f);
    api_charge(f->api);
}

static bool has_readers(const struct api_feed *f)
{
    return !list_empty(&f->walks) || !list_empty(&f->watches) || !list_empty(&f->waiting);
}

static void feed_on_bookmarks(struct timer *timer)
{
    struct api_feed *f = container_of(timer, struct api_feed, bookmarks);
    uint64_t now_ms = clock_now_ms(f->clock);
    if (has_readers(f))
        f->used_ms = now_ms;
    if (now_ms - f->used_ms >= IDLE_MS) {
        api_feed_close(f);
        return;
    }
    if (f->store)
        list_for_each_safe(node, &f->watches)
            api_watch_bookmark(container_of(node, struct api_watch, node));
    timer_start(f->clock, &f->bookmarks, BOOKMARK_MS);
}

/* ---- life ---- */

static struct api_feed *feed_new(struct api *api, const struct inf_store *store)
{
    struct api_feed *f = NEW(struct api_feed);
    f->api = api;
    f->clock = api->clock;
    f->store = store;
    f->observer = (struct inf_store_observer){
        .on_change = feed_on_change, .on_replaced = feed_on_replaced, .on_end = feed_on_end};
    f->first = f->next = f->lines_from = 1;
    f->oldest = api_feed_version(f);
    list_init(&f->walks);
    list_init(&f->watches);
    list_init(&f->waiting);
    task_init(&f->deliver, PHASE_PUMP, feed_deliver);
    f->bookmarks.fire = feed_on_bookmarks;
    timer_start(f->clock, &f->bookmarks, BOOKMARK_MS);
    list_push(&api->feeds, &f->node);
    inf_store_observe(store, &f->observer);
    return f;
}

static struct api_feed *feed_find(const struct api *api, const struct inf_store *store)
{
    list_for_each(node, &api->feeds) {
        struct api_feed *f = container_of(node, struct api_feed, node);
        if (f->store == store)
            return f;
    }
    return NULL;
}

struct api_feed *api_feed_get(struct api *api, const struct inf_store *store,
                              const struct inf_resource *resource,
                              const struct table_printer *printer)
{
    struct api_feed *f = feed_find(api, store);
    if (f && printer && f->has_tables && f->type.printer != printer) {
        api_feed_close(f);
        f = NULL;
    }
    if (!f) {
        f = feed_new(api, store);
        api_type_init(&f->type, resource);
    }
    f->used_ms = clock_now_ms(f->clock);
    if (printer) {
        f->type.printer = printer;
        f->has_tables = true;
    }
    return f;
}

void api_feed_close_tables(struct api *api, const struct table_printer *printer)
{
    list_for_each_safe(node, &api->feeds) {
        struct api_feed *f = container_of(node, struct api_feed, node);
        if (f->has_tables && f->type.printer == printer)
            api_feed_close(f);
    }
}
