/*
 * ctl_text.h - ages and sizes, and colours, for people.
 */
#ifndef CTL_CTL_TEXT_H
#define CTL_CTL_TEXT_H

#include <stdint.h>

#include "base/buf.h"

#define CTL_RED    "\x1b[31m"
#define CTL_YELLOW "\x1b[33m"
#define CTL_GREEN  "\x1b[32m"
#define CTL_BOLD   "\x1b[1m"
#define CTL_PLAIN  "\x1b[0m"

/* "5s", "12m", "3h", "4d": as kubectl prints ages. The caller frees it. */
char *ctl_age_text(uint64_t ms);

/* "512", "1.5K", "12M", "3.1G". The caller frees it. */
char *ctl_bytes_text(uint64_t bytes);

#endif
