/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of commands goes: one histogram per command class and stage, kept per poll group.
 * The group's thread writes, readers copy. Target and initiator have stages of their own; the
 * netlink contract says which side a stage is of with an attribute (fill.c).
 */
#ifndef POL_CORE_LATENCY_H
#define POL_CORE_LATENCY_H

#include "core/histogram.h"

/**
 * enum pol_latency_class - kinds of commands
 * @POL_LATENCY_READ: they bring data to the host
 * @POL_LATENCY_WRITE: they bring data from the host
 * @POL_LATENCY_OTHER: all others, those of the admin queue too
 * @POL_LATENCY_CLASSES: how many there are
 */
enum pol_latency_class {
	POL_LATENCY_READ,
	POL_LATENCY_WRITE,
	POL_LATENCY_OTHER,
	POL_LATENCY_CLASSES,
};

/**
 * enum pol_latency_stage - parts of a command's life: of the target, then of the initiator
 * @POL_LATENCY_QUEUED: waiting for data buffers
 * @POL_LATENCY_FETCH: RDMA READ of the host's data
 * @POL_LATENCY_BACKEND: in the disk
 * @POL_LATENCY_RETURN: data WRITE and response SEND until their completion
 * @POL_LATENCY_TOTAL: capsule reaped until response completed
 * @POL_LATENCY_HOST_PREPARE: from blk-mq until capsule and data are ready
 * @POL_LATENCY_HOST_EXCHANGE: from then on until the response was reaped
 * @POL_LATENCY_HOST_FINISH: until the request is ended, its data copied
 * @POL_LATENCY_HOST_TOTAL: from blk-mq until the request is ended
 * @POL_LATENCY_STAGES: how many there are
 */
enum pol_latency_stage {
	POL_LATENCY_QUEUED,
	POL_LATENCY_FETCH,
	POL_LATENCY_BACKEND,
	POL_LATENCY_RETURN,
	POL_LATENCY_TOTAL,
	/* of the initiator */
	POL_LATENCY_HOST_PREPARE,
	POL_LATENCY_HOST_EXCHANGE,
	POL_LATENCY_HOST_FINISH,
	POL_LATENCY_HOST_TOTAL,
	POL_LATENCY_STAGES,
};

/**
 * struct pol_latency - latencies of a group's commands
 * @stage: a histogram for each class and stage
 */
struct pol_latency {
	struct pol_histogram stage[POL_LATENCY_CLASSES][POL_LATENCY_STAGES];
};

struct pol_histogram *pol_latency_copy(const struct pol_latency *latency,
				       enum pol_latency_class class, enum pol_latency_stage stage);
const char *pol_latency_class_name(enum pol_latency_class class);
const char *pol_latency_stage_name(enum pol_latency_stage stage);

#endif
