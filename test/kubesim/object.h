/*
 * object.h - one object of the simulated cluster: immutable, reference-counted, stored as the text
 * to send.
 *
 * Built-in types are sent without kind and apiVersion in lists and with them in events, so the text
 * starts at "metadata". The version may be replaced when the object is sent (a deletion has the
 * last content and a new version), so its position is stored. Objects created in bulk share one
 * tail: 50,000 pods of 12 KB don't need 600 MB.
 */
#ifndef KUBESIM_OBJECT_H
#define KUBESIM_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/tree.h"
#include "status.h"

struct resource;

struct tail {
    int refs;
    size_t len;
    char bytes[];
};

struct object {
    struct tree_node node; /* in resource->objects while it is the current one */
    int refs;
    const struct resource *resource;
    char *key;  /* namespace/name, or the name; lists are ordered by it */
    char *ns;   /* "" if it has none */
    char *name; /* points into key */
    char *uid;
    char *created;
    uint64_t rv;
    char *head;
    size_t len;
    size_t rv_at; /* position of the digits of the version in head */
    size_t rv_len;
    struct tail *tail; /* NULL: none */
};

enum form {
    FORM_ITEM,     /* as in a list */
    FORM_WHOLE,    /* as in an event or by name */
    FORM_METADATA, /* PartialObjectMetadata */
    FORM_TABLE,    /* rows of a Table, see table.h; not for object_put() */
};

/* What the server sets in an object. */
struct stamp {
    uint64_t rv;
    const char *uid;
    const char *created;
};

/* An object as a client wrote it, before the server completes it (draft.c). */
struct draft {
    const struct resource *resource;
    struct yyjson_mut_doc *doc;
    const char *ns; /* "" if it has none */
    const char *name;
    const char *rv; /* the expected current version; "" if not given */
};

/* Reads JSON; @ns and @name (may be NULL) are used if the object lacks them. False, with @ret,
 * if it is not a valid object. */
bool draft_read(struct draft *d, const struct resource *r, const char *ns, const char *name,
                const char *json, size_t len, struct status *ret);
struct object *draft_finish(struct draft *d, const struct stamp *stamp);
void draft_free(struct draft *d);

/* Creates an object from text: @head as described above, with the digits of the version at
 * @rv_at. */
struct object *object_make(const struct resource *r, const char *ns, const char *name,
                           const struct stamp *stamp, struct buf *head, size_t rv_at,
                           struct tail *tail);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

struct tail *tail_make(const char *bytes, size_t len);
void tail_unref(struct tail *tail);

/* Adds the text; @rv is the version to write, 0 for its own. */
void object_put(struct buf *out, const struct object *o, enum form form, uint64_t rv);
/* The approximate number of bytes of the text. */
size_t object_size(const struct object *o);

/* The order of lists: by key, byte by byte, as in etcd. */
int object_order(const struct tree_node *a, const struct tree_node *b);

/* Pretty-printed JSON, as for ?pretty=true. */
void json_put_pretty(struct buf *out, const char *json, size_t len);

#endif
