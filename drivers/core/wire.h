/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The private data of RDMA_CM messages that NVMe over RDMA defines (RDMA Transport Specification,
 * "Fabric Dependent Settings"): the connect request, the accept and the reject.
 *
 * Both ends use this: the target parses requests and builds accepts and rejects, the initiator does
 * the reverse. The functions only compute and are compiled as they are by the unit tests and
 * fuzzers; every byte they read comes from a peer.
 *
 * On the wire HRQSIZE and CRQSIZE are counts while HSQSIZE is 0's based:
 * mixing them up is the classic mistake, so callers only see true entry counts.
 */
#ifndef POL_CORE_WIRE_H
#define POL_CORE_WIRE_H

#include <linux/types.h>
#include <linux/nvme-rdma.h>

/**
 * struct pol_wire_request - a connect request's private data in host byte order
 * @qid: queue identifier, 0 is the admin queue
 * @hrqsize: entries of the host's receive queue (the host's count of responses it can take)
 * @hsqsize: entries of the host's submission queue, converted from the 0's based wire field
 * @cntlid: controller the I/O queue is for, 0 or 0xffff when not given
 */
struct pol_wire_request {
	u16 qid;
	u32 hrqsize;
	u32 hsqsize;
	u16 cntlid;
};

int pol_wire_parse_request(const void *data, size_t len, struct pol_wire_request *request);
void pol_wire_build_request(struct nvme_rdma_cm_req *wire, const struct pol_wire_request *request);

int pol_wire_parse_accept(const void *data, size_t len, u32 *crqsize);
void pol_wire_build_accept(struct nvme_rdma_cm_rep *wire, u32 crqsize);

int pol_wire_parse_reject(const void *data, size_t len);
void pol_wire_build_reject(struct nvme_rdma_cm_rej *wire, enum nvme_rdma_cm_status status);
const char *pol_wire_status_text(int status);

#endif
