/*
 * test_api_gzip.c - compressed responses give the same events as plain ones, for all splits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "gzip.h"
#include "source_world.h"

#define GZIP_HEAD                                           \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
    "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"

static void send_bytes(struct pipe *pipe, const struct buf *bytes)
{
    char *size = xasprintf("%zx\r\n", bytes->len);
    pipe_sends(pipe, size);
    pipe_send(pipe, bytes->bytes, bytes->len);
    pipe_sends(pipe, "\r\n");
    free(size);
}

/* One member in one chunk, as servers do it. */
static void send_member(struct pipe *pipe, const char *text)
{
    struct buf member = {0};
    gzip_member(&member, str_of(text));
    send_bytes(pipe, &member);
    buf_free(&member);
}

static bool requests_gzip(struct source_world *w, enum source_want want)
{
    struct pipe *pipe;
    bool asks;
    source_world_open_version(w, want, "7");
    sim_run(&w->sim);
    pipe = w->pipes.last;
    buf_putc(&pipe->written, '\0');
    asks = strstr(pipe->written.bytes, "\r\nAccept-Encoding: gzip\r\n");
    assert_true(asks || !strstr(pipe->written.bytes, "Encoding"));
    source_cancel(w->source);
    return asks;
}

static void requests_gzip_for_lists_but_not_for_watches(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    assert_true(requests_gzip(&w, SOURCE_LIST));
    assert_true(requests_gzip(&w, SOURCE_WATCH_LIST));
    assert_false(requests_gzip(&w, SOURCE_WATCH));
    w.server.no_compression = true;
    assert_false(requests_gzip(&w, SOURCE_LIST));
    assert_false(requests_gzip(&w, SOURCE_WATCH_LIST));
    source_world_done(&w);
}

/* Flushed data is delivered before later members arrive. */
static void delivers_a_compressed_watch_list_as_it_arrives(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, GZIP_HEAD);
    send_member(pipe, POD("a", "1") POD("b", "2"));
    sim_run(&w.sim);
    source_world_expect(&w, "open\nADDED a 1\nADDED b 2\n");
    send_member(pipe, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\",");
    sim_run(&w.sim);
    source_world_expect(&w, "");
    send_member(pipe, "\"resourceVersion\":\"3\"}}}\n");
    send_member(pipe, POD("d", "4"));
    pipe_sends(pipe, WATCH_LAST);
    sim_run(&w.sim);
    source_world_expect(&w, "ADDED c 3\nADDED d 4\nINF_EEOF: " WATCH_END);
    source_world_done(&w);
}

enum {
    MANY = 2000
};

/* Much more than a slice, decompressed from a few KB that arrive at once. */
static void send_many(struct pipe *pipe)
{
    struct buf text = {0}, member = {0};
    for (int i = 0; i < MANY; i++)
        buf_printf(&text,
                   "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p%d\","
                   "\"resourceVersion\":\"%d\",\"annotations\":{\"x\":\"%0200d\"}}}}\n",
                   i, i + 1, 0);
    gzip_member(&member, (struct str){text.bytes, text.len});
    pipe_sends(pipe, GZIP_HEAD);
    send_bytes(pipe, &member);
    pipe_sends(pipe, WATCH_LAST);
    buf_free(&text);
    buf_free(&member);
}

static void many_events(struct source_world *w)
{
    struct buf all = {0};
    buf_puts(&all, "open\n");
    for (int i = 0; i < MANY; i++)
        buf_printf(&all, "ADDED p%d %d\n", i, i + 1);
    buf_printf(&all, "INF_EEOF: %s%c", WATCH_END, '\0');
    source_world_expect(w, all.bytes);
    buf_free(&all);
}

static void each_tick_stays_within_its_budget(void **state)
{
    (void)state;
    for (unsigned budget = 1; budget < 400; budget = budget * 3) {
        struct source_world w;
        source_world_init(&w, "pods", NULL);
        w.sim.budget = budget;
        send_many(source_world_connect(&w));
        for (int i = 0; i < 5; i++) {
            size_t before = w.events.len;
            sim_tick(&w.sim);
            assert_true(w.events.len - before <= (budget + 2) * strlen("ADDED p1999 2000\n"));
        }
        sim_run(&w.sim);
        many_events(&w);
        source_world_done(&w);
    }
}

static void hold(struct source_world *w)
{
    source_pause(w->source);
}

/* Paused in the middle of a slice, when the socket has no more data. */
static void decompressed_data_waits_while_paused(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    w.when = WORLD_IN_EVENT;
    w.act = hold;
    send_many(source_world_connect(&w));
    sim_run(&w.sim);
    assert_int_equal(w.events.len, strlen("open\nADDED p0 1\n"));
    sim_advance(&w.sim, 60 * 1000);
    assert_int_equal(w.events.len, strlen("open\nADDED p0 1\n"));
    w.when = WORLD_IN_EVENT;
    source_resume(w.source);
    sim_run(&w.sim);
    assert_int_equal(w.events.len, strlen("open\nADDED p0 1\nADDED p1 2\n"));
    source_resume(w.source);
    sim_run(&w.sim);
    many_events(&w);
    source_world_done(&w);
}

static void give_up(struct source_world *w)
{
    source_cancel(w->source);
}

static void delivers_nothing_after_a_cancel_inside_a_slice(void **state)
{
    struct source_world w;
    (void)state;
    source_world_init(&w, "pods", NULL);
    w.when = WORLD_IN_EVENT;
    w.act = give_up;
    send_many(source_world_connect(&w));
    sim_run(&w.sim);
    source_world_expect(&w, "open\nADDED p0 1\n");
    assert_true(pipe_closed(w.pipes.last));
    source_world_done(&w);
}

static void incomplete_or_invalid_gzip_is_an_error(void **state)
{
    static const struct {
        size_t cut;         /* bytes omitted at the end of the member */
        const char *behind; /* bytes after it */
        const char *events;
    } cases[] = {
        {0, "", "INF_EEOF: " WATCH_END},
        {1, "", "INF_ECUT: kube.test:6443: gzip: the body ended in the middle of a member\n"},
        {0, "{}", "INF_EPROTO: kube.test:6443: gzip: other data after the last member\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct source_world w;
        struct pipe *pipe;
        struct buf member = {0};
        source_world_init(&w, "pods", NULL);
        pipe = source_world_connect(&w);
        gzip_member(&member, STR(POD("a", "1")));
        member.len -= cases[i].cut;
        buf_puts(&member, cases[i].behind);
        pipe_sends(pipe, GZIP_HEAD);
        send_bytes(pipe, &member);
        pipe_sends(pipe, WATCH_LAST);
        sim_run(&w.sim);
        buf_putc(&w.events, '\0');
        assert_true(strncmp(w.events.bytes, "open\nADDED a 1\n", 15) == 0);
        assert_string_equal(w.events.bytes + 15, cases[i].events);
        buf_free(&member);
        source_world_done(&w);
    }
}

static void reads_the_reason_of_a_refusal_in_gzip(void **state)
{
    struct source_world w;
    struct pipe *pipe;
    (void)state;
    source_world_init(&w, "pods", NULL);
    pipe = source_world_connect(&w);
    pipe_sends(pipe, "HTTP/1.1 403 No\r\nContent-Encoding: gzip\r\nTransfer-Encoding: "
                     "chunked\r\n\r\n");
    send_member(pipe, "{\"kind\":\"Status\",\"message\":\"not you\",\"code\":403}");
    pipe_sends(pipe, WATCH_LAST);
    sim_run(&w.sim);
    source_world_expect(
        &w, "INF_EFORBIDDEN: kube.test:6443: server error: not you (403); this requires the verbs "
            "list and watch on pods in all namespaces\n");
    source_world_done(&w);
}

static void refuses_other_encodings_by_name(void **state)
{
    static const struct {
        const char *status, *encoding, *events;
    } cases[] = {
        {"200 OK", "identity", "open\nADDED a 1\nINF_EEOF: " WATCH_END},
        {"200 OK", "br",
         "INF_EPROTO: kube.test:6443: sent content encoding 'br', which was not requested\n"},
        {"200 OK", "gzip, gzip",
         "INF_EPROTO: kube.test:6443: sent content encoding 'gzip, gzip', which was not "
         "requested\n"},
        {"503 No", "br", "INF_ESERVER: kube.test:6443: the server returned HTTP 503\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct source_world w;
        struct pipe *pipe;
        char *head = xasprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                               "Content-Encoding: %s\r\nTransfer-Encoding: chunked\r\n\r\n",
                               cases[i].status, cases[i].encoding);
        source_world_init(&w, "pods", NULL);
        pipe = source_world_connect(&w);
        pipe_sends(pipe, head);
        send_chunk(pipe, POD("a", "1"));
        pipe_sends(pipe, WATCH_LAST);
        sim_run(&w.sim);
        source_world_expect(&w, cases[i].events);
        source_world_done(&w);
        free(head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_gzip_for_lists_but_not_for_watches),
        cmocka_unit_test(delivers_a_compressed_watch_list_as_it_arrives),
        cmocka_unit_test(each_tick_stays_within_its_budget),
        cmocka_unit_test(decompressed_data_waits_while_paused),
        cmocka_unit_test(delivers_nothing_after_a_cancel_inside_a_slice),
        cmocka_unit_test(incomplete_or_invalid_gzip_is_an_error),
        cmocka_unit_test(reads_the_reason_of_a_refusal_in_gzip),
        cmocka_unit_test(refuses_other_encodings_by_name),
    };
    return cmocka_run_group_tests_name("api_gzip", tests, NULL, NULL);
}
