/*
 * ctl_screen.c - takes over the terminal and restores it.
 *
 * The signals that end or stop the program are blocked and read from a signalfd, so that they are handled
 * between two pictures and no state is shared with a handler. Ctrl-C and Ctrl-Z stay signals. A crash has a
 * handler that needs no state: it leaves the alternate screen and turns the usual modes of the line on.
 */
#include "ctl/top/ctl_screen.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/base.h"

/* The alternate screen, without cursor and without wrapping of long lines; and back. */
#define ENTER "\x1b[?1049h\x1b[?25l\x1b[?7l"
#define LEAVE "\x1b[?7h\x1b[?25h\x1b[?1049l"

static int write_all(const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(STDOUT_FILENO, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* ---- crashes ---- */

static void on_crash(int signal)
{
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_lflag |= ICANON | ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
    (void)write_all(LEAVE, strlen(LEAVE));
    (void)raise(signal); /* SA_RESETHAND: with its usual effect */
}

static void watch_crashes(void)
{
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        (void)sigaction(crashes[i], &action, NULL);
}

/* ---- the terminal ---- */

static void enter(struct screen *s)
{
    struct termios modes = s->before;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes);
    (void)write_all(ENTER, strlen(ENTER));
    screen_measure(s);
}

static void leave(const struct screen *s)
{
    (void)write_all(LEAVE, strlen(LEAVE));
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
}

int screen_open(struct screen *s)
{
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
    sigset_t mask;
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &s->before) < 0)
        return -1;
    sigemptyset(&mask);
    for (size_t i = 0; i < ARRAY_LEN(handled); i++)
        sigaddset(&mask, handled[i]);
    s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signals < 0)
        return -1;
    (void)sigprocmask(SIG_BLOCK, &mask, &s->mask_before);
    watch_crashes();
    enter(s);
    return 0;
}

void screen_close(struct screen *s)
{
    leave(s);
    (void)sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
    close(s->signals);
}

void screen_measure(struct screen *s)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    s->width = known ? size.ws_col : 80;
    s->height = known ? size.ws_row : 24;
}

int screen_show(const struct screen *s, const struct buf *text)
{
    struct buf out = {0};
    int rc;
    (void)s;
    buf_puts(&out, "\x1b[H\x1b[K");
    for (size_t i = 0; i < text->len; i++)
        if (text->bytes[i] == '\n')
            buf_puts(
                &out,
                "\r\n\x1b[K"); /* erased before it is written: a full line has no column after it */
        else
            buf_putc(&out, text->bytes[i]);
    rc = write_all(out.bytes, out.len);
    buf_free(&out);
    return rc;
}

int screen_signal(const struct screen *s)
{
    struct signalfd_siginfo info;
    ssize_t n;
    do
        n = read(s->signals, &info, sizeof(info));
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

void screen_suspend(struct screen *s)
{
    sigset_t stop, blocked;
    leave(s);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    (void)raise(SIGTSTP);                            /* pending, because it is blocked */
    (void)sigprocmask(SIG_UNBLOCK, &stop, &blocked); /* stops here until SIGCONT */
    (void)sigprocmask(SIG_SETMASK, &blocked, NULL);
    enter(s);
}
