/*
 * overlap.h - where one text continues another.
 */
#ifndef BASE_TEXT_OVERLAP_H
#define BASE_TEXT_OVERLAP_H

#include <stddef.h>

#include "base/str.h"

/* How much of @next is in @text already: all of it if @text contains it, else the largest number of
 * bytes that are both the end of @text and the beginning of @next. Takes linear time; if @next begins
 * like many other places of @text, also memory of eight times the length of @next. */
size_t text_overlap(struct str text, struct str next);

#endif
