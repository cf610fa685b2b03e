#include "ear.h"

#include <stdio.h>

#include "base/base.h"

static void ear_emit(struct log *log, enum log_level level, const char *line)
{
    struct ear *ear = container_of(log, struct ear, log);
    ear->lines++;
    ear->level = level;
    snprintf(ear->last, sizeof(ear->last), "%s", line);
}

void ear_init(struct ear *ear, enum log_level level)
{
    *ear = (struct ear){.log = {.level = level, .emit = ear_emit}};
}
