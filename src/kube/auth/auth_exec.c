/*
 * auth_exec.c - credentials from a kubectl exec plugin.
 *
 * The plugin runs when a request needs credentials and none are usable: at first, after they have
 * expired, and after the server has rejected them. It runs in the background, one run at a time;
 * requests wait for its end. It gets the environment variable KUBERNETES_EXEC_INFO and writes an
 * ExecCredential to stdout, which is never logged.
 *
 * Time and output are limited. A run that fails is reported with a remedy, and its error is returned
 * during a pause after it, so that a plugin that fails, or whose credentials are rejected, is not
 * run in a tight loop.
 *
 * Plugins write the reason of a failure to stderr ("session expired, run sso login"), but verbose
 * ones also write secrets. So it is logged only at level debug, limited in size, one record per
 * line, without control characters and without parts that may be secret (secret_filter.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sm.h"
#include "base/str.h"
#include "base/text/base64.h"
#include "base/text/json_string.h"
#include "base/text/utf8.h"
#include "kube/auth/auth_method.h"
#include "kube/auth/exec_credential.h"
#include "kube/auth/secret_filter.h"
#include "kube/auth/tls_reloader.h"
#include "seam/child.h"

enum {
    HOUR_MS = 3600 * 1000,
    EXEC_TIMEOUT_MS = 60 * 1000,
    EXEC_REST_MS = 5 * 1000,      /* pause between the end of a run and the next */
    EXEC_OUTPUT_MAX = 256 * 1024, /* LIMIT: bytes of stdout */
    EXEC_STDERR_MAX = 4 * 1024,   /* LIMIT: bytes of stderr that are kept, from its end */
    EXEC_STDERR_LINES = 10,       /* LIMIT: lines of stderr that are logged, from its end */
    EXEC_STDERR_LINE_MAX = 300,   /* LIMIT: bytes of one line */
    EXEC_HINTS_MAX = 10,          /* LIMIT: install hints logged per hour */
};

/* What the last run has left. */
enum exec_state {
    EXEC_NEVER_RUN,
    EXEC_RUNNING,
    EXEC_READY,   /* `credential` is in use */
    EXEC_REFUSED, /* the server has rejected it */
    EXEC_FAILED,  /* with `failure` */
};

static const struct sm_state exec_states[] = {
    [EXEC_NEVER_RUN] = {"never run", SM_TO(EXEC_RUNNING)},
    [EXEC_RUNNING] = {"running", SM_TO(EXEC_READY) | SM_TO(EXEC_FAILED)},
    [EXEC_READY] = {"ready", SM_TO(EXEC_REFUSED) | SM_TO(EXEC_RUNNING)},
    [EXEC_REFUSED] = {"refused", SM_TO(EXEC_RUNNING)},
    [EXEC_FAILED] = {"failed", SM_TO(EXEC_RUNNING)},
};

struct exec_runner {
    struct auth *auth;
    struct sm sm; /* enum exec_state */
    struct child_user user;
    struct child *child; /* NULL: not running */
    uint64_t ended_ms;   /* when the last run ended */
    struct inf_error failure;
    struct exec_credential credential; /* of the last run that returned one */
    unsigned hints;                    /* install hints logged in this hour */
    uint64_t hints_ms;                 /* when the first of them was logged */
};

static const char *plugin_name(const struct exec_runner *e)
{
    return e->auth->settings.config->exec->name;
}

/* ---- the environment ---- */

/* Writes nothing if @value is NULL. */
static void put_member(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, str_of(value));
}

static void put_cluster(struct buf *out, const struct kubeconfig *c)
{
    char *ca = c->ca_pem ? base64_encode(c->ca_pem, strlen(c->ca_pem)) : NULL;
    buf_puts(out, ",\"cluster\":{\"server\":");
    json_put_string(out, str_of(c->server));
    put_member(out, "tls-server-name", c->tls_server_name);
    if (c->insecure)
        buf_puts(out, ",\"insecure-skip-tls-verify\":true");
    put_member(out, "certificate-authority-data", ca);
    put_member(out, "proxy-url", c->proxy_url);
    if (c->no_compression)
        buf_puts(out, ",\"disable-compression\":true");
    buf_printf(out, ",\"config\":%s}", c->exec_extension ? c->exec_extension : "null");
    free(ca);
}

/* "KUBERNETES_EXEC_INFO={...}"; the caller frees it with secret_free(): it may contain a proxy's
 * password. Never interactive: the plugin has no terminal. */
static char *exec_info_variable(const struct kubeconfig *c)
{
    struct buf out = {0};
    buf_printf(&out,
               "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\","
               "\"spec\":{\"interactive\":false",
               c->exec->api_version);
    if (c->exec->cluster_info)
        put_cluster(&out, c);
    buf_puts(&out, "}}");
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- messages ---- */

/* Limited to EXEC_HINTS_MAX per hour: every failed run would log one. */
static void log_install_hint(struct exec_runner *e)
{
    const char *hint = e->auth->settings.config->exec->install_hint;
    uint64_t now = clock_now_ms(e->auth->settings.clock);
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
    log_line(e->auth->settings.log, LOG_WARN, "exec plugin '%s' not found; install hint: %.*s",
             plugin_name(e), (int)shown.len, shown.bytes);
    buf_free(&shown);
}

/* Removes the last line from @text; it may lack its line end. */
static struct str pop_line(struct str *text)
{
    struct str line;
    size_t begin;
    while (text->len && strchr("\r\n", text->at[text->len - 1]))
        text->len--;
    begin = text->len;
    while (begin && !strchr("\r\n", text->at[begin - 1]))
        begin--;
    line = (struct str){text->at + begin, text->len - begin};
    text->len = begin;
    return line;
}

/* If the beginning of stderr was dropped, the first line that is left is dropped too: it may have
 * lost the name that marks a secret. */
static void log_stderr(const struct exec_runner *e, struct str text)
{
    struct str lines[EXEC_STDERR_LINES];
    bool cut = text.len >= EXEC_STDERR_MAX;
    size_t n = 0;
    while (n < EXEC_STDERR_LINES && text.len) {
        struct str line = pop_line(&text);
        if (line.len && (text.len || !cut))
            lines[n++] = line;
    }
    while (n) {
        struct buf bare = {0}, shown = {0};
        secret_filter_put(&bare, lines[--n]);
        utf8_put_visible(&shown,
                         utf8_cut((struct str){bare.bytes, bare.len}, EXEC_STDERR_LINE_MAX));
        log_line(e->auth->settings.log, LOG_DEBUG, "exec plugin '%s' stderr: %.*s", plugin_name(e),
                 (int)shown.len, shown.bytes);
        buf_free(&bare);
        buf_free(&shown);
    }
}

/* ---- a run ---- */

static int evaluate_run(struct exec_runner *e, const struct child_end *end,
                        struct exec_credential *ret, struct inf_error *err)
{
    const char *api_version = e->auth->settings.config->exec->api_version;
    const char *remedy = "it wrote nothing to stderr; run it manually to find the cause";
    if (end->fate == CHILD_UNSTARTED)
        remedy = "check that it is installed and that this process can find and execute it";
    else if (end->errors.len)
        remedy = "its stderr is logged at level debug (watch -v)";
    if (end->fate == CHILD_UNSTARTED && end->code == ENOENT)
        log_install_hint(e);
    if (end->fate != CHILD_EXITED || end->code != 0)
        return err_set(err, INF_EUNAUTHORIZED, "exec plugin '%s': %s; %s", plugin_name(e), end->how,
                       remedy);
    if (exec_credential_parse(end->output, api_version, ret, err) < 0) {
        err->code = INF_EUNAUTHORIZED; /* INF_EDECODE would blame the server's response */
        return err_wrap(err, "exec plugin '%s': invalid ExecCredential", plugin_name(e));
    }
    return 0;
}

static int use_credential(struct exec_runner *e, struct inf_error *err)
{
    const struct exec_credential *c = &e->credential;
    if (tls_reloader_present(e->auth->settings.tls, c->cert_pem, c->key_pem, err) < 0) {
        err->code = INF_EUNAUTHORIZED; /* the kubeconfig is valid; the plugin's certificate isn't */
        return err_wrap(err, "exec plugin '%s'", plugin_name(e));
    }
    if (c->token)
        auth_set_bearer(e->auth, c->token);
    else
        auth_clear_authorization(e->auth);
    return 0;
}

static void exec_on_end(struct child_user *user, const struct child_end *end)
{
    struct exec_runner *e = container_of(user, struct exec_runner, user);
    struct exec_credential fresh = {0};
    struct inf_error why = {0};
    int rc = evaluate_run(e, end, &fresh, &why);
    if (rc < 0)
        log_stderr(e, end->errors);
    child_close(e->child);
    e->child = NULL;
    e->ended_ms = clock_now_ms(e->auth->settings.clock);
    if (rc == 0) {
        exec_credential_free(&e->credential);
        e->credential = fresh; /* owned by e now */
        rc = use_credential(e, &why);
    }
    e->failure = why;
    sm_move(&e->sm, rc < 0 ? EXEC_FAILED : EXEC_READY, "the run has ended");
    auth_notify(e->auth, rc < 0 ? &why : NULL);
}

static const struct child_user_ops user_ops = {.on_end = exec_on_end};

static void run_plugin(struct exec_runner *e)
{
    const struct auth_settings *settings = &e->auth->settings;
    const struct exec_plugin *plugin = settings->config->exec;
    char *info = exec_info_variable(settings->config);
    const char **env;
    size_t n = 0;
    while (plugin->env[n])
        n++;
    env = xcalloc(n + 2, sizeof(char *));
    for (size_t i = 0; i < n; i++)
        env[i] = plugin->env[i];
    env[n] = info; /* last, so that it overrides the kubeconfig's */
    sm_move(&e->sm, EXEC_RUNNING, "credentials are needed");
    e->child = spawner_spawn(settings->spawner,
                             &(struct child_spec){
                                 .argv = (const char *const *)plugin->argv,
                                 .env = env,
                                 .output_max = EXEC_OUTPUT_MAX,
                                 .errors_max = EXEC_STDERR_MAX,
                                 .timeout_ms = EXEC_TIMEOUT_MS,
                             },
                             &e->user);
    secret_free(info);
    free(env);
}

/* ---- the method ---- */

static bool is_pausing(const struct exec_runner *e)
{
    return e->sm.state != EXEC_NEVER_RUN &&
           clock_now_ms(e->auth->settings.clock) - e->ended_ms < EXEC_REST_MS;
}

static bool exec_applies(const struct kubeconfig *config)
{
    return config->exec;
}

static void exec_start(struct auth *a)
{
    struct exec_runner *e = NEW(struct exec_runner);
    e->auth = a;
    sm_init(&e->sm, exec_states, EXEC_NEVER_RUN, a->settings.config->exec->name, NULL);
    e->user.ops = &user_ops;
    a->state = e;
}

static int exec_get(struct auth *a, struct inf_error *err)
{
    struct exec_runner *e = a->state;
    switch ((enum exec_state)e->sm.state) {
    case EXEC_RUNNING: return AUTH_LATER;
    case EXEC_READY:
        /* During the pause an expired credential is used: a new run would return no better one. */
        if (is_pausing(e) || clock_wall_us(a->settings.clock) < e->credential.expires_us)
            return 0;
        break;
    case EXEC_FAILED:
        if (is_pausing(e)) {
            *err = e->failure;
            return -err->code;
        }
        break;
    case EXEC_NEVER_RUN:
    case EXEC_REFUSED: break;
    }
    run_plugin(e);
    return AUTH_LATER;
}

/* During the pause a new run would return the same credential. */
static bool exec_refused(struct auth *a)
{
    struct exec_runner *e = a->state;
    if (e->sm.state != EXEC_RUNNING && is_pausing(e))
        return false;
    if (e->sm.state == EXEC_READY)
        sm_move(&e->sm, EXEC_REFUSED, "the server rejected the credential");
    return true;
}

static char *exec_describe(const struct auth *a)
{
    return xasprintf("the credential of exec plugin '%s'", plugin_name(a->state));
}

static void exec_stop(struct auth *a)
{
    struct exec_runner *e = a->state;
    if (e->child)
        child_close(e->child);
    exec_credential_free(&e->credential);
    free(e);
}

const struct auth_method auth_exec = {.applies = exec_applies,
                                      .start = exec_start,
                                      .get = exec_get,
                                      .refused = exec_refused,
                                      .describe = exec_describe,
                                      .stop = exec_stop};
