/*
 * http_retry_after.h - the header Retry-After.
 */
#ifndef WIRE_HTTP_RETRY_AFTER_H
#define WIRE_HTTP_RETRY_AFTER_H

#include <stdint.h>

/* The seconds to wait: @value is their number, or a date as HTTP writes it. 0: it is in the past, or not
 * valid. The caller limits the result. */
uint64_t http_retry_after_s(const char *value, int64_t now_us);

#endif
