/*
 * ear.h - a log (base/log.h) that counts lines and remembers the last one.
 */
#ifndef TEST_EAR_H
#define TEST_EAR_H

#include "base/log.h"

struct ear {
    struct log log;
    int lines;
    enum log_level level; /* of the last line */
    char last[2048];
};

void ear_init(struct ear *ear, enum log_level level);

#endif
