/*
 * handler_program.h - the program of a handler of kind exec: its arguments, user, limits and directory. Shared by
 * handler_exec.c, which runs it for each record, and handler_stream.c, which keeps it running.
 */
#ifndef DAEMON_HANDLER_PROGRAM_H
#define DAEMON_HANDLER_PROGRAM_H

#include <stdbool.h>

#include "informer/error.h"

#include "daemon/conf/conf.h"
#include "seam/child.h"

/* Zeroed: not set. */
struct handler_program {
    const char **argv; /* owned; ends with NULL */
    char *directory;   /* owned */
    struct child_identity identity;
    struct child_context context; /* refers to the members above */
};

/* The conf options of handlers with an `exec` key. Returns 0, or -INF_ECONF with the remedy. */
int handler_program_check(const struct conf_handler *conf, struct inf_error *err);

/* Whether this process can run the program as its user and group. Returns 0, or -INF_ECONF with the remedy. */
int handler_program_permit(const struct conf_handler *conf, struct inf_error *err);

/* A problem that may be solved later; the caller frees it. NULL: none. */
char *handler_program_advise(const struct conf_handler *conf);

/* Takes the options over. Returns whether they differ from the former ones. */
bool handler_program_set(struct handler_program *program, const struct conf_handler *conf);

void handler_program_free(struct handler_program *program);

/* A process or descriptor may be available later. */
bool handler_program_is_shortage(int error);

#endif
