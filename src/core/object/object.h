/*
 * object.h - makes objects: from the server's text to the one immutable allocation that the cache
 * holds.
 */
#ifndef CORE_OBJECT_H
#define CORE_OBJECT_H

#include <stdbool.h>

#include "informer/object.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/str.h"
#include "core/object/shape.h"

enum {
    OBJECT_NAME_MAX = 1024, /* LIMIT: bytes of a name, a namespace, a uid, a kind or a version */
    OBJECT_DEPTH_MAX = JSON_DEPTH_MAX, /* LIMIT: nested brackets in one object */
};

/* What an object does not say about itself: items of a list of built-in types lack kind and
 * apiVersion. */
struct object_defaults { /* each at most OBJECT_NAME_MAX */
    struct str kind;
    struct str api_version;
};

/* Makes objects; keeps scratch memory between them. One for each source. A zeroed struct is ready.
 */
struct object_maker {
    const struct shape *shape; /* what to cut and hash, borrowed; NULL: the default, with no key */
    struct buf lean;           /* what the server sent, without managedFields */
    struct buf text;           /* the canonical text under construction */
    struct shape fallback;
};

void object_maker_free(struct object_maker *maker);

/*
 * Makes an object in canonical form (informer/object.h) from @text, one JSON object. @defaults may
 * be NULL. The caller gets one reference. -INF_EDECODE if it is no object, is over
 * OBJECT_DEPTH_MAX (managedFields that are cut don't count), has no name, or has names, uid or
 * version with control bytes or over their limit.
 */
int object_make(struct object_maker *maker, struct str text, const struct object_defaults *defaults,
                struct inf_object **ret_object, struct inf_error *err);

/* Which object it is, without what it holds. */
struct object_identity {
    struct str kind;
    struct str api_version;
    struct str ns;
    struct str name;
    struct str uid;
    struct str version;
};

/* An object that has an identity and no text, for one that can't be read. The caller gets one
 * reference. -INF_EDECODE if it has no name, or as object_make(). */
int object_make_identity(const struct object_identity *identity, struct inf_object **ret_object,
                         struct inf_error *err);
bool object_is_identity(const struct inf_object *object);

/* Whether @object, of the same key, is the one that @identity stands for, whose uid may be unknown. */
bool object_may_be(const struct inf_object *object, const struct inf_object *identity);

/* Whether a name, uid or version that a server sent may be used: -INF_EDECODE if it is over its
 * limit or has control bytes. @field is what the error calls it. */
int object_check_name(const char *field, struct str name, struct inf_error *err);

/* `namespace/name`, or `name` if it has no namespace: what the store files it under. */
struct str object_key(const struct inf_object *object);

/* How much of a slice of work an object is: 1 for most. A large one takes longer to compress, to expand and to write. */
size_t object_work(const struct inf_object *object);

/* Same uid, resource version and text. Packed objects (core/object/object_packer.h) are not expanded:
 * a hash is compared. */
bool object_equal(const struct inf_object *a, const struct inf_object *b);

#endif
