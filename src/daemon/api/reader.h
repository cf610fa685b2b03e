/*
 * reader.h - a client of the local API: its identity, and what it may read.
 *
 * Minimal version: every client of the Unix socket may read everything. Readers by uid and token, with
 * the limits of the conf section `api.readers`, replace it.
 */
#ifndef DAEMON_API_READER_H
#define DAEMON_API_READER_H

#include <stdbool.h>
#include <sys/types.h>

struct api_reader {
    const char *name; /* for messages; NULL: by uid */
    uid_t uid;
};

/* Whether @reader may read the objects of the watch called @watch_name in namespace @ns; NULL: in all
 * namespaces. */
static inline bool api_reader_may(const struct api_reader *reader, const char *watch_name,
                                  const char *ns)
{
    (void)reader;
    (void)watch_name;
    (void)ns;
    return true;
}

#endif
