/*
 * option_file.c - reads files with a limit. A text has no NUL bytes: they would end it early.
 */
#include "daemon/handler/option_file.h"

#include <string.h>

#include "base/err.h"
#include "base/file.h"

static void trim_end(char *text)
{
    size_t len = strlen(text);
    while (len && strchr(" \t\r\n", text[len - 1]))
        text[--len] = '\0';
}

int option_file_text(const char *option, const char *path, size_t max, char **ret,
                     struct inf_error *err)
{
    size_t len;
    if (!path)
        return 0;
    if (file_read(path, max, ret, &len, err) < 0)
        return err_wrap(err, "%s", option);
    if (strlen(*ret) == len)
        return 0;
    return err_set(err, INF_ECONF, "%s: file '%s' contains a NUL byte", option, path);
}

int option_file_line(const char *option, const char *path, size_t max, char **ret,
                     struct inf_error *err)
{
    int rc = option_file_text(option, path, max, ret, err);
    if (rc < 0 || !path)
        return rc;
    trim_end(*ret);
    return **ret ? 0 : err_set(err, INF_ECONF, "%s: file '%s' is empty", option, path);
}
