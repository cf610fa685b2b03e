/*
 * gather.c - counts wake-ups, and reads the gathered streams by a timer.
 *
 * Nothing here fails. A stream that can't be held wakes the loop as before.
 */
#include "loop/gather.h"

#include "base/base.h"

void gathered_init(struct gathered *gathered, const struct gathered_ops *ops)
{
    *gathered = (struct gathered){.ops = ops};
    list_init(&gathered->node);
}

static uint64_t window_of(const struct gather *g)
{
    return g->interval_ms * GATHER_WINDOW;
}

/* ---- joining ---- */

static void count_wakeup(struct gather *g, uint64_t now)
{
    if (now == g->counted_ms)
        return;
    g->counted_ms = now;
    if (now - g->window_ms >= window_of(g)) {
        g->is_busy = false;
        g->window_ms = now;
        g->wakeups = 0;
    }
    if (++g->wakeups >= GATHER_WAKEUPS)
        g->is_busy = true;
}

static void join(struct gather *g, struct gathered *stream)
{
    if (list_empty(&g->streams)) {
        g->intervals = g->hits = 0;
        timer_start(g->clock, &g->timer, g->interval_ms);
    }
    list_push(&g->streams, &stream->node);
    stream->misses = 0;
    stream->ops->hold(stream, true);
}

void gather_note_wakeup(struct gather *g, struct gathered *stream)
{
    uint64_t now = clock_now_ms(g->clock), before = stream->woken_ms;
    if (!g->interval_ms)
        return;
    stream->woken_ms = now;
    if (!list_empty(&stream->node)) { /* much has arrived */
        stream->misses = 0;
        return;
    }
    count_wakeup(g, now);
    if ((g->is_busy || !list_empty(&g->streams)) && before && now - before <= window_of(g))
        join(g, stream);
}

/* ---- leaving ---- */

void gather_leave(struct gather *g, struct gathered *stream)
{
    if (list_empty(&stream->node))
        return;
    list_remove(&stream->node);
    stream->ops->hold(stream, false);
    if (list_empty(&g->streams))
        timer_stop(g->clock, &g->timer);
}

static void leave_all(struct gather *g)
{
    while (!list_empty(&g->streams))
        gather_leave(g, container_of(g->streams.next, struct gathered, node));
    g->is_busy = false;
    g->window_ms = clock_now_ms(g->clock);
    g->wakeups = 0;
}

void gather_set_interval(struct gather *g, uint64_t interval_ms)
{
    leave_all(g);
    g->interval_ms = interval_ms;
}

/* ---- gathering ---- */

/* Reads each stream once. Streams may leave meanwhile. Returns whether there was any data. */
static bool read_streams(struct gather *g)
{
    struct list due, *node;
    bool any = false;
    list_init(&due);
    list_move_all(&due, &g->streams);
    while ((node = list_pop(&due))) {
        struct gathered *stream = container_of(node, struct gathered, node);
        uint64_t woken = stream->woken_ms;
        bool hit;
        list_push(&g->streams, &stream->node);
        hit = stream->ops->read(stream) || woken + g->interval_ms > clock_now_ms(g->clock);
        any |= hit;
        stream->misses = hit ? 0 : stream->misses + 1;
        if (stream->misses == GATHER_WINDOW)
            gather_leave(g, stream);
    }
    return any;
}

static void on_interval(struct timer *timer)
{
    struct gather *g = container_of(timer, struct gather, timer);
    g->hits += read_streams(g);
    if (++g->intervals == GATHER_WINDOW) {
        if (g->hits < GATHER_HITS_LEAST)
            leave_all(g);
        g->intervals = g->hits = 0;
    }
    if (!list_empty(&g->streams))
        timer_start(g->clock, &g->timer, g->interval_ms);
}

void gather_init(struct gather *g, struct clock *clock)
{
    *g = (struct gather){.clock = clock, .timer.fire = on_interval};
    list_init(&g->streams);
}
