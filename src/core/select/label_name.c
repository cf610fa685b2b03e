/*
 * label_name.c - checks label keys and values, and explains what is wrong. See label_name.h.
 */
#include "core/select/label_name.h"

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* The first character that is not allowed in a name or a value, or not at its beginning or end; NULL:
 * none. */
static const char *wrong_in_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        bool inside = i > 0 && i < s.len - 1;
        if (!is_alnum(s.at[i]) && !(inside && strchr("-_.", s.at[i]) && s.at[i]))
            return s.at + i;
    }
    return NULL;
}

/* The same for a DNS name, which has no capitals and whose parts between dots follow this rule. */
static const char *wrong_in_prefix(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        bool first = i == 0 || s.at[i - 1] == '.', last = i == s.len - 1 || s.at[i + 1] == '.';
        if (!is_lower_or_digit(s.at[i]) && (first || last || (s.at[i] != '-' && s.at[i] != '.')))
            return s.at + i;
    }
    return NULL;
}

const char *label_value_problem(struct str value, const char **ret_at)
{
    const char *wrong = wrong_in_name(value);
    *ret_at = wrong ? wrong : value.at;
    if (wrong)
        return "a label value consists of letters, digits, '-', '_' and '.', and starts and "
               "ends with a letter or digit";
    return value.len > LABEL_NAME_MAX ? "a label value has at most 63 characters" : NULL;
}

static const char *name_problem(struct str name, const char **ret_at)
{
    const char *wrong = wrong_in_name(name);
    *ret_at = wrong ? wrong : name.at;
    if (!name.len)
        return "a label key must end with a name";
    if (wrong && *wrong == '/')
        return "a label key has at most one '/': prefix/name";
    if (wrong)
        return "a label name consists of letters, digits, '-', '_' and '.', and starts and "
               "ends with a letter or digit";
    return name.len > LABEL_NAME_MAX ? "a label name has at most 63 characters" : NULL;
}

static const char *prefix_problem(struct str prefix, const char **ret_at)
{
    const char *wrong = wrong_in_prefix(prefix);
    *ret_at = wrong ? wrong : prefix.at;
    if (!prefix.len)
        return "expected a prefix before the '/'";
    if (wrong)
        return "a prefix is a DNS name: lower-case letters, digits, '-' and '.'";
    return prefix.len > LABEL_PREFIX_MAX ? "a prefix has at most 253 characters" : NULL;
}

const char *label_key_problem(struct str key, const char **ret_at)
{
    const char *slash = memchr(key.at, '/', key.len), *problem;
    struct str prefix, name;
    if (!slash)
        return name_problem(key, ret_at);
    prefix = (struct str){key.at, (size_t)(slash - key.at)};
    name = (struct str){slash + 1, key.len - prefix.len - 1};
    problem = prefix_problem(prefix, ret_at);
    return problem ? problem : name_problem(name, ret_at);
}
