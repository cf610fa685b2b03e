/*
 * event_log_world.c - sets up the simulated clock, the fake disk and a directory of its own.
 */
#include "event_log_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void on_hold(struct event_log *log)
{
    struct event_log_recorder *r = log->owner;
    strcat(r->holds, log->held ? "H" : "R"); /* NOLINT: a few */
}

static void on_idle(struct event_log *log)
{
    (void)log;
}

static void on_log(struct event_log *log, enum inf_log_level level, const char *line)
{
    struct event_log_recorder *r = log->owner;
    const char *text = strstr(line, "/log: ");
    buf_printf(&r->logged, "%d %s\n", (int)level, text ? text + 6 : line);
}

static void on_lost(struct event_log *log, int error)
{
    struct event_log_recorder *r = log->owner;
    r->lost = error;
}

static void on_closed(struct event_log *log)
{
    struct event_log_recorder *r = log->owner;
    r->closed = true;
}

static void on_dropped(struct event_log *log, uint64_t lines)
{
    struct event_log_recorder *r = log->owner;
    r->dropped += lines;
}

static void on_removed(struct event_log *log, uint64_t lines)
{
    struct event_log_recorder *r = log->owner;
    r->removed += lines;
}

const struct event_log_events event_log_recorder_events = {
    .on_log = on_log,
    .on_hold = on_hold,
    .on_idle = on_idle,
    .on_dropped = on_dropped,
    .on_removed = on_removed,
    .on_lost = on_lost,
    .on_closed = on_closed,
};

int event_log_world_set_up(void **state)
{
    struct event_log_world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

int event_log_world_tear_down(void **state)
{
    struct event_log_world *w = *state;
    w->disk.frozen = false;
    if (!w->recorder.closed)
        event_log_close(&w->log);
    sim_run(&w->sim);
    assert_true(w->recorder.closed);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    buf_free(&w->recorder.logged);
    free(w->path);
    free(w);
    return 0;
}

void event_log_world_open(struct event_log_world *w, struct event_log_settings settings)
{
    if (!settings.sink.target)
        settings.sink.target = w->path;
    event_log_init(&w->log, &w->sim.clock, &w->disk.disk, NULL, settings.sink.target,
                   &event_log_recorder_events);
    w->log.owner = &w->recorder;
    event_log_configure(&w->log, &settings, NULL, NULL);
    event_log_begin(&w->log);
    sim_run(&w->sim);
}

void event_log_world_put(struct event_log_world *w, const char *lines)
{
    buf_puts(&w->log.collected, lines);
    event_log_flush(&w->log);
    sim_run(&w->sim);
}

void event_log_world_assert_logged(struct event_log_world *w, const char *expected)
{
    buf_putc(&w->recorder.logged, '\0');
    assert_string_equal(w->recorder.logged.bytes, expected);
    buf_clear(&w->recorder.logged);
}

void event_log_world_move_file(struct event_log_world *w)
{
    char *moved = folder_file(&w->folder, "moved");
    assert_int_equal(rename(w->path, moved), 0);
    free(moved);
}
