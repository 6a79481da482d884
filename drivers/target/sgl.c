// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SGL of a capsule says where a command's data is: in the capsule itself, or in memory of the
 * host that RDMA reaches. This file checks what the peer wrote and turns it into polt_transfer.
 *
 * What NVMe over RDMA allows in SGL1 of a submission queue entry:
 *
 *	keyed data block, address		one piece of host memory
 *	keyed data block, invalidate		the same, and the key is to be invalidated at the
 *	end data block, offset			data in the capsule, behind the SQE
 *	last segment, offset			a list of keyed data blocks in the capsule
 *
 * The bound of everything in the capsule is what arrived, never what was advertised: receive
 * buffers are shared between hosts, and behind a short capsule lies what somebody else sent.
 *
 * Nothing is owned here, the functions only compute.
 */
#include <linux/string.h>

#include "compat/unaligned.h"
#include "target/sgl.h"

#define POLT_SGL_TYPE_SHIFT	4
#define POLT_SGL_SUBTYPE_MASK	0x0f
#define POLT_SGL_DATA_DIRECTION	0x03	/* of an opcode or a fabrics command type */
#define POLT_SGL_TO_CONTROLLER	0x01

/* Which way the command moves data, from the two low bits of what names it. */
static unsigned int polt_sgl_direction(const struct nvme_command *sqe)
{
	u8 code = sqe->common.opcode;

	if (code == nvme_fabrics_command)
		code = sqe->fabrics.fctype;
	return code & POLT_SGL_DATA_DIRECTION;
}

/* Is [@offset, @offset + @len) inside the @have bytes behind the SQE? The sum may wrap. */
static bool polt_sgl_inside(u64 offset, u32 len, u32 have)
{
	return offset <= have && len <= have - offset;
}

static u16 polt_sgl_add_keyed(const struct nvme_keyed_sgl_desc *desc, u32 max_len,
			      struct polt_transfer *transfer)
{
	u64 addr = get_unaligned_le64(&desc->addr);
	u32 len = get_unaligned_le24(desc->length);
	u32 rkey = get_unaligned_le32(desc->key);

	if (desc->type >> POLT_SGL_TYPE_SHIFT != NVME_KEY_SGL_FMT_DATA_DESC)
		return NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR;

	switch (desc->type & POLT_SGL_SUBTYPE_MASK) {
	case NVME_SGL_FMT_ADDRESS:
		break;
	case NVME_SGL_FMT_INVALIDATE:
		/*
		 * A response carries one key; a host invalidates by itself what did not come back.
		 */
		if (!transfer->invalidate) {
			transfer->invalidate = true;
			transfer->invalidate_rkey = rkey;
		}
		break;
	default:
		return NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR;
	}

	if (!len)
		return NVME_SC_SUCCESS;
	if (len > max_len || transfer->len > max_len - len || addr + len - 1 < addr)
		return NVME_SC_SGL_INVALID_DATA | NVME_STATUS_DNR;

	transfer->segments[transfer->nr_segments].addr = addr;
	transfer->segments[transfer->nr_segments].len = len;
	transfer->segments[transfer->nr_segments].rkey = rkey;
	transfer->nr_segments++;
	transfer->len += len;
	transfer->kind = POLT_TRANSFER_KEYED;
	return NVME_SC_SUCCESS;
}

static u16 polt_sgl_parse_inline(const struct nvme_sgl_desc *desc, u32 have, bool to_controller,
				 u32 max_len, struct polt_transfer *transfer)
{
	u64 offset = get_unaligned_le64(&desc->addr);
	u32 len = get_unaligned_le32(&desc->length);

	if ((desc->type & POLT_SGL_SUBTYPE_MASK) != NVME_SGL_FMT_OFFSET || !to_controller)
		return NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR;
	if (offset > have)
		return NVME_SC_SGL_INVALID_OFFSET | NVME_STATUS_DNR;
	if (!polt_sgl_inside(offset, len, have) || len > max_len)
		return NVME_SC_SGL_INVALID_DATA | NVME_STATUS_DNR;
	if (!len)
		return NVME_SC_SUCCESS;

	transfer->kind = POLT_TRANSFER_INLINE;
	transfer->offset = offset;
	transfer->len = len;
	return NVME_SC_SUCCESS;
}

static u16 polt_sgl_parse_list(const struct nvme_sgl_desc *desc, const void *behind_sqe, u32 have,
			       u32 max_len, struct polt_transfer *transfer)
{
	u64 offset = get_unaligned_le64(&desc->addr);
	u32 len = get_unaligned_le32(&desc->length);
	struct nvme_keyed_sgl_desc entry;
	u16 status;
	u32 at;

	if ((desc->type & POLT_SGL_SUBTYPE_MASK) != NVME_SGL_FMT_OFFSET)
		return NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR;
	if (!len || len % sizeof(struct nvme_keyed_sgl_desc))
		return NVME_SC_SGL_INVALID_LAST | NVME_STATUS_DNR;
	if (len / sizeof(struct nvme_keyed_sgl_desc) > POLT_MSDBD)
		return NVME_SC_SGL_INVALID_COUNT | NVME_STATUS_DNR;
	if (offset > have)
		return NVME_SC_SGL_INVALID_OFFSET | NVME_STATUS_DNR;
	if (!polt_sgl_inside(offset, len, have))
		return NVME_SC_SGL_INVALID_LAST | NVME_STATUS_DNR;

	for (at = 0; at < len; at += sizeof(struct nvme_keyed_sgl_desc)) {
		/* The offset is the host's choice: the entry may lie at any address. */
		memcpy(&entry, behind_sqe + offset + at, sizeof(entry));
		status = polt_sgl_add_keyed(&entry, max_len, transfer);
		if (status)
			return status;
	}
	return NVME_SC_SUCCESS;
}

/**
 * polt_sgl_parse - check the SGL of a capsule
 * @capsule: the capsule as it arrived, beginning with the 64-byte SQE
 * @arrived: bytes that arrived, at least 64
 * @max_len: longest transfer the controller takes (MDTS in bytes)
 * @transfer: result; after a refusal only what is to be invalidated counts
 *
 * Any context. (NVMe Base Specification, "Scatter Gather List (SGL)"; RDMA Transport
 * Specification.)
 *
 * Return: NVME_SC_SUCCESS, or an NVMe status with DNR: a generic SGL status or Invalid Field.
 */
u16 polt_sgl_parse(const void *capsule, u32 arrived, u32 max_len, struct polt_transfer *transfer)
{
	const struct nvme_command *sqe = capsule;
	const struct nvme_sgl_desc *desc = &sqe->common.dptr.sgl;
	const void *behind_sqe = capsule + sizeof(*sqe);
	unsigned int direction = polt_sgl_direction(sqe);
	u32 have = arrived - sizeof(*sqe);
	u8 psdt = sqe->common.flags & NVME_CMD_SGL_ALL;

	transfer->kind = POLT_TRANSFER_NONE;
	transfer->len = 0;
	transfer->offset = 0;
	transfer->nr_segments = 0;
	transfer->invalidate = false;
	transfer->invalidate_rkey = 0;

	/* The SGL of a command that moves no data means nothing. */
	if (!direction)
		return NVME_SC_SUCCESS;
	/* Fabrics know no PRPs, and both bits at once are reserved. */
	if (!psdt || psdt == NVME_CMD_SGL_ALL)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;

	switch (desc->type >> POLT_SGL_TYPE_SHIFT) {
	case NVME_KEY_SGL_FMT_DATA_DESC:
		return polt_sgl_add_keyed(&sqe->common.dptr.ksgl, max_len, transfer);
	case NVME_SGL_FMT_DATA_DESC:
		return polt_sgl_parse_inline(desc, have, direction == POLT_SGL_TO_CONTROLLER,
					     max_len, transfer);
	case NVME_SGL_FMT_LAST_SEG_DESC:
		return polt_sgl_parse_list(desc, behind_sqe, have, max_len, transfer);
	default:
		return NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR;
	}
}
