#include "real_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

enum {
    SETTLE_TICKS = 20,
};

void real_loop_init(struct real_loop *rl)
{
    rl->closed = false;
    assert_int_equal(uv_loop_init(&rl->uv), 0);
    assert_int_equal(loop_init(&rl->loop, &rl->uv), 0);
}

static void on_closed(struct loop *loop)
{
    struct real_loop *rl = container_of(loop, struct real_loop, loop);
    assert_false(rl->closed);
    rl->closed = true;
}

void real_loop_done(struct real_loop *rl)
{
    loop_close(&rl->loop, on_closed);
    uv_run(&rl->uv, UV_RUN_DEFAULT);
    assert_true(rl->closed);
    assert_int_equal(uv_loop_close(&rl->uv), 0);
}

void real_loop_tick(struct real_loop *rl)
{
    uv_run(&rl->uv, UV_RUN_NOWAIT);
}

/* Not UV_RUN_ONCE, which fires timers first and then polls: it would block forever after a timer
 * has made the condition true. */
void real_loop_wait(struct real_loop *rl)
{
    assert_true(uv_loop_alive(&rl->uv));
    real_loop_tick(rl);
}

void real_loop_settle(struct real_loop *rl)
{
    for (int i = 0; i < SETTLE_TICKS; i++)
        real_loop_tick(rl);
}
