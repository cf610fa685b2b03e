/*
 * pager.c - the rules of a paged LIST, and the checks that it ends. See pager.h.
 */
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
    *p = (struct pager){.requested = xstrdup(""),
                        .version = xstrdup(""),
                        .token = xstrdup(""),
                        .earlier_token = xstrdup(""),
                        .size = size};
}

void pager_free(struct pager *p)
{
    free(p->requested);
    free(p->version);
    free(p->token);
    free(p->earlier_token);
    *p = (struct pager){0};
}

static void reset_list(struct pager *p, bool whole)
{
    str_replace(&p->version, "");
    str_replace(&p->token, "");
    str_replace(&p->earlier_token, "");
    p->pages = p->empty = 0;
    p->whole = whole;
}

void pager_start(struct pager *p, const char *version)
{
    str_replace(&p->requested, version);
    reset_list(p, false);
}

/* Pages are used where the server reads from its database anyway. Where it can answer from its
 * cache, a limit would prevent that. */
static uint32_t page_limit(const struct pager *p)
{
    bool from_database = strcmp(p->requested, "") == 0 || strcmp(p->requested, "0") == 0;
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
        .resource_version = p->token[0] ? "" : p->requested,
        .continue_token = p->token,
        .limit = page_limit(p),
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
    p->always_pages |= p->token[0] && strcmp(p->requested, "0") == 0;
    p->page_ended = true;
    p->pages++;
    p->empty = p->item_seen ? 0 : p->empty + 1;
}

/* There is a token for another page: checks that the list will end.
 *
 * Repeated tokens are found with Brent's cycle detection: each token is compared with one earlier
 * token, which is replaced at page 1, 2, 4, 8, ... This finds a cycle of any length within three
 * rounds and stores one token. */
static enum pager_next check_next_page(struct pager *p, struct inf_error *ret_why)
{
    bool repeated = strcmp(p->token, p->earlier_token) == 0;
    bool power_of_two = (p->pages & (p->pages - 1)) == 0;
    if (!repeated && power_of_two)
        str_replace(&p->earlier_token, p->token);
    if (repeated)
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
        return p->token[0] && !MUTANT("first-page-is-all") ? check_next_page(p, ret_why)
                                                           : PAGER_COMPLETE;
    if (why->code == INF_EGONE && p->token[0] && !p->whole) {
        reset_list(p, true);
        return PAGER_WHOLE_LIST;
    }
    if (ended)
        err_set(ret_why, INF_ECUT, "list response ended before its last page was complete");
    else
        *ret_why = *why;
    return PAGER_FAILED;
}
