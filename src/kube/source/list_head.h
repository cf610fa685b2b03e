/*
 * list_head.h - the members of a list besides its items.
 *
 * Members are read one by one in any order: built-in types send kind and
 * apiVersion first, custom ones send their metadata after the items.
 */
#ifndef KUBE_SOURCE_LIST_HEAD_H
#define KUBE_SOURCE_LIST_HEAD_H

#include "informer/error.h"

#include "base/str.h"
#include "core/object/object.h"

enum {
    LIST_MEMBER_MAX = 64 * 1024, /* LIMIT: bytes of a member that is not the items */
    LIST_TOKEN_MAX =
        16 * 1024, /* LIMIT: bytes of a continue token; it is sent in the next request */
};

enum list_member {
    LIST_KIND,
    LIST_API_VERSION,
    LIST_METADATA,
    LIST_ITEMS,
    LIST_OTHER,
};

/* NULL: not read (yet). Zeroed: ready for a list. */
struct list_head {
    char *kind;
    char *api_version;
    char *resource_version;
    char *continue_token;
    unsigned seen; /* one bit for each enum list_member */
};

/* Finds the member of @key, a string with its quotes. Returns -INF_EDECODE if it is not a string, or
 * a duplicate. */
int list_head_key(struct list_head *head, struct str key, enum list_member *ret,
                  struct inf_error *err);

/* Reads the @value of @member. For LIST_ITEMS only null is allowed: items are not read here. A
 * Status or a Table instead of a list is refused. */
int list_head_read(struct list_head *head, enum list_member member, struct str value,
                   struct inf_error *err);

/* Checks a complete list. Afterwards no string is NULL. */
int list_head_end(struct list_head *head, struct inf_error *err);

/* For errors. */
const char *list_member_name(enum list_member member);

/* Kind and apiVersion for items without their own, as far as known. Borrowed from @head. */
struct object_defaults list_head_defaults(const struct list_head *head);

void list_head_free(struct list_head *head);

#endif
