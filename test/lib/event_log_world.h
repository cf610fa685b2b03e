/*
 * event_log_world.h - one event log in virtual time, on a disk with injected failures, and a
 * recorder of its callbacks.
 */
#ifndef TEST_EVENT_LOG_WORLD_H
#define TEST_EVENT_LOG_WORLD_H

#include "daemon/output/event_log.h"
#include "daemon/output/sink_file.h"
#include "fake_disk.h"
#include "folder.h"

/* The callbacks of an event log since the start. The `owner` of the log. */
struct event_log_recorder {
    struct buf logged; /* "<level> <line>\n" each, without the name of the log */
    char holds[64];    /* "H" for each hold, "R" for each resume */
    int lost;          /* error */
    bool closed;
    uint64_t dropped; /* lines */
    uint64_t removed; /* lines in a file that was removed */
};

extern const struct event_log_events event_log_recorder_events;

struct event_log_world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct event_log log;
    struct event_log_recorder recorder;
    char *path;
};

/* For cmocka. The tear-down closes the log, if the test has opened one. */
int event_log_world_set_up(void **state);
int event_log_world_tear_down(void **state);

#define IN_EVENT_LOG_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, event_log_world_set_up, event_log_world_tear_down)

/* Opens the log with these settings; the target is w->path ("log") unless set. */
void event_log_world_open(struct event_log_world *w, struct event_log_settings settings);

/* Collects lines, releases them, and runs until nothing is left to do. */
void event_log_world_put(struct event_log_world *w, const char *lines);

/* Asserts what was logged since the last call. */
void event_log_world_assert_logged(struct event_log_world *w, const char *expected);

/* Moves the file of the log to "moved", as an operator or logrotate does. */
void event_log_world_move_file(struct event_log_world *w);

#endif
