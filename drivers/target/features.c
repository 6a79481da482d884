// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get and Set Features on a plain structure of values. A feature of a host-local drive that a
 * target cannot change has its fixed value: setting that very value succeeds, another one is
 * refused as Not Changeable, so that a host never believes in something that did not happen.
 *
 * The caller owns the values and the lock around them. Nothing here sleeps.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "target/features.h"
#include "target/identify.h"

/* CDW10 */
#define POLT_FEATURE_ID		0x000000ffU
#define POLT_FEATURE_SELECT	0x00000700U	/* Get */
#define POLT_FEATURE_SAVE	0x80000000U	/* Set */

enum polt_feature_select {
	POLT_SELECT_CURRENT	= 0 << 8,
	POLT_SELECT_DEFAULT	= 1 << 8,
	POLT_SELECT_SAVED	= 2 << 8,
	POLT_SELECT_SUPPORTED	= 3 << 8,
};

#define POLT_FEATURE_CHANGEABLE	(1U << 2)	/* answer to POLT_SELECT_SUPPORTED */

/* CDW11 */
#define POLT_HOST_ID_EXTENDED	(1U << 0)	/* 128 bits instead of 64 */
#define POLT_EVENTS_CRITICAL	0x1fU		/* critical warnings of the SMART log */
#define POLT_ARBITRATION	0x07U		/* round robin, no limit of a burst */
#define POLT_VOLATILE_WC	0x01U		/* enabled, and cannot be switched off */
#define POLT_TEMPERATURE_MASK	0x0000ffffU
#define POLT_TEMPERATURE_SENSOR	0x000f0000U	/* 0 is the composite temperature, fh is all */
#define POLT_TEMPERATURE_ALL	0x000f0000U
#define POLT_TEMPERATURE_TYPE	0x00300000U
#define POLT_TEMPERATURE_UNDER	0x00100000U
#define POLT_TEMPERATURE_OFF	0xffffU

enum polt_feature_kind {
	POLT_FEATURE_FIXED,
	POLT_FEATURE_STORED,
};

/*
 * What there is. The features that a controller with I/O queues has to have, and no optional one
 * but the Host Identifier. Interrupts are a matter of the host's own.
 */
static const struct polt_feature {
	u8 fid;
	enum polt_feature_kind kind;
	bool discovery;		/* discovery controllers have it too */
	u32 fixed;
} polt_features_table[] = {
	{ NVME_FEAT_ARBITRATION,	POLT_FEATURE_FIXED,	false,	POLT_ARBITRATION },
	{ NVME_FEAT_POWER_MGMT,		POLT_FEATURE_FIXED,	false,	0 },
	{ NVME_FEAT_TEMP_THRESH,	POLT_FEATURE_STORED,	false,	0 },
	{ NVME_FEAT_ERR_RECOVERY,	POLT_FEATURE_FIXED,	false,	0 },
	{ NVME_FEAT_VOLATILE_WC,	POLT_FEATURE_FIXED,	false,	POLT_VOLATILE_WC },
	{ NVME_FEAT_NUM_QUEUES,		POLT_FEATURE_STORED,	false,	0 },
	{ NVME_FEAT_WRITE_ATOMIC,	POLT_FEATURE_FIXED,	false,	0 },
	{ NVME_FEAT_ASYNC_EVENT,	POLT_FEATURE_STORED,	true,	0 },
	{ NVME_FEAT_KATO,		POLT_FEATURE_STORED,	true,	0 },
	{ NVME_FEAT_HOST_ID,		POLT_FEATURE_FIXED,	true,	0 },
};

static const struct polt_feature *polt_features_find(bool discovery, u8 fid)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(polt_features_table); i++)
		if (polt_features_table[i].fid == fid)
			return discovery && !polt_features_table[i].discovery ?
			       NULL : &polt_features_table[i];
	return NULL;
}

/**
 * polt_features_round_kato - a keep-alive timeout as the controller keeps it
 * @ms: milliseconds, any value
 *
 * Return: @ms rounded up to the granularity that Identify reports, bounded; 0 stays 0.
 */
u32 polt_features_round_kato(u32 ms)
{
	ms = min(ms, POLT_KATO_MAX_MS);
	return (ms + POLT_KAS_MS - 1) / POLT_KAS_MS * POLT_KAS_MS;
}

/**
 * polt_features_init - values of a new controller
 * @features: what to fill in
 * @discovery: for a discovery controller
 * @io_queues_max: I/O queues a host may have at most, at least 1
 * @kato_ms: keep-alive timeout of Connect
 * @hostid: host identifier of Connect
 */
void polt_features_init(struct polt_features *features, bool discovery, u16 io_queues_max,
			u32 kato_ms, const uuid_t *hostid)
{
	memset(features, 0, sizeof(*features));
	features->discovery = discovery;
	features->io_queues_max = io_queues_max;
	features->io_queues = io_queues_max;
	features->kato_ms = polt_features_round_kato(kato_ms);
	features->temperature_over = POLT_TEMPERATURE_OFF;
	features->hostid = *hostid;
}

/**
 * polt_features_reset - values after a controller reset
 * @features: the keep-alive timeout and the host identifier stay, all else is as from Connect
 */
void polt_features_reset(struct polt_features *features)
{
	const struct polt_features old = *features;

	polt_features_init(features, old.discovery, old.io_queues_max, old.kato_ms, &old.hostid);
}

/**
 * polt_features_known - is there such a feature?
 * @discovery: of a discovery controller
 * @sqe: a Get or Set Features command, any content
 *
 * Any context.
 */
bool polt_features_known(bool discovery, const struct nvme_command *sqe)
{
	return polt_features_find(discovery, le32_to_cpu(sqe->features.fid) & POLT_FEATURE_ID);
}

/**
 * polt_features_data_len - bytes of data a Get or Set Features command carries
 * @sqe: the command, any content
 *
 * Any context.
 */
u32 polt_features_data_len(const struct nvme_command *sqe)
{
	u32 cdw10 = le32_to_cpu(sqe->features.fid);

	if ((cdw10 & POLT_FEATURE_ID) != NVME_FEAT_HOST_ID)
		return 0;
	if (sqe->common.opcode == nvme_admin_get_features &&
	    (cdw10 & POLT_FEATURE_SELECT) == POLT_SELECT_SUPPORTED)
		return 0;
	return le32_to_cpu(sqe->features.dword11) & POLT_HOST_ID_EXTENDED ? 16 : 8;
}

/* Number of Queues: 0's based counts of submission and completion queues. */
static u32 polt_features_queues(u16 queues)
{
	return (queues - 1U) | (queues - 1U) << 16;
}

static u16 polt_features_get_value(const struct polt_features *features, u8 fid, u32 cdw11,
				   struct polt_features_reply *reply)
{
	switch (fid) {
	case NVME_FEAT_TEMP_THRESH:
		if (cdw11 & POLT_TEMPERATURE_SENSOR)
			return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
		if ((cdw11 & POLT_TEMPERATURE_TYPE) == POLT_TEMPERATURE_UNDER)
			reply->result = features->temperature_under;
		else
			reply->result = features->temperature_over;
		return NVME_SC_SUCCESS;
	case NVME_FEAT_NUM_QUEUES:
		reply->result = polt_features_queues(features->io_queues);
		return NVME_SC_SUCCESS;
	case NVME_FEAT_ASYNC_EVENT:
		reply->result = features->async_events;
		return NVME_SC_SUCCESS;
	case NVME_FEAT_KATO:
		reply->result = features->kato_ms;
		return NVME_SC_SUCCESS;
	case NVME_FEAT_HOST_ID:
		/* Over fabrics there is only the long form. */
		if (!(cdw11 & POLT_HOST_ID_EXTENDED))
			return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
		reply->len = sizeof(features->hostid);
		memcpy(reply->data, &features->hostid, sizeof(features->hostid));
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}
}

/**
 * polt_features_get - execute Get Features
 * @features: the controller's values
 * @sqe: the command, any content
 * @reply: what to answer, all of it written
 *
 * Nothing is saved, so the saved value is the default one. Any context.
 *
 * Return: NVMe status, with DNR where it is an error.
 */
u16 polt_features_get(const struct polt_features *features, const struct nvme_command *sqe,
		      struct polt_features_reply *reply)
{
	u32 cdw10 = le32_to_cpu(sqe->features.fid);
	u32 cdw11 = le32_to_cpu(sqe->features.dword11);
	const struct polt_feature *feature;
	struct polt_features defaults;

	memset(reply, 0, sizeof(*reply));
	feature = polt_features_find(features->discovery, cdw10 & POLT_FEATURE_ID);
	if (!feature)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;

	switch (cdw10 & POLT_FEATURE_SELECT) {
	case POLT_SELECT_CURRENT:
		break;
	case POLT_SELECT_DEFAULT:
	case POLT_SELECT_SAVED:
		polt_features_init(&defaults, features->discovery, features->io_queues_max,
				   features->kato_ms, &features->hostid);
		features = &defaults;
		break;
	case POLT_SELECT_SUPPORTED:
		if (feature->kind == POLT_FEATURE_STORED)
			reply->result = POLT_FEATURE_CHANGEABLE;
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}

	if (feature->kind == POLT_FEATURE_FIXED && feature->fid != NVME_FEAT_HOST_ID) {
		reply->result = feature->fixed;
		return NVME_SC_SUCCESS;
	}
	return polt_features_get_value(features, feature->fid, cdw11, reply);
}

static u16 polt_features_set_temperature(struct polt_features *features, u32 cdw11)
{
	u32 sensor = cdw11 & POLT_TEMPERATURE_SENSOR;

	if (sensor && sensor != POLT_TEMPERATURE_ALL)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	switch (cdw11 & POLT_TEMPERATURE_TYPE) {
	case 0:
		features->temperature_over = cdw11 & POLT_TEMPERATURE_MASK;
		return NVME_SC_SUCCESS;
	case POLT_TEMPERATURE_UNDER:
		features->temperature_under = cdw11 & POLT_TEMPERATURE_MASK;
		return NVME_SC_SUCCESS;
	default:
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	}
}

static u16 polt_features_set_queues(struct polt_features *features, u32 cdw11,
				    bool io_queues_exist, struct polt_features_reply *reply)
{
	u32 submission = cdw11 & 0xffff;
	u32 completion = cdw11 >> 16;

	/* 65536 queues of a kind are one more than a controller can have. */
	if (submission == 0xffff || completion == 0xffff)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	if (io_queues_exist)
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	features->io_queues = min_t(u32, max(submission, completion) + 1, features->io_queues_max);
	reply->result = polt_features_queues(features->io_queues);
	return NVME_SC_SUCCESS;
}

static u16 polt_features_set_events(struct polt_features *features, u32 cdw11)
{
	u32 known = features->discovery ? NVME_AEN_CFG_DISC_CHANGE :
					  NVME_AEN_CFG_NS_ATTR | POLT_EVENTS_CRITICAL;

	if (cdw11 & ~known)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	features->async_events = cdw11;
	return NVME_SC_SUCCESS;
}

static u16 polt_features_set_kato(struct polt_features *features, u32 cdw11,
				  struct polt_features_reply *reply)
{
	if (cdw11 > POLT_KATO_MAX_MS)
		return NVME_SC_KA_TIMEOUT_INVALID | NVME_STATUS_DNR;
	features->kato_ms = polt_features_round_kato(cdw11);
	reply->result = features->kato_ms;
	return NVME_SC_SUCCESS;
}

/**
 * polt_features_set - execute Set Features
 * @features: the controller's values, changed on success only
 * @sqe: the command, any content
 * @io_queues_exist: the number of queues may not change any more
 * @reply: what to answer, all of it written
 *
 * What follows from a change (the keep-alive timer) is the caller's business. Any context.
 *
 * Return: NVMe status, with DNR where it is an error.
 */
u16 polt_features_set(struct polt_features *features, const struct nvme_command *sqe,
		      bool io_queues_exist, struct polt_features_reply *reply)
{
	u32 cdw10 = le32_to_cpu(sqe->features.fid);
	u32 cdw11 = le32_to_cpu(sqe->features.dword11);
	const struct polt_feature *feature;

	memset(reply, 0, sizeof(*reply));
	feature = polt_features_find(features->discovery, cdw10 & POLT_FEATURE_ID);
	if (!feature)
		return NVME_SC_INVALID_FIELD | NVME_STATUS_DNR;
	if (cdw10 & POLT_FEATURE_SAVE)
		return NVME_SC_FEATURE_NOT_SAVEABLE | NVME_STATUS_DNR;

	switch (feature->fid) {
	case NVME_FEAT_TEMP_THRESH:
		return polt_features_set_temperature(features, cdw11);
	case NVME_FEAT_NUM_QUEUES:
		return polt_features_set_queues(features, cdw11, io_queues_exist, reply);
	case NVME_FEAT_ASYNC_EVENT:
		return polt_features_set_events(features, cdw11);
	case NVME_FEAT_KATO:
		return polt_features_set_kato(features, cdw11, reply);
	case NVME_FEAT_HOST_ID:
		/* The host said who it is when it connected. */
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	default:
		if (cdw11 != feature->fixed)
			return NVME_SC_FEATURE_NOT_CHANGEABLE | NVME_STATUS_DNR;
		return NVME_SC_SUCCESS;
	}
}
