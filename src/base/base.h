/*
 * base.h - macros that every layer uses.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The struct of type @type whose @member is at @ptr. */
#define container_of(ptr, type, member) ((type *)((uintptr_t)(ptr)-offsetof(type, member)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Whether all bytes of the array @a are zero, as reserved fields of the public API must be. */
#define ALL_ZERO(a) bytes_are_zero((a), sizeof(a))

static inline bool bytes_are_zero(const void *at, size_t size)
{
    const unsigned char *bytes = at;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

#endif
