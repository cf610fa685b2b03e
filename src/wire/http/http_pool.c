/*
 * http_pool.c - a small stack of idle connections, and the calls that use them.
 *
 * Normal path: a call takes the connection that was used last (the least likely to be closed soon).
 * The connection calls the user directly; only the end of the request comes here (struct http_owner).
 * The call then returns the connection before it reports the end, so that the user can send the next
 * request at once.
 *
 * Failures of an idle connection (its end, unexpected bytes) are recorded by http_conn.c: it is
 * found dead when it is taken from the stack. All other failures are passed to the user.
 */
#include "wire/http/http_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "wire/http/http_request.h"

struct idle {
    struct http_conn *conn;
    uint64_t until_ms;
};

struct http_pool {
    struct clock *clock;
    struct dialer *dialer;
    char *host;
    uint16_t port;
    struct http_limits limits;
    struct idle idle[HTTP_POOL_MAX]; /* the oldest first */
    size_t n_idle;
    struct timer timer; /* for the oldest */
    struct sleep_watch sleep;
    uint64_t drops;    /* number of drops: connections from before the last one are not reused */
    struct list calls; /* not closed */
    struct inf_error cut_why; /* of the last cut */
};

struct http_call {
    struct http_owner owner; /* the connection's callbacks */
    struct list node;
    bool paused;
    struct http_pool *pool;
    struct http_user *user;
    struct http_conn *conn;     /* NULL after the end of the response */
    uint64_t drops;             /* of the pool when conn was opened or taken */
    struct http_request *retry; /* a copy of the request; NULL: no retry */
    bool cut;                   /* cut while paused; on_end is still to be called */
    struct timer cut_timer;
    struct deferred_free deferred_free;
};

/* ---- idle connections ---- */

static void pool_arm(struct http_pool *p)
{
    uint64_t now = clock_now_ms(p->clock);
    timer_stop(p->clock, &p->timer);
    if (p->n_idle)
        timer_start(p->clock, &p->timer, p->idle[0].until_ms > now ? p->idle[0].until_ms - now : 0);
}

static void pool_close_oldest(struct http_pool *p)
{
    http_conn_close(p->idle[0].conn);
    p->n_idle--;
    memmove(&p->idle[0], &p->idle[1], p->n_idle * sizeof(p->idle[0]));
}

static void pool_on_timer(struct timer *timer)
{
    struct http_pool *p = container_of(timer, struct http_pool, timer);
    pool_close_oldest(p);
    pool_arm(p);
}

static void pool_close_idle(struct http_pool *p)
{
    while (p->n_idle)
        pool_close_oldest(p);
    pool_arm(p);
}

static void pool_put_idle(struct http_pool *p, struct http_conn *conn)
{
    if (p->n_idle == HTTP_POOL_MAX)
        pool_close_oldest(p);
    p->idle[p->n_idle++] =
        (struct idle){.conn = conn, .until_ms = clock_now_ms(p->clock) + HTTP_POOL_IDLE_MS};
    pool_arm(p);
}

/* The usable connection that was used last; NULL: none. */
static struct http_conn *pool_take_idle(struct http_pool *p)
{
    struct http_conn *conn = NULL;
    while (!conn && p->n_idle) {
        conn = p->idle[--p->n_idle].conn;
        if (!http_conn_reusable(conn)) {
            http_conn_close(conn);
            conn = NULL;
        }
    }
    pool_arm(p);
    return conn;
}

/* The server may have closed them during the suspend without our notice: a request would wait for
 * its timeout. */
static void pool_on_slept(struct sleep_watch *sleep, uint64_t ms)
{
    struct http_pool *p = container_of(sleep, struct http_pool, sleep);
    (void)ms;
    pool_close_idle(p);
}

struct http_pool *http_pool_new(struct clock *clock, struct dialer *dialer, const char *host,
                                uint16_t port, const struct http_limits *limits)
{
    struct http_pool *p = NEW(struct http_pool);
    p->clock = clock;
    p->dialer = dialer;
    p->host = xstrdup(host);
    p->port = port;
    p->limits = limits ? *limits : (struct http_limits){0};
    p->timer.fire = pool_on_timer;
    sleep_watch_start(clock, &p->sleep, pool_on_slept);
    list_init(&p->calls);
    return p;
}

void http_pool_drop(struct http_pool *p)
{
    p->drops++;
    pool_close_idle(p);
}

void http_pool_move(struct http_pool *p, struct dialer *dialer, const char *host, uint16_t port)
{
    http_pool_drop(p);
    p->dialer = dialer;
    p->port = port;
    str_replace(&p->host, host);
}

void http_pool_free(struct http_pool *p)
{
    if (!p)
        return;
    assert(list_empty(&p->calls));
    http_pool_drop(p);
    sleep_watch_stop(&p->sleep);
    free(p->host);
    free(p);
}

/* ---- a call ---- */

static void call_dial(struct http_call *c)
{
    struct http_pool *p = c->pool;
    c->conn = http_conn_open(p->clock, p->dialer, p->host, p->port, &p->limits);
    c->drops = p->drops;
}

static void call_drop_retry(struct http_call *c)
{
    http_request_free(c->retry);
    c->retry = NULL;
}

static void call_on_response(struct http_owner *owner)
{
    call_drop_retry(container_of(owner, struct http_call, owner));
}

static void call_on_end(struct http_owner *owner, const struct inf_error *why)
{
    struct http_call *c = container_of(owner, struct http_call, owner);
    struct inf_error copy;
    /* The server had just closed an idle connection. A timeout does not count: the server may be
     * processing the request. */
    if (why && c->retry && !http_conn_responded(c->conn) && why->code != INF_ETIMEOUT) {
        http_conn_close(c->conn);
        call_dial(c);
        http_conn_request(c->conn, c->retry, c->user, &c->owner);
        call_drop_retry(c);
        return;
    }
    if (why)
        copy = *why; /* the connection is closed next */
    if (c->drops == c->pool->drops && http_conn_reusable(c->conn))
        pool_put_idle(c->pool, c->conn);
    else
        http_conn_close(c->conn);
    c->conn = NULL;
    c->user->ops->on_end(c->user, why ? &copy : NULL);
}

/* Reports a cut after resume, from a timer: no function may call back before it returns. */
static void call_report_cut(struct timer *timer)
{
    struct http_call *c = container_of(timer, struct http_call, cut_timer);
    struct inf_error why = c->pool->cut_why;
    c->cut = false;
    c->user->ops->on_end(c->user, &why);
}

struct http_call *http_pool_request(struct http_pool *p, const struct http_request *request,
                                    struct http_user *user)
{
    struct http_call *c = NEW(struct http_call);
    *c = (struct http_call){.owner = {.on_response = call_on_response, .on_end = call_on_end},
                            .pool = p,
                            .user = user,
                            .drops = p->drops};
    c->cut_timer.fire = call_report_cut;
    list_push(&p->calls, &c->node);
    c->conn = pool_take_idle(p);
    if (c->conn)
        c->retry = http_request_copy(request);
    else
        call_dial(c);
    http_conn_request(c->conn, request, user, &c->owner);
    return c;
}

void http_call_pause(struct http_call *c)
{
    c->paused = true;
    timer_stop(c->pool->clock, &c->cut_timer);
    if (c->conn)
        http_conn_pause(c->conn);
}

void http_call_resume(struct http_call *c)
{
    c->paused = false;
    if (c->conn)
        http_conn_resume(c->conn);
    else if (c->cut)
        timer_start(c->pool->clock, &c->cut_timer, 0);
}

/* A call in progress on a connection from before the last drop; NULL: none. */
static struct http_call *pool_find_old(const struct http_pool *p)
{
    list_for_each(node, &p->calls) {
        struct http_call *c = container_of(node, struct http_call, node);
        if (c->conn && c->drops != p->drops)
            return c;
    }
    return NULL;
}

/* Users may close other calls in on_end, and open new ones; new ones are not cut. */
void http_pool_cut(struct http_pool *p, const struct inf_error *why)
{
    struct http_call *c;
    p->cut_why = *why;
    while ((c = pool_find_old(p))) {
        http_conn_close(c->conn);
        c->conn = NULL;
        call_drop_retry(c);
        c->cut = c->paused;
        if (!c->cut)
            c->user->ops->on_end(c->user, why);
    }
}

static void call_free_deferred(struct deferred_free *deferred_free)
{
    free(container_of(deferred_free, struct http_call, deferred_free));
}

void http_call_close(struct http_call *c)
{
    if (!c)
        return;
    http_conn_close(c->conn);
    c->conn = NULL;
    call_drop_retry(c);
    timer_stop(c->pool->clock, &c->cut_timer);
    list_remove(&c->node);
    clock_free_later(c->pool->clock, &c->deferred_free, call_free_deferred);
}
