/*
 * control.h - the strings by which a test pulls: POST /kubesim/COMMAND?key=value, or a line of a
 * script.
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
    struct status *ret; /* why not */
};

/* False, with call->ret, if there is no such command or it can't be done. */
bool control_run(const char *name, struct command_call *call);
void control_help(struct buf *out);

/* script.c: runs the lines `MS COMMAND key=value ...` of a file, each at its time. Returns 0, or
 * complains on stderr and returns -1. */
int script_start(struct kubesim *sim, const char *path);

#endif
