/*
 * peer_credentials.c - reads SO_PEERCRED and SO_PEERGROUPS.
 *
 * Linux answers SO_PEERCRED for TCP sockets too, with an invalid user. A kernel without SO_PEERGROUPS,
 * or a process with too many groups, gives no supplementary groups: that can only deny access.
 */
#include "loop/peer_credentials.h"

#include <netinet/in.h>
#include <string.h>
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

static bool is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) ||
           (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

/* IPv4 addresses in the form of IPv6. */
static struct in6_addr address_of(const struct sockaddr *socket_address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)socket_address;
    struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (socket_address->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)socket_address)->sin6_addr;
    memcpy(&address.s6_addr[12], &v4->sin_addr, sizeof(v4->sin_addr));
    return address;
}

bool peer_is_same_host(const struct sockaddr *own, const struct sockaddr *peer)
{
    struct in6_addr a, b;
    if (own->sa_family == AF_UNIX)
        return true;
    if (own->sa_family != AF_INET && own->sa_family != AF_INET6)
        return false;
    a = address_of(own);
    b = address_of(peer);
    return is_loopback(&b) || IN6_ARE_ADDR_EQUAL(&a, &b);
}

bool peer_is_local(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
    return getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 &&
           peer_is_same_host((struct sockaddr *)&own, (struct sockaddr *)&peer);
}
