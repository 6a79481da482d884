// SPDX-License-Identifier: GPL-2.0-only
/*
 * CM private data: each limit with both neighbours, byte offsets against the RDMA Transport
 * Specification, and no byte that was not written. Buffers are of the exact length on the heap, so
 * that the address sanitizer sees a byte read too many.
 */
#include <errno.h>
#include <stdlib.h>

#include "tap.h"
#include "core/wire.h"

#define REQUEST_SIZE	32
#define ACCEPT_SIZE	32
#define REJECT_SIZE	4

static u8 *request_bytes(u16 recfmt, u16 qid, u16 hrqsize, u16 hsqsize, u16 cntlid)
{
	static u8 bytes[REQUEST_SIZE];
	const u16 fields[] = { recfmt, qid, hrqsize, hsqsize, cntlid };
	unsigned int i;

	memset(bytes, 0, sizeof(bytes));
	for (i = 0; i < 5; i++) {
		bytes[2 * i] = fields[i];
		bytes[2 * i + 1] = fields[i] >> 8;
	}
	return bytes;
}

/* Parse a heap copy of exactly @len bytes, at an odd address if @odd. */
static int parse_request(const u8 *bytes, size_t len, bool odd, struct pol_wire_request *request)
{
	u8 *copy = malloc(len + odd);
	int ret;

	memcpy(copy + odd, bytes, len);
	ret = pol_wire_parse_request(copy + odd, len, request);
	free(copy);
	return ret;
}

static int parse_fields(u16 recfmt, u16 qid, u16 hrqsize, u16 hsqsize)
{
	struct pol_wire_request request;

	return parse_request(request_bytes(recfmt, qid, hrqsize, hsqsize, 0), REQUEST_SIZE, false,
			     &request);
}

TEST(request_fields_are_where_the_specification_has_them)
{
	struct pol_wire_request request;
	unsigned int odd;

	for (odd = 0; odd < 2; odd++) {
		memset(&request, 0xa5, sizeof(request));
		CHECK_EQ(parse_request(request_bytes(0, 0x1234, 0x5678, 0x9abc, 0xdef0),
				       REQUEST_SIZE, odd, &request), 0);
		CHECK_EQ(request.qid, 0x1234);
		CHECK_EQ(request.hrqsize, 0x5678);
		CHECK_EQ(request.hsqsize, 0x9abc + 1);
		CHECK_EQ(request.cntlid, 0xdef0);
	}
}

TEST(request_length)
{
	struct pol_wire_request request, untouched;
	u8 bytes[196] = { 0 };
	size_t len;

	memcpy(bytes, request_bytes(0, 1, 128, 127, 1), REQUEST_SIZE);
	memset(&untouched, 0xa5, sizeof(untouched));
	for (len = 0; len <= sizeof(bytes); len++) {
		request = untouched;
		if (len < REQUEST_SIZE) {
			CHECK_EQ(parse_request(bytes, len, false, &request),
				 NVME_RDMA_CM_INVALID_LEN);
			CHECK_MEM(&request, &untouched, sizeof(request));
		} else {
			CHECK_EQ(parse_request(bytes, len, false, &request), 0);
		}
	}
	CHECK_EQ(pol_wire_parse_request(NULL, 0, &request), NVME_RDMA_CM_INVALID_LEN);
}

TEST(request_record_format)
{
	CHECK_EQ(parse_fields(0, 1, 128, 127), 0);
	CHECK_EQ(parse_fields(1, 1, 128, 127), NVME_RDMA_CM_INVALID_RECFMT);
	CHECK_EQ(parse_fields(0x100, 1, 128, 127), NVME_RDMA_CM_INVALID_RECFMT);
	CHECK_EQ(parse_fields(0xffff, 1, 128, 127), NVME_RDMA_CM_INVALID_RECFMT);
	/* The format comes first: in another one the other fields mean nothing. */
	CHECK_EQ(parse_fields(1, 1, 0, 0), NVME_RDMA_CM_INVALID_RECFMT);
}

TEST(request_hsqsize_is_zeroes_based)
{
	struct pol_wire_request request;

	/* One entry is no queue; two are the smallest one. */
	CHECK_EQ(parse_fields(0, 1, 128, 0), NVME_RDMA_CM_INVALID_HSQSIZE);
	CHECK_EQ(parse_request(request_bytes(0, 1, 128, 1, 0), REQUEST_SIZE, false, &request), 0);
	CHECK_EQ(request.hsqsize, 2);
	CHECK_EQ(parse_request(request_bytes(0, 1, 128, 127, 0), REQUEST_SIZE, false, &request), 0);
	CHECK_EQ(request.hsqsize, 128);
	CHECK_EQ(parse_request(request_bytes(0, 1, 128, 0xffff, 0), REQUEST_SIZE, false, &request),
		 0);
	CHECK_EQ(request.hsqsize, 65536);
}

TEST(request_hrqsize_is_a_count)
{
	struct pol_wire_request request;

	CHECK_EQ(parse_fields(0, 1, 0, 127), NVME_RDMA_CM_INVALID_HRQSIZE);
	CHECK_EQ(parse_request(request_bytes(0, 1, 1, 127, 0), REQUEST_SIZE, false, &request), 0);
	CHECK_EQ(request.hrqsize, 1);
	CHECK_EQ(parse_request(request_bytes(0, 1, 128, 127, 0), REQUEST_SIZE, false, &request), 0);
	CHECK_EQ(request.hrqsize, 128);
	CHECK_EQ(parse_request(request_bytes(0, 1, 0xffff, 127, 0), REQUEST_SIZE, false, &request),
		 0);
	CHECK_EQ(request.hrqsize, 65535);
}

TEST(request_admin_queue_has_at_most_4096_entries)
{
	CHECK_EQ(parse_fields(0, 0, 32, 0), NVME_RDMA_CM_INVALID_HSQSIZE);
	CHECK_EQ(parse_fields(0, 0, 32, 1), 0);
	CHECK_EQ(parse_fields(0, 0, 32, 31), 0);
	CHECK_EQ(parse_fields(0, 0, 32, 4094), 0);
	CHECK_EQ(parse_fields(0, 0, 32, 4095), 0);
	CHECK_EQ(parse_fields(0, 0, 32, 4096), NVME_RDMA_CM_INVALID_HSQSIZE);
	CHECK_EQ(parse_fields(0, 0, 32, 0xffff), NVME_RDMA_CM_INVALID_HSQSIZE);
	CHECK_EQ(parse_fields(0, 1, 32, 4096), 0);
	CHECK_EQ(parse_fields(0, 0xffff, 32, 4096), 0);
}

TEST(request_reserved_bytes_are_ignored)
{
	struct pol_wire_request request;
	u8 bytes[REQUEST_SIZE];

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, request_bytes(0, 3, 64, 63, 7), 10);
	CHECK_EQ(parse_request(bytes, sizeof(bytes), false, &request), 0);
	CHECK_EQ(request.cntlid, 7);
}

TEST(request_built_byte_for_byte)
{
	const struct pol_wire_request request = { .qid = 0x1234, .hrqsize = 0x5678,
						  .hsqsize = 0x9abd, .cntlid = 0xdef0 };
	struct nvme_rdma_cm_req wire;

	memset(&wire, 0xa5, sizeof(wire));
	pol_wire_build_request(&wire, &request);
	CHECK_EQ(sizeof(wire), REQUEST_SIZE);
	CHECK_MEM(&wire, request_bytes(0, 0x1234, 0x5678, 0x9abc, 0xdef0), REQUEST_SIZE);
}

TEST(request_survives_the_round_trip)
{
	static const u32 sizes[] = { 2, 3, 31, 32, 33, 127, 128, 129, 1024, 65535, 65536 };
	struct pol_wire_request in = { .qid = 5, .cntlid = 0xffff }, out;
	struct nvme_rdma_cm_req wire;
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		in.hrqsize = sizes[i];
		in.hsqsize = sizes[i];
		pol_wire_build_request(&wire, &in);
		CHECK_EQ(pol_wire_parse_request(&wire, sizeof(wire), &out), 0);
		CHECK_EQ(out.qid, 5);
		CHECK_EQ(out.cntlid, 0xffff);
		CHECK_EQ(out.hsqsize, sizes[i]);
		CHECK_EQ(out.hrqsize, sizes[i] > 65535 ? 65535 : sizes[i]);
	}
}

static int parse_accept(const u8 *bytes, size_t len, u32 *crqsize)
{
	u8 *copy = malloc(len + 1);
	int ret;

	memcpy(copy + 1, bytes, len);
	ret = pol_wire_parse_accept(copy + 1, len, crqsize);
	free(copy);
	return ret;
}

TEST(accept_parsed)
{
	u8 bytes[196] = { 0, 0, 0x34, 0x12 };
	u32 crqsize;
	size_t len;

	for (len = 0; len <= sizeof(bytes); len++) {
		crqsize = 0xa5a5;
		if (len < ACCEPT_SIZE) {
			CHECK_EQ(parse_accept(bytes, len, &crqsize), -EPROTO);
			CHECK_EQ(crqsize, 0xa5a5);
		} else {
			CHECK_EQ(parse_accept(bytes, len, &crqsize), 0);
			CHECK_EQ(crqsize, 0x1234);
		}
	}
	CHECK_EQ(pol_wire_parse_accept(NULL, 0, &crqsize), -EPROTO);
}

TEST(accept_of_another_format_or_without_entries)
{
	u8 bytes[ACCEPT_SIZE] = { 1, 0, 1, 0 };
	u32 crqsize = 0xa5a5;

	CHECK_EQ(parse_accept(bytes, sizeof(bytes), &crqsize), -EPROTO);
	bytes[0] = 0;
	bytes[1] = 1;
	CHECK_EQ(parse_accept(bytes, sizeof(bytes), &crqsize), -EPROTO);
	bytes[1] = 0;
	bytes[2] = 0;
	CHECK_EQ(parse_accept(bytes, sizeof(bytes), &crqsize), -EPROTO);
	CHECK_EQ(crqsize, 0xa5a5);
	/* CRQSIZE is a count: one is one. */
	bytes[2] = 1;
	CHECK_EQ(parse_accept(bytes, sizeof(bytes), &crqsize), 0);
	CHECK_EQ(crqsize, 1);
}

TEST(accept_built_byte_for_byte)
{
	static const struct { u32 crqsize; u8 low, high; } cases[] = {
		{ 1, 1, 0 }, { 128, 128, 0 }, { 0x1234, 0x34, 0x12 }, { 65534, 0xfe, 0xff },
		{ 65535, 0xff, 0xff }, { 65536, 0xff, 0xff }, { ~0U, 0xff, 0xff },
	};
	u8 want[ACCEPT_SIZE] = { 0 };
	struct nvme_rdma_cm_rep wire;
	unsigned int i;

	CHECK_EQ(sizeof(wire), ACCEPT_SIZE);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&wire, 0xa5, sizeof(wire));
		pol_wire_build_accept(&wire, cases[i].crqsize);
		want[2] = cases[i].low;
		want[3] = cases[i].high;
		CHECK_MEM(&wire, want, sizeof(want));
	}
}

static int parse_reject(const u8 *bytes, size_t len)
{
	u8 *copy = malloc(len + 1);
	int ret;

	memcpy(copy + 1, bytes, len);
	ret = pol_wire_parse_reject(copy + 1, len);
	free(copy);
	return ret;
}

TEST(reject_parsed)
{
	u8 bytes[148] = { 0, 0, 6, 0 };
	size_t len;

	for (len = 0; len <= sizeof(bytes); len++)
		CHECK_EQ(parse_reject(bytes, len), len < REJECT_SIZE ? -EPROTO : 6);
	CHECK_EQ(pol_wire_parse_reject(NULL, 0), -EPROTO);

	/* A status this side does not know is passed on, a missing one is not success. */
	bytes[3] = 0x80;
	CHECK_EQ(parse_reject(bytes, REJECT_SIZE), 0x8006);
	bytes[2] = 0;
	bytes[3] = 0;
	CHECK_EQ(parse_reject(bytes, REJECT_SIZE), -EPROTO);
	bytes[2] = 1;
	bytes[0] = 1;
	CHECK_EQ(parse_reject(bytes, REJECT_SIZE), -EPROTO);
}

TEST(reject_built_byte_for_byte)
{
	struct nvme_rdma_cm_rej wire;
	unsigned int status;

	CHECK_EQ(sizeof(wire), REJECT_SIZE);
	for (status = NVME_RDMA_CM_INVALID_LEN; status <= NVME_RDMA_CM_INVALID_CNTLID; status++) {
		const u8 want[REJECT_SIZE] = { 0, 0, status, 0 };

		memset(&wire, 0xa5, sizeof(wire));
		pol_wire_build_reject(&wire, status);
		CHECK_MEM(&wire, want, sizeof(want));
		CHECK_EQ(pol_wire_parse_reject(&wire, sizeof(wire)), status);
	}
}

TEST(each_status_has_its_own_text)
{
	const char *unknown = pol_wire_status_text(0);
	int a, b;

	for (a = NVME_RDMA_CM_INVALID_LEN; a <= NVME_RDMA_CM_INVALID_CNTLID; a++) {
		CHECK(strcmp(pol_wire_status_text(a), unknown));
		for (b = NVME_RDMA_CM_INVALID_LEN; b < a; b++)
			CHECK(strcmp(pol_wire_status_text(a), pol_wire_status_text(b)));
	}
	CHECK_STR(pol_wire_status_text(NVME_RDMA_CM_INVALID_CNTLID + 1), unknown);
	CHECK_STR(pol_wire_status_text(-EPROTO), unknown);
	CHECK_STR(pol_wire_status_text(0x7fffffff), unknown);
}
