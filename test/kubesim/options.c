/*
 * Validation of the parameters of lists and watches, with the messages of the API server.
 */
#include <string.h>

#include "api.h"

static bool check_version(const char *rv, struct status *ret)
{
    uint64_t number;
    if (!rv[0] || parse_number(rv, &number))
        return true;
    status_set(ret, 400, "BadRequest",
               "invalid resource version: resourceVersion: Invalid value: \"%s\": "
               "strconv.ParseUint: parsing \"%s\": invalid syntax",
               rv, rv);
    return false;
}

static const char *check_watch(const struct kubesim *sim, const char *match, bool initial,
                               const char **ret_field)
{
    bool not_older = strcmp(match, "NotOlderThan") == 0;
    *ret_field = "resourceVersionMatch";
    if (initial && !not_older)
        return "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    if (match[0] && !initial)
        return "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    *ret_field = "sendInitialEvents";
    if (initial && !sim->settings.watch_list)
        return "sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
               "enabled";
    return NULL;
}

static const char *check_list(const struct params *query, const char *match, bool initial,
                              const char **ret_field)
{
    const char *rv = params_get(query, "resourceVersion", "");
    *ret_field = "resourceVersionMatch";
    if (match[0] && !rv[0])
        return "resourceVersionMatch is forbidden unless resourceVersion is provided";
    if (match[0] && params_get(query, "continue", "")[0])
        return "resourceVersionMatch is forbidden when continue is provided";
    if (strcmp(match, "Exact") == 0 && strcmp(rv, "0") == 0)
        return "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
    *ret_field = "sendInitialEvents";
    return initial ? "sendInitialEvents is forbidden for list" : NULL;
}

bool options_check(const struct kubesim *sim, const struct params *query, bool watch,
                   struct status *ret)
{
    const char *match = params_get(query, "resourceVersionMatch", "");
    bool initial = params_get(query, "sendInitialEvents", NULL) != NULL;
    const char *field, *why = watch ? check_watch(sim, match, initial, &field)
                                    : check_list(query, match, initial, &field);
    if (why) {
        status_forbid_option(ret, field, why);
        return false;
    }
    if (!watch && params_get(query, "continue", "")[0] &&
        params_get(query, "resourceVersion", "")[0]) {
        status_set(ret, 400, "BadRequest",
                   "specifying resource version is not allowed when using continue");
        return false;
    }
    return check_version(params_get(query, "resourceVersion", ""), ret);
}
