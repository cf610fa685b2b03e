/*
 * test_consumer_slice.c - how many events a handler gets before the time is checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "core/dispatch/dispatch.h"
#include "core/object/object.h"
#include "core/store/store.h"
#include "sim.h"

enum {
    EVENTS = 32,
};

struct world {
    struct sim sim;
    struct inf_store *store;
    struct dispatch dispatch;
    struct task pump;
    struct inf_handler handler;
    unsigned calls;
};

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)event;
    container_of(handler, struct world, handler)->calls++;
}

static int set_up(void **state)
{
    static const struct siphash_key key = {1, 2};
    struct world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    w->store = store_new(&key, NULL, 0);
    dispatch_init(&w->dispatch, &w->sim.clock, w->store, &w->pump, &key);
    w->handler.on_event = on_event;
    task_init(&w->pump, PHASE_PUMP, NULL);
    assert_int_equal(dispatch_add_knowing(&w->dispatch, &w->handler, NULL), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    dispatch_close(&w->dispatch);
    task_cancel(&w->pump);
    dispatch_free(&w->dispatch);
    while (!store_free_some(w->store, 100))
        continue;
    sim_done(&w->sim);
    free(w);
    return 0;
}

static struct inf_object *config_map(unsigned n, size_t size)
{
    struct buf text = {0};
    struct inf_object *object;
    buf_printf(&text, "{\"metadata\":{\"name\":\"c%u\",\"namespace\":\"shop\"},\"data\":\"", n);
    while (text.len < size)
        buf_putc(&text, 'x');
    buf_put(&text, "\"}", 3);
    object = object_from(text.bytes);
    buf_free(&text);
    return object;
}

static void publish(struct world *w, size_t size)
{
    for (unsigned n = 0; n < EVENTS; n++) {
        struct inf_object *object = config_map(n, size);
        dispatch_event(&w->dispatch, &(struct inf_event){.verb = INF_ADDED,
                                                         .origin = INF_LIVE,
                                                         .final = true,
                                                         .new_object = object});
        inf_object_unref(object);
    }
}

static void small_objects_are_delivered_together(void **state)
{
    struct world *w = *state;
    publish(w, 500);
    dispatch_step(&w->dispatch, true);
    assert_int_equal(w->calls, EVENTS);
}

/* A handler that compresses or writes them needs a fifth of a millisecond for each. */
static void the_time_is_checked_after_two_large_objects(void **state)
{
    struct world *w = *state;
    publish(w, 200 * 1000);
    dispatch_step(&w->dispatch, true);
    assert_int_equal(w->calls, 2);
    while (dispatch_step(&w->dispatch, true))
        continue;
    assert_int_equal(w->calls, EVENTS);
}

static void an_object_larger_than_a_slice_is_delivered(void **state)
{
    struct world *w = *state;
    publish(w, 1000 * 1000);
    dispatch_step(&w->dispatch, true);
    assert_int_equal(w->calls, 1);
    while (dispatch_step(&w->dispatch, true))
        continue;
    assert_int_equal(w->calls, EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_objects_are_delivered_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_time_is_checked_after_two_large_objects, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_object_larger_than_a_slice_is_delivered, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
