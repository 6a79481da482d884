// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that change something: their policies, and what their attributes say. A policy keeps
 * attributes to their type, length and range; what goes together, and what a text may hold, is
 * looked at here, without any object of the target.
 *
 * Nothing is owned here, the functions only compute.
 */
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "core/attrs.h"
#include "target/netlink_parse.h"

#define A_SUBSYSTEM(name)	POLLARD_TARGET_A_SUBSYSTEM_##name
#define A_NAMESPACE(name)	POLLARD_TARGET_A_NAMESPACE_##name
#define A_HOST(name)		POLLARD_TARGET_A_HOST_##name
#define A_PORT(name)		POLLARD_TARGET_A_PORT_##name
#define A_LINK(name)		POLLARD_TARGET_A_PORT_SUBSYSTEM_##name

#define POLT_BLOCK_SIZE_MIN	512
#define POLT_BLOCK_SIZE_MAX	4096

static_assert(POLT_NQN_MAX == POLLARD_TARGET_NQN_MAX_LEN);
static_assert((int)POLT_SUBMIT_AUTO == (int)POLLARD_TARGET_SUBMIT_AUTO);
static_assert((int)POLT_SUBMIT_INLINE == (int)POLLARD_TARGET_SUBMIT_INLINE);
static_assert((int)POLT_SUBMIT_WORKER == (int)POLLARD_TARGET_SUBMIT_WORKER);

#define POLT_SWITCH_POLICY	NLA_POLICY_MAX(NLA_U8, 1)

/* Not const, for kernels whose policies want that. */
static struct netlink_range_validation polt_cntlid_range = {
	.min = 1,
	.max = POLT_CNTLID_MAX,
};

const struct nla_policy polt_subsystem_key_policy[] = {
	[A_SUBSYSTEM(NQN)] = POLT_NQN_POLICY,
};

const struct nla_policy polt_subsystem_policy[] = {
	[A_SUBSYSTEM(NQN)] = POLT_NQN_POLICY,
	[A_SUBSYSTEM(ALLOW_ANY_HOST)] = POLT_SWITCH_POLICY,
	[A_SUBSYSTEM(SERIAL)] = { .type = NLA_NUL_STRING, .len = POLT_SERIAL_SIZE },
	[A_SUBSYSTEM(MODEL)] = { .type = NLA_NUL_STRING, .len = POLT_MODEL_SIZE },
	[A_SUBSYSTEM(CNTLID_MIN)] = NLA_POLICY_FULL_RANGE(NLA_U16, &polt_cntlid_range),
	[A_SUBSYSTEM(CNTLID_MAX)] = NLA_POLICY_FULL_RANGE(NLA_U16, &polt_cntlid_range),
};

#define POLT_NSID_POLICY	NLA_POLICY_RANGE(NLA_U32, 1, POLT_NSID_MAX)
#define POLT_SUBMIT_POLICY	NLA_POLICY_MAX(NLA_U32, POLLARD_TARGET_SUBMIT_WORKER)

const struct nla_policy polt_namespace_key_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
};

const struct nla_policy polt_namespace_new_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
	[A_NAMESPACE(DEVICE)] = { .type = NLA_NUL_STRING, .len = PATH_MAX - 1 },
	[A_NAMESPACE(RAM_BYTES)] = NLA_POLICY_MIN(NLA_U64, 4096),
	[A_NAMESPACE(BLOCK_SIZE)] = NLA_POLICY_RANGE(NLA_U32, POLT_BLOCK_SIZE_MIN,
						     POLT_BLOCK_SIZE_MAX),
	[A_NAMESPACE(UUID)] = NLA_POLICY_EXACT_LEN(POLLARD_TARGET_NS_ID_LEN),
	[A_NAMESPACE(NGUID)] = NLA_POLICY_EXACT_LEN(POLLARD_TARGET_NS_ID_LEN),
	[A_NAMESPACE(ENABLED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SHARED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(READ_ONLY)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SUBMIT)] = POLT_SUBMIT_POLICY,
};

const struct nla_policy polt_namespace_set_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
	[A_NAMESPACE(ENABLED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(READ_ONLY)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SUBMIT)] = POLT_SUBMIT_POLICY,
};

const struct nla_policy polt_host_policy[] = {
	[A_HOST(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_HOST(NQN)] = POLT_NQN_POLICY,
};

#define POLT_INLINE_POLICY	NLA_POLICY_MAX(NLA_U32, POLT_INLINE_MAX)
#define POLT_DEPTH_POLICY	NLA_POLICY_RANGE(NLA_U32, 2, POLT_DEPTH_MAX)

const struct nla_policy polt_port_key_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
};

const struct nla_policy polt_port_new_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
	[A_PORT(ADRFAM)] = NLA_POLICY_RANGE(NLA_U32, POLLARD_TARGET_ADRFAM_IPV4,
					    POLLARD_TARGET_ADRFAM_IPV6),
	[A_PORT(TRADDR)] = { .type = NLA_NUL_STRING, .len = POLT_TRADDR_SIZE - 1 },
	[A_PORT(TRSVCID)] = NLA_POLICY_MIN(NLA_U16, 1),
	[A_PORT(INLINE_DATA_SIZE)] = POLT_INLINE_POLICY,
	[A_PORT(MAX_QUEUE_DEPTH)] = POLT_DEPTH_POLICY,
};

const struct nla_policy polt_port_set_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
	[A_PORT(INLINE_DATA_SIZE)] = POLT_INLINE_POLICY,
	[A_PORT(MAX_QUEUE_DEPTH)] = POLT_DEPTH_POLICY,
};

const struct nla_policy polt_link_policy[] = {
	[A_LINK(PORT)] = { .type = NLA_U16 },
	[A_LINK(SUBSYSTEM)] = POLT_NQN_POLICY,
};

/**
 * polt_parse_nqn - copy an NQN out of a request
 * @attr: the attribute, of POLT_NQN_POLICY
 * @nqn: POLT_NQN_SIZE bytes
 * @extack: why not
 *
 * Return: 0, or -EINVAL when it is not of the form that the NVMe Base Specification ("NVMe
 * Qualified Names") asks for: "nqn.", and something visible behind it. Dates and domains are not
 * judged.
 */
int polt_parse_nqn(const struct nlattr *attr, char *nqn, struct netlink_ext_ack *extack)
{
	const unsigned char *c;
	int err = pol_attrs_text(attr, nqn, POLT_NQN_SIZE, extack);

	if (err)
		return err;
	if (strncmp(nqn, "nqn.", 4) || !nqn[4]) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "an NQN begins with \"nqn.\"");
		return -EINVAL;
	}
	for (c = (const unsigned char *)nqn; *c; c++) {
		if (*c > ' ' && *c != 0x7f)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attr, "an NQN has no spaces and no control characters");
		return -EINVAL;
	}
	return 0;
}

static int polt_parse_required_nqn(struct nlattr **attrs, int attr, char *nqn,
				   struct netlink_ext_ack *extack)
{
	int err = pol_attrs_required(attrs, attr, extack);

	return err ?: polt_parse_nqn(attrs[attr], nqn, extack);
}

/* Text that goes into Identify data, if it is given: printable ASCII, not only spaces. */
static int polt_parse_ascii(const struct nlattr *attr, char *text, size_t size,
			    struct netlink_ext_ack *extack)
{
	bool visible = false;
	const char *c;
	int err;

	if (!attr)
		return 0;
	err = pol_attrs_text(attr, text, size, extack);
	if (err)
		return err;
	for (c = text; *c; c++) {
		if (!isascii(*c) || !isprint(*c)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "only printable ASCII characters are allowed");
			return -EINVAL;
		}
		visible |= *c != ' ';
	}
	if (visible)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "the text is empty");
	return -EINVAL;
}

/* Numbers; one that is not given stays as it is. */
static void polt_parse_switch(const struct nlattr *attr, bool *value)
{
	if (attr)
		*value = nla_get_u8(attr);
}

static void polt_parse_u16(const struct nlattr *attr, u16 *value)
{
	if (attr)
		*value = nla_get_u16(attr);
}

static void polt_parse_u32(const struct nlattr *attr, u32 *value)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static int polt_parse_subsystem_key(struct nlattr **attrs, struct polt_request *request,
				    struct netlink_ext_ack *extack)
{
	return polt_parse_required_nqn(attrs, A_SUBSYSTEM(NQN), request->nqn, extack);
}

static int polt_parse_subsystem(struct nlattr **attrs, struct polt_request *request,
				struct netlink_ext_ack *extack)
{
	int err = polt_parse_subsystem_key(attrs, request, extack);

	if (err)
		return err;
	polt_parse_switch(attrs[A_SUBSYSTEM(ALLOW_ANY_HOST)], &request->allow_any_host);
	polt_parse_u16(attrs[A_SUBSYSTEM(CNTLID_MIN)], &request->cntlid_min);
	polt_parse_u16(attrs[A_SUBSYSTEM(CNTLID_MAX)], &request->cntlid_max);
	err = polt_parse_ascii(attrs[A_SUBSYSTEM(SERIAL)], request->serial,
			       sizeof(request->serial), extack);
	return err ?: polt_parse_ascii(attrs[A_SUBSYSTEM(MODEL)], request->model,
				       sizeof(request->model), extack);
}

static int polt_parse_device(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *device = attrs[A_NAMESPACE(DEVICE)];
	int err;

	if (attrs[A_NAMESPACE(BLOCK_SIZE)]) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[A_NAMESPACE(BLOCK_SIZE)],
				    "the block size is that of the device");
		return -EINVAL;
	}
	err = pol_attrs_whole(device, extack);
	if (err)
		return err;
	if (*(const char *)nla_data(device) == '/')
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, device, "the path begins with \"/\"");
	return -EINVAL;
}

/* Where a new namespace keeps its data: a device, or memory of a size and block size. */
static int polt_parse_storage(struct nlattr **attrs, struct polt_request *request,
			      struct netlink_ext_ack *extack)
{
	const struct nlattr *block_size = attrs[A_NAMESPACE(BLOCK_SIZE)];
	const struct nlattr *ram = attrs[A_NAMESPACE(RAM_BYTES)];

	if (!attrs[A_NAMESPACE(DEVICE)] && !ram) {
		pol_attrs_required(attrs, A_NAMESPACE(DEVICE), extack);
		NL_SET_ERR_MSG(extack, "a namespace needs a device or a size in memory");
		return -EINVAL;
	}
	if (attrs[A_NAMESPACE(DEVICE)] && ram) {
		NL_SET_ERR_MSG_ATTR(extack, ram, "a namespace with a device is not in memory");
		return -EINVAL;
	}
	if (!ram)
		return polt_parse_device(attrs, extack);
	request->block_size = POLT_BLOCK_SIZE_MIN;
	polt_parse_u32(block_size, &request->block_size);
	if (!is_power_of_2(request->block_size)) {
		NL_SET_ERR_MSG_ATTR(extack, block_size, "the block size is no power of two");
		return -EINVAL;
	}
	request->ram_bytes = nla_get_u64(ram);
	if (IS_ALIGNED(request->ram_bytes, request->block_size))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, ram, "the size is no multiple of the block size");
	return -EINVAL;
}

static int polt_parse_namespace_ids(struct nlattr **attrs, struct polt_request *request,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *uuid = attrs[A_NAMESPACE(UUID)];

	if (attrs[A_NAMESPACE(NGUID)])
		nla_memcpy(request->nguid, attrs[A_NAMESPACE(NGUID)], sizeof(request->nguid));
	if (!uuid)
		return 0;
	import_uuid(&request->uuid, nla_data(uuid));
	if (!uuid_is_null(&request->uuid))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, uuid, "the UUID is all zero");
	return -EINVAL;
}

/* What a namespace has got from the beginning and can be told later. */
static void polt_parse_namespace_state(struct nlattr **attrs, struct polt_request *request)
{
	u32 submit = POLT_SUBMIT_AUTO;

	polt_parse_switch(attrs[A_NAMESPACE(ENABLED)], &request->enabled);
	polt_parse_switch(attrs[A_NAMESPACE(READ_ONLY)], &request->read_only);
	polt_parse_u32(attrs[A_NAMESPACE(SUBMIT)], &submit);
	request->submit = submit;
}

static int polt_parse_namespace_new(struct nlattr **attrs, struct polt_request *request,
				    struct netlink_ext_ack *extack)
{
	int err = polt_parse_required_nqn(attrs, A_NAMESPACE(SUBSYSTEM), request->nqn, extack);

	if (err)
		return err;
	request->enabled = true;
	polt_parse_namespace_state(attrs, request);
	polt_parse_switch(attrs[A_NAMESPACE(SHARED)], &request->shared);
	polt_parse_u32(attrs[A_NAMESPACE(NSID)], &request->nsid);
	err = polt_parse_namespace_ids(attrs, request, extack);
	return err ?: polt_parse_storage(attrs, request, extack);
}

static int polt_parse_namespace_key(struct nlattr **attrs, struct polt_request *request,
				    struct netlink_ext_ack *extack)
{
	int err = polt_parse_required_nqn(attrs, A_NAMESPACE(SUBSYSTEM), request->nqn, extack);

	polt_parse_u32(attrs[A_NAMESPACE(NSID)], &request->nsid);
	return err ?: pol_attrs_required(attrs, A_NAMESPACE(NSID), extack);
}

static int polt_parse_namespace_set(struct nlattr **attrs, struct polt_request *request,
				    struct netlink_ext_ack *extack)
{
	polt_parse_namespace_state(attrs, request);
	return polt_parse_namespace_key(attrs, request, extack);
}

static int polt_parse_host(struct nlattr **attrs, struct polt_request *request,
			   struct netlink_ext_ack *extack)
{
	int err = polt_parse_required_nqn(attrs, A_HOST(SUBSYSTEM), request->nqn, extack);

	return err ?: polt_parse_required_nqn(attrs, A_HOST(NQN), request->hostnqn, extack);
}

static int polt_parse_port_key(struct nlattr **attrs, struct polt_request *request,
			       struct netlink_ext_ack *extack)
{
	polt_parse_u16(attrs[A_PORT(ID)], &request->port);
	return pol_attrs_required(attrs, A_PORT(ID), extack);
}

static int polt_parse_port_set(struct nlattr **attrs, struct polt_request *request,
			       struct netlink_ext_ack *extack)
{
	u32 depth = POLT_DEPTH_DEFAULT;

	request->inline_data_size = POLT_INLINE_DEFAULT;
	polt_parse_u32(attrs[A_PORT(INLINE_DATA_SIZE)], &request->inline_data_size);
	polt_parse_u32(attrs[A_PORT(MAX_QUEUE_DEPTH)], &depth);
	request->max_queue_depth = depth;
	return polt_parse_port_key(attrs, request, extack);
}

static int polt_parse_port_new(struct nlattr **attrs, struct polt_request *request,
			       struct netlink_ext_ack *extack)
{
	int err = polt_parse_port_set(attrs, request, extack);

	if (!err)
		err = pol_attrs_required(attrs, A_PORT(TRADDR), extack);
	if (err)
		return err;
	request->trsvcid = POLT_TRSVCID_DEFAULT;
	polt_parse_u16(attrs[A_PORT(TRSVCID)], &request->trsvcid);
	polt_parse_u32(attrs[A_PORT(ADRFAM)], &request->adrfam);
	return pol_attrs_text(attrs[A_PORT(TRADDR)], request->traddr, sizeof(request->traddr),
			      extack);
}

static int polt_parse_link(struct nlattr **attrs, struct polt_request *request,
			   struct netlink_ext_ack *extack)
{
	int err = pol_attrs_required(attrs, A_LINK(PORT), extack);

	if (err)
		return err;
	request->port = nla_get_u16(attrs[A_LINK(PORT)]);
	return polt_parse_required_nqn(attrs, A_LINK(SUBSYSTEM), request->nqn, extack);
}

#define POLT_FORMAT(policy, parse)	{ ARRAY_SIZE(policy) - 1, parse }

static const struct polt_format {
	unsigned int maxattr;
	int (*parse)(struct nlattr **attrs, struct polt_request *request,
		     struct netlink_ext_ack *extack);
} polt_formats[] = {
	[POLLARD_TARGET_CMD_SUBSYSTEM_NEW] =
		POLT_FORMAT(polt_subsystem_policy, polt_parse_subsystem),
	[POLLARD_TARGET_CMD_SUBSYSTEM_SET] =
		POLT_FORMAT(polt_subsystem_policy, polt_parse_subsystem),
	[POLLARD_TARGET_CMD_SUBSYSTEM_DEL] =
		POLT_FORMAT(polt_subsystem_key_policy, polt_parse_subsystem_key),
	[POLLARD_TARGET_CMD_NAMESPACE_NEW] =
		POLT_FORMAT(polt_namespace_new_policy, polt_parse_namespace_new),
	[POLLARD_TARGET_CMD_NAMESPACE_SET] =
		POLT_FORMAT(polt_namespace_set_policy, polt_parse_namespace_set),
	[POLLARD_TARGET_CMD_NAMESPACE_DEL] =
		POLT_FORMAT(polt_namespace_key_policy, polt_parse_namespace_key),
	[POLLARD_TARGET_CMD_HOST_NEW] = POLT_FORMAT(polt_host_policy, polt_parse_host),
	[POLLARD_TARGET_CMD_HOST_DEL] = POLT_FORMAT(polt_host_policy, polt_parse_host),
	[POLLARD_TARGET_CMD_PORT_NEW] = POLT_FORMAT(polt_port_new_policy, polt_parse_port_new),
	[POLLARD_TARGET_CMD_PORT_SET] = POLT_FORMAT(polt_port_set_policy, polt_parse_port_set),
	[POLLARD_TARGET_CMD_PORT_DEL] = POLT_FORMAT(polt_port_key_policy, polt_parse_port_key),
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NEW] = POLT_FORMAT(polt_link_policy, polt_parse_link),
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL] = POLT_FORMAT(polt_link_policy, polt_parse_link),
};

/**
 * polt_parse_request - read a request that changes something
 * @command: POLLARD_TARGET_CMD_*_NEW, _SET or _DEL
 * @attrs: its attributes, which have passed its policy
 * @request: filled in
 * @extack: why not
 *
 * Any context.
 *
 * Return: 0, or -EINVAL with the reason.
 */
int polt_parse_request(u8 command, struct nlattr **attrs, struct polt_request *request,
		       struct netlink_ext_ack *extack)
{
	const struct polt_format *format = &polt_formats[command];
	unsigned int attr;

	memset(request, 0, sizeof(*request));
	for (attr = 1; attr <= format->maxattr; attr++)
		if (attrs[attr])
			request->given |= 1UL << attr;
	return format->parse(attrs, request, extack);
}
