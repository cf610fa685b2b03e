/*
 * note.h - what the daemon says between the changes: that it began, that it knows all, that there
 * may be a hole.
 */
#ifndef DAEMON_JOURNAL_NOTE_H
#define DAEMON_JOURNAL_NOTE_H

#include <stdint.h>

#include "informer/informer.h"

enum note_type {
    NOTE_START,
    NOTE_STOP,
    NOTE_SYNCED,    /* all that was there was told */
    NOTE_RELIST,    /* listed anew: the differences follow, states in between are unknown */
    NOTE_GAP,       /* there is a hole, or may be: `reason` */
    NOTE_STALE,     /* nothing heard from the server for too long */
    NOTE_RECOVERED, /* it is heard again */
    NOTE_CONFIG,    /* the conf file was read anew */
    NOTE_TYPES,
};

struct note {
    enum note_type type;
    enum inf_log_level level;
    const char *reason;  /* a word for programs; NULL: none */
    const char *msg;     /* a sentence for people */
    const char *version; /* START: the program's; SYNCED: the resource version; NULL: none */
    int64_t count;       /* SYNCED: objects; GAP: events dropped; below 0: none */
};

/* "START", "SYNCED", ... */
const char *note_type_name(enum note_type type);

/* "debug", "info", "warn", "error". */
const char *note_level_name(enum inf_log_level level);

#endif
