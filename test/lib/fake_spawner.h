/*
 * fake_spawner.h - a spawner whose programs do what the test says.
 *
 *     fake_spawner_init(&f);
 *     ...                                     somebody spawns
 *     assert_string_equal(f.words, "get-token --now");
 *     fake_spawner_says(&f, "{...}");         it ends well, having said that
 *     fake_spawner_done(&f);                  none may be running
 */
#ifndef TEST_FAKE_SPAWNER_H
#define TEST_FAKE_SPAWNER_H

#include <stdint.h>

#include "base/buf.h"
#include "seam/child.h"

struct fake_spawner {
    struct spawner spawner;
    struct child *running; /* NULL: none; one at a time */
    int runs;
    struct buf words; /* of the last program, with blanks between them */
    struct buf env;   /* what was added to its environment, a line each */
    uint64_t timeout_ms;
    size_t output_max;
};

void fake_spawner_init(struct fake_spawner *f);
void fake_spawner_done(struct fake_spawner *f);

/* The program that runs ends like that. */
void fake_spawner_end(struct fake_spawner *f, const struct child_end *end);
void fake_spawner_says(struct fake_spawner *f, const char *output);

#endif
