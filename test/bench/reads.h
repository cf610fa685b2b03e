/*
 * reads.h - how long it takes to read a cache of the benchmark's pods, by key, namespace, label and
 * index.
 */
#ifndef BENCH_READS_H
#define BENCH_READS_H

#include "informer/store.h"

/* The index that is read, in a store that has it: by spec.nodeName. */
#define READS_INDEX "node"

/* Prints nanoseconds for one reading of each kind, as a line of JSON. */
void reads_print(const struct inf_store *store);

#endif
