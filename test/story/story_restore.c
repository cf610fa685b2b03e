/*
 * story_restore.c - an informer whose copy starts with what an earlier process has saved: it resumes,
 * or reports exactly what changed meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "core/object/object_image.h"
#include "core/object/object_packer.h"
#include "core/reflector/reflector_internal.h"
#include "story.h"

enum {
    LONG_OBJECTS = 40,
};

/* An earlier process has seen default/a, b and c, up to version 3. */
static void save_three_objects(struct story *s)
{
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/b");
    apiserver_put(s->server, "default/c");
    story_start(s);
    story_pass(s, 10);
    story_save(s);
}

/* Versions are cluster-wide: another resource has changed. */
static void change_elsewhere(struct story *s)
{
    s->server->version++;
}

#define RESTORED_AT(at, count, version)                                      \
    "[" at "] pods: idle -> waiting (restore resourceVersion " version ")\n" \
    "[" at "] pods: restored " count "\n"                                    \
    "[" at "] pods: waiting -> checking (compare with resourceVersion " version ")\n"

/* The same, and the watch resumes at 20 ms. */
#define RESUMED(count, version)          \
    RESTORED_AT("   10", count, version) \
    "[   20] pods: checking -> watching (from resourceVersion " version ")\n"

/* covers: P4 */
STORY(
    nothing_is_reported_if_nothing_has_changed,
    "if the server is at the saved version, the copy is confirmed at once and nothing is reported")
{
    save_three_objects(s);
    story_restore(s, "3", NULL);
    expect(s, RESTORED_AT("   10", "3 objects", "3"));
    expect_store(s, "default/a default/b default/c");
    assert_string_equal(inf_store_resource_version(s->pipeline.store), "3");
    assert_true(pipeline_is_unconfirmed(&s->pipeline));
    assert_false(pipeline_synced(&s->pipeline));
    story_pass(s, 10);
    expect(s, "[   20] pods: checking -> watching (from resourceVersion 3)\n"
              "[   20] synced\n");
    assert_false(pipeline_is_unconfirmed(&s->pipeline));
    story_pass(s, 10);
    apiserver_put(s->server, "default/b");
    expect(s, "[   30] update default/b 4\n");
    expect_requests(s, "list '' limit=1; watch '3'; ");
    assert_int_equal(s->pipeline.reflector.counts.relists[INF_EGONE], 0);
}

/* covers: P3 P4 */
STORY(changes_meanwhile_are_live_if_the_server_still_has_them,
      "changes while no process ran are delivered by the watch, each with its own states")
{
    save_three_objects(s);
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    apiserver_delete(s->server, "default/b");
    story_restore(s, "3", NULL);
    story_pass(s, 20);
    expect(s, RESUMED("3 objects", "3"),
           "[   30] synced\n"
           "[   30] update default/a 4\n"
           "[   30] update default/a 5\n"
           "[   30] delete default/b 6\n");
    expect_store(s, "default/a default/c");
}

STORY(an_accepted_watch_confirms_the_copy,
      "a watch that is open for a second confirms the copy, if only other resources have changed")
{
    save_three_objects(s);
    change_elsewhere(s);
    story_restore(s, "3", NULL);
    story_pass(s, 1019);
    expect(s, RESUMED("3 objects", "3"));
    assert_true(pipeline_is_unconfirmed(&s->pipeline));
    story_pass(s, 1);
    expect(s, "[ 1030] synced\n");
}

/* covers: 1.6/gone-in-stream P3 P4 crash/expired */
STORY(an_expired_version_reports_the_net_difference,
      "if the saved version has expired, the net difference is reported as resumed")
{
    save_three_objects(s);
    apiserver_put(s->server, "default/a");
    apiserver_put(s->server, "default/a");
    apiserver_delete(s->server, "default/b");
    apiserver_put(s->server, "default/d");
    apiserver_delete(s->server, "default/c");
    apiserver_put(s->server, "default/c"); /* another object of that name */
    apiserver_compact(s->server);
    story_restore(s, "3", NULL);
    story_pass(s, 30);
    expect(s, RESUMED("3 objects", "3"),
           "[   30] pods: too old resource version: 3 (10)\n"
           "[   30] pods: watching -> filling (too old resource version: 3 (10))\n"
           "[   40] pods: filling -> watching (3 objects at resourceVersion 10)\n"
           "[   40] gap: relist (too old resource version: 3 (10))\n"
           "[   40] delete default/b 2 (resumed) last state unknown\n"
           "[   40] update default/a 5 (resumed)\n"
           "[   40] delete default/c 3 (resumed) last state unknown\n"
           "[   40] add default/c 9 (resumed)\n"
           "[   40] add default/d 7 (resumed)\n"
           "[   40] synced\n");
    apiserver_refuse(s->server, 1, INF_EGONE, 0, "expired"); /* later differences: a relist */
    apiserver_end(s->server);
    story_pass(s, 5);
    apiserver_put(s->server, "default/e");
    story_pass(s, 1000);
    expect_events(s, "[  860] gap: relist (expired)\n"
                     "[  860] add default/e 11 (relist)\n");
}

STORY(a_refused_version_reports_the_net_difference,
      "the same if the server refuses the watch itself")
{
    save_three_objects(s);
    apiserver_delete(s->server, "default/c");
    apiserver_compact(s->server);
    story_restore(s, "3", NULL);
    story_pass(s, 10);
    apiserver_refuse(s->server, 1, INF_EGONE, 0, "expired");
    story_pass(s, 100);
    expect_events(s, "[   40] gap: relist (expired)\n"
                     "[   40] delete default/c 3 (resumed) last state unknown\n"
                     "[   40] synced\n");
}

/* covers: P3 crash/first-list */
STORY(a_crash_in_the_first_sync_reports_only_differences,
      "a copy without a version is compared with a list, and only differences are initial")
{
    save_three_objects(s);
    apiserver_delete(s->server, "default/a");
    apiserver_put(s->server, "default/c");
    apiserver_put(s->server, "default/d");
    story_restore(s, "", NULL);
    expect(s, "[   10] pods: idle -> waiting (restore objects of unknown versions)\n"
              "[   10] pods: restored 3 objects\n"
              "[   10] pods: waiting -> filling (released)\n");
    assert_true(pipeline_is_unconfirmed(&s->pipeline));
    story_pass(s, 10);
    expect(s, "[   20] pods: filling -> watching (3 objects at resourceVersion 6)\n"
              "[   20] delete default/a 1 (initial) last state unknown\n"
              "[   20] update default/c 5 (initial)\n"
              "[   20] add default/d 6 (initial)\n"
              "[   20] synced\n");
    expect_requests(s, "watch-list ''; ");
}

/* covers: crash/relist */
STORY(a_crash_in_the_middle_of_a_relist_reports_the_rest_as_resumed,
      "objects of several versions are compared with a list, and the differences are resumed")
{
    save_three_objects(s);
    apiserver_delete(s->server, "default/a");
    story_restore(s, "", "ended in a relist");
    story_pass(s, 10);
    expect(s, "[   10] pods: idle -> waiting (restore objects of unknown versions)\n"
              "[   10] pods: restored 3 objects\n"
              "[   10] pods: waiting -> filling (released)\n"
              "[   20] pods: filling -> watching (2 objects at resourceVersion 4)\n"
              "[   20] gap: relist (ended in a relist)\n"
              "[   20] delete default/a 1 (resumed) last state unknown\n"
              "[   20] synced\n");
    expect_requests(s, "watch-list ''; ");
}

STORY(the_list_after_an_incomplete_copy_is_the_newest,
      "a list that is compared with a copy of unknown version does not come from a cache that lags")
{
    save_three_objects(s);
    s->settings.reflector.no_watch_list = true;
    story_restore(s, "", NULL);
    story_pass(s, 20);
    expect_events(s, "[   20] synced\n");
    expect_requests(s, "list '' limit=500; watch '3'; ");
}

/* covers: P1 P3 */
STORY(a_server_that_was_rewound_meanwhile_is_found_before_the_watch,
      "a server that was restored to an older version is found before a watch is opened")
{
    save_three_objects(s);
    apiserver_restore(s->server, 1);
    story_restore(s, "3", NULL);
    story_pass(s, 100);
    expect(s, RESTORED_AT("   10", "3 objects", "3"),
           "[   20] pods: server rewound from resourceVersion 3 to 1\n"
           "[   20] pods: checking -> filling (server rewound from resourceVersion 3 to 1)\n"
           "[   30] pods: filling -> watching (1 object at resourceVersion 1)\n"
           "[   30] gap: rewind (server rewound from resourceVersion 3 to 1)\n"
           "[   30] delete default/b 2 (resumed) last state unknown\n"
           "[   30] delete default/c 3 (resumed) last state unknown\n"
           "[   30] synced\n");
}

/* covers: P4 */
STORY(another_watch_is_compared_with_the_saved_objects,
      "for another watch everything is listed; an object of the same version is not a difference")
{
    save_three_objects(s);
    apiserver_done(s->server); /* the same objects as another watch sees them */
    apiserver_init(s->server, &s->sim);
    apiserver_put_n(s->server, "default/a", 7); /* the same version, in another shape */
    apiserver_put(s->server, "default/x");
    apiserver_put(s->server, "default/c");
    apiserver_delete(s->server, "default/x");
    apiserver_put(s->server, "default/d");
    story_restore(s, "3", "drop changed");
    story_pass(s, 10);
    expect(s, "[   10] pods: idle -> waiting (restore resourceVersion 3)\n"
              "[   10] pods: restored 3 objects\n"
              "[   10] pods: waiting -> filling (released)\n"
              "[   20] pods: filling -> watching (3 objects at resourceVersion 5)\n"
              "[   20] gap: relist (drop changed)\n"
              "[   20] delete default/b 2 (resumed) last state unknown\n"
              "[   20] add default/d 5 (resumed)\n"
              "[   20] synced\n");
}

/* ---- more handlers ---- */

struct second {
    struct inf_handler handler;
    struct story *story;
};

static void second_on_event(struct inf_handler *handler, struct inf_informer *informer,
                            const struct inf_event *event)
{
    struct second *x = container_of(handler, struct second, handler);
    (void)informer;
    buf_printf(&x->story->lines, "second: %s %s (%s)\n", inf_verb_name(event->verb),
               inf_object_name(inf_event_object(event)), inf_origin_name(event->origin));
}

static void second_on_synced(struct inf_handler *handler, struct inf_informer *informer)
{
    (void)informer;
    buf_puts(&container_of(handler, struct second, handler)->story->lines, "second: synced\n");
}

static struct second second_handler(struct story *s)
{
    return (struct second){.handler = {.on_event = second_on_event, .on_synced = second_on_synced},
                           .story = s};
}

STORY(other_handlers_get_the_restored_objects,
      "other handlers get the restored objects as added, before the server was reached")
{
    struct second while_restoring = second_handler(s);
    struct second later = second_handler(s);
    save_three_objects(s);
    change_elsewhere(s);
    story_restore(s, "3", NULL);
    dispatch_add(&s->pipeline.dispatch, &while_restoring.handler, NULL);
    expect_events(s, "second: ADDED a (initial)\n"
                     "second: ADDED b (initial)\n"
                     "second: ADDED c (initial)\n");
    dispatch_add(&s->pipeline.dispatch, &later.handler, NULL);
    expect_events(s, "second: ADDED a (initial)\n"
                     "second: ADDED b (initial)\n"
                     "second: ADDED c (initial)\n");
    story_pass(s, 2000);
    expect_events(s, "[ 1030] synced\n"
                     "second: synced\n"
                     "second: synced\n");
    inf_handler_remove(&later.handler);
    apiserver_delete(s->server, "default/a");
    expect_events(s, "[ 2010] delete default/a 5\n"
                     "second: DELETED a (live)\n");
    story_stop(s);
    sim_run(&s->sim);
}

STORY(a_handler_that_was_added_before_gets_the_restored_objects,
      "a handler that was added before the copy was loaded gets the restored objects as added")
{
    struct second x = second_handler(s);
    save_three_objects(s);
    story_restore_with(s, "3", &x.handler);
    story_pass(s, 20);
    expect_events(s, "second: ADDED a (initial)\n"
                     "second: ADDED b (initial)\n"
                     "second: ADDED c (initial)\n"
                     "second: synced\n"
                     "[   20] synced\n");
    story_stop(s);
    sim_run(&s->sim);
}

/* ---- slices, ends ---- */

enum {
    MANY = 1000,
};

static void save_many_objects(struct story *s)
{
    story_start_with_many(s, MANY);
    story_save(s);
}

/* covers: P6 */
STORY(many_objects_are_restored_in_slices,
      "many objects take several ticks; readers see all or none, and no request is sent before")
{
    unsigned ticks = 0;
    save_many_objects(s);
    s->sim.budget = 1; /* one slice per tick */
    story_restore(s, "1000", NULL);
    while (s->pipeline.restoring) {
        assert_int_equal(inf_store_count(s->pipeline.store), 0);
        assert_false(pipeline_is_unconfirmed(&s->pipeline));
        expect_requests(s, "");
        sim_tick(&s->sim);
        ticks++;
    }
    assert_true(ticks > 10);
    assert_int_equal(inf_store_count(s->pipeline.store), MANY);
    story_pass(s, 20);
    expect_events(s, "[   20] synced\n");
    s->sim.budget = 0;
}

STORY(a_handler_added_while_restoring_gets_every_object_once,
      "a handler that is added between two slices gets every object once, when all are restored")
{
    struct second x = second_handler(s);
    const char *at;
    size_t added = 0;
    save_many_objects(s);
    s->sim.budget = 1;
    story_restore(s, "1000", NULL);
    sim_tick(&s->sim);
    sim_tick(&s->sim);
    assert_non_null(s->pipeline.restoring);
    dispatch_add(&s->pipeline.dispatch, &x.handler, NULL);
    sim_tick(&s->sim);
    assert_int_equal(s->pipeline.store ? inf_store_count(s->pipeline.store) : 1, 0);
    story_pass(s, 100);
    buf_putc(&s->lines, '\0');
    for (at = s->lines.bytes; (at = strstr(at, "second: ADDED")); at++)
        added++;
    assert_int_equal(added, MANY);
    s->sim.budget = 0;
    story_stop(s);
    sim_run(&s->sim);
}

STORY(an_informer_that_is_closed_while_restoring_leaves_nothing,
      "an informer can be closed between two slices")
{
    save_many_objects(s);
    s->sim.budget = 1;
    story_restore(s, "1000", NULL);
    sim_tick(&s->sim);
    sim_tick(&s->sim);
    assert_non_null(s->pipeline.restoring);
    story_stop(s);
    s->sim.budget = 0;
    sim_run(&s->sim);
    expect_requests(s, "");
}

STORY(a_copy_without_objects_is_resumed, "a stream without objects has a version, too")
{
    s->server->version = 5;
    story_start(s);
    story_pass(s, 10);
    story_save(s);
    apiserver_put(s->server, "default/a");
    story_restore(s, "5", NULL);
    story_pass(s, 20);
    expect(s, RESUMED("0 objects", "5"),
           "[   30] synced\n"
           "[   30] add default/a 6\n");
}

/* ---- damaged objects ---- */

/* Objects that are long enough to be packed. */
static void save_long_objects(struct story *s)
{
    for (unsigned n = 1; n <= LONG_OBJECTS; n++) {
        char *text = xasprintf(
            "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p%u\","
            "\"namespace\":\"default\",\"uid\":\"uid-%u\",\"resourceVersion\":\"%u\"},"
            "\"spec\":{\"nodeName\":\"node-%u\",\"containers\":[{\"name\":\"main\",\"image\":"
            "\"registry.example.com/shop/web:1.4.2\",\"env\":[{\"name\":\"LISTEN_ADDRESS\","
            "\"value\":\"0.0.0.0:8080\"}]}]}}",
            n, n, n, n % 7);
        apiserver_put_text(s->server, text);
        free(text);
    }
    story_start(s);
    story_pass(s, 10);
    story_save(s);
}

/* The saved objects become packed ones, the @i-th with a frame that can't be expanded. Its CRC in the file
 * was right. */
static void pack_saved(struct story *s, struct pack_context *context, size_t i)
{
    static const struct pack_limits small = {.objects = 1, .window = 1000};
    static const struct str no_labels = {"", 0};
    struct object_packer packer;
    object_packer_init(&packer, context, &small, 7);
    for (size_t k = 0; k < s->n_saved; k++) /* samples of the dictionary */
        inf_object_unref(object_pack(&packer, s->saved[k], s->n_saved));
    for (size_t k = 0; k < s->n_saved; k++) {
        const struct inf_object *packed = object_pack(&packer, s->saved[k], s->n_saved);
        struct pack_dictionary *dictionary = object_image_dictionary(packed);
        struct buf image = {0};
        assert_non_null(dictionary);
        object_image_put(&image, packed);
        if (k == i)
            memset(image.bytes + image.len - 12, 0xff, 12);
        inf_object_unref(s->saved[k]);
        s->saved[k] = object_image_load((struct str){image.bytes, image.len}, dictionary);
        assert_non_null(s->saved[k]);
        inf_object_unref(packed);
        buf_free(&image);
    }
    object_packer_free(&packer);
    s->settings.packing = context;
    s->settings.pack_limits = &small;
    s->saved_labels = &no_labels;
}

STORY(a_damaged_object_that_is_read_causes_one_list,
      "a saved object that can't be expanded: its reader gets its names, and a list replaces it")
{
    struct pack_context *context = pack_context_new(&(struct siphash_key){1, 2});
    const struct inf_object *object;
    save_long_objects(s);
    pack_saved(s, context, LONG_OBJECTS - 1);
    story_restore(s, "40", NULL);
    story_pass(s, 20);
    expect(s, RESUMED("40 objects", "40"), "[   20] synced\n");
    object = inf_store_get(s->pipeline.store, "default", "p9");
    assert_string_equal(
        inf_object_json(object, NULL),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\","
        "\"uid\":\"uid-9\",\"resourceVersion\":\"9\",\"name\":\"p9\"}}");
    assert_null(inf_handler_position(&s->handler));
    inf_store_get(s->pipeline.store, "default", "p9");
    story_pass(s, 20);
    expect(s, "[   30] pods: a saved object is damaged; relisting\n"
              "[   30] pods: watching -> filling (a saved object is damaged)\n"
              "[   40] pods: filling -> watching (40 objects at resourceVersion 40)\n"
              "[   40] gap: relist (a saved object is damaged)\n"
              "[   40] update default/p9 9 (relist)\n"); /* old and new are the same */
    object = inf_store_get(s->pipeline.store, "default", "p9");
    assert_non_null(strstr(inf_object_json(object, NULL), "LISTEN_ADDRESS"));
    assert_non_null(inf_handler_position(&s->handler));
    story_pass(s, 1000);
    expect(s, "");
    pack_context_unref(context);
}

STORY(a_damaged_object_that_is_found_while_restoring_is_compared,
      "an object that is found to be damaged while it is restored is not reported as added")
{
    struct pack_context *context = pack_context_new(&(struct siphash_key){1, 2});
    save_long_objects(s);
    pack_saved(s, context, 1);
    s->saved_labels = NULL; /* not known: all are expanded */
    story_restore(s, "40", NULL);
    story_pass(s, 20);
    expect_events(s, "[   20] gap: relist (1 saved objects are damaged)\n"
                     "[   20] update default/p10 10 (resumed)\n" /* old and new are the same */
                     "[   20] synced\n");
    pack_context_unref(context);
}

/* ---- servers that can't be reached, or have no such resource ---- */

/* covers: P5 */
STORY(the_copy_is_readable_while_the_server_is_not_reached,
      "a server that does not answer: the copy stays, is not synced, and becomes stale")
{
    save_three_objects(s);
    apiserver_refuse(s->server, 1000, INF_ENET, 0, "connection refused");
    story_restore(s, "3", NULL);
    story_pass(s, 200 * 1000);
    expect_store(s, "default/a default/b default/c");
    assert_false(pipeline_synced(&s->pipeline));
    assert_true(freshness_is_stale(&s->pipeline.reflector.freshness));
    apiserver_refuse(s->server, 0, 0, 0, "");
    buf_clear(&s->lines);
    story_pass(s, 60 * 1000);
    assert_true(pipeline_synced(&s->pipeline));
    expect_store(s, "default/a default/b default/c");
    buf_clear(&s->lines);
}

STORY(a_missing_optional_resource_deletes_the_restored_objects,
      "an optional resource that was removed meanwhile: its objects are reported as deleted")
{
    s->settings.reflector.optional = true;
    save_three_objects(s);
    apiserver_refuse(s->server, 2, INF_ENOTFOUND, 0, "no such resource");
    story_restore(s, "3", NULL);
    story_pass(s, 100);
    expect_events(s, "[   30] gap: relist (no such resource)\n"
                     "[   30] delete default/a 1 (resumed) last state unknown\n"
                     "[   30] delete default/b 2 (resumed) last state unknown\n"
                     "[   30] delete default/c 3 (resumed) last state unknown\n"
                     "[   30] synced\n");
    expect_store(s, "");
}

/* ---- changes while the copy is not confirmed ---- */

STORY(a_watch_that_changes_while_restoring_is_listed,
      "a watch that is changed between two slices is listed when all objects are restored")
{
    save_many_objects(s);
    apiserver_delete(s->server, "default/p0007");
    s->sim.budget = 1;
    story_restore(s, "1000", NULL);
    sim_tick(&s->sim);
    pipeline_change(&s->pipeline, "pods", &s->server->source, &s->settings, "selector changed");
    expect_requests(s, "");
    s->sim.budget = 0;
    story_pass(s, 20);
    expect_events(s, "[   20] gap: relist (selector changed)\n"
                     "[   20] delete default/p0007 8 (resumed) last state unknown\n"
                     "[   20] synced\n");
    expect_requests(s, "watch-list '1000'; ");
}

STORY(an_informer_that_ends_while_restoring_reports_its_objects,
      "an informer that ends between two slices reports all restored objects as deleted")
{
    save_three_objects(s);
    story_restore(s, "3", NULL);
    reflector_end(&s->pipeline.reflector, "not selected any more");
    story_pass(s, 100);
    expect_events(s, "[   10] gap: relist (not selected any more)\n"
                     "[   10] delete default/a 1 (resumed) last state unknown\n"
                     "[   10] delete default/b 2 (resumed) last state unknown\n"
                     "[   10] delete default/c 3 (resumed) last state unknown\n"
                     "[   10] synced\n");
    expect_requests(s, "");
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test(nothing_is_reported_if_nothing_has_changed),
        cmocka_unit_test(changes_meanwhile_are_live_if_the_server_still_has_them),
        cmocka_unit_test(an_accepted_watch_confirms_the_copy),
        cmocka_unit_test(an_expired_version_reports_the_net_difference),
        cmocka_unit_test(a_refused_version_reports_the_net_difference),
        cmocka_unit_test(a_crash_in_the_first_sync_reports_only_differences),
        cmocka_unit_test(a_crash_in_the_middle_of_a_relist_reports_the_rest_as_resumed),
        cmocka_unit_test(the_list_after_an_incomplete_copy_is_the_newest),
        cmocka_unit_test(a_server_that_was_rewound_meanwhile_is_found_before_the_watch),
        cmocka_unit_test(another_watch_is_compared_with_the_saved_objects),
        cmocka_unit_test(other_handlers_get_the_restored_objects),
        cmocka_unit_test(a_handler_that_was_added_before_gets_the_restored_objects),
        cmocka_unit_test(many_objects_are_restored_in_slices),
        cmocka_unit_test(a_handler_added_while_restoring_gets_every_object_once),
        cmocka_unit_test(an_informer_that_is_closed_while_restoring_leaves_nothing),
        cmocka_unit_test(a_copy_without_objects_is_resumed),
        cmocka_unit_test(a_damaged_object_that_is_read_causes_one_list),
        cmocka_unit_test(a_damaged_object_that_is_found_while_restoring_is_compared),
        cmocka_unit_test(the_copy_is_readable_while_the_server_is_not_reached),
        cmocka_unit_test(a_missing_optional_resource_deletes_the_restored_objects),
        cmocka_unit_test(a_watch_that_changes_while_restoring_is_listed),
        cmocka_unit_test(an_informer_that_ends_while_restoring_reports_its_objects),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
