/*
 * test_output.c - lines through a disk that is slow, full, moved or gone: each is there once, whole,
 * in order.
 */
#include <errno.h>
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

#include "base/base.h"
#include "output_world.h"

static void one_write_for_what_was_collected(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    buf_puts(&w->output.collected, "1\n");
    buf_puts(&w->output.collected, "2\n");
    assert_false(output_idle(&w->output));
    output_flush(&w->output);
    output_world_put(w, "3\n"); /* while the first is in flight */
    assert_file(&w->folder, "log", "1\n2\n3\n");
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2);
    assert_true(output_idle(&w->output));
    assert_int_equal(w->output.bytes, 6);
}

static void what_is_not_cleared_stays(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.frozen = true;
    output_world_put(w, "1\n");
    output_world_put(w, "2\n");
    buf_puts(&w->output.collected, "3\n"); /* its number is not reserved yet */
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n");
    assert_int_equal(output_unwritten(&w->output), 2);
    output_flush(&w->output);
    sim_run(&w->sim);
    assert_file(&w->folder, "log", "1\n2\n3\n");
}

static void marks(void **state)
{
    struct output_world *w = *state;
    char *block = malloc(OUTPUT_HIGH);
    memset(block, 'x', OUTPUT_HIGH);
    block[OUTPUT_HIGH - 2] = '\n';
    block[OUTPUT_HIGH - 1] = '\0';
    output_world_open(w, 0, 0);
    w->disk.frozen = true;
    output_world_put(w, block); /* in flight */
    assert_string_equal(w->holds, "");
    output_world_put(w, block);
    assert_string_equal(w->holds, "");
    output_world_put(w, "\n");
    assert_string_equal(w->holds, "H");
    assert_true(output_has_room(&w->output));
    output_world_put(w, block);
    output_world_put(w, "\n");
    assert_false(output_has_room(&w->output));
    assert_string_equal(w->holds, "H");
    w->disk.frozen = false;
    sim_run(&w->sim);
    assert_string_equal(w->holds, "HR");
    assert_true(output_idle(&w->output));
    free(block);
}

#define LINES "first line\nsecond line\nthird line\n"

/* The disk is full after each number of bytes: nothing is torn, doubled or lost. */
static void a_full_disk_at_every_byte(void **state)
{
    static const int errors[] = {UV_ENOSPC, UV_EIO, -EDQUOT, UV_EFBIG};
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    for (size_t n = 0; n < strlen(LINES); n++) {
        folder_write(&w->folder, "log", "");
        w->disk.space = n;
        w->disk.space_error = errors[n % ARRAY_LEN(errors)];
        output_world_put(w, LINES);
        assert_true(w->output.failing);
        output_world_put(w, "later\n");
        sim_advance(&w->sim, 500);
        w->disk.space = (size_t)-1;
        sim_advance(&w->sim, 31000);
        assert_false(w->output.failing);
        assert_file(&w->folder, "log", LINES "later\n");
    }
    assert_int_equal(w->output.failures, strlen(LINES));
}

static void it_is_reported_once_each_way(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.space = 3;
    output_world_put(w, LINES);
    output_world_assert_said(
        w, "3 No space left on device; lines are buffered, retrying until it works\n");
    sim_advance(&w->sim, 1000 + 2000 + 4000 + 8000 + 16000 + 30000 + 30000);
    assert_int_equal(w->disk.calls[FAKE_WRITE], 2 + 7);
    w->disk.space = (size_t)-1;
    sim_advance(&w->sim, 30000);
    output_world_assert_said(w, "1 writable again; no change was lost\n");
    assert_file(&w->folder, "log", LINES);
}

static void a_directory_that_is_not_there_yet(void **state)
{
    struct output_world *w = *state;
    char *dir = folder_file(&w->folder, "dir");
    free(w->path);
    w->path = folder_file(&w->folder, "dir/log");
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    output_world_assert_said(
        w, "3 its directory does not exist; lines are buffered, retrying until it works\n");
    mkdir(dir, 0700);
    sim_advance(&w->sim, 2000);
    assert_file(&w->folder, "dir/log", "1\n");
    output_world_assert_said(w, "1 writable again; no change was lost\n");
    free(dir);
}

static void a_descriptor_s_failure_is_its_end(void **state)
{
    struct output_world *w = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    output_init(&w->output, &w->sim.clock, &w->disk.disk, &(struct output_settings){.fd = ends[1]},
                &output_world_events);
    assert_string_equal(output_name(&w->output), "stdout");
    w->disk.fail[FAKE_WRITE] = UV_EAGAIN; /* somebody made it non-blocking: only wait */
    output_world_put(w, "1\n");
    assert_int_equal(w->lost, 0);
    w->disk.fail[FAKE_WRITE] = UV_EPIPE;
    sim_advance(&w->sim, OUTPUT_AGAIN_MS);
    assert_int_equal(w->lost, UV_EPIPE);
    output_world_put(w, "2\n");
    assert_true(output_idle(&w->output));
    output_reopen(&w->output); /* stays as it is */
    close(ends[0]);
    close(ends[1]);
}

static void closed_in_the_middle_of_a_write(void **state)
{
    struct output_world *w = *state;
    output_world_open(w, 0, 0);
    w->disk.frozen = true;
    output_world_put(w, "1\n"); /* and the tear-down closes it */
}

static void closed_while_it_fails(void **state)
{
    struct output_world *w = *state;
    w->disk.fail[FAKE_OPEN] = UV_EMFILE;
    output_world_open(w, 0, 0);
    output_world_put(w, "1\n");
    assert_true(w->output.failing);
}

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, output_world_set_up, output_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(one_write_for_what_was_collected),
        IN_WORLD(what_is_not_cleared_stays),
        IN_WORLD(marks),
        IN_WORLD(a_full_disk_at_every_byte),
        IN_WORLD(it_is_reported_once_each_way),
        IN_WORLD(a_directory_that_is_not_there_yet),
        IN_WORLD(a_descriptor_s_failure_is_its_end),
        IN_WORLD(closed_in_the_middle_of_a_write),
        IN_WORLD(closed_while_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
