/*
 * child.h - the seam for child processes: runs a program, writes its input, collects its output,
 * and reports how it ended.
 *
 * loop/child.c runs real programs; tests provide simulated ones. Everything a program controls is
 * bounded: its run time, the size of its output, the processes it leaves running.
 *
 * Rules for implementations and users of a child:
 *   1. on_end is called once, and never inside spawn or close. A program that cannot be started ends
 *      like any other.
 *   2. A program gets its own process group. When it has ended, the remaining processes of the group
 *      are killed. A process that must survive needs its own session. If this process dies, the
 *      program is killed, too.
 *   3. A program that runs too long or writes too much receives SIGTERM (the whole group), and after
 *      CHILD_GRACE_MS SIGKILL. Its end is reported when it has exited.
 *   4. A program with `streamed` gets its input with child_write(), as long as it runs, and on_output and
 *      on_errors pass its output on as it comes. It ends as in rule 3 if child_stop() is called or it
 *      closes its stdin.
 *   5. close: no callback is made afterwards, and a program that still runs is ended as in rule 3. It
 *      may be called at any time, also inside on_end and after it, exactly once.
 */
#ifndef SEAM_CHILD_H
#define SEAM_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

struct child;
struct child_user;

enum {
    CHILD_GRACE_MS = 2000,
    CHILD_GROUPS_MAX = 64, /* LIMIT: supplementary groups of a program */
};

#define CHILD_NO_USER ((uid_t)-1) /* a program with this user can't be started */

/* The user and all groups of a program. Another user or group needs CAP_SETUID and CAP_SETGID, and
 * CAP_KILL to end the program. */
struct child_identity {
    uid_t uid;
    gid_t gid;
    size_t n_groups;
    gid_t groups[CHILD_GROUPS_MAX];
};

/* Resource limits, soft and hard; 0: as for this process. A limit above our own is reduced to it. */
struct child_limits {
    uint64_t cpu_s;
    uint64_t memory; /* bytes of address space */
    uint64_t files;
    uint64_t processes; /* of the user, all programs together */
};

/* How a program differs from this process. Zeroed: it does not. */
struct child_context {
    const struct child_identity *identity; /* NULL: ours */
    struct child_limits limits;
    const char *directory; /* NULL: ours */
    bool has_umask;
    mode_t umask;
};

/* The program to run. Copied as far as needed before spawn returns. */
struct child_spec {
    const char *const *argv; /* NULL-terminated; argv[0] without a slash is searched in PATH */
    const char *const *env;  /* NULL-terminated "NAME=value" strings, added to our environment; they
                                replace variables of the same name; NULL: none */
    bool clean_env;          /* of our environment it gets only PATH, HOME, LANG and TZ */
    struct str input;        /* written to its stdin, which is then closed */
    bool streamed;           /* see rule 4; without input, output_max and errors_max */
    size_t output_max;       /* bytes of stdout; more is CHILD_TOO_MUCH */
    size_t errors_max;       /* bytes of stderr; of longer output the last bytes are kept */
    bool errors_bounded;     /* more than errors_max bytes of stderr is CHILD_TOO_MUCH, too */
    uint64_t timeout_ms;     /* 0: no limit */
    struct child_context context;
};

enum child_fate {
    CHILD_EXITED,    /* `code` is its exit code */
    CHILD_KILLED,    /* by a signal that we did not send; `code` is its number */
    CHILD_TIMED_OUT, /* longer than timeout_ms */
    CHILD_STOPPED,   /* child_stop(), or it closed its stdin */
    CHILD_TOO_MUCH,  /* more than output_max, or errors_max if bounded */
    CHILD_UNSTARTED, /* `code` is an errno */
    CHILD_LOST,      /* other code in this process waited for it: its exit status is unknown */
};

struct child_end {
    enum child_fate fate;
    int code;
    const char *how; /* the same as text: "exit code 3", "timed out after 10 s" */
    struct str output;
    struct str errors;
};

struct child_user_ops {
    /* @end is valid only during the call. The user must still call close. */
    void (*on_end)(struct child_user *user, const struct child_end *end);

    /* Of streamed programs: what was read from its stdout and stderr, never empty, valid only during
     * the call. Never inside spawn, child_write() or child_stop(). */
    void (*on_output)(struct child_user *user, struct str bytes);
    void (*on_errors)(struct child_user *user, struct str bytes);

    /* After child_write() has accepted less than all: it accepts more. */
    void (*on_writable)(struct child_user *user);
};

/* The first member of every user of children. */
struct child_user {
    const struct child_user_ops *ops;
};

struct child_ops {
    void (*close)(struct child *child);
    size_t (*write)(struct child *child, struct str bytes);
    void (*stop)(struct child *child, const char *why);
};

/* The first member of every child. */
struct child {
    const struct child_ops *ops;
    struct child_user *user;
};

/* Starts programs; loop/child.c starts real ones. */
struct spawner {
    struct child *(*spawn)(struct spawner *spawner, const struct child_spec *spec,
                           struct child_user *user);
};

static inline struct child *spawner_spawn(struct spawner *spawner, const struct child_spec *spec,
                                          struct child_user *user)
{
    return spawner->spawn(spawner, spec, user);
}

/* Writes to the stdin of a streamed program what it accepts now. Returns the number of bytes; if these are not
 * all, on_writable follows. After its end everything is accepted and discarded. */
static inline size_t child_write(struct child *child, struct str bytes)
{
    return child->ops->write(child, bytes);
}

/* Ends a streamed program; on_end follows with @why. Has no effect if it is being ended or has ended. */
static inline void child_stop(struct child *child, const char *why)
{
    child->ops->stop(child, why);
}

static inline void child_close(struct child *child)
{
    child->ops->close(child);
}

#endif
