/*
 * ctl_record.h - records of informerd as text for a terminal: one line each, or a timeline with the old
 * and new values.
 *
 *     10:02:33 MODIFIED pod shop/web-0              status.phase Pending → Running  (kubelet)
 *
 *     10:02:33 MODIFIED by kubelet
 *              status.phase  Pending → Running
 *     10:02:40 Warning  BackOff: Back-off restarting failed container (x3)
 *     10:03:10 GAP      records before the next one are no longer kept
 */
#ifndef CTL_CTL_RECORD_H
#define CTL_CTL_RECORD_H

#include <stdint.h>

#include "base/buf.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/record_format.h"

/* What stdout can show: its width, colours and characters. */
struct record_options ctl_record_options(void);

/* Appends @record as one line. */
void ctl_record_put_line(struct buf *out, const struct json_node *record,
                         const struct record_options *options);

/* A timeline. Zeroed at the start. */
struct ctl_timeline {
    const struct record_options *options;
    bool with_names; /* of several objects: each record has its name */
    char day[16];    /* of the last record */
    size_t indent;   /* before each line */
};

/* Appends @record as the next entry. */
void ctl_timeline_put(struct ctl_timeline *timeline, struct buf *out,
                      const struct json_node *record);

/*
 * Reads a time of the command line: a sequence number if @allow_seq, RFC 3339 and durations as informerd
 * accepts them; or a local time: 10:02, 10:02:33, "2026-11-18", "2026-11-18 10:02". Appends it for a
 * request. Returns 0, or -INF_EINVAL.
 */
int ctl_time_put(struct buf *out, const char *text, bool allow_seq, int64_t now_us,
                 struct inf_error *err);

#endif
