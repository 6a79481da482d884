// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission queue entries: which commands there are, the data that each carries, every limit of
 * what they name, and what comes first where more than one thing is wrong.
 */
#include "tap.h"
#include "bytes.h"
#include "target/log.h"
#include "target/sqe.h"

#define BAD_OPCODE	(NVME_SC_INVALID_OPCODE | DNR)
#define BAD_FIELD	(NVME_SC_INVALID_FIELD | DNR)
#define BAD_NS		(NVME_SC_INVALID_NS | DNR)
#define BAD_RANGE	(NVME_SC_LBA_RANGE | DNR)
#define BAD_PI		(NVME_SC_INVALID_PI | DNR)
#define BAD_QUEUE	(0x185 | DNR)		/* Invalid Queue Type */
#define BAD_FORMAT	(NVME_SC_CONNECT_FORMAT | DNR)

#define MAX_LEN		(1U << 20)
#define NSID_MAX	1024U
#define QID_MAX		128

/* Byte offsets of a command. */
#define FLAGS		1
#define FCTYPE		4
#define NSID		4
#define CDW10		40
#define CDW11		44
#define SLBA		40
#define NLB		48
#define CONTROL		50	/* PRINFO is its bits 13:10 */
#define CNS		40
#define CNTID		42
#define CSI		47
#define SQID		40
#define CID		42
#define ATTRIB		40
#define OFFSET		44
#define VALUE		48
#define RECFMT		40

#define OP_FLUSH	0x00
#define OP_WRITE	0x01
#define OP_READ		0x02
#define OP_GET_LOG	0x02
#define OP_IDENTIFY	0x06
#define OP_ABORT	0x08
#define OP_SET		0x09
#define OP_GET		0x0a
#define OP_AER		0x0c
#define OP_KEEP_ALIVE	0x18
#define OP_FABRICS	0x7f

#define PROPERTY_SET	0x00
#define CONNECT		0x01
#define PROPERTY_GET	0x04
#define DISCONNECT	0x08

static struct nvme_command *sqe;
static u64 lba;
static u32 len;

static void sqe_new(u8 opcode)
{
	free(sqe);
	sqe = calloc(1, sizeof(*sqe));
	put_le(sqe, 0, opcode, 1);
	put_le(sqe, FLAGS, 0x40, 1);	/* an SGL */
}

static void fabrics_new(u8 type)
{
	sqe_new(OP_FABRICS);
	put_le(sqe, FCTYPE, type, 1);
}

/* I/O */

static const struct polt_sqe_io *io;

static u16 check_io(void)
{
	static const struct polt_sqe_io nothing;
	u16 status;

	io = &nothing;
	status = polt_sqe_check_io(sqe, &io);
	CHECK_EQ(io == &nothing, status != 0);
	return status;
}

TEST(which_io_commands_there_are)
{
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		sqe_new(opcode);
		CHECK_EQ(check_io(), opcode <= OP_READ ? 0 : BAD_OPCODE);
	}
	sqe_new(OP_FLUSH);
	CHECK_EQ(check_io(), 0);
	CHECK_EQ(io->class, POL_LATENCY_OTHER);
	CHECK_EQ(io->writes, false);
	CHECK_EQ(io->range, false);
	sqe_new(OP_WRITE);
	CHECK_EQ(check_io(), 0);
	CHECK_EQ(io->class, POL_LATENCY_WRITE);
	CHECK_EQ(io->writes, true);
	CHECK_EQ(io->range, true);
	sqe_new(OP_READ);
	CHECK_EQ(check_io(), 0);
	CHECK_EQ(io->class, POL_LATENCY_READ);
	CHECK_EQ(io->writes, false);
	CHECK_EQ(io->range, true);
}

/* FUSE is bits 1:0 of the flags. The opcode of a fused command is not looked at. */
TEST(fused_commands)
{
	unsigned int flags;

	for (flags = 0; flags < 256; flags++) {
		sqe_new(OP_READ);
		put_le(sqe, FLAGS, flags, 1);
		CHECK_EQ(check_io(), flags & 3 ? BAD_FIELD : 0);
		put_le(sqe, 0, 0x05, 1);		/* Compare */
		CHECK_EQ(check_io(), flags & 3 ? BAD_FIELD : BAD_OPCODE);
		put_le(sqe, 0, OP_IDENTIFY, 1);
		CHECK_EQ(polt_sqe_check_admin(sqe, false, MAX_LEN, &len),
			 flags & 3 ? BAD_FIELD : 0);
		CHECK_EQ(len, flags & 3 ? 0 : 4096);
		put_le(sqe, 0, 0xc0, 1);
		CHECK_EQ(polt_sqe_check_admin(sqe, false, MAX_LEN, &len),
			 flags & 3 ? BAD_FIELD : BAD_OPCODE);
	}
}

/* What is refused leaves the results alone. */
static u16 check_range(u64 slba, u16 nlb, u64 blocks, u8 shift, u32 max_len)
{
	u16 status;

	sqe_new(OP_READ);
	put_le(sqe, SLBA, slba, 8);
	put_le(sqe, NLB, nlb, 2);
	lba = 0xa5a5a5a5a5a5a5a5;
	len = 0xa5a5a5a5;
	status = polt_sqe_check_range(sqe, blocks, shift, max_len, &lba, &len);
	CHECK_EQ(lba, status ? 0xa5a5a5a5a5a5a5a5 : slba);
	CHECK_EQ(len, status ? 0xa5a5a5a5 : (nlb + 1U) << shift);
	return status;
}

TEST(range_fields_are_where_the_specification_has_them)
{
	CHECK_EQ(check_range(0x1122334455667788, 0x01ff, ~0ULL, 9, MAX_LEN), 0);
	CHECK_EQ(lba, 0x1122334455667788);
	CHECK_EQ(len, 0x200 * 512);
	/* What stands around them says something else. */
	memset(sqe, 0xff, 40);
	put_le(sqe, CONTROL, 0xc3ff, 2);
	memset((u8 *)sqe + 52, 0xff, 12);
	CHECK_EQ(polt_sqe_check_range(sqe, ~0ULL, 9, MAX_LEN, &lba, &len), 0);
	CHECK_EQ(lba, 0x1122334455667788);
	CHECK_EQ(len, 0x200 * 512);
}

/* All combinations around every bound, against sums that cannot wrap. */
TEST(range_lies_in_the_namespace)
{
	static const u64 sizes[] = { 0, 1, 2, 8, 0xffff, 0x10000, 0x10001, 1ULL << 32,
				     (1ULL << 32) + 1, 1ULL << 55, ~0ULL - 1, ~0ULL };
	static const u16 lengths[] = { 0, 1, 2, 7, 8, 0xfffe, 0xffff };
	static const u64 bases[] = { 0, 1ULL << 31, 1ULL << 32, 1ULL << 63, ~0ULL - 0xffff, ~0ULL };
	unsigned int s, l, b;
	u64 slba, distance;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	for (l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++)
	for (b = 0; b < sizeof(bases) / sizeof(bases[0]) + 2; b++)
	for (distance = 0; distance < 5; distance++) {
		if (b < sizeof(bases) / sizeof(bases[0]))
			slba = bases[b] + distance - 2;
		else if (b == sizeof(bases) / sizeof(bases[0]))
			slba = sizes[s] + distance - 2;
		else
			slba = sizes[s] - lengths[l] - 1 + distance - 2;
		CHECK_EQ(check_range(slba, lengths[l], sizes[s], 0, ~0U),
			 (unsigned __int128)slba + lengths[l] + 1 > sizes[s] ? BAD_RANGE : 0);
	}
}

TEST(range_against_mdts)
{
	static const u32 limits[] = { 4096, MAX_LEN, 1U << 31 };
	unsigned int i, shift;
	u64 nlb;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
	for (shift = 9; shift <= 31; shift++)
	for (nlb = limits[i] >> shift; nlb <= (limits[i] >> shift) + 2; nlb++) {
		if (nlb > 0xffff)
			continue;
		CHECK_EQ(check_range(5, nlb, 1ULL << 40, shift, limits[i]),
			 (nlb + 1) << shift > limits[i] ? BAD_FIELD : 0);
	}
	CHECK_EQ(check_range(0, 254, 1 << 20, 12, MAX_LEN), 0);
	CHECK_EQ(check_range(0, 255, 1 << 20, 12, MAX_LEN), 0);
	CHECK_EQ(check_range(0, 256, 1 << 20, 12, MAX_LEN), BAD_FIELD);
	/* 2^16 blocks of 2^16 bytes and more are 0 bytes in 32 bits. */
	CHECK_EQ(check_range(0, 0xffff, 1 << 20, 16, MAX_LEN), BAD_FIELD);
	CHECK_EQ(check_range(0, 0xffff, 1 << 20, 31, ~0U), BAD_FIELD);
	CHECK_EQ(check_range(0, 0x7fff, 1 << 20, 16, 1U << 31), 0);
	CHECK_EQ(len, 1U << 31);
}

/* PRINFO, bits 13:10 of the upper half of CDW12; the others are none of it. */
TEST(no_protection_information)
{
	unsigned int bit;

	for (bit = 0; bit < 16; bit++) {
		CHECK_EQ(check_range(0, 0, 8, 9, MAX_LEN), 0);
		put_le(sqe, CONTROL, 1U << bit, 2);
		lba = len = 7;
		CHECK_EQ(polt_sqe_check_range(sqe, 8, 9, MAX_LEN, &lba, &len),
			 bit >= 10 && bit <= 13 ? BAD_PI : 0);
		CHECK_EQ(lba, bit >= 10 && bit <= 13 ? 7 : 0);
		CHECK_EQ(len, bit >= 10 && bit <= 13 ? 7 : 512);
	}
}

TEST(range_comes_before_length_before_protection_information)
{
	check_range(8, 0xffff, 8, 9, MAX_LEN);
	put_le(sqe, CONTROL, 0x3c00, 2);
	CHECK_EQ(polt_sqe_check_range(sqe, 8, 9, 512, &lba, &len), BAD_RANGE);
	CHECK_EQ(polt_sqe_check_range(sqe, 1 << 20, 9, 512, &lba, &len), BAD_FIELD);
	CHECK_EQ(polt_sqe_check_range(sqe, 1 << 20, 0, 1 << 16, &lba, &len), BAD_PI);
}

/* Admin */

static u16 check_admin(bool discovery, u32 max_len)
{
	u16 status;

	len = 0xa5a5a5a5;
	status = polt_sqe_check_admin(sqe, discovery, max_len, &len);
	if (status)
		CHECK_EQ(len, 0);
	return status;
}

TEST(which_admin_commands_there_are)
{
	unsigned int opcode, discovery;
	u32 want_len;
	u16 want;

	for (discovery = 0; discovery < 2; discovery++)
	for (opcode = 0; opcode < 256; opcode++) {
		sqe_new(opcode);
		want = 0;
		want_len = 0;
		switch (opcode) {
		case OP_IDENTIFY:
			want_len = 4096;
			break;
		case OP_GET_LOG:	/* NUMD is 0's based */
			want_len = 4;
			break;
		case OP_GET:
		case OP_SET:
			put_le(sqe, CDW10, 0x0f, 4);	/* Keep Alive Timer */
			break;
		case OP_ABORT:
		case OP_AER:
		case OP_KEEP_ALIVE:
			break;
		default:
			want = BAD_OPCODE;
		}
		CHECK_EQ(check_admin(discovery, MAX_LEN), want);
		CHECK_EQ(len, want_len);
	}
}

TEST(data_of_features)
{
	static const u8 opcodes[] = { OP_GET, OP_SET };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sqe_new(opcodes[i]);
		put_le(sqe, CDW10, 0x81, 4);		/* Host Identifier */
		put_le(sqe, CDW11, 1, 4);
		CHECK_EQ(check_admin(false, MAX_LEN), 0);
		CHECK_EQ(len, 16);
		CHECK_EQ(check_admin(true, MAX_LEN), 0);
		CHECK_EQ(len, 16);
		put_le(sqe, CDW10, 0x07, 4);		/* Number of Queues */
		CHECK_EQ(check_admin(false, MAX_LEN), 0);
		CHECK_EQ(len, 0);
		CHECK_EQ(check_admin(true, MAX_LEN), BAD_FIELD);
		put_le(sqe, CDW10, 0x03, 4);		/* LBA Range Type */
		CHECK_EQ(check_admin(false, MAX_LEN), BAD_FIELD);
		CHECK_EQ(check_admin(true, MAX_LEN), BAD_FIELD);
	}
}

TEST(data_of_log_pages)
{
	static const u32 limits[] = { 4096, MAX_LEN };
	unsigned int i;
	u32 dwords;

	for (i = 0; i < 2; i++)
	for (dwords = limits[i] / 4 - 1; dwords <= limits[i] / 4 + 1; dwords++) {
		sqe_new(OP_GET_LOG);
		put_le(sqe, CDW10, 0x01 | (dwords - 1) << 16, 4);
		put_le(sqe, CDW11, (dwords - 1) >> 16, 4);
		CHECK_EQ(check_admin(false, limits[i]), dwords * 4 <= limits[i] ? 0 : BAD_FIELD);
		CHECK_EQ(len, dwords * 4 <= limits[i] ? dwords * 4 : 0);
	}
}

/* A host reads in this page what it may send. */
TEST(commands_are_those_of_the_effects_log)
{
	struct nvme_effects_log *log = dirty(sizeof(*log));
	unsigned int opcode;

	polt_log_effects(log);
	for (opcode = 0; opcode < 256; opcode++) {
		sqe_new(opcode);
		put_le(sqe, CDW10, 0x01, 4);
		CHECK_EQ(!check_admin(false, MAX_LEN), get_le(log, 4 * opcode, 4) & 1);
		CHECK_EQ(!check_io(), get_le(log, 1024 + 4 * opcode, 4) & 1);
		if (check_io())
			continue;
		CHECK_EQ(io->writes || !io->range, get_le(log, 1024 + 4 * opcode, 4) >> 1 & 1);
	}
	free(log);
}

/* Identify */

static struct polt_sqe_identify identify;

static u16 parse_identify(u8 cns, u8 csi, u32 nsid, bool discovery)
{
	struct polt_sqe_identify before;
	u16 status;

	sqe_new(OP_IDENTIFY);
	put_le(sqe, NSID, nsid, 4);
	put_le(sqe, CNS, cns, 1);
	put_le(sqe, CNTID, 0x1234, 2);
	put_le(sqe, CSI, csi, 1);
	memset(&identify, 0xa5, sizeof(identify));
	before = identify;
	status = polt_sqe_parse_identify(sqe, discovery, NSID_MAX, &identify);
	if (status) {
		CHECK_MEM(&identify, &before, sizeof(before));
	} else {
		CHECK_EQ(identify.nsid, nsid);
		CHECK_EQ(identify.cntlid, 0x1234);
	}
	return status;
}

TEST(identify_pages)
{
	static const struct {
		u8 cns;
		bool per_set;
		enum polt_sqe_page page;
	} pages[] = {
		{ 0x00, false, POLT_PAGE_NAMESPACE },
		{ 0x01, false, POLT_PAGE_CONTROLLER },
		{ 0x02, false, POLT_PAGE_NAMESPACES },
		{ 0x03, false, POLT_PAGE_DESCRIPTORS },
		{ 0x05, true, POLT_PAGE_ZEROES },
		{ 0x06, true, POLT_PAGE_ZEROES },
		{ 0x07, true, POLT_PAGE_NAMESPACES },
		{ 0x08, false, POLT_PAGE_INDEPENDENT },
		{ 0x12, false, POLT_PAGE_NS_CONTROLLERS },
		{ 0x13, false, POLT_PAGE_CONTROLLERS },
		{ 0x1c, true, POLT_PAGE_COMMAND_SETS },
	};
	unsigned int cns, csi, i;

	for (cns = 0; cns < 256; cns++) {
		for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
			if (pages[i].cns == cns)
				break;
		for (csi = 0; csi < 256; csi++) {
			CHECK_EQ(parse_identify(cns, csi, 1, true), cns == 0x01 ? 0 : BAD_FIELD);
			if (i == sizeof(pages) / sizeof(pages[0]) || (pages[i].per_set && csi)) {
				CHECK_EQ(parse_identify(cns, csi, 1, false), BAD_FIELD);
				continue;
			}
			CHECK_EQ(parse_identify(cns, csi, 1, false), 0);
			CHECK_EQ(identify.page, pages[i].page);
		}
	}
}

TEST(identify_namespaces_that_can_be)
{
	static const u32 nsids[] = { 0, 1, 2, NSID_MAX - 1, NSID_MAX, NSID_MAX + 1, 0x10001,
				     0xfffffffe, 0xffffffff };
	static const u8 of_one[] = { 0x00, 0x03, 0x05, 0x08 };
	static const u8 any[] = { 0x01, 0x06, 0x12, 0x13, 0x1c };
	unsigned int i, n;

	for (n = 0; n < sizeof(nsids) / sizeof(nsids[0]); n++) {
		for (i = 0; i < sizeof(of_one); i++)
			CHECK_EQ(parse_identify(of_one[i], 0, nsids[n], false),
				 nsids[n] >= 1 && nsids[n] <= NSID_MAX ? 0 : BAD_NS);
		for (i = 0; i < sizeof(any); i++)
			CHECK_EQ(parse_identify(any[i], 0, nsids[n], false), 0);
	}
	/* What there is not is that, whatever namespace it is asked for. */
	CHECK_EQ(parse_identify(0x00, 0, 0, true), BAD_FIELD);
	CHECK_EQ(parse_identify(0x02, 0, ~0U, true), BAD_FIELD);
	CHECK_EQ(parse_identify(0x05, 1, 0, false), BAD_FIELD);
	CHECK_EQ(parse_identify(0x07, 1, ~0U, false), BAD_FIELD);
}

TEST(identify_lists_go_on_above_a_namespace)
{
	static const u32 nsids[] = { 0, 1, NSID_MAX, NSID_MAX + 1, 0xfffffffc, 0xfffffffd,
				     0xfffffffe, 0xffffffff };
	unsigned int n;

	for (n = 0; n < sizeof(nsids) / sizeof(nsids[0]); n++) {
		CHECK_EQ(parse_identify(0x02, 0, nsids[n], false),
			 nsids[n] < 0xfffffffe ? 0 : BAD_NS);
		CHECK_EQ(parse_identify(0x07, 0, nsids[n], false),
			 nsids[n] < 0xfffffffe ? 0 : BAD_NS);
	}
}

/* Abort */

TEST(abort_names_a_command)
{
	static const u16 sqids[] = { 0, 1, QID_MAX - 1, QID_MAX, QID_MAX + 1, 0x100, 0xffff };
	struct polt_sqe_abort abort, before;
	unsigned int i;
	u16 id;

	for (i = 0; i < sizeof(sqids) / sizeof(sqids[0]); i++) {
		sqe_new(OP_ABORT);
		put_le(sqe, 2, 0x1111, 2);		/* of the Abort itself */
		put_le(sqe, SQID, sqids[i], 2);
		put_le(sqe, CID, 0x8123, 2);
		memset(&abort, 0xa5, sizeof(abort));
		before = abort;
		CHECK_EQ(polt_sqe_parse_abort(sqe, true, QID_MAX, &abort), BAD_OPCODE);
		CHECK_MEM(&abort, &before, sizeof(before));
		CHECK_EQ(polt_sqe_parse_abort(sqe, false, QID_MAX, &abort), 0);
		CHECK_EQ(abort.sqid, sqids[i]);
		CHECK_EQ(abort.possible, sqids[i] <= QID_MAX);
		/* Compared with the identifier of commands as it stands there. */
		memcpy(&id, (u8 *)sqe + CID, sizeof(id));
		CHECK_EQ(abort.command_id, id);
	}
}

/* Fabrics */

TEST(which_fabrics_commands_there_are)
{
	unsigned int type;

	for (type = 0; type < 256; type++) {
		fabrics_new(type);
		put_le(sqe, FLAGS, 0x43, 1);		/* no field of a Fabrics command */
		len = 0xa5a5a5a5;
		switch (type) {
		case CONNECT:
			CHECK_EQ(polt_sqe_check_fabrics(sqe, &len), 0);
			CHECK_EQ(len, 1024);
			break;
		case PROPERTY_SET:
		case PROPERTY_GET:
		case DISCONNECT:
			CHECK_EQ(polt_sqe_check_fabrics(sqe, &len), 0);
			CHECK_EQ(len, 0);
			break;
		default:
			CHECK_EQ(polt_sqe_check_fabrics(sqe, &len), BAD_OPCODE);
			CHECK_EQ(len, 0);
		}
	}
}

static struct polt_sqe_fabrics request;

static u16 parse_fabrics(u16 qid)
{
	struct polt_sqe_fabrics before;
	u16 status;

	memset(&request, 0xa5, sizeof(request));
	before = request;
	status = polt_sqe_parse_fabrics(sqe, qid, &request);
	if (status)
		CHECK_MEM(&request, &before, sizeof(before));
	else
		CHECK_EQ(request.type, get_le(sqe, FCTYPE, 1));
	return status;
}

static u16 get_property(u8 attrib, u32 offset)
{
	fabrics_new(PROPERTY_GET);
	put_le(sqe, ATTRIB, attrib, 1);
	put_le(sqe, OFFSET, offset, 4);
	put_le(sqe, VALUE, ~0ULL, 8);
	return parse_fabrics(0);
}

static u16 set_property(u8 attrib, u32 offset, u64 value)
{
	fabrics_new(PROPERTY_SET);
	put_le(sqe, ATTRIB, attrib, 1);
	put_le(sqe, OFFSET, offset, 4);
	put_le(sqe, VALUE, value, 8);
	return parse_fabrics(0);
}

/* Properties belong to the Admin Queue, Disconnect to I/O queues; Connect does not come here. */
TEST(fabrics_commands_by_queue)
{
	static const u16 qids[] = { 0, 1, 0x100, 0xffff };
	unsigned int type, i;
	u16 want;

	for (type = 0; type < 256; type++)
	for (i = 0; i < sizeof(qids) / sizeof(qids[0]); i++) {
		fabrics_new(type);
		want = BAD_OPCODE;
		if (type == DISCONNECT) {
			want = qids[i] ? 0 : BAD_QUEUE;
		} else if (type == PROPERTY_GET || type == PROPERTY_SET) {
			put_le(sqe, OFFSET, 0x14, 4);
			want = qids[i] ? BAD_OPCODE : 0;
		}
		CHECK_EQ(parse_fabrics(qids[i]), want);
	}
}

/* CAP is 8 bytes, VS, CC and CSTS are 4; there is no other. */
TEST(properties_to_get)
{
	unsigned int attrib;
	u32 offset;
	u16 want;

	for (offset = 0; offset < 0x200; offset++)
	for (attrib = 0; attrib < 256; attrib++) {
		switch (offset) {
		case 0x00:
			want = (attrib & 7) == 1 ? 0 : BAD_FIELD;
			break;
		case 0x08:
		case 0x14:
		case 0x1c:
			want = (attrib & 7) == 0 ? 0 : BAD_FIELD;
			break;
		default:
			want = BAD_FIELD;
		}
		CHECK_EQ(get_property(attrib, offset), want);
		if (want)
			continue;
		CHECK_EQ(request.property, offset);
		CHECK_EQ(request.value, 0);
	}
	CHECK_EQ(get_property(0, 0x10014), BAD_FIELD);
	CHECK_EQ(get_property(1, 0x80000000), BAD_FIELD);
}

TEST(property_to_set)
{
	unsigned int attrib;
	u32 offset;

	for (offset = 0; offset < 0x100; offset++)
		CHECK_EQ(set_property(0, offset, 1), offset == 0x14 ? 0 : BAD_FIELD);
	for (attrib = 0; attrib < 256; attrib++)
		CHECK_EQ(set_property(attrib, 0x14, 1), attrib & 7 ? BAD_FIELD : 0);
	CHECK_EQ(set_property(0, 0x10014, 1), BAD_FIELD);
	CHECK_EQ(set_property(0, 0x14000000, 1), BAD_FIELD);

	/* 4 bytes of the value count. */
	CHECK_EQ(set_property(0, 0x14, 0x1122334455667788), 0);
	CHECK_EQ(request.property, 0x14);
	CHECK_EQ(request.value, 0x55667788);
}

/*
 * CC: EN is bit 0, CSS 6:4, MPS 10:7, AMS 13:11, SHN 15:14, IOSQES 19:16, IOCQES 23:20. There are
 * NVM commands, pages of 4 KiB, round robin, entries of 2^6 and 2^4 bytes.
 */
TEST(what_a_controller_can_be_enabled_for)
{
	const u32 cc = 6U << 16 | 4U << 20;
	unsigned int bit, i, size;

	for (i = 0; i < 2; i++) {
		CHECK_EQ(polt_sqe_can_enable(cc, i), true);
		CHECK_EQ(polt_sqe_can_enable(cc | 1, i), true);
		for (bit = 4; bit <= 13; bit++)
			CHECK_EQ(polt_sqe_can_enable(cc | 1U << bit, i), false);
		CHECK_EQ(polt_sqe_can_enable(cc | 3 << 14, i), true);
		CHECK_EQ(polt_sqe_can_enable(cc | 0xff00000eU, i), true);
		for (size = 0; size < 16; size++) {
			CHECK_EQ(polt_sqe_can_enable(size << 16 | 4U << 20, i), i || size == 6);
			CHECK_EQ(polt_sqe_can_enable(6U << 16 | size << 20, i), i || size == 4);
		}
	}
}

TEST(disconnect_of_an_io_queue)
{
	fabrics_new(DISCONNECT);
	memset((u8 *)sqe + RECFMT + 2, 0xff, 64 - RECFMT - 2);
	CHECK_EQ(parse_fabrics(1), 0);
	CHECK_EQ(request.property, 0);
	CHECK_EQ(request.value, 0);
	put_le(sqe, RECFMT, 1, 2);
	CHECK_EQ(parse_fabrics(1), BAD_FORMAT);
	CHECK_EQ(parse_fabrics(0), BAD_QUEUE);
	put_le(sqe, RECFMT, 0x100, 2);
	CHECK_EQ(parse_fabrics(1), BAD_FORMAT);
	free(sqe);
	sqe = NULL;
}
