/*
 * test_event_channel.c - consumers that record what they receive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "daemon/watch/event_channel.h"

struct recorder {
    struct event_consumer consumer;
    struct buf *out;
    char letter; /* before each line */
};

struct recorder_watch {
    struct event_subscription subscription;
    int events;
};

static struct recorder *recorder_of(const struct event_subscription *s)
{
    return container_of(s->consumer, struct recorder, consumer);
}

static void record_line(const struct event_subscription *s, const char *line)
{
    const struct recorder *r = recorder_of(s);
    buf_printf(r->out, "%c %s %s\n", r->letter, s->watch->id.name, line);
}

static void watch_added(struct event_subscription *s)
{
    record_line(s, "added");
}

static void watch_removed(struct event_subscription *s)
{
    record_line(s, "removed");
}

static void watch_replaces(struct event_subscription *s, const struct event_subscription *old)
{
    container_of(s, struct recorder_watch, subscription)->events +=
        container_of(old, struct recorder_watch, subscription)->events;
}

static void record_event(struct event_subscription *s, const struct inf_event *event,
                         const char *reason)
{
    (void)event;
    container_of(s, struct recorder_watch, subscription)->events++;
    record_line(s, reason);
}

static void record_gap(struct event_subscription *s, const char *ns, const struct inf_gap *gap)
{
    (void)ns;
    record_line(s, gap->text);
}

static void batch_end(struct event_consumer *consumer)
{
    const struct recorder *r = container_of(consumer, struct recorder, consumer);
    buf_printf(r->out, "%c batch end\n", r->letter);
}

static const struct event_consumer_ops recorder_ops = {
    .name = "recorder",
    .watch_size = sizeof(struct recorder_watch),
    .watch_added = watch_added,
    .watch_removed = watch_removed,
    .watch_replaces = watch_replaces,
    .event = record_event,
    .gap = record_gap,
    .batch_end = batch_end,
};

static const struct event_consumer_ops idle_ops = {.name = "idle"};

struct world {
    struct event_consumers consumers;
    struct recorder a, b;
    struct event_consumer idle;
    struct event_channel channel;
    struct buf out;
};

static void on_hold(struct event_channel *channel, bool hold)
{
    buf_puts(&container_of(channel, struct world, channel)->out, hold ? "held\n" : "released\n");
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    w->a = (struct recorder){{&recorder_ops}, &w->out, 'a'};
    w->b = (struct recorder){{&recorder_ops}, &w->out, 'b'};
    w->idle.ops = &idle_ops;
    event_consumers_init(&w->consumers);
    event_consumers_add(&w->consumers, &w->a.consumer);
    event_consumers_add(&w->consumers, &w->idle);
    event_consumers_add(&w->consumers, &w->b.consumer);
    w->channel.info.id.name = "pods";
    w->channel.on_hold = on_hold;
    event_channel_init(&w->channel, &w->consumers);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    event_channel_close(&w->channel);
    buf_free(&w->out);
    free(w);
    return 0;
}

static void assert_recorded(struct world *w, const char *expected)
{
    buf_putc(&w->out, '\0');
    assert_string_equal(w->out.bytes, expected);
    buf_clear(&w->out);
}

static void each_consumer_gets_each_report_in_order(void **state)
{
    struct world *w = *state;
    event_channel_open(&w->channel);
    event_channel_event(&w->channel, NULL, "left");
    event_channel_gap(&w->channel, "shop", &(struct inf_gap){.text = "lost"});
    event_channel_synced(&w->channel, 3, "7"); /* no consumer has this operation */
    event_consumers_flush(&w->consumers);
    event_channel_close(&w->channel);
    assert_recorded(w, "a pods added\nb pods added\n"
                       "a pods left\nb pods left\n"
                       "a pods lost\nb pods lost\n"
                       "a batch end\nb batch end\n"
                       "a pods removed\nb pods removed\n");
}

static void a_watch_is_held_while_any_consumer_holds_it(void **state)
{
    struct world *w = *state;
    struct event_subscription *a = w->channel.subscriptions[0], *b = w->channel.subscriptions[2];
    event_subscription_hold(a, true);
    event_subscription_hold(a, true);
    event_subscription_hold(b, true);
    assert_true(event_channel_is_held(&w->channel));
    assert_recorded(w, "held\n");
    event_subscription_hold(a, false);
    event_subscription_hold(a, false);
    assert_true(event_channel_is_held(&w->channel));
    event_subscription_hold(b, false);
    assert_false(event_channel_is_held(&w->channel));
    assert_recorded(w, "released\n");
}

static void a_replacement_continues_the_counters(void **state)
{
    struct world *w = *state;
    struct event_channel next = {.info.id.name = "pods"};
    const struct event_subscription *found;
    event_channel_open(&w->channel);
    event_channel_event(&w->channel, NULL, "x");
    event_channel_init(&next, &w->consumers);
    event_channel_replace(&next, &w->channel);
    found = event_channel_find(&next, &recorder_ops);
    assert_ptr_equal(found->consumer, &w->a.consumer);
    assert_int_equal(container_of(found, struct recorder_watch, subscription)->events, 1);
    event_channel_close(&next); /* was never opened, so it is not removed either */
    assert_recorded(w, "a pods added\nb pods added\na pods x\nb pods x\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_consumer_gets_each_report_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_watch_is_held_while_any_consumer_holds_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_replacement_continues_the_counters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
