/*
 * story.h - a test that reads as a story: things happen to a world in virtual time, and the engine
 * must say exactly these lines.
 *
 *     STORY(gone, "an expired resource version costs one relist and tells only the differences")
 *     {
 *         apiserver_put(s->server, "default/a");
 *         story_start(s);
 *         story_pass(s, 100);
 *         expect(s, "[    0] pods: idle -> filling (start)\n" ...);
 *     }
 *     STORIES(gone, ...)
 *
 * Lines are those of the engine's own log and of a handler that says what it is told, each with the
 * time in milliseconds. After the story the engine is closed and nothing may be left: no timer, no
 * object, no memory.
 */
#ifndef TEST_STORY_H
#define TEST_STORY_H

/* cmocka wants these four first */
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
    struct buf said;
    int64_t received_us; /* of the last event */
    enum {
        STORY_BEFORE,
        STORY_RUNNING,
        STORY_STOPPED,
    } life;
};

/* The informer begins. */
void story_start(struct story *s);

/* The same, up to a live watch: one object, default/a at version 1, ten milliseconds gone, all of it expected. */
void story_start_watching(struct story *s);

/* Everything that can happen now happens; then @ms pass. */
void story_pass(struct story *s, uint64_t ms);

/* The informer ends, at whatever it is. */
void story_stop(struct story *s);

/* Compares with all that was said since the last time, and forgets it. Lets what is due now happen
 * first. */
void expect(struct story *s, const char *lines);

/* The same, without the lines of the engine's own log. */
void expect_told(struct story *s, const char *lines);

/* What the server was asked for since the last time: "watch-list ''; watch '5'; ". */
void expect_asked(struct story *s, const char *requests);

/* The store holds exactly these keys, in order: "default/a default/b". */
void expect_store(struct story *s, const char *keys);

/* Makes a world, tells the story in it, and checks that nothing is left. */
void story_tell(void (*story)(struct story *s));

/* The sentence is for the reader; a failing story is known by its name and its lines. */
#define STORY(name, sentence)                  \
    static void name##_story(struct story *s); \
    static void name(void **state)             \
    {                                          \
        (void)state;                           \
        story_tell(name##_story);              \
    }                                          \
    static void name##_story(struct story *s)

#endif
