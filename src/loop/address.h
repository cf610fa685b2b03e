/*
 * address.h - the addresses of one host name, in the order in which they are tried.
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
    ADDRESSES_MAX = 16, /* LIMIT: per name; further addresses are ignored */
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
 * Copies the result of getaddrinfo(): IPv6 and IPv4 addresses alternate, starting with the family
 * of the first one, and each family keeps its order. The second address to be tried is thus of the
 * other family, which often works if the first does not.
 */
void addresses_from_answer(struct addresses *ret, const struct addrinfo *answer);

/* "10.0.0.1", "::1", "fe80::1%eth0". Returns false, and sets nothing, if @host is a name. */
bool addresses_from_literal(struct addresses *ret, const char *host);

void address_set_port(union address *address, uint16_t port);

#endif
