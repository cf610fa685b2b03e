/*
 * json.h - the JSON scanner is in base/json, so that the daemon can read objects with it as well.
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include "base/json/json.h"

#endif
