/*
 * params.h - parameters of the form key=value: a query string, or the rest of a script's line.
 */
#ifndef KUBESIM_PARAMS_H
#define KUBESIM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct param {
    char *key;
    char *value;
};

struct params {
    struct param *items;
    size_t count;
};

/* Splits @len characters at @separator; %41 and, in queries, + are decoded. */
void params_parse(struct params *p, const char *text, size_t len, char separator);
void params_free(struct params *p);

/* The first value of @key; @otherwise if it is missing. */
const char *params_get(const struct params *p, const char *key, const char *otherwise);
uint64_t params_number(const struct params *p, const char *key, uint64_t otherwise);
/* Booleans as in the API server: true and 1 are true, and so is a key without a value. */
bool params_true(const struct params *p, const char *key);

/* Parses decimal digits into @ret; false for anything else. */
bool parse_number(const char *text, uint64_t *ret);

#endif
