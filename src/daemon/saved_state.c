/*
 * saved_state.c - opens, describes and closes the state on disk.
 *
 * Normal path: load, open the watches, save until the daemon stops. Nothing here fails: a state that
 * can't be used is reported, and the daemon runs without it.
 */
#include "daemon/saved_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/siphash.h"
#include "daemon/daemon.h"
#include "daemon/watch/stream_id.h"
#include "daemon/watch/watcher.h"

enum {
    POSITIONS_MS = 10 * 1000, /* between two saves of versions that only bookmarks have advanced */
};

static void each_stream(struct daemon *d, void (*apply)(struct watch_stream *stream))
{
    list_for_each(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        list_for_each(inner, &w->streams) {
            struct watch_stream *stream = container_of(inner, struct watch_stream, node);
            if (stream->informer && stream->saved.state != SAVED_NOT)
                apply(stream);
        }
    }
}

void saved_state_settle(struct daemon *d)
{
    each_stream(d, saved_stream_batch_end);
}

void saved_state_update_ids(struct daemon *d)
{
    each_stream(d, saved_stream_update_id);
}

static void on_positions(struct timer *timer)
{
    struct daemon *d = container_of(timer, struct daemon, saved.positions);
    saved_state_settle(d);
    journal_flush(&d->journal);
    timer_start(&d->loop.clock, timer, POSITIONS_MS);
}

/* ---- callbacks of the state ---- */

static void on_loaded(struct inf_state *state)
{
    struct daemon *d = inf_state_data(state);
    struct inf_state_info info;
    inf_state_info(state, &info);
    d->journal.state = state;
    if (d->seq.skipped || info.mark < d->seq.next) /* a crash; or it stopped while suspended */
        d->journal.ahead_from = info.mark;
    timer_start(&d->loop.clock, &d->saved.positions, POSITIONS_MS);
    d->saved.on_loaded(d);
}

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    struct daemon *d = inf_state_data(state);
    journal_saved(&d->journal, flush);
}

static void on_suspended(struct inf_state *state, const char *why)
{
    struct daemon *d = inf_state_data(state);
    if (why) {
        daemon_log_printf(&d->log, INF_LOG_WARN,
                          "state in %s can't be saved: %s; changes are still logged, but after a "
                          "restart handlers may get changes again, and logs all objects",
                          d->saved.dir, why);
        return;
    }
    daemon_log_printf(&d->log, INF_LOG_INFO, "state in %s is saved again", d->saved.dir);
    each_stream(d, saved_stream_emptied);
    handlers_save_again(&d->handlers);
}

static void on_log(struct inf_state *state, enum inf_log_level level, const char *line)
{
    struct daemon *d = inf_state_data(state);
    daemon_log_printf(&d->log, level, "%s", line);
}

/* ---- life ---- */

/* With another key, every hashed value would seem changed. */
void saved_state_epoch(const unsigned char *key, char ret[SAVED_STATE_EPOCH_SIZE])
{
    static const struct siphash_key fixed = {UINT64_C(0x696e666f726d6572), 1};
    snprintf(ret, SAVED_STATE_EPOCH_SIZE, "%016" PRIx64, siphash13(&fixed, key, STATE_KEY_SIZE));
}

/* For tests: small files, so that they are compacted often. Values out of range are ignored. */
static uint64_t segment_bytes_of_test(void)
{
    const char *text = getenv("INFORMERD_TEST_SEGMENT_BYTES");
    uint64_t bytes = text ? strtoull(text, NULL, 10) : 0;
    return bytes >= 64 * 1024 && bytes <= 32 * 1024 * 1024 ? bytes : 0;
}

void saved_state_open(struct daemon *d, const struct conf *conf,
                      void (*after_load)(struct daemon *d))
{
    char epoch[SAVED_STATE_EPOCH_SIZE];
    struct inf_state_settings settings = {
        .epoch = epoch,
        .max_disk = conf->state.max_disk,
        .segment_bytes = segment_bytes_of_test(),
        .data = d,
        .on_loaded = on_loaded,
        .on_flushed = on_flushed,
        .on_suspended = on_suspended,
        .on_log = on_log,
    };
    struct inf_error err;
    d->saved.positions.fire = on_positions;
    d->saved.on_loaded = after_load;
    if (d->state_lock < 0 || !conf->state.enabled) {
        after_load(d);
        return;
    }
    settings.dir = d->saved.dir = xasprintf("%s/cache", conf->state_dir);
    saved_state_epoch(d->hash_key, epoch);
    d->saved.state = inf_state_open(&d->uv, &settings, &err);
    if (!d->saved.state)
        abort(); /* UNTESTED: the settings are valid */
}

uint64_t saved_state_age_ms(int64_t written_us, int64_t now_us)
{
    return now_us > written_us ? (uint64_t)(now_us - written_us) / 1000 : 0;
}

static void put_age(struct buf *out, int64_t written_us, int64_t now_us)
{
    uint64_t s = saved_state_age_ms(written_us, now_us) / 1000;
    if (written_us > now_us)
        buf_puts(out, "a state of unknown age (the clock was set back)");
    else if (s < 120)
        buf_printf(out, "the state of %" PRIu64 "s ago", s);
    else if (s < 2 * 60 * 60)
        buf_printf(out, "the state of %" PRIu64 "min ago", s / 60);
    else
        buf_printf(out, "the state of %" PRIu64 "h ago", s / 60 / 60);
}

bool saved_state_is_before_boot(int64_t written_us, int64_t now_us, double uptime_s)
{
    return written_us && written_us < now_us - (int64_t)(uptime_s * 1e6);
}

/* Of what was written in the last second before a power loss, any part may be missing. See
 * daemon/output/log_ahead.h. */
static void put_power_loss(struct daemon *d, const struct inf_state_info *info, struct buf *out)
{
    double uptime;
    if (d->seq.skipped && uv_uptime(&uptime) == 0 &&
        saved_state_is_before_boot(info->written_us, clock_wall_us(&d->loop.clock), uptime))
        buf_puts(out, "; the host was restarted since then: changes of the last second before that "
                      "may be missing or reported again");
}

void saved_state_describe(struct daemon *d, struct buf *out)
{
    struct inf_state_info info;
    if (!d->saved.state)
        return;
    inf_state_info(d->saved.state, &info);
    if (info.reason) {
        buf_printf(out, "; %s: %s", info.suspended ? "state not available" : "state discarded",
                   info.reason);
    } else if (info.written_us) {
        buf_puts(out, "; continues from ");
        put_age(out, info.written_us, clock_wall_us(&d->loop.clock));
        buf_printf(out, ": %" PRIu64 " objects of %" PRIu64 " streams", info.objects, info.streams);
    } else {
        buf_puts(out, "; no state of an earlier run");
    }
    if (info.torn_bytes)
        buf_printf(out,
                   "; the last %" PRIu64 " bytes of the state were incomplete and are discarded",
                   info.torn_bytes);
    put_power_loss(d, &info, out);
}

static bool stream_is_used(const struct daemon *d, const struct inf_state_stream *saved)
{
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        list_for_each(inner, &w->streams)
            if (container_of(inner, struct watch_stream, node)->saved.stream == saved)
                return true;
    }
    return false;
}

static bool queue_is_used(const struct daemon *d, const char *name)
{
    for_each_log(log, &d->journal.logs)
        if (strcmp(log->name, name) == 0)
            return true;
    for_each_log(log, &d->journal.leaving)
        if (strcmp(log->name, name) == 0)
            return true;
    return handlers_use_queue(&d->handlers, name);
}

/* Whether a watch waits for the identity of its cluster, or for its namespaces, and may then continue from
 * @saved. */
static bool stream_may_be_used(const struct daemon *d, const struct inf_state_stream *saved)
{
    const char *id = inf_state_stream_id(saved);
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        enum stream_match match = stream_id_match_watch(id, w);
        bool may_be_selected = namespace_tracker_is_active(&w->tracker) && !w->tracker.compared;
        if (match == STREAM_UNDECIDED || (match == STREAM_SAME && may_be_selected))
            return true;
    }
    return false;
}

static bool stream_is_unused(const struct daemon *d, const struct inf_state_stream *saved)
{
    return !stream_is_used(d, saved) && !stream_may_be_used(d, saved);
}

void saved_state_describe_unused(const struct daemon *d, struct buf *out)
{
    const struct inf_state_stream *s = NULL;
    size_t objects = 0, streams = 0;
    struct str first = STR("");
    while (d->saved.state && (s = inf_state_stream_next(d->saved.state, s))) {
        if (!inf_state_stream_is_restored(s) || !stream_is_unused(d, s))
            continue;
        if (!streams++)
            first = stream_id_part(inf_state_stream_id(s), "watch");
        objects += inf_state_stream_count(s);
    }
    if (streams == 1)
        buf_printf(out,
                   "; %zu objects are discarded: watch %.*s is no longer configured, or watches "
                   "other objects",
                   objects, STR_FMT(first));
    else if (streams)
        buf_printf(out,
                   "; %zu objects of %zu streams are discarded: watch %.*s and others are no "
                   "longer configured, or watch other objects",
                   objects, streams, STR_FMT(first));
}

/* The watch of the same name and resource, which is now that of another cluster; NULL: none. */
static struct watcher *watch_of_other_cluster(const struct daemon *d, const char *id)
{
    list_for_each(node, &d->watchers) {
        struct watcher *w = container_of(node, struct watcher, node);
        if (stream_id_names_watch(id, w->conf) &&
            stream_id_match_cluster(id, w->cluster) == STREAM_OTHER)
            return w;
    }
    return NULL;
}

/* @id is of the last run. */
static void note_other_cluster(struct watcher *w, const char *id)
{
    struct str before = stream_id_part(id, "server");
    char *why =
        xasprintf("cluster '%s': %s is not known to be the same cluster as %.*s of the last "
                  "run: its objects are reported as initial, the previous ones are not "
                  "reported as deleted",
                  w->cluster->conf->name, inf_client_server(w->cluster->client), STR_FMT(before));
    daemon_log_printf(w->cluster->log, INF_LOG_WARN, "%s", why);
    watcher_note_restart(w, why);
    free(why);
}

static void forget_unused_streams(struct daemon *d)
{
    struct inf_state_stream *s = inf_state_stream_next(d->saved.state, NULL);
    struct watcher *noted = NULL;
    while (s) {
        struct inf_state_stream *next = inf_state_stream_next(d->saved.state, s);
        const char *id = inf_state_stream_id(s);
        if (stream_is_unused(d, s)) {
            struct watcher *w = watch_of_other_cluster(d, id);
            struct str name = stream_id_part(id, "watch");
            if (w && w != noted && inf_state_stream_is_restored(s))
                note_other_cluster(noted = w, id);
            daemon_log_printf(&d->log, INF_LOG_INFO,
                              "state: %zu objects of watch %.*s are discarded: it is no longer "
                              "configured, or watches other objects",
                              inf_state_stream_count(s), STR_FMT(name));
            inf_state_stream_drop(s);
        }
        s = next;
    }
}

static void forget_unused_queues(struct daemon *d)
{
    struct inf_state_queue *q = inf_state_queue_next(d->saved.state, NULL);
    while (q) {
        struct inf_state_queue *next = inf_state_queue_next(d->saved.state, q);
        const char *name = inf_state_queue_name(q), *bytes;
        size_t len;
        if (!queue_is_used(d, name)) {
            if (!handlers_queue_has_tracks(name) &&
                inf_state_queue_pending(q, &bytes, &len, &(uint64_t){0}))
                daemon_log_printf(&d->log, INF_LOG_WARN,
                                  "state: %s%s is no longer configured; %zu bytes of records "
                                  "that may not have been %s are discarded",
                                  handlers_queue_owner(name) ? "" : "event log ", name, len,
                                  handlers_queue_owner(name) ? "delivered" : "written");
            inf_state_queue_drop(q);
        }
        q = next;
    }
}

void saved_state_forget_unused(struct daemon *d)
{
    if (!d->saved.state)
        return;
    forget_unused_streams(d);
    forget_unused_queues(d);
}

static void on_state_closed(void *ctx)
{
    struct daemon *d = ctx;
    free(d->saved.dir);
    d->saved.on_closed(d);
}

void saved_state_close(struct daemon *d, void (*after_close)(struct daemon *d))
{
    struct inf_state *state = d->saved.state;
    timer_stop(&d->loop.clock, &d->saved.positions);
    d->saved.state = d->journal.state = NULL;
    d->saved.on_closed = after_close;
    if (state)
        inf_state_close(state, on_state_closed, d);
    else
        after_close(d);
}
