/*
 * daemon.c - startup, signals and shutdown of the daemon.
 *
 * HUP reloads the conf, USR1 reopens the event logs, USR2 writes a state dump. INT and TERM (and
 * HUP without a conf file) close all watches and write the remaining records; then the loop
 * returns. A second INT or TERM exits at once, in case a reader never accepts these records, and so
 * does `drain_timeout`. A daemon that can't lock its state directory or open its journal exits
 * before it starts; one whose conf can't be applied stops in the normal way.
 */
#include "daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/conf/conf_dirs.h"
#include "daemon/conf/conf_finalize.h"
#include "daemon/consumers.h"
#include "daemon/dump.h"
#include "daemon/handler/handler_client.h"
#include "daemon/handler/handlers_apply.h"
#include "daemon/http/report.h"
#include "daemon/pool.h"
#include "daemon/signals.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/owner_lookup.h"
#include "daemon/watch/watcher.h"

enum {
    HEARTBEAT_MS = 5000, /* interval of status updates to the service manager */
    FILES_WANTED = 2 * WEB_API_CLIENTS_MAX + 1024, /* open files, if the system allows it */
    LEAVE_MS = 3000, /* for closing files and lookups after all records are written */
    BUDGET_LOG_AGAIN_MS =
        60 * 1000, /* that memory.backlog is exceeded is logged at most this often */
};

static const int signal_numbers[DAEMON_SIGNALS] = {SIGINT,  SIGTERM, SIGHUP,
                                                   SIGUSR1, SIGUSR2, SIGWINCH};

/* An invalid watch is an error of the command line or of the conf, depending on which named it. */
int daemon_exit_code(const struct inf_error *err, bool ad_hoc)
{
    switch (err->code) {
    case INF_EINVAL:
    case INF_EREFUSED:
    case INF_ENOTFOUND: return ad_hoc ? EX_USAGE : EX_CONFIG;
    case INF_EIO: return EX_IOERR;
    case INF_EUNAUTHORIZED:
    case INF_EFORBIDDEN: return EX_NOPERM;
    case INF_ENET:
    case INF_ETLS:
    case INF_EPROTO:
    case INF_ETIMEOUT:
    case INF_ECUT:
    case INF_EDECODE:
    case INF_ESERVER: return EX_UNAVAILABLE;
    default: return EX_CONFIG;
    }
}

/* ---- shutdown ---- */

static void report_unwritten(void *ctx, const struct event_log *log)
{
    struct daemon *d = ctx;
    struct event_log_status status;
    uint64_t lines = event_log_unwritten_lines(log);
    event_log_status(log, &status);
    if (lines)
        daemon_log_printf(&d->log, INF_LOG_ERROR,
                          "event log %s: %" PRIu64 " line%s not written%s%s", status.name, lines,
                          lines == 1 ? "" : "s", status.reason ? ": " : "",
                          status.reason ? status.reason : "");
}

/* Exits without writing the remaining records, and logs what is lost. */
static void exit_unwritten(struct daemon *d, int exit_code)
{
    struct journal_stats stats;
    journal_stats(&d->journal, &stats);
    journal_each_log(&d->journal, true, report_unwritten, d);
    if (stats.unwritten)
        daemon_log_printf(&d->log, INF_LOG_ERROR, "stopping with %zu bytes of records not written",
                          stats.unwritten);
    _exit(exit_code); /* a write that hangs in the kernel would block a normal exit */
}

/* All records are written: a file that does not close, or a name server that does not respond,
 * must not delay the exit. */
static void on_leave_timeout(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    daemon_log_printf(
        &d->log, INF_LOG_WARN,
        "exiting without waiting for a file operation or a name lookup that does not complete");
    _exit(d->exit_code);
}

static void on_loop_closed(struct loop *loop)
{
    (void)loop; /* embedded in the daemon */
}

static void on_all_closed(struct daemon *d)
{
    signals_hold(); /* without handlers they would end the process with a wrong exit status */
    for (size_t i = 0; i < ARRAY_LEN(d->signals); i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    timer_stop(&d->loop.clock, &d->drain);
    notify_close(&d->notify);
    daemon_log_leave_clock(&d->log);
    loop_disk_close(&d->disk);
    loop_close(&d->loop, on_loop_closed);
}

static void on_journal_closed(struct journal *journal)
{
    saved_state_close(container_of(journal, struct daemon, journal), on_all_closed);
}

static void on_drained(struct journal *journal)
{
    struct daemon *d = container_of(journal, struct daemon, journal);
    timer_stop(&d->loop.clock, &d->drain);
    uv_timer_start(&d->leaving, on_leave_timeout, LEAVE_MS, 0);
    uv_unref((uv_handle_t *)&d->leaving); /* it does not keep the loop running */
    journal_close(journal);
}

static void on_drain_timeout(struct timer *timer)
{
    exit_unwritten(container_of(timer, struct daemon, drain), EX_IOERR);
}

/* The rest of the time is for ending their programs, and for the event logs. */
static uint64_t handlers_drain_ms(const struct daemon *d)
{
    uint64_t ms = d->conf.drain_timeout_ms;
    return ms > 2 * CHILD_GRACE_MS ? ms - CHILD_GRACE_MS : ms / 2;
}

static void on_replica_stopped(struct replica *replica)
{
    journal_drain(&container_of(replica, struct daemon, replica)->journal);
}

static void on_handlers_drained(struct handlers *handlers)
{
    struct daemon *d = container_of(handlers, struct daemon, handlers);
    replica_stop(&d->replica, on_replica_stopped);
}

void daemon_stop(struct daemon *d, const char *why)
{
    if (d->stopping)
        return;
    d->stopping = true;
    notify_stopping(&d->notify);
    saved_state_settle(d);
    replica_stopping(&d->replica);
    list_for_each_safe(node, &d->watchers)
        watcher_close(container_of(node, struct watcher, node));
    list_for_each_safe(node, &d->clusters)
        cluster_close(container_of(node, struct cluster, node));
    web_close(&d->web);
    handler_clients_close(&d->handlers);
    timer_stop(&d->loop.clock, &d->heartbeat);
    consumers_close(d);
    watch_session_stop(d);
    journal_stop(&d->journal, why);
    if (d->conf.drain_timeout_ms)
        timer_start(&d->loop.clock, &d->drain, d->conf.drain_timeout_ms);
    handlers_drain(&d->handlers, handlers_drain_ms(d), on_handlers_drained);
}

/* ---- signals ---- */

/* To the state directory, or to stderr without one. */
static void write_dump(struct daemon *d)
{
    char *path = xasprintf("%s/dump.json", d->state_lock < 0 ? "" : d->conf.state_dir);
    struct buf dump = {0};
    struct inf_error err;
    journal_collect(&d->journal);
    report_dump(d, /* with_records= */ true, &dump);
    daemon_log_progress(&d->log, NULL);
    if (d->state_lock < 0)
        fwrite(dump.bytes, 1, dump.len, stderr);
    else if (dump_write(path, &dump, &err) < 0)
        daemon_log_printf(&d->log, INF_LOG_ERROR, "state dump: %s", err.text);
    else
        daemon_log_printf(&d->log, INF_LOG_INFO, "state dump written to %s", path);
    buf_free(&dump);
    free(path);
}

/* HUP gets here only without a conf file: then it means that the terminal was closed. */
static void stop_by_signal(struct daemon *d, int number)
{
    const char *why = number == SIGINT   ? "interrupted"
                      : number == SIGHUP ? "the terminal was closed"
                                         : "terminated";
    daemon_log_printf(&d->log, INF_LOG_INFO, "stopping: %s", why);
    daemon_stop(d, why);
}

static void handle_signal(struct daemon *d, int number)
{
    switch (number) {
    case SIGHUP:
        if (d->options.ad_hoc)
            stop_by_signal(d, number);
        else
            daemon_reload(d);
        break;
    case SIGUSR1: journal_reopen(&d->journal); break;
    case SIGUSR2: write_dump(d); break;
    case SIGWINCH: journal_set_width(&d->journal, terminal_width(STDOUT_FILENO)); break;
    default: stop_by_signal(d, number); break;
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;
    bool stops = number == SIGINT || number == SIGTERM;
    loop_busy(&d->loop);
    if (d->stopping && stops)
        exit_unwritten(d, 128 + number);
    else if (d->first_conf && !stops)
        d->early_signals |= 1u << (handle - d->signals);
    else if (!d->stopping)
        handle_signal(d, number);
}

/* Those that came before the conf was applied. */
static void handle_early_signals(struct daemon *d)
{
    for (size_t i = 0; i < ARRAY_LEN(d->signals); i++)
        if (d->early_signals & 1u << i && !d->stopping)
            handle_signal(d, signal_numbers[i]);
}

/* nohup ignores HUP, so that a command survives its terminal. */
static bool is_signal_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Whether a signal is of interest to this process. */
static bool is_signal_wanted(const struct daemon *d, int number)
{
    if (number == SIGWINCH)
        return terminal_width(STDOUT_FILENO) && !d->options.no_trunc;
    return number != SIGHUP || !d->options.ad_hoc || !is_signal_ignored(SIGHUP);
}

static void catch_signals(struct daemon *d)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* handled as an error of write(2) */
    for (size_t i = 0; i < ARRAY_LEN(d->signals); i++) {
        uv_signal_init(&d->uv, &d->signals[i]);
        d->signals[i].data = d;
        if (is_signal_wanted(d, signal_numbers[i]))
            uv_signal_start(&d->signals[i], on_signal, signal_numbers[i]);
    }
    signals_release();
}

/* ---- the journal ---- */

/* For `informerd watch`, a reader that exits (| head) is not a failure. For a service it is. */
static void on_lost(struct journal *journal, int error)
{
    struct daemon *d = container_of(journal, struct daemon, journal);
    if (error != UV_EPIPE || !d->options.ad_hoc) {
        daemon_log_printf(&d->log, INF_LOG_ERROR, "stdout: %s", uv_strerror(error));
        d->exit_code = EX_IOERR;
    }
    daemon_stop(d, "stdout was closed");
}

/* The progress is on the same terminal. */
static void on_print(struct journal *journal)
{
    daemon_log_progress(&container_of(journal, struct daemon, journal)->log, NULL);
}

static int open_state(struct daemon *d, const struct conf *conf, struct inf_error *err)
{
    const char *dir = conf->state_dir;
    int made = state_create(dir, conf_state_dir_is_below_home(conf), err);
    if (made < 0)
        return made;
    if (made)
        daemon_log_printf(&d->log, INF_LOG_INFO, "state directory %s created", dir);
    d->state_lock = state_take(dir, err);
    return d->state_lock < 0 ? -err->code : state_read_key(dir, d->hash_key, err);
}

static int open_journal(struct daemon *d, const char *dir, struct inf_error *err)
{
    loop_disk_init(&d->disk, &d->loop);
    if (seq_open(&d->seq, &d->loop.clock, &d->disk.disk, dir, err) < 0)
        return -err->code;
    journal_init(&d->journal, &d->loop.clock, &d->disk.disk, &d->seq);
    d->journal.budget = d->budget;
    d->journal.owner = &d->log;
    d->journal.log = daemon_log_line;
    d->journal.on_lost = on_lost;
    if (d->options.ad_hoc)
        d->journal.on_print = on_print;
    d->journal.on_drained = on_drained;
    d->journal.on_closed = on_journal_closed;
    d->journal.reader.context.owners = owner_lookup_in(&d->watchers);
    handlers_apply_open(d);
    consumers_open(d);
    return 0;
}

/* ---- startup ---- */

void daemon_forbid_core_dumps(const struct daemon *d)
{
    struct rlimit none = {0, 0};
    if (d->conf.core_dumps || d->options.ad_hoc)
        return;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

/* Clients of the local API must not use up the descriptors that event logs and watches need. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_WANTED)
        return;
    files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max : FILES_WANTED;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* A reader that is a little too slow exceeds the limit many times a second: the metric counts that. */
static void on_memory(void *ctx, bool over)
{
    struct daemon *d = ctx;
    uint64_t now = clock_now_ms(&d->loop.clock);
    struct inf_budget_status status;
    inf_budget_status(d->budget, &status);
    if (over)
        d->budget_quiet = d->budget_logged_ms && now - d->budget_logged_ms < BUDGET_LOG_AGAIN_MS;
    if (over && !d->budget_quiet)
        d->budget_logged_ms = now;
    if (over)
        daemon_log_printf(
            &d->log, d->budget_quiet ? INF_LOG_DEBUG : INF_LOG_WARN,
            "memory.backlog: %zu bytes are queued, the limit is %zu; watches with large "
            "backlogs are held",
            status.used, status.limit);
    else
        daemon_log_printf(&d->log, d->budget_quiet ? INF_LOG_DEBUG : INF_LOG_INFO,
                          "memory.backlog: %zu bytes are queued; watches are no longer held",
                          status.used);
}

static void on_heartbeat(struct timer *timer)
{
    struct daemon *d = container_of(timer, struct daemon, heartbeat);
    struct buf sentence = {0};
    report_sentence(d, &sentence);
    buf_putc(&sentence, '\0');
    notify_status(&d->notify, sentence.bytes);
    buf_free(&sentence);
    timer_start(&d->loop.clock, timer, HEARTBEAT_MS);
}

static void init_daemon(struct daemon *d, const struct daemon_options *options)
{
    uv_loop_init(&d->uv);
    loop_init(&d->loop, &d->uv);
    tick_cpu_start(&d->tick_cpu, &d->uv);
    uv_timer_init(&d->uv, &d->leaving);
    d->leaving.data = d;
    d->options = *options;
    d->state_lock = -1;
    d->heartbeat.fire = on_heartbeat;
    d->drain.fire = on_drain_timeout;
    d->started_us = d->reloaded_us = clock_wall_us(&d->loop.clock);
    list_init(&d->clusters);
    list_init(&d->watchers);
    web_init(&d->web, d);
}

static void close_loop(struct daemon *d)
{
    uv_close((uv_handle_t *)&d->leaving, NULL);
    tick_cpu_close(&d->tick_cpu);
    uv_run(&d->uv, UV_RUN_DEFAULT);
    uv_loop_close(&d->uv);
}

/* Without state directory or journal there is nothing to drain. */
static int fail_early(struct daemon *d, const struct inf_error *err)
{
    fprintf(stderr, "informerd: %s\n", err->text);
    web_close(&d->web);
    daemon_log_leave_clock(&d->log);
    loop_close(&d->loop, on_loop_closed);
    uv_run(&d->uv, UV_RUN_DEFAULT);
    close_loop(d);
    return daemon_exit_code(err, d->options.ad_hoc);
}

static void log_warning(void *ctx, const char *line)
{
    struct daemon *d = ctx;
    daemon_log_printf(&d->log, INF_LOG_WARN, "%s", line);
}

void daemon_advise(struct daemon *d)
{
    conf_warnings(&d->conf, log_warning, d);
}

static void log_startup(struct daemon *d)
{
    size_t watches = d->conf.n_watches, logs = d->conf.n_event_logs;
    size_t handlers = d->conf.n_handlers, sinks = d->conf.n_sinks;
    char of_handlers[48] = "", of_sinks[48] = "";
    if (handlers)
        snprintf(of_handlers, sizeof(of_handlers), ", %zu handler%s", handlers,
                 handlers == 1 ? "" : "s");
    if (sinks)
        snprintf(of_sinks, sizeof(of_sinks), ", %zu sink%s", sinks, sinks == 1 ? "" : "s");
    daemon_log_printf(&d->log, INF_LOG_INFO, "informerd %s: %zu watch%s, %zu event log%s%s%s",
                      inf_version(), watches, watches == 1 ? "" : "es", logs, logs == 1 ? "" : "s",
                      of_handlers, of_sinks);
}

/* The state of the last run is loaded. */
static void start_watching(struct daemon *d)
{
    struct conf *conf = d->first_conf;
    struct buf state = {0};
    struct inf_error err;
    d->first_conf = NULL;
    saved_state_describe(d, &state); /* before new streams are added */
    replica_prepare(d, conf);
    if (daemon_apply(d, conf, NULL, &err) < 0 || replica_start(&d->replica, &err) < 0) {
        fprintf(stderr, "informerd: %s\n", err.text);
        d->exit_code = daemon_exit_code(&err, d->options.ad_hoc);
        daemon_stop(d, "could not start");
        buf_free(&state);
        return;
    }
    daemon_forbid_core_dumps(d);
    saved_state_describe_unused(d, &state);
    buf_putc(&state, '\0');
    journal_start(&d->journal, state.bytes);
    saved_state_forget_unused(d);
    buf_free(&state);
    log_startup(d);
    daemon_advise(d);
    notify_ready(&d->notify, "starting");
    if (notify_is_heard(&d->notify))
        timer_start(&d->loop.clock, &d->heartbeat, HEARTBEAT_MS);
    if (d->options.ad_hoc)
        watch_session_start(d);
    handle_early_signals(d);
}

static void daemon_start(struct daemon *d, struct conf *conf)
{
    catch_signals(d);
    notify_init(&d->notify, &d->uv);
    if (d->options.ad_hoc)
        watch_session_prepare(d);
    d->first_conf = conf;
    saved_state_open(d, conf, start_watching);
}

int daemon_run(struct conf *conf, const struct daemon_options *options)
{
    struct daemon *d = NEW(struct daemon);
    const char *dir = options->ad_hoc ? NULL : conf->state_dir;
    struct inf_error err;
    int exit_code;
    raise_file_limit();
    pool_prepare(conf->n_clusters + conf->n_handlers + conf->n_sinks, !options->ad_hoc);
    init_daemon(d, options);
    d->budget = inf_budget_new(&(struct inf_budget_options){
        .bytes = conf->memory.backlog, .on_over = on_memory, .data = d});
    daemon_log_init(&d->log, &d->loop.clock, conf->log.level, conf->log.format);
    if ((dir && open_state(d, conf, &err) < 0) || open_journal(d, dir, &err) < 0) {
        exit_code = fail_early(d, &err);
    } else {
        daemon_start(d, conf);
        uv_run(&d->uv, UV_RUN_DEFAULT);
        close_loop(d);
        exit_code = d->exit_code;
    }
    if (d->state_lock >= 0)
        close(d->state_lock);
    conf_free(&d->conf);
    conf_free(conf); /* not empty if it could not be applied */
    inf_budget_free(d->budget);
    daemon_log_free(&d->log);
    secret_wipe(d->hash_key, sizeof(d->hash_key));
    free(d->reload_result);
    free(d);
    return exit_code;
}
