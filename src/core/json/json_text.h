/*
 * json_text.h - see base/json/json_text.h and core/json/json.h.
 */
#ifndef CORE_JSON_TEXT_H
#define CORE_JSON_TEXT_H

#include "base/json/json_text.h"

#endif
