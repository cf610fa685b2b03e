/*
 * call_recorder.h - sends one request through a pool of connections (wire/http/http_pool.h) and records
 * the response.
 *
 *     call_recorder_request(&c, pool, &GET_PODS);
 *     sim_run(&sim);
 *     call_recorder_expect(&c, "200;hello;end");
 */
#ifndef TEST_CALL_RECORDER_H
#define TEST_CALL_RECORDER_H

#include "base/buf.h"
#include "wire/http/http_pool.h"

struct call_recorder {
    struct http_user user;
    struct http_call *call;
    struct buf events; /* "200;hello;end"; after a failure its text in place of "end" */
};

/* Sends @request, and checks that no callback is made before it returns. */
void call_recorder_request(struct call_recorder *c, struct http_pool *pool,
                           const struct http_request *request);

/* Closes the call, also before its end. */
void call_recorder_close(struct call_recorder *c);

/* Checks that exactly these events were recorded, and closes the call. */
void call_recorder_expect(struct call_recorder *c, const char *text);

#endif
