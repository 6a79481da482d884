// SPDX-License-Identifier: GPL-2.0-only
/* Fabrics Connect: names, queue sizes, and which field a refusal blames. */
#include "tap.h"
#include "bytes.h"
#include "target/connect.h"

#define SUBNQN	"nqn.2026-11.org.example:disk1"
#define HOSTNQN	"nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555"

/* Byte offsets of the command and its data. */
#define RECFMT	40
#define QID	42
#define SQSIZE	44
#define CATTR	46
#define KATO	48
#define CNTLID	16
#define DATA_SUBNQN	256
#define DATA_HOSTNQN	512
#define DATA_SIZE	1024
#define IN_DATA	0x10000

static bool valid(const char *nqn, size_t len, size_t size)
{
	char *field = dirty(size);
	bool ret;

	memcpy(field, nqn, len);
	if (len < size)
		field[len] = 0;
	ret = polt_nqn_valid(field, size);
	free(field);
	return ret;
}

TEST(nqn_length)
{
	char nqn[300];
	unsigned int len;

	memset(nqn, 'x', sizeof(nqn));
	memcpy(nqn, "nqn.", 4);
	for (len = 0; len <= 256; len++)
		CHECK_EQ(valid(nqn, len, 256), len >= 5 && len <= 223);
}

TEST(nqn_is_terminated_within_its_field)
{
	char nqn[64];
	unsigned int size;

	memset(nqn, 'x', sizeof(nqn));
	memcpy(nqn, "nqn.", 4);
	for (size = 5; size < 40; size++) {
		CHECK_EQ(valid(nqn, size, size), false);
		CHECK_EQ(valid(nqn, size, size + 1), true);
	}
	CHECK_EQ(polt_nqn_valid("", 0), false);
}

TEST(nqn_begins_with_nqn)
{
	CHECK_EQ(valid("nqn.x", 5, 256), true);
	CHECK_EQ(valid("NQN.x", 5, 256), false);
	CHECK_EQ(valid("nqn:x", 5, 256), false);
	CHECK_EQ(valid("mqn.x", 5, 256), false);
	CHECK_EQ(valid(" nqn.x", 6, 256), false);
	CHECK_EQ(valid("iqn.2026-11.org.example", 23, 256), false);
	CHECK_EQ(valid("", 0, 256), false);
	CHECK_EQ(valid(NVME_DISC_SUBSYS_NAME, strlen(NVME_DISC_SUBSYS_NAME), 256), true);
}

TEST(nqn_has_no_control_characters)
{
	char nqn[] = "nqn.a?b";
	unsigned int c;

	for (c = 1; c < 256; c++) {
		nqn[5] = c;
		CHECK_EQ(valid(nqn, 7, 256), c >= 0x20 && c != 0x7f);
		nqn[5] = 'a';
	}
}

static u8 sqe[64], data[DATA_SIZE];
static struct polt_connect_request request;
static u32 result;

/* A good Connect of an I/O queue of 128 entries. */
static void connect_new(u16 qid)
{
	memset(sqe, 0, sizeof(sqe));
	memset(data, 0, sizeof(data));
	sqe[0] = 0x7f;
	sqe[1] = 0x40;
	sqe[4] = 0x01;
	put_le(sqe, QID, qid, 2);
	put_le(sqe, SQSIZE, 127, 2);
	put_le(sqe, KATO, 15000, 4);
	memset(data, 0x77, 16);
	put_le(data, CNTLID, qid ? 5 : 0xffff, 2);
	strcpy((char *)data + DATA_SUBNQN, SUBNQN);
	strcpy((char *)data + DATA_HOSTNQN, HOSTNQN);
}

static u16 parse(u16 qid, u32 entries)
{
	const struct polt_connect_limits limits = { .qid = qid, .entries = entries };
	struct nvmf_connect_data *copy = dirty(sizeof(*copy));
	struct nvme_command *command = dirty(sizeof(*command));
	u16 status;

	memcpy(copy, data, sizeof(data));
	memcpy(command, sqe, sizeof(sqe));
	memset(&request, 0xa5, sizeof(request));
	result = 0xa5a5a5a5;
	status = polt_connect_parse(command, copy, &limits, &request, &result);
	free(copy);
	free(command);
	return status;
}

#define CHECK_REFUSED(qid, entries, where) do {				\
	CHECK_EQ(parse(qid, entries), NVME_SC_CONNECT_INVALID_PARAM | DNR); \
	CHECK_EQ(result, where);					\
} while (0)

TEST(sizes_are_those_of_the_specification)
{
	CHECK_EQ(sizeof(struct nvmf_connect_data), DATA_SIZE);
	CHECK_EQ(sizeof(struct nvme_command), 64);
}

TEST(good_connects)
{
	connect_new(3);
	CHECK_EQ(parse(3, 128), 0);
	CHECK_EQ(result, 0);
	CHECK_EQ(request.qid, 3);
	CHECK_EQ(request.entries, 128);
	CHECK_EQ(request.cntlid, 5);
	CHECK_EQ(request.kato_ms, 0);
	CHECK_STR(request.subnqn, SUBNQN);
	CHECK_STR(request.hostnqn, HOSTNQN);
	CHECK_MEM(&request.hostid, data, 16);

	connect_new(0);
	put_le(sqe, SQSIZE, 31, 2);
	CHECK_EQ(parse(0, 32), 0);
	CHECK_EQ(request.qid, 0);
	CHECK_EQ(request.entries, 32);
	CHECK_EQ(request.cntlid, 0xffff);
	CHECK_EQ(request.kato_ms, 15000);
}

TEST(record_format)
{
	connect_new(1);
	put_le(sqe, RECFMT, 1, 2);
	CHECK_EQ(parse(1, 128), NVME_SC_CONNECT_FORMAT | DNR);
	put_le(sqe, RECFMT, 0x100, 2);
	CHECK_EQ(parse(1, 128), NVME_SC_CONNECT_FORMAT | DNR);
}

TEST(qid_agrees_with_the_connection)
{
	connect_new(1);
	CHECK_REFUSED(0, 128, QID);
	CHECK_REFUSED(2, 128, QID);
	CHECK_REFUSED(0x101, 128, QID);
	connect_new(0);
	CHECK_REFUSED(1, 128, QID);
}

TEST(sqsize_is_zeroes_based)
{
	unsigned int size;

	for (size = 0; size <= 130; size++) {
		connect_new(1);
		put_le(sqe, SQSIZE, size, 2);
		if (size && size <= 127) {
			CHECK_EQ(parse(1, 128), 0);
			CHECK_EQ(request.entries, size + 1);
		} else {
			CHECK_REFUSED(1, 128, SQSIZE);
		}
	}
	put_le(sqe, SQSIZE, 0xffff, 2);
	CHECK_REFUSED(1, 65535, SQSIZE);
	CHECK_EQ(parse(1, 65536), 0);
	CHECK_EQ(request.entries, 65536);
	put_le(sqe, SQSIZE, 0, 2);
	CHECK_REFUSED(1, 65536, SQSIZE);
}

TEST(attributes)
{
	unsigned int cattr;

	for (cattr = 0; cattr < 256; cattr++) {
		connect_new(1);
		sqe[CATTR] = cattr;
		if (cattr & ~0x0f)
			CHECK_REFUSED(1, 128, CATTR);
		else
			CHECK_EQ(parse(1, 128), 0);
	}
}

/* Dynamic controllers: the Admin Queue asks for any, an I/O queue for the one it was given. */
TEST(controller_identifier)
{
	static const u16 not_dynamic[] = { 0, 1, 0xfffd, 0xfffe };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		connect_new(0);
		put_le(data, CNTLID, not_dynamic[i], 2);
		CHECK_REFUSED(0, 128, IN_DATA | CNTLID);
		connect_new(1);
		put_le(data, CNTLID, not_dynamic[i], 2);
		CHECK_EQ(parse(1, 128), 0);
		CHECK_EQ(request.cntlid, not_dynamic[i]);
	}
	connect_new(1);
	put_le(data, CNTLID, 0xffff, 2);
	CHECK_REFUSED(1, 128, IN_DATA | CNTLID);
}

TEST(names)
{
	static const unsigned int fields[] = { DATA_SUBNQN, DATA_HOSTNQN };
	unsigned int i, len;

	for (i = 0; i < 2; i++) {
		for (len = 222; len <= 224; len++) {
			connect_new(1);
			memset(data + fields[i], 'y', len);
			memcpy(data + fields[i], "nqn.", 4);
			if (len <= 223)
				CHECK_EQ(parse(1, 128), 0);
			else
				CHECK_REFUSED(1, 128, IN_DATA | fields[i]);
		}
		/* No NUL in the whole field; the next byte must not be looked at. */
		memset(data + fields[i] + 4, 'y', 252);
		CHECK_REFUSED(1, 128, IN_DATA | fields[i]);
		memset(data + fields[i], 0, 256);
		CHECK_REFUSED(1, 128, IN_DATA | fields[i]);
	}
}

/* What lies behind the NUL is the host's rubbish and goes nowhere. */
TEST(request_holds_only_the_names)
{
	char clean[POLT_CONNECT_NQN_SIZE] = SUBNQN;

	connect_new(1);
	memset(data + DATA_SUBNQN + sizeof(SUBNQN), 0xee, 256 - sizeof(SUBNQN));
	CHECK_EQ(parse(1, 128), 0);
	CHECK_MEM(request.subnqn, clean, sizeof(clean));
}
