/*
 * object.h - one object of the simulated cluster: immutable, counted, kept as the text to send.
 *
 * Built-in types are sent without kind and apiVersion in lists and with them in events, so the text
 * is kept from "metadata" on. The version can be another one when it is sent (a deletion is told
 * with the last content and a new version), so its place is remembered. Objects that were made in
 * bulk share one tail: 50,000 pods of 12 KB don't need 600 MB.
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
    struct tree_node node; /* in resource->objects, as long as it is the current one */
    int refs;
    const struct resource *resource;
    char *key;  /* namespace/name, or the name: what lists are ordered by */
    char *ns;   /* "" if it has none */
    char *name; /* points into key */
    char *uid;
    char *created;
    uint64_t rv;
    char *head;
    size_t len;
    size_t rv_at; /* where in head the digits of the version are */
    size_t rv_len;
    struct tail *tail; /* NULL: none */
};

enum form {
    FORM_ITEM,     /* as in a list */
    FORM_WHOLE,    /* as in an event or by name */
    FORM_METADATA, /* PartialObjectMetadata */
};

/* What the server decides about an object. */
struct stamp {
    uint64_t rv;
    const char *uid;
    const char *created;
};

/* An object as somebody wrote it, before the server has had its say (draft.c). */
struct draft {
    const struct resource *resource;
    struct yyjson_mut_doc *doc;
    const char *ns; /* "" if it has none */
    const char *name;
    const char *rv; /* the version it was made from; "" if it doesn't say */
};

/* Reads JSON text; @ns and @name (may be NULL) fill what it lacks. False, with @ret, if that is no
 * object that could be stored. */
bool draft_read(struct draft *d, const struct resource *r, const char *ns, const char *name,
                const char *json, size_t len, struct status *ret);
struct object *draft_finish(struct draft *d, const struct stamp *stamp);
void draft_free(struct draft *d);

/* Makes one from finished text: @head as described above, with the version's digits at @rv_at. */
struct object *object_make(const struct resource *r, const char *ns, const char *name,
                           const struct stamp *stamp, struct buf *head, size_t rv_at,
                           struct tail *tail);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

struct tail *tail_make(const char *bytes, size_t len);
void tail_unref(struct tail *tail);

/* Adds the text; @rv is the version to say, 0 for its own. */
void object_put(struct buf *out, const struct object *o, enum form form, uint64_t rv);
/* About how many bytes that will be. */
size_t object_size(const struct object *o);

/* The order of lists: by key, byte by byte, as etcd has it. */
int object_order(const struct tree_node *a, const struct tree_node *b);

/* A JSON text, laid out for people as ?pretty=true asks. */
void json_put_pretty(struct buf *out, const char *json, size_t len);

#endif
