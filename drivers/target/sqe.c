// SPDX-License-Identifier: GPL-2.0-only
/*
 * A submission queue entry is 64 bytes that a host wrote, and says what is to be done. This file
 * says which commands there are, how much data each carries, and which page, queue, property or
 * range of blocks it is about, so that what acts on a command never sees a number that it does not
 * expect. What a command is refused for depends on the order of the checks; where a host can tell,
 * the order is part of what is tested.
 *
 * Whether the namespace, queue or controller is there is the caller's business. Nothing is owned
 * here, the functions only compute, in any context.
 */
#include <linux/kernel.h>
#include <asm/byteorder.h>

#include "target/features.h"
#include "target/log.h"
#include "target/sqe.h"

/* What <linux/nvme.h> has no name for. */
#define POLT_SC_INVALID_QUEUE_TYPE	0x185
#define POLT_CNS_CSI_NS_LIST		0x07	/* active namespaces of an I/O command set */
#define POLT_CNS_CSI_SETS		0x1c	/* I/O command sets the controller offers */

#define POLT_SQE_FUSED		(NVME_CMD_FUSE_FIRST | NVME_CMD_FUSE_SECOND)
#define POLT_SQE_PRINFO		(NVME_RW_PRINFO_PRCHK_REF | NVME_RW_PRINFO_PRCHK_APP | \
				 NVME_RW_PRINFO_PRCHK_GUARD | NVME_RW_PRINFO_PRACT)

#define POLT_PROPERTY_SIZE_MASK	0x07	/* ATTRIB: 0 is 4 bytes, 1 is 8 bytes */
#define POLT_PROPERTY_4_BYTES	0
#define POLT_PROPERTY_8_BYTES	1

/* CC fields beyond those of <linux/nvme.h> */
#define POLT_CC_MPS_MASK	(0xfU << NVME_CC_MPS_SHIFT)
#define POLT_CC_AMS_MASK	(0x7U << NVME_CC_AMS_SHIFT)
#define POLT_CC_IOSQES_MASK	(0xfU << NVME_CC_IOSQES_SHIFT)
#define POLT_CC_IOCQES_MASK	(0xfU << NVME_CC_IOCQES_SHIFT)

static const struct polt_sqe_io polt_sqe_ios[] = {
	[nvme_cmd_flush] = { .known = true, .class = POL_LATENCY_OTHER },
	[nvme_cmd_write] = {
		.known = true, .writes = true, .range = true, .class = POL_LATENCY_WRITE,
	},
	[nvme_cmd_read] = { .known = true, .range = true, .class = POL_LATENCY_READ },
};

/**
 * polt_sqe_check_io - is this an I/O command that we have?
 * @sqe: the command, any content, of an I/O queue and not a Fabrics command
 * @io: result on success: what there is to know of it
 *
 * Return: NVME_SC_SUCCESS, Invalid Field in Command of a fused one, or Invalid Command Opcode, with
 * DNR.
 */
u16 polt_sqe_check_io(const struct nvme_command *sqe, const struct polt_sqe_io **io)
{
	u8 opcode = sqe->common.opcode;

	if (unlikely(sqe->common.flags & POLT_SQE_FUSED))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	if (unlikely(opcode >= ARRAY_SIZE(polt_sqe_ios) || !polt_sqe_ios[opcode].known))
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	*io = &polt_sqe_ios[opcode];
	return NVME_SC_SUCCESS;
}

/**
 * polt_sqe_check_range - the blocks of a Read or Write lie in the namespace
 * @sqe: the command, any content, of which polt_sqe_check_io() said that it has a range
 * @blocks: size of the namespace in logical blocks
 * @block_shift: log2 of the size of a logical block in bytes, at most 31
 * @max_len: longest data transfer of the controller in bytes
 * @lba: result on success: the first block, below @blocks
 * @len: result on success: bytes of data, 1 to @max_len; they end within @blocks
 *
 * Return: NVME_SC_SUCCESS, LBA Out of Range, Invalid Field in Command when it is too long, Invalid
 * Protection Information, with DNR.
 */
u16 polt_sqe_check_range(const struct nvme_command *sqe, u64 blocks, u8 block_shift, u32 max_len,
			 u64 *lba, u32 *len)
{
	const struct nvme_rw_command *rw = &sqe->rw;
	u64 slba = le64_to_cpu(rw->slba);
	u32 nlb = le16_to_cpu(rw->length) + 1;

	if (unlikely(slba >= blocks || nlb > blocks - slba))
		return NVME_SC_LBA_RANGE | NVME_STATUS_DNR;
	if (unlikely((u64)nlb << block_shift > max_len))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	/* No namespace has protection information. */
	if (unlikely(le16_to_cpu(rw->control) & POLT_SQE_PRINFO))
		return NVME_SC_INVALID_PI | NVME_STATUS_DNR;

	*lba = slba;
	*len = nlb << block_shift;
	return NVME_SC_SUCCESS;
}

/**
 * polt_sqe_check_admin - is this an admin command that we have, and how much data does it carry?
 * @sqe: the command, any content, of an Admin Queue and not a Fabrics command
 * @discovery: of a discovery controller
 * @max_len: longest data transfer of the controller in bytes, at least 4096
 * @len: result: bytes of data, at most @max_len; 0 if it is refused
 *
 * What else there is to check is checked where the command is executed.
 *
 * Return: NVME_SC_SUCCESS, Invalid Field in Command or Invalid Command Opcode, with DNR.
 */
u16 polt_sqe_check_admin(const struct nvme_command *sqe, bool discovery, u32 max_len, u32 *len)
{
	struct polt_log_request request;
	u16 status;

	*len = 0;
	if (sqe->common.flags & POLT_SQE_FUSED)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (sqe->common.opcode) {
	case nvme_admin_identify:
		*len = NVME_IDENTIFY_DATA_SIZE;
		return NVME_SC_SUCCESS;
	case nvme_admin_get_features:
	case nvme_admin_set_features:
		if (!polt_features_known(discovery, sqe))
			return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
		*len = polt_features_data_len(sqe);
		return NVME_SC_SUCCESS;
	case nvme_admin_get_log_page:
		status = polt_log_parse(sqe, max_len, &request);
		if (!status)
			*len = request.len;
		return status;
	case nvme_admin_abort_cmd:
	case nvme_admin_async_event:
	case nvme_admin_keep_alive:
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	}
}

/**
 * polt_sqe_check_fabrics - is this a Fabrics command that we have, and how much data does it carry?
 * @sqe: a Fabrics command, any content, of any queue
 * @len: result: bytes of data; 0 if it is refused
 *
 * Return: NVME_SC_SUCCESS or Invalid Command Opcode with DNR.
 */
u16 polt_sqe_check_fabrics(const struct nvme_command *sqe, u32 *len)
{
	*len = 0;
	switch (sqe->fabrics.fctype) {
	case nvme_fabrics_type_connect:
		*len = sizeof(struct nvmf_connect_data);
		return NVME_SC_SUCCESS;
	case nvme_fabrics_type_property_set:
	case nvme_fabrics_type_property_get:
	case POLT_FABRICS_DISCONNECT:
		return NVME_SC_SUCCESS;
	default:
		/*
		 * Not known, or authentication, which nobody was asked for: how much data it brings
		 * does not matter.
		 */
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	}
}

static u16 polt_sqe_identify_is(struct polt_sqe_identify *identify, enum polt_sqe_page page,
				const struct nvme_identify *from)
{
	identify->page = page;
	identify->nsid = le32_to_cpu(from->nsid);
	identify->cntlid = le16_to_cpu(from->ctrlid);
	return NVME_SC_SUCCESS;
}

/* Of a namespace that can be. */
static u16 polt_sqe_identify_ns(struct polt_sqe_identify *identify, enum polt_sqe_page page,
				const struct nvme_identify *from, u32 nsid_max)
{
	u32 nsid = le32_to_cpu(from->nsid);

	if (!nsid || nsid > nsid_max)
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	return polt_sqe_identify_is(identify, page, from);
}

static u16 polt_sqe_identify_list(struct polt_sqe_identify *identify,
				  const struct nvme_identify *from)
{
	/* The two highest numbers leave no room for a greater one. */
	if (le32_to_cpu(from->nsid) >= NVME_NSID_ALL - 1)
		return NVME_SC_INVALID_NS | NVME_STATUS_DNR;
	return polt_sqe_identify_is(identify, POLT_PAGE_NAMESPACES, from);
}

/* What there is per I/O command set. The only one is NVM. */
static u16 polt_sqe_identify_set(struct polt_sqe_identify *identify,
				 const struct nvme_identify *from, u32 nsid_max)
{
	if (from->csi != NVME_CSI_NVM)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (from->cns) {
	case NVME_ID_CNS_CS_NS:
		/* No metadata, no protection information. */
		return polt_sqe_identify_ns(identify, POLT_PAGE_ZEROES, from, nsid_max);
	case NVME_ID_CNS_CS_CTRL:
		/* No command has a limit of its own. */
		return polt_sqe_identify_is(identify, POLT_PAGE_ZEROES, from);
	case POLT_CNS_CSI_NS_LIST:
		return polt_sqe_identify_list(identify, from);
	case POLT_CNS_CSI_SETS:
		return polt_sqe_identify_is(identify, POLT_PAGE_COMMAND_SETS, from);
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}
}

/**
 * polt_sqe_parse_identify - check an Identify command
 * @sqe: the command, any content
 * @discovery: of a discovery controller
 * @nsid_max: highest namespace identifier there can be
 * @identify: filled in on success
 *
 * Return: NVME_SC_SUCCESS, Invalid Field in Command or Invalid Namespace or Format, with DNR.
 */
u16 polt_sqe_parse_identify(const struct nvme_command *sqe, bool discovery, u32 nsid_max,
			    struct polt_sqe_identify *identify)
{
	const struct nvme_identify *from = &sqe->identify;

	if (from->cns == NVME_ID_CNS_CTRL)
		return polt_sqe_identify_is(identify, POLT_PAGE_CONTROLLER, from);
	if (discovery)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (from->cns) {
	case NVME_ID_CNS_NS:
		return polt_sqe_identify_ns(identify, POLT_PAGE_NAMESPACE, from, nsid_max);
	case NVME_ID_CNS_NS_DESC_LIST:
		return polt_sqe_identify_ns(identify, POLT_PAGE_DESCRIPTORS, from, nsid_max);
	case NVME_ID_CNS_NS_CS_INDEP:
		return polt_sqe_identify_ns(identify, POLT_PAGE_INDEPENDENT, from, nsid_max);
	case NVME_ID_CNS_NS_ACTIVE_LIST:
		return polt_sqe_identify_list(identify, from);
	case NVME_ID_CNS_CTRL_NS_LIST:
		return polt_sqe_identify_is(identify, POLT_PAGE_NS_CONTROLLERS, from);
	case NVME_ID_CNS_CTRL_LIST:
		return polt_sqe_identify_is(identify, POLT_PAGE_CONTROLLERS, from);
	default:
		return polt_sqe_identify_set(identify, from, nsid_max);
	}
}

/**
 * polt_sqe_parse_abort - check an Abort command
 * @sqe: the command, any content
 * @discovery: of a discovery controller, which has none
 * @qid_max: highest number of a queue there can be
 * @abort: filled in on success
 *
 * Return: NVME_SC_SUCCESS or Invalid Command Opcode with DNR.
 */
u16 polt_sqe_parse_abort(const struct nvme_command *sqe, bool discovery, u16 qid_max,
			 struct polt_sqe_abort *abort)
{
	if (discovery)
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	abort->sqid = le16_to_cpu(sqe->abort.sqid);
	abort->command_id = sqe->abort.cid;
	abort->possible = abort->sqid <= qid_max;
	return NVME_SC_SUCCESS;
}

static u16 polt_sqe_property_get(const struct nvmf_property_get_command *get,
				 struct polt_sqe_fabrics *request)
{
	u8 size = get->attrib & POLT_PROPERTY_SIZE_MASK;
	u32 offset = le32_to_cpu(get->offset);

	if (size != (offset == NVME_REG_CAP ? POLT_PROPERTY_8_BYTES : POLT_PROPERTY_4_BYTES))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (offset) {
	case NVME_REG_CAP:
	case NVME_REG_VS:
	case NVME_REG_CC:
	case NVME_REG_CSTS:
		request->type = nvme_fabrics_type_property_get;
		request->property = offset;
		request->value = 0;
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}
}

static u16 polt_sqe_property_set(const struct nvmf_property_set_command *set,
				 struct polt_sqe_fabrics *request)
{
	u8 size = set->attrib & POLT_PROPERTY_SIZE_MASK;
	u32 offset = le32_to_cpu(set->offset);

	if (size != POLT_PROPERTY_4_BYTES || offset != NVME_REG_CC)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	request->type = nvme_fabrics_type_property_set;
	request->property = offset;
	request->value = le64_to_cpu(set->value);
	return NVME_SC_SUCCESS;
}

static u16 polt_sqe_disconnect(const struct nvme_command *sqe, u16 qid,
			       struct polt_sqe_fabrics *request)
{
	if (!qid)
		return POLT_SC_INVALID_QUEUE_TYPE | NVME_STATUS_DNR;
	/* RECFMT is where Connect has it. */
	if (sqe->connect.recfmt)
		return NVME_SC_CONNECT_FORMAT | NVME_STATUS_DNR;
	request->type = POLT_FABRICS_DISCONNECT;
	request->property = 0;
	request->value = 0;
	return NVME_SC_SUCCESS;
}

/**
 * polt_sqe_parse_fabrics - check a Fabrics command of a connected queue, but not Connect
 * @sqe: a Fabrics command, any content
 * @qid: queue it came on, 0 is the Admin Queue
 * @request: filled in on success
 *
 * Return: NVME_SC_SUCCESS, Invalid Command Opcode, Invalid Field in Command, Invalid Queue Type or
 * Incompatible Format, with DNR.
 */
u16 polt_sqe_parse_fabrics(const struct nvme_command *sqe, u16 qid,
			   struct polt_sqe_fabrics *request)
{
	u8 type = sqe->fabrics.fctype;

	if (type == POLT_FABRICS_DISCONNECT)
		return polt_sqe_disconnect(sqe, qid, request);
	/* Properties are the controller's. No authentication is asked for, so none is taken. */
	if (qid)
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	switch (type) {
	case nvme_fabrics_type_property_get:
		return polt_sqe_property_get(&sqe->prop_get, request);
	case nvme_fabrics_type_property_set:
		return polt_sqe_property_set(&sqe->prop_set, request);
	default:
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	}
}

/**
 * polt_sqe_can_enable - can a controller be what a host asks for when it enables it?
 * @cc: the property CC as the host has set it, any value; its EN and SHN are not looked at
 * @discovery: a discovery controller, which has no I/O queues
 */
bool polt_sqe_can_enable(u32 cc, bool discovery)
{
	if (cc & (POLT_CC_MPS_MASK | POLT_CC_AMS_MASK | NVME_CC_CSS_MASK))
		return false;
	if (discovery)
		return true;
	return (cc & POLT_CC_IOSQES_MASK) == NVME_CC_IOSQES &&
	       (cc & POLT_CC_IOCQES_MASK) == NVME_CC_IOCQES;
}
