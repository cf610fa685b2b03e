/*
 * test_recordings.c - every recorded response of a real API server, read by its module, for all
 * splits.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "http_world.h"
#include "recording.h"
#include "source_world.h"
#include "split.h"
#include "tier.h"

enum asked {
    ASKED_LIST = SOURCE_LIST,
    ASKED_WATCH_LIST = SOURCE_WATCH_LIST,
    ASKED_WATCH = SOURCE_WATCH,
    ASKED_DOCUMENT, /* not for a source: HTTP and JSON only */
};

/* The request, the number of events, and the end. */
static const struct known {
    const char *name;
    enum asked asked;
    unsigned events;
    int end;
} known[] = {
    {"anonymous-403", ASKED_LIST, 0, INF_EFORBIDDEN},
    {"badtoken-401", ASKED_LIST, 0, INF_EUNAUTHORIZED},
    {"configmaps-list-expired-continue-410", ASKED_LIST, 0, INF_EGONE},
    {"configmaps-list-gzip", ASKED_LIST, 80, INF_EEOF},
    {"configmaps-list-page1", ASKED_LIST, 4, INF_EEOF},
    {"configmaps-list-page2", ASKED_LIST, 4, INF_EEOF},
    {"discovery-api", ASKED_DOCUMENT, 0, 0},
    {"discovery-apis", ASKED_DOCUMENT, 0, 0},
    {"discovery-apps-v1", ASKED_DOCUMENT, 0, 0},
    {"discovery-core-v1", ASKED_DOCUMENT, 0, 0},
    {"discovery-example", ASKED_DOCUMENT, 0, 0},
    {"list-invalid-rv-400", ASKED_LIST, 0, INF_EREFUSED},
    {"notfound-404", ASKED_LIST, 0, INF_ENOTFOUND},
    {"pods-list-exact-expired-410", ASKED_LIST, 0, INF_EGONE},
    {"pods-list-fieldselector-400", ASKED_LIST, 0, INF_EREFUSED},
    {"pods-list-metadata", ASKED_LIST, 2, INF_EEOF},
    {"pods-list-rv-too-large", ASKED_LIST, 0, INF_EFUTURE},
    {"pods-watch-lifecycle", ASKED_WATCH, 8, INF_EEOF},
    {"pods-watch-too-old-410", ASKED_WATCH, 0, INF_EGONE},
    {"pods-watchlist", ASKED_WATCH_LIST, 2, INF_EEOF},
    {"pods-watchlist-metadata", ASKED_WATCH_LIST, 2, INF_EEOF},
    {"pods-watchlist-rv-too-large", ASKED_WATCH_LIST, 0, INF_EFUTURE},
    {"secrets-watchlist", ASKED_WATCH_LIST, 2, INF_EEOF},
    {"version", ASKED_DOCUMENT, 0, 0},
    {"watch-rvmatch-invalid-422", ASKED_WATCH, 0, INF_EREFUSED},
    {"widgets-list", ASKED_LIST, 4, INF_EEOF},
    {"widgets-watchlist", ASKED_WATCH_LIST, 4, INF_EEOF},
};

static const struct known *find(const char *file)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strncmp(file, known[i].name, strlen(known[i].name)) == 0 &&
            strcmp(file + strlen(known[i].name), ".http") == 0)
            return &known[i];
    return NULL;
}

static void every_recording_is_in_the_table(void **state)
{
    char *path = xasprintf("%s/recordings", getenv("TEST_DATA"));
    DIR *directory = opendir(path);
    const struct dirent *entry;
    size_t found = 0;
    (void)state;
    assert_non_null(directory);
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.') {
            if (!find(entry->d_name))
                fail_msg("'%s' is not in the table", entry->d_name);
            found++;
        }
    assert_int_equal(found, ARRAY_LEN(known));
    closedir(directory);
    free(path);
}

/* ---- for a source ---- */

struct play {
    const struct known *known;
    char *events; /* in one piece */
};

static void send_split(struct pipe *pipe, struct sim *sim, struct str input, struct split split)
{
    struct str piece;
    pipe->cut = split.piece; /* the pipe cuts instead: it frees each piece after use */
    split.piece = 0;
    while (split_next(&split, &input, &piece)) {
        pipe_send(pipe, piece.at, piece.len);
        sim_run(sim);
    }
}

/* All events with the text of objects. The caller frees it. */
static char *events_by_source(const struct known *k, struct str input, struct split split)
{
    struct source_world w;
    char *events;
    source_world_init(&w, "pods", NULL);
    w.whole = true;
    source_world_open_version(&w, (enum source_want)k->asked, "0");
    sim_run(&w.sim);
    send_split(w.pipes.last, &w.sim, input, split);
    buf_putc(&w.events, '\0');
    events = w.events.bytes;
    w.events = (struct buf){0};
    source_world_done(&w);
    return events;
}

static void check_events(const struct known *k, const char *events)
{
    const char *last = events, *end = inf_error_name(k->end);
    size_t lines = 0;
    for (const char *line = events; *line; line = strchr(line, '\n') + 1, lines++)
        last = line;
    lines -= strncmp(events, "open\n", 5) == 0;
    if (strncmp(last, end, strlen(end)) != 0 || last[strlen(end)] != ':' || lines != k->events + 1)
        fail_msg("%s: %zu events, then %s", k->name, lines - 1, last);
}

/* ---- documents ---- */

static char *events_by_http(struct str input, struct split split)
{
    struct http_world w;
    char *events;
    http_world_init(&w);
    w.client.quiet = true;
    http_client_send(&w.client, &GET_PODS);
    sim_run(&w.sim);
    send_split(w.pipe, &w.sim, input, split);
    http_world_expect(&w, "200;end");
    buf_putc(&w.client.body, '\0');
    events = xstrdup(w.client.body.bytes);
    http_world_done(&w);
    return events;
}

static void check_document(const struct known *k, const char *events)
{
    yyjson_doc *doc = yyjson_read(events, strlen(events), 0);
    if (!yyjson_is_obj(yyjson_doc_get_root(doc)))
        fail_msg("%s: no JSON object", k->name);
    yyjson_doc_free(doc);
}

/* ---- both ---- */

static char *events_until(const struct known *k, struct str input, struct split split)
{
    return k->asked == ASKED_DOCUMENT ? events_by_http(input, split)
                                      : events_by_source(k, input, split);
}

static void play_split(const void *ctx, struct str input, struct split split)
{
    const struct play *play = ctx;
    char *events = events_until(play->known, input, split);
    if (strcmp(events, play->events) != 0)
        fail_msg("%s: cut at %zu (pieces of %zu)", play->known->name, split.first, split.piece);
    free(events);
}

enum {
    LARGE = 64 * 1024,
};

/* Too long for the split rule: test_http_parser.c and test_gunzip.c apply it to each half. */
static void play_some(const struct recording *r, const struct play *play)
{
    size_t edges_apart = tier_is_full() ? 48 : 384, near = tier_is_full() ? 8 : 2;
    int random_cuts = tier_is_full() ? 100 : 10;
    struct str wire = recording_wire(r);
    struct rng rng = {20261116};
    for (size_t i = 0; i < r->n_edges; i += edges_apart)
        for (size_t at = r->edges[i] - near; at <= r->edges[i] + near; at++)
            play_split(play, wire, (struct split){at, 0});
    for (int i = 0; i < random_cuts; i++)
        play_split(play, wire, (struct split){1 + rng_below(&rng, wire.len - 1), 0});
    play_split(play, wire, (struct split){1, 1});
}

static void reads_every_recording_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct play play = {.known = &known[i]};
        struct recording r;
        recording_open(&r, known[i].name);
        play.events = events_until(play.known, recording_wire(&r), (struct split){0, 0});
        if (play.known->asked == ASKED_DOCUMENT)
            check_document(play.known, play.events);
        else
            check_events(play.known, play.events);
        if (r.wire.len > LARGE)
            play_some(&r, &play);
        else
            split_each_near(recording_wire(&r), r.edges, r.n_edges, play_split, &play);
        free(play.events);
        recording_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recording_is_in_the_table),
        cmocka_unit_test(reads_every_recording_however_it_is_cut),
    };
    return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
