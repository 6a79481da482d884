/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns the SGL of a capsule into a checked list of transfers (NVMe Base Specification, "Scatter
 * Gather List"; RDMA Transport Specification, "SGL Support"). Everything it reads was written by a
 * peer. Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLT_SGL_H
#define POLT_SGL_H

#include <linux/types.h>
#include <linux/nvme.h>

#define POLT_MSDBD		16	/* SGL data blocks a command may have (Identify: MSDBD) */

/**
 * enum polt_transfer_kind - where a command's data is
 * @POLT_TRANSFER_NONE: no data
 * @POLT_TRANSFER_INLINE: host data that arrived in the capsule
 * @POLT_TRANSFER_KEYED: memory of the host, reached by RDMA
 */
enum polt_transfer_kind {
	POLT_TRANSFER_NONE,
	POLT_TRANSFER_INLINE,
	POLT_TRANSFER_KEYED,
};

/**
 * struct polt_segment - a piece of a host's memory
 * @addr: where, as the host counts
 * @len: bytes, at least 1
 * @rkey: the key to it
 */
struct polt_segment {
	u64 addr;
	u32 len;
	u32 rkey;
};

/**
 * struct polt_transfer - what a command's SGL says, checked
 * @kind: where the data is
 * @len: bytes in all
 * @offset: INLINE: where the data starts behind the SQE
 * @nr_segments: KEYED: entries in @segments, 1 to POLT_MSDBD
 * @invalidate: the host asks for @invalidate_rkey to be invalidated with the response
 * @invalidate_rkey: that key
 * @segments: KEYED: the host's memory, in order
 */
struct polt_transfer {
	enum polt_transfer_kind kind;
	u32 len;
	u32 offset;
	u16 nr_segments;
	bool invalidate;
	u32 invalidate_rkey;
	struct polt_segment segments[POLT_MSDBD];
};

u16 polt_sgl_parse(const void *capsule, u32 arrived, u32 max_len, struct polt_transfer *transfer);

#endif
