/*
 * test_document.c - one document, requested or posted, from a simulated server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "kube/discovery/document.h"
#include "pipe_stream.h"
#include "sim.h"
#include "wire/http/http_pool.h"

struct world {
    struct document document;
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
    struct api_server server;
    struct buf events;
    unsigned progress;
    const char *next; /* requested in the callback; NULL: none */
};

static void on_end(struct document *document, const char *text, const struct inf_error *why)
{
    struct world *w = container_of(document, struct world, document);
    const char *next = w->next;
    buf_printf(&w->events, "%s", text ? text : why->text);
    w->next = NULL;
    if (next)
        document_start(&w->document, &w->server, next, NULL);
}

static void on_progress(struct document *document)
{
    container_of(document, struct world, document)->progress++;
}

static struct pipe *start(struct world *w, const char *path, const char *body)
{
    *w = (struct world){.document = {.on_end = on_end, .on_progress = on_progress}};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    w->pool = http_pool_new(&w->sim.clock, &w->pipes.dialer, "k", 6443, NULL);
    w->server = (struct api_server){.clock = &w->sim.clock,
                                    .pool = w->pool,
                                    .host_header = "k:6443",
                                    .path_prefix = "/p",
                                    .user_agent = "test",
                                    .no_compression = true};
    document_start(&w->document, &w->server, path, body);
    sim_run(&w->sim);
    return w->pipes.last;
}

static void done(struct world *w)
{
    document_stop(&w->document);
    document_stop(&w->document);
    http_pool_free(w->pool);
    sim_run(&w->sim);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    buf_free(&w->events);
}

static void events(struct world *w, const char *expected)
{
    buf_putc(&w->events, '\0');
    assert_string_equal(w->events.bytes, expected);
    buf_clear(&w->events);
}

#define ANSWER(status, length) \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nContent-Length: " length "\r\n\r\n"

static void requests_a_document(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/version", NULL);
    (void)state;
    buf_putc(&pipe->written, '\0');
    assert_string_equal(pipe->written.bytes,
                        "GET /p/version HTTP/1.1\r\nHost: k:6443\r\nAccept: application/json\r\n"
                        "User-Agent: test\r\n\r\n");
    pipe_sends(pipe, ANSWER("200 OK", "8") "{\"a\":");
    sim_run(&w.sim);
    assert_int_not_equal(w.progress, 0);
    pipe_sends(pipe, "1}\n");
    sim_run(&w.sim);
    events(&w, "{\"a\":1}");
    done(&w);
}

static void posts_a_document(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/apis/x", "{\"b\":2}");
    (void)state;
    buf_putc(&pipe->written, '\0');
    assert_string_equal(pipe->written.bytes,
                        "POST /p/apis/x HTTP/1.1\r\nHost: k:6443\r\nAccept: application/json\r\n"
                        "User-Agent: test\r\nContent-Type: application/json\r\n"
                        "Content-Length: 7\r\n\r\n{\"b\":2}");
    pipe_sends(pipe, ANSWER("201 Created", "2") "{}");
    sim_run(&w.sim);
    events(&w, "{}");
    done(&w);
}

static void reports_a_response_that_is_not_a_document(void **state)
{
    static const char *const rows[][2] = {
        {ANSWER("200 OK", "0"), "the server sent an empty response"},
        {ANSWER("404 Not Found", "2") "no", "k:6443: the server returned HTTP 404: no"},
        {ANSWER("200 OK", "5") "{\"a\":", "k:6443: the document ended in the middle"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        struct pipe *pipe = start(&w, "/version", NULL);
        pipe_sends(pipe, rows[i][0]);
        sim_run(&w.sim);
        events(&w, rows[i][1]);
        done(&w);
    }
}

static void a_document_request_times_out(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/version", NULL);
    (void)state;
    pipe_sends(pipe, ANSWER("200 OK", "7") "{\"a\":");
    sim_advance(&w.sim, DOCUMENT_TIMEOUT_MS - 1000);
    events(&w, "");
    sim_advance(&w.sim, 1000);
    events(&w, "no complete response within 60 s");
    done(&w);
}

static void another_document_can_be_requested_in_on_end(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/version", NULL);
    (void)state;
    w.next = "/apis";
    pipe_sends(pipe, ANSWER("200 OK", "2") "{}");
    sim_run(&w.sim);
    pipe_sends(pipe, ANSWER("200 OK", "7") "{\"a\":1}");
    sim_run(&w.sim);
    events(&w, "{}{\"a\":1}");
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_a_document),
        cmocka_unit_test(posts_a_document),
        cmocka_unit_test(reports_a_response_that_is_not_a_document),
        cmocka_unit_test(a_document_request_times_out),
        cmocka_unit_test(another_document_can_be_requested_in_on_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
