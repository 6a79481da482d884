// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard host: the hosts that may use a subsystem.
 */
#include <linux/pollard_target.h>

#include "pollard.h"

#define A(name) POLLARD_TARGET_A_HOST_##name

static const char *const states[] = { "active", "deleting", NULL };

static const struct attr attrs[] = {
	ATTR_OF(ATTR_NQN, A(SUBSYSTEM), "subsystem"),
	ATTR_OF(ATTR_NQN, A(NQN), "nqn"),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_U32(A(CONTROLLERS), "controllers"),
	ATTR_END
};

const struct kind kind_host = {
	.name = "host",
	.family = FAMILY_TARGET,
	.attrs = attrs,
	.key = { A(SUBSYSTEM), A(NQN) },
	.get = POLLARD_TARGET_CMD_HOST_GET,
	.changed = POLLARD_TARGET_CMD_HOST_NTF,
	.gone = POLLARD_TARGET_CMD_HOST_DEL_NTF,
};

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show, .kind = &kind_host,
		.positional = { A(SUBSYSTEM), A(NQN) },
		.usage = "[SUBSYSTEM-NQN [HOST-NQN]]",
	}, {
		.name = "add", .run = request_change, .kind = &kind_host,
		.command = POLLARD_TARGET_CMD_HOST_NEW,
		.positional = { A(SUBSYSTEM), A(NQN) }, .required = 2,
		.usage = "SUBSYSTEM-NQN HOST-NQN",
	}, {
		.name = "del", .run = request_change, .kind = &kind_host,
		.command = POLLARD_TARGET_CMD_HOST_DEL,
		.positional = { A(SUBSYSTEM), A(NQN) }, .required = 2, .wait_gone = true,
		.usage = "SUBSYSTEM-NQN HOST-NQN",
	},
	{ }
};

const struct object object_host = {
	.name = "host",
	.about = "hosts that may use a subsystem",
	.verbs = verbs,
};
