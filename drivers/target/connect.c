// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connect is the first thing a host says on a queue, so nothing in it is believed: names have to
 * end inside their field, numbers have to be in range, and what the connection request said has to
 * agree with what the command says. A refusal tells the host which field it was.
 *
 * Nothing is owned here, the functions only compute.
 */
#include <linux/stddef.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "target/connect.h"

#define POLT_NQN_PREFIX		"nqn."
#define POLT_NQN_PREFIX_LEN	(sizeof(POLT_NQN_PREFIX) - 1)

#define POLT_CONNECT_RECFMT	0

/*
 * CATTR: the priority class (bits 1:0) says nothing without weighted arbitration, and bit 3 only
 * announces that the host may end single I/O queues with Disconnect. Bit 2 asks for no flow
 * control of the submission queue. That is the controller's to grant, by an SQHD of FFFFh in the
 * response; ours keeps flow control, which a host that asked can do with (Connect response, SQHD).
 */
#define POLT_CONNECT_CATTR_KNOWN	0x0f

/**
 * polt_nqn_valid - is this an NVMe Qualified Name?
 * @nqn: the name; need not be terminated
 * @size: bytes that may be read at @nqn
 *
 * A name begins with "nqn.", says something after it, has at most 223 bytes without the NUL, which
 * has to be there within @size, and holds no control characters. Any context.
 */
bool polt_nqn_valid(const char *nqn, size_t size)
{
	size_t len = strnlen(nqn, size);
	size_t i;

	if (len == size || len > NVMF_NQN_SIZE || len <= POLT_NQN_PREFIX_LEN)
		return false;
	if (memcmp(nqn, POLT_NQN_PREFIX, POLT_NQN_PREFIX_LEN))
		return false;
	for (i = POLT_NQN_PREFIX_LEN; i < len; i++) {
		unsigned char c = nqn[i];

		if (c < 0x20 || c == 0x7f)
			return false;
	}
	return true;
}

static u16 polt_connect_refuse(u32 *result, u32 at)
{
	*result = at;
	return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
}

/**
 * polt_connect_parse - check a Connect command and its data, whatever the subsystem
 * @sqe: the command
 * @data: its data, 1024 bytes
 * @limits: what the connection allows
 * @request: filled in on success
 * @result: CDW0 of the response when the status is not success, see POLT_CONNECT_AT_*
 *
 * Whether there is such a subsystem or controller and whether the host may use it is the caller's
 * business. Any context.
 *
 * Return: NVME_SC_SUCCESS, Connect Incompatible Format or Connect Invalid Parameters, with DNR.
 */
u16 polt_connect_parse(const struct nvme_command *sqe, const struct nvmf_connect_data *data,
		       const struct polt_connect_limits *limits,
		       struct polt_connect_request *request, u32 *result)
{
	const struct nvmf_connect_command *connect = &sqe->connect;
	u16 qid = le16_to_cpu(connect->qid);
	u16 sqsize = le16_to_cpu(connect->sqsize);
	u16 cntlid = le16_to_cpu(data->cntlid);

	*result = 0;
	if (le16_to_cpu(connect->recfmt) != POLT_CONNECT_RECFMT) {
		*result = POLT_CONNECT_AT_SQE(recfmt);
		return NVME_SC_CONNECT_FORMAT | NVME_STATUS_DNR;
	}
	if (qid != limits->qid)
		return polt_connect_refuse(result, POLT_CONNECT_AT_SQE(qid));
	if (!sqsize || sqsize >= limits->entries)
		return polt_connect_refuse(result, POLT_CONNECT_AT_SQE(sqsize));
	if (connect->cattr & ~POLT_CONNECT_CATTR_KNOWN)
		return polt_connect_refuse(result, POLT_CONNECT_AT_SQE(cattr));
	if (!qid != (cntlid == NVME_CNTLID_DYNAMIC))
		return polt_connect_refuse(result, POLT_CONNECT_AT_DATA(cntlid));
	if (!polt_nqn_valid(data->subsysnqn, sizeof(data->subsysnqn)))
		return polt_connect_refuse(result, POLT_CONNECT_AT_DATA(subsysnqn));
	if (!polt_nqn_valid(data->hostnqn, sizeof(data->hostnqn)))
		return polt_connect_refuse(result, POLT_CONNECT_AT_DATA(hostnqn));

	memset(request, 0, sizeof(*request));
	request->qid = qid;
	request->entries = sqsize + 1U;
	request->kato_ms = qid ? 0 : le32_to_cpu(connect->kato);
	request->cntlid = cntlid;
	request->hostid = data->hostid;
	memcpy(request->subnqn, data->subsysnqn, strlen(data->subsysnqn));
	memcpy(request->hostnqn, data->hostnqn, strlen(data->hostnqn));
	return NVME_SC_SUCCESS;
}
