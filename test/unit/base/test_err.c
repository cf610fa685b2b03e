/*
 * test_err.c - the text of errors, added context, and removal of control characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

enum {
    LAST = INF_ERROR_TEXT_MAX - 1, /* index of the NUL of a full text */
};

/* @len times the character @c, for texts that are too long. */
static const char *many(char *buf, char c, size_t len)
{
    memset(buf, c, len);
    buf[len] = 0;
    return buf;
}

static void assert_cut(const struct inf_error *err)
{
    assert_int_equal(strlen(err->text), LAST);
    assert_string_equal(err->text + LAST - 3, "...");
}

static void sets_code_and_text(void **state)
{
    struct inf_error err = {.code = 99, .http_status = 410, .retry_after_ms = 5};
    (void)state;
    assert_int_equal(err_set(&err, INF_EIO, "file '%s': %d", "x", 7), -INF_EIO);
    assert_int_equal(err.code, INF_EIO);
    assert_int_equal(err.http_status, 0);
    assert_int_equal(err.retry_after_ms, 0);
    assert_string_equal(err.text, "file 'x': 7");
}

static void accepts_a_missing_error(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, INF_ENET, "%s", "unheard"), -INF_ENET);
}

static void wrap_adds_context_before_the_text(void **state)
{
    struct inf_error err;
    (void)state;
    err_set(&err, INF_EIO, "token file 'x': No such file");
    err.http_status = 401;
    assert_int_equal(err_wrap(&err, "user '%s'", "ci"), -INF_EIO);
    assert_int_equal(err_wrap(&err, "context %d", 1), -INF_EIO);
    assert_string_equal(err.text, "context 1: user 'ci': token file 'x': No such file");
    assert_int_equal(err.code, INF_EIO);
    assert_int_equal(err.http_status, 401);
}

static void keeps_a_text_of_the_maximum_length(void **state)
{
    struct inf_error err;
    char text[INF_ERROR_TEXT_MAX];
    (void)state;
    err_set(&err, INF_EIO, "%s", many(text, 'x', LAST));
    assert_string_equal(err.text, text);
}

static void marks_a_truncated_text(void **state)
{
    struct inf_error err;
    char text[2 * INF_ERROR_TEXT_MAX];
    (void)state;
    err_set(&err, INF_EIO, "%s", many(text, 'x', LAST + 1));
    assert_cut(&err);
    err_set(&err, INF_EIO, "%s", many(text, 'x', sizeof(text) - 1));
    assert_cut(&err);
    assert_int_equal(err.text[LAST - 4], 'x');
}

static void wrap_truncates_a_long_text(void **state)
{
    struct inf_error err;
    char text[2 * INF_ERROR_TEXT_MAX];
    (void)state;
    err_set(&err, INF_EIO, "%s", many(text, 'x', LAST - 3));
    err_wrap(&err, "a"); /* "a: " fills the last bytes */
    assert_int_equal(strlen(err.text), LAST);
    assert_int_equal(err.text[LAST - 1], 'x');
    err_wrap(&err, "b");
    assert_cut(&err);
    assert_memory_equal(err.text, "b: a: xxx", 9);
    err_wrap(&err, "%s", many(text, 'y', sizeof(text) - 1)); /* no room for the inner text at all */
    assert_cut(&err);
    assert_int_equal(err.text[LAST - 4], 'y');
}

static void wrap_accepts_context_up_to_the_limit(void **state)
{
    struct inf_error err;
    char text[INF_ERROR_TEXT_MAX];
    (void)state;
    for (size_t len = LAST - 5; len <= LAST; len++) {
        err_set(&err, INF_EIO, "in");
        err_wrap(&err, "%s", many(text, 'y', len));
        if (len + strlen(": in") > LAST)
            assert_cut(&err);
        else
            assert_string_equal(err.text + len, ": in");
    }
}

/* A server, a file name or a certificate may contain any bytes; a terminal interprets those below
 * space, DEL and C1. */
static void replaces_control_characters_by_blanks(void **state)
{
    struct inf_error err;
    (void)state;
    err_set(&err, INF_EIO, "%s",
            "a\nb\r\x1b[31mc\td\x7f"
            "e\x01\x1f");
    assert_string_equal(err.text, "a b  [31mc d e  ");
    err_set(&err, INF_EIO, "%s",
            "x\xc2\x9b"
            "2Jy\xc2\x80\xc2\x9fz");
    assert_string_equal(err.text, "x  2Jy    z");
    err_wrap(&err, "%s", "p\nq");
    assert_string_equal(err.text, "p q: x  2Jy    z");
}

/* A right-to-left override reverses the rest of a message on a terminal. */
static void replaces_misleading_characters_by_blanks(void **state)
{
    struct inf_error err;
    (void)state;
    err_set(&err, INF_EINVAL,
            "a\xe2\x80\xae"
            "b\xe2\x80\xa8"
            "c");
    assert_string_equal(err.text, "a   b   c");
}

static void keeps_other_characters(void **state)
{
    struct inf_error err;
    (void)state;
    err_set(&err, INF_EIO, "%s", "grün \xc2\xa0 \xe2\x82\xac \xf0\x9f\x90\xb3 100%");
    assert_string_equal(err.text, "grün \xc2\xa0 \xe2\x82\xac \xf0\x9f\x90\xb3 100%");
}

static void every_code_has_a_name_and_a_description(void **state)
{
    (void)state;
    for (int code = INF_EINVAL; code <= INF_ECANCELED; code++) {
        assert_string_not_equal(inf_error_name(code), "INF_E?");
        assert_string_equal(inf_error_name(code), inf_error_name(-code));
        assert_string_equal(inf_error_meaning(code), inf_error_meaning(-code));
    }
    assert_string_equal(inf_error_name(-INF_EGONE), "INF_EGONE");
    assert_string_equal(inf_error_meaning(INF_EGONE), "resource version expired");
}

static void names_zero_and_unknown_codes(void **state)
{
    (void)state;
    assert_string_equal(inf_error_name(0), "INF_OK");
    assert_string_equal(inf_error_meaning(0), "no error");
    assert_string_equal(inf_error_name(4711), "INF_E?");
    assert_string_equal(inf_error_meaning(-4711), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_code_and_text),
        cmocka_unit_test(accepts_a_missing_error),
        cmocka_unit_test(wrap_adds_context_before_the_text),
        cmocka_unit_test(keeps_a_text_of_the_maximum_length),
        cmocka_unit_test(marks_a_truncated_text),
        cmocka_unit_test(wrap_truncates_a_long_text),
        cmocka_unit_test(wrap_accepts_context_up_to_the_limit),
        cmocka_unit_test(replaces_control_characters_by_blanks),
        cmocka_unit_test(replaces_misleading_characters_by_blanks),
        cmocka_unit_test(keeps_other_characters),
        cmocka_unit_test(every_code_has_a_name_and_a_description),
        cmocka_unit_test(names_zero_and_unknown_codes),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
