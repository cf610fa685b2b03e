/*
 * sink_file.c - lines to a log file: when to check it, and when to rotate it.
 *
 * Normal path: open, then write. A regular file gets at most rotate_size bytes in whole lines before it
 * is rotated. Before a write, and after each, it is checked:
 *   - A file that was moved is reopened within SINK_FILE_CHECK_MS of writing.
 *   - A file that was removed is detected before the next write, or after the one in flight, whose
 *     lines are counted as lost.
 *
 * A rotation that fails is reported once and retried after SINK_FILE_ROTATE_AGAIN_MS; meanwhile the
 * file grows. All other errors are returned to the event log, which retries.
 */
#include "daemon/output/sink_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/text/overlap.h"

static struct file_sink *file_sink_of(const struct sink *sink)
{
    return container_of(sink, struct file_sink, sink);
}

static bool file_accepts(const char *target)
{
    (void)target;
    return true;
}

static void on_recall(struct task *task);

static struct sink *file_make(const char *target, struct clock *clock, struct disk *disk)
{
    struct file_sink *s = NEW(struct file_sink);
    s->clock = clock;
    task_init(&s->recall_task, PHASE_PUMP, on_recall);
    log_file_init(&s->file, disk, target);
    return &s->sink;
}

static void file_free(struct sink *sink)
{
    struct file_sink *s = file_sink_of(sink);
    task_cancel(&s->recall_task);
    log_tail_free(&s->tail);
    free(s);
}

static void file_configure(struct sink *sink, const struct sink_settings *settings)
{
    struct file_sink *s = file_sink_of(sink);
    s->rotate_size = settings->rotate_size;
    s->keep = settings->keep ? settings->keep : 1;
}

static void end_operation(struct file_sink *s, int64_t result)
{
    s->sink.open = log_file_is_open(&s->file);
    s->sink.on_done(&s->sink, result);
}

/* Remembers which process holds the lock of the file. */
static void note_lock_holder(struct file_sink *s)
{
    pid_t holder = s->file.holder;
    if (holder == getpid())
        snprintf(s->locked_by, sizeof(s->locked_by),
                 "another event log of this process has locked the file");
    else if (holder)
        snprintf(s->locked_by, sizeof(s->locked_by),
                 "process %d has locked the file; is a second informerd running?", (int)holder);
    else
        snprintf(s->locked_by, sizeof(s->locked_by),
                 "another process has locked the file; is a second informerd running?");
}

/* A missing file is created, so -ENOENT means that its directory is missing. */
static const char *file_error_text(const struct sink *sink, int error)
{
    switch (error) {
    case -EBUSY: return file_sink_of(sink)->locked_by;
    case -ENOENT: return "its directory does not exist";
    case -ENXIO: return "the FIFO has no reader";
    default: return NULL;
    }
}

/* ---- recalling ---- */

/* Removes lines of blanks only: repaired incomplete lines (see log_file.h). Mostly there are none. Returns the
 * new length. */
static size_t remove_blank_lines(char *text, size_t len)
{
    size_t kept = 0;
    for (size_t at = 0, line; at < len; at += line) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t blanks = 0;
        line = newline ? (size_t)(newline - text) + 1 - at : len - at;
        while (blanks < line && text[at + blanks] == ' ')
            blanks++;
        if (newline && blanks == line - 1)
            continue;
        if (kept != at)
            memmove(text + kept, text + at, line);
        kept += line;
    }
    return kept;
}

static size_t incomplete_line(struct str text)
{
    const char *newline = text.len ? memrchr(text.at, '\n', text.len) : NULL;
    return newline ? (size_t)(text.at + text.len - newline - 1) : text.len;
}

static size_t complete_lines(struct str text)
{
    return text.len - incomplete_line(text);
}

/* The number of bytes of @lines up to the end of @tail. If rotations have removed the files with the first of @lines,
 * all that is left is in the middle of them. */
static size_t find_end_of_tail(struct str tail, struct str lines)
{
    size_t found = text_overlap(tail, lines);
    const char *at = NULL;
    if (lines.len && !complete_lines((struct str){lines.at, found}) && complete_lines(tail))
        at = memmem(lines.at, lines.len, tail.at, tail.len);
    return at && at[-1] == '\n' ? (size_t)(at - lines.at) + tail.len : found;
}

/* An incomplete line that is not the beginning of one of ours will be blanked: what is before it
 * counts. */
static size_t find_recalled(struct file_sink *s, struct str tail)
{
    size_t found = find_end_of_tail(tail, s->recalled);
    s->file.continues = incomplete_line((struct str){s->recalled.at, found});
    tail.len = complete_lines(tail);
    return found ? found : find_end_of_tail(tail, s->recalled);
}

/* The lines that are looked for can only be here; what is before that is for on_tail(). */
static struct str end_of_tail(const struct file_sink *s)
{
    size_t max = s->recalled.len + SINK_FILE_RECALL_MORE;
    struct str end = s->tail_text;
    if (end.len > max)
        end = (struct str){end.at + end.len - max, max};
    return end;
}

static void on_recall(struct task *task)
{
    struct file_sink *s = container_of(task, struct file_sink, recall_task);
    bool cut = s->tail.len == s->tail.wanted;
    int64_t found;
    if (s->sink.tail_more && s->sink.on_tail(&s->sink, &s->tail_left, cut)) {
        task_schedule(s->clock, task);
        return;
    }
    s->sink.tail_more = 0;
    found = (int64_t)find_recalled(s, end_of_tail(s));
    log_tail_free(&s->tail);
    end_operation(s, found);
}

static void on_tail_read(struct log_tail *tail, int error)
{
    struct file_sink *s = container_of(tail, struct file_sink, tail);
    struct str text = log_tail_bytes(tail);
    if (error) {
        log_tail_free(tail);
        end_operation(s, error);
        return;
    }
    text.len = remove_blank_lines(tail->bytes + tail->wanted - tail->len, text.len);
    s->tail_text = s->tail_left = text;
    task_schedule(s->clock, &s->recall_task);
}

static void file_recall(struct sink *sink, const char *lines, size_t len)
{
    struct file_sink *s = file_sink_of(sink);
    s->recalled = (struct str){lines, len};
    log_tail_read(&s->tail, s->file.disk, s->file.path, s->keep,
                  len + SINK_FILE_RECALL_MORE + sink->tail_more, on_tail_read);
}

/* ---- opening and closing ---- */

static void schedule_checks(struct file_sink *s)
{
    s->check_due_ms = clock_now_ms(s->clock) + SINK_FILE_CHECK_MS;
    s->look_due_ms = clock_now_ms(s->clock) + SINK_FILE_LOOK_MS;
}

static void on_opened(struct log_file *file, int64_t result)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    schedule_checks(s);
    if (result == -EBUSY)
        note_lock_holder(s);
    s->sink.continued = result == 0 && file->continues;
    if (result == 0)
        file->continues = 0;
    end_operation(s, result);
}

static void file_open(struct sink *sink)
{
    struct file_sink *s = file_sink_of(sink);
    s->file.done = on_opened;
    log_file_open(&s->file);
}

static void on_closed(struct log_file *file, int64_t result)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    if (result < 0)
        sink_log(&s->sink, INF_LOG_WARN, "the previous file ends with an incomplete line: %s",
                 strerror((int)-result));
    end_operation(s, 0);
}

static void file_close(struct sink *sink)
{
    struct file_sink *s = file_sink_of(sink);
    s->file.done = on_closed;
    log_file_close(&s->file);
}

/* ---- writing ---- */

static void on_written(struct log_file *file, int64_t result)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    if (result > 0 && file->stat.regular)
        s->unchecked_lines += sink_count_lines(file->bytes, (size_t)result);
    end_operation(s, result);
}

static void file_write(struct sink *sink, const char *bytes, size_t len)
{
    struct file_sink *s = file_sink_of(sink);
    s->file.done = on_written;
    log_file_write(&s->file, bytes, len);
}

static void file_collect_write(struct sink *sink)
{
    log_file_collect_write(&file_sink_of(sink)->file);
}

static void file_cancel_write(struct sink *sink)
{
    log_file_cancel_write(&file_sink_of(sink)->file);
}

/* ---- checking ---- */

static bool file_check_due(const struct sink *sink, bool writing)
{
    const struct file_sink *s = file_sink_of(sink);
    uint64_t now = clock_now_ms(s->clock);
    return s->unchecked_lines ||
           (writing && s->file.stat.regular && (now >= s->check_due_ms || now >= s->look_due_ms));
}

static void reopen_moved(struct file_sink *s)
{
    sink_log(&s->sink, INF_LOG_WARN, "the file was moved or removed; reopening it");
    s->sink.reopen = true;
}

static void on_same_checked(struct log_file *file, int64_t same)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    schedule_checks(s);
    if (!same)
        reopen_moved(s);
    end_operation(s, 0);
}

/* Lines written before the file was removed were removed on purpose. Lines written since the last
 * check may have been written after the removal; that can't be determined, so they count as lost. */
static void on_name_checked(struct log_file *file, int64_t has_name)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    uint64_t lines = has_name ? 0 : s->unchecked_lines;
    s->unchecked_lines = 0;
    s->look_due_ms = clock_now_ms(s->clock) + SINK_FILE_LOOK_MS;
    if (!has_name)
        reopen_moved(s);
    if (lines)
        sink_log(&s->sink, INF_LOG_WARN,
                 "%" PRIu64 " line%s written after the file was removed %s lost", lines,
                 lines == 1 ? "" : "s", lines == 1 ? "is" : "are");
    end_operation(s, (int64_t)lines);
}

static void file_check(struct sink *sink)
{
    struct file_sink *s = file_sink_of(sink);
    if (s->unchecked_lines || clock_now_ms(s->clock) < s->check_due_ms) {
        s->file.done = on_name_checked;
        log_file_check_name(&s->file);
    } else {
        s->file.done = on_same_checked;
        log_file_check_same(&s->file);
    }
}

/* ---- rotating ---- */

/* Whole lines, so that the file stays below rotate_size. A line longer than that gets its own
 * file. */
static size_t file_room(const struct sink *sink, struct str rest, bool mid_line)
{
    const struct file_sink *s = file_sink_of(sink);
    uint64_t room = s->file.size < s->rotate_size ? s->rotate_size - s->file.size : 0;
    bool may_rotate =
        s->file.stat.regular && s->rotate_size && clock_now_ms(s->clock) >= s->rotate_due_ms;
    const char *end;
    if (!may_rotate || rest.len <= room)
        return rest.len;
    end = memrchr(rest.at, '\n', (size_t)room);
    if (!end && !mid_line && s->file.size)
        return 0;
    if (!end)
        end = memchr(rest.at, '\n', rest.len);
    return end ? (size_t)(end - rest.at) + 1 : rest.len;
}

static void on_rotated(struct log_file *file, int64_t result)
{
    struct file_sink *s = container_of(file, struct file_sink, file);
    int error = file->rotate_error;
    bool in_use = error == -EBUSY;
    schedule_checks(s);
    if (in_use || result == -EBUSY)
        note_lock_holder(s);
    if (error == LOG_FILE_MOVED) {
        reopen_moved(s);
    } else if (error) {
        if (!s->rotation_failing)
            sink_log(&s->sink, INF_LOG_ERROR, "rotation failed: %s%s; the file keeps growing",
                     in_use ? "a rotated file is in use: " : "",
                     in_use ? s->locked_by : strerror(-error));
        s->rotation_failing = true;
        s->rotate_due_ms = clock_now_ms(s->clock) + SINK_FILE_ROTATE_AGAIN_MS;
    } else {
        s->sink.rotations++;
        if (s->rotation_failing)
            sink_log(&s->sink, INF_LOG_INFO, "rotated again; no rotated file was lost");
        s->rotation_failing = false;
    }
    end_operation(s, result);
}

static void file_rotate(struct sink *sink)
{
    struct file_sink *s = file_sink_of(sink);
    s->file.done = on_rotated;
    log_file_rotate(&s->file, s->keep);
}

static bool file_files(const struct sink *sink, struct sink_files *ret)
{
    const struct file_sink *s = file_sink_of(sink);
    bool open = log_file_is_open(&s->file);
    if (open && !s->file.stat.regular)
        return false;
    *ret = (struct sink_files){.path = s->file.path, .keep = s->keep, .is_open = open};
    if (open)
        ret->current = s->file.stat;
    return true;
}

const struct sink_type sink_file = {
    .accepts = file_accepts,
    .on_pool = true,
    .make = file_make,
    .free = file_free,
    .configure = file_configure,
    .open = file_open,
    .write = file_write,
    .close = file_close,
    .collect_write = file_collect_write,
    .cancel_write = file_cancel_write,
    .check_due = file_check_due,
    .check = file_check,
    .room = file_room,
    .rotate = file_rotate,
    .recall = file_recall,
    .files = file_files,
    .error_text = file_error_text,
};
