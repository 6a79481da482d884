// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family pollard: what the administrator sees and changes of poll groups, devices
 * and latency histograms. The contract is Documentation/netlink/specs/pollard.yaml.
 *
 * Requests run in parallel; what they touch is protected by the lists' own locks. None waits longer
 * than a pass of a group's thread. Dumps remember how many objects they have shown; a change in
 * between makes the kernel mark the dump as disturbed, and the reader takes it again.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <net/genetlink.h>
#include <uapi/linux/pollard.h>

#include "compat/genetlink.h"
#include "core/attrs.h"
#include "core/device.h"
#include "core/group.h"
#include "core/netlink.h"
#include "core/netlink_parse.h"

#define A_GROUP(name)	POLLARD_A_GROUP_##name
#define A_DEVICE(name)	POLLARD_A_DEVICE_##name
#define A_LATENCY(name)	POLLARD_A_LATENCY_##name

static struct genl_family pol_family;

/* Guards the family being there, for those who report events. */
static DEFINE_MUTEX(pol_netlink_lock);
static bool pol_netlink_up;

/* Counts changes of what dumps show, so that a disturbed dump is noticed. */
static atomic_t pol_netlink_changes = ATOMIC_INIT(1);

/* A message being filled; what fills it returns -EMSGSIZE when it is full. */
struct pol_answer {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	int flags;
	struct netlink_callback *cb;	/* of a dump, or NULL */
	unsigned int skip;		/* objects of a dump that were shown before */
	unsigned int shown;		/* objects looked at in this call */
	const struct nlattr *key;	/* what names the one object asked for, or NULL */
	const char *name;		/* the device it names */
	u32 id;				/* the group it names, or an event is about */
};

static void *pol_answer_begin(struct pol_answer *answer, u8 command)
{
	void *hdr = genlmsg_put(answer->skb, answer->portid, answer->seq, &pol_family,
				answer->flags, command);

	if (hdr && answer->cb)
		genl_dump_check_consistent(answer->cb, hdr);
	return hdr;
}

static int pol_answer_group(struct pol_answer *answer, struct pol_group *group, u8 command)
{
	void *hdr = pol_answer_begin(answer, command);

	if (!hdr)
		return -EMSGSIZE;
	if (pol_fill_group(answer->skb, group)) {
		genlmsg_cancel(answer->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(answer->skb, hdr);
	return 0;
}

/* Visitor of a dump (all but those shown before) and of a get (the one with the key). */
static int pol_visit_group(struct pol_group *group, void *arg)
{
	struct pol_answer *answer = arg;
	int error;

	if (answer->key) {
		if (group->id != answer->id)
			return 0;
		error = pol_answer_group(answer, group, POLLARD_CMD_GROUP_GET);
		return error ? error : 1;
	}
	if (answer->shown++ < answer->skip)
		return 0;
	error = pol_answer_group(answer, group, POLLARD_CMD_GROUP_GET);
	if (error)
		answer->shown--;
	return error;
}

static int pol_answer_device(struct pol_answer *answer, struct pol_device *device, u8 command)
{
	void *hdr = pol_answer_begin(answer, command);

	if (!hdr)
		return -EMSGSIZE;
	if (pol_fill_device(answer->skb, device)) {
		genlmsg_cancel(answer->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(answer->skb, hdr);
	return 0;
}

static int pol_visit_device(struct pol_device *device, void *arg)
{
	struct pol_answer *answer = arg;
	int error;

	if (answer->key) {
		if (strcmp(answer->name, device->name))
			return 0;
		error = pol_answer_device(answer, device, POLLARD_CMD_DEVICE_GET);
		return error ? error : 1;
	}
	if (answer->shown++ < answer->skip)
		return 0;
	error = pol_answer_device(answer, device, POLLARD_CMD_DEVICE_GET);
	if (error)
		answer->shown--;
	return error;
}

static int pol_answer_latency(struct pol_answer *answer, const struct pol_group *group, int class,
			      int stage)
{
	void *hdr = pol_answer_begin(answer, POLLARD_CMD_LATENCY_GET);
	int error;

	if (!hdr)
		return -EMSGSIZE;
	error = pol_fill_latency(answer->skb, group, class, stage);
	if (error) {
		genlmsg_cancel(answer->skb, hdr);
		return error;
	}
	genlmsg_end(answer->skb, hdr);
	return 0;
}

static int pol_visit_latency(struct pol_group *group, void *arg)
{
	struct pol_answer *answer = arg;
	int class, stage, error;

	if (answer->key && nla_get_u32(answer->key) != group->id)
		return 0;
	for (class = 0; class < POL_LATENCY_CLASSES; class++) {
		for (stage = 0; stage < POL_LATENCY_STAGES; stage++) {
			if (answer->shown++ < answer->skip ||
			    !READ_ONCE(group->latency->stage[class][stage].count))
				continue;
			error = pol_answer_latency(answer, group, class, stage);
			if (error) {
				answer->shown--;
				return error;
			}
		}
	}
	return 0;
}

/* In the thread, which is the only one to write histograms. */
static void pol_latency_empty(struct pol_group *group, void *arg)
{
	int class, stage;

	pol_group_assert_owned(group);
	for (class = 0; class < POL_LATENCY_CLASSES; class++)
		for (stage = 0; stage < POL_LATENCY_STAGES; stage++)
			pol_histogram_reset(&group->latency->stage[class][stage]);
}

static int pol_visit_reset(struct pol_group *group, void *arg)
{
	const struct nlattr *key = arg;

	if (key && nla_get_u32(key) != group->id)
		return 0;
	pol_group_call(group, pol_latency_empty, NULL);
	return key ? 1 : 0;
}

/* Events */

/* An event could not be made: who listens gets ENOBUFS and has to ask for everything again. */
static void pol_event_lost(void)
{
	mutex_lock(&pol_netlink_lock);
	if (pol_netlink_up)
		genl_set_err(&pol_family, &init_net, 0, 0, -ENOBUFS);
	mutex_unlock(&pol_netlink_lock);
}

static struct sk_buff *pol_event_begin(struct pol_answer *answer)
{
	atomic_inc(&pol_netlink_changes);
	if (!READ_ONCE(pol_netlink_up) || !genl_has_listeners(&pol_family, &init_net, 0))
		return NULL;
	*answer = (struct pol_answer) { .skb = genlmsg_new(NLMSG_GOODSIZE, GFP_NOIO) };
	if (!answer->skb)
		pol_event_lost();
	return answer->skb;
}

/* @error: 0, -EMSGSIZE, or -ENOENT when there is nothing to tell of any more */
static void pol_event_send(struct pol_answer *answer, int error)
{
	if (error == -EMSGSIZE)
		pol_event_lost();
	mutex_lock(&pol_netlink_lock);
	if (!error && pol_netlink_up)
		genlmsg_multicast(&pol_family, answer->skb, 0, 0, GFP_NOIO);
	else
		nlmsg_free(answer->skb);
	mutex_unlock(&pol_netlink_lock);
}

/* An event that carries nothing but the key of what is gone. */
static void pol_event_gone(u8 command, int attr, const void *key, size_t len)
{
	struct pol_answer answer;
	int error = -EMSGSIZE;
	void *hdr;

	if (!pol_event_begin(&answer))
		return;
	hdr = pol_answer_begin(&answer, command);
	if (hdr && !nla_put(answer.skb, attr, len, key)) {
		genlmsg_end(answer.skb, hdr);
		error = 0;
	}
	pol_event_send(&answer, error);
}

static int pol_visit_changed(struct pol_group *group, void *arg)
{
	struct pol_answer *answer = arg;

	if (group->id != answer->id)
		return 0;
	return pol_answer_group(answer, group, POLLARD_CMD_GROUP_NTF) ?: 1;
}

/**
 * pol_netlink_group_changed - tell who listens that a group is new or has changed
 * @id: its number; nothing is told when it is gone meanwhile. Process context, may sleep
 */
void pol_netlink_group_changed(unsigned int id)
{
	struct pol_answer answer;
	int found;

	if (!pol_event_begin(&answer))
		return;
	answer.id = id;
	found = pol_group_for_each(pol_visit_changed, &answer);
	pol_event_send(&answer, found == 1 ? 0 : found ?: -ENOENT);
}

/**
 * pol_netlink_group_gone - tell who listens that a group is gone
 * @group: its thread has ended. Process context, may sleep
 */
void pol_netlink_group_gone(const struct pol_group *group)
{
	u32 id = group->id;

	pol_event_gone(POLLARD_CMD_GROUP_DEL_NTF, A_GROUP(ID), &id, sizeof(id));
}

/**
 * pol_netlink_device_changed - tell who listens that an RDMA device has arrived
 * @device: the device, which cannot go away meanwhile. Process context, may sleep
 */
void pol_netlink_device_changed(struct pol_device *device)
{
	struct pol_answer answer;

	if (pol_event_begin(&answer))
		pol_event_send(&answer, pol_answer_device(&answer, device, POLLARD_CMD_DEVICE_NTF));
}

/**
 * pol_netlink_device_gone - tell who listens that an RDMA device is gone
 * @device: the device, of which only the name is used. Process context, may sleep
 */
void pol_netlink_device_gone(const struct pol_device *device)
{
	pol_event_gone(POLLARD_CMD_DEVICE_DEL_NTF, A_DEVICE(NAME), device->name,
		       strlen(device->name) + 1);
}

/* Requests */

/* Who decides what CPUs do needs more than the network administrator's rights. */
static int pol_netlink_permit(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(info->extack, "this needs CAP_SYS_ADMIN");
	return -EPERM;
}

static struct sk_buff *pol_netlink_reply(struct pol_answer *answer, const struct genl_info *info,
					 size_t size)
{
	*answer = (struct pol_answer) {
		.skb = genlmsg_new(size, GFP_KERNEL),
		.portid = info->snd_portid,
		.seq = info->snd_seq,
	};
	return answer->skb;
}

/* End a get whose visitor returned `result`: 1 when it found the object. */
static int pol_netlink_finish(struct pol_answer *answer, struct genl_info *info, int result)
{
	if (result == 1)
		return genlmsg_reply(answer->skb, info);
	nlmsg_free(answer->skb);
	if (result)
		return result;
	NL_SET_ERR_MSG_ATTR(info->extack, answer->key, "there is no such object");
	return -ENOENT;
}

static int pol_netlink_group_get(struct sk_buff *skb, struct genl_info *info)
{
	struct pol_answer answer;
	u32 id;
	int error = pol_parse_group_key(info->attrs, &id, info->extack);

	if (error)
		return error;
	if (!pol_netlink_reply(&answer, info, NLMSG_GOODSIZE))
		return -ENOMEM;
	answer.key = info->attrs[A_GROUP(ID)];
	answer.id = id;
	return pol_netlink_finish(&answer, info, pol_group_for_each(pol_visit_group, &answer));
}

static int pol_netlink_device_get(struct sk_buff *skb, struct genl_info *info)
{
	struct pol_answer answer;
	char name[IB_DEVICE_NAME_MAX];
	int error = pol_parse_device_key(info->attrs, name, info->extack);

	if (error)
		return error;
	if (!pol_netlink_reply(&answer, info, pol_fill_device_size()))
		return -ENOMEM;
	answer.key = info->attrs[A_DEVICE(NAME)];
	answer.name = name;
	return pol_netlink_finish(&answer, info, pol_device_for_each(pol_visit_device, &answer));
}

/* Fill one part of a dump; *shown remembers how far it got. */
static void pol_netlink_dump(struct pol_answer *answer, struct sk_buff *skb,
			     struct netlink_callback *cb)
{
	*answer = (struct pol_answer) {
		.skb = skb,
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
		.cb = cb,
		.skip = cb->args[0],
	};
	cb->seq = atomic_read(&pol_netlink_changes);
}

/* How a dump goes on: with another part when this one was full and holds something. */
static int pol_netlink_dumped(const struct pol_answer *answer, int result)
{
	answer->cb->args[0] = answer->shown;
	if (result == -EMSGSIZE && answer->skb->len)
		return answer->skb->len;
	return result < 0 ? result : answer->skb->len;
}

static int pol_netlink_group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pol_answer answer;

	pol_netlink_dump(&answer, skb, cb);
	return pol_netlink_dumped(&answer, pol_group_for_each(pol_visit_group, &answer));
}

static int pol_netlink_device_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pol_answer answer;

	pol_netlink_dump(&answer, skb, cb);
	return pol_netlink_dumped(&answer, pol_device_for_each(pol_visit_device, &answer));
}

static int pol_netlink_latency_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pol_answer answer;

	pol_netlink_dump(&answer, skb, cb);
	answer.key = pol_compat_dump_attrs(cb)[A_LATENCY(GROUP)];
	return pol_netlink_dumped(&answer, pol_group_for_each(pol_visit_latency, &answer));
}

/* A dump of everything takes no attribute. */
static int pol_netlink_dump_start(struct netlink_callback *cb)
{
	BUILD_BUG_ON(ARRAY_SIZE(pol_group_key_policy) != ARRAY_SIZE(pol_device_policy));
	return pol_attrs_none(pol_compat_dump_attrs(cb), ARRAY_SIZE(pol_group_key_policy) - 1,
			      cb->extack);
}

static int pol_netlink_device_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = pol_fill_device_size();
	return pol_netlink_dump_start(cb);
}

static int pol_netlink_group_new(struct sk_buff *skb, struct genl_info *info)
{
	u32 id, cpu, spin_us;
	int error;

	error = pol_netlink_permit(skb, info);
	if (!error)
		error = pol_parse_group_new(info->attrs, &id, &cpu, &spin_us, info->extack);
	if (error)
		return error;
	error = pol_group_add(id, cpu, spin_us);
	switch (error) {
	case -EEXIST:
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_GROUP(ID)],
				    "there is such a group already");
		break;
	case -EINVAL:
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_GROUP(CPU)],
				    "there is no such CPU");
		break;
	case -EBUSY:
		NL_SET_ERR_MSG(info->extack, "a CPU has to stay without a busy group");
		break;
	case 0:
		pol_netlink_group_changed(id);
	}
	return error;
}

static int pol_netlink_group_set(struct sk_buff *skb, struct genl_info *info)
{
	struct pol_group *group;
	u32 id, spin_us;
	int error;

	error = pol_netlink_permit(skb, info);
	if (!error)
		error = pol_parse_group_key(info->attrs, &id, info->extack);
	if (error)
		return error;
	group = pol_group_get(id);
	if (!group) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_GROUP(ID)],
				    "there is no such group");
		return -ENOENT;
	}
	spin_us = READ_ONCE(group->spin_us);
	error = pol_parse_spin(info->attrs, &spin_us, info->extack);
	if (!error)
		error = pol_group_set_spin(group, spin_us);
	if (error == -EBUSY)
		NL_SET_ERR_MSG(info->extack, "a CPU has to stay without a busy group");
	pol_group_put(group);
	if (!error)
		pol_netlink_group_changed(id);	/* without us among its users */
	return error;
}

static int pol_netlink_group_del(struct sk_buff *skb, struct genl_info *info)
{
	u32 id;
	int error;

	error = pol_netlink_permit(skb, info);
	if (!error)
		error = pol_parse_group_key(info->attrs, &id, info->extack);
	if (error)
		return error;
	error = pol_group_delete(id);
	if (error == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_GROUP(ID)],
				    "there is no such group");
	else if (error == -EBUSY)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_GROUP(ID)],
				    "queues are placed in the group");
	return error;
}

static int pol_netlink_latency_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *key = info->attrs[A_LATENCY(GROUP)];
	int error = pol_netlink_permit(skb, info);

	if (error)
		return error;
	if (!pol_group_for_each(pol_visit_reset, key) && key) {
		NL_SET_ERR_MSG_ATTR(info->extack, key, "there is no such group");
		return -ENOENT;
	}
	return 0;
}

/* The family */

#define POL_POLICY(policy_)				\
	.policy = policy_,				\
	.maxattr = ARRAY_SIZE(policy_) - 1

#define POL_OP_CHANGE(command, doit_, policy_)		\
	{						\
		.cmd = POLLARD_CMD_##command,		\
		.doit = doit_,				\
		.flags = GENL_ADMIN_PERM,		\
		POL_POLICY(policy_),			\
	}

static const struct genl_ops pol_ops[] = {
	{
		.cmd = POLLARD_CMD_GROUP_GET,
		.doit = pol_netlink_group_get,
		.start = pol_netlink_dump_start,
		.dumpit = pol_netlink_group_dump,
		POL_POLICY(pol_group_key_policy),
	},
	POL_OP_CHANGE(GROUP_NEW, pol_netlink_group_new, pol_group_new_policy),
	POL_OP_CHANGE(GROUP_SET, pol_netlink_group_set, pol_group_set_policy),
	POL_OP_CHANGE(GROUP_DEL, pol_netlink_group_del, pol_group_key_policy),
	{
		.cmd = POLLARD_CMD_DEVICE_GET,
		.doit = pol_netlink_device_get,
		.start = pol_netlink_device_dump_start,
		.dumpit = pol_netlink_device_dump,
		POL_POLICY(pol_device_policy),
	},
	{
		.cmd = POLLARD_CMD_LATENCY_GET,
		.dumpit = pol_netlink_latency_dump,
		POL_POLICY(pol_latency_policy),
	},
	POL_OP_CHANGE(LATENCY_RESET, pol_netlink_latency_reset, pol_latency_policy),
};

static const struct genl_multicast_group pol_groups[] = {
	{ .name = POLLARD_MCGRP_EVENTS },
};

/* resv_start_op stays 0: everything is validated strictly from the first operation on. */
static struct genl_family pol_family = {
	.name = POLLARD_FAMILY_NAME,
	.version = POLLARD_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = pol_ops,
	.n_ops = ARRAY_SIZE(pol_ops),
	.mcgrps = pol_groups,
	.n_mcgrps = ARRAY_SIZE(pol_groups),
};

static void pol_netlink_set_up(bool up)
{
	mutex_lock(&pol_netlink_lock);
	pol_netlink_up = up;
	mutex_unlock(&pol_netlink_lock);
}

/**
 * pol_netlink_init - take requests
 */
int __init pol_netlink_init(void)
{
	int error = genl_register_family(&pol_family);

	if (!error)
		pol_netlink_set_up(true);
	return error;
}

/**
 * pol_netlink_exit - when this returns no request is running and no event is sent any more
 */
void pol_netlink_exit(void)
{
	pol_netlink_set_up(false);
	genl_unregister_family(&pol_family);
}

MODULE_ALIAS_GENL_FAMILY(POLLARD_FAMILY_NAME);
