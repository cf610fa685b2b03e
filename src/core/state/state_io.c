/*
 * state_io.c - operations on files of the state directory, each followed by a function of the state.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/state/state_internal.h"

enum {
    FILE_MODE = 0600,
    DIR_MODE = 0700,
};

static void on_io_done(struct disk_op *op, int64_t result)
{
    struct state_io *io = container_of(op, struct state_io, op);
    struct inf_state *state = io->state;
    state_then *then = io->then;
    io->then = NULL;
    io->appending = false;
    then(state, result);
    state_settle(state);
}

void state_io_init(struct state_io *io, struct inf_state *state)
{
    *io = (struct state_io){.op.done = on_io_done, .state = state};
}

bool state_any_io_busy(const struct inf_state *state)
{
    return state_io_busy(&state->write_io) || state_io_busy(&state->sync_io) ||
           loader_busy(state) || cleaner_busy(state) || compactor_busy(state);
}

static struct disk *begin(struct state_io *io, state_then *then)
{
    io->then = then;
    return io->state->disk;
}

static char *path_of(struct state_io *io, const char *name)
{
    const char *dir = io->state->settings.dir;
    return name[0] ? xasprintf("%s/%s", dir, name) : xstrdup(dir);
}

void state_io_open(struct state_io *io, const char *name, int flags, state_then *then)
{
    struct disk *disk = begin(io, then);
    char *path = path_of(io, name);
    disk->ops->open(disk, &io->op, path, flags | O_CLOEXEC | (name[0] ? O_NOFOLLOW : 0), FILE_MODE);
    free(path);
}

void state_io_remove(struct state_io *io, const char *name, state_then *then)
{
    struct disk *disk = begin(io, then);
    char *path = path_of(io, name);
    disk->ops->remove(disk, &io->op, path);
    free(path);
}

void state_io_make_dir(struct state_io *io, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->make_dir(disk, &io->op, io->state->settings.dir, DIR_MODE);
}

void state_io_list(struct state_io *io, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->list(disk, &io->op, io->state->settings.dir);
}

void state_io_close(struct state_io *io, int fd, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->close(disk, &io->op, fd);
}

void state_io_stat(struct state_io *io, int fd, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->fstat(disk, &io->op, fd);
}

void state_io_truncate(struct state_io *io, int fd, uint64_t len, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->truncate(disk, &io->op, fd, (int64_t)len);
}

void state_io_sync(struct state_io *io, int fd, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->sync(disk, &io->op, fd);
}

void state_io_read(struct state_io *io, int fd, char *bytes, size_t len, uint64_t at,
                   state_then *then)
{
    state_io_read_and_work(io, fd, bytes, len, at, NULL, NULL, then);
}

void state_io_read_and_work(struct state_io *io, int fd, char *bytes, size_t len, uint64_t at,
                            void (*work)(void *ctx, size_t len), void *ctx, state_then *then)
{
    struct disk *disk = begin(io, then);
    io->op.work = work;
    io->op.work_ctx = ctx;
    disk->ops->read(disk, &io->op, fd, bytes, len, (int64_t)at);
}

void state_io_write(struct state_io *io, int fd, const char *bytes, size_t len, uint64_t at,
                    state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->write(disk, &io->op, fd, bytes, len, (int64_t)at);
}

/* The result is collected in the flush phase: by then the write has often ended, and if not, the loop is
 * woken when it does. Not at once: the caller of inf_state_flush() does not know its number yet. */
void state_io_append(struct state_io *io, int fd, const char *bytes, size_t len, state_then *then)
{
    struct disk *disk = begin(io, then);
    disk->ops->append(disk, &io->op, fd, bytes, len);
    io->appending = true;
    task_schedule(io->state->clock, &io->state->collect_task);
}

void state_io_collect(struct task *task)
{
    struct inf_state *state = container_of(task, struct inf_state, collect_task);
    if (state->write_io.appending)
        state->disk->ops->collect(state->disk, &state->write_io.op);
}

/* ---- operations that do not end ---- */

static void on_hang_timer(struct timer *timer)
{
    struct hang_timer *hang = container_of(timer, struct hang_timer, timer);
    if (hang->half_over) {
        hang->fire(hang);
        return;
    }
    hang->half_over = true;
    timer_start(hang->clock, timer, hang->half_ms);
}

void hang_timer_init(struct hang_timer *timer, struct clock *clock, uint64_t ms,
                     void (*fire)(struct hang_timer *timer))
{
    *timer = (struct hang_timer){
        .timer.fire = on_hang_timer, .clock = clock, .half_ms = ms / 2, .fire = fire};
}

void hang_timer_start(struct hang_timer *timer)
{
    timer->half_over = false;
    timer_start(timer->clock, &timer->timer, timer->half_ms);
}

void hang_timer_stop(struct hang_timer *timer)
{
    timer_stop(timer->clock, &timer->timer);
}

/* ---- names ---- */

static const char *const suffixes[] = {
    [FILE_SEGMENT] = ".seg", [FILE_DICTIONARY] = ".dict", [FILE_PROBE] = ".probe"};

void state_file_name(char ret[STATE_FILE_NAME], enum state_file type, uint32_t number)
{
    snprintf(ret, STATE_FILE_NAME, "%08u%s", number % 100000000, suffixes[type]);
}

enum state_file state_file_type(const char *name, uint32_t *ret_number)
{
    uint32_t number = 0;
    for (int i = 0; i < 8; i++) {
        if (name[i] < '0' || name[i] > '9')
            return FILE_OTHER;
        number = number * 10 + (uint32_t)(name[i] - '0');
    }
    *ret_number = number;
    for (int type = FILE_SEGMENT; type <= FILE_PROBE; type++)
        if (strcmp(name + 8, suffixes[type]) == 0)
            return (enum state_file)type;
    return FILE_OTHER;
}
