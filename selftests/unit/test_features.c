// SPDX-License-Identifier: GPL-2.0-only
/* Get and Set Features: what is refused changes nothing, what is granted is what is reported. */
#include "tap.h"
#include "bytes.h"
#include "target/features.h"
#include "target/identify.h"

#define GET	0x0a
#define SET	0x09

#define BAD_FIELD	(NVME_SC_INVALID_FIELD | DNR)

static const uuid_t hostid = { { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } };
static struct polt_features features;
static struct polt_features_reply reply;

static void fresh(bool discovery)
{
	memset(&features, 0xa5, sizeof(features));
	polt_features_init(&features, discovery, 64, 15000, &hostid);
}

static struct nvme_command *new_command(u8 opcode, u32 cdw10, u32 cdw11)
{
	struct nvme_command *command = calloc(1, sizeof(*command));

	put_le(command, 0, opcode, 1);
	put_le(command, 40, cdw10, 4);
	put_le(command, 44, cdw11, 4);
	return command;
}

static u16 get(u32 cdw10, u32 cdw11)
{
	struct nvme_command *command = new_command(GET, cdw10, cdw11);
	u16 status;

	memset(&reply, 0xa5, sizeof(reply));
	status = polt_features_get(&features, command, &reply);
	free(command);
	return status;
}

static u16 set_with_queues(u32 cdw10, u32 cdw11, bool io_queues_exist)
{
	struct nvme_command *command = new_command(SET, cdw10, cdw11);
	struct polt_features before = features;
	u16 status;

	memset(&reply, 0xa5, sizeof(reply));
	status = polt_features_set(&features, command, io_queues_exist, &reply);
	if (status) {
		CHECK_MEM(&features, &before, sizeof(before));
		CHECK_EQ(reply.result, 0);
	}
	CHECK_EQ(reply.len, 0);
	free(command);
	return status;
}

static u16 set(u32 cdw10, u32 cdw11)
{
	return set_with_queues(cdw10, cdw11, false);
}

TEST(initial_values)
{
	fresh(false);
	CHECK_EQ(features.io_queues, 64);
	CHECK_EQ(features.kato_ms, 15000);
	CHECK_EQ(features.async_events, 0);
	CHECK_EQ(get(NVME_FEAT_NUM_QUEUES, 0), 0);
	CHECK_EQ(reply.result, 63 | 63 << 16);
	CHECK_EQ(get(NVME_FEAT_VOLATILE_WC, 0), 0);
	CHECK_EQ(reply.result, 1);
	CHECK_EQ(get(NVME_FEAT_TEMP_THRESH, 0), 0);
	CHECK_EQ(reply.result, 0xffff);
	CHECK_EQ(get(NVME_FEAT_TEMP_THRESH, 1 << 20), 0);
	CHECK_EQ(reply.result, 0);
}

TEST(values_after_a_reset)
{
	struct polt_features before;

	fresh(false);
	before = features;
	CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, 1 | 1 << 16), 0);
	CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT, 0x100), 0);
	CHECK_EQ(set(NVME_FEAT_TEMP_THRESH, 300), 0);
	CHECK_EQ(set(NVME_FEAT_TEMP_THRESH, 250 | 1 << 20), 0);
	CHECK_EQ(set(NVME_FEAT_KATO, 30000), 0);
	polt_features_reset(&features);
	before.kato_ms = 30000;
	CHECK_MEM(&features, &before, sizeof(before));

	fresh(true);
	CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT, 1U << 31), 0);
	polt_features_reset(&features);
	CHECK_EQ(features.discovery, true);
	CHECK_EQ(features.async_events, 0);
}

/* The mandatory ones of an I/O controller and of a discovery controller, and nothing else. */
TEST(which_features_there_are)
{
	static const u8 io[] = { 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x0f, 0x81 };
	static const u8 disc[] = { 0x0b, 0x0f, 0x81 };
	unsigned int fid;

	for (fid = 0; fid < 256; fid++) {
		fresh(false);
		CHECK_EQ(get(fid, fid == 0x81), memchr(io, fid, sizeof(io)) ? 0 : BAD_FIELD);
		fresh(true);
		CHECK_EQ(get(fid, fid == 0x81), memchr(disc, fid, sizeof(disc)) ? 0 : BAD_FIELD);
		if (!memchr(disc, fid, sizeof(disc)))
			CHECK_EQ(set(fid, 0), BAD_FIELD);
	}
}

TEST(select_field)
{
	fresh(false);
	CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT, 0x100), 0);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT, 0), 0);
	CHECK_EQ(reply.result, 0x100);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT | 1 << 8, 0), 0);	/* default */
	CHECK_EQ(reply.result, 0);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT | 2 << 8, 0), 0);	/* saved */
	CHECK_EQ(reply.result, 0);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT | 3 << 8, 0), 0);	/* supported capabilities */
	CHECK_EQ(reply.result, 4);
	CHECK_EQ(get(NVME_FEAT_ARBITRATION | 3 << 8, 0), 0);
	CHECK_EQ(reply.result, 0);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT | 4 << 8, 0), BAD_FIELD);
	CHECK_EQ(get(NVME_FEAT_ASYNC_EVENT | 7 << 8, 0), BAD_FIELD);
}

TEST(nothing_is_saved)
{
	fresh(false);
	CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT | 1U << 31, 0), NVME_SC_FEATURE_NOT_SAVEABLE | DNR);
	CHECK_EQ(set(NVME_FEAT_ARBITRATION | 1U << 31, 7), NVME_SC_FEATURE_NOT_SAVEABLE | DNR);
	CHECK_EQ(set(0xff | 1U << 31, 0), BAD_FIELD);
}

TEST(fixed_values_are_not_changed)
{
	static const u8 fixed[] = { 0x01, 0x02, 0x05, 0x06, 0x0a };
	unsigned int i;
	u32 value;

	fresh(false);
	for (i = 0; i < sizeof(fixed); i++) {
		CHECK_EQ(get(fixed[i], 0), 0);
		value = reply.result;
		CHECK_EQ(set(fixed[i], value), 0);
		CHECK_EQ(set(fixed[i], value + 1), NVME_SC_FEATURE_NOT_CHANGEABLE | DNR);
		CHECK_EQ(set(fixed[i], ~0U), NVME_SC_FEATURE_NOT_CHANGEABLE | DNR);
	}
}

TEST(number_of_queues_is_zeroes_based)
{
	static const struct { u16 sq, cq, want; } cases[] = {
		{ 0, 0, 0 }, { 1, 1, 1 }, { 62, 62, 62 }, { 63, 63, 63 }, { 64, 64, 63 },
		{ 7, 3, 7 }, { 3, 7, 7 }, { 0xfffe, 0xfffe, 63 }, { 0, 0xfffe, 63 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fresh(false);
		CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, cases[i].sq | (u32)cases[i].cq << 16), 0);
		CHECK_EQ(reply.result, cases[i].want | cases[i].want << 16);
		CHECK_EQ(features.io_queues, cases[i].want + 1);
		CHECK_EQ(get(NVME_FEAT_NUM_QUEUES, 0), 0);
		CHECK_EQ(reply.result, cases[i].want | cases[i].want << 16);
	}
	fresh(false);
	CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, 0xffff), BAD_FIELD);
	CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, 0xffff0000), BAD_FIELD);
	CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, 0xffffffff), BAD_FIELD);
	CHECK_EQ(set_with_queues(NVME_FEAT_NUM_QUEUES, 0x00030003, true),
		 NVME_SC_CMD_SEQ_ERROR | DNR);
}

TEST(number_of_queues_at_its_largest)
{
	polt_features_init(&features, false, 0xffff, 0, &hostid);
	CHECK_EQ(get(NVME_FEAT_NUM_QUEUES, 0), 0);
	CHECK_EQ(reply.result, 0xfffefffe);
	CHECK_EQ(set(NVME_FEAT_NUM_QUEUES, 0xfffefffe), 0);
	CHECK_EQ(reply.result, 0xfffefffe);
	polt_features_init(&features, false, 1, 0, &hostid);
	CHECK_EQ(get(NVME_FEAT_NUM_QUEUES, 0), 0);
	CHECK_EQ(reply.result, 0);
}

TEST(keep_alive_timeout_is_rounded_up)
{
	static const struct { u32 ms, want; } cases[] = {
		{ 0, 0 }, { 1, 1000 }, { 999, 1000 }, { 1000, 1000 }, { 1001, 2000 },
		{ POLT_KATO_MAX_MS - 1, POLT_KATO_MAX_MS }, { POLT_KATO_MAX_MS, POLT_KATO_MAX_MS },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ(polt_features_round_kato(cases[i].ms), cases[i].want);
		fresh(false);
		CHECK_EQ(set(NVME_FEAT_KATO, cases[i].ms), 0);
		CHECK_EQ(reply.result, cases[i].want);
		CHECK_EQ(features.kato_ms, cases[i].want);
		CHECK_EQ(get(NVME_FEAT_KATO, 0), 0);
		CHECK_EQ(reply.result, cases[i].want);
	}
	/* Connect's value is bounded silently, Set Features refuses. */
	CHECK_EQ(polt_features_round_kato(POLT_KATO_MAX_MS + 1), POLT_KATO_MAX_MS);
	CHECK_EQ(polt_features_round_kato(~0U), POLT_KATO_MAX_MS);
	CHECK_EQ(set(NVME_FEAT_KATO, POLT_KATO_MAX_MS + 1), NVME_SC_KA_TIMEOUT_INVALID | DNR);
	CHECK_EQ(set(NVME_FEAT_KATO, ~0U), NVME_SC_KA_TIMEOUT_INVALID | DNR);
	polt_features_init(&features, false, 1, ~0U, &hostid);
	CHECK_EQ(features.kato_ms, POLT_KATO_MAX_MS);
}

/* Each controller type has only its own events. */
TEST(async_event_configuration)
{
	unsigned int bit;
	bool known;

	for (bit = 0; bit < 32; bit++) {
		fresh(false);
		known = bit < 5 || bit == 8;
		CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT, 1U << bit), known ? 0 : BAD_FIELD);
		CHECK_EQ(features.async_events, known ? 1U << bit : 0);
		fresh(true);
		CHECK_EQ(set(NVME_FEAT_ASYNC_EVENT, 1U << bit), bit == 31 ? 0 : BAD_FIELD);
	}
}

TEST(temperature_thresholds)
{
	unsigned int sensor, type;

	fresh(false);
	CHECK_EQ(set(NVME_FEAT_TEMP_THRESH, 350), 0);
	CHECK_EQ(set(NVME_FEAT_TEMP_THRESH, 1 << 20 | 250), 0);
	CHECK_EQ(get(NVME_FEAT_TEMP_THRESH, 0), 0);
	CHECK_EQ(reply.result, 350);
	CHECK_EQ(get(NVME_FEAT_TEMP_THRESH, 1 << 20), 0);
	CHECK_EQ(reply.result, 250);
	for (sensor = 0; sensor < 16; sensor++)
		for (type = 0; type < 4; type++)
			CHECK_EQ(set(NVME_FEAT_TEMP_THRESH, sensor << 16 | type << 20),
				 (sensor == 0 || sensor == 15) && type < 2 ? 0 : BAD_FIELD);
	CHECK_EQ(get(NVME_FEAT_TEMP_THRESH, 1 << 16), BAD_FIELD);
}

TEST(host_identifier)
{
	static const u8 zeroes[POLT_FEATURES_DATA_MAX];

	fresh(false);
	CHECK_EQ(get(NVME_FEAT_HOST_ID, 1), 0);
	CHECK_EQ(reply.len, 16);
	CHECK_MEM(reply.data, &hostid, 16);
	CHECK_EQ(get(NVME_FEAT_HOST_ID, 0), BAD_FIELD);
	CHECK_EQ(reply.len, 0);
	CHECK_MEM(reply.data, zeroes, sizeof(zeroes));
	CHECK_EQ(set(NVME_FEAT_HOST_ID, 1), NVME_SC_CMD_SEQ_ERROR | DNR);
}

TEST(data_length)
{
	static const struct { u8 opcode; u32 cdw10, cdw11, want; } cases[] = {
		{ GET, 0x81, 1, 16 }, { GET, 0x81, 0, 8 }, { SET, 0x81, 1, 16 },
		{ SET, 0x81, 0, 8 },
		{ GET, 0x381, 1, 0 }, { SET, 0x381, 1, 16 }, { GET, 0x281, 1, 16 },
		{ GET, 0x80000081, 1, 16 }, { GET, 0x07, 1, 0 }, { SET, 0x0b, ~0U, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nvme_command *command = new_command(cases[i].opcode, cases[i].cdw10,
							   cases[i].cdw11);

		CHECK_EQ(polt_features_data_len(command), cases[i].want);
		free(command);
	}
}
