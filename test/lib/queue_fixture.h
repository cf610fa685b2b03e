/*
 * queue_fixture.h - a work queue in virtual time and a worker that records the keys it gets.
 *
 *     inf_queue_add(d->queue, "a");
 *     assert_worked(d, "0:a ");        runs what is due: the worker got key a at 0 ms
 *     finish_key(d, "a", INF_WORK_OK);
 *
 * A key stays in progress until the test finishes it, unless d->then does so at once.
 */
#ifndef TEST_QUEUE_FIXTURE_H
#define TEST_QUEUE_FIXTURE_H

#include "informer/queue.h"

#include "base/buf.h"
#include "sim.h"

struct queue_fixture {
    struct sim sim;
    struct inf_worker worker;
    struct inf_queue *queue; /* NULL: closed */
    void (*then)(struct queue_fixture *d, const char *key);
    struct buf worked; /* "<ms>:<key> " of each run, "<ms>:drained " */
};

/* cmocka's setup and teardown: a queue with default options. */
int queue_fixture_setup(void **state);
int queue_fixture_teardown(void **state);

/* Replaces the queue by a new one with these options. */
void queue_fixture_reopen(struct queue_fixture *d, const struct inf_queue_options *options);
void queue_fixture_close(struct queue_fixture *d);

/* Runs what is due, then compares with what the worker got since the last call. */
void assert_worked(struct queue_fixture *d, const char *expected);

/* Finishes a key that is in progress. */
void finish_key(struct queue_fixture *d, const char *key, enum inf_work_outcome outcome);

/* For `then`. */
void finish_key_ok(struct queue_fixture *d, const char *key);
void finish_key_retry(struct queue_fixture *d, const char *key);

#define QUEUE_TEST(test) \
    cmocka_unit_test_setup_teardown(test, queue_fixture_setup, queue_fixture_teardown)

#endif
