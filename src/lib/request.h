/*
 * request.h - the common part of all requests of a client (struct inf_request): each is in its
 * client's list until its callback is called.
 */
#ifndef LIB_REQUEST_H
#define LIB_REQUEST_H

#include "informer/access.h"

#include "kube/discovery/document.h"
#include "lib/client.h"

struct request;

struct request_ops {
    void (*stop)(struct request *request); /* stops what is in progress besides `document` */
    void (*report)(struct request *request, const struct inf_error *why); /* NULL: success */
    void (*free)(struct request *request);
    /* An informer of the client closes. NULL: does not matter. */
    void (*on_informer_closed)(struct request *request, const struct inf_informer *informer);
};

struct request {
    const struct request_ops *ops;
    struct inf_request *user; /* owned by the caller */
    struct inf_client *client;
    struct list node;
    struct document document; /* the HTTP request in progress, if any */
    struct task end;          /* ends the request from the loop, with the result `code` */
    int code;
    struct deferred_free deferred_free;
};

/* Registers @request, which its ops->free() frees, as @user. Returns 0, or -INF_EINVAL if @user is
 * already active; then @request is freed. */
int request_start(struct request *request, const struct request_ops *ops, struct inf_client *client,
                  struct inf_request *user);

/* Ends the request: no callback of it is called afterwards, except by ops->report(), which is
 * called now. The memory is freed in the reap phase. */
void request_end(struct request *request, const struct inf_error *why);

/* Ends the request from the loop, with @code (0: success). */
void request_end_later(struct request *request, int code);

#endif
