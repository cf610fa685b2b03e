/*
 * definition.h - a watch as its caller gave it, checked and copied.
 *
 * What makes two watches the same is all that decides what is in the copy and how it can be read:
 * resource, namespaces, selectors, shape, indexes, coalescing. It is written into one text, `identity`, which is
 * compared. What follows its first DEFINITION_MANNERS characters decides which objects there are and what of them; those
 * alone can change without a list.
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
    struct list node; /* among those that its copy had before */
    char *identity;
    char *who; /* in log lines */
    char *resource;
    struct resource_word word; /* what it means; given away to the first source */
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

/* NULL with @err if @watch can't be watched. @digest (borrowed) hashes what the watch redacts. */
struct definition *definition_new(const struct inf_watch *watch, const struct digest *digest,
                                  struct inf_error *err);

/* NULL is fine. */
void definition_free(struct definition *definition);

#endif
