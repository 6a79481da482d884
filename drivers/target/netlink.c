// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family pollard-target: its operations and policies, and the mutators, which turn
 * a request into a change of the configuration.
 *
 * Every mutator takes one way: permission, a struct polt_change, its attributes (polt_parse_*,
 * which look at nothing but the request), polt_txn_submit(). Whether it takes effect at once or
 * with the commit of the socket's transaction is decided there. Requests run in parallel and hold
 * no lock here; none waits for a disk, a peer or a queue.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <uapi/linux/pollard_target.h>

#include "target/netlink.h"
#include "target/txn.h"

#define A_SUBSYSTEM(name)	POLLARD_TARGET_A_SUBSYSTEM_##name
#define A_NAMESPACE(name)	POLLARD_TARGET_A_NAMESPACE_##name
#define A_HOST(name)		POLLARD_TARGET_A_HOST_##name
#define A_PORT(name)		POLLARD_TARGET_A_PORT_##name
#define A_LINK(name)		POLLARD_TARGET_A_PORT_SUBSYSTEM_##name

static_assert(POLT_NQN_MAX == POLLARD_TARGET_NQN_MAX_LEN);
static_assert((int)POLT_SUBMIT_AUTO == (int)POLLARD_TARGET_SUBMIT_AUTO);
static_assert((int)POLT_SUBMIT_INLINE == (int)POLLARD_TARGET_SUBMIT_INLINE);
static_assert((int)POLT_SUBMIT_WORKER == (int)POLLARD_TARGET_SUBMIT_WORKER);
static_assert((int)NVMF_ADDR_FAMILY_IP4 == (int)POLLARD_TARGET_ADRFAM_IPV4);
static_assert((int)NVMF_ADDR_FAMILY_IP6 == (int)POLLARD_TARGET_ADRFAM_IPV6);

/* Who listens to the events group; `up` keeps what outlives the family from using it. */
static DEFINE_MUTEX(polt_netlink_lock);
static bool polt_netlink_up;

/* Attributes */

/* Return: 0, or -EINVAL with the reason when the request lacks the attribute. */
int polt_netlink_missing(struct genl_info *info, int attr)
{
	if (!GENL_REQ_ATTR_CHECK(info, attr))
		return 0;
	NL_SET_ERR_MSG(info->extack, "an attribute is missing");
	return -EINVAL;
}

/* Copy a string that the policy has found to fit; nothing may hide behind a NUL in it. */
static int polt_netlink_text(const struct nlattr *attr, char *text, size_t size,
			     struct netlink_ext_ack *extack)
{
	nla_strscpy(text, attr, size);
	if (strlen(text) + 1 == nla_len(attr))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "the text goes on after its end");
	return -EINVAL;
}

/**
 * polt_netlink_nqn - copy an NQN out of a request
 * @attr: the attribute
 * @nqn: POLT_NQN_SIZE bytes
 * @extack: why not
 *
 * Return: 0, or -EINVAL when it is not of the form that the NVMe Base Specification ("NVMe
 * Qualified Names") asks for: "nqn.", and something visible behind it. Dates and domains are not
 * judged.
 */
int polt_netlink_nqn(const struct nlattr *attr, char *nqn, struct netlink_ext_ack *extack)
{
	const unsigned char *c;
	int err = polt_netlink_text(attr, nqn, POLT_NQN_SIZE, extack);

	if (err)
		return err;
	if (strncmp(nqn, "nqn.", 4) || !nqn[4]) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "an NQN begins with \"nqn.\"");
		return -EINVAL;
	}
	for (c = nqn; *c; c++) {
		if (*c > ' ' && *c != 0x7f)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attr, "an NQN has no spaces and no control characters");
		return -EINVAL;
	}
	return 0;
}

static int polt_netlink_required_nqn(struct genl_info *info, int attr, char *nqn)
{
	int err = polt_netlink_missing(info, attr);

	return err ?: polt_netlink_nqn(info->attrs[attr], nqn, info->extack);
}

/* Text that goes into Identify data: printable ASCII, not only spaces. */
static int polt_netlink_ascii(struct genl_info *info, int attr, char *text, size_t size)
{
	bool visible = false;
	const char *c;
	int err = polt_netlink_text(info->attrs[attr], text, size, info->extack);

	if (err)
		return err;
	for (c = text; *c; c++) {
		if (!isascii(*c) || !isprint(*c)) {
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
					    "only printable ASCII characters are allowed");
			return -EINVAL;
		}
		visible |= *c != ' ';
	}
	if (visible)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "the text is empty");
	return -EINVAL;
}

/* Requests: from attributes to a change */

/* What subsystem-new and -set have in common. What is not given stays as it is. */
static int polt_parse_identity(struct genl_info *info, char *serial, char *model, u16 *cntlid_min,
			       u16 *cntlid_max)
{
	struct nlattr **attrs = info->attrs;
	int err;

	if (attrs[A_SUBSYSTEM(SERIAL)]) {
		err = polt_netlink_ascii(info, A_SUBSYSTEM(SERIAL), serial, POLT_SERIAL_SIZE + 1);
		if (err)
			return err;
	}
	if (attrs[A_SUBSYSTEM(MODEL)]) {
		err = polt_netlink_ascii(info, A_SUBSYSTEM(MODEL), model, POLT_MODEL_SIZE + 1);
		if (err)
			return err;
	}
	if (attrs[A_SUBSYSTEM(CNTLID_MIN)])
		*cntlid_min = nla_get_u16(attrs[A_SUBSYSTEM(CNTLID_MIN)]);
	if (attrs[A_SUBSYSTEM(CNTLID_MAX)])
		*cntlid_max = nla_get_u16(attrs[A_SUBSYSTEM(CNTLID_MAX)]);
	return 0;
}

static int polt_parse_subsystem_new(struct polt_change *change, struct genl_info *info)
{
	struct nlattr *any = info->attrs[A_SUBSYSTEM(ALLOW_ANY_HOST)];
	struct polt_subsystem *made;
	int err;

	err = polt_netlink_required_nqn(info, A_SUBSYSTEM(NQN), change->nqn);
	if (err)
		return err;
	made = polt_subsystem_alloc(change->nqn);
	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	made->allow_any_host = any && nla_get_u8(any);
	return polt_parse_identity(info, made->serial, made->model, &made->cntlid_min,
				   &made->cntlid_max);
}

static int polt_parse_subsystem_set(struct polt_change *change, struct genl_info *info)
{
	struct nlattr *any = info->attrs[A_SUBSYSTEM(ALLOW_ANY_HOST)];
	int err;

	err = polt_netlink_required_nqn(info, A_SUBSYSTEM(NQN), change->nqn);
	if (err)
		return err;
	change->allow_any_host = any && nla_get_u8(any);
	return polt_parse_identity(info, change->serial, change->model, &change->cntlid_min,
				   &change->cntlid_max);
}

static int polt_parse_subsystem_del(struct polt_change *change, struct genl_info *info)
{
	return polt_netlink_required_nqn(info, A_SUBSYSTEM(NQN), change->nqn);
}

/* Where a new namespace keeps its data: a device, or memory of a size and block size. */
static int polt_parse_storage(struct polt_change *change, struct polt_namespace *made,
			      struct genl_info *info)
{
	struct nlattr *device = info->attrs[A_NAMESPACE(DEVICE)];
	struct nlattr *ram = info->attrs[A_NAMESPACE(RAM_BYTES)];
	struct nlattr *block_size = info->attrs[A_NAMESPACE(BLOCK_SIZE)];
	u32 size = 512;
	int err;

	if (!device && !ram) {
		polt_netlink_missing(info, A_NAMESPACE(DEVICE));
		NL_SET_ERR_MSG(info->extack, "a namespace needs a device or a size in memory");
		return -EINVAL;
	}
	if (device && ram) {
		NL_SET_ERR_MSG_ATTR(info->extack, ram, "a namespace with a device is not in memory");
		return -EINVAL;
	}
	if (device) {
		if (block_size) {
			NL_SET_ERR_MSG_ATTR(info->extack, block_size,
					    "the block size is that of the device");
			return -EINVAL;
		}
		made->path = kmalloc(nla_len(device), GFP_KERNEL);
		if (!made->path)
			return -ENOMEM;
		err = polt_netlink_text(device, made->path, nla_len(device), info->extack);
		if (err)
			return err;
		if (made->path[0] != '/') {
			NL_SET_ERR_MSG_ATTR(info->extack, device, "the path begins with \"/\"");
			return -EINVAL;
		}
		change->params.device = made->path;
		return 0;
	}
	if (block_size)
		size = nla_get_u32(block_size);
	if (!is_power_of_2(size)) {
		NL_SET_ERR_MSG_ATTR(info->extack, block_size, "the block size is no power of two");
		return -EINVAL;
	}
	change->params.block_size = size;
	change->params.ram_bytes = nla_get_u64(ram);
	if (!IS_ALIGNED(change->params.ram_bytes, size)) {
		NL_SET_ERR_MSG_ATTR(info->extack, ram, "the size is no multiple of the block size");
		return -EINVAL;
	}
	return 0;
}

static int polt_parse_namespace_ids(struct polt_namespace *made, struct genl_info *info)
{
	struct nlattr *uuid = info->attrs[A_NAMESPACE(UUID)];
	struct nlattr *nguid = info->attrs[A_NAMESPACE(NGUID)];

	if (nguid)
		nla_memcpy(made->nguid, nguid, sizeof(made->nguid));
	if (!uuid) {
		uuid_gen(&made->uuid);
		return 0;
	}
	import_uuid(&made->uuid, nla_data(uuid));
	if (!uuid_is_null(&made->uuid))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, uuid, "the UUID is all zero");
	return -EINVAL;
}

static int polt_parse_namespace_new(struct polt_change *change, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct polt_namespace *made;
	int err;

	err = polt_netlink_required_nqn(info, A_NAMESPACE(SUBSYSTEM), change->nqn);
	if (err)
		return err;
	made = polt_namespace_alloc();
	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	made->enabled = true;
	if (attrs[A_NAMESPACE(ENABLED)])
		made->enabled = nla_get_u8(attrs[A_NAMESPACE(ENABLED)]);
	if (attrs[A_NAMESPACE(SHARED)])
		made->shared = nla_get_u8(attrs[A_NAMESPACE(SHARED)]);
	if (attrs[A_NAMESPACE(SUBMIT)])
		made->submit = nla_get_u32(attrs[A_NAMESPACE(SUBMIT)]);
	if (attrs[A_NAMESPACE(READ_ONLY)])
		change->params.read_only = nla_get_u8(attrs[A_NAMESPACE(READ_ONLY)]);
	change->params.shared = made->shared;
	change->params.submit = made->submit;
	if (attrs[A_NAMESPACE(NSID)])
		change->nsid = nla_get_u32(attrs[A_NAMESPACE(NSID)]);
	err = polt_parse_namespace_ids(made, info);
	return err ?: polt_parse_storage(change, made, info);
}

static int polt_parse_namespace_key(struct polt_change *change, struct genl_info *info)
{
	int err = polt_netlink_required_nqn(info, A_NAMESPACE(SUBSYSTEM), change->nqn);

	if (!err)
		err = polt_netlink_missing(info, A_NAMESPACE(NSID));
	if (!err)
		change->nsid = nla_get_u32(info->attrs[A_NAMESPACE(NSID)]);
	return err;
}

static int polt_parse_namespace_set(struct polt_change *change, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;

	if (attrs[A_NAMESPACE(ENABLED)])
		change->enabled = nla_get_u8(attrs[A_NAMESPACE(ENABLED)]);
	if (attrs[A_NAMESPACE(READ_ONLY)])
		change->read_only = nla_get_u8(attrs[A_NAMESPACE(READ_ONLY)]);
	if (attrs[A_NAMESPACE(SUBMIT)])
		change->submit = nla_get_u32(attrs[A_NAMESPACE(SUBMIT)]);
	return polt_parse_namespace_key(change, info);
}

static int polt_parse_host_key(struct polt_change *change, struct genl_info *info)
{
	int err = polt_netlink_required_nqn(info, A_HOST(SUBSYSTEM), change->nqn);

	return err ?: polt_netlink_required_nqn(info, A_HOST(NQN), change->hostnqn);
}

static int polt_parse_host_new(struct polt_change *change, struct genl_info *info)
{
	struct polt_host *made;
	int err = polt_parse_host_key(change, info);

	if (err)
		return err;
	made = polt_host_alloc(change->hostnqn);
	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	return 0;
}

static int polt_parse_port_key(struct polt_change *change, struct genl_info *info)
{
	int err = polt_netlink_missing(info, A_PORT(ID));

	if (!err)
		change->port = nla_get_u16(info->attrs[A_PORT(ID)]);
	return err;
}

static int polt_parse_address(struct polt_port *port, struct genl_info *info)
{
	struct nlattr *adrfam = info->attrs[A_PORT(ADRFAM)];
	struct nlattr *trsvcid = info->attrs[A_PORT(TRSVCID)];
	struct nlattr *traddr = info->attrs[A_PORT(TRADDR)];
	char text[64];
	int err;

	err = polt_netlink_missing(info, A_PORT(TRADDR));
	if (err)
		return err;
	err = polt_netlink_text(traddr, text, sizeof(text), info->extack);
	if (err)
		return err;
	err = polt_port_set_address(port, text,
				    trsvcid ? nla_get_u16(trsvcid) : POLT_TRSVCID_DEFAULT);
	if (err) {
		NL_SET_ERR_MSG_ATTR(info->extack, traddr,
				    "no numeric unicast address (link-local: with %interface)");
		return err;
	}
	if (adrfam && nla_get_u32(adrfam) != port->adrfam) {
		NL_SET_ERR_MSG_ATTR(info->extack, adrfam, "the address is of the other family");
		return -EINVAL;
	}
	return 0;
}

static int polt_parse_port_new(struct polt_change *change, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct polt_port *made;
	int err = polt_parse_port_key(change, info);

	if (err)
		return err;
	made = polt_port_alloc(change->port);
	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	if (attrs[A_PORT(INLINE_DATA_SIZE)])
		made->inline_data_size = nla_get_u32(attrs[A_PORT(INLINE_DATA_SIZE)]);
	if (attrs[A_PORT(MAX_QUEUE_DEPTH)])
		made->max_queue_depth = nla_get_u32(attrs[A_PORT(MAX_QUEUE_DEPTH)]);
	return polt_parse_address(made, info);
}

static int polt_parse_port_set(struct polt_change *change, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;

	if (attrs[A_PORT(INLINE_DATA_SIZE)])
		change->inline_data_size = nla_get_u32(attrs[A_PORT(INLINE_DATA_SIZE)]);
	if (attrs[A_PORT(MAX_QUEUE_DEPTH)])
		change->max_queue_depth = nla_get_u32(attrs[A_PORT(MAX_QUEUE_DEPTH)]);
	return polt_parse_port_key(change, info);
}

static int polt_parse_link_key(struct polt_change *change, struct genl_info *info)
{
	int err = polt_netlink_missing(info, A_LINK(PORT));

	if (err)
		return err;
	change->port = nla_get_u16(info->attrs[A_LINK(PORT)]);
	return polt_netlink_required_nqn(info, A_LINK(SUBSYSTEM), change->nqn);
}

static int polt_parse_link_new(struct polt_change *change, struct genl_info *info)
{
	struct polt_port_link *made;
	int err = polt_parse_link_key(change, info);

	if (err)
		return err;
	made = polt_link_alloc();
	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	return 0;
}

static const struct polt_mutator {
	const struct polt_change_ops *ops;
	int (*parse)(struct polt_change *change, struct genl_info *info);
} polt_mutators[] = {
	[POLLARD_TARGET_CMD_SUBSYSTEM_NEW] = { &polt_subsystem_new_ops, polt_parse_subsystem_new },
	[POLLARD_TARGET_CMD_SUBSYSTEM_SET] = { &polt_subsystem_set_ops, polt_parse_subsystem_set },
	[POLLARD_TARGET_CMD_SUBSYSTEM_DEL] = { &polt_subsystem_del_ops, polt_parse_subsystem_del },
	[POLLARD_TARGET_CMD_NAMESPACE_NEW] = { &polt_namespace_new_ops, polt_parse_namespace_new },
	[POLLARD_TARGET_CMD_NAMESPACE_SET] = { &polt_namespace_set_ops, polt_parse_namespace_set },
	[POLLARD_TARGET_CMD_NAMESPACE_DEL] = { &polt_namespace_del_ops, polt_parse_namespace_key },
	[POLLARD_TARGET_CMD_HOST_NEW] = { &polt_host_new_ops, polt_parse_host_new },
	[POLLARD_TARGET_CMD_HOST_DEL] = { &polt_host_del_ops, polt_parse_host_key },
	[POLLARD_TARGET_CMD_PORT_NEW] = { &polt_port_new_ops, polt_parse_port_new },
	[POLLARD_TARGET_CMD_PORT_SET] = { &polt_port_set_ops, polt_parse_port_set },
	[POLLARD_TARGET_CMD_PORT_DEL] = { &polt_port_del_ops, polt_parse_port_key },
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NEW] = { &polt_link_new_ops, polt_parse_link_new },
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL] = { &polt_link_del_ops, polt_parse_link_key },
};

/* Whoever adds a namespace can read any disk: the power to configure networks is not enough. */
static int polt_netlink_permitted(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack, "this needs CAP_SYS_ADMIN");
	return -EPERM;
}

/* The attributes of the request, a bit each. */
static unsigned long polt_netlink_given(struct genl_info *info, unsigned int maxattr)
{
	unsigned long given = 0;
	unsigned int attr;

	for (attr = 1; attr <= maxattr; attr++)
		if (info->attrs[attr])
			given |= BIT(attr);
	return given;
}

/* The reply of namespace-new says which namespace ID it got. */
static int polt_netlink_reply_nsid(struct sk_buff *reply, struct genl_info *info, u32 nsid)
{
	void *header = genlmsg_put_reply(reply, info, &polt_family, 0,
					 POLLARD_TARGET_CMD_NAMESPACE_NEW);

	if (!header ||
	    nla_put_string(reply, A_NAMESPACE(SUBSYSTEM),
			   nla_data(info->attrs[A_NAMESPACE(SUBSYSTEM)])) ||
	    nla_put_u32(reply, A_NAMESPACE(NSID), nsid)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

/*
 * All mutators. The reply is allocated first: once the change has taken effect, nothing may make
 * the request fail.
 */
static int polt_netlink_change(struct sk_buff *skb, struct genl_info *info, unsigned int maxattr)
{
	const struct polt_mutator *mutator = &polt_mutators[info->genlhdr->cmd];
	struct sk_buff *reply = NULL;
	struct polt_change *change;
	u32 nsid = 0;
	int err;

	err = polt_netlink_permitted(skb, info);
	if (err)
		return err;
	change = polt_change_alloc(mutator->ops);
	if (!change)
		return -ENOMEM;
	change->attrs = info->attrs;
	change->given = polt_netlink_given(info, maxattr);
	err = mutator->parse(change, info);
	if (!err && mutator->ops == &polt_namespace_new_ops) {
		reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
		if (!reply)
			err = -ENOMEM;
	}
	if (err)
		polt_change_free(change);
	else
		err = polt_txn_submit(info->snd_portid, change, &nsid, info->extack);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	if (reply)
		polt_netlink_reply_nsid(reply, info, nsid);
	return 0;
}

static int polt_netlink_txn_begin(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	void *header;
	u32 id;
	int err = polt_netlink_permitted(skb, info);

	if (err)
		return err;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	err = polt_txn_begin(info->snd_portid, &id, info->extack);
	if (err)
		goto err_begin;
	header = genlmsg_put_reply(reply, info, &polt_family, 0, POLLARD_TARGET_CMD_TXN_BEGIN);
	if (!header || nla_put_u32(reply, POLLARD_TARGET_A_TXN_ID, id)) {
		err = -EMSGSIZE;
		goto err_put;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);

err_put:
	polt_txn_abort(info->snd_portid, info->extack);
err_begin:
	nlmsg_free(reply);
	return err;
}

static int polt_netlink_txn_commit(struct sk_buff *skb, struct genl_info *info)
{
	int err = polt_netlink_permitted(skb, info);

	return err ?: polt_txn_commit(info->snd_portid, info->extack);
}

static int polt_netlink_txn_abort(struct sk_buff *skb, struct genl_info *info)
{
	int err = polt_netlink_permitted(skb, info);

	return err ?: polt_txn_abort(info->snd_portid, info->extack);
}

/* Policies: an attribute that is not listed is refused. */

#define POLT_NQN_POLICY		{ .type = NLA_NUL_STRING, .len = POLT_NQN_MAX }
#define POLT_SWITCH_POLICY	NLA_POLICY_MAX(NLA_U8, 1)

/* Not const, for kernels whose policies want that. */
static struct netlink_range_validation polt_cntlid_range = {
	.min = 1,
	.max = POLT_CNTLID_MAX,
};

static const struct nla_policy polt_subsystem_key_policy[] = {
	[A_SUBSYSTEM(NQN)] = POLT_NQN_POLICY,
};

static const struct nla_policy polt_subsystem_policy[] = {
	[A_SUBSYSTEM(NQN)] = POLT_NQN_POLICY,
	[A_SUBSYSTEM(ALLOW_ANY_HOST)] = POLT_SWITCH_POLICY,
	[A_SUBSYSTEM(SERIAL)] = { .type = NLA_NUL_STRING, .len = POLT_SERIAL_SIZE },
	[A_SUBSYSTEM(MODEL)] = { .type = NLA_NUL_STRING, .len = POLT_MODEL_SIZE },
	[A_SUBSYSTEM(CNTLID_MIN)] = NLA_POLICY_FULL_RANGE(NLA_U16, &polt_cntlid_range),
	[A_SUBSYSTEM(CNTLID_MAX)] = NLA_POLICY_FULL_RANGE(NLA_U16, &polt_cntlid_range),
};

#define POLT_NSID_POLICY	NLA_POLICY_RANGE(NLA_U32, 1, POLT_NSID_MAX)
#define POLT_SUBMIT_POLICY	NLA_POLICY_MAX(NLA_U32, POLLARD_TARGET_SUBMIT_WORKER)

static const struct nla_policy polt_namespace_key_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
};

static const struct nla_policy polt_namespace_new_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
	[A_NAMESPACE(DEVICE)] = { .type = NLA_NUL_STRING, .len = PATH_MAX - 1 },
	[A_NAMESPACE(RAM_BYTES)] = NLA_POLICY_MIN(NLA_U64, 4096),
	[A_NAMESPACE(BLOCK_SIZE)] = NLA_POLICY_RANGE(NLA_U32, 512, 4096),
	[A_NAMESPACE(UUID)] = NLA_POLICY_EXACT_LEN(POLLARD_TARGET_NS_ID_LEN),
	[A_NAMESPACE(NGUID)] = NLA_POLICY_EXACT_LEN(POLLARD_TARGET_NS_ID_LEN),
	[A_NAMESPACE(ENABLED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SHARED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(READ_ONLY)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SUBMIT)] = POLT_SUBMIT_POLICY,
};

static const struct nla_policy polt_namespace_set_policy[] = {
	[A_NAMESPACE(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_NAMESPACE(NSID)] = POLT_NSID_POLICY,
	[A_NAMESPACE(ENABLED)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(READ_ONLY)] = POLT_SWITCH_POLICY,
	[A_NAMESPACE(SUBMIT)] = POLT_SUBMIT_POLICY,
};

static const struct nla_policy polt_host_policy[] = {
	[A_HOST(SUBSYSTEM)] = POLT_NQN_POLICY,
	[A_HOST(NQN)] = POLT_NQN_POLICY,
};

#define POLT_INLINE_POLICY	NLA_POLICY_MAX(NLA_U32, POLT_INLINE_MAX)
#define POLT_DEPTH_POLICY	NLA_POLICY_RANGE(NLA_U32, 2, POLT_DEPTH_MAX)

static const struct nla_policy polt_port_key_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
};

static const struct nla_policy polt_port_new_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
	[A_PORT(ADRFAM)] = NLA_POLICY_RANGE(NLA_U32, POLLARD_TARGET_ADRFAM_IPV4,
					    POLLARD_TARGET_ADRFAM_IPV6),
	[A_PORT(TRADDR)] = { .type = NLA_NUL_STRING, .len = 63 },
	[A_PORT(TRSVCID)] = NLA_POLICY_MIN(NLA_U16, 1),
	[A_PORT(INLINE_DATA_SIZE)] = POLT_INLINE_POLICY,
	[A_PORT(MAX_QUEUE_DEPTH)] = POLT_DEPTH_POLICY,
};

static const struct nla_policy polt_port_set_policy[] = {
	[A_PORT(ID)] = { .type = NLA_U16 },
	[A_PORT(INLINE_DATA_SIZE)] = POLT_INLINE_POLICY,
	[A_PORT(MAX_QUEUE_DEPTH)] = POLT_DEPTH_POLICY,
};

static const struct nla_policy polt_link_policy[] = {
	[A_LINK(PORT)] = { .type = NLA_U16 },
	[A_LINK(SUBSYSTEM)] = POLT_NQN_POLICY,
};

static const struct nla_policy polt_ctrl_dump_policy[] = {
	[POLLARD_TARGET_A_CONTROLLER_SUBSYSTEM] = POLT_NQN_POLICY,
};

static const struct nla_policy polt_queue_dump_policy[] = {
	[POLLARD_TARGET_A_QUEUE_SUBSYSTEM] = POLT_NQN_POLICY,
	[POLLARD_TARGET_A_QUEUE_CNTLID] = { .type = NLA_U16 },
};

/* One doit per policy, so that the mutator knows how far the attributes go. */
#define POLT_MUTATOR(policy)							\
static int policy##_doit(struct sk_buff *skb, struct genl_info *info)		\
{										\
	return polt_netlink_change(skb, info, ARRAY_SIZE(policy) - 1);		\
}

POLT_MUTATOR(polt_subsystem_key_policy)
POLT_MUTATOR(polt_subsystem_policy)
POLT_MUTATOR(polt_namespace_key_policy)
POLT_MUTATOR(polt_namespace_new_policy)
POLT_MUTATOR(polt_namespace_set_policy)
POLT_MUTATOR(polt_host_policy)
POLT_MUTATOR(polt_port_key_policy)
POLT_MUTATOR(polt_port_new_policy)
POLT_MUTATOR(polt_port_set_policy)
POLT_MUTATOR(polt_link_policy)

#define POLT_POLICY(policy_)				\
	.policy = policy_,				\
	.maxattr = ARRAY_SIZE(policy_) - 1

#define POLT_OP_CHANGE(command, policy_)		\
	{						\
		.cmd = POLLARD_TARGET_CMD_##command,	\
		.doit = policy_##_doit,			\
		.flags = GENL_ADMIN_PERM,		\
		POLT_POLICY(policy_),			\
	}

#define POLT_OP_TXN(command, doit_)			\
	{						\
		.cmd = POLLARD_TARGET_CMD_##command,	\
		.doit = doit_,				\
		.flags = GENL_ADMIN_PERM,		\
	}

#define POLT_OP_GET(command, policy_)			\
	{						\
		.cmd = POLLARD_TARGET_CMD_##command,	\
		.doit = polt_netlink_get,		\
		.start = polt_netlink_dump_start,	\
		.dumpit = polt_netlink_dump,		\
		POLT_POLICY(policy_),			\
	}

static const struct genl_ops polt_ops[] = {
	POLT_OP_TXN(TXN_BEGIN, polt_netlink_txn_begin),
	POLT_OP_TXN(TXN_COMMIT, polt_netlink_txn_commit),
	POLT_OP_TXN(TXN_ABORT, polt_netlink_txn_abort),
	POLT_OP_GET(SUBSYSTEM_GET, polt_subsystem_key_policy),
	POLT_OP_CHANGE(SUBSYSTEM_NEW, polt_subsystem_policy),
	POLT_OP_CHANGE(SUBSYSTEM_SET, polt_subsystem_policy),
	POLT_OP_CHANGE(SUBSYSTEM_DEL, polt_subsystem_key_policy),
	POLT_OP_GET(NAMESPACE_GET, polt_namespace_key_policy),
	POLT_OP_CHANGE(NAMESPACE_NEW, polt_namespace_new_policy),
	POLT_OP_CHANGE(NAMESPACE_SET, polt_namespace_set_policy),
	POLT_OP_CHANGE(NAMESPACE_DEL, polt_namespace_key_policy),
	POLT_OP_GET(HOST_GET, polt_host_policy),
	POLT_OP_CHANGE(HOST_NEW, polt_host_policy),
	POLT_OP_CHANGE(HOST_DEL, polt_host_policy),
	POLT_OP_GET(PORT_GET, polt_port_key_policy),
	POLT_OP_CHANGE(PORT_NEW, polt_port_new_policy),
	POLT_OP_CHANGE(PORT_SET, polt_port_set_policy),
	POLT_OP_CHANGE(PORT_DEL, polt_port_key_policy),
	POLT_OP_GET(PORT_SUBSYSTEM_GET, polt_link_policy),
	POLT_OP_CHANGE(PORT_SUBSYSTEM_NEW, polt_link_policy),
	POLT_OP_CHANGE(PORT_SUBSYSTEM_DEL, polt_link_policy),
	{
		.cmd = POLLARD_TARGET_CMD_CONTROLLER_GET,
		.start = polt_netlink_ctrl_start,
		.dumpit = polt_netlink_ctrl_dump,
		POLT_POLICY(polt_ctrl_dump_policy),
	},
	{
		.cmd = POLLARD_TARGET_CMD_QUEUE_GET,
		.start = polt_netlink_queue_start,
		.dumpit = polt_netlink_queue_dump,
		POLT_POLICY(polt_queue_dump_policy),
	},
};

static const struct genl_multicast_group polt_groups[] = {
	{ .name = POLLARD_TARGET_MCGRP_EVENTS },
};

/* resv_start_op stays 0: everything is validated strictly from the first operation on. */
struct genl_family polt_family = {
	.name = POLLARD_TARGET_FAMILY_NAME,
	.version = POLLARD_TARGET_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = polt_ops,
	.n_ops = ARRAY_SIZE(polt_ops),
	.mcgrps = polt_groups,
	.n_mcgrps = ARRAY_SIZE(polt_groups),
};

/* Does anybody listen to events? */
bool polt_netlink_wanted(void)
{
	return READ_ONCE(polt_netlink_up) && genl_has_listeners(&polt_family, &init_net, 0);
}

/* Send a finished message to whoever listens to events. Process context. */
void polt_netlink_multicast(struct sk_buff *skb)
{
	mutex_lock(&polt_netlink_lock);
	if (polt_netlink_up)
		genlmsg_multicast(&polt_family, skb, 0, 0, GFP_KERNEL);
	else
		nlmsg_free(skb);
	mutex_unlock(&polt_netlink_lock);
}

/* An event could not be made: who listens gets ENOBUFS and has to ask for everything again. */
void polt_netlink_lost(void)
{
	mutex_lock(&polt_netlink_lock);
	if (polt_netlink_up)
		genl_set_err(&polt_family, &init_net, 0, 0, -ENOBUFS);
	mutex_unlock(&polt_netlink_lock);
}

static void polt_netlink_set_up(bool up)
{
	mutex_lock(&polt_netlink_lock);
	polt_netlink_up = up;
	mutex_unlock(&polt_netlink_lock);
}

int polt_netlink_init(void)
{
	int err = genl_register_family(&polt_family);

	if (!err)
		polt_netlink_set_up(true);
	return err;
}

/* When this returns no request is running, and no event is sent any more. */
void polt_netlink_exit(void)
{
	polt_netlink_set_up(false);
	genl_unregister_family(&polt_family);
}

MODULE_ALIAS_GENL_FAMILY(POLLARD_TARGET_FAMILY_NAME);
