/*
 * context.h - the context of an object in records, in addition to its identity: labels,
 * controller, workload and node, so that records can be selected by them.
 */
#ifndef DAEMON_RECORD_CONTEXT_H
#define DAEMON_RECORD_CONTEXT_H

#include <stdbool.h>

#include "informer/object.h"
#include "informer/path.h"

#include "base/str.h"
#include "daemon/record/workload.h"

enum context_part { /* bits, in the order of the option `context` */
    CONTEXT_LABELS = 1,
    CONTEXT_OWNER = 2, /* and the workload */
    CONTEXT_NODE = 4,
};

enum {
    CONTEXT_NODE_SIZE = 256, /* LIMIT: of a node name, with its NUL; longer ones are cut */
};

struct context {
    struct str labels; /* a JSON object as the server spelled it; empty: none */
    bool has_owner, has_workload;
    struct inf_owner owner;
    struct workload workload;
    char node[CONTEXT_NODE_SIZE]; /* "": none */
};

/* Finds objects of other watches. A zeroed struct finds none. */
struct owner_lookup {
    void *ctx;
    /* The object that @owner refers to, in the cache of a watch of @cluster; NULL: not known. */
    const struct inf_object *(*find)(void *ctx, const char *cluster, const char *ns,
                                     const struct inf_owner *owner);
};

/* Paths that are parsed once. */
struct context_reader {
    struct inf_path *labels;
    struct inf_path *node;
    struct owner_lookup owners;
};

void context_reader_init(struct context_reader *reader);
void context_reader_done(struct context_reader *reader);

/* Reads the @parts of @object, which is of cluster @cluster (NULL: unknown), into a zeroed @ret.
 * `labels` is borrowed from the object. */
void context_read(const struct context_reader *reader, unsigned parts, const char *cluster,
                  const struct inf_object *object, struct context *ret);

#endif
