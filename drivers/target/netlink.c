// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family pollard-target: its operations, and the mutators, which turn a request
 * into a change of the configuration.
 *
 * Every mutator takes one way: permission, a struct polt_change, what its attributes ask for
 * (netlink_parse.c), the object that it makes (polt_make_*), polt_txn_submit(). Whether it takes
 * effect at once or with the commit of the socket's transaction is decided there. Requests run in
 * parallel and hold no lock here; none waits for a disk, a peer or a queue.
 */
#include <linux/capability.h>
#include <linux/slab.h>

#include "target/netlink.h"
#include "target/txn.h"

#define A_SUBSYSTEM(name)	POLLARD_TARGET_A_SUBSYSTEM_##name
#define A_NAMESPACE(name)	POLLARD_TARGET_A_NAMESPACE_##name
#define A_PORT(name)		POLLARD_TARGET_A_PORT_##name

static_assert((int)NVMF_ADDR_FAMILY_IP4 == (int)POLLARD_TARGET_ADRFAM_IPV4);
static_assert((int)NVMF_ADDR_FAMILY_IP6 == (int)POLLARD_TARGET_ADRFAM_IPV6);

/* Who listens to the events group; `up` keeps what outlives the family from using it. */
static DEFINE_MUTEX(polt_netlink_lock);
static bool polt_netlink_up;

/* From requests to objects that are not in effect yet; on failure the change is freed with them. */

static int polt_make_subsystem(struct polt_change *change, struct netlink_ext_ack *extack)
{
	const struct polt_request *asked = &change->asked;
	struct polt_subsystem *made = polt_subsystem_alloc(asked->nqn);

	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	made->allow_any_host = asked->allow_any_host;
	polt_subsystem_identify(made, asked);
	return 0;
}

static int polt_make_namespace(struct polt_change *change, struct netlink_ext_ack *extack)
{
	const struct polt_request *asked = &change->asked;
	struct polt_namespace *made = polt_namespace_alloc();

	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	made->enabled = asked->enabled;
	made->shared = asked->shared;
	made->submit = asked->submit;
	memcpy(made->nguid, asked->nguid, sizeof(made->nguid));
	if (polt_request_has(asked, A_NAMESPACE(UUID)))
		made->uuid = asked->uuid;
	else
		uuid_gen(&made->uuid);
	if (polt_request_has(asked, A_NAMESPACE(DEVICE))) {
		made->path = nla_strdup(change->attrs[A_NAMESPACE(DEVICE)], GFP_KERNEL);
		if (!made->path)
			return -ENOMEM;
	}
	change->params = (struct polt_backend_params){
		.device = made->path,
		.ram_bytes = asked->ram_bytes,
		.block_size = asked->block_size,
		.submit = asked->submit,
		.shared = asked->shared,
		.read_only = asked->read_only,
	};
	return 0;
}

static int polt_make_host(struct polt_change *change, struct netlink_ext_ack *extack)
{
	struct polt_host *made = polt_host_alloc(change->asked.hostnqn);

	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	return 0;
}

static int polt_make_port(struct polt_change *change, struct netlink_ext_ack *extack)
{
	const struct polt_request *asked = &change->asked;
	struct polt_port *made = polt_port_alloc(asked->port);

	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	made->inline_data_size = asked->inline_data_size;
	made->max_queue_depth = asked->max_queue_depth;
	if (polt_port_set_address(made, asked->traddr, asked->trsvcid)) {
		NL_SET_ERR_MSG_ATTR(extack, change->attrs[A_PORT(TRADDR)],
				    "no numeric unicast address (link-local: with %interface)");
		return -EINVAL;
	}
	if (asked->adrfam && asked->adrfam != made->adrfam) {
		NL_SET_ERR_MSG_ATTR(extack, change->attrs[A_PORT(ADRFAM)],
				    "the address is of the other family");
		return -EINVAL;
	}
	return 0;
}

static int polt_make_link(struct polt_change *change, struct netlink_ext_ack *extack)
{
	struct polt_port_link *made = polt_link_alloc();

	if (!made)
		return -ENOMEM;
	change->made = &made->object;
	return 0;
}

static const struct polt_mutator {
	const struct polt_change_ops *ops;
	int (*make)(struct polt_change *change, struct netlink_ext_ack *extack);
} polt_mutators[] = {
	[POLLARD_TARGET_CMD_SUBSYSTEM_NEW] = { &polt_subsystem_new_ops, polt_make_subsystem },
	[POLLARD_TARGET_CMD_SUBSYSTEM_SET] = { &polt_subsystem_set_ops },
	[POLLARD_TARGET_CMD_SUBSYSTEM_DEL] = { &polt_subsystem_del_ops },
	[POLLARD_TARGET_CMD_NAMESPACE_NEW] = { &polt_namespace_new_ops, polt_make_namespace },
	[POLLARD_TARGET_CMD_NAMESPACE_SET] = { &polt_namespace_set_ops },
	[POLLARD_TARGET_CMD_NAMESPACE_DEL] = { &polt_namespace_del_ops },
	[POLLARD_TARGET_CMD_HOST_NEW] = { &polt_host_new_ops, polt_make_host },
	[POLLARD_TARGET_CMD_HOST_DEL] = { &polt_host_del_ops },
	[POLLARD_TARGET_CMD_PORT_NEW] = { &polt_port_new_ops, polt_make_port },
	[POLLARD_TARGET_CMD_PORT_SET] = { &polt_port_set_ops },
	[POLLARD_TARGET_CMD_PORT_DEL] = { &polt_port_del_ops },
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NEW] = { &polt_link_new_ops, polt_make_link },
	[POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL] = { &polt_link_del_ops },
};

/* Whoever adds a namespace can read any disk: the power to configure networks is not enough. */
static int polt_netlink_permitted(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack, "this needs CAP_SYS_ADMIN");
	return -EPERM;
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
static int polt_netlink_change(struct sk_buff *skb, struct genl_info *info)
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
	err = polt_parse_request(info->genlhdr->cmd, info->attrs, &change->asked, info->extack);
	if (!err && mutator->make)
		err = mutator->make(change, info->extack);
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

/* What changes nothing has policies here; an attribute that is not listed is refused. */

static const struct nla_policy polt_ctrl_dump_policy[] = {
	[POLLARD_TARGET_A_CONTROLLER_SUBSYSTEM] = POLT_NQN_POLICY,
};

static const struct nla_policy polt_queue_dump_policy[] = {
	[POLLARD_TARGET_A_QUEUE_SUBSYSTEM] = POLT_NQN_POLICY,
	[POLLARD_TARGET_A_QUEUE_CNTLID] = { .type = NLA_U16 },
};

#define POLT_POLICY(policy_)				\
	.policy = policy_,				\
	.maxattr = ARRAY_SIZE(policy_) - 1

#define POLT_OP_CHANGE(command, policy_)		\
	{						\
		.cmd = POLLARD_TARGET_CMD_##command,	\
		.doit = polt_netlink_change,		\
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

/**
 * polt_netlink_wanted - does anybody listen to events?
 *
 * An event for nobody need not be made. Any context.
 */
bool polt_netlink_wanted(void)
{
	return READ_ONCE(polt_netlink_up) && genl_has_listeners(&polt_family, &init_net, 0);
}

/**
 * polt_netlink_multicast - send an event to whoever listens
 * @skb: the finished message; not the caller's any more
 *
 * Context: process context, sleeps; also under polt_config_lock or a controller's lock.
 */
void polt_netlink_multicast(struct sk_buff *skb)
{
	mutex_lock(&polt_netlink_lock);
	if (polt_netlink_up)
		genlmsg_multicast(&polt_family, skb, 0, 0, GFP_KERNEL);
	else
		nlmsg_free(skb);
	mutex_unlock(&polt_netlink_lock);
}

/**
 * polt_netlink_lost - an event could not be made
 *
 * Who listens gets ENOBUFS and has to ask for everything again.
 *
 * Context: process context, sleeps.
 */
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

/**
 * polt_netlink_init - take requests, and send events from now on
 *
 * Context: module init, when everything that objects use is ready.
 * Return: 0 or -errno.
 */
int polt_netlink_init(void)
{
	int err = genl_register_family(&polt_family);

	if (!err)
		polt_netlink_set_up(true);
	return err;
}

/**
 * polt_netlink_exit - no request is running and no event is sent any more when this returns
 *
 * Events may still be reported, nobody hears them.
 *
 * Context: process context, sleeps; without polt_config_lock.
 */
void polt_netlink_exit(void)
{
	polt_netlink_set_up(false);
	genl_unregister_family(&polt_family);
}

MODULE_ALIAS_GENL_FAMILY(POLLARD_TARGET_FAMILY_NAME);
