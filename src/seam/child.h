/*
 * child.h - the seam for programs: runs one, gives it something to read, collects what it says, and
 * tells how it ended.
 *
 * loop/child.c runs real ones; a test puts its own in their place. Everything a program can choose
 * has a bound: how long it runs, how much it says, what it leaves behind.
 *
 * The rules, for whoever implements or uses a child:
 *   1. on_end comes once, and never inside spawn or close. A program that can't be started ends like
 *      any other.
 *   2. A program gets a process group of its own. When it has ended, what is left of its group is
 *      killed: who wants to leave something behind gives it a session of its own.
 *   3. A program that takes too long or says too much is asked to end (SIGTERM to the group), after
 *      CHILD_GRACE_MS made to (SIGKILL), and its end is told when it is gone.
 *   4. close: nothing is called afterwards, and a program that still runs ends as in rule 3. It may
 *      be called at any moment, also inside on_end and after it, and exactly once.
 */
#ifndef SEAM_CHILD_H
#define SEAM_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct child;
struct child_user;

enum {
    CHILD_GRACE_MS = 2000,
};

/* What to run. Copied as far as needed before spawn returns. */
struct child_spec {
    const char *const *argv; /* to NULL; a first word without a slash is looked for in PATH */
    const char *const *env;  /* to NULL, "NAME=value": added to our environment, or in place of what
                                has that name there; NULL: nothing */
    struct str input;        /* for its stdin, which ends after it */
    size_t output_max;       /* bytes of stdout; one more is CHILD_TOO_MUCH */
    size_t errors_max;       /* bytes of stderr; of more, the last ones are kept */
    uint64_t timeout_ms;     /* 0: it may take as long as it likes */
};

enum child_fate {
    CHILD_EXITED,    /* `code` is its exit code */
    CHILD_KILLED,    /* by a signal that we did not send; `code` is its number */
    CHILD_TIMED_OUT, /* longer than timeout_ms */
    CHILD_TOO_MUCH,  /* more than output_max */
    CHILD_UNSTARTED, /* `code` is an errno */
    CHILD_LOST,      /* somebody else in this process waited for it: how it ended, nobody knows */
};

struct child_end {
    enum child_fate fate;
    int code;
    const char *how; /* the same for people: "exit code 3", "not done after 10s" */
    struct str output;
    struct str errors;
};

struct child_user_ops {
    /* All of @end is lent. The user still has to close. */
    void (*on_end)(struct child_user *user, const struct child_end *end);
};

/* Embed as the first thing in whatever runs programs. */
struct child_user {
    const struct child_user_ops *ops;
};

struct child_ops {
    void (*close)(struct child *child);
};

/* Embed as the first thing in whatever is a child. */
struct child {
    const struct child_ops *ops;
    struct child_user *user;
};

/* Runs programs: loop/child.c real ones. */
struct spawner {
    struct child *(*spawn)(struct spawner *spawner, const struct child_spec *spec,
                           struct child_user *user);
};

static inline struct child *spawner_spawn(struct spawner *spawner, const struct child_spec *spec,
                                          struct child_user *user)
{
    return spawner->spawn(spawner, spec, user);
}

static inline void child_close(struct child *child)
{
    child->ops->close(child);
}

#endif
