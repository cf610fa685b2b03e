/*
 * address.c - orders the result of getaddrinfo(), and parses literal addresses.
 */
#include "loop/address.h"

#include <assert.h>
#include <netdb.h>
#include <string.h>

#include <uv.h>

/* The first entry of @family, starting at @at. */
static const struct addrinfo *next_of_family(int family, const struct addrinfo *at)
{
    while (at && at->ai_family != family)
        at = at->ai_next;
    return at;
}

static void addresses_add(struct addresses *to, const struct addrinfo *one)
{
    assert(one->ai_addrlen <= sizeof(to->list[0]));
    memcpy(&to->list[to->count++], one->ai_addr, one->ai_addrlen);
}

void addresses_from_answer(struct addresses *ret, const struct addrinfo *answer)
{
    static const int families[2] = {AF_INET6, AF_INET};
    const struct addrinfo *next[2] = {next_of_family(AF_INET6, answer),
                                      next_of_family(AF_INET, answer)};
    int turn = answer && answer->ai_family == AF_INET;
    memset(ret, 0, sizeof(*ret));
    while (ret->count < ADDRESSES_MAX && (next[0] || next[1])) {
        if (next[turn]) {
            addresses_add(ret, next[turn]);
            next[turn] = next_of_family(families[turn], next[turn]->ai_next);
        }
        turn = !turn;
    }
}

bool addresses_from_literal(struct addresses *ret, const char *host)
{
    union address address;
    if (uv_ip4_addr(host, 0, &address.v4) < 0 && uv_ip6_addr(host, 0, &address.v6) < 0)
        return false;
    ret->count = 1;
    ret->list[0] = address;
    return true;
}

void address_set_port(union address *address, uint16_t port)
{
    if (address->any.sa_family == AF_INET6)
        address->v6.sin6_port = htons(port);
    else
        address->v4.sin_port = htons(port);
}
