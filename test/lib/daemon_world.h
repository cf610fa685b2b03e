/*
 * daemon_world.h - a daemon whose loop is not run: it applies conf files and opens their watches. No
 * server listens at the addresses of its clusters.
 *
 *     world_apply(w, "watches: [{resource: pods}]\n")    0, or an error in w->err
 *
 * Each conf of a test gets two clusters, a and b, from files a.kubeconfig and b.kubeconfig, unless it
 * names its own.
 */
#ifndef TEST_DAEMON_WORLD_H
#define TEST_DAEMON_WORLD_H

#include "daemon/daemon.h"
#include "daemon/watch/watcher.h"
#include "folder.h"

struct daemon_world {
    struct daemon d;
    struct folder folder;
    struct inf_error err; /* of the last conf */
    struct buf what;      /* its summary of the changes */
    struct buf said;      /* the journal's log */
    bool closed;
};

/* For cmocka. */
int daemon_world_setup(void **state);
int daemon_world_teardown(void **state);

/* Writes a kubeconfig for that port, called "<name>.kubeconfig". */
void world_put_cluster(struct daemon_world *w, const char *name, int port);

/* A valid conf of @text and the two clusters. The caller frees it. */
struct conf world_conf(struct daemon_world *w, const char *text);

int world_apply(struct daemon_world *w, const char *text);

/* The same; fails the test unless it succeeds with this summary. */
void world_apply_expect(struct daemon_world *w, const char *text, const char *what);

/* By name, NULL if there is none. */
struct watcher *world_watcher(struct daemon_world *w, const char *name);

#endif
