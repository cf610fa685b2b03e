/*
 * The director: starts a story every few seconds, when the last one has mostly settled.
 */
#include "demo.h"

enum {
    PAUSE_MS = 3000,    /* between stories */
    CHANCE_MS = 3000,   /* plus at most this much */
    PATIENCE_MS = 3000, /* delay if the cluster is not at rest */
    LEAST = 2,          /* pods of a deployment */
    MOST = 5,
};

/* A random deployment that no story changes now; NULL if there is none. */
static struct app *pick_idle_app(struct demo *demo)
{
    struct app *found = NULL;
    unsigned seen = 0;
    list_for_each(n, &demo->apps) {
        struct app *app = container_of(n, struct app, node);
        if (app_is_idle(app) && !app->fixed && pick(demo, ++seen) == 0)
            found = app;
    }
    return found;
}

static bool play_rollout(struct demo *demo)
{
    struct app *app = pick_idle_app(demo);
    if (app)
        app_roll(demo, app);
    return app;
}

static bool play_scale(struct demo *demo)
{
    struct app *app = pick_idle_app(demo);
    bool up = app && (app->want <= LEAST || (app->want < MOST && pick(demo, 2)));
    if (app)
        app_scale(demo, app, up ? app->want + 1 : app->want - 1);
    return app;
}

static bool play_crash(struct demo *demo)
{
    struct pod *found = NULL;
    unsigned seen = 0;
    list_for_each(n, &demo->pods) {
        struct pod *pod = container_of(n, struct pod, node);
        if (pod->state == POD_READY && !pod->crashes && pick(demo, ++seen) == 0)
            found = pod;
    }
    if (found)
        pod_crash(demo, found, 2);
    return found;
}

static bool play_secret(struct demo *demo)
{
    secret_rotate(demo);
    return true;
}

static bool play_config(struct demo *demo)
{
    config_edit(demo);
    return true;
}

static bool play_job(struct demo *demo)
{
    cron_run(demo);
    return true;
}

static const struct story {
    unsigned weight;
    bool large;                      /* starts only when all other stories have ended */
    bool (*play)(struct demo *demo); /* false if it is not possible now */
} stories[] = {
    {6, true, play_rollout},  {4, true, play_crash},   {4, true, play_scale},
    {3, true, machine_drain}, {2, false, play_secret}, {2, false, play_config},
    {4, true, play_job},
};

/* Chooses by weight, and never the same story twice in a row. */
static unsigned choose(struct demo *demo)
{
    unsigned total = 0, i, at;
    for (i = 0; i < ARRAY_LEN(stories); i++)
        total += i == demo->last_story ? 0 : stories[i].weight;
    at = pick(demo, total);
    for (i = 0; i < ARRAY_LEN(stories); i++) {
        unsigned weight = i == demo->last_story ? 0 : stories[i].weight;
        if (at < weight)
            break;
        at -= weight;
    }
    return i;
}

/* A pod in back-off does not count as busy. */
static bool at_rest(const struct demo *demo)
{
    list_for_each(n, &demo->pods) {
        enum pod_state state = container_of(n, struct pod, node)->state;
        if (state != POD_READY && state != POD_BACKOFF && state != POD_DONE)
            return false;
    }
    list_for_each(n, &demo->apps) {
        if (container_of(n, struct app, node)->status.rolling)
            return false;
    }
    return true;
}

static void direct(struct demo *demo, struct turn *turn)
{
    unsigned story = choose(demo);
    if (stories[story].large && !at_rest(demo)) {
        turn_in(demo, turn, PATIENCE_MS);
        return;
    }
    if (stories[story].play(demo))
        demo->last_story = story;
    turn_in(demo, turn, PAUSE_MS + pick(demo, CHANCE_MS));
}

/* The first story is a rollout. */
static void opening(struct demo *demo, struct turn *turn)
{
    turn->play = direct;
    play_rollout(demo);
    turn_in(demo, turn, PAUSE_MS);
}

void director_start(struct demo *demo)
{
    enum {
        OPENING_MS = 3000 /* time for clients to connect and to show the initial objects */
    };
    demo->director.play = opening;
    turn_in(demo, &demo->director, OPENING_MS);
}
