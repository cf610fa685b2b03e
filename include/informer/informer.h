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
#include "informer/error.h"
#include "informer/event.h"
#include "informer/object.h"
#include "informer/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;
struct inf_client;
struct inf_handler;
struct inf_informer;
struct inf_state;

/* ---- clients ---- */

enum inf_log_level {
    INF_LOG_DEBUG, /* every transition of every state machine */
    INF_LOG_INFO,
    INF_LOG_WARN,
    INF_LOG_ERROR,
};

enum {
    INF_HASH_KEY = 32, /* bytes of hash_key in struct inf_client_options */
};

/* All fields may be zero. Strings are copied. */
struct inf_client_options {
    /* How to reach the cluster. All NULL: as kubectl does ($KUBECONFIG, then ~/.kube/config, with
     * the current context); if no kubeconfig exists, as a pod reaches its own cluster. */
    const char *kubeconfig; /* a file */
    const char *context;
    const char *cluster; /* instead of the context's */
    const char *user;    /* instead of the context's */

    /* Alternatively, without a kubeconfig. */
    const char *server; /* a URL: "https://10.0.0.1:6443" */

    /* With either of them. */
    const char *ca_file;    /* NULL: the kubeconfig's; with server the system's authorities */
    const char *token_file; /* instead of other credentials; read again when it changes */

    const char *as; /* impersonate this user */

    /* The credential plugins that a kubeconfig may run, NULL-terminated: a name for a plugin that
     * is found in PATH, otherwise an absolute path. NULL: any; an empty list: none. */
    const char *const *exec_allow;

    /* "http://[user:password@]host:port", https or socks5; "none"; "env": from $HTTPS_PROXY and
     * $NO_PROXY. NULL: the kubeconfig's proxy-url, otherwise the environment. */
    const char *proxy;

    const char *user_agent;  /* NULL: informer/VERSION */
    uint32_t stale_after_ms; /* see on_freshness; 0: 150,000, at most 1 day */
    uint32_t latency_ms; /* while changes arrive faster, read them at this interval: less CPU, but
                                handlers are called up to that much later. 0: never, at most 1000 */

    /* The budget that counts the backlogs of this client's informers; clients may share one. NULL:
     * none. It may be freed after inf_client_close(). */
    struct inf_budget *budget;

    /* The key for hashing secret values: INF_HASH_KEY bytes, copied. NULL: a new random key, so
     * hashes of this client can't be compared with those of another. */
    const unsigned char *hash_key;

    /* Receives log lines, without a newline. NULL: no log. With log_name, each line begins with
     * that name and a colon, to distinguish clusters. */
    void (*log)(void *log_data, enum inf_log_level level, const char *line);
    void *log_data;
    const char *log_name;
    enum inf_log_level log_level; /* minimum level to log */

    /* A bearer token, instead of the kubeconfig's credentials and token_file. It appears in no log. */
    const char *token;

    /* With `as`: groups to impersonate, NULL-terminated. NULL: none. */
    const char *const *as_groups;

    /* Records the caches of this client in this state (state.h) and starts them with what it has:
     * readers and handlers get the saved objects as soon as the state is loaded, then the
     * differences. Informers that are opened before wait for it. Set hash_key, and an epoch that
     * depends on it. Close the client before the state. NULL: none. */
    struct inf_state *state;

    void *reserved[1];
};

/**
 * Opens a client for one cluster. It does not connect yet: informers do.
 *
 * Reads the kubeconfig and the files it names. Returns NULL, with @err naming file, entry and
 * field, if the configuration is invalid. @options may be NULL.
 */
INF_API struct inf_client *inf_client_open(struct uv_loop_s *loop,
                                           const struct inf_client_options *options,
                                           struct inf_error *err);

/**
 * Checks whether @text is a valid `proxy` for a client.
 *
 * Returns 0, or -INF_ECONF with a text that describes the expected form. The text does not repeat
 * @text, which may contain a password. @err may be NULL.
 */
INF_API int inf_proxy_check(const char *text, struct inf_error *err);

/** Called when a client is closed. @client is freed afterwards: only read its data here. */
typedef void inf_client_closed_fn(struct inf_client *client);

/**
 * Closes the client, its informers and its queues, and cancels its requests. Neither handlers nor
 * workers are called any more; the handles are no longer valid, except for @on_closed.
 *
 * Memory and libuv handles are released while the loop runs. Then @on_closed, which may be NULL, is
 * called once, never before this function returns: all callbacks of the client have ended, and
 * structs that were passed to it may be freed. uv_run() returns when nothing else keeps it active.
 * NULL is allowed as @client; then @on_closed is not called.
 */
INF_API void inf_client_close(struct inf_client *client, inf_client_closed_fn *on_closed);

/** The pointer last set with inf_client_set_data(); NULL: none. The library does not use it. */
INF_API void *inf_client_data(const struct inf_client *client);

/** Sets the user's pointer of @client. */
INF_API void inf_client_set_data(struct inf_client *client, void *data);

/**
 * Whether both clients reach the same server in the same way, with the same credentials: for
 * example after a kubeconfig was read again and has not changed. Files that it names are compared
 * by path.
 */
INF_API bool inf_client_same(const struct inf_client *a, const struct inf_client *b);

/**
 * Applies the connection settings of @fresh (credentials, certificate authorities, proxy,
 * stale_after_ms, latency_ms) to @client and closes @fresh. @fresh was opened on the same loop for the same
 * cluster and has no informers.
 *
 * Informers keep their objects and handlers. Watches are opened again at the resource version they
 * had reached. If the server URL differs, everything is listed again, and handlers get on_gap
 * (INF_GAP_RELIST) and the differences. If the settings are equal, nothing is interrupted, but the
 * files they name (certificates, keys, tokens) are read again now. Hash key, log and user agent of
 * @client do not change.
 */
INF_API void inf_client_adopt(struct inf_client *client, struct inf_client *fresh);

/** The URL of the server, for messages: "https://10.0.0.1:6443". Valid as long as the client. */
INF_API const char *inf_client_server(const struct inf_client *client);

/**
 * A digest of the certificate authorities that were configured for the server, as they were read when the
 * client was opened or adopted; 0: none, or the system's. Together with the URL it distinguishes
 * clusters that do not reveal another identity.
 */
INF_API uint64_t inf_client_ca_digest(const struct inf_client *client);

/**
 * The longest time in microseconds that the client kept the loop busy in one iteration, in the last
 * minute. Above a few thousand, other users of the loop notice delays.
 */
INF_API uint64_t inf_client_worst_tick_us(struct inf_client *client);

/** The namespace of the kubeconfig's context, or "default". Valid as long as the client. */
INF_API const char *inf_client_namespace(const struct inf_client *client);

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

/* ---- requests ---- */

/*
 * A request in progress: see access.h and inf_client_wait_synced(). Embed it in your own struct or
 * set `data`. Set it to zero before its first use and keep it until the callback is called; then it
 * may be used again or freed, also in the callback itself.
 *
 * The callback is called exactly once for each request that was started, from the loop, never
 * before the function that starts the request returns. After inf_request_cancel() or
 * inf_client_close() it gets the error INF_ECANCELED.
 */
struct inf_request {
    void *data; /* for the user; the library does not use it */

    void *internal; /* used by the library while the request is active */
    void *reserved[2];
};

/** Cancels a request. Harmless if it is not active: never started, or its callback was called. */
INF_API void inf_request_cancel(struct inf_request *request);

/** Reports that all informers are synced. @err is NULL, or INF_ECANCELED. */
typedef void inf_synced_cb(struct inf_request *request, const struct inf_error *err);

/**
 * Waits until every informer that @client has now is synced (inf_informer_synced()). Informers that
 * are opened later do not count, and informers that are closed meanwhile no longer count.
 *
 * Returns 0, or -INF_EINVAL if @request is active.
 */
INF_API int inf_client_wait_synced(struct inf_client *client, struct inf_request *request,
                                   inf_synced_cb *on_done);

/* ---- handlers ---- */

/* What happens when the backlog of a handler is full because it is slower than the cluster. */
enum inf_overflow {
    /* Stop reading from the server until there is room: all handlers of the cache wait. */
    INF_WAIT,
    /* Keep only the newest state of each object: intermediate changes are not delivered. */
    INF_COALESCE,
    /* Drop the oldest events and report it (on_gap). */
    INF_DROP,
};

/*
 * Embed it in your own struct or set `data`, fill it in, and do not modify it until it is removed.
 * Any callback may be NULL. Callbacks are called from the loop, never inside a call to this
 * library, and may call any function of it. @informer is the one that the handler was added to.
 */
struct inf_handler {
    void *data; /* for the user; the library does not use it */

    /** One change. */
    void (*on_event)(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event);

    /**
     * All objects that existed when the handler was added, or at the first list, were delivered.
     * Called once.
     */
    void (*on_synced)(struct inf_handler *handler, struct inf_informer *informer);

    /** The event stream has, or may have, a gap. Called before the events that follow the gap. */
    void (*on_gap)(struct inf_handler *handler, struct inf_informer *informer,
                   const struct inf_gap *gap);

    /**
     * The server has sent nothing for stale_after_ms, or sends again. The informer keeps trying to
     * reconnect.
     */
    void (*on_freshness)(struct inf_handler *handler, struct inf_informer *informer,
                         const struct inf_freshness *freshness);

    /** No more events in this iteration of the loop: a good time to write collected output. */
    void (*on_batch_end)(struct inf_handler *handler, struct inf_informer *informer);

    /**
     * This handler blocks another informer that shares the cache and is ready for events: its
     * backlog is full (INF_WAIT), or it is paused while the budget is used up.
     * inf_informer_separate() resolves that.
     */
    void (*on_blocking)(struct inf_handler *handler, struct inf_informer *informer);

    enum inf_overflow overflow;
    uint32_t max_events; /* limit of the backlog; 0: 4096 */
    uint32_t max_bytes;  /* limit of the objects in it; 0: 64 MiB */
    uint32_t resync_ms;  /* interval of redelivery of every object (origin INF_RESYNC); 0: never */

    void *internal; /* used by the library from inf_handler_add() to inf_handler_remove() */
    void *reserved[2];
};

/**
 * Registers @handler for every change from now on, preceded by one ADDED for each object already in
 * the cache. No change is missed or delivered twice.
 *
 * Keeps a pointer to @handler until inf_handler_remove() or until the informer is closed. Never
 * calls back before it returns. May be called from a handler. Returns 0, or -INF_EINVAL if @handler
 * is already registered or a reserved field is not zero.
 */
INF_API int inf_handler_add(struct inf_informer *informer, struct inf_handler *handler);

/**
 * Removes @handler. It is not called any more, not even for events in its backlog. May be called at
 * any time, also from its own callbacks. Harmless if it is not registered.
 */
INF_API void inf_handler_remove(struct inf_handler *handler);

/**
 * Pause and resume the calls to @handler, for example while its own output is full. Events are
 * added to its backlog meanwhile; `overflow` determines what happens when the backlog is full.
 */
INF_API void inf_handler_pause(struct inf_handler *handler);
INF_API void inf_handler_resume(struct inf_handler *handler);

/** Whether on_synced was called, or would have been. */
INF_API bool inf_handler_synced(const struct inf_handler *handler);

/** The number of events in the backlog of @handler. */
INF_API size_t inf_handler_backlog(const struct inf_handler *handler);

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
