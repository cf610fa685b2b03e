/*
 * test_shared.c - one client, many who ask: who shares a copy, who doesn't, and who is refused.
 *
 * The server is an address where nobody listens: what is shared is decided before anybody answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <uv.h>

#include "informer/informer.h"
#include "informer/path.h"

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "lib/definition.h"

static const char kubeconfig[] =
    "{current-context: c, contexts: [{name: c, context: {cluster: c}}],"
    " clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]}";

struct place {
    char path[32];
    uv_loop_t loop;
    struct inf_client *client;
    struct inf_informer *pods;
};

static int set_up(void **state)
{
    struct place *p = test_calloc(1, sizeof(*p));
    struct inf_error err = {0};
    int fd;
    strcpy(p->path, "/tmp/test_shared.XXXXXX");
    fd = mkstemp(p->path);
    if (fd < 0 || write(fd, kubeconfig, strlen(kubeconfig)) < 0 || close(fd) < 0)
        return -1;
    uv_loop_init(&p->loop);
    p->client =
        inf_client_open(&p->loop, &(struct inf_client_options){.kubeconfig = p->path}, &err);
    if (!p->client)
        print_error("%s\n", err.text);
    *state = p;
    return p->client ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    inf_client_close(p->client, NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    unlink(p->path);
    test_free(p);
    return 0;
}

static struct inf_informer *opened(struct place *p, const struct inf_watch *watch)
{
    struct inf_error err = {0};
    struct inf_informer *informer = inf_informer_open(p->client, watch, &err);
    if (!informer)
        fail_msg("%s", err.text);
    return informer;
}

static bool share(struct place *p, const struct inf_watch *a, const struct inf_watch *b)
{
    struct inf_informer *one = opened(p, a), *two = opened(p, b);
    bool same = inf_informer_store(one) == inf_informer_store(two);
    inf_informer_close(one, NULL);
    inf_informer_close(two, NULL);
    return same;
}

static const char *const status[] = {"status"};
static const char *const spec[] = {"spec"};
static const struct inf_index by_node = {.name = "node", .path = "spec.nodeName"};

static void the_same_is_shared(void **state)
{
    struct place *p = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_watch spelled = {.resource = "pods", .label_selector = "a in (y, x), b"};
    struct inf_watch differently = {.resource = "pods", .label_selector = "b,a in (x,y)"};
    struct inf_watch shaped = {.resource = "pods", .drop = status, .n_drop = 1};
    assert_true(share(p, &pods, &pods));
    assert_true(share(p, &shaped, &shaped));
    assert_true(share(p, &spelled, &differently));
}

static void what_differs_is_not_shared(void **state)
{
    struct place *p = *state;
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
        {.resource = "pods", .drop = status, .n_drop = 0}, /* not even managedFields */
        {.resource = "pods", .redact = status, .n_redact = 1},
        {.resource = "pods", .reveal = true},
        {.resource = "pods", .metadata_only = true},
        {.resource = "pods", .coalesce = true},
        {.resource = "pods", .indexes = &by_node, .n_indexes = 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(watches); i++)
        for (size_t j = 0; j < i; j++)
            if (share(p, &watches[i], &watches[j]))
                fail_msg("watches %zu and %zu share a copy", i, j);
}

static void refused(struct place *p, const struct inf_watch *watch, const char *text)
{
    struct inf_error err = {0};
    assert_null(inf_informer_open(p->client, watch, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_string_equal(err.text, text);
}

static void what_is_wrong_is_named(void **state)
{
    static const char *const no_path[] = {"a..b"};
    struct place *p = *state;
    struct inf_error labels = {0}, path = {0};
    char text[INF_ERROR_TEXT_MAX + 32];
    assert_null(inf_selector_parse_labels("a in", &labels));
    assert_null(inf_path_parse("a..b", &path));
    refused(p, &(struct inf_watch){0}, "no resource given");
    refused(p, &(struct inf_watch){.resource = "nodes", .ns = "shop"},
            "resource 'nodes': nodes are cluster-scoped and cannot be limited to namespaces");
    refused(p, &(struct inf_watch){.resource = "nodes", .exclude_ns = status, .n_exclude_ns = 1},
            "resource 'nodes': nodes are cluster-scoped and cannot be limited to namespaces");
    refused(
        p,
        &(struct inf_watch){.resource = "pods", .ns = "a", .exclude_ns = spec, .n_exclude_ns = 1},
        "namespaces can only be excluded from a watch of all namespaces");
    refused(
        p, &(struct inf_watch){.resource = "pods", .exclude_ns = no_path, .n_exclude_ns = 1},
        "excluded namespace 'a..b': use lower case letters, digits and '-', with '*' and '?' as "
        "wildcards, at most 63 characters");
    snprintf(text, sizeof(text), "label selector: %s", labels.text);
    refused(p, &(struct inf_watch){.resource = "pods", .label_selector = "a in"}, text);
    snprintf(text, sizeof(text), "drop: %s", path.text);
    refused(p, &(struct inf_watch){.resource = "pods", .drop = no_path, .n_drop = 1}, text);
    snprintf(text, sizeof(text), "redact: %s", path.text);
    refused(p, &(struct inf_watch){.resource = "pods", .redact = no_path, .n_redact = 1}, text);
}

static void on_event(struct inf_handler *handler, struct inf_informer *informer,
                     const struct inf_event *event)
{
    (void)informer;
    (void)handler;
    (void)event;
}

static void closing_takes_only_ones_own(void **state)
{
    struct place *p = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_informer *one = opened(p, &pods), *two = opened(p, &pods);
    struct inf_handler ones = {.on_event = on_event}, twos = {.on_event = on_event};
    assert_int_equal(inf_handler_add(one, &ones), 0);
    assert_int_equal(inf_handler_add(two, &twos), 0);
    inf_informer_close(one, NULL);
    assert_null(ones.internal);
    assert_non_null(twos.internal);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    assert_int_equal(inf_store_count(inf_informer_store(two)), 0);
    assert_int_equal(inf_handler_add(two, &ones), 0);
    inf_informer_close(two, NULL); /* whose handlers are on our stack */
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
    struct place *p = *state;
    char byte;
    struct inf_client_options options = {.kubeconfig = p->path, .reserved = {&byte}};
    struct inf_budget_options budget = {.bytes = 1, .reserved = {&byte}};
    struct inf_handler handler = {.reserved = {&byte}};
    struct inf_watch watch = {.resource = "pods", .reserved_flags = {true}};
    struct inf_index index = {.name = "x", .path = "spec", .reserved = {&byte}};
    struct inf_informer *pods = opened(p, &(struct inf_watch){.resource = "pods"});
    struct inf_error err;
    assert_null(inf_client_open(&p->loop, &options, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_null(inf_budget_new(&budget));
    assert_int_equal(inf_handler_add(pods, &handler), -INF_EINVAL);
    refused(p, &watch, "a reserved field of the watch is not zero");
    watch = (struct inf_watch){.resource = "pods", .reserved = {&byte}};
    refused(p, &watch, "a reserved field of the watch is not zero");
    watch = (struct inf_watch){.resource = "pods", .indexes = &index, .n_indexes = 1};
    refused(p, &watch, "index 'x': a reserved field is not zero");
}

/* ---- requests ---- */

static void count_synced(struct inf_request *request, const struct inf_error *err)
{
    int *calls = request->data;
    ++*calls;
    assert_null(err);
}

static void waiting_for_no_informer_ends_from_the_loop(void **state)
{
    struct place *p = *state;
    int calls = 0;
    struct inf_request request = {.data = &calls};
    struct inf_informer *pods;
    assert_int_equal(inf_client_wait_synced(p->client, &request, count_synced), 0);
    assert_int_equal(calls, 0);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 1);
    pods = opened(p, &(struct inf_watch){.resource = "pods"});
    assert_int_equal(inf_client_wait_synced(p->client, &request, count_synced), 0);
    assert_int_equal(inf_client_wait_synced(p->client, &request, count_synced), -INF_EINVAL);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 1);
    inf_informer_close(pods, NULL); /* the last one to wait for */
    assert_int_equal(calls, 1);
    uv_run(&p->loop, UV_RUN_NOWAIT);
    assert_int_equal(calls, 2);
}

static void a_kubeconfig_read_again_is_the_same_until_it_changes(void **state)
{
    struct place *p = *state;
    struct inf_client_options options = {.kubeconfig = p->path};
    struct inf_error err;
    struct inf_client *again = inf_client_open(&p->loop, &options, &err), *changed;
    FILE *file = fopen(p->path, "w");
    assert_non_null(file);
    fprintf(file, "{current-context: c, contexts: [{name: c, context: {cluster: c}}],"
                  " clusters: [{name: c, cluster: {server: 'http://127.0.0.1:2'}}]}");
    fclose(file);
    changed = inf_client_open(&p->loop, &options, &err);
    assert_true(inf_client_same(p->client, again));
    assert_false(inf_client_same(p->client, changed));
    inf_client_close(again, NULL);
    inf_client_close(changed, NULL);
}

/* It deletes its objects and follows nothing: a watch that shared it would stay empty for ever. */
static void what_has_ended_is_not_shared(void **state)
{
    struct place *p = *state;
    struct inf_watch pods = {.resource = "pods"};
    struct inf_informer *ended = opened(p, &pods), *again;
    inf_informer_end(ended, "over");
    again = opened(p, &pods);
    assert_ptr_not_equal(inf_informer_store(again), inf_informer_store(ended));
    assert_true(share(p, &pods, &pods));
    inf_informer_close(ended, NULL);
    inf_informer_close(again, NULL);
}

static void a_client_goes_on_with_the_settings_of_another(void **state)
{
    struct place *p = *state;
    struct inf_client_options same = {.kubeconfig = p->path, .stale_after_ms = 7000};
    struct inf_client_options other = {.server = "http://127.0.0.1:2"};
    struct inf_error err;
    struct inf_informer *pods = opened(p, &(struct inf_watch){.resource = "pods"});
    struct inf_informer *ended = opened(p, &(struct inf_watch){.resource = "services"});
    const struct inf_store *store = inf_informer_store(pods);
    struct inf_status s;
    inf_informer_end(ended, "over");
    inf_client_adopt(p->client, inf_client_open(&p->loop, &same, &err));
    inf_informer_status(pods, &s);
    assert_int_equal(s.requests, 1); /* nothing was interrupted */
    for (int i = 0; i < 3; i++)      /* also while the first one is not cut yet */
        inf_client_adopt(p->client, inf_client_open(&p->loop, &other, &err));
    assert_string_equal(inf_client_server(p->client), "http://127.0.0.1:2");
    assert_ptr_equal(inf_informer_store(pods), store);
    inf_informer_status(pods, &s);
    assert_int_equal(s.requests, 2);
    while (!s.error.code) {
        uv_run(&p->loop, UV_RUN_ONCE);
        inf_informer_status(pods, &s);
    }
    assert_non_null(strstr(s.error.text, "127.0.0.1:2"));
}

static void a_dead_server_is_told(void **state)
{
    struct place *p = *state;
    struct inf_status s;
    p->pods = opened(p, &(struct inf_watch){.resource = "pods"});
    inf_informer_status(p->pods, &s);
    assert_string_equal(inf_status_name(&s), "syncing");
    assert_int_equal(s.event_age_ms, INF_NEVER);
    while (!s.error.code) {
        uv_run(&p->loop, UV_RUN_ONCE);
        inf_informer_status(p->pods, &s);
    }
    assert_string_equal(inf_status_name(&s), "failing");
    assert_int_equal(s.error.code, INF_ENET);
    assert_int_equal(s.ends[INF_ENET], 1);
    assert_false(s.synced || s.stale || s.held);
}

/* Requests that the copy made for another informer are not counted. */
static void counters_begin_when_an_informer_is_opened(void **state)
{
    struct place *p = *state;
    struct inf_watch watch = {.resource = "pods"}, other = {.resource = "pods", .ns = "shop"};
    struct inf_informer *one = opened(p, &watch), *two;
    struct inf_status s;
    inf_informer_status(one, &s);
    assert_int_equal(s.requests, 1);
    two = opened(p, &watch);
    inf_informer_status(two, &s);
    assert_int_equal(s.requests, 0);
    assert_int_equal(inf_informer_change(one, &other, "other", NULL), 0); /* a copy of its own */
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
        CASE(what_has_ended_is_not_shared),
        CASE(a_client_goes_on_with_the_settings_of_another),
        CASE(the_same_is_shared),
        CASE(what_differs_is_not_shared),
        CASE(what_is_wrong_is_named),
        CASE(closing_takes_only_ones_own),
        CASE(a_dead_server_is_told),
        CASE(an_index_function_emits_the_values_of_an_object),
        CASE(index_functions_are_shared_by_address_and_data),
        CASE(headers_and_library_have_the_version_of_the_project),
        CASE(reserved_fields_must_be_zero),
        CASE(waiting_for_no_informer_ends_from_the_loop),
        CASE(a_kubeconfig_read_again_is_the_same_until_it_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
