/*
 * advice.c - adds a remedy to the error of a request.
 *
 *     403   the kubectl commands that grant access, if the message names the user; else the verbs needed
 *     401   which credentials were rejected
 *     404   what to check
 *
 * Other errors stay as they are. Can't fail; a remedy that does not fit into the message is cut.
 */
#include "kube/source/advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* Moves the part of @rest before @mark to @ret, and @rest after @mark. */
static bool cut_until(struct str *rest, const char *mark, struct str *ret)
{
    const char *at = memmem(rest->at, rest->len, mark, strlen(mark));
    if (!at)
        return false;
    *ret = (struct str){rest->at, (size_t)(at - rest->at)};
    rest->len -= ret->len + strlen(mark);
    rest->at = at + strlen(mark);
    return true;
}

/* ---- the commands ---- */

static void put_resource(struct buf *out, const struct resource *r)
{
    buf_printf(out, "%s%s%s", r->name, r->group[0] ? "." : "", r->group);
}

/* kubectl create [cluster]role[binding] watch-pods */
static void put_create(struct buf *out, const struct resource *r, const char *ns, const char *what)
{
    buf_puts(out, "kubectl ");
    if (ns)
        buf_printf(out, "-n %s ", ns);
    buf_printf(out, "create %srole%s watch-", ns ? "" : "cluster", what);
    put_resource(out, r);
}

static void put_commands(struct buf *out, const struct resource *r, const char *ns, struct str user)
{
    const struct str account = STR("system:serviceaccount:");
    buf_puts(out, "; to allow it: ");
    put_create(out, r, ns, "");
    buf_puts(out, " --verb=list,watch --resource=");
    put_resource(out, r);
    buf_puts(out, " && ");
    put_create(out, r, ns, "binding");
    buf_printf(out, " --%srole=watch-", ns ? "" : "cluster");
    put_resource(out, r);
    if (user.len > account.len && memcmp(user.at, account.at, account.len) == 0)
        buf_printf(out, " --serviceaccount='%.*s'", (int)(user.len - account.len),
                   user.at + account.len);
    else
        buf_printf(out, " --user='%.*s'", STR_FMT(user));
}

static void put_rights(struct buf *out, const struct resource *r, const char *ns)
{
    buf_puts(out, "; this requires the verbs list and watch on ");
    put_resource(out, r);
    if (ns)
        buf_printf(out, " in namespace %s", ns);
    else
        buf_puts(out, " in all namespaces");
}

static void put_forbidden(struct buf *out, const char *text, const struct resource *r,
                          const char *ns)
{
    /* `User "jane" cannot list resource ...`, as written by every server with RBAC */
    struct str rest = str_of(text), before, user, verb;
    bool read = cut_until(&rest, "User \"", &before) && cut_until(&rest, "\" cannot ", &user) &&
                cut_until(&rest, " ", &verb);
    bool quotable;
    if (!r->name[0])
        buf_puts(out, "; a fully qualified resource such as deployments.apps/v1 needs no lookup");
    else if (!read)
        put_rights(out, r, ns);
    else if (str_eq(user, STR("system:anonymous")))
        buf_puts(out, "; the server treats the request as anonymous: credentials are missing or "
                      "not valid for this cluster");
    else if (str_eq(verb, STR("list")) || str_eq(verb, STR("watch"))) {
        /* In single quotes only a quote is special to a shell; the server escapes it, and
         * backslashes, in its own way. */
        quotable = user.len && !memchr(user.at, '\'', user.len) && !memchr(user.at, '\\', user.len);
        if (quotable)
            put_commands(out, r, ns, user);
        else
            put_rights(out, r, ns);
    }
}

/* ---- all ---- */

static const char not_found[] = "; check the resource's name, group and version";

void advice_cut_not_found(struct inf_error *why)
{
    char *at = strstr(why->text, not_found);
    if (at)
        *at = '\0';
}

void advice_add(struct inf_error *why, const struct advice *a)
{
    size_t len = strlen(why->text);
    struct buf text = {0};
    if (why->code == INF_EFORBIDDEN)
        put_forbidden(&text, why->text, a->resource, a->ns);
    else if (why->code == INF_EUNAUTHORIZED && a->credentials)
        buf_printf(&text,
                   "; the server rejected %s; check that it is valid for this cluster, not "
                   "expired and not revoked",
                   a->credentials);
    else if (why->code == INF_EUNAUTHORIZED)
        buf_puts(&text, "; no credentials were sent; the kubeconfig needs a user");
    else if (why->code == INF_ENOTFOUND && a->resource->name[0]) {
        buf_puts(&text, not_found);
        if (a->path_prefix[0])
            buf_printf(&text, ", and the path of the server URL (%s)", a->path_prefix);
        if (a->ns)
            buf_puts(&text, ", and whether it is namespaced");
        buf_puts(&text, "; see kubectl api-resources");
    }
    snprintf(why->text + len, sizeof(why->text) - len, "%.*s", (int)text.len,
             text.len ? text.bytes : "");
    buf_free(&text);
}
