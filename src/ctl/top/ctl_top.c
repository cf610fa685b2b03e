/*
 * ctl_top.c - `informerctl top`: a picture of informerd at work, redrawn at an interval.
 *
 * Two connections: one requests the status at each interval, the other follows the event stream, which
 * shows what changes most. Neither is waited for: keys and signals are handled while informerd does not
 * answer. If a connection ends, the picture says so and both are opened again at the next interval.
 *
 * Without a terminal, one picture is printed after one interval, which the rates need.
 */
#include "ctl/top/ctl_top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "ctl/ctl.h"
#include "ctl/top/ctl_screen.h"
#include "daemon/cli/terminal.h"
#include "daemon/conf/conf_type.h"

enum {
    INTERVAL_DEFAULT_MS = 2000,
    INTERVAL_MIN_MS = 100,
    INTERVAL_MAX_MS = 3600 * 1000,
};

struct top_options {
    const char *socket;
    const char *interval;
};

/* A response that is read in pieces. */
struct transfer {
    struct client *client; /* NULL: not connected */
    struct client_reply reply;
    bool busy;
};

struct top {
    const struct top_options *o;
    uint64_t interval_ms;
    struct top_model model;
    struct top_view view;
    struct transfer status, events;
    uint64_t next_ms; /* of the next status */
    bool drawn;       /* since the last change */
    int rc;           /* of the first connection that failed; without a terminal it is the result */
    bool no_events;   /* informerd refused them */
    bool ended;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- connections ---- */

static void transfer_close(struct transfer *t)
{
    client_close(t->client);
    buf_free(&t->reply.body);
    *t = (struct transfer){0};
}

static void fail(struct top *top, const struct inf_error *err)
{
    top->rc = top->rc ? top->rc : ctl_exit_code(err);
    top_model_problem(&top->model, err->text);
    transfer_close(&top->status);
    transfer_close(&top->events);
    top->drawn = false;
}

static int transfer_start(struct top *top, struct transfer *t, const char *target,
                          struct inf_error *err)
{
    if (t->busy)
        return 0;
    if (!t->client && client_open(top->o->socket, &t->client, err) < 0)
        return -err->code;
    buf_free(&t->reply.body);
    t->reply = (struct client_reply){0};
    t->busy = true;
    return client_send(t->client, target, NULL, err);
}

/* Requests a status, and the event stream if it is not open. */
static void request(struct top *top)
{
    struct inf_error err;
    if (transfer_start(top, &top->status, "/informerd/v1/status", &err) < 0 ||
        (!top->no_events &&
         transfer_start(top, &top->events, "/informerd/v1/events?follow=true&format=jsonl", &err) <
             0))
        fail(top, &err);
    top->next_ms = now_ms() + top->interval_ms;
}

/* An error status ends the program with a terminal too: the next request would get the same. Without the
 * event stream, only what changes most is missing. */
static void refuse(struct top *top, struct transfer *t)
{
    struct inf_error err;
    ctl_json_error(t->reply.status, (struct str){t->reply.body.bytes, t->reply.body.len}, &err);
    if (t == &top->events) {
        top_model_no_events(&top->model, err.text);
        top->no_events = true;
        return;
    }
    fail(top, &err);
    top->ended = true;
}

static void take_status(struct top *top)
{
    struct transfer *t = &top->status;
    struct arena arena = {0};
    t->busy = false;
    if (t->reply.status != 200) {
        refuse(top, t);
        return;
    }
    top_model_status(&top->model,
                     json_tree_make(&arena, (struct str){t->reply.body.bytes, t->reply.body.len}),
                     now_ms());
    arena_free(&arena);
    top->drawn = false;
}

/* The lines that are complete. */
static void take_events(struct top *top)
{
    struct buf *body = &top->events.reply.body;
    uint64_t now = now_ms();
    size_t at = 0;
    for (const char *end;
         body->len > at && (end = memchr(body->bytes + at, '\n', body->len - at));) {
        struct arena arena = {0};
        struct str line = {body->bytes + at, (size_t)(end - (body->bytes + at))};
        top_model_change(&top->model, json_tree_make(&arena, line), now);
        arena_free(&arena);
        at += line.len + 1;
    }
    buf_consume(body, at);
}

static void on_readable(struct top *top, struct transfer *t)
{
    struct inf_error err;
    int rc = client_read(t->client, &t->reply, &err);
    if (rc < 0) {
        fail(top, &err);
        return;
    }
    if (t == &top->status && rc == 0)
        take_status(top);
    else if (t == &top->events && rc == 0 && t->reply.status != 200)
        refuse(top, t);
    else if (t == &top->events && t->reply.status == 200)
        take_events(top);
    if (t == &top->events && rc == 0)
        transfer_close(t); /* opened again at the next interval */
}

/* ---- waiting ---- */

enum {
    POLL_STATUS,
    POLL_EVENTS,
    POLL_KEYS,
    POLL_SIGNALS,
    POLL_COUNT,
};

static int poll_fd(const struct transfer *t)
{
    return t->client && t->busy ? client_fd(t->client) : -1;
}

/* Waits for the next interval at most. @screen NULL: without keys and signals. */
static void wait_for_input(struct top *top, const struct screen *screen, struct pollfd *fds)
{
    uint64_t now = now_ms();
    int timeout = top->next_ms > now ? (int)(top->next_ms - now) : 0;
    fds[POLL_STATUS] = (struct pollfd){poll_fd(&top->status), POLLIN, 0};
    fds[POLL_EVENTS] = (struct pollfd){poll_fd(&top->events), POLLIN, 0};
    fds[POLL_KEYS] = (struct pollfd){screen ? STDIN_FILENO : -1, POLLIN, 0};
    fds[POLL_SIGNALS] = (struct pollfd){screen ? screen->signals : -1, POLLIN, 0};
    while (poll(fds, POLL_COUNT, timeout) < 0 && errno == EINTR)
        ;
    if (fds[POLL_STATUS].revents)
        on_readable(top, &top->status);
    if (fds[POLL_EVENTS].revents && top->events.client)
        on_readable(top, &top->events);
}

/* ---- with a terminal ---- */

/* The bytes of an escape sequence, at an escape: those of arrows and function keys have no effect. */
static size_t sequence_len(const char *at, size_t len)
{
    size_t i = 2;
    if (len < 2 || (at[1] != '[' && at[1] != 'O'))
        return 1;
    while (i < len && (at[i] < '@' || at[i] > '~'))
        i++;
    return i < len ? i + 1 : len;
}

static void on_key(struct top *top, char key)
{
    top->ended = top->ended || key == 'q';
    if (top_view_key(&top->view, key))
        top->drawn = false;
    if (key == ' ')
        top->next_ms = 0;
}

static void read_keys(struct top *top)
{
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));
    size_t len = n > 0 ? (size_t)n : 0;
    if (n == 0 || (n < 0 && errno != EINTR))
        top->ended = true; /* the terminal is gone */
    for (size_t i = 0; i < len;) {
        if (keys[i] == '\x1b')
            i += sequence_len(keys + i, len - i);
        else
            on_key(top, keys[i++]);
    }
}

static void read_signals(struct top *top, struct screen *screen)
{
    int signal;
    while ((signal = screen_signal(screen))) {
        switch (signal) {
        case SIGTSTP: screen_suspend(screen); break;
        case SIGCONT:
        case SIGWINCH: screen_measure(screen); break;
        default: top->ended = true;
        }
        top->drawn = false;
    }
}

static void draw(struct top *top, const struct screen *screen)
{
    struct buf text = {0};
    top->view.width = screen->width;
    top->view.height = screen->height;
    top_view_put(&top->view, &top->model, now_ms(), &text);
    if (screen_show(screen, &text) < 0)
        top->ended = true;
    buf_free(&text);
    top->drawn = true;
}

static int run_on_screen(struct top *top, struct screen *screen)
{
    struct pollfd fds[POLL_COUNT];
    while (!top->ended) {
        if (now_ms() >= top->next_ms)
            request(top);
        if (!top->drawn)
            draw(top, screen);
        wait_for_input(top, screen, fds);
        if (fds[POLL_KEYS].revents)
            read_keys(top);
        if (fds[POLL_SIGNALS].revents)
            read_signals(top, screen);
    }
    screen_close(screen);
    if (top->model.problem && !top->model.has_status)
        ctl_print_error(top->model.problem);
    return top->model.has_status ? 0 : top->rc;
}

/* ---- without a terminal ---- */

/* Two statuses, one interval apart. */
static int print_once(struct top *top)
{
    struct pollfd fds[POLL_COUNT];
    struct buf text = {0};
    int rc;
    for (int i = 0; i < 2 && !top->model.problem; i++) {
        uint64_t before = top->model.status_ms;
        request(top);
        while (!top->model.problem &&
               (top->model.status_ms == before || (i == 0 && now_ms() < top->next_ms)))
            wait_for_input(top, NULL, fds);
    }
    if (top->model.problem) {
        ctl_print_error(top->model.problem);
        return top->rc;
    }
    top_view_put(&top->view, &top->model, now_ms(), &text);
    rc = command_print(&text);
    buf_free(&text);
    return rc;
}

/* ---- the command ---- */

static int top_run(const void *options)
{
    struct top top = {.o = options, .interval_ms = INTERVAL_DEFAULT_MS};
    struct screen screen;
    int rc;
    if (top.o->interval)
        (void)conf_number_parse(&conf_type_duration, top.o->interval, &top.interval_ms);
    (void)terminal_use_locale();
    top.view.colour = terminal_has_colours(STDOUT_FILENO);
    if (terminal_can_erase(STDOUT_FILENO) && screen_open(&screen) == 0)
        rc = run_on_screen(&top, &screen);
    else
        rc = print_once(&top);
    transfer_close(&top.status);
    transfer_close(&top.events);
    top_model_free(&top.model);
    return rc;
}

static int top_parse(void *options, int argc, char **argv)
{
    const struct top_options *o = options;
    uint64_t ms = INTERVAL_DEFAULT_MS;
    if (argc)
        return command_usage_error(&ctl_top, "unexpected argument '%s'", argv[0]);
    if (o->interval && (!conf_number_parse(&conf_type_duration, o->interval, &ms) ||
                        ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS))
        return command_usage_error(&ctl_top, "--interval '%s': write a duration from 100ms to 1h",
                                   o->interval);
    return 0;
}

static const struct flag top_flags[] = {
    {0, "interval", "DURATION", offsetof(struct top_options, interval),
     .help = "time between two updates, 100ms to 1h (default: 2s)"},
    FLAG_SOCKET(struct top_options),
    {0},
};

const struct command ctl_top = {
    .name = "top",
    .arguments = "[flags]",
    .summary = "show watches, rates and what changes most",
    .description = "Show the watches of informerd with their state, objects, memory and rate of "
                   "changes, its event logs and handlers, and the objects or managers that change "
                   "most. Without a terminal, print this once.",
    .flags = top_flags,
    .notes = "Keys:\n"
             "  q quit, ? help, t objects or managers, space refresh\n"
             "  sort watches by: r rate, o objects, m memory, a age, n name, c configuration\n",
    .size = sizeof(struct top_options),
    .parse = top_parse,
    .run = top_run,
};
