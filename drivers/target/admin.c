// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands of connected queues are executed: values are gathered under the right locks, and
 * the rest is left to sqe.c, which says what a command asks for, and to identify.c, features.c and
 * log.c, which build what it gets.
 *
 * Commands come from the group in a worker, with buffers of exactly as many bytes as
 * polt_sqe_check_admin() says, and go back with polt_command_executed(). Buffers are recycled
 * between hosts: whatever returns data writes all of it.
 */
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "target/command.h"
#include "target/ctrl.h"
#include "target/queue.h"
#include "target/sqe.h"

#define POLT_ABORT_NOT_ABORTED	(1U << 0)	/* CDW0 of Abort */
#define POLT_CNTLIDS_MAX	2047		/* entries of a Controller List */

/* Identify */

static void polt_admin_identify_controller(struct polt_command *command, void *page)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_subsystem *subsystem = ctrl->subsystem;
	struct polt_identify_values values = {
		.discovery = subsystem->discovery,
		.serial = subsystem->serial,
		.model = subsystem->model,
		.firmware = POLT_FIRMWARE,
		.subnqn = subsystem->nqn,
		.cntlid = ctrl->cntlid,
		.mdts_bytes = POLT_MDTS_BYTES,
		.inline_size = ctrl->inline_size,
		.msdbd = POLT_MSDBD,
		.depth = ctrl->depth,
		.nn = POLT_NSID_MAX,
		/*
		 * A host asks once, namespaces come and go: if it did not send Flush to one that is
		 * added later, data could be lost. Where there is no cache, Flush costs nothing.
		 */
		.volatile_cache = true,
	};

	polt_identify_controller(page, &values);
}

static void polt_admin_ns_values(const struct polt_namespace *namespace,
				 struct polt_identify_ns_values *values)
{
	const struct polt_backend *backend = namespace->backend;

	memset(values, 0, sizeof(*values));
	values->blocks = READ_ONCE(backend->blocks);
	values->block_shift = backend->block_shift;
	values->read_only = READ_ONCE(backend->read_only);
	values->volatile_cache = backend->volatile_cache;
	values->granule_blocks = READ_ONCE(backend->granule_blocks);
	values->optimal_blocks = READ_ONCE(backend->optimal_blocks);
	memcpy(values->nguid, namespace->nguid, sizeof(values->nguid));
	values->uuid = namespace->uuid;
}

/* The namespace of an Identify command. False when there is none that hosts may see. */
static bool polt_admin_find_ns(struct polt_command *command, u32 nsid,
			       struct polt_identify_ns_values *values)
{
	struct polt_namespace *namespace;

	namespace = polt_namespace_get(command->queue->ctrl->subsystem, nsid);
	if (!namespace)
		return false;
	polt_admin_ns_values(namespace, values);
	polt_namespace_put(namespace);
	return true;
}

/* Identify data of a namespace: zeroes for one that could be, but is not. */
static u16 polt_admin_identify_ns(struct polt_command *command,
				  const struct polt_sqe_identify *identify, void *page)
{
	struct polt_identify_ns_values values;
	bool found = polt_admin_find_ns(command, identify->nsid, &values);

	switch (identify->page) {
	case POLT_PAGE_NAMESPACE:
		polt_identify_namespace(page, found ? &values : NULL);
		return NVME_SC_SUCCESS;
	case POLT_PAGE_INDEPENDENT:
		polt_identify_independent(page, found ? &values : NULL);
		return NVME_SC_SUCCESS;
	default:
		if (!found)
			return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
		polt_identify_descriptors(page, NVME_IDENTIFY_DATA_SIZE, &values);
		return NVME_SC_SUCCESS;
	}
}

static void polt_admin_identify_active(struct polt_command *command, u32 nsid, __le32 *list)
{
	struct polt_namespace *namespace;
	unsigned int nr = 0;
	unsigned long index;

	xa_for_each_start(&command->queue->ctrl->subsystem->namespaces, index, namespace,
			  nsid + 1UL) {
		list[nr++] = cpu_to_le32(index);
		if (nr == NVME_IDENTIFY_DATA_SIZE / sizeof(*list))
			break;
	}
}

/* A Controller List: the number of entries, then CNTLIDs from the one asked for, in order. */
struct polt_admin_cntlids {
	__le16 *list;
	u16 from;
	unsigned int nr;
};

static int polt_admin_add_cntlid(const struct polt_ctrl_info *info, void *arg)
{
	struct polt_admin_cntlids *cntlids = arg;
	unsigned int i;

	if (info->cntlid < cntlids->from || info->state == POLT_CTRL_DELETING ||
	    cntlids->nr == POLT_CNTLIDS_MAX)
		return 0;
	for (i = ++cntlids->nr; i > 1 && le16_to_cpu(cntlids->list[i - 1]) > info->cntlid; i--)
		cntlids->list[i] = cntlids->list[i - 1];
	cntlids->list[i] = cpu_to_le16(info->cntlid);
	return 0;
}

static u16 polt_admin_identify_controllers(struct polt_command *command,
					   const struct polt_sqe_identify *identify, __le16 *list)
{
	struct polt_admin_cntlids cntlids = {
		.list = list,
		.from = identify->cntlid,
	};
	struct polt_identify_ns_values values;

	/* Every namespace is attached to every controller. */
	if (identify->page == POLT_PAGE_NS_CONTROLLERS &&
	    !polt_admin_find_ns(command, identify->nsid, &values))
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	polt_ctrl_for_each(command->queue->ctrl->subsystem, polt_admin_add_cntlid, &cntlids);
	list[0] = cpu_to_le16(cntlids.nr);
	return NVME_SC_SUCCESS;
}

/* Fill in a page of zeroes. */
static u16 polt_admin_identify_page(struct polt_command *command, void *page)
{
	bool discovery = command->queue->ctrl->subsystem->discovery;
	struct polt_sqe_identify identify;
	u16 status;

	status = polt_sqe_parse_identify(&command->sqe, discovery, POLT_NSID_MAX, &identify);
	if (status)
		return status;

	switch (identify.page) {
	case POLT_PAGE_CONTROLLER:
		polt_admin_identify_controller(command, page);
		break;
	case POLT_PAGE_NAMESPACE:
	case POLT_PAGE_INDEPENDENT:
	case POLT_PAGE_DESCRIPTORS:
		return polt_admin_identify_ns(command, &identify, page);
	case POLT_PAGE_NAMESPACES:
		polt_admin_identify_active(command, identify.nsid, page);
		break;
	case POLT_PAGE_CONTROLLERS:
	case POLT_PAGE_NS_CONTROLLERS:
		return polt_admin_identify_controllers(command, &identify, page);
	case POLT_PAGE_COMMAND_SETS:
		*(__le64 *)page = cpu_to_le64(BIT_ULL(NVME_CSI_NVM));
		break;
	case POLT_PAGE_ZEROES:
		break;
	}
	return NVME_SC_SUCCESS;
}

static u16 polt_admin_identify(struct polt_command *command)
{
	void *page = kzalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);
	u16 status;

	if (!page)
		return NVME_SC_INTERNAL;
	status = polt_admin_identify_page(command, page);
	if (!status)
		status = polt_command_copy_to(command, 0, page, NVME_IDENTIFY_DATA_SIZE);
	kfree(page);
	return status;
}

/* Features */

static u16 polt_admin_get_features(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_features_reply reply;
	u16 status;

	mutex_lock(&ctrl->lock);
	status = polt_features_get(&ctrl->features, &command->sqe, &reply);
	mutex_unlock(&ctrl->lock);
	if (status)
		return status;
	command->cqe->result.u32 = cpu_to_le32(reply.result);
	return reply.len ? polt_command_copy_to(command, 0, reply.data, reply.len) : status;
}

static u16 polt_admin_set_features(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_features_reply reply;
	u32 kato_ms;
	u16 status;

	mutex_lock(&ctrl->lock);
	/* A reset that has come since is not to be undone. */
	if (!polt_ctrl_ready(ctrl)) {
		mutex_unlock(&ctrl->lock);
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	}
	kato_ms = ctrl->features.kato_ms;
	status = polt_features_set(&ctrl->features, &command->sqe, ctrl->nr_queues > 1, &reply);
	if (!status && ctrl->features.kato_ms != kato_ms)
		polt_ctrl_restart_alive(ctrl);
	mutex_unlock(&ctrl->lock);
	command->cqe->result.u32 = cpu_to_le32(reply.result);
	return status;
}

/* Log pages */

/* Return a structure that begins the log page and is all of it. */
static u16 polt_admin_put_page(struct polt_command *command,
			       const struct polt_log_request *request, const void *page, u32 len)
{
	struct polt_log_piece piece;
	u16 status;

	status = polt_log_clip_page(request, len, &piece);
	if (status || !piece.len)
		return status;
	return polt_command_copy_to(command, piece.at, page + piece.skip, piece.len);
}

static u16 polt_admin_log_errors(struct polt_command *command,
				 const struct polt_log_request *request)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct nvme_error_slot slots[POLT_ERRORS_MAX];
	unsigned int i;

	spin_lock_irq(&ctrl->errors_lock);
	for (i = 0; i < POLT_ERRORS_MAX; i++)
		polt_log_error_entry(&ctrl->errors, i, &slots[i]);
	spin_unlock_irq(&ctrl->errors_lock);
	return polt_admin_put_page(command, request, slots, sizeof(slots));
}

static void polt_admin_add_smart(const struct polt_namespace *namespace,
				 struct polt_log_smart_values *values)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct polt_namespace_counters *counters;

		counters = per_cpu_ptr(namespace->counters, cpu);
		values->bytes_read += READ_ONCE(counters->bytes_read);
		values->bytes_written += READ_ONCE(counters->bytes_written);
		values->reads += READ_ONCE(counters->reads);
		values->writes += READ_ONCE(counters->writes);
		values->media_errors += READ_ONCE(counters->media_errors);
	}
}

static u16 polt_admin_log_smart(struct polt_command *command,
				const struct polt_log_request *request)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_log_smart_values values = {
		.errors = READ_ONCE(ctrl->errors.count),
		.uptime_s = ktime_get_seconds(),
	};
	bool all = !request->nsid || request->nsid == NVME_NSID_ALL;
	u32 first = all ? 1 : request->nsid;
	u32 last = all ? POLT_NSID_MAX : request->nsid;
	struct polt_namespace *namespace;
	struct nvme_smart_log log;
	bool found = all;
	u32 nsid;

	for (nsid = first; nsid <= last; nsid++) {
		namespace = polt_namespace_get(ctrl->subsystem, nsid);
		if (!namespace)
			continue;
		polt_admin_add_smart(namespace, &values);
		polt_namespace_put(namespace);
		found = true;
	}
	if (!found)
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	polt_log_smart(&log, &values);
	return polt_admin_put_page(command, request, &log, sizeof(log));
}

static u16 polt_admin_log_firmware(struct polt_command *command,
				   const struct polt_log_request *request)
{
	struct nvme_fw_slot_info_log log;

	polt_log_firmware(&log, POLT_FIRMWARE);
	return polt_admin_put_page(command, request, &log, sizeof(log));
}

/* Pages too large for the stack. */
static u16 polt_admin_log_large(struct polt_command *command,
				const struct polt_log_request *request)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	u32 len = request->lid == POLT_LOG_SUPPORTED ? POLT_LOG_SUPPORTED_SIZE : SZ_4K;
	u32 changed[POLT_LOG_CHANGED_WORDS];
	struct polt_log_piece piece;
	void *page;
	u16 status;

	/* Reading forgets the changed namespaces: not by a command that fails. */
	status = polt_log_clip_page(request, len, &piece);
	if (status)
		return status;
	page = kzalloc(len, GFP_KERNEL);
	if (!page)
		return NVME_SC_INTERNAL;
	switch (request->lid) {
	case POLT_LOG_SUPPORTED:
		polt_log_supported(page, ctrl->subsystem->discovery);
		break;
	case NVME_LOG_CHANGED_NS:
		polt_aen_read(ctrl, POLT_EVENT_NAMESPACES, request->retain, changed);
		polt_log_changed(page, changed);
		break;
	case NVME_LOG_CMD_EFFECTS:
		polt_log_effects(page);
		break;
	}
	status = polt_admin_put_page(command, request, page, len);
	kfree(page);
	return status;
}

static u16 polt_admin_get_log(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_log_request request;
	u16 status;

	status = polt_log_parse(&command->sqe, POLT_MDTS_BYTES, &request);
	if (status)
		return status;
	if (!polt_log_known(ctrl->subsystem->discovery, request.lid))
		return NVME_SC_INVALID_LOG_PAGE | NVME_STATUS_DNR;
	status = polt_command_zero(command, 0, request.len);
	if (status)
		return status;

	switch (request.lid) {
	case NVME_LOG_ERROR:
		return polt_admin_log_errors(command, &request);
	case NVME_LOG_SMART:
		return polt_admin_log_smart(command, &request);
	case NVME_LOG_FW_SLOT:
		return polt_admin_log_firmware(command, &request);
	case NVME_LOG_DISC:
		return polt_discovery_log(command, &request);
	case POLT_LOG_SUPPORTED:
	case NVME_LOG_CHANGED_NS:
	case NVME_LOG_CMD_EFFECTS:
		return polt_admin_log_large(command, &request);
	default:
		return NVME_SC_INVALID_LOG_PAGE | NVME_STATUS_DNR;
	}
}

/* Abort: says whether the command was aborted. One that is in a disk is not. */
static bool polt_admin_abort_victim(struct polt_ctrl *ctrl, const struct polt_sqe_abort *abort)
{
	bool aborted = false;

	if (!abort->possible)
		return false;
	if (!abort->sqid && polt_aen_abort(ctrl, abort->command_id))
		return true;
	/* With the lock held the queue stays where it is. */
	mutex_lock(&ctrl->lock);
	if (ctrl->queues[abort->sqid])
		aborted = polt_queue_abort(ctrl->queues[abort->sqid], abort->command_id);
	mutex_unlock(&ctrl->lock);
	return aborted;
}

static u16 polt_admin_abort(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_sqe_abort abort;
	bool aborted;
	u16 status;

	status = polt_sqe_parse_abort(&command->sqe, ctrl->subsystem->discovery, POLT_IO_QUEUES_MAX,
				      &abort);
	if (status)
		return status;
	if (atomic_inc_return(&ctrl->aborts) > POLT_ABORTS_MAX) {
		status = NVME_SC_ABORT_LIMIT;
	} else {
		aborted = polt_admin_abort_victim(ctrl, &abort);
		command->cqe->result.u32 = cpu_to_le32(aborted ? 0 : POLT_ABORT_NOT_ABORTED);
	}
	atomic_dec(&ctrl->aborts);
	return status;
}

static u16 polt_admin_dispatch(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;

	/* Until it is enabled, and after a shutdown, only Fabrics commands are for a controller. */
	if (!polt_ctrl_ready(ctrl))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;

	switch (command->sqe.common.opcode) {
	case nvme_admin_identify:
		return polt_admin_identify(command);
	case nvme_admin_get_log_page:
		return polt_admin_get_log(command);
	case nvme_admin_get_features:
		return polt_admin_get_features(command);
	case nvme_admin_set_features:
		return polt_admin_set_features(command);
	case nvme_admin_abort_cmd:
		return polt_admin_abort(command);
	default:
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	}
}

/**
 * polt_admin_execute - execute a command of an admin queue that is not a Fabrics command
 * @command: of a connected queue; its data, if it brings any, is in its buffers; ended when this
 *	returns or later
 *
 * Worker, sleeps. Keep Alive does not come here: the thread answers it.
 */
void polt_admin_execute(struct polt_command *command)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	u16 status;

	if (command->sqe.common.opcode == nvme_admin_async_event) {
		status = polt_aen_hold(ctrl, command);
		if (status)
			polt_command_executed(command, status);
		return;
	}
	polt_command_executed(command, polt_admin_dispatch(command));
}
