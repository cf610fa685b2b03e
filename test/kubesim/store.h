/*
 * store.h - the state of the simulated cluster: resources, their objects, and recent changes.
 *
 * One counter of resource versions for all resources, as in etcd. Objects are immutable and
 * reference-counted; a change makes a new one, and the pair (before, now) is added to the
 * resource's history. Watches read the history at their own position, and the state at any version
 * inside its window can be computed from it.
 *
 *     store_put() and store_delete() are the only way to change the cluster: requests, the control
 *     interface and scripts use them.
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
    FIRST_VERSION = 100, /* as if a cluster had been set up before */
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

/* The last `cap` events; number `first` is the oldest that is kept. */
struct history {
    struct event *ring;
    size_t cap;
    uint64_t first;
    uint64_t next;
    uint64_t floor; /* states at this version and later are available; earlier ones are compacted */
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
    bool hidden; /* as if its CRD had been deleted: not in discovery, 404 */
    bool custom; /* formatted as a CRD: keys sorted, metadata after items, items with their kind */
    char *api_version;  /* "v1", "apps/v1" */
    const char *hollow; /* members of an empty object of the type besides metadata: in bookmarks */
    struct tree objects;
    size_t count;
    struct history history;
    struct list watches; /* of struct watch; they get each change */
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
/* By a resource name: pods, deployments.apps, widgets.example.com/v1. NULL if it is unknown. */
struct resource *store_named(const struct store *store, const char *name);
/* Adds a custom resource by widgets.example.com/v1=Widget[,cluster]. NULL if that is invalid. */
struct resource *store_add_custom(struct store *store, const char *spec);

struct object *resource_find(const struct resource *r, const char *ns, const char *name);

/* Modes of store_put(). */
enum put {
    PUT_EITHER,
    PUT_CREATE,  /* an existing object is a conflict */
    PUT_REPLACE, /* a missing object is not found, and an older version is a conflict */
};

/*
 * Stores the object in @json; namespace and name are used if it lacks them (they may be NULL).
 * Returns it (owned by the store), or NULL with @ret, the error of the API server.
 */
struct object *store_put(struct resource *r, enum put how, const char *ns, const char *name,
                         const char *json, size_t len, struct status *ret);
/* False, with @ret, if it does not exist. */
bool store_delete(struct resource *r, const char *ns, const char *name, struct status *ret);

void status_not_found(struct status *ret, const struct resource *r, const char *name);

/* Takes ownership of a finished object that was made with store_next() as its version. */
void store_add_object(struct resource *r, struct object *object);
/* The version for the next change; increments the counter. */
uint64_t store_next(struct store *store);
void store_uuid(struct store *store, char ret[UUID_SIZE]);
/* The current time in the format of creationTimestamp. */
void store_now(char ret[STORE_TIME_SIZE]);

/* -- history.c -- */
void history_init(struct history *h, size_t cap, uint64_t floor);
void history_free(struct history *h);
/* Takes the references in @event; drops the oldest event when the window is full. */
void history_add(struct history *h, struct event event);
struct event *history_at(struct history *h, uint64_t number);
/* The number of the first event after version @rv. */
uint64_t history_after(struct history *h, uint64_t rv);
/* Removes events up to and including @rv; requests for earlier versions get 410. */
void history_compact(struct history *h, uint64_t rv);
void history_resize(struct history *h, size_t cap);

/* The objects of a resource at one version, in list order, each with a reference. */
struct snapshot {
    struct object **objects;
    size_t count;
    uint64_t rv;
};
/* The state at version @rv, which is not before history.floor. */
void snapshot_take(struct snapshot *s, struct resource *r, uint64_t rv);
void snapshot_free(struct snapshot *s);

/* Restores the state at @rv (at least each resource's floor), including the counter, and drops
 * later changes, as after a restored etcd. */
void store_rewind(struct store *store, uint64_t rv);

#endif
