/*
 * preflight.c - runs the checks of all clusters on one event loop.
 *
 * Normal path for a cluster: start_check() opens the client and requests the identity; then up to
 * REQUESTS_MAX requests run concurrently until each result has a verdict; then the namespaces of
 * each namespace_selector are listed and results for them are added and requested. When no request
 * is left the client is closed, and after the last cluster the loop.
 *
 * An error for one resource is its verdict. An error of the cluster (it cannot be opened, identity
 * fails, no response within PREFLIGHT_TIMEOUT_MS) ends its checks; the remaining results stay
 * VERDICT_SKIPPED.
 */
#include "daemon/cli/preflight.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <uv.h>

#include "informer/lease.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/err.h"
#include "base/text/glob.h"
#include "daemon/conf/conf_replica.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/namespace_tracker.h"
#include "loop/loop.h"

enum {
    REQUESTS_MAX = 4, /* concurrent requests to a cluster */
};

struct preflight {
    uv_loop_t uv;
    struct loop loop;
    struct daemon_log log;
    enum preflight_kind kind;
    struct cluster_check *checks;
    size_t n_checks;
    size_t busy; /* checks whose checks are not complete */
};

/* ---- results to determine ---- */

static struct preflight_result *add_result(struct cluster_check *check,
                                           const struct conf_watch *watch, const char *resource,
                                           const char *ns)
{
    size_t n = check->n_results++;
    check->results = xrealloc(check->results, check->n_results * sizeof(*check->results));
    check->results[n] =
        (struct preflight_result){.watch = watch, .resource = resource, .ns = ns, .check = check};
    return &check->results[n];
}

/* The namespaces of a namespace_selector are added later: see select_namespaces(). */
static void add_watch(struct cluster_check *check, const struct conf_watch *watch)
{
    if (watch->namespace_selector)
        add_result(check, watch, "namespaces", NULL)->subject = SUBJECT_SELECTOR;
    if (watch->namespace_selector && check->preflight->kind == PREFLIGHT_ACCESS)
        return;
    for (size_t i = 0; i < watch->namespaces.count; i++)
        add_result(check, watch, watch->resource, watch->namespaces.items[i]);
    if (!watch->namespaces.count)
        add_result(check, watch, watch->resource, NULL);
}

static void name_resource(struct preflight_result *result, const char *group, const char *version,
                          const char *name)
{
    result->group = xstrdup(group);
    result->version = xstrdup(version);
    result->name = xstrdup(name);
    result->verdict = VERDICT_OK;
}

/* Resolves the resource name if that needs no server. */
static void resolve_builtin(struct preflight_result *result)
{
    struct inf_resource *known = inf_resource_known(result->resource);
    const struct builtin_resource *builtin = builtin_resource_parse(result->resource);
    if (known)
        name_resource(result, known->group, known->version, known->name);
    else if (builtin)
        name_resource(result, builtin->group, "", builtin->name);
    free(known);
}

struct preflight *preflight_new(const struct conf *conf, const char *cluster,
                                enum preflight_kind kind)
{
    struct preflight *p = NEW(struct preflight);
    p->kind = kind;
    p->log = (struct daemon_log){.level = INF_LOG_ERROR, .format = conf->log.format};
    p->checks = xcalloc(conf->n_clusters, sizeof(*p->checks));
    for (size_t i = 0; i < conf->n_clusters; i++) {
        struct cluster_check *check = &p->checks[p->n_checks];
        const char *name = conf->clusters[i].name;
        if (cluster && strcmp(name, cluster) != 0)
            continue;
        p->n_checks++;
        check->preflight = p;
        check->conf = &conf->clusters[i];
        if (conf_replica_has_lease(conf) && strcmp(conf->replica.cluster, name) == 0)
            check->lease.replica = &conf->replica;
        for (size_t n = 0; n < conf->n_watches; n++)
            if (strcmp(conf->watches[n].cluster, name) == 0)
                add_watch(check, &conf->watches[n]);
        for (size_t n = 0; kind == PREFLIGHT_RESOURCE && n < check->n_results; n++)
            resolve_builtin(&check->results[n]);
    }
    return p;
}

static bool needs_server(const struct cluster_check *check)
{
    bool needs = check->preflight->kind == PREFLIGHT_ACCESS;
    for (size_t i = 0; !needs && i < check->n_results; i++)
        needs = check->results[i].verdict == VERDICT_SKIPPED;
    return needs;
}

bool preflight_needs_server(const struct preflight *p)
{
    for (size_t i = 0; i < p->n_checks; i++)
        if (needs_server(&p->checks[i]))
            return true;
    return false;
}

/* ---- end of the checks ---- */

static void preflight_on_closed(struct loop *loop)
{
    (void)loop; /* embedded in struct preflight, freed with it */
}

static void finish_check(struct cluster_check *check)
{
    struct preflight *p = check->preflight;
    timer_stop(&p->loop.clock, &check->timeout);
    cluster_close(check->cluster); /* cancels its requests */
    check->cluster = NULL;
    if (--p->busy == 0)
        loop_close(&p->loop, preflight_on_closed);
}

static void fail_check(struct cluster_check *check, const struct inf_error *why)
{
    check->failure = *why;
    finish_check(check);
}

static void preflight_on_timeout(struct timer *timer)
{
    struct cluster_check *check = container_of(timer, struct cluster_check, timeout);
    struct inf_error why;
    err_set(&why, INF_ETIMEOUT, "no response within %ds", PREFLIGHT_TIMEOUT_MS / 1000);
    fail_check(check, &why);
}

static void restart_timeout(struct cluster_check *check)
{
    timer_start(&check->preflight->loop.clock, &check->timeout, PREFLIGHT_TIMEOUT_MS);
}

/* ---- access to resources ---- */

static void request_next(struct cluster_check *check);
static bool select_namespaces(struct cluster_check *check);
static bool request_lease(struct cluster_check *check);

/* Whether the request is for access, not only for the meaning of the resource name. */
static bool needs_access(const struct preflight_result *result)
{
    return result->check->preflight->kind == PREFLIGHT_ACCESS &&
           result->subject != SUBJECT_UNSELECTED;
}

static void preflight_on_access(struct inf_request *request, const struct inf_access *access,
                                const struct inf_error *why)
{
    struct preflight_result *result = request->data;
    const struct inf_resource *r = access ? &access->resource : NULL;
    if (why && why->code == INF_ECANCELED)
        return; /* the cluster was closed */
    result->check->pending--;
    if (why) {
        bool optional = result->watch->optional;
        result->why = *why;
        result->verdict = why->code == INF_EINVAL      ? VERDICT_INVALID
                          : why->code != INF_ENOTFOUND ? VERDICT_FAILED
                          : optional                   ? VERDICT_WAITING
                                                       : VERDICT_INVALID;
    } else {
        name_resource(result, r->group, r->version, r->name);
        result->cluster_wide = r->kind && !access->namespaced;
        result->may_list = access->list;
        result->may_watch = access->watch;
        if (needs_access(result) && !(access->list && access->watch))
            result->verdict = VERDICT_MISSING;
    }
    restart_timeout(result->check);
    request_next(result->check);
}

static void request_next(struct cluster_check *check)
{
    while (check->next < check->n_results && check->pending < REQUESTS_MAX) {
        struct preflight_result *result = &check->results[check->next++];
        int rc;
        if (result->verdict != VERDICT_SKIPPED)
            continue;
        result->request = (struct inf_request){.data = result};
        rc = (needs_access(result) ? inf_access_request : inf_resource_request)(
            check->cluster->client, &result->request, result->resource, result->ns,
            preflight_on_access, &result->why);
        if (rc < 0)
            result->verdict = VERDICT_INVALID;
        else
            check->pending++;
    }
    if (!check->pending && !select_namespaces(check) && !request_lease(check))
        finish_check(check);
}

/* ---- the Lease ---- */

static void preflight_on_lease(struct inf_request *request, const struct inf_lease_access *access,
                               const struct inf_error *why)
{
    struct cluster_check *check = request->data;
    struct lease_check *lease = &check->lease;
    if (why && why->code == INF_ECANCELED)
        return; /* the cluster was closed */
    if (why) {
        lease->why = *why;
        lease->verdict = VERDICT_FAILED;
    } else {
        lease->may_create = access->create;
        lease->may_get = access->get;
        lease->may_update = access->update;
        lease->verdict =
            access->create && access->get && access->update ? VERDICT_OK : VERDICT_MISSING;
    }
    finish_check(check);
}

/* Requests our permissions for it, once, as the last ones. Returns false if there is none. */
static bool request_lease(struct cluster_check *check)
{
    struct lease_check *lease = &check->lease;
    if (!lease->replica || lease->requested || check->preflight->kind != PREFLIGHT_ACCESS)
        return false;
    lease->requested = true;
    lease->request.data = check;
    inf_lease_access_request(check->cluster->client, &lease->request, lease->replica->ns,
                             lease->replica->group, preflight_on_lease);
    return true;
}

/* ---- namespaces of a namespace_selector ---- */

/* Inserts a result after the one at @at. Results move, so no request may be in progress. */
static struct preflight_result *insert_result(struct cluster_check *check, size_t at)
{
    const struct conf_watch *watch = check->results[at].watch;
    size_t following = check->n_results - at - 1;
    add_result(check, watch, watch->resource, NULL);
    memmove(&check->results[at + 2], &check->results[at + 1], following * sizeof(*check->results));
    check->results[at + 1] =
        (struct preflight_result){.watch = watch, .resource = watch->resource, .check = check};
    return &check->results[at + 1];
}

/* Adds a result for each namespace that is selected and not excluded. */
static void preflight_on_namespaces(struct inf_handler *handler, struct inf_informer *informer)
{
    struct cluster_check *check = container_of(handler, struct cluster_check, handler);
    const struct conf_list *excluded = &check->results[check->selecting].watch->exclude_namespaces;
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *ns;
    size_t count = 0;
    while (count < NAMESPACE_TRACKER_MAX &&
           (ns = inf_store_next(inf_informer_store(informer), &cursor))) {
        struct preflight_result *result;
        if (glob_any((const char *const *)excluded->items, excluded->count, inf_object_name(ns)))
            continue;
        result = insert_result(check, check->selecting + count++);
        result->ns = result->own_ns = xstrdup(inf_object_name(ns));
    }
    inf_cursor_end(&cursor);
    if (!count)
        insert_result(check, check->selecting)->subject = SUBJECT_UNSELECTED;
    inf_informer_close(informer, NULL);
    check->next = check->selecting + 1;
    restart_timeout(check);
    request_next(check);
}

/* Starts to resolve the next unresolved namespace_selector. Returns false if there is none. */
static bool select_namespaces(struct cluster_check *check)
{
    struct inf_watch watch = {.resource = "namespaces", .metadata_only = true};
    struct inf_informer *namespaces;
    size_t i = 0;
    while (i < check->n_results &&
           (check->results[i].subject != SUBJECT_SELECTOR || check->results[i].expanded))
        i++;
    if (i == check->n_results || check->preflight->kind != PREFLIGHT_ACCESS)
        return false;
    check->results[i].expanded = true;
    if (check->results[i].verdict == VERDICT_OK) {
        watch.label_selector = check->results[i].watch->namespace_selector;
        check->selecting = i;
        check->handler = (struct inf_handler){.on_synced = preflight_on_namespaces};
        namespaces = inf_informer_open(check->cluster->client, &watch, NULL); /* is valid */
        inf_handler_add(namespaces, &check->handler);
    } else { /* they cannot be listed: check access in all namespaces instead */
        insert_result(check, i);
        check->next = i + 1;
        request_next(check);
    }
    return true;
}

/* ---- identity ---- */

static void preflight_on_identity(struct inf_request *request, const struct inf_identity *identity,
                                  const struct inf_error *why)
{
    struct cluster_check *check = request->data;
    struct buf groups = {0};
    if (why && why->code == INF_ECANCELED)
        return; /* the cluster was closed */
    if (why) {
        fail_check(check, why);
        return;
    }
    check->version = identity->version ? xstrdup(identity->version) : NULL;
    check->user = identity->user ? xstrdup(identity->user) : NULL;
    for (size_t i = 0; i < identity->n_groups; i++)
        buf_printf(&groups, "%s%s", i ? ", " : "", identity->groups[i]);
    if (groups.len)
        buf_putc(&groups, '\0');
    check->groups = groups.bytes;
    restart_timeout(check);
    request_next(check);
}

static void start_check(struct cluster_check *check)
{
    struct preflight *p = check->preflight;
    struct cluster_setup setup = {.uv = &p->uv, .log = &p->log};
    struct inf_error err;
    if (!needs_server(check)) {
        finish_check(check);
        return;
    }
    check->timeout.fire = preflight_on_timeout;
    check->cluster = cluster_open(check->conf, &setup, &err);
    if (!check->cluster) {
        fail_check(check, &err);
        return;
    }
    check->server = xstrdup(inf_client_server(check->cluster->client));
    restart_timeout(check);
    if (p->kind == PREFLIGHT_ACCESS) {
        check->request.data = check;
        inf_identity_request(check->cluster->client, &check->request, preflight_on_identity);
    } else {
        request_next(check);
    }
}

void preflight_run(struct preflight *p)
{
    uv_loop_init(&p->uv);
    loop_init(&p->loop, &p->uv);
    p->busy = p->n_checks + 1; /* plus one, so that the loop stays open until all are started */
    for (size_t i = 0; i < p->n_checks; i++)
        start_check(&p->checks[i]);
    if (--p->busy == 0)
        loop_close(&p->loop, preflight_on_closed);
    uv_run(&p->uv, UV_RUN_DEFAULT);
    uv_loop_close(&p->uv);
}

/* ---- results ---- */

size_t preflight_count(const struct preflight *p)
{
    return p->n_checks;
}

const struct cluster_check *preflight_check(const struct preflight *p, size_t i)
{
    return &p->checks[i];
}

static int exit_code_for(const struct inf_error *why)
{
    switch (why->code) {
    case 0: return 0;
    case INF_EINVAL:
    case INF_EIO:
    case INF_ECONF:
    case INF_ENOTFOUND: return EX_CONFIG;
    case INF_EUNAUTHORIZED:
    case INF_EFORBIDDEN: return EX_NOPERM;
    default: return EX_UNAVAILABLE;
    }
}

/* EX_UNAVAILABLE, EX_NOPERM and EX_CONFIG are ordered by severity. */
_Static_assert(EX_UNAVAILABLE < EX_NOPERM && EX_NOPERM < EX_CONFIG, "the worst is the highest");

int preflight_exit_code(const struct preflight *p)
{
    int worst = 0;
    for (size_t i = 0; i < p->n_checks; i++) {
        const struct cluster_check *check = &p->checks[i];
        int code = exit_code_for(&check->failure);
        worst = code > worst ? code : worst;
        code =
            check->lease.verdict == VERDICT_MISSING ? EX_NOPERM : exit_code_for(&check->lease.why);
        worst = code > worst ? code : worst;
        for (size_t j = 0; j < check->n_results; j++) {
            const struct preflight_result *result = &check->results[j];
            code = result->verdict == VERDICT_MISSING   ? EX_NOPERM
                   : result->verdict == VERDICT_WAITING ? 0
                                                        : exit_code_for(&result->why);
            worst = code > worst ? code : worst;
        }
    }
    return worst;
}

void preflight_free(struct preflight *p)
{
    for (size_t i = 0; i < p->n_checks; i++) {
        struct cluster_check *check = &p->checks[i];
        for (size_t j = 0; j < check->n_results; j++) {
            free(check->results[j].group);
            free(check->results[j].version);
            free(check->results[j].name);
            free(check->results[j].own_ns);
        }
        free(check->results);
        free(check->server);
        free(check->version);
        free(check->user);
        free(check->groups);
    }
    daemon_log_free(&p->log);
    free(p->checks);
    free(p);
}
