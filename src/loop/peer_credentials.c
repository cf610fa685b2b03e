/*
 * peer_credentials.c - reads SO_PEERCRED and SO_PEERGROUPS.
 *
 * Linux answers SO_PEERCRED for TCP sockets too, with an invalid user. A kernel without SO_PEERGROUPS,
 * or a process with too many groups, gives no supplementary groups: that can only deny access.
 */
#include "loop/peer_credentials.h"

#include <sys/socket.h>

bool peer_credentials_read(int fd, struct peer_credentials *ret)
{
    struct ucred cred;
    socklen_t len = sizeof(cred), groups_len = sizeof(ret->groups);
    int domain = 0;
    socklen_t domain_len = sizeof(domain);
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) < 0 || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid == (uid_t)-1)
        return false;
    ret->pid = cred.pid;
    ret->uid = cred.uid;
    ret->gid = cred.gid;
    ret->n_groups = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ret->groups, &groups_len) == 0)
        ret->n_groups = groups_len / sizeof(ret->groups[0]);
    return true;
}

bool peer_credentials_has_group(const struct peer_credentials *peer, gid_t gid)
{
    for (size_t i = 0; i < peer->n_groups; i++)
        if (peer->groups[i] == gid)
            return true;
    return peer->gid == gid;
}
