/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that the initiator knows of nvme-core and nvme-fabrics beyond public headers. Types, exported
 * functions and a check of every offset are generated from BTF, for the very modules at hand; here
 * is what BTF cannot carry: exported data, and the conventions between nvme-core and a transport
 * that are written down nowhere but in code. They are the same in all supported kernels; where
 * kernels differ, see nvme_compat.h.
 *
 * The files of the initiator include nvme_compat.h, which includes this one.
 */
#ifndef POLH_NVME_PRIVATE_H
#define POLH_NVME_PRIVATE_H

#include <linux/bitfield.h>
#include "host/private/public_headers.h"
#include "host/private/nvme_types.h"
#include "host/private/nvme_protos.h"
#include "host/private/nvme_assert.h"

/* The work queues of nvme-core: for anything; for resets; for deletions, which wait for resets. */
extern struct workqueue_struct *nvme_wq;
extern struct workqueue_struct *nvme_reset_wq;
extern struct workqueue_struct *nvme_delete_wq;

/* Bits of nvme_ctrl_ops.flags. */
enum {
	POLH_NVME_F_FABRICS		= 1 << 0,
	POLH_NVME_F_METADATA_SUPPORTED	= 1 << 1,
	POLH_NVME_F_BLOCKING		= 1 << 2,	/* ->queue_rq may sleep */
};

/* nvme-core sets CC.MPS to this page size, whatever the machine's is. */
#define POLH_NVME_PAGE_SIZE	4096

/* Do Not Retry, in a status without the phase bit; its name in <linux/nvme.h> has changed. */
#define POLH_NVME_STATUS_DNR	BIT(14)

/* A command identifier is the request's tag, below four bits of a counter of the tag's uses. */
#define POLH_NVME_CID_TAG	GENMASK(11, 0)
#define POLH_NVME_CID_USES	GENMASK(15, 12)

/**
 * polh_nvme_request - nvme-core's part of a request
 * @rq: request of a tag set made by nvme_alloc_admin_tag_set() or nvme_alloc_io_tag_set()
 *
 * It must be the first member of what a transport keeps per request, and the transport's
 * ->init_request must set its ctrl and cmd.
 */
static inline struct nvme_request *polh_nvme_request(struct request *rq)
{
	return blk_mq_rq_to_pdu(rq);
}

/**
 * polh_nvme_find_request - look up the request of a completion
 * @tags: tags of the queue that the completion came from
 * @command_id: identifier as the peer sent it, in CPU byte order; any value is safe
 *
 * Return: the request, or NULL if no command in flight has this identifier: it never was given
 * out, or the command has ended already.
 */
static inline struct request *polh_nvme_find_request(struct blk_mq_tags *tags, u16 command_id)
{
	struct request *rq = blk_mq_tag_to_rq(tags, FIELD_GET(POLH_NVME_CID_TAG, command_id));
	u8 uses;

	if (!rq || !blk_mq_request_started(rq))
		return NULL;
	uses = polh_nvme_request(rq)->genctr;
	return FIELD_GET(POLH_NVME_CID_USES, command_id) == (uses & 0xf) ? rq : NULL;
}

/**
 * polh_nvme_is_event - whether a completion is that of an Asynchronous Event Request
 * @qid: queue that it came from
 * @command_id: its identifier, in CPU byte order
 *
 * nvme-core sends these without a request, with an identifier that no tag of the admin queue has:
 * POLH_NVME_EVENT_CID.
 */
static inline bool polh_nvme_is_event(u16 qid, u16 command_id)
{
	return qid == 0 && FIELD_GET(POLH_NVME_CID_TAG, command_id) >= NVME_AQ_BLK_MQ_DEPTH;
}

#define POLH_NVME_EVENT_CID	NVME_AQ_BLK_MQ_DEPTH

/**
 * polh_nvme_set_result - keep what a completion says, before its request is ended
 * @rq: request, found by its identifier
 * @status: status field of the completion, with the phase bit
 * @result: command specific result
 *
 * Call it exactly once per completion; from now on the identifier is not valid any more.
 */
static inline void polh_nvme_set_result(struct request *rq, __le16 status, union nvme_result result)
{
	struct nvme_request *nr = polh_nvme_request(rq);

	if (!(nr->ctrl->quirks & NVME_QUIRK_SKIP_CID_GEN))
		nr->genctr++;
	nr->status = le16_to_cpu(status) >> 1;
	nr->result = result;
}

/**
 * polh_nvme_abort_request - end a request that nobody will complete any more
 * @rq: request of a queue that is stopped and drained; may have ended already
 *
 * For ->timeout while the controller is torn down or not yet up. The request ends as "aborted by
 * host", which nvme-core retries where that is allowed.
 */
static inline void polh_nvme_abort_request(struct request *rq)
{
	if (!blk_mq_request_started(rq) || blk_mq_request_completed(rq))
		return;
	polh_nvme_request(rq)->status = NVME_SC_HOST_ABORTED_CMD;
	blk_mq_complete_request(rq);
}

/**
 * polh_nvme_complete_batch - end a batch of requests; the heart of io_comp_batch.complete
 * @iob: batch, all with a result and nothing of the transport's left in them
 */
static inline void polh_nvme_complete_batch(struct io_comp_batch *iob)
{
	struct request *rq;

	rq_list_for_each(&iob->req_list, rq)
		nvme_complete_batch_req(rq);
	blk_mq_end_request_batch(iob);
}

/* State of a controller; it may change at any time. */
static inline enum nvme_ctrl_state polh_nvme_state(struct nvme_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
}

static inline void polh_nvme_get(struct nvme_ctrl *ctrl)
{
	get_device(ctrl->device);
}

/* The last one calls ->free_ctrl. */
static inline void polh_nvme_put(struct nvme_ctrl *ctrl)
{
	put_device(ctrl->device);
}

/**
 * polh_nvme_same_association - whether a controller already is what somebody wants to connect to
 * @ctrl: an existing controller
 * @opts: what is wanted
 *
 * Compares subsystem and host; addresses are for nvmf_ip_options_match(), which does this too.
 * A controller on its way out does not count.
 */
static inline bool polh_nvme_same_association(struct nvme_ctrl *ctrl,
					      struct nvmf_ctrl_options *opts)
{
	switch (polh_nvme_state(ctrl)) {
	case NVME_CTRL_DELETING:
	case NVME_CTRL_DELETING_NOIO:
	case NVME_CTRL_DEAD:
		return false;
	default:
		return !strcmp(ctrl->opts->subsysnqn, opts->subsysnqn) &&
		       !strcmp(ctrl->opts->host->nqn, opts->host->nqn) &&
		       uuid_equal(&ctrl->opts->host->id, &opts->host->id);
	}
}

#endif
