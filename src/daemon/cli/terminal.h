/*
 * terminal.h - whether a file descriptor is a terminal with colours, and how wide it is.
 */
#ifndef DAEMON_CLI_TERMINAL_H
#define DAEMON_CLI_TERMINAL_H

#include <stdbool.h>

/* True for a terminal if TERM is set and not "dumb", and NO_COLOR is unset or empty. */
bool terminal_has_colours(int fd);

/* Columns of the terminal; 0 if @fd is not a terminal or its width is unknown. */
unsigned terminal_width(int fd);

#endif
