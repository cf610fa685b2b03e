/*
 * random_log.c - event logs with state on disk against kills, rotations and reloads, with a model beside them.
 *
 *     random_log [SEEDS]      runs that many stories, each from its own seed
 *     SEED=n random_log       runs one of them again
 *
 * A source changes one object again and again. After a kill it continues after the version that the state has, as a watch
 * does. Both logs, with all their rotated files, must have each version once, in order, under rising numbers.
 *
 * The logs are real files, the state is on a disk in memory; the time is virtual. At a kill, the write of the state that
 * is in flight was written up to a random byte, and so was the line of a log.
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "changes.h"
#include "core/state/state.h"
#include "daemon/journal/journal.h"
#include "daemon/output/sink_file.h"
#include "fake_disk.h"
#include "folder.h"
#include "memory_disk.h"
#include "tier.h"

enum {
    LOGS = 2,
    STEPS = 250,
    KEEP = 999, /* no rotated file is removed */
    SEGMENT = 64 * 1024,
};

/* What was read of a log. */
struct reader {
    unsigned version;
    uint64_t seq;
};

struct story {
    uint64_t seed;
    struct rng rng;
    struct sim sim;
    struct fake_disk disk;     /* of the logs */
    struct fake_disk seq_disk; /* of the sequence */
    struct memory_disk state_disks[2];
    struct memory_disk *state_disk; /* the one in use */
    struct folder logs, seq_dir;
    char *paths[LOGS];

    struct seq seq; /* of the process that runs */
    struct journal journal;
    struct watch_info info;
    struct journal_watch pods;
    struct inf_state *state;
    bool loaded, closed;

    unsigned version; /* of the last change */
    unsigned highest; /* that the source has had */
    unsigned noted;   /* in the batch that is awaited */
    unsigned surely_saved;
    struct reader readers[LOGS];
    uint64_t changes, kills, torn, stops, reloads, rotations, compactions;
};

static uint64_t dice(struct story *s, uint64_t n)
{
    return rng_below(&s->rng, n);
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail_story(const struct story *s,
                                                                       const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "seed %" PRIu64 ": ", s->seed);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

/* ---- a process ---- */

static void on_hold(struct journal_watch *watch, bool hold)
{
    (void)watch;
    (void)hold;
}

static void on_log_line(void *owner, enum inf_log_level level, const char *line)
{
    if (level >= INF_LOG_ERROR)
        fail_story(owner, "logged: %s", line);
}

static void on_drained(struct journal *journal)
{
    (void)journal;
}

static void on_closed(struct journal *journal)
{
    container_of(journal, struct story, journal)->closed = true;
}

static void on_loaded(struct inf_state *state)
{
    ((struct story *)inf_state_data(state))->loaded = true;
}

/* The journal awaits one flush at a time. */
static void on_flushed(struct inf_state *state, uint64_t flush)
{
    struct story *s = inf_state_data(state);
    bool awaited = s->journal.saving != JOURNAL_NOT_SAVING && flush >= s->journal.saving_flush;
    if (awaited)
        s->surely_saved = s->noted;
    journal_saved(&s->journal, flush);
    if (awaited && s->journal.saving != JOURNAL_NOT_SAVING)
        s->noted = s->version; /* it has begun the next one */
}

static void flush(struct story *s)
{
    bool idle = s->journal.saving == JOURNAL_NOT_SAVING;
    journal_flush(&s->journal);
    if (idle && s->journal.saving != JOURNAL_NOT_SAVING)
        s->noted = s->version;
}

static void on_suspended(struct inf_state *state, const char *why)
{
    fail_story(inf_state_data(state), "suspended: %s", why);
}

static void open_state(struct story *s)
{
    struct inf_state_settings settings = {.dir = "state",
                                          .segment_bytes = SEGMENT,
                                          .data = s,
                                          .on_loaded = on_loaded,
                                          .on_flushed = on_flushed,
                                          .on_suspended = on_suspended};
    struct siphash_key key = {1, 2};
    struct inf_state_info info;
    s->loaded = false;
    s->state = state_new(&s->state_disk->disk, &s->sim.clock, &key, &settings, NULL, NULL, NULL);
    while (!s->loaded)
        sim_tick(&s->sim);
    inf_state_info(s->state, &info);
    if (info.reason)
        fail_story(s, "discarded: %s", info.reason);
}

/* The saved version, as text; the file of a new state has none. */
static unsigned saved_version(struct story *s)
{
    const char *version = inf_state_stream_version(inf_state_stream(s->state, "pods"));
    return version ? (unsigned)strtoul(version, NULL, 10) : 0;
}

/* Also while the process runs: a reload. Small files, so that there are many rotations. */
static void set_logs(struct story *s)
{
    struct event_log_settings settings[LOGS];
    struct inf_error err;
    size_t first = dice(s, LOGS); /* the order does not matter */
    for (size_t i = 0; i < LOGS; i++)
        settings[i] = (struct event_log_settings){
            .sink = {.target = s->paths[(first + i) % LOGS],
                     .rotate_size = 1 + dice(s, dice(s, 2) ? 1500 : 8000),
                     .keep = KEEP},
            .filter.initial = true};
    if (journal_set_logs(&s->journal, settings, LOGS, &err) < 0)
        fail_story(s, "%s", err.text);
}

static void start(struct story *s)
{
    struct inf_state_info info;
    open_state(s);
    if (seq_open(&s->seq, &s->sim.clock, &s->seq_disk.disk, s->seq_dir.path, NULL) < 0)
        fail_story(s, "the sequence cannot be opened");
    journal_init(&s->journal, &s->sim.clock, &s->disk.disk, &s->seq);
    s->journal.owner = s;
    s->journal.log = on_log_line;
    s->journal.on_drained = on_drained;
    s->journal.on_closed = on_closed;
    s->journal.state = s->state;
    inf_state_info(s->state, &info);
    if (s->seq.skipped || info.mark < s->seq.next)
        s->journal.ahead_from = info.mark;
    s->info.id.name = "pods";
    s->pods = (struct journal_watch){.info = &s->info, .on_hold = on_hold};
    journal_watch_add(&s->journal, &s->pods);
    s->version = saved_version(s);
    if (s->version < s->surely_saved)
        fail_story(s, "version %u is saved, not %u", s->version, s->surely_saved);
    set_logs(s);
    s->journal.ahead_from = 0;
    s->closed = false;
}

static void heal(struct story *s)
{
    s->disk.stuck = NULL;
    s->disk.frozen = s->state_disk->stuck = false;
}

static void end(struct story *s)
{
    struct inf_state_info info;
    inf_state_info(s->state, &info);
    s->compactions += info.compactions;
    for_each_log(log, &s->journal.logs)
        s->rotations += log->sink->rotations;
    heal(s);
    journal_close(&s->journal);
    sim_run(&s->sim);
    if (!s->closed)
        fail_story(s, "the journal does not close");
    journal_watch_remove(&s->pods);
    inf_state_close(s->state, NULL, NULL);
    sim_run(&s->sim);
}

/* ---- kills ---- */

struct snapshot {
    const struct folder *folder;
    struct buf names; /* each with a NUL */
    struct buf texts; /* one after the other */
    struct buf sizes; /* of size_t */
};

/* A line that is being written is in the file already (fake_disk.h): a part of it is cut off. */
static size_t torn_size(struct story *s, const char *name, size_t len)
{
    for_each_log(log, &s->journal.logs) {
        const struct log_file *file = &container_of(log->sink, struct file_sink, sink)->file;
        const char *slash = strrchr(log->name, '/');
        if (log->sm.state == EVENT_LOG_WRITING && strcmp(slash + 1, name) == 0 &&
            len > file->size) {
            s->torn++;
            return (size_t)file->size + dice(s, len - file->size + 1);
        }
    }
    return len;
}

static void take_snapshot(struct story *s, struct snapshot *shot, const struct folder *folder)
{
    DIR *dir = opendir(folder->path);
    struct dirent *entry;
    *shot = (struct snapshot){.folder = folder};
    while ((entry = readdir(dir))) {
        char *text;
        size_t len;
        if (entry->d_name[0] == '.')
            continue;
        text = folder_read(folder, entry->d_name);
        len = torn_size(s, entry->d_name, strlen(text));
        buf_put(&shot->names, entry->d_name, strlen(entry->d_name) + 1);
        buf_put(&shot->texts, text, len);
        buf_put(&shot->sizes, (const char *)&len, sizeof(len));
        free(text);
    }
    closedir(dir);
}

static void empty_folder(const struct folder *folder)
{
    DIR *dir = opendir(folder->path);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        char *path = folder_file(folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
        free(path);
    }
    closedir(dir);
}

static void restore_snapshot(struct snapshot *shot)
{
    const char *name = shot->names.bytes, *text = shot->texts.bytes;
    empty_folder(shot->folder);
    for (size_t at = 0; at < shot->sizes.len; at += sizeof(size_t)) {
        size_t len;
        char *copy;
        memcpy(&len, shot->sizes.bytes + at, sizeof(len));
        copy = len ? xstrndup(text, len) : xstrdup("");
        folder_write(shot->folder, name, copy);
        free(copy);
        name += strlen(name) + 1;
        text += len;
    }
    buf_free(&shot->names);
    buf_free(&shot->texts);
    buf_free(&shot->sizes);
}

/* What is on disk now is what the next process finds. This one ends as usual, and what it writes meanwhile is discarded. */
static void kill_process(struct story *s)
{
    struct memory_disk *other = &s->state_disks[s->state_disk == &s->state_disks[0]];
    struct snapshot logs, seq;
    unsigned saved;
    take_snapshot(s, &logs, &s->logs);
    take_snapshot(s, &seq, &s->seq_dir);
    memory_disk_done(other);
    memory_disk_init(other, &s->sim);
    memory_disk_crash(other, s->state_disk, &s->rng);
    saved = s->surely_saved;
    end(s);
    s->surely_saved = saved; /* not what it has saved meanwhile */
    restore_snapshot(&logs);
    restore_snapshot(&seq);
    s->state_disk = other;
    s->kills++;
    start(s);
}

static void restart(struct story *s)
{
    heal(s);
    flush(s);
    sim_run(&s->sim);
    end(s);
    s->stops++;
    start(s);
}

/* ---- what happens ---- */

static void change(struct story *s)
{
    struct inf_state_stream *stream = inf_state_stream(s->state, "pods");
    unsigned version = ++s->version;
    struct sample sample;
    char before[32], after[64], text[16];
    snprintf(before, sizeof(before), "'a':%u", version - 1);
    snprintf(after, sizeof(after), "'a':%u,'text':'%.*s'", version, (int)(version * 7 % 20),
             "a text of any length");
    snprintf(text, sizeof(text), "%u", version);
    sample_pod_at(&sample, version > 1 ? before : NULL, after, (int)version);
    state_put(stream, sample.after, NULL);
    inf_state_position(stream, text);
    journal_event(&s->journal, &s->pods, &sample.event, NULL);
    sample_free(&sample);
    if (version > s->highest)
        s->highest = version;
    s->changes++;
}

static const struct disk_op *operation_of_a_log(struct story *s)
{
    size_t n = dice(s, LOGS);
    for_each_log(log, &s->journal.logs)
        if (n-- == 0)
            return &container_of(log->sink, struct file_sink, sink)->file.op;
    return NULL;
}

static void delay_something(struct story *s)
{
    switch (dice(s, 3)) {
    case 0: s->disk.stuck = operation_of_a_log(s); break;
    case 1: s->disk.frozen = true; break;
    default: s->state_disk->stuck = true; break;
    }
}

static void pass_time(struct story *s)
{
    if (dice(s, 5) == 0 && !s->state_disk->stuck && !s->disk.frozen && !s->disk.stuck)
        sim_advance(&s->sim, dice(s, 3000)); /* files are synced, a moved file is looked for */
    for (uint64_t ticks = dice(s, 8); ticks; ticks--)
        sim_tick(&s->sim);
}

/* ---- what the logs must have ---- */

static uint64_t number_in(const struct story *s, const char *line, const char *field)
{
    const char *at = strstr(line, field);
    if (!at)
        fail_story(s, "no %s in: %s", field, line);
    return strtoull(at + strlen(field), NULL, 10);
}

/* A line of blanks is an incomplete one that was repaired (daemon/output/log_file.h). */
static void read_line(struct story *s, struct reader *r, const char *line)
{
    uint64_t seq, version;
    if (line[strspn(line, " ")] == '\0')
        return;
    seq = number_in(s, line, "\"seq\":");
    version = number_in(s, line, "\"rv\":\"");
    if (line[strlen(line) - 1] != '}' || seq <= r->seq || version != r->version + 1)
        fail_story(s, "after version %u and number %" PRIu64 ": %s", r->version, r->seq, line);
    *r = (struct reader){(unsigned)version, seq};
}

static void read_file(struct story *s, struct reader *r, const char *path)
{
    char *text = folder_read(&s->logs, strrchr(path, '/') + 1), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) && rest)
        read_line(s, r, line);
    if (line && *line)
        fail_story(s, "%s ends with an incomplete line: %s", path, line);
    free(text);
}

static void check_log(struct story *s, unsigned log)
{
    struct reader *r = &s->readers[log];
    for (unsigned n = KEEP; n > 0; n--) {
        char *path = xasprintf("%s.%u", s->paths[log], n);
        if (access(path, F_OK) == 0)
            read_file(s, r, path);
        free(path);
    }
    read_file(s, r, s->paths[log]);
    if (r->version != s->version)
        fail_story(s, "%s ends with version %u, not %u", s->paths[log], r->version, s->version);
}

/* The process ends as usual, and its logs are read and removed. */
static void end_and_check(struct story *s)
{
    while (s->version < s->highest)
        change(s);
    heal(s);
    flush(s);
    sim_run(&s->sim);
    end(s);
    for (unsigned log = 0; log < LOGS; log++)
        check_log(s, log);
    empty_folder(&s->logs);
}

/* ---- stories ---- */

static void step(struct story *s)
{
    for (uint64_t n = dice(s, 6); n; n--)
        change(s);
    if (dice(s, 4))
        flush(s);
    if (dice(s, 12) == 0)
        delay_something(s);
    pass_time(s);
    if (dice(s, 4) == 0)
        heal(s);
    switch (dice(s, 40)) {
    case 0:
    case 1:
    case 2:
    case 3: kill_process(s); break;
    case 4: restart(s); break;
    case 5:
        set_logs(s);
        s->reloads++;
        break;
    case 6: journal_reopen(&s->journal); break;
    case 7:
    case 8:
    case 9:
        end_and_check(s);
        start(s);
        break;
    default: break;
    }
}

static void init(struct story *s)
{
    sim_init(&s->sim);
    fake_disk_init(&s->disk, &s->sim);
    fake_disk_init(&s->seq_disk, &s->sim);
    for (unsigned n = 0; n < 2; n++)
        memory_disk_init(&s->state_disks[n], &s->sim);
    s->state_disk = &s->state_disks[0];
    folder_make(&s->logs);
    folder_make(&s->seq_dir);
    s->paths[0] = folder_file(&s->logs, "a");
    s->paths[1] = folder_file(&s->logs, "b");
}

static void done(struct story *s)
{
    fake_disk_done(&s->disk);
    fake_disk_done(&s->seq_disk);
    for (unsigned n = 0; n < 2; n++)
        memory_disk_done(&s->state_disks[n]);
    sim_done(&s->sim);
    folder_remove(&s->logs);
    folder_remove(&s->seq_dir);
    for (unsigned n = 0; n < LOGS; n++)
        free(s->paths[n]);
}

static void play(uint64_t seed, struct story *totals)
{
    struct story *s = NEW(struct story);
    s->seed = s->rng.state = seed;
    init(s);
    start(s);
    for (unsigned n = 0; n < STEPS; n++)
        step(s);
    kill_process(s);
    end_and_check(s);
    done(s);
    totals->changes += s->changes;
    totals->kills += s->kills;
    totals->torn += s->torn;
    totals->stops += s->stops;
    totals->reloads += s->reloads;
    totals->rotations += s->rotations;
    totals->compactions += s->compactions;
    free(s);
}

int main(int argc, char **argv)
{
    const char *one = getenv("SEED");
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : tier_is_full() ? 30 : 8;
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    struct story totals = {0};
    if (one)
        seeds = 1;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        play(seed, &totals);
    printf("%" PRIu64 " seeds: %" PRIu64 " changes, %" PRIu64 " kills, %" PRIu64
           " torn writes, %" PRIu64 " stops, %" PRIu64 " reloads, %" PRIu64 " rotations, %" PRIu64
           " compactions\n",
           seeds, totals.changes, totals.kills, totals.torn, totals.stops, totals.reloads,
           totals.rotations, totals.compactions);
    return 0;
}
