/*
 * auth.c - builds the authentication headers from the configured kind of credentials.
 *
 * In order of precedence: token file, token, password, exec plugin. If both a token and a token
 * file are configured, the token is used until the file has been read. Only the plugin is
 * asynchronous; requests wait for it in a list. If it fails, all waiters get its error.
 */
#include "kube/auth/auth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/auth/auth_exec.h"
#include "kube/auth/auth_token.h"
#include "kube/auth/tls_reloader.h"
#include "kube/config/kubeconfig.h"
#include "wire/proxy.h"

struct auth {
    struct auth_settings settings;
    struct auth_token file; /* used if it has a path */
    struct auth_exec exec;  /* used if the kubeconfig has one */
    struct list waiters;
    char *authorization;         /* NULL: no such header */
    uint64_t generation;         /* of the authorization; incremented when it changes */
    struct http_header *headers; /* the authorization first (may be unset), then impersonation */
    struct scrubber scrubber;    /* knows the credentials that were sent */
};

/* ---- the authorization ---- */

static void set_authorization(struct auth *a, const char *scheme, const char *secret)
{
    secret_free(a->authorization);
    a->authorization = xasprintf("%s %s", scheme, secret);
    a->headers[0] = (struct http_header){"Authorization", a->authorization};
    a->generation++;
    scrubber_retire(&a->scrubber, SCRUBBER_SERVER);
    if (strcmp(scheme, "Basic") == 0)
        scrubber_add_basic(&a->scrubber, SCRUBBER_SERVER, secret);
    else
        scrubber_add(&a->scrubber, SCRUBBER_SERVER, secret);
}

static int renew_from_file(struct auth *a, struct inf_error *err)
{
    int rc = auth_token_renew(&a->file, err);
    if (rc == 1)
        set_authorization(a, "Bearer", a->file.token);
    return rc < 0 && !a->authorization ? rc : 0;
}

static void clear_authorization(struct auth *a)
{
    secret_free(a->authorization);
    a->authorization = NULL;
    a->generation++;
    scrubber_retire(&a->scrubber, SCRUBBER_SERVER);
}

/* ---- the exec plugin ---- */

static int use_credential(struct auth *a, struct inf_error *err)
{
    const struct exec_credential *c = &a->exec.credential;
    if (tls_reloader_present(a->settings.tls, c->cert_pem, c->key_pem, err) < 0) {
        err->code = INF_EUNAUTHORIZED; /* the kubeconfig is valid; the plugin's certificate isn't */
        return err_wrap(err, "exec plugin '%s'", a->settings.config->exec->name);
    }
    if (c->token)
        set_authorization(a, "Bearer", c->token);
    else
        clear_authorization(a);
    return 0;
}

/* A waiter that has to wait again after on_ready is called at the next end of a run, not now. */
static void notify_waiters(struct auth *a, const struct inf_error *why)
{
    struct list notified, *node;
    list_init(&notified);
    list_move_all(&notified, &a->waiters);
    while ((node = list_pop(&notified))) {
        struct auth_waiter *waiter = container_of(node, struct auth_waiter, node);
        waiter->on_ready(waiter, why);
    }
}

static void auth_on_done(struct auth_exec *exec, const struct inf_error *why)
{
    struct auth *a = container_of(exec, struct auth, exec);
    struct inf_error unusable;
    if (!why && use_credential(a, &unusable) < 0) {
        exec->failed = unusable;
        why = &unusable;
    }
    notify_waiters(a, why);
}

static int renew_by_plugin(struct auth *a, struct auth_waiter *waiter, struct inf_error *err)
{
    int rc = auth_exec_get(&a->exec, err);
    if (rc == 1)
        list_push(&a->waiters, &waiter->node);
    return rc == 1 ? AUTH_LATER : rc;
}

/* ---- requests ---- */

int auth_get(struct auth *a, struct auth_waiter *waiter, struct auth_headers *ret,
             struct inf_error *err)
{
    size_t skip;
    int rc = 0;
    if (!a) {
        *ret = (struct auth_headers){0};
        return 0;
    }
    if (a->file.path)
        rc = renew_from_file(a, err);
    else if (a->settings.config->exec)
        rc = renew_by_plugin(a, waiter, err);
    if (rc)
        return rc;
    skip = a->authorization ? 0 : 1;
    *ret = (struct auth_headers){.list = a->headers + skip,
                                 .count = a->settings.config->n_impersonate + 1 - skip,
                                 .generation = a->generation};
    return 0;
}

void auth_stop_waiting(struct auth_waiter *waiter)
{
    if (waiter->node.next)
        list_remove(&waiter->node);
}

bool auth_refused(struct auth *a, uint64_t generation)
{
    if (!a)
        return false;
    if (generation != a->generation)
        return true; /* renewed since the request was sent */
    if (a->settings.config->exec)
        return auth_exec_refused(&a->exec);
    if (!a->file.path || !auth_token_refused(&a->file))
        return false;
    set_authorization(a, "Bearer", a->file.token);
    return true;
}

char *auth_describe(const struct auth *a)
{
    const struct kubeconfig *c = a ? a->settings.config : NULL;
    const char *user = c && c->user ? c->user : "";
    if (!c)
        return NULL;
    if (c->token_file && (!a->file.user || a->file.token))
        return xasprintf("the token in '%s'", c->token_file);
    if (c->exec)
        return xasprintf("the credential of exec plugin '%s'", c->exec->name);
    if (c->token || c->token_file)
        return xasprintf("the token of user '%s'", user);
    if (c->basic)
        return xasprintf("the name and password of user '%s'", user);
    return c->cert_pem ? xasprintf("the client certificate of user '%s'", user) : NULL;
}

const struct scrubber *auth_scrubber(const struct auth *a)
{
    return a ? &a->scrubber : NULL;
}

/* ---- life ---- */

/* @a is new, or forget_credentials() was called. */
static void use_config(struct auth *a)
{
    const struct auth_settings *settings = &a->settings;
    const struct kubeconfig *config = settings->config;
    a->file = (struct auth_token){.path = config->token_file,
                                  .user = config->user,
                                  .clock = settings->clock,
                                  .log = settings->log};
    a->exec = (struct auth_exec){.clock = settings->clock,
                                 .log = settings->log,
                                 .spawner = settings->spawner,
                                 .config = config,
                                 .on_done = auth_on_done};
    a->headers = xcalloc(config->n_impersonate + 1, sizeof(a->headers[0]));
    for (size_t i = 0; i < config->n_impersonate; i++)
        a->headers[i + 1] =
            (struct http_header){config->impersonate[i].name, config->impersonate[i].value};
    if (config->token)
        set_authorization(a, "Bearer", config->token);
    else if (config->basic)
        set_authorization(a, "Basic", config->basic);
    scrubber_retire(&a->scrubber, SCRUBBER_PROXY);
    if (settings->proxy)
        proxy_hide_login(settings->proxy, &a->scrubber);
}

/* The scrubber keeps them: a peer may still repeat credentials that it received earlier. */
static void forget_credentials(struct auth *a)
{
    auth_exec_close(&a->exec);
    auth_token_free(&a->file);
    clear_authorization(a);
    free(a->headers);
    a->headers = NULL;
}

struct auth *auth_new(const struct auth_settings *settings)
{
    struct auth *a = NEW(struct auth);
    a->settings = *settings;
    list_init(&a->waiters);
    use_config(a);
    return a;
}

void auth_change(struct auth *a, const struct kubeconfig *config, struct tls_reloader *tls,
                 const struct proxy *proxy)
{
    forget_credentials(a);
    a->settings.config = config;
    a->settings.tls = tls;
    a->settings.proxy = proxy;
    use_config(a);
    notify_waiters(a, NULL);
}

void auth_renew(struct auth *a)
{
    a->file.due_ms = 0;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    assert(list_empty(&a->waiters));
    forget_credentials(a);
    scrubber_free(&a->scrubber);
    free(a);
}
