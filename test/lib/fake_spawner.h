/*
 * fake_spawner.h - a spawner whose programs are played by the test.
 *
 *     fake_spawner_init(&f);
 *     ...                                     the code under test spawns a program
 *     assert_string_equal(f.argv.bytes, "get-token --now");
 *     fake_spawner_exit(&f, "{...}");         it exits with code 0 and this output
 *     fake_spawner_done(&f);                  no program may be running
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
    struct buf argv; /* of the last program, separated by blanks */
    struct buf env;  /* variables added to its environment, one per line */
    uint64_t timeout_ms;
    size_t output_max;
    size_t errors_max;
    struct buf input;  /* what was written to the streamed program that runs, or ran last */
    size_t room;       /* how many bytes its pipe takes; at first unlimited */
    char stopped[128]; /* the reason of child_stop(); "": it was not called */
};

void fake_spawner_init(struct fake_spawner *f);
void fake_spawner_done(struct fake_spawner *f);

/* End the running program, with @end or successfully with @output. */
void fake_spawner_end(struct fake_spawner *f, const struct child_end *end);
void fake_spawner_exit(struct fake_spawner *f, const char *output);

/* Output of the streamed program that runs; and its pipe takes @room further bytes. */
void fake_spawner_output(struct fake_spawner *f, const char *text);
void fake_spawner_errors(struct fake_spawner *f, const char *text);
void fake_spawner_read(struct fake_spawner *f, size_t room);

#endif
