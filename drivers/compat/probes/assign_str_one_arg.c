// SPDX-License-Identifier: GPL-2.0-only
/* 6.10: __assign_str() knows by itself what __string() was given. */
#include <linux/tracepoint.h>
#include <trace/stages/stage6_event_callback.h>

#define TEXT_OF(text...) #text
#define EXPANDED_TEXT_OF(text...) TEXT_OF(text)

const char *probe = EXPANDED_TEXT_OF(__assign_str(name));
