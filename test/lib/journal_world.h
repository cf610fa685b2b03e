/*
 * journal_world.h - a journal in virtual time: two watches, files in a folder of its own, and disks that fail when a test
 * says so.
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
    struct buf said;
    char *paths[2];
    int drained, lost;
    bool closed;
};

/* For cmocka. What is still open is closed, and nothing may be left. */
int journal_world_set_up(void **state);
int journal_world_tear_down(void **state);

#define IN_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, journal_world_set_up, journal_world_tear_down)

struct journal_output_settings world_all_to(const char *path);
void world_set_outputs(struct journal_world *w, const struct journal_output_settings *settings,
                       size_t n);

/* A change of a pod, from and to these members; NULL: there was none, or is none any more. */
void world_tell(struct journal_world *w, struct journal_watch *watch, const char *before,
                const char *after);
void world_flush(struct journal_world *w);

/* The records of a file in short: "<seq> <type>[ <watch>][ <reason>]; " each. The caller frees it. */
char *world_lines(struct journal_world *w, const char *name);
void assert_lines(struct journal_world *w, const char *name, const char *expected);

/* The versions in the records of a file: "rv <rv>[, old_rv <rv>][, ignored <n>]; " each. */
void assert_versions(struct journal_world *w, const char *name, const char *expected);

/* What the journal said since the last time has this in it. */
void assert_said(struct journal_world *w, const char *part);

/* The opposite, and what it said is kept. */
void assert_not_said(struct journal_world *w, const char *part);

/* The operation of the nth output, for fake_disk's `stuck`. */
const struct disk_op *world_op(struct journal_world *w, size_t n);

#endif
