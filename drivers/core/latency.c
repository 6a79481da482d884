// SPDX-License-Identifier: GPL-2.0-only
/* What readers of latencies need: a copy to compute on, and names as debugfs shows them. */
#include <linux/slab.h>

#include "core/latency.h"

/**
 * pol_latency_copy - a histogram as it is now
 * @latency: of a group, whose thread may be adding to it or emptying it
 * @class: below POL_LATENCY_CLASSES
 * @stage: below POL_LATENCY_STAGES
 *
 * Process context, may sleep; the list of groups may be locked: without I/O.
 *
 * Return: a copy that nobody adds to, for kvfree(); NULL without memory.
 */
struct pol_histogram *pol_latency_copy(const struct pol_latency *latency,
				       enum pol_latency_class class, enum pol_latency_stage stage)
{
	struct pol_histogram *copy = kvzalloc(sizeof(*copy), GFP_NOIO);

	if (copy)
		pol_histogram_merge(copy, &latency->stage[class][stage]);
	return copy;
}

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
