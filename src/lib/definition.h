/*
 * definition.h - a watch as its caller gave it, checked and copied.
 *
 * Two watches are identical if all fields that affect the cache or its delivery are equal. A table
 * in definition.c has a row for each field of struct inf_watch; identity, copy and release come
 * from it. The fields are encoded in three strings, which are compared: `content` determines the
 * objects, in every process, `indexed` how they are indexed, `delivery` can change without a list.
 */
#ifndef LIB_DEFINITION_H
#define LIB_DEFINITION_H

#include <stdbool.h>

#include "informer/informer.h"

#include "base/list.h"
#include "core/object/shape.h"
#include "core/store/index.h"
#include "kube/discovery/resource_name.h"

enum {
    INDEXES_MAX = 16, /* LIMIT: indexes of one informer */
};

struct definition {
    struct list node;       /* in the list of former definitions of its cache */
    struct inf_watch watch; /* a copy; its field_selector includes the plain names of exclude_ns */
    char *content;
    char *indexed;
    char *delivery;
    bool unshareable;            /* equal to no other definition */
    char *display_name;          /* the name in log lines */
    struct resource_name wanted; /* the parsed name; ownership passes to the first source */
    struct shape shape;
    struct index_def indexes[INDEXES_MAX];
    struct inf_path *index_paths[INDEXES_MAX];
    size_t n_indexes;
};

/* Returns NULL with @err if @watch is invalid. @digest (borrowed) hashes the values that the watch
 * redacts. */
struct definition *definition_new(const struct inf_watch *watch, const struct digest *digest,
                                  struct inf_error *err);

/* Whether both select the same objects with the same fields and indexes. */
bool definition_same_content(const struct definition *a, const struct definition *b);

/* Whether both are the same watch. */
bool definition_equal(const struct definition *a, const struct definition *b);

/* Takes over the options of @from that need no list. */
void definition_set_delivery(struct definition *definition, const struct definition *from);

/* NULL is allowed. */
void definition_free(struct definition *definition);

#endif
