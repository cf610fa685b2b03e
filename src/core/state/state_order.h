/*
 * state_order.h - sorts loaded objects by their keys: those of a list (state_loaded.h).
 *
 * In small steps, by merging, in memory of its own: 16 bytes of each key are compared there, after the bytes
 * that all keys have in common.
 */
#ifndef CORE_STATE_ORDER_H
#define CORE_STATE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_list;

enum order_phase {
    ORDER_BEGIN,
    ORDER_LOOKING, /* which bytes the keys have in common */
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
    uint32_t *numbers; /* the result: indexes in the list; NULL: not sorted yet */
    struct order_item *items, *spare;
    size_t count;
    size_t at;               /* which object; or the pair of runs that is merged */
    size_t previous;         /* ORDER_LOOKING: the object before; SIZE_MAX: none */
    size_t common;           /* bytes that all keys begin with */
    size_t width;            /* of a run */
    size_t left, right, out; /* of the pair: the next ones, and where they go */
};

/* Continues for about @n objects. Returns true when it is done. */
bool key_order_continue(struct key_order *order, const struct loaded_list *list, size_t n);
void key_order_free(struct key_order *order);

#endif
