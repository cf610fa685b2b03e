/*
 * alloc.c - checked allocation, and the erasing of secrets. Out of memory: one line on stderr, abort().
 */
#include "base/alloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t size)
{
    if (p)
        return p;
    fprintf(stderr, "informer: out of memory (%zu bytes)\n", size);
    abort();
}

void *xmalloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *xcalloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *xrealloc(void *p, size_t size)
{
    return checked(realloc(p, size ? size : 1), size);
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrdup_or_null(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t len)
{
    char *copy = xmalloc(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    va_end(args);
    return checked(text, 0);
}

void str_replace(char **text, const char *with)
{
    size_t len = strlen(with);
    char *copy;
    if (*text && strlen(*text) == len) {
        memmove(*text, with, len);
        return;
    }
    copy = xstrdup(with);
    free(*text);
    *text = copy;
}

void secret_wipe(void *secret, size_t len)
{
    if (len)
        explicit_bzero(secret, len);
}

void secret_free(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void wipe_free(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

void memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
