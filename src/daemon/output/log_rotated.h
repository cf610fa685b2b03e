/*
 * log_rotated.h - the names of the rotated files of a log.
 *
 *     PATH.1, PATH.2 ...                  informerd (`rotate`) and logrotate; .1 is the newest
 *     PATH-20261118, PATH-2026111809,     logrotate with `dateext`: digits and hyphens, after a period at least eight;
 *     PATH.20261118                       the greatest is the newest
 *     either with .gz                     logrotate with `compress`
 *     PATH.oldest                         during a rotation by informerd
 *
 * Files have numbers, from the newest (1) to the oldest. Those with a date come first: a log that has both was
 * changed to `dateext`. Numbers may be missing. Of each there may be several forms: while logrotate compresses a
 * file, both exist, and the compressed one is not complete.
 */
#ifndef DAEMON_OUTPUT_LOG_ROTATED_H
#define DAEMON_OUTPUT_LOG_ROTATED_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LOG_NUMBER_DIGITS = 4, /* LIMIT: of a number of logrotate */
    LOG_DATE_DIGITS = 8,   /* at least, of a date after a period */
};

enum log_form {
    LOG_PLAIN,
    LOG_GZIP,
    LOG_OLDEST, /* of the number after `keep` */
    LOG_FORMS,
};

struct log_rotated {
    const char *path;  /* borrowed */
    unsigned keep;     /* files that informerd keeps; logrotate may keep more */
    unsigned greatest; /* number of a file that was found; 0: none */
    char **dates;      /* "-20261118", the newest first */
    size_t n_dates;
};

/* Finds the files with dates, and the greatest number. @names are those of the directory (disk.h, list()); NULL: they
 * are unknown. */
void log_rotated_look(struct log_rotated *rotated, const char *names);
void log_rotated_free(struct log_rotated *rotated);

/* The directory of the log. The caller frees the result. */
char *log_rotated_directory(const struct log_rotated *rotated);

/* The path of a form of a number, or NULL: a number does not have each form. The caller frees the result. */
char *log_rotated_path(const struct log_rotated *rotated, unsigned number, enum log_form form);

/* Whether there are no files after @number if this one does not exist. */
bool log_rotated_may_be_last(const struct log_rotated *rotated, unsigned number);

#endif
