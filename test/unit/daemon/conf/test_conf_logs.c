/*
 * test_conf_logs.c - event logs that are one file by links, or that a rotation would rename, and the
 * defaults of their options.
 *
 * Every test runs in an empty directory of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "conf_world.h"
#include "daemon/conf/conf_logs.h"
#include "daemon/format/record_format.h"

/* The errors of two event logs with these paths. The caller frees them. */
static char *check_two(const char *first, const char *second)
{
    char *text = xasprintf("event_logs:\n  - path: %s\n    rotate: {size: 1M, keep: 3}\n"
                           "  - path: %s\n",
                           first, second);
    struct conf_errors errors = {0};
    struct conf conf;
    int rc;
    conf_world_put("x.conf", text);
    conf = conf_world_file();
    rc = conf_logs_check(&conf, &errors);
    assert_int_equal(rc, errors.count ? -INF_ECONF : 0);
    conf_free(&conf);
    free(text);
    buf_putc(&errors.text, '\0');
    return errors.text.bytes;
}

static void assert_same(const char *first, const char *second)
{
    char *errors = check_two(first, second);
    assert_string_equal(errors,
                        "x.conf:4:11: event_logs[1].path: is the same file as the event log "
                        "at x.conf:2:11; each event log needs its own file\n");
    free(errors);
}

static void assert_rotated(const char *first, const char *second)
{
    char *errors = check_two(first, second);
    assert_string_equal(errors, "x.conf:4:11: event_logs[1].path: is a rotated file of the "
                                "event log at x.conf:2:11; each event log needs its own file\n");
    free(errors);
}

static void assert_accepted(const char *first, const char *second)
{
    char *errors = check_two(first, second);
    assert_string_equal(errors, "");
    free(errors);
}

static void refuses_two_links_to_one_file(void **state)
{
    (void)state;
    conf_world_put("a", "");
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(symlink("a", "soft"), 0);
    assert_same("a", "hard");
    assert_same("a", "soft");
    assert_same("soft", "hard");
}

/* Neither file exists yet. */
static void refuses_one_file_in_a_linked_directory(void **state)
{
    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(symlink("dir", "link"), 0);
    assert_same("dir/a", "link/a");
    assert_same("dir/a", "dir/../dir/a");
    assert_accepted("dir/a", "link/b");
    assert_accepted("dir/a", "link/../a");
}

static void refuses_a_file_that_a_rotation_would_rename(void **state)
{
    (void)state;
    assert_int_equal(mkdir("dir", 0700), 0);
    assert_int_equal(symlink("dir", "link"), 0);
    assert_rotated("dir/a", "link/a.3");
    assert_rotated("dir/a", "link/a.oldest");
    assert_accepted("dir/a", "link/a.4");
    assert_accepted("dir/a", "link/a.03");
    conf_world_put("dir/a.1", "");
    assert_int_equal(link("dir/a.1", "hard"), 0);
    assert_int_equal(symlink("dir/a.1", "soft"), 0);
    assert_rotated("dir/a", "hard");
    assert_rotated("dir/a", "soft");
}

/* Opening the log reports it. */
static void accepts_missing_directories(void **state)
{
    (void)state;
    assert_accepted("missing/a", "missing/b");
    assert_accepted("missing/a", "other/a");
    assert_accepted("missing/a", "stdout");
    assert_accepted("/", "a");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, conf_world_setup, conf_world_teardown)

/* ---- defaults ---- */

static void the_object_option_decides_which_records_have_the_object(void **state)
{
    struct conf conf = conf_world_text("event_logs:\n"
                                       "  - {path: /a, object: none, context: []}\n"
                                       "  - {path: /b, object: full}\n"
                                       "  - {path: /c, object: none, object_verbs: [ADDED]}\n"
                                       "  - {path: /d, object_verbs: []}\n");
    (void)state;
    assert_int_equal(conf.event_logs[0].object_verbs, 0);
    assert_int_equal(conf.event_logs[0].context, 0);
    assert_int_equal(conf.event_logs[1].object_verbs, RECORD_ALL_VERBS);
    assert_int_equal(conf.event_logs[2].object_verbs, 1 << INF_ADDED);
    assert_int_equal(conf.event_logs[3].object_verbs, 0);
    conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(refuses_two_links_to_one_file),
        IN_WORLD(refuses_one_file_in_a_linked_directory),
        IN_WORLD(refuses_a_file_that_a_rotation_would_rename),
        IN_WORLD(accepts_missing_directories),
        cmocka_unit_test(the_object_option_decides_which_records_have_the_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
