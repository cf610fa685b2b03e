#include "journal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/json_string.h"

static void entry_free(struct journal_entry *e)
{
    free(e->verb);
    free(e->method);
    free(e->target);
    *e = (struct journal_entry){0};
}

void journal_add(struct journal *j, const char *verb, const char *method, const char *target,
                 uint64_t ms)
{
    struct journal_entry *e = &j->last[j->requests++ % JOURNAL_LAST];
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
}
