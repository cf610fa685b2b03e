/*
 * test_sm.c - a door: every move leaves a line, and a move that is not in the table is the last
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sm.h"
#include "death.h"
#include "log_recorder.h"

enum door {
    OPEN,
    SHUT,
    LOCKED,
};

static const struct sm_state door_states[] = {
    [OPEN] = {"open", SM_TO(SHUT)},
    [SHUT] = {"shut", SM_TO(OPEN) | SM_TO(LOCKED) | SM_TO(SHUT)},
    [LOCKED] = {"locked", SM_TO(SHUT)},
};

static void test_a_move_leaves_a_line(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    (void)state;
    log_recorder_init(&recorder, LOG_DEBUG);
    sm_init(&sm, door_states, OPEN, "front door", &recorder.log);
    assert_string_equal(sm_name(&sm), "open");
    assert_int_equal(recorder.lines, 0);
    sm_move(&sm, SHUT, "wind of %d km/h", 80);
    assert_int_equal(sm.state, SHUT);
    assert_string_equal(sm_name(&sm), "shut");
    assert_string_equal(recorder.last, "front door: open -> shut (wind of 80 km/h)");
    assert_int_equal(recorder.level, LOG_DEBUG);
    sm_move(&sm, LOCKED, "night");
    assert_string_equal(recorder.last, "front door: shut -> locked (night)");
    assert_int_equal(recorder.lines, 2);
}

static void test_staying_is_a_move_too(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    (void)state;
    log_recorder_init(&recorder, LOG_DEBUG);
    sm_init(&sm, door_states, SHUT, "door", &recorder.log);
    sm_move(&sm, SHUT, "a knock");
    assert_string_equal(recorder.last, "door: shut -> shut (a knock)");
}

/* The reason may quote a peer: it is cut, and the line still ends as one. */
static void test_long_reason_is_cut(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    char reason[2000];
    (void)state;
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = 0;
    log_recorder_init(&recorder, LOG_DEBUG);
    sm_init(&sm, door_states, OPEN, "door", &recorder.log);
    sm_move(&sm, SHUT, "%s", reason);
    assert_in_range(strlen(recorder.last), 500, 560);
    assert_string_equal(recorder.last + strlen(recorder.last) - 3, "xx)");
}

static void test_moves_without_anybody_listening(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    (void)state;
    log_recorder_init(&recorder, LOG_INFO); /* debug is not wanted */
    sm_init(&sm, door_states, OPEN, "door", &recorder.log);
    sm_move(&sm, SHUT, "wind");
    assert_int_equal(recorder.lines, 0);
    sm_init(&sm, door_states, OPEN, "door", NULL);
    sm_move(&sm, SHUT, "wind");
    assert_int_equal(sm.state, SHUT);
}

static void lock(void *sm)
{
    sm_move(sm, LOCKED, "in a hurry");
}

static void test_a_wrong_move_aborts(void **state)
{
    struct sm sm;
    (void)state;
    sm_init(&sm, door_states, OPEN, "front door", NULL);
    assert_aborts(lock, &sm, "informer: bug: front door: invalid transition from open to locked\n");
    sm_init(&sm, door_states, LOCKED, "back door",
            NULL); /* staying has to be in the table as well */
    assert_aborts(lock, &sm,
                  "informer: bug: back door: invalid transition from locked to locked\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_move_leaves_a_line),
        cmocka_unit_test(test_staying_is_a_move_too),
        cmocka_unit_test(test_long_reason_is_cut),
        cmocka_unit_test(test_moves_without_anybody_listening),
        cmocka_unit_test(test_a_wrong_move_aborts),
    };
    return cmocka_run_group_tests_name("sm", tests, NULL, NULL);
}
