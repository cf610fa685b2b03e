/*
 * heap_trim.c - a timer that runs only after hints: it checks the size of the cache, and trims
 * while the cache has shrunk recently. Nothing here can fail; without malloc_trim() the memory
 * stays in the heap for later objects.
 */
#include "daemon/heap_trim.h"

#include <malloc.h>
#include <time.h>

#include "base/base.h"

uint64_t heap_trim_malloc(struct heap_trim *trim)
{
    struct timespec from = {0}, to = {0};
    (void)trim;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000);
}

/* Returns the current size of the cache. */
static size_t note_growth(struct heap_trim *t)
{
    size_t held = t->held(t);
    if (held > t->highest)
        t->highest = held;
    return held;
}

static bool has_shrunk(struct heap_trim *t)
{
    size_t held = note_growth(t), part = t->highest / HEAP_TRIM_SHARE;
    if (part < HEAP_TRIM_MIN_BYTES)
        part = HEAP_TRIM_MIN_BYTES;
    if (t->highest - held < part)
        return false;
    t->highest = held;
    return true;
}

/* Returns the time to wait before the next trim. */
static uint64_t trim_now(struct heap_trim *t)
{
    uint64_t cost_us = t->trim(t);
    uint64_t times = cost_us < HEAP_TRIM_LONG_US ? HEAP_TRIM_REST : HEAP_TRIM_LONG_REST;
    uint64_t rest_ms = cost_us * times / 1000;
    t->trims++;
    return rest_ms > HEAP_TRIM_LOOK_MS ? rest_ms : HEAP_TRIM_LOOK_MS;
}

static void on_look(struct timer *timer)
{
    struct heap_trim *t = container_of(timer, struct heap_trim, timer);
    t->shrank |= has_shrunk(t);
    if (!t->shrank)
        return;
    timer_start(t->clock, &t->timer, trim_now(t));
    if (clock_now_ms(t->clock) - t->hint_ms < HEAP_TRIM_SETTLE_MS)
        return;
    t->shrank = false;
    timer_stop(t->clock, &t->timer);
}

void heap_trim_init(struct heap_trim *t, struct clock *clock)
{
    t->clock = clock;
    t->timer.fire = on_look;
}

void heap_trim_changed(struct heap_trim *t)
{
    uint64_t now = clock_now_ms(t->clock);
    if (now - t->changed_ms < HEAP_TRIM_CHANGED_MS || t->timer.running)
        return;
    t->changed_ms = now;
    note_growth(t);
}

void heap_trim_hint(struct heap_trim *t)
{
    t->hint_ms = clock_now_ms(t->clock);
    if (t->timer.running || t->stopped)
        return;
    note_growth(t);
    timer_start(t->clock, &t->timer, HEAP_TRIM_LOOK_MS);
}

void heap_trim_stop(struct heap_trim *t)
{
    t->stopped = true;
    timer_stop(t->clock, &t->timer);
}
