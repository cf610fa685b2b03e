#include "core/pager.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "core/mutant.h"

enum {
    PAGE_SIZE = 500,
};

void pager_init(struct pager *p, uint32_t size)
{
    *p = (struct pager){
        .asked = xstrdup(""), .version = xstrdup(""), .token = xstrdup(""), .size = size};
}

void pager_free(struct pager *p)
{
    free(p->asked);
    free(p->version);
    free(p->token);
    *p = (struct pager){0};
}

static void begin(struct pager *p, bool whole)
{
    str_replace(&p->version, "");
    str_replace(&p->token, "");
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
    p->page_ended = false;
    *ret = (struct source_request){
        .want = SOURCE_LIST,
        .resource_version = p->token[0] ? "" : p->asked,
        .continue_token = p->token,
        .limit = limit(p),
    };
}

void pager_on_page_end(struct pager *p, const char *version, const char *token)
{
    if (!p->version[0])
        str_replace(&p->version, version);
    str_replace(&p->token, token ? token : "");
    p->always_pages |= p->token[0] && strcmp(p->asked, "0") == 0;
    p->page_ended = true;
}

enum pager_next pager_on_end(struct pager *p, const struct inf_error *why,
                             struct inf_error *ret_why)
{
    bool ended = why->code == INF_EEOF;
    if (ended && p->page_ended)
        return p->token[0] && !MUTANT("first-page-is-all") ? PAGER_NEXT_PAGE : PAGER_COMPLETE;
    if (why->code == INF_EGONE && p->token[0] && !p->whole) {
        begin(p, true);
        return PAGER_WHOLE_LIST;
    }
    if (ended)
        err_set(ret_why, INF_ECUT, "the list ended in the middle");
    else
        *ret_why = *why;
    return PAGER_FAILED;
}
