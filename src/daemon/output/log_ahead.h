/*
 * log_ahead.h - what an event log has that the state on disk does not know, after a power loss.
 *
 * Lines are written after their batch of the state, but neither is synced at once: a power loss may leave
 * more of the log than of the state. Then the server is watched from an earlier version, and changes that
 * the log has arrive again. The end of the log says which: the last record of each object whose number is
 * not in the state. A change up to that record is not written again. For a later one the state of the
 * object before it is not known: it is written without `changed` and `diff`, and marked.
 *
 * Only for the format jsonl, the only one whose lines can be read back.
 */
#ifndef DAEMON_OUTPUT_LOG_AHEAD_H
#define DAEMON_OUTPUT_LOG_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/tree.h"
#include "daemon/record/change.h"

enum {
    LOG_AHEAD_TAIL = 4 * 1024 * 1024, /* LIMIT: bytes at the end of a log that are read */
};

struct log_ahead {
    char *log;     /* owned: the id of the sequence */
    uint64_t from; /* records with this number and later ones are unknown to the state */
    struct tree by_key;
    size_t count;  /* objects */
    char *last_rv; /* of the last object that was found; owned */
    bool partial;  /* there may be more of them before the bytes that were read */
};

enum log_ahead_verdict {
    LOG_AHEAD_NOT,     /* the change is written as usual */
    LOG_AHEAD_WRITTEN, /* the log has it, or a later one */
    LOG_AHEAD_UNKNOWN, /* the log has a state of the object that is not known here */
};

struct log_ahead *log_ahead_new(const char *log, uint64_t from);
void log_ahead_free(struct log_ahead *ahead); /* NULL is allowed */

/* Reads up to @n records at the end of *@tail, which is the end of the log, and removes them from it. @cut: the log
 * has more than *@tail had, so its first line may be incomplete. Returns whether there are others to read. */
bool log_ahead_read(struct log_ahead *ahead, struct str *tail, bool cut, size_t n);

/* What to do with a change. Once a change is not LOG_AHEAD_WRITTEN, its object is forgotten here. *@ret_rv
 * gets the version that the log has, if LOG_AHEAD_UNKNOWN; valid until log_ahead_free(). */
enum log_ahead_verdict log_ahead_check(struct log_ahead *ahead, const struct change *change,
                                       const char **ret_rv);

/* After a list of @watch: forgets its objects for which no change has come, and adds the keys of those that
 * the log has not reported as deleted to @names, at most 20. Returns their number. They may have been deleted. */
size_t log_ahead_forget_watch(struct log_ahead *ahead, const struct watch_id *watch,
                              struct buf *names);

#endif
