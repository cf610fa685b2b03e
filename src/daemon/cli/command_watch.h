/*
 * command_watch.h - `informerd watch`: its options, and the configuration they are converted to.
 */
#ifndef DAEMON_CLI_COMMAND_WATCH_H
#define DAEMON_CLI_COMMAND_WATCH_H

#include "daemon/cli/command.h"

struct watch_options {
    int argc; /* resources and names: see watch_target.h */
    char **argv;
    bool named;            /* they name objects */
    bool all_resources;    /* instead of argc and argv */
    struct flag_values ns; /* none: the namespace of the context, unless all_namespaces */
    bool all_namespaces;
    const char *kubeconfig;
    const char *context;
    const char *cluster; /* of the kubeconfig, like the user */
    const char *user;
    const char *as;
    struct flag_values as_groups;
    const char *server; /* instead of a kubeconfig */
    const char *ca;
    const char *token; /* secret: appears in no message */
    const char *token_file;
    const char *label_selector;
    const char *field_selector;
    struct flag_values names; /* regular expressions */
    struct flag_values verbs;
    const char *level;          /* the minimum; NULL: info */
    struct flag_values changed; /* field paths */
    struct flag_values ignore;
    const char *until; /* a condition: see until_condition.h */
    bool until_all;
    const char *timeout; /* a duration */
    bool only_changes;   /* no initial objects */
    const char *output; /* a record format, or "full": jsonl with the whole object; NULL: short on a
                           terminal, jsonl elsewhere */
    const char *color;  /* auto, always or never; NULL: auto */
    bool no_trunc;
    bool verbose;
    bool every_update; /* also heartbeats and updates without a change */
};

/* watch_conf.c: converts the options to a configuration. Returns 0, or an exit code after printing
 * the error to stderr. The caller frees @ret with conf_free() after success. */
int watch_conf(const struct watch_options *options, struct conf *ret);

#endif
