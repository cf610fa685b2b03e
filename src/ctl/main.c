/*
 * main.c - entry point of informerctl. Each command prints its own errors and returns its exit code.
 */
#include <stdlib.h>

#include "ctl/ctl.h"

int main(int argc, char **argv)
{
    const struct command *command;
    void *options = NULL;
    int rc = command_line_parse(argc, argv, &command, &options);
    if (rc == 0)
        rc = command->run(options);
    free(options);
    return rc;
}
