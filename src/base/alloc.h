/*
 * alloc.h - memory whose size we choose.
 *
 * A daemon that cannot allocate a few hundred bytes cannot continue: these functions print one line
 * and abort. Sizes that a peer, a file or a user chooses are checked against a limit first (see
 * buf.h), then allocated here.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

__attribute__((malloc, returns_nonnull)) void *xmalloc(size_t size);
__attribute__((malloc, returns_nonnull)) void *xcalloc(size_t count, size_t size);
__attribute__((returns_nonnull)) void *xrealloc(void *p, size_t size);
__attribute__((malloc, returns_nonnull)) char *xstrdup(const char *s);
__attribute__((malloc)) char *xstrdup_or_null(const char *s); /* NULL if @s is NULL */
__attribute__((malloc, returns_nonnull)) char *xstrndup(const char *s, size_t len);
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *xasprintf(const char *fmt,
                                                                               ...);

/* Replaces *@text by a copy of @with and frees the old string; @with may be *@text itself. If both have
 * the same length, as successive resource versions mostly do, no memory is allocated. */
void str_replace(char **text, const char *with);

/* Returns free pages to the operating system, if the C library can: after work that needed much memory.
 * Takes about a millisecond. */
void memory_trim(void);

/* One zeroed object of type T. */
#define NEW(T) ((T *)xcalloc(1, sizeof(T)))

/* Overwrite a secret before its memory is freed; the compiler cannot remove this. NULL is allowed. */
void secret_free(char *secret);
void secret_wipe(void *secret, size_t len);

/* Overwrites all of @memory, which comes from malloc(), and frees it. NULL is allowed. */
void wipe_free(void *memory);

#endif
