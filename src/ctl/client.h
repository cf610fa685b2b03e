/*
 * client.h - requests to informerd over its Unix socket, one at a time, blocking.
 *
 *     client_open(NULL, &client, &err)                      the default socket
 *     client_get(client, "/informerd/v1/status", NULL, &reply, &err)
 *     client_follow(client, target, accept, &follower, &err)     a response without end, line by line
 *
 * A command makes a few requests and exits: it needs no loop. A response that does not continue within
 * CLIENT_SILENCE_S is an error, except one that is followed.
 */
#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/buf.h"
#include "base/str.h"

enum {
    CLIENT_BODY_MAX = 1024 * 1024 * 1024, /* LIMIT: bytes of a response that is not followed */
    CLIENT_SILENCE_S = 30,
    CLIENT_LINE_MAX = 64 * 1024 * 1024, /* LIMIT: bytes of a line of one that is */
};

struct client;

struct client_reply {
    int status;
    struct buf body; /* NUL-terminated, not counted; the caller frees it */
};

/* Receives the lines of a response. */
struct client_follower {
    /* A line without its newline. Returns false to stop. */
    bool (*on_line)(struct client_follower *follower, struct str line);
};

/* Connects to @path; NULL: $INFORMERD_SOCKET, $RUNTIME_DIRECTORY/informerd.sock or
 * /run/informerd/informerd.sock. Fails with INF_ENET or INF_EFORBIDDEN. */
int client_open(const char *path, struct client **ret, struct inf_error *err);
void client_close(struct client *client); /* NULL is allowed */

/* Requests @target; @accept NULL: any form. Returns 0 also for an error status; or INF_ENET, INF_EPROTO
 * or INF_ETOOBIG. Prints Warning headers to stderr, as kubectl does. */
int client_get(struct client *client, const char *target, const char *accept,
               struct client_reply *ret, struct inf_error *err);

/* Requests @target and passes on the lines of the response until it ends or the follower stops. An
 * error status is returned as INF_ESERVER with the message of the response. */
int client_follow(struct client *client, const char *target, const char *accept,
                  struct client_follower *follower, struct inf_error *err);

/*
 * The same for callers that poll: client_send() sends a request. Whenever client_fd() is readable,
 * client_read() adds what has arrived to @reply, which is zeroed before the first call, and waits for
 * nothing. Returns 0 if the response is complete, CLIENT_MORE if not, or an error. The caller may consume
 * the body of an endless response.
 */
enum {
    CLIENT_MORE = 1,
};
int client_send(struct client *client, const char *target, const char *accept,
                struct inf_error *err);
int client_fd(const struct client *client);
int client_read(struct client *client, struct client_reply *reply, struct inf_error *err);

/* Appends @text escaped for a path segment or a value in a query. */
void client_put_escaped(struct buf *out, const char *text);

#endif
