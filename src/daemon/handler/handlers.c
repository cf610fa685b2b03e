/*
 * handlers.c - keeps handlers by name across reloads, and stops them.
 *
 * Normal path: handlers_set() at the start and at each reload; handlers_drain() at the end. A handler
 * that is removed or stopped stays in `leaving` until its runs have ended. Only handlers_check() can
 * fail.
 */
#include "daemon/handler/handlers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/handler/handler_kind.h"

#define QUEUE_PREFIX  "handler "
#define PAUSE_PREFIX  "paused handler " /* such a queue exists while the handler is paused */
#define TRACKS_PREFIX "positions of handler "

#define for_each_handler(item, list)                                              \
    for (struct handler *item = container_of((list)->next, struct handler, node); \
         &(item)->node != (list); (item) = container_of((item)->node.next, struct handler, node))

/* ---- queues in the state ---- */

bool handlers_queue_has_tracks(const char *queue_name)
{
    return strncmp(queue_name, TRACKS_PREFIX, strlen(TRACKS_PREFIX)) == 0;
}

const char *handlers_queue_owner(const char *queue_name)
{
    size_t len = strlen(QUEUE_PREFIX), pause_len = strlen(PAUSE_PREFIX);
    if (handlers_queue_has_tracks(queue_name))
        return queue_name + strlen(TRACKS_PREFIX);
    if (strncmp(queue_name, PAUSE_PREFIX, pause_len) == 0)
        return queue_name + pause_len;
    return strncmp(queue_name, QUEUE_PREFIX, len) == 0 ? queue_name + len : NULL;
}

struct handler *handlers_find(const struct handlers *handlers, const char *name)
{
    for_each_handler(h, &handlers->handlers)
        if (strcmp(h->name, name) == 0)
            return h;
    return NULL;
}

bool handlers_use_queue(const struct handlers *handlers, const char *name)
{
    const char *owner = handlers_queue_owner(name);
    return owner && handlers_find(handlers, owner) &&
           (handlers->host.replicated || !handlers_queue_has_tracks(name));
}

static struct inf_state_queue *open_queue(const struct handlers *hs, const char *prefix,
                                          const char *name)
{
    struct inf_state *state = hs->host.journal->state;
    char *queue_name = xasprintf("%s%s", prefix, name);
    struct inf_state_queue *queue = state ? inf_state_queue(state, queue_name) : NULL;
    free(queue_name);
    return queue;
}

static void save_pause(const struct handlers *hs, const struct handler *h)
{
    struct inf_state_queue *mark = open_queue(hs, PAUSE_PREFIX, h->name);
    if (mark && h->paused)
        inf_state_queue_add(mark, "1", 1);
    else if (mark)
        inf_state_queue_drop(mark);
}

/* Continues as the last run of the daemon has left it. */
static void restore_pause(const struct handlers *hs, struct handler *h)
{
    struct inf_state_queue *mark = open_queue(hs, PAUSE_PREFIX, h->name);
    const char *bytes;
    if (mark && inf_state_queue_pending(mark, &bytes, &(size_t){0}, &(uint64_t){0}))
        handler_pause(h, true);
    else if (mark)
        inf_state_queue_drop(mark);
}

void handlers_pause(struct handlers *handlers, struct handler *handler, bool paused)
{
    if (handler->paused == paused)
        return;
    handler_pause(handler, paused);
    save_pause(handlers, handler);
    journal_flush(handlers->host.journal);
}

void handlers_save_again(struct handlers *handlers)
{
    for_each_handler(h, &handlers->handlers) {
        if (h->queue.tracks)
            handler_tracks_save(h->queue.tracks, /* again= */ true);
        handler_queue_rewrite(&h->queue);
        if (h->paused)
            save_pause(handlers, h);
    }
}

/* ---- the end of a handler ---- */

static void check_drained(struct handlers *hs)
{
    if (!hs->draining || !list_empty(&hs->leaving))
        return;
    hs->draining = false;
    timer_stop(hs->host.clock, &hs->cancel);
    hs->on_drained(hs);
}

/* Frees the handlers that have no runs any more. */
static void free_idle(struct handlers *hs)
{
    list_for_each_safe(node, &hs->leaving) {
        struct handler *h = container_of(node, struct handler, node);
        if (!list_empty(&h->runs))
            continue;
        list_remove(&h->node);
        handler_free(h);
    }
}

static void on_run_end(struct handler_host *host)
{
    struct handlers *hs = container_of(host, struct handlers, host);
    free_idle(hs);
    check_drained(hs);
}

static void stop_handler(struct handlers *hs, struct handler *h)
{
    journal_remove_output(hs->host.journal, &h->output);
    handler_stop(h);
    list_remove(&h->node);
    list_push(&hs->leaving, &h->node);
}

static void log_undelivered(struct handler *h, const char *why)
{
    size_t n = handler_queue_length(&h->queue) - h->queue.counts[RECORD_RUNNING];
    if (n + h->queue.counts[RECORD_PARKED])
        handler_log(h, INF_LOG_WARN,
                    "%s; %zu records that were not delivered and %zu parked ones "
                    "are dropped",
                    why, n, h->queue.counts[RECORD_PARKED]);
}

static void remove_handler(struct handlers *hs, struct handler *h)
{
    log_undelivered(h, "it was removed from the configuration");
    stop_handler(hs, h);
    if (h->queue.on_disk)
        inf_state_queue_drop(h->queue.on_disk);
    h->queue.on_disk = NULL;
    if (h->tracks.on_disk)
        inf_state_queue_drop(h->tracks.on_disk);
    h->tracks.on_disk = NULL;
    h->paused = false;
    save_pause(hs, h);
}

/* ---- reloading ---- */

int handlers_check(const struct handler_settings *settings, size_t n, struct inf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct filter *filter = filter_make(&settings[i].filter, err);
        if (!filter)
            return err ? err_wrap(err, "handler '%s'", settings[i].name) : -INF_EINVAL;
        filter_free(filter);
        if (settings[i].kind->permit && settings[i].kind->permit(settings[i].conf, err) < 0)
            return err_wrap(err, "handler '%s'", settings[i].name);
    }
    return 0;
}

static bool is_listed(const struct handler_settings *settings, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].name, name) == 0)
            return true;
    return false;
}

static void set_handler(struct handlers *hs, const struct handler_settings *settings)
{
    struct filter *filter = filter_make(&settings->filter, NULL);
    struct handler *h = handlers_find(hs, settings->name);
    struct handler_saved saved = {0};
    if (h) {
        handler_configure(h, settings, filter);
        return;
    }
    saved.queue = open_queue(hs, QUEUE_PREFIX, settings->name);
    if (hs->host.replicated)
        saved.tracks = open_queue(hs, TRACKS_PREFIX, settings->name);
    h = handler_new(&hs->host, settings, filter, &saved);
    list_push(&hs->handlers, &h->node);
    restore_pause(hs, h);
    journal_add_output(hs->host.journal, &h->output);
    if (handler_queue_length(&h->queue) + h->queue.counts[RECORD_PARKED])
        handler_log(h, INF_LOG_INFO, "continues with %zu records of the last run, and %zu parked",
                    handler_queue_length(&h->queue), h->queue.counts[RECORD_PARKED]);
}

void handlers_set(struct handlers *handlers, const struct handler_settings *settings, size_t n)
{
    list_for_each_safe(node, &handlers->handlers) {
        struct handler *h = container_of(node, struct handler, node);
        if (!is_listed(settings, n, h->name))
            remove_handler(handlers, h);
    }
    free_idle(handlers);
    for (size_t i = 0; i < n; i++)
        set_handler(handlers, &settings[i]);
    journal_update_outputs(handlers->host.journal);
}

/* ---- stopping ---- */

static void on_cancel(struct timer *timer)
{
    struct handlers *hs = container_of(timer, struct handlers, cancel);
    for_each_handler(h, &hs->leaving) {
        handler_log(h, INF_LOG_WARN, "stopped before %zu runs have ended; %s", h->n_runs,
                    h->queue.on_disk ? "their records are delivered again after the next start"
                                     : "their records are lost");
        handler_cancel_runs(h);
    }
    free_idle(hs);
    check_drained(hs);
}

void handlers_drain(struct handlers *handlers, uint64_t timeout_ms,
                    void (*on_drained)(struct handlers *handlers))
{
    handlers->draining = true;
    handlers->on_drained = on_drained;
    list_for_each_safe(node, &handlers->handlers) {
        struct handler *h = container_of(node, struct handler, node);
        if (!h->queue.on_disk)
            log_undelivered(h, "informerd stops and keeps no state on disk");
        stop_handler(handlers, h);
    }
    free_idle(handlers);
    if (timeout_ms)
        timer_start(handlers->host.clock, &handlers->cancel, timeout_ms);
    check_drained(handlers);
}

/* ---- life and status ---- */

void handlers_init(struct handlers *handlers)
{
    handlers->host.on_run_end = on_run_end;
    handlers->cancel.fire = on_cancel;
    list_init(&handlers->handlers);
    list_init(&handlers->leaving);
}

void handlers_each(const struct handlers *handlers,
                   void (*each)(void *ctx, const struct handler *handler), void *ctx)
{
    for_each_handler(h, &handlers->handlers)
        each(ctx, h);
}

size_t handlers_count(const struct handlers *handlers)
{
    size_t n = 0;
    list_for_each(node, &handlers->handlers)
        n++;
    return n;
}
