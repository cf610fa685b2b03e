/*
 * test_elector.c - replicas and one Lease in virtual time: a server with versions, delays and cut connections.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "daemon/replica/elector.h"
#include "sim.h"

enum {
    REPLICAS = 3,
    NAME_SIZE = 24,
    LATENCY_MS = 5,
};

struct world;

struct replica {
    struct world *world;
    char name[NAME_SIZE];
    struct elector elector;
    bool running, stopped;
    bool cut;         /* requests and responses are lost */
    bool deaf;        /* only responses are lost: writes take effect */
    uint64_t latency; /* ms */
    enum elector_request request;
    struct inf_lease asked; /* its holder and note are below */
    char holder[NAME_SIZE], note[NAME_SIZE];
    bool has_note;
    char known[NAME_SIZE]; /* the version of the last result */
    struct timer arrive, respond;
    char published[NAME_SIZE]; /* to be written */
    char seen[NAME_SIZE];      /* the last note it has read */
    /* the response under way */
    struct inf_lease answer;
    char answer_holder[NAME_SIZE], answer_note[NAME_SIZE], answer_version[NAME_SIZE];
    int status;
};

struct world {
    struct sim sim;
    struct rng rng;
    struct replica replicas[REPLICAS];
    /* the Lease on the server */
    bool exists;
    uint64_t version;
    struct inf_lease lease;
    char holder[NAME_SIZE], note[NAME_SIZE];
    unsigned requests;
    bool refuses; /* every write, as if another client had just written */
    struct buf lines;
};

static const struct elector_settings usual = {
    .duration_ms = 15000, .renew_deadline_ms = 10000, .retry_ms = 2000};

static void line(struct world *w, const char *who, const char *what, const char *why)
{
    buf_printf(&w->lines, "[%5llu] %s: %s%s%s%s\n", (unsigned long long)w->sim.now_ms, who, what,
               *why ? " (" : "", why, *why ? ")" : "");
}

static void expect(struct world *w, const char *lines)
{
    buf_putc(&w->lines, '\0');
    assert_string_equal(w->lines.bytes, lines);
    buf_clear(&w->lines);
}

/* ---- the server ---- */

static void put_answer(struct replica *r, int status)
{
    struct world *w = r->world;
    r->status = status;
    r->answer = w->lease;
    snprintf(r->answer_holder, NAME_SIZE, "%s", w->holder);
    snprintf(r->answer_note, NAME_SIZE, "%s", w->note);
    snprintf(r->answer_version, NAME_SIZE, "%llu", (unsigned long long)w->version);
    r->answer.holder = r->answer_holder;
    r->answer.note = r->answer_note;
    r->answer.version = r->answer_version;
}

static void store(struct replica *r)
{
    struct world *w = r->world;
    w->exists = true;
    w->version++;
    w->lease = r->asked;
    snprintf(w->holder, NAME_SIZE, "%s", r->holder);
    if (r->has_note)
        snprintf(w->note, NAME_SIZE, "%s", r->note);
    put_answer(r, 200);
}

static void on_arrive(struct timer *timer)
{
    struct replica *r = container_of(timer, struct replica, arrive);
    struct world *w = r->world;
    char version[NAME_SIZE];
    if (r->cut)
        return;
    w->requests++;
    snprintf(version, sizeof(version), "%llu", (unsigned long long)w->version);
    if (r->request == ELECTOR_GET)
        put_answer(r, w->exists ? 200 : 404);
    else if (w->refuses ||
             (r->request == ELECTOR_CREATE ? w->exists
                                           : !w->exists || strcmp(version, r->known) != 0))
        put_answer(r, 409);
    else
        store(r);
    timer_start(&w->sim.clock, &r->respond, r->latency);
}

static void on_respond(struct timer *timer)
{
    struct replica *r = container_of(timer, struct replica, respond);
    struct inf_error err = {0};
    if (r->cut || r->deaf)
        return;
    r->request = ELECTOR_NONE;
    if (r->status == 200) {
        snprintf(r->known, NAME_SIZE, "%s", r->answer_version);
        elector_result(&r->elector, &r->answer, NULL);
        return;
    }
    err_set(&err, r->status == 404 ? INF_ENOTFOUND : INF_EREFUSED, "status %d", r->status);
    err.http_status = r->status;
    elector_result(&r->elector, NULL, &err);
}

/* ---- a replica ---- */

static struct replica *of(struct elector *elector)
{
    return container_of(elector, struct replica, elector);
}

static void send(struct elector *elector, enum elector_request request,
                 const struct inf_lease *lease)
{
    struct replica *r = of(elector);
    r->request = request;
    if (lease) {
        r->asked = *lease;
        snprintf(r->holder, NAME_SIZE, "%s", lease->holder);
        r->has_note = lease->note;
        snprintf(r->note, NAME_SIZE, "%s", lease->note ? lease->note : "");
    }
    timer_start(&r->world->sim.clock, &r->arrive, r->latency);
}

static void cancel(struct elector *elector)
{
    struct replica *r = of(elector);
    timer_stop(&r->world->sim.clock, &r->respond); /* what is under way to the server arrives */
    r->request = ELECTOR_NONE;
}

static const char *note(struct elector *elector)
{
    return of(elector)->published;
}

static void on_seen(struct elector *elector, const struct inf_lease *lease)
{
    snprintf(of(elector)->seen, NAME_SIZE, "%s", lease->note);
}

static void on_role(struct elector *elector, bool leading, const char *why)
{
    struct replica *r = of(elector);
    if (leading)
        memcpy(r->published, r->seen, NAME_SIZE);
    line(r->world, r->name, leading ? "leads" : "stands by", why);
}

static void on_stopped(struct elector *elector)
{
    of(elector)->stopped = true;
    line(of(elector)->world, of(elector)->name, "stopped", "");
}

static const struct elector_ops ops = {.send = send,
                                       .cancel = cancel,
                                       .note = note,
                                       .on_seen = on_seen,
                                       .on_role = on_role,
                                       .on_stopped = on_stopped};

static struct replica *start_with(struct world *w, unsigned i, const struct elector_settings *s)
{
    struct replica *r = &w->replicas[i];
    struct elector_settings settings = *s;
    *r = (struct replica){.world = w, .running = true, .latency = LATENCY_MS};
    snprintf(r->name, NAME_SIZE, "%c", (char)('a' + i));
    r->arrive.fire = on_arrive;
    r->respond.fire = on_respond;
    settings.identity = r->name;
    elector_start(&r->elector, &ops, &settings, &w->sim.clock, &w->rng);
    return r;
}

static struct replica *start(struct world *w, unsigned i)
{
    return start_with(w, i, &usual);
}

/* As kill -9 does. */
static void kill_replica(struct replica *r)
{
    elector_close(&r->elector);
    timer_stop(&r->world->sim.clock, &r->arrive);
    timer_stop(&r->world->sim.clock, &r->respond);
    r->running = false;
}

static unsigned leaders(struct world *w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < REPLICAS; i++)
        n += w->replicas[i].running && elector_leads(&w->replicas[i].elector);
    return n;
}

static int set_up(void **state)
{
    struct world *w = NEW(struct world);
    sim_init(&w->sim);
    w->rng.state = 1;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    for (unsigned i = 0; i < REPLICAS; i++)
        if (w->replicas[i].running)
            kill_replica(&w->replicas[i]);
    sim_done(&w->sim);
    buf_free(&w->lines);
    free(w);
    return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* ---- the tests ---- */

static void the_first_one_creates_the_lease_and_the_second_stands_by(void **state)
{
    struct world *w = *state;
    start(w, 0);
    sim_advance(&w->sim, 1000);
    start(w, 1);
    sim_advance(&w->sim, 60000);
    expect(w, "[   20] a: leads (the Lease was created)\n");
    assert_string_equal(w->holder, "a");
    assert_int_equal(w->lease.duration_s, 15);
    assert_int_equal(w->lease.transitions, 0);
    assert_true(w->lease.renewed_us - w->lease.acquired_us > 55 * 1000000);
}

static void a_standby_takes_a_lease_whose_holder_was_killed_when_it_expires(void **state)
{
    struct world *w = *state;
    start(w, 0);
    start(w, 1);
    sim_advance(&w->sim, 30000);
    kill_replica(&w->replicas[0]);
    sim_advance(&w->sim, 12900);
    assert_int_equal(leaders(w), 0);
    sim_advance(&w->sim, 15000 + 4400 + 500 - 12900);
    assert_true(elector_leads(&w->replicas[1].elector));
    assert_int_equal(w->lease.transitions, 1);
}

/* The API server refuses a larger number. */
static void the_number_of_transitions_has_a_limit(void **state)
{
    struct world *w = *state;
    start(w, 0);
    sim_advance(&w->sim, 1000);
    w->lease.transitions = INT32_MAX; /* an edit */
    w->version++;
    start(w, 1);
    sim_advance(&w->sim, 30000);
    kill_replica(&w->replicas[0]);
    sim_advance(&w->sim, 30000);
    assert_true(elector_leads(&w->replicas[1].elector));
    assert_int_equal(w->lease.transitions, INT32_MAX);
}

static void a_released_lease_is_taken_at_the_next_try(void **state)
{
    struct world *w = *state;
    start(w, 0);
    start(w, 1);
    sim_advance(&w->sim, 30000);
    buf_clear(&w->lines);
    snprintf(w->replicas[0].published, NAME_SIZE, "last");
    elector_stop(&w->replicas[0].elector);
    sim_advance(&w->sim, 4500);
    assert_true(w->replicas[0].stopped);
    assert_true(elector_leads(&w->replicas[1].elector));
    assert_string_equal(w->replicas[1].seen, "last");
    assert_non_null(memmem(w->lines.bytes, w->lines.len, "b: leads (the Lease was free)", 29));
}

static void a_leader_without_connection_stops_before_its_lease_expires(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    start(w, 1);
    sim_advance(&w->sim, 30000);
    a->cut = true;
    for (int i = 0; i < 30000; i += 10) {
        sim_advance(&w->sim, 10);
        assert_true(leaders(w) <= 1);
    }
    assert_true(elector_leads(&w->replicas[1].elector));
    a->cut = false;
    sim_advance(&w->sim, 30000);
    assert_false(elector_leads(&a->elector));
    assert_int_equal(a->elector.error.code, 0);
}

static void a_leader_that_was_stopped_does_not_lead_when_it_continues(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    buf_clear(&w->lines);
    sim_stop(&w->sim, 20000);
    assert_false(elector_leads(&a->elector));
    sim_advance(&w->sim, 5000);
    assert_true(elector_leads(&a->elector)); /* no other one has taken it */
}

static void a_suspend_counts_although_the_clock_stands_still(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    sim_sleep(&w->sim, 20000);
    assert_false(elector_leads(&a->elector));
}

static void a_renewal_whose_response_is_lost_is_found_by_reading(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    buf_clear(&w->lines);
    a->deaf = true;
    sim_advance(&w->sim, 3000); /* one renewal */
    a->deaf = false;
    sim_advance(&w->sim, 20000);
    expect(w, "");
    assert_true(elector_leads(&a->elector));
}

static void the_wall_clock_does_not_matter(void **state)
{
    struct world *w = *state;
    start(w, 0);
    start(w, 1);
    sim_advance(&w->sim, 30000);
    w->sim.wall_offset_us += INT64_C(3600) * 1000000;
    sim_advance(&w->sim, 30000);
    w->sim.wall_offset_us -= INT64_C(7200) * 1000000;
    sim_advance(&w->sim, 30000);
    assert_true(elector_leads(&w->replicas[0].elector));
    assert_int_equal(w->lease.transitions, 0);
}

static void a_lease_that_someone_edits_is_renewed_again(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    buf_clear(&w->lines);
    w->version++; /* a label, perhaps */
    sim_advance(&w->sim, 10000);
    expect(w, "");
    assert_true(elector_leads(&a->elector));
    assert_string_equal(w->holder, "a");
}

static void a_lease_that_someone_deletes_is_created_again(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    w->exists = false;
    sim_advance(&w->sim, 10000);
    assert_true(w->exists && elector_leads(&a->elector));
}

static void a_lease_that_another_takes_by_force_ends_leading(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    buf_clear(&w->lines);
    w->version++;
    snprintf(w->holder, NAME_SIZE, "x");
    sim_advance(&w->sim, 4000);
    assert_false(elector_leads(&a->elector));
    assert_non_null(memmem(w->lines.bytes, w->lines.len, "another replica has taken", 25));
}

/* Another client that writes all the time, or an admission webhook. */
static void a_server_that_refuses_every_write_is_not_asked_without_pause(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    assert_true(elector_leads(&a->elector));
    w->refuses = true;
    w->requests = 0;
    sim_advance(&w->sim, 20000);
    assert_false(elector_leads(&a->elector));
    assert_true(w->requests <= 30);
    w->refuses = false;
    sim_advance(&w->sim, 10000);
    assert_true(elector_leads(&a->elector));
}

static void a_new_note_is_written_within_a_second_and_not_more_often(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    w->requests = 0;
    for (int i = 0; i < 1000; i++) {
        snprintf(a->published, NAME_SIZE, "%d", i);
        elector_publish(&a->elector);
        sim_advance(&w->sim, 10);
    }
    assert_true(w->requests >= 8 && w->requests <= 12);
    assert_true(atoi(w->note) >= 890);
}

static void releasing_gives_up_when_the_server_does_not_answer(void **state)
{
    struct world *w = *state;
    struct replica *a = start(w, 0);
    sim_advance(&w->sim, 30000);
    a->cut = true;
    elector_stop(&a->elector);
    sim_advance(&w->sim, 10001);
    assert_true(a->stopped);
}

static void a_standby_stops_at_once(void **state)
{
    struct world *w = *state;
    start(w, 0);
    start(w, 1);
    sim_advance(&w->sim, 30000);
    elector_stop(&w->replicas[1].elector);
    assert_true(w->replicas[1].stopped);
    assert_string_equal(w->holder, "a");
}

/* Kills, cuts, lost responses, slow connections and stops at random: there is never more than one leader, and
 * when everything works again there is one soon. */
static void no_two_replicas_lead_whatever_fails(void **state)
{
    struct world *w = *state;
    unsigned led = 0;
    w->rng.state = 7;
    for (unsigned i = 0; i < REPLICAS; i++)
        start(w, i);
    for (int step = 0; step < 20000; step++) {
        struct replica *r = &w->replicas[rng_below(&w->rng, REPLICAS)];
        switch (rng_below(&w->rng, 40)) {
        case 0: r->cut = !r->cut; break;
        case 1: r->deaf = !r->deaf; break;
        case 2: r->latency = rng_below(&w->rng, 4000); break;
        case 3:
            if (r->running) {
                kill_replica(r);
                break;
            }
            start(w, (unsigned)(r - w->replicas));
            break;
        case 4: sim_stop(&w->sim, rng_below(&w->rng, 30000)); break;
        case 5: w->version++; break;
        default:
            r->cut = r->deaf = false;
            r->latency = LATENCY_MS;
            break;
        }
        for (int i = 0; i < 5; i++) {
            sim_advance(&w->sim, rng_below(&w->rng, 800));
            assert_true(leaders(w) <= 1);
            led += leaders(w);
        }
        buf_clear(&w->lines);
    }
    assert_true(led > 50000); /* of 100,000 */
    for (unsigned i = 0; i < REPLICAS; i++) {
        w->replicas[i].cut = w->replicas[i].deaf = false;
        w->replicas[i].latency = LATENCY_MS;
        if (!w->replicas[i].running)
            start(w, i);
    }
    sim_advance(&w->sim, 30000);
    assert_int_equal(leaders(w), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_first_one_creates_the_lease_and_the_second_stands_by),
        IN_WORLD(a_standby_takes_a_lease_whose_holder_was_killed_when_it_expires),
        IN_WORLD(the_number_of_transitions_has_a_limit),
        IN_WORLD(a_released_lease_is_taken_at_the_next_try),
        IN_WORLD(a_leader_without_connection_stops_before_its_lease_expires),
        IN_WORLD(a_leader_that_was_stopped_does_not_lead_when_it_continues),
        IN_WORLD(a_suspend_counts_although_the_clock_stands_still),
        IN_WORLD(a_renewal_whose_response_is_lost_is_found_by_reading),
        IN_WORLD(the_wall_clock_does_not_matter),
        IN_WORLD(a_lease_that_someone_edits_is_renewed_again),
        IN_WORLD(a_lease_that_someone_deletes_is_created_again),
        IN_WORLD(a_lease_that_another_takes_by_force_ends_leading),
        IN_WORLD(a_server_that_refuses_every_write_is_not_asked_without_pause),
        IN_WORLD(a_new_note_is_written_within_a_second_and_not_more_often),
        IN_WORLD(releasing_gives_up_when_the_server_does_not_answer),
        IN_WORLD(a_standby_stops_at_once),
        IN_WORLD(no_two_replicas_lead_whatever_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
