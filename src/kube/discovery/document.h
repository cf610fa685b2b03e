/*
 * document.h - gets one JSON document from a server, by GET or as the response to a POST or PUT.
 *
 *     document_start(&d, server, "/version", NULL);         on_end delivers the text or the error
 *     document_stop(&d);                                    at any time, also after the end
 */
#ifndef KUBE_DISCOVERY_DOCUMENT_H
#define KUBE_DISCOVERY_DOCUMENT_H

#include "base/buf.h"
#include "kube/source/api_source.h"

enum {
    DOCUMENT_TIMEOUT_MS = 60 * 1000, /* LIMIT: from the request to the end of the response */
};

/* Embedded in its owner, which sets the functions, `accept` and `any_type`; the rest is zero. */
struct document {
    /* Called once at the end: @text is valid during the call; NULL: the request failed because of
     * @why. The document may be stopped or started again in this callback. */
    void (*on_end)(struct document *document, const char *text, const struct inf_error *why);
    void (*on_progress)(struct document *document); /* bytes were received; may be NULL */
    const char *accept; /* media types of JSON, borrowed; NULL: application/json */
    bool any_type;      /* the content type of the response does not matter */
    const char *method; /* of a request with a body; a literal, or NULL: POST */

    /* private */
    struct source_user user;
    struct clock *clock;
    struct timer due;
    struct api_source *source; /* NULL: no request is under way */
    struct buf text;           /* with its NUL; empty: not received yet */
};

/* Requests @path, or posts @body (JSON) to it if it is not NULL. No request may be under way. Never
 * calls back before it returns. @server must outlive the document. */
void document_start(struct document *document, const struct api_server *server, const char *path,
                    const char *body);

/* Cancels the request; there are no more callbacks. Does nothing if none is under way. */
void document_stop(struct document *document);

#endif
