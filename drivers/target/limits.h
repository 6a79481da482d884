/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits and defaults of what the administrator configures. The ranges are also in the uapi
 * contract, which Documentation/netlink/specs describes.
 */
#ifndef POLT_LIMITS_H
#define POLT_LIMITS_H

#include <linux/sizes.h>

#define POLT_NQN_MAX		223		/* characters, without the NUL */
#define POLT_NQN_SIZE		(POLT_NQN_MAX + 1)
#define POLT_NSID_MAX		1024U
#define POLT_SERIAL_SIZE	20
#define POLT_MODEL_SIZE		40
/* highest controller ID of the NVMe specification */
#define POLT_CNTLID_MAX		65519
#define POLT_MDTS_BYTES		SZ_1M		/* longest data transfer of a command */
#define POLT_IO_QUEUES_MAX	128
#define POLT_ADMIN_DEPTH_MAX	32
/* I/O queue entries, limit of port's max-queue-depth */
#define POLT_DEPTH_MAX		256
#define POLT_DEPTH_DEFAULT	128
#define POLT_INLINE_DEFAULT	SZ_4K
#define POLT_INLINE_MAX		SZ_16K
#define POLT_TRSVCID_DEFAULT	4420

#endif
