#include "caller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

static void on_head(struct http_user *user, const struct http_head *head)
{
    buf_printf(&container_of(user, struct caller, user)->told, "%d;", head->status);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    buf_put(&container_of(user, struct caller, user)->told, bytes, len);
    return len;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct caller *c = container_of(user, struct caller, user);
    buf_printf(&c->told, ";%s", why ? why->text : "end");
}

static const struct http_user_ops caller_ops = {on_head, on_body, on_end};

void caller_ask(struct caller *c, struct http_pool *pool, const struct http_request *request)
{
    *c = (struct caller){.user = {&caller_ops}};
    c->call = http_pool_request(pool, request, &c->user);
    assert_int_equal(c->told.len, 0);
}

void caller_done(struct caller *c)
{
    http_call_close(c->call);
    buf_free(&c->told);
}

void caller_told(struct caller *c, const char *text)
{
    buf_putc(&c->told, '\0');
    assert_string_equal(c->told.bytes, text);
    caller_done(c);
}
