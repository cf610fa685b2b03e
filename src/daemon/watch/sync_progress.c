/*
 * sync_progress.c - a timer that reads the size of the lists in progress and formats the text.
 *
 * Normal path: read, take a sample for the rate, show the text, until the owner stops it. A list that
 * starts again has fewer objects than before; the rate is then measured from scratch. Nothing here
 * can fail.
 */
#include "daemon/watch/sync_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/buf.h"

/* ---- the rate ---- */

static void add_sample(struct sync_progress *p, uint64_t objects)
{
    struct sync_progress_sample *s = p->samples;
    if (p->n_samples && objects < s[p->n_samples - 1].objects)
        p->n_samples = 0;
    if (p->n_samples == SYNC_PROGRESS_SAMPLES)
        memmove(s, s + 1, --p->n_samples * sizeof(*s));
    s[p->n_samples++] = (struct sync_progress_sample){clock_now_ms(p->clock), objects};
}

/* Objects per second between the oldest and the newest sample. */
static uint64_t measure_rate(const struct sync_progress *p)
{
    const struct sync_progress_sample *first = p->samples, *last = first + p->n_samples - 1;
    uint64_t ms = last->at_ms - first->at_ms;
    return ms ? (last->objects - first->objects) * 1000 / ms : 0;
}

/* ---- the text ---- */

/* "12,400" */
static void put_grouped(struct buf *out, uint64_t number)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

/* "61 MB", and "1.4 MB" below ten. */
static void put_bytes(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    uint64_t tenths = bytes / 100; /* of units[unit] */
    size_t unit = 0;
    if (bytes < 1000) {
        buf_printf(out, "%" PRIu64 " B", bytes);
        return;
    }
    for (; tenths >= 10000 && unit + 1 < ARRAY_LEN(units); unit++)
        tenths /= 1000;
    if (tenths < 100)
        buf_printf(out, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
    else
        buf_printf(out, "%" PRIu64 " %s", tenths / 10, units[unit]);
}

static void put_text(struct buf *out, const struct sync_progress_state *state, uint64_t rate)
{
    buf_puts(out, state->name);
    if (state->others)
        buf_printf(out, " and %zu more", state->others);
    buf_puts(out, ": ");
    put_grouped(out, state->objects);
    buf_puts(out, state->objects == 1 ? " object, " : " objects, ");
    put_grouped(out, rate);
    buf_puts(out, "/s, ");
    put_bytes(out, state->bytes);
    buf_putc(out, '\0');
}

/* ---- life ---- */

static void progress_on_tick(struct timer *timer)
{
    struct sync_progress *p = container_of(timer, struct sync_progress, tick);
    struct sync_progress_state state = {0};
    struct buf text = {0};
    p->ops->read(p, &state);
    add_sample(p, state.objects);
    if (state.objects)
        put_text(&text, &state, measure_rate(p));
    p->ops->show(p, text.bytes);
    buf_free(&text);
    timer_start(p->clock, &p->tick, SYNC_PROGRESS_EACH_MS);
}

void sync_progress_start(struct sync_progress *p, const struct sync_progress_ops *ops,
                         struct clock *clock)
{
    *p = (struct sync_progress){.ops = ops, .clock = clock, .tick.fire = progress_on_tick};
    add_sample(p, 0);
    timer_start(clock, &p->tick, SYNC_PROGRESS_FIRST_MS);
}

void sync_progress_stop(struct sync_progress *p)
{
    if (!p->clock)
        return;
    timer_stop(p->clock, &p->tick);
    p->clock = NULL;
    p->ops->show(p, NULL);
}
