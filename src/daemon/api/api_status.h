/*
 * api_status.h - errors of the local API as Kubernetes `Status` objects.
 *
 *     api_fault_set(fault, 404, "pods \"%s\" not found", name);
 *     api_fault_reply(fault, x);                 as the response
 *     api_fault_put(fault, &line);               in a watch event of type ERROR
 */
#ifndef DAEMON_API_STATUS_H
#define DAEMON_API_STATUS_H

#include <stdbool.h>

#include "base/buf.h"

struct http_exchange;

struct api_fault {
    int code;             /* of HTTP; 0: no fault */
    unsigned retry_after; /* seconds; 0: none */
    bool too_large;       /* 504: the cause is ResourceVersionTooLarge, which clients retry */
    bool denied;          /* 403: the reader may not read it; such requests are logged */
    /* Which object or resource, borrowed; NULL: none. */
    const char *name;
    const char *group;
    const char *resource;
    char message[512]; /* longer ones are truncated */
};

/* Sets code and message. Returns -1, for callers that fail with it. */
__attribute__((format(printf, 3, 4))) int api_fault_set(struct api_fault *fault, int code,
                                                        const char *fmt, ...);

/* Appends the Status object. */
void api_fault_put(const struct api_fault *fault, struct buf *out);

/* Responds with it and finishes the exchange. */
void api_fault_reply(const struct api_fault *fault, struct http_exchange *x);

/* The same for a fault with only a code and a message. */
void api_reply_fault(struct http_exchange *x, int code, const char *message);

#endif
