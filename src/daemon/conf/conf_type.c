/*
 * conf_type.c - what all types of option values have in common: reading a scalar with its
 * environment variables, defaults, and the optional functions of a type. Errors are reported to the
 * reader.
 */
#include "daemon/conf/conf_type.h"

#include <string.h>

#include "base/err.h"
#include "daemon/conf/conf_env.h"
#include "daemon/conf/conf_table.h"

char *conf_scalar_read(struct conf_reader *reader, const struct yaml_node *node)
{
    struct inf_error err = {0};
    struct yaml_node expanded = *node;
    struct buf text = {0};
    if (node->kind != YAML_SCALAR) {
        conf_reader_error(reader, node, "must be a single value, not a %s",
                          node->kind == YAML_SEQUENCE ? "list" : "mapping");
        return NULL;
    }
    if (conf_env_expand(node->text, &text, &err) < 0)
        goto refused;
    expanded.text = text.bytes;
    if (yaml_is_null(&expanded) || !text.bytes[0]) {
        err_set(&err, INF_ECONF, "has no value; set one or remove the key");
        goto refused;
    }
    return text.bytes;
refused:
    conf_reader_error(reader, node, "%s", err.text);
    buf_free(&text);
    return NULL;
}

void conf_value_preset(struct conf_reader *reader, const struct conf_option *option, void *member)
{
    struct yaml_node *node = NULL;
    size_t len;
    if (conf_preset_is_unset(option))
        return;
    len = strlen(option->preset);
    if (strchr("[{", option->preset[0]) && len == 2)
        return; /* empty, like the zeroed member */
    if (yaml_parse("(default)", option->preset, len, &node, NULL) == 0)
        option->type->read(reader, option, node, member);
    yaml_tree_free(node);
}

bool conf_value_is_set(const struct conf_option *option, const void *member)
{
    return !option->type->is_set || option->type->is_set(option, member);
}

void conf_value_free(const struct conf_option *option, void *member)
{
    if (option->type->free)
        option->type->free(member);
}
