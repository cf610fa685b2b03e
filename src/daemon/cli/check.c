/*
 * check.c - `informerd --check-config` and `--print-config`.
 *
 * Normal path: load the configuration, open each cluster as the daemon would (this reads
 * kubeconfigs, certificates and tokens), with --online also send requests, then print the result to
 * stdout in one write. All errors go to stderr; the exit code is that of the first cluster that
 * cannot be opened, because the daemon would exit with it.
 */
#include "daemon/cli/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/alloc.h"
#include "daemon/cli/check_online.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf_error.h"
#include "daemon/conf/conf_finalize.h"
#include "daemon/conf/conf_logs.h"
#include "daemon/daemon.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/cluster.h"

int check_load(const char *path, struct conf *ret)
{
    struct conf_errors errors = {0};
    int rc = conf_load(path, ret, &errors);
    if (rc == 0) {
        rc = conf_logs_check(ret, &errors);
        if (rc)
            conf_free(ret);
    }
    if (rc)
        fwrite(errors.text.bytes, 1, errors.text.len, stderr);
    conf_errors_free(&errors);
    return rc ? EX_CONFIG : 0;
}

static void put_warning(void *ctx, const char *line)
{
    buf_printf(ctx, "warning: %s\n", line);
}

static void put_verdict(const struct conf *conf, const char *path, struct buf *out)
{
    buf_printf(out, "%s: ok, %zu watch%s, %zu event log%s\n", path, conf->n_watches,
               conf->n_watches == 1 ? "" : "es", conf->n_event_logs,
               conf->n_event_logs == 1 ? "" : "s");
    conf_warnings(conf, put_warning, out);
}

/* ---- clusters ---- */

static void report_cluster(const struct conf *conf, size_t i, const char *path,
                           const struct inf_error *err, struct conf_errors *errors)
{
    const struct yaml_node *node = conf->clusters[i].head.node;
    struct conf_reader reader = {.errors = errors};
    char *line;
    if (node) {
        conf_entry_error(&reader, conf, "clusters", node, "kubeconfig", "%s", err->text);
        buf_free(&reader.path);
        return;
    }
    line =
        xasprintf("%s: %s", path, err->text); /* the implicit cluster has no position in a file */
    conf_error_line(errors, line);
    free(line);
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
        if (!cluster)
            report_cluster(conf, i, path, &err, errors);
        code = cluster || code ? code : daemon_exit_code(&err, false);
        cluster_close(cluster);
    }
    uv_run(&uv, UV_RUN_DEFAULT); /* until all are closed */
    uv_loop_close(&uv);
    daemon_log_free(&log);
    return code;
}

/* ---- the commands ---- */

/* Checks the configuration and the files it refers to. Returns the exit code. */
static int check_files(const struct conf *conf, const char *path, struct buf *out)
{
    struct conf_errors errors = {0};
    int code = check_clusters(conf, path, &errors);
    conf_errors_close(&errors);
    if (code)
        fwrite(errors.text.bytes, 1, errors.text.len, stderr);
    else
        put_verdict(conf, path, out);
    conf_errors_free(&errors);
    return code;
}

int check_run(const struct options *options)
{
    struct buf out = {0};
    struct conf conf;
    int rc = check_load(options->conf, &conf);
    if (rc)
        return rc;
    if (options->command == COMMAND_CHECK)
        rc = check_files(&conf, options->conf, &out);
    else
        conf_print(&conf, &out);
    if (options->online) {
        int code = online_check(&conf, options->conf, terminal_has_colours(STDOUT_FILENO), &out);
        rc = rc ? rc : code;
    }
    if (out.len && (fwrite(out.bytes, 1, out.len, stdout) != out.len || fflush(stdout) != 0)) {
        fprintf(stderr, "informerd: stdout: %s\n", strerror(errno));
        rc = EX_IOERR;
    }
    buf_free(&out);
    conf_free(&conf);
    return rc;
}
