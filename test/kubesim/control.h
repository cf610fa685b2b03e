/*
 * control.h - commands of tests: POST /kubesim/COMMAND?key=value, or a line of a script.
 */
#ifndef KUBESIM_CONTROL_H
#define KUBESIM_CONTROL_H

#include "kubesim.h"
#include "params.h"

struct command_call {
    struct kubesim *sim;
    const struct params *params;
    const char *body;
    size_t body_len;
    struct buf *out;    /* JSON; {} if it stays empty */
    struct status *ret; /* the reason of a failure */
};

/* False, with call->ret, if the command is unknown or fails. */
bool control_run(const char *name, struct command_call *call);
void control_help(struct buf *out);

/* script.c: runs the lines `MS COMMAND key=value ...` of a file, each at its time. Returns 0, or
 * prints an error to stderr and returns -1. */
int script_start(struct kubesim *sim, const char *path);

#endif
