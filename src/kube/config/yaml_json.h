/*
 * yaml_json.h - a piece of YAML as the JSON that Kubernetes would make of it.
 */
#ifndef KUBE_CONFIG_YAML_JSON_H
#define KUBE_CONFIG_YAML_JSON_H

#include "base/buf.h"

struct yaml_node;

/* Adds @node. A plain scalar may be null, a bool or a number; all else is a string. */
void yaml_put_json(struct buf *out, const struct yaml_node *node);

#endif
