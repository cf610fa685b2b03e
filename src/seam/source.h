/*
 * source.h - the seam for Kubernetes: where the reflector's objects come from.
 *
 * kube/api_source.c asks a real server; test/lib/apiserver.c plays a story. A source serves one
 * resource with one selection, and one request at a time.
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
    SOURCE_DOCUMENT,   /* one JSON text, as SOURCE_TEXT; what kube/ asks for itself */
};

struct source_request {
    enum source_want want;
    /* SOURCE_WATCH: after this one. The others: not older; "": the newest; "0": any that the server
     * has at hand. */
    const char *resource_version;
    const char *continue_token; /* SOURCE_LIST: of the page before; NULL or "": the first page */
    uint32_t limit;             /* SOURCE_LIST: objects a page; 0: all */
    const char *path;           /* SOURCE_DOCUMENT: where it is */
    const char *body;           /* SOURCE_DOCUMENT: JSON to be posted there; NULL: none */
    uint32_t timeout_s;         /* watches: the server ends the stream after so long */
    bool skip_bad; /* objects that can't be read are told as SOURCE_SKIPPED, instead of ending the
                      request */
};

enum source_type {
    SOURCE_ADDED,
    SOURCE_MODIFIED,
    SOURCE_DELETED,
    SOURCE_BOOKMARK,
    SOURCE_PAGE_END, /* the page is complete: resource_version and continue_token are the list's */
    SOURCE_SKIPPED,  /* an object could not be read: `text` says which, as far as that is known, and
                        why */
    SOURCE_TEXT,     /* `text` is the document */
};

struct source_event {
    enum source_type type;
    struct inf_object *object;    /* lent; ADDED, MODIFIED, DELETED */
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

    /* Bytes came that do not complete an event yet: the peer is alive. */
    void (*on_progress)(struct source_user *user);

    /* The request is over, told once: INF_EEOF if the answer ended in good order (a list: after its
     * page end). */
    void (*on_end)(struct source_user *user, const struct inf_error *why);
};

/* Embed as the first thing in whatever uses a source. */
struct source_user {
    const struct source_user_ops *ops;
};

struct source_ops {
    /* Begins a request; none is under way. Never calls back before it returns. */
    void (*open)(struct source *source, const struct source_request *request,
                 struct source_user *user);
    /* Gives up the request under way, if any: nothing of it is told any more. */
    void (*cancel)(struct source *source);
    /* Stop and go on reading; holds for whatever request is under way then. */
    void (*pause)(struct source *source);
    void (*resume)(struct source *source);
};

/* Embed as the first thing in whatever is a source. */
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

static inline void source_pause(struct source *source)
{
    source->ops->pause(source);
}

static inline void source_resume(struct source *source)
{
    source->ops->resume(source);
}

#endif
