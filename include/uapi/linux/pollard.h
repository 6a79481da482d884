/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/pollard.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_POLLARD_H
#define _UAPI_LINUX_POLLARD_H

#define POLLARD_FAMILY_NAME	"pollard"
#define POLLARD_FAMILY_VERSION	1

/**
 * enum pollard_mode - how long the thread of a poll group looks for work
 *   before it sleeps
 * @POLLARD_MODE_EVENT: sleep as soon as nothing is left to do (spin-us is 0)
 * @POLLARD_MODE_ADAPTIVE: look for spin-us microseconds, then sleep
 * @POLLARD_MODE_BUSY: never sleep; wants a CPU of its own
 */
enum pollard_mode {
	POLLARD_MODE_EVENT,
	POLLARD_MODE_ADAPTIVE,
	POLLARD_MODE_BUSY,
};

/**
 * enum pollard_group_state - life of a poll group
 * @POLLARD_GROUP_STATE_ACTIVE: the thread runs on the CPU of the group
 * @POLLARD_GROUP_STATE_DISPLACED: the CPU is offline, the thread runs
 *   elsewhere until it is back
 * @POLLARD_GROUP_STATE_DELETING: takes no new queue and goes away once its
 *   thread has stopped
 */
enum pollard_group_state {
	POLLARD_GROUP_STATE_ACTIVE,
	POLLARD_GROUP_STATE_DISPLACED,
	POLLARD_GROUP_STATE_DELETING,
};

/**
 * enum pollard_device_state - whether queues can be placed on an RDMA device
 * @POLLARD_DEVICE_STATE_ACTIVE: in use or ready to be used
 * @POLLARD_DEVICE_STATE_REFUSED: lacks what Pollard needs, the reason
 *   attribute says what
 * @POLLARD_DEVICE_STATE_REMOVING: being removed, its queues are ending
 */
enum pollard_device_state {
	POLLARD_DEVICE_STATE_ACTIVE,
	POLLARD_DEVICE_STATE_REFUSED,
	POLLARD_DEVICE_STATE_REMOVING,
};

/**
 * enum pollard_port_state - state of a port of an RDMA device
 */
enum pollard_port_state {
	POLLARD_PORT_STATE_DOWN,
	POLLARD_PORT_STATE_INIT,
	POLLARD_PORT_STATE_ARMED,
	POLLARD_PORT_STATE_ACTIVE,
};

/**
 * enum pollard_side - which end of the fabric a histogram was taken at
 * @POLLARD_SIDE_TARGET: commands executed by pollard-target
 * @POLLARD_SIDE_HOST: commands sent by pollard-host
 */
enum pollard_side {
	POLLARD_SIDE_TARGET,
	POLLARD_SIDE_HOST,
};

/**
 * enum pollard_class - kind of command a histogram counts
 * @POLLARD_CLASS_READ: NVMe Read
 * @POLLARD_CLASS_WRITE: NVMe Write
 * @POLLARD_CLASS_OTHER: every other command; at the target also those of admin
 *   queues
 */
enum pollard_class {
	POLLARD_CLASS_READ,
	POLLARD_CLASS_WRITE,
	POLLARD_CLASS_OTHER,
};

/**
 * enum pollard_stage - part of the life of a command a histogram measures
 * @POLLARD_STAGE_QUEUED: from the arrival of the capsule until all data
 *   buffers are held
 * @POLLARD_STAGE_FETCH: RDMA READ of the data from the host
 * @POLLARD_STAGE_BACKEND: execution by the storage back end
 * @POLLARD_STAGE_RETURN: from posting the data and the response to the
 *   completion of the SEND, of those responses that asked for one
 * @POLLARD_STAGE_TOTAL: from the arrival of the capsule to the end of the last
 *   stage, of those same responses; on the side host from the arrival of the
 *   request from the block layer until it is ended
 * @POLLARD_STAGE_PREPARE: on the side host, from the arrival of the request
 *   from the block layer until capsule and data are ready to be sent
 * @POLLARD_STAGE_EXCHANGE: on the side host, from then on until the response
 *   was reaped
 * @POLLARD_STAGE_FINISH: on the side host, from then on until the request is
 *   ended, with read data copied and nothing of it left with the device
 */
enum pollard_stage {
	POLLARD_STAGE_QUEUED,
	POLLARD_STAGE_FETCH,
	POLLARD_STAGE_BACKEND,
	POLLARD_STAGE_RETURN,
	POLLARD_STAGE_TOTAL,
	POLLARD_STAGE_PREPARE,
	POLLARD_STAGE_EXCHANGE,
	POLLARD_STAGE_FINISH,
};

enum {
	POLLARD_A_GROUP_PAD = 1,
	POLLARD_A_GROUP_ID,
	POLLARD_A_GROUP_CPU,
	POLLARD_A_GROUP_MODE,
	POLLARD_A_GROUP_SPIN_US,
	POLLARD_A_GROUP_STATE,
	POLLARD_A_GROUP_RUNNING_CPU,
	POLLARD_A_GROUP_QUEUES,
	POLLARD_A_GROUP_COUNTERS,
	POLLARD_A_GROUP_EFFECTIVE_MODE,
	POLLARD_A_GROUP_EFFECTIVE_SPIN_US,

	__POLLARD_A_GROUP_MAX,
	POLLARD_A_GROUP_MAX = (__POLLARD_A_GROUP_MAX - 1)
};

enum {
	POLLARD_A_GROUP_COUNTERS_PAD = 1,
	POLLARD_A_GROUP_COUNTERS_PASSES,
	POLLARD_A_GROUP_COUNTERS_BUSY_PASSES,
	POLLARD_A_GROUP_COUNTERS_SLEEPS,
	POLLARD_A_GROUP_COUNTERS_WAKEUPS,
	POLLARD_A_GROUP_COUNTERS_ARMS,
	POLLARD_A_GROUP_COUNTERS_YIELDS,
	POLLARD_A_GROUP_COUNTERS_COMPLETIONS,
	POLLARD_A_GROUP_COUNTERS_RECEIVES,
	POLLARD_A_GROUP_COUNTERS_MESSAGES,
	POLLARD_A_GROUP_COUNTERS_POST_CHAINS,
	POLLARD_A_GROUP_COUNTERS_WORK_REQUESTS,
	POLLARD_A_GROUP_COUNTERS_RECEIVE_POSTS,
	POLLARD_A_GROUP_COUNTERS_BYTES_READ,
	POLLARD_A_GROUP_COUNTERS_BYTES_WRITTEN,

	__POLLARD_A_GROUP_COUNTERS_MAX,
	POLLARD_A_GROUP_COUNTERS_MAX = (__POLLARD_A_GROUP_COUNTERS_MAX - 1)
};

enum {
	POLLARD_A_DEVICE_PAD = 1,
	POLLARD_A_DEVICE_NAME,
	POLLARD_A_DEVICE_STATE,
	POLLARD_A_DEVICE_REASON,
	POLLARD_A_DEVICE_NODE_GUID,
	POLLARD_A_DEVICE_MEMORY_BYTES,
	POLLARD_A_DEVICE_LIMITS,
	POLLARD_A_DEVICE_PORT,
	POLLARD_A_DEVICE_GROUP,

	__POLLARD_A_DEVICE_MAX,
	POLLARD_A_DEVICE_MAX = (__POLLARD_A_DEVICE_MAX - 1)
};

enum {
	POLLARD_A_DEVICE_LIMITS_MAX_QP = 1,
	POLLARD_A_DEVICE_LIMITS_MAX_QP_WR,
	POLLARD_A_DEVICE_LIMITS_MAX_CQ,
	POLLARD_A_DEVICE_LIMITS_MAX_CQE,
	POLLARD_A_DEVICE_LIMITS_MAX_MR,
	POLLARD_A_DEVICE_LIMITS_MAX_FAST_REG_PAGES,
	POLLARD_A_DEVICE_LIMITS_MAX_SEND_SGE,
	POLLARD_A_DEVICE_LIMITS_MAX_SGE_RD,
	POLLARD_A_DEVICE_LIMITS_MAX_QP_RD_ATOM,
	POLLARD_A_DEVICE_LIMITS_MAX_SRQ,
	POLLARD_A_DEVICE_LIMITS_MAX_SRQ_WR,
	POLLARD_A_DEVICE_LIMITS_SEND_WITH_INVALIDATE,

	__POLLARD_A_DEVICE_LIMITS_MAX,
	POLLARD_A_DEVICE_LIMITS_MAX = (__POLLARD_A_DEVICE_LIMITS_MAX - 1)
};

enum {
	POLLARD_A_DEVICE_PORT_NUMBER = 1,
	POLLARD_A_DEVICE_PORT_STATE,
	POLLARD_A_DEVICE_PORT_NETDEV,
	POLLARD_A_DEVICE_PORT_MTU,

	__POLLARD_A_DEVICE_PORT_MAX,
	POLLARD_A_DEVICE_PORT_MAX = (__POLLARD_A_DEVICE_PORT_MAX - 1)
};

enum {
	POLLARD_A_DEVICE_GROUP_PAD = 1,
	POLLARD_A_DEVICE_GROUP_GROUP,
	POLLARD_A_DEVICE_GROUP_QUEUES,
	POLLARD_A_DEVICE_GROUP_COMPLETION_QUEUES,
	POLLARD_A_DEVICE_GROUP_CQES,
	POLLARD_A_DEVICE_GROUP_CQES_RESERVED,

	__POLLARD_A_DEVICE_GROUP_MAX,
	POLLARD_A_DEVICE_GROUP_MAX = (__POLLARD_A_DEVICE_GROUP_MAX - 1)
};

enum {
	POLLARD_A_LATENCY_PAD = 1,
	POLLARD_A_LATENCY_GROUP,
	POLLARD_A_LATENCY_SIDE,
	POLLARD_A_LATENCY_CLASS,
	POLLARD_A_LATENCY_STAGE,
	POLLARD_A_LATENCY_COUNT,
	POLLARD_A_LATENCY_MIN_NS,
	POLLARD_A_LATENCY_MEAN_NS,
	POLLARD_A_LATENCY_P50_NS,
	POLLARD_A_LATENCY_P90_NS,
	POLLARD_A_LATENCY_P99_NS,
	POLLARD_A_LATENCY_P999_NS,
	POLLARD_A_LATENCY_MAX_NS,

	__POLLARD_A_LATENCY_MAX,
	POLLARD_A_LATENCY_MAX = (__POLLARD_A_LATENCY_MAX - 1)
};

enum {
	POLLARD_CMD_GROUP_GET = 1,
	POLLARD_CMD_GROUP_NEW,
	POLLARD_CMD_GROUP_SET,
	POLLARD_CMD_GROUP_DEL,
	POLLARD_CMD_GROUP_NTF,
	POLLARD_CMD_GROUP_DEL_NTF,
	POLLARD_CMD_DEVICE_GET,
	POLLARD_CMD_DEVICE_NTF,
	POLLARD_CMD_DEVICE_DEL_NTF,
	POLLARD_CMD_LATENCY_GET,
	POLLARD_CMD_LATENCY_RESET,

	__POLLARD_CMD_MAX,
	POLLARD_CMD_MAX = (__POLLARD_CMD_MAX - 1)
};

#define POLLARD_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_POLLARD_H */
