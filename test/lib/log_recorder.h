/*
 * log_recorder.h - a log (base/log.h) that counts its lines and keeps the last one.
 */
#ifndef TEST_LOG_RECORDER_H
#define TEST_LOG_RECORDER_H

#include "base/log.h"

struct log_recorder {
    struct log log;
    int lines;
    enum log_level level; /* of the last line */
    char last[2048];
};

void log_recorder_init(struct log_recorder *recorder, enum log_level level);

#endif
