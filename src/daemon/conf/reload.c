/*
 * reload.c - reloads the configuration. It is applied completely, or rejected and the previous one
 * stays in use. A CONFIG record reports the result and the first error; the daemon log has all
 * errors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/conf/conf_dirs.h"
#include "daemon/conf/conf_same.h"
#include "daemon/daemon.h"
#include "daemon/handler/handler_control.h"

/* Removes the next line from @rest and returns it. */
static struct str next_line(struct str *rest)
{
    const char *end = memchr(rest->at, '\n', rest->len);
    struct str line = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = line.len + (end != NULL);
    *rest = (struct str){rest->at + used, rest->len - used};
    return line;
}

static void note_config(struct daemon *d, bool good, const char *msg)
{
    d->reload_failed = !good;
    free(d->reload_result);
    d->reload_result = xstrdup(msg);
    if (good)
        d->reloaded_us = clock_wall_us(&d->loop.clock);
    daemon_log_printf(&d->log, good ? INF_LOG_INFO : INF_LOG_ERROR, "%s", msg);
    journal_note(&d->journal, NULL,
                 &(struct note){.type = NOTE_CONFIG,
                                .level = good ? INF_LOG_INFO : INF_LOG_ERROR,
                                .reason = good ? "applied" : "refused",
                                .msg = msg,
                                .count = -1});
}

static void reject_reload(struct daemon *d, struct str why, const char *more)
{
    char *msg = xasprintf("configuration not reloaded, the previous one stays in use: %.*s%s",
                          (int)why.len, why.at, more);
    note_config(d, false, msg);
    free(msg);
}

/* The record has the first error; the daemon log has all. */
static void reject_errors(struct daemon *d, const struct conf_errors *errors)
{
    struct str rest = {errors->text.bytes, errors->text.len}, first = next_line(&rest);
    char more[64] = "";
    size_t n = 1;
    for (struct str uncounted = rest; uncounted.len; n++)
        next_line(&uncounted);
    if (n > 1)
        snprintf(more, sizeof(more), "; the daemon's log has all %zu errors", n);
    reject_reload(d, first, more);
    while (rest.len) {
        struct str line = next_line(&rest);
        daemon_log_printf(&d->log, INF_LOG_ERROR, "%.*s", (int)line.len, line.at);
    }
}

static void apply_reload(struct daemon *d, struct conf *conf)
{
    struct buf what = {0};
    struct inf_error err;
    int rc = 0;
    buf_puts(&what, "configuration reloaded: ");
    if (conf_state_dir_is_default(&d->conf) && conf_state_dir_is_default(conf)) {
        free(conf->state_dir); /* the default may depend on directories that were created since */
        conf->state_dir = xstrdup(d->conf.state_dir);
    }
    if (strcmp(d->conf.state_dir, conf->state_dir) != 0)
        rc = err_set(&err, INF_ECONF, "state_dir cannot change at run time; restart informerd");
    else if (!conf_state_same(&d->conf.state, &conf->state))
        rc = err_set(&err, INF_ECONF, "state cannot change at run time; restart informerd");
    else if (!conf_shard_same(&d->conf.shard, &conf->shard))
        rc = err_set(&err, INF_ECONF, "shard cannot change at run time; restart informerd");
    else if (!conf_replica_same(&d->conf.replica, &conf->replica))
        rc = err_set(&err, INF_ECONF, "replica cannot change at run time; restart informerd");
    if (rc == 0)
        rc = daemon_apply(d, conf, &what, &err);
    if (rc == 0) {
        saved_state_forget_unused(d);
        replica_reloaded(&d->replica);
        daemon_forbid_core_dumps(d);
        buf_putc(&what, '\0');
        note_config(d, true, what.bytes);
        daemon_advise(d);
    } else {
        reject_reload(d, str_of(err.text), "");
    }
    buf_free(&what);
}

void daemon_reload(struct daemon *d)
{
    struct conf_errors errors = {0};
    struct conf conf = {0};
    notify_reloading(&d->notify);
    if (d->state_lock >= 0) /* before parked records are delivered again */
        handler_control_files(&d->handlers, d->conf.state_dir);
    if (conf_load(d->options.conf_path, &conf, &errors) == 0)
        apply_reload(d, &conf);
    else
        reject_errors(d, &errors);
    conf_errors_free(&errors);
    conf_free(&conf);
    notify_ready(&d->notify, d->reload_failed ? "configuration reload failed" : "reloaded");
}
