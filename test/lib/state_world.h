/*
 * state_world.h - a state on a disk in memory, in virtual time.
 *
 *     state_world_init(&w);
 *     state_world_open(&w);             loads it
 *     pods = inf_state_stream(w.state, "pods");
 *     state_world_put(pods, "shop/a", 5);
 *     inf_state_flush(w.state);
 *     sim_run(&w.sim);
 *     state_world_crash(&w, NULL);      what is on disk now, loaded by another process
 *     assert_state(&w, "pods: shop/a=5\n");
 *     state_world_done(&w);
 */
#ifndef TEST_STATE_WORLD_H
#define TEST_STATE_WORLD_H

#include "core/state/state.h"
#include "memory_disk.h"
#include "sim.h"

struct state_world {
    struct sim sim;
    struct memory_disk disks[2];
    struct memory_disk *disk; /* the one in use */
    struct inf_state_settings settings;
    struct inf_state *state; /* NULL: not open */
    unsigned loaded, flushes, suspensions, returns, closed;
    uint64_t flushed; /* the last number that was reported */
    char why[256];    /* of the last suspension */
    struct buf log;   /* warnings */
    void (*on_flushed)(struct state_world *world, uint64_t flush); /* may be NULL */
    void *data;
};

void state_world_init(struct state_world *world);

/* Closes the state, if it is open. */
void state_world_done(struct state_world *world);

/* For cmocka: a world whose state is open, in segments of the default size or of 64 KB. */
int state_world_setup(void **state);
int state_world_setup_small(void **state);
int state_world_teardown(void **state);

/* Flushes and runs until that was reported. */
void state_world_flush(struct state_world *world);

/* Opens the state and runs until it is loaded; state_world_start() does not run. */
void state_world_open(struct state_world *world);
void state_world_start(struct state_world *world);
void state_world_close(struct state_world *world);

/* Kills the process and opens what is on disk. The write in flight is cut at a random byte if @rng
 * is not NULL. The operating system has time to write everything before the next power loss. */
void state_world_crash(struct state_world *world, struct rng *rng);

/* The same for a power loss. */
void state_world_power_loss(struct state_world *world, struct rng *rng);

/* A pod of about 120 bytes, or with about @size bytes. */
void state_world_put(struct inf_state_stream *stream, const char *key, uint64_t version);
void state_world_put_large(struct inf_state_stream *stream, const char *key, uint64_t version,
                           size_t size);
void state_world_delete(struct inf_state_stream *stream, const char *key);
void state_world_add(struct inf_state_queue *queue, const char *text);

/*
 * What was loaded; takes all objects. One line for each stream and queue, sorted:
 *
 *     pods@7: shop/a=5 shop/b=6
 *     log[10..16]: "line 1"
 *
 * The caller frees it.
 */
char *state_world_show(struct state_world *world);

#define assert_state(world, text)               \
    do {                                        \
        char *shown_ = state_world_show(world); \
        assert_string_equal(shown_, text);      \
        free(shown_);                           \
    } while (0)

#endif
