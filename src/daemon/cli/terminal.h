/*
 * terminal.h - what a terminal can show: colours, columns, characters.
 */
#ifndef DAEMON_CLI_TERMINAL_H
#define DAEMON_CLI_TERMINAL_H

#include <stdbool.h>

enum terminal_colour {
    TERMINAL_COLOUR_AUTO, /* terminal_has_colours() */
    TERMINAL_COLOUR_ALWAYS,
    TERMINAL_COLOUR_NEVER,
};

/* terminal_can_erase(), and NO_COLOR is unset or empty. */
bool terminal_has_colours(int fd);

/* True for a terminal if TERM is set and not "dumb". */
bool terminal_can_erase(int fd);

/* Columns of the terminal; 0 if @fd is not a terminal or its width is unknown. */
unsigned terminal_width(int fd);

/*
 * Whether terminals show UTF-8, according to LC_ALL, LC_CTYPE and LANG. Sets LC_CTYPE of the process,
 * on which the width of characters depends: base/text/display.h. If the variables name no locale, or a
 * UTF-8 locale that is not installed, C.UTF-8 is used.
 */
bool terminal_use_locale(void);

#endif
