/*
 * test_log.c - lines below the level are not formatted, long ones are cut, and a listener is optional.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "log_recorder.h"

static void passes_a_line_with_its_level(void **state)
{
    struct log_recorder recorder;
    (void)state;
    log_recorder_init(&recorder, LOG_DEBUG);
    log_line(&recorder.log, LOG_WARN, "%s: %d objects", "pods", 3);
    assert_string_equal(recorder.last, "pods: 3 objects");
    assert_int_equal(recorder.level, LOG_WARN);
    assert_int_equal(recorder.lines, 1);
}

/* With level L the lines at L and above are passed on: 4 - L of the four. */
static void does_not_format_lines_below_the_level(void **state)
{
    (void)state;
    for (int wanted = LOG_DEBUG; wanted <= LOG_ERROR; wanted++) {
        struct log_recorder recorder;
        log_recorder_init(&recorder, (enum log_level)wanted);
        for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
            log_line(&recorder.log, (enum log_level)level, "x");
        assert_int_equal(recorder.lines, 4 - wanted);
        assert_int_equal(recorder.level, LOG_ERROR);
    }
}

static void discards_lines_without_a_log(void **state)
{
    (void)state;
    log_line(NULL, LOG_ERROR, "%s", "unheard");
}

static void assert_arrives_cut_to(struct log_recorder *recorder, size_t len, size_t expected)
{
    char text[2048];
    memset(text, 'x', len);
    text[len] = 0;
    log_line(&recorder->log, LOG_INFO, "%s", text);
    assert_int_equal(strlen(recorder->last), expected);
}

static void truncates_lines_over_a_kibibyte(void **state)
{
    struct log_recorder recorder;
    (void)state;
    log_recorder_init(&recorder, LOG_INFO);
    assert_arrives_cut_to(&recorder, 1023, 1023);
    assert_arrives_cut_to(&recorder, 1024, 1023);
    assert_arrives_cut_to(&recorder, 2047, 1023);
    assert_arrives_cut_to(&recorder, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_a_line_with_its_level),
        cmocka_unit_test(does_not_format_lines_below_the_level),
        cmocka_unit_test(discards_lines_without_a_log),
        cmocka_unit_test(truncates_lines_over_a_kibibyte),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
