/*
 * check_online.c - formats the results of a preflight check for a terminal: one section per
 * cluster, one line per resource and namespace that a watch needs.
 *
 *     prod  https://10.0.0.1:6443
 *       Kubernetes v1.36.0, as system:serviceaccount:ops:informerd
 *       ok       pods         in shop
 *       missing  pods         in billing          cannot list or watch pods
 *       waiting  widgets      in all namespaces   resource 'widgets' is not known to the server
 *
 * A failed cluster has a line with the error; its unchecked resources are "skipped".
 */
#include "daemon/cli/check_online.h"

#include <signal.h>
#include <string.h>

#include "base/base.h"
#include "base/text/utf8.h"
#include "daemon/cli/preflight.h"

struct report {
    struct buf *out;
    bool colour;
    size_t watch_width; /* widths of the columns */
    size_t scope_width;
};

static const struct {
    const char *name;
    const char *colour;
} verdicts[] = {
    [VERDICT_SKIPPED] = {"skipped", "\x1b[2m"},  [VERDICT_OK] = {"ok", "\x1b[32m"},
    [VERDICT_MISSING] = {"missing", "\x1b[31m"}, [VERDICT_WAITING] = {"waiting", "\x1b[33m"},
    [VERDICT_INVALID] = {"invalid", "\x1b[31m"}, [VERDICT_FAILED] = {"failed", "\x1b[31m"},
};

/* Text from a server or a file: control characters are escaped to protect the terminal. */
static void put_foreign(struct buf *out, const char *text)
{
    utf8_put_visible(out, str_of(text));
}

/* ---- columns ---- */

static void put_watch(struct buf *out, const struct preflight_result *result)
{
    buf_puts(out, result->watch->name);
    if (strcmp(result->watch->name, result->resource) != 0)
        buf_printf(out, " (%s)", result->resource);
}

static void put_scope(struct buf *out, const struct preflight_result *result)
{
    if (result->subject == SUBJECT_UNSELECTED)
        buf_puts(out, "no matching namespace");
    else if (result->cluster_wide)
        buf_puts(out, "cluster-scoped");
    else
        buf_printf(out, "in %s", result->ns ? result->ns : "all namespaces");
}

static void widen_column(size_t *width,
                         void (*put)(struct buf *out, const struct preflight_result *result),
                         const struct preflight_result *result)
{
    struct buf text = {0};
    put(&text, result);
    if (text.len > *width)
        *width = text.len;
    buf_free(&text);
}

static void put_column(struct buf *out, size_t width,
                       void (*put)(struct buf *out, const struct preflight_result *result),
                       const struct preflight_result *result)
{
    size_t before = out->len;
    put(out, result);
    while (out->len - before < width + 2)
        buf_putc(out, ' ');
}

static void put_verdict(const struct report *r, enum verdict verdict)
{
    const char *name = verdicts[verdict].name;
    if (r->colour)
        buf_puts(r->out, verdicts[verdict].colour);
    buf_puts(r->out, name);
    if (r->colour)
        buf_puts(r->out, "\x1b[0m");
    buf_printf(r->out, "%*s", (int)(9 - strlen(name)), "");
}

/* ---- lines ---- */

/* "deployments.apps/v1", unless the configuration uses that name. */
static void put_resolved_name(struct buf *out, const struct preflight_result *result)
{
    size_t before = out->len;
    buf_puts(out, result->name);
    if (result->group[0])
        buf_printf(out, ".%s/%s", result->group, result->version);
    if (str_eq((struct str){out->bytes + before, out->len - before}, str_of(result->resource)))
        out->len = before;
}

static void put_result(const struct report *r, const struct preflight_result *result)
{
    buf_puts(r->out, "  ");
    put_verdict(r, result->verdict);
    put_column(r->out, r->watch_width, put_watch, result);
    put_column(r->out, r->scope_width, put_scope, result);
    switch (result->verdict) {
    case VERDICT_MISSING:
        buf_printf(r->out, "cannot %s %s%s%s",
                   result->may_list    ? "watch"
                   : result->may_watch ? "list"
                                       : "list or watch",
                   result->name, result->group[0] ? "." : "", result->group);
        break;
    case VERDICT_WAITING:
    case VERDICT_INVALID:
    case VERDICT_FAILED: put_foreign(r->out, result->why.text); break;
    case VERDICT_OK: put_resolved_name(r->out, result); break;
    case VERDICT_SKIPPED: break;
    }
    while (r->out->bytes[r->out->len - 1] == ' ')
        r->out->len--;
    buf_putc(r->out, '\n');
}

/* "  missing  Lease informerd/test  cannot create or update it" */
static void put_lease(const struct report *r, const struct lease_check *lease)
{
    const struct {
        const char *verb;
        bool may;
    } verbs[] = {
        {"create", lease->may_create}, {"get", lease->may_get}, {"update", lease->may_update}};
    const char *before = "  cannot ";
    buf_puts(r->out, "  ");
    put_verdict(r, lease->verdict);
    buf_printf(r->out, "Lease %s/%s", lease->replica->ns, lease->replica->group);
    for (size_t i = 0; lease->verdict == VERDICT_MISSING && i < ARRAY_LEN(verbs); i++) {
        if (verbs[i].may)
            continue;
        buf_printf(r->out, "%s%s", before, verbs[i].verb);
        before = ", ";
    }
    if (lease->verdict == VERDICT_FAILED) {
        buf_puts(r->out, "  ");
        put_foreign(r->out, lease->why.text);
    }
    buf_putc(r->out, '\n');
}

static void put_identity(struct buf *out, const struct cluster_check *check)
{
    buf_puts(out, "  Kubernetes ");
    put_foreign(out, check->version ? check->version : "(unknown version)");
    buf_puts(out, ", as ");
    put_foreign(out, check->user ? check->user : "unknown user (not reported by the server)");
    if (check->groups) {
        buf_puts(out, " (");
        put_foreign(out, check->groups);
        buf_putc(out, ')');
    }
    buf_putc(out, '\n');
}

static void put_cluster(const struct report *r, const struct cluster_check *check)
{
    buf_printf(r->out, "\n%s", check->conf->name);
    if (check->server)
        buf_printf(r->out, "  %s", check->server);
    buf_putc(r->out, '\n');
    if (check->user || check->version || !check->failure.code)
        put_identity(r->out, check);
    if (check->failure.code) {
        buf_puts(r->out, "  ");
        put_verdict(r, VERDICT_FAILED);
        put_foreign(r->out, check->failure.text);
        buf_putc(r->out, '\n');
    }
    for (size_t i = 0; i < check->n_results; i++)
        put_result(r, &check->results[i]);
    if (check->lease.replica)
        put_lease(r, &check->lease);
}

/* ---- the report ---- */

static void put_report(const struct preflight *p, const char *path, bool colour, struct buf *out)
{
    struct report r = {.out = out, .colour = colour};
    const struct cluster_check *missing = NULL; /* the first with a missing permission */
    bool several = preflight_count(p) > 1;
    for (size_t i = 0; i < preflight_count(p); i++)
        if (!missing && preflight_check(p, i)->lease.verdict == VERDICT_MISSING)
            missing = preflight_check(p, i);
    for (size_t i = 0; i < preflight_count(p); i++)
        for (size_t j = 0; j < preflight_check(p, i)->n_results; j++) {
            const struct preflight_result *result = &preflight_check(p, i)->results[j];
            widen_column(&r.watch_width, put_watch, result);
            widen_column(&r.scope_width, put_scope, result);
            if (!missing && result->verdict == VERDICT_MISSING)
                missing = preflight_check(p, i);
        }
    for (size_t i = 0; i < preflight_count(p); i++)
        put_cluster(&r, preflight_check(p, i));
    if (missing)
        buf_printf(out,
                   "\nTo print the roles that grant the missing permissions: informerd rbac "
                   "-c %s%s%s\n",
                   path, several ? " --cluster " : "", several ? missing->conf->name : "");
}

int check_online(const struct conf *conf, const char *path, bool colour, struct buf *out)
{
    struct preflight *p = preflight_new(conf, NULL, PREFLIGHT_ACCESS);
    int code;
    signal(SIGPIPE, SIG_IGN);
    preflight_run(p);
    put_report(p, path, colour, out);
    code = preflight_exit_code(p);
    preflight_free(p);
    return code;
}
