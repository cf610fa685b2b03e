/*
 * log_file_world.h - one log file on a disk with injected failures, in a temporary directory.
 */
#ifndef TEST_LOG_FILE_WORLD_H
#define TEST_LOG_FILE_WORLD_H

#include "daemon/output/log_file.h"
#include "fake_disk.h"
#include "folder.h"

struct log_file_world {
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    char *path;
    struct log_file file;
    int64_t result; /* of the last operation */
};

/* For cmocka. The file "log" is not open. */
int log_file_world_set_up(void **state);
int log_file_world_tear_down(void **state);

/* Uses another path. */
void log_file_world_use(struct log_file_world *w, const char *path);

/* Runs the operation in flight to its end, and returns its result. */
int64_t log_file_world_finish(struct log_file_world *w);

/* Run one operation to its end; writing and closing must succeed. */
int64_t log_file_world_open(struct log_file_world *w);
void log_file_world_write(struct log_file_world *w, const char *text);
void log_file_world_close(struct log_file_world *w);

#endif
