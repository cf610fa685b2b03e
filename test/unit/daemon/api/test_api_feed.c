/*
 * test_api_feed.c - lists and watches of the local API in virtual time: one version while the store
 * changes, positions in the feed, selections, slow clients, replaced caches.
 *
 * Clients are pipes; what they got is summarised as "a@5 b@6 " for lists and "+a@5 ~a@7 -a@9 =9 " for
 * watches: added, modified, deleted, a bookmark, "!410 " for an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api_world.h"
#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "daemon/api/api_list.h"
#include "daemon/api/api_walk.h"
#include "daemon/api/api_watch.h"

static void put(struct api_world *w, const char *name, const char *label)
{
    api_world_put(w, name, label, 1);
}

static struct pipe *request(struct api_world *w, const char *query)
{
    char *text = xasprintf("GET /api/v1/pods?%s HTTP/1.0\r\n\r\n", query);
    struct pipe *pipe;
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    pipe = w->pipes.last;
    pipe_sends(pipe, text);
    free(text);
    sim_run(&w->sim);
    return pipe;
}

/* ---- summaries ---- */

/* The value after @key, up to a quote, comma or brace. */
static void put_after(struct buf *out, const char *from, const char *key)
{
    const char *at = strstr(from, key);
    assert_non_null(at);
    at += strlen(key);
    at += *at == '"';
    buf_put(out, at, strcspn(at, "\",}"));
}

static void assert_events(struct api_world *w, struct pipe *pipe, const char *expected)
{
    struct buf out = {0};
    char *at;
    sim_run(&w->sim);
    buf_putc(&pipe->written, '\0');
    at = pipe->written.bytes;
    while ((at = strstr(at, "{\"type\":\""))) {
        char type = at[9], *end = strchr(at, '\n');
        assert_non_null(end);
        *end = '\0';
        buf_putc(&out, (char)(type == 'A'   ? '+'
                              : type == 'M' ? '~'
                              : type == 'D' ? '-'
                              : type == 'B' ? '='
                                            : '!'));
        if (type == 'E') {
            put_after(&out, at, "\"code\":");
        } else {
            if (type != 'B') {
                put_after(&out, at, "\"name\":");
                buf_putc(&out, '@');
            }
            put_after(&out, at, "\"resourceVersion\":");
        }
        buf_putc(&out, ' ');
        at = end + 1;
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    buf_clear(&pipe->written);
}

static void assert_items(struct api_world *w, struct pipe *pipe, const char *expected)
{
    struct buf out = {0};
    const char *at;
    sim_run(&w->sim);
    buf_putc(&pipe->written, '\0');
    at = strstr(pipe->written.bytes, "\"items\":[");
    assert_non_null(at);
    assert_non_null(strstr(at, "]}\n")); /* complete */
    while ((at = strstr(at, "\"name\":"))) {
        put_after(&out, at, "\"name\":");
        buf_putc(&out, '@');
        put_after(&out, at, "\"resourceVersion\":");
        buf_putc(&out, ' ');
        at++;
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    buf_clear(&pipe->written);
}

/* A list of a to e, large objects, that has sent at least a and no more than c. */
static struct pipe *start_list(struct api_world *w)
{
    struct pipe *pipe;
    for (const char *name = "abcde"; *name; name++)
        api_world_put(w, (const char[]){*name, '\0'}, "web", 150 * 1000);
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    pipe = w->pipes.last;
    pipe->clogged = true;
    pipe_sends(pipe, "GET /api/v1/pods HTTP/1.0\r\n\r\n");
    sim_run(&w->sim);
    assert_true(pipe->written.len > 150 * 1000 && pipe->written.len < 450 * 1000);
    return pipe;
}

static void let_it_read(struct api_world *w, struct pipe *pipe)
{
    pipe->clogged = false;
    sim_run(&w->sim);
}

/* ---- lists ---- */

static void a_list_has_one_version_while_the_store_changes(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe = start_list(w);
    put(w, "a", "web");       /* sent already */
    put(w, "d", "web");       /* changed: the old state is sent */
    put(w, "d", "web");       /* twice */
    api_world_delete(w, "e"); /* deleted: sent in the old state */
    put(w, "dd", "web");      /* added: not sent */
    put(w, "f", "web");
    api_world_delete(w, "f");
    let_it_read(w, pipe);
    assert_items(w, pipe, "a@1 b@2 c@3 d@4 e@5 ");
}

static void a_list_waits_while_the_cache_is_replaced(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe = start_list(w);
    struct generation *next = generation_new(w->store);
    struct inf_object *object = api_world_pod(w, "d", "web", 1);
    generation_put(next, object);
    inf_object_unref(object);
    store_flip(w->store, next, "9", INF_RELIST);
    let_it_read(w, pipe);
    assert_false(pipe_closed(pipe));
    while (!store_emit_some(w->store, 1, api_world_ignore, NULL))
        sim_run(&w->sim);
    assert_items(w, pipe, "a@1 b@2 c@3 d@4 e@5 ");
}

static void a_list_with_too_many_changes_is_cut(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe = start_list(w);
    for (int i = 0; i <= API_UNDO_MAX; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "x%d", i);
        put(w, name, "web");
    }
    let_it_read(w, pipe);
    assert_true(pipe_closed(pipe));
    buf_putc(&pipe->written, '\0');
    assert_null(strstr(pipe->written.bytes, "]}\n"));
}

static void a_list_of_a_store_that_is_gone_is_cut(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe = start_list(w);
    while (!store_free_some(w->store, 1))
        continue;
    w->store = NULL;
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
}

static void a_list_is_sent_in_slices_of_the_time_budget(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    for (const char *name = "abcdefghij"; *name; name++)
        put(w, (const char[]){*name, '\0'}, "web");
    w->sim.budget = 2;
    pipe = request(w, "labelSelector=app%3Dweb");
    w->sim.budget = 0;
    assert_items(w, pipe, "a@1 b@2 c@3 d@4 e@5 f@6 g@7 h@8 i@9 j@10 ");
}

static void a_list_of_a_later_version_waits(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe, *late;
    put(w, "a", "web");
    pipe = request(w, "resourceVersion=2");
    assert_int_equal(pipe->written.len, 0);
    put(w, "b", "web");
    sim_advance(&w->sim, 100);
    assert_items(w, pipe, "a@1 b@2 ");
    late = request(w, "resourceVersion=9");
    sim_advance(&w->sim, API_WAIT_MS + 100);
    buf_putc(&late->written, '\0');
    assert_non_null(strstr(late->written.bytes, "504 Gateway Timeout"));
    assert_non_null(strstr(late->written.bytes, "ResourceVersionTooLarge"));
    buf_clear(&late->written);
}

/* ---- watches ---- */

static void watches_share_the_events_after_their_version(void **state)
{
    struct api_world *w = *state;
    struct pipe *one, *two;
    put(w, "a", "web");
    one = request(w, "watch=1&resourceVersion=1");
    put(w, "b", "web");
    put(w, "a", "web");
    two = request(w, "watch=1&resourceVersion=2");
    api_world_delete(w, "b");
    assert_events(w, one, "+b@2 ~a@3 -b@4 ");
    assert_events(w, two, "~a@3 -b@4 ");
}

static void a_watch_list_ends_with_a_bookmark(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    put(w, "b", "db");
    pipe = request(w, "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                      "&allowWatchBookmarks=true&labelSelector=app%3Dweb");
    assert_events(w, pipe, "+a@1 =2 ");
    put(w, "a", "web");
    assert_events(w, pipe, "~a@3 ");
    put(w, "b", "db");
    sim_advance(&w->sim, 61 * 1000);
    assert_events(w, pipe, "=4 ");
    sim_advance(&w->sim, 61 * 1000);
    assert_events(w, pipe, "");
}

static void objects_enter_and_leave_a_selection(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    pipe = request(w, "watch=1&resourceVersion=1&labelSelector=app%3Dweb");
    put(w, "a", "db");
    put(w, "a", "db");
    put(w, "a", "web");
    put(w, "a", "web");
    api_world_delete(w, "a");
    assert_events(w, pipe, "-a@2 +a@4 ~a@5 -a@6 ");
}

static void a_version_that_left_the_feed_is_too_old(void **state)
{
    struct api_world *w = *state;
    w->api.history = 2;
    put(w, "a", "web");
    (void)request(w, "resourceVersion=0"); /* creates the feed */
    for (int i = 0; i < 3; i++)
        put(w, "a", "web");
    assert_events(w, request(w, "watch=1&resourceVersion=1"), "!410 ");
    assert_events(w, request(w, "watch=1&resourceVersion=2"), "~a@3 ~a@4 ");
}

static void a_slow_watch_is_expired_and_delays_no_other(void **state)
{
    struct api_world *w = *state;
    struct pipe *slow, *quick;
    w->api.history = 4;
    put(w, "a", "web");
    slow = request(w, "watch=1&resourceVersion=1");
    slow->clogged = true;
    quick = request(w, "watch=1&resourceVersion=1");
    api_world_put(w, "a", "web", 200 * 1000);
    for (int i = 0; i < 6; i++) {
        sim_run(&w->sim);
        put(w, "a", "web");
    }
    assert_events(w, quick, "~a@2 ~a@3 ~a@4 ~a@5 ~a@6 ~a@7 ~a@8 ");
    let_it_read(w, slow);
    assert_events(w, slow, "~a@2 !410 ");
    assert_true(pipe_closed(slow));
}

static void a_new_list_is_a_series_of_events(void **state)
{
    struct api_world *w = *state;
    struct generation *next;
    struct inf_object *object;
    struct pipe *pipe, *late;
    put(w, "a", "web");
    put(w, "b", "web");
    pipe = request(w, "watch=1&resourceVersion=2");
    next = generation_new(w->store);
    object = api_world_pod(w, "b", "web", 1);
    generation_put(next, object);
    inf_object_unref(object);
    store_flip(w->store, next, "9", INF_RELIST);
    late = request(w, "watch=1&allowWatchBookmarks=true"); /* begins with the new objects */
    while (!store_emit_some(w->store, 1, api_world_ignore, NULL))
        sim_run(&w->sim);
    assert_events(w, pipe, "-a@9 ~b@3 ");
    assert_events(w, late, "+b@3 ");
    assert_events(w, request(w, "watch=1&resourceVersion=3"), "-a@9 ~b@3 ");
}

static void a_version_that_goes_back_ends_watches(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    put(w, "a", "web");
    pipe = request(w, "watch=1&resourceVersion=2");
    put(w, "a", "web");
    assert_events(w, pipe, "~a@3 ");
    store_flip(w->store, generation_new(w->store), "1", INF_RELIST);
    while (!store_emit_some(w->store, 1, api_world_ignore, NULL))
        continue;
    assert_events(w, pipe, "!410 ");
}

static void a_watch_ends_at_its_timeout(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    pipe = request(w, "watch=1&timeoutSeconds=5");
    sim_advance(&w->sim, 4000);
    assert_false(pipe_closed(pipe));
    sim_advance(&w->sim, 1500);
    assert_true(pipe_closed(pipe));
    assert_events(w, pipe, "+a@1 ");
}

static void a_client_that_disconnects_is_forgotten(void **state)
{
    struct api_world *w = *state;
    struct pipe *list = start_list(w);
    struct pipe *watch = request(w, "watch=1&resourceVersion=5");
    pipe_end(list, INF_ENET, "reset");
    pipe_end(watch, INF_ENET, "reset");
    put(w, "a", "web");
    sim_run(&w->sim);
    assert_true(pipe_closed(list) && pipe_closed(watch));
}

static void a_compressed_list_can_be_cut_by_its_client(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    w->gzip = true;
    for (const char *name = "abcde"; *name; name++)
        api_world_put(w, (const char[]){*name, '\0'}, "web", 150 * 1000);
    w->sim.budget = 1; /* one object in each tick */
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    pipe = w->pipes.last;
    pipe_sends(pipe, "GET /api/v1/pods HTTP/1.0\r\n\r\n");
    for (int i = 0; i < 100 && !w->api.compressing; i++)
        sim_tick(&w->sim);
    assert_int_equal(w->api.compressing, 1);
    pipe_end(pipe, INF_ENET, "reset");
    sim_run(&w->sim);
    assert_int_equal(w->api.compressing, 0);
    pipe = request(w, "resourceVersion=0");
    assert_int_equal(w->api.compressing, 0);
    buf_putc(&pipe->written, '\0');
    assert_non_null(strstr(pipe->written.bytes, "Content-Encoding: gzip\r\n"));
    assert_true(pipe->written.len < 50 * 1000); /* of 750 KB */
}

static void a_feed_that_prints_other_columns_is_closed(void **state)
{
    struct api_world *w = *state;
    struct pipe *first, *second;
    put(w, "a", "web");
    w->printer = table_printer_find("", "pods");
    first = request(w, "watch=1&resourceVersion=1");
    second = request(w, "watch=1&resourceVersion=1");
    assert_false(pipe_closed(first));
    w->printer = table_printer_find("", "nodes");
    request(w, "watch=1&resourceVersion=1");
    assert_true(pipe_closed(first) && pipe_closed(second));
    api_feed_close_tables(&w->api, table_printer_find("", "pods"));
    assert_false(list_empty(&w->api.feeds));
    api_feed_close_tables(&w->api, w->printer);
    assert_true(list_empty(&w->api.feeds));
}

static void a_feed_without_readers_is_freed_after_a_while(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    pipe = request(w, "watch=1&timeoutSeconds=600");
    sim_advance(&w->sim, 599 * 1000);
    assert_false(pipe_closed(pipe));
    sim_advance(&w->sim, 500 * 1000);
    assert_true(pipe_closed(pipe));
    assert_false(list_empty(&w->api.feeds));
    sim_advance(&w->sim, 200 * 1000);
    assert_true(list_empty(&w->api.feeds));
    assert_int_equal(w->api.feed_bytes, 0);
    request(w, "resourceVersion=0");
    assert_false(list_empty(&w->api.feeds));
}

static void all_feeds_together_have_a_limit(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    w->api.feed_bytes_max = 20 * 1000;
    api_world_put(w, "a", "web", 1000);
    pipe = request(w, "watch=1&resourceVersion=1");
    for (int i = 0; i < 100; i++) {
        api_world_put(w, "a", "web", 1000);
        assert_true(w->api.feed_bytes <= 24 * 1000);
    }
    sim_run(&w->sim);
    assert_events(w, pipe, "!410 "); /* 100 changes at once are more than the feed keeps */
    api_world_put(w, "a", "web", 1000);
    pipe = request(w, "watch=1&resourceVersion=101");
    assert_events(w, pipe, "~a@102 ");
}

static void a_watch_of_a_client_that_has_closed_ends_at_once(void **state)
{
    struct api_world *w = *state;
    struct pipe *pipe;
    put(w, "a", "web");
    http_server_accept(w->server, dialer_dial(&w->pipes.dialer, "client", 1, NULL));
    sim_tick(&w->sim);
    pipe = w->pipes.last;
    pipe_sends(pipe, "GET /api/v1/pods?watch=1&resourceVersion=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    pipe_end(pipe, INF_EEOF, "closed");
    sim_run(&w->sim);
    assert_true(pipe_closed(pipe));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, api_world_setup, api_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_list_has_one_version_while_the_store_changes),
        IN_WORLD(a_list_waits_while_the_cache_is_replaced),
        IN_WORLD(a_list_with_too_many_changes_is_cut),
        IN_WORLD(a_list_of_a_store_that_is_gone_is_cut),
        IN_WORLD(a_list_is_sent_in_slices_of_the_time_budget),
        IN_WORLD(a_list_of_a_later_version_waits),
        IN_WORLD(watches_share_the_events_after_their_version),
        IN_WORLD(a_watch_list_ends_with_a_bookmark),
        IN_WORLD(objects_enter_and_leave_a_selection),
        IN_WORLD(a_version_that_left_the_feed_is_too_old),
        IN_WORLD(a_slow_watch_is_expired_and_delays_no_other),
        IN_WORLD(a_new_list_is_a_series_of_events),
        IN_WORLD(a_version_that_goes_back_ends_watches),
        IN_WORLD(a_watch_ends_at_its_timeout),
        IN_WORLD(a_client_that_disconnects_is_forgotten),
        IN_WORLD(a_compressed_list_can_be_cut_by_its_client),
        IN_WORLD(a_feed_that_prints_other_columns_is_closed),
        IN_WORLD(a_feed_without_readers_is_freed_after_a_while),
        IN_WORLD(all_feeds_together_have_a_limit),
        IN_WORLD(a_watch_of_a_client_that_has_closed_ends_at_once),
    };
    return cmocka_run_group_tests_name("api_feed", tests, NULL, NULL);
}
