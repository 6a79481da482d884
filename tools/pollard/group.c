// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard group: poll groups, one thread on one CPU each.
 */
#include <linux/genetlink.h>
#include <linux/pollard.h>

#include "pollard.h"

#define A(name) POLLARD_A_GROUP_##name
#define C(name) POLLARD_A_GROUP_COUNTERS_##name

static const char *const modes[] = { "event", "adaptive", "busy", NULL };
static const char *const states[] = { "active", "displaced", "deleting", NULL };

static const struct attr counters[] = {
	ATTR_U64(C(PASSES), "passes"),
	ATTR_U64(C(BUSY_PASSES), "busy-passes"),
	ATTR_U64(C(SLEEPS), "sleeps"),
	ATTR_U64(C(WAKEUPS), "wakeups"),
	ATTR_U64(C(YIELDS), "yields"),
	ATTR_U64(C(ARMS), "arms"),
	ATTR_U64(C(COMPLETIONS), "completions"),
	ATTR_U64(C(RECEIVES), "receives"),
	ATTR_U64(C(MESSAGES), "messages"),
	ATTR_U64(C(POST_CHAINS), "post-chains"),
	ATTR_U64(C(WORK_REQUESTS), "work-requests"),
	ATTR_U64(C(RECEIVE_POSTS), "receive-posts"),
	ATTR_U64(C(BYTES_READ), "bytes-read"),
	ATTR_U64(C(BYTES_WRITTEN), "bytes-written"),
	ATTR_END
};

static const struct attr attrs[] = {
	ATTR_U32(A(ID), "id"),
	ATTR_U32(A(CPU), "cpu"),
	ATTR_ONE_OF(A(MODE), "mode", modes),
	ATTR_U32(A(SPIN_US), "spin-us"),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_U32(A(RUNNING_CPU), "running-cpu"),
	ATTR_U32(A(QUEUES), "queues"),
	ATTR_ONE_OF(A(EFFECTIVE_MODE), "effective-mode", modes),
	ATTR_U32(A(EFFECTIVE_SPIN_US), "effective-spin-us"),
	ATTR_COUNTERS(A(COUNTERS), "counters", counters),
	ATTR_END
};

const struct kind kind_group = {
	.name = "group",
	.family = FAMILY_CORE,
	.attrs = attrs,
	.key = { A(ID) },
	.get = POLLARD_CMD_GROUP_GET,
	.changed = POLLARD_CMD_GROUP_NTF,
	.gone = POLLARD_CMD_GROUP_DEL_NTF,
};

static enum status check_cpu(const struct verb *verb, struct nl_msg *msg)
{
	if (!nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, A(CPU)))
		return usage_error(verb, "the cpu is missing");
	return DONE;
}

static const uint16_t keyed_add[] = { A(CPU), A(MODE), A(SPIN_US), 0 };
static const uint16_t keyed_set[] = { A(MODE), A(SPIN_US), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show, .kind = &kind_group,
		.positional = { A(ID) },
		.usage = "[ID]",
	}, {
		.name = "add", .run = request_change, .kind = &kind_group,
		.command = POLLARD_CMD_GROUP_NEW,
		.positional = { A(ID) }, .required = 1, .keyed = keyed_add, .check = check_cpu,
		.usage = "ID cpu CPU [mode event|adaptive|busy] [spin-us N]",
	}, {
		.name = "set", .run = request_change, .kind = &kind_group,
		.command = POLLARD_CMD_GROUP_SET,
		.positional = { A(ID) }, .required = 1, .keyed = keyed_set, .some = true,
		.usage = "ID [mode event|adaptive|busy] [spin-us N]",
	}, {
		.name = "del", .run = request_change, .kind = &kind_group,
		.command = POLLARD_CMD_GROUP_DEL,
		.positional = { A(ID) }, .required = 1, .wait_gone = true,
		.usage = "ID",
	},
	{ }
};

const struct object object_group = {
	.name = "group",
	.about = "poll groups, the threads that do the work",
	.verbs = verbs,
};
