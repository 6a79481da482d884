// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard device: RDMA devices, their limits, and what the poll groups hold on them.
 */
#include <linux/pollard.h>

#include "pollard.h"

#define A(name) POLLARD_A_DEVICE_##name
#define M(name) POLLARD_A_DEVICE_LIMITS_##name
#define P(name) POLLARD_A_DEVICE_PORT_##name
#define G(name) POLLARD_A_DEVICE_GROUP_##name

static const char *const states[] = { "active", "refused", "removing", NULL };
static const char *const port_states[] = { "down", "init", "armed", "active", NULL };

static const struct attr limits[] = {
	ATTR_U32(M(MAX_QP), "max-qp"),
	ATTR_U32(M(MAX_QP_WR), "max-qp-wr"),
	ATTR_U32(M(MAX_CQ), "max-cq"),
	ATTR_U32(M(MAX_CQE), "max-cqe"),
	ATTR_U32(M(MAX_MR), "max-mr"),
	ATTR_U32(M(MAX_FAST_REG_PAGES), "max-fast-reg-pages"),
	ATTR_U32(M(MAX_SEND_SGE), "max-send-sge"),
	ATTR_U32(M(MAX_SGE_RD), "max-sge-rd"),
	ATTR_U32(M(MAX_QP_RD_ATOM), "max-qp-rd-atom"),
	ATTR_U32(M(MAX_SRQ), "max-srq"),
	ATTR_U32(M(MAX_SRQ_WR), "max-srq-wr"),
	ATTR_OF(ATTR_SWITCH, M(SEND_WITH_INVALIDATE), "send-with-invalidate"),
	ATTR_END
};

static const struct attr ports[] = {
	ATTR_U32(P(NUMBER), "number"),
	ATTR_ONE_OF(P(STATE), "state", port_states),
	ATTR_OF(ATTR_STRING, P(NETDEV), "netdev"),
	ATTR_U32(P(MTU), "mtu"),
	ATTR_END
};

static const struct attr groups[] = {
	ATTR_U32(G(GROUP), "group"),
	ATTR_U32(G(QUEUES), "queues"),
	ATTR_U32(G(COMPLETION_QUEUES), "completion-queues"),
	ATTR_U32(G(CQES), "cqes"),
	ATTR_U32(G(CQES_RESERVED), "cqes-reserved"),
	ATTR_END
};

static const struct attr attrs[] = {
	ATTR_OF(ATTR_STRING, A(NAME), "name"),
	ATTR_ONE_OF(A(STATE), "state", states),
	ATTR_OF(ATTR_STRING, A(REASON), "reason"),
	ATTR_OF(ATTR_GUID, A(NODE_GUID), "node-guid"),
	ATTR_SIZE64(A(MEMORY_BYTES), "memory-bytes"),
	{ .id = A(LIMITS), .name = "limits", .type = ATTR_NEST, .nest = limits },
	{ .id = A(PORT), .name = "port", .type = ATTR_NEST, .nest = ports, .many = true },
	{ .id = A(GROUP), .name = "group", .type = ATTR_NEST, .nest = groups, .many = true },
	ATTR_END
};

const struct kind kind_device = {
	.name = "device",
	.family = FAMILY_CORE,
	.attrs = attrs,
	.key = { A(NAME) },
	.get = POLLARD_CMD_DEVICE_GET,
	.changed = POLLARD_CMD_DEVICE_NTF,
	.gone = POLLARD_CMD_DEVICE_DEL_NTF,
};

static const struct verb verbs[] = {
	{
		.name = "show", .run = request_show, .kind = &kind_device,
		.positional = { A(NAME) },
		.usage = "[NAME]",
	},
	{ }
};

const struct object object_device = {
	.name = "device",
	.about = "RDMA devices and the memory held for them",
	.verbs = verbs,
};
