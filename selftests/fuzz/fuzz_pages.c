// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: numbers that Identify data and log pages depend on, then texts, each up to its NUL. Every
 * byte of what is built is written: built twice, over different dirt, it is the same.
 */
#include <asm/byteorder.h>

#include "fuzz.h"
#include "target/identify.h"
#include "target/log.h"

struct numbers {
	struct polt_log_smart_values smart;
	u64 blocks;
	u64 generation;
	u32 granule_blocks;
	u32 optimal_blocks;
	u32 inline_size;
	u32 nn;
	u32 changed[POLT_LOG_CHANGED_WORDS];
	u16 cntlid;
	u16 depth;
	u8 mdts;
	u8 block_shift;
	u8 flags;
	u8 ids[32];
};

/* What is left of the input; the texts in it lie on the heap in exactly their length. */
struct input {
	const uint8_t *data;
	size_t size;
};

static char *next_text(struct input *input, size_t max)
{
	size_t len = strnlen((const char *)input->data, input->size);
	char *text = strndup((const char *)input->data, len > max ? max : len);

	len += len < input->size;
	input->data += len;
	input->size -= len;
	return text;
}

/* Evaluates to what was built, for the caller to free. */
#define BUILT_TWICE(size, build) ({					\
	u8 *page, *first = NULL;					\
	int dirt;							\
									\
	for (dirt = 0; dirt < 2; dirt++) {				\
		page = memset(malloc(size), dirt ? 0xa5 : 0x5a, size);	\
		build;							\
		if (first)						\
			MUST(!memcmp(page, first, size));		\
		free(first);						\
		first = page;						\
	}								\
	(void *)page;							\
})

static void check_text(const char *field, size_t size, const char *text)
{
	size_t len = strnlen(text, size);

	MUST(!memcmp(field, text, len));
	for (; len < size; len++)
		MUST(field[len] == ' ');
}

static void fuzz_controller(const struct numbers *numbers, struct input *input)
{
	struct polt_identify_values values = {
		.discovery = numbers->flags & 1,
		.volatile_cache = numbers->flags & 2,
		.serial = next_text(input, 20),
		.model = next_text(input, 40),
		.firmware = next_text(input, 8),
		.subnqn = next_text(input, 223),
		.cntlid = numbers->cntlid,
		.mdts_bytes = 4096U << numbers->mdts % 20,
		.inline_size = numbers->inline_size % 1024 * 16,
		.msdbd = 16,
		.depth = numbers->depth,
		.nn = numbers->nn,
	};
	struct nvme_fw_slot_info_log *slots;
	struct nvme_id_ctrl *id;

	id = BUILT_TWICE(sizeof(*id), polt_identify_controller((void *)page, &values));
	check_text(id->sn, sizeof(id->sn), values.serial);
	check_text(id->mn, sizeof(id->mn), values.model);
	check_text(id->fr, sizeof(id->fr), values.firmware);
	MUST(!strcmp(id->subnqn, values.subnqn));
	MUST(4096U << id->mdts == values.mdts_bytes);
	if (!values.discovery)
		MUST(le32_to_cpu(id->ioccsz) * 16 == 64 + values.inline_size);
	free(id);

	slots = BUILT_TWICE(sizeof(*slots), polt_log_firmware((void *)page, values.firmware));
	check_text((char *)slots->frs, 8, values.firmware);
	free(slots);
	free((void *)values.serial);
	free((void *)values.model);
	free((void *)values.firmware);
	free((void *)values.subnqn);
}

static void check_descriptors(const u8 *page, u32 size, u32 used)
{
	u32 at = 0;

	MUST(used <= size);
	while (at < used) {
		MUST(used - at > 4 && page[at] && page[at + 1]);
		at += 4 + page[at + 1];
	}
	MUST(at == used);
	for (; at < size; at++)
		MUST(!page[at]);
}

static void fuzz_namespace(const struct numbers *numbers)
{
	struct polt_identify_ns_values values = {
		.blocks = numbers->blocks,
		.block_shift = 9 + numbers->block_shift % 8,
		.read_only = numbers->flags & 1,
		.volatile_cache = numbers->flags & 2,
		.granule_blocks = numbers->granule_blocks,
		.optimal_blocks = numbers->optimal_blocks,
	};
	u32 used = 0, size = numbers->flags & 4 ? 4096 : numbers->mdts;
	struct nvme_id_ns_cs_indep *independent;
	struct nvme_id_ns *id;
	u8 *list;

	memcpy(values.nguid, numbers->ids, 16);
	memcpy(&values.uuid, numbers->ids + 16, 16);
	id = BUILT_TWICE(sizeof(*id), polt_identify_namespace((void *)page, &values));
	MUST(le64_to_cpu(id->nsze) == values.blocks && id->lbaf[0].ds == values.block_shift);
	if (values.optimal_blocks)
		MUST(le16_to_cpu(id->nows) >= le16_to_cpu(id->npwg));
	free(id);
	free(BUILT_TWICE(sizeof(*id), polt_identify_namespace((void *)page, NULL)));
	independent = BUILT_TWICE(sizeof(*independent),
				  polt_identify_independent((void *)page, &values));
	MUST(independent->nmic);
	free(independent);
	free(BUILT_TWICE(sizeof(*independent), polt_identify_independent((void *)page, NULL)));
	list = BUILT_TWICE(size, used = polt_identify_descriptors(page, size, &values));
	check_descriptors(list, size, used);
	free(list);
}

static void fuzz_entry(const struct numbers *numbers, struct input *input)
{
	struct polt_log_record record = {
		.subtype = numbers->flags,
		.adrfam = numbers->mdts,
		.port_id = numbers->cntlid,
		.admin_depth = numbers->depth,
		.trsvcid = next_text(input, 31),
		.traddr = next_text(input, 255),
		.subnqn = next_text(input, 223),
	};
	struct nvmf_disc_rsp_page_entry *entry;

	entry = BUILT_TWICE(sizeof(*entry), polt_log_discovery_entry((void *)page, &record));
	MUST(!strcmp(entry->trsvcid, record.trsvcid));
	MUST(!strcmp(entry->traddr, record.traddr));
	MUST(!strcmp(entry->subnqn, record.subnqn));
	free(entry);
	free((void *)record.trsvcid);
	free((void *)record.traddr);
	free((void *)record.subnqn);
}

static void fuzz_logs(const struct numbers *numbers)
{
	const size_t changed_size = NVME_MAX_CHANGED_NAMESPACES * sizeof(__le32);
	struct nvmf_disc_rsp_page_hdr *header;
	struct nvme_smart_log *smart;
	__le32 *changed;
	u64 units;
	int i;

	smart = BUILT_TWICE(sizeof(*smart), polt_log_smart((void *)page, &numbers->smart));
	memcpy(&units, smart->data_units_read, sizeof(units));
	MUST(units >= numbers->smart.bytes_read / 512000);
	MUST(!units == !numbers->smart.bytes_read);
	free(smart);
	header = BUILT_TWICE(sizeof(*header),
			     polt_log_discovery_header((void *)page, numbers->generation,
						       numbers->blocks));
	MUST(le64_to_cpu(header->genctr) == numbers->generation);
	free(header);
	changed = BUILT_TWICE(changed_size, polt_log_changed((void *)page, numbers->changed));
	for (i = 0; i < NVME_MAX_CHANGED_NAMESPACES && changed[i]; i++) {
		u32 nsid = le32_to_cpu(changed[i]) - 1;

		MUST(numbers->changed[nsid / 32] & 1U << nsid % 32);
		MUST(!i || le32_to_cpu(changed[i]) > le32_to_cpu(changed[i - 1]));
	}
	free(changed);
	free(BUILT_TWICE(sizeof(struct nvme_effects_log), polt_log_effects((void *)page)));
	free(BUILT_TWICE(POLT_LOG_SUPPORTED_SIZE, polt_log_supported(page, numbers->flags & 1)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct numbers numbers;
	struct input input;

	if (size < sizeof(numbers))
		return -1;
	memcpy(&numbers, data, sizeof(numbers));
	input = (struct input) { data + sizeof(numbers), size - sizeof(numbers) };
	fuzz_controller(&numbers, &input);
	fuzz_namespace(&numbers);
	fuzz_entry(&numbers, &input);
	fuzz_logs(&numbers);
	return 0;
}
