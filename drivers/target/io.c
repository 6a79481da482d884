// SPDX-License-Identifier: GPL-2.0-only
/*
 * The I/O commands: what makes a command harmless before a back end sees it. Which commands there
 * are and what they may ask for is in sqe.c. Runs in the group's thread; what a command refers to
 * (its namespace) is held by a reference from the check to the end of its execution.
 */
#include "target/ctrl.h"
#include "target/receive.h"
#include "target/sqe.h"

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
	const struct polt_backend *backend;
	const struct polt_sqe_io *io;
	u16 status;

	status = polt_sqe_check_io(&command->sqe, &io);
	if (unlikely(status))
		return status;
	command->class = io->class;
	if (unlikely(!polt_ctrl_ready(queue->ctrl)))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	command->namespace = polt_namespace_get(queue->subsystem,
						le32_to_cpu(command->sqe.common.nsid));
	if (unlikely(!command->namespace))
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	backend = command->namespace->backend;
	if (unlikely(io->writes && READ_ONCE(backend->read_only)))
		return NVME_SC_NS_WRITE_PROTECTED | NVME_STATUS_DNR;
	if (!io->range) {
		*len = 0;
		return NVME_SC_SUCCESS;
	}
	return polt_sqe_check_range(&command->sqe, READ_ONCE(backend->blocks), backend->block_shift,
				    POLT_MDTS_BYTES, &command->lba, len);
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
