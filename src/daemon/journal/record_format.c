/*
 * record_format.c - the tables made of the rows of RECORD_FORMATS.
 */
#include "daemon/journal/record_format.h"

#define POINTER(format, name) &(format),
#define NAME(format, name)    name,

const struct record_format *const record_formats[] = {RECORD_FORMATS(POINTER)};
const char *const record_format_names[] = {RECORD_FORMATS(NAME) NULL};
