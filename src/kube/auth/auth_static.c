/*
 * auth_static.c - credentials that do not change: a token, a password or a client certificate in the
 * kubeconfig, or none.
 *
 * They are known at the start and can't fail. If the server rejects them there are no others. The
 * TLS layer presents the certificate (tls_reloader.h); here it is only described.
 */
#include "base/alloc.h"
#include "kube/auth/auth_method.h"

static char *describe_user(const char *what, const struct auth *a)
{
    const char *user = a->settings.config->user;
    return xasprintf("the %s of user '%s'", what, user ? user : "");
}

/* ---- token ---- */

static bool token_applies(const struct kubeconfig *config)
{
    return config->token;
}

static void token_start(struct auth *a)
{
    auth_set_bearer(a, a->settings.config->token);
}

static char *token_describe(const struct auth *a)
{
    return describe_user("token", a);
}

const struct auth_method auth_token = {
    .applies = token_applies, .start = token_start, .describe = token_describe};

/* ---- name and password ---- */

static bool basic_applies(const struct kubeconfig *config)
{
    return config->basic;
}

static void basic_start(struct auth *a)
{
    auth_set_basic(a, a->settings.config->basic);
}

static char *basic_describe(const struct auth *a)
{
    return describe_user("name and password", a);
}

const struct auth_method auth_basic = {
    .applies = basic_applies, .start = basic_start, .describe = basic_describe};

/* ---- client certificate ---- */

static bool certificate_applies(const struct kubeconfig *config)
{
    return config->cert_pem;
}

static char *certificate_describe(const struct auth *a)
{
    return describe_user("client certificate", a);
}

const struct auth_method auth_certificate = {.applies = certificate_applies,
                                             .describe = certificate_describe};

/* ---- no credentials ---- */

static bool anonymous_applies(const struct kubeconfig *config)
{
    (void)config;
    return true;
}

const struct auth_method auth_anonymous = {.applies = anonymous_applies};
