/*
 * main.c - entry point of informerd: parses the command line and runs the command. Each command
 * prints its own errors and returns its exit code.
 */
#include <malloc.h>
#include <stdlib.h>

#include "daemon/cli/command.h"
#include "daemon/signals.h"

int main(int argc, char **argv)
{
    const struct command *command;
    void *options = NULL;
    int rc;
    signals_hold(); /* until the daemon has installed its handlers */
    /* Without the fast bins of glibc: with them, small freed chunks are merged all at once when a
     * large one is freed; after a relist of 100,000 objects that blocks the loop for 5 to 10 ms.
     * Without them each chunk is merged when it is freed (test/bench/bench_engine.c shows both). */
    mallopt(M_MXFAST, 0);
    rc = command_line_parse(argc, argv, &command, &options);
    if (rc == 0)
        rc = command->run(options);
    free(options);
    return rc;
}
