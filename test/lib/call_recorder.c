#include "call_recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

static void on_head(struct http_user *user, const struct http_head *head)
{
    buf_printf(&container_of(user, struct call_recorder, user)->events, "%d;", head->status);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    buf_put(&container_of(user, struct call_recorder, user)->events, bytes, len);
    return len;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct call_recorder *c = container_of(user, struct call_recorder, user);
    buf_printf(&c->events, ";%s", why ? why->text : "end");
}

static const struct http_user_ops call_recorder_ops = {on_head, on_body, on_end};

void call_recorder_request(struct call_recorder *c, struct http_pool *pool,
                           const struct http_request *request)
{
    *c = (struct call_recorder){.user = {&call_recorder_ops}};
    c->call = http_pool_request(pool, request, &c->user);
    assert_int_equal(c->events.len, 0);
}

void call_recorder_close(struct call_recorder *c)
{
    http_call_close(c->call);
    buf_free(&c->events);
}

void call_recorder_expect(struct call_recorder *c, const char *text)
{
    buf_putc(&c->events, '\0');
    assert_string_equal(c->events.bytes, text);
    call_recorder_close(c);
}
