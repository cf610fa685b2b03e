/*
 * test_log_ahead.c - which changes a log has already, after a power loss that has left less of the state
 * than of the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "builders.h"
#include "daemon/output/log_ahead.h"

#define LOG "0123456789abcdef"
#define RECORD(seq, type, name, uid, rv)                                                       \
    "{\"time\":\"2026-11-18T00:00:00Z\",\"seq\":" #seq ",\"log\":\"" LOG "\",\"type\":\"" type \
    "\",\"origin\":\"live\",\"cluster\":\"prod\",\"watch\":\"pods\",\"namespace\":\"shop\","   \
    "\"name\":\"" name "\",\"uid\":\"" uid "\",\"rv\":\"" rv "\",\"labels\":{\"name\":\"x\"}}\n"

static const struct watch_id pods = {.cluster = "prod", .name = "pods"};

static struct log_ahead *ahead_of(const char *text, uint64_t from)
{
    struct log_ahead *ahead = log_ahead_new(LOG, from);
    struct str tail = str_of(text);
    while (log_ahead_read(ahead, &tail, false, 1))
        continue;
    return ahead;
}

/* The verdict about a change of shop/@name. */
static enum log_ahead_verdict check_from(struct log_ahead *ahead, enum inf_verb verb,
                                         enum inf_origin origin, const char *name, const char *uid,
                                         unsigned rv)
{
    char *key = xasprintf("shop/%s", name);
    struct inf_object *object = pod(key, uid, rv, 0);
    struct inf_event event = {.verb = verb, .origin = origin};
    struct change change = {.watch = &pods, .event = &event, .object = object};
    const char *had = NULL;
    enum log_ahead_verdict verdict = log_ahead_check(ahead, &change, &had);
    inf_object_unref(object);
    free(key);
    return verdict;
}

static enum log_ahead_verdict check(struct log_ahead *ahead, enum inf_verb verb, const char *name,
                                    const char *uid, unsigned rv)
{
    return check_from(ahead, verb, INF_LIVE, name, uid, rv);
}

static void records_of_the_state_do_not_count(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(6, "ADDED", "a", "u1", "10") RECORD(7, "MODIFIED", "a", "u1", "11"), 8);
    (void)state;
    assert_int_equal(ahead->count, 0);
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 11), LOG_AHEAD_NOT);
    log_ahead_free(ahead);
}

/* covers: crash/log-ahead */
static void changes_up_to_the_last_record_are_not_written_again(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(7, "MODIFIED", "a", "u1", "9") RECORD(8, "MODIFIED", "a", "u1", "11")
                     RECORD(9, "MODIFIED", "a", "u1", "13"),
                 8);
    (void)state;
    assert_int_equal(ahead->count, 1);
    assert_int_equal(check(ahead, INF_MODIFIED, "b", "u2", 11), LOG_AHEAD_NOT);
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 11), LOG_AHEAD_WRITTEN);
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 13), LOG_AHEAD_WRITTEN);
    assert_int_equal(ahead->count, 0); /* from now on everything is known */
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 14), LOG_AHEAD_NOT);
    log_ahead_free(ahead);
}

/* A list has skipped the version of the log. */
static void after_a_later_version_the_previous_state_is_unknown(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(8, "MODIFIED", "a", "u1", "11") RECORD(9, "ADDED", "b", "u2", "12"), 8);
    (void)state;
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 20), LOG_AHEAD_UNKNOWN);
    assert_int_equal(check(ahead, INF_ADDED, "b", "u2", 21), LOG_AHEAD_UNKNOWN);
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 22), LOG_AHEAD_NOT);
    log_ahead_free(ahead);
}

static void deletions_are_not_written_again(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(8, "MODIFIED", "a", "u1", "11") RECORD(9, "DELETED", "a", "u1", "12"), 8);
    (void)state;
    assert_int_equal(check(ahead, INF_MODIFIED, "a", "u1", 11), LOG_AHEAD_WRITTEN);
    assert_int_equal(check(ahead, INF_DELETED, "a", "u1", 12), LOG_AHEAD_WRITTEN);
    assert_int_equal(check(ahead, INF_ADDED, "a", "u2", 13), LOG_AHEAD_NOT);
    log_ahead_free(ahead);
}

static void a_later_deletion_is_written(void **state)
{
    struct log_ahead *ahead = ahead_of(RECORD(8, "MODIFIED", "a", "u1", "11"), 8);
    (void)state;
    assert_int_equal(check(ahead, INF_DELETED, "a", "u1", 12), LOG_AHEAD_NOT);
    assert_int_equal(ahead->count, 0);
    log_ahead_free(ahead);
}

/* The state has the object of uid u1, the log also its successor u2. */
static void the_deletion_of_an_earlier_object_is_not_written_again(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(8, "DELETED", "a", "u1", "11") RECORD(9, "ADDED", "a", "u2", "12"), 8);
    (void)state;
    assert_int_equal(check(ahead, INF_DELETED, "a", "u1", 11), LOG_AHEAD_WRITTEN);
    assert_int_equal(check(ahead, INF_ADDED, "a", "u2", 12), LOG_AHEAD_WRITTEN);
    assert_int_equal(ahead->count, 0);
    log_ahead_free(ahead);
}

/* Its saved objects were discarded: everything is reported again. */
static void initial_objects_are_written(void **state)
{
    struct log_ahead *ahead = ahead_of(RECORD(8, "ADDED", "a", "u1", "11"), 8);
    (void)state;
    assert_int_equal(check_from(ahead, INF_ADDED, INF_INITIAL, "a", "u1", 11), LOG_AHEAD_NOT);
    log_ahead_free(ahead);
}

static void other_lines_are_skipped(void **state)
{
    static const char text[] =
        RECORD(8, "ADDED", "a", "u1", "11") "\n[]\n{\"seq\":\"x\"}\nanother program\n"
                                            "{\"seq\":3,\"log\":\"of another installation\"}\n"
                                            "{\"seq\":9,\"log\":\"" LOG
                                            "\",\"type\":\"SYNCED\",\"rv\":\"1\"}\n{\"seq\":10";
    struct log_ahead *ahead = ahead_of(text, 8);
    (void)state;
    assert_int_equal(ahead->count, 1);
    assert_false(ahead->partial);
    log_ahead_free(ahead);
}

/* The first line may be incomplete, and records before it are not known. */
static void a_tail_that_begins_with_such_a_record_is_partial(void **state)
{
    struct log_ahead *ahead = log_ahead_new(LOG, 8);
    struct str tail = STR("half\",\"rv\":\"9\"}\n" RECORD(8, "ADDED", "a", "u1", "11"));
    (void)state;
    assert_true(log_ahead_read(ahead, &tail, true, 1));
    assert_string_equal(tail.at + tail.len, RECORD(8, "ADDED", "a", "u1", "11"));
    assert_false(log_ahead_read(ahead, &tail, true, 1));
    assert_true(ahead->partial);
    assert_int_equal(ahead->count, 1);
    log_ahead_free(ahead);
    ahead = log_ahead_new(LOG, 8);
    tail = STR("half\"}\n" RECORD(7, "ADDED", "b", "u2", "10") RECORD(8, "ADDED", "a", "u1", "11"));
    assert_false(log_ahead_read(ahead, &tail, true, 9));
    assert_false(ahead->partial);
    log_ahead_free(ahead);
}

static void objects_without_a_change_are_named_after_a_list(void **state)
{
    struct log_ahead *ahead =
        ahead_of(RECORD(8, "ADDED", "a", "u1", "11") RECORD(9, "DELETED", "b", "u2", "12")
                     RECORD(10, "ADDED", "c", "u3", "13"),
                 8);
    struct watch_id nodes = {.cluster = "prod", .name = "nodes"};
    struct buf names = {0};
    (void)state;
    assert_int_equal(log_ahead_forget_watch(ahead, &nodes, &names), 0);
    assert_int_equal(ahead->count, 3);
    assert_int_equal(log_ahead_forget_watch(ahead, &pods, &names), 2);
    buf_putc(&names, '\0');
    assert_string_equal(names.bytes, "shop/a, shop/c");
    assert_int_equal(ahead->count, 0);
    buf_free(&names);
    log_ahead_free(ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_the_state_do_not_count),
        cmocka_unit_test(changes_up_to_the_last_record_are_not_written_again),
        cmocka_unit_test(after_a_later_version_the_previous_state_is_unknown),
        cmocka_unit_test(deletions_are_not_written_again),
        cmocka_unit_test(a_later_deletion_is_written),
        cmocka_unit_test(the_deletion_of_an_earlier_object_is_not_written_again),
        cmocka_unit_test(initial_objects_are_written),
        cmocka_unit_test(other_lines_are_skipped),
        cmocka_unit_test(a_tail_that_begins_with_such_a_record_is_partial),
        cmocka_unit_test(objects_without_a_change_are_named_after_a_list),
    };
    return cmocka_run_group_tests_name("log_ahead", tests, NULL, NULL);
}
