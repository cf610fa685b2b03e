/*
 * replica.c - connects the elector with the requests for the Lease, the handlers, and the log.
 *
 * Normal path: replica_prepare() and replica_start(); then the role changes, positions are published by the
 * leader and taken over by the others. A request that fails is repeated by the elector, and the reason is in
 * the status. Positions that do not fit into the Lease are logged; the last ones stay there.
 */
#include "daemon/replica/replica.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/conf/conf_replica.h"
#include "daemon/daemon.h"
#include "daemon/watch/cluster.h"
#include "daemon/watch/watch_stream.h"
#include "daemon/watch/watcher.h"

enum {
    HTTP_NOT_FOUND = 404,
    HTTP_CONFLICT = 409,
    HOST_NAME_SIZE = 65, /* with its NUL; longer ones are cut */
};

/* A request; it outlives its replica if it was canceled. */
struct lease_call {
    struct inf_request request;
    struct replica *replica; /* NULL: canceled */
    bool writes;
    struct task fail; /* reports `error`, if the request could not be started */
    struct inf_error error;
};

static struct replica *replica_of(struct elector *elector)
{
    return container_of(elector, struct replica, elector);
}

static const struct conf_replica *conf_of(const struct replica *r)
{
    return &r->daemon->conf.replica;
}

/* ---- requests ---- */

/* A conflict with another replica, and reading a Lease that does not exist yet, are no failures. */
static void log_failure(struct replica *r, const struct lease_call *call,
                        const struct inf_error *err)
{
    bool fails = err && err->http_status != HTTP_CONFLICT &&
                 (call->writes || err->http_status != HTTP_NOT_FOUND);
    int code = fails ? err->code : 0;
    if (code && code != r->logged_error)
        daemon_log_printf(
            &r->daemon->log, INF_LOG_WARN, "replica: Lease %s/%s: %s; it is tried again%s",
            conf_of(r)->ns, conf_of(r)->group, err->text,
            code == INF_EFORBIDDEN ? "; 'informerd rbac' prints the role that is needed" : "");
    if (code || call->writes || !r->elector.doubtful)
        r->logged_error = code;
}

static void end_call(struct lease_call *call, const struct inf_lease *lease, const char *json,
                     const struct inf_error *err)
{
    struct replica *r = call->replica;
    if (r) {
        r->call = NULL;
        if (json) {
            free(r->json);
            r->json = xstrdup(json);
        }
    }
    if (r) {
        log_failure(r, call, err);
        elector_result(&r->elector, lease, err);
    }
    task_cancel(&call->fail);
    free(call);
}

static void on_lease(struct inf_request *request, const struct inf_lease *lease, const char *json,
                     const struct inf_error *err)
{
    end_call(container_of(request, struct lease_call, request), lease, json, err);
}

static void on_fail(struct task *task)
{
    struct lease_call *call = container_of(task, struct lease_call, fail);
    struct inf_error err = call->error;
    end_call(call, NULL, NULL, &err);
}

static int start_call(struct replica *r, struct lease_call *call, enum elector_request request,
                      const struct inf_lease *lease)
{
    struct inf_client *client = r->cluster->client;
    const char *ns = conf_of(r)->ns, *name = conf_of(r)->group;
    switch (request) {
    case ELECTOR_NONE: break;
    case ELECTOR_GET: return inf_lease_get(client, &call->request, ns, name, on_lease);
    case ELECTOR_CREATE: return inf_lease_create(client, &call->request, ns, name, lease, on_lease);
    case ELECTOR_UPDATE:
        return inf_lease_update(client, &call->request, ns, name, r->json, lease, on_lease);
    }
    return -INF_EINVAL;
}

static void send_request(struct elector *elector, enum elector_request request,
                         const struct inf_lease *lease)
{
    struct replica *r = replica_of(elector);
    struct lease_call *call = NEW(struct lease_call);
    call->replica = r;
    call->writes = lease;
    r->call = call;
    task_init(&call->fail, PHASE_PUMP, on_fail);
    if (start_call(r, call, request, lease) == 0)
        return;
    err_set(&call->error, INF_EINVAL, "the Lease can't be written in this form");
    task_schedule(&r->daemon->loop.clock, &call->fail);
}

static void cancel_request(struct elector *elector)
{
    struct replica *r = replica_of(elector);
    struct lease_call *call = r->call;
    if (!call)
        return;
    r->call = NULL;
    call->replica = NULL;
    if (list_empty(&call->fail.node))
        inf_request_cancel(&call->request);
}

/* ---- positions ---- */

static void take_positions(struct replica *r)
{
    positions_take(&r->positions, &r->daemon->handlers, /* drop= */ !r->daemon->stopping);
}

/* Bookmarks advance the position of a watch without events. */
static void refresh_positions(const struct replica *r)
{
    list_for_each(node, &r->daemon->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        list_for_each(inner, &w->streams)
            watch_stream_report_position(container_of(inner, struct watch_stream, node));
    }
}

static const char *note(struct elector *elector)
{
    struct replica *r = replica_of(elector);
    if (!r->daemon->stopping) { /* else those of handlers that are freed by now are kept */
        refresh_positions(r);
        take_positions(r);
    }
    buf_clear(&r->note);
    positions_put(&r->positions, &r->note);
    buf_putc(&r->note, '\0');
    if (r->note.len > INF_LEASE_NOTE_MAX) {
        if (!r->oversized)
            daemon_log_printf(
                &r->daemon->log, INF_LOG_ERROR,
                "replica: the positions of the handlers have %zu bytes, and a Lease can have "
                "%d: they are not published, and a takeover repeats more; use fewer "
                "namespaces in watches, or fewer handlers",
                r->note.len, INF_LEASE_NOTE_MAX);
        r->oversized = true;
        return NULL;
    }
    r->oversized = false;
    return r->note.bytes;
}

/* Also of handlers that a reload has added. */
static void give_positions(struct replica *r, const char *text, bool again)
{
    if (!again && r->seen && strcmp(r->seen, text) == 0)
        return;
    refresh_positions(r); /* a quiet stream is not forgotten */
    positions_publish(text, &r->daemon->handlers);
    if (r->seen == text)
        return;
    free(r->seen);
    r->seen = xstrdup(text);
}

static void on_seen(struct elector *elector, const struct inf_lease *lease)
{
    give_positions(replica_of(elector), lease->note, false);
}

/* ---- the role ---- */

static void each_handler(struct replica *r, void (*apply)(struct handler *handler))
{
    list_for_each_safe(node, &r->daemon->handlers.handlers)
        apply(container_of(node, struct handler, node));
}

static void on_grace(struct timer *timer)
{
    each_handler(container_of(timer, struct replica, grace), handler_replica_interrupt);
}

/* Half of the time until the Lease expires, after which another replica may deliver. */
static uint64_t grace_ms(const struct replica *r)
{
    const struct conf_replica *c = conf_of(r);
    uint64_t age_ms = clock_elapsed_ms(&r->daemon->loop.clock) - r->elector.renewed_ms;
    uint64_t end_ms = c->renew_deadline_ms + (c->lease_duration_ms - c->renew_deadline_ms) / 2;
    return age_ms < end_ms ? end_ms - age_ms : 0;
}

static void on_role(struct elector *elector, bool leading, const char *why)
{
    struct replica *r = replica_of(elector);
    struct clock *clock = &r->daemon->loop.clock;
    daemon_log_printf(&r->daemon->log, leading ? INF_LOG_INFO : INF_LOG_WARN,
                      "replica %s of group %s %s: %s", r->identity, conf_of(r)->group,
                      leading ? "leads and delivers" : "no longer leads and stands by", why);
    timer_stop(clock, &r->grace);
    if (leading) {
        each_handler(r, handler_replica_lead);
        return;
    }
    free(r->seen); /* the next note counts, whatever it is */
    r->seen = NULL;
    timer_start(clock, &r->grace, grace_ms(r));
}

static bool leads(const struct handler_host *host)
{
    const struct handlers *handlers = container_of(host, const struct handlers, host);
    const struct daemon *d = container_of(handlers, const struct daemon, handlers);
    return elector_leads(&d->replica.elector);
}

static void on_delivered(struct handler_host *host)
{
    struct handlers *handlers = container_of(host, struct handlers, host);
    struct daemon *d = container_of(handlers, struct daemon, handlers);
    if (!d->replica.running)
        return;
    if (d->stopping)
        take_positions(&d->replica); /* the handler may be freed next */
    elector_publish(&d->replica.elector);
}

/* ---- life ---- */

static void on_stopped(struct elector *elector)
{
    struct replica *r = replica_of(elector);
    cancel_request(elector);
    timer_stop(&r->daemon->loop.clock, &r->grace);
    elector_close(elector);
    cluster_close(r->cluster);
    r->cluster = NULL;
    r->running = false;
    positions_free(&r->positions);
    buf_free(&r->note);
    free(r->json);
    free(r->seen);
    free(r->identity);
    r->json = r->seen = r->identity = NULL;
    r->on_stopped(r);
}

static const struct elector_ops elector_ops = {
    .send = send_request,
    .cancel = cancel_request,
    .note = note,
    .on_seen = on_seen,
    .on_role = on_role,
    .on_stopped = on_stopped,
};

/* Unique also if a host runs several, and after a restart: another process of the same name may still believe that it
 * leads. */
static char *make_identity(struct rng *rng)
{
    char host[HOST_NAME_SIZE] = "";
    if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
        strcpy(host, "unknown");
    return xasprintf("%s_%ld_%08" PRIx32, host, (long)getpid(), (uint32_t)rng_next(rng));
}

void replica_prepare(struct daemon *d, const struct conf *conf)
{
    struct replica *r = &d->replica;
    r->daemon = d;
    positions_init(&r->positions);
    r->grace.fire = on_grace;
    if (d->options.ad_hoc || !conf_replica_has_lease(conf))
        return;
    rng_init(&r->rng);
    d->handlers.host.replicated = true;
    d->handlers.host.leads = leads;
    d->handlers.host.on_delivered = on_delivered;
}

static struct cluster *open_cluster(const struct replica *r, struct inf_error *err)
{
    struct daemon *d = r->daemon;
    struct cluster_setup setup = {.uv = &d->uv, .clock = &d->loop.clock, .log = &d->log};
    for (size_t i = 0; i < d->conf.n_clusters; i++)
        if (strcmp(d->conf.clusters[i].name, conf_of(r)->cluster) == 0)
            return cluster_open(&d->conf.clusters[i], &setup, err);
    abort(); /* UNTESTED: conf_replica_check() */
}

int replica_start(struct replica *replica, struct inf_error *err)
{
    const struct conf_replica *c = conf_of(replica);
    struct elector_settings settings = {
        .duration_ms = c->lease_duration_ms,
        .renew_deadline_ms = c->renew_deadline_ms,
        .retry_ms = c->retry_period_ms,
    };
    if (!replica->daemon->handlers.host.replicated)
        return 0;
    replica->cluster = open_cluster(replica, err);
    if (!replica->cluster)
        return -err->code;
    replica->identity = make_identity(&replica->rng);
    replica->running = true;
    settings.identity = replica->identity;
    daemon_log_printf(&replica->daemon->log, INF_LOG_INFO,
                      "replica %s of group %s stands by until it has the Lease %s/%s",
                      replica->identity, c->group, c->ns, c->group);
    elector_start(&replica->elector, &elector_ops, &settings, &replica->daemon->loop.clock,
                  &replica->rng);
    return 0;
}

void replica_reloaded(struct replica *replica)
{
    struct inf_error err;
    struct cluster *fresh;
    if (!replica->running)
        return;
    fresh = open_cluster(replica, &err);
    if (fresh) {
        replica->cluster->conf = fresh->conf;
        cluster_adopt(replica->cluster, fresh);
    } else {
        daemon_log_printf(&replica->daemon->log, INF_LOG_ERROR, "replica: %s", err.text);
    }
    if (replica->seen)
        give_positions(replica, replica->seen, true);
}

void replica_stopping(struct replica *replica)
{
    if (replica->running)
        take_positions(replica);
}

void replica_stop(struct replica *replica, void (*on_end)(struct replica *replica))
{
    replica->on_stopped = on_end;
    if (replica->running)
        elector_stop(&replica->elector);
    else
        on_end(replica);
}

void replica_status(const struct replica *replica, struct replica_status *ret)
{
    const struct elector *e = &replica->elector;
    *ret = (struct replica_status){.exists = replica->running};
    if (!replica->running)
        return;
    ret->group = conf_of(replica)->group;
    ret->identity = replica->identity;
    ret->leads = elector_leads(e);
    ret->role = e->sm.state == ELECTOR_RELEASING ? "releasing" : ret->leads ? "leader" : "standby";
    ret->holder = e->seen.exists ? e->seen.holder : "";
    ret->reason = e->error.code ? e->error.text : NULL;
    ret->acquisitions = e->acquisitions;
    ret->renewed_ago_ms = ret->leads ? clock_elapsed_ms(e->clock) - e->renewed_ms : 0;
}
