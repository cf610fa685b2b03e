/*
 * preflight.c - runs the checks of all clusters on one event loop.
 *
 * Normal path for a cluster: start_site() opens the client and requests the identity; then up to
 * AT_A_TIME requests run concurrently until each result has a verdict; then the namespaces of each
 * namespace_selector are listed and results for them are added and requested. When no request is
 * left the client is closed, and after the last cluster the loop.
 *
 * An error for one resource is its verdict. An error of the cluster (it cannot be opened, identity
 * fails, no response within PREFLIGHT_PATIENCE_MS) ends its checks; the remaining results stay
 * VERDICT_NONE.
 */
#include "daemon/cli/preflight.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <uv.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/err.h"
#include "base/glob.h"
#include "daemon/daemon_log.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/namespace_tracker.h"
#include "loop/loop.h"

enum {
    AT_A_TIME = 4, /* concurrent requests to a cluster */
};

struct preflight {
    uv_loop_t uv;
    struct loop loop;
    struct daemon_log log;
    enum preflight_kind kind;
    struct preflight_cluster *sites;
    size_t n_sites;
    size_t busy; /* sites whose checks are not complete */
};

/* ---- results to determine ---- */

static void add_answer(struct preflight_cluster *site, const struct conf_watch *watch,
                       const char *resource, const char *ns)
{
    size_t n = site->n_answers++;
    site->answers = xrealloc(site->answers, site->n_answers * sizeof(*site->answers));
    site->answers[n] =
        (struct preflight_result){.watch = watch, .resource = resource, .ns = ns, .site = site};
}

/* The namespaces of a namespace_selector are added later: see select_namespaces(). */
static void add_watch(struct preflight_cluster *site, const struct conf_watch *watch)
{
    if (watch->namespace_selector) {
        add_answer(site, watch, "namespaces", NULL);
        site->answers[site->n_answers - 1].selects = true;
    }
    if (watch->namespace_selector && site->preflight->kind == PREFLIGHT_ACCESS)
        return;
    for (size_t i = 0; i < watch->namespaces.count; i++)
        add_answer(site, watch, watch->resource, watch->namespaces.items[i]);
    if (!watch->namespaces.count)
        add_answer(site, watch, watch->resource, NULL);
}

static void add_site(struct preflight *q, const struct conf *conf,
                     const struct conf_cluster *cluster)
{
    struct preflight_cluster *site = &q->sites[q->n_sites++];
    site->preflight = q;
    site->conf = cluster;
    for (size_t i = 0; i < conf->n_watches; i++)
        if (strcmp(conf->watches[i].cluster, cluster->name) == 0)
            add_watch(site, &conf->watches[i]);
}

static void name_resource(struct preflight_result *a, const char *group, const char *version,
                          const char *name)
{
    a->group = xstrdup(group);
    a->version = xstrdup(version);
    a->name = xstrdup(name);
    a->verdict = VERDICT_OK;
}

/* Resolves the resource name if that needs no server. */
static void resolve_known(struct preflight_result *a)
{
    struct inf_resource *known = inf_resource_known(a->resource);
    const struct builtin_resource *builtin = builtin_resource_parse(a->resource);
    if (known)
        name_resource(a, known->group, known->version, known->name);
    else if (builtin)
        name_resource(a, builtin->group, "", builtin->name);
    free(known);
}

struct preflight *preflight_new(const struct conf *conf, const char *cluster,
                                enum preflight_kind kind)
{
    struct preflight *q = NEW(struct preflight);
    q->kind = kind;
    q->log = (struct daemon_log){.level = INF_LOG_ERROR, .format = conf->log.format};
    q->sites = xcalloc(conf->n_clusters, sizeof(*q->sites));
    for (size_t i = 0; i < conf->n_clusters; i++)
        if (!cluster || strcmp(conf->clusters[i].name, cluster) == 0)
            add_site(q, conf, &conf->clusters[i]);
    for (size_t i = 0; kind == PREFLIGHT_RESOURCE && i < q->n_sites; i++)
        for (size_t j = 0; j < q->sites[i].n_answers; j++)
            resolve_known(&q->sites[i].answers[j]);
    return q;
}

static bool needs_server(const struct preflight_cluster *site)
{
    bool needs = site->preflight->kind == PREFLIGHT_ACCESS;
    for (size_t i = 0; !needs && i < site->n_answers; i++)
        needs = site->answers[i].verdict == VERDICT_NONE;
    return needs;
}

bool preflight_needs_server(const struct preflight *q)
{
    for (size_t i = 0; i < q->n_sites; i++)
        if (needs_server(&q->sites[i]))
            return true;
    return false;
}

/* ---- end of the checks ---- */

static void preflight_on_closed(struct loop *loop)
{
    (void)loop; /* embedded in struct preflight, freed with it */
}

static void finish_site(struct preflight_cluster *site)
{
    struct preflight *q = site->preflight;
    timer_stop(&q->loop.clock, &site->patience);
    cluster_close(site->cluster); /* cancels its requests */
    site->cluster = NULL;
    if (--q->busy == 0)
        loop_close(&q->loop, preflight_on_closed);
}

static void fail_site(struct preflight_cluster *site, const struct inf_error *why)
{
    site->failure = *why;
    finish_site(site);
}

static void preflight_on_silence(struct timer *timer)
{
    struct preflight_cluster *site = container_of(timer, struct preflight_cluster, patience);
    struct inf_error why;
    err_set(&why, INF_ETIMEOUT, "no response within %ds", PREFLIGHT_PATIENCE_MS / 1000);
    fail_site(site, &why);
}

static void restart_timeout(struct preflight_cluster *site)
{
    timer_start(&site->preflight->loop.clock, &site->patience, PREFLIGHT_PATIENCE_MS);
}

/* ---- access to resources ---- */

static enum verdict verdict_for(const struct preflight_result *a, const struct inf_error *why)
{
    if (why->code == INF_ENOTFOUND)
        return a->watch->optional ? VERDICT_WAITS : VERDICT_WRONG;
    return why->code == INF_EINVAL ? VERDICT_WRONG : VERDICT_FAILED;
}

static void request_next(struct preflight_cluster *site);
static bool select_namespaces(struct preflight_cluster *site);

static void preflight_on_access(struct inf_request *request, const struct inf_access *access,
                                const struct inf_error *why)
{
    struct preflight_result *a = request->data;
    const struct inf_resource *r = access ? &access->resource : NULL;
    if (why && why->code == INF_ECANCELED)
        return; /* the cluster was closed */
    a->site->open--;
    if (why) {
        a->why = *why;
        a->verdict = verdict_for(a, why);
    } else {
        name_resource(a, r->group, r->version, r->name);
        a->cluster_wide = r->kind && !access->namespaced;
        a->may_list = access->list;
        a->may_watch = access->watch;
        if (a->site->preflight->kind == PREFLIGHT_ACCESS && !a->none_selected &&
            !(access->list && access->watch))
            a->verdict = VERDICT_MISSING;
    }
    restart_timeout(a->site);
    request_next(a->site);
}

/* Sends the request for one result: access, or only the meaning of the resource name. */
static void request_result(struct preflight_result *a)
{
    struct inf_client *client = a->site->cluster->client;
    bool access = a->site->preflight->kind == PREFLIGHT_ACCESS && !a->none_selected;
    int rc;
    a->request = (struct inf_request){.data = a};
    rc = (access ? inf_access_request : inf_resource_request)(client, &a->request, a->resource,
                                                              a->ns, preflight_on_access, &a->why);
    if (rc < 0)
        a->verdict = VERDICT_WRONG;
    else
        a->site->open++;
}

static void request_next(struct preflight_cluster *site)
{
    while (site->begun < site->n_answers && site->open < AT_A_TIME) {
        struct preflight_result *a = &site->answers[site->begun++];
        if (a->verdict == VERDICT_NONE)
            request_result(a);
    }
    if (!site->open && !select_namespaces(site))
        finish_site(site);
}

/* ---- namespaces of a namespace_selector ---- */

/* Inserts a result after the one at @at. Results move, so no request may be in progress. */
static struct preflight_result *insert_answer(struct preflight_cluster *site, size_t at)
{
    const struct conf_watch *watch = site->answers[at].watch;
    size_t following = site->n_answers - at - 1;
    add_answer(site, watch, watch->resource, NULL);
    memmove(&site->answers[at + 2], &site->answers[at + 1], following * sizeof(*site->answers));
    site->answers[at + 1] =
        (struct preflight_result){.watch = watch, .resource = watch->resource, .site = site};
    return &site->answers[at + 1];
}

static size_t insert_namespaces(struct preflight_cluster *site)
{
    const struct inf_store *store = inf_informer_store(site->namespaces);
    const struct conf_list *excluded = &site->answers[site->selecting].watch->exclude_namespaces;
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *ns;
    size_t count = 0;
    while (count < NAMESPACE_TRACKER_MAX && (ns = inf_store_next(store, &cursor))) {
        struct preflight_result *a;
        if (glob_any((const char *const *)excluded->items, excluded->count, inf_object_name(ns)))
            continue;
        a = insert_answer(site, site->selecting + count++);
        a->ns = a->own_ns = xstrdup(inf_object_name(ns));
    }
    inf_cursor_end(&cursor);
    return count;
}

static void preflight_on_namespaces(struct inf_handler *handler, struct inf_informer *informer)
{
    struct preflight_cluster *site = container_of(handler, struct preflight_cluster, handler);
    (void)informer;
    if (!insert_namespaces(site))
        insert_answer(site, site->selecting)->none_selected = true;
    inf_informer_close(site->namespaces, NULL);
    site->namespaces = NULL;
    site->begun = site->selecting + 1;
    restart_timeout(site);
    request_next(site);
}

static void list_namespaces(struct preflight_cluster *site, size_t selecting)
{
    struct inf_watch watch = {
        .resource = "namespaces",
        .label_selector = site->answers[selecting].watch->namespace_selector,
        .metadata_only = true,
    };
    site->answers[selecting].expanded = true;
    site->selecting = selecting;
    site->handler = (struct inf_handler){.on_synced = preflight_on_namespaces};
    site->namespaces =
        inf_informer_open(site->cluster->client, &watch, NULL); /* selector is validated */
    inf_handler_add(site->namespaces, &site->handler);
}

/* The namespaces cannot be listed: checks access to the resource in all namespaces instead. */
static void request_all_namespaces(struct preflight_cluster *site, size_t selecting)
{
    site->answers[selecting].expanded = true;
    insert_answer(site, selecting);
    site->begun = selecting + 1;
    request_next(site);
}

/* Starts to resolve the next unresolved namespace_selector. Returns false if there is none. */
static bool select_namespaces(struct preflight_cluster *site)
{
    for (size_t i = 0; site->preflight->kind == PREFLIGHT_ACCESS && i < site->n_answers; i++) {
        const struct preflight_result *a = &site->answers[i];
        if (!a->selects || a->expanded)
            continue;
        if (a->verdict == VERDICT_OK)
            list_namespaces(site, i);
        else
            request_all_namespaces(site, i);
        return true;
    }
    return false;
}

/* ---- identity ---- */

static char *join_strings(const char *const *texts, size_t n)
{
    struct buf out = {0};
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? ", " : "", texts[i]);
    buf_putc(&out, '\0');
    return out.bytes;
}

static void preflight_on_identity(struct inf_request *request, const struct inf_identity *identity,
                                  const struct inf_error *why)
{
    struct preflight_cluster *site = request->data;
    if (why && why->code == INF_ECANCELED)
        return; /* the cluster was closed */
    if (why) {
        fail_site(site, why);
        return;
    }
    site->version = identity->version ? xstrdup(identity->version) : NULL;
    site->user = identity->user ? xstrdup(identity->user) : NULL;
    if (identity->n_groups)
        site->groups = join_strings(identity->groups, identity->n_groups);
    restart_timeout(site);
    request_next(site);
}

static void start_site(struct preflight_cluster *site)
{
    struct preflight *q = site->preflight;
    struct cluster_setup setup = {.uv = &q->uv, .log = &q->log};
    struct inf_error err;
    if (!needs_server(site)) {
        finish_site(site);
        return;
    }
    site->patience.fire = preflight_on_silence;
    site->cluster = cluster_open(site->conf, &setup, &err);
    if (!site->cluster) {
        fail_site(site, &err);
        return;
    }
    site->server = xstrdup(inf_client_server(site->cluster->client));
    restart_timeout(site);
    if (q->kind == PREFLIGHT_ACCESS) {
        site->request.data = site;
        inf_identity_request(site->cluster->client, &site->request, preflight_on_identity);
    } else {
        request_next(site);
    }
}

void preflight_run(struct preflight *q)
{
    uv_loop_init(&q->uv);
    loop_init(&q->loop, &q->uv);
    q->busy = q->n_sites + 1; /* plus one, so that the loop stays open until all are started */
    for (size_t i = 0; i < q->n_sites; i++)
        start_site(&q->sites[i]);
    if (--q->busy == 0)
        loop_close(&q->loop, preflight_on_closed);
    uv_run(&q->uv, UV_RUN_DEFAULT);
    uv_loop_close(&q->uv);
}

/* ---- results ---- */

size_t preflight_count(const struct preflight *q)
{
    return q->n_sites;
}

const struct preflight_cluster *preflight_site(const struct preflight *q, size_t i)
{
    return &q->sites[i];
}

static int code_for(const struct inf_error *why)
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

static int code_for_answer(const struct preflight_result *a)
{
    switch (a->verdict) {
    case VERDICT_MISSING: return EX_NOPERM;
    case VERDICT_WRONG:
    case VERDICT_FAILED: return code_for(&a->why);
    case VERDICT_NONE:
    case VERDICT_OK:
    case VERDICT_WAITS: break;
    }
    return 0;
}

/* EX_UNAVAILABLE, EX_NOPERM and EX_CONFIG grow with what has to be done about them. */
_Static_assert(EX_UNAVAILABLE < EX_NOPERM && EX_NOPERM < EX_CONFIG, "the worst is the highest");

int preflight_exit_code(const struct preflight *q)
{
    int worst = 0;
    for (size_t i = 0; i < q->n_sites; i++) {
        const struct preflight_cluster *site = &q->sites[i];
        int code = code_for(&site->failure);
        worst = code > worst ? code : worst;
        for (size_t j = 0; j < site->n_answers; j++) {
            code = code_for_answer(&site->answers[j]);
            worst = code > worst ? code : worst;
        }
    }
    return worst;
}

static void free_site(struct preflight_cluster *site)
{
    for (size_t i = 0; i < site->n_answers; i++) {
        free(site->answers[i].group);
        free(site->answers[i].version);
        free(site->answers[i].name);
        free(site->answers[i].own_ns);
    }
    free(site->answers);
    free(site->server);
    free(site->version);
    free(site->user);
    free(site->groups);
}

void preflight_free(struct preflight *q)
{
    for (size_t i = 0; i < q->n_sites; i++)
        free_site(&q->sites[i]);
    daemon_log_free(&q->log);
    free(q->sites);
    free(q);
}
