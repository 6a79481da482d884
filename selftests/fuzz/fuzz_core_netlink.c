// SPDX-License-Identifier: GPL-2.0-only
/* Input: which request (a byte), how the group spins now (4 bytes), then its attributes. */
#include "fuzz_attrs.h"
#include "core/attrs.h"
#include "core/mode.h"
#include "core/netlink_parse.h"

#define A(name)		POLLARD_A_GROUP_##name
#define NAME_SIZE	64

static void check_key(const struct fuzz_request *request, u32 id)
{
	MUST(id <= 65535 && id == nla_get_u32(request->attrs[A(ID)]));
}

/* A mode is what was asked for, or what was; a time of one's own is adaptive. */
static void check_spin(const struct fuzz_request *request, u32 before, u32 spin_us)
{
	const struct nlattr *mode = request->attrs[A(MODE)], *spin = request->attrs[A(SPIN_US)];

	if (mode)
		MUST(pol_mode_number(spin_us) == nla_get_u32(mode));
	if (spin)
		MUST(spin_us == nla_get_u32(spin) && spin_us >= 1 && spin_us <= 1000000);
	else if (!mode)
		MUST(spin_us == before);
	else
		MUST(spin_us == 0 || spin_us == 50 || spin_us == ~0U);
}

static void fuzz_key(const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	u32 id;

	if (!FUZZ_PARSE(&request, pol_group_key_policy, data, size))
		return;
	if (pol_parse_group_key(request.attrs, &id, &request.extack))
		fuzz_check_refusal(&request, A(ID));
	else
		check_key(&request, id);
	memset(&request.extack, 0, sizeof(request.extack));
	if (pol_attrs_none(request.attrs, A(ID), &request.extack))
		fuzz_check_refusal(&request, A(ID));
	else
		MUST(!request.attrs[A(ID)]);
	free(request.message);
}

static void fuzz_new(const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	u32 id, cpu, spin_us;

	if (!FUZZ_PARSE(&request, pol_group_new_policy, data, size))
		return;
	if (pol_parse_group_new(request.attrs, &id, &cpu, &spin_us, &request.extack)) {
		fuzz_check_refusal(&request, A(SPIN_US));
	} else {
		check_key(&request, id);
		MUST(cpu <= 0x7fffffff && cpu == nla_get_u32(request.attrs[A(CPU)]));
		check_spin(&request, 50, spin_us);
	}
	free(request.message);
}

static void fuzz_set(u32 now, const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	u32 spin_us = now;

	if (!FUZZ_PARSE(&request, pol_group_set_policy, data, size))
		return;
	if (pol_parse_spin(request.attrs, &spin_us, &request.extack)) {
		MUST(spin_us == now);
		fuzz_check_refusal(&request, A(SPIN_US));
	} else {
		check_spin(&request, now, spin_us);
	}
	free(request.message);
}

static void fuzz_device(const uint8_t *data, size_t size)
{
	struct fuzz_request request;
	char name[NAME_SIZE];

	if (!FUZZ_PARSE(&request, pol_device_policy, data, size))
		return;
	memset(name, 0xa5, sizeof(name));
	if (pol_parse_device_key(request.attrs, name, &request.extack))
		fuzz_check_refusal(&request, POLLARD_A_DEVICE_NAME);
	else
		fuzz_check_text(request.attrs[POLLARD_A_DEVICE_NAME], name, sizeof(name));
	free(request.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 now;

	if (size < 5)
		return -1;
	memcpy(&now, data + 1, sizeof(now));
	switch (data[0] % 4) {
	case 0:
		fuzz_key(data + 5, size - 5);
		break;
	case 1:
		fuzz_new(data + 5, size - 5);
		break;
	case 2:
		fuzz_set(now, data + 5, size - 5);
		break;
	default:
		fuzz_device(data + 5, size - 5);
		break;
	}
	return 0;
}
