/*
 * selection.c - parses the selectors of a watch and evaluates them for deleted objects.
 *
 * The selectors were validated with the configuration, so parsing can't fail. Label selectors are
 * evaluated only if the watch keeps all labels.
 */
#include "daemon/watch/selection.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

/* ---- the watch ---- */

/* Whether dropping or hashing @path leaves the labels as they are: any path outside metadata,
 * and these two. */
static bool spares_labels(const char *path)
{
    return strcmp(path, "metadata.managedFields") == 0 ||
           strncmp(path, "metadata.annotations", 20) == 0 ||
           (isalpha((unsigned char)path[0]) && strncmp(path, "metadata", 8) != 0);
}

static bool all_spare_labels(const struct conf_list *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        if (!spares_labels(paths->items[i]))
            return false;
    return true;
}

bool selection_keeps_labels(const struct conf_watch *watch)
{
    return all_spare_labels(&watch->drop) && all_spare_labels(&watch->redact);
}

static bool is_fixed(const char *term)
{
    struct str field = {term, strcspn(term, "=!")};
    return str_eq(field, STR("metadata.name")) || str_eq(field, STR("metadata.namespace"));
}

/* Whether all terms select by fields that never change. A comma in a value is escaped with a
 * backslash. */
static bool all_fixed(const char *selector)
{
    bool fixed = is_fixed(selector);
    for (const char *c = selector; *c && fixed; c++) {
        if (*c == '\\' && c[1])
            c++;
        else if (*c == ',')
            fixed = is_fixed(c + 1);
    }
    return fixed;
}

/* NULL: it selects everything. */
static struct inf_selector *parse_selector(const char *text,
                                           struct inf_selector *(*read)(const char *,
                                                                        struct inf_error *))
{
    return text && text[0] ? read(text, NULL) : NULL;
}

void selection_init(struct selection *selection, const struct conf_watch *watch)
{
    struct inf_selector *fields = parse_selector(watch->field_selector, inf_selector_parse_fields);
    struct inf_selector *labels = parse_selector(watch->label_selector, inf_selector_parse_labels);
    *selection = (struct selection){.selects = labels || fields,
                                    .deletion = inf_path_parse("metadata.deletionTimestamp", NULL)};
    selection->by_fields = fields && !all_fixed(inf_selector_text(fields));
    inf_selector_free(fields);
    if (selection_keeps_labels(watch))
        selection->labels = labels;
    else
        inf_selector_free(labels);
}

void selection_done(struct selection *selection)
{
    inf_selector_free(selection->labels);
    inf_path_free(selection->deletion);
    *selection = (struct selection){0};
}

/* ---- the object ---- */

bool selection_being_deleted(const struct selection *selection, const struct inf_object *object)
{
    char time[8];
    return inf_path_string(selection->deletion, object, time, sizeof(time)) > 0 &&
           strcmp(time, "null") != 0;
}

static bool has_reached(const char *version, const char *target)
{
    return strcmp(version, target) == 0 || inf_resource_version_is_older(target, version);
}

/* A server may report a deletion with a version older than that of the deletion. The other cache
 * may then seem to have reached it when it has not, but in that case its object still has the
 * labels. */
bool selection_was_left(const struct selection *selection, const struct inf_event *gone,
                        const char *version, const struct inf_object *now, const char *now_version)
{
    const struct inf_object *last = inf_event_object(gone);
    const char *since = gone->final ? inf_object_resource_version(last) : version;
    return selection->labels && now && strcmp(inf_object_uid(now), inf_object_uid(last)) == 0 &&
           has_reached(now_version, since) && !inf_selector_matches(selection->labels, now);
}

const char *selection_why(const struct selection *selection, const struct inf_object *last)
{
    if (!inf_selector_matches(selection->labels, last))
        return SELECTION_LEFT;
    return !selection->by_fields && selection_being_deleted(selection, last) ? "deleted" : NULL;
}
