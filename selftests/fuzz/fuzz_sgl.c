// SPDX-License-Identifier: GPL-2.0-only
/* Input: 4 bytes of max_len, then the capsule as it arrived. */
#include "fuzz.h"
#include "target/sgl.h"

static void check_inline(const struct polt_transfer *transfer, uint32_t arrived)
{
	MUST(transfer->len > 0);
	MUST((uint64_t)transfer->offset + transfer->len <= arrived - 64);
	MUST(transfer->nr_segments == 0);
	MUST(!transfer->invalidate);
}

static void check_keyed(const struct polt_transfer *transfer)
{
	uint64_t sum = 0;
	unsigned int i;

	MUST(transfer->nr_segments >= 1 && transfer->nr_segments <= POLT_MSDBD);
	for (i = 0; i < transfer->nr_segments; i++) {
		MUST(transfer->segments[i].len > 0);
		MUST(transfer->segments[i].addr + transfer->segments[i].len - 1 >=
		     transfer->segments[i].addr);
		sum += transfer->segments[i].len;
	}
	MUST(sum == transfer->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct polt_transfer transfer;
	uint32_t max_len;
	size_t arrived;
	void *capsule;
	u16 status;

	if (size < sizeof(max_len) + 64 || size > 65536)
		return -1;
	memcpy(&max_len, data, sizeof(max_len));
	arrived = size - sizeof(max_len);
	capsule = malloc(arrived);
	memcpy(capsule, data + sizeof(max_len), arrived);
	memset(&transfer, 0xa5, sizeof(transfer));

	status = polt_sgl_parse(capsule, arrived, max_len, &transfer);
	if (!status) {
		MUST(transfer.len <= max_len);
		switch (transfer.kind) {
		case POLT_TRANSFER_NONE:
			MUST(transfer.len == 0 && transfer.nr_segments == 0);
			break;
		case POLT_TRANSFER_INLINE:
			check_inline(&transfer, arrived);
			break;
		case POLT_TRANSFER_KEYED:
			check_keyed(&transfer);
			break;
		default:
			MUST(!"a kind of transfer");
		}
	}
	free(capsule);
	return 0;
}
