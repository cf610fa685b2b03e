/*
 * test_log.c - lines below the level are not made, long ones are cut, and nobody need listen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "ear.h"

static void test_a_line_arrives_with_its_level(void **state)
{
    struct ear ear;
    (void)state;
    ear_init(&ear, LOG_DEBUG);
    log_line(&ear.log, LOG_WARN, "%s: %d objects", "pods", 3);
    assert_string_equal(ear.last, "pods: 3 objects");
    assert_int_equal(ear.level, LOG_WARN);
    assert_int_equal(ear.lines, 1);
}

/* With level L those at L and above arrive: 4 - L of the four. */
static void test_lines_below_the_level_are_not_made(void **state)
{
    (void)state;
    for (int wanted = LOG_DEBUG; wanted <= LOG_ERROR; wanted++) {
        struct ear ear;
        ear_init(&ear, (enum log_level)wanted);
        for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
            log_line(&ear.log, (enum log_level)level, "x");
        assert_int_equal(ear.lines, 4 - wanted);
        assert_int_equal(ear.level, LOG_ERROR);
    }
}

static void test_nobody_listens(void **state)
{
    (void)state;
    log_line(NULL, LOG_ERROR, "%s", "unheard");
}

static void assert_arrives_cut_to(struct ear *ear, size_t len, size_t expected)
{
    char text[2048];
    memset(text, 'x', len);
    text[len] = 0;
    log_line(&ear->log, LOG_INFO, "%s", text);
    assert_int_equal(strlen(ear->last), expected);
}

static void test_lines_over_a_kibibyte_are_cut(void **state)
{
    struct ear ear;
    (void)state;
    ear_init(&ear, LOG_INFO);
    assert_arrives_cut_to(&ear, 1023, 1023);
    assert_arrives_cut_to(&ear, 1024, 1023);
    assert_arrives_cut_to(&ear, 2047, 1023);
    assert_arrives_cut_to(&ear, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_arrives_with_its_level),
        cmocka_unit_test(test_lines_below_the_level_are_not_made),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_lines_over_a_kibibyte_are_cut),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
