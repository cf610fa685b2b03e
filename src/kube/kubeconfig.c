/*
 * kubeconfig.c - from the entries of the files to one resolved struct kubeconfig.
 *
 * Happy path: read the files, choose the context, then its cluster and its user; check what must
 * hold between those two; copy. Every step stops at its first error.
 */
#include "kube/kubeconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "kube/kubeconfig_entry.h"
#include "kube/kubeconfig_files.h"
#include "kube/resource.h"
#include "kube/server_url.h"

enum {
    PEM_MAX = 1024 * 1024, /* LIMIT: bytes of a certificate, bundle or key file */
};

/* -- certificates and keys -----------------------------------------------------------------------
 */

static int pem_from_data(const struct entry *entry, const struct yaml_node *data, char **ret,
                         size_t *ret_len, struct inf_error *err)
{
    if (base64_decode(data->text, strlen(data->text), ret, ret_len) < 0)
        return entry_error(entry, data, err, "must be base64 on one line, with its padding");
    return 0;
}

static int pem_from_file(const struct entry *entry, const struct yaml_node *file, char **ret,
                         size_t *ret_len, struct inf_error *err)
{
    char *path = path_beside(file->file, file->text);
    struct inf_error why;
    int rc = file_read(path, PEM_MAX, ret, ret_len, &why);
    free(path);
    return rc ? entry_error(entry, file, err, "%s", why.text) : 0;
}

/* Takes it from the one that is given; neither is fine and leaves NULL. */
static int read_pem(const struct entry *entry, const struct yaml_node *file,
                    const struct yaml_node *data, char **ret, struct inf_error *err)
{
    const struct yaml_node *from = data ? data : file;
    char *pem = NULL;
    size_t len = 0;
    int rc;
    if (!from)
        return 0;
    if (file && data)
        return entry_error(entry, data, err, "given together with %s; keep one of them",
                           file->key->text);
    rc = data ? pem_from_data(entry, data, &pem, &len, err)
              : pem_from_file(entry, file, &pem, &len, err);
    if (!rc && (!len || strlen(pem) != len)) {
        explicit_bzero(pem, len);
        rc = entry_error(entry, from, err, "is %s; must be PEM (-----BEGIN ...)",
                         len ? "binary" : "empty");
    }
    if (rc) {
        free(pem);
        return rc;
    }
    *ret = pem;
    return 0;
}

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
    c->https = url.https;
    c->host = url.host; /* now c's, as is the prefix */
    c->port = url.port;
    c->path_prefix = url.path_prefix;
    return 0;
}

static int resolve_cluster(const struct yaml_node *node, struct kubeconfig *c,
                           struct inf_error *err)
{
    struct cluster_entry e;
    int rc = cluster_entry_read(node, &e, err);
    if (rc)
        return rc;
    if (e.insecure && (e.ca_file || e.ca_data))
        return entry_error(&e.entry, e.ca_file ? e.ca_file : e.ca_data, err,
                           "given together with insecure-skip-tls-verify; keep one of them");
    c->cluster = xstrdup(e.entry.name);
    c->insecure = e.insecure;
    c->no_compression = e.no_compression;
    c->tls_server_name = e.tls_server_name ? xstrdup(e.tls_server_name->text) : NULL;
    rc = resolve_server(&e, c, err);
    if (!rc)
        rc = read_pem(&e.entry, e.ca_file, e.ca_data, &c->ca_pem, err);
    return rc;
}

/* -- user ----------------------------------------------------------------------------------------
 */

/* Credentials go only to https servers; leaving them out would make us somebody else. */
static int check_may_send(const struct user_entry *e, const struct kubeconfig *c,
                          struct inf_error *err)
{
    const struct yaml_node *all[] = {e->token,     e->token_file, e->cert_file,
                                     e->cert_data, e->key_file,   e->key_data};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i] && !c->https)
            return entry_error(
                &e->entry, all[i], err,
                "credentials go only to https, and the server of cluster '%s' is http", c->cluster);
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
    rc = read_pem(&e->entry, e->cert_file, e->cert_data, &c->cert_pem, err);
    if (!rc)
        rc = read_pem(&e->entry, e->key_file, e->key_data, &c->key_pem, err);
    return rc;
}

/* What can't stand in a header; a line end at the end is the usual one. */
static bool token_is_clean(const char *token)
{
    for (; *token; token++)
        if ((unsigned char)*token <= ' ' || *token == 0x7F)
            return false;
    return true;
}

static int resolve_token(const struct user_entry *e, struct kubeconfig *c, struct inf_error *err)
{
    if (e->token && !token_is_clean(e->token->text))
        return entry_error(&e->entry, e->token, err,
                           "must have no white space, line ends or control characters");
    if (e->token)
        c->token = xstrdup(e->token->text);
    if (e->token_file)
        c->token_file = path_beside(e->token_file->file, e->token_file->text);
    return 0;
}

static int resolve_user(const struct yaml_node *node, struct kubeconfig *c, struct inf_error *err)
{
    struct user_entry e;
    int rc = user_entry_read(node, &e, err);
    if (!rc)
        rc = check_may_send(&e, c, err);
    if (rc)
        return rc;
    c->user = xstrdup(e.entry.name);
    rc = resolve_certificate(&e, c, err);
    if (!rc)
        rc = resolve_token(&e, c, err);
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

/* What the context names in @field ("cluster: prod"), looked up in @list. */
static int find_named(const struct kubeconfig_files *files, const struct context_entry *e,
                      const struct yaml_node *field, const char *list, const struct yaml_node **ret,
                      struct inf_error *err)
{
    struct buf names = {0};
    int rc;
    *ret = kubeconfig_files_find(files, list, field->text);
    if (*ret)
        return 0;
    kubeconfig_files_names(files, list, &names);
    rc = entry_error(&e->entry, field, err, "'%s' doesn't exist; %s there are: %.*s", field->text,
                     list, (int)names.len, names.bytes);
    buf_free(&names);
    return rc;
}

static int resolve_context(const struct kubeconfig_files *files, const struct yaml_node *node,
                           struct kubeconfig *c, struct inf_error *err)
{
    struct context_entry e;
    const struct yaml_node *cluster = NULL;
    const struct yaml_node *user = NULL;
    int rc = context_entry_read(node, &e, err);
    if (rc)
        return rc;
    if (!e.cluster)
        return entry_error(&e.entry, NULL, err, "needs a cluster");
    rc = find_named(files, &e, e.cluster, "clusters", &cluster, err);
    if (!rc && e.user)
        rc = find_named(files, &e, e.user, "users", &user, err);
    if (rc)
        return rc;
    c->context = xstrdup(e.entry.name);
    rc = resolve_namespace(&e, c, err);
    if (!rc)
        rc = resolve_cluster(cluster, c, err);
    if (!rc && user)
        rc = resolve_user(user, c, err);
    return rc;
}

/* @at is where the name was written; NULL if the caller named it, or nobody did. */
static int no_context(const struct kubeconfig_files *files, const struct yaml_node *at,
                      const char *name, struct inf_error *err)
{
    struct buf names = {0};
    int len;
    int rc;
    kubeconfig_files_names(files, "contexts", &names);
    len = (int)names.len;
    if (at)
        rc = yaml_error(at->key, err,
                        "current-context: '%s' doesn't exist; contexts there are: %.*s", name, len,
                        names.bytes);
    else if (name)
        rc = err_set(err, INF_ECONF, "%s: context '%s' doesn't exist; contexts there are: %.*s",
                     files->origin, name, len, names.bytes);
    else
        rc = err_set(err, INF_ECONF,
                     "%s: no current-context is set and no context was asked for; contexts there "
                     "are: %.*s",
                     files->origin, len, names.bytes);
    buf_free(&names);
    return rc;
}

static int choose_context(const struct kubeconfig_files *files, const char *asked,
                          const struct yaml_node **ret, struct inf_error *err)
{
    const struct yaml_node *current = asked ? NULL : kubeconfig_files_current(files);
    const char *name = current ? current->text : asked;
    const struct yaml_node *found = name ? kubeconfig_files_find(files, "contexts", name) : NULL;
    if (!found)
        return no_context(files, current, name, err);
    *ret = found;
    return 0;
}

int kubeconfig_load(const char *path, const char *context, struct kubeconfig *ret,
                    struct inf_error *err)
{
    struct kubeconfig_files files = {0};
    struct kubeconfig c = {0};
    const struct yaml_node *chosen = NULL;
    int rc = kubeconfig_files_read(path, &files, err);
    if (!rc)
        rc = choose_context(&files, context, &chosen, err);
    if (!rc)
        rc = resolve_context(&files, chosen, &c, err);
    if (!rc) {
        c.origin = xstrdup(files.origin);
        *ret = c; /* now the caller's */
    } else {
        kubeconfig_free(&c);
    }
    kubeconfig_files_free(&files);
    return rc;
}

void kubeconfig_free(struct kubeconfig *c)
{
    secret_free(c->key_pem);
    secret_free(c->token);
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

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b)
{
    return same(a->host, b->host) && a->port == b->port && same(a->path_prefix, b->path_prefix) &&
           a->https == b->https && same(a->tls_server_name, b->tls_server_name) &&
           a->insecure == b->insecure && a->no_compression == b->no_compression &&
           same(a->ca_pem, b->ca_pem) && same(a->cert_pem, b->cert_pem) &&
           same(a->key_pem, b->key_pem) && same(a->token, b->token) &&
           same(a->token_file, b->token_file) && same(a->namespace, b->namespace);
}
