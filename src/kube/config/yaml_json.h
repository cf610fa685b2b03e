/*
 * yaml_json.h - converts a YAML node to the JSON that Kubernetes tools convert it to.
 */
#ifndef KUBE_CONFIG_YAML_JSON_H
#define KUBE_CONFIG_YAML_JSON_H

#include "base/buf.h"

struct yaml_node;

/* Appends @node to @out. A plain scalar may be null, a bool or a number; other scalars are
 * strings. */
void yaml_put_json(struct buf *out, const struct yaml_node *node);

#endif
