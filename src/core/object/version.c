/*
 * version.c - compares resource versions as decimal numbers of any length. See version.h.
 */
#include "core/object/version.h"

#include <string.h>

#include "informer/object.h"

static bool is_number(const char *version)
{
    return version[0] >= '1' && version[0] <= '9' &&
           strspn(version, "0123456789") == strlen(version);
}

bool version_is_older(const char *version, const char *than)
{
    size_t len = strlen(version), than_len = strlen(than);
    if (!is_number(version) || !is_number(than))
        return false;
    return len != than_len ? len < than_len : strcmp(version, than) < 0;
}

bool inf_resource_version_is_older(const char *version, const char *other)
{
    return version_is_older(version, other);
}
