/*
 * definition.h - a watch as its caller gave it, checked and copied.
 *
 * Two watches are identical if everything that determines the contents of the cache and how it is
 * read is equal: resource, namespaces, selectors, shape, indexes, coalescing. All of that is
 * encoded in one string, `identity`, which is compared. Its first DEFINITION_MANNERS characters are
 * options that can change without a list; the rest determines the objects and their fields.
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
    INDEXES_MAX = 16,       /* LIMIT: indexes of one informer */
    DEFINITION_MANNERS = 2, /* optional, coalesce */
};

struct definition {
    struct list node; /* in the list of former definitions of its cache */
    char *identity;
    char *who; /* the name in log lines */
    char *resource;
    struct resource_word word; /* the parsed name; ownership passes to the first source */
    char *ns;                  /* NULL: all */
    char *label_selector;
    char *field_selector;
    bool ns_is_default;
    bool optional;
    bool coalesce;
    struct shape shape;
    struct index_def indexes[INDEXES_MAX];
    char *index_names[INDEXES_MAX];
    struct inf_path *index_paths[INDEXES_MAX];
    size_t n_indexes;
    char **exclude_ns;
    size_t n_exclude_ns;
};

/* Returns NULL with @err if @watch is invalid. @digest (borrowed) hashes the values that the watch
 * redacts. */
struct definition *definition_new(const struct inf_watch *watch, const struct digest *digest,
                                  struct inf_error *err);

/* NULL is allowed. */
void definition_free(struct definition *definition);

#endif
