/*
 * check_dirs.c - for --check-config: whether the state directory and the event logs can be written, and readers and
 * handlers have what they need.
 *
 * Nothing is created, and only token files are opened. The answers are those for the user who runs the check, so each
 * result is a warning: the service may run as another user.
 */
#include "daemon/cli/check_dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "daemon/access/reader.h"
#include "daemon/conf/conf_dirs.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/output/sink.h"
#include "wire/tls/tls_digest.h"

/* The directory that contains the absolute @path. The caller frees it. */
static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* Why no file can be created in the directory; NULL: it can. */
static const char *why_not_writable(const char *dir)
{
    char *inside = xasprintf("%s/.", dir); /* so that a file is not a directory */
    int rc = access(inside, W_OK | X_OK);
    free(inside);
    return rc == 0 ? NULL : strerror(errno);
}

/* The directory in which the daemon would create the missing @dir. The caller frees it. */
static char *creation_parent(const char *dir, bool with_parents)
{
    char *parent = parent_of(dir);
    while (with_parents && access(parent, F_OK) < 0 && strcmp(parent, "/") != 0) {
        char *next = parent_of(parent);
        free(parent);
        parent = next;
    }
    return parent;
}

static char *check_state_dir(const struct conf *conf)
{
    const char *dir = conf->state_dir;
    bool missing = access(dir, F_OK) < 0 && errno == ENOENT;
    char *at = missing ? creation_parent(dir, conf_state_dir_is_below_home(conf)) : xstrdup(dir);
    const char *why = why_not_writable(at);
    char *line = NULL;
    if (why && missing)
        line = xasprintf("state_dir '%s' does not exist and cannot be created: '%s': %s", dir, at,
                         why);
    else if (why)
        line = xasprintf("state_dir '%s' is not writable: %s", dir, why);
    free(at);
    return line;
}

static char *check_event_log(const struct conf_event_log *log)
{
    char *dir, *line = NULL;
    const char *why;
    if (sink_type_for(log->path) != &sink_file)
        return NULL;
    dir = parent_of(log->path);
    why = access(log->path, F_OK) < 0   ? why_not_writable(dir)
          : access(log->path, W_OK) < 0 ? strerror(errno)
                                        : NULL;
    if (access(dir, F_OK) < 0 && errno == ENOENT)
        line =
            xasprintf("event log '%s': directory '%s' does not exist; lines wait in memory until "
                      "it is created",
                      log->path, dir);
    else if (why)
        line = xasprintf("event log '%s' is not writable: %s", log->path, why);
    free(dir);
    return line;
}

static char *check_handler(const struct conf_handler *handler)
{
    const struct handler_kind *kind = handler_kind_of(handler);
    char *why = kind->advise ? kind->advise(handler) : NULL;
    char *line =
        why ? xasprintf("%s '%s': %s", kind->is_sink ? "sink" : "handler", handler->name, why)
            : NULL;
    free(why);
    return line;
}

/* The first reader whose group or token file cannot be used. The service does not start with it. */
static char *check_readers(const struct conf *conf)
{
    static const unsigned char no_key[TLS_DIGEST_KEY]; /* the digests are not kept */
    struct tls_digest *digest = tls_digest_new(no_key);
    struct api_readers readers = {0};
    struct inf_error err;
    char *line =
        api_readers_load(&conf->api, digest, &readers, &err) < 0 ? xstrdup(err.text) : NULL;
    api_readers_free(&readers);
    tls_digest_free(digest);
    return line;
}

static void check_one(char *line, void (*warn)(void *ctx, const char *line), void *ctx)
{
    if (line)
        warn(ctx, line);
    free(line);
}

void check_dirs(const struct conf *conf, void (*warn)(void *ctx, const char *line), void *ctx)
{
    check_one(check_state_dir(conf), warn, ctx);
    for (size_t i = 0; i < conf->n_event_logs; i++)
        check_one(check_event_log(&conf->event_logs[i]), warn, ctx);
    check_one(check_readers(conf), warn, ctx);
    for (size_t i = 0; i < conf->n_handlers; i++)
        check_one(check_handler(&conf->handlers[i]), warn, ctx);
    for (size_t i = 0; i < conf->n_sinks; i++)
        check_one(check_handler(&conf->sinks[i]), warn, ctx);
}
