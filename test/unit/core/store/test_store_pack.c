/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "builders.h"
#include "core/object/object_packer.h"
#include "core/store/index_path.h"
#include "core/store/store.h"

enum {
    PODS = 60,
};

struct fixture {
    struct pack_context *context;
    struct index_def node;
    struct inf_path *node_path;
    struct inf_store *store;
    struct buf emitted; /* "+web-1 " added, "~web-1:OLD>NEW " modified, "-web-1:OLD " deleted */
    unsigned lent;      /* calls of on_lend() */
};

static const struct pack_limits small = {.objects = 1, .window = 1000};

static unsigned expanded; /* calls of pack_expand() */

/* NOLINTBEGIN(bugprone-reserved-identifier): names that the linker gives */
bool __real_pack_expand(struct pack_dictionary *dictionary, struct str frame, char *out,
                        size_t len);
bool __wrap_pack_expand(struct pack_dictionary *dictionary, struct str frame, char *out,
                        size_t len);

bool __wrap_pack_expand(struct pack_dictionary *dictionary, struct str frame, char *out, size_t len)
{
    expanded++;
    return __real_pack_expand(dictionary, frame, out, len);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void on_lend(void *ctx)
{
    struct fixture *f = ctx;
    f->lent++;
}

static int set_up(void **state)
{
    static const struct store_events events = {.on_lend = on_lend};
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->context = pack_context_new(&(struct siphash_key){1, 2});
    f->node_path = path_from("spec.nodeName");
    f->node = index_by_path("node", f->node_path);
    f->store = store_new(&(struct siphash_key){1, 2}, &f->node, 1);
    store_set_events(f->store, &events, f);
    store_pack(f->store, f->context, &small);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    while (!store_free_some(f->store, 3))
        continue;
    inf_path_free(f->node_path);
    pack_context_unref(f->context);
    buf_free(&f->emitted);
    test_free(f);
    return 0;
}

/* The pod shop/web-@n in the state @state, which is also its resource version. */
static struct inf_object *web_pod(unsigned n, unsigned state)
{
    char *text = xasprintf(
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-%u\",\"namespace\":"
        "\"shop\",\"uid\":\"0a1b2c3d-%u\",\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"web\","
        "\"half\":\"%u\"}},\"spec\":{\"nodeName\":\"node-%u\",\"containers\":[{\"name\":\"main\","
        "\"image\":\"registry.example.com/shop/web:1.4.2\",\"env\":[{\"name\":\"LISTEN_ADDRESS\","
        "\"value\":\"0.0.0.0:8080\"}]}]},\"state\":%u}",
        n, n, state, n % 2, n % 10, state);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static void put_state(struct buf *out, const struct inf_object *object)
{
    const char *state = strstr(inf_object_json(object, NULL), "\"state\":");
    buf_printf(out, "%d", atoi(state + strlen("\"state\":")));
}

static void record_event(void *ctx, const struct inf_event *event)
{
    struct fixture *f = ctx;
    buf_printf(&f->emitted, "%c%s", "+~-"[event->verb], inf_object_name(inf_event_object(event)));
    if (event->old_object) {
        buf_putc(&f->emitted, ':');
        put_state(&f->emitted, event->old_object);
    }
    if (event->verb == INF_MODIFIED) {
        buf_putc(&f->emitted, '>');
        put_state(&f->emitted, event->new_object);
    }
    buf_putc(&f->emitted, ' ');
}

static void assert_emitted(struct fixture *f, const char *expected)
{
    buf_putc(&f->emitted, '\0');
    assert_string_equal(f->emitted.bytes, expected);
    buf_clear(&f->emitted);
}

static void put(struct fixture *f, unsigned n, unsigned state)
{
    struct inf_object *object = web_pod(n, state);
    store_put(f->store, object, INF_LIVE, record_event, f);
    inf_object_unref(object);
}

static size_t plain_bytes(void)
{
    size_t bytes = 0;
    for (unsigned n = 0; n < PODS; n++) {
        struct inf_object *object = web_pod(n, 1);
        bytes += inf_object_size(object);
        inf_object_unref(object);
    }
    return bytes;
}

static void repack(struct fixture *f)
{
    while (!store_repack_some(f->store, 4))
        continue;
}

static void fill(struct fixture *f)
{
    for (unsigned n = 0; n < PODS; n++)
        put(f, n, 1);
    buf_clear(&f->emitted);
    repack(f);
}

static void assert_pod(const struct inf_object *object, unsigned n, unsigned state)
{
    struct inf_object *expected = web_pod(n, state);
    assert_non_null(object);
    assert_string_equal(inf_object_json(object, NULL), inf_object_json(expected, NULL));
    inf_object_unref(expected);
}

static void packed_objects_need_less_memory_and_read_the_same(void **state)
{
    struct fixture *f = *state;
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    size_t count = 0;
    fill(f);
    assert_true(inf_store_bytes(f->store) < plain_bytes() * 2 / 3);
    assert_pod(inf_store_get(f->store, "shop", "web-7"), 7, 1);
    while ((object = inf_store_next(f->store, &cursor))) {
        assert_pod(object, (unsigned)atoi(inf_object_name(object) + 4), 1);
        count++;
    }
    inf_cursor_end(&cursor);
    assert_int_equal(count, PODS);
}

static void lent_objects_are_valid_until_they_are_taken_back(void **state)
{
    struct fixture *f = *state;
    const struct inf_object *a, *b;
    fill(f);
    a = inf_store_get(f->store, "shop", "web-7");
    b = inf_store_get(f->store, "shop", "web-8");
    assert_int_equal(f->lent, 1); /* one request to take back both */
    put(f, 7, 2);
    assert_pod(a, 7, 1);
    assert_pod(b, 8, 1);
    inf_object_ref(a);
    store_take_back(f->store);
    assert_pod(a, 7, 1); /* our own reference */
    inf_object_unref(a);
    assert_pod(inf_store_get(f->store, "shop", "web-7"), 7, 2);
    assert_int_equal(f->lent, 2);
}

static bool count_pod(void *ctx, const struct inf_object *object)
{
    size_t *count = ctx;
    assert_pod(object, (unsigned)atoi(inf_object_name(object) + 4), 1);
    ++*count;
    return true;
}

static void indexes_and_labels_find_packed_objects(void **state)
{
    struct fixture *f = *state;
    struct inf_selector *half = selector_from(inf_selector_parse_labels, "half=1");
    struct inf_selector *fields = selector_from(inf_selector_parse_fields, "spec.nodeName=node-3");
    size_t count = 0;
    fill(f);
    assert_int_equal(inf_store_by_index(f->store, "node", "node-3", count_pod, &count), 0);
    assert_int_equal(count, PODS / 10);
    count = 0;
    inf_store_select(f->store, "shop", half, count_pod, &count);
    assert_int_equal(count, PODS / 2);
    count = 0;
    inf_store_select(f->store, "", fields, count_pod, &count);
    assert_int_equal(count, PODS / 10);
    inf_selector_free(half);
    inf_selector_free(fields);
}

static void events_have_the_old_and_the_new_state(void **state)
{
    struct fixture *f = *state;
    struct inf_object *last = web_pod(4, 9);
    fill(f);
    put(f, 3, 2);
    put(f, 3, 2); /* nothing changed */
    assert_emitted(f, "~web-3:1>2 ");
    store_delete(f->store, last, record_event, f);
    inf_object_unref(last);
    assert_emitted(f, "-web-4:9 ");
    assert_int_equal(inf_store_count(f->store), PODS - 1);
}

static void a_relist_compares_without_unpacking_and_reports_the_differences(void **state)
{
    struct fixture *f = *state;
    struct generation *next;
    size_t bytes;
    fill(f);
    bytes = inf_store_bytes(f->store);
    next = generation_new(f->store);
    for (unsigned n = 1; n < PODS; n++) {
        struct inf_object *object = web_pod(n, n == 5 ? 2 : 1);
        generation_put(next, object);
        inf_object_unref(object);
    }
    assert_true(generation_differs(next));
    store_flip(f->store, next, "3", INF_RELIST);
    while (!store_emit_some(f->store, 7, record_event, f))
        continue;
    assert_emitted(f, "-web-0:1 ~web-5:1>2 ");
    while (!store_sweep(f->store, 7))
        continue;
    repack(f);
    assert_true(inf_store_bytes(f->store) <= bytes);
    assert_pod(inf_store_get(f->store, "shop", "web-5"), 5, 2);
}

static void packing_can_be_switched_off_and_on(void **state)
{
    struct fixture *f = *state;
    size_t packed;
    fill(f);
    packed = inf_store_bytes(f->store);
    store_pack(f->store, NULL, NULL);
    repack(f);
    assert_int_equal(inf_store_bytes(f->store), plain_bytes());
    assert_pod(inf_store_get(f->store, "shop", "web-7"), 7, 1);
    store_pack(f->store, f->context, &small);
    for (unsigned n = 0; n < PODS; n++)
        put(f, n, 2);
    repack(f);
    assert_true(inf_store_bytes(f->store) < packed * 5 / 4);
    assert_pod(inf_store_get(f->store, "shop", "web-7"), 7, 2);
}

static void objects_of_another_packed_store_can_be_copied(void **state)
{
    struct fixture *f = *state;
    struct inf_store *other = store_new(&(struct siphash_key){3, 4}, NULL, 0);
    fill(f);
    store_copy(other, f->store, "shop");
    assert_int_equal(inf_store_bytes(other), plain_bytes());
    assert_pod(inf_store_get(other, "shop", "web-7"), 7, 1);
    store_forget(f->store, "shop");
    assert_int_equal(inf_store_count(f->store), 0);
    while (!store_free_some(other, 3))
        continue;
}

/* Objects that were expanded since the last call. */
static unsigned expansions(void)
{
    unsigned count = expanded;
    expanded = 0;
    return count;
}

static bool count_value(void *ctx, const char *value, size_t objects)
{
    size_t *count = ctx;
    (void)value;
    *count += objects;
    return true;
}

static bool stop(void *ctx, const struct inf_object *object)
{
    (void)ctx;
    (void)object;
    return false;
}

static void select_by(struct fixture *f, selector_parse_fn *parse, const char *text,
                      size_t expected)
{
    struct inf_selector *selector = selector_from(parse, text);
    size_t count = 0;
    inf_store_select(f->store, "", selector, count_pod, &count);
    assert_int_equal(count, expected);
    inf_selector_free(selector);
}

static void readers_expand_only_what_they_return(void **state)
{
    struct fixture *f = *state;
    size_t count = 0;
    fill(f);
    expansions();
    assert_int_equal(inf_store_count(f->store), PODS);
    assert_int_equal(inf_store_index_count(f->store, "node"), 10);
    inf_store_index_values(f->store, "node", count_value, &count);
    assert_int_equal(count, PODS);
    assert_null(inf_store_get(f->store, "shop", "web-1000"));
    inf_store_select(f->store, "billing", NULL, count_pod, &count);
    assert_int_equal(expansions(), 0);

    count = 0;
    inf_store_by_index(f->store, "node", "node-3", count_pod, &count);
    assert_int_equal(expansions(), count);
    inf_store_by_index(f->store, "namespace", "", count_pod, &count);
    inf_store_by_index(f->store, "namespace", "billing", count_pod, &count);
    assert_int_equal(expansions(), 0);
    inf_store_by_index(f->store, "namespace", "shop", stop, NULL);
    assert_int_equal(expansions(), 1);
}

static void selectors_expand_only_what_matches(void **state)
{
    struct fixture *f = *state;
    fill(f);
    expansions();
    select_by(f, inf_selector_parse_labels, "half=1", PODS / 2); /* a walk */
    assert_int_equal(expansions(), PODS / 2);
    select_by(f, inf_selector_parse_labels, "half=2", 0);
    select_by(f, inf_selector_parse_labels, "!app", 0);
    assert_int_equal(expansions(), 0);
    select_by(f, inf_selector_parse_fields, "metadata.name=web-7", 1);
    assert_int_equal(expansions(), 1);
    select_by(f, inf_selector_parse_fields, "metadata.namespace!=shop", 0);
    assert_int_equal(expansions(), 0);
    select_by(f, inf_selector_parse_fields, "spec.nodeName=node-3", PODS / 10); /* an index */
    assert_int_equal(expansions(), PODS / 10);
    select_by(f, inf_selector_parse_fields, "spec.nodeName=node-77", 0);
    assert_int_equal(expansions(), 0);
    select_by(f, inf_selector_parse_fields, "spec.nodeName=node-3,metadata.name=web-13", 1);
    assert_int_equal(expansions(), 1);
    select_by(f, inf_selector_parse_fields, "state=1", PODS); /* neither a name nor an index */
    assert_int_equal(expansions(), PODS);
}

static void a_walk_without_an_index_is_sliced(void **state)
{
    struct fixture *f = *state;
    struct inf_selector *selector = selector_from(inf_selector_parse_fields, "state=1");
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t count = 0;
    unsigned slices = 1;
    fill(f);
    expansions();
    while (!inf_store_select_some(f->store, "shop", selector, &cursor, 7, count_pod, &count)) {
        assert_int_equal(expansions(), 7);
        slices++;
    }
    inf_cursor_end(&cursor);
    assert_int_equal(count, PODS);
    assert_int_equal(slices, PODS / 7 + 1);
    inf_selector_free(selector);
}

static void a_walk_by_an_index_is_sliced(void **state)
{
    struct fixture *f = *state;
    struct inf_selector *selector =
        selector_from(inf_selector_parse_fields, "spec.nodeName=node-3");
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t count = 0;
    fill(f);
    expansions();
    for (size_t n = 0; n < PODS / 10; n++) {
        assert_false(
            inf_store_select_some(f->store, "shop", selector, &cursor, 1, count_pod, &count));
        assert_int_equal(count, n + 1);
        assert_int_equal(expansions(), 1);
    }
    assert_true(inf_store_select_some(f->store, "shop", selector, &cursor, 1, count_pod, &count));
    assert_int_equal(count, PODS / 10);
    inf_cursor_end(&cursor);
    inf_selector_free(selector);
}

static void a_change_expands_the_old_state_and_a_repetition_nothing(void **state)
{
    struct fixture *f = *state;
    fill(f);
    expansions();
    put(f, 3, 2);
    assert_int_equal(expansions(), 1);
    put(f, 3, 2);
    put(f, 1000, 1);
    assert_int_equal(expansions(), 0);
}

static void a_relist_expands_only_what_differs(void **state)
{
    struct fixture *f = *state;
    struct generation *next;
    fill(f);
    expansions();
    next = generation_new(f->store);
    for (unsigned n = 1; n < PODS; n++) { /* one is missing, one differs */
        struct inf_object *object = web_pod(n, n == 5 ? 2 : 1);
        generation_put(next, object);
        inf_object_unref(object);
    }
    assert_int_equal(expansions(), 0);
    store_flip(f->store, next, "3", INF_RELIST);
    while (!store_emit_some(f->store, 7, record_event, f))
        continue;
    assert_int_equal(expansions(), 3); /* the deleted one; the old and the new state of the other */
    while (!store_sweep(f->store, 7))
        continue;
    assert_int_equal(expansions(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packed_objects_need_less_memory_and_read_the_same, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lent_objects_are_valid_until_they_are_taken_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(indexes_and_labels_find_packed_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_have_the_old_and_the_new_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_relist_compares_without_unpacking_and_reports_the_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readers_expand_only_what_they_return, set_up, tear_down),
        cmocka_unit_test_setup_teardown(selectors_expand_only_what_matches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_walk_without_an_index_is_sliced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_walk_by_an_index_is_sliced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_expands_the_old_state_and_a_repetition_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_relist_expands_only_what_differs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packing_can_be_switched_off_and_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(objects_of_another_packed_store_can_be_copied, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
