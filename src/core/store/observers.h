/*
 * observers.h - the observers of a store: see struct inf_store_observer in informer/store.h.
 */
#ifndef CORE_STORE_OBSERVERS_H
#define CORE_STORE_OBSERVERS_H

#include "informer/store.h"

#include "base/list.h"

/* Adds @observer to @observers, a list of the store. */
void observers_add(struct list *observers, struct inf_store_observer *observer);

/* Call the operation of the same name of all of them. After _end() the list is empty. */
void observers_change(struct list *observers, const struct inf_store_change *change);
void observers_replaced(struct list *observers, bool begins);
void observers_end(struct list *observers);

#endif
