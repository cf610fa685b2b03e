#include "core/reflector/pager.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "core/mutant.h"

enum {
    PAGE_SIZE = 500,
    PAGES_MAX = 20 * 1000, /* LIMIT: pages of one list */
    EMPTY_PAGES_MAX = 100, /* LIMIT: pages in a row that hold no object */
};

void pager_init(struct pager *p, uint32_t size)
{
    *p = (struct pager){.asked = xstrdup(""),
                        .version = xstrdup(""),
                        .token = xstrdup(""),
                        .mark = xstrdup(""),
                        .size = size};
}

void pager_free(struct pager *p)
{
    free(p->asked);
    free(p->version);
    free(p->token);
    free(p->mark);
    *p = (struct pager){0};
}

static void begin(struct pager *p, bool whole)
{
    str_replace(&p->version, "");
    str_replace(&p->token, "");
    str_replace(&p->mark, "");
    p->pages = p->empty = 0;
    p->whole = whole;
}

void pager_start(struct pager *p, const char *version)
{
    str_replace(&p->asked, version);
    begin(p, false);
}

/* Pages where the server reads from its database anyway; where it can answer from its cache, a
 * limit would keep it from doing so. */
static uint32_t limit(const struct pager *p)
{
    bool from_database = strcmp(p->asked, "") == 0 || strcmp(p->asked, "0") == 0;
    if (p->whole)
        return 0;
    if (p->size)
        return p->size;
    return p->always_pages || from_database ? PAGE_SIZE : 0;
}

void pager_request(struct pager *p, struct source_request *ret)
{
    p->page_ended = p->item_seen = false;
    *ret = (struct source_request){
        .want = SOURCE_LIST,
        .resource_version = p->token[0] ? "" : p->asked,
        .continue_token = p->token,
        .limit = limit(p),
    };
}

void pager_on_item(struct pager *p)
{
    p->item_seen = true;
}

void pager_on_page_end(struct pager *p, const char *version, const char *token)
{
    if (!p->version[0])
        str_replace(&p->version, version);
    str_replace(&p->token, token ? token : "");
    p->always_pages |= p->token[0] && strcmp(p->asked, "0") == 0;
    p->page_ended = true;
    p->pages++;
    p->empty = p->item_seen ? 0 : p->empty + 1;
}

/* Each token is compared with one earlier token, which is replaced at page 1, 2, 4, 8, ...: that finds
 * a cycle of any length before it was gone through three times, and remembers one token (Brent). */
static bool is_repeated(struct pager *p)
{
    bool power_of_two = (p->pages & (p->pages - 1)) == 0;
    if (strcmp(p->token, p->mark) == 0)
        return true;
    if (power_of_two)
        str_replace(&p->mark, p->token);
    return false;
}

/* There is a token for another page: may it be asked for? */
static enum pager_next go_on(struct pager *p, struct inf_error *ret_why)
{
    if (is_repeated(p))
        err_set(ret_why, INF_EPROTO,
                "list does not end: the server repeated a continue token after %u pages", p->pages);
    else if (p->pages >= PAGES_MAX)
        err_set(ret_why, INF_EPROTO, "list does not end: more than pages_max=%d pages", PAGES_MAX);
    else if (p->empty >= EMPTY_PAGES_MAX)
        err_set(ret_why, INF_EPROTO, "list does not end: %d consecutive pages without an object",
                EMPTY_PAGES_MAX);
    else
        return PAGER_NEXT_PAGE;
    return PAGER_FAILED;
}

enum pager_next pager_on_end(struct pager *p, const struct inf_error *why,
                             struct inf_error *ret_why)
{
    bool ended = why->code == INF_EEOF;
    if (ended && p->page_ended)
        return p->token[0] && !MUTANT("first-page-is-all") ? go_on(p, ret_why) : PAGER_COMPLETE;
    if (why->code == INF_EGONE && p->token[0] && !p->whole) {
        begin(p, true);
        return PAGER_WHOLE_LIST;
    }
    if (ended)
        err_set(ret_why, INF_ECUT, "list response ended before its last page was complete");
    else
        *ret_why = *why;
    return PAGER_FAILED;
}
