// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard namespace: the disks of a subsystem.
 */
#include <linux/genetlink.h>
#include <linux/pollard_target.h>

#include "pollard.h"

#define A(name) POLLARD_TARGET_A_NAMESPACE_##name
#define C(name) POLLARD_TARGET_A_NAMESPACE_COUNTERS_##name

static const char *const states[] = { "active", "deleting", NULL };
static const char *const backends[] = { "bdev", "file", "ram", NULL };
static const char *const submits[] = { "auto", "inline", "worker", NULL };

static const struct attr counters[] = {
	ATTR_U64(C(READS), "reads"),
	ATTR_U64(C(WRITES), "writes"),
	ATTR_U64(C(OTHERS), "others"),
	ATTR_U64(C(BYTES_READ), "bytes-read"),
	ATTR_U64(C(BYTES_WRITTEN), "bytes-written"),
	ATTR_U64(C(ERRORS), "errors"),
	ATTR_U64(C(WORKER_SUBMITS), "worker-submits"),
	ATTR_U64(C(NOWAIT_MISSES), "nowait-misses"),
	ATTR_END
};

static const struct attr attrs[] = {
	ATTR_OF(ATTR_NQN, A(SUBSYSTEM), "subsystem"),
	ATTR_U32(A(NSID), "nsid"),
	ATTR_ONE_OF(A(BACKEND), "backend", backends),
	ATTR_OF(ATTR_STRING, A(DEVICE), "device"),
	{ .id = A(RAM_BYTES), .name = "ram-bytes", .keyword = "ram", .type = ATTR_SIZE,
	  .width = 8 },
	ATTR_SIZE64(A(SIZE_BYTES), "size-bytes"),
	ATTR_SIZE32(A(BLOCK_SIZE), "block-size"),
	ATTR_OF(ATTR_UUID, A(UUID), "uuid"),
	ATTR_OF(ATTR_BYTES16, A(NGUID), "nguid"),
	ATTR_OF(ATTR_SWITCH, A(ENABLED), "enabled"),
	ATTR_OF(ATTR_SWITCH, A(SHARED), "shared"),
	ATTR_OF(ATTR_SWITCH, A(READ_ONLY), "read-only"),
	ATTR_ONE_OF(A(SUBMIT), "submit", submits),
	ATTR_ONE_OF(A(SUBMIT_USED), "submit-used", submits),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_COUNTERS(A(COUNTERS), "counters", counters),
	ATTR_END
};

const struct kind kind_namespace = {
	.name = "namespace",
	.family = FAMILY_TARGET,
	.attrs = attrs,
	.key = { A(SUBSYSTEM), A(NSID) },
	.get = POLLARD_TARGET_CMD_NAMESPACE_GET,
	.changed = POLLARD_TARGET_CMD_NAMESPACE_NTF,
	.gone = POLLARD_TARGET_CMD_NAMESPACE_DEL_NTF,
};

static enum status check_storage(const struct verb *verb, struct nl_msg *msg)
{
	bool device = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, A(DEVICE));
	bool ram = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, A(RAM_BYTES));

	if (device == ram)
		return usage_error(verb, "a namespace is either on a device or in ram");
	return DONE;
}

static const uint16_t keyed_add[] = {
	A(NSID), A(DEVICE), A(RAM_BYTES), A(BLOCK_SIZE), A(UUID), A(NGUID), A(ENABLED), A(SHARED),
	A(READ_ONLY), A(SUBMIT), 0
};

static const uint16_t keyed_set[] = { A(ENABLED), A(READ_ONLY), A(SUBMIT), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show, .kind = &kind_namespace,
		.positional = { A(SUBSYSTEM), A(NSID) },
		.usage = "[SUBSYSTEM-NQN [NSID]]",
	}, {
		.name = "add", .run = request_change, .kind = &kind_namespace,
		.command = POLLARD_TARGET_CMD_NAMESPACE_NEW,
		.positional = { A(SUBSYSTEM) }, .required = 1, .keyed = keyed_add,
		.check = check_storage,
		.usage = "SUBSYSTEM-NQN {device PATH | ram SIZE} [nsid N] [block-size SIZE] "
			 "[uuid UUID] [nguid HEX] [enabled on|off] [shared on|off] "
			 "[read-only on|off] [submit auto|inline|worker]",
	}, {
		.name = "set", .run = request_change, .kind = &kind_namespace,
		.command = POLLARD_TARGET_CMD_NAMESPACE_SET,
		.positional = { A(SUBSYSTEM), A(NSID) }, .required = 2, .keyed = keyed_set,
		.usage = "SUBSYSTEM-NQN NSID [enabled on|off] [read-only on|off] "
			 "[submit auto|inline|worker]",
	}, {
		.name = "del", .run = request_change, .kind = &kind_namespace,
		.command = POLLARD_TARGET_CMD_NAMESPACE_DEL,
		.positional = { A(SUBSYSTEM), A(NSID) }, .required = 2, .wait_gone = true,
		.usage = "SUBSYSTEM-NQN NSID",
	},
	{ }
};

const struct object object_namespace = {
	.name = "namespace",
	.about = "disks of a subsystem",
	.verbs = verbs,
};
