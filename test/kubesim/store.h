/*
 * store.h - what the simulated cluster holds: resources, their objects, and what happened lately.
 *
 * One counter of resource versions for all, as etcd has it. An object is immutable and counted; a
 * change makes a new one, and the pair (before, now) goes into the resource's history, which
 * watches read at their own place and from which any state inside the window can be worked out
 * again.
 *
 *     store_put() and store_delete() are the door for everybody who changes the cluster: requests,
 *     the control interface, scripts.
 */
#ifndef KUBESIM_STORE_H
#define KUBESIM_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/rng.h"
#include "base/tree.h"
#include "object.h"
#include "status.h"

enum {
    FIRST_VERSION = 100, /* as if a cluster had been set up before anybody looked */
    UUID_SIZE = 37,
    STORE_TIME_SIZE = sizeof("2026-11-15T23:09:29Z"),
};

enum change {
    CHANGE_ADDED,
    CHANGE_MODIFIED,
    CHANGE_DELETED,
};

struct event {
    enum change change;
    uint64_t rv;
    struct object *now;    /* NULL when deleted */
    struct object *before; /* NULL when added */
};

/* The last `cap` events; number `first` is the oldest that is still there. */
struct history {
    struct event *ring;
    size_t cap;
    uint64_t first;
    uint64_t next;
    uint64_t floor; /* states at this version and later can be told; earlier ones are compacted */
};

struct resource {
    struct list node;
    struct store *store;
    char *group; /* "" is the core group */
    char *version;
    char *plural;
    char *singular;
    char *kind;
    char *short_name; /* NULL: none */
    bool namespaced;
    bool hidden;        /* as if its CRD had been deleted: not in discovery, 404 */
    bool custom;        /* as CRDs are: keys sorted, metadata after items, items with their kind */
    char *api_version;  /* "v1", "apps/v1" */
    const char *hollow; /* what an empty object of the type has besides metadata: in bookmarks */
    struct tree objects;
    size_t count;
    struct history history;
    struct list watches; /* of struct watch; told of each change */
};

struct store {
    struct list resources;
    struct rng rng;
    uint64_t rv;
    size_t window; /* events kept per resource */
    void (*on_change)(struct store *store, struct resource *resource);
};

void store_init(struct store *store, size_t window);
void store_free(struct store *store);

/* The usual resources of a cluster. */
void store_add_builtins(struct store *store);
struct resource *store_add(struct store *store, const char *group, const char *version,
                           const char *plural, const char *kind, bool namespaced, bool custom);
struct resource *store_find(const struct store *store, const char *group, const char *version,
                            const char *plural);
/* By a word of people: pods, deployments.apps, widgets.example.com/v1. NULL if there is none. */
struct resource *store_named(const struct store *store, const char *name);
/* Adds a custom resource by widgets.example.com/v1=Widget[,cluster]. NULL if that is no such. */
struct resource *store_add_custom(struct store *store, const char *spec);

struct object *resource_find(const struct resource *r, const char *ns, const char *name);

/* Which ways of putting there are. */
enum put {
    PUT_EITHER,
    PUT_CREATE,  /* an object that is there is a conflict */
    PUT_REPLACE, /* one that is not there is not found, and an older version is a conflict */
};

/*
 * Puts the object that @json says; namespace and name fill what it lacks (they may be NULL).
 * Returns it (the store's), or NULL with @ret saying what the API server would.
 */
struct object *store_put(struct resource *r, enum put how, const char *ns, const char *name,
                         const char *json, size_t len, struct status *ret);
/* False, with @ret, if there is none. */
bool store_delete(struct resource *r, const char *ns, const char *name, struct status *ret);

void status_not_found(struct status *ret, const struct resource *r, const char *name);

/* Takes a finished object over that was made with store_next() as its version. */
void store_add_object(struct resource *r, struct object *object);
/* The version for the next change; the counter moves. */
uint64_t store_next(struct store *store);
void store_uuid(struct store *store, char ret[UUID_SIZE]);
/* Now, as creationTimestamp says it. */
void store_now(char ret[STORE_TIME_SIZE]);

/* -- history.c -- */
void history_init(struct history *h, size_t cap, uint64_t floor);
void history_free(struct history *h);
/* Takes the references in @event; the oldest one goes when the window is full. */
void history_add(struct history *h, struct event event);
struct event *history_at(struct history *h, uint64_t number);
/* The number of the first event after version @rv. */
uint64_t history_after(struct history *h, uint64_t rv);
/* Forgets events up to and including @rv: who asks for earlier ones is told 410. */
void history_compact(struct history *h, uint64_t rv);
void history_resize(struct history *h, size_t cap);

/* The objects of a resource at some moment, in list order, each with a reference. */
struct snapshot {
    struct object **objects;
    size_t count;
    uint64_t rv;
};
/* The state at version @rv, which is not before history.floor. */
void snapshot_take(struct snapshot *s, struct resource *r, uint64_t rv);
void snapshot_free(struct snapshot *s);

/* Makes everything as it was at @rv (at least each resource's floor), the counter too: what
 * happened since never did. That is what a restored etcd looks like. */
void store_rewind(struct store *store, uint64_t rv);

#endif
