/*
 * state_loaded.h - loaded objects of a stream whose keys are not in order, until they are taken in that order.
 *
 * While a state is loaded, its objects are added to a store in the order of the files (state_apply.c). A store adds
 * an object after all others at once; anywhere else it has to compare its key with those of some 17 objects, none of
 * which is in a cache of the processor: 100,000 changed objects take 310 ms to restore in the order of the files,
 * and 130 ms sorted (test/bench/bench_state.c). So a new object that is behind another one with a higher key is
 * kept here, sorted when all are loaded (state_order.h), and added then.
 */
#ifndef CORE_STATE_LOADED_H
#define CORE_STATE_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/state/state_labels.h"
#include "core/state/state_order.h"

struct inf_object;

enum {
    /* Loaded objects are not in the cache of the processor any more when they are sorted and taken: they are
     * fetched this many steps ahead. 8 steps took 100,000 objects from 147 to 132 ms of CPU (bench_state start). */
    LOADED_PREFETCH = 24,
};

/* An object of a file. */
struct loaded_object {
    const struct inf_object *object; /* a reference; NULL: taken, replaced or deleted */
    struct label_set *labels;        /* a reference; NULL: unknown */
    uint64_t hash;                   /* state_key_hash() */
};

/* A zeroed struct is empty. */
struct loaded_list {
    struct loaded_object
        *objects; /* in the order of the files, which is also their order in memory */
    size_t len, cap;
    size_t count; /* of objects that were not taken */
    struct key_order order;
    size_t next; /* all of `order` before it were taken */
};

/* Takes over the references. Returns the number of the object, from 1. */
uint32_t loaded_list_add(struct loaded_list *list, struct loaded_object object);

/* Releases the object with this number, if it was not taken. */
void loaded_list_release(struct loaded_list *list, uint32_t number);

/* Sorts in steps of about @n objects. Returns true when that is done. */
bool loaded_list_sort_some(struct loaded_list *list, size_t n);

/* Takes the next object of a sorted list, with its references. Returns false if there are no more. */
bool loaded_list_take(struct loaded_list *list, struct loaded_object *ret_object);

/* Frees at most @n objects. Returns true when all are freed, and the list with them. */
bool loaded_list_free_some(struct loaded_list *list, size_t n);

#endif
