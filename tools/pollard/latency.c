// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard latency: where the time of commands goes, per poll group, class of command and stage.
 */
#include <linux/pollard.h>

#include "pollard.h"

#define A(name) POLLARD_A_LATENCY_##name

static const char *const sides[] = { "target", "host", NULL };
static const char *const classes[] = { "read", "write", "other", NULL };
static const char *const stages[] = {
	"queued", "fetch", "backend", "return", "total", "prepare", "exchange", "finish", NULL
};

static const struct attr attrs[] = {
	ATTR_U32(A(GROUP), "group"),
	ATTR_ONE_OF(A(SIDE), "side", sides),
	ATTR_ONE_OF(A(CLASS), "class", classes),
	ATTR_ONE_OF(A(STAGE), "stage", stages),
	ATTR_U64(A(COUNT), "count"),
	ATTR_U64(A(MIN_NS), "min-ns"),
	ATTR_U64(A(MEAN_NS), "mean-ns"),
	ATTR_U64(A(P50_NS), "p50-ns"),
	ATTR_U64(A(P90_NS), "p90-ns"),
	ATTR_U64(A(P99_NS), "p99-ns"),
	ATTR_U64(A(P999_NS), "p999-ns"),
	ATTR_U64(A(MAX_NS), "max-ns"),
	ATTR_END
};

static const struct column columns[] = {
	{ "group", "group", false },
	{ "side", "side", false },
	{ "class", "class", false },
	{ "stage", "stage", false },
	{ "count", "count", false },
	{ "min-ns", "min us", true },
	{ "mean-ns", "mean us", true },
	{ "p50-ns", "p50 us", true },
	{ "p90-ns", "p90 us", true },
	{ "p99-ns", "p99 us", true },
	{ "p999-ns", "p99.9 us", true },
	{ "max-ns", "max us", true },
	{ }
};

const struct kind kind_latency = {
	.name = "latency",
	.family = FAMILY_CORE,
	.attrs = attrs,
	.key = { A(GROUP), A(CLASS), A(STAGE) },
	.get = POLLARD_CMD_LATENCY_GET,
	.dump_only = true,
};

static enum status show(const struct verb *verb, struct args *args)
{
	struct json_object *array = json_object_new_array();
	enum status status = request_collect(verb, args, array);

	if (!status)
		print_table(columns, array);
	json_object_put(array);
	return status;
}

static const uint16_t keyed[] = { A(GROUP), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = show, .kind = &kind_latency, .keyed = keyed,
		.usage = "[group ID]",
	}, {
		.name = "reset", .run = request_change, .kind = &kind_latency,
		.command = POLLARD_CMD_LATENCY_RESET, .keyed = keyed,
		.usage = "[group ID]",
	},
	{ }
};

const struct object object_latency = {
	.name = "latency",
	.about = "where the time of commands goes",
	.verbs = verbs,
};
