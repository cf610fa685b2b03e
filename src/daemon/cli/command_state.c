/*
 * command_state.c - `informerd state`: lists, verifies or removes the state on disk (daemon/saved_state.h).
 *
 * Normal path: lock the state directory, load the state read-only on a loop of its own, print. `drop`
 * removes the files without loading them, and nothing else that is in the directory. A running daemon holds
 * the lock: then `ls` reads the files without it, again if one of them was removed meanwhile, and the others
 * do nothing but report that. Another user than that of the service may run it: it creates no key.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "base/str.h"
#include "daemon/cli/command.h"
#include "daemon/daemon.h"
#include "daemon/saved_state.h"
#include "daemon/state.h"
#include "daemon/watch/stream_id.h"

enum state_action {
    STATE_LS,
    STATE_VERIFY,
    STATE_DROP,
};

enum {
    ATTEMPTS = 10, /* to read the files of a running daemon */
};

struct state_options {
    const char *conf; /* path */
    enum state_action action;
};

/* ---- the command line ---- */

static const struct flag state_flags[] = {
    FLAG_CONFIG(struct state_options),
    {0},
};

static int state_parse(void *options, int argc, char **argv)
{
    static const char *const actions[] = {
        [STATE_LS] = "ls", [STATE_VERIFY] = "verify", [STATE_DROP] = "drop"};
    struct state_options *o = options;
    size_t i = 0;
    if (argc != 1)
        return command_usage_error(&command_state, "expected one of ls, verify and drop");
    while (i < ARRAY_LEN(actions) && strcmp(argv[0], actions[i]) != 0)
        i++;
    if (i == ARRAY_LEN(actions))
        return command_usage_error(&command_state, "unknown action '%s'; use ls, verify or drop",
                                   argv[0]);
    o->action = (enum state_action)i;
    return command_default_conf(&command_state, &o->conf);
}

/* ---- printing ---- */

static void put_bytes(struct buf *out, uint64_t bytes)
{
    if (bytes < 1000 * 1000)
        buf_printf(out, "%.1f KB", (double)bytes / 1e3);
    else
        buf_printf(out, "%.1f MB", (double)bytes / 1e6);
}

/* "2026-11-18T02:59:01Z"; "-" if it is 0. At least @width characters. */
static void put_time(struct buf *out, int64_t us, int width)
{
    time_t seconds = (time_t)(us / 1000000);
    char text[32];
    struct tm tm;
    if (!us || !gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        snprintf(text, sizeof(text), "-");
    buf_printf(out, "%-*s", width, text);
}

static void put_cell(struct buf *out, struct str text, int width)
{
    buf_printf(out, "%-*.*s  ", width, (int)text.len, text.at);
}

static void put_streams(struct buf *out, const struct inf_state *state)
{
    const struct inf_state_stream *s = NULL;
    buf_printf(out, "%-20s  %-20s  %-20s  %8s  %-14s  %-20s  %s\n", "WATCH", "RESOURCE",
               "NAMESPACE", "OBJECTS", "VERSION", "SAVED", "SERVER");
    while ((s = inf_state_stream_next(state, s))) {
        const char *id = inf_state_stream_id(s), *version = inf_state_stream_version(s);
        struct str server = stream_id_part(id, "server");
        put_cell(out, stream_id_part(id, "watch"), 20);
        put_cell(out, stream_id_part(id, "resource"), 20);
        put_cell(out, stream_id_part(id, "namespace"), 20);
        buf_printf(out, "%8zu  %-14s  ", inf_state_stream_count(s), version[0] ? version : "-");
        put_time(out, inf_state_stream_written_us(s), 20);
        buf_printf(out, "  %.*s\n", STR_FMT(server));
    }
}

static void put_queues(struct buf *out, const struct inf_state *state)
{
    const struct inf_state_queue *q = NULL;
    while ((q = inf_state_queue_next(state, q))) {
        const char *bytes;
        size_t len;
        if (!handlers_queue_has_tracks(inf_state_queue_name(q)) &&
            inf_state_queue_pending(q, &bytes, &len, &(uint64_t){0}))
            buf_printf(out, "%s%s: the last %zu bytes may not be %s yet\n",
                       handlers_queue_owner(inf_state_queue_name(q)) ? "" : "event log ",
                       inf_state_queue_name(q), len,
                       handlers_queue_owner(inf_state_queue_name(q)) ? "delivered" : "written");
    }
}

static void put_summary(struct buf *out, const char *dir, const struct inf_state_info *info)
{
    buf_printf(out, "%s: %" PRIu64 " object%s of %" PRIu64 " stream%s, ", dir, info->objects,
               info->objects == 1 ? "" : "s", info->streams, info->streams == 1 ? "" : "s");
    put_bytes(out, info->disk_bytes);
    buf_printf(out, " in %" PRIu64 " file%s", info->segments, info->segments == 1 ? "" : "s");
    if (info->torn_bytes)
        buf_printf(out, ", %" PRIu64 " bytes of an incomplete write at the end", info->torn_bytes);
    buf_puts(out, info->written_us ? ", last saved " : "");
    if (info->written_us)
        put_time(out, info->written_us, 0);
    buf_putc(out, '\n');
}

/* ---- loading ---- */

static void on_loaded(struct inf_state *state)
{
    *(bool *)inf_state_data(state) = true;
}

static void on_closed(void *ctx)
{
    (void)ctx;
}

static int print_unusable(const char *dir, const char *why, bool running)
{
    if (running)
        fprintf(stderr, "informerd: %s: the files changed while they were read: %s; try again\n",
                dir, why);
    else
        fprintf(stderr, "informerd: %s: the next start would discard this state: %s\n", dir, why);
    return running ? EX_TEMPFAIL : EX_DATAERR;
}

static int print_state(const struct inf_state *state, enum state_action action, const char *dir,
                       bool running)
{
    struct inf_state_info info;
    struct buf out = {0};
    int rc;
    inf_state_info(state, &info);
    if (info.reason)
        return print_unusable(dir, info.reason, running);
    if (action == STATE_LS) {
        put_streams(&out, state);
        put_queues(&out, state);
    }
    put_summary(&out, dir, &info);
    rc = command_print(&out);
    buf_free(&out);
    return rc;
}

/* Tries again if a running daemon has changed the files meanwhile. */
static int load_state(const char *dir, const char *epoch, enum state_action action, int attempts)
{
    bool loaded = false, again;
    struct inf_state_info info;
    struct inf_state_settings settings = {
        .dir = dir, .epoch = epoch, .read_only = true, .data = &loaded, .on_loaded = on_loaded};
    struct inf_error err;
    struct inf_state *state;
    uv_loop_t loop;
    int rc;
    uv_loop_init(&loop);
    state = inf_state_open(&loop, &settings, &err);
    if (!state)
        abort(); /* UNTESTED: the settings are valid */
    while (!loaded)
        uv_run(&loop, UV_RUN_ONCE);
    inf_state_info(state, &info);
    again = info.reason && attempts > 1;
    rc = again ? 0 : print_state(state, action, dir, attempts > 0);
    inf_state_close(state, on_closed, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return again ? load_state(dir, epoch, action, attempts - 1) : rc;
}

/* ---- removing ---- */

/* Segments, dictionaries, and the probe: "00000007.seg". */
static bool is_state_file(const char *name)
{
    static const char *const suffixes[] = {".seg", ".dict", ".probe"};
    if (strspn(name, "0123456789") != 8)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(name + 8, suffixes[i]) == 0)
            return true;
    return false;
}

static int drop_state(const char *dir)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    unsigned removed = 0;
    int error = files ? 0 : errno;
    while (!error && (file = readdir(files))) {
        if (!is_state_file(file->d_name))
            continue;
        if (unlinkat(dirfd(files), file->d_name, 0) < 0)
            error = errno;
        removed++;
    }
    if (files)
        closedir(files);
    if (!error && rmdir(dir) < 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        error = errno; /* other files, and a directory behind a link, are kept */
    if (error) {
        fprintf(stderr, "informerd: %s: %s\n", dir, strerror(error));
        return EX_IOERR;
    }
    printf("%s: %u file%s removed; the next start reports all objects as initial\n", dir, removed,
           removed == 1 ? "" : "s");
    return 0;
}

/* ---- the command ---- */

static int read_state(const struct conf *conf, const char *dir, enum state_action action,
                      bool running)
{
    unsigned char key[STATE_KEY_SIZE];
    char epoch[SAVED_STATE_EPOCH_SIZE];
    struct inf_error err;
    int rc = state_find_key(conf->state_dir, key, &err);
    if (rc == -INF_ENOTFOUND)
        return print_unusable(dir, err.text, /* running= */ false);
    if (rc < 0) {
        fprintf(stderr, "informerd: %s\n", err.text);
        return EX_TEMPFAIL;
    }
    saved_state_epoch(key, epoch);
    return load_state(dir, epoch, action, running ? ATTEMPTS : 0);
}

static int run_action(const struct conf *conf, enum state_action action)
{
    char *dir = xasprintf("%s/cache", conf->state_dir);
    struct inf_error err;
    struct stat st;
    int lock = -1, rc = 0;
    bool running = false;
    if (stat(dir, &st) < 0 && errno == ENOENT) {
        printf("%s does not exist: there is no state\n", dir);
        free(dir);
        return 0;
    }
    lock = state_take(conf->state_dir, &err);
    running = lock == -INF_ECONF && action == STATE_LS;
    if (lock < 0 && !running) {
        fprintf(stderr, "informerd: %s\n", err.text);
        rc = EX_TEMPFAIL;
    } else if (action == STATE_DROP) {
        rc = drop_state(dir);
    } else {
        rc = read_state(conf, dir, action, running);
    }
    if (lock >= 0)
        close(lock);
    free(dir);
    return rc;
}

static int state_run(const void *options)
{
    const struct state_options *o = options;
    struct conf conf = {0};
    int rc = command_load_conf(o->conf, &conf);
    if (rc == 0)
        rc = run_action(&conf, o->action);
    conf_free(&conf);
    return rc;
}

const struct command command_state = {
    .name = "state",
    .arguments = "ls|verify|drop [-c FILE]",
    .summary = "list, verify or remove the state on disk",
    .description =
        "List what the service has saved in state_dir for each watch, verify the files, or remove "
        "them. While the service runs, only ls is possible; what it has not written yet is missing "
        "then. After a removal, the next start reports all objects as initial.",
    .flags = state_flags,
    .size = sizeof(struct state_options),
    .parse = state_parse,
    .run = state_run,
};
