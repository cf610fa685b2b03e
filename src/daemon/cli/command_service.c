/*
 * command_service.c - informerd without a command: runs as a service, or checks or prints its
 * configuration.
 *
 * Normal path: load the configuration and run the daemon. --check-config instead opens each cluster
 * as the daemon would (this reads kubeconfigs, certificates and tokens; no credential plugin runs
 * and no request is sent), with --online also sends requests, then prints the result to stdout in
 * one write. All errors go to stderr; the exit code is that of the first cluster that cannot be
 * opened, because the daemon would exit with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "daemon/cli/check_dirs.h"
#include "daemon/cli/check_online.h"
#include "daemon/cli/command.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_finalize.h"
#include "daemon/daemon.h"
#include "daemon/daemon_log.h"
#include "daemon/signals.h"
#include "daemon/watch/cluster.h"

struct service_options {
    const char *conf; /* path */
    bool check;
    bool online; /* with check: also check access to each cluster */
    bool print;
};

/* ---- the command line ---- */

static const struct flag service_flags[] = {
    FLAG_CONFIG(struct service_options),
    {0, "check-config", NULL, offsetof(struct service_options, check),
     .help = "validate the configuration and list all errors"},
    {0, "online", NULL, offsetof(struct service_options, online),
     .help = "with --check-config: also check access to each cluster"},
    {0, "print-config", NULL, offsetof(struct service_options, print),
     .help = "print the effective configuration with the origin of each value"},
    {0},
};

static int service_parse(void *options, int argc, char **argv)
{
    struct service_options *o = options;
    if (argc > 0 && !o->check && !o->print)
        return command_unknown(argv[0]);
    if (argc > 0)
        return command_usage_error(&command_service,
                                   "unexpected argument '%s'; specify the configuration file "
                                   "with -c",
                                   argv[0]);
    if (o->check && o->print)
        return command_usage_error(&command_service,
                                   "use only one of --check-config and --print-config");
    if (o->online && !o->check)
        return command_usage_error(&command_service, "--online is valid only with --check-config");
    return command_default_conf(&command_service, &o->conf);
}

/* ---- checks ---- */

static void report_cluster_error(const struct conf *conf, const struct conf_cluster *cluster,
                                 const char *path, const char *message, struct conf_errors *errors)
{
    struct conf_reader reader = {.errors = errors};
    char *line;
    if (cluster->head.node) {
        conf_entry_error(&reader, conf, "clusters", cluster->head.node, "kubeconfig", "%s",
                         message);
        buf_free(&reader.path);
    } else { /* the implicit cluster has no position in a file */
        line = xasprintf("%s: %s", path, message);
        conf_error_line(errors, line);
        free(line);
    }
}

/* Opens every cluster, as the daemon does before it starts. Returns 0 or the exit code for the
 * first one that cannot be opened. */
static int check_clusters(const struct conf *conf, const char *path, struct conf_errors *errors)
{
    uv_loop_t uv;
    struct daemon_log log = {.level = INF_LOG_ERROR, .format = conf->log.format};
    struct cluster_setup setup = {.uv = &uv, .log = &log};
    int code = 0;
    uv_loop_init(&uv);
    for (size_t i = 0; i < conf->n_clusters; i++) {
        struct inf_error err;
        struct cluster *cluster = cluster_open(&conf->clusters[i], &setup, &err);
        if (!cluster) {
            report_cluster_error(conf, &conf->clusters[i], path, err.text, errors);
            code = code ? code : daemon_exit_code(&err, false);
        }
        cluster_close(cluster);
    }
    uv_run(&uv, UV_RUN_DEFAULT); /* until all are closed */
    uv_loop_close(&uv);
    daemon_log_free(&log);
    return code;
}

static void put_warning(void *ctx, const char *line)
{
    buf_printf(ctx, "warning: %s\n", line);
}

/* Checks the configuration and the files it refers to. Returns the exit code. */
static int check_files(const struct conf *conf, const char *path, struct buf *out)
{
    struct conf_errors errors = {0};
    int code = check_clusters(conf, path, &errors);
    conf_errors_close(&errors);
    if (code) {
        fwrite(errors.text.bytes, 1, errors.text.len, stderr);
    } else {
        buf_printf(out, "%s: ok, %zu watch%s, %zu event log%s", path, conf->n_watches,
                   conf->n_watches == 1 ? "" : "es", conf->n_event_logs,
                   conf->n_event_logs == 1 ? "" : "s");
        if (conf->n_handlers)
            buf_printf(out, ", %zu handler%s", conf->n_handlers, conf->n_handlers == 1 ? "" : "s");
        if (conf->n_sinks)
            buf_printf(out, ", %zu sink%s", conf->n_sinks, conf->n_sinks == 1 ? "" : "s");
        buf_putc(out, '\n');
        conf_warnings(conf, put_warning, out);
        check_dirs(conf, put_warning, out);
    }
    conf_errors_free(&errors);
    return code;
}

/* ---- the command ---- */

static int service_run(const void *options)
{
    const struct service_options *o = options;
    struct buf out = {0};
    struct conf conf;
    int rc = command_load_conf(o->conf, &conf);
    if (rc)
        return rc;
    if (!o->check && !o->print)
        return daemon_run(&conf, &(struct daemon_options){.conf_path = o->conf});
    signals_release();
    if (o->check)
        rc = check_files(&conf, o->conf, &out);
    else
        conf_print(&conf, &out);
    if (o->online) {
        int code = check_online(&conf, o->conf, terminal_has_colours(STDOUT_FILENO), &out);
        rc = rc ? rc : code;
    }
    if (out.len) {
        int code = command_print(&out);
        rc = code ? code : rc;
    }
    buf_free(&out);
    conf_free(&conf);
    return rc;
}

const struct command command_service = {
    .name = "",
    .arguments = "[-c FILE]",
    .summary = "run as a service",
    .description = "informerd keeps a live copy of Kubernetes objects and logs every change.",
    .flags = service_flags,
    .notes = "Signals: HUP reload configuration, USR1 reopen logs, USR2 dump state,\n"
             "TERM/INT stop after pending records are written; a second one stops at once.\n"
             "\n"
             "Exit codes:\n"
             "   0  success, or stopped by TERM or INT\n"
             "  64  invalid command line\n"
             "  69  a cluster is not available\n"
             "  74  a file, an address or the output failed\n"
             "  77  state_dir is not writable, or access to a resource is denied\n"
             "  78  the configuration or a kubeconfig is invalid or missing\n"
             "\n"
             "Run 'informerd COMMAND --help' for the flags of a command.\n",
    .size = sizeof(struct service_options),
    .parse = service_parse,
    .run = service_run,
};
