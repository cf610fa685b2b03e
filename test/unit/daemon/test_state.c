/*
 * test_state.c - the lock, the key and the ids of the state directory.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/str.h"
#include "daemon/saved_state.h"
#include "daemon/state.h"
#include "folder.h"

static int set_up(void **state)
{
    static struct folder folder;
    folder_make(&folder);
    *state = &folder;
    return 0;
}

static int tear_down(void **state)
{
    folder_remove(*state);
    return 0;
}

/* Locks the directory in a child, which then waits in pause(); with @heir it has a child of its own
 * that has inherited the descriptor and outlives it. Returns the process that waits. */
static pid_t lock_in_a_child(const char *dir, bool heir)
{
    struct inf_error err;
    int ready[2];
    pid_t child, waiting;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        if (state_take(dir, &err) < 0 || (heir && (waiting = fork()) != 0))
            _exit(0);
        waiting = getpid();
        if (write(ready[1], &waiting, sizeof(waiting)) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &waiting, sizeof(waiting)), sizeof(waiting));
    close(ready[0]);
    if (heir)
        assert_int_equal(waitpid(child, NULL, 0), child);
    return waiting;
}

static void only_one_daemon_can_lock_the_state_directory(void **state)
{
    struct folder *folder = *state;
    pid_t first = lock_in_a_child(folder->path, false);
    struct inf_error err;
    char expected[64];
    int lock;
    assert_int_equal(state_take(folder->path, &err), -INF_ECONF);
    snprintf(expected, sizeof(expected), "another informerd (process %d)", (int)first);
    assert_non_null(strstr(err.text, expected));
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    lock = state_take(folder->path, &err);
    assert_true(lock >= 0);
    close(lock);
}

static void a_child_of_a_killed_daemon_does_not_keep_the_lock(void **state)
{
    struct folder *folder = *state;
    pid_t heir = lock_in_a_child(folder->path, true);
    struct inf_error err;
    int lock = state_take(folder->path, &err);
    kill(heir, SIGKILL);
    assert_true(lock >= 0);
    close(lock);
}

static void creates_a_state_directory(void **state)
{
    struct folder *folder = *state;
    char *one = xasprintf("%s/new", folder->path), *deep = xasprintf("%s/a/b/c", folder->path);
    struct inf_error err;
    struct stat st;
    assert_int_equal(state_create(one, false, &err), 1);
    assert_int_equal(stat(one, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(state_create(one, false, &err), 0); /* it exists */
    assert_int_equal(state_create(deep, false, &err), -INF_EIO);
    assert_non_null(strstr(err.text, "/a/b/c': No such file or directory; create it"));
    assert_int_equal(state_create(deep, true, &err), 1);
    rmdir(deep);
    *strrchr(deep, '/') = '\0';
    rmdir(deep);
    *strrchr(deep, '/') = '\0';
    rmdir(deep);
    rmdir(one);
    free(deep);
    free(one);
}

static void refuses_a_missing_state_directory(void **state)
{
    struct folder *folder = *state;
    char *nowhere = folder_file(folder, "nowhere");
    unsigned char key[STATE_KEY_SIZE];
    struct inf_error err;
    assert_int_equal(state_take(nowhere, &err), -INF_EIO);
    assert_non_null(strstr(err.text, nowhere));
    assert_int_equal(state_read_key(nowhere, key, &err), -INF_EIO);
    free(nowhere);
}

static void the_key_is_created_once_and_readable_only_by_its_owner(void **state)
{
    struct folder *folder = *state;
    unsigned char key[STATE_KEY_SIZE], again[STATE_KEY_SIZE];
    char *path = folder_file(folder, "key");
    struct inf_error err;
    struct stat st;
    assert_int_equal(state_read_key(folder->path, key, &err), 0);
    assert_int_equal(state_read_key(folder->path, again, &err), 0);
    assert_memory_equal(key, again, sizeof(key));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_file(folder, "key.new", "(none)");

    chmod(path, 0640);
    assert_int_equal(state_read_key(folder->path, again, &err), -INF_EIO);
    assert_non_null(strstr(err.text, "chmod 600"));
    unlink(path);
    assert_int_equal(state_read_key(folder->path, again, &err), 0);
    assert_memory_not_equal(key, again, sizeof(key));
    free(path);
}

static void a_file_is_overwritten_in_place(void **state)
{
    struct folder *folder = *state;
    char line[32], *path = folder_file(folder, "seq");
    struct inf_error err;
    struct stat before, after;
    assert_int_equal(state_overwrite(folder->path, "seq", STR("1 open\n"), &err), -INF_EIO);
    assert_int_equal(state_write(folder->path, "seq", STR("16777217 closed\n"), &err), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(state_overwrite(folder->path, "seq", STR("33554433 open\n"), &err), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_int_equal(state_read_text(folder->path, "seq", line, sizeof(line), &err), 0);
    assert_string_equal(line, "33554433 open");
    free(path);
}

static void a_key_of_another_size_is_refused(void **state)
{
    struct folder *folder = *state;
    unsigned char key[STATE_KEY_SIZE];
    char *path = folder_file(folder, "key");
    struct inf_error err;
    folder_write(folder, "key", "short");
    chmod(path, 0600);
    assert_int_equal(state_read_key(folder->path, key, &err), -INF_EIO);
    assert_non_null(strstr(err.text, "5 bytes"));
    free(path);
}

static void strings_end_at_the_newline(void **state)
{
    struct folder *folder = *state;
    struct inf_error err;
    char text[16];
    assert_int_equal(state_read_text(folder->path, "x", text, sizeof(text), &err), -INF_ENOTFOUND);
    assert_int_equal(state_write(folder->path, "x", STR("hello\n"), &err), 0);
    assert_int_equal(state_read_text(folder->path, "x", text, sizeof(text), &err), 0);
    assert_string_equal(text, "hello");
    folder_write(folder, "x", "much too long for that");
    assert_int_equal(state_read_text(folder->path, "x", text, sizeof(text), &err), -INF_ETOOBIG);
}

static void ids_are_hexadecimal_and_differ(void **state)
{
    char one[STATE_ID_SIZE], other[STATE_ID_SIZE];
    (void)state;
    state_make_id(one);
    state_make_id(other);
    assert_int_equal(strspn(one, "0123456789abcdef"), STATE_ID_SIZE - 1);
    assert_string_not_equal(one, other);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void a_restart_of_the_host_is_found_by_its_uptime(void **state)
{
    const int64_t now = INT64_C(1800000000) * 1000000;
    (void)state;
    assert_false(saved_state_is_before_boot(now - 5 * 1000000, now, 3600));
    assert_true(saved_state_is_before_boot(now - 5 * 1000000, now, 3));
    assert_false(saved_state_is_before_boot(0, now, 3)); /* there is no state */
}

static void a_state_of_the_future_has_no_age(void **state)
{
    const int64_t now = INT64_C(1800000000) * 1000000;
    (void)state;
    assert_int_equal(saved_state_age_ms(now - 5 * 1000000, now), 5000);
    assert_int_equal(saved_state_age_ms(now + 5 * 1000000, now), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(only_one_daemon_can_lock_the_state_directory),
        IN_FOLDER(a_child_of_a_killed_daemon_does_not_keep_the_lock),
        IN_FOLDER(creates_a_state_directory),
        IN_FOLDER(refuses_a_missing_state_directory),
        IN_FOLDER(the_key_is_created_once_and_readable_only_by_its_owner),
        IN_FOLDER(a_file_is_overwritten_in_place),
        IN_FOLDER(a_key_of_another_size_is_refused),
        IN_FOLDER(strings_end_at_the_newline),
        IN_FOLDER(ids_are_hexadecimal_and_differ),
        cmocka_unit_test(a_restart_of_the_host_is_found_by_its_uptime),
        cmocka_unit_test(a_state_of_the_future_has_no_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
