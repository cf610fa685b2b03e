/*
 * cluster_move.h - decides whether a cluster whose server URL changed in a reload is still the same
 * cluster.
 *
 *     the uids of kube-system at the old and the new URL
 *         are equal                       the same cluster: its watches continue at the new URL and
 *                                         report differences
 *         differ, or one is unreadable    another cluster: its watches restart, with a GAP record
 *
 * The uid is requested when the cluster is opened, because the old URL may no longer respond when
 * it changes. If it is known, the watches stay on the old server until the new one has returned its
 * uid; while the new server is unreachable the request is retried. If it is unknown,
 * cluster_move_known() returns false and there is nothing to wait for.
 */
#ifndef DAEMON_WATCH_CLUSTER_MOVE_H
#define DAEMON_WATCH_CLUSTER_MOVE_H

#include <stdbool.h>

#include "daemon/watch/cluster.h"

/* Requests the uid, retrying until the server has returned or refused it; then calls
 * @on_identified. */
void cluster_identify(struct cluster *cluster, void (*on_identified)(struct cluster *cluster));

/* Whether the uid is known, so that a move to another URL can be checked. */
bool cluster_move_known(const struct cluster *cluster);

/* Starts a move to @next, which was opened from the same conf entry and has another URL. Later,
 * @cluster either continues with the client of @next, or on_other() of @cluster is called, which
 * must call cluster_take_next(). Takes ownership of @next. */
void cluster_move(struct cluster *cluster, struct cluster *next);

/* Cancels an undecided move. Does nothing if there is none. */
void cluster_forget_next(struct cluster *cluster);

/* Completes the move to `next` and returns the previous client, which the caller closes. */
struct inf_client *cluster_take_next(struct cluster *cluster);

/* Cancels all requests and an undecided move. */
void cluster_move_close(struct cluster *cluster);

#endif
