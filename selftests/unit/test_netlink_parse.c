// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the target: what attributes ask for, what is a default, and what a refusal blames. */
#include "tap.h"
#include "attrs.h"
#include "target/netlink_parse.h"

#define A_NS(name)	POLLARD_TARGET_A_NAMESPACE_##name
#define NQN		"nqn.2026-11.org.example:disk1"

/* What came of reading it. */
static struct polt_request request;

/* The policy's verdict on what was written, or that of what reads it. */
static int read_as(u8 command, const struct nla_policy *policy, int maxattr)
{
	int err = parse(policy, maxattr);

	memset(&request, 0xa5, sizeof(request));
	return err ?: polt_parse_request(command, req.attrs, &request, &req.extack);
}

#define READ(command, policy)	\
	read_as(POLLARD_TARGET_CMD_##command, policy, ARRAY_SIZE(policy) - 1)
#define NEW_NAMESPACE()		READ(NAMESPACE_NEW, polt_namespace_new_policy)

TEST(nqn_length)
{
	char nqn[226];
	size_t len;

	for (len = 1; len < sizeof(nqn); len++) {
		memset(nqn, 'x', len);
		memcpy(nqn, "nqn.", len < 4 ? len : 4);
		nqn[len] = '\0';
		put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, nqn);
		CHECK_EQ(READ(SUBSYSTEM_DEL, polt_subsystem_key_policy),
			 len >= 5 && len <= 223 ? 0 : -EINVAL);
	}
}

TEST(nothing_hides_behind_a_nul)
{
	put(POLLARD_TARGET_A_SUBSYSTEM_NQN, "nqn.x\0y", 8);
	CHECK_EQ(READ(SUBSYSTEM_DEL, polt_subsystem_key_policy), -EINVAL);
	CHECK(blames(POLLARD_TARGET_A_SUBSYSTEM_NQN));
	put_text(A_NS(SUBSYSTEM), NQN);
	put(A_NS(DEVICE), "/dev/a\0b", 9);
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK(blames(A_NS(DEVICE)));
	put_number(POLLARD_TARGET_A_PORT_ID, 1, 2);
	put(POLLARD_TARGET_A_PORT_TRADDR, "::1\0", 5);
	CHECK_EQ(READ(PORT_NEW, polt_port_new_policy), -EINVAL);
	CHECK(blames(POLLARD_TARGET_A_PORT_TRADDR));
}

TEST(a_name_is_visible)
{
	static const char *const names[] = { "nqn.a b", "nqn.\x7f", "nqn.\t", "qnq.x", "NQN.x" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, names[i]);
		CHECK_EQ(READ(SUBSYSTEM_DEL, polt_subsystem_key_policy), -EINVAL);
		CHECK(blames(POLLARD_TARGET_A_SUBSYSTEM_NQN));
	}
	put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, "nqn.gr\xc3\xbc");
	CHECK_EQ(READ(SUBSYSTEM_DEL, polt_subsystem_key_policy), 0);
}

TEST(identify_texts_are_printable_ascii)
{
	static const struct {
		const char *text;
		int err;
	} texts[] = {
		{ "12345678901234567890", 0 }, { "123456789012345678901", -EINVAL },
		{ "a b~", 0 }, { "   ", -EINVAL }, { "", -EINVAL }, { "a\x7f", -EINVAL },
		{ "a\x80", -EINVAL }, { "a\x1f", -EINVAL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, NQN);
		put_text(POLLARD_TARGET_A_SUBSYSTEM_SERIAL, texts[i].text);
		CHECK_EQ(READ(SUBSYSTEM_SET, polt_subsystem_policy), texts[i].err);
		if (!texts[i].err)
			CHECK_STR(request.serial, texts[i].text);
	}
}

TEST(what_is_not_given_is_known)
{
	put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, NQN);
	put_number(POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX, 0xffef, 2);
	CHECK_EQ(READ(SUBSYSTEM_SET, polt_subsystem_policy), 0);
	CHECK_EQ(request.given, 1 << POLLARD_TARGET_A_SUBSYSTEM_NQN |
				    1 << POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX);
	CHECK_EQ(request.cntlid_max, 0xffef);
	CHECK_EQ(request.cntlid_min, 0);
	CHECK_EQ(request.allow_any_host, false);
	CHECK_STR(request.model, "");

	put_number(POLLARD_TARGET_A_PORT_ID, 0xffff, 2);
	put_text(POLLARD_TARGET_A_PORT_TRADDR, "127.0.0.1");
	CHECK_EQ(READ(PORT_NEW, polt_port_new_policy), 0);
	CHECK_EQ(request.port, 0xffff);
	CHECK_EQ(request.trsvcid, 4420);
	CHECK_EQ(request.adrfam, 0);
	CHECK_EQ(request.inline_data_size, 4096);
	CHECK_EQ(request.max_queue_depth, 128);
	CHECK_STR(request.traddr, "127.0.0.1");
}

TEST(what_is_missing_is_named)
{
	CHECK_EQ(READ(PORT_NEW, polt_port_new_policy), -EINVAL);
	CHECK_EQ(req.extack.miss_type, POLLARD_TARGET_A_PORT_ID);
	put_number(POLLARD_TARGET_A_PORT_ID, 1, 2);
	CHECK_EQ(READ(PORT_NEW, polt_port_new_policy), -EINVAL);
	CHECK_EQ(req.extack.miss_type, POLLARD_TARGET_A_PORT_TRADDR);
	put_text(POLLARD_TARGET_A_HOST_SUBSYSTEM, NQN);
	CHECK_EQ(READ(HOST_NEW, polt_host_policy), -EINVAL);
	CHECK_EQ(req.extack.miss_type, POLLARD_TARGET_A_HOST_NQN);
	put_text(A_NS(SUBSYSTEM), NQN);
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A_NS(DEVICE));
	put_text(A_NS(SUBSYSTEM), NQN);
	CHECK_EQ(READ(NAMESPACE_DEL, polt_namespace_key_policy), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A_NS(NSID));
}

TEST(a_namespace_is_a_device_or_memory)
{
	put_text(A_NS(SUBSYSTEM), NQN);
	put_text(A_NS(DEVICE), "/dev/vdb");
	CHECK_EQ(NEW_NAMESPACE(), 0);
	CHECK_EQ(request.ram_bytes, 0);
	CHECK_EQ(request.enabled, true);
	CHECK_EQ(request.nsid, 0);

	put_text(A_NS(SUBSYSTEM), NQN);
	put_text(A_NS(DEVICE), "/dev/vdb");
	put_number(A_NS(BLOCK_SIZE), 512, 4);
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK(blames(A_NS(BLOCK_SIZE)));

	put_text(A_NS(SUBSYSTEM), NQN);
	put_text(A_NS(DEVICE), "dev/vdb");
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK(blames(A_NS(DEVICE)));

	put_text(A_NS(SUBSYSTEM), NQN);
	put_text(A_NS(DEVICE), "/dev/vdb");
	put_number(A_NS(RAM_BYTES), 4096, 8);
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK(blames(A_NS(RAM_BYTES)));
}

TEST(memory_is_blocks)
{
	static const struct {
		u64 bytes;
		u32 block_size;		/* 0: not given */
		u16 blamed;
	} sizes[] = {
		{ 4096, 0, 0 }, { 4608, 0, 0 }, { 4607, 0, A_NS(RAM_BYTES) },
		{ 4608, 4096, A_NS(RAM_BYTES) }, { 8192, 4096, 0 }, { 8192, 513, A_NS(BLOCK_SIZE) },
		{ 8192, 1536, A_NS(BLOCK_SIZE) }, { ~0ULL, 0, A_NS(RAM_BYTES) },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		put_text(A_NS(SUBSYSTEM), NQN);
		put_number(A_NS(RAM_BYTES), sizes[i].bytes, 8);
		if (sizes[i].block_size)
			put_number(A_NS(BLOCK_SIZE), sizes[i].block_size, 4);
		CHECK_EQ(NEW_NAMESPACE(), sizes[i].blamed ? -EINVAL : 0);
		if (sizes[i].blamed)
			CHECK(blames(sizes[i].blamed));
		else
			CHECK_EQ(request.block_size, sizes[i].block_size ?: 512);
	}
}

TEST(namespace_identifiers)
{
	u8 id[16] = { 0 };

	put_text(A_NS(SUBSYSTEM), NQN);
	put_number(A_NS(RAM_BYTES), 4096, 8);
	put(A_NS(UUID), id, 16);
	CHECK_EQ(NEW_NAMESPACE(), -EINVAL);
	CHECK(blames(A_NS(UUID)));

	id[15] = 1;
	put_text(A_NS(SUBSYSTEM), NQN);
	put_number(A_NS(RAM_BYTES), 4096, 8);
	put(A_NS(UUID), id, 16);
	id[0] = 2;
	put(A_NS(NGUID), id, 16);
	CHECK_EQ(NEW_NAMESPACE(), 0);
	CHECK_EQ(request.uuid.b[15], 1);
	CHECK_EQ(request.uuid.b[0], 0);
	CHECK_EQ(memcmp(request.nguid, id, 16), 0);
}

TEST(ranges)
{
	static const struct {
		u16 type;
		u8 width;
		u32 value;
		bool taken;
	} values[] = {
		{ A_NS(NSID), 4, 0, false }, { A_NS(NSID), 4, 1, true },
		{ A_NS(NSID), 4, 1024, true }, { A_NS(NSID), 4, 1025, false },
		{ A_NS(BLOCK_SIZE), 4, 256, false }, { A_NS(BLOCK_SIZE), 4, 8192, false },
		{ A_NS(SUBMIT), 4, 2, true }, { A_NS(SUBMIT), 4, 3, false },
		{ A_NS(ENABLED), 1, 1, true }, { A_NS(ENABLED), 1, 2, false },
		{ A_NS(ENABLED), 2, 1, false }, { A_NS(SIZE_BYTES), 4, 1, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		put_text(A_NS(SUBSYSTEM), NQN);
		put_number(A_NS(RAM_BYTES), 8192, 8);
		put_number(values[i].type, values[i].value, values[i].width);
		CHECK_EQ(NEW_NAMESPACE(), values[i].taken ? 0 : -EINVAL);
	}
}

TEST(what_is_given_is_asked_for)
{
	put_text(POLLARD_TARGET_A_SUBSYSTEM_NQN, NQN);
	put_number(POLLARD_TARGET_A_SUBSYSTEM_ALLOW_ANY_HOST, 1, 1);
	put_text(POLLARD_TARGET_A_SUBSYSTEM_MODEL, "1234567890123456789012345678901234567890");
	put_number(POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN, 1, 2);
	CHECK_EQ(READ(SUBSYSTEM_NEW, polt_subsystem_policy), 0);
	CHECK_STR(request.nqn, NQN);
	CHECK_EQ(request.allow_any_host, true);
	CHECK_STR(request.model, "1234567890123456789012345678901234567890");
	CHECK_EQ(request.cntlid_min, 1);

	put_text(A_NS(SUBSYSTEM), NQN);
	put_number(A_NS(NSID), 7, 4);
	put_number(A_NS(RAM_BYTES), 8192, 8);
	put_number(A_NS(ENABLED), 0, 1);
	put_number(A_NS(SHARED), 1, 1);
	put_number(A_NS(READ_ONLY), 1, 1);
	put_number(A_NS(SUBMIT), POLLARD_TARGET_SUBMIT_WORKER, 4);
	CHECK_EQ(NEW_NAMESPACE(), 0);
	CHECK_EQ(request.nsid, 7);
	CHECK_EQ(request.ram_bytes, 8192);
	CHECK_EQ(request.enabled, false);
	CHECK_EQ(request.shared, true);
	CHECK_EQ(request.read_only, true);
	CHECK_EQ(request.submit, POLT_SUBMIT_WORKER);

	put_text(A_NS(SUBSYSTEM), NQN);
	put_number(A_NS(NSID), 7, 4);
	put_number(A_NS(SUBMIT), POLLARD_TARGET_SUBMIT_INLINE, 4);
	CHECK_EQ(READ(NAMESPACE_SET, polt_namespace_set_policy), 0);
	CHECK_EQ(request.nsid, 7);
	CHECK_EQ(request.enabled, false);
	CHECK_EQ(request.submit, POLT_SUBMIT_INLINE);

	put_number(POLLARD_TARGET_A_PORT_SUBSYSTEM_PORT, 0x1234, 2);
	put_text(POLLARD_TARGET_A_PORT_SUBSYSTEM_SUBSYSTEM, NQN);
	CHECK_EQ(READ(PORT_SUBSYSTEM_NEW, polt_link_policy), 0);
	CHECK_EQ(request.port, 0x1234);
	CHECK_STR(request.nqn, NQN);
}

TEST(addresses_of_ports)
{
	char traddr[65];
	size_t len;

	for (len = 62; len <= 64; len++) {
		memset(traddr, '1', len);
		traddr[len] = '\0';
		put_number(POLLARD_TARGET_A_PORT_ID, 1, 2);
		put_number(POLLARD_TARGET_A_PORT_ADRFAM, POLLARD_TARGET_ADRFAM_IPV6, 4);
		put_text(POLLARD_TARGET_A_PORT_TRADDR, traddr);
		put_number(POLLARD_TARGET_A_PORT_TRSVCID, len - 62, 2);
		put_number(POLLARD_TARGET_A_PORT_MAX_QUEUE_DEPTH, 2, 4);
		put_number(POLLARD_TARGET_A_PORT_INLINE_DATA_SIZE, 0, 4);
		CHECK_EQ(READ(PORT_NEW, polt_port_new_policy), len == 63 ? 0 : -EINVAL);
		if (len != 63)
			continue;
		CHECK_STR(request.traddr, traddr);
		CHECK_EQ(request.trsvcid, 1);
		CHECK_EQ(request.adrfam, POLLARD_TARGET_ADRFAM_IPV6);
		CHECK_EQ(request.max_queue_depth, 2);
		CHECK_EQ(request.inline_data_size, 0);
	}
}
