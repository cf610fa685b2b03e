/*
 * test_workqueue_random.c - random operations with fixed seeds, compared with a simple model.
 *
 * The model is that of client-go: a set of dirty keys, a set of keys in progress, a queue, and a
 * time for each delay. Every operation on the queue is applied to the model; each key that is
 * handed out must be the first one of the model, at the time of the model. In addition, a run
 * begins after each add that has become due.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backoff.h"
#include "base/rng.h"
#include "core/dispatch/token_bucket.h"
#include "core/dispatch/workqueue.h"
#include "sim.h"

enum {
    KEYS = 8,
    SEEDS = 400,
    STEPS = 300,
};

struct model_key {
    bool dirty;
    bool processing;
    uint64_t due_ms; /* 0: no delay */
    uint64_t serial; /* delays that end at the same time are ordered by their starts */
    uint32_t retries;
    unsigned added; /* adds that have become due ... */
    unsigned seen;  /* ... and the number of them at the start of the last run */
};

struct world {
    struct sim sim;
    struct inf_worker worker;
    struct inf_queue *queue;
    struct rng rng;
    unsigned workers;
    unsigned processing;
    struct model_key keys[KEYS];
    int line[KEYS];
    int line_len;
    struct token_bucket bucket;
    uint64_t serial;
    bool draining;
    bool drained;
};

static const char *name_of(int k)
{
    static const char *const names[KEYS] = {"n/a", "n/b", "n/c", "n/d", "m/a", "m/b", "x", ""};
    return names[k];
}

static int key_of(const char *name)
{
    for (int k = 0; k < KEYS; k++)
        if (strcmp(name_of(k), name) == 0)
            return k;
    fail_msg("unknown key '%s'", name);
    return -1;
}

static bool chance(struct world *w, unsigned percent)
{
    return rng_below(&w->rng, 100) < percent;
}

static int any_key(struct world *w)
{
    return (int)rng_below(&w->rng, KEYS);
}

/* ---- the model ---- */

static void model_add(struct world *w, int k)
{
    w->keys[k].added++;
    if (w->keys[k].dirty)
        return;
    w->keys[k].dirty = true;
    if (!w->keys[k].processing)
        w->line[w->line_len++] = k;
}

static void model_add_after(struct world *w, int k, uint64_t delay_ms)
{
    uint64_t due_ms = w->sim.now_ms + delay_ms;
    if (w->keys[k].due_ms && w->keys[k].due_ms <= due_ms)
        return;
    w->keys[k].due_ms = due_ms;
    w->keys[k].serial = w->serial++;
}

static void model_retry(struct world *w, int k)
{
    uint64_t own_ms = backoff_ms(5, 1000000, w->keys[k].retries++), all_ms = 0;
    if (!w->keys[k].due_ms || w->keys[k].due_ms > w->sim.now_ms + own_ms)
        all_ms = token_bucket_take(&w->bucket, w->sim.now_ms);
    model_add_after(w, k, own_ms > all_ms ? own_ms : all_ms);
}

static void model_take(struct world *w, int k)
{
    assert_true(w->line_len > 0);
    assert_int_equal(w->line[0], k); /* in order */
    memmove(w->line, w->line + 1, (size_t)--w->line_len * sizeof(w->line[0]));
    assert_false(w->keys[k].processing); /* never two runs of one key */
    assert_true(++w->processing <= w->workers);
    w->keys[k].processing = true;
    w->keys[k].dirty = false;
    w->keys[k].seen = w->keys[k].added;
}

static void model_done(struct world *w, int k, enum inf_work_outcome outcome)
{
    w->processing--;
    w->keys[k].processing = false;
    if (w->keys[k].dirty)
        w->line[w->line_len++] = k;
    if (outcome == INF_WORK_OK)
        w->keys[k].retries = 0;
    else if (!w->draining)
        model_retry(w, k);
    if (!w->keys[k].dirty && !w->keys[k].due_ms)
        w->keys[k].retries = 0; /* it is freed with the key */
}

/* The key whose delay ends first, by @now_ms; -1: none. */
static int model_next_due(const struct world *w, uint64_t now_ms)
{
    int first = -1;
    for (int k = 0; k < KEYS; k++) {
        const struct model_key *a = &w->keys[k], *b = first < 0 ? NULL : &w->keys[first];
        if (a->due_ms && a->due_ms <= now_ms &&
            (!b || a->due_ms < b->due_ms || (a->due_ms == b->due_ms && a->serial < b->serial)))
            first = k;
    }
    return first;
}

static void model_end_delays(struct world *w, uint64_t now_ms)
{
    int k;
    while ((k = model_next_due(w, now_ms)) >= 0) {
        w->keys[k].due_ms = 0;
        model_add(w, k);
    }
}

/* ---- both ---- */

static void add(struct world *w, int k)
{
    assert_int_equal(inf_queue_add(w->queue, name_of(k)), w->draining ? -INF_ECLOSED : 0);
    if (!w->draining)
        model_add(w, k);
}

static void add_after(struct world *w, int k, uint64_t delay_ms)
{
    int rc = inf_queue_add_after(w->queue, name_of(k), delay_ms);
    assert_int_equal(rc, w->draining ? -INF_ECLOSED : 0);
    if (rc == 0 && delay_ms)
        model_add_after(w, k, delay_ms);
    else if (rc == 0)
        model_add(w, k);
}

static void add_rate_limited(struct world *w, int k)
{
    int rc = inf_queue_add_rate_limited(w->queue, name_of(k));
    assert_int_equal(rc, w->draining ? -INF_ECLOSED : 0);
    if (rc == 0)
        model_retry(w, k);
}

static void done(struct world *w, int k)
{
    enum inf_work_outcome outcome = chance(w, 30) ? INF_WORK_RETRY : INF_WORK_OK;
    int rc = inf_queue_done(w->queue, name_of(k), outcome);
    assert_int_equal(rc, w->keys[k].processing ? 0 : -INF_ENOTFOUND);
    if (rc == 0)
        model_done(w, k, outcome);
}

static void do_random_operation(struct world *w)
{
    int k = any_key(w);
    switch (rng_below(&w->rng, 6)) {
    case 0: add(w, k); break;
    case 1: add_after(w, k, rng_below(&w->rng, 20)); break;
    case 2: add_rate_limited(w, k); break;
    default: done(w, k); break;
    }
}

static void world_on_work(struct inf_worker *worker, struct inf_queue *queue, const char *key)
{
    struct world *w = container_of(worker, struct world, worker);
    int k = key_of(key);
    assert_ptr_equal(queue, w->queue);
    model_take(w, k);
    if (chance(w, 20))
        do_random_operation(w);
    if (chance(w, 30))
        done(w, k);
}

static void world_on_drained(struct inf_worker *worker, struct inf_queue *queue)
{
    struct world *w = container_of(worker, struct world, worker);
    assert_ptr_equal(queue, w->queue);
    assert_true(w->draining && !w->drained);
    assert_int_equal(w->line_len + (int)w->processing, 0);
    w->drained = true;
}

/* Every operation occurred. */
static void check_at_rest(struct world *w)
{
    struct inf_queue_stats stats;
    inf_queue_stats(w->queue, &stats);
    assert_int_equal(inf_queue_length(w->queue), w->line_len);
    assert_int_equal(stats.working, w->processing);
    assert_true(w->line_len == 0 ||
                w->processing == w->workers); /* no key waits while a worker is free */
    for (int k = 0; k < KEYS; k++) {
        stats.delayed -= w->keys[k].due_ms > 0;
        assert_int_equal(inf_queue_retries(w->queue, name_of(k)), w->keys[k].retries);
    }
    assert_int_equal(stats.delayed, 0);
}

static void pass_a_millisecond(struct world *w)
{
    sim_run(&w->sim);
    check_at_rest(w);
    model_end_delays(w, w->sim.now_ms + 1);
    sim_advance(&w->sim, 1);
}

static void drain(struct world *w)
{
    w->draining = true;
    for (int k = 0; k < KEYS; k++) {
        w->keys[k].due_ms = 0;
        if (!w->keys[k].dirty && !w->keys[k].processing)
            w->keys[k].retries = 0;
    }
    inf_queue_drain(w->queue);
    while (!w->drained) {
        sim_run(&w->sim);
        done(w, any_key(w));
    }
    for (int k = 0; k < KEYS; k++)
        assert_int_equal(w->keys[k].seen, w->keys[k].added); /* no add was lost */
}

static void live(struct world *w)
{
    for (int step = 0; step < STEPS; step++) {
        do_random_operation(w);
        if (chance(w, 30))
            pass_a_millisecond(w);
        else if (chance(w, 50))
            sim_tick(&w->sim);
    }
    if (chance(w, 80)) /* otherwise it is closed in its current state */
        drain(w);
}

static void random_operations_follow_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.rng = {seed}};
        struct inf_queue_options options = {.burst = 20};
        options.workers = w.workers = 1 + (unsigned)rng_below(&w.rng, 4);
        sim_init(&w.sim);
        w.sim.budget = (unsigned)rng_below(&w.rng, 3);
        w.worker = (struct inf_worker){.work = world_on_work, .on_drained = world_on_drained};
        token_bucket_init(&w.bucket, 10, options.burst, 0);
        w.queue = workqueue_new(&w.sim.clock, &w.worker, &options,
                                &(struct siphash_key){seed, seed}, NULL);
        live(&w);
        inf_queue_close(w.queue, NULL);
        sim_run(&w.sim);
        sim_done(&w.sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_follow_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
