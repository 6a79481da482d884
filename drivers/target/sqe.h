/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a submission queue entry asks for, apart from where its data is (sgl.h), from Connect
 * (connect.h), log pages (log.h) and the values of features (features.h): I/O, admin and Fabrics
 * commands, checked. Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLT_SQE_H
#define POLT_SQE_H

#include <linux/nvme.h>
#include <linux/types.h>

#include "core/latency.h"

#define POLT_FABRICS_DISCONNECT	0x08	/* <linux/nvme.h> has no name for it */

/**
 * struct polt_sqe_io - what there is to know of an I/O command
 * @known: there is such a command
 * @writes: it changes the namespace
 * @range: it is about a range of blocks, and carries as much data; others carry none
 * @class: for the latency histograms
 */
struct polt_sqe_io {
	bool known;
	bool writes;
	bool range;
	enum pol_latency_class class;
};

/**
 * enum polt_sqe_page - data structures of Identify
 * @POLT_PAGE_CONTROLLER: this controller
 * @POLT_PAGE_NAMESPACE: a namespace, for the NVM command set
 * @POLT_PAGE_INDEPENDENT: a namespace, whatever its command set
 * @POLT_PAGE_DESCRIPTORS: what a namespace is called
 * @POLT_PAGE_NAMESPACES: active ones, in order
 * @POLT_PAGE_CONTROLLERS: of the subsystem, in order
 * @POLT_PAGE_NS_CONTROLLERS: those that a namespace is attached to
 * @POLT_PAGE_COMMAND_SETS: combinations of command sets there are
 * @POLT_PAGE_ZEROES: there is nothing to be said
 */
enum polt_sqe_page {
	POLT_PAGE_CONTROLLER,
	POLT_PAGE_NAMESPACE,
	POLT_PAGE_INDEPENDENT,
	POLT_PAGE_DESCRIPTORS,
	POLT_PAGE_NAMESPACES,
	POLT_PAGE_CONTROLLERS,
	POLT_PAGE_NS_CONTROLLERS,
	POLT_PAGE_COMMAND_SETS,
	POLT_PAGE_ZEROES,
};

/**
 * struct polt_sqe_identify - what an Identify command asks for
 * @page: the data structure
 * @nsid: NAMESPACE, INDEPENDENT, DESCRIPTORS: one that can be. NAMESPACES: those above it are
 *	asked for, and @nsid + 1 is a number that a namespace could have. Else as given, any value
 * @cntlid: CONTROLLERS, NS_CONTROLLERS: those from it on are asked for. Else as given
 */
struct polt_sqe_identify {
	enum polt_sqe_page page;
	u32 nsid;
	u16 cntlid;
};

/**
 * struct polt_sqe_abort - which command an Abort is about
 * @possible: a queue can have that number
 * @sqid: its queue
 * @command_id: as it stands in the command
 */
struct polt_sqe_abort {
	bool possible;
	u16 sqid;
	u16 command_id;
};

/**
 * struct polt_sqe_fabrics - what a Fabrics command on a connected queue asks for
 * @type: nvme_fabrics_type_property_get or _set, POLT_FABRICS_DISCONNECT
 * @property: Property Get: NVME_REG_CAP, NVME_REG_VS, NVME_REG_CC or NVME_REG_CSTS; Property Set:
 *	NVME_REG_CC; else 0
 * @value: Property Set: what to write; else 0
 */
struct polt_sqe_fabrics {
	u8 type;
	u32 property;
	u32 value;
};

u16 polt_sqe_check_io(const struct nvme_command *sqe, const struct polt_sqe_io **io);
u16 polt_sqe_check_range(const struct nvme_command *sqe, u64 blocks, u8 block_shift, u32 max_len,
			 u64 *lba, u32 *len);
u16 polt_sqe_check_admin(const struct nvme_command *sqe, bool discovery, u32 max_len, u32 *len);
u16 polt_sqe_check_fabrics(const struct nvme_command *sqe, u32 *len);

u16 polt_sqe_parse_identify(const struct nvme_command *sqe, bool discovery, u32 nsid_max,
			    struct polt_sqe_identify *identify);
u16 polt_sqe_parse_abort(const struct nvme_command *sqe, bool discovery, u16 qid_max,
			 struct polt_sqe_abort *abort);
u16 polt_sqe_parse_fabrics(const struct nvme_command *sqe, u16 qid,
			   struct polt_sqe_fabrics *request);
bool polt_sqe_can_enable(u32 cc, bool discovery);

#endif
