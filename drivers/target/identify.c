// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills in Identify data structures. A stock host believes what stands here, so it is only what the
 * target does: no optional command, feature or limit is claimed that is not there.
 *
 * Each function writes every byte of its structure. Nothing is owned here, nothing sleeps.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "target/identify.h"

/* Identify Controller, named after the fields of the specification. */
#define POLT_FRMW_ONE_SLOT_RO	((1 << 0) | (1 << 1))	/* one firmware slot, read only */
#define POLT_LPA_NS_SMART	(1 << 0)
#define POLT_LPA_EFFECTS	(1 << 1)
#define POLT_LPA_EXTENDED	(1 << 2)		/* NUMDU and the offset are used */
#define POLT_ONCS_SELECT	(1 << 4)		/* Select of Get Features */
#define POLT_VWC_NO_FLUSH_ALL	(2 << 1)		/* Flush takes no NSID of FFFFFFFFh */
#define POLT_SGLS_SUPPORTED	(1U << 0)		/* no alignment asked for */
#define POLT_SGLS_KEYED		(1U << 2)
#define POLT_SGLS_OFFSET	(1U << 20)		/* offsets into the capsule */
#define POLT_OFCS_DISCONNECT	(1 << 0)

#define POLT_SQE_SIZE		64
#define POLT_CQE_SIZE		16
#define POLT_CAPSULE_UNIT	16			/* of IOCCSZ and IORCSZ */

/* An ASCII field: left-justified, padded with spaces. */
static void polt_identify_text(char *field, size_t size, const char *text)
{
	size_t len = strnlen(text, size);

	memcpy(field, text, len);
	memset(field + len, ' ', size - len);
}

static u8 polt_identify_mdts(u32 bytes)
{
	u8 mdts = 0;

	while ((POLT_IDENTIFY_PAGE << mdts) < bytes)
		mdts++;
	return mdts;
}

/**
 * polt_identify_controller - Identify Controller, CNS 01h
 * @id: 4096 bytes, all of them written
 * @values: what it depends on
 *
 * Any context. Multiple controllers and ports are always reported possible, because a stock host
 * refuses a second path otherwise.
 */
void polt_identify_controller(struct nvme_id_ctrl *id, const struct polt_identify_values *values)
{
	memset(id, 0, sizeof(*id));
	polt_identify_text(id->sn, sizeof(id->sn), values->serial);
	polt_identify_text(id->mn, sizeof(id->mn), values->model);
	polt_identify_text(id->fr, sizeof(id->fr), values->firmware);
	memcpy(id->subnqn, values->subnqn, strnlen(values->subnqn, NVMF_NQN_SIZE));
	id->cntlid = cpu_to_le16(values->cntlid);
	id->ver = cpu_to_le32(POLT_IDENTIFY_VERSION);
	id->mdts = polt_identify_mdts(values->mdts_bytes);
	id->ctratt = cpu_to_le32(NVME_CTRL_ATTR_HID_128_BIT | NVME_CTRL_ATTR_TBKAS);
	id->kas = cpu_to_le16(POLT_KAS_MS / 100);
	id->aerl = POLT_EVENTS_MAX - 1;
	id->elpe = POLT_ERRORS_MAX - 1;
	id->maxcmd = cpu_to_le16(values->depth);
	id->sgls = cpu_to_le32(POLT_SGLS_SUPPORTED | POLT_SGLS_KEYED |
			       (values->inline_size ? POLT_SGLS_OFFSET : 0));

	if (values->discovery) {
		id->cntrltype = NVME_CTRL_DISC;
		id->oaes = cpu_to_le32(NVME_AEN_CFG_DISC_CHANGE);
		id->lpa = POLT_LPA_EXTENDED;
		id->dctype = NVME_DCTYPE_DDC;
		return;
	}

	id->cntrltype = NVME_CTRL_IO;
	id->cmic = NVME_CTRL_CMIC_MULTI_PORT | NVME_CTRL_CMIC_MULTI_CTRL;
	id->oaes = cpu_to_le32(NVME_AEN_CFG_NS_ATTR);
	id->acl = POLT_ABORTS_MAX - 1;
	id->frmw = POLT_FRMW_ONE_SLOT_RO;
	id->lpa = POLT_LPA_NS_SMART | POLT_LPA_EFFECTS | POLT_LPA_EXTENDED;
	id->sqes = (NVME_NVM_IOSQES << 4) | NVME_NVM_IOSQES;
	id->cqes = (NVME_NVM_IOCQES << 4) | NVME_NVM_IOCQES;
	id->nn = cpu_to_le32(values->nn);
	id->mnan = cpu_to_le32(values->nn);
	id->oncs = cpu_to_le16(POLT_ONCS_SELECT);
	id->vwc = POLT_VWC_NO_FLUSH_ALL | (values->volatile_cache ? NVME_CTRL_VWC_PRESENT : 0);
	id->ioccsz = cpu_to_le32((POLT_SQE_SIZE + values->inline_size) / POLT_CAPSULE_UNIT);
	id->iorcsz = cpu_to_le32(POLT_CQE_SIZE / POLT_CAPSULE_UNIT);
	id->msdbd = values->msdbd;
	id->rsvd1804[0] = POLT_OFCS_DISCONNECT;
}

/* A number of blocks as a 0's based 16-bit field, the largest there is when it does not fit. */
static __le16 polt_identify_zeroes_based(u32 blocks)
{
	return cpu_to_le16(min(blocks, 0x10000U) - 1);
}

/**
 * polt_identify_namespace - Identify Namespace for the NVM command set, CNS 00h
 * @id: 4096 bytes, all of them written
 * @values: what it depends on; NULL gives the zeroes of a namespace that is not active
 *
 * Any context.
 */
void polt_identify_namespace(struct nvme_id_ns *id, const struct polt_identify_ns_values *values)
{
	__le64 bytes;

	memset(id, 0, sizeof(*id));
	if (!values)
		return;
	id->nsze = cpu_to_le64(values->blocks);
	id->ncap = id->nsze;
	id->nuse = id->nsze;
	id->nmic = NVME_NS_NMIC_SHARED;
	if (values->read_only)
		id->nsattr = NVME_NS_ATTR_RO;
	bytes = cpu_to_le64(values->blocks << values->block_shift);
	memcpy(id->nvmcap, &bytes, sizeof(bytes));
	if (values->granule_blocks > 1 || values->optimal_blocks) {
		u32 granule = max(values->granule_blocks, 1U);

		id->nsfeat |= NVME_NS_FEAT_IO_OPT;
		id->npwg = polt_identify_zeroes_based(granule);
		id->npwa = id->npwg;
		id->npdg = id->npwg;
		id->npda = id->npwg;
		id->nows = polt_identify_zeroes_based(max(values->optimal_blocks, granule));
	}
	memcpy(id->nguid, values->nguid, sizeof(id->nguid));
	id->lbaf[0].ds = values->block_shift;
}

/**
 * polt_identify_independent - I/O Command Set Independent Identify Namespace, CNS 08h
 * @id: 4096 bytes, all of them written
 * @values: what it depends on; NULL gives the zeroes of a namespace that is not active
 *
 * Any context.
 */
void polt_identify_independent(struct nvme_id_ns_cs_indep *id,
			       const struct polt_identify_ns_values *values)
{
	memset(id, 0, sizeof(*id));
	if (!values)
		return;
	id->nsfeat = values->volatile_cache ? 0 : POLT_NS_FEAT_VWC_ABSENT;
	id->nmic = NVME_NS_NMIC_SHARED;
	if (values->read_only)
		id->nsattr = NVME_NS_ATTR_RO;
	id->nstat = NVME_NSTAT_NRDY;
}

static u32 polt_identify_descriptor(u8 *page, u32 size, u32 at, u8 type, const void *id, u8 len)
{
	struct nvme_ns_id_desc desc = { .nidt = type, .nidl = len };

	if (size < at + sizeof(desc) + len)
		return at;
	memcpy(page + at, &desc, sizeof(desc));
	memcpy(page + at + sizeof(desc), id, len);
	return at + sizeof(desc) + len;
}

/**
 * polt_identify_descriptors - Namespace Identification Descriptor list, CNS 03h
 * @page: @size bytes, all of them written
 * @size: normally 4096
 * @values: identifiers of the namespace
 *
 * The list ends with a descriptor of zeroes, for which the space behind the list serves. Any
 * context.
 *
 * Return: bytes that the descriptors take.
 */
u32 polt_identify_descriptors(void *page, u32 size, const struct polt_identify_ns_values *values)
{
	static const u8 none[16];
	const u8 csi = NVME_CSI_NVM;
	u32 at = 0;

	memset(page, 0, size);
	if (memcmp(&values->uuid, none, sizeof(none)))
		at = polt_identify_descriptor(page, size, at, NVME_NIDT_UUID, &values->uuid,
					      NVME_NIDT_UUID_LEN);
	if (memcmp(values->nguid, none, sizeof(none)))
		at = polt_identify_descriptor(page, size, at, NVME_NIDT_NGUID, values->nguid,
					      NVME_NIDT_NGUID_LEN);
	return polt_identify_descriptor(page, size, at, NVME_NIDT_CSI, &csi, NVME_NIDT_CSI_LEN);
}
