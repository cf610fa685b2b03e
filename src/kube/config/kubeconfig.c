/*
 * kubeconfig.c - resolves the entries of the kubeconfig files into one struct kubeconfig.
 *
 * Normal path: read the files, choose the context, find its cluster and user, check that the two
 * fit together, and copy the values. Every step stops at its first error.
 */
#include "kube/config/kubeconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/config/kubeconfig_entry.h"
#include "kube/config/kubeconfig_files.h"
#include "kube/config/kubeconfig_pem.h"
#include "kube/config/kubeconfig_user.h"
#include "kube/config/yaml_json.h"
#include "kube/discovery/resource.h"
#include "wire/http/server_url.h"
#include "wire/proxy/proxy_url.h"

/* -- cluster -------------------------------------------------------------------------------------
 */

static int resolve_server(const struct cluster_entry *e, struct kubeconfig *c,
                          struct inf_error *err)
{
    struct server_url url;
    struct inf_error why;
    if (!e->server)
        return entry_error(&e->entry, NULL, err, "needs a server (https://host:port)");
    if (server_url_parse(e->server->text, &url, &why) < 0)
        return entry_error(&e->entry, e->server, err, "%s", why.text);
    c->server = xstrdup(e->server->text);
    c->https = url.https;
    c->host = url.host; /* owned by c now, as is the prefix */
    c->port = url.port;
    c->path_prefix = url.path_prefix;
    return 0;
}

/* The extension for credential plugins, as JSON, or NULL. Other extensions are ignored. */
static char *exec_extension(const struct cluster_entry *e)
{
    struct buf json = {0};
    for (const struct yaml_node *n = e->extensions ? e->extensions->first : NULL; n; n = n->next) {
        const char *name = yaml_string(yaml_get(n, "name"));
        const struct yaml_node *extension = yaml_get(n, "extension");
        if (!json.len && extension && name &&
            strcmp(name, "client.authentication.k8s.io/exec") == 0)
            yaml_put_json(&json, extension);
    }
    if (json.len)
        buf_putc(&json, '\0');
    return json.bytes;
}

static int resolve_proxy(const struct cluster_entry *e, struct kubeconfig *c, struct inf_error *err)
{
    struct inf_error why;
    if (e->proxy_url && proxy_url_parse(e->proxy_url->text, &c->proxy, &why) < 0)
        return entry_error(&e->entry, e->proxy_url, err, "%s", why.text);
    c->proxy_url = e->proxy_url ? xstrdup(e->proxy_url->text) : NULL;
    return 0;
}

static int resolve_cluster(const struct yaml_node *node, struct kubeconfig *c,
                           struct inf_error *err)
{
    struct cluster_entry e;
    int rc = cluster_entry_read(node, c->context, &e, err);
    if (rc)
        return rc;
    if (e.insecure && (e.ca_file || e.ca_data))
        return entry_error(&e.entry, e.ca_file ? e.ca_file : e.ca_data, err,
                           "cannot be combined with insecure-skip-tls-verify; remove one of them");
    c->cluster = xstrdup(e.entry.name);
    c->insecure = e.insecure;
    c->no_compression = e.no_compression;
    c->tls_server_name = e.tls_server_name ? xstrdup(e.tls_server_name->text) : NULL;
    c->exec_extension = exec_extension(&e);
    rc = resolve_server(&e, c, err);
    if (!rc)
        rc = resolve_proxy(&e, c, err);
    if (!rc)
        rc = kubeconfig_pem(&e.entry, e.ca_file, e.ca_data, &c->ca_pem, &c->ca_file, err);
    return rc;
}

/* -- context -------------------------------------------------------------------------------------
 */

static int resolve_namespace(const struct context_entry *e, struct kubeconfig *c,
                             struct inf_error *err)
{
    if (e->namespace && resource_check_namespace(e->namespace->text, NULL) < 0)
        return entry_error(&e->entry, e->namespace, err,
                           "must be a namespace: a-z, 0-9 and '-', at most 63 characters");
    c->namespace = xstrdup(e->namespace ? e->namespace->text : "default");
    return 0;
}

/* Finds the entry of that name in @list. @field is the field of the context that names it; NULL if
 * the caller named it. */
static int find_named(const struct kubeconfig_files *files, const struct context_entry *e,
                      const struct yaml_node *field, const char *name, const char *list,
                      const struct yaml_node **ret, struct inf_error *err)
{
    struct buf names = {0};
    int rc;
    *ret = kubeconfig_files_find(files, list, name);
    if (*ret)
        return 0;
    kubeconfig_files_names(files, list, &names);
    if (field)
        rc = entry_error(&e->entry, field, err, "no such %.*s; available %s: %.*s",
                         (int)strlen(list) - 1, list, list, (int)names.len, names.bytes);
    else
        rc = err_set(err, INF_ECONF, "%s: %.*s '%s' doesn't exist; available %s: %.*s",
                     files->origin, (int)strlen(list) - 1, list, name, list, (int)names.len,
                     names.bytes);
    buf_free(&names);
    return rc;
}

/* Finds the entry that the caller selected, else the one that the context names. Sets NULL if
 * neither names one. */
static int find_entry(const struct kubeconfig_files *files, const struct context_entry *e,
                      const char *selected, const struct yaml_node *field, const char *list,
                      const struct yaml_node **ret, struct inf_error *err)
{
    *ret = NULL;
    if (selected)
        return find_named(files, e, NULL, selected, list, ret, err);
    return field ? find_named(files, e, field, field->text, list, ret, err) : 0;
}

/* @node is the context's entry; NULL if the caller selected a cluster and no context is set. */
static int resolve_context(const struct kubeconfig_files *files,
                           const struct kubeconfig_choice *choice, const struct yaml_node *node,
                           struct kubeconfig *c, struct inf_error *err)
{
    struct context_entry e = {.cluster = NULL};
    const struct yaml_node *cluster = NULL;
    const struct yaml_node *user = NULL;
    int rc = node ? context_entry_read(node, &e, err) : 0;
    if (!rc)
        rc = find_entry(files, &e, choice->cluster, e.cluster, "clusters", &cluster, err);
    if (!rc)
        rc = find_entry(files, &e, choice->user, e.user, "users", &user, err);
    if (rc)
        return rc;
    if (!cluster)
        return entry_error(&e.entry, NULL, err, "needs a cluster");
    c->context = xstrdup(node ? e.entry.name : "");
    rc = resolve_namespace(&e, c, err);
    if (!rc)
        rc = resolve_cluster(cluster, c, err);
    if (!rc && user)
        rc = kubeconfig_user(user, c, err);
    return rc;
}

/* @at is the current-context that names it; NULL if the caller named it, or if @name is NULL. */
static int no_context(const struct kubeconfig_files *files, const struct yaml_node *at,
                      const char *name, struct inf_error *err)
{
    struct buf names = {0};
    int len;
    int rc;
    kubeconfig_files_names(files, "contexts", &names);
    len = (int)names.len;
    if (at)
        rc = yaml_error(at->key, err, "current-context: no such context; available contexts: %.*s",
                        len, names.bytes);
    else if (name)
        rc = err_set(err, INF_ECONF, "%s: context '%s' doesn't exist; available contexts: %.*s",
                     files->origin, name, len, names.bytes);
    else
        rc = err_set(err, INF_ECONF,
                     "%s: no current-context is set and no context was selected; available "
                     "contexts: %.*s",
                     files->origin, len, names.bytes);
    buf_free(&names);
    return rc;
}

static bool has_entries(const struct kubeconfig_files *files, const char *list)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct yaml_node *node = yaml_get(files->roots[i], list);
        if (node && node->count)
            return true;
    }
    return false;
}

/* Sets NULL if no context is needed. */
static int choose_context(const struct kubeconfig_files *files,
                          const struct kubeconfig_choice *choice, const struct yaml_node **ret,
                          struct inf_error *err)
{
    const struct yaml_node *current = choice->context ? NULL : kubeconfig_files_current(files);
    const char *name = current ? current->text : choice->context;
    *ret = name ? kubeconfig_files_find(files, "contexts", name) : NULL;
    if (*ret || (!name && choice->cluster))
        return 0;
    if (!name && !choice->path && !has_entries(files, "contexts") &&
        !has_entries(files, "clusters"))
        return err_set(err, INF_ENOTFOUND, "no kubeconfig: %s has no contexts and no clusters",
                       files->origin);
    return no_context(files, current, name, err);
}

static int check_allowed(const struct kubeconfig *c, const char *const *allow,
                         struct inf_error *err)
{
    if (!c->exec || !allow)
        return 0;
    for (; *allow; allow++)
        if (strcmp(*allow, c->exec->argv[0]) == 0)
            return 0;
    return err_set(
        err, INF_ECONF,
        "%s: context '%s': user '%s': exec: command '%s' is not allowed to run; add it to "
        "exec_allow",
        c->origin, c->context, c->user, c->exec->name);
}

int kubeconfig_load(const struct kubeconfig_choice *choice, struct kubeconfig *ret,
                    struct inf_error *err)
{
    struct kubeconfig_files files = {0};
    struct kubeconfig c = {0};
    const struct yaml_node *chosen = NULL;
    int rc = kubeconfig_files_read(choice->path, &files, err);
    if (!rc)
        rc = choose_context(&files, choice, &chosen, err);
    if (!rc)
        rc = resolve_context(&files, choice, chosen, &c, err);
    if (!rc) {
        c.origin = xstrdup(files.origin);
        rc = check_allowed(&c, choice->exec_allow, err);
    }
    if (!rc)
        *ret = c; /* owned by the caller now */
    else
        kubeconfig_free(&c);
    kubeconfig_files_free(&files);
    return rc;
}

void kubeconfig_free(struct kubeconfig *c)
{
    for (size_t i = 0; i < c->n_impersonate; i++) {
        free(c->impersonate[i].name);
        free(c->impersonate[i].value);
    }
    free(c->impersonate);
    secret_free(c->basic);
    exec_plugin_free(c->exec);
    free(c->exec_extension);
    free(c->server);
    free(c->ca_file);
    free(c->cert_file);
    free(c->key_file);
    secret_free(c->key_pem);
    secret_free(c->token);
    proxy_free(&c->proxy);
    secret_free(c->proxy_url);
    free(c->origin);
    free(c->context);
    free(c->cluster);
    free(c->user);
    free(c->host);
    free(c->path_prefix);
    free(c->tls_server_name);
    free(c->ca_pem);
    free(c->cert_pem);
    free(c->token_file);
    free(c->namespace);
    *c = (struct kubeconfig){0};
}

/* PEM texts from files are compared by path: the contents may change while we run. */
static bool same_pem(const char *a, const char *a_file, const char *b, const char *b_file)
{
    return cstr_eq(a_file, b_file) && (a_file || cstr_eq(a, b));
}

bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b)
{
    if (a->n_impersonate != b->n_impersonate)
        return false;
    for (size_t i = 0; i < a->n_impersonate; i++)
        if (!cstr_eq(a->impersonate[i].name, b->impersonate[i].name) ||
            !cstr_eq(a->impersonate[i].value, b->impersonate[i].value))
            return false;
    return cstr_eq(a->host, b->host) && a->port == b->port &&
           cstr_eq(a->path_prefix, b->path_prefix) && a->https == b->https &&
           proxy_equal(&a->proxy, &b->proxy) && cstr_eq(a->tls_server_name, b->tls_server_name) &&
           a->insecure == b->insecure && a->no_compression == b->no_compression &&
           same_pem(a->ca_pem, a->ca_file, b->ca_pem, b->ca_file) &&
           same_pem(a->cert_pem, a->cert_file, b->cert_pem, b->cert_file) &&
           same_pem(a->key_pem, a->key_file, b->key_pem, b->key_file) &&
           cstr_eq(a->token, b->token) && cstr_eq(a->token_file, b->token_file) &&
           cstr_eq(a->basic, b->basic) && exec_plugin_equal(a->exec, b->exec) &&
           cstr_eq(a->exec_extension, b->exec_extension) && cstr_eq(a->namespace, b->namespace);
}
