/*
 * group.c - reads the group database with getgrnam_r(3); what it does not find may be a number.
 */
#include "base/group.h"

#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_MAX = 16 * 1024, /* LIMIT: bytes of an entry; a longer one is not found */
    DIGITS_MAX = 10,       /* of the largest number */
};

/* The largest value stands for "no group" in chown(2). */
static bool parse_number(const char *text, gid_t *ret)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t number;
    if (!digits || text[digits] || digits > DIGITS_MAX)
        return false;
    number = strtoull(text, NULL, 10);
    if (number >= (gid_t)-1)
        return false;
    *ret = (gid_t)number;
    return true;
}

bool group_find(const char *name, gid_t *ret)
{
    struct group group, *found = NULL;
    char text[ENTRY_MAX];
    getgrnam_r(name, &group, text, sizeof(text), &found);
    if (!found)
        return parse_number(name, ret);
    *ret = found->gr_gid;
    return true;
}
