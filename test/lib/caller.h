/*
 * caller.h - one who asks through a pool of connections (wire/http_pool.h) and writes down what it
 * is told.
 *
 *     caller_ask(&c, pool, &ASKER_GET);
 *     sim_run(&sim);
 *     caller_told(&c, "200;hello;end");
 */
#ifndef TEST_CALLER_H
#define TEST_CALLER_H

#include "base/buf.h"
#include "wire/http_pool.h"

struct caller {
    struct http_user user;
    struct http_call *call;
    struct buf told; /* "200;hello;end", or what went wrong in place of "end" */
};

/* Asks; nothing is told before this returns. */
void caller_ask(struct caller *c, struct http_pool *pool, const struct http_request *request);

/* Gives the call up, if it is not over. */
void caller_done(struct caller *c);

/* The same, and exactly this was told. */
void caller_told(struct caller *c, const char *text);

#endif
