// SPDX-License-Identifier: GPL-2.0-only
/*
 * The I/O commands: a table of opcodes, and the checks that make a command harmless before a back
 * end sees it. Runs in the group's thread; what a command refers to (its namespace) is held by a
 * reference from the check to the end of its execution.
 */
#include "target/ctrl.h"
#include "target/receive.h"

#define POLT_IO_PRINFO	(NVME_RW_PRINFO_PRCHK_REF | NVME_RW_PRINFO_PRCHK_APP | \
			 NVME_RW_PRINFO_PRCHK_GUARD | NVME_RW_PRINFO_PRACT)

/**
 * struct polt_io_op - an I/O command
 * @check: beyond namespace and controller: says how many bytes of data it must carry
 * @class: for the latency histograms
 * @writes: changes the namespace
 */
struct polt_io_op {
	u16 (*check)(struct polt_command *command, u32 *len);
	enum pol_latency_class class;
	bool writes;
};

/* Read and Write: a range of blocks, and as much data. */
static u16 polt_io_check_rw(struct polt_command *command, u32 *len)
{
	const struct polt_backend *backend = command->namespace->backend;
	const struct nvme_rw_command *rw = &command->sqe.rw;
	u64 blocks = READ_ONCE(backend->blocks);
	u64 lba = le64_to_cpu(rw->slba);
	u32 nlb = le16_to_cpu(rw->length) + 1;

	if (unlikely(lba >= blocks || nlb > blocks - lba))
		return NVME_SC_LBA_RANGE | NVME_STATUS_DNR;
	if (unlikely((u64)nlb << backend->block_shift > POLT_MDTS_BYTES))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	/* No namespace has protection information. */
	if (unlikely(le16_to_cpu(rw->control) & POLT_IO_PRINFO))
		return NVME_SC_INVALID_PI | NVME_STATUS_DNR;

	command->lba = lba;
	*len = nlb << backend->block_shift;
	return NVME_SC_SUCCESS;
}

static u16 polt_io_check_flush(struct polt_command *command, u32 *len)
{
	*len = 0;
	return NVME_SC_SUCCESS;
}

static const struct polt_io_op polt_io_ops[] = {
	[nvme_cmd_flush] = {
		.check = polt_io_check_flush,
		.class = POL_LATENCY_OTHER,
	},
	[nvme_cmd_write] = {
		.check = polt_io_check_rw,
		.class = POL_LATENCY_WRITE,
		.writes = true,
	},
	[nvme_cmd_read] = {
		.check = polt_io_check_rw,
		.class = POL_LATENCY_READ,
	},
};

/**
 * polt_io_check - check an I/O command
 * @command: its SQE has been copied; takes a reference of its namespace
 * @len: result: bytes of data it must carry
 *
 * Return: NVME_SC_SUCCESS or the status to refuse it with.
 */
u16 polt_io_check(struct polt_command *command, u32 *len)
{
	const struct polt_queue *queue = command->queue;
	const struct nvme_common_command *sqe = &command->sqe.common;
	const struct polt_io_op *op;

	if (unlikely(sqe->opcode >= ARRAY_SIZE(polt_io_ops) || !polt_io_ops[sqe->opcode].check))
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	op = &polt_io_ops[sqe->opcode];
	command->class = op->class;
	if (unlikely(!polt_ctrl_ready(queue->ctrl)))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	command->namespace = polt_namespace_get(queue->subsystem, le32_to_cpu(sqe->nsid));
	if (unlikely(!command->namespace))
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	if (unlikely(op->writes && READ_ONCE(command->namespace->backend->read_only)))
		return NVME_SC_NS_WRITE_PROTECTED | NVME_STATUS_DNR;
	return op->check(command, len);
}

/**
 * polt_io_execute - give a checked command to its namespace's back end
 * @command: its data is here, if it carries any
 */
void polt_io_execute(struct polt_command *command)
{
	struct polt_namespace *namespace = command->namespace;

	switch (command->class) {
	case POL_LATENCY_READ:
		polt_namespace_count(namespace, reads, 1);
		polt_namespace_count(namespace, bytes_read, command->data_len);
		break;
	case POL_LATENCY_WRITE:
		polt_namespace_count(namespace, writes, 1);
		polt_namespace_count(namespace, bytes_written, command->data_len);
		break;
	default:
		polt_namespace_count(namespace, others, 1);
		break;
	}
	namespace->backend->ops->execute(namespace->backend, command);
}
