/*
 * conf_doc.h - what people read about the conf file, made from the option table.
 */
#ifndef DAEMON_CONF_DOC_H
#define DAEMON_CONF_DOC_H

#include "base/buf.h"

/* Adds conf/informerd.conf: every option at its default, with what it does. */
void conf_doc_sample(struct buf *out);

/* Adds informerd.conf(5), for man. */
void conf_doc_man(struct buf *out);

#endif
