/*
 * journal_world.h - a journal in virtual time: two watches, files in a temporary directory, and
 * disks with injected failures.
 */
#ifndef TEST_JOURNAL_WORLD_H
#define TEST_JOURNAL_WORLD_H

#include "daemon/journal/journal.h"
#include "fake_disk.h"
#include "folder.h"
#include "sim.h"

struct journal_world {
    struct sim sim;
    struct fake_disk disk;
    struct fake_disk state_disk;
    struct folder folder;
    struct folder state_dir;
    struct seq seq;
    struct journal journal;
    struct watch_info pods_info, nodes_info;
    struct journal_watch pods, nodes;
    struct buf logged;
    char *paths[2];
    int drained, lost;
    bool closed;
};

/* For cmocka. The tear-down closes the journal and checks that nothing is left. */
int journal_world_set_up(void **state);
int journal_world_tear_down(void **state);

#define IN_JOURNAL_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, journal_world_set_up, journal_world_tear_down)

/* Settings of a log at @path that accepts everything. */
struct event_log_settings journal_world_settings(const char *path);

void journal_world_set_logs(struct journal_world *w, const struct event_log_settings *settings,
                            size_t n);

/* One log at w->paths[0] ("a") that accepts everything. */
void journal_world_log_all(struct journal_world *w);

/* Reports a change of a pod, with these members before and after; NULL: it did not exist, or does
 * not exist any more. */
void journal_world_change(struct journal_world *w, struct journal_watch *watch, const char *before,
                          const char *after);
void journal_world_flush(struct journal_world *w);

/* The records of a file in short: "<seq> <type>[ <watch>][ <reason>]; " each. The caller frees it. */
char *journal_world_lines(struct journal_world *w, const char *name);
void assert_lines(struct journal_world *w, const char *name, const char *expected);

/* The versions in the records of a file: "rv <rv>[, old_rv <rv>][, ignored <n>]; " each. */
void assert_versions(struct journal_world *w, const char *name, const char *expected);

/* What was logged since the last call contains @part. */
void assert_logged(struct journal_world *w, const char *part);

/* It does not contain @part, and is kept for the next call. */
void assert_not_logged(struct journal_world *w, const char *part);

/* The operation of the nth log, for fake_disk's `stuck`. */
const struct disk_op *journal_world_op(struct journal_world *w, size_t n);

#endif
