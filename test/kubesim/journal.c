/*
 * journal.c - counts requests and keeps the last ones in a ring.
 */
#include "journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/json_string.h"

static void entry_free(struct journal_entry *e)
{
    free(e->verb);
    free(e->method);
    free(e->target);
    *e = (struct journal_entry){0};
}

static void count_path(struct journal *j, const char *verb, const char *target)
{
    size_t len = strcspn(target, "?");
    for (size_t i = 0; i < j->path_count; i++) {
        struct journal_path *p = &j->paths[i];
        if (strcmp(p->verb, verb) == 0 && strlen(p->path) == len &&
            memcmp(p->path, target, len) == 0) {
            p->count++;
            return;
        }
    }
    if (j->path_count == JOURNAL_PATHS)
        return;
    j->paths = xrealloc(j->paths, (j->path_count + 1) * sizeof(*j->paths));
    j->paths[j->path_count++] = (struct journal_path){xstrdup(verb), xstrndup(target, len), 1};
}

void journal_add(struct journal *j, const char *verb, const char *method, const char *target,
                 uint64_t ms)
{
    struct journal_entry *e = &j->last[j->requests++ % JOURNAL_LAST];
    count_path(j, verb, target);
    entry_free(e);
    *e = (struct journal_entry){xstrdup(verb), xstrdup(method), xstrdup(target), ms};
}

void journal_put(struct buf *out, const struct journal *j)
{
    uint64_t first = j->requests > JOURNAL_LAST ? j->requests - JOURNAL_LAST : 0;
    buf_putc(out, '[');
    for (uint64_t n = first; n < j->requests; n++) {
        const struct journal_entry *e = &j->last[n % JOURNAL_LAST];
        buf_printf(out, "%s{\"ms\":%llu,\"verb\":\"%s\",\"method\":", n > first ? "," : "",
                   (unsigned long long)e->ms, e->verb);
        json_put_string(out, str_of(e->method));
        buf_puts(out, ",\"target\":");
        json_put_string(out, str_of(e->target));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

void journal_put_paths(struct buf *out, const struct journal *j)
{
    buf_putc(out, '{');
    for (size_t i = 0; i < j->path_count; i++) {
        char *name = xasprintf("%s %s", j->paths[i].verb, j->paths[i].path);
        if (i)
            buf_putc(out, ',');
        json_put_string(out, str_of(name));
        buf_printf(out, ":%llu", (unsigned long long)j->paths[i].count);
        free(name);
    }
    buf_putc(out, '}');
}

void journal_clear(struct journal *j)
{
    uint64_t open = j->opened - j->closed;
    journal_free(j);
    *j = (struct journal){.opened = open};
}

void journal_free(struct journal *j)
{
    for (size_t i = 0; i < JOURNAL_LAST; i++)
        entry_free(&j->last[i]);
    for (size_t i = 0; i < j->path_count; i++) {
        free(j->paths[i].verb);
        free(j->paths[i].path);
    }
    free(j->paths);
}
