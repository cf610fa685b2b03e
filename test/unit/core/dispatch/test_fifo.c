/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "builders.h"
#include "core/dispatch/fifo.h"

static void push_version(struct fifo *fifo, unsigned version)
{
    fifo_push(fifo, &(struct delta){.type = DELTA_BOOKMARK,
                                    .resource_version = xasprintf("%u", version)});
}

static void assert_pops(struct fifo *fifo, unsigned version)
{
    char expected[16];
    struct delta delta;
    assert_true(fifo_pop(fifo, &delta));
    snprintf(expected, sizeof(expected), "%u", version);
    assert_string_equal(delta.resource_version, expected);
    delta_done(&delta);
}

static void returns_events_in_order(void **state)
{
    struct fifo fifo = {0};
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        push_version(&fifo, i);
    for (unsigned i = 0; i < 1000; i++)
        assert_pops(&fifo, i);
    assert_false(fifo_pop(&fifo, &(struct delta){0}));
    fifo_free(&fifo);
}

static void shrinks_after_a_burst(void **state)
{
    struct fifo fifo = {0};
    size_t quiet;
    (void)state;
    push_version(&fifo, 0);
    quiet = fifo.capacity;
    for (unsigned i = 1; i < 1000; i++)
        push_version(&fifo, i);
    for (unsigned i = 0; i < 1000; i++)
        assert_pops(&fifo, i);
    push_version(&fifo, 7);
    assert_int_equal(fifo.capacity, quiet);
    assert_pops(&fifo, 7);
    fifo_free(&fifo);
}

/* The ring wraps around and grows while its first element is at any position. */
static void grows_from_any_position(void **state)
{
    (void)state;
    for (unsigned offset = 0; offset < 70; offset++) {
        struct fifo fifo = {0};
        unsigned in = 0, out = 0;
        while (in < offset)
            push_version(&fifo, in++);
        while (out + 1 < offset) /* not all: an empty ring starts from scratch */
            assert_pops(&fifo, out++);
        while (in < offset + 200)
            push_version(&fifo, in++);
        while (out < in)
            assert_pops(&fifo, out++);
        fifo_free(&fifo);
    }
}

static void frees_events_that_were_not_taken(void **state)
{
    struct fifo fifo = {0};
    struct inf_object *object = pod("default/a", "u", 1, 0);
    (void)state;
    fifo_push(&fifo, &(struct delta){.type = DELTA_ADDED, .object = object});
    push_version(&fifo, 2);
    fifo_free(&fifo); /* the leak sanitizer checks it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_events_in_order),
        cmocka_unit_test(shrinks_after_a_burst),
        cmocka_unit_test(grows_from_any_position),
        cmocka_unit_test(frees_events_that_were_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
