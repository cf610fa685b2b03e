/*
 * handler_control.h - what an administrator can do with a handler while informerd runs: pause it, and decide
 * about its parked records. informerctl does it over the local API (api/service_handlers.c); without the API
 * command files in the state directory do.
 */
#ifndef DAEMON_HANDLER_CONTROL_H
#define DAEMON_HANDLER_CONTROL_H

#include "informer/error.h"

#include "daemon/handler/handlers.h"

enum {
    HANDLER_COMMANDS_MAX = 64 * 1024, /* LIMIT: bytes of a command file */
};

/* Carries out @command (pause, resume, retry or drop) for the handler @name. @seq limits retry and drop to
 * one record; 0: all. Appends the result as a sentence to @result. Returns 0; -INF_ENOTFOUND if there is
 * no such handler or record, -INF_EINVAL if there is no such command. */
int handler_control(struct handlers *handlers, const char *command, const char *name, uint64_t seq,
                    struct buf *result, struct inf_error *err);

/* Carries out the file handler-NAME.cmd of @dir for each handler ('/' in NAME is '_'), and removes it. Each line is a command,
 * and for retry and drop perhaps a sequence number. Results and errors are logged. */
void handler_control_files(struct handlers *handlers, const char *dir);

#endif
