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
#include "base/utf8.h"
#include "daemon/cli/preflight.h"

struct report {
    struct buf *out;
    bool colour;
    size_t watch_width; /* widths of the columns */
    size_t place_width;
};

static const struct {
    const char *word;
    const char *colour;
} verdicts[] = {
    [VERDICT_NONE] = {"skipped", "\x1b[2m"},     [VERDICT_OK] = {"ok", "\x1b[32m"},
    [VERDICT_MISSING] = {"missing", "\x1b[31m"}, [VERDICT_WAITS] = {"waiting", "\x1b[33m"},
    [VERDICT_WRONG] = {"invalid", "\x1b[31m"},   [VERDICT_FAILED] = {"failed", "\x1b[31m"},
};

/* Text from a server or a file: control characters are escaped to protect the terminal. */
static void put_foreign(struct buf *out, const char *text)
{
    utf8_put_visible(out, str_of(text));
}

/* ---- columns ---- */

static void put_watch(struct buf *out, const struct preflight_result *a)
{
    buf_puts(out, a->watch->name);
    if (strcmp(a->watch->name, a->resource) != 0)
        buf_printf(out, " (%s)", a->resource);
}

static void put_place(struct buf *out, const struct preflight_result *a)
{
    if (a->none_selected)
        buf_puts(out, "no matching namespace");
    else if (a->cluster_wide)
        buf_puts(out, "cluster-scoped");
    else
        buf_printf(out, "in %s", a->ns ? a->ns : "all namespaces");
}

static void widen_column(size_t *width,
                         void (*put)(struct buf *out, const struct preflight_result *a),
                         const struct preflight_result *a)
{
    struct buf text = {0};
    put(&text, a);
    if (text.len > *width)
        *width = text.len;
    buf_free(&text);
}

static void put_column(struct buf *out, size_t width,
                       void (*put)(struct buf *out, const struct preflight_result *a),
                       const struct preflight_result *a)
{
    size_t before = out->len;
    put(out, a);
    while (out->len - before < width + 2)
        buf_putc(out, ' ');
}

static void put_verdict(const struct report *r, enum verdict verdict)
{
    const char *word = verdicts[verdict].word;
    if (r->colour)
        buf_puts(r->out, verdicts[verdict].colour);
    buf_puts(r->out, word);
    if (r->colour)
        buf_puts(r->out, "\x1b[0m");
    buf_printf(r->out, "%*s", (int)(9 - strlen(word)), "");
}

/* ---- lines ---- */

static void put_missing(struct buf *out, const struct preflight_result *a)
{
    const char *what = a->may_list ? "watch" : a->may_watch ? "list" : "list or watch";
    buf_printf(out, "cannot %s %s%s%s", what, a->name, a->group[0] ? "." : "", a->group);
}

/* "deployments.apps/v1", unless the configuration uses that name. */
static void put_meaning(struct buf *out, const struct preflight_result *a)
{
    size_t before = out->len;
    buf_puts(out, a->name);
    if (a->group[0])
        buf_printf(out, ".%s/%s", a->group, a->version);
    if (str_eq((struct str){out->bytes + before, out->len - before}, str_of(a->resource)))
        out->len = before;
}

static void put_detail(struct buf *out, const struct preflight_result *a)
{
    switch (a->verdict) {
    case VERDICT_MISSING: put_missing(out, a); break;
    case VERDICT_WAITS:
    case VERDICT_WRONG:
    case VERDICT_FAILED: put_foreign(out, a->why.text); break;
    case VERDICT_OK: put_meaning(out, a); break;
    case VERDICT_NONE: break;
    }
}

static void put_answer(const struct report *r, const struct preflight_result *a)
{
    buf_puts(r->out, "  ");
    put_verdict(r, a->verdict);
    put_column(r->out, r->watch_width, put_watch, a);
    put_column(r->out, r->place_width, put_place, a);
    put_detail(r->out, a);
    while (r->out->bytes[r->out->len - 1] == ' ')
        r->out->len--;
    buf_putc(r->out, '\n');
}

static void put_identity(struct buf *out, const struct preflight_cluster *site)
{
    buf_puts(out, "  Kubernetes ");
    put_foreign(out, site->version ? site->version : "(unknown version)");
    buf_puts(out, ", as ");
    put_foreign(out, site->user ? site->user : "unknown user (not reported by the server)");
    if (site->groups) {
        buf_puts(out, " (");
        put_foreign(out, site->groups);
        buf_putc(out, ')');
    }
    buf_putc(out, '\n');
}

static void put_site(const struct report *r, const struct preflight_cluster *site)
{
    buf_printf(r->out, "\n%s", site->conf->name);
    if (site->server)
        buf_printf(r->out, "  %s", site->server);
    buf_putc(r->out, '\n');
    if (site->user || site->version || !site->failure.code)
        put_identity(r->out, site);
    if (site->failure.code) {
        buf_puts(r->out, "  ");
        put_verdict(r, VERDICT_FAILED);
        put_foreign(r->out, site->failure.text);
        buf_putc(r->out, '\n');
    }
    for (size_t i = 0; i < site->n_answers; i++)
        put_answer(r, &site->answers[i]);
}

/* ---- the report ---- */

/* The first cluster with a missing permission, or NULL. */
static const struct preflight_cluster *find_missing(const struct preflight *q)
{
    for (size_t i = 0; i < preflight_count(q); i++)
        for (size_t j = 0; j < preflight_site(q, i)->n_answers; j++)
            if (preflight_site(q, i)->answers[j].verdict == VERDICT_MISSING)
                return preflight_site(q, i);
    return NULL;
}

static void put_remedy(struct buf *out, const struct preflight *q, const char *path)
{
    const struct preflight_cluster *site = find_missing(q);
    bool several = preflight_count(q) > 1;
    if (site)
        buf_printf(out,
                   "\nTo print the roles that grant the missing permissions: informerd rbac "
                   "-c %s%s%s\n",
                   path, several ? " --cluster " : "", several ? site->conf->name : "");
}

static void measure_columns(struct report *r, const struct preflight *q)
{
    for (size_t i = 0; i < preflight_count(q); i++)
        for (size_t j = 0; j < preflight_site(q, i)->n_answers; j++) {
            widen_column(&r->watch_width, put_watch, &preflight_site(q, i)->answers[j]);
            widen_column(&r->place_width, put_place, &preflight_site(q, i)->answers[j]);
        }
}

void online_put(const struct preflight *q, const char *path, bool colour, struct buf *out)
{
    struct report r = {.out = out, .colour = colour};
    measure_columns(&r, q);
    for (size_t i = 0; i < preflight_count(q); i++)
        put_site(&r, preflight_site(q, i));
    put_remedy(out, q, path);
}

int online_check(const struct conf *conf, const char *path, bool colour, struct buf *out)
{
    struct preflight *q = preflight_new(conf, NULL, PREFLIGHT_ACCESS);
    int code;
    signal(SIGPIPE, SIG_IGN);
    preflight_run(q);
    online_put(q, path, colour, out);
    code = preflight_exit_code(q);
    preflight_free(q);
    return code;
}
