/*
 * elector.c - the state machine of elector.h: when to send which request, and what follows from its result.
 *
 * Normal path of a standby: GET every 1 to 2.2 times `retry`, or when the Lease is about to expire; UPDATE
 * if it may be taken. Of a leader: UPDATE every `retry`. An error is kept for the status and followed
 * by the next try; only the deadline decides that leading ends.
 */
#include "daemon/replica/elector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

enum {
    HTTP_CONFLICT = 409,
    RELEASED_S = 1, /* duration of a Lease without holder: the API requires one */
    SECOND_MS = 1000,
    RELEASE_MS = 3000, /* LIMIT: after it a stop does not wait any more */
};

static const struct sm_state elector_states[] = {
    [ELECTOR_STANDBY] = {"standby", SM_TO(ELECTOR_LEADING) | SM_TO(ELECTOR_STOPPED)},
    [ELECTOR_LEADING] = {"leading", SM_TO(ELECTOR_STANDBY) | SM_TO(ELECTOR_RELEASING)},
    [ELECTOR_RELEASING] = {"releasing", SM_TO(ELECTOR_STOPPED)},
    [ELECTOR_STOPPED] = {"stopped", 0},
};

static void send_next(struct elector *e);

static uint64_t now_ms(const struct elector *e)
{
    return clock_elapsed_ms(e->clock);
}

static bool is_ours(const struct elector *e)
{
    return e->seen.exists && strcmp(e->seen.holder, e->settings.identity) == 0;
}

/* ---- what is known of the Lease ---- */

static void forget_seen(struct elector *e)
{
    free(e->seen.version);
    free(e->seen.holder);
    e->seen = (struct elector_seen){.exists = false};
}

static void note_seen(struct elector *e, const struct inf_lease *lease)
{
    bool same = e->seen.exists && strcmp(e->seen.version, lease->version) == 0;
    uint64_t changed_ms = same ? e->seen.changed_ms : now_ms(e);
    forget_seen(e);
    e->seen = (struct elector_seen){
        .exists = true,
        .version = xstrdup(lease->version),
        .holder = xstrdup(lease->holder),
        .duration_ms =
            lease->duration_s ? (uint64_t)lease->duration_s * SECOND_MS : e->settings.duration_ms,
        .transitions = lease->transitions,
        .acquired_us = lease->acquired_us,
        .changed_ms = changed_ms,
    };
}

static uint64_t expires_ms(const struct elector *e)
{
    return e->seen.changed_ms + e->seen.duration_ms;
}

static bool may_take(const struct elector *e)
{
    return !e->seen.exists || !e->seen.holder[0] || is_ours(e) || now_ms(e) >= expires_ms(e);
}

/* ---- requests ---- */

static void send_request(struct elector *e, enum elector_request request,
                         const struct inf_lease *lease)
{
    e->request = request;
    e->sent_ms = now_ms(e);
    timer_stop(e->clock, &e->retry);
    timer_start(e->clock, &e->timeout, e->settings.renew_deadline_ms / 2);
    e->ops->send(e, request, lease);
}

/* Takes, renews or releases the Lease. */
static void send_write(struct elector *e)
{
    bool release = e->sm.state == ELECTOR_RELEASING;
    bool leads = e->sm.state != ELECTOR_STANDBY;
    int64_t now_us = clock_wall_us(e->clock);
    bool kept = is_ours(e);
    struct inf_lease lease = {
        .holder = release ? "" : e->settings.identity,
        .duration_s = release ? RELEASED_S : (uint32_t)(e->settings.duration_ms / SECOND_MS),
        .transitions =
            e->seen.transitions + (e->seen.exists && !kept && e->seen.transitions < INT32_MAX),
        .acquired_us = kept && e->seen.acquired_us ? e->seen.acquired_us : now_us,
        .renewed_us = now_us,
        .note = leads ? e->ops->note(e) : NULL,
    };
    e->doubtful = true; /* until there is a result */
    e->unpublished = false;
    e->written_ms = now_ms(e);
    send_request(e, e->seen.exists ? ELECTOR_UPDATE : ELECTOR_CREATE, &lease);
}

static void send_next(struct elector *e)
{
    if (e->request != ELECTOR_NONE || e->sm.state == ELECTOR_STOPPED)
        return;
    if (e->sm.state == ELECTOR_STANDBY || e->doubtful)
        send_request(e, ELECTOR_GET, NULL);
    else
        send_write(e);
}

static void on_retry(struct timer *timer)
{
    send_next(container_of(timer, struct elector, retry));
}

/* A standby tries again after 1 to 2.2 times `retry`, as client-go does, so that replicas do not try at the same
 * time, and when the Lease expires, if that is sooner. */
static uint64_t standby_delay(struct elector *e)
{
    uint64_t ms = e->settings.retry_ms;
    uint64_t delay = ms + rng_below(e->rng, ms + ms / 5);
    uint64_t now = now_ms(e);
    if (e->seen.exists && e->seen.holder[0] && !is_ours(e) && expires_ms(e) > now &&
        expires_ms(e) - now < delay)
        delay = expires_ms(e) - now + rng_below(e->rng, ms / 4 + 1);
    return delay;
}

/* The holder renews every `retry`, or sooner if there is something to publish. */
static uint64_t leading_delay(const struct elector *e)
{
    uint64_t age_ms = now_ms(e) - e->written_ms, ms = e->settings.retry_ms;
    if (e->unpublished && !e->error.code && ms > ELECTOR_PUBLISH_MS)
        ms = ELECTOR_PUBLISH_MS;
    if (e->error.code) /* the try before may have been long ago */
        return ms;
    return age_ms < ms ? ms - age_ms : 0;
}

static void schedule_next(struct elector *e)
{
    if (e->request == ELECTOR_NONE && e->sm.state != ELECTOR_STOPPED)
        timer_start(e->clock, &e->retry,
                    e->sm.state == ELECTOR_STANDBY ? standby_delay(e) : leading_delay(e));
}

/* ---- roles ---- */

bool elector_leads(const struct elector *elector)
{
    return elector->sm.state == ELECTOR_LEADING &&
           now_ms(elector) - elector->renewed_ms < elector->settings.renew_deadline_ms;
}

static void lead(struct elector *e, const char *why)
{
    sm_move(&e->sm, ELECTOR_LEADING, "%s", why);
    e->acquisitions++;
    e->ops->on_role(e, true, why);
}

static void lose(struct elector *e, const char *why)
{
    timer_stop(e->clock, &e->deadline);
    e->refused = false;
    sm_move(&e->sm, ELECTOR_STANDBY, "%s", why);
    e->ops->on_role(e, false, why);
}

static void finish(struct elector *e, const char *why)
{
    sm_move(&e->sm, ELECTOR_STOPPED, "%s", why);
    timer_stop(e->clock, &e->retry);
    timer_stop(e->clock, &e->deadline);
    timer_stop(e->clock, &e->timeout);
    e->ops->on_stopped(e);
}

/* Our write of @sent_ms was accepted: no other process takes the Lease before its deadline. */
static void renew(struct elector *e)
{
    uint64_t age_ms = now_ms(e) - e->sent_ms;
    e->renewed_ms = e->sent_ms;
    timer_start(e->clock, &e->deadline,
                age_ms < e->settings.renew_deadline_ms ? e->settings.renew_deadline_ms - age_ms
                                                       : 0);
}

static void check_deadline(struct elector *e)
{
    char why[512];
    if (e->sm.state == ELECTOR_RELEASING) {
        if (e->request != ELECTOR_NONE)
            e->ops->cancel(e);
        e->request = ELECTOR_NONE;
        finish(e, "the Lease could not be released in time");
        return;
    }
    if (e->sm.state != ELECTOR_LEADING || elector_leads(e))
        return;
    snprintf(why, sizeof(why), "the Lease could not be renewed for %.1f s%s%.100s",
             (double)(now_ms(e) - e->renewed_ms) / SECOND_MS, e->error.code ? ": " : "",
             e->error.code ? e->error.text : "");
    lose(e, why);
    schedule_next(e);
}

static void on_deadline(struct timer *timer)
{
    check_deadline(container_of(timer, struct elector, deadline));
}

/* Timers are late after a stop of the process, and do not run during a suspend. */
static void on_slept(struct sleep_watch *watch, uint64_t ms)
{
    (void)ms;
    check_deadline(container_of(watch, struct elector, sleep));
}

/* ---- results ---- */

/* The Lease as @lease; NULL: it does not exist. */
static void got_lease(struct elector *e, const struct inf_lease *lease)
{
    e->doubtful = false;
    if (lease)
        note_seen(e, lease);
    else
        forget_seen(e);
    switch ((enum elector_state)e->sm.state) {
    case ELECTOR_STANDBY:
        if (lease)
            e->ops->on_seen(e, lease);
        if (may_take(e))
            send_write(e);
        break;
    case ELECTOR_LEADING:
        if (!lease || is_ours(e))
            send_write(e);
        else
            lose(e, "another replica has taken the Lease");
        break;
    case ELECTOR_RELEASING:
        if (is_ours(e))
            send_write(e);
        else
            finish(e, "the Lease is not ours any more");
        break;
    case ELECTOR_STOPPED: break;
    }
}

/* @before is the last holder; NULL: there was no Lease. */
static void take(struct elector *e, const char *before)
{
    char why[INF_ERROR_TEXT_MAX];
    if (!before)
        snprintf(why, sizeof(why), "the Lease was created");
    else if (!before[0])
        snprintf(why, sizeof(why), "the Lease was free");
    else
        snprintf(why, sizeof(why), "the Lease of %.300s has expired", before);
    lead(e, why);
}

static void wrote(struct elector *e, const struct inf_lease *lease)
{
    char *before = e->seen.exists ? xstrdup(e->seen.holder) : NULL;
    e->doubtful = e->refused = false;
    note_seen(e, lease);
    switch ((enum elector_state)e->sm.state) {
    case ELECTOR_STANDBY:
        if (now_ms(e) - e->sent_ms < e->settings.renew_deadline_ms) {
            renew(e);
            take(e, before);
        }
        break;
    case ELECTOR_LEADING: renew(e); break;
    case ELECTOR_RELEASING:
        /* a renewal that was in progress does not release */
        if (is_ours(e))
            send_write(e);
        else
            finish(e, "released");
        break;
    case ELECTOR_STOPPED: break;
    }
    free(before);
}

static void failed(struct elector *e, enum elector_request request, const struct inf_error *err)
{
    bool conflict = request != ELECTOR_GET && err->http_status == HTTP_CONFLICT;
    if (request == ELECTOR_GET && err->code == INF_ENOTFOUND && err->http_status) {
        e->error.code = 0;
        got_lease(e, NULL);
        return;
    }
    if (conflict && e->sm.state != ELECTOR_STANDBY && !e->refused) { /* read it at once */
        e->refused = e->sm.state == ELECTOR_LEADING;
        send_next(e);
        return;
    }
    if (!conflict || e->refused)
        e->error = *err;
    check_deadline(e);
}

void elector_result(struct elector *elector, const struct inf_lease *lease,
                    const struct inf_error *err)
{
    enum elector_request request = elector->request;
    timer_stop(elector->clock, &elector->timeout);
    elector->request = ELECTOR_NONE;
    if (lease)
        elector->error.code = 0;
    if (!lease)
        failed(elector, request, err);
    else if (request == ELECTOR_GET)
        got_lease(elector, lease);
    else
        wrote(elector, lease);
    schedule_next(elector);
}

static void on_timeout(struct timer *timer)
{
    struct elector *e = container_of(timer, struct elector, timeout);
    struct inf_error err = {0};
    err_set(&err, INF_ETIMEOUT, "no response within %.1f s",
            (double)(now_ms(e) - e->sent_ms) / SECOND_MS);
    e->ops->cancel(e);
    elector_result(e, NULL, &err);
}

/* ---- the interface ---- */

void elector_publish(struct elector *elector)
{
    if (elector->sm.state != ELECTOR_LEADING || elector->unpublished)
        return;
    elector->unpublished = true;
    if (!elector->doubtful)
        schedule_next(elector);
}

void elector_stop(struct elector *elector)
{
    if (elector->sm.state == ELECTOR_LEADING) {
        sm_move(&elector->sm, ELECTOR_RELEASING, "stop");
        elector->refused = false;
        timer_start(elector->clock, &elector->deadline,
                    elector->settings.renew_deadline_ms < RELEASE_MS
                        ? elector->settings.renew_deadline_ms
                        : RELEASE_MS);
        send_next(elector);
    } else if (elector->sm.state == ELECTOR_STANDBY) {
        if (elector->request != ELECTOR_NONE)
            elector->ops->cancel(elector);
        elector->request = ELECTOR_NONE;
        finish(elector, "stop");
    }
}

void elector_start(struct elector *elector, const struct elector_ops *ops,
                   const struct elector_settings *settings, struct clock *clock, struct rng *rng)
{
    *elector = (struct elector){.ops = ops,
                                .settings = *settings,
                                .clock = clock,
                                .rng = rng,
                                .retry = {.fire = on_retry},
                                .deadline = {.fire = on_deadline},
                                .timeout = {.fire = on_timeout}};
    sm_init(&elector->sm, elector_states, ELECTOR_STANDBY, "replica", NULL);
    sleep_watch_start(clock, &elector->sleep, on_slept);
    send_next(elector);
}

void elector_close(struct elector *elector)
{
    timer_stop(elector->clock, &elector->retry);
    timer_stop(elector->clock, &elector->deadline);
    timer_stop(elector->clock, &elector->timeout);
    sleep_watch_stop(&elector->sleep);
    forget_seen(elector);
}
