// SPDX-License-Identifier: GPL-2.0-only
/* Input: the attributes of a request to the initiator, taken as each kind. */
#include "fuzz_attrs.h"
#include "core/attrs.h"
#include "host/netlink_parse.h"

#define CTRL	POLLARD_HOST_A_CONTROLLER_NAME
#define QUEUE	POLLARD_HOST_A_QUEUE_CONTROLLER

static void fuzz_ctrl(const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	char name[POLH_NAME_SIZE];

	if (!FUZZ_PARSE(&request, polh_ctrl_policy, data, size))
		return;
	memset(name, 0xa5, sizeof(name));
	if (polh_parse_ctrl_key(request.attrs, name, &request.extack))
		fuzz_check_refusal(&request, CTRL);
	else
		fuzz_check_text(request.attrs[CTRL], name, sizeof(name));
	MUST(!pol_attrs_none(request.attrs, CTRL, &request.extack) == !request.attrs[CTRL]);
	free(request.message);
}

static void fuzz_queue(const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	char name[POLH_NAME_SIZE];
	int named;

	if (!FUZZ_PARSE(&request, polh_queue_policy, data, size))
		return;
	memset(name, 0xa5, sizeof(name));
	named = polh_parse_queue_key(request.attrs, name, &request.extack);
	MUST(named ? !!request.attrs[QUEUE] : !request.attrs[QUEUE]);
	if (named < 0)
		fuzz_check_refusal(&request, QUEUE);
	else if (named)
		fuzz_check_text(request.attrs[QUEUE], name, sizeof(name));
	free(request.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_ctrl(data, size);
	fuzz_queue(data, size);
	return 0;
}
