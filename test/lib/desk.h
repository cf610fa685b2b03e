/*
 * desk.h - a work queue in virtual time, and a desk on which it puts its keys.
 *
 *     inf_queue_add(d->queue, "a");
 *     assert_handed(d, "0:a ");        of all that can happen now: key a came, at 0 ms
 *     finish(d, "a", INF_WORK_OK);
 *
 * Keys stay on the desk until a test finishes them, unless d->then does something with them at
 * once.
 */
#ifndef TEST_DESK_H
#define TEST_DESK_H

#include "informer/queue.h"

#include "base/buf.h"
#include "sim.h"

struct desk {
    struct sim sim;
    struct inf_worker worker;
    struct inf_queue *queue; /* NULL: closed */
    void (*then)(struct desk *d, const char *key);
    struct buf handed; /* "<ms>:<key> " of each run, "<ms>:drained " */
};

/* cmocka's set-up and tear-down: one worker, all else as options without a word give it. */
int desk_set_up(void **state);
int desk_tear_down(void **state);

/* The queue anew, with these. */
void desk_reopen(struct desk *d, const struct inf_queue_options *options);
void desk_close(struct desk *d);

/* Compares with all that was handed out since the last time, and forgets it. Lets what is due now
 * happen first. */
void assert_handed(struct desk *d, const char *expected);

/* The work on a key that is on the desk is over. */
void finish(struct desk *d, const char *key, enum inf_work_outcome outcome);

/* For `then`: over at once. */
void finish_ok(struct desk *d, const char *key);
void finish_retry(struct desk *d, const char *key);

#define AT_DESK(test) cmocka_unit_test_setup_teardown(test, desk_set_up, desk_tear_down)

#endif
