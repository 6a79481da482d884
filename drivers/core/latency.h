/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of commands goes: one histogram per command class and stage, kept per poll group.
 * The group's thread writes, readers copy. Target and initiator have stages of their own; the
 * netlink contract says which side a stage is of with an attribute (fill.c).
 */
#ifndef POL_CORE_LATENCY_H
#define POL_CORE_LATENCY_H

#include "core/histogram.h"

enum pol_latency_class {
	POL_LATENCY_READ,
	POL_LATENCY_WRITE,
	POL_LATENCY_OTHER,
	POL_LATENCY_CLASSES,
};

enum pol_latency_stage {
	POL_LATENCY_QUEUED,	/* waiting for data buffers */
	POL_LATENCY_FETCH,	/* RDMA READ of the host's data */
	POL_LATENCY_BACKEND,	/* in the disk */
	POL_LATENCY_RETURN,	/* data WRITE and response SEND until their completion */
	POL_LATENCY_TOTAL,	/* capsule reaped until response completed */
	/* of the initiator */
	POL_LATENCY_HOST_PREPARE,	/* from blk-mq until capsule and data are ready */
	POL_LATENCY_HOST_EXCHANGE,	/* from then on until the response was reaped */
	POL_LATENCY_HOST_FINISH,	/* until the request is ended, its data copied */
	POL_LATENCY_HOST_TOTAL,		/* from blk-mq until the request is ended */
	POL_LATENCY_STAGES,
};

struct pol_latency {
	struct pol_histogram stage[POL_LATENCY_CLASSES][POL_LATENCY_STAGES];
};

struct pol_histogram *pol_latency_copy(const struct pol_latency *latency,
				       enum pol_latency_class class, enum pol_latency_stage stage);
const char *pol_latency_class_name(enum pol_latency_class class);
const char *pol_latency_stage_name(enum pol_latency_stage stage);

#endif
