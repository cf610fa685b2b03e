/*
 * state_order.h - the order in which loaded objects are handed out: that of their keys.
 *
 * A store adds an object after all others at once; anywhere else it has to compare its key with those of
 * some 17 objects, none of which is in a cache of the processor. Files have objects in the order of their
 * changes, so 100,000 changed objects took 310 ms to restore, and take 130 ms sorted (test/bench/bench_state.c).
 *
 * Sorted in small steps, by merging, in memory of its own: 16 bytes of each key are compared there, after
 * the bytes that all keys have in common.
 */
#ifndef CORE_STATE_ORDER_H
#define CORE_STATE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_list;

enum {
    ORDER_MIN = 1000, /* fewer objects are not sorted */
};

enum order_phase {
    ORDER_BEGIN,
    ORDER_LOOKING, /* which bytes the keys have in common; whether they are in order already */
    ORDER_COPYING, /* beginnings of keys */
    ORDER_MERGING,
    ORDER_DONE,
};

struct order_item {
    uint64_t key[2]; /* big-endian, so that numbers compare as bytes do */
    uint32_t number; /* index in the list of loaded objects */
};

/* A zeroed struct is at the beginning. */
struct key_order {
    enum order_phase phase;
    uint32_t *numbers; /* the result: indexes in the list; NULL: all of it, as it is */
    struct order_item *items, *spare;
    size_t count;
    size_t at;               /* index in the list, or of the pair of runs that is merged */
    size_t previous;         /* ORDER_LOOKING: index of the object before; SIZE_MAX: none */
    size_t common;           /* bytes that all keys begin with */
    bool in_order;           /* so far */
    size_t width;            /* of a run */
    size_t left, right, out; /* of the pair: the next ones, and where they go */
};

/* Continues for about @n objects. Returns true when it is done. */
bool key_order_continue(struct key_order *order, const struct loaded_list *list, size_t n);
void key_order_free(struct key_order *order);

#endif
