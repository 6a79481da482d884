// SPDX-License-Identifier: GPL-2.0-only
/* Names of latency classes and stages, as debugfs shows them. */
#include <linux/export.h>

#include "core/latency.h"

/**
 * pol_latency_class_name - a class for people
 * @class: below POL_LATENCY_CLASSES
 */
const char *pol_latency_class_name(enum pol_latency_class class)
{
	static const char * const names[POL_LATENCY_CLASSES] = {
		[POL_LATENCY_READ] = "read",
		[POL_LATENCY_WRITE] = "write",
		[POL_LATENCY_OTHER] = "other",
	};

	return names[class];
}

/**
 * pol_latency_stage_name - a stage for people
 * @stage: below POL_LATENCY_STAGES
 */
const char *pol_latency_stage_name(enum pol_latency_stage stage)
{
	static const char * const names[POL_LATENCY_STAGES] = {
		[POL_LATENCY_QUEUED] = "queued",
		[POL_LATENCY_FETCH] = "fetch",
		[POL_LATENCY_BACKEND] = "backend",
		[POL_LATENCY_RETURN] = "return",
		[POL_LATENCY_TOTAL] = "total",
		[POL_LATENCY_HOST_PREPARE] = "host-prepare",
		[POL_LATENCY_HOST_EXCHANGE] = "host-exchange",
		[POL_LATENCY_HOST_FINISH] = "host-finish",
		[POL_LATENCY_HOST_TOTAL] = "host-total",
	};

	return names[stage];
}
