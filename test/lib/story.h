/*
 * story.h - a test in virtual time: the server acts, time passes, and the engine must log and deliver
 * exactly the expected lines.
 *
 *     STORY(an_expired_version_delivers_only_the_differences, "...")
 *     {
 *         apiserver_put(s->server, "default/a");
 *         story_start(s);
 *         story_pass(s, 100);
 *         expect(s, "[    0] pods: idle -> filling (start)\n" ...);
 *     }
 *
 * Lines come from the log of the engine and from a handler that records its callbacks, each with the
 * time in milliseconds. After the story the engine is closed, and no timer, object or memory may be
 * left.
 */
#ifndef TEST_STORY_H
#define TEST_STORY_H

/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "informer/informer.h"

#include "apiserver.h"
#include "base/buf.h"
#include "core/dispatch/pipeline.h"
#include "sim.h"

struct story {
    struct sim sim;
    struct apiserver *server;
    struct pipeline pipeline;
    struct pipeline_settings settings; /* change before story_start() */
    struct inf_handler handler;
    struct log log;
    struct buf lines;                /* logged and delivered since the last expect() */
    int64_t received_us;             /* of the last event */
    const struct inf_object **saved; /* references; see story_save() */
    size_t n_saved, n_restored;
    const struct str *saved_labels; /* of all of them; NULL: not known */
    enum {
        STORY_BEFORE,
        STORY_RUNNING,
        STORY_STOPPED,
    } phase;
};

void story_start(struct story *s);

/* Starts and expects a live watch after 10 ms: one object, default/a at version 1. */
void story_start_watching(struct story *s);

/* Starts and delivers @n objects, default/p0000 and so on, in one read. */
void story_start_with_many(struct story *s, int n);

/* Runs what is due now, then lets @ms pass. */
void story_pass(struct story *s, uint64_t ms);

/* The server ends the watch and refuses the next @times requests. */
void story_refuse_reopening(struct story *s, unsigned times, int code, uint32_t retry_after_ms,
                            const char *why);

/* Closes the informer, in any state. */
void story_stop(struct story *s);

/* Keeps the objects of the store, and ends the process: the informer is gone. */
void story_save(struct story *s);

/* Starts an informer in another process, with the saved objects at @version. They count as delivered
 * to the handler. */
void story_restore(struct story *s, const char *version, const char *why);

/* The same; @before was added before the copy was available. */
void story_restore_with(struct story *s, const char *version, struct inf_handler *before);

/* Runs what is due now and compares with all lines since the last call. The arguments after @s are
 * strings, which are joined; see also the macros below. */
#define expect(s, ...) expect_lines(s, (const char *const[]){__VA_ARGS__, NULL})
void expect_lines(struct story *s, const char *const parts[]);

/* The same, without the log of the engine. */
void expect_events(struct story *s, const char *lines);

/* The requests that the server received since the last call: "watch-list ''; watch '5'; ". */
void expect_requests(struct story *s, const char *requests);

/* The store has exactly these keys, in order: "default/a default/b". */
void expect_store(struct story *s, const char *keys);

/* Lines that often occur together. All arguments are string literals; the times are those between
 * the brackets. */

/* A request fails with @why and is retried after a wait. */
#define RETRIES(at, state, why, wait_s, wait_ms)       \
    "[" at "] pods: " why "; retrying in " wait_s "\n" \
    "[" at "] pods: " state " -> waiting (" why ", retry in " wait_ms ")\n"

/* The server's version is checked at @at, and the watch continues at @then. */
#define CHECKED(at, then, version)                                                    \
    "[" at "] pods: waiting -> checking (compare with resourceVersion " version ")\n" \
    "[" then "] pods: checking -> watching (from resourceVersion " version ")\n"

/* A watch fails with @why, which causes a relist at once. */
#define RELISTS(at, why) "[" at "] pods: " why "\n[" at "] pods: watching -> filling (" why ")\n"

/* The server ends the watch normally. */
#define REOPENED(at, version)                     \
    "[" at "] pods: the server ended the watch\n" \
    "[" at "] pods: watching -> watching (from resourceVersion " version ")\n"

/* The cache becomes stale or fresh: logged and delivered. */
#define STALE(at, why)     "[" at "] pods: " why "\n[" at "] stale (" why ")\n"
#define RECOVERED(at, why) "[" at "] pods: " why "\n[" at "] recovered (" why ")\n"

/* Creates a world, runs the story in it, and checks that nothing is left. */
void story_run(void (*story)(struct story *s));

/* The sentence is for the reader; a failing story is reported by its name and its lines. */
#define STORY(name, sentence)                  \
    static void name##_story(struct story *s); \
    static void name(void **state)             \
    {                                          \
        (void)state;                           \
        story_run(name##_story);               \
    }                                          \
    static void name##_story(struct story *s)

#endif
