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

#include <linux/bits.h>
#include "host/private/public_headers.h"
#include "host/private/nvme_types.h"
#include "host/private/nvme_protos.h"
#include "host/private/nvme_assert.h"

/* Where nvme-core deletes controllers. */
extern struct workqueue_struct *nvme_delete_wq;

/* Bit of nvme_ctrl_ops.flags: a controller behind a fabric. */
#define POLH_NVME_F_FABRICS	BIT(0)

/* nvme-core sets CC.MPS to this page size, whatever the machine's is. */
#define POLH_NVME_PAGE_SIZE	4096

/* Do Not Retry, in a status without the phase bit; its name in <linux/nvme.h> has changed. */
#define POLH_NVME_STATUS_DNR	BIT(14)

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

/*
 * Identifier of the Asynchronous Event Request, which nvme-core has sent without a request: the
 * first that no tag of the admin queue has.
 */
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
 * polh_nvme_set_aborted - say that a request ends without a completion
 * @rq: request that is in flight and is about to be ended
 *
 * nvme-core tries it again if it may.
 */
static inline void polh_nvme_set_aborted(struct request *rq)
{
	struct nvme_request *nr = polh_nvme_request(rq);

	nr->status = NVME_SC_HOST_ABORTED_CMD;
	nr->flags |= NVME_REQ_CANCELLED;
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

/* Give back a reference; the last one calls ->free_ctrl. */
static inline void polh_nvme_put(struct nvme_ctrl *ctrl)
{
	put_device(ctrl->device);
}

#endif
