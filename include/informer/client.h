/*
 * client.h - the connection to one cluster: server, credentials, and limits of all its informers.
 *
 *     struct inf_client *client = inf_client_open(loop, NULL, &err);
 *     ...
 *     inf_client_close(client, NULL);
 *
 * A client reads the kubeconfig when it is opened, and connects when an informer needs the server.
 */
#ifndef INFORMER_CLIENT_H
#define INFORMER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/budget.h"
#include "informer/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;
struct inf_client;
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

/* ---- requests ---- */

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

#ifdef __cplusplus
}
#endif

#endif
