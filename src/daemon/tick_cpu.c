/*
 * tick_cpu.c - a check handle of libuv, which is called once in each iteration.
 */
#include "daemon/tick_cpu.h"

#include <time.h>

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void on_check(uv_check_t *handle)
{
    struct tick_cpu *tick = handle->data;
    uint64_t now_ns = thread_cpu_ns();
    if (tick->before_ns)
        peak_note(&tick->peak, uv_now(handle->loop), (now_ns - tick->before_ns) / 1000);
    tick->before_ns = now_ns;
}

void tick_cpu_start(struct tick_cpu *tick, uv_loop_t *uv)
{
    *tick = (struct tick_cpu){0};
    uv_check_init(uv, &tick->check);
    tick->check.data = tick;
    uv_check_start(&tick->check, on_check);
    uv_unref((uv_handle_t *)&tick->check);
}

void tick_cpu_close(struct tick_cpu *tick)
{
    uv_close((uv_handle_t *)&tick->check, NULL);
}

uint64_t tick_cpu_worst_us(struct tick_cpu *tick, uint64_t now_ms)
{
    return peak_value(&tick->peak, now_ms);
}
