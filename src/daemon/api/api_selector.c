/*
 * api_selector.c - compares selectors by their requirements in canonical spelling.
 */
#include "daemon/api/api_selector.h"

#include <string.h>

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

size_t api_selector_count(const struct inf_selector *selector)
{
    struct str rest = str_of(selector ? inf_selector_text(selector) : "");
    size_t n = 0;
    for (; rest.len; n++)
        next_requirement(&rest);
    return n;
}

/* ---- the fields of a selector ---- */

/* Past the brackets at @at, before @end. */
static const char *skip_brackets(const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    return close ? close + 1 : end;
}

/* The path of a requirement: up to its operator. */
static struct str path_of(struct str requirement)
{
    const char *at = requirement.at, *end = at + requirement.len;
    while (at < end && *at != '=' && *at != '!')
        at = *at == '[' ? skip_brackets(at, end) : at + 1;
    return (struct str){requirement.at, (size_t)(at - requirement.at)};
}

static bool is_boundary(const char *at, const char *end)
{
    return at == end || *at == '.' || *at == '[';
}

bool api_paths_overlap(struct str one, struct str other)
{
    const char *a = one.at, *a_end = a + one.len, *b = other.at, *b_end = b + other.len;
    while (a < a_end && b < b_end) {
        if (*a == '[' && *b == '[') {
            a = skip_brackets(a, a_end);
            b = skip_brackets(b, b_end);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return a == a_end ? is_boundary(b, b_end) : is_boundary(a, a_end);
}

/* Whether @some or all requirements of @fields overlap with @path. */
static bool overlaps(const struct inf_selector *fields, const char *path, bool some)
{
    struct str rest = str_of(fields ? inf_selector_text(fields) : "");
    while (rest.len)
        if (api_paths_overlap(path_of(next_requirement(&rest)), str_of(path)) == some)
            return some;
    return !some;
}

bool api_selector_uses(const struct inf_selector *fields, const char *path)
{
    return overlaps(fields, path, /* some= */ true);
}

bool api_selector_is_metadata(const struct inf_selector *fields)
{
    return overlaps(fields, "metadata", /* some= */ false);
}
