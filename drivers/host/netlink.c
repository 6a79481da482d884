// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family pollard-host: shows controllers and queues, and tells of their changes.
 * Controllers are made and deleted by nvme-fabrics, so there is nothing to configure here.
 *
 * Only controllers that nvme connect has made are shown: until then their options belong to
 * nvme-fabrics, which frees them when connecting fails. A controller's lock is held while it waits
 * for a peer; a request does not wait for it but leaves out what it protects.
 */
#include <linux/inet.h>
#include <linux/mutex.h>
#include <net/genetlink.h>
#include <uapi/linux/pollard_host.h>

#include "compat/genetlink.h"
#include "core/attrs.h"
#include "host/host.h"
#include "host/netlink.h"
#include "host/netlink_parse.h"

#define A_CTRL(name)	POLLARD_HOST_A_CONTROLLER_##name
#define A_QUEUE(name)	POLLARD_HOST_A_QUEUE_##name
#define A_COUNTERS(name) POLLARD_HOST_A_QUEUE_COUNTERS_##name

static_assert((int)POLLARD_HOST_MODE_EVENT == (int)POLLARD_MODE_EVENT);
static_assert((int)POLLARD_HOST_MODE_ADAPTIVE == (int)POLLARD_MODE_ADAPTIVE);
static_assert((int)POLLARD_HOST_MODE_BUSY == (int)POLLARD_MODE_BUSY);

static struct genl_family polh_family;

/* Guards the family being there, for those who report events. */
static DEFINE_MUTEX(polh_netlink_lock);
static bool polh_netlink_up;

/* Counts changes of what dumps show, so that a disturbed dump is noticed. */
static atomic_t polh_netlink_changes = ATOMIC_INIT(1);

/* A message being filled; what fills it returns -EMSGSIZE when it is full. */
struct polh_answer {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	int flags;
	struct netlink_callback *cb;	/* of a dump, or NULL */
	unsigned int skip;		/* objects of a dump that were shown before */
	unsigned int shown;		/* objects looked at in this call */
	const char *name;		/* of the one controller asked for, or NULL */
};

static bool polh_netlink_visible(const struct polh_ctrl *ctrl)
{
	return test_bit(POLH_CTRL_CREATED, &ctrl->flags);
}

static void polh_netlink_name(const struct polh_ctrl *ctrl, char *name)
{
	snprintf(name, POLH_NAME_SIZE, "nvme%d", ctrl->nvme.instance);
}

static bool polh_netlink_selected(const struct polh_answer *answer, const struct polh_ctrl *ctrl)
{
	char name[POLH_NAME_SIZE];

	if (!polh_netlink_visible(ctrl))
		return false;
	polh_netlink_name(ctrl, name);
	return !answer->name || !strcmp(answer->name, name);
}

/* Attributes */

static u32 polh_ctrl_state_number(struct polh_ctrl *ctrl)
{
	switch (polh_nvme_state(&ctrl->nvme)) {
	case NVME_CTRL_NEW:
		return POLLARD_HOST_CONTROLLER_STATE_NEW;
	case NVME_CTRL_LIVE:
		return POLLARD_HOST_CONTROLLER_STATE_LIVE;
	case NVME_CTRL_RESETTING:
		return POLLARD_HOST_CONTROLLER_STATE_RESETTING;
	case NVME_CTRL_CONNECTING:
		return POLLARD_HOST_CONTROLLER_STATE_CONNECTING;
	case NVME_CTRL_DEAD:
		return POLLARD_HOST_CONTROLLER_STATE_DEAD;
	default:
		return POLLARD_HOST_CONTROLLER_STATE_DELETING;
	}
}

/* How the group waits that reaps the I/O queues; they agree unless somebody chose otherwise. */
static int polh_fill_mode(struct sk_buff *skb, const struct polh_ctrl *ctrl)
{
	const struct pol_group *group = NULL;

	for (unsigned int i = ctrl->nr_queues; i-- && !group;)
		group = ctrl->queues[i].group;
	if ((group && nla_put_u32(skb, A_CTRL(MODE), pol_mode_number(pol_group_spin(group)))) ||
	    (ctrl->mode != POLH_MODE_DEFAULT &&
	     nla_put_u32(skb, A_CTRL(WISHED_MODE), pol_mode_number(ctrl->mode))))
		return -EMSGSIZE;
	return 0;
}

/* What belongs to the controller's RDMA half. */
static int polh_fill_connected(struct sk_buff *skb, const struct polh_ctrl *ctrl)
{
	u64 slot_bytes = 0, bytes = 0;

	lockdep_assert_held(&ctrl->lock);
	for (unsigned int i = 0; i < ctrl->nr_queues; i++) {
		slot_bytes += polh_memory_slot_bytes(&ctrl->queues[i]);
		bytes += polh_memory_bytes(&ctrl->queues[i]);
	}
	if ((ctrl->device && nla_put_string(skb, A_CTRL(DEVICE), ctrl->device->name)) ||
	    nla_put_u64_64bit(skb, A_CTRL(SLOT_BYTES), slot_bytes, A_CTRL(PAD)) ||
	    nla_put_u64_64bit(skb, A_CTRL(MEMORY_BYTES), bytes, A_CTRL(PAD)))
		return -EMSGSIZE;
	return polh_fill_mode(skb, ctrl);
}

static int polh_fill_ctrl(struct sk_buff *skb, struct polh_ctrl *ctrl)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	struct nvmf_ctrl_options *opts = nvme->opts;
	char name[POLH_NAME_SIZE];
	int err = 0;

	polh_netlink_name(ctrl, name);
	if (nla_put_string(skb, A_CTRL(NAME), name) ||
	    nla_put_u32(skb, A_CTRL(INSTANCE), nvme->instance) ||
	    nla_put_string(skb, A_CTRL(NQN), opts->subsysnqn) ||
	    nla_put_string(skb, A_CTRL(HOSTNQN), opts->host->nqn) ||
	    nla_put_u32(skb, A_CTRL(STATE), polh_ctrl_state_number(ctrl)) ||
	    nla_put_string(skb, A_CTRL(TRADDR), opts->traddr) ||
	    nla_put_string(skb, A_CTRL(TRSVCID), opts->trsvcid) ||
	    ((opts->mask & NVMF_OPT_HOST_TRADDR) &&
	     nla_put_string(skb, A_CTRL(HOST_TRADDR), opts->host_traddr)) ||
	    nla_put_u16(skb, A_CTRL(CNTLID), nvme->cntlid) ||
	    nla_put_u32(skb, A_CTRL(QUEUES), nvme->queue_count) ||
	    nla_put_u32(skb, A_CTRL(POLL_QUEUES), READ_ONCE(ctrl->io_queues[HCTX_TYPE_POLL])) ||
	    nla_put_u32(skb, A_CTRL(QUEUE_DEPTH), nvme->sqsize + 1) ||
	    nla_put_u32(skb, A_CTRL(COPY_MAX), READ_ONCE(ctrl->copy_now)) ||
	    nla_put_u64_64bit(skb, A_CTRL(SLOT_MEM_MAX), READ_ONCE(ctrl->slot_mem_max),
			      A_CTRL(PAD)) ||
	    nla_put_u64_64bit(skb, A_CTRL(RECONNECTS), READ_ONCE(ctrl->reconnects), A_CTRL(PAD)))
		return -EMSGSIZE;
	if (mutex_trylock(&ctrl->lock)) {
		err = polh_fill_connected(skb, ctrl);
		mutex_unlock(&ctrl->lock);
	}
	return err;
}

static u32 polh_queue_kind_number(const struct polh_queue *queue)
{
	const u32 *queues = queue->ctrl->io_queues;

	if (!queue->qid)
		return POLLARD_HOST_QUEUE_KIND_ADMIN;
	if (test_bit(POLH_QUEUE_POLLED, &queue->flags))
		return POLLARD_HOST_QUEUE_KIND_POLL;
	return queue->qid <= READ_ONCE(queues[HCTX_TYPE_DEFAULT]) ?
		POLLARD_HOST_QUEUE_KIND_DEFAULT : POLLARD_HOST_QUEUE_KIND_READ;
}

static u32 polh_queue_state_number(const struct polh_queue *queue)
{
	if (test_bit(POLH_QUEUE_STOPPING, &queue->flags))
		return POLLARD_HOST_QUEUE_STATE_DRAINING;
	if (test_bit(POLH_QUEUE_LIVE, &queue->flags))
		return POLLARD_HOST_QUEUE_STATE_LIVE;
	return READ_ONCE(queue->cm_phase) == POLH_CM_IDLE ? POLLARD_HOST_QUEUE_STATE_IDLE :
		POLLARD_HOST_QUEUE_STATE_CONNECTING;
}

static int polh_fill_counters(struct sk_buff *skb, const struct polh_queue *queue)
{
	struct polh_counters sum = { };
	const struct {
		int attr;
		const u64 *value;
	} values[] = {
		{ A_COUNTERS(COMMANDS), &sum.commands },
		{ A_COUNTERS(POSTS), &sum.posts },
		{ A_COUNTERS(WORK_REQUESTS), &sum.work_requests },
		{ A_COUNTERS(COMPLETIONS), &sum.completions },
		{ A_COUNTERS(REGISTRATIONS), &sum.registrations },
		{ A_COUNTERS(INVALIDATIONS), &sum.invalidations },
		{ A_COUNTERS(REMOTE_INVALIDATIONS), &sum.remote_invalidations },
		{ A_COUNTERS(COPIES), &sum.copies },
		{ A_COUNTERS(ZERO_COPY), &sum.zero_copy },
		{ A_COUNTERS(IN_CAPSULE), &sum.in_capsule },
		{ A_COUNTERS(TIMEOUTS), &sum.timeouts },
		{ A_COUNTERS(BYTES_READ), &sum.bytes_read },
		{ A_COUNTERS(BYTES_WRITTEN), &sum.bytes_written },
	};
	struct nlattr *nest = nla_nest_start(skb, A_QUEUE(COUNTERS));

	if (!nest)
		return -EMSGSIZE;
	polh_queue_sum(queue, &sum);
	for (int i = 0; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, values[i].attr, *values[i].value, A_COUNTERS(PAD)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int polh_fill_queue(struct sk_buff *skb, const struct polh_queue *queue)
{
	char name[POLH_NAME_SIZE];
	int err = 0;

	polh_netlink_name(queue->ctrl, name);
	if (nla_put_string(skb, A_QUEUE(CONTROLLER), name) ||
	    nla_put_u16(skb, A_QUEUE(QID), queue->qid) ||
	    nla_put_u32(skb, A_QUEUE(KIND), polh_queue_kind_number(queue)) ||
	    nla_put_u32(skb, A_QUEUE(STATE), polh_queue_state_number(queue)))
		return -EMSGSIZE;
	if (mutex_trylock(&queue->ctrl->lock)) {
		if (nla_put_u32(skb, A_QUEUE(DEPTH), queue->nr_tags) ||
		    (queue->group && nla_put_u32(skb, A_QUEUE(GROUP), queue->group->id)) ||
		    (queue->qp && nla_put_u32(skb, A_QUEUE(QPN), queue->qp->qp_num)) ||
		    nla_put_u64_64bit(skb, A_QUEUE(SLOT_BYTES), polh_memory_slot_bytes(queue),
				      A_QUEUE(PAD)) ||
		    nla_put_u64_64bit(skb, A_QUEUE(MEMORY_BYTES), polh_memory_bytes(queue),
				      A_QUEUE(PAD)))
			err = -EMSGSIZE;
		mutex_unlock(&queue->ctrl->lock);
	}
	return err ?: polh_fill_counters(skb, queue);
}

/* Messages */

static void *polh_answer_begin(struct polh_answer *answer, u8 command)
{
	void *hdr = genlmsg_put(answer->skb, answer->portid, answer->seq, &polh_family,
				answer->flags, command);

	if (hdr && answer->cb)
		genl_dump_check_consistent(answer->cb, hdr);
	return hdr;
}

static int polh_answer_end(struct polh_answer *answer, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(answer->skb, hdr);
	else
		genlmsg_end(answer->skb, hdr);
	return err;
}

static int polh_answer_ctrl(struct polh_answer *answer, struct polh_ctrl *ctrl, u8 command)
{
	void *hdr = polh_answer_begin(answer, command);

	if (!hdr)
		return -EMSGSIZE;
	return polh_answer_end(answer, hdr, polh_fill_ctrl(answer->skb, ctrl));
}

/* Visitor of a get: 1 when it found the controller. */
static int polh_visit_get(struct polh_ctrl *ctrl, void *arg)
{
	if (!polh_netlink_selected(arg, ctrl))
		return 0;
	return polh_answer_ctrl(arg, ctrl, POLLARD_HOST_CMD_CONTROLLER_GET) ?: 1;
}

/* Visitor of a dump: all but those shown before. */
static int polh_visit_dump(struct polh_ctrl *ctrl, void *arg)
{
	struct polh_answer *answer = arg;
	int err;

	if (!polh_netlink_visible(ctrl) || answer->shown++ < answer->skip)
		return 0;
	err = polh_answer_ctrl(answer, ctrl, POLLARD_HOST_CMD_CONTROLLER_GET);
	if (err)
		answer->shown--;
	return err;
}

static int polh_visit_queues(struct polh_ctrl *ctrl, void *arg)
{
	struct polh_answer *answer = arg;
	void *hdr;
	int err;

	if (!polh_netlink_selected(answer, ctrl))
		return 0;
	for (unsigned int i = 0; i < min(ctrl->nr_queues, READ_ONCE(ctrl->nvme.queue_count)); i++) {
		if (answer->shown++ < answer->skip)
			continue;
		hdr = polh_answer_begin(answer, POLLARD_HOST_CMD_QUEUE_GET);
		err = -EMSGSIZE;
		if (hdr)
			err = polh_answer_end(answer, hdr,
					      polh_fill_queue(answer->skb, &ctrl->queues[i]));
		if (err) {
			answer->shown--;
			return err;
		}
	}
	return 0;
}

/* Requests */

static int polh_netlink_get(struct sk_buff *skb, struct genl_info *info)
{
	char name[POLH_NAME_SIZE];
	struct polh_answer answer = {
		.portid = info->snd_portid,
		.seq = info->snd_seq,
		.name = name,
	};
	int found, err;

	err = polh_parse_ctrl_key(info->attrs, name, info->extack);
	if (err)
		return err;
	answer.skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!answer.skb)
		return -ENOMEM;
	found = polh_ctrl_for_each(polh_visit_get, &answer);
	if (found == 1)
		return genlmsg_reply(answer.skb, info);
	nlmsg_free(answer.skb);
	if (found)
		return found;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[A_CTRL(NAME)],
			    "there is no such controller");
	return -ENOENT;
}

static int polh_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb,
			     int (*visit)(struct polh_ctrl *ctrl, void *arg),
			     const char *name)
{
	struct polh_answer answer = {
		.skb = skb,
		.portid = NETLINK_CB(cb->skb).portid,
		.seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
		.cb = cb,
		.skip = cb->args[0],
		.name = name,
	};
	int err;

	cb->seq = atomic_read(&polh_netlink_changes);
	err = polh_ctrl_for_each(visit, &answer);
	cb->args[0] = answer.shown;
	return err && !skb->len ? err : skb->len;
}

static int polh_netlink_dump_ctrls(struct sk_buff *skb, struct netlink_callback *cb)
{
	return polh_netlink_dump(skb, cb, polh_visit_dump, NULL);
}

static int polh_netlink_dump_queues(struct sk_buff *skb, struct netlink_callback *cb)
{
	char name[POLH_NAME_SIZE];
	int named = polh_parse_queue_key(pol_compat_dump_attrs(cb), name, cb->extack);

	if (named < 0)
		return named;
	return polh_netlink_dump(skb, cb, polh_visit_queues, named ? name : NULL);
}

/* A dump of all controllers takes no attribute. */
static int polh_netlink_dump_start(struct netlink_callback *cb)
{
	return pol_attrs_none(pol_compat_dump_attrs(cb), ARRAY_SIZE(polh_ctrl_policy) - 1,
			      cb->extack);
}

/* Events */

/* An event could not be made: who listens gets ENOBUFS and has to ask for everything again. */
static void polh_event_lost(void)
{
	mutex_lock(&polh_netlink_lock);
	if (polh_netlink_up)
		genl_set_err(&polh_family, &init_net, 0, 0, -ENOBUFS);
	mutex_unlock(&polh_netlink_lock);
}

static bool polh_event_begin(struct polh_answer *answer, const struct polh_ctrl *ctrl)
{
	atomic_inc(&polh_netlink_changes);
	if (!polh_netlink_visible(ctrl) || !READ_ONCE(polh_netlink_up) ||
	    !genl_has_listeners(&polh_family, &init_net, 0))
		return false;
	*answer = (struct polh_answer) { .skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL) };
	if (!answer->skb)
		polh_event_lost();
	return answer->skb;
}

/* Recovery sends events too: whoever has the lock may not wait for I/O. */
static void polh_event_send(struct polh_answer *answer, int err)
{
	if (err)
		polh_event_lost();
	mutex_lock(&polh_netlink_lock);
	if (!err && polh_netlink_up)
		genlmsg_multicast(&polh_family, answer->skb, 0, 0, GFP_NOIO);
	else
		nlmsg_free(answer->skb);
	mutex_unlock(&polh_netlink_lock);
}

/**
 * polh_netlink_changed() - tell who listens that a controller has another state
 * @ctrl: controller
 *
 * Context: process context, with or without the controller's lock.
 */
void polh_netlink_changed(struct polh_ctrl *ctrl)
{
	struct polh_answer answer;

	if (polh_event_begin(&answer, ctrl))
		polh_event_send(&answer, polh_answer_ctrl(&answer, ctrl,
							  POLLARD_HOST_CMD_CONTROLLER_NTF));
}

/**
 * polh_netlink_gone() - tell who listens that a controller is gone
 * @ctrl: controller about to be freed, of which only the number is used
 *
 * Context: process context.
 */
void polh_netlink_gone(const struct polh_ctrl *ctrl)
{
	struct polh_answer answer;
	char name[POLH_NAME_SIZE];
	void *hdr;

	if (!polh_event_begin(&answer, ctrl))
		return;
	polh_netlink_name(ctrl, name);
	hdr = polh_answer_begin(&answer, POLLARD_HOST_CMD_CONTROLLER_DEL_NTF);
	polh_event_send(&answer, !hdr ? -EMSGSIZE :
			polh_answer_end(&answer, hdr,
					nla_put_string(answer.skb, A_CTRL(NAME), name)));
}

/* The family */

static const struct genl_ops polh_ops[] = {
	{
		.cmd = POLLARD_HOST_CMD_CONTROLLER_GET,
		.doit = polh_netlink_get,
		.start = polh_netlink_dump_start,
		.dumpit = polh_netlink_dump_ctrls,
		.policy = polh_ctrl_policy,
		.maxattr = ARRAY_SIZE(polh_ctrl_policy) - 1,
	},
	{
		.cmd = POLLARD_HOST_CMD_QUEUE_GET,
		.dumpit = polh_netlink_dump_queues,
		.policy = polh_queue_policy,
		.maxattr = ARRAY_SIZE(polh_queue_policy) - 1,
	},
};

static const struct genl_multicast_group polh_groups[] = {
	{ .name = POLLARD_HOST_MCGRP_EVENTS },
};

/* resv_start_op stays 0: everything is validated strictly from the first operation on. */
static struct genl_family polh_family = {
	.name = POLLARD_HOST_FAMILY_NAME,
	.version = POLLARD_HOST_FAMILY_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = polh_ops,
	.n_ops = ARRAY_SIZE(polh_ops),
	.mcgrps = polh_groups,
	.n_mcgrps = ARRAY_SIZE(polh_groups),
};

static void polh_netlink_set_up(bool up)
{
	mutex_lock(&polh_netlink_lock);
	polh_netlink_up = up;
	mutex_unlock(&polh_netlink_lock);
}

/**
 * polh_netlink_init() - take requests, and report events from now on
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int __init polh_netlink_init(void)
{
	int err = genl_register_family(&polh_family);

	if (!err)
		polh_netlink_set_up(true);
	return err;
}

/**
 * polh_netlink_exit() - no request is running and no event is sent any more when this returns
 *
 * Events may still be reported, nobody hears them.
 *
 * Context: process context.
 */
void polh_netlink_exit(void)
{
	polh_netlink_set_up(false);
	genl_unregister_family(&polh_family);
}

MODULE_ALIAS_GENL_FAMILY(POLLARD_HOST_FAMILY_NAME);
