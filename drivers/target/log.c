// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log pages: what a Get Log Page command asks for, and the structures pages are made of. A page is
 * read in chunks of any size at any offset, so a builder fills one structure and polt_log_clip()
 * says which part of it the host wants. Every byte of a structure is written: what is returned is
 * never what happened to lie in a buffer.
 *
 * The caller owns everything and any lock around it. Nothing here sleeps.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "target/log.h"

#define POLT_LOG_RETAIN		0x80	/* bit 15 of CDW10 in the byte of the log specific field */

/* SMART: data is counted in thousands of 512 bytes, rounded up. */
#define POLT_LOG_DATA_UNIT	512000U
#define POLT_LOG_SPARE		100	/* percent */
#define POLT_LOG_SPARE_MIN	10

#define POLT_LOG_FIRMWARE_SLOT	1

#define POLT_LOG_LID_SUPPORTED	(1U << 0)	/* LSUPP of a Supported Log Pages descriptor */

#define POLT_LOG_CNTLID_DYNAMIC	0xffff		/* CNTLID of a discovery entry: any controller */

/**
 * polt_log_parse - check a Get Log Page command
 * @sqe: the command, any content
 * @max_len: longest data transfer of the controller in bytes
 * @request: filled in on success
 *
 * Any context.
 *
 * Return: NVME_SC_SUCCESS or Invalid Field in Command with DNR.
 */
u16 polt_log_parse(const struct nvme_command *sqe, u32 max_len, struct polt_log_request *request)
{
	const struct nvme_get_log_page_command *get = &sqe->get_log_page;
	u64 dwords = le16_to_cpu(get->numdl) | (u64)le16_to_cpu(get->numdu) << 16;
	u64 offset = le64_to_cpu(get->lpo);

	if ((dwords + 1) * sizeof(u32) > max_len || offset % sizeof(u32))
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	request->lid = get->lid;
	request->retain = get->lsp & POLT_LOG_RETAIN;
	request->nsid = le32_to_cpu(get->nsid);
	request->offset = offset;
	request->len = (dwords + 1) * sizeof(u32);
	return NVME_SC_SUCCESS;
}

/**
 * polt_log_known - is there such a log page?
 * @discovery: of a discovery controller
 * @lid: log page identifier, any value
 *
 * Any context.
 */
bool polt_log_known(bool discovery, u8 lid)
{
	switch (lid) {
	case POLT_LOG_SUPPORTED:
	case NVME_LOG_ERROR:
		return true;
	case NVME_LOG_SMART:
	case NVME_LOG_FW_SLOT:
	case NVME_LOG_CHANGED_NS:
	case NVME_LOG_CMD_EFFECTS:
		return !discovery;
	case NVME_LOG_DISC:
		return discovery;
	default:
		return false;
	}
}

/**
 * polt_log_clip - which part of a structure in a log page was asked for
 * @request: what was asked for; its end may lie beyond 2^64
 * @start: where the structure begins in the page
 * @len: bytes it has; @start + @len does not wrap
 *
 * Any context.
 */
struct polt_log_piece polt_log_clip(const struct polt_log_request *request, u64 start, u32 len)
{
	struct polt_log_piece piece = { };

	if (request->offset >= start) {
		u64 skip = request->offset - start;

		if (skip < len) {
			piece.skip = skip;
			piece.len = min(len - piece.skip, request->len);
		}
	} else {
		u64 at = start - request->offset;

		if (at < request->len) {
			piece.at = at;
			piece.len = min(len, request->len - piece.at);
		}
	}
	return piece;
}

/**
 * polt_log_clip_page - which part of a page was asked for that is one structure
 * @request: what was asked for
 * @len: bytes of the page
 * @piece: result on success; nothing of the page if it begins right at its end
 *
 * Any context.
 *
 * Return: NVME_SC_SUCCESS, or Invalid Field in Command with DNR when it begins behind the end.
 */
u16 polt_log_clip_page(const struct polt_log_request *request, u32 len,
		       struct polt_log_piece *piece)
{
	if (request->offset > len)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	*piece = polt_log_clip(request, 0, len);
	return NVME_SC_SUCCESS;
}

/**
 * polt_log_add_error - note that a command failed
 * @errors: the controller's error log
 * @sqid: queue of the command
 * @sqe: the command
 * @status: its NVMe status, not shifted
 *
 * The caller keeps others from @errors. Any context.
 */
void polt_log_add_error(struct polt_log_errors *errors, u16 sqid, const struct nvme_command *sqe,
			u16 status)
{
	struct nvme_error_slot *slot = &errors->ring[errors->count % POLT_ERRORS_MAX];

	memset(slot, 0, sizeof(*slot));
	slot->error_count = cpu_to_le64(++errors->count);
	slot->sqid = cpu_to_le16(sqid);
	memcpy(&slot->cmdid, &sqe->common.command_id, sizeof(slot->cmdid));
	slot->status_field = cpu_to_le16((u16)(status << 1));
	slot->param_error_location = cpu_to_le16(0xffff);
	if (sqe->common.opcode != nvme_fabrics_command)
		slot->nsid = sqe->common.nsid;
	if (sqid && (sqe->common.opcode == nvme_cmd_read || sqe->common.opcode == nvme_cmd_write))
		slot->lba = sqe->rw.slba;
}

/**
 * polt_log_clear_errors - remove all entries; counting goes on
 * @errors: the controller's error log
 */
void polt_log_clear_errors(struct polt_log_errors *errors)
{
	errors->cleared = errors->count;
}

/**
 * polt_log_error_entry - one entry of the Error Information page
 * @errors: the controller's error log
 * @index: entry of the page, 0 to POLT_ERRORS_MAX - 1, the newest is 0
 * @slot: filled in; zeroes when there were not so many errors
 */
void polt_log_error_entry(const struct polt_log_errors *errors, unsigned int index,
			  struct nvme_error_slot *slot)
{
	if (index < errors->count - errors->cleared && index < POLT_ERRORS_MAX)
		*slot = errors->ring[(errors->count - 1 - index) % POLT_ERRORS_MAX];
	else
		memset(slot, 0, sizeof(*slot));
}

/* A 128-bit little-endian counter. */
static void polt_log_counter(u8 *field, u64 value)
{
	__le64 low = cpu_to_le64(value);

	memcpy(field, &low, sizeof(low));
}

static u64 polt_log_data_units(u64 bytes)
{
	return bytes / POLT_LOG_DATA_UNIT + !!(bytes % POLT_LOG_DATA_UNIT);
}

/**
 * polt_log_smart - SMART / Health Information
 * @log: 512 bytes, all of them written
 * @values: what it depends on
 *
 * There is no sensor and no spare area: no temperature is reported and the spare is full.
 */
void polt_log_smart(struct nvme_smart_log *log, const struct polt_log_smart_values *values)
{
	memset(log, 0, sizeof(*log));
	log->avail_spare = POLT_LOG_SPARE;
	log->spare_thresh = POLT_LOG_SPARE_MIN;
	polt_log_counter(log->data_units_read, polt_log_data_units(values->bytes_read));
	polt_log_counter(log->data_units_written, polt_log_data_units(values->bytes_written));
	polt_log_counter(log->host_reads, values->reads);
	polt_log_counter(log->host_writes, values->writes);
	polt_log_counter(log->power_on_hours, values->uptime_s / 3600);
	polt_log_counter(log->media_errors, values->media_errors);
	polt_log_counter(log->num_err_log_entries, values->errors);
}

/**
 * polt_log_firmware - Firmware Slot Information
 * @log: 512 bytes, all of them written
 * @firmware: revision as in Identify Controller, at most 8 characters
 */
void polt_log_firmware(struct nvme_fw_slot_info_log *log, const char *firmware)
{
	char revision[sizeof(log->frs[0])];
	size_t len = strnlen(firmware, sizeof(revision));

	memset(revision, ' ', sizeof(revision));
	memcpy(revision, firmware, len);

	memset(log, 0, sizeof(*log));
	log->afi = POLT_LOG_FIRMWARE_SLOT;
	memcpy(&log->frs[POLT_LOG_FIRMWARE_SLOT - 1], revision, sizeof(revision));
}

/**
 * polt_log_effects - Commands Supported and Effects of an I/O controller
 * @log: 4096 bytes, all of them written
 */
void polt_log_effects(struct nvme_effects_log *log)
{
	static const u8 admin[] = {
		nvme_admin_get_log_page,
		nvme_admin_identify,
		nvme_admin_abort_cmd,
		nvme_admin_set_features,
		nvme_admin_get_features,
		nvme_admin_async_event,
		nvme_admin_keep_alive,
	};
	unsigned int i;

	memset(log, 0, sizeof(*log));
	for (i = 0; i < ARRAY_SIZE(admin); i++)
		log->acs[admin[i]] = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP);
	log->iocs[nvme_cmd_read] = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP);
	log->iocs[nvme_cmd_flush] = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP | NVME_CMD_EFFECTS_LBCC);
	log->iocs[nvme_cmd_write] = cpu_to_le32(NVME_CMD_EFFECTS_CSUPP | NVME_CMD_EFFECTS_LBCC);
}

/**
 * polt_log_supported - Supported Log Pages
 * @page: POLT_LOG_SUPPORTED_SIZE bytes, all of them written
 * @discovery: those of a discovery controller
 */
void polt_log_supported(void *page, bool discovery)
{
	const __le32 supported = cpu_to_le32(POLT_LOG_LID_SUPPORTED);
	unsigned int lid;

	memset(page, 0, POLT_LOG_SUPPORTED_SIZE);
	for (lid = 0; lid < POLT_LOG_SUPPORTED_SIZE / sizeof(supported); lid++)
		if (polt_log_known(discovery, lid))
			memcpy(page + lid * sizeof(supported), &supported, sizeof(supported));
}

/**
 * polt_log_changed - Changed Namespace List
 * @list: NVME_MAX_CHANGED_NAMESPACES entries, all of them written
 * @changed: POLT_LOG_CHANGED_WORDS words; bit n % 32 of word n / 32 is namespace n + 1
 */
void polt_log_changed(__le32 *list, const u32 *changed)
{
	unsigned int nr = 0;
	unsigned int n;

	memset(list, 0, NVME_MAX_CHANGED_NAMESPACES * sizeof(*list));
	for (n = 0; n < NVME_MAX_CHANGED_NAMESPACES; n++)
		if (changed[n / 32] & 1U << n % 32)
			list[nr++] = cpu_to_le32(n + 1);
}

/**
 * polt_log_discovery_header - head of the discovery log, its first 1024 bytes
 * @header: all of it written
 * @generation: GENCTR
 * @records: entries that follow
 */
void polt_log_discovery_header(struct nvmf_disc_rsp_page_hdr *header, u64 generation, u64 records)
{
	memset(header, 0, sizeof(*header));
	header->genctr = cpu_to_le64(generation);
	header->numrec = cpu_to_le64(records);
}

/* Stock hosts take these fields as strings that end with a NUL. */
static void polt_log_string(char *field, size_t size, const char *text)
{
	memcpy(field, text, strnlen(text, size - 1));
}

/**
 * polt_log_discovery_entry - one entry of the discovery log, 1024 bytes
 * @entry: all of it written
 * @record: what it says
 */
void polt_log_discovery_entry(struct nvmf_disc_rsp_page_entry *entry,
			      const struct polt_log_record *record)
{
	memset(entry, 0, sizeof(*entry));
	entry->trtype = NVMF_TRTYPE_RDMA;
	entry->adrfam = record->adrfam;
	entry->subtype = record->subtype;
	entry->treq = NVMF_TREQ_NOT_SPECIFIED;
	entry->portid = cpu_to_le16(record->port_id);
	entry->cntlid = cpu_to_le16(POLT_LOG_CNTLID_DYNAMIC);
	entry->asqsz = cpu_to_le16(record->admin_depth);
	polt_log_string(entry->trsvcid, sizeof(entry->trsvcid), record->trsvcid);
	polt_log_string(entry->traddr, sizeof(entry->traddr), record->traddr);
	polt_log_string(entry->subnqn, sizeof(entry->subnqn), record->subnqn);
	entry->tsas.rdma.qptype = NVMF_RDMA_QPTYPE_CONNECTED;
	entry->tsas.rdma.prtype = NVMF_RDMA_PRTYPE_NOT_SPECIFIED;
	entry->tsas.rdma.cms = NVMF_RDMA_CMS_RDMA_CM;
}
