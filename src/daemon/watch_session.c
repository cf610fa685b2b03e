/*
 * watch_session.c - reacts to the connection monitor.
 *
 * Normal path: keep lines about retries until all watches are synced, then write them; there are none
 * if all is well. An error that ends the command is printed with its place and a remedy, and determines the exit
 * code. On a terminal, the progress of large first lists is shown, and lost connections are reported for all watches together, in place of the lines
 * of each watch.
 */
#include "daemon/watch_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/base.h"
#include "base/buf.h"
#include "daemon/daemon.h"
#include "daemon/journal/journal_consumer.h"
#include "daemon/watch/watcher.h"

static struct daemon *daemon_of(struct connection_monitor *monitor)
{
    return container_of(monitor, struct daemon, session.monitor);
}

/* "10.0.0.1:6443" */
static const char *host_of(const struct watcher *watcher)
{
    const char *url = inf_client_server(watcher->cluster->client), *host = strstr(url, "://");
    return host ? host + strlen("://") : url;
}

/* The error without the namespace of its stream, where that does not matter. */
static const char *without_namespace(const char *text)
{
    const char *end = strncmp(text, "namespace '", 11) == 0 ? strstr(text, "': ") : NULL;
    return end ? end + strlen("': ") : text;
}

/* Errors of the connection concern all watches; their text begins with the address. */
static bool is_of_connection(int code)
{
    return code == INF_ENET || code == INF_ECUT || code == INF_ETIMEOUT || code == INF_ETLS ||
           code == INF_EPROTO;
}

const char *watch_session_remedy(int code)
{
    switch (code) {
    case INF_ENET:
    case INF_ECUT:
    case INF_ETIMEOUT:
    case INF_EPROTO:
    case INF_EDECODE: return "; check the address of the server in the kubeconfig, and the network";
    case INF_EREFUSED: return "; check --selector and --field-selector";
    default: return "";
    }
}

/* ---- progress of the first lists ---- */

static void session_read_progress(struct sync_progress *progress, struct sync_progress_state *ret)
{
    struct daemon *d = container_of(progress, struct daemon, session.progress);
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct watcher_status status;
        watcher_status(w, &status);
        if (!status.sum.list_objects)
            continue;
        if (ret->name)
            ret->others++;
        else
            ret->name = w->conf->name;
        ret->objects += status.sum.list_objects;
        ret->bytes += status.sum.list_bytes;
    }
}

/* Not while records are written to the same terminal, and not if the text needs two lines, which can't
 * be erased. */
static void session_show_progress(struct sync_progress *progress, const char *text)
{
    struct daemon *d = container_of(progress, struct daemon, session.progress);
    struct journal_stats stats;
    journal_stats(&d->journal, &stats);
    if (text && (stats.unwritten || strlen(text) >= terminal_width(STDERR_FILENO)))
        text = NULL;
    daemon_log_progress(&d->log, text);
}

static const struct sync_progress_ops session_progress_ops = {
    .read = session_read_progress,
    .show = session_show_progress,
};

/* ---- connections ---- */

static void session_on_failed(struct connection_monitor *monitor, const struct watcher *watcher,
                              const struct inf_error *why)
{
    struct daemon *d = daemon_of(monitor);
    bool connection = is_of_connection(why->code);
    sync_progress_stop(&d->session.progress);
    daemon_log_release(&d->log, true);
    fprintf(stderr, "informerd: %s%s%s%s\n", connection ? "" : watcher->conf->name,
            connection ? "" : ": ", connection ? without_namespace(why->text) : why->text,
            watch_session_remedy(why->code));
    d->exit_code = daemon_exit_code(why, true);
    daemon_stop(d, why->text);
}

static void session_on_slow(struct connection_monitor *monitor, const struct watcher *watcher,
                            const struct inf_error *why)
{
    struct daemon *d = daemon_of(monitor);
    daemon_log_release(&d->log, false);
    if (d->log.quiet_retries)
        daemon_log_status(&d->log, "OFFLINE", "waiting for %s: %s", host_of(watcher),
                          without_namespace(why->text));
}

/* "pods in namespace 'shop'", or "objects" if there are several watches. */
static void put_watched(struct buf *out, struct daemon *d)
{
    const struct conf_watch *watch = d->conf.watches;
    if (d->conf.n_watches > 1) {
        buf_puts(out, "objects");
        return;
    }
    buf_puts(out, watch->name);
    for (size_t i = 0; i < watch->namespaces.count; i++)
        buf_printf(out, "%s'%s'", i ? ", " : " in namespace ", watch->namespaces.items[i]);
}

/* Without a line on the terminal, a command that waits looks like one that hangs. */
static void note_nothing_printed(struct daemon *d)
{
    struct buf watched = {0};
    uint64_t printed = 0;
    size_t objects = 0;
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        struct watcher_status status;
        watcher_status(w, &status);
        objects += status.objects;
        printed += journal_consumer_watch(&w->channel)->events[INF_ADDED];
    }
    if (printed)
        return;
    put_watched(&watched, d);
    if (objects)
        daemon_log_status(&d->log, "WAITING",
                          "none of the %zu %.*s is printed; waiting for changes", objects,
                          (int)watched.len, watched.bytes);
    else
        daemon_log_status(&d->log, "WAITING", "no %.*s; waiting for changes", (int)watched.len,
                          watched.bytes);
    buf_free(&watched);
}

static void session_on_synced(struct connection_monitor *monitor)
{
    struct daemon *d = daemon_of(monitor);
    sync_progress_stop(&d->session.progress);
    daemon_log_release(&d->log, false);
    if (d->log.quiet_retries && !d->options.until.text)
        note_nothing_printed(d);
}

static void session_on_lost(struct connection_monitor *monitor, const struct watcher *watcher,
                            const struct inf_error *why)
{
    struct daemon *d = daemon_of(monitor);
    if (d->log.quiet_retries)
        daemon_log_status(&d->log, "OFFLINE", "reconnecting to %s: %s", host_of(watcher),
                          without_namespace(why->text));
}

static void session_on_connected(struct connection_monitor *monitor)
{
    struct daemon *d = daemon_of(monitor);
    if (d->log.quiet_retries)
        daemon_log_status(&d->log, "ONLINE", "connected again");
}

static const struct connection_monitor_ops session_monitor_ops = {
    .on_failed = session_on_failed,
    .on_slow = session_on_slow,
    .on_synced = session_on_synced,
    .on_lost = session_on_lost,
    .on_connected = session_on_connected,
};

/* Without a condition, the timeout is the regular end. */
static void session_on_timeout(struct timer *timer)
{
    struct daemon *d = container_of(timer, struct daemon, session.timeout);
    const char *condition = d->options.until.text;
    if (condition) {
        daemon_log_release(&d->log, true);
        fprintf(stderr, "informerd: timed out: '%s' did not hold within %" PRIu64 ".%" PRIu64 "s\n",
                condition, d->options.timeout_ms / 1000, d->options.timeout_ms % 1000 / 100);
        d->exit_code = EX_TEMPFAIL;
    }
    daemon_stop(d, "timed out");
}

/* With --verbose every line is written at once. */
void watch_session_prepare(struct daemon *d)
{
    if (d->log.level == INF_LOG_DEBUG)
        return;
    d->log.quiet_retries = d->log.format == CONF_LOG_TEXT;
    daemon_log_hold(&d->log);
}

void watch_session_start(struct daemon *d)
{
    connection_monitor_start(&d->session.monitor, &session_monitor_ops, &d->loop.clock,
                             &d->watchers);
    if (terminal_can_erase(STDERR_FILENO))
        sync_progress_start(&d->session.progress, &session_progress_ops, &d->loop.clock);
    d->session.timeout.fire = session_on_timeout;
    if (d->options.timeout_ms)
        timer_start(&d->loop.clock, &d->session.timeout, d->options.timeout_ms);
}

void watch_session_stop(struct daemon *d)
{
    timer_stop(&d->loop.clock, &d->session.timeout);
    connection_monitor_stop(&d->session.monitor);
    sync_progress_stop(&d->session.progress);
    daemon_log_release(&d->log, false);
}
