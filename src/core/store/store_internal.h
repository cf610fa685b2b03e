/*
 * store_internal.h - the store itself; shared by store.c (changes and events), store_pack.c (packed objects)
 * and store_restore.c (contents that are not reported). Not for other files.
 */
#ifndef CORE_STORE_INTERNAL_H
#define CORE_STORE_INTERNAL_H

#include <stdbool.h>

#include "base/list.h"
#include "core/object/object_packer.h"
#include "core/store/store.h"

/* What is still to be emitted after a flip. */
enum flip_phase {
    FLIP_DONE,
    FLIP_DELETED, /* objects that are only in `former` */
    FLIP_PRESENT, /* then those that are new or changed in `current` */
};

struct inf_store {
    struct siphash_key key;
    const struct index_def *defs;
    size_t n_defs;
    struct generation *current;
    char *resource_version;
    uint64_t version; /* grows with every change: shows whether the position of a cursor is valid */

    struct list discarded; /* of struct generation: freed in slices */

    struct generation *former; /* the previous generation, until its differences are emitted */
    struct inf_cursor cursor;  /* how far the events are emitted */
    enum flip_phase phase;
    enum inf_origin origin;
    bool redefined; /* see store_redefine() */

    struct object_packer packer;
    bool repacking;              /* a walk of store_repack_some() is not complete */
    unsigned repacked;           /* `packer.dictionaries` at the start of the last walk */
    struct inf_cursor repack_at; /* how far it is */
    struct lent *lent;
    struct list *observers; /* of struct inf_store_observer */

    /* while saved objects are loaded */
    size_t n_damaged;
    struct buf
        handed; /* of struct entry *: store_hand_out() has removed them, but from the indexes */
};

/* Objects that were unpacked for a reader, until it returns to the loop. */
struct lent {
    const struct inf_object **objects; /* references */
    size_t count, capacity;
    const struct store_events *events; /* NULL: none */
    void *ctx;
};

/* Frees what store_hand_out() has passed on. */
void store_free_handed(struct inf_store *store);

/* Sets the resource version unless it is older than the current one. */
void store_advance(struct inf_store *store, const char *resource_version);

/* Takes the work for @object off the budget of a slice. */
static inline void store_charge(size_t *budget, const struct inf_object *object)
{
    size_t work = object_work(object);
    *budget -= work < *budget ? work : *budget;
}

/* The next store_repack_some() looks at all objects. */
void store_restart_repacking(struct inf_store *store);

#endif
