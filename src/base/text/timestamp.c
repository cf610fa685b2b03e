/*
 * timestamp.c - formats and parses RFC 3339 times. Parsing is strict: each take_* function consumes
 * one part and reports whether it was valid.
 */
#include "base/text/timestamp.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "informer/error.h"

/* The years 0000 and 9999, in microseconds since 1970. */
static const int64_t first_us = -62167219200000000;
static const int64_t last_us = 253402300799999999;

/* Writes @value with leading zeros, then @separator. Returns the position after it. */
static char *put_digits(char *at, int value, int digits, char separator)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        at[i] = (char)('0' + value % 10);
    at[digits] = separator;
    return at + digits + 1;
}

/* Not with snprintf(), which took 8 % of the instructions of a record (make instructions, write_lines). */
void timestamp_format(int64_t us, char ret[TIMESTAMP_SIZE])
{
    int64_t clamped = us < first_us ? first_us : us > last_us ? last_us : us;
    int64_t fraction = (clamped % 1000000 + 1000000) % 1000000; /* before 1970 as well */
    time_t seconds = (time_t)((clamped - fraction) / 1000000);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    ret = put_digits(ret, tm.tm_year + 1900, 4, '-');
    ret = put_digits(ret, tm.tm_mon + 1, 2, '-');
    ret = put_digits(ret, tm.tm_mday, 2, 'T');
    ret = put_digits(ret, tm.tm_hour, 2, ':');
    ret = put_digits(ret, tm.tm_min, 2, ':');
    ret = put_digits(ret, tm.tm_sec, 2, '.');
    ret = put_digits(ret, (int)fraction, 6, 'Z');
    *ret = '\0';
}

/* Consumes exactly @n digits; -1: invalid. */
static int take_digits(const char **text, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        value = value * 10 + (**text - '0');
    }
    return value;
}

static bool take_letter(const char **text, char upper)
{
    bool found = **text == upper || **text == upper + ('a' - 'A');
    *text += found;
    return found;
}

static bool take_sign(const char **text, char sign)
{
    bool found = **text == sign;
    *text += found;
    return found;
}

static bool take_date(const char **text, struct tm *tm)
{
    tm->tm_year = take_digits(text, 4) - 1900;
    if (!take_sign(text, '-'))
        return false;
    tm->tm_mon = take_digits(text, 2) - 1;
    if (!take_sign(text, '-'))
        return false;
    tm->tm_mday = take_digits(text, 2);
    return tm->tm_year >= -1900 && tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 &&
           tm->tm_mday <= 31;
}

static bool take_time(const char **text, struct tm *tm)
{
    tm->tm_hour = take_digits(text, 2);
    if (!take_sign(text, ':'))
        return false;
    tm->tm_min = take_digits(text, 2);
    if (!take_sign(text, ':'))
        return false;
    tm->tm_sec = take_digits(text, 2);
    return tm->tm_hour >= 0 && tm->tm_hour < 24 && tm->tm_min >= 0 && tm->tm_min < 60 &&
           tm->tm_sec >= 0 && tm->tm_sec <= 60;
}

/* ".5" is 500000; nothing is 0; -1: a dot without digits. */
static int take_fraction(const char **text)
{
    int us = 0, digits = 0;
    if (!take_sign(text, '.'))
        return 0;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        if (digits++ < 6)
            us = us * 10 + (**text - '0');
    for (int i = digits; i < 6; i++)
        us *= 10;
    return digits ? us : -1;
}

static bool take_offset(const char **text, int *ret_minutes)
{
    int sign, hours, minutes;
    *ret_minutes = 0;
    if (take_letter(text, 'Z'))
        return true;
    sign = take_sign(text, '-') ? -1 : 1;
    if (sign > 0 && !take_sign(text, '+'))
        return false;
    hours = take_digits(text, 2);
    if (!take_sign(text, ':'))
        return false;
    minutes = take_digits(text, 2);
    *ret_minutes = sign * (hours * 60 + minutes);
    return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

int timestamp_parse(const char *text, int64_t *ret_us)
{
    struct tm tm = {.tm_year = 0};
    int us, offset;
    if (!take_date(&text, &tm) || !take_letter(&text, 'T') || !take_time(&text, &tm))
        return -INF_EINVAL;
    us = take_fraction(&text);
    if (us < 0 || !take_offset(&text, &offset) || *text)
        return -INF_EINVAL;
    *ret_us = ((int64_t)timegm(&tm) - (int64_t)offset * 60) * 1000000 + us;
    return 0;
}
