/*
 * log_reader_world.h - an event log with its rotated files in a folder, and a reader of them. The disk is real, its
 * operations end in virtual time.
 */
#ifndef TEST_LOG_READER_WORLD_H
#define TEST_LOG_READER_WORLD_H

#include "base/buf.h"
#include "daemon/output/log_reader.h"
#include "fake_disk.h"
#include "folder.h"

struct log_reader_world {
    struct log_reader_user user;
    struct sim sim;
    struct fake_disk disk;
    struct folder folder;
    struct log_reader_gate gate;
    char *path;
    struct log_reader *reader;
    struct buf found;       /* "1 2 gap(4) 5 " */
    unsigned ends, results; /* calls of on_more */
    bool is_written;        /* the answer to is_written() */
    unsigned rotate_at;     /* the call of the disk before which the files are rotated; 0: none */
    unsigned calls;
};

/* Of cmocka: `state` is the world. */
int log_reader_world_set_up(void **state);
int log_reader_world_tear_down(void **state);

#define IN_LOG_READER_WORLD(test) \
    cmocka_unit_test_setup_teardown(test, log_reader_world_set_up, log_reader_world_tear_down)

extern const struct log_position from_start;
struct log_position from_seq(uint64_t seq);

/* A reader of the log, of which three rotated files are kept. Starts nothing. */
struct log_reader *make_reader(struct log_reader_world *w, struct log_position from);

/* Reads on until nothing more is available. */
void read_more(struct log_reader_world *w);

/* Closes the reader, and reads with another one. */
void open_reader(struct log_reader_world *w, struct log_position from);

/* What was read since the last call. */
void assert_found(struct log_reader_world *w, const char *expected);

/* A record that was written @seq seconds after 10:00. */
void put_line(struct buf *out, unsigned seq);

/* Writes the records from @first to @last to a file. */
void write_records(struct log_reader_world *w, const char *name, unsigned first, unsigned last);

/* Appends to the log. */
void append(struct log_reader_world *w, const char *text, size_t len);
void append_text(struct log_reader_world *w, const char *text);
void append_record(struct log_reader_world *w, unsigned seq);

/* Renames a file of the folder, if it exists. */
void move(struct log_reader_world *w, const char *from, const char *to);

#endif
