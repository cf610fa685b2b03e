#include "loop/resolve.h"

#include <assert.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

/* What libuv's pool is busy with. An allocation of its own: it may come back when the resolver is
 * long gone. */
struct lookup {
    uv_getaddrinfo_t request;
    struct loop *loop;
    struct resolver *resolver; /* NULL: closed */
    char *name;
    bool late; /* somebody has waited for it in vain */
};

/* ---- answers ---- */

static bool knows(const struct resolver *resolver, const char *name)
{
    return resolver->good_name && strcmp(resolver->good_name, name) == 0;
}

static void learn(struct resolver *resolver, const char *name, const struct addresses *addresses)
{
    resolver->good = *addresses;
    free(resolver->good_name);
    resolver->good_name = xstrdup(name);
}

/* With what is known, however old; @why there may be nothing. */
static void answer(struct resolving *r, const char *why)
{
    struct resolver *resolver = r->resolver;
    bool known = knows(resolver, r->name);
    resolve_stop(r);
    if (known)
        r->on_resolved(r, &resolver->good);
    else
        r->on_unresolved(r, why);
}

static void answer_all(struct resolver *resolver, const char *name, const char *why)
{
    list_for_each_safe(node, &resolver->waiting) {
        struct resolving *r = container_of(node, struct resolving, node);
        if (strcmp(r->name, name) == 0)
            answer(r, why);
    }
}

static void on_deadline(struct timer *timer)
{
    struct resolving *r = container_of(timer, struct resolving, deadline);
    r->resolver->lookup->late = true; /* while anybody waits, there is one */
    answer(r, "no response within 5s");
}
_Static_assert(RESOLVE_MAX_MS == 5000, "the text says so");

/* ---- lookups ---- */

static void look_up_next(struct resolver *resolver);

static void lookup_free(struct lookup *lookup)
{
    free(lookup->name);
    free(lookup);
}

/* @why it failed; NULL: it did not. */
static void looked_up(struct resolver *resolver, const char *name, const struct addrinfo *found,
                      const char *why)
{
    struct addresses addresses;
    addresses_from_answer(&addresses, found);
    if (addresses.count)
        learn(resolver, name, &addresses);
    answer_all(resolver, name, why ? why : "the name has no address");
    look_up_next(resolver);
}

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct lookup *lookup = container_of(request, struct lookup, request);
    struct resolver *resolver = lookup->resolver;
    loop_busy(lookup->loop);
    if (resolver) {
        resolver->lookup = NULL;
        looked_up(resolver, lookup->name, found, status < 0 ? uv_strerror(status) : NULL);
    }
    uv_freeaddrinfo(found);
    loop_drop(lookup->loop);
    lookup_free(lookup);
}

/* Returns 0, or libuv's error if it can't even be asked for. */
static int look_up(struct resolver *resolver, const char *name)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct lookup *lookup = NEW(struct lookup);
    int rc = uv_getaddrinfo(resolver->loop->uv, &lookup->request, on_looked_up, name, NULL, &hints);
    if (rc < 0) {
        lookup_free(lookup);
        return rc;
    }
    lookup->loop = resolver->loop;
    lookup->resolver = resolver;
    lookup->name = xstrdup(name);
    loop_keep(resolver->loop);
    resolver->lookup = lookup;
    return 0;
}

/* One at a time, for whoever has waited longest. */
static void look_up_next(struct resolver *resolver)
{
    while (!resolver->lookup && !list_empty(&resolver->waiting)) {
        struct resolving *first = container_of(resolver->waiting.next, struct resolving, node);
        int rc = look_up(resolver, first->name);
        if (rc < 0)
            answer(first, uv_strerror(rc));
    }
}

/* ---- questions ---- */

void resolving_init(struct resolving *r, struct resolver *resolver)
{
    *r = (struct resolving){.resolver = resolver, .deadline.fire = on_deadline};
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
    if (resolver->lookup && resolver->lookup->late && knows(resolver, name)) {
        answer(r, NULL);
        return;
    }
    list_push(&resolver->waiting, &r->node);
    timer_start(&resolver->loop->clock, &r->deadline, RESOLVE_MAX_MS);
    look_up_next(resolver);
}

void resolve_stop(struct resolving *r)
{
    list_remove(&r->node);
    timer_stop(&r->resolver->loop->clock, &r->deadline);
    free(r->name);
    r->name = NULL;
}

/* ---- life ---- */

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
        uv_cancel((uv_req_t *)&resolver->lookup->request); /* if it has not begun */
    }
    free(resolver->good_name);
}
