/*
 * auth.h - the credentials of a cluster, as HTTP headers for each request.
 *
 *     rc = auth_get(auth, &waiter, &headers, &err);
 *     rc == 0: send the headers; AUTH_LATER: wait for on_ready, then call auth_get() again
 *     ... response 401:  if (auth_refused(auth, headers.generation))  retry once
 *
 * There is one for each cluster, shared by all its requests. It renews credentials that change
 * (token files, exec plugins); a request only sees the headers that are current when it is sent.
 */
#ifndef KUBE_AUTH_H
#define KUBE_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "base/list.h"
#include "base/log.h"
#include "base/scrubber.h"
#include "seam/clock.h"
#include "wire/http/http_conn.h"

struct auth;
struct kubeconfig;
struct proxy;
struct spawner;
struct tls_reloader;

enum {
    AUTH_LATER = 1,
};

struct auth_settings {
    struct clock *clock;
    struct log *log;                 /* may be NULL */
    const struct kubeconfig *config; /* only the user's part is used */
    struct spawner *spawner;         /* runs the exec plugin; NULL if there is none */
    struct tls_reloader *tls;        /* presents the certificates that the plugin returns */
    const struct proxy *proxy;       /* between us and the server; NULL: none */
};

struct auth_headers {
    const struct http_header *list;
    size_t count;
    uint64_t generation; /* of the credentials in the headers */
};

/* Embedded in its owner, initially zero. on_ready is called once, from the loop: call auth_get()
 * again (@why is NULL), or no credentials are available because of @why. */
struct auth_waiter {
    struct list node;
    void (*on_ready)(struct auth_waiter *waiter, const struct inf_error *why);
};

/* All of @settings is borrowed. */
struct auth *auth_new(const struct auth_settings *settings);

/* Uses the credentials of @config from now on and calls on_ready of all waiters. The arguments are
 * borrowed, as in auth_settings. */
void auth_change(struct auth *auth, const struct kubeconfig *config, struct tls_reloader *tls,
                 const struct proxy *proxy);

/* Reads a token file again at the next request. */
void auth_renew(struct auth *auth);

/* There must be no waiters. NULL is allowed. */
void auth_free(struct auth *auth);

/* Returns 0 with the headers, valid until the next call; AUTH_LATER, and on_ready will be called;
 * or -code if no credentials are available. If @auth is NULL there are no headers. */
int auth_get(struct auth *auth, struct auth_waiter *waiter, struct auth_headers *ret,
             struct inf_error *err);

/* Does nothing if @waiter does not wait. */
void auth_stop_waiting(struct auth_waiter *waiter);

/* Describes the credentials for messages: "the token of user 'u'". The caller frees it; NULL if
 * there are none. @auth may be NULL. */
char *auth_describe(const struct auth *auth);

/* The server rejected the headers of @generation with 401. Returns whether other credentials are or
 * will be available, so that the request should be retried. */
bool auth_refused(struct auth *auth, uint64_t generation);

/* Removes the current and previous credentials and those of the proxy from texts that peers send.
 * Borrowed from @auth; NULL if @auth is. */
const struct scrubber *auth_scrubber(const struct auth *auth);

#endif
