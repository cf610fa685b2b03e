/*
 * cluster_move.h - a cluster whose server URL is another one after a reload: is it still the same cluster?
 *
 *     the uid of kube-system at the old URL  =  that at the new one     the same: its watches go on there, and report differences
 *                                           !=, or one is not readable  another: its watches begin again, and say so
 *
 * The uid is requested when the cluster is begun, because an old URL may not answer any more when it changes. If it is known,
 * the watches stay where they are until the new server has answered; that it can't be reached yet is waited out. If it isn't
 * known, cluster_move_known() is false, and there is nothing to wait for.
 */
#ifndef DAEMON_WATCH_CLUSTER_MOVE_H
#define DAEMON_WATCH_CLUSTER_MOVE_H

#include <stdbool.h>

#include "daemon/watch/cluster.h"

/* Requests the uid, and goes on doing so until there is an answer; then calls @on_identified, which may be NULL. */
void cluster_identify(struct cluster *cluster, void (*on_identified)(struct cluster *cluster));

/* Whether a move to another URL can be judged. */
bool cluster_move_known(const struct cluster *cluster);

/* @next was read from the same conf entry and has another URL: becomes it, now or later, or calls on_other of @cluster, which
 * has to take it over with cluster_take_next(). Takes @next over. */
void cluster_move(struct cluster *cluster, struct cluster *next);

/* Gives up a move that is not decided. Harmless if there is none. */
void cluster_forget_next(struct cluster *cluster);

/* Becomes what it was to move to, and returns the client of before, which the caller closes. */
struct inf_client *cluster_take_next(struct cluster *cluster);

/* Stops what is under way. */
void cluster_move_close(struct cluster *cluster);

#endif
