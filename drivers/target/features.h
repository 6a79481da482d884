/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Features of a controller (NVMe Base Specification: "Get Features", "Set Features"). Only
 * computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLT_FEATURES_H
#define POLT_FEATURES_H

#include <linux/nvme.h>
#include <linux/types.h>

#define POLT_FEATURES_DATA_MAX	16	/* bytes of data the longest feature has */
#define POLT_KATO_MAX_MS	(24U * 3600 * 1000)	/* longest keep-alive timeout */

/**
 * struct polt_features - values of a controller's features
 * @discovery: a discovery controller: fewer features
 * @io_queues_max: I/O queues a host may have at most, at least 1
 * @io_queues: I/O queues granted
 * @kato_ms: keep-alive timeout in milliseconds, a multiple of POLT_KAS_MS; 0 is none
 * @async_events: Asynchronous Event Configuration, NVME_AEN_CFG_* and critical warnings
 * @temperature_over: threshold in kelvin, stored for the host; there is no sensor
 * @temperature_under: same
 * @hostid: what the host identified itself as when it connected
 */
struct polt_features {
	bool discovery;
	u16 io_queues_max;
	u16 io_queues;
	u32 kato_ms;
	u32 async_events;
	u16 temperature_over;
	u16 temperature_under;
	uuid_t hostid;
};

/**
 * struct polt_features_reply - what Get or Set Features answers
 * @result: CDW0 of the completion
 * @len: bytes of @data to return, 0 to POLT_FEATURES_DATA_MAX
 * @data: data of a Get Features that has some
 */
struct polt_features_reply {
	u32 result;
	u32 len;
	u8 data[POLT_FEATURES_DATA_MAX];
};

void polt_features_init(struct polt_features *features, bool discovery, u16 io_queues_max,
			u32 kato_ms, const uuid_t *hostid);
void polt_features_reset(struct polt_features *features);
bool polt_features_known(bool discovery, const struct nvme_command *sqe);
u32 polt_features_data_len(const struct nvme_command *sqe);
u32 polt_features_round_kato(u32 ms);
u16 polt_features_get(const struct polt_features *features, const struct nvme_command *sqe,
		      struct polt_features_reply *reply);
u16 polt_features_set(struct polt_features *features, const struct nvme_command *sqe,
		      bool io_queues_exist, struct polt_features_reply *reply);

#endif
