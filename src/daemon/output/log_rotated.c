/*
 * log_rotated.c - the names of rotated files.
 *
 * Names with numbers are made, not looked up: a rotation changes them at any moment. The directory only shows how far
 * they go. Those with dates are never renamed, except that .gz is appended; they are found in the directory.
 */
#include "daemon/output/log_rotated.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/output/log_file.h"

static const char gzip_suffix[] = ".gz";

/* Whether @rest ends after @len characters, or with .gz. */
static bool is_whole(const char *rest, size_t len)
{
    return !rest[len] || strcmp(rest + len, gzip_suffix) == 0;
}

/* The length of "-20261118" or ".20261118" at the beginning of @rest; 0 if it is not the rest of such a name. */
static size_t date_length(const char *rest)
{
    size_t len = strspn(rest + (rest[0] != '\0'), "0123456789-");
    size_t least = rest[0] == '-' ? 1 : LOG_DATE_DIGITS;
    return (rest[0] == '-' || rest[0] == '.') && len >= least && is_whole(rest, 1 + len) ? 1 + len
                                                                                         : 0;
}

/* The number of ".2" or ".2.gz"; 0: none. */
static unsigned number_of(const char *rest)
{
    size_t len = rest[0] == '.' ? strspn(rest + 1, "0123456789") : 0;
    return len && len <= LOG_NUMBER_DIGITS && is_whole(rest, 1 + len)
               ? (unsigned)strtoul(rest + 1, NULL, 10)
               : 0;
}

static int compare_dates(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static void add_date(struct log_rotated *r, const char *rest, size_t len)
{
    r->dates = xrealloc(r->dates, (r->n_dates + 1) * sizeof(*r->dates));
    r->dates[r->n_dates++] = xstrndup(rest, len);
}

/* A file and its compressed copy are one. */
static void remove_repeated(struct log_rotated *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n_dates; i++) {
        if (kept && strcmp(r->dates[kept - 1], r->dates[i]) == 0)
            free(r->dates[i]);
        else
            r->dates[kept++] = r->dates[i];
    }
    r->n_dates = kept;
}

/* @rest is that of a name, after the name of the log. */
static void look_at(struct log_rotated *r, const char *rest)
{
    size_t len = date_length(rest);
    unsigned number = number_of(rest);
    if (len)
        add_date(r, rest, len);
    r->greatest = number > r->greatest ? number : r->greatest;
}

void log_rotated_look(struct log_rotated *r, const char *names)
{
    const char *slash = strrchr(r->path, '/'), *base = slash ? slash + 1 : r->path;
    size_t base_len = strlen(base);
    log_rotated_free(r);
    for (const char *at = names; at && *at; at += strlen(at) + 1)
        if (strncmp(at, base, base_len) == 0)
            look_at(r, at + base_len);
    if (r->n_dates)
        qsort(r->dates, r->n_dates, sizeof(*r->dates), compare_dates);
    remove_repeated(r);
}

void log_rotated_free(struct log_rotated *r)
{
    for (size_t i = 0; i < r->n_dates; i++)
        free(r->dates[i]);
    free(r->dates);
    r->dates = NULL;
    r->n_dates = 0;
    r->greatest = 0;
}

char *log_rotated_directory(const struct log_rotated *r)
{
    const char *slash = strrchr(r->path, '/');
    if (!slash)
        return xstrdup(".");
    return xstrndup(r->path, slash == r->path ? 1 : (size_t)(slash - r->path));
}

char *log_rotated_path(const struct log_rotated *r, unsigned number, enum log_form form)
{
    const char *suffix = form == LOG_GZIP ? gzip_suffix : "";
    if (!number)
        return form == LOG_PLAIN ? xstrdup(r->path) : NULL;
    if (form == LOG_OLDEST)
        return number == r->n_dates + r->keep + 1
                   ? log_file_rotated_name(r->path, r->keep + 1, r->keep)
                   : NULL;
    if (number <= r->n_dates)
        return xasprintf("%s%s%s", r->path, r->dates[number - 1], suffix);
    return xasprintf("%s.%u%s", r->path, number - (unsigned)r->n_dates, suffix);
}

bool log_rotated_may_be_last(const struct log_rotated *r, unsigned number)
{
    return number > r->n_dates + (r->greatest > r->keep ? r->greatest : r->keep);
}
