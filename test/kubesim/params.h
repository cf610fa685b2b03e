/*
 * params.h - words of the form key=value: a query string, or the rest of a script's line.
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

/* Takes @len characters apart at @separator; %41 and, in queries, + are decoded. */
void params_parse(struct params *p, const char *text, size_t len, char separator);
void params_free(struct params *p);

/* The first value of @key; @otherwise if there is none. */
const char *params_get(const struct params *p, const char *key, const char *otherwise);
uint64_t params_number(const struct params *p, const char *key, uint64_t otherwise);
/* As the API server reads booleans: true and 1 are true, and so is a key without a value. */
bool params_true(const struct params *p, const char *key);

/* Digits and nothing else, into @ret; false if it is anything else. */
bool parse_number(const char *text, uint64_t *ret);

#endif
