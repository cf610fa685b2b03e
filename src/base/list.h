/*
 * list.h - an intrusive doubly linked ring. A node that is in no list points at itself.
 *
 *     struct list waiting;  list_init(&waiting);
 *     list_push(&waiting, &item->node);
 *     list_for_each (n, &waiting) { struct item *i = container_of(n, struct item, node); ... }
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "base/base.h"

struct list {
    struct list *next;
    struct list *prev;
};

static inline void list_init(struct list *l)
{
    l->next = l;
    l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

/* Adds @node at the end of @l. */
static inline void list_push(struct list *l, struct list *node)
{
    node->prev = l->prev;
    node->next = l;
    l->prev->next = node;
    l->prev = node;
}

/* Takes @node out of whatever list it is in; harmless if it is in none. */
static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Takes the first node out; NULL if there is none. */
static inline struct list *list_pop(struct list *l)
{
    struct list *first = l->next;
    if (first == l)
        return NULL;
    list_remove(first);
    return first;
}

/* Moves all of @from to the end of @to, in order. */
static inline void list_move_all(struct list *to, struct list *from)
{
    if (list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

#define list_for_each(n, l) for (struct list *n = (l)->next; n != (l); n = n->next)

/* The same, where the body may remove @n. */
#define list_for_each_safe(n, l)                                    \
    for (struct list *n = (l)->next, *n##_next = n->next; n != (l); \
         n = n##_next, n##_next = n->next)

#endif
