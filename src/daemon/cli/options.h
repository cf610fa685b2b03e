/*
 * options.h - the command line.
 */
#ifndef DAEMON_CLI_OPTIONS_H
#define DAEMON_CLI_OPTIONS_H

#include <stdbool.h>

enum command {
    COMMAND_RUN,   /* as the conf file says */
    COMMAND_WATCH, /* as the command line says */
    COMMAND_CHECK, /* the conf file: is it good? */
    COMMAND_PRINT, /* the same, and what does it say? */
    COMMAND_RBAC,  /* what has to be allowed for it? */
    COMMAND_DONE,  /* --help or --version: everything was said already */
};

enum format {
    FORMAT_UNSAID, /* short on a terminal, JSON elsewhere */
    FORMAT_SHORT,
    FORMAT_JSONL,
    FORMAT_FULL, /* JSON with the whole object */
};

struct options {
    enum command command;
    const char *conf;     /* the conf file */
    const char *resource; /* one, or several with commas between them */
    const char *ns;       /* NULL: the kubeconfig's own, unless all_namespaces */
    bool all_namespaces;
    const char *kubeconfig;
    const char *context;
    const char *cluster; /* instead of the context's, as the user */
    const char *user;    /* COMMAND_RBAC: who is to be allowed it; or: */
    const char *group;
    const char *service_account; /* "namespace:name" */
    bool online;                 /* COMMAND_CHECK: and do the clusters have all that? */
    const char *as;
    const char *label_selector;
    const char *field_selector;
    enum format format;
    bool verbose;
    bool every_update; /* heartbeats and updates that change nothing, too */
};

/* Reads the command line. Returns 0, or an exit code after having said on stderr what is wrong and
 * what would be right. */
int options_parse(int argc, char **argv, struct options *ret);

#endif
