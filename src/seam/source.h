/*
 * source.h - the seam for Kubernetes: where the reflector gets its objects.
 *
 * kube/source/api_source.c requests them from a real server; test/lib/apiserver.c is scripted by a story. A
 * source serves one resource with one selection, and one request at a time.
 */
#ifndef SEAM_SOURCE_H
#define SEAM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

struct inf_object;
struct source;
struct source_user;

enum source_want {
    SOURCE_WATCH_LIST, /* all objects as ADDED, then an annotated bookmark, then changes */
    SOURCE_LIST,       /* a page of objects, each as ADDED, then SOURCE_PAGE_END */
    SOURCE_WATCH,      /* changes after a resource version */
    SOURCE_DOCUMENT,   /* one JSON text, delivered as SOURCE_TEXT; used only inside kube/ */
};

struct source_request {
    enum source_want want;
    /* SOURCE_WATCH: changes after this version. Other requests: a state that is not older; "": the
     * newest; "0": any state that the server has in its cache. */
    const char *resource_version;
    const char
        *continue_token; /* SOURCE_LIST: from the previous page; NULL or "": the first page */
    uint32_t limit;      /* SOURCE_LIST: objects per page; 0: all */
    const char *path;    /* SOURCE_DOCUMENT: the path of the document */
    const char *body;    /* SOURCE_DOCUMENT: JSON to POST to that path; NULL: GET */
    const char *method;  /* SOURCE_DOCUMENT: instead of POST; a literal, or NULL */
    const char *accept;  /* SOURCE_DOCUMENT: media types of JSON; NULL: application/json */
    bool any_type;       /* SOURCE_DOCUMENT: the content type of the response does not matter */
    uint32_t timeout_s;  /* watches: the server ends the stream after this time */
};

enum source_type {
    SOURCE_ADDED,
    SOURCE_MODIFIED,
    SOURCE_DELETED,
    SOURCE_BOOKMARK,
    SOURCE_PAGE_END, /* the page is complete: resource_version and continue_token are the list's */
    SOURCE_SKIPPED,  /* an object could not be decoded: `text` names it, as far as it is known, and
                        the reason; `object`, if it is known, has only its identity */
    SOURCE_TEXT,     /* `text` is the document */
};

struct source_event {
    enum source_type type;
    struct inf_object
        *object; /* borrowed; ADDED, MODIFIED, DELETED, perhaps SKIPPED; a DELETED that
                                     cannot be decoded has only its identity (object_is_identity()) */
    const char *resource_version; /* of the object, the bookmark or the list; may be "" */
    const char *continue_token;   /* SOURCE_PAGE_END: "" if it was the last page */
    const char *text;             /* SOURCE_SKIPPED, SOURCE_TEXT */
    bool initial_end;             /* the bookmark that ends the initial objects */
    int64_t received_us;
};

struct source_user_ops {
    /* The server has accepted the request. */
    void (*on_open)(struct source_user *user);

    void (*on_event)(struct source_user *user, const struct source_event *event);

    /* Bytes arrived that do not complete an event yet: the peer is alive. */
    void (*on_progress)(struct source_user *user);

    /* What had to be found out first is known, and the request is sent only now. NULL: not needed. */
    void (*on_prepared)(struct source_user *user);

    /* The request has ended. Called once. why->code is INF_EEOF if the response was complete (a list:
     * after its page end). */
    void (*on_end)(struct source_user *user, const struct inf_error *why);
};

/* The first member of every user of a source. */
struct source_user {
    const struct source_user_ops *ops;
};

struct source_ops {
    /* Starts a request; none may be in progress. Never calls back before it returns. */
    void (*open)(struct source *source, const struct source_request *request,
                 struct source_user *user);
    /* Cancels the request in progress, if any. It causes no further callbacks. */
    void (*cancel)(struct source *source);
    /* Stop and continue reading. The state also applies to the next request. */
    void (*pause)(struct source *source);
    void (*resume)(struct source *source);
    /* Whether something is being found out before the request can be sent, or before its end can be
     * judged: its silence says nothing about how the server answers such requests. NULL: never. */
    bool (*is_preparing)(const struct source *source);
};

/* The first member of every source. */
struct source {
    const struct source_ops *ops;
};

static inline void source_open(struct source *source, const struct source_request *request,
                               struct source_user *user)
{
    source->ops->open(source, request, user);
}

static inline void source_cancel(struct source *source)
{
    source->ops->cancel(source);
}

static inline bool source_is_preparing(const struct source *source)
{
    return source->ops->is_preparing && source->ops->is_preparing(source);
}

static inline void source_pause(struct source *source)
{
    source->ops->pause(source);
}

static inline void source_resume(struct source *source)
{
    source->ops->resume(source);
}

#endif
