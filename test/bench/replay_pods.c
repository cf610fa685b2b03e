/*
 * replay_pods.c - the text of a pod with its placeholders.
 *
 * A placeholder is a tilde and a run of one letter: `~vvvvvvvvv`. The letter selects the number that
 * replaces it. The number has the width of the placeholder and no leading zero, so that it is valid
 * in JSON: 1 and zeros, plus the value.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "replay.h"

enum {
    APPS = 100, /* distinct values of the label: a selector matches one pod in a hundred */
    NODES = 500,
};

static uint64_t hole_value(const struct world *w, char letter, uint32_t pod, struct state state)
{
    switch (letter) {
    case 'i': return pod;
    case 'n': return pod % w->namespaces;
    case 'a': return pod / w->namespaces % APPS;
    case 'k': return pod / w->namespaces % NODES;
    case 'v': return state.version;
    case 'r': return state.version % 900; /* restarts */
    case 't': return state.version % 50;  /* seconds, 10 to 59 */
    case 's': return state.sent_ns;
    default:
        fprintf(stderr, "replay: unknown placeholder letter '%c'\n", letter);
        exit(EXIT_FAILURE);
    }
}

static void find_holes(struct world *w)
{
    for (char *at = w->text; (at = strchr(at, '~')) != NULL;) {
        struct hole *hole = &w->holes[w->n_holes++];
        unsigned width = 1;
        while (at[width] == at[1])
            width++;
        if (w->n_holes == HOLES_MAX || !islower((unsigned char)at[1])) {
            fprintf(stderr, "replay: the template has too many placeholders, or an invalid one\n");
            exit(EXIT_FAILURE);
        }
        *hole = (struct hole){.at = (size_t)(at - w->text), .width = width, .letter = at[1]};
        at += width;
    }
}

static void read_template(struct world *w, const char *path)
{
    FILE *f = fopen(path, "r");
    size_t room = 0;
    ssize_t len = f ? getline(&w->text, &room, f) : -1;
    if (len < 2) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(f);
    w->len = strcspn(w->text, "\n") - 1;
    memmove(w->text, w->text + 1, w->len); /* the sender adds the opening brace */
    w->text[w->len] = '\0';
    find_holes(w);
}

void world_init(struct world *w, const char *template_path, uint32_t pods, uint32_t namespaces)
{
    *w = (struct world){.n_pods = pods, .namespaces = namespaces, .version = pods};
    w->pods = xcalloc(pods, sizeof(*w->pods));
    for (uint32_t i = 0; i < pods; i++)
        w->pods[i].version = i + 1;
    read_template(w, template_path);
}

void world_free(struct world *w)
{
    free(w->text);
    free(w->pods);
    free(w->changes);
}

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void remember(struct world *w, struct change change)
{
    if (w->n_changes == w->room) {
        w->room = w->room ? w->room * 2 : 1024;
        w->changes = xrealloc(w->changes, w->room * sizeof(*w->changes));
    }
    w->changes[w->n_changes++] = change;
}

/* One after the other, so that all namespaces change equally. */
void world_change(struct world *w, bool secret)
{
    uint32_t pod = (uint32_t)(w->version % w->n_pods);
    struct state state = {.version = ++w->version, .sent_ns = now_ns()};
    w->pods[pod] = state;
    if (!secret)
        remember(w, (struct change){pod, state});
}

static uint64_t power_of_ten(unsigned n)
{
    return n ? 10 * power_of_ten(n - 1) : 1;
}

uint64_t version_text(uint64_t version)
{
    return power_of_ten(9) + version;
}

void pod_write(const struct world *w, uint32_t pod, struct state state, char *out)
{
    memcpy(out, w->text, w->len);
    for (size_t i = 0; i < w->n_holes; i++) {
        const struct hole *hole = &w->holes[i];
        uint64_t left = hole_value(w, hole->letter, pod, state);
        for (unsigned digit = hole->width; digit-- > 0; left /= 10)
            out[hole->at + digit] = (char)('0' + left % 10 + (digit == 0));
    }
}

uint32_t pods_in(const struct world *w, int ns)
{
    return ns == EVERYWHERE ? w->n_pods
                            : (w->n_pods + w->namespaces - 1 - (uint32_t)ns) / w->namespaces;
}

uint32_t pod_in(const struct world *w, int ns, uint32_t k)
{
    return ns == EVERYWHERE ? k : (uint32_t)ns + k * w->namespaces;
}
