// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard port: the addresses the target listens on, and which subsystems it offers there.
 */
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/pollard_target.h>

#include "pollard.h"

#define A(name) POLLARD_TARGET_A_PORT_##name
#define L(name) POLLARD_TARGET_A_PORT_SUBSYSTEM_##name

static const char *const families[] = { "", "ipv4", "ipv6", NULL };
static const char *const states[] = { "starting", "listening", "failed", "deleting", NULL };
static const char *const link_states[] = { "active", "deleting", NULL };

static const struct attr attrs[] = {
	ATTR_U16(A(ID), "id"),
	ATTR_ONE_OF(A(ADRFAM), "adrfam", families),
	ATTR_OF(ATTR_ADDRESS, A(TRADDR), "traddr"),
	ATTR_U16(A(TRSVCID), "trsvcid"),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_OF(ATTR_ERRNO, A(LAST_ERROR), "last-error"),
	ATTR_OF(ATTR_STRING, A(DEVICE), "device"),
	ATTR_SIZE32(A(INLINE_DATA_SIZE), "inline-data-size"),
	ATTR_U32(A(MAX_QUEUE_DEPTH), "max-queue-depth"),
	ATTR_U32(A(QUEUES), "queues"),
	ATTR_U64(A(ACCEPTED), "accepted"),
	ATTR_U64(A(REJECTED), "rejected"),
	ATTR_END
};

static const struct attr link_attrs[] = {
	ATTR_U16(L(PORT), "port"),
	ATTR_OF(ATTR_NQN, L(SUBSYSTEM), "subsystem"),
	ATTR_ONE_OF(L(STATE), "state", link_states),
	ATTR_END
};

/* A new port has come to rest when it listens, or when it is known why it does not. */
static int port_settled(struct json_object *port, char *why, size_t size)
{
	struct json_object *state, *error;
	const char *text;

	if (!json_object_object_get_ex(port, "state", &state))
		return 1;
	text = json_object_get_string(state);
	if (!strcmp(text, "starting"))
		return 0;
	if (strcmp(text, "failed"))
		return 1;
	snprintf(why, size, "was made but does not listen yet: %s",
		 json_object_object_get_ex(port, "last-error", &error) ?
		 strerror(json_object_get_int(error)) : "no reason known");
	return -1;
}

const struct kind kind_port = {
	.name = "port",
	.family = FAMILY_TARGET,
	.attrs = attrs,
	.key = { A(ID) },
	.get = POLLARD_TARGET_CMD_PORT_GET,
	.changed = POLLARD_TARGET_CMD_PORT_NTF,
	.gone = POLLARD_TARGET_CMD_PORT_DEL_NTF,
	.settled = port_settled,
};

const struct kind kind_port_link = {
	.name = "port-subsystem",
	.family = FAMILY_TARGET,
	.attrs = link_attrs,
	.key = { L(PORT), L(SUBSYSTEM) },
	.get = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_GET,
	.changed = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NTF,
	.gone = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL_NTF,
};

/* Add to each port the NQNs of the subsystems that are offered there. */
static void attach_links(struct json_object *ports, struct json_object *links)
{
	size_t i, j;

	for (i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);
		struct json_object *nqns = json_object_new_array();
		struct json_object *id, *link, *value;

		json_object_object_add(port, "subsystem", nqns);
		if (!json_object_object_get_ex(port, "id", &id))
			continue;
		for (j = 0; j < json_object_array_length(links); j++) {
			link = json_object_array_get_idx(links, j);
			if (json_object_object_get_ex(link, "port", &value) &&
			    json_object_equal(id, value) &&
			    json_object_object_get_ex(link, "subsystem", &value))
				json_object_array_add(nqns, json_object_get(value));
		}
	}
}

static enum status show(const struct verb *verb, struct args *args)
{
	struct json_object *ports = json_object_new_array();
	struct json_object *links = json_object_new_array();
	enum status status = request_collect(verb, args, ports);
	struct nl_msg *msg;

	if (!status) {
		msg = gnl_message(kind_port_link.get);
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
		status = request_fetch(&kind_port_link, msg, links);
	}
	if (!status) {
		attach_links(ports, links);
		print_list(&kind_port, NULL, ports);
	}
	json_object_put(links);
	json_object_put(ports);
	return status;
}

static enum status check_address(const struct verb *verb, struct nl_msg *msg)
{
	if (!nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, A(TRADDR)))
		return usage_error(verb, "the traddr is missing");
	return DONE;
}

static const uint16_t keyed_add[] = {
	A(TRADDR), A(TRSVCID), A(ADRFAM), A(INLINE_DATA_SIZE), A(MAX_QUEUE_DEPTH), 0
};

static const uint16_t keyed_set[] = { A(INLINE_DATA_SIZE), A(MAX_QUEUE_DEPTH), 0 };

static const struct verb verbs[] = {
	{
		.name = "show", .run = show, .kind = &kind_port,
		.positional = { A(ID) },
		.usage = "[ID]",
	}, {
		.name = "add", .run = request_change, .kind = &kind_port,
		.command = POLLARD_TARGET_CMD_PORT_NEW,
		.positional = { A(ID) }, .required = 1, .keyed = keyed_add,
		.check = check_address, .wait_settled = true,
		.usage = "ID traddr ADDRESS [trsvcid PORT] [adrfam ipv4|ipv6] "
			 "[inline-data-size SIZE] [max-queue-depth N]",
	}, {
		.name = "set", .run = request_change, .kind = &kind_port,
		.command = POLLARD_TARGET_CMD_PORT_SET,
		.positional = { A(ID) }, .required = 1, .keyed = keyed_set, .some = true,
		.usage = "ID [inline-data-size SIZE] [max-queue-depth N]",
	}, {
		.name = "del", .run = request_change, .kind = &kind_port,
		.command = POLLARD_TARGET_CMD_PORT_DEL,
		.positional = { A(ID) }, .required = 1, .wait_gone = true,
		.usage = "ID",
	}, {
		.name = "add-subsystem", .run = request_change, .kind = &kind_port_link,
		.command = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NEW,
		.positional = { L(PORT), L(SUBSYSTEM) }, .required = 2,
		.usage = "ID SUBSYSTEM-NQN",
	}, {
		.name = "del-subsystem", .run = request_change, .kind = &kind_port_link,
		.command = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL,
		.positional = { L(PORT), L(SUBSYSTEM) }, .required = 2, .wait_gone = true,
		.usage = "ID SUBSYSTEM-NQN",
	},
	{ }
};

const struct object object_port = {
	.name = "port",
	.about = "addresses the target listens on",
	.verbs = verbs,
};
