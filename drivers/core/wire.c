// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse and build the private data that NVMe over RDMA puts into RDMA_CM messages.
 *
 * What is parsed comes from a peer that nothing is known about yet, so each function checks the
 * length before it looks, copies the bytes out (they need not be aligned), and says exactly what is
 * wrong. What is built is zero in every reserved byte: private data may lie on the stack and goes
 * out as it is. Nothing here sleeps, locks or allocates, and nothing depends on the context.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "core/wire.h"

/* The limits of the Base Specification: two slots at least, an Admin queue has at most 4096. */
#define QUEUE_ENTRIES_MIN	2
#define ADMIN_ENTRIES_MAX	4096
#define QUEUE_ENTRIES_MAX	65536

/* NVME_RDMA_CM_INVALID_CNTLID by its number: older kernels do not name it. */
#define STATUS_INVALID_CNTLID	9

/* The first bytes of every kind of private data. */
struct wire_head {
	__le16 recfmt;
	__le16 value;
};

/*
 * The connect request byte for byte. Older kernels' struct nvme_rdma_cm_req has no name for CNTLID,
 * which came with revision 1.1 of the transport specification.
 */
struct wire_request {
	__le16 recfmt;
	__le16 qid;
	__le16 hrqsize;
	__le16 hsqsize;
	__le16 cntlid;
	u8 rsvd[22];
};

/**
 * pol_wire_parse_request - check and take apart the private data of a connect request
 * @data: the private data, not necessarily aligned
 * @len: bytes at @data; the connection manager pads, so more than the structure is normal
 * @request: filled in on success, else untouched
 *
 * The queue sizes are checked against the NVMe Base Specification only. What this machine gives is
 * the caller's business.
 *
 * Return: 0, or the positive enum nvme_rdma_cm_status to reject the request with.
 */
int pol_wire_parse_request(const void *data, size_t len, struct pol_wire_request *request)
{
	struct wire_request wire;
	u32 hsqsize, hsqsize_max;
	u16 qid;

	BUILD_BUG_ON(sizeof(wire) != sizeof(struct nvme_rdma_cm_req));

	if (len < sizeof(wire))
		return NVME_RDMA_CM_INVALID_LEN;
	memcpy(&wire, data, sizeof(wire));
	if (wire.recfmt != cpu_to_le16(NVME_RDMA_CM_FMT_1_0))
		return NVME_RDMA_CM_INVALID_RECFMT;
	if (!wire.hrqsize)
		return NVME_RDMA_CM_INVALID_HRQSIZE;

	qid = le16_to_cpu(wire.qid);
	hsqsize = le16_to_cpu(wire.hsqsize) + 1;
	hsqsize_max = qid ? QUEUE_ENTRIES_MAX : ADMIN_ENTRIES_MAX;
	if (hsqsize < QUEUE_ENTRIES_MIN || hsqsize > hsqsize_max)
		return NVME_RDMA_CM_INVALID_HSQSIZE;

	request->qid = qid;
	request->hrqsize = le16_to_cpu(wire.hrqsize);
	request->hsqsize = hsqsize;
	request->cntlid = le16_to_cpu(wire.cntlid);
	return 0;
}
EXPORT_SYMBOL_GPL(pol_wire_parse_request);

/**
 * pol_wire_build_request - build the private data of a connect request
 * @wire: every byte of it is written
 * @request: what to ask for; a @hrqsize of 65536 goes out as 65535, the most the field holds, and
 *	@hsqsize must be from 1 to 65536
 */
void pol_wire_build_request(struct nvme_rdma_cm_req *wire, const struct pol_wire_request *request)
{
	struct wire_request out = {
		.recfmt		= cpu_to_le16(NVME_RDMA_CM_FMT_1_0),
		.qid		= cpu_to_le16(request->qid),
		.hrqsize	= cpu_to_le16(min_t(u32, request->hrqsize, U16_MAX)),
		.hsqsize	= cpu_to_le16(min_t(u32, request->hsqsize - 1, U16_MAX)),
		.cntlid		= cpu_to_le16(request->cntlid),
	};

	memcpy(wire, &out, sizeof(*wire));
}
EXPORT_SYMBOL_GPL(pol_wire_build_request);

/* Take the second field out of private data that starts like every kind of it does. */
static int wire_parse_head(const void *data, size_t len, size_t len_min, u16 *value)
{
	struct wire_head head;

	if (len < len_min)
		return -EPROTO;
	memcpy(&head, data, sizeof(head));
	if (head.recfmt != cpu_to_le16(NVME_RDMA_CM_FMT_1_0) || !head.value)
		return -EPROTO;
	*value = le16_to_cpu(head.value);
	return 0;
}

/**
 * pol_wire_parse_accept - check and take apart the private data of an accepted connect
 * @data: the private data, not necessarily aligned
 * @len: bytes at @data
 * @crqsize: on success the entries of the controller's receive queue, 1 to 65535
 *
 * Return: 0, or -EPROTO when the data is too short, of another format or leaves no queue entry.
 */
int pol_wire_parse_accept(const void *data, size_t len, u32 *crqsize)
{
	u16 value;
	int ret;

	ret = wire_parse_head(data, len, sizeof(struct nvme_rdma_cm_rep), &value);
	if (!ret)
		*crqsize = value;
	return ret;
}
EXPORT_SYMBOL_GPL(pol_wire_parse_accept);

/**
 * pol_wire_build_accept - build the private data of an accept
 * @wire: every byte of it is written
 * @crqsize: entries of the controller's receive queue; more than 65535 goes out as 65535, the most
 *	the field holds
 */
void pol_wire_build_accept(struct nvme_rdma_cm_rep *wire, u32 crqsize)
{
	memset(wire, 0, sizeof(*wire));
	wire->recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0);
	wire->crqsize = cpu_to_le16(min_t(u32, crqsize, U16_MAX));
}
EXPORT_SYMBOL_GPL(pol_wire_build_accept);

/**
 * pol_wire_parse_reject - find out why a controller rejected a connect
 * @data: the private data, not necessarily aligned
 * @len: bytes at @data
 *
 * Return: the positive status sent, normally an enum nvme_rdma_cm_status, or -EPROTO when the
 * reject carries no NVMe reason (the connection manager rejects too, without private data).
 */
int pol_wire_parse_reject(const void *data, size_t len)
{
	u16 value;
	int ret;

	ret = wire_parse_head(data, len, sizeof(struct nvme_rdma_cm_rej), &value);
	return ret ? ret : value;
}
EXPORT_SYMBOL_GPL(pol_wire_parse_reject);

/**
 * pol_wire_build_reject - build the private data of a reject
 * @wire: every byte of it is written
 * @status: why
 */
void pol_wire_build_reject(struct nvme_rdma_cm_rej *wire, enum nvme_rdma_cm_status status)
{
	wire->recfmt = cpu_to_le16(NVME_RDMA_CM_FMT_1_0);
	wire->sts = cpu_to_le16(status);
}
EXPORT_SYMBOL_GPL(pol_wire_build_reject);

/**
 * pol_wire_status_text - a reject's reason for people
 * @status: what pol_wire_parse_request() or pol_wire_parse_reject() returned, any value
 *
 * Return: a constant text, never NULL.
 */
const char *pol_wire_status_text(int status)
{
	switch (status) {
	case NVME_RDMA_CM_INVALID_LEN:
		return "private data of the wrong length";
	case NVME_RDMA_CM_INVALID_RECFMT:
		return "unknown format of the private data (RECFMT)";
	case NVME_RDMA_CM_INVALID_QID:
		return "queue identifier (QID) not possible";
	case NVME_RDMA_CM_INVALID_HSQSIZE:
		return "host send queue size (HSQSIZE) not possible";
	case NVME_RDMA_CM_INVALID_HRQSIZE:
		return "host receive queue size (HRQSIZE) not possible";
	case NVME_RDMA_CM_NO_RSC:
		return "out of RDMA resources";
	case NVME_RDMA_CM_INVALID_IRD:
		return "inbound read depth (IRD) not possible";
	case NVME_RDMA_CM_INVALID_ORD:
		return "outbound read depth (ORD) not possible";
	case STATUS_INVALID_CNTLID:
		return "controller identifier (CNTLID) not known";
	default:
		return "no reason that is known";
	}
}
EXPORT_SYMBOL_GPL(pol_wire_status_text);
