/*
 * webhook_world.h - a handler of the kind webhook in virtual time: a journal, and a server that the test
 * plays.
 *
 *     webhook_world_apply(t, 1);
 *     webhook_world_change(t, "web");
 *     ... webhook_world_request(t) ...             what was sent
 *     webhook_world_respond(t, WEBHOOK_OK);
 */
#ifndef TEST_WEBHOOK_WORLD_H
#define TEST_WEBHOOK_WORLD_H

#include "daemon/handler/handler_kind.h"
#include "daemon/handler/handlers.h"
#include "folder.h"
#include "journal_world.h"
#include "pipe_stream.h"

enum {
    WEBHOOK_BACKOFF_MS = 1000, /* up to four times as long */
    WEBHOOK_TIMEOUT_MS = 500,
};

struct webhook_world {
    struct journal_world *journal;
    struct pipe_dialer pipes;
    unsigned dialers, dialers_open; /* that handlers have opened; of these, not closed yet */
    struct folder folder;
    struct handlers handlers;
    struct handler_settings settings; /* of the handler "h" */
    struct conf_handler conf;
    int drained;
    int version;
};

#define WEBHOOK_OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define WEBHOOK_ERROR(status, headers) \
    "HTTP/1.1 " status " x\r\n" headers "Content-Length: 4\r\n\r\noops"

/* For cmocka. The tear-down checks that nothing is left. */
int webhook_world_set_up(void **state);
int webhook_world_tear_down(void **state);

#define IN_WEBHOOK_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, webhook_world_set_up, webhook_world_tear_down)

/* Applies the settings to @n handlers: 0 or 1. */
void webhook_world_apply(struct webhook_world *t, size_t n);

/* A change of the pod shop/@name. */
void webhook_world_change(struct webhook_world *t, const char *name);

struct handler_status webhook_world_status(struct webhook_world *t);

/* The request that was sent last; it is taken, and the caller frees it. */
char *webhook_world_request(struct webhook_world *t);

/* The server sends @wire on the last connection. */
void webhook_world_respond(struct webhook_world *t, const char *wire);

/* For handlers_drain(): counts. */
void webhook_world_drained(struct handlers *handlers);

#endif
