/*
 * command_watch.h - `informerd watch`: its options, and the configuration they are converted to.
 */
#ifndef DAEMON_CLI_COMMAND_WATCH_H
#define DAEMON_CLI_COMMAND_WATCH_H

#include "daemon/cli/command.h"

struct watch_options {
    const char *resources; /* one or several, separated by commas */
    const char *ns;        /* NULL: the namespace of the context, unless all_namespaces */
    bool all_namespaces;
    const char *kubeconfig;
    const char *context;
    const char *cluster; /* of the kubeconfig, like the user */
    const char *user;
    const char *as;
    const char *label_selector;
    const char *field_selector;
    const char *output; /* a record format, or "full": jsonl with the whole object; NULL: short on a
                           terminal, jsonl elsewhere */
    bool verbose;
    bool every_update; /* also heartbeats and updates without a change */
};

/* Converts the options to a configuration. Returns 0, or an exit code after printing the error to
 * stderr. The caller frees @ret with conf_free() after success. */
int watch_conf(const struct watch_options *options, struct conf *ret);

#endif
