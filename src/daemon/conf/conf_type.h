/*
 * conf_type.h - the types of option values, as tables of functions.
 *
 * An option of conf_table.c refers to its type by pointer. To add a type, define a struct conf_type
 * in the file of its family (conf_type_text.c, conf_type_number.c, ...) or in a new file, and
 * declare it below. Nested structs have no type: see struct conf_option.
 */
#ifndef DAEMON_CONF_TYPE_H
#define DAEMON_CONF_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/text/yaml.h"
#include "daemon/conf/conf_error.h"

struct conf_option;

/* The characters of a text type. */
struct conf_charset {
    size_t max;        /* bytes */
    const char *inner; /* allowed characters */
    const char *ends;  /* allowed as the first and the last character */
    const char *error; /* "is not a valid name; use ..." */
};

struct conf_unit {
    const char *name;
    uint64_t size;
};

struct conf_number_format {
    const char *form; /* "a duration; write it like ...", for errors */
    unsigned base;
    uint64_t max;                  /* unless the option has a lower one */
    const struct conf_unit *units; /* largest first; ends with an empty one */
    const char *zero;              /* how 0 is written */
};

struct conf_type {
    /* The form of a value, for the manual. The plural has an 's'. */
    const char *form;

    /*
     * Reads @node into @member, replacing the earlier value. Reports errors; a value with an error
     * is stored nevertheless if possible, so that references to it do not cause further errors.
     */
    void (*read)(struct conf_reader *reader, const struct conf_option *option,
                 const struct yaml_node *node, void *member);

    /* Appends the value as one line of YAML. It reads as the same value, except that secrets are
     * hidden. */
    void (*write)(const struct conf_option *option, const void *member, struct buf *out);

    /* Whether two values mean the same. Secrets are compared too. */
    bool (*equal)(const struct conf_option *option, const void *a, const void *b);

    /* Whether there is a value to write: see conf_preset_is_unset(). NULL: always. */
    bool (*is_set)(const struct conf_option *option, const void *member);

    /* Frees the value and zeroes the member. NULL: nothing to free. */
    void (*free)(void *member);

    /* Text types: the allowed characters, or, after any printable text was accepted, a check of its
     * syntax; and how the text is stored. NULL: no restriction; as it is. */
    const struct conf_charset *charset;
    int (*check)(const char *text, struct inf_error *err);
    char *(*resolve)(const struct yaml_node *node, const char *text);

    /* Number types. */
    const struct conf_number_format *number;
};

/* conf_type_text.c: char * */
extern const struct conf_type conf_type_text;
extern const struct conf_type conf_type_file;     /* a path, made absolute */
extern const struct conf_type conf_type_log_file; /* a path or "stdout" */
extern const struct conf_type conf_type_name;
extern const struct conf_type conf_type_label;
extern const struct conf_type conf_type_namespace;
extern const struct conf_type conf_type_namespace_pattern;
extern const struct conf_type conf_type_resource;
extern const struct conf_type conf_type_label_selector;
extern const struct conf_type conf_type_field_selector;
extern const struct conf_type conf_type_field_path;
extern const struct conf_type conf_type_regex;     /* POSIX extended */
extern const struct conf_type conf_type_noise;     /* a preset or a field path */
extern const struct conf_type conf_type_condition; /* see record/condition.h */
extern const struct conf_type conf_type_when;      /* see filter_when_parse() */
extern const struct conf_type conf_type_kind;
extern const struct conf_type conf_type_uid; /* decimal, without leading zeros */
extern const struct conf_type conf_type_address;
extern const struct conf_type conf_type_host; /* a host name, without a port */
extern const struct conf_type conf_type_proxy;
extern const struct conf_type conf_type_record_format;
extern const struct conf_type conf_type_url;            /* see wire/http/http_url.h */
extern const struct conf_type conf_type_webhook_preset; /* see handler/webhook_preset.h */
extern const struct conf_type conf_type_header;         /* the name of an HTTP header */

/* conf_type_number.c: uint64_t */
extern const struct conf_type conf_type_duration; /* in milliseconds */
extern const struct conf_type conf_type_size;
extern const struct conf_type conf_type_number;
extern const struct conf_type conf_type_mode;
extern const struct conf_type conf_type_rate;           /* a minute */
extern const struct conf_type conf_type_duration_range; /* struct conf_duration_range */

/* conf_type_choice.c */
extern const struct conf_type conf_type_bool;    /* bool */
extern const struct conf_type conf_type_choice;  /* an enum: the index in `choices` */
extern const struct conf_type conf_type_choices; /* unsigned: bit 1 << n is the n-th choice */

/* conf_type_list.c */
extern const struct conf_type conf_type_list;    /* struct conf_list of values of the type `of` */
extern const struct conf_type conf_type_command; /* the same, for a program with its arguments */
extern const struct conf_type conf_type_indexes; /* struct conf_indexes */
extern const struct conf_type conf_type_fields;  /* struct conf_indexes */
extern const struct conf_type
    conf_type_headers; /* struct conf_indexes of values of the type `of` */

/* ---- for all types ---- */

/* Stores the default of @option in a zeroed @member. */
void conf_value_preset(struct conf_reader *reader, const struct conf_option *option, void *member);

bool conf_value_is_set(const struct conf_option *option, const void *member);
void conf_value_free(const struct conf_option *option, void *member);

/* Parses a value of a number type. Returns false if @text is none. */
bool conf_number_parse(const struct conf_type *type, const char *text, uint64_t *ret);

/* ---- to implement types ---- */

/* The text of a scalar with environment variables expanded; the caller frees it. NULL after
 * reporting an error. */
char *conf_scalar_read(struct conf_reader *reader, const struct yaml_node *node);

/* Whether @node is a list with a valid number of items. Reports an error if not. */
bool conf_list_check(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node);

/* Appends the choices of @option whose bits are set, separated by commas. */
void conf_choices_write(const struct conf_option *option, unsigned bits, struct buf *out);

/* Reads a scalar of a text type. An invalid text is reported and returned nevertheless. Returns
 * NULL after reporting that there is no text. The caller frees it. */
char *conf_text_read(struct conf_reader *reader, const struct conf_type *type,
                     const struct yaml_node *node);

/* Validates @text. Returns 0, or -INF_ECONF with a message that describes valid values. */
int conf_text_check(const struct conf_type *type, const char *text, struct inf_error *err);

/* Appends @text as a YAML scalar, with quotes if it needs them. */
void conf_text_write(const char *text, struct buf *out);

#endif
