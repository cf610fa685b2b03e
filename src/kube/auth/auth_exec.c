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

static const char *command(const struct auth_exec *e)
{
    return e->config->exec->name;
}

/* ---- the end of a run ---- */

/* At most so many an hour: each request that fails would have one. */
static void give_hint(struct auth_exec *e)
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
    log_line(e->log, LOG_WARN, "exec plugin '%s' not found; install hint: %.*s", command(e),
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

static int judge(struct auth_exec *e, const struct child_end *end, struct exec_credential *ret,
                 struct inf_error *err)
{
    if (end->fate == CHILD_UNSTARTED && end->code == ENOENT)
        give_hint(e);
    if (end->fate != CHILD_EXITED || end->code != 0)
        return err_set(err, INF_EUNAUTHORIZED, "exec plugin '%s': %s; %s", command(e), end->how,
                       remedy(end));
    if (exec_credential_parse(end->output, e->config->exec->api_version, ret, err) < 0) {
        err->code = INF_EUNAUTHORIZED; /* no answer of the server's was undecodable */
        return err_wrap(err, "exec plugin '%s': invalid ExecCredential", command(e));
    }
    return 0;
}

static void auth_exec_on_end(struct child_user *user, const struct child_end *end)
{
    struct auth_exec *e = container_of(user, struct auth_exec, user);
    struct exec_credential fresh = {0};
    struct inf_error why;
    int rc = judge(e, end, &fresh, &why);
    if (rc < 0)
        exec_stderr_log(e->log, command(e), end->errors);
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
    e->credential = fresh; /* now e's */
    e->failed.code = 0;
    e->refused = false;
    e->on_done(e, NULL);
}

static const struct child_user_ops user_ops = {auth_exec_on_end};

/* ---- the beginning ---- */

static size_t count(char **list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static void run(struct auth_exec *e)
{
    const struct exec_plugin *plugin = e->config->exec;
    size_t n = count(plugin->env);
    const char **env = xcalloc(n + 2, sizeof(char *));
    char *info = exec_info_variable(e->config);
    for (size_t i = 0; i < n; i++)
        env[i] = plugin->env[i];
    env[n] = info; /* last, so that it is ours */
    e->user.ops = &user_ops;
    e->child = spawner_spawn(e->spawner,
                             &(struct child_spec){
                                 .argv = (const char *const *)plugin->argv,
                                 .env = env,
                                 .output_max = EXEC_OUTPUT_MAX,
                                 .errors_max = COMPLAINT_MAX,
                                 .timeout_ms = EXEC_TIMEOUT_MS,
                             },
                             &e->user);
    secret_free(info); /* a proxy's password may be in it */
    free(env);
}

static bool rests(const struct auth_exec *e)
{
    return e->has_run && clock_now_ms(e->clock) - e->ended_ms < EXEC_REST_MS;
}

/* Also right after the run that gave it, if it has expired: it would give no better one now. */
static bool usable(const struct auth_exec *e)
{
    bool there = e->credential.token || e->credential.cert_pem;
    return there && !e->failed.code && !e->refused &&
           (rests(e) || clock_wall_us(e->clock) < e->credential.expires_us);
}

int auth_exec_get(struct auth_exec *e, struct inf_error *err)
{
    if (e->child)
        return 1;
    if (usable(e))
        return 0;
    if (e->failed.code && rests(e)) {
        *err = e->failed;
        return -err->code;
    }
    run(e);
    return 1;
}

bool auth_exec_refused(struct auth_exec *e)
{
    if (e->child)
        return true;
    if (rests(e))
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
