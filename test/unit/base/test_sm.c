/*
 * test_sm.c - the state machine of a door: every transition is logged, and one that is not in
 * the table aborts.
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

static void logs_a_transition(void **state)
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

static void logs_a_transition_to_the_same_state(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    (void)state;
    log_recorder_init(&recorder, LOG_DEBUG);
    sm_init(&sm, door_states, SHUT, "door", &recorder.log);
    sm_move(&sm, SHUT, "a knock");
    assert_string_equal(recorder.last, "door: shut -> shut (a knock)");
}

/* The reason may contain text of a peer: it is truncated, and the line stays a single line. */
static void truncates_a_long_reason(void **state)
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

static void moves_without_a_log(void **state)
{
    struct log_recorder recorder;
    struct sm sm;
    (void)state;
    log_recorder_init(&recorder, LOG_INFO); /* the level debug is disabled */
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

static void aborts_on_an_invalid_transition(void **state)
{
    struct sm sm;
    (void)state;
    sm_init(&sm, door_states, OPEN, "front door", NULL);
    assert_aborts(lock, &sm, "informer: bug: front door: invalid transition from open to locked\n");
    sm_init(&sm, door_states, LOCKED, "back door",
            NULL); /* a transition to the same state must be in the table, too */
    assert_aborts(lock, &sm,
                  "informer: bug: back door: invalid transition from locked to locked\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_a_transition),
        cmocka_unit_test(logs_a_transition_to_the_same_state),
        cmocka_unit_test(truncates_a_long_reason),
        cmocka_unit_test(moves_without_a_log),
        cmocka_unit_test(aborts_on_an_invalid_transition),
    };
    return cmocka_run_group_tests_name("sm", tests, NULL, NULL);
}
