/*
 * alloc.h - memory whose size we choose.
 *
 * A daemon that can't get a few hundred bytes has nothing better to do than to say so and stop:
 * these abort with one line. Sizes that a peer, a file or a user chooses are bounded first (see
 * buf.h), then allocated here.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

__attribute__((malloc, returns_nonnull)) void *xmalloc(size_t size);
__attribute__((malloc, returns_nonnull)) void *xcalloc(size_t count, size_t size);
__attribute__((returns_nonnull)) void *xrealloc(void *p, size_t size);
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *s);
__attribute__((malloc, returns_nonnull)) char *xstrndup(const char *s, size_t len);
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(const char *fmt,
                                                                               ...);

/* Puts a copy of @with in the place of *@text, and frees that; @with may be *@text itself. Texts of the
 * same length, as successive versions mostly are, take no new memory. */
void str_replace(char **text, const char *with);

/* One zeroed object of type T. */
#define NEW(T) ((T *)xcalloc(1, sizeof(T)))

/* Overwrites a secret before its memory goes back; the compiler may not leave it out. NULL is fine.
 */
void secret_free(char *secret);
void secret_wipe(void *secret, size_t len);

/* Frees @memory, of malloc() and its kin, after all of it was overwritten. NULL is fine. */
void wipe_free(void *memory);

#endif
