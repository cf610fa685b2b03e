/*
 * resolver.h - a getaddrinfo() for tests: the test sets the addresses of a name and the duration of
 * a lookup; no name server is used.
 *
 * A program that uses these functions gets this getaddrinfo() in place of libc's, for libuv too.
 * Literal addresses resolve as usual; other names do not exist.
 */
#ifndef TEST_RESOLVER_H
#define TEST_RESOLVER_H

/* From now on @name has these addresses ("127.0.0.2 127.0.0.1"), in this order. Both are kept, not
 * copied; there is one such name at a time. */
void resolver_set(const char *name, const char *addresses);

/* The number of lookups since the program started. Call it only while none is in progress. */
unsigned resolver_lookups(void);

/* Blocks lookups from now on. */
void resolver_hold(void);

/* Returns when a lookup is blocked. */
void resolver_await(void);

/* Continues it, and blocks no further lookups. */
void resolver_release(void);

#endif
