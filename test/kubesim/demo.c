/*
 * demo.c - the clock of the demo: a tree of turns, ordered by due time, that a libuv timer runs.
 * Random numbers and names come from one generator, so that a seed repeats the same cluster.
 */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

enum {
    DISTANCE_MS = 800, /* minimum time between two visible changes */
    TURNS_A_TICK = 200,
};

static int turn_order(const struct tree_node *a, const struct tree_node *b)
{
    const struct turn *x = container_of(a, struct turn, node);
    const struct turn *y = container_of(b, struct turn, node);
    if (x->due != y->due)
        return x->due < y->due ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void turn_cancel(struct demo *demo, struct turn *turn)
{
    if (turn->waiting)
        tree_remove(&demo->turns, &turn->node);
    turn->waiting = false;
}

static void wait_until(struct demo *demo, struct turn *turn, uint64_t due)
{
    turn_cancel(demo, turn);
    turn->due = due;
    turn->waiting = true;
    tree_add(&demo->turns, &turn->node);
}

void turn_in(struct demo *demo, struct turn *turn, uint64_t ms)
{
    turn->order = demo->scheduled++;
    wait_until(demo, turn, demo->now + ms);
}

/* Random numbers make the demo look less regular. */
unsigned pick(struct demo *demo, unsigned below)
{
    return (unsigned)rng_below(&demo->rng, below);
}

/* The alphabet of names that Kubernetes generates: without vowels, so that no name is a word. */
void pick_name(struct demo *demo, char *ret, size_t size)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    for (size_t i = 0; i + 1 < size; i++)
        ret[i] = letters[pick(demo, sizeof(letters) - 1)];
    ret[size - 1] = '\0';
}

void pick_digest(struct demo *demo, char ret[DIGEST_SIZE])
{
    for (size_t i = 0; i + 1 < DIGEST_SIZE; i += 16)
        snprintf(ret + i, 17, "%016llx", (unsigned long long)rng_next(&demo->rng));
}

/* Runs @turn at its time, or delays it if a visible change has just happened. */
static void play(struct demo *demo, struct turn *turn)
{
    if (!turn->quiet && turn->due < demo->last + DISTANCE_MS) {
        wait_until(demo, turn, demo->last + DISTANCE_MS);
        return;
    }
    turn_cancel(demo, turn);
    demo->now = turn->due;
    if (!turn->quiet)
        demo->last = demo->now;
    turn->play(demo, turn);
}

/* The demo's clock advances from turn to turn: it may lag behind real time, but the order of
 * turns does not depend on it. The timer always waits at least 1 ms, so that libuv can serve
 * clients in between. */
static void on_time(uv_timer_t *timer)
{
    struct demo *demo = container_of((struct job *)timer->data, struct demo, job);
    uint64_t now = (uv_now(&demo->job.sim->loop) - demo->started) * demo->pace;
    struct tree_node *n = NULL;
    struct turn *next;
    for (unsigned i = 0; i < TURNS_A_TICK && (n = tree_first(&demo->turns)); i++) {
        next = container_of(n, struct turn, node);
        if (next->due > now)
            break;
        play(demo, next);
    }
    n = tree_first(&demo->turns);
    next = container_of(n, struct turn, node); /* never NULL: heartbeats never end */
    uv_timer_start(timer, on_time, next->due > now ? (next->due - now) / demo->pace + 1 : 1, 0);
}

/* Cancels all turns first: each is part of an actor, and the tree links actors of all kinds. */
static void demo_free(struct job *job)
{
    struct demo *demo = container_of(job, struct demo, job);
    for (struct tree_node *n; (n = tree_first(&demo->turns));)
        turn_cancel(demo, container_of(n, struct turn, node));
    pods_free(demo);
    apps_free(demo);
    cron_free(demo);
    events_free(demo);
    free(demo);
}

void demo_start(struct kubesim *sim, uint64_t seed, uint64_t pace)
{
    struct demo *demo = NEW(struct demo);
    demo->rng.state = seed;
    demo->pace = pace;
    demo->started = uv_now(&sim->loop);
    tree_init(&demo->turns, turn_order);
    list_init(&demo->apps);
    list_init(&demo->pods);
    list_init(&demo->jobs);
    list_init(&demo->events);
    job_start(&demo->job, sim, demo_free);
    cast_start(demo);
    uv_timer_start(&demo->job.timer, on_time, 0, 0);
}
