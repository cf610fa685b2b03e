/*
 * fuzz_http.c - a byte that selects how to cut, and a response up to the end of the connection. The
 * callbacks (heads, body, exactly one end) do not depend on the cuts.
 */
#include "base/base.h"
#include "base/buf.h"
#include "fuzz.h"
#include "pipe_stream.h"
#include "wire/http/http_conn.h"

struct client {
    struct http_user user;
    struct buf output;
    bool over;
};

static struct client *client_of(struct http_user *user)
{
    struct client *a = container_of(user, struct client, user);
    MUST(!a->over);
    return a;
}

static void on_head(struct http_user *user, const struct http_head *head)
{
    struct client *a = client_of(user);
    buf_printf(&a->output, "%d\n", head->status);
    for (size_t i = 0; i < head->n_headers; i++)
        buf_printf(&a->output, "%s: %s\n", head->headers[i].name, head->headers[i].value);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    buf_put(&client_of(user)->output, bytes, len);
    return len;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct client *a = client_of(user);
    buf_puts(&a->output, why ? "\nfailed" : "\nend");
    a->over = true;
}

static const struct http_user_ops ops = {on_head, on_body, on_end};

static void request_and_parse(struct str answer, size_t cut, struct buf *ret_events)
{
    struct client client = {.user = {&ops}};
    struct pipe_dialer pipes;
    struct http_conn *conn;
    struct sim sim;
    sim_init(&sim);
    pipe_dialer_init(&pipes, &sim);
    pipes.cut = cut;
    conn =
        http_conn_open(&sim.clock, &pipes.dialer, "h", 1, &(struct http_limits){.head_max = 2000});
    http_conn_request(conn, &(struct http_request){.method = "GET", .target = "/", .host = "h"},
                      &client.user, NULL);
    sim_run(&sim);
    pipe_send(pipes.last, answer.at, answer.len);
    pipe_end(pipes.last, INF_EEOF, "FIN");
    sim_run(&sim);
    MUST(client.over); /* the connection has ended, so the response has too */
    http_conn_close(conn);
    sim_done(&sim);
    pipe_dialer_done(&pipes);
    *ret_events = client.output;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str answer = {(const char *)bytes + 1, len - 1};
    struct buf whole, cut;
    if (len < 2)
        return 0;
    request_and_parse(answer, 0, &whole);
    request_and_parse(answer, bytes[0] % 32 + 1, &cut);
    MUST(whole.len == cut.len);
    MUST(memcmp(whole.bytes, cut.bytes, cut.len) == 0);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
