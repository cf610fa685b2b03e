/*
 * options.h - the command line.
 */
#ifndef DAEMON_CLI_OPTIONS_H
#define DAEMON_CLI_OPTIONS_H

#include <stdbool.h>

enum command {
    COMMAND_RUN,   /* run the service with a configuration file */
    COMMAND_WATCH, /* watch what the command line names */
    COMMAND_CHECK, /* --check-config */
    COMMAND_PRINT, /* --print-config */
    COMMAND_RBAC,  /* print RBAC roles */
    COMMAND_DONE,  /* --help or --version: already printed */
};

enum format {
    FORMAT_UNSAID, /* not given: short on a terminal, jsonl elsewhere */
    FORMAT_SHORT,
    FORMAT_JSONL,
    FORMAT_FULL, /* JSON with the whole object */
};

struct options {
    enum command command;
    const char *conf;     /* path of the configuration file */
    const char *resource; /* one or several, separated by commas */
    const char *ns;       /* NULL: the namespace of the context, unless all_namespaces */
    bool all_namespaces;
    const char *kubeconfig;
    const char *context;
    const char *cluster; /* COMMAND_WATCH: of the kubeconfig; COMMAND_RBAC: of the configuration */
    const char *user;    /* COMMAND_WATCH: of the kubeconfig; COMMAND_RBAC: subject to bind */
    const char *group;
    const char *service_account; /* "namespace:name" */
    bool online;                 /* COMMAND_CHECK: also check access to each cluster */
    const char *as;
    const char *label_selector;
    const char *field_selector;
    enum format format;
    bool verbose;
    bool every_update; /* also heartbeats and updates without a change */
};

/* Parses the command line. Strings in @ret point into @argv. Returns 0, or an exit code after
 * printing the error and its remedy to stderr. */
int options_parse(int argc, char **argv, struct options *ret);

#endif
