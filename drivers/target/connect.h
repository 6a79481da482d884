/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Fabrics Connect command and its data, checked (NVMe over Fabrics: "Connect Command and
 * Response"). Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLT_CONNECT_H
#define POLT_CONNECT_H

#include <linux/nvme.h>
#include <linux/types.h>

#define POLT_CONNECT_NQN_SIZE	(NVMF_NQN_SIZE + 1)	/* the longest NQN and its NUL */

/* CDW0 of the response to a refused Connect: where the field is that is to blame. */
#define POLT_CONNECT_IATTR_DATA	(1U << 16)	/* in the data, else in the SQE */
#define POLT_CONNECT_AT_SQE(field) \
	((u32)offsetof(struct nvmf_connect_command, field))
#define POLT_CONNECT_AT_DATA(field) \
	(POLT_CONNECT_IATTR_DATA | (u32)offsetof(struct nvmf_connect_data, field))

/**
 * struct polt_connect_limits - what the queue that Connect arrived on allows
 * @qid: queue identifier of the connection's private data
 * @entries: entries the submission queue may have: the smaller of what was agreed for the
 *	connection and, for an I/O queue, CAP.MQES + 1
 */
struct polt_connect_limits {
	u16 qid;
	u32 entries;
};

/**
 * struct polt_connect_request - a Connect that is well formed
 * @qid: queue identifier, 0 is the Admin Queue
 * @entries: entries of the submission queue, 2 and up (on the wire it is 0's based)
 * @kato_ms: keep-alive timeout in milliseconds, as the host gave it; 0 is none. Admin Queue only
 * @cntlid: controller an I/O queue is for; NVME_CNTLID_DYNAMIC for the Admin Queue
 * @hostid: host identifier
 * @subnqn: subsystem, NUL-terminated
 * @hostnqn: host, NUL-terminated
 */
struct polt_connect_request {
	u16 qid;
	u32 entries;
	u32 kato_ms;
	u16 cntlid;
	uuid_t hostid;
	char subnqn[POLT_CONNECT_NQN_SIZE];
	char hostnqn[POLT_CONNECT_NQN_SIZE];
};

bool polt_nqn_valid(const char *nqn, size_t size);
u16 polt_connect_parse(const struct nvme_command *sqe, const struct nvmf_connect_data *data,
		       const struct polt_connect_limits *limits,
		       struct polt_connect_request *request, u32 *result);

#endif
