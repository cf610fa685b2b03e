/*
 * options.h - the command line.
 */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>

enum command {
    COMMAND_WATCH,
    COMMAND_CHECK, /* the conf file: is it good? */
    COMMAND_PRINT, /* the same, and what does it say? */
    COMMAND_DONE,  /* --help or --version: everything was said already */
};

struct options {
    enum command command;
    const char *conf; /* the conf file */
    const char *resource;
    const char *ns; /* NULL: the kubeconfig's own, unless all_namespaces */
    bool all_namespaces;
    const char *kubeconfig;
    const char *context;
    bool verbose;
};

/* Reads the command line. Returns 0, or an exit code after having said on stderr what is wrong and
 * what would be right. */
int options_parse(int argc, char **argv, struct options *ret);

#endif
