/*
 * index.h - finds objects by what is in them: value -> objects, for each of several named indexes.
 *
 * An index is a function of the object that gives zero or more values. For each value there is a
 * bucket with the objects that have it:
 *
 *     node:   "n1" ──> shop/web-0, shop/web-3
 *             "n2" ──> shop/web-1
 *     labels: {"app":"web"} ──> shop/web-0, shop/web-1, shop/web-3
 *
 * An entry has a place in as many buckets as its object has values: the first of each index is in
 * the entry itself, further ones are in a list behind it.
 *
 * Buckets are in a tree by value: sorted, and nobody who can choose values can make them collide. A
 * bucket is freed with its last object. Two indexes are always there: the label sets (objects with
 * the same text of metadata.labels share a bucket, so a selector is evaluated once for all of
 * them), and `namespace`, of which only the counts are kept: its objects are a range of the
 * generation's own order.
 *
 * Filing an entry again compares first: values that stay cost no allocation and no search. Inside
 * a bucket there is no order, so that joining and leaving is O(1) and small: objects change all the
 * time, and who reads a bucket can sort it (index_sort()).
 */
#ifndef CORE_STORE_INDEX_H
#define CORE_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/object.h"

#include "base/hashmap.h"
#include "base/list.h"
#include "base/str.h"
#include "base/tree.h"

enum {
    INDEX_VALUES_MAX = 1000, /* LIMIT: values of one object in one index; it is not found by more */
};

/* One value of an object, valid during the call. One with a NUL in it can't be asked for and is
 * left out. */
typedef void (*index_value_fn)(void *ctx, struct str value);

struct index_def {
    const char *name; /* each once, and not "namespace" */
    /* Calls @each with every value of @object. One that comes twice counts once. */
    void (*values)(const struct index_def *def, const struct inf_object *object,
                   index_value_fn each, void *ctx);
    const void *data; /* the function's own */
};

struct index_bucket {
    struct tree_node in_index;
    struct tree *index;  /* where it is in */
    struct list members; /* of struct member */
    size_t count;        /* of objects */
    uint64_t asked;      /* the last question put to its value, ... */
    bool answer;         /* ... and what was the answer */
    size_t len;
    char value[]; /* NUL-terminated */
};

/* An entry's place in a bucket. */
struct member {
    struct list in_bucket;
    struct index_bucket *bucket; /* NULL: in none */
    struct entry *entry;
};

struct more_members;

/* An object's place in a generation. */
struct entry {
    struct hash_node by_key;
    struct tree_node in_order;
    const struct inf_object *object; /* a reference */
    struct member members[];         /* one for each index, in the order of index_set.trees; behind
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
    struct tree namespaces; /* of struct index_bucket that only count */
    struct tree *trees;     /* of struct index_bucket, by value */
    uint64_t questions;     /* so far; see struct index_bucket */
};

void index_set_init(struct index_set *set, const struct index_def *defs, size_t n_defs);

/* Every entry has been taken out. */
void index_set_free(struct index_set *set);

/* An entry, filed, that takes a reference to @object. */
struct entry *index_entry_new(struct index_set *set, const struct inf_object *object);

/* Files @entry anew: its object is another one, of the same key. */
void index_refile(struct index_set *set, struct entry *entry);

/* Takes @entry out and frees it; the reference is the caller's. Returns how many places it had
 * beyond the first of each index: what it cost more than other entries. */
size_t index_entry_free(struct index_set *set, struct entry *entry);

struct str entry_key(const struct entry *entry);

/* ---- reading ---- */

/* The tree of buckets of that name; NULL if there is none. */
const struct tree *index_named(const struct index_set *set, const char *name);

/* The bucket of that value; NULL if no object has it. */
struct index_bucket *index_bucket(const struct tree *index, struct str value);

/* Whether @entry is in @bucket, which is not one of namespaces. */
bool index_is_in(const struct index_set *set, const struct entry *entry,
                 const struct index_bucket *bucket);

/* Puts the objects of @bucket, lent and in no order, at @out. Returns how many they are. */
size_t index_collect(const struct index_bucket *bucket, const struct inf_object **out);

/* By key. */
void index_sort(const struct inf_object **objects, size_t n);

#endif
