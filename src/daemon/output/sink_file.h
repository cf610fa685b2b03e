/*
 * sink_file.h - the sink that writes to a log file: its intervals and, for tests, its struct. Other code
 * uses it through sink.h.
 */
#ifndef DAEMON_OUTPUT_SINK_FILE_H
#define DAEMON_OUTPUT_SINK_FILE_H

#include "daemon/output/log_file.h"
#include "daemon/output/log_tail.h"
#include "daemon/output/sink.h"

enum {
    SINK_FILE_CHECK_MS = 1000, /* between checks whether the path still names the file */
    SINK_FILE_LOOK_MS = 5,     /* the check for a removed file is not repeated within this time */
    SINK_FILE_ROTATE_AGAIN_MS = 60000,
    SINK_FILE_LOCKED_TEXT = 96,
    SINK_FILE_RECALL_MORE = 1024 * 1024, /* bytes read beyond the lines: blank ones, and lines that
                                            were written after them */
};

struct file_sink {
    struct sink sink;
    struct clock *clock;
    struct log_file file;
    struct log_tail tail;    /* of recall() */
    struct task recall_task; /* `tail` was read */
    struct str recalled;     /* the lines it looks for */
    struct str tail_text;    /* of `tail`, without blank lines */
    struct str tail_left;    /* for on_tail() */
    uint64_t rotate_size;
    unsigned keep;
    uint64_t check_due_ms;
    uint64_t look_due_ms;
    uint64_t rotate_due_ms;
    uint64_t unchecked_lines; /* written since the last check that the file still has a name */
    bool rotation_failing;    /* reported */
    char locked_by[SINK_FILE_LOCKED_TEXT]; /* message for -EBUSY */
};

#endif
