/*
 * test_disk_append.c - appends to real files: through io_uring, and on the pool where it is not available.
 *
 * Each test runs twice. Where the kernel has no io_uring, both runs use the pool.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "folder.h"
#include "loop/disk.h"
#include "loop/disk_append.h"
#include "loop/disk_ring.h"
#include "real_loop.h"

struct world {
    struct real_loop rl;
    struct loop_disk disk;
    struct folder folder;
    int fd;
};

struct append_op {
    struct disk_op op;
    unsigned calls;
    int64_t result;
};

static void on_done(struct disk_op *op, int64_t result)
{
    struct append_op *a = container_of(op, struct append_op, op);
    a->calls++;
    a->result = result;
}

static int open_file(const struct folder *folder, const char *name)
{
    char *path = folder_file(folder, name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    assert_true(fd >= 0);
    free(path);
    return fd;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    real_loop_init(&w->rl);
    loop_disk_init(&w->disk, &w->rl.loop);
    folder_make(&w->folder);
    w->fd = open_file(&w->folder, "log");
    *state = w;
    return 0;
}

static int set_up_without_ring(void **state)
{
    setenv("UV_USE_IO_URING", "0", 1);
    return set_up(state);
}

static int tear_down(void **state)
{
    struct world *w = *state;
    unsetenv("UV_USE_IO_URING");
    close(w->fd);
    loop_disk_close(&w->disk);
    real_loop_done(&w->rl);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

static void append(struct world *w, struct append_op *a, int fd, const char *bytes)
{
    a->op.done = on_done;
    w->disk.disk.ops->append(&w->disk.disk, &a->op, fd, bytes, strlen(bytes));
    assert_int_equal(a->calls, 0);
}

static void collect(struct world *w, struct append_op *a)
{
    w->disk.disk.ops->collect(&w->disk.disk, &a->op);
}

static void an_append_ends_once_without_being_collected(void **state)
{
    struct world *w = *state;
    struct append_op a = {.calls = 0};
    append(w, &a, w->fd, "one\n");
    RUN_UNTIL(&w->rl, a.calls);
    real_loop_settle(&w->rl);
    assert_int_equal(a.calls, 1);
    assert_int_equal(a.result, 4);
    assert_file(&w->folder, "log", "one\n");
}

static void a_collected_append_ends_once(void **state)
{
    struct world *w = *state;
    struct append_op a = {.calls = 0};
    append(w, &a, w->fd, "one\n");
    collect(w, &a);
    RUN_UNTIL(&w->rl, a.calls);
    real_loop_settle(&w->rl);
    assert_int_equal(a.calls, 1);
    assert_int_equal(a.result, 4);
}

static void appends_one_after_the_other_are_in_order(void **state)
{
    struct world *w = *state;
    struct append_op a = {.calls = 0};
    append(w, &a, w->fd, "one\n");
    collect(w, &a);
    RUN_UNTIL(&w->rl, a.calls);
    a.calls = 0;
    append(w, &a, w->fd, "two\n");
    RUN_UNTIL(&w->rl, a.calls);
    assert_file(&w->folder, "log", "one\ntwo\n");
}

static unsigned count_ended(const struct append_op *appends, unsigned n)
{
    unsigned ended = 0;
    for (unsigned i = 0; i < n; i++)
        ended += appends[i].calls;
    return ended;
}

/* Collecting one of them delivers no other one. */
static void appends_to_many_files_end_each(void **state)
{
    enum {
        FILES = DISK_RING_WRITES + 5
    }; /* the last ones use the pool */
    static struct append_op appends[FILES];
    struct world *w = *state;
    int fds[FILES];
    memset(appends, 0, sizeof(appends));
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "log-%d", i);
        fds[i] = open_file(&w->folder, name);
        append(w, &appends[i], fds[i], "line\n");
    }
    collect(w, &appends[0]);
    for (int i = 1; i < FILES; i++)
        assert_int_equal(appends[i].calls, 0);
    RUN_UNTIL(&w->rl, count_ended(appends, FILES) == FILES);
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(appends[i].calls, 1);
        assert_int_equal(appends[i].result, 5);
        close(fds[i]);
    }
}

static void an_error_is_that_of_write(void **state)
{
    struct world *w = *state;
    struct append_op a = {.calls = 0};
    char *path = folder_file(&w->folder, "log");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    append(w, &a, fd, "one\n");
    RUN_UNTIL(&w->rl, a.calls);
    assert_int_equal(a.result, -EBADF);
    close(fd);
    free(path);
}

static void cancelling_an_append_waits_for_its_end(void **state)
{
    struct world *w = *state;
    struct append_op a = {.calls = 0};
    append(w, &a, w->fd, "one\n");
    w->disk.disk.ops->cancel(&w->disk.disk, &a.op);
    RUN_UNTIL(&w->rl, a.calls);
    assert_int_equal(a.calls, 1);
    assert_true(a.result == 4 || a.result == -ECANCELED);
}

static void the_number_of_names_is_known_at_once(void **state)
{
    struct world *w = *state;
    struct disk *disk = &w->disk.disk;
    char *path = folder_file(&w->folder, "log");
    assert_int_equal(disk->ops->links(disk, w->fd), 1);
    unlink(path);
    assert_int_equal(disk->ops->links(disk, w->fd), 0);
    assert_int_equal(disk->ops->links(disk, -1), -EBADF);
    free(path);
}

/* A ring that the environment forbids is not made. */
static void the_environment_can_forbid_it(void **state)
{
    (void)state;
    setenv("UV_USE_IO_URING", "0", 1);
    assert_null(disk_ring_new());
    unsetenv("UV_USE_IO_URING");
}

#define BOTH_WAYS(test)                                                   \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down),             \
    {                                                                     \
#test "_without_ring", test, set_up_without_ring, tear_down, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(an_append_ends_once_without_being_collected),
        BOTH_WAYS(a_collected_append_ends_once),
        BOTH_WAYS(appends_one_after_the_other_are_in_order),
        BOTH_WAYS(appends_to_many_files_end_each),
        BOTH_WAYS(an_error_is_that_of_write),
        BOTH_WAYS(cancelling_an_append_waits_for_its_end),
        BOTH_WAYS(the_number_of_names_is_known_at_once),
        cmocka_unit_test(the_environment_can_forbid_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
