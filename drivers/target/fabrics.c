// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabrics commands: Connect makes a queue part of a controller, Property Get and Set stand for the
 * registers of a local drive, Disconnect ends a single I/O queue. (NVMe over Fabrics: "Fabrics
 * Command Set".) connect.c and sqe.c say what they may ask for.
 *
 * Commands come from the group in a worker and go back with polt_command_executed(). The group lets
 * nothing but Connect come here of a queue that has not seen a successful one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/slab.h>

#include "target/command.h"
#include "target/ctrl.h"
#include "target/queue.h"
#include "target/sqe.h"

static u16 polt_fabrics_join(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	struct polt_connect_limits limits = { .qid = queue->qid, .entries = queue->depth };
	struct polt_connect_request request;
	struct nvmf_connect_data *data;
	u32 result = 0;
	u16 status;

	data = kmalloc(sizeof(*data), GFP_KERNEL);
	if (!data)
		return NVME_SC_INTERNAL;
	status = polt_command_copy_from(command, 0, data, sizeof(*data));
	if (!status)
		status = polt_connect_parse(&command->sqe, data, &limits, &request, &result);
	kfree(data);
	if (!status && request.qid)
		status = polt_ctrl_join(queue, &request, &result);
	else if (!status)
		status = polt_ctrl_create(queue, &request, &result);
	command->cqe->result.u32 = cpu_to_le32(result);

	if (status)
		pr_info_ratelimited("connect of queue %u from %s refused: status %#x, result %#x\n",
				    queue->qid, queue->peer, status, result);
	else if (!queue->qid)
		pr_info_ratelimited("%s: controller %u for %s (%s)\n", request.subnqn,
				    queue->ctrl->cntlid, request.hostnqn, queue->peer);
	return status;
}

/* The first Connect that succeeds is the only one. */
static u16 polt_fabrics_connect(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	u16 status;

	if (test_and_set_bit(POLT_QUEUE_JOINING, &queue->flags))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	status = polt_fabrics_join(command);
	if (status)
		clear_bit(POLT_QUEUE_JOINING, &queue->flags);
	return status;
}

static u64 polt_fabrics_property(const struct polt_ctrl *ctrl, u32 property)
{
	switch (property) {
	case NVME_REG_CAP:
		return polt_ctrl_cap(ctrl);
	case NVME_REG_VS:
		return POLT_IDENTIFY_VERSION;
	case NVME_REG_CC:
		return READ_ONCE(ctrl->cc);
	case NVME_REG_CSTS:
		return polt_ctrl_csts(ctrl);
	}
	return 0;
}

static u16 polt_fabrics_connected(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_sqe_fabrics request;
	u16 status;

	status = polt_sqe_parse_fabrics(&command->sqe, command->queue->qid, &request);
	if (status)
		return status;
	switch (request.type) {
	case nvme_fabrics_type_property_get:
		command->cqe->result.u64 =
			cpu_to_le64(polt_fabrics_property(ctrl, request.property));
		break;
	case nvme_fabrics_type_property_set:
		polt_ctrl_write_cc(ctrl, request.value);
		break;
	case POLT_FABRICS_DISCONNECT:
		/* The host takes the connection down when it has the response. */
		break;
	}
	return NVME_SC_SUCCESS;
}

/**
 * polt_fabrics_execute - execute a Fabrics command
 * @command: its data, if it brings any, is in its buffers; ended when this returns or later
 *
 * Worker, sleeps. Bounded: see polt_ctrl_join().
 */
void polt_fabrics_execute(struct polt_command *command)
{
	if (command->sqe.fabrics.fctype == nvme_fabrics_type_connect) {
		polt_command_executed(command, polt_fabrics_connect(command));
		return;
	}
	polt_command_executed(command, polt_fabrics_connected(command));
}
