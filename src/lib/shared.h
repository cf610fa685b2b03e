/*
 * shared.h - one copy for all who ask for the same: a source, an engine, and a count of who uses them.
 *
 * What makes two watches the same is all that decides what is in the copy and how it can be read:
 * resource, namespaces, selectors, shape, indexes, coalescing. It is written into one text, which is
 * compared.
 */
#ifndef LIB_SHARED_H
#define LIB_SHARED_H

#include "core/pipeline.h"
#include "core/shape.h"
#include "kube/named_source.h"
#include "lib/client.h"

enum {
    INDEXES_MAX = 16, /* LIMIT: indexes of one informer */
};

struct shared {
    struct list node; /* among the client's */
    struct inf_client *client;
    char *identity;
    unsigned users;
    char *who;
    struct shape shape;
    struct index_def indexes[INDEXES_MAX];
    char *index_names[INDEXES_MAX];
    struct inf_path *index_paths[INDEXES_MAX];
    size_t n_indexes;
    char **exclude_ns;
    size_t n_exclude_ns;
    struct named_source *source;
    struct resource resource; /* what the watch's word means; without a name: not known yet */
    char *kind;               /* of its objects; NULL: not known */
    struct pipeline pipeline;
};

/* The copy that @watch describes: one that is there, or a new one, which begins to fill. One user
 * more. NULL with @err if there can be none. */
struct shared *shared_use(struct inf_client *client, const struct inf_watch *watch,
                          struct inf_error *err);

/* One user less; the last one closes it. */
void shared_leave(struct shared *shared);

#endif
