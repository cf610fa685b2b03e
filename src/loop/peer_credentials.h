/*
 * peer_credentials.h - the other end of a socket: of a Unix socket the user and the groups of the process.
 *
 * They are those of the process that connected, at the time of its connect(2), and come from the
 * kernel: the peer can't choose them.
 */
#ifndef LOOP_PEER_CREDENTIALS_H
#define LOOP_PEER_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    PEER_GROUPS_MAX = 1024,    /* LIMIT: supplementary groups; with more, none of them counts */
    PEER_OVERFLOW_UID = 65534, /* stands for the users of other user namespaces */
};

struct sockaddr;

struct peer_credentials {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t groups[PEER_GROUPS_MAX]; /* supplementary ones */
    size_t n_groups;
};

/* Returns false if @fd is not a connected Unix socket. */
bool peer_credentials_read(int fd, struct peer_credentials *ret);

/* Whether the other end of @fd, a connected socket, is on this host. */
bool peer_is_local(int fd);

/* The same from the addresses of a socket: those of a Unix socket, a loopback address, or twice the same
 * one. */
bool peer_is_same_host(const struct sockaddr *own, const struct sockaddr *peer);

/* Whether the primary group or a supplementary group is @gid. */
bool peer_credentials_has_group(const struct peer_credentials *peer, gid_t gid);

#endif
