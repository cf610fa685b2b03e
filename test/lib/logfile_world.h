/*
 * logfile_world.h - one logfile on a disk that fails when a test says so, in a directory of its own.
 */
#ifndef TEST_LOGFILE_WORLD_H
#define TEST_LOGFILE_WORLD_H

#include "daemon/journal/logfile.h"
#include "fake_disk.h"
#include "folder.h"

struct logfile_world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    char *path;
    struct logfile file;
    int64_t result; /* of the last operation */
};

/* cmocka's: the logfile is set up for "log", and not open. */
int logfile_world_set_up(void **state);
int logfile_world_tear_down(void **state);

/* Another path or descriptor instead. */
void logfile_world_use(struct logfile_world *w, const char *path, int fd);

/* Runs the operation that was begun to its end, and returns its result. */
int64_t logfile_world_finish(struct logfile_world *w);

/* Begin and finish one; writing and closing must succeed. */
int64_t logfile_world_open(struct logfile_world *w);
void logfile_world_write(struct logfile_world *w, const char *text);
void logfile_world_close(struct logfile_world *w);

#endif
