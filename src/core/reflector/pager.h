/*
 * pager.h - the pages of one LIST: what to ask for next, and when it is complete.
 *
 * The rules are the API server's. The first page carries the version that is wanted; later ones
 * only the token that stands for it. The list's version is that of its first page. A token that
 * expires in the middle costs one whole list, without pages.
 *
 * A list that would never end fails: one whose tokens repeat, one with too many pages, or with too
 * many in a row that hold no object.
 */
#ifndef CORE_REFLECTOR_PAGER_H
#define CORE_REFLECTOR_PAGER_H

#include <stdbool.h>

#include "informer/error.h"

#include "seam/source.h"

struct pager {
    char *asked;       /* the version wanted */
    char *version;     /* what the first page answered; "" until then */
    char *token;       /* for the next page; "" if there is none */
    uint32_t size;     /* objects a page, if somebody insists; 0: the rule */
    char *mark;        /* an earlier token, which none may equal: see is_repeated(); "" if none */
    uint32_t pages;    /* of this list, so far */
    uint32_t empty;    /* of these, the last ones without an item */
    bool item_seen;    /* on this page */
    bool page_ended;   /* of the request under way, all is here */
    bool whole;        /* a token expired: all at once */
    bool always_pages; /* this server pages even what it could answer from its cache; remembered */
};

enum pager_next {
    PAGER_NEXT_PAGE,
    PAGER_COMPLETE,
    PAGER_WHOLE_LIST, /* begin again, with an empty list; the pager is set for it */
    PAGER_FAILED,
};

void pager_init(struct pager *p, uint32_t size);
void pager_free(struct pager *p);

/* Begins a list of @version: "" the newest, "0" any. */
void pager_start(struct pager *p, const char *version);

/* What to ask for now. The request borrows from the pager. */
void pager_request(struct pager *p, struct source_request *ret);

/* An item of the page came, whatever becomes of it. */
void pager_on_item(struct pager *p);

/* A SOURCE_PAGE_END came. */
void pager_on_page_end(struct pager *p, const char *version, const char *token);

/* The request ended with @why; @ret_why is filled if it failed, perhaps with something better than
 * @why. */
enum pager_next pager_on_end(struct pager *p, const struct inf_error *why,
                             struct inf_error *ret_why);

#endif
