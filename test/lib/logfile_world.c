#include "logfile_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void on_done(struct logfile *file, int64_t result)
{
    container_of(file, struct logfile_world, file)->result = result;
}

int logfile_world_set_up(void **state)
{
    struct logfile_world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    logfile_init(&w->file, &w->disk.disk, w->path, -1, on_done);
    *state = w;
    return 0;
}

int logfile_world_tear_down(void **state)
{
    struct logfile_world *w = *state;
    assert_false(logfile_is_busy(&w->file));
    if (logfile_is_open(&w->file))
        logfile_close(&w->file);
    sim_run(&w->sim);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    free(w->path);
    free(w);
    return 0;
}

int64_t logfile_world_finish(struct logfile_world *w)
{
    assert_true(logfile_is_busy(&w->file));
    sim_run(&w->sim);
    assert_false(logfile_is_busy(&w->file));
    return w->result;
}

int64_t logfile_world_open(struct logfile_world *w)
{
    logfile_open(&w->file);
    return logfile_world_finish(w);
}

void logfile_world_write(struct logfile_world *w, const char *text)
{
    logfile_write(&w->file, text, strlen(text));
    assert_int_equal(logfile_world_finish(w), strlen(text));
}

void logfile_world_close(struct logfile_world *w)
{
    logfile_close(&w->file);
    assert_int_equal(logfile_world_finish(w), 0);
}

void logfile_world_use(struct logfile_world *w, const char *path, int fd)
{
    logfile_init(&w->file, &w->disk.disk, path, fd, on_done);
}
