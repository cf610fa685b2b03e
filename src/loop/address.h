/*
 * address.h - where to connect to: the addresses of one name, in the order in which to try them.
 */
#ifndef LOOP_ADDRESS_H
#define LOOP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct addrinfo;

enum {
    ADDRESSES_MAX = 16, /* LIMIT: of one name; a name server that says more is not listened to */
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct addresses {
    size_t count;
    union address list[ADDRESSES_MAX];
};

/*
 * Takes over what getaddrinfo() said: IPv6 and IPv4 take turns, beginning with the family of its
 * first, and each family keeps its order. So the second one to be tried is of the other family,
 * which is the one that works where the first does not.
 */
void addresses_from_answer(struct addresses *ret, const struct addrinfo *answer);

/* "10.0.0.1", "::1", "fe80::1%eth0". False, and nothing set, if @host is none of these but a name. */
bool addresses_from_literal(struct addresses *ret, const char *host);

void address_set_port(union address *address, uint16_t port);

#endif
