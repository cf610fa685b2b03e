/*
 * terminal.h - whether somebody looks at it, and how wide their screen is.
 */
#ifndef DAEMON_CLI_TERMINAL_H
#define DAEMON_CLI_TERMINAL_H

#include <stdbool.h>

/* A terminal that is not dumb, and nobody who set NO_COLOR. */
bool terminal_has_colours(int fd);

/* Characters in a line; 0: it is no terminal, or does not say. */
unsigned terminal_width(int fd);

#endif
