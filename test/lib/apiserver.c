#include "apiserver.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "builders.h"

/* ---- snapshots ---- */

/* Where @key is, or would be. */
static size_t place_of(const struct snapshot *s, struct str key, bool *ret_found)
{
    size_t low = 0, high = s->count;
    *ret_found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(object_key(s->objects[middle]), key);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void snapshot_apply(struct snapshot *s, const struct change *c)
{
    bool found;
    size_t at;
    if (!c->object)
        return;
    at = place_of(s, object_key(c->object), &found);
    if (c->type == SOURCE_DELETED) {
        if (found)
            memmove(s->objects + at, s->objects + at + 1, (--s->count - at) * sizeof(*s->objects));
        return;
    }
    if (!found) {
        s->objects = xrealloc(s->objects, (s->count + 1) * sizeof(*s->objects));
        memmove(s->objects + at + 1, s->objects + at, (s->count++ - at) * sizeof(*s->objects));
    }
    s->objects[at] = c->object;
}

static void snapshot_free(struct snapshot *s)
{
    free(s->objects);
    *s = (struct snapshot){0};
}

static struct snapshot snapshot_at(const struct apiserver *a, uint64_t version)
{
    struct snapshot s = {0};
    for (size_t i = 0; i < a->n_history && a->history[i].version <= version; i++)
        snapshot_apply(&s, &a->history[i]);
    return s;
}

/* ---- writing ---- */

static void record_change(struct apiserver *a, enum source_type type, struct inf_object *object)
{
    struct change change = {a->version, type, object};
    if (a->n_history == a->history_capacity) {
        a->history_capacity = a->history_capacity ? a->history_capacity * 2 : 64;
        a->history = xrealloc(a->history, a->history_capacity * sizeof(*a->history));
    }
    a->history[a->n_history++] = change;
    snapshot_apply(&a->now, &change);
}

const struct inf_object *apiserver_get(const struct apiserver *a, const char *key)
{
    bool found;
    size_t at = place_of(&a->now, str_of(key), &found);
    return found ? a->now.objects[at] : NULL;
}

void apiserver_put_n(struct apiserver *a, const char *key, int n)
{
    const struct inf_object *old = apiserver_get(a, key);
    char uid[64];
    a->version++;
    if (old)
        snprintf(uid, sizeof(uid), "%s", inf_object_uid(old));
    else
        snprintf(uid, sizeof(uid), "uid-%u", ++a->uids);
    record_change(a, old ? SOURCE_MODIFIED : SOURCE_ADDED, pod(key, uid, a->version, n));
}

void apiserver_put(struct apiserver *a, const char *key)
{
    apiserver_put_n(a, key, 0);
}

void apiserver_put_text(struct apiserver *a, const char *text)
{
    a->version++;
    record_change(a, SOURCE_MODIFIED, object_from(text));
}

void apiserver_delete(struct apiserver *a, const char *key)
{
    const struct inf_object *old = apiserver_get(a, key);
    assert(old);
    a->version++;
    record_change(a, SOURCE_DELETED, pod(key, inf_object_uid(old), a->version, 0));
}

void apiserver_compact(struct apiserver *a)
{
    a->compacted = ++a->version;
}

void apiserver_bookmark(struct apiserver *a)
{
    a->version++;
    record_change(a, SOURCE_BOOKMARK, NULL);
}

void apiserver_restore(struct apiserver *a, uint64_t version)
{
    snapshot_free(&a->now);
    a->now = snapshot_at(a, version);
    while (a->n_history && a->history[a->n_history - 1].version > version)
        inf_object_unref(a->history[--a->n_history].object);
    a->version = version;
}

/* ---- answering ---- */

static void deliver_event(struct apiserver *a, struct source_event *event)
{
    event->received_us = clock_wall_us(&a->sim->clock);
    a->user->ops->on_event(a->user, event);
}

static void forget_request(struct apiserver *a)
{
    timer_stop(&a->sim->clock, &a->answer);
    snapshot_free(&a->sending);
    a->user = NULL;
    a->open = a->filling = a->silent = false;
    a->sent = a->end_after = 0;
    a->end = (struct inf_error){0};
}

static void finish(struct apiserver *a, const struct inf_error *why)
{
    struct source_user *user = a->user;
    struct inf_error copy = *why;
    forget_request(a);
    user->ops->on_end(user, &copy);
}

static void finish_with(struct apiserver *a, int code, const char *text)
{
    struct inf_error why;
    err_set(&why, code, "%s", text);
    finish(a, &why);
}

static bool is_poison(const struct apiserver *a, const struct inf_object *object)
{
    return a->poison && object && str_eq(object_key(object), str_of(a->poison));
}

/* Like kube/: of an object that can't be decoded, only its identity is reported. */
static void send_poison(struct apiserver *a, struct source_event *event)
{
    const struct inf_object *o = event->object;
    struct object_identity identity = {.kind = str_of(inf_object_kind(o)),
                                       .api_version = str_of(inf_object_api_version(o)),
                                       .ns = str_of(inf_object_namespace(o)),
                                       .name = str_of(inf_object_name(o)),
                                       .uid = str_of(inf_object_uid(o)),
                                       .version = str_of(inf_object_resource_version(o))};
    int rc = object_make_identity(&identity, &event->object, NULL);
    assert(rc == 0);
    if (event->type != SOURCE_DELETED)
        event->type = SOURCE_SKIPPED;
    event->text = a->poison;
    deliver_event(a, event);
    inf_object_unref(event->object);
}

static void send_object(struct apiserver *a, enum source_type type, struct inf_object *object)
{
    struct source_event event = {
        .type = type, .object = object, .resource_version = inf_object_resource_version(object)};
    if (is_poison(a, object))
        send_poison(a, &event);
    else
        deliver_event(a, &event);
}

static void send_bookmark(struct apiserver *a, uint64_t version, bool initial_end)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, version);
    deliver_event(a, &(struct source_event){.type = SOURCE_BOOKMARK,
                                            .resource_version = text,
                                            .initial_end = initial_end});
}

static size_t page_end(const struct apiserver *a)
{
    size_t limit = a->request.limit;
    bool from_cache = strcmp(a->version_given, "0") == 0 && !a->pages_cache;
    if (!limit || a->ignore_limit || from_cache || limit > a->sending.count - a->sent)
        return a->sending.count;
    return a->sent + limit;
}

/* A page of a list that never ends. */
static void send_endless_page(struct apiserver *a)
{
    static const char *const cycle[] = {"1/0-a", "1/0-b", "1/0-c"};
    char token[48];
    a->filling = false;
    if (a->endless == APISERVER_REPEATS_TOKEN || a->endless == APISERVER_CYCLES)
        snprintf(token, sizeof(token), "%s",
                 cycle[a->endless == APISERVER_CYCLES ? a->requests % 3 : 0]);
    else
        snprintf(token, sizeof(token), "1/0-%u", a->requests);
    if (a->endless != APISERVER_EMPTY_PAGES)
        send_object(a, SOURCE_ADDED, a->sending.objects[0]);
    deliver_event(a, &(struct source_event){.type = SOURCE_PAGE_END,
                                            .resource_version = "1",
                                            .continue_token = token});
    finish_with(a, INF_EEOF, "the page is complete");
}

/* A token contains the version and the number of objects sent. */
static void send_page(struct apiserver *a)
{
    size_t end = page_end(a);
    char version[24], token[48] = "";
    unsigned request = a->requests;
    while (a->sent < end && a->user && a->requests == request)
        send_object(a, SOURCE_ADDED, a->sending.objects[a->sent++]);
    if (!a->user || a->requests != request)
        return;
    a->filling = false;
    snprintf(version, sizeof(version), "%" PRIu64, a->sending_version);
    if (end < a->sending.count)
        snprintf(token, sizeof(token), "%s/%zu", version, end);
    deliver_event(a, &(struct source_event){.type = SOURCE_PAGE_END,
                                            .resource_version = version,
                                            .continue_token = token});
    if (a->user && a->requests == request)
        finish_with(a, INF_EEOF, "the list is complete");
}

/* The first change after @version: the history is sorted. */
static size_t first_after(const struct apiserver *a, uint64_t version)
{
    size_t low = 0, high = a->n_history;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->history[middle].version <= version)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct inf_object *apiserver_before(const struct apiserver *a,
                                          const struct inf_object *object)
{
    uint64_t version = strtoull(inf_object_resource_version(object), NULL, 10);
    for (size_t i = first_after(a, version - 1); i-- > 0;) {
        const struct change *c = &a->history[i];
        if (c->object && str_eq(object_key(c->object), object_key(object)))
            return c->type == SOURCE_DELETED ? NULL : c->object;
    }
    return NULL;
}

/* The next change that the watch has not received yet. True if there was one. */
static bool send_change(struct apiserver *a)
{
    size_t i = first_after(a, a->after);
    const struct change *c = &a->history[i];
    if (i == a->n_history)
        return false;
    a->after = c->version;
    if (c->object)
        send_object(a, c->type, c->object);
    else
        send_bookmark(a, c->version, false);
    return true;
}

/* A watch-list: the state as ADDED, one object per turn, the changes made meanwhile, then the
 * end bookmark. */
static bool send_filling(struct apiserver *a)
{
    if (a->sent < a->sending.count) {
        send_object(a, SOURCE_ADDED, a->sending.objects[a->sent++]);
        return true;
    }
    if (send_change(a))
        return true;
    if (a->withhold_end)
        return false;
    a->filling = false;
    send_bookmark(a, a->version, true);
    return true;
}

/* A watch that shows nothing: it only ends. */
static bool send_nothing(struct apiserver *a)
{
    if (!a->end.code && a->blind == APISERVER_ENDS_EMPTY)
        apiserver_end(a);
    if (!a->end.code)
        return false;
    finish(a, &a->end);
    return true;
}

/* Sends one event, or the end. False if there is nothing to send. */
static bool send_next(struct apiserver *a)
{
    if (!a->user || !a->open || a->paused || a->silent)
        return false;
    if (a->end.code && a->end_after && --a->end_after == 0) {
        finish(a, &a->end);
        return true;
    }
    if (a->filling && a->request.want == SOURCE_LIST) {
        if (a->endless == APISERVER_ENDS)
            send_page(a);
        else
            send_endless_page(a);
        return true;
    }
    if (a->blind != APISERVER_SHOWS && !a->filling)
        return send_nothing(a);
    if (a->filling ? send_filling(a) : send_change(a))
        return true;
    if (!a->end.code)
        return false;
    finish(a, &a->end);
    return true;
}

static bool apiserver_poll(struct sim_io *io)
{
    struct apiserver *a = container_of(io, struct apiserver, io);
    bool sent = send_next(a);
    for (unsigned i = 1; sent && i < a->burst; i++)
        send_next(a);
    return sent;
}

/* Opens a list: the newest state, or the one of a token. */
static bool open_list(struct apiserver *a)
{
    a->sending_version = a->version;
    if (a->token[0]) {
        a->sending_version = strtoull(a->token, NULL, 10);
        a->sent = strtoull(strchr(a->token, '/') + 1, NULL, 10);
    }
    if (a->sending_version < a->compacted) {
        finish_with(a, INF_EGONE, "the continue token is too old");
        return false;
    }
    if (a->after > a->version) {
        finish_with(a, INF_EFUTURE, "Too large resource version");
        return false;
    }
    a->sending = snapshot_at(a, a->sending_version);
    a->after = a->sending_version;
    a->filling = true;
    return true;
}

static bool may_open(struct apiserver *a)
{
    struct inf_error why;
    if (a->refusals) {
        a->refusals--;
        finish(a, &a->refusal);
        return false;
    }
    if (a->request.want != SOURCE_WATCH && a->refuse_lists) {
        finish_with(a, INF_ESERVER, "no lists today");
        return false;
    }
    if (a->request.want == SOURCE_WATCH_LIST && a->no_watch_list) {
        finish_with(a, INF_EREFUSED, "sendInitialEvents is forbidden");
        return false;
    }
    if (a->request.want != SOURCE_WATCH)
        return open_list(a);
    if (a->after >= a->compacted)
        return true;
    err_set(&why, INF_EGONE, "too old resource version: %" PRIu64 " (%" PRIu64 ")", a->after,
            a->compacted);
    finish(a, &why);
    return false;
}

static void on_answer(struct timer *timer)
{
    struct apiserver *a = container_of(timer, struct apiserver, answer);
    if (!may_open(a))
        return;
    a->open = true;
    a->user->ops->on_open(a->user);
}

/* ---- faults ---- */

void apiserver_end_after(struct apiserver *a, size_t n, int code, const char *text)
{
    if (!a->user)
        return;
    err_set(&a->end, code, "%s", text);
    a->end_after = n;
}

void apiserver_end_with(struct apiserver *a, int code, const char *text)
{
    apiserver_end_after(a, 0, code, text);
}

void apiserver_end(struct apiserver *a)
{
    apiserver_end_with(a, INF_EEOF, "the server ended the watch");
}

void apiserver_cut(struct apiserver *a)
{
    apiserver_end_with(a, INF_ENET, "connection lost");
}

void apiserver_fall_silent(struct apiserver *a)
{
    a->silent = true;
}

void apiserver_progress(struct apiserver *a)
{
    if (a->user)
        a->user->ops->on_progress(a->user);
}

void apiserver_refuse(struct apiserver *a, unsigned n, int code, uint32_t retry_after_ms,
                      const char *text)
{
    err_set(&a->refusal, code, "%s", text);
    a->refusal.retry_after_ms = retry_after_ms;
    a->refusals = n;
}

/* ---- seam/source.h ---- */

static void note_request(struct apiserver *a)
{
    static const char *const wants[] = {
        [SOURCE_WATCH_LIST] = "watch-list", [SOURCE_LIST] = "list", [SOURCE_WATCH] = "watch"};
    struct buf text = {0};
    buf_printf(&text, "%s%s '%s'", a->request_log, wants[a->request.want], a->version_given);
    if (a->request.limit)
        buf_printf(&text, " limit=%u", a->request.limit);
    if (a->token[0])
        buf_printf(&text, " continue=%s", a->token);
    buf_put(&text, "; ", 3);
    str_replace(&a->request_log, text.bytes);
    buf_free(&text);
}

char *apiserver_take_requests(struct apiserver *a)
{
    char *text = a->request_log;
    a->request_log = xstrdup("");
    return text;
}

static void start_answer(struct apiserver *a)
{
    timer_start(&a->sim->clock, &a->answer, a->latency_ms ? a->latency_ms : APISERVER_LATENCY_MS);
}

static void apiserver_open(struct source *source, const struct source_request *request,
                           struct source_user *user)
{
    struct apiserver *a = container_of(source, struct apiserver, source);
    assert(!a->user);
    a->requests++;
    a->user = user;
    a->request = *request;
    str_replace(&a->version_given, request->resource_version);
    str_replace(&a->token, request->continue_token ? request->continue_token : "");
    assert(!a->token[0] || !a->version_given[0]); /* a real server responds with 400 */
    a->after = strtoull(a->version_given, NULL, 10);
    note_request(a);
    if (!a->looking_up)
        start_answer(a);
}

void apiserver_looked_up(struct apiserver *a)
{
    a->looking_up = false;
    start_answer(a);
    a->user->ops->on_prepared(a->user);
}

static bool apiserver_is_preparing(const struct source *source)
{
    const struct apiserver *a = container_of(source, struct apiserver, source);
    return a->user && a->looking_up;
}

static void apiserver_cancel(struct source *source)
{
    forget_request(container_of(source, struct apiserver, source));
}

static void apiserver_pause(struct source *source)
{
    container_of(source, struct apiserver, source)->paused = true;
}

static void apiserver_resume(struct source *source)
{
    container_of(source, struct apiserver, source)->paused = false;
}

static const struct source_ops source_ops = {
    .open = apiserver_open,
    .cancel = apiserver_cancel,
    .pause = apiserver_pause,
    .resume = apiserver_resume,
    .is_preparing = apiserver_is_preparing,
};

void apiserver_init(struct apiserver *a, struct sim *sim)
{
    *a = (struct apiserver){
        .source = {&source_ops},
        .sim = sim,
        .answer.fire = on_answer,
        .version_given = xstrdup(""),
        .token = xstrdup(""),
        .request_log = xstrdup(""),
    };
    sim_io_add(sim, &a->io, apiserver_poll);
}

void apiserver_done(struct apiserver *a)
{
    forget_request(a);
    sim_io_remove(&a->io);
    for (size_t i = 0; i < a->n_history; i++)
        inf_object_unref(a->history[i].object);
    free(a->history);
    snapshot_free(&a->now);
    free(a->version_given);
    free(a->token);
    free(a->request_log);
}
