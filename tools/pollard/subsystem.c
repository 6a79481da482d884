// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard subsystem: NVM subsystems of the target.
 */
#include <linux/pollard_target.h>

#include "pollard.h"

#define A(name) POLLARD_TARGET_A_SUBSYSTEM_##name

static const char *const states[] = { "active", "deleting", NULL };

static const struct attr attrs[] = {
	ATTR_OF(ATTR_NQN, A(NQN), "nqn"),
	ATTR_OF(ATTR_SWITCH, A(ALLOW_ANY_HOST), "allow-any-host"),
	ATTR_OF(ATTR_STRING, A(SERIAL), "serial"),
	ATTR_OF(ATTR_STRING, A(MODEL), "model"),
	ATTR_U16(A(CNTLID_MIN), "cntlid-min"),
	ATTR_U16(A(CNTLID_MAX), "cntlid-max"),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_U32(A(NAMESPACES), "namespaces"),
	ATTR_U32(A(HOSTS), "hosts"),
	ATTR_U32(A(PORTS), "ports"),
	ATTR_U32(A(CONTROLLERS), "controllers"),
	ATTR_END
};

const struct kind kind_subsystem = {
	.name = "subsystem",
	.family = FAMILY_TARGET,
	.attrs = attrs,
	.key = { A(NQN) },
	.get = POLLARD_TARGET_CMD_SUBSYSTEM_GET,
	.changed = POLLARD_TARGET_CMD_SUBSYSTEM_NTF,
	.gone = POLLARD_TARGET_CMD_SUBSYSTEM_DEL_NTF,
};

static const uint16_t keyed[] = {
	A(ALLOW_ANY_HOST), A(SERIAL), A(MODEL), A(CNTLID_MIN), A(CNTLID_MAX), 0
};

#define KEYED_USAGE \
	"[allow-any-host on|off] [serial TEXT] [model TEXT] [cntlid-min N] [cntlid-max N]"

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show, .kind = &kind_subsystem,
		.positional = { A(NQN) },
		.usage = "[NQN]",
	}, {
		.name = "add", .run = request_change, .kind = &kind_subsystem,
		.command = POLLARD_TARGET_CMD_SUBSYSTEM_NEW,
		.positional = { A(NQN) }, .required = 1, .keyed = keyed,
		.usage = "NQN " KEYED_USAGE,
	}, {
		.name = "set", .run = request_change, .kind = &kind_subsystem,
		.command = POLLARD_TARGET_CMD_SUBSYSTEM_SET,
		.positional = { A(NQN) }, .required = 1, .keyed = keyed, .some = true,
		.usage = "NQN " KEYED_USAGE,
	}, {
		.name = "del", .run = request_change, .kind = &kind_subsystem,
		.command = POLLARD_TARGET_CMD_SUBSYSTEM_DEL,
		.positional = { A(NQN) }, .required = 1, .wait_gone = true,
		.usage = "NQN",
	},
	{ }
};

const struct object object_subsystem = {
	.name = "subsystem",
	.about = "what hosts connect to",
	.verbs = verbs,
};
