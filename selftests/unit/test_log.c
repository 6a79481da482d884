// SPDX-License-Identifier: GPL-2.0-only
/* Log pages: every edge of NUMD and LPO, and pages as images of bytes. */
#include "tap.h"
#include "bytes.h"
#include "target/log.h"

#define MAX_LEN		(1U << 20)

static struct nvme_command *command;

static void get_log(u8 lid, u32 numd, u64 lpo)
{
	free(command);
	command = calloc(1, sizeof(*command));
	put_le(command, 0, 0x02, 1);
	put_le(command, 4, 0xffffffff, 4);
	put_le(command, 40, lid, 1);
	put_le(command, 42, numd, 2);		/* NUMDL */
	put_le(command, 44, numd >> 16, 2);	/* NUMDU */
	put_le(command, 48, lpo, 8);
}

static u16 parse(u32 numd, u64 lpo, u32 max_len, struct polt_log_request *request)
{
	get_log(NVME_LOG_DISC, numd, lpo);
	memset(request, 0xa5, sizeof(*request));
	return polt_log_parse(command, max_len, request);
}

TEST(command_fields_are_where_the_specification_has_them)
{
	struct polt_log_request request;

	get_log(0x70, 0x0002ffff, 0x123456789abcdef0);
	put_le(command, 4, 0x89abcdef, 4);
	CHECK_EQ(polt_log_parse(command, MAX_LEN, &request), 0);
	CHECK_EQ(request.lid, 0x70);
	CHECK_EQ(request.nsid, 0x89abcdef);
	CHECK_EQ(request.len, 0x30000 * 4);
	CHECK_EQ(request.offset, 0x123456789abcdef0);
	CHECK_EQ(request.retain, false);
	put_le(command, 41, 0x80, 1);
	CHECK_EQ(polt_log_parse(command, MAX_LEN, &request), 0);
	CHECK_EQ(request.retain, true);
	put_le(command, 41, 0x7f, 1);
	CHECK_EQ(polt_log_parse(command, MAX_LEN, &request), 0);
	CHECK_EQ(request.retain, false);
}

TEST(numd_is_zeroes_based_and_bounded)
{
	static const u16 bad = NVME_SC_INVALID_FIELD | DNR;
	struct polt_log_request request;

	CHECK_EQ(parse(0, 0, MAX_LEN, &request), 0);
	CHECK_EQ(request.len, 4);
	CHECK_EQ(parse(1023, 0, 4096, &request), 0);
	CHECK_EQ(request.len, 4096);
	CHECK_EQ(parse(1022, 0, 4096, &request), 0);
	CHECK_EQ(parse(1024, 0, 4096, &request), bad);
	CHECK_EQ(parse(0xffff, 0, MAX_LEN, &request), 0);
	CHECK_EQ(request.len, 0x40000);
	CHECK_EQ(parse(0x10000, 0, MAX_LEN, &request), 0);
	CHECK_EQ(request.len, 0x40004);
	CHECK_EQ(parse(MAX_LEN / 4 - 1, 0, MAX_LEN, &request), 0);
	CHECK_EQ(parse(MAX_LEN / 4, 0, MAX_LEN, &request), bad);
	/* (NUMD + 1) * 4 is 2^34, 2^32 and 0 in 32 bits. */
	CHECK_EQ(parse(0xffffffff, 0, MAX_LEN, &request), bad);
	CHECK_EQ(parse(0x3fffffff, 0, MAX_LEN, &request), bad);
	CHECK_EQ(parse(0xffffffff, 0, ~0U, &request), bad);
}

TEST(lpo_is_a_multiple_of_four)
{
	struct polt_log_request request;
	u64 lpo;

	for (lpo = 0; lpo < 16; lpo++)
		CHECK_EQ(parse(0, lpo, MAX_LEN, &request),
			 lpo % 4 ? NVME_SC_INVALID_FIELD | DNR : 0);
	CHECK_EQ(parse(0, ~3ULL, MAX_LEN, &request), 0);
	CHECK_EQ(request.offset, ~3ULL);
	CHECK_EQ(parse(0, ~0ULL, MAX_LEN, &request), NVME_SC_INVALID_FIELD | DNR);
}

/* Byte i of a page belongs to piece p when start <= i < start + len: count it the slow way. */
static void check_clip(u64 offset, u32 want, u64 start, u32 len)
{
	const struct polt_log_request request = { .offset = offset, .len = want };
	struct polt_log_piece piece = polt_log_clip(&request, start, len);
	u32 first = 0, count = 0, i;

	for (i = 0; i < want; i++) {
		unsigned __int128 at = (unsigned __int128)offset + i;

		if (at < start || at >= (unsigned __int128)start + len)
			continue;
		if (!count++)
			first = i;
	}
	CHECK_EQ(piece.len, count);
	if (!count)
		return;
	CHECK_EQ(piece.at, first);
	CHECK_EQ(piece.skip, offset + first - start);
}

TEST(pieces_around_every_edge)
{
	static const u32 lens[] = { 0, 1, 4, 8, 64 };
	unsigned int l, w;
	u64 offset, start;

	for (l = 0; l < 5; l++)
	for (w = 4; w <= 72; w += 4)
	for (start = 0; start <= 32; start += 8)
	for (offset = 0; offset <= 108; offset += 4)
		check_clip(offset, w, start, lens[l]);
}

TEST(pieces_at_the_end_of_the_range)
{
	check_clip(~3ULL, 4, 0, 1024);
	check_clip(~3ULL, 64, 0, 1024);		/* the end wraps past the start of the page */
	check_clip(~63ULL, 128, 1024, 1024);
	check_clip(~63ULL, 128, ~63ULL, 63);
	check_clip(0, 128, ~63ULL, 63);
	check_clip(1ULL << 32, 64, 0, 64);	/* offsets are 64 bits wide */
	check_clip(0, 64, 1ULL << 32, 64);
	check_clip((1ULL << 32) + 8, 64, 1ULL << 32, 64);
}

/* Right at its end there is nothing, behind it there is no page. */
TEST(a_page_begins_before_its_end)
{
	static const u64 offsets[] = { 0, 4, 508, 512, 516, 1ULL << 32, (1ULL << 32) + 4, ~3ULL };
	unsigned int i;

	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		const struct polt_log_request request = { .offset = offsets[i], .len = 64 };
		struct polt_log_piece piece, before;
		u16 status;

		memset(&piece, 0xa5, sizeof(piece));
		before = piece;
		status = polt_log_clip_page(&request, 512, &piece);
		CHECK_EQ(status, offsets[i] <= 512 ? 0 : NVME_SC_INVALID_FIELD | DNR);
		if (status) {
			CHECK_MEM(&piece, &before, sizeof(piece));
			continue;
		}
		CHECK_EQ(piece.at, 0);
		CHECK_EQ(piece.len, offsets[i] + 64 <= 512 ? 64 : 512 - offsets[i]);
		CHECK_EQ(piece.skip, piece.len ? offsets[i] : 0);
	}
}

/* Reading a page of several structures in chunks of any size gives the page. */
TEST(chunks_make_up_the_page)
{
	u8 page[160], copy[160];
	u32 chunk, offset, s;

	for (s = 0; s < sizeof(page); s++)
		page[s] = s;
	for (chunk = 4; chunk <= 192; chunk += 4) {
		memset(copy, 0, sizeof(copy));
		for (offset = 0; offset < sizeof(page); offset += chunk) {
			const struct polt_log_request request = { .offset = offset, .len = chunk };

			for (s = 0; s < sizeof(page); s += 32) {
				struct polt_log_piece piece = polt_log_clip(&request, s, 32);

				if (piece.len)
					memcpy(copy + offset + piece.at, page + s + piece.skip,
					       piece.len);
			}
		}
		CHECK_MEM(copy, page, sizeof(page));
	}
}

static void add_errors(struct polt_log_errors *errors, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		get_log(0, 0, 0);
		put_le(command, 0, 0x06, 1);
		put_le(command, 2, 0x100 + errors->count, 2);
		polt_log_add_error(errors, 0, command, NVME_SC_INVALID_FIELD);
	}
}

TEST(error_entry_byte_for_byte)
{
	struct polt_log_errors errors = { .count = 0 };
	struct nvme_error_slot *slot = dirty(sizeof(*slot));
	u8 want[64] = { 0 };

	CHECK_EQ(sizeof(*slot), 64);
	memset(&errors.ring, 0xa5, sizeof(errors.ring));
	get_log(0, 0, 0);
	put_le(command, 0, 0x02, 1);		/* Read */
	put_le(command, 2, 0xabcd, 2);
	put_le(command, 4, 0x11223344, 4);
	put_le(command, 40, 0x1122334455667788, 8);
	polt_log_add_error(&errors, 5, command, 0x4281);
	polt_log_error_entry(&errors, 0, slot);
	put_le(want, 0, 1, 8);			/* Error Count */
	put_le(want, 8, 5, 2);			/* Submission Queue ID */
	put_le(want, 10, 0xabcd, 2);		/* Command ID */
	put_le(want, 12, 0x4281 << 1, 2);	/* Status Field, the phase in bit 0 */
	put_le(want, 14, 0xffff, 2);		/* no parameter to blame */
	put_le(want, 16, 0x1122334455667788, 8);	/* LBA */
	put_le(want, 24, 0x11223344, 4);	/* Namespace */
	CHECK_MEM(slot, want, 64);

	/* An admin command has no LBA: its bytes there are something else. */
	polt_log_add_error(&errors, 0, command, 2);
	polt_log_error_entry(&errors, 0, slot);
	CHECK_EQ(get_le(slot, 0, 8), 2);
	CHECK_EQ(get_le(slot, 16, 8), 0);
	put_le(command, 0, 0x00, 1);		/* Flush has none either */
	polt_log_add_error(&errors, 1, command, 2);
	polt_log_error_entry(&errors, 0, slot);
	CHECK_EQ(get_le(slot, 16, 8), 0);
	put_le(command, 0, 0x01, 1);		/* Write has */
	polt_log_add_error(&errors, 1, command, 2);
	polt_log_error_entry(&errors, 0, slot);
	CHECK_EQ(get_le(slot, 16, 8), 0x1122334455667788);
	CHECK_EQ(get_le(slot, 24, 4), 0x11223344);
	put_le(command, 0, 0x7f, 1);		/* a Fabrics command has no namespace */
	polt_log_add_error(&errors, 0, command, 2);
	polt_log_error_entry(&errors, 0, slot);
	CHECK_EQ(get_le(slot, 24, 4), 0);
	free(slot);
}

TEST(error_log_keeps_the_newest)
{
	static const unsigned int counts[] = { 0, 1, POLT_ERRORS_MAX - 1, POLT_ERRORS_MAX,
					       POLT_ERRORS_MAX + 1, 5 * POLT_ERRORS_MAX + 3 };
	static const u8 zeroes[64];
	struct nvme_error_slot slot;
	unsigned int i, entry;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct polt_log_errors errors;

		memset(&errors, 0, sizeof(errors));
		add_errors(&errors, counts[i]);
		CHECK_EQ(errors.count, counts[i]);
		for (entry = 0; entry < POLT_ERRORS_MAX + 2; entry++) {
			memset(&slot, 0xa5, sizeof(slot));
			polt_log_error_entry(&errors, entry, &slot);
			if (entry >= counts[i] || entry >= POLT_ERRORS_MAX) {
				CHECK_MEM(&slot, zeroes, sizeof(slot));
				continue;
			}
			CHECK_EQ(get_le(&slot, 0, 8), counts[i] - entry);
			CHECK_EQ(get_le(&slot, 10, 2), 0x100 + counts[i] - entry - 1);
		}
	}
}

TEST(error_log_is_cleared)
{
	static const u8 zeroes[64];
	struct polt_log_errors errors;
	struct nvme_error_slot slot;
	unsigned int entry;

	memset(&errors, 0, sizeof(errors));
	add_errors(&errors, 2 * POLT_ERRORS_MAX);
	polt_log_clear_errors(&errors);
	for (entry = 0; entry < POLT_ERRORS_MAX; entry++) {
		memset(&slot, 0xa5, sizeof(slot));
		polt_log_error_entry(&errors, entry, &slot);
		CHECK_MEM(&slot, zeroes, sizeof(slot));
	}
	add_errors(&errors, 1);
	polt_log_error_entry(&errors, 0, &slot);
	CHECK_EQ(get_le(&slot, 0, 8), 2 * POLT_ERRORS_MAX + 1);
	polt_log_error_entry(&errors, 1, &slot);
	CHECK_MEM(&slot, zeroes, sizeof(slot));
}

TEST(smart_byte_for_byte)
{
	const struct polt_log_smart_values values = {
		.bytes_read = 512000, .bytes_written = 512001, .reads = 0x1122334455667788,
		.writes = 7, .media_errors = 3, .errors = 9, .uptime_s = 7199,
	};
	struct nvme_smart_log *log = dirty(sizeof(*log));
	u8 want[512] = { 0 };

	CHECK_EQ(sizeof(*log), 512);
	want[3] = 100;			/* Available Spare */
	want[4] = 10;			/* its threshold */
	put_le(want, 32, 1, 8);		/* Data Units Read: thousands of 512 bytes, rounded up */
	put_le(want, 48, 2, 8);		/* Data Units Written */
	put_le(want, 64, 0x1122334455667788, 8);
	put_le(want, 80, 7, 8);
	put_le(want, 128, 1, 8);	/* Power On Hours */
	put_le(want, 160, 3, 8);
	put_le(want, 176, 9, 8);
	polt_log_smart(log, &values);
	CHECK_MEM(log, want, 512);
	free(log);
}

TEST(smart_data_units_round_up_without_overflow)
{
	static const u64 bytes[] = { 0, 1, 511999, 512000, 512001, ~0ULL };
	struct polt_log_smart_values values = { 0 };
	struct nvme_smart_log log;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		values.bytes_read = bytes[i];
		polt_log_smart(&log, &values);
		CHECK_EQ(get_le(&log, 32, 8),
			 (u64)(((unsigned __int128)bytes[i] + 511999) / 512000));
		CHECK_EQ(get_le(&log, 48, 8), 0);
	}
}

TEST(firmware_slot_byte_for_byte)
{
	struct nvme_fw_slot_info_log *log = dirty(sizeof(*log));
	u8 want[512] = { 0 };

	want[0] = 1;			/* slot 1 is active */
	put_text(want, 8, 8, "1.2");
	polt_log_firmware(log, "1.2");
	CHECK_MEM(log, want, 512);
	put_text(want, 8, 8, "12345678");
	polt_log_firmware(log, "123456789");
	CHECK_MEM(log, want, 512);
	free(log);
}

TEST(effects_byte_for_byte)
{
	static const u8 admin[] = { 0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18 };
	struct nvme_effects_log *log = dirty(sizeof(*log));
	u8 want[4096] = { 0 };
	unsigned int i;

	CHECK_EQ(sizeof(*log), sizeof(want));
	for (i = 0; i < sizeof(admin); i++)
		want[4 * admin[i]] = 1;
	want[1024 + 4 * 0] = 3;		/* Flush and Write change content */
	want[1024 + 4 * 1] = 3;
	want[1024 + 4 * 2] = 1;		/* Read */
	polt_log_effects(log);
	CHECK_MEM(log, want, sizeof(want));
	free(log);
}

TEST(which_pages_there_are)
{
	unsigned int lid;

	for (lid = 0; lid < 256; lid++) {
		CHECK_EQ(polt_log_known(false, lid), lid <= 5);
		CHECK_EQ(polt_log_known(true, lid), lid <= 1 || lid == 0x70);
	}
}

TEST(supported_pages_byte_for_byte)
{
	static const u8 io[] = { 0, 1, 2, 3, 4, 5 }, discovery[] = { 0, 1, 0x70 };
	u8 *page = dirty(1024), want[1024] = { 0 };
	unsigned int i;

	CHECK_EQ(POLT_LOG_SUPPORTED_SIZE, 1024);
	for (i = 0; i < sizeof(io); i++)
		want[4 * io[i]] = 1;
	polt_log_supported(page, false);
	CHECK_MEM(page, want, 1024);

	memset(want, 0, sizeof(want));
	memset(page, 0xa5, 1024);
	for (i = 0; i < sizeof(discovery); i++)
		want[4 * discovery[i]] = 1;
	polt_log_supported(page, true);
	CHECK_MEM(page, want, 1024);
	free(page);
}

TEST(changed_namespaces)
{
	static const u32 nsids[] = { 1, 2, 31, 32, 33, 64, 65, 1023, 1024 };
	u32 changed[POLT_LOG_CHANGED_WORDS];
	u8 want[4096] = { 0 };
	__le32 *list = dirty(4096);
	unsigned int i;

	CHECK_EQ(NVME_MAX_CHANGED_NAMESPACES * sizeof(*list), 4096);
	CHECK_EQ(sizeof(changed) * 8, 1024);
	memset(changed, 0, sizeof(changed));
	polt_log_changed(list, changed);
	CHECK_MEM(list, want, 4096);

	for (i = 0; i < sizeof(nsids) / sizeof(nsids[0]); i++) {
		changed[(nsids[i] - 1) / 32] |= 1U << (nsids[i] - 1) % 32;
		put_le(want, 4 * i, nsids[i], 4);
	}
	polt_log_changed(list, changed);
	CHECK_MEM(list, want, 4096);

	memset(changed, 0xff, sizeof(changed));
	for (i = 0; i < 1024; i++)
		put_le(want, 4 * i, i + 1, 4);
	polt_log_changed(list, changed);
	CHECK_MEM(list, want, 4096);
	free(list);
}

TEST(discovery_header_byte_for_byte)
{
	u8 *header = dirty(1024), want[1024] = { 0 };

	CHECK_EQ(sizeof(struct nvmf_disc_rsp_page_hdr), 1024);
	put_le(want, 0, 0x1122334455667788, 8);	/* GENCTR */
	put_le(want, 8, 3, 8);			/* NUMREC */
	polt_log_discovery_header((struct nvmf_disc_rsp_page_hdr *)header, 0x1122334455667788, 3);
	CHECK_MEM(header, want, 1024);
	free(header);
}

TEST(discovery_entry_byte_for_byte)
{
	struct polt_log_record record = {
		.subtype = NVME_NQN_NVME, .adrfam = NVMF_ADDR_FAMILY_IP4, .port_id = 0x1234,
		.admin_depth = 32, .trsvcid = "4420", .traddr = "192.0.2.1",
		.subnqn = "nqn.2026-11.org.example:disk1",
	};
	u8 *entry = dirty(1024), want[1024] = { 0 };
	char longest[600];

	CHECK_EQ(sizeof(struct nvmf_disc_rsp_page_entry), 1024);
	want[0] = 1;				/* TRTYPE: RDMA */
	want[1] = 1;				/* ADRFAM: IPv4 */
	want[2] = 2;				/* SUBTYPE: NVM subsystem */
	put_le(want, 4, 0x1234, 2);		/* PORTID */
	put_le(want, 6, 0xffff, 2);		/* CNTLID: dynamic */
	put_le(want, 8, 32, 2);			/* ASQSZ */
	strcpy((char *)want + 32, "4420");	/* TRSVCID */
	strcpy((char *)want + 256, record.subnqn);	/* SUBNQN */
	strcpy((char *)want + 512, "192.0.2.1");	/* TRADDR */
	want[768] = 1;				/* QPTYPE: reliable connected */
	want[769] = 1;				/* PRTYPE: not specified */
	want[770] = 1;				/* CMS: RDMA_CM */
	polt_log_discovery_entry((struct nvmf_disc_rsp_page_entry *)entry, &record);
	CHECK_MEM(entry, want, 1024);

	/* Longer texts are cut so that a NUL remains. */
	memset(longest, 'z', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	record.trsvcid = longest;
	record.traddr = longest;
	record.subnqn = longest;
	memset(want + 32, 'z', 31);
	memset(want + 256, 'z', 255);
	memset(want + 512, 'z', 255);
	memset(entry, 0xa5, 1024);
	polt_log_discovery_entry((struct nvmf_disc_rsp_page_entry *)entry, &record);
	CHECK_MEM(entry, want, 1024);
	free(entry);
}
