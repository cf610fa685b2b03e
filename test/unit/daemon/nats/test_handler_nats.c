/*
 * test_handler_nats.c - a sink in virtual time: connecting, waiting, the flight, and what ends a connection. Everything else is in
 * test/daemon/test_sink_nats.py.
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
#include "daemon/nats/nats_link.h"
#include "webhook_world.h"

#define INFO   "INFO {\"headers\":true,\"max_payload\":1048576}\r\n"
#define STREAM "{\"config\":{\"name\":\"S\",\"allow_direct\":true}}"

static char nats_url[] = "nats://127.0.0.1", stream[] = "S",
            subject[] = "k8s.{cluster}.{resource}.{namespace}.{name}";

static int set_up(void **state)
{
    struct webhook_world *t;
    webhook_world_set_up(state);
    t = *state;
    t->conf.nats = (struct conf_nats){.url = nats_url, .stream = stream, .subject = subject};
    t->settings.kind = &handler_nats;
    t->settings.concurrency = handler_nats.runs;
    t->settings.timeout_ms = 2000;
    t->settings.batch_max = 1;
    return 0;
}

/* What was written since the last call; the caller frees it. */
static char *written(struct webhook_world *t)
{
    return webhook_world_request(t);
}

static void assert_written(struct webhook_world *t, const char *part)
{
    char *text = written(t);
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
    free(text);
}

static void sends(struct webhook_world *t, const char *text)
{
    pipe_sends(t->pipes.last, text);
    sim_run(&t->journal->sim);
}

/* The server replies to the last request of @text. */
static void reply_to(struct webhook_world *t, const char *text, const char *payload)
{
    const char *at = NULL, *next = text;
    char inbox[128], *message;
    while ((next = strstr(next, " _INBOX.")))
        at = ++next;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "%127[^ \r]", inbox), 1);
    message = xasprintf("MSG %s 1 %zu\r\n%s\r\n", inbox, strlen(payload), payload);
    sends(t, message);
    free(message);
}

static void reply(struct webhook_world *t, const char *payload)
{
    char *text = written(t);
    reply_to(t, text, payload);
    free(text);
}

/* Until the stream can be used. */
static void connect_sink(struct webhook_world *t)
{
    sends(t, INFO);
    assert_written(t, "\r\nPING\r\n");
    sends(t, "PONG\r\n");
    reply(t, STREAM);
}

static size_t publications(struct webhook_world *t)
{
    char *text = written(t);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "HPUB ")); at++)
        n++;
    free(text);
    return n;
}

static void connects_and_publishes(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    assert_string_equal(t->pipes.last->host, "127.0.0.1");
    assert_int_equal(t->pipes.last->port, 4222);
    webhook_world_change(t, "web");
    assert_int_equal(t->pipes.last->written.len, 0); /* the server speaks first */
    assert_string_equal(webhook_world_status(t).reason, "not connected yet");
    sends(t, INFO);
    assert_written(t, "CONNECT {\"verbose\":false");
    sends(t, "PONG\r\n");
    assert_int_equal(publications(t), 0);
    webhook_world_apply(t, 0);
}

static void checks_the_stream_before_it_publishes(void **state)
{
    struct webhook_world *t = *state;
    char *text;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    connect_sink(t);
    assert_null(webhook_world_status(t).reason);
    text = written(t);
    assert_non_null(strstr(text, "HPUB k8s."));
    assert_non_null(strstr(text, "Nats-Expected-Last-Subject-Sequence: 0\r\n"));
    reply_to(t, text, "{\"stream\":\"S\",\"seq\":1}");
    free(text);
    assert_int_equal(webhook_world_status(t).length, 0);
    webhook_world_apply(t, 0);
}

static void the_flight_grows_while_messages_are_stored(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof(name), "web-%d", i);
        webhook_world_change(t, name);
    }
    connect_sink(t);
    assert_int_equal(webhook_world_status(t).running, 1);
    reply(t, "{\"stream\":\"S\",\"seq\":1}");
    assert_int_equal(webhook_world_status(t).running, 2);
    reply(t, "{\"stream\":\"S\",\"seq\":2}");
    assert_int_equal(webhook_world_status(t).running, 4);
    assert_int_equal(webhook_world_status(t).length, 6);
    webhook_world_apply(t, 0);
    sim_advance(&t->journal->sim, t->settings.timeout_ms);
}

/* The subject of the refused message ends with that of another one. */
static void a_refused_message_is_found_by_its_whole_subject(void **state)
{
    struct webhook_world *t = *state;
    char by_name[] = "{name}.{cluster}.{resource}.{namespace}", refused[128], *text, *second,
         *error;
    t->conf.nats.subject = by_name;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "first");
    webhook_world_change(t, "web");
    webhook_world_change(t, "my-web");
    connect_sink(t);
    reply(t, "{\"stream\":\"S\",\"seq\":1}");
    text = written(t);
    second = strstr(text, "HPUB my-web.");
    assert_non_null(second);
    assert_int_equal(sscanf(second, "HPUB %127s", refused), 1);
    error = xasprintf("-ERR 'Permissions Violation for Publish to \"%s\"'\r\n", refused);
    sends(t, error);
    free(error);
    assert_int_equal(webhook_world_status(t).running, 1);
    *second = '\0';
    reply_to(t, text, "{\"stream\":\"S\",\"seq\":2}"); /* web */
    free(text);
    assert_int_equal(webhook_world_status(t).length, 1);
    webhook_world_apply(t, 0);
    sim_advance(&t->journal->sim, t->settings.timeout_ms);
}

static void a_full_stream_is_tried_again_with_growing_delays(void **state)
{
    static const char full[] =
        "{\"error\":{\"err_code\":10077,\"description\":\"maximum bytes exceeded\"}}";
    struct webhook_world *t = *state;
    uint64_t delay = NATS_DELAY_MIN_MS;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    webhook_world_change(t, "db");
    connect_sink(t);
    for (int i = 0; i < 5; i++) { /* before the first PING */
        reply(t, full);
        assert_string_equal(webhook_world_status(t).state, "failing");
        assert_non_null(strstr(webhook_world_status(t).reason, "maximum bytes exceeded"));
        sim_advance(&t->journal->sim, delay - 1);
        assert_int_equal(t->pipes.last->written.len, 0);
        sim_advance(&t->journal->sim, 1);
        reply(t, STREAM);
        assert_int_equal(webhook_world_status(t).running, 1);
        delay *= 2;
    }
    reply(t, "{\"stream\":\"S\",\"seq\":1}");
    reply(t, "{\"stream\":\"S\",\"seq\":2}");
    assert_int_equal(webhook_world_status(t).length, 0);
    assert_int_equal(webhook_world_status(t).parked, 0);
    assert_int_equal(t->pipes.n_dialled, 1);
    webhook_world_apply(t, 0);
}

static void no_answer_in_each_phase_is_noticed(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    sim_advance(&t->journal->sim, NATS_OPEN_MS); /* no INFO */
    assert_non_null(strstr(webhook_world_status(t).reason, "not connected within 10.0 s"));
    sim_advance(&t->journal->sim, NATS_DELAY_MIN_MS);
    sends(t, INFO);
    sim_advance(&t->journal->sim, NATS_OPEN_MS); /* no PONG */
    assert_non_null(strstr(webhook_world_status(t).reason, "not connected within 10.0 s"));
    sim_advance(&t->journal->sim, 2 * NATS_DELAY_MIN_MS);
    sends(t, INFO);
    sends(t, "PONG\r\n");
    publications(t);
    sim_advance(&t->journal->sim, NATS_CHECK_MS); /* no description: publishing shows */
    assert_int_equal(publications(t), 1);
    sim_advance(&t->journal->sim, t->settings.timeout_ms);
    assert_non_null(strstr(webhook_world_status(t).reason, "no answer within 2.0 s"));
    assert_int_equal(webhook_world_status(t).running, 0);
    assert_int_equal(webhook_world_status(t).length, 1);
    webhook_world_apply(t, 0);
}

static void a_connection_that_is_dead_is_replaced(void **state)
{
    struct webhook_world *t = *state;
    webhook_world_apply(t, 1);
    connect_sink(t);
    sends(t, "PING\r\n");
    assert_written(t, "PONG\r\n");
    sim_advance(&t->journal->sim, NATS_PING_MS);
    assert_written(t, "PING\r\n");
    sends(t, "PONG\r\n");
    sim_advance(&t->journal->sim, NATS_PING_MS);
    assert_written(t, "PING\r\n");
    sim_advance(&t->journal->sim, NATS_PING_MS - 1);
    assert_int_equal(t->pipes.n_dialled, 1);
    sim_advance(&t->journal->sim, 1 + NATS_DELAY_MIN_MS);
    assert_int_equal(t->pipes.n_dialled, 2);
    assert_non_null(strstr(webhook_world_status(t).reason, "no answer to PING within 20 s"));
    webhook_world_apply(t, 0);
}

static void a_late_acknowledgement_is_ignored(void **state)
{
    struct webhook_world *t = *state;
    char *late;
    webhook_world_apply(t, 1);
    webhook_world_change(t, "web");
    connect_sink(t);
    late = written(t);
    sim_advance(&t->journal->sim, t->settings.timeout_ms + NATS_DELAY_MIN_MS);
    reply(t, STREAM);
    reply_to(t, late, "{\"stream\":\"S\",\"seq\":1}");
    assert_int_equal(webhook_world_status(t).length, 1);
    reply(t, "{\"error\":{\"err_code\":10071,\"description\":\"wrong last sequence: 1\"}}");
    assert_written(t, "PUB $JS.API.DIRECT.GET.S.k8s.");
    free(late);
    webhook_world_apply(t, 0);
    sim_advance(&t->journal->sim, t->settings.timeout_ms);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, webhook_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(connects_and_publishes),
        IN_WORLD(checks_the_stream_before_it_publishes),
        IN_WORLD(the_flight_grows_while_messages_are_stored),
        IN_WORLD(a_refused_message_is_found_by_its_whole_subject),
        IN_WORLD(a_full_stream_is_tried_again_with_growing_delays),
        IN_WORLD(no_answer_in_each_phase_is_noticed),
        IN_WORLD(a_connection_that_is_dead_is_replaced),
        IN_WORLD(a_late_acknowledgement_is_ignored),
    };
    return cmocka_run_group_tests_name("handler_nats", tests, NULL, NULL);
}
