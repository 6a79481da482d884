// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identify data as an image of bytes, at the offsets of the specification's tables. Whole
 * structures are compared: a byte that was not written, or that claims something more, shows.
 */
#include "tap.h"
#include "bytes.h"
#include "target/identify.h"

#define PAGE	4096

static struct polt_identify_values io_values(void)
{
	return (struct polt_identify_values){
		.serial = "0123456789abcdefghij", .model = "Pollard", .firmware = "1.0",
		.subnqn = "nqn.2026-11.org.example:disk1", .cntlid = 0x1234,
		.mdts_bytes = 1 << 20, .inline_size = 4096, .msdbd = 16, .depth = 0x0180,
		.nn = 0x10400, .volatile_cache = true,
	};
}

/* The specification's table, for the values above. */
static u8 *io_image(void)
{
	u8 *image = calloc(1, PAGE);

	put_text(image, 4, 20, "0123456789abcdefghij");		/* SN */
	put_text(image, 24, 40, "Pollard");			/* MN */
	put_text(image, 64, 8, "1.0");				/* FR */
	image[76] = 0x03;		/* CMIC: several ports, several controllers */
	image[77] = 8;			/* MDTS: 2^8 pages of 4096 */
	put_le(image, 78, 0x1234, 2);	/* CNTLID */
	put_le(image, 80, 0x00010400, 4);	/* VER */
	put_le(image, 92, 1 << 8, 4);	/* OAES: namespace attribute notices */
	put_le(image, 96, 0x41, 4);	/* CTRATT: 128-bit host identifier, traffic keep-alive */
	image[111] = 1;			/* CNTRLTYPE: I/O */
	image[258] = POLT_ABORTS_MAX - 1;	/* ACL */
	image[259] = POLT_EVENTS_MAX - 1;	/* AERL */
	image[260] = 0x03;		/* FRMW: one slot, read only */
	image[261] = 0x07;		/* LPA */
	image[262] = POLT_ERRORS_MAX - 1;	/* ELPE */
	put_le(image, 320, 10, 2);	/* KAS: 1 s in 100 ms */
	image[512] = 0x66;		/* SQES */
	image[513] = 0x44;		/* CQES */
	put_le(image, 514, 0x0180, 2);	/* MAXCMD */
	put_le(image, 516, 0x10400, 4);	/* NN */
	put_le(image, 520, 0x10, 2);	/* ONCS: Select and Save only */
	image[525] = 0x05;		/* VWC: present, no broadcast Flush */
	put_le(image, 536, 0x00100005, 4);	/* SGLS: supported, keyed, offset */
	put_le(image, 540, 0x10400, 4);	/* MNAN */
	strcpy((char *)image + 768, "nqn.2026-11.org.example:disk1");
	put_le(image, 1792, (64 + 4096) / 16, 4);	/* IOCCSZ */
	put_le(image, 1796, 1, 4);	/* IORCSZ */
	image[1803] = 16;		/* MSDBD */
	image[1804] = 1;		/* OFCS: Disconnect */
	return image;
}

static u8 *controller(const struct polt_identify_values *values)
{
	u8 *page = dirty(PAGE);

	polt_identify_controller((struct nvme_id_ctrl *)page, values);
	return page;
}

TEST(structures_fill_a_page)
{
	CHECK_EQ(sizeof(struct nvme_id_ctrl), PAGE);
	CHECK_EQ(sizeof(struct nvme_id_ns), PAGE);
	CHECK_EQ(sizeof(struct nvme_id_ns_cs_indep), PAGE);
}

TEST(io_controller_byte_for_byte)
{
	struct polt_identify_values values = io_values();
	u8 *want = io_image(), *got = controller(&values);

	CHECK_MEM(got, want, PAGE);
	free(got);

	values.volatile_cache = false;
	values.inline_size = 0;
	want[525] = 0x04;
	put_le(want, 536, 0x00000005, 4);
	put_le(want, 1792, 4, 4);
	got = controller(&values);
	CHECK_MEM(got, want, PAGE);
	free(got);
	free(want);
}

TEST(discovery_controller_byte_for_byte)
{
	struct polt_identify_values values = io_values();
	u8 *want = calloc(1, PAGE), *got;

	values.discovery = true;
	values.subnqn = NVME_DISC_SUBSYS_NAME;
	values.volatile_cache = false;
	values.inline_size = 0;
	got = controller(&values);

	put_text(want, 4, 20, values.serial);
	put_text(want, 24, 40, values.model);
	put_text(want, 64, 8, values.firmware);
	want[77] = 8;
	put_le(want, 78, 0x1234, 2);
	put_le(want, 80, 0x00010400, 4);
	put_le(want, 92, 1U << 31, 4);	/* OAES: discovery log change */
	put_le(want, 96, 0x41, 4);
	want[111] = 2;			/* CNTRLTYPE: discovery */
	want[259] = POLT_EVENTS_MAX - 1;
	want[261] = 0x04;		/* LPA: extended data */
	want[262] = POLT_ERRORS_MAX - 1;
	put_le(want, 320, 10, 2);
	put_le(want, 514, 0x0180, 2);
	put_le(want, 536, 0x00000005, 4);
	strcpy((char *)want + 768, NVME_DISC_SUBSYS_NAME);
	want[1806] = 1;			/* DCTYPE: direct */
	CHECK_MEM(got, want, PAGE);
	free(got);
	free(want);
}

TEST(mdts_is_the_power_of_two_of_pages)
{
	struct polt_identify_values values = io_values();
	unsigned int mdts;
	u8 *got;

	for (mdts = 0; mdts < 16; mdts++) {
		values.mdts_bytes = 4096U << mdts;
		got = controller(&values);
		CHECK_EQ(got[77], mdts);
		free(got);
	}
}

TEST(texts_at_their_longest_and_longer)
{
	struct polt_identify_values values = io_values();
	char nqn[256] = "nqn.";
	u8 want[64], *got;

	memset(nqn + 4, 'n', 223 - 4);
	values.serial = "0123456789abcdefghijX";
	values.model = "0123456789012345678901234567890123456789X";
	values.firmware = "12345678X";
	values.subnqn = nqn;
	got = controller(&values);
	memcpy(want, "0123456789abcdefghij", 20);
	memcpy(want + 20, "0123456789012345678901234567890123456789", 40);
	CHECK_MEM(got + 4, want, 60);
	CHECK_MEM(got + 64, "12345678", 8);
	CHECK_EQ(got[72], 0);
	CHECK_EQ(strlen((char *)got + 768), 223);
	free(got);

	values.serial = "";
	got = controller(&values);
	memset(want, ' ', 20);
	CHECK_MEM(got + 4, want, 20);
	free(got);
}

static const u8 some_uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const u8 some_nguid[16] = { 0x80, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x90 };

static struct polt_identify_ns_values ns_values(void)
{
	struct polt_identify_ns_values values = {
		.blocks = 0x123456789aULL, .block_shift = 12,
	};

	memcpy(&values.uuid, some_uuid, 16);
	memcpy(values.nguid, some_nguid, 16);
	return values;
}

static void check_namespace(const struct polt_identify_ns_values *values, const u8 *want)
{
	u8 *page = dirty(PAGE);

	polt_identify_namespace((struct nvme_id_ns *)page, values);
	CHECK_MEM(page, want, PAGE);
	free(page);
}

TEST(namespace_byte_for_byte)
{
	struct polt_identify_ns_values values = ns_values();
	u8 *want = calloc(1, PAGE);

	put_le(want, 0, 0x123456789aULL, 8);	/* NSZE */
	put_le(want, 8, 0x123456789aULL, 8);	/* NCAP */
	put_le(want, 16, 0x123456789aULL, 8);	/* NUSE */
	want[30] = 1;				/* NMIC: shared */
	put_le(want, 48, 0x123456789aULL << 12, 8);	/* NVMCAP */
	memcpy(want + 104, some_nguid, 16);	/* NGUID */
	want[130] = 12;				/* LBAF 0: LBADS */
	check_namespace(&values, want);

	values.read_only = true;
	want[99] = 1;				/* NSATTR: write protected */
	check_namespace(&values, want);
	values.read_only = false;
	want[99] = 0;

	/* Preferences of the disk, each 0's based. */
	values.granule_blocks = 8;
	want[24] = 0x10;			/* NSFEAT: the fields below mean something */
	put_le(want, 64, 7, 2);			/* NPWG */
	put_le(want, 66, 7, 2);			/* NPWA */
	put_le(want, 68, 7, 2);			/* NPDG */
	put_le(want, 70, 7, 2);			/* NPDA */
	put_le(want, 72, 7, 2);			/* NOWS */
	check_namespace(&values, want);
	values.optimal_blocks = 256;
	put_le(want, 72, 255, 2);
	check_namespace(&values, want);
	values.granule_blocks = 1;
	memset(want + 64, 0, 8);
	check_namespace(&values, want);
	free(want);
}

TEST(namespace_preferences_at_their_limits)
{
	static const struct { u32 blocks; u16 want; } cases[] = {
		{ 2, 1 }, { 65535, 65534 }, { 65536, 65535 }, { 65537, 65535 }, { ~0U, 65535 },
	};
	struct polt_identify_ns_values values = ns_values();
	u8 *page = dirty(PAGE);
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		values.granule_blocks = cases[i].blocks;
		values.optimal_blocks = 0;
		polt_identify_namespace((struct nvme_id_ns *)page, &values);
		CHECK_EQ(get_le(page, 64, 2), cases[i].want);
		CHECK_EQ(get_le(page, 72, 2), cases[i].want);
		values.granule_blocks = 0;
		values.optimal_blocks = cases[i].blocks;
		polt_identify_namespace((struct nvme_id_ns *)page, &values);
		CHECK_EQ(get_le(page, 64, 2), 0);
		CHECK_EQ(get_le(page, 72, 2), cases[i].want);
	}
	values.granule_blocks = 1;
	values.optimal_blocks = 0;
	polt_identify_namespace((struct nvme_id_ns *)page, &values);
	CHECK_EQ(page[24], 0);
	values.granule_blocks = 0;
	values.optimal_blocks = 1;
	polt_identify_namespace((struct nvme_id_ns *)page, &values);
	CHECK_EQ(page[24], 0x10);
	free(page);
}

TEST(inactive_namespace_is_all_zeroes)
{
	u8 *want = calloc(1, PAGE), *page = dirty(PAGE);

	check_namespace(NULL, want);
	polt_identify_independent((struct nvme_id_ns_cs_indep *)page, NULL);
	CHECK_MEM(page, want, PAGE);
	free(page);
	free(want);
}

TEST(independent_namespace_byte_for_byte)
{
	struct polt_identify_ns_values values = ns_values();
	u8 *want = calloc(1, PAGE), *page = dirty(PAGE);

	want[0] = 0x20;		/* NSFEAT: no volatile write cache */
	want[1] = 1;		/* NMIC: shared */
	want[14] = 1;		/* NSTAT: ready */
	polt_identify_independent((struct nvme_id_ns_cs_indep *)page, &values);
	CHECK_MEM(page, want, PAGE);

	values.volatile_cache = true;
	values.read_only = true;
	want[0] = 0;
	want[8] = 1;		/* NSATTR: write protected */
	memset(page, 0xa5, PAGE);
	polt_identify_independent((struct nvme_id_ns_cs_indep *)page, &values);
	CHECK_MEM(page, want, PAGE);
	free(page);
	free(want);
}

/* UUID, NGUID and command set in 20 + 20 + 5 bytes. */
static void descriptor_image(u8 *want)
{
	memcpy(want, (u8[]){ 3, 16, 0, 0 }, 4);
	memcpy(want + 4, some_uuid, 16);
	memcpy(want + 20, (u8[]){ 2, 16, 0, 0 }, 4);
	memcpy(want + 24, some_nguid, 16);
	memcpy(want + 40, (u8[]){ 4, 1, 0, 0, 0 }, 5);
}

TEST(descriptors_byte_for_byte)
{
	struct polt_identify_ns_values values = ns_values();
	u8 *want = calloc(1, PAGE), *page = dirty(PAGE);

	descriptor_image(want);
	CHECK_EQ(polt_identify_descriptors(page, PAGE, &values), 45);
	CHECK_MEM(page, want, PAGE);

	memset(values.nguid, 0, 16);
	memset(want, 0, PAGE);
	memcpy(want, (u8[]){ 3, 16, 0, 0 }, 4);
	memcpy(want + 4, some_uuid, 16);
	memcpy(want + 20, (u8[]){ 4, 1, 0, 0, 0 }, 5);
	memset(page, 0xa5, PAGE);
	CHECK_EQ(polt_identify_descriptors(page, PAGE, &values), 25);
	CHECK_MEM(page, want, PAGE);

	memset(&values.uuid, 0, 16);
	memset(want, 0, PAGE);
	memcpy(want, (u8[]){ 4, 1, 0, 0, 0 }, 5);
	memset(page, 0xa5, PAGE);
	CHECK_EQ(polt_identify_descriptors(page, PAGE, &values), 5);
	CHECK_MEM(page, want, PAGE);
	free(page);
	free(want);
}

/* A descriptor is there as a whole or not at all, and nothing behind the page is touched. */
TEST(descriptors_in_any_space)
{
	struct polt_identify_ns_values values = ns_values();
	u8 image[64] = { 0 }, *page;
	u32 size, used;

	descriptor_image(image);
	for (size = 0; size <= 64; size++) {
		page = dirty(size);
		used = polt_identify_descriptors(page, size, &values);
		CHECK(used <= size);
		if (size >= 45)
			CHECK_EQ(used, 45);
		if (size >= 20)
			CHECK_MEM(page, image, 20);
		free(page);
	}
}
