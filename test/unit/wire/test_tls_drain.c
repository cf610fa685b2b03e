/*
 * test_tls_drain.c - back-pressure through the TLS filter: it holds nothing back and hides nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tls_world.h"

static void what_waits_below_is_known_above(void **state)
{
    struct tls_world w;
    int drained;
    tls_world_init(&w, *state, &(struct tls_plan){.cut = 0});
    stream_reader_write(&w.reader, "early", 5);
    assert_int_equal(stream_unsent(w.reader.stream), 5);
    sim_run(&w.sim);
    assert_int_equal(stream_unsent(w.reader.stream), 0);
    drained = w.reader.drained;
    assert_true(drained > 0);
    w.pipe->clogged = true;
    stream_reader_write(&w.reader, "more", 4);
    sim_run(&w.sim);
    assert_true(stream_unsent(w.reader.stream) > 4); /* in a record */
    assert_int_equal(w.reader.drained, drained);
    w.pipe->clogged = false;
    sim_run(&w.sim);
    assert_int_equal(w.reader.drained, drained + 1);
    tls_world_done(&w);
}

/* The handshake drains too, but that is nobody's business. */
static void nothing_is_told_before_it_is_open(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.no_peer = true});
    stream_reader_write(&w.reader, "early", 5);
    sim_run(&w.sim);
    assert_int_equal(w.reader.drained, 0);
    assert_true(stream_unsent(w.reader.stream) >= 5);
    tls_world_done(&w);
}

static void closing_inside_drain(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.cut = 0});
    w.reader.close_in = IN_DRAIN;
    stream_reader_write(&w.reader, "early", 5);
    sim_run(&w.sim);
    assert_null(w.reader.stream);
    tls_world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_below_is_known_above),
        cmocka_unit_test(nothing_is_told_before_it_is_open),
        cmocka_unit_test(closing_inside_drain),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
