#include "resolver.h"

#include <dlfcn.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

typedef int lookup_fn(const char *node, const char *service, const struct addrinfo *hints,
                      struct addrinfo **ret);

/* The lookup runs in a thread of libuv. What it reads here was written before it started. */
static struct {
    const char *name, *addresses;
    unsigned lookups;
    bool hold;
    sem_t waits, may_go;
} resolver;

void resolver_set(const char *name, const char *addresses)
{
    resolver.name = name;
    resolver.addresses = addresses;
}

unsigned resolver_lookups(void)
{
    return resolver.lookups;
}

void resolver_hold(void)
{
    resolver.hold = true;
    sem_init(&resolver.waits, 0, 0);
    sem_init(&resolver.may_go, 0, 0);
}

void resolver_await(void)
{
    sem_wait(&resolver.waits);
}

void resolver_release(void)
{
    resolver.hold = false;
    sem_post(&resolver.may_go);
}

static int libc_lookup(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret)
{
    struct addrinfo numeric = *hints;
    lookup_fn *libc;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&libc, &symbol, sizeof(libc)); /* ISO C has no cast for it */
    numeric.ai_flags |= AI_NUMERICHOST;
    return libc(node, service, &numeric, ret);
}

/* Links the results for each address into one list; glibc frees such a list one by one. */
static int lookup_each(char *addresses, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret)
{
    char *rest = NULL;
    int rc = 0;
    for (char *a = strtok_r(addresses, " ", &rest); a && !rc; a = strtok_r(NULL, " ", &rest)) {
        rc = libc_lookup(a, service, hints, ret);
        while (!rc && *ret)
            ret = &(*ret)->ai_next;
    }
    return rc;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    char addresses[256];
    resolver.lookups++;
    if (resolver.hold) {
        sem_post(&resolver.waits);
        sem_wait(&resolver.may_go);
    }
    if (!resolver.name || strcmp(node, resolver.name) != 0)
        return libc_lookup(node, service, hints, ret);
    *ret = NULL;
    snprintf(addresses, sizeof(addresses), "%s", resolver.addresses);
    return lookup_each(addresses, service, hints, ret);
}
