// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabrics commands: Connect makes a queue part of a controller, Property Get and Set stand for the
 * registers of a local drive, Disconnect ends a single I/O queue. (NVMe over Fabrics: "Fabrics
 * Command Set".)
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

/* What <linux/nvme.h> has no name for. */
#define POLT_SC_INVALID_QUEUE_TYPE	0x185

#define POLT_PROPERTY_SIZE_MASK		0x07	/* ATTRIB: 0 is 4 bytes, 1 is 8 bytes */
#define POLT_PROPERTY_4_BYTES		0
#define POLT_PROPERTY_8_BYTES		1

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

static u16 polt_fabrics_property_get(struct polt_command *command)
{
	const struct nvmf_property_get_command *get = &command->sqe.prop_get;
	struct polt_ctrl *ctrl = command->queue->ctrl;
	u8 size = get->attrib & POLT_PROPERTY_SIZE_MASK;
	u32 offset = le32_to_cpu(get->offset);
	u64 value;

	if (size != (offset == NVME_REG_CAP ? POLT_PROPERTY_8_BYTES : POLT_PROPERTY_4_BYTES))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (offset) {
	case NVME_REG_CAP:
		value = polt_ctrl_cap(ctrl);
		break;
	case NVME_REG_VS:
		value = POLT_IDENTIFY_VERSION;
		break;
	case NVME_REG_CC:
		value = READ_ONCE(ctrl->cc);
		break;
	case NVME_REG_CSTS:
		value = polt_ctrl_csts(ctrl);
		break;
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}
	command->cqe->result.u64 = cpu_to_le64(value);
	return NVME_SC_SUCCESS;
}

static u16 polt_fabrics_property_set(struct polt_command *command)
{
	const struct nvmf_property_set_command *set = &command->sqe.prop_set;

	if ((set->attrib & POLT_PROPERTY_SIZE_MASK) != POLT_PROPERTY_4_BYTES ||
	    le32_to_cpu(set->offset) != NVME_REG_CC)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	polt_ctrl_write_cc(command->queue->ctrl, le64_to_cpu(set->value));
	return NVME_SC_SUCCESS;
}

/* The host takes the connection down when it has the response. */
static u16 polt_fabrics_disconnect(struct polt_command *command)
{
	if (!command->queue->qid)
		return POLT_SC_INVALID_QUEUE_TYPE | NVME_STATUS_DNR;
	if (command->sqe.connect.recfmt)
		return NVME_SC_CONNECT_FORMAT | NVME_STATUS_DNR;
	return NVME_SC_SUCCESS;
}

static u16 polt_fabrics_connected(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	u8 type = command->sqe.fabrics.fctype;

	if (type == POLT_FABRICS_DISCONNECT)
		return polt_fabrics_disconnect(command);
	/* Properties are the controller's. No authentication is asked for, so none is taken. */
	if (queue->qid)
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	switch (type) {
	case nvme_fabrics_type_property_get:
		return polt_fabrics_property_get(command);
	case nvme_fabrics_type_property_set:
		return polt_fabrics_property_set(command);
	default:
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	}
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
