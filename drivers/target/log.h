/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log pages (NVMe Base Specification: "Get Log Page command"; NVMe over Fabrics: "Discovery Log
 * Page"). Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLT_LOG_H
#define POLT_LOG_H

#include <linux/nvme.h>
#include <linux/types.h>

#include "target/identify.h"

#define POLT_LOG_SUPPORTED	0x00	/* Supported Log Pages; <linux/nvme.h> has no name for it */
#define POLT_LOG_SUPPORTED_SIZE	1024U	/* 256 descriptors of 4 bytes */
#define POLT_LOG_CHANGED_WORDS	(NVME_MAX_CHANGED_NAMESPACES / 32)

/**
 * struct polt_log_request - what a Get Log Page command asks for
 * @lid: log page identifier
 * @retain: the event that announced the page stays as it is (RAE)
 * @nsid: namespace, as given
 * @offset: first byte wanted, a multiple of 4
 * @len: bytes wanted, a multiple of 4 of at least 4
 */
struct polt_log_request {
	u8 lid;
	bool retain;
	u32 nsid;
	u64 offset;
	u32 len;
};

/**
 * struct polt_log_piece - the part of something in a log page that was asked for
 * @skip: bytes of it that come before what was asked for
 * @at: where the rest goes in the data of the command
 * @len: bytes of the rest, 0 is none
 */
struct polt_log_piece {
	u32 skip;
	u32 at;
	u32 len;
};

/**
 * struct polt_log_errors - the error log of a controller
 * @count: errors since the controller was made
 * @cleared: how many of them had been when the log was cleared the last time
 * @ring: error number n, counted from 1, is at (n - 1) % POLT_ERRORS_MAX
 */
struct polt_log_errors {
	u64 count;
	u64 cleared;
	struct nvme_error_slot ring[POLT_ERRORS_MAX];
};

/**
 * struct polt_log_smart_values - what the SMART log depends on
 * @bytes_read: bytes that hosts have read
 * @bytes_written: bytes that hosts have written
 * @reads: Read commands
 * @writes: Write commands
 * @media_errors: commands that the storage failed for a media or data integrity error
 * @errors: entries ever made in the error log
 * @uptime_s: seconds since power-on
 */
struct polt_log_smart_values {
	u64 bytes_read;
	u64 bytes_written;
	u64 reads;
	u64 writes;
	u64 media_errors;
	u64 errors;
	u64 uptime_s;
};

/**
 * struct polt_log_record - one entry of the discovery log
 * @subtype: enum nvme_subsys_type
 * @adrfam: NVMF_ADDR_FAMILY_IP4 or _IP6
 * @port_id: port of the target
 * @admin_depth: entries an Admin Queue may have
 * @trsvcid: transport service identifier, at most 31 characters
 * @traddr: address, at most 255 characters
 * @subnqn: subsystem, at most 223 characters
 */
struct polt_log_record {
	u8 subtype;
	u8 adrfam;
	u16 port_id;
	u16 admin_depth;
	const char *trsvcid;
	const char *traddr;
	const char *subnqn;
};

u16 polt_log_parse(const struct nvme_command *sqe, u32 max_len, struct polt_log_request *request);
bool polt_log_known(bool discovery, u8 lid);
struct polt_log_piece polt_log_clip(const struct polt_log_request *request, u64 start, u32 len);
u16 polt_log_clip_page(const struct polt_log_request *request, u32 len,
		       struct polt_log_piece *piece);

void polt_log_add_error(struct polt_log_errors *errors, u16 sqid, const struct nvme_command *sqe,
			u16 status);
void polt_log_clear_errors(struct polt_log_errors *errors);
void polt_log_error_entry(const struct polt_log_errors *errors, unsigned int index,
			  struct nvme_error_slot *slot);
void polt_log_smart(struct nvme_smart_log *log, const struct polt_log_smart_values *values);
void polt_log_firmware(struct nvme_fw_slot_info_log *log, const char *firmware);
void polt_log_effects(struct nvme_effects_log *log);
void polt_log_supported(void *page, bool discovery);
void polt_log_changed(__le32 *list, const u32 *changed);
void polt_log_discovery_header(struct nvmf_disc_rsp_page_hdr *header, u64 generation, u64 records);
void polt_log_discovery_entry(struct nvmf_disc_rsp_page_entry *entry,
			      const struct polt_log_record *record);

#endif
