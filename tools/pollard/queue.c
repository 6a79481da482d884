// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard queue: the queues of controllers, one RDMA queue pair each, seen from the target and from
 * the host.
 */
#include <linux/pollard_host.h>
#include <linux/pollard_target.h>

#include "pollard.h"

#define T(name) POLLARD_TARGET_A_QUEUE_##name
#define TC(name) POLLARD_TARGET_A_QUEUE_COUNTERS_##name
#define H(name) POLLARD_HOST_A_QUEUE_##name
#define HC(name) POLLARD_HOST_A_QUEUE_COUNTERS_##name

static const char *const target_states[] = {
	"connecting", "live", "stopping", "draining", "closed", NULL
};

static const char *const host_kinds[] = { "admin", "default", "read", "poll", NULL };
static const char *const host_states[] = { "idle", "connecting", "live", "draining", NULL };

static const struct attr target_counters[] = {
	ATTR_U64(TC(COMMANDS), "commands"),
	ATTR_U64(TC(RESPONSES), "responses"),
	ATTR_U64(TC(ERRORS), "errors"),
	ATTR_U64(TC(INVALIDATES), "invalidates"),
	ATTR_U64(TC(FETCHES), "fetches"),
	ATTR_U64(TC(IN_CAPSULE), "in-capsule"),
	ATTR_U64(TC(BUFFER_WAITS), "buffer-waits"),
	ATTR_U64(TC(BYTES_READ), "bytes-read"),
	ATTR_U64(TC(BYTES_WRITTEN), "bytes-written"),
	ATTR_END
};

static const struct attr target_attrs[] = {
	ATTR_OF(ATTR_NQN, T(SUBSYSTEM), "subsystem"),
	ATTR_U16(T(CNTLID), "cntlid"),
	ATTR_U16(T(QID), "qid"),
	ATTR_ONE_OF(T(STATE), "state", target_states),
	ATTR_U32(T(DEPTH), "depth"),
	ATTR_U32(T(GROUP), "group"),
	ATTR_OF(ATTR_STRING, T(DEVICE), "device"),
	ATTR_U32(T(QPN), "qpn"),
	ATTR_U32(T(IN_FLIGHT), "in-flight"),
	ATTR_COUNTERS(T(COUNTERS), "counters", target_counters),
	ATTR_END
};

static const struct attr host_counters[] = {
	ATTR_U64(HC(COMMANDS), "commands"),
	ATTR_U64(HC(POSTS), "posts"),
	ATTR_U64(HC(WORK_REQUESTS), "work-requests"),
	ATTR_U64(HC(COMPLETIONS), "completions"),
	ATTR_U64(HC(REGISTRATIONS), "registrations"),
	ATTR_U64(HC(INVALIDATIONS), "invalidations"),
	ATTR_U64(HC(REMOTE_INVALIDATIONS), "remote-invalidations"),
	ATTR_U64(HC(COPIES), "copies"),
	ATTR_U64(HC(ZERO_COPY), "zero-copy"),
	ATTR_U64(HC(IN_CAPSULE), "in-capsule"),
	ATTR_U64(HC(TIMEOUTS), "timeouts"),
	ATTR_U64(HC(BYTES_READ), "bytes-read"),
	ATTR_U64(HC(BYTES_WRITTEN), "bytes-written"),
	ATTR_END
};

static const struct attr host_attrs[] = {
	ATTR_OF(ATTR_STRING, H(CONTROLLER), "controller"),
	ATTR_U16(H(QID), "qid"),
	ATTR_ONE_OF(H(KIND), "kind", host_kinds),
	ATTR_ONE_OF(H(STATE), "state", host_states),
	ATTR_U32(H(DEPTH), "depth"),
	ATTR_U32(H(GROUP), "group"),
	ATTR_U32(H(QPN), "qpn"),
	ATTR_SIZE64(H(SLOT_BYTES), "slot-bytes"),
	ATTR_SIZE64(H(MEMORY_BYTES), "memory-bytes"),
	ATTR_COUNTERS(H(COUNTERS), "counters", host_counters),
	ATTR_END
};

const struct kind kind_target_queue = {
	.name = "queue",
	.side = "target",
	.family = FAMILY_TARGET,
	.attrs = target_attrs,
	.key = { T(SUBSYSTEM), T(CNTLID), T(QID) },
	.get = POLLARD_TARGET_CMD_QUEUE_GET,
	.dump_only = true,
};

const struct kind kind_host_queue = {
	.name = "queue",
	.side = "host",
	.family = FAMILY_HOST,
	.attrs = host_attrs,
	.key = { H(CONTROLLER), H(QID) },
	.get = POLLARD_HOST_CMD_QUEUE_GET,
	.dump_only = true,
};

static const uint16_t target_keyed[] = { T(SUBSYSTEM), T(CNTLID), 0 };
static const uint16_t host_keyed[] = { H(CONTROLLER), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show,
		.kind = &kind_target_queue, .keyed = target_keyed,
		.other = &kind_host_queue, .other_keyed = host_keyed,
		.usage = "[subsystem NQN [cntlid N] | controller nvmeN]",
	},
	{ }
};

const struct object object_queue = {
	.name = "queue",
	.about = "queues of controllers, on either end",
	.verbs = verbs,
};
