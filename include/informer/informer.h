/*
 * informer.h - a live, exact copy of some of a cluster's objects, on your libuv loop.
 *
 *     struct inf_watch watch = {.resource = "pods"};
 *     struct inf_client *client = inf_client_open(loop, NULL, &err);
 *     struct inf_informer *pods = inf_informer_open(client, &watch, &err);
 *     inf_handler_add(pods, &my_handler);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * An informer lists the objects once, then follows every change. It never gives up: what ends a
 * stream (a restart, a proxy, an expired version) is waited out, and the differences are told. See
 * event.h for what a handler is promised and store.h for how to read the copy.
 *
 * Everything here belongs to the thread that runs the loop. No function blocks but
 * inf_client_open(), which reads small local files. Nothing is called back before a function
 * returns. A library can't ignore SIGPIPE for you: do it once in your main().
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

/* ---- a cluster ---- */

enum inf_log_level {
    INF_LOG_DEBUG, /* every move of every state machine */
    INF_LOG_INFO,
    INF_LOG_WARN,
    INF_LOG_ERROR,
};

enum {
    INF_HASH_KEY = 32,
};

/* All fields may be left zero. Strings are copied. */
struct inf_client_options {
    /* How to reach it. All NULL: as kubectl finds it ($KUBECONFIG, then ~/.kube/config, the current
     * context); if there is nothing, as a pod reaches the cluster it is in. */
    const char *kubeconfig; /* a file */
    const char *context;
    const char *cluster; /* instead of the context's */
    const char *user;    /* instead of the context's */

    /* Or without any kubeconfig. */
    const char *server;     /* a URL: "https://10.0.0.1:6443" */
    const char *ca_file;    /* with server; NULL: the system's authorities */
    const char *token_file; /* with server; read again as it changes */

    const char *as; /* act as this user, if we may */

    /* To NULL: the credential plugins that a kubeconfig may have us run: by name if PATH is searched
     * for it, else by absolute path. NULL: any; an empty list: none. */
    const char *const *exec_allow;

    /* "http://[user:password@]host:port", https or socks5; "none"; "env": what $HTTPS_PROXY and
     * $NO_PROXY say. NULL: the kubeconfig's proxy-url, else the environment. */
    const char *proxy;

    const char *user_agent; /* NULL: informer/VERSION */
    uint32_t stale_after_s; /* see on_freshness; 0: 150, at most 1 day */

    /* What the backlogs of this client's informers count in; several clients may share one. NULL: none.
     * It may be freed after inf_client_close(). */
    struct inf_budget *budget;

    /* INF_HASH_KEY bytes, the key under which secret values are hashed, copied. NULL: a new one, so
     * that what this client hashes can be compared with nothing else. */
    const unsigned char *hash_key;

    /* Told what happens, a line at a time, without a newline. NULL: nothing is told. Each line begins
     * with log_name and a colon, for who has several clusters; NULL: it doesn't. */
    void (*log)(void *log_ctx, enum inf_log_level level, const char *line);
    void *log_ctx;
    const char *log_name;
    enum inf_log_level log_level; /* lines below it are not made */
};

/**
 * One cluster, reached as the kubeconfig says. Does not connect yet: informers do.
 *
 * NULL, with @err naming file, entry and field, if the configuration is invalid. @options may be
 * NULL.
 */
INF_API struct inf_client *inf_client_open(struct uv_loop_s *loop,
                                           const struct inf_client_options *options,
                                           struct inf_error *err);

/**
 * Whether @text can be the `proxy` of a client. Returns 0, or -INF_ECONF with a text that says what
 * would be right and does not repeat it: a password may be in it. @err may be NULL.
 */
INF_API int inf_proxy_check(const char *text, struct inf_error *err);

/**
 * Closes the client, its informers and its queues; all are gone for the caller. Neither handlers
 * nor workers are called any more. Memory and handles go as the loop runs on; when nothing else
 * keeps it, uv_run() returns. NULL is fine.
 */
INF_API void inf_client_close(struct inf_client *client);

/**
 * Whether both clients reach the same server in the same way, with the same credentials: a kubeconfig
 * was read again and says the same. Files that it names are compared by their paths.
 */
INF_API bool inf_client_same(const struct inf_client *a, const struct inf_client *b);

/**
 * Gives @client the connection settings of @fresh (credentials, certificate authorities, proxy, stale_after_s) and closes @fresh,
 * which was opened on the same loop for the same cluster and has no informers.
 *
 * Informers keep their objects and their handlers: watches are opened again at the resource version they had reached; with another
 * server URL all is listed, and handlers get on_gap (INF_GAP_RELIST) and the differences. If both say
 * the same nothing is interrupted, but files that are named (certificates, keys, tokens) are read again now. Hash key, log and
 * user agent stay those of @client.
 */
INF_API void inf_client_adopt(struct inf_client *client, struct inf_client *fresh);

/** The server's address, for messages: "https://10.0.0.1:6443". Lives as long as the client. */
INF_API const char *inf_client_server(const struct inf_client *client);

/** How long the client held the loop in one turn, at the longest, in the last minute: microseconds.
 * Beyond a few thousand others on the loop notice. */
INF_API uint64_t inf_client_worst_tick_us(struct inf_client *client);

/** The namespace of the kubeconfig's context; "default" if it names none. Lives as long as the
 * client. */
INF_API const char *inf_client_namespace(const struct inf_client *client);

/* ---- an informer ---- */

/* Objects by what is in them: see inf_store_by_index(). */
struct inf_index {
    const char *name; /* "node" */
    const char *path; /* "spec.nodeName": see path.h */
};

/* Fields may be left zero, but for the resource. Strings are copied. */
struct inf_watch {
    /* As kubectl takes them: "pods", "po", "Pod", "deployments.apps", "deployments.v1.apps"; or with
     * group and version as "deployments.apps/v1". What needs it is looked up at the server. */
    const char *resource;
    /* Log lines about it begin with this name; NULL: with the resource. Watches with different names
     * are the same otherwise: the lines of a copy that they share have all names. */
    const char *log_name;
    const char *ns; /* NULL: all namespaces */
    /* Nobody asked for `ns`, it is where one looks: what is in no namespace is watched all the same. */
    bool ns_is_default;
    /* Of all, leave out these: names, or patterns with '*' for any text and '?' for a character. At
     * most 64. */
    const char *const *exclude_ns;
    size_t n_exclude_ns;

    /* Which of them, see selector.h. It is the server that selects: an object that no longer is
     * selected is told as deleted. NULL: all. */
    const char *label_selector;
    const char *field_selector;

    /* What of them, as paths (see path.h). Secret values, and what `redact` names, are hashed when an
     * object comes in: nothing later ever sees them. */
    const char *const *drop; /* fields to cut; NULL: metadata.managedFields */
    size_t n_drop;
    const char *const *redact; /* fields to hash, beside those of Secrets */
    size_t n_redact;
    bool reveal;        /* Secrets are kept as they are, for who asks for exactly that */
    bool metadata_only; /* the server sends no more than metadata */

    const struct inf_index *indexes;
    size_t n_indexes; /* at most 16 */

    /* The server may not have the resource yet, or no longer: then there are no objects, which is no
     * error, and it is looked for every 3 s to 6 s. That it has it no longer is believed only if its
     * discovery documents do not list the resource, or if the API itself (not a load balancer) answers
     * 404 repeatedly; everything else is a failure, and the objects stay. */
    bool optional;
    bool coalesce; /* of each object only the newest state is told, if changes come faster */
};

/**
 * A copy of the objects that @watch selects. Begins to fill as soon as the loop runs.
 *
 * Who asks a client twice for the same shares one copy and one stream: the same is a watch with the
 * same fields, indexes included. NULL, with @err, if the resource is not one that can be asked for;
 * whether the server has it shows later (inf_informer_status()).
 * The informer lives until inf_informer_close() or inf_client_close().
 */
INF_API struct inf_informer *inf_informer_open(struct inf_client *client,
                                               const struct inf_watch *watch,
                                               struct inf_error *err);

/** Whether an informer can be opened for @watch, without asking any server. Returns 0, or -INF_EINVAL. @err may be NULL. */
INF_API int inf_watch_check(const struct inf_watch *watch, struct inf_error *err);

/**
 * Gives the informer, which was opened for @watch, a copy and a stream of its own, if it shares them with others: a full
 * handler of the one does not hold the other any more. No event is lost or repeated; the stream continues at the resource version
 * of the copy, when the informer's handlers take events again. Objects that did not change are shared in memory.
 * inf_informer_store() is another one afterwards. Returns 0, or -INF_EINVAL if @watch is another one. @err may be NULL.
 */
INF_API int inf_informer_separate(struct inf_informer *informer, const struct inf_watch *watch,
                                  struct inf_error *err);

/**
 * Has the informer follow @watch instead, of the same client: another selector, other fields, another namespace.
 *
 * The copy stays and is compared with the first list of @watch. Handlers get on_gap (INF_GAP_RELIST, with @why) and then only
 * the differences, origin INF_RELIST: an object with the same uid and resource version is none, also if fewer or more of its
 * fields are kept. `optional` and `coalesce` change without a list. If the copy was shared with other informers this one gets its own. Nothing happens if @watch says the same
 * as before. Returns 0, or -INF_EINVAL, and nothing has changed. @err may be NULL.
 */
INF_API int inf_informer_change(struct inf_informer *informer, const struct inf_watch *watch,
                                const char *why, struct inf_error *err);

/**
 * Gives the informer the objects of @other, of the same client and resource, and what the handlers of @other have still to be
 * told; closes @other. inf_informer_change() has to follow, with a watch that selects both. The handlers of both were told of
 * all objects (inf_handler_synced()). Takes time for each object of @other.
 */
INF_API void inf_informer_merge(struct inf_informer *informer, struct inf_informer *other);

/**
 * The opposite: opens an informer for @watch, of one namespace, which begins with the objects that @informer has there. @handler
 * is added to it and knows of them: it gets the differences to the first list, with @why. They are not @informer's any more;
 * inf_informer_change() has to follow there, with a watch without that namespace. NULL, with @err, as inf_informer_open().
 */
INF_API struct inf_informer *inf_informer_carve(struct inf_informer *informer,
                                                const struct inf_watch *watch,
                                                struct inf_handler *handler, const char *why,
                                                struct inf_error *err);

/** Has the informer follow nothing any more: on_gap as above, then its handlers get a deletion for each object. It can only be
 * closed then. */
INF_API void inf_informer_end(struct inf_informer *informer, const char *why);

/**
 * Whether @text can be the resource of a watch, without asking any server. Returns 0, or
 * -INF_EINVAL with a text that says what would be right. @err may be NULL.
 */
INF_API int inf_resource_check(const char *text, struct inf_error *err);

/**
 * Whether @text names a resource that is in no namespace, as far as that is known without a server:
 * "nodes". For one that @text can't be, false.
 */
INF_API bool inf_resource_is_cluster_wide(const char *text);

/** Gives it another log_name, as in struct inf_watch. @name is copied. */
INF_API void inf_informer_set_log_name(struct inf_informer *informer, const char *name);

/** Closes one informer: its handlers are not called any more. The copy goes with the last one who
 * shares it. May be called from its handlers. NULL is fine. */
INF_API void inf_informer_close(struct inf_informer *informer);

/** The copy. Lives as long as the informer. */
INF_API const struct inf_store *inf_informer_store(const struct inf_informer *informer);

/* What a watch is of. */
struct inf_resource {
    const char *group; /* "": the core group */
    const char *version;
    const char *name; /* "deployments" */
    const char *kind; /* "Deployment"; NULL: no server was asked */
};

/** Which resource the informer's word means, lent until the loop goes on; false if that is not known yet. */
INF_API bool inf_informer_resource(const struct inf_informer *informer, struct inf_resource *ret);

/** Whether the first list has come in and was told to the handlers. */
INF_API bool inf_informer_synced(const struct inf_informer *informer);

#define INF_NEVER UINT64_MAX

/* How an informer is doing, now. */
struct inf_status {
    bool synced;  /* inf_informer_synced(), and what inf_informer_change() asked for is listed */
    bool stale;   /* nothing was heard from the server for too long */
    bool waiting; /* for an optional resource that the server does not have */
    bool held;    /* not reading, because a handler that wants to be waited for is full */
    struct inf_error error; /* what the last request failed with; code 0: nothing, or it is over */

    uint64_t event_age_ms;    /* since the last event of a watch; INF_NEVER */
    uint64_t bookmark_age_ms; /* since the last bookmark; INF_NEVER */
    uint64_t heard_age_ms;    /* since anything complete came; INF_NEVER */
    uint64_t failing_for_ms;  /* 0: it isn't */
    uint64_t held_for_ms;     /* 0: it isn't */

    /* since it was opened */
    uint64_t requests;
    uint64_t ends[INF_ERRORS];    /* of streams and failed requests, by error code */
    uint64_t relists[INF_ERRORS]; /* by the code that made them necessary */
    uint64_t skipped;             /* objects that could not be read */
    uint64_t coalesced;           /* changes that a newer one replaced before they were told */
    size_t queued;                /* changes that wait to be applied, now */
};

INF_API void inf_informer_status(const struct inf_informer *informer, struct inf_status *ret);

/** In a word: "syncing", "live", "stale", "held", "waiting", "forbidden", "unauthorized", "not found", "failing". */
INF_API const char *inf_status_word(const struct inf_status *status);

/* ---- handlers ---- */

/* What happens when a handler is slower than the cluster: its backlog of events is full. */
enum inf_overflow {
    INF_WAIT, /* stop reading from the server until there is room: nothing is lost, everybody waits
               */
    INF_COALESCE, /* keep only the newest state of each object: changes in between are not told, the
                     end is the same */
    INF_DROP,     /* forget the oldest events, and say so (on_gap) */
};

/*
 * Embed in your own struct, fill in, and leave it alone until it is removed. Any of the functions
 * may be NULL. They are called from the loop, never inside a call to this library, and may call any
 * function of it.
 */
struct inf_handler {
    /** One change. */
    void (*on_event)(struct inf_handler *handler, const struct inf_event *event);

    /** All that was there when the handler came, or at the first list, was told. Once. */
    void (*on_synced)(struct inf_handler *handler);

    /** There is a hole in what is told, or may be: before the events that follow it. */
    void (*on_gap)(struct inf_handler *handler, const struct inf_gap *gap);

    /** Nothing was heard from the server for too long (stale_after), or it is heard again. The
     * informer goes on trying by itself. */
    void (*on_freshness)(struct inf_handler *handler, const struct inf_freshness *freshness);

    /** No more events in this turn of the loop: a good moment to write what was collected. */
    void (*on_batch_end)(struct inf_handler *handler);

    /** Its backlog is full (INF_WAIT), or it is paused while the budget is used up, and because of that another
     * informer that shares the copy and is ready for events gets none: inf_informer_separate() ends that. */
    void (*on_blocking)(struct inf_handler *handler);

    enum inf_overflow overflow;
    uint32_t max_events; /* of backlog; 0: 4096 */
    uint32_t max_bytes;  /* of objects in it; 0: 64 MiB */
    uint32_t resync_s;   /* tell every object again this often (origin INF_RESYNC); 0: never */

    void *reserved; /* the library's, from inf_handler_add() to inf_handler_remove() */
};

/**
 * Tells @handler about every change from now on, after one `ADDED` for each object already in the
 * cache: no change is missed and none told twice.
 *
 * Keeps @handler (not a copy) until inf_handler_remove() or the informer's end. Never calls back
 * before it returns. May be called from a handler. Returns 0, or -INF_EINVAL if @handler is added
 * already.
 */
INF_API int inf_handler_add(struct inf_informer *informer, struct inf_handler *handler);

/**
 * @handler is not called any more, not even for what it has in its backlog. At any time, also from
 * its own functions. Harmless if it is not added.
 */
INF_API void inf_handler_remove(struct inf_handler *handler);

/**
 * Stops and starts the calls to @handler, for one whose own output is full. Events go to its
 * backlog meanwhile, and `overflow` says what happens when that is full.
 */
INF_API void inf_handler_pause(struct inf_handler *handler);
INF_API void inf_handler_resume(struct inf_handler *handler);

/** Whether on_synced was called, or would have been. */
INF_API bool inf_handler_synced(const struct inf_handler *handler);

/** How many events wait for @handler. */
INF_API size_t inf_handler_backlog(const struct inf_handler *handler);

/** The library's version, "0.1.0". */
INF_API const char *inf_version(void);

#ifdef __cplusplus
}
#endif

#endif
