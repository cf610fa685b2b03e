/*
 * test_file.c - reading whole small files, and paths that are not readable files.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/file.h"

struct dir {
    char path[32];
};

static int setup(void **state)
{
    struct dir *d = NEW(struct dir);
    strcpy(d->path, "/tmp/test_file.XXXXXX");
    *state = d;
    return mkdtemp(d->path) && chdir(d->path) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    struct dir *d = *state;
    int rc;
    unlink("plain");
    unlink("fifo");
    rc = chdir("/") || rmdir(d->path);
    free(d);
    return rc;
}

static void put(const char *name, const char *bytes, size_t len)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static void assert_error(const char *name, int code, const char *text)
{
    struct inf_error err = {0};
    char *bytes = NULL;
    size_t len = 99;
    assert_int_equal(file_read(name, 5, &bytes, &len, &err), -code);
    assert_string_equal(err.text, text);
    assert_null(bytes);
    assert_int_equal(len, 99);
}

static void reads_a_file_up_to_the_limit(void **state)
{
    struct inf_error err;
    char *text = NULL;
    size_t len = 0;
    (void)state;
    put("plain", "ab\0c\n", 5);
    assert_int_equal(file_read("plain", 5, &text, &len, &err), 0); /* exactly the limit */
    assert_int_equal(len, 5);
    assert_memory_equal(text, "ab\0c\n", 6);
    free(text);
    put("plain", "", 0);
    assert_int_equal(file_read("plain", 0, &text, &len, &err), 0);
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    free(text);
}

static void refuses_other_files_and_larger_ones(void **state)
{
    (void)state;
    put("plain", "123456", 6);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_error("plain", INF_ETOOBIG, "file 'plain': larger than 5 bytes");
    assert_error("absent", INF_ENOTFOUND, "file 'absent': No such file or directory");
    assert_error("plain/x", INF_EIO, "file 'plain/x': Not a directory");
    assert_error(".", INF_EIO, "file '.': is a directory");
    assert_error("fifo", INF_EIO,
                 "file 'fifo': is not a regular file"); /* without waiting for a writer */
}

/* Files of the kernel have size 0 and content, or fail to be read. */
static void reports_an_error_while_reading(void **state)
{
    (void)state;
    assert_error("/proc/self/stat", INF_EIO, "file '/proc/self/stat': changed while it was read");
    assert_error("/proc/self/mem", INF_EIO, "file '/proc/self/mem': Input/output error");
}

static void reports_a_missing_permission(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* root may read everything */
    put("plain", "1", 1);
    assert_int_equal(chmod("plain", 0), 0);
    assert_error("plain", INF_EIO, "file 'plain': Permission denied");
}

static void assert_beside(const char *file, const char *path, const char *before, const char *tail)
{
    char *answer = path_beside(file, path);
    char *expected = xasprintf("%s%s", before, tail);
    assert_string_equal(answer, expected);
    free(expected);
    free(answer);
}

static void resolves_a_path_next_to_another(void **state)
{
    struct dir *d = *state;
    assert_beside("/a/b/config", "ca.pem", "", "/a/b/ca.pem");
    assert_beside("/a/b/config", "../ca.pem", "", "/a/b/../ca.pem");
    assert_beside("/a/b/config", "/ca.pem", "", "/ca.pem");
    assert_beside("/config", "ca.pem", "", "/ca.pem");
    assert_beside("config", "ca.pem", d->path, "/ca.pem");
    assert_beside("x/config", "y/ca.pem", d->path, "/x/y/ca.pem");
    assert_beside("x/config", "/ca.pem", "", "/ca.pem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_file_up_to_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_other_files_and_larger_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(reports_an_error_while_reading, setup, teardown),
        cmocka_unit_test_setup_teardown(reports_a_missing_permission, setup, teardown),
        cmocka_unit_test_setup_teardown(resolves_a_path_next_to_another, setup, teardown),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
