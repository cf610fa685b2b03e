/*
 * reads.h - how long it takes to read a cache of the benchmark's pods, by key, namespace, label and
 * index.
 */
#ifndef BENCH_READS_H
#define BENCH_READS_H

#include "informer/store.h"

/* The name of the index by spec.nodeName. */
#define READS_INDEX "node"

/* Prints the nanoseconds of one read of each kind, as a line of JSON. */
void reads_print(struct inf_store *store);

#endif
