/*
 * auth.c - the headers of the moment, from whichever kind of credentials there is.
 *
 * In order of precedence: a token file, a token, a password. A token is used as long as the file
 * beside it was never read.
 */
#include "kube/auth.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/auth_token.h"
#include "kube/kubeconfig.h"

struct auth {
    struct auth_settings settings;
    struct auth_token file;      /* used if it has a path */
    char *authorization;         /* NULL: no such header */
    uint64_t generation;         /* of the authorization; grows with each other one */
    struct http_header *headers; /* room for the authorization first, then impersonation */
};

/* ---- the authorization ---- */

static void set_authorization(struct auth *a, const char *scheme, const char *secret)
{
    secret_free(a->authorization);
    a->authorization = xasprintf("%s %s", scheme, secret);
    a->headers[0] = (struct http_header){"Authorization", a->authorization};
    a->generation++;
}

static int renew_from_file(struct auth *a, struct inf_error *err)
{
    int rc = auth_token_renew(&a->file, err);
    if (rc == 1)
        set_authorization(a, "Bearer", a->file.token);
    return rc < 0 && !a->authorization ? rc : 0;
}

int auth_get(struct auth *a, struct auth_waiter *waiter, struct auth_headers *ret,
             struct inf_error *err)
{
    size_t skip;
    int rc = 0;
    (void)waiter;
    if (!a) {
        *ret = (struct auth_headers){0};
        return 0;
    }
    if (a->file.path)
        rc = renew_from_file(a, err);
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
    if (generation == a->generation && a->file.path && auth_token_refused(&a->file))
        set_authorization(a, "Bearer", a->file.token);
    return generation != a->generation;
}

/* ---- life ---- */

struct auth *auth_new(const struct auth_settings *settings)
{
    const struct kubeconfig *config = settings->config;
    struct auth *a = NEW(struct auth);
    a->settings = *settings;
    a->file = (struct auth_token){
        .path = config->token_file, .clock = settings->clock, .log = settings->log};
    a->headers = xcalloc(config->n_impersonate + 1, sizeof(a->headers[0]));
    for (size_t i = 0; i < config->n_impersonate; i++)
        a->headers[i + 1] =
            (struct http_header){config->impersonate[i].name, config->impersonate[i].value};
    if (config->token)
        set_authorization(a, "Bearer", config->token);
    else if (config->basic)
        set_authorization(a, "Basic", config->basic);
    return a;
}

void auth_free(struct auth *a)
{
    if (!a)
        return;
    auth_token_free(&a->file);
    secret_free(a->authorization);
    free(a->headers);
    free(a);
}
