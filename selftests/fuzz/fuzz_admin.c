// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any number of 64-byte SQEs. Each is taken as Get Log Page and as Get and Set Features of
 * one controller, whose values stay from one to the next.
 */
#include "fuzz.h"
#include "target/features.h"
#include "target/log.h"

#define MAX_LEN	(1U << 20)

/* A page that is one structure: nothing of what lies behind it. */
static void fuzz_page(const struct polt_log_request *request)
{
	static const u32 lens[] = { 512, 1024, 4096 };
	struct polt_log_piece piece;
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		if (polt_log_clip_page(request, lens[i], &piece)) {
			MUST(request->offset > lens[i]);
			continue;
		}
		MUST(request->offset <= lens[i]);
		MUST(!piece.at && (u64)piece.skip + piece.len <= lens[i]);
		MUST(piece.len == request->len || request->offset + piece.len == lens[i]);
	}
}

static void fuzz_log(const struct nvme_command *sqe, struct polt_log_errors *errors)
{
	static const struct { u64 start; u32 len; } pieces[] = {
		{ 0, 64 }, { 0, 1024 }, { 1024, 1024 }, { 960, 64 }, { 1ULL << 40, 4096 },
	};
	struct polt_log_request request;
	struct polt_log_piece piece;
	struct nvme_error_slot slot;
	unsigned int i;

	if (!polt_log_parse(sqe, MAX_LEN, &request)) {
		MUST(request.len >= 4 && request.len <= MAX_LEN && request.len % 4 == 0);
		for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			piece = polt_log_clip(&request, pieces[i].start, pieces[i].len);
			if (!piece.len)
				continue;
			MUST((u64)piece.skip + piece.len <= pieces[i].len);
			MUST((u64)piece.at + piece.len <= request.len);
			MUST(request.offset + piece.at == pieces[i].start + piece.skip);
		}
		fuzz_page(&request);
	}
	polt_log_add_error(errors, sqe->common.flags >> 7, sqe, 2);
	polt_log_error_entry(errors, sqe->common.flags, &slot);
}

static void fuzz_features(const struct nvme_command *sqe, struct polt_features *features)
{
	struct polt_features_reply reply;
	struct polt_features before = *features;

	polt_features_data_len(sqe);
	if (!polt_features_get(features, sqe, &reply))
		MUST(reply.len <= POLT_FEATURES_DATA_MAX);
	MUST(!memcmp(features, &before, sizeof(before)));
	if (polt_features_set(features, sqe, sqe->common.flags & 1, &reply))
		MUST(!memcmp(features, &before, sizeof(before)));
	MUST(features->io_queues >= 1 && features->io_queues <= features->io_queues_max);
	MUST(features->kato_ms <= POLT_KATO_MAX_MS && features->kato_ms % POLT_KAS_MS == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uuid_t hostid = { { 1 } };
	static struct polt_log_errors errors;
	static struct polt_features features;
	struct nvme_command *sqe;

	memset(&errors, 0, sizeof(errors));
	memset(&features, 0, sizeof(features));
	polt_features_init(&features, size & 1, 1 + (size >> 6) % 128, 5000, &hostid);
	for (; size >= sizeof(*sqe); size -= sizeof(*sqe), data += sizeof(*sqe)) {
		sqe = malloc(sizeof(*sqe));
		memcpy(sqe, data, sizeof(*sqe));
		fuzz_log(sqe, &errors);
		fuzz_features(sqe, &features);
		free(sqe);
	}
	return 0;
}
