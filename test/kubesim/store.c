/*
 * store.c - creates, replaces and deletes objects. Each change gets the next version, is added to
 * the history, and is sent to the watches. A conflict or a missing object gives the Status of the
 * API server.
 */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/base.h"

void store_init(struct store *store, size_t window)
{
    *store = (struct store){.rv = FIRST_VERSION, .window = window};
    list_init(&store->resources);
}

static void resource_free(struct resource *r)
{
    struct tree_node *n;
    while ((n = tree_first(&r->objects))) {
        tree_remove(&r->objects, n);
        object_unref(container_of(n, struct object, node));
    }
    history_free(&r->history);
    free(r->group);
    free(r->version);
    free(r->plural);
    free(r->singular);
    free(r->kind);
    free(r->short_name);
    free(r->api_version);
    free(r);
}

void store_free(struct store *store)
{
    struct list *n;
    while ((n = list_pop(&store->resources)))
        resource_free(container_of(n, struct resource, node));
}

uint64_t store_next(struct store *store)
{
    return ++store->rv;
}

void store_uuid(struct store *store, char ret[UUID_SIZE])
{
    unsigned long long a = rng_next(&store->rng), b = rng_next(&store->rng);
    snprintf(ret, UUID_SIZE, "%08llx-%04llx-4%03llx-8%03llx-%012llx", a >> 32, (a >> 16) & 0xffff,
             a & 0xfff, b >> 52, b & 0xffffffffffffULL);
}

static int probe_key(const void *key, const struct tree_node *node)
{
    return strcmp(key, container_of(node, struct object, node)->key);
}

static struct object *find_key(const struct resource *r, const char *key)
{
    struct tree_node *n = tree_at_least(&r->objects, probe_key, key);
    struct object *o = n ? container_of(n, struct object, node) : NULL;
    return o && strcmp(o->key, key) == 0 ? o : NULL;
}

struct object *resource_find(const struct resource *r, const char *ns, const char *name)
{
    char *key = ns[0] ? xasprintf("%s/%s", ns, name) : xstrdup(name);
    struct object *o = find_key(r, key);
    free(key);
    return o;
}

void status_not_found(struct status *ret, const struct resource *r, const char *name)
{
    status_set(ret, 404, "NotFound", "%s%s%s \"%s\" not found", r->plural, r->group[0] ? "." : "",
               r->group, name);
    snprintf(ret->name, sizeof(ret->name), "%s", name);
    snprintf(ret->group, sizeof(ret->group), "%s", r->group);
    snprintf(ret->kind, sizeof(ret->kind), "%s", r->plural);
}

static void conflict(struct status *ret, const struct resource *r, const char *name, bool exists)
{
    if (exists)
        status_set(ret, 409, "AlreadyExists", "%s%s%s \"%s\" already exists", r->plural,
                   r->group[0] ? "." : "", r->group, name);
    else
        status_set(ret, 409, "Conflict",
                   "Operation cannot be fulfilled on %s%s%s \"%s\": the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   r->plural, r->group[0] ? "." : "", r->group, name);
    snprintf(ret->name, sizeof(ret->name), "%s", name);
    snprintf(ret->group, sizeof(ret->group), "%s", r->group);
    snprintf(ret->kind, sizeof(ret->kind), "%s", r->plural);
}

static bool may_put(const struct draft *d, enum put how, const struct object *before,
                    struct status *ret)
{
    char now[24];
    if (how == PUT_CREATE && before) {
        conflict(ret, d->resource, d->name, true);
        return false;
    }
    if (how != PUT_REPLACE)
        return true;
    if (!before) {
        status_not_found(ret, d->resource, d->name);
        return false;
    }
    snprintf(now, sizeof(now), "%llu", (unsigned long long)before->rv);
    if (!d->rv[0] || strcmp(d->rv, now) == 0)
        return true;
    conflict(ret, d->resource, d->name, false);
    return false;
}

void store_now(char ret[STORE_TIME_SIZE])
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(ret, STORE_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* @now replaces @before (may be NULL) in store, history and watches. Takes the reference. */
static void replace(struct resource *r, struct object *before, struct object *now)
{
    struct event e = {.change = before ? CHANGE_MODIFIED : CHANGE_ADDED, .rv = now->rv};
    if (before)
        tree_remove(&r->objects, &before->node);
    else
        r->count++;
    tree_add(&r->objects, &now->node);
    e.now = object_ref(now);
    e.before = before; /* its reference moves along */
    history_add(&r->history, e);
    if (r->store->on_change)
        r->store->on_change(r->store, r);
}

void store_add_object(struct resource *r, struct object *object)
{
    replace(r, find_key(r, object->key), object);
}

struct object *store_put(struct resource *r, enum put how, const char *ns, const char *name,
                         const char *json, size_t len, struct status *ret)
{
    struct draft d;
    struct object *before, *now;
    char uid[UUID_SIZE], created[STORE_TIME_SIZE];
    struct stamp stamp = {.uid = uid, .created = created};
    if (!draft_read(&d, r, ns, name, json, len, ret))
        return NULL;
    before = resource_find(r, d.ns, d.name);
    if (!may_put(&d, how, before, ret)) {
        draft_free(&d);
        return NULL;
    }
    store_uuid(r->store, uid);
    store_now(created);
    if (before) {
        stamp.uid = before->uid;
        stamp.created = before->created;
    }
    stamp.rv = store_next(r->store);
    now = draft_finish(&d, &stamp);
    replace(r, before, now);
    return now;
}

bool store_delete(struct resource *r, const char *ns, const char *name, struct status *ret)
{
    struct object *o = resource_find(r, ns, name);
    if (!o) {
        status_not_found(ret, r, name);
        return false;
    }
    tree_remove(&r->objects, &o->node);
    r->count--;
    history_add(&r->history, (struct event){CHANGE_DELETED, store_next(r->store), NULL, o});
    if (r->store->on_change)
        r->store->on_change(r->store, r);
    return true;
}
