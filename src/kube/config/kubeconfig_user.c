/*
 * kubeconfig_user.c - client certificate, token, password, exec plugin and impersonation.
 *
 * Combinations that kubectl refuses are errors here too. So is anything that would make requests
 * run as a different user than the entry names. All errors are INF_ECONF and name the field.
 */
#include "kube/config/kubeconfig_user.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text/base64.h"
#include "kube/auth/impersonate.h"
#include "kube/config/kubeconfig_entry.h"
#include "kube/config/kubeconfig_pem.h"

/* Credentials are sent only to https servers; without them we would be a different user. */
static int check_https(const struct user_entry *e, const struct kubeconfig *c,
                       struct inf_error *err)
{
    const struct yaml_node *all[] = {e->token,     e->token_file, e->cert_file,
                                     e->cert_data, e->key_file,   e->key_data,
                                     e->username,  e->password,   e->exec};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i] && !c->https)
            return entry_error(
                &e->entry, all[i], err,
                "credentials are sent only over https, but the server of cluster '%s' uses http",
                c->cluster);
    return 0;
}

static int resolve_certificate(const struct user_entry *e, struct kubeconfig *c,
                               struct inf_error *err)
{
    const struct yaml_node *cert = e->cert_data ? e->cert_data : e->cert_file;
    const struct yaml_node *key = e->key_data ? e->key_data : e->key_file;
    int rc;
    if (cert && !key)
        return entry_error(&e->entry, cert, err, "needs a client-key or client-key-data");
    if (key && !cert)
        return entry_error(&e->entry, key, err,
                           "needs a client-certificate or client-certificate-data");
    rc = kubeconfig_pem(&e->entry, e->cert_file, e->cert_data, &c->cert_pem, &c->cert_file, err);
    if (!rc)
        rc = kubeconfig_pem(&e->entry, e->key_file, e->key_data, &c->key_pem, &c->key_file, err);
    return rc;
}

/* A token, a file with a token, or name and password; all are sent in the Authorization header. */
static int resolve_authorization(const struct user_entry *e, struct kubeconfig *c,
                                 struct inf_error *err)
{
    const struct yaml_node *login = e->username ? e->username : e->password;
    char *both;
    if (e->token && !str_is_token(str_of(e->token->text)))
        return entry_error(&e->entry, e->token, err,
                           "must not contain white space, line ends or control characters");
    c->token = e->token ? xstrdup(e->token->text) : NULL;
    if (e->token_file)
        c->token_file = path_beside(e->token_file->file, e->token_file->text);
    if (!login)
        return 0;
    if (e->token || e->token_file)
        return entry_error(&e->entry, login, err,
                           "cannot be combined with a token; remove one of them");
    if (e->username && strchr(e->username->text, ':'))
        return entry_error(&e->entry, login, err, "must not contain ':'");
    both = xasprintf("%s:%s", e->username ? e->username->text : "",
                     e->password ? e->password->text : "");
    c->basic = base64_encode(both, strlen(both));
    secret_free(both);
    return 0;
}

/* The plugin is not used if there are other credentials, but it must be valid. */
static int resolve_exec(const struct user_entry *e, struct kubeconfig *c, struct inf_error *err)
{
    struct exec_plugin *plugin = NULL;
    int rc = e->exec ? exec_plugin_read(&e->entry, e->exec, &plugin, err) : 0;
    if (rc)
        return rc;
    if (c->token || c->token_file || c->basic || c->cert_pem)
        exec_plugin_free(plugin);
    else
        c->exec = plugin;
    return 0;
}

/* Names the plugin that replaced each auth provider of earlier kubectl versions. */
static int refuse_provider(const struct user_entry *e, struct inf_error *err)
{
    static const char *const plugins[][2] = {
        {"gcp", "gke-gcloud-auth-plugin"},
        {"azure", "kubelogin (convert-kubeconfig)"},
        {"oidc", "kubectl-oidc_login"},
    };
    const char *name = yaml_string(yaml_get(e->auth_provider, "name"));
    const char *plugin = "the plugin of your provider";
    for (size_t i = 0; name && i < ARRAY_LEN(plugins); i++)
        if (strcmp(name, plugins[i][0]) == 0)
            plugin = plugins[i][1];
    return entry_error(&e->entry, e->auth_provider, err,
                       "not supported; use exec with a plugin instead: %s", plugin);
}

int kubeconfig_user(const struct yaml_node *node, struct kubeconfig *c, struct inf_error *err)
{
    struct user_entry e;
    int rc = user_entry_read(node, c->context, &e, err);
    if (!rc && e.auth_provider)
        rc = refuse_provider(&e, err);
    if (!rc)
        rc = check_https(&e, c, err);
    if (rc)
        return rc;
    c->user = xstrdup(e.entry.name);
    rc = resolve_certificate(&e, c, err);
    if (!rc)
        rc = resolve_authorization(&e, c, err);
    if (!rc)
        rc = resolve_exec(&e, c, err);
    if (!rc)
        rc = impersonate_read(&e, c, err);
    return rc;
}
