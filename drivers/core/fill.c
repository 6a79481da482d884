// SPDX-License-Identifier: GPL-2.0-only
/*
 * From groups, devices and histograms to netlink attributes
 * (Documentation/netlink/specs/pollard.yaml). Only reads; counters are read and histograms copied
 * while their group's thread writes, which statistics can bear.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <rdma/ib_cache.h>
#include <uapi/linux/pollard.h>

#include "core/device.h"
#include "core/group.h"
#include "core/netlink.h"

#define A_GROUP(name)	POLLARD_A_GROUP_##name
#define A_COUNTERS(name) POLLARD_A_GROUP_COUNTERS_##name
#define A_DEVICE(name)	POLLARD_A_DEVICE_##name
#define A_LIMITS(name)	POLLARD_A_DEVICE_LIMITS_##name
#define A_PORT(name)	POLLARD_A_DEVICE_PORT_##name
#define A_HELD(name)	POLLARD_A_DEVICE_GROUP_##name
#define A_LATENCY(name)	POLLARD_A_LATENCY_##name

static_assert((int)POL_LATENCY_READ == (int)POLLARD_CLASS_READ);
static_assert((int)POL_LATENCY_WRITE == (int)POLLARD_CLASS_WRITE);
static_assert((int)POL_LATENCY_OTHER == (int)POLLARD_CLASS_OTHER);

/* What a stage is for netlink: whose, and which. */
static const struct {
	u32 side;
	u32 stage;
} pol_fill_stages[POL_LATENCY_STAGES] = {
	[POL_LATENCY_QUEUED] = { POLLARD_SIDE_TARGET, POLLARD_STAGE_QUEUED },
	[POL_LATENCY_FETCH] = { POLLARD_SIDE_TARGET, POLLARD_STAGE_FETCH },
	[POL_LATENCY_BACKEND] = { POLLARD_SIDE_TARGET, POLLARD_STAGE_BACKEND },
	[POL_LATENCY_RETURN] = { POLLARD_SIDE_TARGET, POLLARD_STAGE_RETURN },
	[POL_LATENCY_TOTAL] = { POLLARD_SIDE_TARGET, POLLARD_STAGE_TOTAL },
	[POL_LATENCY_HOST_PREPARE] = { POLLARD_SIDE_HOST, POLLARD_STAGE_PREPARE },
	[POL_LATENCY_HOST_EXCHANGE] = { POLLARD_SIDE_HOST, POLLARD_STAGE_EXCHANGE },
	[POL_LATENCY_HOST_FINISH] = { POLLARD_SIDE_HOST, POLLARD_STAGE_FINISH },
	[POL_LATENCY_HOST_TOTAL] = { POLLARD_SIDE_HOST, POLLARD_STAGE_TOTAL },
};

static int pol_fill_counters(struct sk_buff *skb, const struct pol_group_counters *counters)
{
	const struct {
		int attr;
		const u64 *value;
	} values[] = {
		{ A_COUNTERS(PASSES), &counters->passes },
		{ A_COUNTERS(BUSY_PASSES), &counters->busy_passes },
		{ A_COUNTERS(SLEEPS), &counters->sleeps },
		{ A_COUNTERS(WAKEUPS), &counters->wakeups },
		{ A_COUNTERS(ARMS), &counters->arms },
		{ A_COUNTERS(YIELDS), &counters->yields },
		{ A_COUNTERS(COMPLETIONS), &counters->completions },
		{ A_COUNTERS(RECEIVES), &counters->receives },
		{ A_COUNTERS(MESSAGES), &counters->messages },
		{ A_COUNTERS(POST_CHAINS), &counters->post_chains },
		{ A_COUNTERS(WORK_REQUESTS), &counters->work_requests },
		{ A_COUNTERS(RECEIVE_POSTS), &counters->receive_posts },
		{ A_COUNTERS(BYTES_READ), &counters->bytes_read },
		{ A_COUNTERS(BYTES_WRITTEN), &counters->bytes_written },
	};
	struct nlattr *nest = nla_nest_start(skb, A_GROUP(COUNTERS));
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, values[i].attr, READ_ONCE(*values[i].value),
				      A_COUNTERS(PAD)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 pol_group_state_number(const struct pol_group *group)
{
	if (READ_ONCE(group->state) != POL_GROUP_RUNNING)
		return POLLARD_GROUP_STATE_DELETING;
	return cpu_online(READ_ONCE(group->cpu)) ? POLLARD_GROUP_STATE_ACTIVE :
		POLLARD_GROUP_STATE_DISPLACED;
}

/**
 * pol_fill_group - put a group's attributes into a message
 * @skb: the message
 * @group: on the list of groups
 *
 * Return: 0, or -EMSGSIZE when there is no room; what was put is there nevertheless.
 */
int pol_fill_group(struct sk_buff *skb, struct pol_group *group)
{
	u32 spin_us = READ_ONCE(group->spin_us);
	u32 mode = pol_mode_number(spin_us);
	u32 effective = pol_group_spin(group);
	u32 effective_mode = pol_mode_number(effective);

	if (nla_put_u32(skb, A_GROUP(ID), group->id) ||
	    nla_put_u32(skb, A_GROUP(CPU), READ_ONCE(group->cpu)) ||
	    nla_put_u32(skb, A_GROUP(MODE), mode) ||
	    (mode == POLLARD_MODE_ADAPTIVE && nla_put_u32(skb, A_GROUP(SPIN_US), spin_us)) ||
	    nla_put_u32(skb, A_GROUP(STATE), pol_group_state_number(group)) ||
	    nla_put_u32(skb, A_GROUP(RUNNING_CPU), task_cpu(group->thread)) ||
	    nla_put_u32(skb, A_GROUP(QUEUES), pol_group_queues(group)) ||
	    nla_put_u32(skb, A_GROUP(EFFECTIVE_MODE), effective_mode) ||
	    (effective_mode == POLLARD_MODE_ADAPTIVE &&
	     nla_put_u32(skb, A_GROUP(EFFECTIVE_SPIN_US), effective)))
		return -EMSGSIZE;
	return pol_fill_counters(skb, &group->counters);
}

static int pol_fill_limits(struct sk_buff *skb, const struct ib_device_attr *attrs)
{
	struct nlattr *nest = nla_nest_start(skb, A_DEVICE(LIMITS));

	if (!nest ||
	    nla_put_u32(skb, A_LIMITS(MAX_QP), attrs->max_qp) ||
	    nla_put_u32(skb, A_LIMITS(MAX_QP_WR), attrs->max_qp_wr) ||
	    nla_put_u32(skb, A_LIMITS(MAX_CQ), attrs->max_cq) ||
	    nla_put_u32(skb, A_LIMITS(MAX_CQE), attrs->max_cqe) ||
	    nla_put_u32(skb, A_LIMITS(MAX_MR), attrs->max_mr) ||
	    nla_put_u32(skb, A_LIMITS(MAX_FAST_REG_PAGES), attrs->max_fast_reg_page_list_len) ||
	    nla_put_u32(skb, A_LIMITS(MAX_SEND_SGE), attrs->max_send_sge) ||
	    nla_put_u32(skb, A_LIMITS(MAX_SGE_RD), attrs->max_sge_rd) ||
	    nla_put_u32(skb, A_LIMITS(MAX_QP_RD_ATOM), attrs->max_qp_rd_atom) ||
	    nla_put_u32(skb, A_LIMITS(MAX_SRQ), attrs->max_srq) ||
	    nla_put_u32(skb, A_LIMITS(MAX_SRQ_WR), attrs->max_srq_wr) ||
	    nla_put_u8(skb, A_LIMITS(SEND_WITH_INVALIDATE),
		       !!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 pol_port_state_number(enum ib_port_state state)
{
	switch (state) {
	case IB_PORT_INIT:
		return POLLARD_PORT_STATE_INIT;
	case IB_PORT_ARMED:
		return POLLARD_PORT_STATE_ARMED;
	case IB_PORT_ACTIVE:
	case IB_PORT_ACTIVE_DEFER:
		return POLLARD_PORT_STATE_ACTIVE;
	default:
		return POLLARD_PORT_STATE_DOWN;
	}
}

/* The network interface of a RoCE port, known from its first GID; nothing where there is none. */
static int pol_fill_netdev(struct sk_buff *skb, struct ib_device *ib, u32 port)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(ib, port, 0);
	char name[IFNAMSIZ] = "";
	struct net_device *netdev;

	if (IS_ERR(gid))
		return 0;
	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR_OR_NULL(netdev))
		strscpy(name, netdev->name, sizeof(name));
	rcu_read_unlock();
	rdma_put_gid_attr(gid);
	return *name ? nla_put_string(skb, A_PORT(NETDEV), name) : 0;
}

static int pol_fill_port(struct sk_buff *skb, struct ib_device *ib, u32 port)
{
	struct nlattr *nest = nla_nest_start(skb, A_DEVICE(PORT));
	struct ib_port_attr attr;

	if (!nest || nla_put_u32(skb, A_PORT(NUMBER), port))
		return -EMSGSIZE;
	if (!ib_query_port(ib, port, &attr) &&
	    (nla_put_u32(skb, A_PORT(STATE), pol_port_state_number(attr.state)) ||
	     nla_put_u32(skb, A_PORT(MTU), ib_mtu_enum_to_int(attr.active_mtu))))
		return -EMSGSIZE;
	if (pol_fill_netdev(skb, ib, port))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

#define POL_HELD_ATTRS	5U	/* that pol_fill_held() puts for a group */

struct pol_held {
	struct sk_buff *skb;
	const struct pol_device *device;
};

/* What a group holds on a device, where it holds something. */
static int pol_fill_held(struct pol_group *group, void *arg)
{
	unsigned int queues = 0, cqs = 0, cqes = 0, reserved = 0;
	struct pol_held *held = arg;
	struct nlattr *nest;
	struct pol_cq *cq;

	mutex_lock(&group->lock);
	list_for_each_entry(cq, &group->all_cqs, link) {
		if (cq->device != held->device)
			continue;
		queues += cq->queue_pairs;
		cqs++;
		cqes += cq->capacity;
		reserved += cq->reserved;
	}
	mutex_unlock(&group->lock);
	if (!cqs)
		return 0;
	nest = nla_nest_start(held->skb, A_DEVICE(GROUP));
	if (!nest ||
	    nla_put_u32(held->skb, A_HELD(GROUP), group->id) ||
	    nla_put_u32(held->skb, A_HELD(QUEUES), queues) ||
	    nla_put_u32(held->skb, A_HELD(COMPLETION_QUEUES), cqs) ||
	    nla_put_u32(held->skb, A_HELD(CQES), cqes) ||
	    nla_put_u32(held->skb, A_HELD(CQES_RESERVED), reserved))
		return -EMSGSIZE;
	nla_nest_end(held->skb, nest);
	return 0;
}

static int pol_fill_count_group(struct pol_group *group, void *arg)
{
	unsigned int *groups = arg;

	(*groups)++;
	return 0;
}

/**
 * pol_fill_device_size - room for the longest message about a device
 *
 * A device with many groups on it does not fit into a message of the usual size. Process context,
 * may sleep.
 *
 * Return: bytes, headers included.
 */
size_t pol_fill_device_size(void)
{
	unsigned int groups = 0;

	pol_group_for_each(pol_fill_count_group, &groups);
	return NLMSG_GOODSIZE +
	       groups * nla_total_size(POL_HELD_ATTRS * nla_total_size(sizeof(u32)));
}

/**
 * pol_fill_device - put a device's attributes into a message
 * @skb: the message
 * @device: cannot go away meanwhile
 *
 * Process context, may sleep. Takes the locks of the list of groups and of each group.
 *
 * Return: 0, or -EMSGSIZE when there is no room; what was put is there nevertheless.
 */
int pol_fill_device(struct sk_buff *skb, struct pol_device *device)
{
	struct pol_held held = { skb, device };
	struct ib_device *ib = device->ib;
	u32 port;

	if (nla_put_string(skb, A_DEVICE(NAME), device->name) ||
	    nla_put_u32(skb, A_DEVICE(STATE), POLLARD_DEVICE_STATE_ACTIVE) ||
	    nla_put_u64_64bit(skb, A_DEVICE(NODE_GUID), be64_to_cpu(ib->node_guid),
			      A_DEVICE(PAD)) ||
	    nla_put_u64_64bit(skb, A_DEVICE(MEMORY_BYTES),
			      atomic_long_read(&device->memory_bytes), A_DEVICE(PAD)) ||
	    pol_fill_limits(skb, &ib->attrs))
		return -EMSGSIZE;
	rdma_for_each_port(ib, port)
		if (pol_fill_port(skb, ib, port))
			return -EMSGSIZE;
	return pol_group_for_each(pol_fill_held, &held);
}

static int pol_fill_histogram(struct sk_buff *skb, const struct pol_histogram *histogram)
{
	const struct {
		int attr;
		u64 value;
	} values[] = {
		{ A_LATENCY(COUNT), histogram->count },
		{ A_LATENCY(MIN_NS), histogram->min_ns },
		{ A_LATENCY(MEAN_NS), pol_histogram_mean(histogram) },
		{ A_LATENCY(P50_NS), pol_histogram_quantile(histogram, 50000) },
		{ A_LATENCY(P90_NS), pol_histogram_quantile(histogram, 90000) },
		{ A_LATENCY(P99_NS), pol_histogram_quantile(histogram, 99000) },
		{ A_LATENCY(P999_NS), pol_histogram_quantile(histogram, 99900) },
		{ A_LATENCY(MAX_NS), histogram->max_ns },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		if (nla_put_u64_64bit(skb, values[i].attr, values[i].value, A_LATENCY(PAD)))
			return -EMSGSIZE;
	return 0;
}

/**
 * pol_fill_latency - put the figures of one histogram into a message
 * @skb: the message
 * @group: whose histogram
 * @class: of which commands
 * @stage: of which part of their lives
 *
 * Process context, may sleep.
 *
 * Return: 0, -ENOMEM, or -EMSGSIZE when there is no room; what was put is there nevertheless.
 */
int pol_fill_latency(struct sk_buff *skb, const struct pol_group *group,
		     enum pol_latency_class class, enum pol_latency_stage stage)
{
	struct pol_histogram *histogram;
	int error;

	if (nla_put_u32(skb, A_LATENCY(GROUP), group->id) ||
	    nla_put_u32(skb, A_LATENCY(SIDE), pol_fill_stages[stage].side) ||
	    nla_put_u32(skb, A_LATENCY(CLASS), class) ||
	    nla_put_u32(skb, A_LATENCY(STAGE), pol_fill_stages[stage].stage))
		return -EMSGSIZE;
	histogram = pol_latency_copy(group->latency, class, stage);
	if (!histogram)
		return -ENOMEM;
	error = pol_fill_histogram(skb, histogram);
	kvfree(histogram);
	return error;
}
