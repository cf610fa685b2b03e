/*
 * ctl_screen.h - the whole terminal for a program that redraws it: the alternate screen, keys without
 * Enter, no cursor. Plain ANSI sequences, which every terminal of the last decades and ssh understand.
 *
 *     if (screen_open(&screen) == 0) {
 *         screen_show(&screen, text);           a picture
 *         screen_close(&screen);                the terminal is as before
 *     }
 *
 * While it is open, signals arrive as bytes of a descriptor: poll `signals` and call screen_signal(). The
 * terminal is restored by screen_close(), by screen_suspend() while the program is stopped, and by a handler
 * if the program crashes.
 */
#ifndef CTL_CTL_SCREEN_H
#define CTL_CTL_SCREEN_H

#include <signal.h>
#include <termios.h>

#include "base/buf.h"

struct screen {
    struct termios before;
    sigset_t mask_before;
    int signals; /* readable when a signal has arrived */
    unsigned width, height;
};

/* Takes over the terminal at stdin and stdout. Returns 0, or -1 if they are none: nothing has changed. */
int screen_open(struct screen *screen);
void screen_close(struct screen *screen);

/* Reads the size of the terminal; 80x24 if it is unknown. */
void screen_measure(struct screen *screen);

/* Replaces the contents of the screen by @text, which has a line for each of the screen, and lines that fit. Returns 0, or -1 if the terminal is
 * gone. */
int screen_show(const struct screen *screen, const struct buf *text);

/* The signal that has arrived; 0: none. After SIGTSTP call screen_suspend(), after SIGWINCH and SIGCONT
 * screen_measure(). */
int screen_signal(const struct screen *screen);

/* Restores the terminal, stops the process as SIGTSTP does, and takes the terminal again when it
 * continues. */
void screen_suspend(struct screen *screen);

#endif
