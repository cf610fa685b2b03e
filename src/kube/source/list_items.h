/*
 * list_items.h - cuts the body of a LIST into its items while it comes in.
 *
 *     {"kind":"PodList","apiVersion":"v1","metadata":{...},"items":[{...},{...}]}
 *
 * The list is never held: an item that lies whole in the input is lent from there, only one that is
 * cut is copied. Members come in any order and white space is free. The list is taken for one only
 * when its last brace is here and nothing but white space behind it: never a short list.
 */
#ifndef KUBE_SOURCE_LIST_ITEMS_H
#define KUBE_SOURCE_LIST_ITEMS_H

#include "base/buf.h"
#include "core/json/json.h"
#include "kube/source/event_frame.h"
#include "kube/source/list_head.h"

enum {
    ITEM_MAX = FRAME_MAX, /* LIMIT: bytes of one item, as of one watch event */
};

enum list_items_state {
    ITEMS_BEFORE,      /* the opening brace comes */
    ITEMS_FIRST_KEY,   /* a key, or the closing brace */
    ITEMS_KEY,         /* a key must come */
    ITEMS_COLON,       /* behind a key */
    ITEMS_VALUE,       /* of a member */
    ITEMS_AFTER_VALUE, /* a comma or the closing brace */
    ITEMS_FIRST_ITEM,  /* an item, or the closing bracket */
    ITEMS_ITEM,        /* an item must come */
    ITEMS_AFTER_ITEM,  /* a comma or the closing bracket */
    ITEMS_BEHIND,      /* the closing brace was here */
};

/* Zeroed: ready for a list. */
struct list_items {
    enum list_items_state state;
    enum list_member member; /* whose value comes */
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
 * Takes the next item from the front of @input, which moves on; @ret_item is lent until the next
 * call, and as long as the input. Returns an enum list_items_next, or -INF_EDECODE, or -INF_ETOOBIG for
 * another member over its limit: from then on it can't be used. After ITEMS_ONE_LOST the next call
 * goes on behind that item.
 */
int list_items_next(struct list_items *items, struct str *input, struct str *ret_item,
                    struct inf_error *err);

/* No more input will come: is the list complete? -INF_ECUT if not, -INF_EDECODE if it was none. Its
 * head is all known then: no string in it is NULL. */
int list_items_end(struct list_items *items, struct inf_error *err);

/* Ready for another list. */
void list_items_reset(struct list_items *items);

#endif
