// SPDX-License-Identifier: GPL-2.0-only
/* Input: which command (a byte), then the attributes of the request. */
#include <ctype.h>

#include "fuzz_attrs.h"
#include "target/netlink_parse.h"

#define COMMAND(command_, policy_)	\
	{ POLLARD_TARGET_CMD_##command_, policy_, ARRAY_SIZE(policy_) - 1 }

static const struct {
	u8 command;
	const struct nla_policy *policy;
	int maxattr;
} commands[] = {
	COMMAND(SUBSYSTEM_NEW, polt_subsystem_policy),
	COMMAND(SUBSYSTEM_SET, polt_subsystem_policy),
	COMMAND(SUBSYSTEM_DEL, polt_subsystem_key_policy),
	COMMAND(NAMESPACE_NEW, polt_namespace_new_policy),
	COMMAND(NAMESPACE_SET, polt_namespace_set_policy),
	COMMAND(NAMESPACE_DEL, polt_namespace_key_policy),
	COMMAND(HOST_NEW, polt_host_policy),
	COMMAND(HOST_DEL, polt_host_policy),
	COMMAND(PORT_NEW, polt_port_new_policy),
	COMMAND(PORT_SET, polt_port_set_policy),
	COMMAND(PORT_DEL, polt_port_key_policy),
	COMMAND(PORT_SUBSYSTEM_NEW, polt_link_policy),
	COMMAND(PORT_SUBSYSTEM_DEL, polt_link_policy),
};

static void check_nqn(const char *nqn)
{
	size_t len = strnlen(nqn, POLT_NQN_SIZE);
	size_t i;

	MUST(len > 4 && len <= POLT_NQN_MAX && !memcmp(nqn, "nqn.", 4));
	for (i = 0; i < len; i++)
		MUST((unsigned char)nqn[i] > ' ' && nqn[i] != 0x7f);
}

static void check_ascii(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	MUST(len && len < size && strspn(text, " ") < len);
	while (len--)
		MUST(isprint(text[len]));
}

static void check_subsystem(const struct polt_request *request)
{
	check_nqn(request->nqn);
	if (polt_request_has(request, POLLARD_TARGET_A_SUBSYSTEM_SERIAL))
		check_ascii(request->serial, sizeof(request->serial));
	if (polt_request_has(request, POLLARD_TARGET_A_SUBSYSTEM_MODEL))
		check_ascii(request->model, sizeof(request->model));
	if (polt_request_has(request, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN))
		MUST(request->cntlid_min >= 1 && request->cntlid_min <= 0xffef);
	if (polt_request_has(request, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX))
		MUST(request->cntlid_max >= 1 && request->cntlid_max <= 0xffef);
}

static void check_namespace(const struct polt_request *request, struct nlattr **attrs, bool is_new)
{
	check_nqn(request->nqn);
	MUST(request->nsid <= POLT_NSID_MAX && (request->nsid || is_new));
	MUST(request->submit <= POLT_SUBMIT_WORKER);
	if (!is_new)
		return;
	MUST(!request->ram_bytes == polt_request_has(request, POLLARD_TARGET_A_NAMESPACE_DEVICE));
	if (request->ram_bytes) {
		MUST(request->block_size >= 512 && request->block_size <= 4096);
		MUST(!(request->block_size & (request->block_size - 1)));
		MUST(request->ram_bytes >= 4096 && request->ram_bytes % request->block_size == 0);
	} else {
		const struct nlattr *device = attrs[POLLARD_TARGET_A_NAMESPACE_DEVICE];
		const char *path = nla_data(device);

		MUST(path[0] == '/' && nla_len(device) <= 4096);
		MUST(strnlen(path, nla_len(device)) == (size_t)nla_len(device) - 1);
		MUST(!request->block_size);
	}
	if (polt_request_has(request, POLLARD_TARGET_A_NAMESPACE_UUID))
		MUST(!uuid_is_null(&request->uuid));
}

static void check_port(const struct polt_request *request, bool is_new)
{
	MUST(request->inline_data_size <= POLT_INLINE_MAX);
	MUST(request->max_queue_depth >= 2 && request->max_queue_depth <= POLT_DEPTH_MAX);
	if (!is_new)
		return;
	MUST(strnlen(request->traddr, POLT_TRADDR_SIZE) < POLT_TRADDR_SIZE);
	MUST(request->trsvcid);
	MUST(request->adrfam <= POLLARD_TARGET_ADRFAM_IPV6);
}

static void check(u8 command, const struct polt_request *request, struct nlattr **attrs)
{
	switch (command) {
	case POLLARD_TARGET_CMD_SUBSYSTEM_NEW:
	case POLLARD_TARGET_CMD_SUBSYSTEM_SET:
	case POLLARD_TARGET_CMD_SUBSYSTEM_DEL:
		check_subsystem(request);
		break;
	case POLLARD_TARGET_CMD_NAMESPACE_NEW:
	case POLLARD_TARGET_CMD_NAMESPACE_SET:
	case POLLARD_TARGET_CMD_NAMESPACE_DEL:
		check_namespace(request, attrs, command == POLLARD_TARGET_CMD_NAMESPACE_NEW);
		break;
	case POLLARD_TARGET_CMD_HOST_NEW:
	case POLLARD_TARGET_CMD_HOST_DEL:
		check_nqn(request->nqn);
		check_nqn(request->hostnqn);
		break;
	case POLLARD_TARGET_CMD_PORT_NEW:
	case POLLARD_TARGET_CMD_PORT_SET:
		check_port(request, command == POLLARD_TARGET_CMD_PORT_NEW);
		break;
	case POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NEW:
	case POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL:
		check_nqn(request->nqn);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_request message;
	struct polt_request request;
	unsigned int which;
	int attr;

	if (!size)
		return -1;
	which = data[0] % ARRAY_SIZE(commands);
	if (!fuzz_parse(&message, commands[which].policy, commands[which].maxattr, data + 1,
			size - 1))
		return -1;
	memset(&request, 0xa5, sizeof(request));
	if (polt_parse_request(commands[which].command, message.attrs, &request, &message.extack))
		fuzz_check_refusal(&message, commands[which].maxattr);
	else
		check(commands[which].command, &request, message.attrs);
	for (attr = 1; attr <= commands[which].maxattr; attr++)
		MUST(polt_request_has(&request, attr) == !!message.attrs[attr]);
	free(message.message);
	return 0;
}
