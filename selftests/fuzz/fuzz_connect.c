// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: QID and queue entries of the connection (2 + 2 bytes), SQE of Connect, its 1024 bytes of
 * data.
 */
#include "fuzz.h"
#include "target/connect.h"

static void check_name(const char *name)
{
	size_t len = strnlen(name, POLT_CONNECT_NQN_SIZE);

	MUST(len > 4 && len <= NVMF_NQN_SIZE);
	MUST(polt_nqn_valid(name, POLT_CONNECT_NQN_SIZE));
}

static void fuzz_connect(const uint8_t *input)
{
	struct polt_connect_limits limits = {
		.qid = input[0] | input[1] << 8, .entries = (input[2] | input[3] << 8) + 1,
	};
	struct polt_connect_request request;
	struct nvmf_connect_data *data = malloc(sizeof(*data));
	struct nvme_command *sqe = malloc(sizeof(*sqe));
	u32 result = ~0U;
	u16 status;

	memcpy(sqe, input + 4, sizeof(*sqe));
	memcpy(data, input + 4 + sizeof(*sqe), sizeof(*data));
	status = polt_connect_parse(sqe, data, &limits, &request, &result);
	if (!status) {
		MUST(result == 0);
		MUST(request.qid == limits.qid);
		MUST(request.entries >= 2 && request.entries <= limits.entries);
		MUST((request.qid == 0) == (request.cntlid == 0xffff));
		check_name(request.subnqn);
		check_name(request.hostnqn);
	} else {
		/* The field to blame lies in the SQE or in the data. */
		MUST(result & 0x10000 ? (result & 0xffff) < sizeof(*data) : result < sizeof(*sqe));
		MUST(!(result >> 17));
	}
	free(sqe);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 4 + sizeof(struct nvme_command) + sizeof(struct nvmf_connect_data))
		fuzz_connect(data);
	polt_nqn_valid((const char *)data, size);
	return 0;
}
