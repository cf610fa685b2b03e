/*
 * event_order.c - collects lines with their times, and sorts them once. Nothing here fails; the
 * caller releases the lines when a limit is reached.
 */
#include "daemon/output/event_order.h"

#include <stdlib.h>

struct ordered_line {
    int64_t time_us;
    size_t at, len; /* in `text` */
    const struct watch_id *watch;
};

static size_t count_lines(const struct event_order *order)
{
    return order->lines.len / sizeof(struct ordered_line);
}

/* The buffer is an allocation of its own, so it is aligned. */
static struct ordered_line *lines_of(const struct event_order *order)
{
    return (struct ordered_line *)(void *)order->lines.bytes;
}

void event_order_free(struct event_order *order)
{
    buf_free(&order->text);
    buf_free(&order->lines);
}

bool event_order_takes(const struct event_order *order, const struct change *change)
{
    return !order->is_over && change->is_core_event && change->event->origin == INF_INITIAL;
}

void event_order_add(struct event_order *order, const struct record_format *format,
                     const struct change *change, const struct record_options *options)
{
    struct ordered_line line = {
        .time_us = change_time_us(change), .at = order->text.len, .watch = change->watch};
    format->put_change(&order->text, change, options);
    line.len = order->text.len - line.at;
    buf_put(&order->lines, (const char *)&line, sizeof(line));
}

bool event_order_has(const struct event_order *order, const struct watch_id *watch)
{
    for (size_t i = 0; i < count_lines(order); i++)
        if (lines_of(order)[i].watch == watch)
            return true;
    return false;
}

static int by_time(const void *a, const void *b)
{
    const struct ordered_line *one = a, *other = b;
    if (one->time_us != other->time_us)
        return one->time_us < other->time_us ? -1 : 1;
    return one->at < other->at ? -1 : one->at > other->at;
}

void event_order_release(struct event_order *order, struct buf *out)
{
    struct ordered_line *lines = lines_of(order);
    size_t n = count_lines(order);
    if (n)
        qsort(lines, n, sizeof(*lines), by_time);
    for (size_t i = 0; i < n; i++)
        buf_put(out, order->text.bytes + lines[i].at, lines[i].len);
    event_order_free(order); /* not needed again for a long time */
}
