/*
 * document.h - one JSON text of a server: asked for, or the answer to one that is posted.
 *
 *     document_start(&d, server, "/version", NULL);        on_end tells the text, or why there is none
 *     document_stop(&d);                                    at any moment, also after the end
 */
#ifndef KUBE_DISCOVERY_DOCUMENT_H
#define KUBE_DISCOVERY_DOCUMENT_H

#include "base/buf.h"
#include "kube/source/api_source.h"

enum {
    DOCUMENT_TIMEOUT_MS = 60 * 1000, /* LIMIT: from the question to the end of the answer */
};

/* Embedded in its owner, who sets the functions; zeroed besides. */
struct document {
    /* It is over, told once: @text is lent; NULL: there is none, and @why says it. May be stopped
     * and started in here. */
    void (*on_end)(struct document *document, const char *text, const struct inf_error *why);
    void (*on_progress)(struct document *document); /* bytes came; may be NULL */

    /* its own */
    struct source_user user;
    struct clock *clock;
    struct timer due;
    struct api_source *source; /* NULL: nothing is under way */
    struct buf text;           /* with its NUL; empty: it has not come yet */
};

/* Asks for @path, or posts @body (JSON) to it if it is not NULL. Nothing is under way; nothing is
 * told before this returns. @server must outlive it. */
void document_start(struct document *document, const struct api_server *server, const char *path,
                    const char *body);

/* Nothing is told any more. Harmless if nothing is under way. */
void document_stop(struct document *document);

#endif
