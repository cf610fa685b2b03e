/*
 * test_handler_track.c - which records a published position covers, and which position is published.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "daemon/handler/handler_track.h"

#define KEY "prod\tpods\t* 0"

enum {
    RECORDS = 16,
};

struct world {
    struct handler_tracks tracks;
    struct handler_track *track;
    struct handler_span spans[RECORDS];
    size_t n;
};

static struct world *world_new(void)
{
    struct siphash_key key = {1, 2};
    struct world *w = NEW(struct world);
    handler_tracks_init(&w->tracks, &key, NULL);
    w->track = handler_tracks_get(&w->tracks, KEY);
    return w;
}

static void world_free(struct world *w)
{
    for (size_t i = 0; i < w->n; i++)
        handler_track_remove(&w->spans[i]);
    handler_tracks_free(&w->tracks);
    free(w);
}

static int set_up(void **state)
{
    *state = world_new();
    return 0;
}

static int tear_down(void **state)
{
    world_free(*state);
    return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Adds a record unless it is covered. */
static bool change(struct world *w, uint64_t version, uint64_t listed, bool live, bool deleted)
{
    struct handler_track_change c = {
        .version = version, .listed = listed, .live = live, .deleted = deleted};
    struct handler_span *span = &w->spans[w->n];
    if (!handler_track_place(w->track, &c, span))
        return false;
    handler_track_add(span);
    w->n++;
    return true;
}

static bool live(struct world *w, uint64_t version)
{
    return change(w, version, version, true, false);
}

static void reach(struct world *w, uint64_t version)
{
    handler_track_reach(&w->tracks, w->track, version);
}

static void count_covered(void *ctx, struct handler_span *span)
{
    (*(size_t *)ctx)++;
    handler_track_remove(span);
}

/* Returns how many records it covers. */
static size_t publish(struct world *w, uint64_t version)
{
    size_t covered = 0;
    handler_track_publish(w->track, version);
    handler_track_each_covered(w->track, count_covered, &covered);
    return covered;
}

static void the_position_is_before_the_first_record_that_waits(void **state)
{
    struct world *w = *state;
    reach(w, 100);
    assert_int_equal(handler_track_position(w->track), 100);
    live(w, 105);
    live(w, 107);
    assert_int_equal(handler_track_position(w->track), 104);
    handler_track_remove(&w->spans[1]); /* delivered out of order */
    assert_int_equal(handler_track_position(w->track), 104);
    handler_track_remove(&w->spans[0]);
    assert_int_equal(handler_track_position(w->track), 107);
    reach(w, 120); /* a bookmark */
    assert_int_equal(handler_track_position(w->track), 120);
}

static void a_published_position_covers_what_is_not_above_it(void **state)
{
    struct world *w = *state;
    reach(w, 100);
    live(w, 105);
    live(w, 107);
    assert_int_equal(publish(w, 104), 0);
    assert_int_equal(publish(w, 106), 1);
    assert_int_equal(publish(w, 200), 1);
    assert_false(live(w, 150)); /* this replica lags */
    assert_true(live(w, 201));
    assert_int_equal(handler_track_position(w->track), 200);
}

static void a_deletion_found_by_a_list_is_as_new_as_the_list(void **state)
{
    struct world *w = *state;
    reach(w, 100);
    change(w, 90, 130, false, true);                         /* its last known version is old */
    change(w, 120, 130, false, false);                       /* an object has its own version */
    assert_int_equal(handler_track_position(w->track), 100); /* although both are later */
    assert_int_equal(publish(w, 125), 1);
    assert_int_equal(publish(w, 129), 0);
    assert_int_equal(publish(w, 130), 1);
    reach(w, 130);
}

static void an_object_that_is_newly_selected_is_not_covered_by_its_old_version(void **state)
{
    struct world *w = *state;
    reach(w, 100);
    publish(w, 100);
    assert_true(change(w, 20, 130, false, false));
    assert_int_equal(publish(w, 129), 0);
}

/* A namespace was selected until 100, and is selected again: a replica that was started in between knows that position
 * from the leader, which has reported since then that all its objects are gone. */
static void objects_of_a_stream_that_begins_again_are_not_covered(void **state)
{
    struct world *w = *state;
    struct handler_track_change added = {.version = 20, .listed = 130, .relist = true};
    publish(w, 100);
    assert_true(handler_track_place(w->track, &added, &w->spans[0]));
    handler_track_add(&w->spans[w->n++]);
    assert_int_equal(publish(w, 129), 0);
    assert_int_equal(publish(w, 130), 1);
}

static void initial_objects_are_covered_by_their_versions(void **state)
{
    struct world *w = *state;
    publish(w, 100);
    assert_false(change(w, 20, 130, false, false));
    assert_true(change(w, 110, 130, false, false));
    reach(w, 130);
    assert_true(handler_track_has_gap(w->track)); /* deletions between 100 and 130 */
    publish(w, 130);
    assert_false(handler_track_has_gap(w->track));
}

static void without_a_position_there_is_no_gap(void **state)
{
    struct world *w = *state;
    change(w, 20, 130, false, false);
    reach(w, 130);
    assert_false(handler_track_has_gap(w->track));
}

static void a_record_that_was_dropped_is_a_gap_until_the_leader_is_past_it(void **state)
{
    struct world *w = *state;
    reach(w, 100);
    live(w, 105);
    live(w, 106);
    publish(w, 100);
    handler_track_lose(&w->tracks, &w->spans[0]);
    handler_track_remove(&w->spans[0]);
    assert_true(handler_track_has_gap(w->track));
    publish(w, 105);
    assert_false(handler_track_has_gap(w->track));
}

static void after_a_rewind_positions_of_before_are_ignored(void **state)
{
    struct world *w = *state;
    reach(w, 1000);
    publish(w, 1000);
    live(w, 1005);
    handler_track_rewind(&w->tracks, w->track);
    assert_true(change(w, 480, 500, false, true));
    reach(w, 500);
    assert_int_equal(publish(w, 1001), 0); /* the leader has not noticed yet */
    assert_true(live(w, 510));
    assert_int_equal(publish(w, 500), 1);
    assert_int_equal(handler_track_position(w->track), 509);
    assert_int_equal(publish(w, 510), 1);
}

/* The server returned to an older state twice, and the leader has not noticed the first time yet. */
static void after_two_rewinds_positions_of_before_are_still_ignored(void **state)
{
    struct world *w = *state;
    reach(w, 1000);
    publish(w, 1000);
    handler_track_rewind(&w->tracks, w->track);
    handler_track_rewind(&w->tracks, w->track);
    reach(w, 500);
    publish(w, 1001);
    assert_true(live(w, 510));
    assert_int_equal(handler_track_position(w->track), 509);
}

static void a_leader_that_notices_the_rewind_first_is_believed(void **state)
{
    struct world *w = *state;
    reach(w, 1000);
    publish(w, 1000);
    publish(w, 500); /* only after a rewind a position is lower */
    publish(w, 510);
    handler_track_rewind(&w->tracks, w->track);
    reach(w, 520);
    assert_true(live(w, 525));
    assert_int_equal(publish(w, 525), 1);
}

/* A user has edited the Lease, and the leader has corrected it, before the rewind. */
static void a_lower_position_that_was_corrected_is_no_rewind(void **state)
{
    struct world *w = *state;
    reach(w, 1000);
    publish(w, 1000);
    publish(w, 5);
    publish(w, 1000);
    handler_track_rewind(&w->tracks, w->track);
    reach(w, 500);
    publish(w, 1001);
    assert_true(live(w, 510));
}

/* Among records of after the rewind they would be at the wrong place, and their versions are too high. */
static void records_of_before_a_rewind_have_no_track(void **state)
{
    struct world *w = *state;
    uint64_t on_disk = w->track->number;
    reach(w, 1000);
    live(w, 1005);
    handler_track_rewind(&w->tracks, w->track);
    assert_null(w->spans[0].track);
    assert_null(handler_tracks_numbered(&w->tracks, on_disk));
    handler_track_lose(&w->tracks, &w->spans[0]);
    reach(w, 500);
    publish(w, 500);
    assert_false(handler_track_has_gap(w->track));
}

static void versions_that_are_no_numbers_are_never_covered(void **state)
{
    struct world *w = *state;
    assert_int_equal(handler_track_version("abc"), 0);
    assert_int_equal(handler_track_version("12x"), 0);
    assert_int_equal(handler_track_version(""), 0);
    assert_int_equal(handler_track_version("99999999999999999999999"), 0);
    assert_int_equal(handler_track_version("12"), 12);
    assert_true(change(w, 0, 0, true, false));
    assert_int_equal(handler_track_position(w->track), 0);
}

/* The standby sees the changes as they are, or some of them by a list. */
static void add_to_standby(struct world *w, const uint64_t *versions, struct rng *rng)
{
    size_t from = rng_below(rng, 2 * RECORDS), to = 0;
    if (from < RECORDS)
        to = from + rng_below(rng, RECORDS - from) + 1;
    for (size_t i = 0; i < RECORDS; i++) {
        bool gone = rng_below(rng, 2);
        if (i >= from && i < to)
            change(w, gone ? 1 : versions[i], versions[to - 1], false, gone);
        else
            live(w, versions[i]);
        if (i + 1 == to)
            reach(w, versions[i]);
    }
}

/* A leader that delivers in any order and ends at any time: what it has not delivered, the standby has. */
static void nothing_is_lost_at_any_position(void **state)
{
    struct rng rng = {.state = 11};
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct world *leader = world_new(), *standby = world_new();
        bool found[RECORDS] = {false};
        uint64_t version = 100, versions[RECORDS];
        reach(leader, version);
        reach(standby, version);
        for (size_t i = 0; i < RECORDS; i++)
            versions[i] = version += 1 + rng_below(&rng, 3);
        for (size_t i = 0; i < RECORDS; i++)
            live(leader, versions[i]);
        add_to_standby(standby, versions, &rng);
        for (size_t i = rng_below(&rng, RECORDS + 1); i > 0; i--) {
            size_t at = rng_below(&rng, RECORDS);
            found[at] = true;
            handler_track_remove(&leader->spans[at]);
        }
        publish(standby, handler_track_position(leader->track));
        list_for_each(node, &standby->track->records)
            found[container_of(node, struct handler_span, node) - standby->spans] = true;
        for (size_t i = 0; i < RECORDS; i++)
            assert_true(found[i]);
        world_free(leader);
        world_free(standby);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_position_is_before_the_first_record_that_waits),
        IN_WORLD(a_published_position_covers_what_is_not_above_it),
        IN_WORLD(a_deletion_found_by_a_list_is_as_new_as_the_list),
        IN_WORLD(an_object_that_is_newly_selected_is_not_covered_by_its_old_version),
        IN_WORLD(objects_of_a_stream_that_begins_again_are_not_covered),
        IN_WORLD(initial_objects_are_covered_by_their_versions),
        IN_WORLD(without_a_position_there_is_no_gap),
        IN_WORLD(a_record_that_was_dropped_is_a_gap_until_the_leader_is_past_it),
        IN_WORLD(after_a_rewind_positions_of_before_are_ignored),
        IN_WORLD(after_two_rewinds_positions_of_before_are_still_ignored),
        IN_WORLD(a_leader_that_notices_the_rewind_first_is_believed),
        IN_WORLD(a_lower_position_that_was_corrected_is_no_rewind),
        IN_WORLD(records_of_before_a_rewind_have_no_track),
        IN_WORLD(versions_that_are_no_numbers_are_never_covered),
        cmocka_unit_test(nothing_is_lost_at_any_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
