/*
 * note.c - names of record types and levels.
 */
#include "daemon/record/note.h"

const char *note_type_name(enum note_type type)
{
    switch (type) {
    case NOTE_START: return "START";
    case NOTE_STOP: return "STOP";
    case NOTE_SYNCED: return "SYNCED";
    case NOTE_RELIST: return "RELIST";
    case NOTE_GAP: return "GAP";
    case NOTE_STALE: return "STALE";
    case NOTE_RECOVERED: return "RECOVERED";
    case NOTE_CONFIG: return "CONFIG";
    case NOTE_TYPES: break;
    }
    return "?";
}

const char *note_level_name(enum inf_log_level level)
{
    switch (level) {
    case INF_LOG_DEBUG: return "debug";
    case INF_LOG_INFO: return "info";
    case INF_LOG_WARN: return "warn";
    case INF_LOG_ERROR: return "error";
    }
    return "?";
}
