/*
 * index_world.h - a store with two indexes, and its query results as text.
 *
 * `node` has at most one value, `tag` any number of them. Wrong results end the test.
 */
#ifndef TEST_INDEX_WORLD_H
#define TEST_INDEX_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/event.h"
#include "informer/store.h"

#include "base/buf.h"
#include "base/str.h"

struct index_world {
    struct inf_store *store;
    struct buf out;
    uint64_t version;
    int evaluated; /* how often the selector was evaluated */
};

/* A selector for tests: the text of the label set contains a string; "" matches everything. */
struct selector {
    const char *word;
    int evaluated;
};

/* For cmocka. */
int index_world_set_up(void **state);
int index_world_tear_down(void **state);

/* {"metadata":{...,"labels":@labels},"spec":{"node":"@node","tags":"a,b"}}; no labels if @labels
 * is "". The caller owns the reference. */
struct inf_object *thing(const char *key, uint64_t version, const char *labels, const char *node,
                         const char *tags);

/* Adds an object, or removes the one with that key, at the next version. */
void put(struct index_world *f, const char *key, const char *labels, const char *node,
         const char *tags);
void take_out(struct index_world *f, const char *key);

/* Receives changes and does nothing. */
void silent(void *ctx, const struct inf_event *event);

/* Add "key " and "value:count " to @ctx's `out`. */
bool print_key(void *ctx, const struct inf_object *object);
bool print_value(void *ctx, const char *value, size_t count);

/* The output so far, which is then cleared. */
void assert_out(struct index_world *f, const char *expected);

void assert_indexed(struct index_world *f, const char *index, const char *value,
                    const char *expected);
void assert_values(struct index_world *f, const char *index, const char *expected);

/* Prints the selected objects, examining @slice objects per call. */
void select_some(struct index_world *f, const char *ns, const char *word, size_t slice);
void assert_selected(struct index_world *f, const char *ns, const char *word, const char *expected);

/* For struct label_query; @selector is a struct selector. */
bool contains(const void *selector, struct str labels);

#endif
