/*
 * peer_credentials.h - the user and the groups of the process at the other end of a Unix socket.
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

struct peer_credentials {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t groups[PEER_GROUPS_MAX]; /* supplementary ones */
    size_t n_groups;
};

/* Returns false if @fd is not a connected Unix socket. */
bool peer_credentials_read(int fd, struct peer_credentials *ret);

/* Whether the primary group or a supplementary group is @gid. */
bool peer_credentials_has_group(const struct peer_credentials *peer, gid_t gid);

#endif
