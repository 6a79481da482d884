/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identify data (NVMe Base Specification: "Identify command"): what the controller says about
 * itself and its namespaces. Only computes: compiled as it is by the unit tests.
 */
#ifndef POLT_IDENTIFY_H
#define POLT_IDENTIFY_H

#include <linux/nvme.h>
#include <linux/types.h>

#define POLT_IDENTIFY_VERSION	NVME_VS(1, 4, 0)	/* VS, and VER of Identify Controller */
#define POLT_IDENTIFY_PAGE	4096U	/* CAP.MPSMIN in bytes, the unit of MDTS */

/* Limits that Identify promises and the admin commands keep. */
#define POLT_ABORTS_MAX		4	/* Abort commands at a time */
#define POLT_EVENTS_MAX		4	/* Asynchronous Event Requests held */
#define POLT_ERRORS_MAX		16	/* entries of the error log */
#define POLT_KAS_MS		1000U	/* granularity of keep-alive timeouts, a multiple of 100 */

/* What <linux/nvme.h> has no name for. */
#define POLT_NS_FEAT_VWC_ABSENT	(1 << 5)	/* NSFEAT, I/O Command Set Independent: VWCNP */

/**
 * struct polt_identify_values - what the Identify Controller data depends on
 * @discovery: a discovery controller, @nn and what belongs to I/O is not reported
 * @serial: at most 20 characters, NUL-terminated
 * @model: at most 40 characters, NUL-terminated
 * @firmware: at most 8 characters, NUL-terminated
 * @subnqn: at most 223 characters, NUL-terminated
 * @cntlid: controller identifier
 * @mdts_bytes: longest data transfer, a power of two of at least 4096
 * @inline_size: in-capsule data an I/O queue takes, bytes, a multiple of 16; 0 is none
 * @msdbd: SGL data blocks a command may have
 * @depth: commands an I/O queue takes at a time
 * @nn: highest namespace identifier there can be
 * @volatile_cache: a namespace of the subsystem has, or may come to have, a volatile write cache
 */
struct polt_identify_values {
	bool discovery;
	const char *serial;
	const char *model;
	const char *firmware;
	const char *subnqn;
	u16 cntlid;
	u32 mdts_bytes;
	u32 inline_size;
	u8 msdbd;
	u16 depth;
	u32 nn;
	bool volatile_cache;
};

/**
 * struct polt_identify_ns_values - what the Identify Namespace data depends on
 * @blocks: size in logical blocks
 * @block_shift: log2 of the logical block size, 9 and up
 * @read_only: writes are refused
 * @volatile_cache: Flush means something
 * @granule_blocks: writes of multiples of this, so aligned, are best; 0 or 1 when nothing is known
 * @optimal_blocks: I/O size that is best, 0 when not known
 * @nguid: 16 bytes, all 0 is none
 * @uuid: UUID, first byte first, all 0 is none
 */
struct polt_identify_ns_values {
	u64 blocks;
	u8 block_shift;
	bool read_only;
	bool volatile_cache;
	u32 granule_blocks;
	u32 optimal_blocks;
	u8 nguid[16];
	uuid_t uuid;
};

void polt_identify_controller(struct nvme_id_ctrl *id, const struct polt_identify_values *values);
void polt_identify_namespace(struct nvme_id_ns *id, const struct polt_identify_ns_values *values);
void polt_identify_independent(struct nvme_id_ns_cs_indep *id,
			       const struct polt_identify_ns_values *values);
u32 polt_identify_descriptors(void *page, u32 size, const struct polt_identify_ns_values *values);

#endif
