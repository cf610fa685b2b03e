/*
 * list_head.h - what a list says about itself, beside its items.
 *
 * Members are read one by one as they come, in whatever order: built-in types send kind and
 * apiVersion first, custom ones send their metadata after the items.
 */
#ifndef KUBE_SOURCE_LIST_HEAD_H
#define KUBE_SOURCE_LIST_HEAD_H

#include "informer/error.h"

#include "base/str.h"
#include "core/object/object.h"

enum {
    LIST_MEMBER_MAX = 64 * 1024, /* LIMIT: bytes of a member that is not the items */
    LIST_TOKEN_MAX = 16 * 1024,  /* LIMIT: of a continue token; it goes into the next request */
};

enum list_member {
    LIST_KIND,
    LIST_API_VERSION,
    LIST_METADATA,
    LIST_ITEMS,
    LIST_OTHER,
};

/* NULL: not said (yet). A zeroed one is ready. */
struct list_head {
    char *kind;
    char *api_version;
    char *resource_version;
    char *continue_token;
    unsigned seen; /* one bit for each enum list_member */
};

/* Which member is meant by @key, a string with its quotes. -INF_EDECODE if it is no string, or is
 * one of ours for the second time. */
int list_head_key(struct list_head *head, struct str key, enum list_member *ret,
                  struct inf_error *err);

/* Reads the @value of @member. For LIST_ITEMS it may only be null: items don't come here. A Status
 * or a Table in the place of a list is refused. */
int list_head_read(struct list_head *head, enum list_member member, struct str value,
                   struct inf_error *err);

/* The list is complete: is it one? From now on no string is NULL. */
int list_head_end(struct list_head *head, struct inf_error *err);

/* For errors. */
const char *list_member_name(enum list_member member);

/* What items need not say themselves, as far as it is known by now. Borrowed from @head. */
struct object_defaults list_head_defaults(const struct list_head *head);

void list_head_free(struct list_head *head);

#endif
