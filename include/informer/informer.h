/*
 * informer.h - a live, exact copy of selected objects of a cluster, on your libuv loop.
 *
 *     struct inf_watch watch = {.resource = "pods"};
 *     struct inf_client *client = inf_client_open(loop, NULL, &err);
 *     struct inf_informer *pods = inf_informer_open(client, &watch, &err);
 *     inf_handler_add(pods, &my_handler);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * An informer lists the objects once, then follows every change. It never gives up: when a stream
 * ends (a server restart, a proxy, an expired resource version) it reconnects and delivers the
 * differences. event.h states what a handler receives, and store.h how to read the copy.
 *
 * Conventions. Functions that can fail return 0 or a negated code of error.h. Results are stored
 * through parameters named ret_x, untouched on failure. Durations end in _ms, points in time in _us
 * (microseconds since 1970, UTC). `data` is a pointer that is kept for the user; `ctx` is passed
 * through one call to the function given with it.
 *
 * Structs that the caller allocates have reserved fields, which later versions may use. Set such a
 * struct to zero first (`= {0}`, or designated initializers); otherwise -INF_EINVAL is returned.
 * Structs that only the library allocates may grow at their end.
 *
 * Everything here belongs to the thread that runs the loop. No function blocks except
 * inf_client_open(), which reads small local files. No function calls back before it returns. The
 * library does not change signal handlers: ignore SIGPIPE in your main().
 */
#ifndef INFORMER_INFORMER_H
#define INFORMER_INFORMER_H

#include <stdbool.h>

#include "informer/budget.h"
#include "informer/client.h"
#include "informer/error.h"
#include "informer/event.h"
#include "informer/handler.h"
#include "informer/object.h"
#include "informer/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_informer;

/* ---- informers ---- */

/* Receives the values of one object for one index: see inf_index_emit(). */
struct inf_index_values;

/**
 * Gives the values of @object in an index, by calling inf_index_emit() for each of them.
 *
 * Must depend only on @object and @data, and must not call other functions that change the store.
 */
typedef void inf_index_fn(void *data, const struct inf_object *object,
                          struct inf_index_values *values);

/** Adds @value, copied, to the values of the object for which an inf_index_fn was called. */
INF_API void inf_index_emit(struct inf_index_values *values, const char *value);

/* An index of the store: see inf_store_by_index(). Its values come from a field or a function. */
struct inf_index {
    const char *name;     /* "node" */
    const char *path;     /* "spec.nodeName": see path.h; NULL: use the function */
    inf_index_fn *values; /* NULL: use the path */
    void *data;           /* for the function; must stay valid until the client is closed */
    void *reserved[2];
};

/* All fields except the resource may be zero. Strings are copied. */
struct inf_watch {
    /* The resource name as kubectl accepts it: "pods", "po", "Pod", "deployments.apps",
     * "deployments.v1.apps"; or with group and version: "deployments.apps/v1". The server resolves
     * it if necessary. */
    const char *resource;
    /* Prefix of log lines about this watch; NULL: the resource. It does not affect sharing: log
     * lines of a shared copy have the names of all its watches. */
    const char *log_name;
    const char *ns; /* NULL: all namespaces; see also ns_is_default */
    /* Namespaces to exclude from a watch of all namespaces: names, or patterns with '*' for any
     * text and '?' for one character. At most 64. */
    const char *const *exclude_ns;
    size_t n_exclude_ns;

    /* Selectors, see selector.h. The server evaluates them: an object that is no longer selected is
     * delivered as deleted. NULL: all objects. */
    const char *label_selector;
    const char *field_selector;

    /* Fields to keep, as paths (see path.h). Secret values, and the values that `redact` names, are
     * hashed when an object arrives: no later stage sees them. */
    const char *const *drop; /* fields to remove; NULL: metadata.managedFields */
    size_t n_drop;
    const char *const *redact; /* fields to hash, in addition to those of Secrets */
    size_t n_redact;

    const struct inf_index *indexes;
    size_t n_indexes; /* at most 16 */

    bool ns_is_default; /* `ns` is only a default; it is ignored for cluster-scoped resources */
    bool reveal;        /* keep the values of Secrets in clear text */
    bool metadata_only; /* request only metadata from the server */
    /* The resource may be missing on the server, now or later. Then there are no objects, which is
     * not an error, and the informer looks for the resource every 3 s to 6 s. A resource is
     * considered removed only if the server's discovery documents do not list it, or if the API
     * itself (not a load balancer) repeatedly returns 404. Everything else is a failure, and the
     * objects stay. */
    bool optional;
    /* If changes arrive faster than they are applied, deliver only an object's newest state. */
    bool coalesce;
    /* Hold objects compressed: less memory, more CPU per change and read. Objects that are passed to
     * callbacks or found by inf_store_get() are as usual; one that a walk returns is valid only until
     * the next step of that walk. */
    bool compact;
    bool reserved_flags[2];

    /* Only the objects whose uid has a hash in part `shard_index`, from 0, of `shard_count`, at most
     * 1024; 0 or 1: all objects. The server selects them if it has the feature gate
     * ShardedListAndWatch (Kubernetes 1.36); otherwise the others are dropped when they arrive. */
    uint32_t shard_index, shard_count;

    void *reserved[3];
};

/**
 * Opens an informer: a copy of the objects that @watch selects. The copy is filled when the loop
 * runs.
 *
 * Identical watches on one client share one cache and one stream; all fields except log_name must
 * be equal. Returns NULL, with @err, if @watch is not valid; whether the server has the resource is
 * known later (inf_informer_status()). The informer is valid until inf_informer_close() or
 * inf_client_close().
 */
INF_API struct inf_informer *inf_informer_open(struct inf_client *client,
                                               const struct inf_watch *watch,
                                               struct inf_error *err);

/** Checks @watch without a server. Returns 0, or -INF_EINVAL. @err may be NULL. */
INF_API int inf_watch_check(const struct inf_watch *watch, struct inf_error *err);

/**
 * Gives the informer, which was opened for @watch, a cache and a stream of its own if it shares
 * them. After that, a full handler of one informer does not hold the others.
 *
 * No event is lost or repeated: the stream continues at the resource version of the cache, when the
 * informer's handlers accept events again. Unchanged objects are shared in memory.
 * inf_informer_store() returns another store afterwards. Returns 0, or -INF_EINVAL if the informer
 * was not opened for @watch. @err may be NULL.
 */
INF_API int inf_informer_separate(struct inf_informer *informer, const struct inf_watch *watch,
                                  struct inf_error *err);

/**
 * Changes the watch of the informer: another selector, other fields, another namespace.
 *
 * The cache stays and is compared with the first list of @watch. Handlers get on_gap
 * (INF_GAP_RELIST, with @why) and then only the differences, with origin INF_RELIST. An object with
 * the same uid and resource version is not a difference, even if fewer or more of its fields are
 * kept. A change of only `optional`, `coalesce` and `compact` needs no list. If the cache was shared
 * with other informers, this informer gets its own. If @watch equals the current watch, nothing
 * happens. Returns 0, or -INF_EINVAL and changes nothing. @err may be NULL.
 */
INF_API int inf_informer_change(struct inf_informer *informer, const struct inf_watch *watch,
                                const char *why, struct inf_error *err);

/**
 * Moves the objects of @other, and the events not yet delivered to its handlers, to @informer, and
 * closes @other.
 *
 * Both have the same client and the same resource, and the handlers of both are synced
 * (inf_handler_synced()). The caller must then call inf_informer_change() with a watch that selects
 * the objects of both. Takes time proportional to the objects of @other.
 */
INF_API void inf_informer_merge(struct inf_informer *informer, struct inf_informer *other);

/**
 * Moves the objects of one namespace from @informer to a new informer for @watch: the opposite of
 * inf_informer_merge().
 *
 * @handler is added to the new informer. The moved objects count as delivered to it: it gets the
 * differences to the first list, with @why. @informer no longer has these objects; the caller must
 * then call inf_informer_change() on it, with a watch without that namespace. Returns NULL, with
 * @err, as inf_informer_open() does.
 */
INF_API struct inf_informer *inf_informer_carve(struct inf_informer *informer,
                                                const struct inf_watch *watch,
                                                struct inf_handler *handler, const char *why,
                                                struct inf_error *err);

/**
 * Ends the watch of the informer: its handlers get on_gap with @why, then a deletion for each
 * object. After that, the informer can only be closed.
 */
INF_API void inf_informer_end(struct inf_informer *informer, const char *why);

/**
 * Checks whether @text is a valid resource name for a watch, without a server. Returns 0, or
 * -INF_EINVAL with a text that describes the expected form. @err may be NULL.
 */
INF_API int inf_resource_check(const char *text, struct inf_error *err);

/**
 * Whether @text names a cluster-scoped resource such as "nodes", as far as that is known without a
 * server. Returns false if @text is not a valid name.
 */
INF_API bool inf_resource_is_cluster_scoped(const char *text);

/** Changes the log_name of struct inf_watch. @name is copied. */
INF_API void inf_informer_set_log_name(struct inf_informer *informer, const char *name);

/** Called when an informer is closed. @informer is freed afterwards: only read its data here. */
typedef void inf_informer_closed_fn(struct inf_informer *informer);

/**
 * Closes an informer: its handlers are not called any more, and the handle is no longer valid,
 * except for @on_closed. May be called from a handler of the informer.
 *
 * Then @on_closed, which may be NULL, is called once, from the loop and never before this function
 * returns: handlers that were added to the informer may be freed. A shared cache is freed with its
 * last informer, in small steps; the callback of inf_client_close() marks the end of all of them.
 * NULL is allowed as @informer; then @on_closed is not called.
 */
INF_API void inf_informer_close(struct inf_informer *informer, inf_informer_closed_fn *on_closed);

/** The pointer last set with inf_informer_set_data(); NULL: none. The library does not use it. */
INF_API void *inf_informer_data(const struct inf_informer *informer);

/** Sets the user's pointer of @informer. */
INF_API void inf_informer_set_data(struct inf_informer *informer, void *data);

/**
 * The cache. Valid as long as the informer. Get it again after inf_informer_separate(), _change(),
 * _merge(), _carve() and _end(): an informer that shared its cache has another one afterwards.
 */
INF_API const struct inf_store *inf_informer_store(const struct inf_informer *informer);

/* A resource of the API. */
struct inf_resource {
    const char *group; /* "": the core group */
    const char *version;
    const char *name; /* "deployments" */
    const char *kind; /* "Deployment"; NULL: no server was queried */
    void *reserved[2];
};

/**
 * Stores the resource that the informer watches in @ret_resource, valid until you return to the loop.
 * Returns false if the name is not resolved yet.
 */
INF_API bool inf_informer_resource(const struct inf_informer *informer,
                                   struct inf_resource *ret_resource);

/** Whether the first list is complete and was delivered to the handlers. */
INF_API bool inf_informer_synced(const struct inf_informer *informer);

/* The age of an event that has not happened: see struct inf_status. */
#define INF_NEVER UINT64_MAX

/* The current state of an informer. */
struct inf_status {
    bool synced;  /* inf_informer_synced(), and any list after inf_informer_change() is complete */
    bool stale;   /* the server has sent nothing for too long */
    bool waiting; /* for an optional resource that the server does not have */
    bool held;    /* not reading, because a handler with INF_WAIT is full */
    struct inf_error error; /* of the last request; code 0: no error, or it is over */

    uint64_t event_age_ms;    /* since the last event of a watch; INF_NEVER */
    uint64_t bookmark_age_ms; /* since the last bookmark; INF_NEVER */
    uint64_t heard_age_ms;    /* since the last complete message; INF_NEVER */
    uint64_t failing_for_ms;  /* since the first failure; 0: it is not failing */
    uint64_t held_for_ms;     /* 0: it is not held */

    /* Counters since the informer was opened. */
    uint64_t requests;            /* sent to the server */
    uint64_t ends[INF_ERRORS];    /* ends of streams and failed requests, by error code */
    uint64_t relists[INF_ERRORS]; /* by the error code that caused them */
    uint64_t skipped;             /* objects that could not be decoded */
    uint64_t coalesced;           /* changes replaced by a newer one before delivery */
    size_t queued;                /* changes that currently wait to be applied */

    /* The list that is being received: its objects up to now, and their memory as in
     * inf_store_bytes(). 0: no list is in progress, or no object has arrived. */
    uint64_t list_objects;
    uint64_t list_bytes;

    /* The copy was restored (see state.h), and the server has not confirmed it yet. It has the age
     * restored_age_ms, which is 0 otherwise. */
    bool restored;
    uint64_t restored_age_ms;

    uint64_t other_shards; /* objects of other shards that arrived; 0 if the server selects */
    uint64_t reserved[3];
};

/** Stores the current state of @informer in @ret_status. The error text is a copy. */
INF_API void inf_informer_status(const struct inf_informer *informer,
                                 struct inf_status *ret_status);

/**
 * The state as one word: "syncing", "restored", "live", "stale", "held", "waiting", "forbidden",
 * "unauthorized", "not found", "failing".
 */
INF_API const char *inf_status_name(const struct inf_status *status);

/* ---- version ---- */

/* The version of these headers. Within a major version, programs compiled with older headers work
 * with newer libraries. */
#define INF_VERSION_MAJOR 1
#define INF_VERSION_MINOR 0
#define INF_VERSION_PATCH 0
#define INF_VERSION_HEX   ((INF_VERSION_MAJOR << 16) | (INF_VERSION_MINOR << 8) | INF_VERSION_PATCH)

/** The version of the library that is in use, "1.0.0". */
INF_API const char *inf_version(void);

/** The version of the library that is in use, as INF_VERSION_HEX: 0x010000. */
INF_API unsigned inf_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
