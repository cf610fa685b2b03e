/*
 * test_tls_drain.c - back-pressure through the TLS filter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tls_world.h"

static void reports_unsent_bytes_of_the_lower_stream(void **state)
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

/* The messages of the handshake drain too, which is not reported. */
static void calls_no_on_drain_before_on_open(void **state)
{
    struct tls_world w;
    tls_world_init(&w, *state, &(struct tls_plan){.no_peer = true});
    stream_reader_write(&w.reader, "early", 5);
    sim_run(&w.sim);
    assert_int_equal(w.reader.drained, 0);
    assert_true(stream_unsent(w.reader.stream) >= 5);
    tls_world_done(&w);
}

static void can_be_closed_inside_on_drain(void **state)
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
        cmocka_unit_test(reports_unsent_bytes_of_the_lower_stream),
        cmocka_unit_test(calls_no_on_drain_before_on_open),
        cmocka_unit_test(can_be_closed_inside_on_drain),
    };
    return cmocka_run_group_tests(tests, tls_certs_make, tls_certs_drop);
}
