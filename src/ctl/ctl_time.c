/*
 * ctl_time.c - times of the command line, in the forms that people write.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "informer/error.h"

#include "base/base.h"
#include "base/err.h"
#include "base/text/timestamp.h"
#include "ctl/client.h"
#include "ctl/ctl_record.h"

/* Local times; those without a date are of today, or of yesterday if they would be in the future. */
static const struct {
    const char *format;
    bool has_date;
} forms[] = {
    {"%H:%M", false},         {"%H:%M:%S", false},         {"%Y-%m-%d", true},
    {"%Y-%m-%d %H:%M", true}, {"%Y-%m-%d %H:%M:%S", true}, {"%Y-%m-%dT%H:%M:%S", true},
};

static bool parse_local(const char *text, time_t now, time_t *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm tm = {0};
        const char *end;
        if (!forms[i].has_date)
            localtime_r(&now, &tm);
        tm.tm_sec = 0;
        end = strptime(text, forms[i].format, &tm);
        if (!end || *end)
            continue;
        tm.tm_isdst = -1;
        *ret = mktime(&tm);
        if (!forms[i].has_date && *ret > now) {
            tm.tm_mday--;
            tm.tm_isdst = -1;
            *ret = mktime(&tm);
        }
        return true;
    }
    return false;
}

/* Digits and a unit. */
static bool is_duration(const char *text)
{
    static const char *const units[] = {"ms", "s", "m", "h", "d"};
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; digits && i < ARRAY_LEN(units); i++)
        if (strcmp(text + digits, units[i]) == 0)
            return true;
    return false;
}

int ctl_time_put(struct buf *out, const char *text, bool allow_seq, int64_t now_us,
                 struct inf_error *err)
{
    char stamp[TIMESTAMP_SIZE];
    int64_t us;
    time_t local;
    if ((allow_seq && *text && !text[strspn(text, "0123456789")]) || is_duration(text) ||
        timestamp_parse(text, &us) == 0) {
        client_put_escaped(out, text);
        return 0;
    }
    if (!parse_local(text, (time_t)(now_us / 1000000), &local))
        return err_set(err, INF_EINVAL,
                       "'%s' is not a time: use %s10m (before now), 10:02, \"2026-11-18 10:02\" or "
                       "2026-11-18T10:02:00Z",
                       text, allow_seq ? "a sequence number, " : "");
    timestamp_format((int64_t)local * 1000000, stamp);
    client_put_escaped(out, stamp);
    return 0;
}
