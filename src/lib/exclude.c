/*
 * exclude.c - checks the namespaces to exclude, and adds plain names to the field selector.
 */
#include "lib/exclude.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/text/glob.h"

enum {
    PATTERN_MAX = 63, /* LIMIT: the length of a namespace name */
};

static int check_pattern(const char *pattern, struct inf_error *err)
{
    size_t len = strlen(pattern);
    if (len && len <= PATTERN_MAX &&
        !pattern[strspn(pattern, "abcdefghijklmnopqrstuvwxyz0123456789-*?")])
        return 0;
    return err_set(
        err, INF_EINVAL,
        "excluded namespace '%.*s': use lower case letters, digits and '-', with '*' and "
        "'?' as wildcards, at most %d characters",
        PATTERN_MAX, pattern, PATTERN_MAX);
}

int exclude_check(const struct inf_watch *watch, struct inf_error *err)
{
    int rc = 0;
    if (watch->n_exclude_ns > EXCLUDE_MAX)
        return err_set(err, INF_EINVAL, "more than %d excluded namespaces", EXCLUDE_MAX);
    if (watch->n_exclude_ns && watch->ns)
        return err_set(err, INF_EINVAL,
                       "namespaces can only be excluded from a watch of all namespaces");
    for (size_t i = 0; rc == 0 && i < watch->n_exclude_ns; i++)
        rc = check_pattern(watch->exclude_ns[i], err);
    return rc;
}

char *exclude_fields(const struct inf_watch *watch)
{
    struct buf text = {0};
    if (watch->field_selector)
        buf_puts(&text, watch->field_selector);
    for (size_t i = 0; i < watch->n_exclude_ns; i++)
        if (glob_is_plain(watch->exclude_ns[i]))
            buf_printf(&text, "%smetadata.namespace!=%s", text.len ? "," : "",
                       watch->exclude_ns[i]);
    if (text.len)
        buf_putc(&text, '\0');
    return text.bytes;
}
