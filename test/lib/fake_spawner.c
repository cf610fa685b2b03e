#include "fake_spawner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"

struct fake_child {
    struct child child;
    struct fake_spawner *spawner;
};

static void fake_close(struct child *child)
{
    struct fake_child *c = container_of(child, struct fake_child, child);
    if (c->spawner->running == child)
        c->spawner->running = NULL;
    free(c);
}

static size_t fake_write(struct child *child, struct str bytes)
{
    struct fake_spawner *f = container_of(child, struct fake_child, child)->spawner;
    size_t n = bytes.len < f->room ? bytes.len : f->room;
    buf_put(&f->input, bytes.at, n);
    f->room -= n;
    return n;
}

static void fake_stop(struct child *child, const char *why)
{
    struct fake_spawner *f = container_of(child, struct fake_child, child)->spawner;
    snprintf(f->stopped, sizeof(f->stopped), "%s", why);
}

static const struct child_ops ops = {.close = fake_close, .write = fake_write, .stop = fake_stop};

static void join_strings(struct buf *out, const char *const *list, char end)
{
    buf_clear(out);
    for (; *list; list++) {
        buf_puts(out, *list);
        buf_putc(out, list[1] || end == '\n' ? end : '\0');
    }
    if (end == '\n')
        buf_putc(out, '\0');
}

static struct child *fake_spawn(struct spawner *spawner, const struct child_spec *spec,
                                struct child_user *user)
{
    struct fake_spawner *f = container_of(spawner, struct fake_spawner, spawner);
    struct fake_child *c = NEW(struct fake_child);
    assert_null(f->running);
    c->child = (struct child){&ops, user};
    c->spawner = f;
    f->running = &c->child;
    f->runs++;
    f->timeout_ms = spec->timeout_ms;
    f->output_max = spec->output_max;
    f->errors_max = spec->errors_max;
    f->room = SIZE_MAX;
    f->stopped[0] = '\0';
    buf_clear(&f->input);
    join_strings(&f->argv, spec->argv, ' ');
    join_strings(&f->env, spec->env, '\n');
    return &c->child;
}

void fake_spawner_init(struct fake_spawner *f)
{
    *f = (struct fake_spawner){.spawner = {fake_spawn}};
}

void fake_spawner_done(struct fake_spawner *f)
{
    assert_null(f->running);
    buf_free(&f->argv);
    buf_free(&f->env);
    buf_free(&f->input);
}

void fake_spawner_end(struct fake_spawner *f, const struct child_end *end)
{
    struct child *child = f->running;
    assert_non_null(child);
    child->user->ops->on_end(child->user, end);
}

void fake_spawner_exit(struct fake_spawner *f, const char *output)
{
    fake_spawner_end(f, &(struct child_end){.fate = CHILD_EXITED, .output = str_of(output)});
}

void fake_spawner_output(struct fake_spawner *f, const char *text)
{
    assert_non_null(f->running);
    f->running->user->ops->on_output(f->running->user, str_of(text));
}

void fake_spawner_errors(struct fake_spawner *f, const char *text)
{
    assert_non_null(f->running);
    f->running->user->ops->on_errors(f->running->user, str_of(text));
}

void fake_spawner_read(struct fake_spawner *f, size_t room)
{
    assert_non_null(f->running);
    f->room = room;
    f->running->user->ops->on_writable(f->running->user);
}
