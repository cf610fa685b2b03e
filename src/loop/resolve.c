/*
 * resolve.c - one getaddrinfo() at a time per resolver, with a deadline per request.
 *
 * Normal path: a request waits for the lookup of its name, which completes all requests for it. If a
 * lookup fails or takes too long, the last good result is used; without one the request fails.
 */
#include "loop/resolve.h"

#include <assert.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

/* A lookup in libuv's thread pool. An allocation of its own: it may complete after the resolver is
 * closed. */
struct lookup {
    uv_getaddrinfo_t request;
    struct loop *loop;
    struct resolver *resolver; /* NULL: closed */
    char *name;
    bool late; /* a request has timed out waiting for it */
};

/* ---- addresses ---- */

/* The first entry of @family, starting at @at. */
static const struct addrinfo *next_of_family(int family, const struct addrinfo *at)
{
    while (at && at->ai_family != family)
        at = at->ai_next;
    return at;
}

void addresses_from_addrinfo(struct addresses *ret, const struct addrinfo *found)
{
    static const int families[2] = {AF_INET6, AF_INET};
    const struct addrinfo *next[2] = {next_of_family(AF_INET6, found),
                                      next_of_family(AF_INET, found)};
    int turn = found && found->ai_family == AF_INET;
    memset(ret, 0, sizeof(*ret));
    while (ret->count < ADDRESSES_MAX && (next[0] || next[1])) {
        const struct addrinfo *one = next[turn];
        if (one) {
            assert(one->ai_addrlen <= sizeof(ret->list[0]));
            memcpy(&ret->list[ret->count++], one->ai_addr, one->ai_addrlen);
            next[turn] = next_of_family(families[turn], one->ai_next);
        }
        turn = !turn;
    }
}

/* "10.0.0.1", "::1", "fe80::1%eth0". Returns false, and sets nothing, if @host is a name. */
static bool addresses_from_literal(struct addresses *ret, const char *host)
{
    union address address;
    if (uv_ip4_addr(host, 0, &address.v4) < 0 && uv_ip6_addr(host, 0, &address.v6) < 0)
        return false;
    ret->count = 1;
    ret->list[0] = address;
    return true;
}

/* ---- results ---- */

static bool resolver_knows(const struct resolver *resolver, const char *name)
{
    return resolver->good_name && strcmp(resolver->good_name, name) == 0;
}

/* Completes @r with the known addresses, however old, or with @why if there are none. */
static void resolve_complete(struct resolving *r, const char *why)
{
    struct resolver *resolver = r->resolver;
    bool known = resolver_knows(resolver, r->name);
    resolve_stop(r);
    if (known)
        r->on_resolved(r, &resolver->good);
    else
        r->on_unresolved(r, why);
}

static void resolve_on_deadline(struct timer *timer)
{
    struct resolving *r = container_of(timer, struct resolving, deadline);
    r->resolver->lookup->late = true; /* set while any request waits */
    resolve_complete(r, "no response within 5s");
}
_Static_assert(RESOLVE_MAX_MS == 5000, "the message contains the limit");

/* ---- lookups ---- */

static void resolver_look_up_next(struct resolver *resolver);

static void lookup_free(struct lookup *lookup)
{
    free(lookup->name);
    free(lookup);
}

/* Completes all requests for @name. @why: the error; NULL: success. */
static void resolver_on_result(struct resolver *resolver, const char *name,
                               const struct addrinfo *found, const char *why)
{
    struct addresses addresses;
    addresses_from_addrinfo(&addresses, found);
    if (addresses.count) {
        resolver->good = addresses;
        free(resolver->good_name);
        resolver->good_name = xstrdup(name);
    }
    list_for_each_safe(node, &resolver->waiting) {
        struct resolving *r = container_of(node, struct resolving, node);
        if (strcmp(r->name, name) == 0)
            resolve_complete(r, why ? why : "the name has no address");
    }
    resolver_look_up_next(resolver);
}

static void resolver_on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct lookup *lookup = container_of(request, struct lookup, request);
    struct resolver *resolver = lookup->resolver;
    loop_busy(lookup->loop);
    if (resolver) {
        resolver->lookup = NULL;
        resolver_on_result(resolver, lookup->name, found, status < 0 ? uv_strerror(status) : NULL);
    }
    uv_freeaddrinfo(found);
    loop_unref(lookup->loop);
    lookup_free(lookup);
}

/* Returns 0, or libuv's error if the lookup can't be started. */
static int resolver_look_up(struct resolver *resolver, const char *name)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct lookup *lookup = NEW(struct lookup);
    int rc = uv_getaddrinfo(resolver->loop->uv, &lookup->request, resolver_on_looked_up, name, NULL,
                            &hints);
    if (rc < 0) {
        lookup_free(lookup);
        return rc;
    }
    lookup->loop = resolver->loop;
    lookup->resolver = resolver;
    lookup->name = xstrdup(name);
    loop_ref(resolver->loop);
    resolver->lookup = lookup;
    return 0;
}

/* One at a time, in the order of the requests. */
static void resolver_look_up_next(struct resolver *resolver)
{
    while (!resolver->lookup && !list_empty(&resolver->waiting)) {
        struct resolving *first = container_of(resolver->waiting.next, struct resolving, node);
        int rc = resolver_look_up(resolver, first->name);
        if (rc < 0)
            resolve_complete(first, uv_strerror(rc));
    }
}

/* ---- requests ---- */

void resolving_init(struct resolving *r, struct resolver *resolver)
{
    *r = (struct resolving){.resolver = resolver, .deadline.fire = resolve_on_deadline};
    list_init(&r->node);
}

void resolve_start(struct resolving *r, const char *name)
{
    struct resolver *resolver = r->resolver;
    struct addresses literal;
    if (addresses_from_literal(&literal, name)) {
        r->on_resolved(r, &literal);
        return;
    }
    r->name = xstrdup(name);
    if (resolver->lookup && resolver->lookup->late && resolver_knows(resolver, name)) {
        resolve_complete(r, NULL);
        return;
    }
    list_push(&resolver->waiting, &r->node);
    timer_start(&resolver->loop->clock, &r->deadline, RESOLVE_MAX_MS);
    resolver_look_up_next(resolver);
}

void resolve_stop(struct resolving *r)
{
    list_remove(&r->node);
    timer_stop(&r->resolver->loop->clock, &r->deadline);
    free(r->name);
    r->name = NULL;
}

/* ---- init and close ---- */

void resolver_init(struct resolver *resolver, struct loop *loop)
{
    *resolver = (struct resolver){.loop = loop};
    list_init(&resolver->waiting);
}

void resolver_close(struct resolver *resolver)
{
    assert(list_empty(&resolver->waiting));
    if (resolver->lookup) {
        resolver->lookup->resolver = NULL;
        uv_cancel((uv_req_t *)&resolver->lookup->request); /* succeeds only if it has not started */
    }
    free(resolver->good_name);
}
