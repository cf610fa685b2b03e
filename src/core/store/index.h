/*
 * index.h - finds objects by value, in several named indexes.
 *
 * An index is a function that returns zero or more values for an object. Each value has a bucket of
 * the objects that have it:
 *
 *     node:   "n1" ──> shop/web-0, shop/web-3
 *             "n2" ──> shop/web-1
 *     labels: {"app":"web"} ──> shop/web-0, shop/web-1, shop/web-3
 *
 * An entry is a member of one bucket per value of its object. The first membership of each index is
 * stored in the entry itself, further ones in a list after it.
 *
 * Buckets are in a tree by value: sorted, and chosen values can't collide as in a hash table. A
 * bucket is freed with its last object. Two indexes always exist: the label sets (objects with the
 * same text of metadata.labels share a bucket, so a selector is evaluated once for all of them),
 * and `namespace`, of which only the counts are kept: its objects are a range of the generation's
 * own order.
 *
 * Updating an entry compares first: unchanged values cost no allocation and no search. A bucket has
 * no order, so that joining and leaving it is O(1): objects change all the time. Readers can sort
 * (index_sort()).
 */
#ifndef CORE_STORE_INDEX_H
#define CORE_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/object.h"

#include "base/hashmap.h"
#include "base/list.h"
#include "base/slots.h"
#include "base/str.h"
#include "base/tree.h"

enum {
    INDEX_VALUES_MAX = 1000, /* LIMIT: values of one object in one index; the rest is not indexed */
};

/* Receives one value of an object, valid during the call. A value that contains NUL can't be
 * queried and is left out. */
typedef void (*index_value_fn)(void *ctx, struct str value);

struct index_def {
    const char *name; /* unique, and not "namespace" */
    /* Calls @each with every value of @object. Duplicates count once. */
    void (*values)(const struct index_def *def, const struct inf_object *object,
                   index_value_fn each, void *ctx);
    const void *data; /* for the function */
};

struct index_bucket {
    struct tree_node in_index;
    struct tree *index;  /* that contains it */
    struct list members; /* of struct member */
    size_t count;        /* of objects */
    uint64_t query_id;   /* the last label query that evaluated its value, ... */
    bool matches;        /* ... and the result */
    size_t len;
    char value[]; /* NUL-terminated */
};

/* The membership of an entry in a bucket. */
struct member {
    struct list in_bucket;
    struct index_bucket *bucket; /* NULL: none */
    struct entry *entry;
};

struct more_members;

/* An object in a generation. */
struct entry {
    struct hash_node by_key;
    const struct inf_object *object; /* a reference; perhaps packed (core/object/object_packer.h) */
    struct tree_node in_order;
    struct member members[]; /* one for each index, in the order of index_set.trees; after
                                        them, if there are definitions, a list of more_members */
};

enum {
    INDEX_LABELS, /* the trees: of the label sets, ... */
    INDEX_DEFS,   /* ... and from here on one for each definition */
};

/* The indexes of one generation. */
struct index_set {
    const struct index_def *defs;
    size_t n_defs;
    struct page_pool pages; /* of `entries` */
    struct slots entries;
    struct tree namespaces;              /* of struct index_bucket that only count */
    struct index_bucket *last_namespace; /* of the last entry that was added; NULL: unknown */
    struct index_bucket *last_labels;    /* the same for its labels */
    struct tree *trees;                  /* of struct index_bucket, by value */
    bool incomplete;                     /* a value was not indexed: see INDEX_VALUES_MAX */
    uint64_t queries;                    /* label queries so far; see struct index_bucket */
};

void index_set_init(struct index_set *set, const struct index_def *defs, size_t n_defs);

/* All entries must have been removed. */
void index_set_free(struct index_set *set);

/* Creates an entry that holds @held (takes over the reference) and adds it to the indexes. @object is
 * the ordinary form of @held. */
struct entry *index_entry_new(struct index_set *set, const struct inf_object *held,
                              const struct inf_object *object);

/* The same for an object whose text is not needed: there are no definitions, and @labels is the text of its
 * metadata.labels, empty if it has none. */
struct entry *index_entry_new_labelled(struct index_set *set, const struct inf_object *held,
                                       struct str labels);

/* The text of the labels of @entry; empty: it has none, or is not in the index. Borrowed. */
struct str index_entry_labels(const struct entry *entry);

/* Updates the indexes after the object of @entry was replaced by another of the same key, whose
 * ordinary form is @object. */
void index_update(struct index_set *set, struct entry *entry, const struct inf_object *object);

/* The same without the text, as index_entry_new_labelled(). */
void index_update_labelled(struct index_set *set, struct entry *entry, struct str labels);

/* Removes and frees @entry. Its reference goes to the caller. Returns the number of memberships
 * beyond the first of each index: the extra cost. */
size_t index_entry_free(struct index_set *set, struct entry *entry);

struct str entry_key(const struct entry *entry);

/* ---- reading ---- */

/* The buckets of the index @name; NULL if it does not exist. */
const struct tree *index_named(const struct index_set *set, const char *name);

/* The bucket of @value; NULL if no object has it. */
struct index_bucket *index_bucket(const struct tree *index, struct str value);

/* Whether @entry is in @bucket, which is not one of namespaces. */
bool index_is_in(const struct index_set *set, const struct entry *entry,
                 const struct index_bucket *bucket);

/* Writes the objects of @bucket, borrowed and unordered, to @out. Returns their number. */
size_t index_collect(const struct index_bucket *bucket, const struct inf_object **out);

/* By key. */
void index_sort(const struct inf_object **objects, size_t n);

#endif
