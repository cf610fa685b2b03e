/*
 * auth.h - who we are, said with each request.
 *
 *     rc = auth_get(auth, &waiter, &headers, &err);
 *     rc == 0: send headers; AUTH_LATER: the waiter is told when to ask again
 *     ... answered 401:  if (auth_refused(auth, headers.generation))  ask again, once
 *
 * One for each cluster, shared by all its requests. Credentials that change (files, programs) are
 * looked after here; a request only ever sees the headers of the moment.
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
#include "wire/http_conn.h"

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
    const struct kubeconfig *config; /* the user's part of it */
    struct spawner *spawner;         /* runs the kubeconfig's exec; NULL if it has none */
    struct tls_reloader *tls;        /* shows the certificates that it gives */
    const struct proxy *proxy;       /* between us and the server; NULL: none */
};

struct auth_headers {
    const struct http_header *list;
    size_t count;
    uint64_t generation; /* of the credentials that are in them */
};

/* Told once, from the loop: ask again (@why is NULL), or there is nothing to be had. Embedded in
 * its owner, zeroed at first. */
struct auth_waiter {
    struct list node;
    void (*on_ready)(struct auth_waiter *waiter, const struct inf_error *why);
};

/* All of @settings is borrowed. */
struct auth *auth_new(const struct auth_settings *settings);

/* Uses the credentials of @config from now on; who waits is told to ask again. All is borrowed, as in auth_settings. */
void auth_change(struct auth *auth, const struct kubeconfig *config, struct tls_reloader *tls,
                 const struct proxy *proxy);

/* Reads a token file again at the next request. */
void auth_renew(struct auth *auth);

/* Nobody waits any more. NULL is fine. */
void auth_free(struct auth *auth);

/* Returns 0 with the headers, lent until the next call; AUTH_LATER; or -code if there are none to
 * be had. @auth may be NULL: nobody. */
int auth_get(struct auth *auth, struct auth_waiter *waiter, struct auth_headers *ret,
             struct inf_error *err);

/* Harmless for one that does not wait. */
void auth_stop_waiting(struct auth_waiter *waiter);

/* What the server saw of us, for people: "the token of user 'u'". The caller frees it; NULL: there
 * was nothing to see. @auth may be NULL. */
char *auth_describe(const struct auth *auth);

/* The server did not know us by the headers of @generation. Whether there are others, now or soon:
 * then the request is worth another try. */
bool auth_refused(struct auth *auth, uint64_t generation);

/* Knows the credentials that are in use, the ones before them, and the proxy's, to remove them from what
 * peers send. Lent; NULL if @auth is. */
const struct scrubber *auth_scrubber(const struct auth *auth);

#endif
