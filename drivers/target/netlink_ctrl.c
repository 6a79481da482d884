// SPDX-License-Identifier: GPL-2.0-only
/*
 * Showing controllers and queues to user space. They are not configured but come and go with hosts;
 * ctrl.c and queue.c own them and let us look.
 *
 * A dump goes through the subsystems in the order of their ids and through the controllers of each
 * in the order of theirs, and remembers both, so that it misses and repeats none that is there all
 * the time. Queues have an id for the same purpose.
 */
#include <linux/jiffies.h>
#include <uapi/linux/pollard_target.h>

#include "compat/genetlink.h"
#include "target/ctrl.h"
#include "target/netlink.h"
#include "target/queue.h"
#include "target/txn.h"

#define A_CTRL(name)	POLLARD_TARGET_A_CONTROLLER_##name

static_assert((int)POLT_CTRL_DISABLED == (int)POLLARD_TARGET_CONTROLLER_STATE_DISABLED);
static_assert((int)POLT_CTRL_ENABLING == (int)POLLARD_TARGET_CONTROLLER_STATE_ENABLING);
static_assert((int)POLT_CTRL_READY == (int)POLLARD_TARGET_CONTROLLER_STATE_READY);
static_assert((int)POLT_CTRL_SHUTDOWN == (int)POLLARD_TARGET_CONTROLLER_STATE_SHUTDOWN);
static_assert((int)POLT_CTRL_FAILED == (int)POLLARD_TARGET_CONTROLLER_STATE_FAILED);
static_assert((int)POLT_CTRL_DELETING == (int)POLLARD_TARGET_CONTROLLER_STATE_DELETING);

/**
 * struct polt_ctrl_dump - how far a dump is
 * @only: id of the subsystem asked for, 0 for all
 * @subsystem: id of the subsystem it is in
 * @cntlid: the last controller shown there, -1 before the first
 */
struct polt_ctrl_dump {
	u64 only;
	u64 subsystem;
	int cntlid;
};

static struct polt_ctrl_dump *polt_ctrl_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct polt_ctrl_dump) > sizeof(cb->ctx));
	return (struct polt_ctrl_dump *)cb->ctx;
}

static int polt_show_ctrl(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 command,
			  const struct polt_ctrl_info *info)
{
	u32 kind = info->discovery ? POLLARD_TARGET_CONTROLLER_KIND_DISCOVERY :
				     POLLARD_TARGET_CONTROLLER_KIND_IO;
	void *header = genlmsg_put(skb, portid, seq, &polt_family, flags, command);

	if (!header)
		return -EMSGSIZE;
	if (nla_put_string(skb, A_CTRL(SUBSYSTEM), info->subsystem->nqn) ||
	    nla_put_u16(skb, A_CTRL(CNTLID), info->cntlid) ||
	    nla_put_u32(skb, A_CTRL(KIND), kind) ||
	    nla_put_u32(skb, A_CTRL(STATE), info->state) ||
	    nla_put_string(skb, A_CTRL(HOSTNQN), info->hostnqn) ||
	    nla_put(skb, A_CTRL(HOSTID), sizeof(info->hostid), &info->hostid) ||
	    nla_put_string(skb, A_CTRL(HOST_TRADDR), info->host_traddr) ||
	    nla_put_u16(skb, A_CTRL(PORT), info->port_id) ||
	    nla_put_u32(skb, A_CTRL(KATO_MS), info->kato_ms) ||
	    nla_put_u32(skb, A_CTRL(QUEUES), info->queues) ||
	    nla_put_u64_64bit(skb, A_CTRL(AGE_MS), info->age_ms, A_CTRL(PAD))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/**
 * polt_netlink_ctrl_changed - tell user space that a controller was made or has changed
 * @info: what there is to say about it
 *
 * Context: process context, may sleep.
 */
void polt_netlink_ctrl_changed(const struct polt_ctrl_info *info)
{
	struct sk_buff *skb;

	if (!polt_netlink_wanted())
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb || polt_show_ctrl(skb, 0, 0, 0, POLLARD_TARGET_CMD_CONTROLLER_NTF, info)) {
		nlmsg_free(skb);
		polt_netlink_lost();
		return;
	}
	polt_netlink_multicast(skb);
}

/**
 * polt_netlink_ctrl_gone - tell user space that a controller is gone
 * @subsystem: whose controller it was
 * @cntlid: which one
 *
 * Context: process context, may sleep.
 */
void polt_netlink_ctrl_gone(const struct polt_subsystem *subsystem, u16 cntlid)
{
	struct sk_buff *skb;
	void *header;

	if (!polt_netlink_wanted())
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	header = skb ? genlmsg_put(skb, 0, 0, &polt_family, 0,
				   POLLARD_TARGET_CMD_CONTROLLER_DEL_NTF) : NULL;
	if (!header || nla_put_string(skb, A_CTRL(SUBSYSTEM), subsystem->nqn) ||
	    nla_put_u16(skb, A_CTRL(CNTLID), cntlid)) {
		nlmsg_free(skb);
		polt_netlink_lost();
		return;
	}
	genlmsg_end(skb, header);
	polt_netlink_multicast(skb);
}

/* The id of the subsystem a dump is to be about, 0 for all; the discovery subsystem is one, too. */
static int polt_dump_subsystem(const struct nlattr *attr, u64 *id, struct netlink_ext_ack *extack)
{
	struct polt_subsystem *subsystem;
	char nqn[POLT_NQN_SIZE];
	int err;

	*id = 0;
	if (!attr)
		return 0;
	err = polt_parse_nqn(attr, nqn, extack);
	if (err)
		return err;
	mutex_lock(&polt_config_lock);
	subsystem = polt_subsystem_lookup(nqn);
	if (subsystem)
		*id = subsystem->object.id;
	mutex_unlock(&polt_config_lock);
	if (subsystem)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "there is no such subsystem");
	return -ENOENT;
}

/**
 * polt_netlink_ctrl_start - begin a dump of controllers, of all or of one subsystem's
 * @cb: the dump
 *
 * Context: a generic netlink request; takes polt_config_lock.
 * Return: 0; -EINVAL when the NQN is malformed; -ENOENT when there is no such subsystem.
 */
int polt_netlink_ctrl_start(struct netlink_callback *cb)
{
	struct polt_ctrl_dump *dump = polt_ctrl_dump_of(cb);

	dump->cntlid = -1;
	return polt_dump_subsystem(pol_compat_dump_attrs(cb)[A_CTRL(SUBSYSTEM)], &dump->only,
				   cb->extack);
}

/* The controller with the lowest CNTLID above the last one, and its message. */
struct polt_ctrl_next {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	int cntlid;
	bool show;
	int err;
};

static int polt_ctrl_visit(const struct polt_ctrl_info *info, void *arg)
{
	struct polt_ctrl_next *next = arg;
	int last = polt_ctrl_dump_of(next->cb)->cntlid;

	if (!next->show) {
		if (info->cntlid > last && (next->cntlid < 0 || info->cntlid < next->cntlid))
			next->cntlid = info->cntlid;
		return 0;
	}
	if (info->cntlid != next->cntlid)
		return 0;
	next->err = polt_show_ctrl(next->skb, NETLINK_CB(next->cb->skb).portid,
				   next->cb->nlh->nlmsg_seq, NLM_F_MULTI,
				   POLLARD_TARGET_CMD_CONTROLLER_GET, info);
	return 1;
}

/* Show the controllers of one subsystem from where the dump is. Return: 0 when none is left. */
static int polt_ctrl_dump_subsystem(struct sk_buff *skb, struct netlink_callback *cb,
				    struct polt_subsystem *subsystem)
{
	struct polt_ctrl_dump *dump = polt_ctrl_dump_of(cb);

	for (;;) {
		struct polt_ctrl_next next = { .skb = skb, .cb = cb, .cntlid = -1 };

		polt_ctrl_for_each(subsystem, polt_ctrl_visit, &next);
		if (next.cntlid < 0)
			return 0;
		next.show = true;
		polt_ctrl_for_each(subsystem, polt_ctrl_visit, &next);
		if (next.err)
			return next.err;
		dump->cntlid = next.cntlid;
	}
}

static int polt_ctrl_dump_step(struct sk_buff *skb, struct netlink_callback *cb,
			       struct polt_subsystem *subsystem)
{
	struct polt_ctrl_dump *dump = polt_ctrl_dump_of(cb);
	u64 id = subsystem->object.id;

	if (id < dump->subsystem || (dump->only && id != dump->only))
		return 0;
	if (id > dump->subsystem) {
		dump->subsystem = id;
		dump->cntlid = -1;
	}
	return polt_ctrl_dump_subsystem(skb, cb, subsystem);
}

/**
 * polt_netlink_ctrl_dump - write the next message of a dump of controllers
 * @skb: the message
 * @cb: the dump, as polt_netlink_ctrl_start() has begun it
 *
 * Context: a generic netlink request; takes polt_config_lock, and ctrl_lock under it.
 * Return: bytes written, 0 at the end; -EMSGSIZE when not one controller fits.
 */
int polt_netlink_ctrl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct polt_subsystem *subsystem;
	int err;

	mutex_lock(&polt_config_lock);
	/* The discovery subsystem was made first. */
	err = polt_ctrl_dump_step(skb, cb, polt_discovery_subsystem);
	if (!err)
		list_for_each_entry(subsystem, &polt_objects[POLT_SUBSYSTEM], object.all) {
			err = polt_ctrl_dump_step(skb, cb, subsystem);
			if (err)
				break;
		}
	mutex_unlock(&polt_config_lock);
	return skb->len ?: err;
}

/* Queues */

#define A_QUEUE(name)	POLLARD_TARGET_A_QUEUE_##name
#define A_COUNTERS(name) POLLARD_TARGET_A_QUEUE_COUNTERS_##name

/**
 * struct polt_queue_dump - how far a dump is
 * @only: id of the subsystem asked for, 0 for all
 * @last: id of the last queue shown
 * @cntlid: controller asked for, -1 for all
 */
struct polt_queue_dump {
	u64 only;
	u64 last;
	int cntlid;
};

static struct polt_queue_dump *polt_queue_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct polt_queue_dump) > sizeof(cb->ctx));
	return (struct polt_queue_dump *)cb->ctx;
}

/**
 * polt_netlink_queue_start - begin a dump of queues, of all, of a subsystem's or of a controller's
 * @cb: the dump
 *
 * Context: a generic netlink request; takes polt_config_lock.
 * Return: 0; -EINVAL when a controller is given without its subsystem, or the NQN is malformed;
 * -ENOENT when there is no such subsystem.
 */
int polt_netlink_queue_start(struct netlink_callback *cb)
{
	struct polt_queue_dump *dump = polt_queue_dump_of(cb);
	struct nlattr **attrs = pol_compat_dump_attrs(cb);
	struct nlattr *cntlid = attrs[A_QUEUE(CNTLID)];

	dump->cntlid = cntlid ? nla_get_u16(cntlid) : -1;
	if (cntlid && !attrs[A_QUEUE(SUBSYSTEM)]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, cntlid,
				    "a controller ID means nothing without its subsystem");
		return -EINVAL;
	}
	return polt_dump_subsystem(attrs[A_QUEUE(SUBSYSTEM)], &dump->only, cb->extack);
}

static int polt_put_u64(struct sk_buff *skb, int attr, const u64 *value)
{
	BUILD_BUG_ON((int)A_QUEUE(PAD) != A_COUNTERS(PAD));
	return nla_put_u64_64bit(skb, attr, READ_ONCE(*value), A_QUEUE(PAD));
}

static int polt_fill_queue_counters(struct sk_buff *skb, const struct polt_queue *queue)
{
	struct nlattr *nest = nla_nest_start(skb, A_QUEUE(COUNTERS));

	if (!nest ||
	    polt_put_u64(skb, A_COUNTERS(COMMANDS), &queue->commands_received) ||
	    polt_put_u64(skb, A_COUNTERS(RESPONSES), &queue->commands_done) ||
	    polt_put_u64(skb, A_COUNTERS(ERRORS), &queue->commands_failed) ||
	    polt_put_u64(skb, A_COUNTERS(INVALIDATES), &queue->invalidates) ||
	    polt_put_u64(skb, A_COUNTERS(FETCHES), &queue->fetches) ||
	    polt_put_u64(skb, A_COUNTERS(IN_CAPSULE), &queue->in_capsule) ||
	    polt_put_u64(skb, A_COUNTERS(BUFFER_WAITS), &queue->buffer_waits) ||
	    polt_put_u64(skb, A_COUNTERS(BYTES_READ), &queue->bytes_read) ||
	    polt_put_u64(skb, A_COUNTERS(BYTES_WRITTEN), &queue->bytes_written))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int polt_fill_queue(struct sk_buff *skb, const struct polt_queue *queue,
			   const struct polt_ctrl *ctrl)
{
	static const u32 states[] = {
		[POLT_QUEUE_CONNECTING] = POLLARD_TARGET_QUEUE_STATE_CONNECTING,
		[POLT_QUEUE_LIVE] = POLLARD_TARGET_QUEUE_STATE_LIVE,
		[POLT_QUEUE_FAILED] = POLLARD_TARGET_QUEUE_STATE_STOPPING,
		[POLT_QUEUE_DRAINING] = POLLARD_TARGET_QUEUE_STATE_DRAINING,
		[POLT_QUEUE_DEAD] = POLLARD_TARGET_QUEUE_STATE_CLOSED,
	};

	if ((ctrl && (nla_put_string(skb, A_QUEUE(SUBSYSTEM), ctrl->subsystem->nqn) ||
		      nla_put_u16(skb, A_QUEUE(CNTLID), ctrl->cntlid))) ||
	    nla_put_u16(skb, A_QUEUE(QID), queue->qid) ||
	    nla_put_u32(skb, A_QUEUE(DEPTH), queue->depth) ||
	    nla_put_u32(skb, A_QUEUE(GROUP), queue->group_id) ||
	    nla_put_string(skb, A_QUEUE(DEVICE), queue->device) ||
	    nla_put_u32(skb, A_QUEUE(QPN), queue->qp_num) ||
	    nla_put_u32(skb, A_QUEUE(STATE), states[READ_ONCE(queue->state)]) ||
	    nla_put_u32(skb, A_QUEUE(IN_FLIGHT), READ_ONCE(queue->outstanding)))
		return -EMSGSIZE;
	return polt_fill_queue_counters(skb, queue);
}

struct polt_queue_visit {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static int polt_queue_visit(struct polt_queue *queue, void *arg)
{
	struct polt_queue_visit *visit = arg;
	struct polt_queue_dump *dump = polt_queue_dump_of(visit->cb);
	const struct polt_ctrl *ctrl = READ_ONCE(queue->ctrl);
	void *header;

	if (queue->id <= dump->last ||
	    (dump->only && (!ctrl || ctrl->subsystem->object.id != dump->only)) ||
	    (dump->cntlid >= 0 && (!ctrl || ctrl->cntlid != dump->cntlid)))
		return 0;
	header = genlmsg_put(visit->skb, NETLINK_CB(visit->cb->skb).portid,
			     visit->cb->nlh->nlmsg_seq, &polt_family, NLM_F_MULTI,
			     POLLARD_TARGET_CMD_QUEUE_GET);
	if (!header)
		return -EMSGSIZE;
	if (polt_fill_queue(visit->skb, queue, ctrl)) {
		genlmsg_cancel(visit->skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(visit->skb, header);
	dump->last = queue->id;
	return 0;
}

/**
 * polt_netlink_queue_dump - write the next message of a dump of queues
 * @skb: the message
 * @cb: the dump, as polt_netlink_queue_start() has begun it
 *
 * Context: a generic netlink request; see polt_queue_for_each().
 * Return: bytes written, 0 at the end; -EMSGSIZE when not one queue fits.
 */
int polt_netlink_queue_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct polt_queue_visit visit = { .skb = skb, .cb = cb };
	int err = polt_queue_for_each(polt_queue_visit, &visit);

	return skb->len ?: err;
}
