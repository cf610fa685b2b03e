/*
 * api_selector.c - compares selectors by their requirements in canonical spelling.
 */
#include "daemon/api/api_selector.h"

#include "base/str.h"

/* Takes the next requirement from @rest: up to a comma that is neither in parentheses nor escaped. */
static struct str next_requirement(struct str *rest)
{
    size_t len = 0, depth = 0;
    struct str one;
    for (; len < rest->len && (rest->at[len] != ',' || depth); len++) {
        if (rest->at[len] == '\\' && len + 1 < rest->len)
            len++;
        else if (rest->at[len] == '(')
            depth++;
        else if (rest->at[len] == ')' && depth)
            depth--;
    }
    one = (struct str){rest->at, len};
    len += len < rest->len;
    *rest = (struct str){rest->at + len, rest->len - len};
    return one;
}

static bool has_requirement(struct str selector, struct str requirement)
{
    while (selector.len)
        if (str_eq(next_requirement(&selector), requirement))
            return true;
    return false;
}

bool api_selector_implies(const struct inf_selector *requested, const char *watched, bool by_labels)
{
    struct inf_selector *selector;
    struct str rest, have;
    bool implied = true;
    if (!watched || !*watched)
        return true;
    selector = by_labels ? inf_selector_parse_labels(watched, NULL)
                         : inf_selector_parse_fields(watched, NULL);
    rest = str_of(selector ? inf_selector_text(selector) : watched);
    have = requested ? str_of(inf_selector_text(requested)) : (struct str){NULL, 0};
    while (implied && rest.len)
        implied = has_requirement(have, next_requirement(&rest));
    inf_selector_free(selector);
    return implied;
}
