/*
 * shape.h - which parts of an object are kept: fields that are cut, and fields whose values are
 * hashed.
 *
 * The shape is part of the identity of an informer: two informers share a cache only if their
 * shapes are equal. Rules are applied once, when the object is made, so that no later stage has
 * access to what they hide.
 */
#ifndef CORE_OBJECT_SHAPE_H
#define CORE_OBJECT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/path.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    SHAPE_RULES_MAX = 64, /* LIMIT: fields cut or hashed */
    DIGEST_HEX = 32,      /* characters of a hashed value: half of an HMAC-SHA256 */

    /* LIMIT: values hashed one by one in a part of an object, such as `data` or `metadata.annotations`;
     * with more, all of that part is one hash. */
    SHAPE_HASHES_MAX = 1024,
};

/* A keyed hash over @parts, as DIGEST_HEX hexadecimal digits and a NUL. */
struct digest {
    void (*make)(const struct digest *digest, const struct str *parts, size_t n_parts,
                 char ret[DIGEST_HEX + 1]);
};

struct shape {
    struct inf_path *paths[SHAPE_RULES_MAX]; /* owned */
    size_t count;
    uint64_t hashed;             /* bit i: paths[i] is hashed, else cut */
    uint64_t secrets_only;       /* bit i: holds for Secrets only */
    uint64_t managed;            /* bit i: cuts metadata.managedFields, which may be done before */
    bool metadata_only;          /* of the top-level members, only metadata, kind and apiVersion */
    bool secrets;                /* every object is treated as a Secret, regardless of its kind */
    const struct digest *digest; /* borrowed */
};

/*
 * The default: managedFields are cut; of Secrets, the values of data and stringData and what
 * kubectl last applied are hashed. @secrets: the resource is that of Secrets, so that also those
 * whose kind is PartialObjectMetadata are treated as such.
 */
void shape_init(struct shape *shape, bool secrets, const struct digest *digest);

/* The same in parts: shape_init_bare() cuts and hashes nothing; then call either or both of the
 * other two before any shape_add(). */
void shape_init_bare(struct shape *shape, bool secrets, const struct digest *digest);
void shape_cut_managed_fields(struct shape *shape);
void shape_hash_secrets(struct shape *shape);
void shape_free(struct shape *shape);

/* Adds a field to cut or to hash. Takes ownership of @path. Returns -INF_EINVAL if there are too
 * many. */
int shape_add(struct shape *shape, struct inf_path *path, bool hashed, struct inf_error *err);

/* Whether values are hashed: then no copy of them may stay in memory. */
bool shape_hides(const struct shape *shape);

/* The identity of an object, so that the same value at the same path has another hash in another
 * object. */
struct shape_subject {
    struct str kind;
    struct str uid;
};

/* Whether no rule applies to such an object, except the one that cuts managedFields. */
bool shape_is_done(const struct shape *shape, const struct shape_subject *subject);

/*
 * Adds the members of @object (a JSON object that was validated) to @out according to the rules,
 * without white space between tokens, and with a comma before each unless @out ends in '{'.
 * @skip selects top-level members to omit.
 */
void shape_copy_members(const struct shape *shape, const struct shape_subject *subject,
                        struct buf *out, struct str object, bool (*skip)(struct str key));

#endif
