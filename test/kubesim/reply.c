/*
 * reply.c - sends a reply: lets its producer add to the body while the connection has room, frames
 * it, and injects the faults of the wire at their position. A finished reply starts the next
 * request.
 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "conn.h"

enum {
    PIECE = 64 * 1024, /* bytes of the wire sent at a time */
    FLUSH = 16 * 1024, /* bytes of a list's body that are framed together */
};

static const char second[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: 27\r\n\r\n{\"kind\":\"UnsolicitedReply\"}";

static void on_pause_over(uv_timer_t *timer)
{
    struct conn *c = timer->data;
    c->reply.paused = false;
    reply_pump(c);
}

static void pause_for(struct conn *c, uint64_t ms)
{
    c->reply.paused = true;
    uv_timer_start(&c->pause, on_pause_over, ms, 0);
}

/* The position on the wire at which the fault occurs; UINT64_MAX: none. */
static uint64_t fault_position(const struct reply *r)
{
    bool on_wire =
        r->fault.kind == FAULT_CUT || r->fault.kind == FAULT_STALL ||
        ((r->fault.kind == FAULT_RESET || r->fault.kind == FAULT_HOLE) && r->fault.at == AT_BODY);
    return on_wire && r->headed ? r->head_len + r->fault.bytes : UINT64_MAX;
}

static void inject_wire_fault(struct conn *c)
{
    struct fault fault = c->reply.fault;
    c->reply.fault.kind = FAULT_NONE;
    if (fault.kind == FAULT_CUT)
        conn_end(c, END_CUT);
    else if (fault.kind == FAULT_RESET)
        conn_end(c, END_RESET);
    else if (fault.kind == FAULT_HOLE)
        conn_go_silent(c);
    else
        pause_for(c, fault.ms);
}

static void send_some(struct conn *c)
{
    struct reply *r = &c->reply;
    size_t n = r->wire.len - r->at;
    uint64_t left = fault_position(r) - r->sent;
    if (n > PIECE)
        n = PIECE;
    if (n > left)
        n = (size_t)left;
    if (r->fault.kind == FAULT_DRIP)
        n = 1;
    conn_send(c, r->wire.bytes + r->at, n);
    r->at += n;
    r->sent += n;
    if (r->at == r->wire.len) {
        buf_clear(&r->wire);
        r->at = 0;
    }
    if (r->fault.kind == FAULT_DRIP && r->fault.ms)
        pause_for(c, r->fault.ms);
    if (r->sent == fault_position(r))
        inject_wire_fault(c);
}

/* False if there is nothing to send now. */
static bool make_some(struct conn *c)
{
    struct reply *r = &c->reply;
    switch (r->producer->more(r->producer, &r->body)) {
    case MADE_SOME:
        if (r->head.stream || r->body.len >= FLUSH)
            reply_frame(c, false);
        return true;
    case MADE_ALL: reply_frame(c, true); return true;
    case MUST_WAIT: break;
    }
    reply_frame(c, false);
    return r->at < r->wire.len;
}

static void finish(struct conn *c)
{
    struct reply *r = &c->reply;
    bool unsolicited = r->fault.kind == FAULT_SECOND;
    bool last = c->request.close;
    reply_free(r);
    if (unsolicited)
        conn_send(c, second, sizeof(second) - 1);
    if (last)
        conn_end(c, END_NICE);
    else
        conn_next(c);
}

void reply_pump(struct conn *c)
{
    struct reply *r = &c->reply;
    while (r->open && !r->paused && conn_has_room(c)) {
        if (r->fault.kind == FAULT_DRIP && c->in_flight > 0)
            return; /* one byte per write */
        if (r->at < r->wire.len)
            send_some(c);
        else if (r->complete)
            finish(c);
        else if (!make_some(c))
            return;
    }
}

static void begin(struct conn *c, const struct head *head)
{
    struct reply *r = &c->reply;
    struct fault fault = r->fault;
    reply_free(r);
    r->fault = fault; /* set by the router */
    r->head = *head;
    r->open = true;
    if (!r->head.type)
        r->head.type = "application/json";
    if (fault.kind == FAULT_TYPE)
        r->head.type = r->fault.text;
    if (fault.kind == FAULT_WARNING)
        r->head.warning = r->fault.text;
    r->head.retry_date = fault.date;
}

void reply_stream(struct conn *c, const struct head *head, struct producer *producer)
{
    begin(c, head);
    c->reply.producer = producer;
    conn_wake(c);
}

static enum progress produce_nothing(struct producer *p, struct buf *body)
{
    (void)p;
    (void)body;
    return MADE_ALL;
}

static void producer_free(struct producer *p)
{
    free(p);
}

void reply_whole(struct conn *c, const struct head *head, struct buf *body)
{
    struct producer *p = NEW(struct producer);
    *p = (struct producer){produce_nothing, producer_free};
    begin(c, head);
    c->reply.body = *body;
    *body = (struct buf){0}; /* now owned by the reply */
    c->reply.producer = p;
    conn_wake(c);
}

void reply_status(struct conn *c, const struct status *status)
{
    struct head head = {.code = status->code, .retry_after = status->retry_after};
    struct buf body = {0};
    head.early = status->code == 401;
    head.nosniff = status->code == 403;
    status_put(&body, status);
    buf_putc(&body, '\n');
    reply_whole(c, &head, &body);
}

void reply_free(struct reply *r)
{
    if (r->producer)
        r->producer->free(r->producer);
    if (r->z_open)
        deflateEnd(&r->z);
    buf_free(&r->body);
    buf_free(&r->wire);
    *r = (struct reply){0};
}
