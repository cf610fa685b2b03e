/*
 * test_disk_lock.c - locks between open files and between processes, and on which file systems they are used.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <uv.h>

#include "folder.h"
#include "loop/disk_lock.h"

static int open_log(const struct folder *folder)
{
    char *path = folder_file(folder, "log");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    free(path);
    return fd;
}

static void a_lock_belongs_to_the_open_file(void **state)
{
    struct folder folder;
    pid_t holder = -1;
    int first, second;
    (void)state;
    folder_make(&folder);
    first = open_log(&folder);
    second = open_log(&folder);
    assert_int_equal(disk_lock_take(first, true, &holder), 0);
    assert_int_equal(disk_lock_take(first, true, &holder), 0);
    assert_int_equal(disk_lock_take(second, true, &holder), UV_EBUSY);
    assert_int_equal(holder, getpid());
    assert_int_equal(disk_lock_take(second, false, &holder), UV_EBUSY);
    close(first);
    assert_int_equal(disk_lock_take(second, true, &holder), 0);
    close(second);
    folder_remove(&folder);
}

/* Locks the file, writes a byte to @ready, and waits until @done is closed. */
static void lock_in_child(const struct folder *folder, int ready, int done)
{
    pid_t holder;
    char byte = 'x';
    int fd = open_log(folder);
    if (disk_lock_take(fd, true, &holder) < 0 || write(ready, &byte, 1) != 1)
        _exit(1);
    _exit(read(done, &byte, 1) == 0 ? 0 : 1);
}

static void names_the_process_that_has_the_lock_until_it_ends(void **state)
{
    struct folder folder;
    int ready[2], done[2], fd, status;
    pid_t child, holder = -1;
    char byte;
    (void)state;
    folder_make(&folder);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    child = fork();
    if (child == 0) {
        close(done[1]);
        lock_in_child(&folder, ready[1], done[0]);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    fd = open_log(&folder);
    assert_int_equal(disk_lock_take(fd, true, &holder), UV_EBUSY);
    assert_int_equal(holder, child);
    close(done[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(disk_lock_take(fd, true, &holder), 0);
    close(fd);
    close(done[0]);
    close(ready[0]);
    close(ready[1]);
    folder_remove(&folder);
}

/* A lock must not wait for a server, nor for the process of a FUSE file system. */
static void locks_only_on_local_file_systems(void **state)
{
    static const uint64_t local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630};
    static const uint64_t other[] = {0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
        assert_true(disk_lock_is_local(local[i]));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_false(disk_lock_is_local(other[i]));
    assert_true(
        disk_lock_is_local((uint64_t)(int32_t)0x9123683e)); /* sign-extended on some systems */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_belongs_to_the_open_file),
        cmocka_unit_test(names_the_process_that_has_the_lock_until_it_ends),
        cmocka_unit_test(locks_only_on_local_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
