/*
 * resolver.h - getaddrinfo() as a test wants it: names mean what the test says, no name server is
 * asked, and a lookup takes as long as the test likes.
 *
 * A program that uses these functions gets this getaddrinfo() in place of libc's, for libuv too.
 * Addresses resolve as ever; a name the test did not give does not exist.
 */
#ifndef TEST_RESOLVER_H
#define TEST_RESOLVER_H

/* From now on @name has these addresses ("127.0.0.2 127.0.0.1"), in this order. Both are kept, not
 * copied; there is one such name at a time. */
void resolver_set(const char *name, const char *addresses);

/* How many lookups have begun since the program started. Ask when none is under way. */
unsigned resolver_asked(void);

/* Lookups wait from now on. */
void resolver_hold(void);

/* Returns when a lookup is under way and waits. */
void resolver_await(void);

/* That one goes on, and no others wait. */
void resolver_release(void);

#endif
