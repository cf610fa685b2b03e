/*
 * auth.c - the authentication headers of requests, from the method that the kubeconfig selects.
 *
 * Normal path: use_config() chooses the method and starts it. Each request calls auth_get(), which
 * lets the method renew its credentials and returns the current headers. If that takes time, the
 * request waits in a list until the method calls auth_notify(). If there are no credentials, all
 * waiters get the method's error.
 */
#include "kube/auth/auth.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/auth/auth_method.h"
#include "wire/proxy/proxy.h"

/* In order of precedence; the last one always applies. */
static const struct auth_method *const methods[] = {
    &auth_token_file,  /* a file that is read again and again */
    &auth_token,       /* a literal token */
    &auth_basic,       /* name and password */
    &auth_exec,        /* a plugin that returns a token or a certificate */
    &auth_certificate, /* only a client certificate */
    &auth_anonymous,   /* no credentials */
};

/* ---- for methods ---- */

/* The scrubber keeps the former credentials: a peer may repeat what it received earlier. */
void auth_clear_authorization(struct auth *a)
{
    secret_free(a->authorization);
    a->authorization = NULL;
    a->generation++;
    scrubber_retire(&a->scrubber, SCRUBBER_SERVER);
}

/* Takes ownership of @value. */
static void set_authorization(struct auth *a, char *value)
{
    auth_clear_authorization(a);
    a->authorization = value;
    a->headers[0] = (struct http_header){"Authorization", value};
}

void auth_set_bearer(struct auth *a, const char *token)
{
    set_authorization(a, xasprintf("Bearer %s", token));
    scrubber_add(&a->scrubber, SCRUBBER_SERVER, token);
}

void auth_set_basic(struct auth *a, const char *login)
{
    set_authorization(a, xasprintf("Basic %s", login));
    scrubber_add_basic(&a->scrubber, SCRUBBER_SERVER, login);
}

/* A waiter that has to wait again after on_ready is called the next time, not now. */
void auth_notify(struct auth *a, const struct inf_error *why)
{
    struct list notified, *node;
    list_init(&notified);
    list_move_all(&notified, &a->waiters);
    while ((node = list_pop(&notified))) {
        struct auth_waiter *waiter = container_of(node, struct auth_waiter, node);
        waiter->on_ready(waiter, why);
    }
}

/* ---- requests ---- */

int auth_get(struct auth *a, struct auth_waiter *waiter, struct auth_headers *ret,
             struct inf_error *err)
{
    size_t skip;
    int rc;
    if (!a) {
        *ret = (struct auth_headers){0};
        return 0;
    }
    rc = a->method->get ? a->method->get(a, err) : 0;
    if (rc == AUTH_LATER)
        list_push(&a->waiters, &waiter->node);
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
    return a->method->refused && a->method->refused(a);
}

char *auth_describe(const struct auth *a)
{
    return a && a->method->describe ? a->method->describe(a) : NULL;
}

const struct scrubber *auth_scrubber(const struct auth *a)
{
    return a ? &a->scrubber : NULL;
}

/* ---- life ---- */

/* @a is new, or stop_method() was called. */
static void use_config(struct auth *a)
{
    const struct kubeconfig *config = a->settings.config;
    const struct auth_method *const *method = methods;
    a->headers = xcalloc(config->n_impersonate + 1, sizeof(a->headers[0]));
    for (size_t i = 0; i < config->n_impersonate; i++)
        a->headers[i + 1] =
            (struct http_header){config->impersonate[i].name, config->impersonate[i].value};
    while (!(*method)->applies(config))
        method++;
    a->method = *method;
    if (a->method->start)
        a->method->start(a);
    scrubber_retire(&a->scrubber, SCRUBBER_PROXY);
    if (a->settings.proxy)
        proxy_hide_login(a->settings.proxy, &a->scrubber);
}

static void stop_method(struct auth *a)
{
    if (a->method->stop)
        a->method->stop(a);
    a->state = NULL;
    auth_clear_authorization(a);
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
    stop_method(a);
    a->settings.config = config;
    a->settings.tls = tls;
    a->settings.proxy = proxy;
    use_config(a);
    auth_notify(a, NULL);
}

void auth_renew(struct auth *a)
{
    if (a->method->renew)
        a->method->renew(a);
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    assert(list_empty(&a->waiters));
    stop_method(a);
    scrubber_free(&a->scrubber);
    free(a);
}
