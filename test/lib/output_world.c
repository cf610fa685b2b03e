#include "output_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static struct output_world *world_of(struct output *output)
{
    return container_of(output, struct output_world, output);
}

static void on_hold(struct output *output, bool hold)
{
    struct output_world *w = world_of(output);
    strcat(w->holds, hold ? "H" : "R"); /* NOLINT: a few */
}

static void on_idle(struct output *output)
{
    world_of(output)->idle++;
}

static void on_say(struct output *output, enum inf_log_level level, const char *line)
{
    const char *told = strstr(line, "/log: ");
    buf_printf(&world_of(output)->said, "%d %s\n", (int)level, told ? told + 6 : line);
}

static void on_lost(struct output *output, int error)
{
    world_of(output)->lost = error;
}

static void on_closed(struct output *output)
{
    world_of(output)->closed = true;
}

static void on_dropped(struct output *output, uint64_t lines)
{
    world_of(output)->dropped += lines;
}

static void on_removed(struct output *output, uint64_t lines)
{
    world_of(output)->removed += lines;
}

const struct output_events output_world_events = {on_hold,   on_idle,    on_say,    on_lost,
                                                  on_closed, on_dropped, on_removed};

void output_world_open(struct output_world *w, uint64_t rotate_size, unsigned keep)
{
    output_init(
        &w->output, &w->sim.clock, &w->disk.disk,
        &(struct output_settings){.path = w->path, .rotate_size = rotate_size, .keep = keep},
        &output_world_events);
    sim_run(&w->sim);
}

int output_world_set_up(void **state)
{
    struct output_world *w = calloc(1, sizeof(*w));
    sim_init(&w->sim);
    fake_disk_init(&w->disk, &w->sim);
    folder_make(&w->folder);
    w->path = folder_file(&w->folder, "log");
    *state = w;
    return 0;
}

int output_world_tear_down(void **state)
{
    struct output_world *w = *state;
    w->disk.frozen = false;
    if (!w->closed)
        output_close(&w->output);
    sim_run(&w->sim);
    assert_true(w->closed);
    fake_disk_done(&w->disk);
    sim_done(&w->sim);
    folder_remove(&w->folder);
    buf_free(&w->said);
    free(w->path);
    free(w);
    return 0;
}

void output_world_put(struct output_world *w, const char *lines)
{
    buf_puts(&w->output.collected, lines);
    output_flush(&w->output);
    sim_run(&w->sim);
}

void output_world_assert_said(struct output_world *w, const char *expected)
{
    buf_putc(&w->said, '\0');
    assert_string_equal(w->said.bytes, expected);
    buf_clear(&w->said);
}
