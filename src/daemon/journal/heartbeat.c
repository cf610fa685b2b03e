/*
 * heartbeat.c - compares each change of a diff with the known kinds of heartbeats. Anything
 * unexpected makes the answer no, so that a real change is never ignored.
 */
#include "daemon/journal/heartbeat.h"

#include <ctype.h>
#include <string.h>

static struct str text_of(const struct inf_diff_value *value)
{
    return (struct str){value->json, value->json ? value->len : 0};
}

/* A time as Kubernetes writes it: "2026-11-16T00:58:11Z", perhaps with a fraction; quotes
 * included. */
bool heartbeat_is_time(struct str json)
{
    static const char form[] = "\"dddd-dd-ddTdd:dd:dd";
    size_t n = sizeof(form) - 1;
    if (json.len < n + 2 || json.at[json.len - 1] != '"' || json.at[json.len - 2] != 'Z')
        return false;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)json.at[i]) : json.at[i] != form[i])
            return false;
    if (json.at[n] == '.')
        while (isdigit((unsigned char)json.at[++n]))
            ;
    return n == json.len - 2;
}

bool heartbeat_is_renewal(const struct inf_change *change)
{
    return change->op == INF_DIFF_REPLACE && heartbeat_is_time(text_of(&change->old_value)) &&
           heartbeat_is_time(text_of(&change->new_value));
}

/* Splits @json, a leader annotation (JSON in a JSON string), before and after its renewal time.
 * False: it has none. */
static bool split_at_renewal(struct str json, struct str *ret_before, struct str *ret_after)
{
    static const char key[] = "\\\"renewTime\\\":\\\"";
    const char *at = memmem(json.at, json.len, key, sizeof(key) - 1);
    const char *time, *end;
    if (!at)
        return false;
    time = at + sizeof(key) - 1;
    end = memchr(time, '\\', json.len - (size_t)(time - json.at));
    if (!end)
        return false;
    *ret_before = (struct str){json.at, (size_t)(time - json.at)};
    *ret_after = (struct str){end, json.len - (size_t)(end - json.at)};
    return true;
}

/* Only the renewal time differs; a change of the holder is not a heartbeat. */
bool heartbeat_is_leader_renewal(const struct inf_change *change)
{
    static const char leader[] =
        "metadata.annotations[\"control-plane.alpha.kubernetes.io/leader\"]";
    struct str before[2], after[2];
    return strcmp(change->path, leader) == 0 && change->op == INF_DIFF_REPLACE &&
           change->old_value.json && change->new_value.json &&
           split_at_renewal(text_of(&change->old_value), &before[0], &after[0]) &&
           split_at_renewal(text_of(&change->new_value), &before[1], &after[1]) &&
           str_eq(before[0], before[1]) && str_eq(after[0], after[1]);
}

bool heartbeat_is_change(const char *kind, const struct inf_change *change)
{
    static const char positions[] =
        "metadata.annotations[\"informerd/positions\"]"; /* daemon/replica */
    const char *path = change->path;
    if (heartbeat_is_leader_renewal(change))
        return true;
    if (strcmp(kind, "Lease") == 0 && strcmp(path, "spec.renewTime") == 0)
        return heartbeat_is_renewal(change);
    if (strcmp(kind, "Lease") == 0 && strcmp(path, positions) == 0)
        return change->op ==
               INF_DIFF_REPLACE; /* a record would be delivered, and change them again */
    return strncmp(path, "status.", 7) == 0 && heartbeat_is_renewal(change);
}

bool heartbeat_is(const char *kind, const struct inf_diff *diff)
{
    size_t beats = 0, generations = 0;
    if (inf_diff_truncated(diff))
        return false;
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        if (strcmp(change->path, "metadata.generation") == 0 ||
            strcmp(change->path, "status.observedGeneration") == 0)
            generations++; /* each write increments it if status is not a subresource */
        else if (heartbeat_is_change(kind, change))
            beats++;
        else
            return false;
    }
    return beats || !generations;
}
