/*
 * auth_method.h - one kind of credentials. Each auth_*.c file implements one or more.
 *
 * The first method of the table in auth.c that applies to a kubeconfig is used until the kubeconfig
 * changes. It sets the Authorization header when it knows the credentials, and again whenever they
 * change; auth.c does the rest (requests, waiters, impersonation, scrubbing).
 *
 * HINT: a new method is one file and one row in auth.c.
 */
#ifndef KUBE_AUTH_METHOD_H
#define KUBE_AUTH_METHOD_H

#include "base/list.h"
#include "base/scrubber.h"
#include "kube/auth/auth.h"
#include "kube/config/kubeconfig.h"

/* Functions that a method does not need are NULL. */
struct auth_method {
    /* Whether @config has credentials of this kind. Required. */
    bool (*applies)(const struct kubeconfig *config);

    /* Sets the header if it is known, and `state` if the method has one. */
    void (*start)(struct auth *a);

    /* A request is about to be sent: renews credentials that are due. Returns 0, -code if there are
     * none, or AUTH_LATER; then it will call auth_notify(). */
    int (*get)(struct auth *a, struct inf_error *err);

    /* The server rejected the current header. Returns whether get() will provide another one. */
    bool (*refused)(struct auth *a);

    /* Makes the next get() read its source again. */
    void (*renew)(struct auth *a);

    /* As auth_describe(). */
    char *(*describe)(const struct auth *a);

    /* Frees `state`. Never calls auth_notify(). */
    void (*stop)(struct auth *a);
};

/* Methods use `settings` and `state`; the rest belongs to auth.c. */
struct auth {
    struct auth_settings settings;
    const struct auth_method *method;
    void *state; /* of the method */
    struct list waiters;
    char *authorization;         /* NULL: no such header */
    uint64_t generation;         /* of the authorization; incremented when it changes */
    struct http_header *headers; /* the authorization first (may be unset), then impersonation */
    struct scrubber scrubber;    /* knows the credentials that were sent */
};

extern const struct auth_method auth_token_file, auth_token, auth_basic, auth_exec,
    auth_certificate, auth_anonymous;

/* Send "Authorization: Bearer @token" or "Basic @login" (base64) from now on. Copied. */
void auth_set_bearer(struct auth *a, const char *token);
void auth_set_basic(struct auth *a, const char *login);

/* Send no Authorization header from now on. */
void auth_clear_authorization(struct auth *a);

/* Calls on_ready of all waiters. @why is NULL if the credentials are available. May change the
 * method: don't use its state afterwards. */
void auth_notify(struct auth *a, const struct inf_error *why);

#endif
