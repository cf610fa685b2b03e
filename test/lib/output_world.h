/*
 * output_world.h - one output in virtual time, on a disk that fails when a test says so, and what it reports.
 */
#ifndef TEST_OUTPUT_WORLD_H
#define TEST_OUTPUT_WORLD_H

#include "daemon/journal/output.h"
#include "fake_disk.h"
#include "folder.h"

struct output_world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct output output;
    char *path;
    struct buf said;
    char holds[64]; /* "H" and "R" */
    int idle;
    int lost;
    bool closed;
    uint64_t dropped; /* lines */
    uint64_t removed; /* lines in a file that was removed */
};

/* cmocka's. What was opened is closed at the end. */
int output_world_set_up(void **state);
int output_world_tear_down(void **state);

/* Opens the output "log", or w->path. */
void output_world_open(struct output_world *w, uint64_t rotate_size, unsigned keep);

/* Collects lines, clears them for writing, and runs until nothing is left to do. */
void output_world_put(struct output_world *w, const char *lines);

/* What was logged since the last time: "<level> <line>" each. */
void output_world_assert_said(struct output_world *w, const char *expected);

extern const struct output_events output_world_events;

#endif
