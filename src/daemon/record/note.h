/*
 * note.h - records of the daemon itself between the changes: start, sync, possible gaps,
 * configuration.
 */
#ifndef DAEMON_RECORD_NOTE_H
#define DAEMON_RECORD_NOTE_H

#include <stdint.h>

#include "informer/informer.h"

enum note_type {
    NOTE_START,
    NOTE_STOP,
    NOTE_SYNCED,    /* all existing objects were reported */
    NOTE_RELIST,    /* listed again: the differences follow, states in between are unknown */
    NOTE_GAP,       /* records are missing, or may be: `reason` */
    NOTE_STALE,     /* nothing received from the server for too long */
    NOTE_RECOVERED, /* the server responds again */
    NOTE_CONFIG,    /* the conf file was reloaded */
    NOTE_TYPES,
};

struct note {
    enum note_type type;
    enum inf_log_level level;
    const char *reason;  /* fixed identifier for programs; NULL: none */
    const char *msg;     /* human-readable text */
    const char *version; /* START: the program's; SYNCED: the resource version; NULL: none */
    int64_t count;       /* SYNCED: objects; GAP: events dropped; below 0: none */
    const char *ns;      /* of the stream that it is about; NULL: the whole watch */
};

/* "START", "SYNCED", ... */
const char *note_type_name(enum note_type type);

/* "debug", "info", "warn", "error". */
const char *note_level_name(enum inf_log_level level);

#endif
