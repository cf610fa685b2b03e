#include "kube/source/advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* ---- what a 403 says ---- */

/* `User "jane" cannot list resource ...`, as every server with RBAC says it. */
struct refusal {
    struct str user;
    struct str verb;
};

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

static bool read_refusal(const char *text, struct refusal *ret)
{
    struct str rest = str_of(text), before;
    return cut_until(&rest, "User \"", &before) && cut_until(&rest, "\" cannot ", &ret->user) &&
           cut_until(&rest, " ", &ret->verb);
}

/* In single quotes nothing but a quote means anything to a shell; the server has its own way to write
 * one, and backslashes. */
static bool can_be_quoted(struct str user)
{
    return user.len && !memchr(user.at, '\'', user.len) && !memchr(user.at, '\\', user.len);
}

/* ---- the commands ---- */

static void put_resource(struct buf *out, const struct resource *r)
{
    buf_printf(out, "%s%s%s", r->name, r->group[0] ? "." : "", r->group);
}

static void put_subject(struct buf *out, struct str user)
{
    static const char account[] = "system:serviceaccount:";
    size_t len = sizeof(account) - 1;
    if (user.len > len && memcmp(user.at, account, len) == 0)
        buf_printf(out, " --serviceaccount='%.*s'", (int)(user.len - len), user.at + len);
    else
        buf_printf(out, " --user='%.*s'", STR_FMT(user));
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
    buf_puts(out, "; to allow it: ");
    put_create(out, r, ns, "");
    buf_puts(out, " --verb=list,watch --resource=");
    put_resource(out, r);
    buf_puts(out, " && ");
    put_create(out, r, ns, "binding");
    buf_printf(out, " --%srole=watch-", ns ? "" : "cluster");
    put_resource(out, r);
    put_subject(out, user);
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

static bool is_ours(struct str verb)
{
    return str_eq(verb, STR("list")) || str_eq(verb, STR("watch"));
}

static void put_forbidden(struct buf *out, const char *text, const struct resource *r,
                          const char *ns)
{
    struct refusal refusal;
    bool read = read_refusal(text, &refusal);
    if (!r->name[0])
        buf_puts(out, "; a fully qualified resource such as deployments.apps/v1 needs no lookup");
    else if (!read)
        put_rights(out, r, ns);
    else if (str_eq(refusal.user, STR("system:anonymous")))
        buf_puts(out, "; the server treats the request as anonymous: credentials are missing or "
                      "not valid for this cluster");
    else if (is_ours(refusal.verb) && can_be_quoted(refusal.user))
        put_commands(out, r, ns, refusal.user);
    else if (is_ours(refusal.verb))
        put_rights(out, r, ns);
}

/* ---- all ---- */

static const char not_found[] = "; check the resource's name, group and version";

void advice_cut_not_found(struct inf_error *why)
{
    char *at = strstr(why->text, not_found);
    if (at)
        *at = '\0';
}

static void put_not_found(struct buf *out, const struct advice *a)
{
    buf_puts(out, not_found);
    if (a->path_prefix[0])
        buf_printf(out, ", and the path of the server URL (%s)", a->path_prefix);
    if (a->ns)
        buf_puts(out, ", and whether it is namespaced");
    buf_puts(out, "; see kubectl api-resources");
}

static void put_unauthorized(struct buf *out, const struct advice *a)
{
    if (a->credentials)
        buf_printf(out,
                   "; the server rejected %s; check that it is valid for this cluster, not "
                   "expired and not revoked",
                   a->credentials);
    else
        buf_puts(out, "; no credentials were sent; the kubeconfig needs a user");
}

void advice_add(struct inf_error *why, const struct advice *a)
{
    size_t len = strlen(why->text);
    struct buf text = {0};
    if (why->code == INF_EFORBIDDEN)
        put_forbidden(&text, why->text, a->resource, a->ns);
    else if (why->code == INF_EUNAUTHORIZED)
        put_unauthorized(&text, a);
    else if (why->code == INF_ENOTFOUND && a->resource->name[0])
        put_not_found(&text, a);
    snprintf(why->text + len, sizeof(why->text) - len, "%.*s", (int)text.len,
             text.len ? text.bytes : "");
    buf_free(&text);
}
