/*
 * pager.h - the pages of one LIST: what to request next, and when the list is complete.
 *
 * The API server defines the rules. The first request has the resourceVersion; later ones have only
 * the continue token. The version of the list is that of its first page. If a token expires, the
 * whole list is requested again without pages.
 *
 * A list that would not end fails: if tokens repeat, if it has too many pages, or too many
 * consecutive pages without an object.
 */
#ifndef CORE_REFLECTOR_PAGER_H
#define CORE_REFLECTOR_PAGER_H

#include <stdbool.h>

#include "informer/error.h"

#include "seam/source.h"

struct pager {
    char *requested;     /* the requested version */
    char *version;       /* of the first page; "" until it is received */
    char *token;         /* of the next page; "" if there is none */
    uint32_t size;       /* objects per page; 0: the default rule, see page_limit() */
    char *earlier_token; /* to detect repeats: see check_next_page(); "" if none */
    uint32_t pages;      /* received so far */
    uint32_t empty;      /* consecutive pages without an item */
    bool item_seen;      /* on this page */
    bool page_ended;     /* the current page is complete */
    bool whole;          /* a token expired: list without pages */
    bool always_pages;   /* the server pages even from its cache; kept across lists */
};

enum pager_next {
    PAGER_NEXT_PAGE,
    PAGER_COMPLETE,
    PAGER_WHOLE_LIST, /* start again with an empty list; the pager is set up for it */
    PAGER_FAILED,
};

void pager_init(struct pager *p, uint32_t size);
void pager_free(struct pager *p);

/* Starts a list of @version: "" is the newest, "0" is any. */
void pager_start(struct pager *p, const char *version);

/* Sets up the request for the next page. It borrows from the pager. */
void pager_request(struct pager *p, struct source_request *ret);

/* An item of the page was received, even if it is then ignored. */
void pager_on_item(struct pager *p);

/* SOURCE_PAGE_END was received. */
void pager_on_page_end(struct pager *p, const char *version, const char *token);

/* The request ended with @why. On PAGER_FAILED, @ret_why is set to @why or to a more specific
 * error. */
enum pager_next pager_on_end(struct pager *p, const struct inf_error *why,
                             struct inf_error *ret_why);

#endif
