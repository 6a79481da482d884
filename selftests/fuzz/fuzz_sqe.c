// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a controller and a namespace (struct setting), then any number of 64-byte SQEs. Each is
 * taken as every kind of command, whatever its opcode says.
 */
#include "fuzz.h"
#include "target/sqe.h"

#define SCT_SC	0x7ff		/* Status Code Type and Status Code; also what a status may have: */
#define DNR	NVME_STATUS_DNR

struct setting {
	u64 blocks;
	u32 nsid_max;
	u16 qid_max;
	u16 qid;
	u8 block_shift;		/* modulo 32 */
	u8 mdts;		/* modulo 20, in units of 4096 bytes as in Identify Controller */
	u8 discovery;		/* bit 0 */
	u8 unused[5];
};

static bool is_one_of(u16 status, const u16 *list, size_t nr)
{
	while (nr--)
		if ((status & SCT_SC) == list[nr])
			return true;
	return false;
}

/* Nothing is refused in a way that a host would try again, or with what is not said of it. */
#define MUST_BE_REFUSED(status, ...) do {				\
	static const u16 list[] = { __VA_ARGS__ };			\
									\
	MUST(((status) & ~SCT_SC) == DNR);				\
	MUST(is_one_of(status, list, sizeof(list) / sizeof(list[0])));	\
} while (0)

/* What is refused leaves the result alone, whatever it was. */
#define DIRT	0x5aU

static bool is_dirty(const void *result, size_t size)
{
	const u8 *bytes = result;

	while (size--)
		if (bytes[size] != DIRT)
			return false;
	return true;
}

/* Data goes one way, which the two low bits of what names the command say. */
static void check_len(u8 code, u32 len, u32 max_len)
{
	MUST(len <= max_len);
	MUST(!len || (code & 3) == 1 || (code & 3) == 2);
}

static void fuzz_range(const struct nvme_command *sqe, const struct setting *setting, u32 max_len)
{
	unsigned int shift = setting->block_shift % 32;
	unsigned __int128 slba = 0, nlb = 0;
	const u8 *bytes = (const u8 *)sqe;
	u64 lba;
	u32 len;
	u16 status;
	int i;

	for (i = 7; i >= 0; i--)
		slba = slba << 8 | bytes[40 + i];
	nlb = 1 + (bytes[48] | bytes[49] << 8);
	memset(&lba, DIRT, sizeof(lba));
	memset(&len, DIRT, sizeof(len));
	status = polt_sqe_check_range(sqe, setting->blocks, shift, max_len, &lba, &len);
	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_LBA_RANGE, NVME_SC_INVALID_FIELD,
				NVME_SC_INVALID_PI);
		MUST(is_dirty(&lba, sizeof(lba)) && is_dirty(&len, sizeof(len)));
	}
	/* No block outside of [0, blocks), no more than MDTS, and nothing without a reason. */
	MUST((slba + nlb > setting->blocks) == ((status & SCT_SC) == NVME_SC_LBA_RANGE));
	if (slba + nlb > setting->blocks)
		return;
	MUST((nlb << shift > max_len) == ((status & SCT_SC) == NVME_SC_INVALID_FIELD));
	if (nlb << shift > max_len)
		return;
	MUST(!(bytes[51] & 0x3c) == !status);
	if (!status)
		MUST(lba == slba && len == nlb << shift);
}

static void fuzz_io(const struct nvme_command *sqe, const struct setting *setting, u32 max_len)
{
	const struct polt_sqe_io *io = NULL;
	u16 status = polt_sqe_check_io(sqe, &io);

	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_INVALID_FIELD, NVME_SC_INVALID_OPCODE);
		MUST(!io);
	} else {
		/* Flush, Write, Read, not fused. */
		MUST(sqe->common.opcode <= 2 && !(sqe->common.flags & 3));
		MUST(io->known && io->class < POL_LATENCY_CLASSES);
		MUST(io->range == !!(sqe->common.opcode & 3));
		MUST(io->writes == (sqe->common.opcode == 1));
	}
	fuzz_range(sqe, setting, max_len);
}

static void fuzz_admin(const struct nvme_command *sqe, bool discovery, u32 max_len)
{
	u32 len;
	u16 status;

	memset(&len, DIRT, sizeof(len));
	status = polt_sqe_check_admin(sqe, discovery, max_len, &len);
	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_INVALID_FIELD, NVME_SC_INVALID_OPCODE);
		MUST(!len);
		return;
	}
	MUST(!(sqe->common.flags & 3));
	check_len(sqe->common.opcode, len, max_len);
}

static void fuzz_identify(const struct nvme_command *sqe, const struct setting *setting,
			  bool discovery)
{
	struct polt_sqe_identify identify;
	u16 status;

	memset(&identify, DIRT, sizeof(identify));
	status = polt_sqe_parse_identify(sqe, discovery, setting->nsid_max, &identify);
	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_INVALID_FIELD, NVME_SC_INVALID_NS);
		MUST(is_dirty(&identify, sizeof(identify)));
		return;
	}
	MUST(!discovery || identify.page == POLT_PAGE_CONTROLLER);
	switch (identify.page) {
	case POLT_PAGE_NAMESPACE:
	case POLT_PAGE_INDEPENDENT:
	case POLT_PAGE_DESCRIPTORS:
		MUST(identify.nsid >= 1 && identify.nsid <= setting->nsid_max);
		break;
	case POLT_PAGE_NAMESPACES:
		/* The first of the list is a number, and not FFFFFFFFh. */
		MUST(identify.nsid + 1 > identify.nsid && identify.nsid + 1 < NVME_NSID_ALL);
		break;
	case POLT_PAGE_CONTROLLER:
	case POLT_PAGE_CONTROLLERS:
	case POLT_PAGE_NS_CONTROLLERS:
	case POLT_PAGE_COMMAND_SETS:
	case POLT_PAGE_ZEROES:
		break;
	default:
		MUST(!"a page");
	}
}

static void fuzz_abort(const struct nvme_command *sqe, const struct setting *setting,
		       bool discovery)
{
	struct polt_sqe_abort victim;
	u16 status;

	memset(&victim, DIRT, sizeof(victim));
	status = polt_sqe_parse_abort(sqe, discovery, setting->qid_max, &victim);
	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_INVALID_OPCODE);
		MUST(discovery && is_dirty(&victim, sizeof(victim)));
		return;
	}
	/* It is the index of a table. */
	MUST(victim.possible == (victim.sqid <= setting->qid_max));
}

static void fuzz_fabrics(const struct nvme_command *sqe, const struct setting *setting,
			 bool discovery)
{
	struct polt_sqe_fabrics request;
	u16 taken, status;
	u32 len;

	memset(&len, DIRT, sizeof(len));
	taken = polt_sqe_check_fabrics(sqe, &len);
	if (taken) {
		MUST_BE_REFUSED(taken, NVME_SC_INVALID_OPCODE);
		MUST(!len);
	} else {
		check_len(sqe->fabrics.fctype, len, 4096);
	}

	memset(&request, DIRT, sizeof(request));
	status = polt_sqe_parse_fabrics(sqe, setting->qid, &request);
	if (status) {
		MUST_BE_REFUSED(status, NVME_SC_INVALID_OPCODE, NVME_SC_INVALID_FIELD,
				NVME_SC_CONNECT_FORMAT, 0x185 /* Invalid Queue Type */);
		MUST(is_dirty(&request, sizeof(request)));
		return;
	}
	/* What is executed has been taken, and what has data is not executed here. */
	MUST(!taken && !len);
	MUST(request.type == sqe->fabrics.fctype);
	switch (request.type) {
	case nvme_fabrics_type_property_get:
		MUST(!setting->qid && !request.value);
		MUST(request.property == NVME_REG_CAP || request.property == NVME_REG_VS ||
		     request.property == NVME_REG_CC || request.property == NVME_REG_CSTS);
		break;
	case nvme_fabrics_type_property_set:
		MUST(!setting->qid && request.property == NVME_REG_CC);
		/* CSS, MPS, AMS are 0; entries of I/O queues have 2^6 and 2^4 bytes. */
		MUST(polt_sqe_can_enable(request.value, discovery) ==
		     (!(request.value & 0x3ff0) &&
		      (discovery || (request.value >> 16 & 0xff) == 0x46)));
		break;
	case POLT_FABRICS_DISCONNECT:
		MUST(setting->qid && !request.property && !request.value);
		break;
	default:
		MUST(!"a Fabrics command");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvme_command *sqe;
	struct setting setting;
	bool discovery;
	u32 max_len;

	if (size < sizeof(setting) + sizeof(*sqe))
		return -1;
	memcpy(&setting, data, sizeof(setting));
	discovery = setting.discovery & 1;
	max_len = 4096U << setting.mdts % 20;
	for (data += sizeof(setting), size -= sizeof(setting); size >= sizeof(*sqe);
	     data += sizeof(*sqe), size -= sizeof(*sqe)) {
		sqe = malloc(sizeof(*sqe));
		memcpy(sqe, data, sizeof(*sqe));
		fuzz_io(sqe, &setting, max_len);
		fuzz_admin(sqe, discovery, max_len);
		fuzz_identify(sqe, &setting, discovery);
		fuzz_abort(sqe, &setting, discovery);
		fuzz_fabrics(sqe, &setting, discovery);
		free(sqe);
	}
	return 0;
}
