/*
 * log_file_world.c - runs each operation of a log file to its end.
 */
#include "log_file_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void on_done(struct log_file *file, int64_t result)
{
    container_of(file, struct log_file_world, file)->result = result;
}

void log_file_world_use(struct log_file_world *w, const char *path)
{
    log_file_init(&w->file, &w->disk.disk, path);
    w->file.done = on_done;
}

int log_file_world_set_up(void **state)
{
    struct log_file_world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    log_file_world_use(w, w->path);
    *state = w;
    return 0;
}

int log_file_world_tear_down(void **state)
{
    struct log_file_world *w = *state;
    assert_false(log_file_is_busy(&w->file));
    if (log_file_is_open(&w->file))
        log_file_close(&w->file);
    sim_run(&w->sim);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    free(w->path);
    free(w);
    return 0;
}

int64_t log_file_world_finish(struct log_file_world *w)
{
    assert_true(log_file_is_busy(&w->file));
    sim_run(&w->sim);
    assert_false(log_file_is_busy(&w->file));
    return w->result;
}

int64_t log_file_world_open(struct log_file_world *w)
{
    log_file_open(&w->file);
    return log_file_world_finish(w);
}

void log_file_world_write(struct log_file_world *w, const char *text)
{
    log_file_write(&w->file, text, strlen(text));
    assert_int_equal(log_file_world_finish(w), strlen(text));
}

void log_file_world_close(struct log_file_world *w)
{
    log_file_close(&w->file);
    assert_int_equal(log_file_world_finish(w), 0);
}
