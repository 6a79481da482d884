// SPDX-License-Identifier: GPL-2.0-only
/* Input: the private data of a CM message, taken as each kind. */
#include "fuzz.h"
#include "core/wire.h"

static void fuzz_request(const uint8_t *data, size_t size)
{
	struct pol_wire_request request, again;
	struct nvme_rdma_cm_req wire;
	int status;

	status = pol_wire_parse_request(data, size, &request);
	MUST(status >= 0 && pol_wire_status_text(status));
	if (status)
		return;
	MUST(size >= sizeof(wire));
	MUST(request.hsqsize >= 2 && request.hsqsize <= 65536);
	MUST(request.hrqsize >= 1 && request.hrqsize <= 65535);
	MUST(request.qid || request.hsqsize <= 4096);

	/* What was parsed can be built, and only the reserved bytes differ. */
	memset(&wire, 0xa5, sizeof(wire));
	pol_wire_build_request(&wire, &request);
	MUST(!memcmp(&wire, data, 10));
	MUST(!pol_wire_parse_request(&wire, sizeof(wire), &again));
	MUST(again.qid == request.qid && again.cntlid == request.cntlid &&
	     again.hsqsize == request.hsqsize && again.hrqsize == request.hrqsize);
}

static void fuzz_accept(const uint8_t *data, size_t size)
{
	struct nvme_rdma_cm_rep wire;
	u32 crqsize, again;

	if (pol_wire_parse_accept(data, size, &crqsize))
		return;
	MUST(size >= sizeof(wire));
	MUST(crqsize >= 1 && crqsize <= 65535);
	pol_wire_build_accept(&wire, crqsize);
	MUST(!pol_wire_parse_accept(&wire, sizeof(wire), &again) && again == crqsize);
}

static void fuzz_reject(const uint8_t *data, size_t size)
{
	struct nvme_rdma_cm_rej wire;
	int status;

	status = pol_wire_parse_reject(data, size);
	MUST(status && pol_wire_status_text(status));
	if (status < 0)
		return;
	MUST(size >= sizeof(wire));
	pol_wire_build_reject(&wire, status);
	MUST(pol_wire_parse_reject(&wire, sizeof(wire)) == status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_request(data, size);
	fuzz_accept(data, size);
	fuzz_reject(data, size);
	return 0;
}
