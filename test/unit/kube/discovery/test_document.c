/*
 * test_document.c - one document, asked for or posted, over a server that the test plays.
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
#include "wire/http_pool.h"

struct world {
    struct document document;
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
    struct api_server server;
    struct buf told;
    unsigned progress;
    const char *next; /* asked for in the callback; NULL: nothing */
};

static void on_end(struct document *document, const char *text, const struct inf_error *why)
{
    struct world *w = container_of(document, struct world, document);
    const char *next = w->next;
    buf_printf(&w->told, "%s", text ? text : why->text);
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
    buf_free(&w->told);
}

static void told(struct world *w, const char *expected)
{
    buf_putc(&w->told, '\0');
    assert_string_equal(w->told.bytes, expected);
    buf_clear(&w->told);
}

#define ANSWER(status, length) \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nContent-Length: " length "\r\n\r\n"

static void it_is_asked_for(void **state)
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
    told(&w, "{\"a\":1}");
    done(&w);
}

static void it_is_posted(void **state)
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
    told(&w, "{}");
    done(&w);
}

static void what_is_none_is_told(void **state)
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
        told(&w, rows[i][1]);
        done(&w);
    }
}

static void it_has_its_time(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/version", NULL);
    (void)state;
    pipe_sends(pipe, ANSWER("200 OK", "7") "{\"a\":");
    sim_advance(&w.sim, DOCUMENT_TIMEOUT_MS - 1000);
    told(&w, "");
    sim_advance(&w.sim, 1000);
    told(&w, "no complete response within 60 s");
    done(&w);
}

static void the_next_may_be_asked_for_at_its_end(void **state)
{
    struct world w;
    struct pipe *pipe = start(&w, "/version", NULL);
    (void)state;
    w.next = "/apis";
    pipe_sends(pipe, ANSWER("200 OK", "2") "{}");
    sim_run(&w.sim);
    pipe_sends(pipe, ANSWER("200 OK", "7") "{\"a\":1}");
    sim_run(&w.sim);
    told(&w, "{}{\"a\":1}");
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_asked_for),
        cmocka_unit_test(it_is_posted),
        cmocka_unit_test(what_is_none_is_told),
        cmocka_unit_test(it_has_its_time),
        cmocka_unit_test(the_next_may_be_asked_for_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
