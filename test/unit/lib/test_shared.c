/*
 * test_shared.c - the informers of one client: which of them share a cache, which watches are refused, and what a status
 * reports when no server responds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/path.h"

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "client_world.h"
#include "lib/definition.h"

static int set_up(void **state)
{
    struct client_world *w = test_calloc(1, sizeof(*w));
    client_world_open(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    client_world_close(*state);
    test_free(*state);
    return 0;
}

static struct inf_informer *opened(struct client_world *w, const struct inf_watch *watch)
{
    struct inf_error err = {0};
    struct inf_informer *informer = inf_informer_open(w->client, watch, &err);
    if (!informer)
        fail_msg("%s", err.text);
    return informer;
}

static bool share(struct client_world *w, const struct inf_watch *a, const struct inf_watch *b)
{
    struct inf_informer *one = opened(w, a), *two = opened(w, b);
    bool same = inf_informer_store(one) == inf_informer_store(two);
    inf_informer_close(one, NULL);
    inf_informer_close(two, NULL);
    return same;
}

static const char *const status[] = {"status"};
static const char *const spec[] = {"spec"};
static const struct inf_index by_node = {.name = "node", .path = "spec.nodeName"};

static void equivalent_watches_share_a_cache(void **state)
{
    struct client_world *w = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_watch spelled = {.resource = "pods", .label_selector = "a in (y, x), b"};
    struct inf_watch differently = {.resource = "pods", .label_selector = "b,a in (x,y)"};
    struct inf_watch shaped = {.resource = "pods", .drop = status, .n_drop = 1};
    assert_true(share(w, &pods, &pods));
    assert_true(share(w, &shaped, &shaped));
    assert_true(share(w, &spelled, &differently));
}

static void different_watches_do_not_share_a_cache(void **state)
{
    struct client_world *w = *state;
    static const struct inf_watch watches[] = {
        {.resource = "pods"},
        {.resource = "secrets"},
        {.resource = "pods", .ns = "shop"},
        {.resource = "pods", .ns = "shop", .ns_is_default = true},
        {.resource = "pods", .exclude_ns = status, .n_exclude_ns = 1},
        {.resource = "pods", .exclude_ns = spec, .n_exclude_ns = 1},
        {.resource = "pods", .label_selector = "a"},
        {.resource = "pods", .field_selector = "a="},
        {.resource = "pods", .drop = status, .n_drop = 1},
        {.resource = "pods", .drop = spec, .n_drop = 1},
        {.resource = "pods", .drop = status, .n_drop = 0}, /* keeps managedFields as well */
        {.resource = "pods", .redact = status, .n_redact = 1},
        {.resource = "pods", .reveal = true},
        {.resource = "pods", .metadata_only = true},
        {.resource = "pods", .coalesce = true},
        {.resource = "pods", .indexes = &by_node, .n_indexes = 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(watches); i++)
        for (size_t j = 0; j < i; j++)
            if (share(w, &watches[i], &watches[j]))
                fail_msg("watches %zu and %zu share a cache", i, j);
}

static void refused(struct client_world *w, const struct inf_watch *watch, const char *text)
{
    struct inf_error err = {0};
    assert_null(inf_informer_open(w->client, watch, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_string_equal(err.text, text);
}

static void an_invalid_watch_is_refused_with_the_reason(void **state)
{
    static const char *const no_path[] = {"a..b"};
    struct client_world *w = *state;
    struct inf_error labels = {0}, path = {0};
    char text[INF_ERROR_TEXT_MAX + 32];
    assert_null(inf_selector_parse_labels("a in", &labels));
    assert_null(inf_path_parse("a..b", &path));
    refused(w, &(struct inf_watch){0}, "no resource given");
    refused(w, &(struct inf_watch){.resource = "nodes", .ns = "shop"},
            "resource 'nodes': nodes are cluster-scoped and cannot be limited to namespaces");
    refused(w, &(struct inf_watch){.resource = "nodes", .exclude_ns = status, .n_exclude_ns = 1},
            "resource 'nodes': nodes are cluster-scoped and cannot be limited to namespaces");
    refused(
        w,
        &(struct inf_watch){.resource = "pods", .ns = "a", .exclude_ns = spec, .n_exclude_ns = 1},
        "namespaces can only be excluded from a watch of all namespaces");
    refused(
        w, &(struct inf_watch){.resource = "pods", .exclude_ns = no_path, .n_exclude_ns = 1},
        "excluded namespace 'a..b': use lower case letters, digits and '-', with '*' and '?' as "
        "wildcards, at most 63 characters");
    snprintf(text, sizeof(text), "label selector: %s", labels.text);
    refused(w, &(struct inf_watch){.resource = "pods", .label_selector = "a in"}, text);
    snprintf(text, sizeof(text), "drop: %s", path.text);
    refused(w, &(struct inf_watch){.resource = "pods", .drop = no_path, .n_drop = 1}, text);
    snprintf(text, sizeof(text), "redact: %s", path.text);
    refused(w, &(struct inf_watch){.resource = "pods", .redact = no_path, .n_redact = 1}, text);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)handler;
    (void)event;
}

static void closing_an_informer_removes_only_its_own_handlers(void **state)
{
    struct client_world *w = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_informer *one = opened(w, &pods), *two = opened(w, &pods);
    struct inf_handler ones = {.on_event = on_event}, twos = {.on_event = on_event};
    assert_int_equal(inf_handler_add(one, &ones), 0);
    assert_int_equal(inf_handler_add(two, &twos), 0);
    inf_informer_close(one, NULL);
    assert_null(ones.internal);
    assert_non_null(twos.internal);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(inf_store_count(inf_informer_store(two)), 0);
    assert_int_equal(inf_handler_add(two, &ones), 0);
    inf_informer_close(two, NULL); /* its handlers are on our stack */
}

/* ---- index functions ---- */

static void by_first_letter(void *data, const struct inf_object *object,
                            struct inf_index_values *values)
{
    char letter[2] = {inf_object_name(object)[0]};
    inf_index_emit(values, letter);
    inf_index_emit(values, data);
}

static void by_nothing(void *data, const struct inf_object *object, struct inf_index_values *values)
{
    (void)data;
    (void)object;
    (void)values;
}

static void collect_value(void *ctx, struct str value)
{
    buf_printf(ctx, "%.*s ", STR_FMT(value));
}

static void an_index_function_emits_the_values_of_an_object(void **state)
{
    static char all[] = "all";
    struct inf_index index = {.name = "letter", .values = by_first_letter, .data = all};
    struct inf_watch watch = {.resource = "pods", .indexes = &index, .n_indexes = 1};
    struct definition *d = definition_new(&watch, NULL, NULL);
    struct inf_object *object = pod("n/web", "u", 1, 0);
    struct buf values = {0};
    (void)state;
    assert_non_null(d);
    index = (struct inf_index){0}; /* it was copied */
    d->indexes[0].values(&d->indexes[0], object, collect_value, &values);
    buf_putc(&values, '\0');
    assert_string_equal(values.bytes, "w all ");
    buf_free(&values);
    inf_object_unref(object);
    definition_free(d);
}

static void index_functions_are_shared_by_address_and_data(void **state)
{
    static char a[] = "a", b[] = "b";
    struct inf_index indexes[] = {{.name = "x", .values = by_first_letter, .data = a},
                                  {.name = "x", .values = by_first_letter, .data = b},
                                  {.name = "x", .values = by_nothing, .data = a}};
    struct inf_watch first = {.resource = "pods", .indexes = &indexes[0], .n_indexes = 1};
    for (size_t i = 0; i < ARRAY_LEN(indexes); i++) {
        struct inf_watch other = {.resource = "pods", .indexes = &indexes[i], .n_indexes = 1};
        assert_int_equal(share(*state, &first, &other), i == 0);
    }
    indexes[0].path = "spec.nodeName";
    refused(*state, &first, "index 'x': has a path and a function; use one of them");
}

/* ---- versions ---- */

static void headers_and_library_have_the_version_of_the_project(void **state)
{
    char text[32];
    (void)state;
    snprintf(text, sizeof(text), "%d.%d.%d", INF_VERSION_MAJOR, INF_VERSION_MINOR,
             INF_VERSION_PATCH);
    assert_string_equal(inf_version(), text);
    assert_int_equal(inf_version_number(), INF_VERSION_HEX);
}

static void reserved_fields_must_be_zero(void **state)
{
    struct client_world *w = *state;
    char byte;
    struct inf_client_options options = {.kubeconfig = w->kubeconfig, .reserved = {&byte}};
    struct inf_budget_options budget = {.bytes = 1, .reserved = {&byte}};
    struct inf_handler handler = {.reserved = {&byte}};
    struct inf_watch watch = {.resource = "pods", .reserved_flags = {true}};
    struct inf_index index = {.name = "x", .path = "spec", .reserved = {&byte}};
    struct inf_informer *pods = opened(w, &(struct inf_watch){.resource = "pods"});
    struct inf_error err;
    assert_null(inf_client_open(&w->loop, &options, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_null(inf_budget_new(&budget));
    assert_int_equal(inf_handler_add(pods, &handler), -INF_EINVAL);
    refused(w, &watch, "a reserved field of the watch is not zero");
    watch = (struct inf_watch){.resource = "pods", .reserved = {&byte}};
    refused(w, &watch, "a reserved field of the watch is not zero");
    watch = (struct inf_watch){.resource = "pods", .indexes = &index, .n_indexes = 1};
    refused(w, &watch, "index 'x': a reserved field is not zero");
}

/* ---- requests ---- */

static void count_synced(struct inf_request *request, const struct inf_error *err)
{
    int *calls = request->data;
    ++*calls;
    assert_null(err);
}

static void waiting_for_sync_ends_when_no_informer_is_left(void **state)
{
    struct client_world *w = *state;
    int calls = 0;
    struct inf_request request = {.data = &calls};
    struct inf_informer *pods;
    assert_int_equal(inf_client_wait_synced(w->client, &request, count_synced), 0);
    assert_int_equal(calls, 0);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 1);
    pods = opened(w, &(struct inf_watch){.resource = "pods"});
    assert_int_equal(inf_client_wait_synced(w->client, &request, count_synced), 0);
    assert_int_equal(inf_client_wait_synced(w->client, &request, count_synced), -INF_EINVAL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 1);
    inf_informer_close(pods, NULL); /* the last one to wait for */
    assert_int_equal(calls, 1);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 2);
}

static void clients_are_the_same_until_the_kubeconfig_changes(void **state)
{
    struct client_world *w = *state;
    struct inf_client_options options = {.kubeconfig = w->kubeconfig};
    struct inf_error err;
    struct inf_client *again = inf_client_open(&w->loop, &options, &err), *changed;
    client_world_write_kubeconfig(w, 2);
    changed = inf_client_open(&w->loop, &options, &err);
    assert_true(inf_client_same(w->client, again));
    assert_false(inf_client_same(w->client, changed));
    inf_client_close(again, NULL);
    inf_client_close(changed, NULL);
}

/* An ended informer follows no changes: a watch that shared its cache would stay empty. */
static void the_cache_of_an_ended_informer_is_not_shared(void **state)
{
    struct client_world *w = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_informer *ended = opened(w, &pods), *again;
    inf_informer_end(ended, "over");
    again = opened(w, &pods);
    assert_ptr_not_equal(inf_informer_store(again), inf_informer_store(ended));
    assert_true(share(w, &pods, &pods));
    inf_informer_close(ended, NULL);
    inf_informer_close(again, NULL);
}

static void a_client_adopts_the_settings_of_another(void **state)
{
    struct client_world *w = *state;
    struct inf_client_options same = {.kubeconfig = w->kubeconfig, .stale_after_ms = 7000};
    struct inf_client_options other = {.server = "http://127.0.0.1:2"};
    struct inf_error err;
    struct inf_informer *pods = opened(w, &(struct inf_watch){.resource = "pods"});
    struct inf_informer *ended = opened(w, &(struct inf_watch){.resource = "services"});
    const struct inf_store *store = inf_informer_store(pods);
    struct inf_status s;
    inf_informer_end(ended, "over");
    inf_client_adopt(w->client, inf_client_open(&w->loop, &same, &err));
    inf_informer_status(pods, &s);
    assert_int_equal(s.requests, 1); /* nothing was interrupted */
    for (int i = 0; i < 3; i++)      /* also before the first connection is cut */
        inf_client_adopt(w->client, inf_client_open(&w->loop, &other, &err));
    assert_string_equal(inf_client_server(w->client), "http://127.0.0.1:2");
    assert_ptr_equal(inf_informer_store(pods), store);
    inf_informer_status(pods, &s);
    assert_int_equal(s.requests, 2);
    while (!s.error.code) {
        uv_run(&w->loop, UV_RUN_ONCE);
        inf_informer_status(pods, &s);
    }
    assert_non_null(strstr(s.error.text, "127.0.0.1:2"));
}

static void the_status_reports_an_unreachable_server(void **state)
{
    struct client_world *w = *state;
    struct inf_informer *pods = opened(w, &(struct inf_watch){.resource = "pods"});
    struct inf_status s;
    inf_informer_status(pods, &s);
    assert_string_equal(inf_status_name(&s), "syncing");
    assert_int_equal(s.event_age_ms, INF_NEVER);
    while (!s.error.code) {
        uv_run(&w->loop, UV_RUN_ONCE);
        inf_informer_status(pods, &s);
    }
    assert_string_equal(inf_status_name(&s), "failing");
    assert_int_equal(s.error.code, INF_ENET);
    assert_int_equal(s.ends[INF_ENET], 1);
    assert_false(s.synced || s.stale || s.held);
}

/* Requests that the cache made before an informer was opened are not counted for it. */
static void counters_begin_when_an_informer_is_opened(void **state)
{
    struct client_world *w = *state;
    struct inf_watch watch = {.resource = "pods"}, other = {.resource = "pods", .ns = "shop"};
    struct inf_informer *one = opened(w, &watch), *two;
    struct inf_status s;
    inf_informer_status(one, &s);
    assert_int_equal(s.requests, 1);
    two = opened(w, &watch);
    inf_informer_status(two, &s);
    assert_int_equal(s.requests, 0);
    assert_int_equal(inf_informer_change(one, &other, "other", NULL), 0); /* gets its own cache */
    inf_informer_status(one, &s);
    assert_int_equal(s.requests, 2);
    assert_int_equal(inf_informer_change(one, &watch, "back", NULL), 0);
    inf_informer_status(one, &s);
    assert_int_equal(s.requests, 3);
    assert_int_equal(inf_informer_change(two, &(struct inf_watch){.resource = "po ds"}, "", NULL),
                     -INF_EINVAL);
    inf_informer_end(two, "over");
    inf_informer_close(one, NULL);
    inf_informer_close(two, NULL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(counters_begin_when_an_informer_is_opened),
        CASE(the_cache_of_an_ended_informer_is_not_shared),
        CASE(a_client_adopts_the_settings_of_another),
        CASE(equivalent_watches_share_a_cache),
        CASE(different_watches_do_not_share_a_cache),
        CASE(an_invalid_watch_is_refused_with_the_reason),
        CASE(closing_an_informer_removes_only_its_own_handlers),
        CASE(the_status_reports_an_unreachable_server),
        CASE(an_index_function_emits_the_values_of_an_object),
        CASE(index_functions_are_shared_by_address_and_data),
        CASE(headers_and_library_have_the_version_of_the_project),
        CASE(reserved_fields_must_be_zero),
        CASE(waiting_for_sync_ends_when_no_informer_is_left),
        CASE(clients_are_the_same_until_the_kubeconfig_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
