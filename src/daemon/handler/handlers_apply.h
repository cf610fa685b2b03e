/*
 * handlers_apply.h - the handlers of a configuration.
 */
#ifndef DAEMON_HANDLERS_APPLY_H
#define DAEMON_HANDLERS_APPLY_H

#include "informer/error.h"

struct conf;
struct daemon;

/* Prepares d->handlers, without any. */
void handlers_apply_open(struct daemon *d);

/* Whether handlers_apply() can apply @conf. Returns 0, or -INF_EINVAL naming the handler. */
int handlers_apply_check(const struct conf *conf, struct inf_error *err);
void handlers_apply(struct daemon *d, const struct conf *conf);

#endif
