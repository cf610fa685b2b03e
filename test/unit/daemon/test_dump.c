/*
 * test_dump.c - a dump replaces the previous one atomically; and detection of terminals.
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

#include "daemon/cli/terminal.h"
#include "daemon/dump.h"
#include "folder.h"

static int set_up(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    folder_make(folder);
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

static int write_text(const char *path, const char *text, struct inf_error *err)
{
    struct buf dump = {0};
    int rc;
    buf_puts(&dump, text);
    rc = dump_write(path, &dump, err);
    buf_free(&dump);
    return rc;
}

static void a_dump_replaces_the_previous_one(void **state)
{
    struct folder *folder = *state;
    char *path = folder_file(folder, "dump.json");
    struct inf_error err;
    struct stat st;
    assert_int_equal(write_text(path, "{\"long\":\"one\"}\n", &err), 0);
    assert_int_equal(write_text(path, "{}\n", &err), 0);
    assert_file(folder, "dump.json", "{}\n");
    assert_file(folder, "dump.json.new", "(none)");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(path);
}

static void a_failed_dump_leaves_no_file(void **state)
{
    struct folder *folder = *state;
    char *path = folder_file(folder, "nowhere/dump.json"), *taken = folder_file(folder, "taken");
    struct inf_error err;
    assert_int_equal(write_text(path, "{}\n", &err), -INF_EIO);
    assert_non_null(strstr(err.text, "nowhere/dump.json: No such file or directory"));
    assert_int_equal(mkdir(taken, 0700), 0); /* written, but can't take that place */
    assert_int_equal(write_text(taken, "{}\n", &err), -INF_EIO);
    assert_non_null(strstr(err.text, "directory"));
    assert_file(folder, "taken.new", "(none)");
    assert_int_equal(rmdir(taken), 0);
    free(path);
    free(taken);
}

static void a_pipe_is_not_a_terminal(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_false(terminal_has_colours(ends[1]));
    assert_int_equal(terminal_width(ends[1]), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dump_replaces_the_previous_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_dump_leaves_no_file, set_up, tear_down),
        cmocka_unit_test(a_pipe_is_not_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
