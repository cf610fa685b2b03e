/*
 * auth_exec.c - runs the exec plugin and keeps its credential.
 *
 * Normal path: auth_exec_get() spawns the plugin, auth_exec_on_end() parses its stdout, and on_done
 * is called. A run that fails is reported with a remedy, and its error is returned until the pause
 * is over.
 */
#include "kube/auth/auth_exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/auth/exec_info.h"
#include "kube/auth/exec_stderr.h"
#include "kube/auth/secret_filter.h"

enum {
    HOUR_MS = 3600 * 1000,
};

static const char *plugin_name(const struct auth_exec *e)
{
    return e->config->exec->name;
}

/* ---- the end of a run ---- */

/* Limited to EXEC_HINTS_MAX per hour: every failed run would log one. */
static void log_install_hint(struct auth_exec *e)
{
    const char *hint = e->config->exec->install_hint;
    uint64_t now = clock_now_ms(e->clock);
    struct buf shown = {0};
    if (!hint)
        return;
    if (!e->hints || now - e->hints_ms >= HOUR_MS) {
        e->hints = 0;
        e->hints_ms = now;
    }
    if (e->hints++ >= EXEC_HINTS_MAX)
        return;
    secret_filter_put(&shown, str_of(hint));
    log_line(e->log, LOG_WARN, "exec plugin '%s' not found; install hint: %.*s", plugin_name(e),
             (int)shown.len, shown.bytes);
    buf_free(&shown);
}

static const char *remedy(const struct child_end *end)
{
    if (end->fate == CHILD_UNSTARTED)
        return "check that it is installed and that this process can find and execute it";
    return end->errors.len ? "its stderr is logged at level debug (watch -v)"
                           : "it wrote nothing to stderr; run it manually to find the cause";
}

static int evaluate_run(struct auth_exec *e, const struct child_end *end,
                        struct exec_credential *ret, struct inf_error *err)
{
    if (end->fate == CHILD_UNSTARTED && end->code == ENOENT)
        log_install_hint(e);
    if (end->fate != CHILD_EXITED || end->code != 0)
        return err_set(err, INF_EUNAUTHORIZED, "exec plugin '%s': %s; %s", plugin_name(e), end->how,
                       remedy(end));
    if (exec_credential_parse(end->output, e->config->exec->api_version, ret, err) < 0) {
        err->code = INF_EUNAUTHORIZED; /* INF_EDECODE would blame the server's response */
        return err_wrap(err, "exec plugin '%s': invalid ExecCredential", plugin_name(e));
    }
    return 0;
}

static void auth_exec_on_end(struct child_user *user, const struct child_end *end)
{
    struct auth_exec *e = container_of(user, struct auth_exec, user);
    struct exec_credential fresh = {0};
    struct inf_error why;
    int rc = evaluate_run(e, end, &fresh, &why);
    if (rc < 0)
        exec_stderr_log(e->log, plugin_name(e), end->errors);
    child_close(e->child);
    e->child = NULL;
    e->has_run = true;
    e->ended_ms = clock_now_ms(e->clock);
    if (rc < 0) {
        e->failed = why;
        e->on_done(e, &why);
        return;
    }
    exec_credential_free(&e->credential);
    e->credential = fresh; /* owned by e now */
    e->failed.code = 0;
    e->refused = false;
    e->on_done(e, NULL);
}

static const struct child_user_ops user_ops = {auth_exec_on_end};

/* ---- the beginning ---- */

static size_t count_strings(char **list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static void run_plugin(struct auth_exec *e)
{
    const struct exec_plugin *plugin = e->config->exec;
    size_t n = count_strings(plugin->env);
    const char **env = xcalloc(n + 2, sizeof(char *));
    char *info = exec_info_variable(e->config);
    for (size_t i = 0; i < n; i++)
        env[i] = plugin->env[i];
    env[n] = info; /* last, so that it overrides the kubeconfig's */
    e->user.ops = &user_ops;
    e->child = spawner_spawn(e->spawner,
                             &(struct child_spec){
                                 .argv = (const char *const *)plugin->argv,
                                 .env = env,
                                 .output_max = EXEC_OUTPUT_MAX,
                                 .errors_max = EXEC_STDERR_MAX,
                                 .timeout_ms = EXEC_TIMEOUT_MS,
                             },
                             &e->user);
    secret_free(info); /* a proxy's password may be in it */
    free(env);
}

static bool is_pausing(const struct auth_exec *e)
{
    return e->has_run && clock_now_ms(e->clock) - e->ended_ms < EXEC_REST_MS;
}

/* An expired credential is used during the pause after its run: a new run would return no better
 * one so soon. */
static bool credential_is_usable(const struct auth_exec *e)
{
    bool present = e->credential.token || e->credential.cert_pem;
    return present && !e->failed.code && !e->refused &&
           (is_pausing(e) || clock_wall_us(e->clock) < e->credential.expires_us);
}

int auth_exec_get(struct auth_exec *e, struct inf_error *err)
{
    if (e->child)
        return 1;
    if (credential_is_usable(e))
        return 0;
    if (e->failed.code && is_pausing(e)) {
        *err = e->failed;
        return -err->code;
    }
    run_plugin(e);
    return 1;
}

bool auth_exec_refused(struct auth_exec *e)
{
    if (e->child)
        return true;
    if (is_pausing(e))
        return false;
    e->refused = true;
    return true;
}

void auth_exec_close(struct auth_exec *e)
{
    if (e->child)
        child_close(e->child);
    e->child = NULL;
    exec_credential_free(&e->credential);
}
