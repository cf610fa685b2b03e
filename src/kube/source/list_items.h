/*
 * list_items.h - splits the body of a LIST into its items while it is received.
 *
 *     {"kind":"PodList","apiVersion":"v1","metadata":{...},"items":[{...},{...}]}
 *
 * The list is never kept as a whole: an item that is complete in the input is returned in place; only
 * an item that spans two inputs is copied. Members may have any order. The list is complete only when
 * its last brace has been read and only white space follows: a truncated list is an error.
 */
#ifndef KUBE_SOURCE_LIST_ITEMS_H
#define KUBE_SOURCE_LIST_ITEMS_H

#include "base/buf.h"
#include "base/json/json.h"
#include "kube/source/event_frame.h"
#include "kube/source/list_head.h"

enum {
    ITEM_MAX = FRAME_MAX, /* LIMIT: bytes of one item, as of one watch event */
};

enum list_items_state {
    ITEMS_BEFORE,      /* expects the opening brace */
    ITEMS_FIRST_KEY,   /* a key, or the closing brace */
    ITEMS_KEY,         /* expects a key */
    ITEMS_COLON,       /* after a key */
    ITEMS_VALUE,       /* of a member */
    ITEMS_AFTER_VALUE, /* a comma or the closing brace */
    ITEMS_FIRST_ITEM,  /* an item, or the closing bracket */
    ITEMS_ITEM,        /* expects an item */
    ITEMS_AFTER_ITEM,  /* a comma or the closing bracket */
    ITEMS_END,         /* after the closing brace */
};

/* Zeroed: ready for a list. */
struct list_items {
    enum list_items_state state;
    enum list_member member; /* whose value is next */
    struct list_head head;
    size_t count; /* items begun, including the current one */

    /* the current token: a key, a member's value or an item */
    struct json_scan scan;
    struct buf partial; /* its beginning, if that came in an earlier input */
    bool partial_lent;  /* it was returned: clear it in the next call */
    bool dropping;      /* it is over its limit: skip the rest */
};

enum list_items_next {
    ITEMS_NONE, /* the input is used up */
    ITEMS_ONE,  /* an item */
    ITEMS_ONE_LOST, /* an item that is too large (its beginning is returned) or too deep, and the error */
};

/*
 * Takes the next item from the front of @input and advances it. @ret_item is valid until the next
 * call, and not longer than the input. Returns an enum list_items_next, or -INF_EDECODE, or -INF_ETOOBIG for
 * another member over its limit; then it must be reset. After ITEMS_ONE_LOST the next call continues
 * after that item.
 */
int list_items_next(struct list_items *items, struct str *input, struct str *ret_item,
                    struct inf_error *err);

/* Ends the input. Returns 0 if the list is complete (then no string of its head is NULL), -INF_ECUT if
 * it is truncated, or -INF_EDECODE if it is not a list. */
int list_items_end(struct list_items *items, struct inf_error *err);

/* Ready for another list. */
void list_items_reset(struct list_items *items);

#endif
