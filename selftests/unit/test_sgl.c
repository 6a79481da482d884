// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SGL of a capsule: every type and subtype, every bound with both neighbours, sums that wrap.
 * Capsules are written by byte offsets of the specification, not through the structures that the
 * code under test uses, and lie on the heap in exactly the length that arrived, so that the address
 * sanitizer sees a byte read too many.
 */
#include <stdlib.h>

#include "tap.h"
#include "target/sgl.h"

#define SQE_SIZE	64
#define DESC_SIZE	16
#define MAX_LEN		(1U << 20)

#define KEYED_ADDRESS	0x40
#define KEYED_INVALIDATE 0x4f
#define DATA_OFFSET	0x01
#define LAST_OFFSET	0x31

#define OP_FLUSH	0x00
#define OP_WRITE	0x01
#define OP_READ		0x02

#define BAD_TYPE	(NVME_SC_SGL_INVALID_TYPE | NVME_STATUS_DNR)
#define BAD_DATA	(NVME_SC_SGL_INVALID_DATA | NVME_STATUS_DNR)
#define BAD_OFFSET	(NVME_SC_SGL_INVALID_OFFSET | NVME_STATUS_DNR)
#define BAD_LAST	(NVME_SC_SGL_INVALID_LAST | NVME_STATUS_DNR)
#define BAD_COUNT	(NVME_SC_SGL_INVALID_COUNT | NVME_STATUS_DNR)
#define BAD_FIELD	(NVME_SC_INVALID_FIELD | NVME_STATUS_DNR)

static struct polt_transfer transfer;
static u8 *capsule;
static u32 arrived;

static void put_le(u8 *at, u64 value, unsigned int bytes)
{
	while (bytes--) {
		*at++ = value;
		value >>= 8;
	}
}

/* A fresh capsule with @have bytes behind its SQE; what nobody sets is 0xee. */
static void capsule_new(u8 opcode, u32 have)
{
	free(capsule);
	arrived = SQE_SIZE + have;
	capsule = malloc(arrived);
	memset(capsule, 0xee, arrived);
	capsule[0] = opcode;
	capsule[1] = 0x40;
}

static void put_keyed(u8 *at, u8 type, u64 addr, u32 len, u32 key)
{
	put_le(at, addr, 8);
	put_le(at + 8, len, 3);
	put_le(at + 11, key, 4);
	at[15] = type;
}

/* SGL1 of the SQE in the layout of data block and segment descriptors. */
static void set_sgl1(u8 type, u64 addr, u32 len)
{
	put_le(capsule + 24, addr, 8);
	put_le(capsule + 32, len, 4);
	put_le(capsule + 36, 0, 3);
	capsule[39] = type;
}

static u16 parse(u32 max_len)
{
	memset(&transfer, 0xa5, sizeof(transfer));
	return polt_sgl_parse(capsule, arrived, max_len, &transfer);
}

static u16 parse_keyed(u8 opcode, u8 type, u64 addr, u32 len, u32 key, u32 max_len)
{
	capsule_new(opcode, 0);
	put_keyed(capsule + 24, type, addr, len, key);
	return parse(max_len);
}

static u16 parse_inline(u8 opcode, u64 offset, u32 len, u32 have, u32 max_len)
{
	capsule_new(opcode, have);
	set_sgl1(DATA_OFFSET, offset, len);
	return parse(max_len);
}

/* A list of @nr good entries of @len bytes each, @offset behind the SQE, which says @list_len. */
static void list_new(u8 opcode, u32 offset, unsigned int nr, u32 len, u32 list_len)
{
	unsigned int i;

	capsule_new(opcode, offset + nr * DESC_SIZE);
	set_sgl1(LAST_OFFSET, offset, list_len);
	for (i = 0; i < nr; i++)
		put_keyed(capsule + SQE_SIZE + offset + i * DESC_SIZE, KEYED_ADDRESS,
			  0x1000000ULL * (i + 1), len, 0x100 + i);
}

static void check_none(void)
{
	CHECK_EQ(transfer.kind, POLT_TRANSFER_NONE);
	CHECK_EQ(transfer.len, 0);
	CHECK_EQ(transfer.nr_segments, 0);
	CHECK_EQ(transfer.offset, 0);
}

TEST(keyed_address)
{
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, 0x123456789abcdef0, 0x1000, 0xdeadbeef,
			     MAX_LEN), 0);
	CHECK_EQ(transfer.kind, POLT_TRANSFER_KEYED);
	CHECK_EQ(transfer.len, 0x1000);
	CHECK_EQ(transfer.nr_segments, 1);
	CHECK_EQ(transfer.segments[0].addr, 0x123456789abcdef0);
	CHECK_EQ(transfer.segments[0].len, 0x1000);
	CHECK_EQ(transfer.segments[0].rkey, 0xdeadbeef);
	CHECK_EQ(transfer.invalidate, false);
}

TEST(keyed_invalidate)
{
	CHECK_EQ(parse_keyed(OP_WRITE, KEYED_INVALIDATE, 0x1001, 3, 0x80000001, MAX_LEN), 0);
	CHECK_EQ(transfer.kind, POLT_TRANSFER_KEYED);
	CHECK_EQ(transfer.segments[0].addr, 0x1001);
	CHECK_EQ(transfer.segments[0].len, 3);
	CHECK_EQ(transfer.segments[0].rkey, 0x80000001);
	CHECK_EQ(transfer.invalidate, true);
	CHECK_EQ(transfer.invalidate_rkey, 0x80000001);
}

TEST(every_type_and_subtype_for_data_to_the_controller)
{
	unsigned int type;
	u16 want;

	for (type = 0; type < 256; type++) {
		list_new(OP_WRITE, 0, 1, 512, DESC_SIZE);
		capsule[39] = type;
		switch (type) {
		case DATA_OFFSET:
		case LAST_OFFSET:
			want = 0;
			break;
		case KEYED_ADDRESS:
		case KEYED_INVALIDATE:
			want = 0;
			put_keyed(capsule + 24, type, 0x1000, 512, 1);
			break;
		default:
			want = BAD_TYPE;
		}
		CHECK_EQ(parse(MAX_LEN), want);
	}
}

TEST(every_type_in_a_list)
{
	unsigned int type;

	for (type = 0; type < 256; type++) {
		list_new(OP_READ, 0, 3, 512, 3 * DESC_SIZE);
		capsule[SQE_SIZE + DESC_SIZE + 15] = type;
		CHECK_EQ(parse(MAX_LEN),
			 type == KEYED_ADDRESS || type == KEYED_INVALIDATE ? 0 : BAD_TYPE);
	}
}

/*
 * The two low bits of an opcode say which way its data goes; in a Fabrics command those of FCTYPE.
 */
TEST(in_capsule_data_only_towards_the_controller)
{
	unsigned int code, fabrics;
	u16 got;

	for (fabrics = 0; fabrics < 2; fabrics++) {
		for (code = 0; code < 256; code++) {
			if (!fabrics && code == 0x7f)
				continue;
			capsule_new(fabrics ? 0x7f : code, 512);
			if (fabrics)
				capsule[4] = code;
			set_sgl1(DATA_OFFSET, 0, 512);
			got = parse(MAX_LEN);
			switch (code & 3) {
			case 0:
				CHECK_EQ(got, 0);
				check_none();
				break;
			case 1:
				CHECK_EQ(got, 0);
				CHECK_EQ(transfer.kind, POLT_TRANSFER_INLINE);
				break;
			default:
				CHECK_EQ(got, BAD_TYPE);
			}
		}
	}
}

TEST(sgl_of_a_command_without_data_means_nothing)
{
	unsigned int type;

	for (type = 0; type < 256; type++) {
		capsule_new(OP_FLUSH, 0);
		set_sgl1(type, ~0ULL, ~0U);
		CHECK_EQ(parse(MAX_LEN), 0);
		check_none();
		CHECK_EQ(transfer.invalidate, false);
		CHECK_EQ(transfer.invalidate_rkey, 0);
	}
	capsule_new(OP_FLUSH, 0);
	capsule[1] = 0;
	CHECK_EQ(parse(MAX_LEN), 0);
}

TEST(psdt)
{
	unsigned int flags;

	for (flags = 0; flags < 256; flags++) {
		capsule_new(OP_READ, 0);
		put_keyed(capsule + 24, KEYED_ADDRESS, 0, 512, 1);
		capsule[1] = flags;
		CHECK_EQ(parse(MAX_LEN), flags >> 6 == 1 || flags >> 6 == 2 ? 0 : BAD_FIELD);
	}
}

TEST(keyed_length_against_mdts)
{
	static const u32 limits[] = { 4096, MAX_LEN, (1U << 24) - 1 };
	unsigned int i;
	u32 len;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		for (len = limits[i] - 1; len <= limits[i] + 1 && len < 1U << 24; len++)
			CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, 0, len, 1, limits[i]),
				 len <= limits[i] ? 0 : BAD_DATA);
	}
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, 0, 1, 1, MAX_LEN), 0);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, 0, (1U << 24) - 1, 1, MAX_LEN), BAD_DATA);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, 0, (1U << 24) - 1, 1, ~0U), 0);
	CHECK_EQ(transfer.len, (1U << 24) - 1);
}

TEST(keyed_without_length_is_no_data)
{
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, ~0ULL, 0, 1, MAX_LEN), 0);
	check_none();
	CHECK_EQ(transfer.invalidate, false);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_INVALIDATE, ~0ULL, 0, 7, MAX_LEN), 0);
	check_none();
	CHECK_EQ(transfer.invalidate, true);
	CHECK_EQ(transfer.invalidate_rkey, 7);
}

TEST(keyed_address_range_does_not_wrap)
{
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, ~0ULL, 1, 1, MAX_LEN), 0);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, ~0ULL, 2, 1, MAX_LEN), BAD_DATA);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, -4096ULL, 4095, 1, MAX_LEN), 0);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, -4096ULL, 4096, 1, MAX_LEN), 0);
	CHECK_EQ(parse_keyed(OP_READ, KEYED_ADDRESS, -4096ULL, 4097, 1, MAX_LEN), BAD_DATA);
}

/* All combinations around every bound, against sums that cannot wrap. */
TEST(in_capsule_bound_is_what_arrived)
{
	static const u32 haves[] = { 0, 1, 15, 511, 512, 513, 4096, 16384 };
	static const u64 bases[] = { 0, 1U << 31, 1ULL << 32, 1ULL << 63, ~0ULL };
	unsigned int h, b, o, l;
	u64 offset;
	u16 want;
	u32 have, len;

	for (h = 0; h < sizeof(haves) / sizeof(haves[0]); h++)
	for (b = 0; b < sizeof(bases) / sizeof(bases[0]); b++)
	for (o = 0; o < 8; o++)
	for (l = 0; l < 8; l++) {
		have = haves[h];
		offset = bases[b] + (o < 4 ? o - 1 : have + o - 6);
		len = l < 2 ? l : l == 7 ? ~0U : have - (u32)offset + l - 4;
		if (offset > have)
			want = BAD_OFFSET;
		else if ((unsigned __int128)offset + len > have || len > MAX_LEN)
			want = BAD_DATA;
		else
			want = 0;

		CHECK_EQ(parse_inline(OP_WRITE, offset, len, have, MAX_LEN), want);
		if (want)
			continue;
		CHECK_EQ(transfer.kind, len ? POLT_TRANSFER_INLINE : POLT_TRANSFER_NONE);
		CHECK_EQ(transfer.len, len);
		CHECK_EQ(transfer.offset, len ? offset : 0);
		CHECK_EQ(transfer.nr_segments, 0);
		CHECK_EQ(transfer.invalidate, false);
	}
}

TEST(short_capsule_with_a_long_sgl)
{
	/* The advertised size means nothing: 4096 were possible, 8 arrived. */
	CHECK_EQ(parse_inline(OP_WRITE, 0, 4096, 8, MAX_LEN), BAD_DATA);
	CHECK_EQ(parse_inline(OP_WRITE, 0, 9, 8, MAX_LEN), BAD_DATA);
	CHECK_EQ(parse_inline(OP_WRITE, 0, 8, 8, MAX_LEN), 0);
	CHECK_EQ(parse_inline(OP_WRITE, 0, 1, 0, MAX_LEN), BAD_DATA);
	CHECK_EQ(parse_inline(OP_WRITE, 9, 0, 8, MAX_LEN), BAD_OFFSET);
}

TEST(in_capsule_sums_that_wrap)
{
	CHECK_EQ(parse_inline(OP_WRITE, -1ULL, 1, 4096, MAX_LEN), BAD_OFFSET);
	CHECK_EQ(parse_inline(OP_WRITE, -1ULL, 2, 4096, MAX_LEN), BAD_OFFSET);
	CHECK_EQ(parse_inline(OP_WRITE, -512ULL, 1024, 4096, MAX_LEN), BAD_OFFSET);
	CHECK_EQ(parse_inline(OP_WRITE, 1ULL << 32, 512, 4096, MAX_LEN), BAD_OFFSET);
	CHECK_EQ(parse_inline(OP_WRITE, 512, -512U, 4096, ~0U), BAD_DATA);
	CHECK_EQ(parse_inline(OP_WRITE, 513, -512U, 4096, ~0U), BAD_DATA);
}

TEST(in_capsule_length_against_mdts)
{
	CHECK_EQ(parse_inline(OP_WRITE, 0, 4095, 8192, 4096), 0);
	CHECK_EQ(parse_inline(OP_WRITE, 0, 4096, 8192, 4096), 0);
	CHECK_EQ(parse_inline(OP_WRITE, 0, 4097, 8192, 4096), BAD_DATA);
}

TEST(list_of_1_to_msdbd_entries)
{
	unsigned int nr, i;

	for (nr = 1; nr <= POLT_MSDBD; nr++) {
		list_new(OP_READ, 0, nr, 4096, nr * DESC_SIZE);
		CHECK_EQ(parse(MAX_LEN), 0);
		CHECK_EQ(transfer.kind, POLT_TRANSFER_KEYED);
		CHECK_EQ(transfer.nr_segments, nr);
		CHECK_EQ(transfer.len, nr * 4096);
		CHECK_EQ(transfer.invalidate, false);
		for (i = 0; i < nr; i++) {
			CHECK_EQ(transfer.segments[i].addr, 0x1000000ULL * (i + 1));
			CHECK_EQ(transfer.segments[i].len, 4096);
			CHECK_EQ(transfer.segments[i].rkey, 0x100 + i);
		}
	}
}

TEST(list_longer_than_msdbd)
{
	list_new(OP_READ, 0, POLT_MSDBD + 1, 512, (POLT_MSDBD + 1) * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_COUNT);
	/* Also when most of it holds nothing: the limit is on descriptors. */
	list_new(OP_READ, 0, POLT_MSDBD + 1, 0, (POLT_MSDBD + 1) * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_COUNT);
	list_new(OP_READ, 0, 1024, 512, 1024 * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_COUNT);
	list_new(OP_READ, 0, 1, 512, -16U);
	CHECK_EQ(parse(MAX_LEN), BAD_COUNT);
}

TEST(list_length_is_a_multiple_of_the_descriptor)
{
	u32 len;

	for (len = 0; len <= 2 * DESC_SIZE; len++) {
		list_new(OP_READ, 0, 2, 512, len);
		CHECK_EQ(parse(MAX_LEN), len && len % DESC_SIZE == 0 ? 0 : BAD_LAST);
	}
	list_new(OP_READ, 0, 2, 512, ~0U);
	CHECK_EQ(parse(MAX_LEN), BAD_LAST);
}

TEST(list_lies_inside_what_arrived)
{
	u32 offset;

	/* One byte less than the list needs, exactly enough, one more. */
	list_new(OP_READ, 0, 2, 512, 2 * DESC_SIZE);
	arrived--;
	CHECK_EQ(parse(MAX_LEN), BAD_LAST);
	list_new(OP_READ, 0, 2, 512, 2 * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), 0);
	list_new(OP_READ, 0, 2, 512, DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), 0);

	for (offset = 0; offset <= 3 * DESC_SIZE; offset++) {
		list_new(OP_READ, 0, 2, 512, DESC_SIZE);
		memset(capsule + SQE_SIZE, KEYED_ADDRESS, 2 * DESC_SIZE);
		set_sgl1(LAST_OFFSET, offset, DESC_SIZE);
		if (offset <= DESC_SIZE)
			CHECK_EQ(parse(~0U), 0);
		else
			CHECK_EQ(parse(~0U), offset <= 2 * DESC_SIZE ? BAD_LAST : BAD_OFFSET);
	}

	/* A capsule that ends with its SQE. */
	capsule_new(OP_READ, 0);
	set_sgl1(LAST_OFFSET, 0, DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_LAST);
	set_sgl1(LAST_OFFSET, 1, DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_OFFSET);
}

TEST(list_offsets_that_wrap)
{
	static const u64 offsets[] = { -1ULL, -16ULL, -32ULL, -64ULL, 1ULL << 32, 1ULL << 63,
				       (1ULL << 32) + DESC_SIZE };
	unsigned int i;

	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		list_new(OP_READ, 0, 2, 512, DESC_SIZE);
		set_sgl1(LAST_OFFSET, offsets[i], 2 * DESC_SIZE);
		CHECK_EQ(parse(MAX_LEN), BAD_OFFSET);
	}
}

TEST(list_at_odd_offsets)
{
	u32 offset;

	for (offset = 1; offset < 20; offset++) {
		list_new(OP_WRITE, offset, 2, 777, 2 * DESC_SIZE);
		CHECK_EQ(parse(MAX_LEN), 0);
		CHECK_EQ(transfer.nr_segments, 2);
		CHECK_EQ(transfer.len, 2 * 777);
		CHECK_EQ(transfer.segments[1].addr, 0x2000000);
		CHECK_EQ(transfer.segments[1].rkey, 0x101);
	}
}

TEST(list_sum_against_mdts)
{
	list_new(OP_READ, 0, 2, 4096, 2 * DESC_SIZE);
	CHECK_EQ(parse(8191), BAD_DATA);
	CHECK_EQ(parse(8192), 0);
	CHECK_EQ(parse(8193), 0);
	list_new(OP_READ, 0, POLT_MSDBD, (1U << 24) - 1, POLT_MSDBD * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), BAD_DATA);
	CHECK_EQ(parse(POLT_MSDBD * ((1U << 24) - 1) - 1), BAD_DATA);
	CHECK_EQ(parse(POLT_MSDBD * ((1U << 24) - 1)), 0);
	CHECK_EQ(transfer.len, POLT_MSDBD * ((1U << 24) - 1));
}

TEST(list_entries_without_length_are_passed_over)
{
	list_new(OP_READ, 0, 4, 4096, 4 * DESC_SIZE);
	put_keyed(capsule + SQE_SIZE, KEYED_ADDRESS, ~0ULL, 0, 9);
	put_keyed(capsule + SQE_SIZE + 2 * DESC_SIZE, KEYED_ADDRESS, ~0ULL, 0, 9);
	CHECK_EQ(parse(MAX_LEN), 0);
	CHECK_EQ(transfer.nr_segments, 2);
	CHECK_EQ(transfer.len, 8192);
	CHECK_EQ(transfer.segments[0].rkey, 0x101);
	CHECK_EQ(transfer.segments[1].rkey, 0x103);

	list_new(OP_READ, 0, 3, 0, 3 * DESC_SIZE);
	CHECK_EQ(parse(MAX_LEN), 0);
	check_none();
}

TEST(list_entry_address_range_does_not_wrap)
{
	list_new(OP_READ, 0, 2, 4096, 2 * DESC_SIZE);
	put_keyed(capsule + SQE_SIZE + DESC_SIZE, KEYED_ADDRESS, -4096ULL, 4096, 1);
	CHECK_EQ(parse(MAX_LEN), 0);
	put_keyed(capsule + SQE_SIZE + DESC_SIZE, KEYED_ADDRESS, -4095ULL, 4096, 1);
	CHECK_EQ(parse(MAX_LEN), BAD_DATA);
}

/* A response carries one key; the host invalidates the others itself. */
TEST(list_invalidates_its_first_key_that_asks)
{
	list_new(OP_READ, 0, 3, 512, 3 * DESC_SIZE);
	capsule[SQE_SIZE + DESC_SIZE + 15] = KEYED_INVALIDATE;
	capsule[SQE_SIZE + 2 * DESC_SIZE + 15] = KEYED_INVALIDATE;
	CHECK_EQ(parse(MAX_LEN), 0);
	CHECK_EQ(transfer.invalidate, true);
	CHECK_EQ(transfer.invalidate_rkey, 0x101);
}

TEST(no_state_is_left_from_one_capsule_to_the_next)
{
	struct polt_transfer clean;

	memset(&clean, 0, sizeof(clean));
	capsule_new(OP_WRITE, 512);
	set_sgl1(DATA_OFFSET, 3, 100);
	memset(&transfer, 0, sizeof(transfer));
	CHECK_EQ(polt_sgl_parse(capsule, arrived, MAX_LEN, &transfer), 0);
	clean.kind = POLT_TRANSFER_INLINE;
	clean.offset = 3;
	clean.len = 100;
	CHECK_MEM(&transfer, &clean, sizeof(clean));

	list_new(OP_READ, 0, POLT_MSDBD, 512, POLT_MSDBD * DESC_SIZE);
	CHECK_EQ(polt_sgl_parse(capsule, arrived, MAX_LEN, &transfer), 0);
	capsule_new(OP_READ, 0);
	put_keyed(capsule + 24, KEYED_ADDRESS, 0x5000, 512, 3);
	CHECK_EQ(polt_sgl_parse(capsule, arrived, MAX_LEN, &transfer), 0);
	CHECK_EQ(transfer.nr_segments, 1);
	CHECK_EQ(transfer.len, 512);
	CHECK_EQ(transfer.offset, 0);
	free(capsule);
	capsule = NULL;
}
