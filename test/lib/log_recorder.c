#include "log_recorder.h"

#include <stdio.h>

#include "base/base.h"

static void log_recorder_emit(struct log *log, enum log_level level, const char *line)
{
    struct log_recorder *recorder = container_of(log, struct log_recorder, log);
    recorder->lines++;
    recorder->level = level;
    snprintf(recorder->last, sizeof(recorder->last), "%s", line);
}

void log_recorder_init(struct log_recorder *recorder, enum log_level level)
{
    *recorder = (struct log_recorder){.log = {.level = level, .emit = log_recorder_emit}};
}
