/*
 * conf_doc.h - documentation of the configuration, generated from the option table.
 */
#ifndef DAEMON_CONF_DOC_H
#define DAEMON_CONF_DOC_H

#include "base/buf.h"

/* Appends conf/informerd.conf: every option at its default, with its help text. */
void conf_doc_sample(struct buf *out);

/* Appends informerd.conf(5) in man format. */
void conf_doc_man(struct buf *out);

#endif
