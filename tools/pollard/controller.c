// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard controller: associations of a host with a subsystem, seen from the target and from the
 * host.
 */
#include <linux/pollard_host.h>
#include <linux/pollard_target.h>

#include "pollard.h"

#define T(name) POLLARD_TARGET_A_CONTROLLER_##name
#define H(name) POLLARD_HOST_A_CONTROLLER_##name

static const char *const target_kinds[] = { "io", "discovery", NULL };
static const char *const target_states[] = {
	"disabled", "enabling", "ready", "shutdown", "failed", "deleting", NULL
};

static const char *const host_modes[] = { "event", "adaptive", "busy", NULL };
static const char *const host_states[] = {
	"new", "live", "resetting", "connecting", "deleting", "dead", NULL
};

static const struct attr target_attrs[] = {
	ATTR_OF(ATTR_NQN, T(SUBSYSTEM), "subsystem"),
	ATTR_U16(T(CNTLID), "cntlid"),
	ATTR_ONE_OF(T(KIND), "kind", target_kinds),
	ATTR_ONE_OF(T(STATE), "state", target_states),
	ATTR_OF(ATTR_NQN, T(HOSTNQN), "hostnqn"),
	ATTR_OF(ATTR_UUID, T(HOSTID), "hostid"),
	ATTR_OF(ATTR_STRING, T(HOST_TRADDR), "host-traddr"),
	ATTR_U16(T(PORT), "port"),
	ATTR_U32(T(KATO_MS), "kato-ms"),
	ATTR_U32(T(QUEUES), "queues"),
	ATTR_U64(T(AGE_MS), "age-ms"),
	ATTR_END
};

static const struct attr host_attrs[] = {
	ATTR_OF(ATTR_STRING, H(NAME), "name"),
	ATTR_U32(H(INSTANCE), "instance"),
	ATTR_OF(ATTR_NQN, H(NQN), "nqn"),
	ATTR_U16(H(CNTLID), "cntlid"),
	ATTR_ONE_OF(H(STATE), "state", host_states),
	ATTR_OF(ATTR_NQN, H(HOSTNQN), "hostnqn"),
	ATTR_OF(ATTR_STRING, H(TRADDR), "traddr"),
	ATTR_OF(ATTR_STRING, H(TRSVCID), "trsvcid"),
	ATTR_OF(ATTR_STRING, H(HOST_TRADDR), "host-traddr"),
	ATTR_OF(ATTR_STRING, H(DEVICE), "device"),
	ATTR_ONE_OF(H(MODE), "mode", host_modes),
	ATTR_ONE_OF(H(WISHED_MODE), "wished-mode", host_modes),
	ATTR_U32(H(QUEUES), "queues"),
	ATTR_U32(H(POLL_QUEUES), "poll-queues"),
	ATTR_U32(H(QUEUE_DEPTH), "queue-depth"),
	ATTR_SIZE32(H(COPY_MAX), "copy-max"),
	ATTR_SIZE64(H(SLOT_BYTES), "slot-bytes"),
	ATTR_SIZE64(H(SLOT_MEM_MAX), "slot-mem-max"),
	ATTR_SIZE64(H(MEMORY_BYTES), "memory-bytes"),
	ATTR_U64(H(RECONNECTS), "reconnects"),
	ATTR_END
};

const struct kind kind_target_controller = {
	.name = "controller",
	.side = "target",
	.family = FAMILY_TARGET,
	.attrs = target_attrs,
	.key = { T(SUBSYSTEM), T(CNTLID) },
	.get = POLLARD_TARGET_CMD_CONTROLLER_GET,
	.dump_only = true,
	.changed = POLLARD_TARGET_CMD_CONTROLLER_NTF,
	.gone = POLLARD_TARGET_CMD_CONTROLLER_DEL_NTF,
};

const struct kind kind_host_controller = {
	.name = "controller",
	.side = "host",
	.family = FAMILY_HOST,
	.attrs = host_attrs,
	.key = { H(NAME) },
	.get = POLLARD_HOST_CMD_CONTROLLER_GET,
	.changed = POLLARD_HOST_CMD_CONTROLLER_NTF,
	.gone = POLLARD_HOST_CMD_CONTROLLER_DEL_NTF,
};

static const uint16_t target_keyed[] = { T(SUBSYSTEM), 0 };
static const uint16_t host_keyed[] = { H(NAME), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show,
		.kind = &kind_target_controller, .keyed = target_keyed,
		.other = &kind_host_controller, .other_keyed = host_keyed,
		.usage = "[subsystem NQN | name nvmeN]",
	},
	{ }
};

const struct object object_controller = {
	.name = "controller",
	.alias = "ctrl",
	.about = "associations of a host with a subsystem, on either end",
	.verbs = verbs,
};
