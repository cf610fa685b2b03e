/*
 * heap_trim.c - a timer that runs only after hints: it checks the size of the cache, and trims
 * while the cache has shrunk recently. Nothing here can fail; without malloc_trim() the memory
 * stays in the heap for later objects.
 */
#include "daemon/heap_trim.h"

#include <malloc.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/daemon.h"
#include "daemon/watch/watcher.h"

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

/* Of what brk(2) provides. mallinfo2() would walk over all free memory: milliseconds where a large heap has many holes. */
size_t heap_trim_malloc_size(struct heap_trim *trim)
{
    return (size_t)((uintptr_t)sbrk(0) - trim->heap_start);
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
    return rest_ms > HEAP_TRIM_CHECK_MS ? rest_ms : HEAP_TRIM_CHECK_MS;
}

static void on_check(struct timer *timer)
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

static void on_burst_over(struct timer *timer)
{
    struct heap_trim *t = container_of(timer, struct heap_trim, burst);
    if (t->timer.running || t->heap(t) > HEAP_TRIM_SMALL_BYTES)
        return;
    t->trim(t);
    t->trims++;
}

void heap_trim_init(struct heap_trim *t, struct clock *clock)
{
    t->clock = clock;
    t->timer.fire = on_check;
    t->burst.fire = on_burst_over;
    t->heap_start = (uintptr_t)sbrk(0);
}

void heap_trim_changed(struct heap_trim *t)
{
    uint64_t now = clock_now_ms(t->clock);
    if (!t->burst.running && !t->stopped)
        timer_start(t->clock, &t->burst, HEAP_TRIM_BURST_MS);
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
    timer_start(t->clock, &t->timer, HEAP_TRIM_CHECK_MS);
}

void heap_trim_stop(struct heap_trim *t)
{
    t->stopped = true;
    timer_stop(t->clock, &t->timer);
    timer_stop(t->clock, &t->burst);
}

/* ---- consumer of events ---- */

struct daemon_heap {
    struct event_consumer consumer;
    struct heap_trim trim;
    struct daemon *d;
};

static size_t cache_bytes(struct heap_trim *t)
{
    const struct daemon *d = container_of(t, struct daemon_heap, trim)->d;
    size_t bytes = 0;
    list_for_each(node, &d->watchers)
        bytes += watcher_bytes(container_of(node, struct watcher, node));
    return bytes;
}

static struct event_consumer *heap_trim_open(struct daemon *d)
{
    struct daemon_heap *heap = NEW(struct daemon_heap);
    heap->consumer.ops = &heap_trim_consumer;
    heap->trim = (struct heap_trim){
        .held = cache_bytes, .trim = heap_trim_malloc, .heap = heap_trim_malloc_size};
    heap->d = d;
    heap_trim_init(&heap->trim, &d->loop.clock);
    return &heap->consumer;
}

static void heap_trim_close(struct event_consumer *consumer)
{
    struct daemon_heap *heap = container_of(consumer, struct daemon_heap, consumer);
    heap_trim_stop(&heap->trim);
    free(heap);
}

static struct heap_trim *heap_trim_of(const struct event_subscription *s)
{
    return &container_of(s->consumer, struct daemon_heap, consumer)->trim;
}

static void heap_trim_event(struct event_subscription *s, const struct inf_event *event,
                            const char *reason)
{
    (void)reason;
    if (event->verb == INF_DELETED)
        heap_trim_hint(heap_trim_of(s));
    else if (event->origin != INF_RESYNC)
        heap_trim_changed(heap_trim_of(s));
}

static void heap_trim_gap(struct event_subscription *s, const char *ns, const struct inf_gap *gap)
{
    (void)ns;
    (void)gap;
    heap_trim_hint(heap_trim_of(s));
}

static void heap_trim_watch_removed(struct event_subscription *s)
{
    heap_trim_hint(heap_trim_of(s));
}

const struct event_consumer_ops heap_trim_consumer = {
    .name = "heap_trim",
    .open = heap_trim_open,
    .close = heap_trim_close,
    .watch_removed = heap_trim_watch_removed,
    .event = heap_trim_event,
    .gap = heap_trim_gap,
};
